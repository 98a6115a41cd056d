//! How the cost of a pass grows with jobs and associations.

use anyhow::Result;

use crate::progress::Progress;

use super::served::Served;
use super::table::columns;
use super::world::{Kind, Layout, World, count};
use super::{Bench, machine, median};

/// Four sizes, each four times the one before.
const STEPS: u32 = 4;
const LARGEST: (u32, u32) = (4_000_000, 1_000_000);
const ROUNDS: usize = 3;
/// Memory that slurmctld's records of a job and of an association take in the bench host, and the
/// plugin's rows.
const JOB_BYTES: f64 = 2900.0;
const ASSOC_BYTES: f64 = 2600.0;

fn sizes(quick: bool) -> Vec<World> {
    let steps = if quick { STEPS - 2 } else { STEPS };
    (0..steps)
        .map(|step| {
            let part = 4_u32.pow(STEPS - 1 - step);
            World {
                waiting: LARGEST.0 / part,
                running: LARGEST.0 / part / 50,
                users: LARGEST.1 / part,
                layout: Layout::Scattered,
                kind: Kind::FairTree,
            }
        })
        .collect()
}

/// A table of CPU times, in Markdown.
///
/// # Errors
/// A host that does not start or ends early.
pub fn measure(bench: &Bench, progress: &Progress) -> Result<String> {
    let head = [
        "waiting jobs",
        "users",
        "ours, CPU of a pass",
        "per job",
        "growth",
        "stock, CPU of a pass",
        "per job",
        "growth",
    ];
    let mut lines = vec![head.map(str::to_owned)];
    let mut before: Option<[f64; 2]> = None;
    for world in sizes(bench.quick) {
        let jobs = f64::from(world.waiting);
        let needed = jobs * JOB_BYTES + f64::from(world.users) * ASSOC_BYTES;
        if needed > machine::free_bytes() {
            progress.print(format!(
                "{} jobs need {:.0} GB of memory: left out",
                count(world.waiting),
                needed / 1e9
            ));
            break;
        }
        // One after the other: two of the largest do not fit into the memory of most machines.
        let found = [
            cpu_millis(bench, &bench.ours, &world, progress)?,
            cpu_millis(bench, &bench.stock, &world, progress)?,
        ];
        let growth = |which: usize| {
            before.map_or(String::new(), |before| {
                format!("{:.2} x", found[which] / before[which])
            })
        };
        let cells = |which: usize| {
            [
                format!("{:.1} ms", found[which]),
                format!("{:.0} ns", found[which] * 1e6 / jobs),
                growth(which),
            ]
        };
        let [[a, b, c], [d, e, f]] = [cells(0), cells(1)];
        lines.push([count(world.waiting), count(world.users), a, b, c, d, e, f]);
        before = Some(found);
    }
    Ok(columns(&lines))
}

fn cpu_millis(
    bench: &Bench,
    plugin: &std::path::Path,
    world: &World,
    progress: &Progress,
) -> Result<f64> {
    let name = plugin.file_stem().unwrap_or_default().to_string_lossy();
    progress.step(format!("scaling: {name}, {world}"));
    let mut host = Served::start(&bench.host, plugin, world, "")?;
    host.ask("time_pass 300")?;
    let times: Result<Vec<f64>> = (0..ROUNDS)
        .map(|_| host.ask("time_pass 300")?.get("cpu_us"))
        .collect();
    Ok(median(&times?) / 1e3)
}
