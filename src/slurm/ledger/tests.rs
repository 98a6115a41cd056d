//! The ledger fed by a host of plain rows, compared with the results of a naive host.

use super::fake_host::{FakeHost, JobRecord, START, WINDOW, config, name, tree_of};
use crate::tree::AssocIndex;
use crate::usage::EndState;
use crate::usage::window::{Columns, UsageHistory};
use proptest::prelude::*;

#[test]
fn a_window_forgets_to_the_second() {
    // By hand: 4 CPUs for 100 s, in a window of 300 s with buckets of 1 s.
    let mut host = FakeHost::new(WINDOW);
    host.start(7, 4, [1, 2], 4);
    host.pass_time(100);
    host.end(7, EndState::Completed, true);
    host.pass();
    assert_eq!(host.records, [400.0, 400.0, 0.0, 400.0, 0.0, 0.0]);
    assert_eq!(host.of_qos[&2], 400.0);
    host.pass_time(250);
    host.pass();
    assert_eq!(host.records[0], 200.0);
    host.pass_time(50);
    host.pass();
    assert_eq!(host.records, [0.0; 6]);
    // TRES and wall time are separate numbers.
    host.start(8, 6, [1, 0], 2);
    host.pass_time(10);
    host.pass();
    let mut found = Vec::new();
    let user = [AssocIndex::new(5)];
    let read = host.ledgers.read(&host.tree, &user, |_, numbers, tres| {
        let all = numbers.iter().chain(tres);
        found.extend(all.map(|number| number.to_f64()));
    });
    assert_eq!(read, Some(()));
    assert_eq!(found, [20.0, 10.0, 20.0, 2_000.0, 20.0]);
}

#[test]
fn an_end_that_does_not_count_is_taken_back_whole() {
    let mut host = FakeHost::new("usage=window:1-0,counts=COMPLETED+TIMEOUT");
    host.start(1, 4, [1, 3], 2);
    host.start(2, 5, [1, 3], 1);
    host.pass_time(7_000);
    host.pass();
    assert_eq!(host.records[0], 21_000.0);
    // QOS 3 has NoDecay: the pass charges its record as usual.
    host.of_qos.insert(3, 21_000.0);
    host.end(1, EndState::Cancelled, true);
    host.end(2, EndState::Timeout, true);
    host.pass();
    assert_eq!(host.records, [7_000.0, 7_000.0, 0.0, 0.0, 7_000.0, 0.0]);
    assert_eq!((host.of_qos[&1], host.of_qos[&3]), (7_000.0, 7_000.0));
    host.pass();
    assert_eq!(host.of_qos[&3], 7_000.0);
}

#[test]
fn suspended_time_does_not_count() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 1);
    host.pass_time(10);
    host.pass();
    host.suspend(1);
    host.pass_time(40);
    host.pass();
    assert_eq!(host.records[0], 10.0);
    host.pass_time(3);
    host.resume(1);
    host.pass_time(5);
    host.pass();
    assert_eq!(host.records[0], 15.0);
    host.suspend(1);
    host.pass_time(2);
    host.end(1, EndState::Cancelled, true);
    host.pass();
    host.agrees(START);
    assert_eq!(host.records[0], 15.0);
}

#[test]
fn totals_stand_beside_windows() {
    let since = "1970-01-01";
    let mut host = FakeHost::new("usage=window:1:00,resolution=0:01");
    let text = format!("[accounts.b]\nplan = 'total:{since}'\n");
    let file = crate::config::PolicyFile::parse(&text, "p", None).unwrap();
    host.config.accounts = file.accounts;
    host.start(1, 4, [1, 0], 1);
    host.start(2, 6, [1, 0], 1);
    host.pass_time(200);
    host.pass();
    assert_eq!(host.records, [120.0, 60.0, 200.0, 60.0, 0.0, 200.0]);
}

#[test]
fn another_model_and_back_finds_the_same() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 3);
    host.pass_time(100);
    host.pass();
    let window = host.config.clone();
    host.config = config("");
    host.pass_time(50);
    host.end(1, EndState::Completed, true);
    host.pass();
    host.restart();
    host.pass_time(20);
    host.pass();
    host.config = window;
    host.pass();
    host.agrees(host.now - 300);
    assert_eq!(host.records[0], 450.0);
}

/// A job ends, and the clock steps back before the next pass: it pays up to its end nevertheless.
/// If the clock showed a wrong year for a moment, an end in that year moves the ledger by one day.
#[test]
fn an_end_before_the_clock_stepped_back_counts() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 4);
    host.pass_time(100);
    host.pass();
    host.pass_time(100);
    host.end(1, EndState::Completed, true);
    host.now -= 3_600;
    host.pass();
    assert_eq!(host.records[0], 800.0);
    let before = host.now;
    host.start(2, 4, [1, 0], 1);
    host.now += 100_000_000;
    host.end(2, EndState::Completed, true);
    host.now = before;
    host.pass();
    let now = host.ledgers.fed_until().unwrap();
    assert_eq!(now, START + 200 + 86_400);
}

/// slurmctld had reported an end, and was killed before it saved it: it treats the job as running,
/// and finds out later that it is gone.
#[test]
fn an_end_that_a_kill_undoes_is_not_charged_again() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 4);
    host.pass_time(1);
    host.end(1, EndState::Completed, true);
    host.pass();
    assert_eq!(host.records[0], 4.0);
    host.restart();
    host.jobs[0].end = None;
    host.pass_time(3);
    host.pass();
    assert_eq!(host.records[0], 16.0);
    host.end(1, EndState::NodeFail, true);
    host.pass_time(200);
    for _ in 0..5 {
        host.pass();
    }
    assert_eq!(host.records[0], 16.0);
}

#[test]
fn a_removed_user_leaves_what_he_used_to_his_account() {
    for was_looking in [true, false] {
        let mut host = FakeHost::new(WINDOW);
        host.start(1, 4, [1, 0], 1);
        host.pass_time(100);
        host.end(1, EndState::Completed, true);
        host.pass();
        host.tree = tree_of(&[(5, 2), (6, 3)]);
        host.records.truncate(5);
        if !was_looking {
            host.restart();
        }
        host.pass();
        assert_eq!(host.records, [100.0, 100.0, 0.0, 0.0, 0.0]);
        let left = host.ledgers.left_in_accounts();
        let left = left
            .iter()
            .map(|(at, left)| (at.get(), left.billing.to_f64()));
        assert_eq!(left.collect::<Vec<_>>(), [(1, 100.0)]);
    }
}

#[test]
fn a_run_that_is_gone_counts_as_far_as_it_was_seen() {
    let mut host = FakeHost::new("usage=window:5:00,resolution=0:01,counts=COMPLETED");
    host.start(1, 4, [1, 0], 1);
    host.start(2, 4, [1, 0], 1);
    host.pass_time(100);
    host.pass();
    host.jobs.remove(0);
    // The requeue is seen when the job runs again.
    let again = host.now + 1;
    host.jobs[0].start = again;
    host.now += 2;
    host.pass();
    assert_eq!(host.records[0], 100.0 + 1.0);
}

#[test]
fn a_run_that_moves_to_another_account_pays_there_from_then_on() {
    let mut host = FakeHost::new("usage=window:5:00,resolution=0:01,counts=COMPLETED");
    host.start(1, 4, [1, 2], 1);
    host.pass_time(10);
    host.pass();
    let job = host.running(1).unwrap();
    (job.assoc, job.qos) = (6, [2, 1]);
    host.pass_time(5);
    host.pass();
    assert_eq!(host.records, [15.0, 10.0, 5.0, 10.0, 0.0, 5.0]);
    assert_eq!((host.of_qos[&1], host.of_qos[&2]), (15.0, 15.0));
    host.end(1, EndState::NodeFail, true);
    host.pass();
    assert_eq!(host.records, [0.0; 6]);
    assert_eq!((host.of_qos[&1], host.of_qos[&2]), (0.0, 0.0));
}

#[test]
fn a_partition_that_gets_a_qos_is_charged_from_then_on() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 2);
    host.pass_time(10);
    host.pass();
    for (qos, of_qos) in [([1, 2], 10.0), ([1, 1], 10.0), ([1, 2], 20.0)] {
        host.running(1).unwrap().qos = qos;
        host.pass_time(5);
        host.pass();
        assert_eq!(host.of_qos[&2], of_qos);
    }
    assert_eq!(host.of_qos[&1], 50.0);
}

#[test]
fn a_ledger_that_is_older_catches_up_alone() {
    // The file of QOS was damaged, and that of the previous pass counts.
    for counts in ["", ",counts=TIMEOUT"] {
        let mut host = FakeHost::new(&format!("usage=window:5:00,resolution=0:01{counts}"));
        host.start(1, 4, [1, 0], 1);
        host.pass_time(10);
        host.pass();
        let before = host.files[1].clone();
        host.pass_time(10);
        host.end(1, EndState::Completed, true);
        host.start(2, 4, [1, 0], 1);
        host.pass();
        host.restart();
        host.files[1] = before;
        host.pass_time(10);
        host.pass();
        host.agrees(START);
    }
}

#[test]
fn a_longer_resolution_fits_and_a_shorter_one_is_told_of() {
    let mut host = FakeHost::new("usage=window:1:00:00,resolution=1:00");
    host.start(1, 4, [1, 0], 1);
    host.pass_time(90);
    host.pass();
    host.config = config("usage=window:1:00:00,resolution=10:00");
    assert!(host.pass().lines.is_empty());
    host.agrees(START);
    host.config = config("usage=window:1:00:00,resolution=0:30");
    let lines = host.pass().lines;
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].contains("30 s is not a multiple of the ledger's 600 s"),
        "{lines:?}"
    );
    assert!(host.pass().lines.is_empty());
    host.agrees(START);
}

#[test]
fn other_sources_count_and_go() {
    let mut host = FakeHost::new(WINDOW);
    host.pass();
    host.pass_time(10);
    host.pass();
    let columns = Columns::new(["cpu"]).unwrap();
    let mut history = UsageHistory::new("two", 1, columns.clone(), &[], host.now).unwrap();
    let rate = columns.rate(2.0, 1.0, &[(0, 2)]).unwrap();
    history
        .charge(&name(6), None, host.now - 10, host.now, &rate)
        .unwrap();
    let mut problems = Vec::new();
    let mut told = |label: &str, error| problems.push(format!("{label}: {error}"));
    let changed = vec![("two".to_owned(), history.clone())];
    host.ledgers.set_others(changed, &[], &mut told);
    host.pass();
    assert_eq!(host.records, [20.0, 0.0, 20.0, 0.0, 0.0, 20.0]);
    // It is in no source's own file.
    let own = UsageHistory::load(&host.files[0].1).unwrap();
    assert_eq!(own.leaves().count(), 0);
    // Times that are covered by our own file are refused.
    let mut twice = UsageHistory::new("hpc", 1, columns, &[], host.now).unwrap();
    twice.cover(START, START + 10).unwrap();
    host.ledgers
        .set_others(vec![("fill".to_owned(), twice)], &[], &mut told);
    host.ledgers
        .set_others(Vec::new(), &["two".to_owned()], &mut told);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("covered twice"), "{problems:?}");
    host.pass();
    assert_eq!(host.records, [0.0; 6]);
}

/// An event on the host.
#[derive(Clone, Copy, Debug)]
enum Event {
    Start {
        id: u32,
        assoc: u32,
        qos: [u32; 2],
        cpus: u64,
    },
    End {
        id: u32,
        state: EndState,
        reports: bool,
    },
    Suspend(u32),
    Resume(u32),
    /// A pass has charged the old payers; from now on others pay.
    Move {
        id: u32,
        assoc: u32,
        qos: [u32; 2],
    },
    Time(i64),
    Pass,
    Restart,
}

fn event() -> impl Strategy<Value = Event> {
    let state = prop_oneof![
        Just(EndState::Completed),
        Just(EndState::Cancelled),
        Just(EndState::Preempted),
        Just(EndState::Requeued)
    ];
    let qos = || prop_oneof![Just([1, 0]), Just([1, 2]), Just([2, 2])];
    prop_oneof![
        (0..4_u32, 4..7_u32, qos()).prop_map(|(id, assoc, qos)| Event::Move { id, assoc, qos }),
        (0..4_u32, 4..7_u32, qos(), 1..5_u64).prop_map(|(id, assoc, qos, cpus)| Event::Start {
            id,
            assoc,
            qos,
            cpus
        }),
        (0..4_u32, state, any::<bool>()).prop_map(|(id, state, reports)| Event::End {
            id,
            state,
            reports
        }),
        (0..4_u32).prop_map(Event::Suspend),
        (0..4_u32).prop_map(Event::Resume),
        (1..40_i64).prop_map(Event::Time),
        (1..40_i64).prop_map(Event::Time),
        Just(Event::Pass),
        Just(Event::Restart),
    ]
}

fn happen(host: &mut FakeHost, event: Event) {
    match event {
        Event::Start {
            id,
            assoc,
            qos,
            cpus,
        } => {
            let known =
                |job: &JobRecord| job.id == id && (job.end.is_none() || job.start == host.now);
            if !host.jobs.iter().any(known) {
                host.start(id, assoc, qos, cpus);
            }
        }
        Event::End { id, state, reports } => host.end(id, state, reports),
        Event::Suspend(id) => host.suspend(id),
        Event::Resume(id) => host.resume(id),
        Event::Move { id, assoc, qos } => {
            host.pass();
            if let Some(job) = host.running(id) {
                (job.assoc, job.qos) = (assoc, qos);
            }
        }
        Event::Time(secs) => host.pass_time(secs),
        Event::Pass => {
            let complaints = host.pass();
            assert!(complaints.refused.is_none(), "{complaints:?}");
        }
        Event::Restart => host.restart(),
    }
}

proptest! {
    /// Nothing is lost and nothing is counted twice: the window is longer than all events.
    #[test]
    fn every_second_counts_once(events in prop::collection::vec(event(), 1..40)) {
        for counts in ["", ",counts=COMPLETED"] {
            let mut host = FakeHost::new(&format!("usage=window:1-0,resolution=0:07{counts}"));
            // Before the first pass nothing is known about ends.
            host.pass();
            for event in &events {
                happen(&mut host, *event);
            }
            host.pass_time(1);
            host.pass();
            host.agrees(START);
        }
    }

    /// Without suspensions, whose times are known only from pass to pass, a window is exact.
    #[test]
    fn windows_are_exact(events in prop::collection::vec(event(), 1..40)) {
        let mut host = FakeHost::new("usage=window:0:50,resolution=0:01");
        host.pass();
        let events = events.into_iter();
        for event in events.filter(|event| !matches!(event, Event::Suspend(_))) {
            happen(&mut host, event);
        }
        host.pass_time(1);
        host.pass();
        host.agrees(host.now - 50);
    }
}
