//! Developer's tools of fairtree: `cargo xtask help`.

mod bench;
mod checks;
mod cluster;
mod command;
mod demo;
mod deps;
mod detect;
mod interrupt;
mod mishap;
mod msrv;
mod plugin;
mod process;
mod progress;
mod project;
mod release;
mod root;
mod schedmd;
mod source;
mod storm;
mod suite;
mod twin;
mod under;
mod wait;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand};

use checks::Outcome;
use cluster::conf::PriorityType;
use progress::Progress;
use release::Release;

/// Developer's tools of fairtree.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Install the Debian packages that building, testing and the demo need
    Deps,
    /// Fetch and configure the source of a Slurm release; prints its folder
    SlurmSrc {
        /// For instance 22.05.8
        release: Release,
    },
    /// Make the root folder of the Debian release that ships a Slurm release; prints its folder
    SlurmRoot {
        /// For instance 24.11.5
        release: Release,
    },
    /// Build priority_fairtree.so; prints where it is
    Plugin {
        /// Slurm's release; its source is fetched
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
        /// A configured source tree of Slurm to use instead
        #[arg(long, env = "SLURM_SRC")]
        slurm_src: Option<PathBuf>,
    },
    /// Show a private cluster at work
    Demo {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
        /// Which priority plugin decides
        #[arg(long, value_enum, default_value = "fairtree")]
        priority: PriorityType,
        /// Leave the cluster running
        #[arg(long)]
        keep: bool,
    },
    /// Run every test there is; ends with `N passed, N failed`
    Test {
        /// Slurm's release; without it, every supported one
        #[arg(long, env = "SLURM")]
        slurm: Option<Release>,
    },
    /// Build with the oldest compiler that is promised, that of Debian trixie
    Msrv,
    /// Run the checks that need a private cluster
    TestCluster {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
        /// Only those whose name contains this
        #[arg(default_value = "")]
        filter: String,
    },
    /// Run Slurm's own tests of its priority plugin with Slurm's plugin and with ours
    Schedmd {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
        /// Also the scripts that need a running cluster; takes minutes
        #[arg(long)]
        all: bool,
    },
    /// Play lives in several threads at once under detectors of memory errors and of races
    Detect {
        /// Slurm's release, one that is installed here
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
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
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
    },
    /// Kill slurmctld at random moments, and look at usage afterwards
    Kills {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
        /// How often
        #[arg(long, default_value_t = 50)]
        count: u32,
        /// The moments are drawn from this; without it, from the clock
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Let a storm of requests pass over a private cluster with our plugin and over one with stock
    Storm {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
        /// How long it lasts
        #[arg(long, default_value_t = 600)]
        seconds: u64,
        /// What happens is drawn from this; without it, from the clock
        #[arg(long)]
        seed: Option<u64>,
    },
    /// A private Slurm cluster
    #[command(subcommand)]
    Cluster(ClusterTool),
    /// Measure how fast everything is, beside Slurm's own plugin; writes docs/performance.md
    Bench(bench::Arguments),
    /// Compare a priority plugin with Slurm's own on the same lives
    Twin(twin::Arguments),
}

#[derive(Subcommand)]
enum ClusterTool {
    /// Start a cluster and hold it until Ctrl-C
    Up {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
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
    /// Wait for the end of standard input, then take a cluster down
    #[command(hide = true)]
    Guard {
        /// The cluster's folder
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments.tool) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<interrupt::Interrupted>() => {
            eprintln!("interrupted");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(tool: Tool) -> Result<()> {
    if let Tool::Cluster(ClusterTool::Guard { folder }) = tool {
        return cluster::folder::stand_guard(&folder);
    }
    interrupt::install()?;
    let progress = Progress::new();
    match tool {
        Tool::Deps => deps::install(&progress),
        Tool::SlurmSrc { release } => {
            progress.print(source::fetch(&release, &progress)?.display().to_string());
            Ok(())
        }
        Tool::SlurmRoot { release } => {
            deps::install(&progress)?;
            let root = root::Root::of(&release, &progress)?;
            progress.print(root.path().display().to_string());
            Ok(())
        }
        Tool::Plugin { slurm, slurm_src } => {
            // make passes an empty word where none was given.
            let source = slurm_src.filter(|folder| !folder.as_os_str().is_empty());
            let plugin = plugin::build(&slurm, source.as_deref(), &progress)?;
            progress.print(plugin.display().to_string());
            Ok(())
        }
        Tool::Demo {
            slurm,
            priority,
            keep,
        } => {
            prepare(&slurm, &progress)?;
            demo::run(&slurm, priority, keep, &progress)
        }
        Tool::Test { slurm } => suite::run(slurm, &progress),
        Tool::Msrv => {
            deps::install(&progress)?;
            msrv::check(&progress)
        }
        Tool::TestCluster { slurm, filter } => {
            prepare(&slurm, &progress)?;
            conclude(checks::run(&slurm, &filter, &progress)?, &progress)
        }
        Tool::Schedmd { slurm, all } => {
            prepare(&slurm, &progress)?;
            let run = if all { schedmd::all } else { schedmd::programs };
            conclude(run(&slurm, &progress)?, &progress)
        }
        Tool::Detect {
            slurm,
            seeds,
            detector,
        } => {
            prepare(&slurm, &progress)?;
            let both = [detect::Detector::Memory, detect::Detector::Races];
            let detectors = detector.map_or(both.to_vec(), |only| vec![only]);
            detect::run(&slurm, seeds, &detectors, &progress)
        }
        Tool::Mishaps { slurm } => {
            prepare(&slurm, &progress)?;
            let host = cluster::host::Host::of(&slurm, &progress)?;
            mishap::play(&slurm, host.folder(), &progress)
        }
        Tool::Kills { slurm, count, seed } => {
            prepare(&slurm, &progress)?;
            let kills = mishap::Kills {
                release: slurm,
                count,
                seed: seed.map_or_else(storm::fresh_seed, Ok)?,
            };
            kills.run(&progress)
        }
        Tool::Storm {
            slurm,
            seconds,
            seed,
        } => {
            prepare(&slurm, &progress)?;
            let storm = storm::Storm {
                release: slurm,
                length: Duration::from_secs(seconds),
                seed: seed.map_or_else(storm::fresh_seed, Ok)?,
            };
            storm.run(&progress)
        }
        Tool::Cluster(ClusterTool::Up { slurm, priority }) => {
            demo::hold(&slurm, priority, &progress)
        }
        Tool::Cluster(ClusterTool::Stop { folder }) => cluster::folder::tear_down(&folder),
        Tool::Cluster(ClusterTool::Guard { .. }) => Ok(()),
        Tool::Bench(arguments) => bench::run(&arguments, &progress),
        Tool::Twin(arguments) => twin::run(arguments, &progress),
    }
}

fn conclude(outcome: Outcome, progress: &Progress) -> Result<()> {
    progress.print(format!(
        "{} passed, {} failed",
        outcome.passed, outcome.failed
    ));
    ensure!(outcome.failed == 0, "a check failed");
    Ok(())
}

/// What a cluster needs: Debian's packages and our plugin, built from the sources as they are.
fn prepare(release: &Release, progress: &Progress) -> Result<()> {
    deps::install(progress)?;
    plugin::build(release, None, progress).map(drop)
}
