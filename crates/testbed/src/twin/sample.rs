//! Lives as tests: the faults of stock; some fixed and some new seeds for `compat=slurm`; only
//! fixed seeds for the documented behaviour; and every event at every point of a pass. `make test`
//! plays the faults and a hundred fixed seeds.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail, ensure};
use libtest_mimic::Trial;
use xtask::every::Every;
use xtask::{interrupt, project};

use crate::harness::{self, Bed, Shared};

use super::compare::compare;
use super::host::TwinHost;
use super::outcome::Outcome;
use super::promise::Promise;
use super::run::{Run, report};
use super::{Built, Size, build_host, during, fault, faults, orders, totals, windows};
use fairtree_oracle::FaultCounts;

/// Seeds that are played every time. Together they cover every ranking, flag and event.
const SAME: RangeInclusive<u64> = 1..=400;

/// The seeds of these that `make test` plays, with [`ONCE_DIFFERENT`].
const SAME_OF_A_COMMIT: RangeInclusive<u64> = 1..=88;

/// Further seeds that are played every time, because each once showed a difference that the seeds
/// above do not show: rows of sprio with TRES weights from before and from after a reconfigure; a
/// pass over zero seconds after a reconfigure, with a clock that had stepped back.
const ONCE_DIFFERENT: [u64; 2] = [596, 702_111];

/// Fresh seeds: number of tests, and of lives per test.
const FRESH: (u64, u64) = (10, 20);

/// Lives that are explained call by call take thirty times as long as compared lives. None of them
/// is fresh: a new life may show a mixture of stock's faults that the oracle does not know. Such a
/// life must be analysed by hand, and says nothing about the change under test.
const DOCUMENTED: RangeInclusive<u64> = 1..=60;

/// The seeds of these that `make test` plays.
const DOCUMENTED_OF_A_COMMIT: RangeInclusive<u64> = 1..=10;

/// Lives without decay, and lives with a window: number of tests, and of lives per test. `make
/// test` plays the first test of each.
const TOTALS: (u64, u64) = (5, 10);

/// All lives of the sample, as tests.
///
/// # Errors
/// Fails if the folder of the faults' lives cannot be read.
pub fn tests(bed: &'static Bed) -> Result<Vec<Trial>> {
    let mut tests = of_faults(bed)?;
    let every = |seed: &u64, of_a_commit: &RangeInclusive<u64>| match of_a_commit.contains(seed) {
        true => Every::Commit,
        false => Every::Night,
    };
    let same = Arc::new(Sample::new(bed, Promise::Same));
    let one = |seed: u64| same.test(format!("same::seed_{seed}"), seed..seed + 1);
    tests.extend(
        SAME.filter(|seed| bed.takes(every(seed, &SAME_OF_A_COMMIT)))
            .map(one),
    );
    if bed.takes(Every::Commit) {
        tests.extend(ONCE_DIFFERENT.map(one));
        tests.extend(of_policies(bed));
    }
    let documented = Arc::new(Sample::new(bed, Promise::Documented));
    for seed in DOCUMENTED.filter(|seed| bed.takes(every(seed, &DOCUMENTED_OF_A_COMMIT))) {
        tests.push(documented.test(format!("documented::seed_{seed}"), seed..seed + 1));
    }
    tests.extend(of_totals(bed));
    if bed.takes(Every::Night) {
        let (blocks, count) = FRESH;
        let first = fresh_seed(blocks * count)?;
        for block in 0..blocks {
            let seeds = first + block * count;
            tests.push(same.test(format!("same::fresh_{}", block + 1), seeds..seeds + count));
        }
        tests.extend(of_passes(bed));
    }
    Ok(tests)
}

/// Results of the explained lives, printed after all of them are played.
static COUNTS: Mutex<Option<FaultCounts>> = Mutex::new(None);

/// Prints the counts of stock's faults in the explained lives.
pub fn print_fault_counts() {
    let counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(counts) = counts.as_ref() {
        counts.print();
    }
}

fn of_faults(bed: &'static Bed) -> Result<Vec<Trial>> {
    let pair = Arc::new(Shared::new(move || {
        let installation = bed.installation()?;
        faults::Comparison::build(&installation, &bed.progress)
    }));
    let each = |path: PathBuf| {
        let pair = Arc::clone(&pair);
        let name = format!("faults::{}", fault::name_of(&path));
        harness::test(bed, name, move |_| {
            let wrong = pair.get()?.differences(&path)?;
            if !wrong.is_empty() {
                bail!("{}", wrong.join("\n"));
            }
            Ok(())
        })
    };
    Ok(fault::files("")?.into_iter().map(each).collect())
}

fn of_passes(bed: &'static Bed) -> Vec<Trial> {
    let built = Arc::new(Shared::new(move || build(bed, Promise::Same)));
    during::KINDS
        .iter()
        .flat_map(|kind| of_kind(bed, kind, &built))
        .collect()
}

fn of_policies(bed: &'static Bed) -> [Trial; 10] {
    type Test = fn(&TwinHost, &Path) -> Result<()>;
    let tests: [(&str, Test); 10] = [
        ("orders::numbers_are_no_sums", orders::numbers_are_no_sums),
        (
            "orders::every_job_gets_its_number",
            orders::every_job_gets_its_number,
        ),
        (
            "orders::who_came_and_went_counts_for_nobody",
            orders::who_came_and_went_counts_for_nobody,
        ),
        (
            "orders::ends_that_nobody_reports_are_learned",
            orders::ends_that_nobody_reports_are_learned,
        ),
        (
            "orders::what_backfill_writes_back_lasts_a_pass",
            orders::what_backfill_writes_back_lasts_a_pass,
        ),
        (
            "windows::a_reset_counts_where_a_job_ends",
            windows::a_reset_counts_where_a_job_ends,
        ),
        (
            "windows::a_qos_of_a_partition_counts_from_then_on",
            windows::a_qos_of_a_partition_counts_from_then_on,
        ),
        (
            "windows::a_move_resets_nobody",
            windows::a_move_resets_nobody,
        ),
        (
            "windows::what_ran_elsewhere_counts_for_nobody",
            windows::what_ran_elsewhere_counts_for_nobody,
        ),
        (
            "windows::a_qos_without_decay_is_reset",
            windows::a_qos_without_decay_is_reset,
        ),
    ];
    tests.map(|(name, test)| {
        harness::test(bed, name, move |bed| {
            let installation = bed.installation()?;
            let host = build_host(&installation, &bed.progress)?;
            test(&host, &project::plugin(installation.release()))
        })
    })
}

fn of_totals(bed: &'static Bed) -> Vec<Trial> {
    type Test = fn(&TwinHost, &Path, u64) -> Result<()>;
    let tests: [(&str, Test); 2] = [
        (
            "a_total_is_usage_without_decay",
            totals::a_total_is_usage_without_decay,
        ),
        (
            "a_window_is_what_totals_differ_by",
            totals::a_window_is_what_totals_differ_by,
        ),
    ];
    let host = Arc::new(Shared::new(move || {
        let installation = bed.installation()?;
        build_host(&installation, &bed.progress)
    }));
    let (blocks, count) = TOTALS;
    let block = |(name, test): (&str, Test), block: u64| {
        let host = Arc::clone(&host);
        let name = format!("windows::{name}_{}", block + 1);
        harness::test(bed, name, move |bed| {
            let plugin = project::plugin(&bed.release);
            let mut seeds = block * count + 1..=(block + 1) * count;
            seeds.try_for_each(|seed| {
                interrupt::check()?;
                test(host.get()?, &plugin, seed)
            })
        })
    };
    let every = |block: u64| {
        if block == 0 {
            Every::Commit
        } else {
            Every::Night
        }
    };
    let blocks = |test| {
        let taken = (0..blocks).filter(|block| bed.takes(every(*block)));
        taken.map(move |at| (test, at))
    };
    let all = tests.into_iter().flat_map(blocks);
    all.map(|(test, at)| block(test, at)).collect()
}

/// Tests with every event of a pass, and with a pass that fails half-way.
fn of_kind(
    bed: &'static Bed,
    kind: &'static during::Kind,
    built: &Arc<Shared<Built>>,
) -> Vec<Trial> {
    let built = Arc::clone(built);
    let stage = Arc::new(Shared::new(move || {
        let built = built.get()?;
        kind.stage(&built.host, &built.ours)
    }));
    let name = |what: &str| format!("during::{}::{what}", kind.name);
    let each = |event: &'static during::Event| {
        let stage = Arc::clone(&stage);
        harness::test(bed, name(&event.name()), move |_| {
            stage.get()?.enumerate(event).map(drop)
        })
    };
    let mut tests: Vec<Trial> = kind.events().map(each).collect();
    let failing = Arc::clone(&stage);
    tests.push(harness::test(
        bed,
        name("a_pass_fails_half_way"),
        move |_| during::fails_half_way(failing.get()?),
    ));
    tests.push(harness::test(
        bed,
        name("slurmctld_ends_meanwhile"),
        move |_| {
            let points = during::slurmctld_ends_meanwhile(stage.get()?)?;
            ensure!(points > 4, "a pass has only {points} points");
            Ok(())
        },
    ));
    tests
}

fn build(bed: &Bed, promise: Promise) -> Result<Built> {
    let installation = bed.installation()?;
    Built::of(&installation, promise, &bed.progress)
}

/// Lives of seeds under one promise.
struct Sample {
    bed: &'static Bed,
    promise: Promise,
    built: Shared<Built>,
    /// Set after one differing life was shrunk. Shrinking takes minutes, and one life is enough.
    shrunk: AtomicBool,
}

impl Sample {
    fn new(bed: &'static Bed, promise: Promise) -> Sample {
        Sample {
            bed,
            promise,
            built: Shared::new(move || build(bed, promise)),
            shrunk: AtomicBool::new(false),
        }
    }

    fn test(self: &Arc<Sample>, name: String, seeds: Range<u64>) -> Trial {
        let sample = Arc::clone(self);
        harness::test(self.bed, name, move |_| {
            let mut seeds = seeds;
            seeds.try_for_each(|seed| sample.play(seed))
        })
    }

    fn play(&self, seed: u64) -> Result<()> {
        interrupt::check()?;
        let built = self.built.get()?;
        let run = Run {
            pair: built.pair(),
            size: Size::USUAL,
            without: &[],
            survey: false,
        };
        let life = run.life(seed);
        match compare(&run.pair, &life).with_context(|| format!("seed {seed}"))? {
            Outcome::Same => Ok(()),
            Outcome::Explained(counts) => {
                let mut sum = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
                sum.get_or_insert_default().add(&counts);
                Ok(())
            }
            Outcome::StockDies(ending) => {
                let progress = &self.bed.progress;
                progress.print(format!("seed {seed}: stock ends with {ending}"));
                Ok(())
            }
            Outcome::Differs(difference) => {
                let option = match self.promise {
                    Promise::Same => "",
                    Promise::Documented => " --documented",
                };
                let first = !self.shrunk.swap(true, Ordering::Relaxed);
                let release = &self.bed.release;
                report(&run.pair, &life, &difference, first).with_context(|| {
                    format!("again: cargo testbed twin seeds {seed} --slurm {release}{option}")
                })
            }
        }
    }
}

/// The first of `count` seeds from the clock: different ones every second.
fn fresh_seed(count: u64) -> Result<u64> {
    Ok(harness::fresh_seed()? * count)
}
