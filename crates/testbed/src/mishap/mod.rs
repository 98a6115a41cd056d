//! `cargo testbed mishaps`: mishaps of slurmctld and its disk, and usage afterwards.
//!
//! Damaged state files, disks and clocks are played in the twin host, which can reach every byte
//! range and every moment; slurmctld itself is killed in a private cluster.

mod case;
mod clock;
mod disk;
mod fault_storm;
mod files;
mod kills;
mod phase;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use libtest_mimic::Trial;

use crate::harness::{self, Bed, Shared};
use crate::twin::TwinHost;
use xtask::every::Every;
use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::{interrupt, project, source};

use case::Case;
pub use fault_storm::{FaultStorm, tests as fault_tests};
pub use kills::Kills;

/// The kinds by name, with their cases.
fn kinds() -> Vec<(String, Vec<Case>)> {
    let files = files::cases().into_iter();
    let damaged = files.map(|(file, cases)| (format!("{file}_damaged"), cases));
    let others = [
        ("disk_full_or_not_writable".to_owned(), disk::cases()),
        ("clock_stepped".to_owned(), clock::cases()),
    ];
    damaged.chain(others).collect()
}

/// The mishaps in the twin host as tests, one per kind.
pub fn tests(bed: &'static Bed) -> Vec<Trial> {
    let host = Arc::new(Shared::new(move || {
        let installation = bed.installation()?;
        build(&installation, &bed.progress)
    }));
    let each = |(name, cases): (String, Vec<Case>)| {
        let host = Arc::clone(&host);
        harness::test(bed, name.clone(), move |bed| {
            let plugin = plugin(&bed.release)?;
            all(host.get()?, &plugin, &name, &cases, &bed.progress)
        })
    };
    kinds().into_iter().map(each).collect()
}

/// Kills as a test.
pub fn kill_tests(bed: &'static Bed) -> Vec<Trial> {
    let kills = harness::test(bed, "kills_lose_no_usage", |bed| {
        let kills = Kills {
            release: bed.release.clone(),
            count: kills::COUNTS[usize::from(bed.takes(Every::Night))],
            seed: bed.seed()?,
        };
        kills.run(&bed.progress)
    });
    vec![kills]
}

/// Plays every mishap in the twin host, with the library of this installation.
///
/// # Errors
/// Fails if the host does not build, and at the first case that fails, with its life.
pub fn play(installation: &Installation, progress: &Progress) -> Result<()> {
    let host = build(installation, progress)?;
    let plugin = plugin(installation.release())?;
    for (name, cases) in kinds() {
        all(&host, &plugin, &name, &cases, progress)?;
    }
    Ok(())
}

fn build(installation: &Installation, progress: &Progress) -> Result<TwinHost> {
    let release = installation.release();
    let source = source::fetch(release, progress)?;
    TwinHost::build(&source, installation, &project::slurm(release).join("twin"))
}

fn plugin(release: &Release) -> Result<PathBuf> {
    let plugin = project::plugin(release);
    ensure!(plugin.is_file(), "{}: no such plugin", plugin.display());
    Ok(plugin)
}

/// Plays all cases of a kind.
///
/// # Errors
/// Fails at the first case with a wrong result, with its life.
fn all(
    host: &TwinHost,
    plugin: &Path,
    name: &str,
    cases: &[Case],
    progress: &Progress,
) -> Result<()> {
    for case in cases {
        interrupt::check()?;
        if let Some(fault) = case.play(host, plugin)? {
            bail!("{name}: {fault}\n--- the life ---\n{}", case.life());
        }
    }
    progress.print(format!("{name}: {} cases", cases.len()));
    Ok(())
}
