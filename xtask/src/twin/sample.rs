//! The sample of lives that `make test` plays: some seeds that are always the same, as many that
//! nobody has played before, and every event at every point of a pass.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};

use crate::progress::Progress;
use crate::project;
use crate::release::Release;
use crate::source;

use super::compare::Pair;
use super::during;
use super::host::Host;
use super::{COMPAT, Run, Size, report};

/// Seeds played every time. Together they meet every algorithm, flag and event, and every
/// difference that was ever found.
const FIXED: std::ops::RangeInclusive<u64> = 1..=400;

/// How many fresh seeds there are.
const FRESH: u64 = 200;

/// Plays the sample with Slurm's plugin and the one that was built for `release`; `root` is the
/// Debian system with that release.
///
/// # Errors
/// A plugin or a host that does not build, and a difference: then the life was printed, made
/// small, with the command that plays it again.
pub fn play(release: &Release, root: &Path, progress: &Progress) -> Result<()> {
    let source = source::fetch(release, progress)?;
    let program = project::slurm(release).join("twin");
    let host = Host::build(&source, root, &program)?.with("--conf", COMPAT);
    let (stock, ours) = (host.stock(), project::plugin(release));
    for plugin in [&stock, &ours] {
        ensure!(plugin.is_file(), "{}: no such plugin", plugin.display());
    }
    let run = Run {
        pair: Pair {
            host: &host,
            stock: &stock,
            ours: &ours,
        },
        size: Size::USUAL,
        without: &[],
        survey: false,
    };
    let fresh = fresh_seeds()?;
    let (first, last) = (fresh.start(), fresh.end());
    progress.print(format!(
        "lives of the seeds {}-{} and {first}-{last}",
        FIXED.start(),
        FIXED.end()
    ));
    let seeds: Vec<u64> = FIXED.chain(fresh).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found = run.differing(&seeds, threads)?;
    let Some((seed, difference)) = found.first() else {
        progress.print(format!("{} lives, no difference", seeds.len()));
        progress.print("events at every point of a pass");
        return during::enumerate(&host, &ours, threads);
    };
    let system = root.display();
    progress.print(format!(
        "seed {seed} differs; again: cargo xtask twin seeds {seed} --slurm {release} --root {system}"
    ));
    report(&run.pair, &run.life(*seed), difference, true)
}

/// Seeds by the clock, a block for every second.
fn fresh_seeds() -> Result<std::ops::RangeInclusive<u64>> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .context("the clock is before 1970")?;
    let first = now.as_secs() * FRESH;
    Ok(first..=first + FRESH - 1)
}
