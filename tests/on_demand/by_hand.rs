//! Days of a machine, computed by hand.

use super::*;

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
