//! Compares the on-demand queue with its rules as a table over a list that is searched each time.

mod common;

#[path = "on_demand/naive.rs"]
mod naive;

use std::collections::BTreeMap;

use common::random::Random;
use fairtree::engine::MachineError;
use fairtree::engine::on_demand::{Bill, NewJob, Next, OnDemand, OnDemandError};
use fairtree::engine::queue::SECOND;
use fairtree::usage::EndState;
use naive::{Billed, Job, MACHINES, Naive, PRICES, Reservation};

fn queue() -> OnDemand {
    OnDemand::new("COMPLETED,FAILED:3".parse().unwrap(), 0)
}

#[test]
fn as_the_rules_say() {
    let mut random = Random::new(4);
    let (mut halts, mut beside, mut left, mut refused) = (0, 0, 0, 0);
    for case in 0..600 {
        let mut queue = queue();
        let mut naive = Naive {
            account_limit: 2 + random.below(4) as usize,
            machine_limit: 3 + random.below(6) as usize,
            ..Naive::default()
        };
        for (machine, prices) in MACHINES.iter().zip(PRICES) {
            let limit = Some(naive.machine_limit as u32);
            queue.add_machine(machine, limit, prices).unwrap();
        }
        queue.limit_account(None, Some(naive.account_limit as u32));
        let (mut now, mut id) = (0, 0);
        for _ in 0..120 {
            now += random.below(4) as i64 * SECOND / 2;
            naive.pass(now);
            let machine = MACHINES[random.below(2) as usize];
            match random.below(9) {
                0..4 => {
                    id += 1;
                    let account = random.below(2) as u32;
                    let parts = vec![random.below(5) as u32; random.below(4).min(1) as usize];
                    let new = NewJob {
                        id,
                        account,
                        machine,
                        parts: &parts,
                        expected: 5,
                    };
                    let reservation = naive.owns_now(account, machine, now);
                    let full = naive.full(account, machine).filter(|_| !reservation);
                    match queue.submit(&new, now) {
                        Ok(submitted) => {
                            assert_eq!(full, None);
                            assert_eq!(submitted.reservation, reservation);
                            naive.jobs.push(Job {
                                id,
                                account,
                                machine,
                                parts,
                                submit: now,
                                queued: (!reservation).then_some(now),
                                started: None,
                            });
                            let halt = match naive.next(machine) {
                                Next::Halt(job) if reservation => Some(job),
                                _ => None,
                            };
                            assert_eq!(submitted.halt, halt);
                        }
                        Err(OnDemandError::Full {
                            limit,
                            size,
                            waiting,
                        }) => {
                            refused += 1;
                            assert_eq!(full, Some((limit, size as usize, waiting as usize)));
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
                4..6 => {
                    match queue.next(machine, now).unwrap() {
                        Next::Job(job) => {
                            beside +=
                                usize::from(naive.jobs.iter().any(|other| {
                                    other.machine == machine && other.started.is_some()
                                }));
                            queue.start(job, now).unwrap();
                            naive.job_mut(job).started = Some(now);
                        }
                        Next::Halt(job) => {
                            halts += 1;
                            queue.halted(job, now).unwrap();
                            naive.job_mut(job).started = None;
                        }
                        _ => {}
                    }
                }
                6 => {
                    let running = naive.jobs.iter().find(|job| job.started.is_some()).cloned();
                    if let Some(job) = running {
                        let executed = (now - job.started.unwrap()).min(random.below(9) as i64);
                        let ends = [EndState::Completed, EndState::Failed, EndState::NodeFail];
                        let (end, code) = (ends[random.below(3) as usize], 3);
                        queue.finish(job.id, end, code, executed, now).unwrap();
                        naive.jobs.retain(|other| other.id != job.id);
                        if job.queued.is_some() && executed > 0 && end != EndState::NodeFail {
                            let billed = Billed::Micros(executed);
                            naive.lines.push((job.account, job.machine, now, billed));
                        }
                    }
                }
                7 => {
                    let start = now + random.below(4) as i64 * SECOND;
                    let end = start + (1 + random.below(20) as i64) * SECOND;
                    id += 1;
                    let owner = random.below(2) as u32;
                    let overlaps = naive.reservations.iter().any(|other| {
                        other.machine == machine && other.start < end && start < other.end
                    });
                    match queue.reserve(id, machine, owner, (start, end), now) {
                        Ok(()) => {
                            assert!(!overlaps);
                            let over = false;
                            let one = Reservation {
                                id,
                                machine,
                                owner,
                                start,
                                end,
                                over,
                            };
                            naive.reservations.push(one);
                        }
                        Err(OnDemandError::Overlap { .. }) => assert!(overlaps),
                        Err(error) => panic!("{error}"),
                    }
                }
                _ => {
                    let paused = random.below(3) == 0;
                    queue.set_paused(machine, paused).unwrap();
                    naive.paused.retain(|other| *other != machine);
                    if paused {
                        naive.paused.push(machine);
                    }
                }
            }
            for machine in MACHINES {
                assert_eq!(
                    queue.next(machine, now).unwrap(),
                    naive.next(machine),
                    "case {case}"
                );
                assert_eq!(
                    queue.positions(machine, now).unwrap(),
                    naive.positions(machine)
                );
            }
            left += naive.refused.len();
            let expected: Vec<u64> = naive.refused.drain(..).collect();
            let found = queue.take_refused(now).into_iter();
            let found: Vec<u64> = found
                .map(|(job, error)| {
                    assert!(matches!(error, OnDemandError::Full { .. }));
                    job
                })
                .collect();
            assert_eq!(found, expected, "case {case}");
        }
        let middle = now / 2;
        for (from, to) in [(0, now + 1), (0, middle), (middle, now + 1)] {
            assert_eq!(queue.bills(from..to), naive.bills(from, to), "case {case}");
        }
        queue.forget_bills(middle);
        assert_eq!(queue.bills(0..now + 1), naive.bills(middle, now + 1));
    }
    for (count, what) in [
        (halts, "halts"),
        (beside, "side by side"),
        (left, "left over"),
    ] {
        assert!(count > 30, "{what}: {count}");
    }
    assert!(refused > 100, "{refused}");
}

/// Computed by hand: one story that uses every rule.
#[test]
fn a_day_of_one_machine() {
    let mut queue = queue();
    queue.add_machine("m", Some(3), PRICES[0]).unwrap();
    let job = |id, account| NewJob {
        id,
        account,
        machine: "m",
        parts: &[],
        expected: 100,
    };
    let s = SECOND;
    queue.reserve(1, "m", 7, (10 * s, 20 * s), 0).unwrap();
    // This job waits when its user's reservation begins: it is and stays on-demand.
    queue.submit(&job(1, 7), s).unwrap();
    queue.submit(&job(2, 8), 2 * s).unwrap();
    assert_eq!(queue.positions("m", 12 * s).unwrap(), [1, 2]);
    queue.start(1, 12 * s).unwrap();
    let submitted = queue.submit(&job(3, 7), 13 * s).unwrap();
    assert_eq!((submitted.reservation, submitted.halt), (true, Some(1)));
    queue.halted(1, 14 * s).unwrap();
    assert_eq!(
        queue.positions("m", 14 * s).unwrap(),
        [3, 1, 2],
        "its very place"
    );
    let estimate = queue.estimate("m", 14 * s).unwrap();
    let starts: Vec<_> = estimate
        .iter()
        .map(|one| (one.job, one.start.unwrap()))
        .collect();
    assert_eq!(starts, [(3, 14 * s), (1, 14 * s + 100), (2, 14 * s + 200)]);
    queue.start(3, 14 * s).unwrap();
    assert_eq!(
        queue.halted(3, 15 * s),
        Err(OnDemandError::NotHalted { job: 3 })
    );
    queue.submit(&job(4, 7), 15 * s).unwrap();
    queue.submit(&job(5, 7), 16 * s).unwrap();
    // The reservation ends: 3 continues, 4 is the third waiting job, 5 is refused.
    let refused = queue.take_refused(25 * s);
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].0, 5);
    assert_eq!(
        refused[0].1.to_string(),
        "the limit of machine \"m\" is reached: 3 on-demand jobs wait, 3 may"
    );
    assert_eq!(queue.positions("m", 25 * s).unwrap(), [1, 2, 4]);
    assert_eq!(queue.next("m", 25 * s).unwrap(), Next::Busy);
    queue
        .finish(3, EndState::Completed, 0, 11 * s, 25 * s)
        .unwrap();
    queue.set_paused("m", true).unwrap();
    assert_eq!(queue.next("m", 26 * s).unwrap(), Next::Paused);
    queue.set_paused("m", false).unwrap();
    for (id, end, executed) in [
        (1, EndState::Completed, 1_234_567),
        (2, EndState::NodeFail, 999),
        (4, EndState::Completed, 1),
    ] {
        let now = queue_now(id);
        assert_eq!(queue.next("m", now).unwrap(), Next::Job(id));
        queue.start(id, now).unwrap();
        queue.finish(id, end, 0, executed, now + 2 * s).unwrap();
    }
    let bills = queue.bills(0..100 * s);
    // 1,234,567 + 1 microseconds at 3, ten seconds at 7,000; a failed run costs nothing.
    let bill = Bill {
        executed: 1_234_568,
        reserved_secs: 10,
        amount: 3_773_704,
    };
    assert_eq!(bills, BTreeMap::from([((7, "m".to_owned()), bill)]));
}

fn queue_now(id: u64) -> i64 {
    (30 + 2 * id as i64) * SECOND
}

#[test]
fn what_is_refused_says_why_and_changes_nothing() {
    let mut queue = queue();
    queue.add_machine("m", None, PRICES[0]).unwrap();
    let s = SECOND;
    let mut reserve = |id, start, end| {
        let refused = queue.reserve(id, "m", 7, (start, end), 5 * s);
        refused.map_err(|error| error.to_string())
    };
    assert_eq!(reserve(1, 10 * s, 20 * s), Ok(()));
    let refused = [
        (1, 30 * s, 40 * s, "there is a reservation 1 already"),
        (
            2,
            19 * s,
            25 * s,
            "reservation 2 overlaps reservation 1 of machine \"m\"",
        ),
        (
            2,
            5 * s,
            11 * s,
            "reservation 2 overlaps reservation 1 of machine \"m\"",
        ),
        (
            2,
            4 * s,
            6 * s,
            "reservation 2 starts at 4000000, but it is 5000000 already",
        ),
        (
            2,
            30 * s,
            30 * s + 1,
            "reservation 2 lasts 1 microseconds: it must be whole seconds, at least 1",
        ),
        (
            2,
            30 * s,
            20 * s,
            "reservation 2 lasts -10000000 microseconds: it must be whole seconds, at least 1",
        ),
    ];
    for (id, start, end, why) in refused {
        assert_eq!(reserve(id, start, end), Err(why.to_owned()));
    }
    assert_eq!(reserve(2, 20 * s, 21 * s), Ok(()), "one after the other");
    queue.cancel_reservation(2, 12 * s).unwrap();
    let begun = queue.cancel_reservation(1, 12 * s).unwrap_err();
    assert_eq!(begun.to_string(), "reservation 1 has begun at 10000000");
    let job = |id, account| NewJob {
        id,
        account,
        machine: "m",
        parts: &[],
        expected: 100,
    };
    queue.limit_account(Some(9), Some(1));
    queue.submit(&job(1, 9), 12 * s).unwrap();
    let full = queue.submit(&job(2, 9), 12 * s).unwrap_err();
    assert_eq!(
        full.to_string(),
        "the limit of account 9 is reached: 1 on-demand jobs wait, 1 may"
    );
    assert_eq!(
        queue.submit(&job(1, 8), 12 * s),
        Err(MachineError::JobTwice { job: 1 }.into())
    );
    assert_eq!(
        queue.halted(1, 12 * s),
        Err(MachineError::NotRunning { job: 1 }.into())
    );
    queue.start(1, 12 * s).unwrap();
    queue.submit(&job(2, 9), 12 * s).unwrap();
    assert!(matches!(
        queue.start(2, 12 * s),
        Err(OnDemandError::Busy { running: 1, .. })
    ));
    assert!(matches!(
        queue.finish(1, EndState::Completed, 0, 2, 12 * s + 1),
        Err(OnDemandError::Machine(MachineError::RanTooLong {
            executed: 2,
            passed: 1,
            ..
        }))
    ));
    queue.cancel(2, 13 * s).unwrap();
    assert_eq!(
        queue.cancel(1, 13 * s),
        Err(MachineError::NotWaiting { job: 1 }.into())
    );
    assert_eq!(
        queue.cancel(3, 13 * s),
        Err(MachineError::UnknownJob { job: 3 }.into())
    );
}

/// Nanoseconds by mistake: no reservation ends by them, and later calls are of their own time.
#[test]
fn a_moment_of_a_call_that_fails_does_not_count() {
    let s = SECOND;
    let mut queue = queue();
    queue.add_machine("m", None, PRICES[0]).unwrap();
    queue.limit_account(Some(7), Some(1));
    queue.reserve(1, "m", 7, (0, 10 * s), 0).unwrap();
    let job = |id| NewJob {
        id,
        account: 7,
        machine: "m",
        parts: &[],
        expected: 100,
    };
    for id in 1..4 {
        queue.submit(&job(id), s).unwrap();
    }
    queue.start(1, s).unwrap();
    let before = queue.save();
    let late = i64::MAX - 1;
    let unknown = Err(MachineError::UnknownJob { job: 12345 }.into());
    assert_eq!(queue.start(12345, late), unknown);
    assert_eq!(queue.halted(12345, late), unknown);
    assert_eq!(
        queue.finish(12345, EndState::Completed, 0, 0, late),
        unknown
    );
    assert_eq!(queue.cancel(12345, late), unknown);
    // Of jobs 2 and 3 one fits when the reservation ends: the other is refused then.
    assert_eq!(
        queue.start(3, late),
        Err(MachineError::UnknownJob { job: 3 }.into())
    );
    assert!(queue.submit(&job(9), late).is_err());
    assert_eq!(
        (queue.count_refused(late), queue.count_waiting("m", late)),
        (1, Ok(1))
    );
    assert_eq!(queue.save(), before);
    assert_eq!(queue.bills(0..i64::MAX), BTreeMap::new());
    assert_eq!(queue.positions("m", s), Ok(vec![2, 3]));
    queue.reserve(2, "m", 8, (10 * s, 20 * s), 2 * s).unwrap();
    // An id is free again when its reservation is over.
    queue.reserve(1, "m", 7, (30 * s, 40 * s), 10 * s).unwrap();
}
