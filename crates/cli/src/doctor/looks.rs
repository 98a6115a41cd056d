//! Printed numbers against computed ones, looked at again after the next pass before they differ.
//!
//! sshare and sprio are asked one after the other, and jobs end at any time: a number that differs
//! may be of another moment. One that differs in the same place before a pass and after it is not.

use std::thread;
use std::time::{Duration, Instant};

use super::super::args::DoctorArgs;
use super::super::cluster::follow_own;
use super::{first_line, first_sentence, host};
use fairtree_analysis::doctor::{Known, Numbers, Settings, State, compare};
use fairtree_model::input::capture::take;
use fairtree_model::input::slurm::snapshot::{Purpose, Snapshot, Source};

/// Looks after the first one, where passes are close.
const LOOKS: u32 = 3;

/// Passes further apart than this are not waited for, seconds.
const LONGEST_WAIT_SECS: u32 = 600;

/// Looks with a pass in between are repeated so often.
const REPEATS: u32 = 5;

/// How much later than due a pass may be, seconds.
const GRACE_SECS: u32 = 5;

/// The time between two looks at the file of the last pass.
const PAUSE: Duration = Duration::from_millis(200);

/// The numbers, with the differences that stay.
pub(super) fn numbers(
    args: &DoctorArgs,
    state: Result<&State, &String>,
    settings: Result<&Settings, &String>,
) -> Known<Numbers> {
    if args.quick {
        return Err("not compared with --quick".to_owned());
    }
    let mut numbers = look(args, state)?;
    let Ok(settings) = settings else {
        return Ok(numbers);
    };
    let started = Instant::now();
    let patience = Duration::from_secs(u64::from(LONGEST_WAIT_SECS));
    for _ in 0..LOOKS {
        let due = settings.period_secs.saturating_add(GRACE_SECS);
        let due = Duration::from_secs(u64::from(due));
        if numbers.agree() || started.elapsed() + due > patience {
            break;
        }
        wait_for_pass(state, due);
        numbers = look(args, state)?.confirming(&numbers);
    }
    Ok(numbers)
}

/// One comparison: of answers without a pass in between, as far as the time of the last pass can be
/// read.
fn look(args: &DoctorArgs, state: Result<&State, &String>) -> Known<Numbers> {
    let mut repeats = 0;
    loop {
        let before = pass(state);
        let taken =
            take(&Source::ALL, args.limit(), Purpose::Any).map_err(|error| first_line(&error))?;
        let snapshot = Snapshot::read("the live site", &taken.answers, Purpose::Any);
        let numbers = snapshot.and_then(|mut snapshot| {
            follow_own(&mut snapshot.queued.settings.config);
            compare(&snapshot)
        });
        let numbers = numbers.map_err(|error| first_sentence(&error.explained().to_string()))?;
        if numbers.agree() || pass(state) == before || repeats == REPEATS {
            return Ok(numbers);
        }
        repeats += 1;
    }
}

/// The time of the last pass; `None` where it cannot be read.
fn pass(state: Result<&State, &String>) -> Option<i64> {
    host::last_pass(state).ok().map(|times| times.pass)
}

/// Waits until a pass has been made, at most as long as one takes to be due.
fn wait_for_pass(state: Result<&State, &String>, due: Duration) {
    let started = Instant::now();
    let before = pass(state);
    while started.elapsed() < due && (before.is_none() || pass(state) == before) {
        thread::sleep(PAUSE);
    }
}
