//! `cargo testbed detect`: the plugin in the twin host under detectors of memory errors, leaks and
//! races.
//!
//! The lives are those of `cargo testbed twin`, but several threads play their events at once while
//! passes run all the time (`crowd` in `tests/twin`).

mod crowd;
mod memory;
mod races;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use libtest_mimic::Trial;

use crate::harness::{self, Bed, Shared};
use crate::twin::{Life, TwinHost};
use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::{interrupt, project, source};

/// The seeds of `make test-all`.
const SHORT: RangeInclusive<u64> = 1..=3;

/// The two detectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Detector {
    /// Valgrind: invalid reads and writes, use of uninitialised memory, leaks.
    Memory,
    /// ThreadSanitizer: two threads access the same memory without synchronisation.
    Races,
}

/// A host and a plugin, ready to be watched.
struct Watched {
    host: TwinHost,
    plugin: PathBuf,
}

impl Detector {
    /// Both detectors.
    pub const ALL: [Detector; 2] = [Detector::Memory, Detector::Races];

    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    fn prepare(self, release: &Release, progress: &Progress) -> Result<Watched> {
        let installation = Installation::of(release, progress)?;
        // The detectors work only with this machine's libraries.
        ensure!(
            installation.is_of_this_machine(),
            "Slurm {release} is not installed here"
        );
        let source = source::fetch(release, progress)?;
        let folder = project::slurm(release);
        let watched = match self {
            Detector::Memory => memory::prepare(&installation, &source, &folder)?,
            Detector::Races => races::prepare(&installation, &source, &folder, progress)?,
        };
        let plugin = &watched.plugin;
        ensure!(plugin.is_file(), "{}: no such plugin", plugin.display());
        Ok(watched)
    }
}

/// The crowds of `make test-all` under each detector, as tests.
pub fn tests(bed: &'static Bed) -> Vec<Trial> {
    let of = |detector: Detector| {
        let watched = Arc::new(Shared::new(move || {
            detector.prepare(&bed.release, &bed.progress)
        }));
        SHORT.map(move |seed| {
            let watched = Arc::clone(&watched);
            harness::test(
                bed,
                format!("{}::crowd_{seed}", detector.name()),
                move |bed| {
                    let life = crowd::life(seed, &bed.release);
                    watched.get()?.plays(&life, seed, detector)
                },
            )
        })
    };
    Detector::ALL.into_iter().flat_map(of).collect()
}

/// Plays the crowds of `seeds` under each of `detectors`.
///
/// # Errors
/// Fails if something cannot be built, and at the first report of a detector, with its text.
pub fn run(
    release: &Release,
    seeds: RangeInclusive<u64>,
    detectors: &[Detector],
    progress: &Progress,
) -> Result<()> {
    for detector in detectors {
        let watched = detector.prepare(release, progress)?;
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
        let name = detector.name();
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
