//! Passes over a fake host of plain rows: changes of slurmctld's records, without Slurm.

use super::fake_host::{FakeHost, SLURM, START, config};
use crate::compat::Compat;
use crate::config::{PriorityFlags, UsageModel};
use crate::extended::Extended;
use crate::fairshare::{self, Entitlement, Ranking};
use crate::slurm::shared::charged_until::ChargedUntil;
use crate::tree::AssocIndex;
use proptest::prelude::*;

#[test]
fn a_pass_charges_and_ranks() {
    // By hand: 4 TRES for 300 s of user 4, 1 of user 6.
    for compat in [Compat::Documented, SLURM] {
        let mut host = FakeHost::new(config(compat, 0));
        host.start(1, 3, 4.0);
        host.start(2, 5, 1.0);
        host.now += 300;
        host.pass();
        assert_eq!(host.usage, [1_500.0, 1_200.0, 300.0, 1_200.0, 0.0, 300.0]);
        assert_eq!(host.fs_factor[3..], [1.0 / 3.0, 2.0 / 3.0, 1.0]);
        assert_eq!(host.priced_with[5].fs_factor, 1.0);
        assert_eq!(host.charged_until.last_ran(), Some(START + 300));
    }
}

#[test]
fn any_ranking_is_published_and_followed() {
    // By hand: 1,200 TRES-seconds of user 4, 300 of user 6, in accounts of equal shares; user 5 is
    // entitled to half of account 2, as is user 4.
    let half_and_more = |difference: f64| (1.0 + difference) / 2.0;
    for (ranking, factors) in [
        ("least_used:1", [1.0 / 3.0, 2.0 / 3.0, 1.0]),
        ("least_used:leaf", [1.0 / 3.0, 1.0, 2.0 / 3.0]),
        ("weighted_walk", [1.0 / 3.0, 2.0 / 3.0, 1.0]),
        (
            "difference",
            [0.25 - 0.8, 0.25, 0.5 - 0.2].map(half_and_more),
        ),
    ] {
        let mut config = config(Compat::Documented, 0);
        config.parameters.ranking = Some(Ranking::parse(ranking).unwrap());
        let mut host = FakeHost::new(config);
        host.start(1, 3, 4.0);
        host.start(2, 5, 1.0);
        host.now += 300;
        host.pass();
        let close = |(a, b): (&f64, f64)| (a - b).abs() < 1e-12;
        let found = &host.fs_factor[3..];
        assert!(found.iter().zip(factors).all(close), "{ranking}: {found:?}");
        assert_eq!(host.priced_with[4].fs_factor, host.fs_factor[4]);
        // A different one from one pass to the next, and back.
        let rankings = [host.config.ranking(), Ranking::FAIR_TREE];
        for next in [1, 0] {
            host.config.parameters.ranking = Some(rankings[next]);
            host.pass();
            let usage = host.usage.iter().map(|usage| Extended::from_f64(*usage));
            let usage: Vec<_> = usage.map(Option::unwrap).collect();
            let compat = Compat::Documented;
            let all = fairshare::compute(rankings[next], compat, &host.tree, &usage);
            let all: Vec<_> = all.iter().map(|row| row.fs_factor.unwrap_or(0.0)).collect();
            assert_eq!(host.fs_factor, all, "{ranking}");
        }
    }
}

#[test]
fn in_a_window_ranks_follow_the_ledger() {
    let mut config = config(Compat::Documented, 3_600);
    config.parameters.usage = Some(UsageModel::Window { length_secs: 3_600 });
    let mut host = FakeHost::new(config);
    host.start(1, 3, 4.0);
    let numbers = |numbers: [u32; 6]| {
        let number = |number| Extended::from_f64(f64::from(number)).unwrap();
        Some(numbers.map(number).to_vec())
    };
    for (used, first) in [
        ([300, 200, 100, 200, 0, 100], 5),
        ([900, 100, 800, 0, 100, 800], 3),
        ([0, 0, 0, 0, 0, 0], 3),
    ] {
        host.ledger = numbers(used);
        host.now += 300;
        host.pass();
        assert_eq!(host.fs_factor[first], 1.0, "{used:?}");
        // What is charged is in the ledger, and the records stay as they are.
        assert_eq!(host.computed.outcome.change.factor(), 1.0);
        assert_eq!(host.usage, [0.0; 6]);
    }
    assert_eq!(host.fs_factor[3..], [1.0; 3]);
    // The half-life continues from the records.
    host.config.parameters.usage = None;
    host.ledger = None;
    host.now += 300;
    host.pass();
    assert!(host.usage[3] > 1_000.0 && host.fs_factor[3] < host.fs_factor[5]);
}

#[test]
fn minutes_decide_where_accounts_have_them() {
    let mut config = config(Compat::Documented, 0);
    config.parameters.ranking = Some(Ranking::LEAST_USED_LEAF);
    let mut host = FakeHost::new(config);
    host.start(1, 3, 4.0);
    host.start(2, 5, 1.0);
    host.now += 300;
    host.pass();
    assert!(host.fs_factor[3] < host.fs_factor[5]);
    // User 4: 1,200 of half of 100 minutes; user 6: 300 of one minute.
    host.entitlement = Entitlement::new(0)
        .with_minutes(AssocIndex::new(1), 100)
        .with_minutes(AssocIndex::new(2), 1);
    host.pass();
    assert!(host.fs_factor[3] > host.fs_factor[5]);
}

#[test]
fn an_end_between_snapshot_and_apply_is_charged_once() {
    let mut host = FakeHost::new(config(Compat::Documented, 3_600));
    host.start(1, 3, 2.0);
    host.now += 300;
    let (rows, moment) = host.snapshot();
    host.now += 7;
    host.end(1);
    host.compute(&rows, &moment);
    host.now += 2;
    host.apply(&moment);
    host.agrees();
    host.now += 300;
    host.pass();
    host.agrees();
}

#[test]
fn usage_that_somebody_set_is_what_the_next_pass_ranks() {
    let mut host = FakeHost::new(config(Compat::Documented, 0));
    host.start(1, 3, 2.0);
    host.now += 300;
    host.pass();
    assert!(host.fs_factor[3] < host.fs_factor[5]);
    host.add(AssocIndex::new(5), 1e6);
    host.pass();
    assert!(host.fs_factor[3] > host.fs_factor[5]);
}

#[test]
fn records_without_a_number_count_as_unused() {
    for (compat, bad) in [
        (Compat::Documented, f64::NAN),
        (Compat::Documented, f64::INFINITY),
        (SLURM, f64::NAN),
    ] {
        let mut host = FakeHost::new(config(compat, 0));
        host.usage[4] = bad;
        host.usage[5] = bad;
        let complaints = host.pass();
        assert_eq!(complaints.non_finite, Some((5, 1)));
        assert!(complaints.refused.is_none());
        assert_eq!(host.fs_factor[3..], [1.0; 3]);
    }
}

#[test]
fn a_charge_without_a_number_is_refused_and_the_rest_goes_on() {
    let mut host = FakeHost::new(config(Compat::Documented, 0));
    host.start(7, 3, f64::NAN);
    host.start(8, 4, f64::INFINITY);
    host.start(9, 5, 1.0);
    host.now += 100;
    let complaints = host.pass();
    assert!(matches!(complaints.refused, Some((7, _, 1))));
    assert_eq!(host.usage, [100.0, 0.0, 100.0, 0.0, 0.0, 100.0]);
}

#[test]
fn another_ranking_and_back_finds_what_each_finds_alone() {
    let mut host = FakeHost::new(config(Compat::Documented, 0));
    host.start(1, 3, 2.0);
    for no_fair_tree in [false, true, false] {
        host.config.priority_flags = PriorityFlags {
            no_fair_tree,
            ..PriorityFlags::default()
        };
        host.now += 100;
        host.pass();
        let raw: Vec<Extended> = host
            .usage
            .iter()
            .map(|usage| Extended::from_f64(*usage).unwrap())
            .collect();
        let compat = host.config.compat;
        let found = fairshare::compute(host.config.ranking(), compat, &host.tree, &raw);
        for (position, found) in found.iter().enumerate() {
            let factor = found.fs_factor.unwrap_or(0.0);
            assert_eq!(host.fs_factor[position], factor);
            assert_eq!(host.priced_with[position].fs_factor, factor);
        }
    }
}

#[test]
fn stock_classic_prices_nobody_on_a_first_pass() {
    let mut config = config(SLURM, 0);
    config.priority_flags.no_fair_tree = true;
    let mut host = FakeHost::new(config);
    host.charged_until = ChargedUntil::new(None);
    host.start(1, 3, 2.0);
    host.now += 100;
    host.pass();
    assert!(!host.computed.outcome.prices);
    assert_eq!(host.usage, [0.0; 6]);
    host.now += 100;
    host.pass();
    assert!(host.computed.outcome.prices);
    assert_eq!(host.usage[0], 200.0);
    // The user's account counts as before the pass, when nothing was used; the user has all usage
    // now: 1 + (0 - 1) / 2 over a quarter of all shares, so 2^-2.
    assert_eq!(host.fs_factor[3], 0.25);
}

/// An event on the host.
#[derive(Clone, Copy, Debug)]
enum Event {
    Start { id: u32, user: usize, tres: u32 },
    End(u32),
    Time(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..4_u32, 3..6_usize, 1..5_u32).prop_map(|(id, user, tres)| Event::Start {
            id,
            user,
            tres
        }),
        (0..4_u32).prop_map(Event::End),
        (1..400_i64).prop_map(Event::Time),
    ]
}

fn happen(host: &mut FakeHost, event: Event) {
    match event {
        Event::Start { id, user, tres } => {
            let runs = host
                .jobs
                .iter()
                .any(|job| job.id == id && job.end.is_none());
            // slurmctld distinguishes two runs of one job by their start.
            let told_apart = host
                .jobs
                .iter()
                .all(|job| (job.id, job.start) != (id, host.now));
            if !runs && told_apart {
                host.start(id, user, f64::from(tres));
            }
        }
        Event::End(id) => host.end(id),
        Event::Time(secs) => host.now += secs,
    }
}

proptest! {
    /// Nothing is lost and nothing is counted twice, whatever happens between the steps of a pass.
    #[test]
    fn every_second_counts_once(
        passes in prop::collection::vec(
            (
                prop::collection::vec(event(), 0..5),
                prop::collection::vec(event(), 0..4),
                prop::collection::vec(event(), 0..4),
            ),
            1..7,
        ),
        half_life in prop_oneof![Just(0_u32), Just(600), Just(604_800)],
    ) {
        let mut host = FakeHost::new(config(Compat::Documented, half_life));
        for (before, computing, applying) in passes {
            before.into_iter().for_each(|event| happen(&mut host, event));
            let (rows, moment) = host.snapshot();
            computing.into_iter().for_each(|event| happen(&mut host, event));
            host.compute(&rows, &moment);
            applying.into_iter().for_each(|event| happen(&mut host, event));
            host.apply(&moment);
        }
        // Ends after the last snapshot are charged beyond the last pass; so is time up to which a
        // run has not run yet. A last pass settles both.
        host.now += 1;
        host.pass();
        host.agrees();
    }

    /// With a clock that steps back, a run is never charged for more than it ran.
    #[test]
    fn a_clock_that_steps_back_charges_nothing_twice(
        steps in prop::collection::vec(-300..400_i64, 1..12),
    ) {
        let mut host = FakeHost::new(config(Compat::Documented, 0));
        host.start(1, 3, 1.0);
        let (mut latest, mut expected) = (host.now, 0.0);
        for step in steps {
            host.now += step;
            host.pass();
            if host.now > latest {
                expected += (host.now - latest) as f64;
                latest = host.now;
            }
            prop_assert_eq!(host.usage[3], expected);
        }
    }
}
