//! The sample of lives that `make test` plays: for `compat=slurm` some seeds that are always the
//! same, and others that nobody has played before; for the documented behaviour the former only;
//! and every event at every point of a pass.

use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};

use crate::progress::Progress;
use crate::project;
use crate::release::Release;
use crate::source;

use super::compare::{Pair, Promise};
use super::during;
use super::host::Host;
use super::run::{Run, report};
use super::{COMPAT, Size};

/// One half of the sample.
struct Half {
    promise: Promise,
    /// Seeds played every time. Together they meet every algorithm, flag and event.
    fixed: RangeInclusive<u64>,
    /// Others that are, as each once showed a difference that those above do not meet.
    found: &'static [u64],
    /// How many fresh seeds there are.
    fresh: u64,
    /// What the command that plays a life again needs beside its seed.
    option: &'static str,
}

/// Lives that are explained call by call take thirty times as long as lives that are compared. None
/// of them is fresh: a new one may show a mixture of stock's faults that the oracle has not met,
/// which is work for someone at a desk, and says nothing about the change under test.
const HALVES: [Half; 2] = [
    Half {
        promise: Promise::Same,
        fixed: 1..=400,
        // Rows of sprio whose weights of TRES are those of before and of after a reconfigure; a
        // pass of no seconds after a reconfigure, with a clock that had stepped back.
        found: &[596, 702_111],
        fresh: 200,
        option: "",
    },
    Half {
        promise: Promise::Documented,
        fixed: 1..=60,
        found: &[],
        fresh: 0,
        option: " --documented",
    },
];

/// Plays the sample with Slurm's plugin and the one that was built for `release`; `root` is the
/// Debian system with that release.
///
/// # Errors
/// A plugin or a host that does not build, and a difference: then the life was printed, made
/// small, with the command that plays it again.
pub fn play(release: &Release, root: &Path, progress: &Progress) -> Result<()> {
    HALVES
        .iter()
        .try_for_each(|half| half.play(release, root, progress))?;
    let source = source::fetch(release, progress)?;
    let program = project::slurm(release).join("twin");
    let host = Host::build(&source, root, &program)?.promising(Promise::Same, COMPAT);
    progress.print("events at every point of a pass");
    during::enumerate(&host, &project::plugin(release), threads())
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Half {
    fn play(&self, release: &Release, root: &Path, progress: &Progress) -> Result<()> {
        let source = source::fetch(release, progress)?;
        let program = project::slurm(release).join("twin");
        let host = Host::build(&source, root, &program)?.promising(self.promise, COMPAT);
        let (stock, ours) = (host.stock(), project::plugin(release));
        for plugin in [&stock, &ours] {
            ensure!(plugin.is_file(), "{}: no such plugin", plugin.display());
        }
        let run = Run {
            pair: Pair {
                host: &host,
                stock: &stock,
                ours: &ours,
                promise: self.promise,
            },
            size: Size::USUAL,
            without: &[],
            survey: false,
        };
        let (fixed, fresh, option) = (&self.fixed, fresh_seeds(self.fresh)?, self.option);
        let mut told = format!("lives of the seeds {}-{}", fixed.start(), fixed.end());
        for seed in self.found {
            told += &format!(", {seed}");
        }
        if !fresh.is_empty() {
            told += &format!(" and {}-{}", fresh.start, fresh.end - 1);
        }
        progress.print(told + option);
        let always = fixed.clone().chain(self.found.iter().copied());
        let seeds: Vec<u64> = always.chain(fresh).collect();
        let found = run.play(&seeds, threads())?.differing;
        let Some((seed, difference)) = found.first() else {
            progress.print(run.praise(seeds.len()));
            return Ok(());
        };
        let system = root.display();
        progress.print(format!(
            "seed {seed} differs; again: cargo xtask twin seeds {seed} --slurm {release} --root {system}{option}"
        ));
        report(&run.pair, &run.life(*seed), difference, true)
    }
}

/// So many seeds by the clock, a block for every second.
fn fresh_seeds(count: u64) -> Result<Range<u64>> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .context("the clock is before 1970")?;
    let first = now.as_secs() * count;
    Ok(first..first + count)
}
