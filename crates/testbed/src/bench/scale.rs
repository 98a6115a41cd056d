//! How the cost of a pass grows with jobs and associations.

use anyhow::Result;

use xtask::progress::Progress;

use super::passes::least_millis;
use super::served::Served;
use super::table::columns;
use super::workload::{Kind, Layout, Workload, count};
use super::{Bench, machine, median};

/// Four sizes, each four times the one before.
const STEPS: u32 = 4;
const LARGEST: (u32, u32) = (4_000_000, 1_000_000);
/// Rounds of the largest size: it takes long, and is compared only with its neighbours.
const MOST_ROUNDS: u32 = 3;
/// Memory that slurmctld's records of a job and of an association take in the bench host, and the
/// plugin's rows.
const JOB_BYTES: f64 = 3900.0;
const ASSOC_BYTES: f64 = 2600.0;

fn sizes(quick: bool) -> Vec<Workload> {
    let steps = if quick { STEPS - 2 } else { STEPS };
    (0..steps)
        .map(|step| {
            let part = 4_u32.pow(STEPS - 1 - step);
            Workload {
                waiting: LARGEST.0 / part,
                running: LARGEST.0 / part / 50,
                users: LARGEST.1 / part,
                layout: Layout::Scattered,
                kind: Kind::FairTree,
            }
        })
        .collect()
}

/// CPU times of a pass, in milliseconds, of both plugins in one workload.
struct Size {
    workload: Workload,
    ours: f64,
    stock: f64,
}

impl Size {
    /// Number of rows. A cost that is linear in jobs and n log n in associations is at most n log n
    /// in rows.
    fn rows(&self) -> f64 {
        f64::from(self.workload.waiting) + f64::from(self.workload.assocs())
    }
}

/// A table of CPU times, and how they grow, in Markdown.
///
/// # Errors
/// Fails if a host does not start or ends early.
pub fn measure(bench: &Bench, progress: &Progress) -> Result<String> {
    let mut sizes_done: Vec<Size> = vec![];
    for workload in sizes(bench.quick) {
        let jobs = f64::from(workload.waiting);
        let needed = jobs * JOB_BYTES + f64::from(workload.users) * ASSOC_BYTES;
        if needed > machine::free_bytes() {
            progress.print(format!(
                "{} jobs need {:.0} GB of memory: left out",
                count(workload.waiting),
                needed / 1e9
            ));
            break;
        }
        // One after the other: two of the largest do not fit into the memory of most machines.
        sizes_done.push(Size {
            workload,
            ours: cpu_millis(bench, &bench.ours, &workload, progress)?,
            stock: cpu_millis(bench, &bench.stock, &workload, progress)?,
        });
    }
    let limits: Vec<f64> = sizes_done
        .iter()
        .map(|size| least_millis(&bench.memory, &size.workload))
        .collect();
    Ok(format!(
        "{}\n{}\n{}\n",
        table(&sizes_done, &limits),
        fit("Ours", &sizes_done, |size| size.ours),
        fit("Stock", &sizes_done, |size| size.stock),
    ))
}

fn table(sizes: &[Size], limits: &[f64]) -> String {
    let head = [
        "waiting jobs",
        "users",
        "ours",
        "per job",
        "growth",
        "stock",
        "per job",
        "growth",
        "ratio",
        "n log n grows by",
        "limit",
    ];
    let mut lines = vec![head.map(str::to_owned)];
    for (at, (size, limit)) in sizes.iter().zip(limits).enumerate() {
        let before = at.checked_sub(1).map(|before| &sizes[before]);
        let jobs = f64::from(size.workload.waiting);
        let cells = |of: fn(&Size) -> f64| {
            let growth = before.map(|before| of(size) / of(before));
            [
                format!("{:.1} ms", of(size)),
                format!("{:.0} ns", of(size) * 1e6 / jobs),
                growth.map_or(String::new(), |growth| format!("{growth:.2} x")),
            ]
        };
        let [[a, b, c], [d, e, f]] = [cells(|size| size.ours), cells(|size| size.stock)];
        let grows = before.map(|before| n_log_n(size.rows()) / n_log_n(before.rows()));
        lines.push([
            count(size.workload.waiting),
            count(size.workload.users),
            a,
            b,
            c,
            d,
            e,
            f,
            format!("{:.3} x", size.ours / size.stock),
            grows.map_or(String::new(), |growth| format!("{growth:.2} x")),
            format!("{limit:.1} ms"),
        ]);
    }
    columns(&lines)
}

fn n_log_n(n: f64) -> f64 {
    n * n.log2()
}

/// A sentence with the factor for which n log n fits the times best, its largest deviation, and the
/// power of n with which the times grow.
fn fit(who: &str, sizes: &[Size], of: fn(&Size) -> f64) -> String {
    if sizes.len() < 2 {
        return format!("{who}: too few sizes for a fit.");
    }
    let count = sizes.len() as f64;
    // Minimise relative errors, so that the largest size does not dominate.
    let logs = sizes
        .iter()
        .map(|size| (of(size) / n_log_n(size.rows())).ln());
    let factor = (logs.sum::<f64>() / count).exp();
    let error = |size: &Size| (of(size) / (factor * n_log_n(size.rows())) - 1.0).abs();
    let worst = sizes.iter().map(error).fold(0.0, f64::max);
    let points: Vec<(f64, f64)> = sizes
        .iter()
        .map(|size| (size.rows().ln(), of(size).ln()))
        .collect();
    format!(
        "{who}: {:.2} ns x n log2 n fits within {:.0} %; times grow with n to the power of {:.2}.",
        factor * 1e6,
        worst * 100.0,
        slope(&points),
    )
}

/// Slope of the least-squares line through points.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let both = points.iter().map(|point| (point.0 - x) * (point.1 - y));
    let squares = points.iter().map(|point| (point.0 - x).powi(2));
    both.sum::<f64>() / squares.sum::<f64>()
}

fn cpu_millis(
    bench: &Bench,
    plugin: &std::path::Path,
    workload: &Workload,
    progress: &Progress,
) -> Result<f64> {
    let name = plugin.file_stem().unwrap_or_default().to_string_lossy();
    progress.step(format!("scaling: {name}, {workload}"));
    let mut host = Served::start(&bench.host, plugin, workload, "")?;
    host.ask("time_pass 300")?;
    let times: Result<Vec<f64>> = (0..bench.rounds.min(MOST_ROUNDS))
        .map(|_| host.ask("time_pass 300")?.get("cpu_us"))
        .collect();
    Ok(median(&times?) / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes_that_take(millis: fn(f64) -> f64) -> Vec<Size> {
        let of = |workload: Workload| {
            let mut size = Size {
                workload,
                ours: 0.0,
                stock: 0.0,
            };
            size.ours = millis(size.rows());
            size.stock = 2.0 * size.ours;
            size
        };
        sizes(false).into_iter().map(of).collect()
    }

    #[test]
    fn what_grows_as_n_log_n_fits_it() {
        let sizes = sizes_that_take(|n| 3e-6 * n_log_n(n));
        let text = fit("Ours", &sizes, |size| size.ours);
        assert!(
            text.starts_with("Ours: 3.00 ns x n log2 n fits within 0 %;"),
            "{text}"
        );
        let linear = sizes_that_take(|n| 1e-4 * n);
        let text = fit("Ours", &linear, |size| size.ours);
        assert!(text.ends_with("to the power of 1.00."), "{text}");
        let squared = sizes_that_take(|n| 1e-9 * n * n);
        let text = fit("Ours", &squared, |size| size.ours);
        assert!(text.ends_with("to the power of 2.00."), "{text}");
        assert_eq!(
            fit("Ours", &[], |size| size.ours),
            "Ours: too few sizes for a fit."
        );
    }

    #[test]
    fn each_size_stands_beside_the_one_before() {
        let sizes = sizes_that_take(|n| 1e-4 * n);
        let text = table(&sizes, &[1.0; 4]);
        // Every workload has the same number of accounts: n is 78,546, 312,921, 1,250,421,
        // 5,000,421.
        for (growth, lines) in [("| 3.98 x |", 1), ("| 4.00 x |", 2)] {
            let found = text.lines().filter(|line| line.contains(growth));
            assert_eq!(found.count(), lines, "{text}");
        }
        assert!(text.contains("| 0.500 x |"), "{text}");
    }
}
