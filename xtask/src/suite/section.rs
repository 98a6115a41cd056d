//! A section of the suite: a row of its tables.

use std::path::Path;

use anyhow::{Context as _, Result};
use xtask::every::{Every, Extent};
use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::release::Release;

use super::cargo;
use super::outcome::Outcome;
use super::testbed::Testbed;

/// A row of the tables: the work, and its frequency.
pub struct Section {
    /// Its title.
    pub name: &'static str,
    /// Its frequency.
    pub every: Every,
    /// Its work.
    pub work: Work,
}

/// Property tests draw the same values in every run of `make test`.
const FIXED_SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

/// The work of a section.
pub enum Work {
    /// One call of cargo.
    Cargo(&'static [&'static str]),
    /// A function.
    Call(fn(&Progress, &mut Outcome) -> Result<()>),
    /// A function, for each release of Slurm.
    CallFor(fn(&Release, &Progress, &mut Outcome) -> Result<()>),
    /// A program of the test bed, for each release of Slurm.
    Program(&'static str),
    /// A program of the test bed, for a release that runs with the libraries of this machine.
    ProgramHere(&'static str),
}

/// A release of Slurm, and the extent of its tests.
#[derive(Clone)]
pub struct Target {
    /// The release.
    pub release: Release,
    /// The part of the tables.
    pub extent: Extent,
}

impl Section {
    /// The targets that it runs for; only the first one if it does not depend on a release.
    pub fn targets<'a>(&self, targets: &'a [Target]) -> Vec<&'a Target> {
        let taken = targets.iter().filter(|t| t.extent.takes(self.every));
        match self.work {
            Work::Cargo(_) | Work::Call(_) => taken.take(1).collect(),
            _ => taken.collect(),
        }
    }

    /// Its title, with the release of the target.
    pub fn title(&self, target: &Target) -> String {
        match self.work {
            Work::Cargo(_) | Work::Call(_) => self.name.to_owned(),
            _ => format!("{}, Slurm {}", self.name, target.release),
        }
    }

    /// Runs it, and adds up the results of its tests.
    ///
    /// # Errors
    /// Fails with a named error.
    pub fn run(
        &self,
        target: &Target,
        testbed: Option<&Testbed>,
        progress: &Progress,
        total: &mut Outcome,
    ) -> Result<()> {
        let release = &target.release;
        let run = |name: &str, total: &mut Outcome| {
            let testbed = testbed.context("the test bed is built before its programs run")?;
            testbed.run(name, target, progress, total)
        };
        match self.work {
            Work::Cargo(arguments) => {
                let seed = (FIXED_SEED.0, Path::new(FIXED_SEED.1));
                let variables = match target.extent {
                    Extent::All => &[][..],
                    Extent::Commit | Extent::OtherRelease => &[seed],
                };
                cargo::run(self.name, arguments, variables, progress, total)
            }
            Work::Call(call) => call(progress, total),
            Work::CallFor(call) => call(release, progress, total),
            Work::Program(name) => run(name, total),
            Work::ProgramHere(name) => {
                if Installation::of(release, progress)?.is_of_this_machine() {
                    return run(name, total);
                }
                progress.print(format!("not run: Slurm {release} is not installed here"));
                Ok(())
            }
        }
    }
}
