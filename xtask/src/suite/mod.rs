//! `make test` and `make test-all`: the sections of a run, a table of seconds, and one line at the
//! end. The first failure ends `make test`; `make test-all` continues with the next section.
//!
//! Private clusters mostly wait for passes, jobs and clocks. So they run in a separate lane at the
//! same time as the sections that compute, and their output is printed as a whole afterwards. This
//! lane also fetches Slurm's sources, builds the plugins and makes the root folders of other Debian
//! releases, before the clusters and while cargo builds the tests.

mod calls;
mod cargo;
mod fuzz;
mod log;
mod outcome;
mod section;
mod table;
mod testbed;

use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use xtask::deps::{self, Need};
use xtask::every::Extent;
use xtask::installation::Installation;
use xtask::interrupt::{self, Interrupted};
use xtask::prefix::Prefix;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::{plugin, source};

use log::Log;
use outcome::Outcome;
use section::{Section, Target};
use testbed::Testbed;

pub use table::listed;

/// `make test`: the sections of every commit. `release`: only with this release.
///
/// # Errors
/// Fails with the title of the first failed section. The summary line is always printed.
pub fn commit(release: Option<Release>, progress: &Progress) -> Result<()> {
    let extents = [Extent::Commit, Extent::OtherRelease];
    let releases = releases(release)?.into_iter();
    let extents = extents.into_iter().chain(std::iter::repeat(extents[1]));
    let targets = releases
        .zip(extents)
        .map(|(release, extent)| Target { release, extent });
    run(
        &targets.collect::<Vec<_>>(),
        Need::Test,
        Log::of_one_run(),
        progress,
    )
}

/// `make test-all`: all sections, except those that an earlier run on the same tree has finished.
///
/// # Errors
/// Fails as [`commit`].
pub fn all(release: Option<Release>, progress: &Progress) -> Result<()> {
    let extent = Extent::All;
    let releases = releases(release)?.into_iter();
    let targets: Vec<Target> = releases.map(|release| Target { release, extent }).collect();
    run(&targets, Need::TestAll, Log::kept()?, progress)
}

/// The named release, that of `SLURM_PREFIX`, or those that Debian ships.
fn releases(named: Option<Release>) -> Result<Vec<Release>> {
    if let Some(only) = named {
        return Ok(vec![only]);
    }
    let prefix = Prefix::of_environment()?.map(|prefix| vec![prefix.release().clone()]);
    Ok(prefix.unwrap_or_else(Release::supported))
}

fn run(targets: &[Target], need: Need, log: Log, progress: &Progress) -> Result<()> {
    let suite = Suite {
        targets,
        continues: need == Need::TestAll,
        failures: Mutex::default(),
        log,
        testbed: OnceLock::new(),
    };
    let mut total = Outcome::default();
    let start = Instant::now();
    let result = suite.run(need, progress, &mut total);
    let secs = start.elapsed().as_secs();
    if let Some(path) = suite.log.write_table()? {
        progress.print(format!("\nthe table is in {}", path.display()));
    }
    progress.print(format!(
        "\n{}\nfrom begin to end: {secs} seconds\n\n{} passed, {} failed",
        suite.log.table(),
        total.passed,
        total.failed
    ));
    result
}

/// One run.
struct Suite<'a> {
    targets: &'a [Target],
    /// A failed section does not end the run.
    continues: bool,
    /// The failures after which the run continued.
    failures: Mutex<Vec<String>>,
    log: Log,
    testbed: OnceLock<Testbed>,
}

impl Suite<'_> {
    fn run(&self, need: Need, progress: &Progress, total: &mut Outcome) -> Result<()> {
        self.timed("packages of Debian", progress, total, |_| {
            deps::install(need, progress)
        })?;
        let held = progress.held();
        thread::scope(|scope| {
            let (built, is_built) = mpsc::channel();
            let held = &held;
            let lane = scope.spawn(move || {
                let mut total = Outcome::default();
                let result = self.lane_that_waits(&is_built, held, &mut total);
                (stop_others(result), total)
            });
            let result = self.lane_that_computes(built, progress, total);
            let results = vec![stop_others(result)];
            progress.step("waiting for the private clusters");
            let (result, also) = lane.join().map_err(|_| anyhow!("a section panicked"))?;
            progress.print(held.take());
            *total += also;
            first_failure(results.into_iter().chain([result]).collect())
        })?;
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        ensure!(failures.is_empty(), "{}", failures.join("; "));
        Ok(())
    }

    /// Builds everything, notifies the other lane, and runs the sections that compute.
    fn lane_that_computes(
        &self,
        built: mpsc::Sender<()>,
        progress: &Progress,
        total: &mut Outcome,
    ) -> Result<()> {
        self.sections(table::FIRST, self.targets, progress, total)?;
        let testbed = Testbed::find()?;
        testbed.expect(table::COMPUTING.iter().chain(table::WAITING))?;
        self.testbed.get_or_init(|| testbed);
        // An error means that the other lane has failed, and has ended this one.
        let _ = built.send(());
        self.sections(table::COMPUTING, self.targets, progress, total)
    }

    /// Prepares Slurm's sources and programs and the plugins; after the tests are built, runs the
    /// clusters, those of each release in a lane.
    fn lane_that_waits(
        &self,
        is_built: &mpsc::Receiver<()>,
        progress: &Progress,
        total: &mut Outcome,
    ) -> Result<()> {
        for target in self.targets {
            let title = format!("source, programs and plugin of Slurm {}", target.release);
            self.timed(&title, progress, total, |_| prepare(target, progress))?;
        }
        // An error means that the other lane has failed.
        is_built.recv().map_err(|_| Interrupted)?;
        let lane = |target| {
            let (held, mut total) = (progress.held(), Outcome::default());
            let targets = std::slice::from_ref(target);
            let result = self.sections(table::WAITING, targets, &held, &mut total);
            (stop_others(result), total, held.take())
        };
        let lanes = thread::scope(|scope| {
            let start = |target| scope.spawn(move || lane(target));
            let lanes: Vec<_> = self.targets.iter().map(start).collect();
            lanes
                .into_iter()
                .map(|lane| lane.join())
                .collect::<Vec<_>>()
        });
        let mut results = Vec::new();
        for lane in lanes {
            let (result, also, text) = lane.map_err(|_| anyhow!("a section panicked"))?;
            progress.print(text);
            *total += also;
            results.push(result);
        }
        first_failure(results)
    }

    fn sections(
        &self,
        sections: &[Section],
        targets: &[Target],
        progress: &Progress,
        total: &mut Outcome,
    ) -> Result<()> {
        sections
            .iter()
            .try_for_each(|section| self.section(section, targets, progress, total))
    }

    /// Notes a failure after which the run continues; the build of the tests must succeed.
    fn note(&self, result: Result<()>, progress: &Progress) -> Result<()> {
        match result {
            Err(error)
                if self.continues && self.testbed.get().is_some() && !error.is::<Interrupted>() =>
            {
                let failure = format!("{error:#}");
                progress.print(&failure);
                let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
                failures.push(failure);
                Ok(())
            }
            result => result,
        }
    }

    /// Runs a section for each target that includes it, unless it is finished.
    fn section(
        &self,
        section: &Section,
        targets: &[Target],
        progress: &Progress,
        total: &mut Outcome,
    ) -> Result<()> {
        for target in section.targets(targets) {
            let title = section.title(target);
            if let Some(entry) = self.log.finished(&title) {
                progress.title(&format!("{title}: finished earlier on this tree"));
                *total += entry.outcome;
                continue;
            }
            let result = self.timed(&title, progress, total, |outcome| {
                section.run(target, self.testbed.get(), progress, outcome)
            });
            self.note(result, progress)?;
        }
        Ok(())
    }

    /// Runs a step under its title, and logs its seconds and results.
    fn timed(
        &self,
        title: &str,
        progress: &Progress,
        total: &mut Outcome,
        step: impl FnOnce(&mut Outcome) -> Result<()>,
    ) -> Result<()> {
        interrupt::check()?;
        progress.title(title);
        let start = Instant::now();
        let mut outcome = Outcome::default();
        let result = step(&mut outcome);
        if result
            .as_ref()
            .is_err_and(|error| !error.is::<Interrupted>())
        {
            outcome.failed = outcome.failed.max(1);
        }
        *total += outcome;
        result?;
        self.log.add(title, start.elapsed(), outcome)
    }
}

/// Fetches a release's source and programs, and builds its plugin.
fn prepare(target: &Target, progress: &Progress) -> Result<()> {
    let release = &target.release;
    source::fetch(release, progress)?;
    Installation::of(release, progress)?;
    let built = plugin::build(release, None, progress)?;
    progress.print(format!("built {}", built.display()));
    Ok(())
}

/// The first error; an interruption comes last, because it follows a failure of the other lane.
fn first_failure(results: Vec<Result<()>>) -> Result<()> {
    let stopped = |result: &Result<()>| matches!(result, Err(error) if error.is::<Interrupted>());
    let (stopped, others): (Vec<_>, Vec<_>) = results.into_iter().partition(stopped);
    others.into_iter().chain(stopped).collect()
}

/// Stops the other lane after a failure.
fn stop_others(result: Result<()>) -> Result<()> {
    result.inspect_err(|_| interrupt::stop())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_reported_before_what_was_stopped_by_it() {
        let stopped = || Err(Interrupted.into());
        let failed = || Err(anyhow!("a test failed"));
        let told = first_failure(vec![stopped(), Ok(()), failed()]).unwrap_err();
        assert_eq!(told.to_string(), "a test failed");
        let told = first_failure(vec![Ok(()), stopped()]).unwrap_err();
        assert!(told.is::<Interrupted>());
        assert!(first_failure(vec![Ok(()), Ok(())]).is_ok());
    }
}
