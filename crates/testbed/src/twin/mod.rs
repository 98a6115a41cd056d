//! `cargo testbed twin`: compares a priority plugin with Slurm's own on the same lives.
//!
//! The twin host (`tests/twin`) plays a life with either plugin and prints every field that a
//! plugin may write. This module draws lives from seeds, compares the prints, and shrinks a life
//! that shows a difference.

mod admin;
mod compare;
#[cfg(test)]
mod coverage;
mod documented;
pub mod draw;
mod during;
mod events;
mod fault;
mod faults;
pub mod host;
mod inventory;
mod job_list;
mod jobs;
mod life;
mod life_writer;
mod orders;
mod outcome;
mod own;
mod promise;
mod run;
mod sample;
mod settings;
mod shrink;
mod totals;
mod windows;

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::{Args, Subcommand};

use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::{prefix, project, source};

use compare::compare;
pub use draw::Draw;
pub use host::TwinHost;
use job_list::Jobs;
pub use life::Life;
use life_writer::LifeWriter;
use outcome::{Outcome, Pair};
use promise::Promise;
use run::{Run, report};

pub use sample::{print_fault_counts, tests};

/// Compare a priority plugin with Slurm's own.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Play the lives of seeds; the first that differs is shrunk and printed
    Seeds {
        /// One seed, or FIRST-LAST
        #[arg(value_parser = seeds)]
        seeds: RangeInclusive<u64>,
        #[command(flatten)]
        size: Size,
        #[command(flatten)]
        plugins: Plugins,
        /// Print the first difference as it is
        #[arg(long)]
        no_shrink: bool,
        /// Go on after a difference; print only where each differs
        #[arg(long)]
        survey: bool,
    },
    /// Play the life in a file
    Play {
        /// The life
        file: PathBuf,
        #[command(flatten)]
        plugins: Plugins,
        /// Print a smaller life with the same difference
        #[arg(long)]
        shrink: bool,
    },
    /// Play the faults of stock: its numbers as recorded, ours right
    Faults(faults::Arguments),
    /// Let everything happen at every point of a pass: as before it, or as after it
    During {
        #[command(flatten)]
        plugins: Plugins,
    },
    /// Print the life of a seed
    Life {
        /// The seed
        seed: u64,
        #[command(flatten)]
        size: Size,
    },
}

/// Largest size of the lives.
#[derive(Args, Clone, Copy)]
pub struct Size {
    /// Associations
    #[arg(long, default_value_t = Size::USUAL.assocs)]
    pub assocs: u32,
    /// Jobs that are there before the first event
    #[arg(long, default_value_t = Size::USUAL.jobs)]
    pub jobs: u32,
    /// Events
    #[arg(long, default_value_t = Size::USUAL.events)]
    pub events: u32,
    /// Lives of a large site: 20,000 associations and 50,000 jobs, no less
    #[arg(long, conflicts_with_all = ["assocs", "jobs"])]
    pub large: bool,
}

impl Size {
    const USUAL: Size = Size {
        assocs: 200,
        jobs: 300,
        events: 50,
        large: false,
    };

    /// Numbers of associations and jobs at the start of a life.
    fn drawn(self, draw: &mut Draw) -> (u32, u32) {
        if self.large {
            return (20_000, 50_000);
        }
        let assocs = 1 + upto(draw, self.assocs.saturating_sub(1));
        (assocs, upto(draw, self.jobs))
    }
}

/// The setting under which the plugin under test promises that nothing differs.
const COMPAT: &str = "PriorityParameters=compat=slurm";

#[derive(Args)]
struct Plugins {
    /// Slurm's release
    #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
    slurm: Release,
    /// The plugin under test instead of the one that was built for the release
    #[arg(long, conflicts_with = "stock")]
    plugin: Option<PathBuf>,
    /// Play Slurm's own plugin against itself: is a life the same twice?
    #[arg(long)]
    stock: bool,
    /// Expect the documented behaviour: every difference is a fault of stock with a name
    #[arg(long, conflicts_with = "setting")]
    documented: bool,
    /// A further line of slurm.conf
    #[arg(long, default_value = COMPAT)]
    setting: String,
    /// A field to leave out, for instance assoc.usage_norm
    #[arg(long)]
    ignore: Vec<String>,
    /// A verb whose events are dropped from lives of seeds, for instance crash
    #[arg(long)]
    without: Vec<String>,
    /// How many lives to play at the same time
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// One seed, or the seeds of `FIRST-LAST`, both included.
///
/// # Errors
/// Fails for any other text.
pub fn seeds(text: &str) -> Result<RangeInclusive<u64>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |word: &str| word.parse().map_err(|_| anyhow!("{word:?} is not a seed"));
    Ok(number(first)?..=number(last)?)
}

impl Plugins {
    fn build(&self, progress: &Progress) -> Result<Built> {
        let installation = Installation::of(&self.slurm, progress)?;
        let promise = if self.documented {
            Promise::Documented
        } else {
            Promise::Same
        };
        let host = build_host(&installation, progress)?.promising(promise, &self.setting);
        let host = self
            .ignore
            .iter()
            .fold(host, |host, field| host.with("--ignore", field));
        let ours = match &self.plugin {
            _ if self.stock => host.stock(),
            Some(plugin) => plugin.clone(),
            None => project::plugin(&self.slurm),
        };
        Built::new(host, ours, promise)
    }
}

/// The host of an installed release.
fn build_host(installation: &Installation, progress: &Progress) -> Result<TwinHost> {
    let release = installation.release();
    let source = source::fetch(release, progress)?;
    TwinHost::build(&source, installation, &project::slurm(release).join("twin"))
}

/// The host and the plugins for playing lives.
struct Built {
    host: TwinHost,
    stock: PathBuf,
    ours: PathBuf,
    promise: Promise,
}

impl Built {
    /// Builds the host, and takes the plugin that was built for a release.
    fn of(installation: &Installation, promise: Promise, progress: &Progress) -> Result<Built> {
        let host = build_host(installation, progress)?.promising(promise, COMPAT);
        Built::new(host, project::plugin(installation.release()), promise)
    }

    fn new(host: TwinHost, ours: PathBuf, promise: Promise) -> Result<Built> {
        let stock = host.stock();
        for plugin in [&stock, &ours] {
            ensure!(plugin.is_file(), "{}: no such plugin", plugin.display());
        }
        Ok(Built {
            host,
            stock,
            ours,
            promise,
        })
    }

    fn pair(&self) -> Pair<'_> {
        Pair {
            host: &self.host,
            stock: &self.stock,
            ours: &self.ours,
            promise: self.promise,
        }
    }
}

/// A number up to `high`; small numbers are as likely as large ones.
fn upto(draw: &mut Draw, high: u32) -> u32 {
    let spread = draw.magnitude(high);
    if draw.chance(30) {
        high - spread
    } else {
        spread
    }
}

/// The life of a seed. Most are far smaller than the limits, so that many fit into a minute.
pub fn generate(seed: u64, size: Size) -> Life {
    let mut draw = Draw::new(seed);
    let mut life = Life::default();
    let (assocs, jobs) = size.drawn(&mut draw);
    let mut inventory = inventory::build(&mut draw, &mut life, assocs);
    let mut writer = LifeWriter {
        draw: &mut draw,
        inventory: &mut inventory,
        life: &mut life,
        jobs: Jobs::default(),
        steady: false,
    };
    events::live(&mut writer, jobs, size.events);
    life
}

/// Runs a task of `cargo testbed twin`.
///
/// # Errors
///
/// Fails if the host does not build or run, if a life cannot be read, or at a difference.
pub fn run(arguments: Arguments, progress: &Progress) -> Result<()> {
    match arguments.task {
        Task::Life { seed, size } => {
            print!("{}", generate(seed, size).text());
            Ok(())
        }
        Task::Faults(arguments) => faults::run(&arguments, progress),
        Task::During { plugins } => {
            let built = plugins.build(progress)?;
            during::enumerate(&built.host, &built.ours, plugins.threads.max(1))
        }
        Task::Play {
            file,
            plugins,
            shrink,
        } => play(&file, &plugins, shrink, progress),
        Task::Seeds {
            seeds,
            size,
            plugins,
            no_shrink,
            survey,
        } => {
            let built = plugins.build(progress)?;
            let run = Run {
                pair: built.pair(),
                size,
                without: &plugins.without,
                survey,
            };
            let seeds: Vec<u64> = seeds.collect();
            run.seeds(&seeds, plugins.threads.max(1), !no_shrink)
        }
    }
}

fn play(file: &Path, plugins: &Plugins, shrink: bool, progress: &Progress) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let life = Life::parse(&text);
    let built = plugins.build(progress)?;
    let pair = built.pair();
    match compare(&pair, &life)? {
        Outcome::Same => {
            println!("no difference");
            Ok(())
        }
        Outcome::StockDies(ending) => {
            println!("stock ends with {ending}, the other plays on");
            Ok(())
        }
        Outcome::Explained(counts) => {
            print!("{counts}");
            Ok(())
        }
        Outcome::Differs(difference) => report(&pair, &life, &difference, shrink),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        assocs: 30,
        jobs: 30,
        events: 50,
        large: false,
    };

    #[test]
    fn a_seed_is_a_life() {
        assert_eq!(generate(7, SIZE), generate(7, SIZE));
        assert_ne!(generate(7, SIZE), generate(8, SIZE));
        for seed in 0..50 {
            let life = generate(seed, SIZE);
            assert_eq!(life.lines.iter().filter(|line| *line == "boot").count(), 1);
            assert_eq!(Life::parse(&life.text()), life);
        }
    }

    #[test]
    fn ranges_of_seeds() {
        assert_eq!(seeds("5").ok(), Some(5..=5));
        assert_eq!(seeds("5-9").ok(), Some(5..=9));
        assert!(seeds("five").is_err());
    }
}
