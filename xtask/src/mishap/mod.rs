//! `cargo xtask mishaps`: what happens to slurmctld and its disk, and what usage is afterwards.
//!
//! Damaged state files, disks and clocks are played in the twin host, where every byte range and
//! every moment can be had; slurmctld itself is killed in a private cluster.

mod clock;
mod disk;
mod files;
mod kills;
mod scene;

use std::path::Path;

use anyhow::{Result, bail, ensure};

use crate::progress::Progress;
use crate::release::Release;
use crate::twin::Host;
use crate::{interrupt, project, source};

pub use kills::{Kills, SHORT};
use scene::Scene;

/// Plays every mishap in the twin host; `root`: the system with the release's library.
///
/// # Errors
/// A host that does not build, and the first case that did not end well, with its life.
pub fn play(release: &Release, root: &Path, progress: &Progress) -> Result<()> {
    let source = source::fetch(release, progress)?;
    let program = project::slurm(release).join("twin");
    let host = Host::build(&source, root, &program)?;
    let plugin = project::plugin(release);
    ensure!(plugin.is_file(), "{}: no such plugin", plugin.display());
    for (what, cases) in [
        ("state files damaged", files::cases()),
        ("disks full or not writable", disk::cases()),
        ("clocks stepped", clock::cases()),
    ] {
        let failed = all(&host, &plugin, &cases)?;
        if let Some((case, fault)) = failed {
            bail!("{what}: {fault}\n--- the life ---\n{}", case.life());
        }
        progress.print(format!("{what}: {} cases", cases.len()));
    }
    Ok(())
}

/// The first case that does not end as it should.
fn all<'a>(host: &Host, plugin: &Path, cases: &'a [Scene]) -> Result<Option<(&'a Scene, String)>> {
    for case in cases {
        interrupt::check()?;
        if let Some(fault) = case.play(host, plugin)? {
            return Ok(Some((case, fault)));
        }
    }
    Ok(None)
}
