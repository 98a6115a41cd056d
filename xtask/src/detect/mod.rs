//! `cargo xtask detect`: the plugin in the twin host under detectors of memory errors, leaks and
//! races.
//!
//! The lives are those of `cargo xtask twin`, but their events are played by several threads at
//! once while passes run all the time (`crowd` in `tests/twin`).

mod crowd;
mod memory;
mod races;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};

use crate::progress::Progress;
use crate::release::Release;
use crate::twin::{Host, Life};
use crate::{interrupt, project, source};

/// What `make test` plays.
pub const SHORT: RangeInclusive<u64> = 1..=3;

/// The two detectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Detector {
    /// Valgrind: invalid reads and writes, use of what nobody has written, leaks.
    Memory,
    /// ThreadSanitizer: two threads at the same place without order.
    Races,
}

/// A host and a plugin, ready to be watched.
struct Watched {
    host: Host,
    plugin: PathBuf,
}

/// Plays the crowds of `seeds` under each of `detectors`.
///
/// # Errors
/// What cannot be built, and the first report of a detector, with its whole text.
pub fn run(
    release: &Release,
    seeds: RangeInclusive<u64>,
    detectors: &[Detector],
    progress: &Progress,
) -> Result<()> {
    let source = source::fetch(release, progress)?;
    for detector in detectors {
        let folder = project::slurm(release);
        let watched = match detector {
            Detector::Memory => memory::prepare(release, &source, &folder)?,
            Detector::Races => races::prepare(&source, &folder, progress)?,
        };
        ensure!(
            watched.plugin.is_file(),
            "{}: no such plugin",
            watched.plugin.display()
        );
        let mut events = 0;
        for seed in seeds.clone() {
            interrupt::check()?;
            let life = crowd::life(seed, release);
            events += life.lines.len();
            watched.plays(&life, seed, *detector)?;
        }
        let (first, last) = (seeds.start(), seeds.end());
        progress.print(format!(
            "{detector:?}: nothing to report of the crowds {first}-{last}, {events} lines"
        ));
    }
    Ok(())
}

impl Watched {
    fn plays(&self, life: &Life, seed: u64, detector: Detector) -> Result<()> {
        let dump = self.host.play(&self.plugin, life, None)?;
        if dump.ending == "exit 0" {
            return Ok(());
        }
        let name = format!("{detector:?}").to_lowercase();
        let log = project::root().join(format!("target/detect-{name}-{seed}.log"));
        std::fs::write(&log, &dump.ending)?;
        let head: Vec<&str> = dump.ending.lines().take(60).collect();
        bail!(
            "crowd {seed} under {detector:?}, all of it in {}:\n{}",
            log.display(),
            head.join("\n")
        )
    }
}
