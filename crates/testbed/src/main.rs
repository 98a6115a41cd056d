//! The tools that run Slurm, apart from the tests: see `cargo testbed help`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::deps::Need;
use xtask::installation::Installation;
use xtask::interrupt;
use xtask::prefix;
use xtask::progress::Progress;
use xtask::release::Release;

use fairtree_testbed::cluster::conf::PriorityType;
use fairtree_testbed::cluster::folder;
use fairtree_testbed::harness::{self, prepare};
use fairtree_testbed::{bench, demo, detect, mishap, record, schedmd, storm, twin};

/// Private clusters of Slurm, and a host in slurmctld's place: to look at, to measure, to play lives.
/// The tests: cargo test --package fairtree-testbed --test cluster, or another of them.
#[derive(Parser)]
#[command(name = "cargo testbed", bin_name = "cargo testbed")]
struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Build what tests and tools need: the packages, the plugin, the command
    Prepare {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
    },
    /// Show a private cluster at work
    Demo {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
        /// Which priority plugin decides
        #[arg(long, value_enum, default_value = "fairtree")]
        priority: PriorityType,
        /// Leave the cluster running
        #[arg(long)]
        keep: bool,
    },
    /// A private Slurm cluster
    #[command(subcommand)]
    Cluster(ClusterTool),
    /// Run jobs on a private cluster, and keep the run as a folder that fairtree simulate --check reads
    Record {
        /// A new folder
        folder: PathBuf,
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
        /// How long jobs come and run, seconds; those that are left then run to their ends
        #[arg(long, default_value_t = 180)]
        seconds: u64,
        /// Jobs are drawn from this
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Compare a priority plugin with Slurm's own on the same lives
    Twin(twin::Arguments),
    /// Play lives in several threads at once under detectors of memory errors and of races
    Detect {
        /// Slurm's release, one that is installed here
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
        /// One seed, or FIRST-LAST
        #[arg(value_parser = twin::seeds, default_value = "1-20")]
        seeds: std::ops::RangeInclusive<u64>,
        /// Only this one
        #[arg(long, value_enum)]
        detector: Option<detect::Detector>,
    },
    /// Play damaged state files, bad disks and clocks, and look at usage afterwards
    Mishaps {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
    },
    /// Kill slurmctld at random moments, and look at usage afterwards
    Kills {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
        /// How often
        #[arg(long, default_value_t = 1000)]
        count: u32,
        /// The moments are drawn from this; without it, from the clock
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Let disk, clock, memory, slurmdbd and slurmctld fail at random, together, and look at usage
    Faults {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
        /// How long it lasts
        #[arg(long, default_value_t = 600)]
        seconds: u64,
        /// Faults are drawn from this; without it, from the clock
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Let a storm of requests pass over a private cluster with our plugin and over one with stock
    Storm {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
        /// How long it lasts
        #[arg(long, default_value_t = 600)]
        seconds: u64,
        /// What happens is drawn from this; without it, from the clock
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Run Slurm's own tests of its priority plugin with Slurm's plugin and with ours
    Schedmd {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
        /// Also the scripts that need a running cluster; takes minutes
        #[arg(long)]
        all: bool,
    },
    /// Measure how fast everything is, beside Slurm's own plugin; writes target/bench/report.md
    Bench(bench::Arguments),
}

#[derive(Subcommand)]
enum ClusterTool {
    /// Start a cluster and hold it until Ctrl-C
    Up {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
        /// Which priority plugin decides; ours must have been built
        #[arg(long, value_enum, default_value = "fairtree")]
        priority: PriorityType,
    },
    /// Take a cluster down that was left running
    Stop {
        /// The cluster's folder
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    // A cluster's guard is started from the program that has the cluster.
    if let Some(result) = folder::guard_of_arguments() {
        return interrupt::exit_code(result);
    }
    let arguments = Arguments::parse();
    interrupt::exit_code(run(arguments.tool))
}

fn run(tool: Tool) -> Result<()> {
    interrupt::install()?;
    let progress = Progress::new();
    match tool {
        Tool::Prepare { slurm } => prepare(Need::Test, &slurm, &progress),
        Tool::Demo {
            slurm,
            priority,
            keep,
        } => {
            prepare(Need::Demo, &slurm, &progress)?;
            demo::run(&slurm, priority, keep, &progress)
        }
        Tool::Cluster(ClusterTool::Up { slurm, priority }) => {
            demo::hold(&slurm, priority, &progress)
        }
        Tool::Cluster(ClusterTool::Stop { folder }) => folder::tear_down(&folder),
        Tool::Record {
            folder,
            slurm,
            seconds,
            seed,
        } => {
            prepare(Need::Test, &slurm, &progress)?;
            let run = record::Run {
                release: slurm,
                seconds,
                seed,
            };
            let jobs = run.record(&folder, &progress)?;
            progress.print(format!("{jobs} jobs in {}", folder.display()));
            Ok(())
        }
        Tool::Twin(arguments) => twin::run(arguments, &progress),
        Tool::Detect {
            slurm,
            seeds,
            detector,
        } => {
            prepare(Need::Test, &slurm, &progress)?;
            let detectors = detector.map_or(detect::Detector::ALL.to_vec(), |only| vec![only]);
            detect::run(&slurm, seeds, &detectors, &progress)
        }
        Tool::Mishaps { slurm } => {
            prepare(Need::Test, &slurm, &progress)?;
            let installation = Installation::of(&slurm, &progress)?;
            mishap::play(&installation, &progress)
        }
        Tool::Kills { slurm, count, seed } => {
            prepare(Need::Test, &slurm, &progress)?;
            let kills = mishap::Kills {
                release: slurm,
                count,
                seed: seed.map_or_else(harness::fresh_seed, Ok)?,
            };
            kills.run(&progress)
        }
        Tool::Faults {
            slurm,
            seconds,
            seed,
        } => {
            prepare(Need::Test, &slurm, &progress)?;
            let storm = mishap::FaultStorm {
                release: slurm,
                length: Duration::from_secs(seconds),
                seed: seed.map_or_else(harness::fresh_seed, Ok)?,
            };
            storm.run(&progress)
        }
        Tool::Storm {
            slurm,
            seconds,
            seed,
        } => {
            prepare(Need::Test, &slurm, &progress)?;
            let storm = storm::Storm {
                release: slurm,
                length: Duration::from_secs(seconds),
                seed: seed.map_or_else(harness::fresh_seed, Ok)?,
            };
            storm.run(&progress)
        }
        Tool::Schedmd { slurm, all } => {
            prepare(Need::TestAll, &slurm, &progress)?;
            let run = if all { schedmd::all } else { schedmd::programs };
            run(&slurm, &progress)
        }
        Tool::Bench(arguments) => bench::run(&arguments, &progress),
    }
}
