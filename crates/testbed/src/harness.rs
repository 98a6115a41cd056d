//! Test programs of the test bed: their tests are listed, filtered and run like those of any other
//! program that `cargo test` runs.
//!
//! Before the first test begins, nothing is built and no Slurm is needed. The release of Slurm
//! comes from the variable `SLURM`, or from the Slurm that `SLURM_PREFIX` names.

use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, anyhow};
use libtest_mimic::{Arguments, Trial};
use xtask::deps::Need;
use xtask::every::{Every, Extent};
use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::project::PREPARED;
use xtask::release::Release;
use xtask::{deps, interrupt, plugin, prefix};

use crate::cluster::{fairtree, folder};

/// Tests that take longer are named with their time at the end.
const LONG: Duration = Duration::from_secs(2);

/// The seed of random tests in `make test`. It is fixed, so that a failure is caused by the change.
const FIXED_SEED: u64 = 1;

/// A new seed every second.
///
/// # Errors
/// Fails if the clock is before 1970.
pub fn fresh_seed() -> Result<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Ok(now.context("the clock is before 1970")?.as_secs())
}

/// Number of tests that run at a time, unless `--test-threads` sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One, so that its daemons' times are meaningful; two in `make test`, whose clusters mostly
    /// wait.
    Clusters,
    /// One for each CPU.
    Cpus,
}

/// State that the tests of a program share.
pub struct Bed {
    /// Slurm's release.
    pub release: Release,
    /// The extent of the program's tests.
    pub extent: Extent,
    /// Output for the tests' progress.
    pub progress: Progress,
    need: Need,
    prepared: OnceLock<Result<(), String>>,
    times: Mutex<Vec<(String, Duration)>>,
}

/// Installs the packages of `need`, and builds the plugin and the command from the current sources.
///
/// # Errors
/// Fails if packages are missing and cannot be installed, or if a build fails.
pub fn prepare(need: Need, release: &Release, progress: &Progress) -> Result<()> {
    deps::install(need, progress)?;
    plugin::build(release, None, progress)?;
    progress.step("building the command");
    fairtree::build().map(drop)
}

impl Bed {
    fn of_environment(need: Need) -> Result<Bed> {
        let named = std::env::var("SLURM").unwrap_or_default();
        let release = match named.as_str() {
            "" => prefix::preset(),
            named => named.parse()?,
        };
        Ok(Bed {
            release,
            extent: Extent::of_environment()?,
            progress: Progress::plain(),
            need,
            prepared: OnceLock::new(),
            times: Mutex::default(),
        })
    }

    /// Returns true if the program includes the tests with this mark.
    pub fn takes(&self, every: Every) -> bool {
        self.extent.takes(every)
    }

    /// The seed of a random test: a fixed one in `make test`, else a new one.
    ///
    /// # Errors
    /// Fails if the clock is before 1970.
    pub fn seed(&self) -> Result<u64> {
        match self.extent {
            Extent::Commit | Extent::OtherRelease => Ok(FIXED_SEED),
            Extent::All => fresh_seed(),
        }
    }

    /// The installation of the release.
    ///
    /// # Errors
    /// Fails if there is none and none can be made.
    pub fn installation(&self) -> Result<Installation> {
        Installation::of(&self.release, &self.progress)
    }

    /// Prepares once for all tests, before the first of them.
    fn prepare(&self) -> Result<()> {
        let prepared = self.prepared.get_or_init(|| {
            if std::env::var_os(PREPARED).is_some() {
                return Ok(());
            }
            prepare(self.need, &self.release, &self.progress).map_err(|error| format!("{error:#}"))
        });
        prepared.clone().map_err(|error| anyhow!(error))
    }

    fn run(&self, name: &str, test: impl FnOnce(&Bed) -> Result<()>) -> Result<()> {
        interrupt::check()?;
        self.prepare()?;
        let start = Instant::now();
        let result = test(self);
        // A test that a signal ended has shown nothing.
        interrupt::check()?;
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.push((name.to_owned(), start.elapsed()));
        result
    }

    /// Prints the tests that took long, the longest first.
    fn print_times(&self) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.retain(|(_, time)| *time >= LONG);
        times.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        for (name, time) in times.iter() {
            println!("{:>6.1} s  {name}", time.as_secs_f64());
        }
    }
}

/// A value that several tests need and the first of them makes.
pub struct Shared<T> {
    make: Box<dyn Fn() -> Result<T> + Send + Sync>,
    made: OnceLock<Result<T, String>>,
}

impl<T> Shared<T> {
    /// Creates the container; the value is made later.
    pub fn new(make: impl Fn() -> Result<T> + Send + Sync + 'static) -> Shared<T> {
        Shared {
            make: Box::new(make),
            made: OnceLock::new(),
        }
    }

    /// Returns the value; other tests wait while it is made.
    ///
    /// # Errors
    /// Fails for every test with the error of making it.
    pub fn get(&self) -> Result<&T> {
        let make = || (self.make)().map_err(|error| format!("{error:#}"));
        self.made
            .get_or_init(make)
            .as_ref()
            .map_err(|error| anyhow!("{error}"))
    }
}

/// One test of a program.
pub fn test(
    bed: &'static Bed,
    name: impl Into<String>,
    test: impl FnOnce(&Bed) -> Result<()> + Send + 'static,
) -> Trial {
    let name = name.into();
    Trial::test(name.clone(), move || {
        bed.run(&name, test)
            .map_err(|error| format!("{error:#}").into())
    })
}

/// The main function of a test program. `tests` makes its tests; it must need neither Slurm nor
/// much time.
pub fn main(threads: Threads, tests: impl FnOnce(&'static Bed) -> Result<Vec<Trial>>) -> ExitCode {
    main_with(threads, Need::Test, tests)
}

/// [`main`] for a program whose tests need the packages of `need`.
pub fn main_with(
    threads: Threads,
    need: Need,
    tests: impl FnOnce(&'static Bed) -> Result<Vec<Trial>>,
) -> ExitCode {
    // A cluster's guard is started from the program that has the cluster.
    if let Some(result) = folder::guard_of_arguments() {
        return interrupt::exit_code(result);
    }
    let mut arguments = Arguments::from_args();
    if threads == Threads::Clusters {
        let several = matches!(Extent::of_environment(), Ok(extent) if extent != Extent::All);
        arguments
            .test_threads
            .get_or_insert(if several { 2 } else { 1 });
    }
    let begin = || -> Result<(&'static Bed, Vec<Trial>)> {
        interrupt::install()?;
        let bed: &'static Bed = Box::leak(Box::new(Bed::of_environment(need)?));
        Ok((bed, tests(bed)?))
    };
    let (bed, trials) = match begin() {
        Ok(begun) => begun,
        Err(error) => return interrupt::exit_code(Err(error)),
    };
    let conclusion = libtest_mimic::run(&arguments, trials);
    bed.print_times();
    match interrupt::check() {
        Err(interrupted) => interrupt::exit_code(Err(interrupted.into())),
        Ok(()) => conclusion.exit_code(),
    }
}
