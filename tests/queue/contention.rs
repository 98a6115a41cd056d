//! Shares and minutes where jobs always wait.

use super::*;

/// Runs a machine that always has work for every leaf; returns the executed time of each leaf in
/// the second window.
fn contend(shares: &[u32], settings: Settings, lengths: impl Fn(u64) -> i64) -> Vec<i64> {
    let mut rows = vec![row(1, 0, 1)];
    rows.extend(
        (0..)
            .zip(shares)
            .map(|(at, shares)| row(2 + at, 1, *shares)),
    );
    let Counted::Window(window) = settings.counted else {
        panic!("a window")
    };
    let mut queue = Queue::new(&Tree::from_rows(rows).unwrap(), settings, 0).unwrap();
    queue.add_machine("m", 1).unwrap();
    let mut executed = vec![0; shares.len()];
    let mut jobs = vec![(0, 0)];
    let add = |queue: &mut Queue, jobs: &mut Vec<(usize, i64)>, leaf: usize| {
        let id = jobs.len() as u64;
        jobs.push((leaf, lengths(id)));
        queue.add(&job(id, 2 + leaf as u32, lengths(id))).unwrap();
    };
    for leaf in 0..shares.len() {
        add(&mut queue, &mut jobs, leaf);
    }
    let mut now = 0;
    while now < 2 * window {
        let Next::Job(job) = queue.next("m", now).unwrap() else {
            panic!("work for all")
        };
        let (leaf, length) = jobs[job as usize];
        queue.start(job, now).unwrap();
        now += length;
        queue
            .finish(job, EndState::Completed, 0, length, now)
            .unwrap();
        if now > window {
            executed[leaf] += length;
        }
        add(&mut queue, &mut jobs, leaf);
    }
    executed
}

#[test]
fn twice_the_minutes_twice_the_work() {
    let window = 100_000 * SECOND;
    let minutes = |minutes| AccountRule {
        minutes: Some(minutes),
        counted: None,
    };
    let settings = Settings {
        counted: Counted::Window(window),
        accounts: vec![(2, minutes(400)), (3, minutes(800))],
        ..Settings::default()
    };
    let executed = contend(&[1, 1], settings, |id| {
        (20 + (id * 7_919 % 160) as i64) * SECOND
    });
    let ratio = executed[1] as f64 / executed[0] as f64;
    assert!((ratio / 2.0 - 1.0).abs() < 0.02, "{executed:?}");
}

/// The same for any minutes of two to five instances, with jobs of any length.
#[test]
fn any_minutes_are_worked_in_proportion() {
    for seed in 1..=12 {
        let mut random = Random::new(seed);
        let minutes: Vec<u64> = (0..2 + random.below(4))
            .map(|_| 100 + random.below(1_900))
            .collect();
        let rules = minutes.iter().map(|minutes| AccountRule {
            minutes: Some(*minutes),
            counted: None,
        });
        let window = 200_000 * SECOND;
        let settings = Settings {
            counted: Counted::Window(window),
            choice: [Choice::Strict, Choice::Interleaved][seed as usize % 2],
            accounts: (2..).zip(rules).collect(),
            ..Settings::default()
        };
        let executed = contend(&vec![1; minutes.len()], settings, |id| {
            (10 + (id * (7_919 + seed) % 90) as i64) * SECOND
        });
        let sum: u64 = minutes.iter().sum();
        for (minutes, executed) in minutes.iter().zip(executed) {
            let expected = window as f64 * *minutes as f64 / sum as f64;
            let off = (executed as f64 - expected).abs();
            // Two runs more or less.
            let bound = 0.02 * expected + 200e6;
            assert!(
                off < bound,
                "seed {seed}, {minutes} of {sum}: {executed} {expected}"
            );
        }
    }
}

#[test]
fn any_shares_are_kept_under_contention_and_nobody_starves() {
    let mut random = Random::new(8);
    for choice in [Choice::Strict, Choice::Interleaved] {
        for _ in 0..6 {
            let shares: Vec<u32> = (0..2 + random.below(6))
                .map(|_| 1 + random.below(20) as u32)
                .collect();
            let window = 200_000 * SECOND;
            let settings = Settings {
                counted: Counted::Window(window),
                choice,
                ..Settings::default()
            };
            let executed = contend(&shares, settings, |id| {
                (10 + (id * 31 % 90) as i64) * SECOND
            });
            let sum: u32 = shares.iter().sum();
            for (shares, executed) in shares.iter().zip(executed) {
                let expected = window as f64 * f64::from(*shares) / f64::from(sum);
                let off = (executed as f64 - expected).abs();
                // Two runs more or less.
                let bound = 0.02 * expected + 200e6;
                assert!(off < bound, "{shares} of {sum}: {executed} {expected}");
            }
        }
    }
}
