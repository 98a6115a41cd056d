//! Compares the on-demand queue with its rules as a table over a list that is searched each time.

mod common;

#[path = "on_demand/naive.rs"]
mod naive;

use std::collections::BTreeMap;

use common::random::Random;
use fairtree::engine::on_demand::{Bill, NewJob, Next, OnDemand, OnDemandError, Prices};
use fairtree::engine::queue::SECOND;
use fairtree::engine::{Finished, MachineError};
use fairtree::usage::EndState;
use naive::{Billed, Job, MACHINES, Naive, PRICES, Reservation, number};

fn queue() -> OnDemand {
    OnDemand::new("COMPLETED,FAILED:3".parse().unwrap(), 0)
}

#[test]
fn as_the_rules_say() {
    let mut random = Random::new(4);
    let (mut halts, mut beside, mut past, mut left, mut refused) = (0, 0, 0, 0, 0);
    let (mut elsewhere, mut priced, mut moved) = (0, 0, 0);
    for case in 0..600 {
        let mut queue = queue();
        let limits = (2 + random.below(4) as usize, 3 + random.below(6) as usize);
        let mut naive = Naive::new(limits.0, limits.1);
        for (machine, prices) in MACHINES.iter().zip(PRICES) {
            let limit = Some(limits.1 as u32);
            queue.add_machine(machine, limit, prices).unwrap();
        }
        queue.limit_account(None, Some(naive.account_limit as u32));
        let (mut now, mut id) = (0, 0);
        for _ in 0..120 {
            now += random.below(4) as i64 * SECOND / 2;
            naive.pass(now);
            let machine = MACHINES[random.below(2) as usize];
            match random.below(16) {
                0..4 | 14.. => {
                    id += 1;
                    let account = random.below(2) as u32;
                    let parts = vec![random.below(5) as u32; random.below(9).min(1) as usize];
                    let expected = random.below(3) * 700_000;
                    let new = NewJob {
                        id,
                        account,
                        machine,
                        parts: &parts,
                        expected,
                    };
                    if naive.is_bound_elsewhere(account, machine) {
                        let refused = queue.submit(&new, now).unwrap_err();
                        let bound = MachineError::Elsewhere {
                            account,
                            name: machine.to_owned(),
                            allowed: vec![naive.bindings[&account][0].to_owned()],
                        };
                        assert_eq!(refused, bound.into());
                        elsewhere += 1;
                        continue;
                    }
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
                                expected: match expected {
                                    0 => naive.default_length,
                                    expected => expected as i64,
                                },
                                price: 0,
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
                            past += usize::from(naive.positions(machine)[0] != job);
                            queue.start(job, now).unwrap();
                            naive.start(job, now);
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
                        let finished = queue.finish(job.id, end, code, executed, now).unwrap();
                        naive.jobs.retain(|other| other.id != job.id);
                        let counts = job.queued.is_some() && end != EndState::NodeFail;
                        let (price, cost) = (job.price, u128::from(job.price) * executed as u128);
                        let wanted = Finished {
                            executed,
                            counts,
                            price,
                            cost: if counts { cost } else { 0 },
                        };
                        assert_eq!(finished, wanted, "case {case}");
                        if counts && executed > 0 {
                            let billed = Billed::Micros(executed);
                            let line = (job.account, job.machine, now, billed, price);
                            naive.lines.push(line);
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
                            let (over, price) = (false, None);
                            let one = Reservation {
                                id,
                                machine,
                                owner,
                                start,
                                end,
                                over,
                                price,
                            };
                            naive.reservations.push(one);
                        }
                        Err(OnDemandError::Overlap { .. }) => assert!(overlaps),
                        Err(OnDemandError::Machine(MachineError::Elsewhere { .. })) => {
                            assert!(naive.is_bound_elsewhere(owner, machine));
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
                8 => {
                    let prices = Prices {
                        execution_microsecond: random.below(9),
                        reserved_second: random.below(9_000),
                    };
                    queue.set_prices(machine, prices, now).unwrap();
                    naive.set_prices(machine, prices, now);
                    priced += 1;
                }
                9 => {
                    // A limit has no moment of its own: what ended before has the old one.
                    queue.advance(now);
                    let limit = 1 + random.below(8) as usize;
                    if random.below(2) == 0 {
                        queue.set_limit(machine, Some(limit as u32)).unwrap();
                        naive.machine_limits[number(machine)] = limit;
                    } else {
                        queue.limit_account(None, Some(limit as u32));
                        naive.account_limit = limit;
                    }
                }
                10 => {
                    let account = random.below(2) as u32;
                    let bound = if random.below(3) == 0 {
                        &[machine][..]
                    } else {
                        &[]
                    };
                    queue.bind(account, bound).unwrap();
                    naive.bindings.insert(account, bound.to_vec());
                    naive.bindings.retain(|_, machines| !machines.is_empty());
                }
                11 => {
                    let length = random.below(3) as i64 * 300_000;
                    let default = (length > 0).then_some(length as u64);
                    queue.set_default_length(None, default).unwrap();
                    naive.default_length = length;
                }
                12 => {
                    let mut reservations = naive.reservations.iter().filter(|one| !one.over);
                    let Some(one) = reservations.next_back().cloned() else {
                        continue;
                    };
                    let end = one.start + random.below(12) as i64 * SECOND;
                    let in_the_way = naive.reservations.iter().any(|other| {
                        let later = other.start > one.start && other.start < end;
                        !other.over && other.machine == one.machine && later
                    });
                    match queue.set_reservation_end(one.id, end, now) {
                        Ok(()) => {
                            assert!(!in_the_way && end >= now && end > one.start);
                            let same = naive.reservations.iter_mut();
                            let same = same.filter(|same| !same.over && same.id == one.id);
                            same.for_each(|same| same.end = end);
                            naive.pass(now);
                            moved += 1;
                        }
                        Err(OnDemandError::Length { .. }) => assert_eq!(end, one.start),
                        Err(OnDemandError::Over { .. }) => assert!(end < now),
                        Err(OnDemandError::Overlap { .. }) => assert!(in_the_way),
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
                if random.below(8) == 0 {
                    let found = queue.estimate(machine, now).unwrap().into_iter();
                    let found: Vec<_> = found.map(|one| (one.job, one.start)).collect();
                    assert_eq!(found, naive.estimates(machine, now), "case {case}");
                }
            }
            if random.below(4) == 0 {
                lists_itself(&mut queue, &naive, now);
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
        queue.advance(now);
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
        (elsewhere, "elsewhere"),
        (priced, "new prices"),
        (moved, "moved ends"),
    ] {
        assert!(count > 30, "{what}: {count}");
    }
    assert!(refused > 100 && past > 0, "{refused}, {past}");
}

/// One long reservation of a machine with four parts, of which jobs use up to two, or all.
#[test]
fn side_by_side_as_the_rules_say() {
    let mut random = Random::new(6);
    let (mut past, mut idle) = (0, 0);
    for case in 0..150 {
        let mut queue = queue();
        let mut naive = Naive::new(1_000, 1_000);
        for (machine, prices) in MACHINES.iter().zip(PRICES) {
            queue.add_machine(machine, Some(1_000), prices).unwrap();
        }
        let (machine, end) = (MACHINES[0], 1_000 * SECOND);
        queue.reserve(1, machine, 0, (0, end), 0).unwrap();
        naive.reservations.push(Reservation {
            id: 1,
            machine,
            owner: 0,
            start: 0,
            end,
            over: false,
            price: None,
        });
        for id in 1..60 {
            let now = id as i64 * 10;
            match random.below(4) {
                0 | 1 => {
                    let count = [0, 1, 1, 1, 2, 2][random.below(6) as usize];
                    let parts: Vec<u32> = (0..count).map(|_| random.below(4) as u32).collect();
                    let expected = 1 + random.below(90);
                    let new = NewJob {
                        id,
                        account: 0,
                        machine,
                        parts: &parts,
                        expected,
                    };
                    queue.submit(&new, now).unwrap();
                    naive.jobs.push(Job {
                        id,
                        account: 0,
                        machine,
                        parts,
                        submit: now,
                        queued: None,
                        started: None,
                        expected: expected as i64,
                        price: 0,
                    });
                }
                2 => {
                    if let Next::Job(job) = queue.next(machine, now).unwrap() {
                        past += usize::from(naive.positions(machine)[0] != job);
                        queue.start(job, now).unwrap();
                        naive.start(job, now);
                    }
                }
                _ => {
                    let running = naive.jobs.iter().find(|job| job.started.is_some());
                    if let Some(id) = running.map(|job| job.id) {
                        let end = EndState::Completed;
                        queue.finish(id, end, 0, 0, now).unwrap();
                        naive.jobs.retain(|job| job.id != id);
                    }
                }
            }
            let next = queue.next(machine, now).unwrap();
            assert_eq!(next, naive.next(machine), "case {case}");
            idle += usize::from(next == Next::Busy);
            if random.below(8) == 0 {
                let found = queue.estimate(machine, now).unwrap().into_iter();
                let found: Vec<_> = found.map(|one| (one.job, one.start)).collect();
                assert_eq!(found, naive.estimates(machine, now), "case {case}");
            }
        }
    }
    assert!(past > 100 && idle > 100, "{past}, {idle}");
}

/// Jobs, machines and reservations in one call each are those of the lists.
fn lists_itself(queue: &mut OnDemand, naive: &Naive, now: i64) {
    let mut wanted = Vec::new();
    for machine in MACHINES {
        let here = naive.jobs.iter().filter(|job| job.machine == machine);
        let mut running: Vec<_> = here
            .filter_map(|job| Some((job.started?, job.id)))
            .collect();
        running.sort_unstable();
        wanted.extend(running.into_iter().map(|(start, id)| (id, None, start)));
        for (place, id) in naive.positions(machine).into_iter().enumerate() {
            let job = naive.job(id);
            wanted.push((id, Some(place), job.queued.unwrap_or(job.submit)));
        }
    }
    assert_eq!(queue.count_jobs(now), wanted.len());
    let held = queue.held(now);
    for job in &held {
        let wanted = naive.job(job.job);
        let kind = (job.account, job.in_reservation, job.submit);
        assert_eq!(
            kind,
            (wanted.account, wanted.queued.is_none(), wanted.submit)
        );
        assert_eq!(job.machine as usize, number(wanted.machine));
    }
    let held: Vec<_> = held
        .iter()
        .map(|job| (job.job, job.place, job.since))
        .collect();
    assert_eq!(held, wanted);
    for (machine, state) in MACHINES.iter().zip(queue.machine_states()) {
        let at = number(machine);
        assert_eq!((state.name, state.number as usize), (*machine, at));
        assert_eq!(state.limit, Some(naive.machine_limits[at] as u32));
        assert_eq!(state.prices, naive.prices[at]);
        assert_eq!(state.paused, naive.paused.contains(machine));
    }
    let reservations = naive.reservations.iter().filter(|one| !one.over);
    let mut wanted: Vec<_> = reservations
        .map(|one| {
            let price = naive.prices[number(one.machine)].reserved_second;
            let begun = one.start <= now;
            let place = (number(one.machine) as u32, one.start);
            (
                place,
                one.id,
                one.owner,
                one.end,
                begun,
                one.price.unwrap_or(price),
            )
        })
        .collect();
    wanted.sort_unstable();
    let found = queue.reservations(now).into_iter().map(|one| {
        let place = (one.machine, one.start);
        (
            place,
            one.reservation,
            one.owner,
            one.end,
            one.begun,
            one.price,
        )
    });
    assert_eq!(found.collect::<Vec<_>>(), wanted);
}

/// By hand: three parts. Job 1 has part 1, job 2 waits for it, 3 and 4 use parts 2 and 3; job 5 waits
/// for the whole machine, so that job 6 must not start before it.
#[test]
fn jobs_of_a_reservation_run_past_one_that_waits_where_they_delay_nobody() {
    let mut queue = queue();
    queue.add_machine("m", None, PRICES[0]).unwrap();
    queue.reserve(1, "m", 7, (0, 100 * SECOND), 0).unwrap();
    let parts: [&[u32]; 6] = [&[1], &[1, 2], &[2], &[3], &[], &[4]];
    for (id, parts) in (1..).zip(parts) {
        let new = NewJob {
            id,
            account: 7,
            machine: "m",
            parts,
            expected: 10 * id,
        };
        queue.submit(&new, id as i64).unwrap();
    }
    queue.start(1, 10).unwrap();
    // Job 3 uses part 2, for which job 2 waits.
    assert_eq!(queue.next("m", 10), Ok(Next::Job(4)));
    let starts = |queue: &mut OnDemand, now| {
        let found = queue.estimate("m", now).unwrap().into_iter();
        found
            .map(|one| (one.job, one.start.unwrap()))
            .collect::<Vec<_>>()
    };
    // 1 ends at 20, 2 runs 20 to 40, 3 from 40 to 70, 4 from 10 to 50, 5 from 70 to 120.
    let wanted = [(4, 10), (2, 20), (3, 40), (5, 70), (6, 120)];
    assert_eq!(starts(&mut queue, 10), wanted);
    queue.start(4, 10).unwrap();
    assert_eq!(queue.next("m", 10), Ok(Next::Busy));
    queue.finish(1, EndState::Completed, 0, 10, 20).unwrap();
    assert_eq!(queue.next("m", 20), Ok(Next::Job(2)));
}

/// By hand: 100 us at 3, then a new price of 5; the reservation of 10 s began at 7000 a second.
#[test]
fn a_new_price_counts_for_what_starts_after_it() {
    let mut queue = OnDemand::new(OnDemand::default_billed(), 0);
    queue.add_machine("m", None, PRICES[0]).unwrap();
    let job = |id| NewJob {
        id,
        account: 8,
        machine: "m",
        parts: &[],
        expected: 0,
    };
    let s = SECOND;
    queue.reserve(1, "m", 7, (10 * s, 20 * s), 0).unwrap();
    queue.reserve(2, "m", 7, (20 * s, 21 * s), 0).unwrap();
    queue.submit(&job(1), 0).unwrap();
    queue.submit(&job(2), 0).unwrap();
    queue.start(1, s).unwrap();
    queue.set_prices("m", PRICES[1], 2 * s).unwrap();
    let told = queue.finish(1, EndState::Completed, 0, 100, 3 * s).unwrap();
    assert_eq!((told.price, told.cost, told.counts), (3, 300, true));
    queue.start(2, 3 * s).unwrap();
    let told = queue
        .finish(2, EndState::Failed, 4_000, 100, 4 * s)
        .unwrap();
    assert_eq!((told.price, told.cost, told.counts), (5, 0, false));
    // The first reservation has begun, the second begins at this moment.
    queue.set_prices("m", PRICES[0], 20 * s).unwrap();
    queue.advance(30 * s);
    let bills = queue.bills(0..40 * s);
    assert_eq!(bills[&(8, "m".to_owned())].amount, 300);
    assert_eq!(bills[&(7, "m".to_owned())].amount, 10 * 11_000 + 7_000);
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
    let finished = queue.finish(12345, EndState::Completed, 0, 0, late);
    assert_eq!(finished.map(drop), unknown);
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
