//! `cargo testbed bench`: measures the speed of everything, compares it with Slurm's own plugin,
//! and writes the report in `target/bench/report.md`.

mod busy_site;
mod capture;
mod cluster;
mod command;
mod engine;
mod forecasts;
mod machine;
mod passes;
mod policies;
mod questions;
mod replays;
mod report;
mod scale;
mod served;
mod service;
mod table;
mod workload;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use crate::twin::host::TwinHost;
use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::{plugin, prefix, project, source};

use machine::Memory;
use report::{Report, heading};

/// Measure, beside Slurm's own plugin.
#[derive(Args)]
pub struct Arguments {
    /// Only these sections; without any, all. Each renews its own part of target/bench/report.md
    #[arg(value_enum)]
    sections: Vec<Section>,
    /// Only small sizes; target/bench/report.md stays as it is
    #[arg(long)]
    quick: bool,
    /// Measurements of each kind; with fewer than seven, target/bench/report.md stays as it is
    #[arg(long, default_value_t = ROUNDS, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Slurm's release
    #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
    slurm: Release,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Section {
    /// A pass in slurmctld's place
    Passes,
    /// Passes with a window and with orders, beside half-life and weighted sums
    Policies,
    /// Its growth with jobs and associations
    Scaling,
    /// The engine alone
    Engine,
    /// A real slurmctld, as its clients see it
    Cluster,
    /// What slurmctld spends on questions of the command
    Questions,
    /// The `fairtree` command
    Command,
    /// Pages of the service, while 50 people read
    Service,
}

/// Number of measurements per median; fewer are too noisy.
const ROUNDS: u32 = 7;

/// State that all sections use.
pub struct Bench {
    host: TwinHost,
    stock: PathBuf,
    ours: PathBuf,
    memory: Memory,
    release: Release,
    quick: bool,
    rounds: u32,
}

/// Measures and prints; renews each complete part of the report.
///
/// # Errors
/// Fails if something does not build or run. A missed bound is not an error; the tables show it.
pub fn run(arguments: &Arguments, progress: &Progress) -> Result<()> {
    let bench = match arguments.sections[..] {
        [] => Some(prepare(arguments, progress)?),
        ref sections if sections.iter().any(|section| section.needs_slurm()) => {
            Some(prepare(arguments, progress)?)
        }
        _ => None,
    };
    let introduction = introduction(&arguments.slurm);
    progress.print(&introduction);
    let all = Section::value_variants();
    let headings = all.iter().map(|section| heading(section.text()).to_owned());
    let folder = project::root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let file = folder.join("report.md");
    let whole = !arguments.quick && arguments.rounds >= ROUNDS;
    let mut report = whole
        .then(|| Report::open(file, introduction, headings.collect()))
        .transpose()?;
    for section in all {
        if !arguments.sections.is_empty() && !arguments.sections.contains(section) {
            continue;
        }
        let start = Instant::now();
        let part = match (&bench, section) {
            (_, Section::Questions) => {
                measure_questions(&arguments.slurm, arguments.quick, progress)?
            }
            (_, Section::Service) => measure_service(arguments.quick, progress)?,
            (None, _) | (_, Section::Command) => measure_command(arguments.quick, progress)?,
            (Some(bench), section) => section.measure(bench, progress)?,
        };
        let secs = start.elapsed().as_secs();
        if let Some(report) = &mut report {
            report.put(part)?;
            progress.print(format!("target/bench/report.md has it, after {secs} s\n"));
        } else {
            progress.print(format!("that took {secs} s\n"));
        }
    }
    Ok(())
}

/// The part about the command.
fn measure_command(quick: bool, progress: &Progress) -> Result<String> {
    let text = Section::Command.text();
    progress.print(text);
    let program = command::build(progress)?;
    let mut tables = command::measure(&program, quick, progress)?.to_string();
    if let Some(table) = replays::measure(&program, progress)? {
        tables.push('\n');
        tables.push_str(&table.to_string());
    }
    tables.push('\n');
    tables.push_str(&forecasts::measure(&program, progress)?.to_string());
    progress.print(&tables);
    Ok(format!("{text}\n\n{tables}"))
}

/// The part about questions of the command.
fn measure_questions(release: &Release, quick: bool, progress: &Progress) -> Result<String> {
    let text = Section::Questions.text();
    progress.print(text);
    let table = questions::measure(release, quick, progress)?;
    progress.print(&table);
    Ok(format!("{text}\n\n{table}"))
}

/// The part about the service.
fn measure_service(quick: bool, progress: &Progress) -> Result<String> {
    let mut text = Section::Service.text().to_owned();
    progress.print(&text);
    let program = service::build(progress)?;
    service::measure(&program, quick, progress, &mut |part| {
        progress.print(&part);
        text = format!("{text}\n\n{part}");
    })?;
    Ok(text)
}

fn prepare(arguments: &Arguments, progress: &Progress) -> Result<Bench> {
    let release = &arguments.slurm;
    let installation = Installation::of(release, progress)?;
    let source = source::fetch(release, progress)?;
    let ours = plugin::build(release, None, progress)?;
    let program = project::slurm(release).join("twin-bench");
    let host = TwinHost::build_bench(&source, &installation, &program)?;
    let stock = host.stock();
    ensure!(stock.is_file(), "{}: no such plugin", stock.display());
    progress.step("the machine's memory");
    let memory = Memory::measure(&host)?;
    Ok(Bench {
        host,
        stock,
        ours,
        memory,
        release: release.clone(),
        quick: arguments.quick,
        rounds: arguments.rounds,
    })
}

impl Section {
    /// Returns true unless it needs neither Slurm nor the plugin.
    fn needs_slurm(self) -> bool {
        !matches!(
            self,
            Section::Command | Section::Service | Section::Questions
        )
    }

    fn measure(self, bench: &Bench, progress: &Progress) -> Result<String> {
        let mut text = format!("{}\n\n{}\n", self.text(), bench.memory);
        progress.print(&text);
        let mut add = |part: String| {
            progress.print(&part);
            text.push('\n');
            text.push_str(&part);
        };
        match self {
            Section::Passes => {
                for workload in passes::workloads(bench.quick) {
                    add(passes::measure(bench, &workload, progress)?.to_string());
                }
            }
            Section::Policies => {
                for workload in policies::workloads(bench.quick) {
                    add(policies::measure(bench, &workload, progress)?.to_string());
                }
            }
            Section::Scaling => add(scale::measure(bench, progress)?),
            Section::Engine => add(engine::measure(bench, progress)?),
            Section::Questions => return measure_questions(&bench.release, bench.quick, progress),
            Section::Command => return measure_command(bench.quick, progress),
            Section::Service => return measure_service(bench.quick, progress),
            Section::Cluster => add(cluster::measure(bench, progress)?.to_string()),
        }
        Ok(text)
    }

    /// The heading and the text before the tables.
    fn text(self) -> &'static str {
        match self {
            Section::Passes => include_str!("text/passes.md"),
            Section::Policies => include_str!("text/policies.md"),
            Section::Scaling => include_str!("text/scaling.md"),
            Section::Engine => include_str!("text/engine.md"),
            Section::Cluster => include_str!("text/cluster.md"),
            Section::Questions => include_str!("text/questions.md"),
            Section::Command => include_str!("text/command.md"),
            Section::Service => include_str!("text/service.md"),
        }
        .trim_end()
    }
}

/// Introduction: how to read the report, and the machine that it was made on.
fn introduction(release: &Release) -> String {
    format!(
        "{}\n\nMachine: {}. Slurm {}.\n",
        include_str!("text/introduction.md").trim_end(),
        machine::name(),
        release,
    )
}

/// Returns the median (the upper one for an even count), or NaN if there are no values.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 3.0);
        assert!(median(&[]).is_nan());
    }
}
