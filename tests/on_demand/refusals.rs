//! Calls that are refused.

use super::*;

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
