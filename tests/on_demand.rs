//! Compares the on-demand queue with its rules as a table over a list that is searched each time.

mod common;

#[path = "on_demand/naive.rs"]
mod naive;

#[path = "on_demand/refusals.rs"]
mod refusals;

#[path = "on_demand/by_hand.rs"]
mod by_hand;

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

fn queue_now(id: u64) -> i64 {
    (30 + 2 * id as i64) * SECOND
}
