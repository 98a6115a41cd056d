//! Compares the queue with a list that is sorted each time; and its rules by example.

mod common;

#[path = "queue/naive.rs"]
mod naive;
#[path = "queue/random.rs"]
mod random;

#[path = "queue/contention.rs"]
mod contention;
#[path = "queue/refusals.rs"]
mod refusals;

use common::random::Random;
use fairtree::engine::MachineError;
use fairtree::engine::queue::{
    AccountRule, Choice, Counted, NewJob, Next, Nothing, Queue, QueueError, SECOND, Settings,
};
use fairtree::order::Level;
use fairtree::tree::{Shares, Tree};
use fairtree::usage::EndState;
use naive::Naive;
use random::{random_settings, random_tree, row};

fn job(id: u64, assoc: u32, length: i64) -> NewJob<'static> {
    NewJob {
        id,
        assoc,
        machine: "m",
        submit: id as i64,
        nice: 0,
        expected: Some(length as u64),
        limit: None,
        rate: 1,
    }
}

#[test]
fn as_a_list_that_is_sorted_each_time() {
    let mut random = Random::new(5);
    let (mut chosen, mut beyond, mut changes, mut refusals) = (0, 0, 0, [0; 3]);
    for case in 0..150 {
        let tree = random_tree(&mut random);
        let settings = random_settings(&mut random, &tree);
        let made = Queue::new(&tree, settings.clone(), 0);
        let mut naive = Naive::new(&tree, &settings);
        if naive.exceeds() {
            assert!(matches!(made, Err(QueueError::MinutesBeyond { .. })));
            beyond += 1;
            continue;
        }
        let mut queue = made.unwrap();
        let machines = ["a", "b"];
        for (at, machine) in machines.iter().enumerate() {
            queue.add_machine(machine, 1 + at as u32).unwrap();
        }
        let (mut now, mut id) = (0, 0);
        for _ in 0..60 {
            now += [0, 0, 1, 7][random.below(4) as usize];
            match random.below(8) {
                0..4 => {
                    id += 1;
                    let at = random.below(tree.len() as u64) as usize;
                    let new = NewJob {
                        assoc: tree.rows()[at].id,
                        machine: machines[random.below(2) as usize],
                        submit: random.below(20) as i64,
                        nice: random.below(4).saturating_sub(2) as i64,
                        expected: (random.below(4) > 0).then(|| random.below(12)),
                        rate: random.below(3) as u32,
                        ..job(id, 0, 0)
                    };
                    let refused = match queue.add(&new) {
                        Ok(()) => None,
                        Err(QueueError::NoShares { .. }) => Some("no shares"),
                        Err(QueueError::Machine(MachineError::Elsewhere { .. })) => {
                            Some("elsewhere")
                        }
                        Err(QueueError::NoLength { .. }) => Some("no length"),
                        Err(error) => panic!("{error}"),
                    };
                    assert_eq!(refused, naive.refused(&new), "case {case}");
                    match refused {
                        None => naive.add(&new),
                        Some("no shares") => refusals[0] += 1,
                        Some("elsewhere") => refusals[1] += 1,
                        Some(_) => refusals[2] += 1,
                    }
                }
                4..6 => {
                    for machine in machines {
                        if let Next::Job(job) = queue.next(machine, now).unwrap() {
                            queue.start(job, now).unwrap();
                            naive.start(job, now);
                            chosen += 1;
                        }
                    }
                }
                6 => {
                    let Some((job, start)) = naive.some_running(random.below(9) as usize) else {
                        continue;
                    };
                    let executed = (now - start).min(random.below(12) as i64);
                    let ends = [EndState::Completed, EndState::Failed, EndState::Cancelled];
                    let end = ends[random.below(3) as usize];
                    let code = 6 + random.below(2) as u32;
                    let again = random.below(3) == 0;
                    if again {
                        queue.requeue(job, end, code, executed, now).unwrap();
                    } else {
                        queue.finish(job, end, code, executed, now).unwrap();
                    }
                    naive.end(job, end, code, executed, again);
                }
                _ => {
                    if let Some(job) = naive.some_waiting(random.below(9) as usize) {
                        queue.cancel(job).unwrap();
                        naive.cancel(job);
                    }
                }
            }
            if random.below(8) == 0 {
                changes += usize::from(change(&mut random, &mut queue, &mut naive, machines));
            }
            for machine in machines {
                let expected = naive.positions(machine, now);
                let found = queue.positions_at(machine, now).unwrap();
                assert_eq!(found, expected, "case {case}, {:?}", naive.settings);
                match queue.next(machine, now).unwrap() {
                    Next::Job(job) => assert_eq!(Some(&job), expected.first()),
                    Next::Nothing(Nothing::NoneWaits) => assert!(expected.is_empty()),
                    Next::Nothing(why) => assert_eq!(why, Nothing::Busy),
                }
            }
            for row in tree.rows() {
                let standing = queue.standing(row.id, now);
                let used = naive.used(row.id, now);
                assert_eq!(standing.map(|standing| standing.used), used, "case {case}");
            }
            if random.below(4) == 0 {
                lists_itself(&mut queue, &naive, machines, now);
            }
        }
    }
    assert!(chosen > 1_000, "{chosen}");
    assert!(beyond > 2 && changes > 200, "{beyond}, {changes}");
    assert!(refusals.iter().all(|count| *count > 20), "{refusals:?}");
}

/// An act of an administrator; returns true unless it was refused, as the naive model says.
fn change(
    random: &mut Random,
    queue: &mut Queue,
    naive: &mut Naive,
    machines: [&'static str; 2],
) -> bool {
    let rows: Vec<u32> = naive.rows.keys().copied().collect();
    let assoc = rows[random.below(rows.len() as u64) as usize];
    let mut changed = naive.clone();
    let done = match random.below(6) {
        0 | 1 => {
            let shares = match random.below(5) {
                0 => Shares::Parent,
                shares => Shares::Raw(shares as u32),
            };
            changed.rows.get_mut(&assoc).unwrap().shares = shares;
            queue.set_shares(assoc, shares)
        }
        2 | 3 => {
            let minutes = (random.below(3) > 0).then(|| random.below(4));
            let rules = &mut changed.settings.accounts;
            match rules.iter_mut().find(|rule| rule.0 == assoc) {
                Some(rule) => rule.1.minutes = minutes,
                None => rules.push((
                    assoc,
                    AccountRule {
                        minutes,
                        counted: None,
                    },
                )),
            }
            queue.set_minutes(assoc, minutes)
        }
        4 => {
            let bound = &machines[..random.below(2) as usize];
            changed.bindings.insert(assoc, bound.to_vec());
            if bound.is_empty() {
                changed.bindings.remove(&assoc);
            }
            queue.bind(assoc, bound)
        }
        _ => {
            changed.default_limit = (random.below(2) == 0).then(|| 1 + random.below(9));
            queue.set_default_limit(None, changed.default_limit)
        }
    };
    match done {
        Ok(()) => {
            assert!(!changed.exceeds() && !changed.has_orphan());
            changed.settle();
            *naive = changed;
            return true;
        }
        Err(QueueError::MinutesBeyond { .. }) => assert!(changed.exceeds()),
        Err(QueueError::NoShares { .. }) => assert!(changed.has_orphan()),
        Err(QueueError::AccountAside { .. }) => {
            let mut rules = changed.settings.accounts.iter();
            assert!(rules.any(|(assoc, _)| !changed.competitors().contains(assoc)));
        }
        Err(QueueError::NoMinutes { .. } | QueueError::Tree(_)) => {}
        Err(error) => panic!("{error}"),
    }
    false
}

/// All jobs and all standings in one call each equal the answers to single questions.
fn lists_itself(queue: &mut Queue, naive: &Naive, machines: [&'static str; 2], now: i64) {
    let mut wanted = Vec::new();
    for (number, machine) in machines.into_iter().enumerate() {
        let here = naive.held().into_iter().filter(|job| job.0 == machine);
        let mut running: Vec<_> = here.clone().filter_map(|job| Some((job.3?, job))).collect();
        running.sort_unstable();
        let running = running.into_iter().map(|(start, job)| (job, None, start));
        let order = naive.positions(machine, now);
        let waiting = order.iter().enumerate().map(|(place, id)| {
            let job = here.clone().find(|job| job.1 == *id).unwrap();
            (job, Some(place), 0)
        });
        let rows = running.chain(waiting);
        wanted.extend(rows.map(|(job, place, since)| (number as u32, job.1, job.2, place, since)));
    }
    let held = queue.held(now).into_iter().map(|job| {
        let since = job.place.map_or(job.since, |_| 0);
        (job.machine, job.job, job.account, job.place, since)
    });
    assert_eq!(held.collect::<Vec<_>>(), wanted);
    assert_eq!(queue.job_count(), wanted.len());
    let standings = queue.standings(now);
    let single = queue.tree().rows().to_vec().into_iter().filter_map(|row| {
        let competes = naive.competitors().contains(&row.id);
        Some((row.id, queue.standing(row.id, now).filter(|_| competes)?))
    });
    assert_eq!(standings, single.collect::<Vec<_>>());
}

/// By hand: two slots become one and three; a machine goes when it is empty, and its number with it.
#[test]
fn machines_change_and_go() {
    let tree = Tree::from_rows([row(1, 0, 1), row(2, 1, 1)]).unwrap();
    let mut queue = Queue::new(&tree, Settings::default(), 0).unwrap();
    queue.add_machine("m", 2).unwrap();
    queue.add_machine("n", 1).unwrap();
    for id in 1..=4 {
        queue.add(&job(id, 2, 10)).unwrap();
    }
    queue.start(1, 0).unwrap();
    queue.start(2, 0).unwrap();
    queue.set_slots("m", 1).unwrap();
    queue.finish(1, EndState::Completed, 0, 5, 5).unwrap();
    assert_eq!(queue.next("m", 5).unwrap(), Next::Nothing(Nothing::Busy));
    queue.set_slots("m", 3).unwrap();
    assert_eq!(queue.next("m", 5).unwrap(), Next::Job(3));
    let in_use = queue.remove_machine("m").unwrap_err();
    assert_eq!(
        in_use.to_string(),
        "machine \"m\" cannot be removed: 2 jobs wait for it, 1 jobs run there, \
         0 reservations are not over"
    );
    queue.remove_machine("n").unwrap();
    let gone = queue.next("n", 5).unwrap_err();
    assert_eq!(gone.to_string(), "there is no machine \"n\"");
    queue.add_machine("n", 7).unwrap();
    for queue in [&queue, &Queue::restore(&queue.save()).unwrap()] {
        let machines: Vec<_> = (queue.machine_states())
            .map(|machine| (machine.number, machine.name, machine.slots))
            .collect();
        assert_eq!(machines, [(0, "m", 3), (2, "n", 7)]);
    }
}

/// By hand: hubs A and B with 3 and 2 of 5 shares; groups of both hubs compete.
#[test]
fn seven_plans_in_two_hubs() {
    let rows = [
        row(1, 0, 1),
        row(2, 1, 3),  // Hub A: 60 %
        row(3, 1, 2),  // Hub B: 40 %
        row(4, 2, 1),  // A, Group 1: 20 %
        row(5, 2, 2),  // A, Group 2: 40 %
        row(6, 3, 1),  // B, Group 1: 20 %
        row(7, 3, 1),  // B, Group 2: 20 %
        row(10, 4, 1), // X: 10 %
        row(11, 4, 1), // Y: 10 %
        row(12, 5, 1), // Z: 40 %
        row(13, 6, 1), // L: 10 %
        row(14, 6, 1), // K: 10 %
        row(15, 7, 2), // M: 40 % of the group
        row(16, 7, 3), // N: 60 %
    ];
    let tree = Tree::from_rows(rows).unwrap();
    let settings = Settings {
        level: Level::Depth(2),
        choice: Choice::Strict,
        counted: Counted::Window(28 * 86_400 * SECOND),
        ..Settings::default()
    };
    let mut queue = Queue::new(&tree, settings, 0).unwrap();
    queue.add_machine("m", 1).unwrap();
    let mut now = 0;
    let mut used = |queue: &mut Queue, id, plan, hours: i64| {
        let length = hours * 3_600 * SECOND;
        queue.add(&job(id, plan, length)).unwrap();
        queue.start(id, now).unwrap();
        now += length;
        queue
            .finish(id, EndState::Completed, 0, length, now)
            .unwrap();
    };
    // X 2, Y 1: A/1 3 of 20. Z 12: A/2 12 of 40. L 5: B/1 5 of 20. M 3, N 1: B/2 4 of 20.
    let plans = [(10, 2), (11, 1), (12, 12), (13, 5), (15, 3), (16, 1)];
    for (id, (plan, hours)) in (1..).zip(plans) {
        used(&mut queue, id, plan, hours);
    }
    for (id, plan) in (100..).zip([10, 11, 12, 13, 14, 15, 16, 11, 16]) {
        queue.add(&job(id, plan, 3_600 * SECOND)).unwrap();
    }
    let t1 = queue.now();
    // Group 1 of A comes first; in it Y has used less than X; the older job of Y starts.
    assert_eq!(queue.next("m", t1).unwrap(), Next::Job(101));
    queue.start(101, t1).unwrap();
    assert_eq!(queue.next("m", t1).unwrap(), Next::Nothing(Nothing::Busy));
    // It takes four hours: A/1 has 7/20, so B/2 is first now, where N has used 1 of 12 and M 3 of
    // 8; the older job of N starts.
    let t2 = t1 + 4 * 3_600 * SECOND;
    queue
        .finish(101, EndState::Completed, 0, 4 * 3_600 * SECOND, t2)
        .unwrap();
    assert_eq!(queue.next("m", t2).unwrap(), Next::Job(106));
    let percent = |queue: &mut Queue, id| {
        let standing = queue.standing(id, t2).unwrap();
        standing.entitled.to_f64() / (28.0 * 86_400e6) * 100.0
    };
    let expected = [(2, 60.0), (4, 20.0), (5, 40.0), (15, 8.0), (16, 12.0)];
    for (id, expected) in expected {
        assert!((percent(&mut queue, id) - expected).abs() < 1e-9);
    }
}

/// Estimates are exact if every run takes its expected time and no job is submitted.
#[test]
fn estimates_come_true() {
    let mut random = Random::new(12);
    for _ in 0..60 {
        let tree = random_tree(&mut random);
        let settings = random_settings(&mut random, &tree);
        // Minutes of children may be too many.
        let mut queue = match Queue::new(&tree, settings, 0) {
            Err(QueueError::MinutesBeyond { .. }) => continue,
            made => made.unwrap(),
        };
        let machines = ["a", "b"];
        for (at, machine) in machines.iter().enumerate() {
            queue.add_machine(machine, 1 + at as u32).unwrap();
        }
        for id in 1..30 {
            let at = random.below(tree.len() as u64) as usize;
            let length = random.below(20);
            let known = random.below(2) == 0;
            let _no_shares = queue.add(&NewJob {
                assoc: tree.rows()[at].id,
                machine: machines[random.below(2) as usize],
                submit: random.below(9) as i64,
                expected: known.then_some(length),
                limit: (!known).then_some(length),
                ..job(id, 0, 0)
            });
        }
        let estimated = machines.map(|machine| queue.estimate(machine, 100).unwrap());
        let mut running: Vec<(i64, u64, &str)> = Vec::new();
        let mut started = [Vec::new(), Vec::new()];
        let mut now = 100;
        loop {
            for (started, machine) in started.iter_mut().zip(machines) {
                while let Next::Job(job) = queue.next(machine, now).unwrap() {
                    queue.start(job, now).unwrap();
                    let estimates = &estimated[usize::from(machine == "b")];
                    let estimate = estimates.iter().find(|one| one.job == job).unwrap();
                    assert_eq!(estimate.start, Some(now));
                    started.push(estimate.job);
                    // Keep the start: the next estimate gives the length of the running job.
                    running.push((now, job, machine));
                }
            }
            let length = |job: u64| queue.length(job).unwrap() as i64;
            let ends = running.iter().map(|(start, job, _)| start + length(*job));
            let Some(end) = ends.min() else { break };
            now = end;
            let (over, left) =
                (running.iter()).partition(|(start, job, _)| start + length(*job) == now);
            running = left;
            let over: Vec<(i64, u64, &str)> = over;
            for (start, job, _) in over {
                queue
                    .finish(job, EndState::Completed, 0, now - start, now)
                    .unwrap();
            }
        }
        for (started, estimated) in started.iter().zip(&estimated) {
            let order: Vec<u64> = estimated.iter().map(|one| one.job).collect();
            assert_eq!(started, &order);
        }
    }
}

#[test]
fn jobs_started_at_one_moment_follow_their_positions() {
    let tree = Tree::from_rows([row(1, 0, 1), row(2, 1, 2), row(3, 1, 1)]).unwrap();
    let mut queue = Queue::new(&tree, Settings::default(), 0).unwrap();
    queue.add_machine("m", 6).unwrap();
    for (id, assoc) in (1..).zip([2, 2, 2, 3, 3, 3]) {
        queue.add(&job(id, assoc, SECOND)).unwrap();
    }
    let order = queue.positions("m").unwrap();
    assert_eq!(order, [1, 4, 2, 3, 5, 6]);
    assert_eq!(queue.position(3).unwrap(), 3);
    for id in order {
        assert_eq!(queue.next("m", 10).unwrap(), Next::Job(id));
        queue.start(id, 10).unwrap();
    }
}
