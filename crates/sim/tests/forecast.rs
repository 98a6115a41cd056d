//! Forecasts of a cluster whose starts can be computed by hand.

use std::collections::HashMap;

use fairtree_model::input::recorded::RecordedJob;
use fairtree_model::input::slurm::conf::Conf;
use fairtree_model::input::slurm::script::Accounting;
use fairtree_model::machine::{Machine, Node, Partition, Request};
use fairtree_sim::forecast::{Change, Forecaster, Making, Queue, StartForecast, Stuck};
use fairtree_sim::slurm::site::Site;

/// 2026-11-21 12:00 UTC, a Saturday.
const NOW: i64 = 1_795_262_400;
const HOUR: i64 = 3600;

/// Two nodes of four cores: `main` has the first, `other` the second.
fn machine() -> Machine {
    let node = |name: &str| Node {
        name: name.to_owned(),
        cores: 4,
        ..Node::default()
    };
    let partition = |name: &str, node: usize| Partition {
        name: name.to_owned(),
        nodes: vec![node],
        is_default: node == 0,
        ..Partition::default()
    };
    Machine {
        nodes: vec![node("n1"), node("n2")],
        partitions: vec![partition("main", 0), partition("other", 1)],
        ..Machine::default()
    }
}

fn site(machine: &Machine) -> Site {
    let conf = Conf {
        priority_type: Some("priority/multifactor".to_owned()),
        config: fairtree::config::Config::default(),
        partitions: Vec::new(),
    };
    Site::new(
        &conf,
        None,
        machine,
        &Accounting::default(),
        std::iter::empty(),
    )
    .expect("nothing to price")
}

/// A job of four cores for an hour, submitted `ago` seconds before now.
fn job(id: u32, user: &str, ago: i64) -> RecordedJob {
    RecordedJob {
        id,
        task: None,
        request: Request {
            user: Some(user.to_owned()),
            partitions: vec!["main".to_owned()],
            tasks: Some(4),
            limit_mins: Some(60),
            ..Request::default()
        },
        submit_ms: (NOW - ago) * 1000,
        eligible_ms: Some((NOW - ago) * 1000),
        start_ms: None,
        end_ms: None,
        nodes: Vec::new(),
        allocated_cpus: 4,
        billing: None,
        state: "PENDING".to_owned(),
        first_priority: None,
        held_ms: Vec::new(),
        backfilled: None,
    }
}

/// The same, started `ago` seconds before now; ended after `ran`, where that is said.
fn ran(id: u32, user: &str, ago: i64, ran: Option<i64>) -> RecordedJob {
    RecordedJob {
        start_ms: Some((NOW - ago) * 1000),
        end_ms: ran.map(|secs| (NOW - ago + secs) * 1000),
        nodes: vec!["n1".to_owned()],
        ..job(id, user, ago)
    }
}

/// Jobs of a user that ended within the last day after these seconds, one after the other.
fn past(user: &str, runs: &[i64]) -> Vec<RecordedJob> {
    let number = |at: usize| u32::try_from(at).expect("few") + 1000;
    let jobs = runs.iter().enumerate();
    jobs.map(|(at, secs)| ran(number(at), user, (at as i64 + 2) * HOUR, Some(*secs)))
        .collect()
}

fn forecasts(
    present: &[RecordedJob],
    past: &[RecordedJob],
    making: Making,
    wanted: &[u32],
) -> Vec<StartForecast> {
    let machine = machine();
    let fixed = HashMap::new();
    let queue = Queue {
        present,
        past,
        fixed: &fixed,
    };
    let mut made = Forecaster::new(&machine, site(&machine), NOW, queue, making);
    made.rehearse(&mut || true).expect("priced");
    let find = |id: &u32| made.find(*id, None).expect("it waits");
    let places: Vec<usize> = wanted.iter().map(find).collect();
    made.forecast(&places, &mut || true).expect("priced")
}

// Job 1 runs since ten minutes and takes its hour: 50 minutes more. Then come 2 and 3, an hour each.
#[test]
fn jobs_that_take_their_limits_start_when_the_ones_before_end() {
    let present = [
        ran(1, "ann", 600, None),
        job(2, "ann", 500),
        job(3, "ann", 400),
    ];
    let past = past("ann", &[HOUR; 12]);
    let found = forecasts(&present, &past, Making::default(), &[2, 3]);
    for (found, start) in found.iter().zip([NOW + 3000, NOW + 3000 + HOUR]) {
        assert_eq!(found.start, Some(start));
        assert_eq!(found.by_limits, Some(start));
        let drawn = found.drawn.expect("a band");
        assert_eq!((drawn.from, drawn.to), (start, start));
        // Nothing is known of misses: as wide as the wait, at both ends.
        let band = found.band.expect("a band");
        assert_eq!((band.from, band.to), (NOW, start + (start - NOW)));
    }
}

// Half of the limit: job 1 has 20 minutes left, job 2 takes half an hour.
#[test]
fn run_times_are_those_of_the_users_past_jobs() {
    let present = [
        ran(1, "ann", 600, None),
        job(2, "ann", 500),
        job(3, "bob", 400),
    ];
    let past = past("ann", &[HOUR / 2; 12]);
    let found = forecasts(&present, &past, Making::default(), &[2, 3]);
    assert_eq!(found[0].start, Some(NOW + 1200));
    assert_eq!(found[1].start, Some(NOW + 1200 + HOUR / 2));
    assert_eq!(found[1].by_limits, Some(NOW + 3000 + HOUR));
}

// Runs of a quarter and of a whole hour: job 1 has run for longer than a quarter, so it takes all. Job 2
// takes either, so job 3 comes a quarter or a whole hour after it.
#[test]
fn different_run_times_make_a_band() {
    let present = [
        ran(1, "ann", 1800, None),
        job(2, "ann", 500),
        job(3, "ann", 400),
    ];
    let runs: Vec<i64> = (0..12).map(|at| [900, HOUR][at % 2]).collect();
    let found = forecasts(&present, &past("ann", &runs), Making::default(), &[2, 3]);
    assert_eq!(found[0].start, Some(NOW + 1800));
    let drawn = found[1].drawn.expect("a band");
    assert_eq!(drawn.from, NOW + 1800 + 900);
    assert_eq!(drawn.to, NOW + 1800 + HOUR);
}

#[test]
fn the_same_seed_gives_the_same_forecasts() {
    let present = [
        ran(1, "ann", 600, None),
        job(2, "ann", 500),
        job(3, "ann", 400),
        job(4, "ann", 300),
    ];
    let runs: Vec<i64> = (1..40).map(|at| at * 90).collect();
    let past = past("ann", &runs);
    let of = |seed| {
        let making = Making {
            seed,
            ..Making::default()
        };
        forecasts(&present, &past, making, &[2, 3, 4])
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn a_short_past_falls_back_to_limits() {
    let present = [ran(1, "ann", 600, None), job(2, "ann", 500)];
    let past = past("ann", &[HOUR / 2; 9]);
    let found = forecasts(&present, &past, Making::default(), &[2]);
    assert_eq!((found[0].start, found[0].band), (Some(NOW + 3000), None));
    let making = Making {
        by_limits: true,
        ..Making::default()
    };
    let past = self::past("ann", &[HOUR / 2; 12]);
    let found = forecasts(&present, &past, making, &[2]);
    assert_eq!((found[0].start, found[0].band), (Some(NOW + 3000), None));
}

#[test]
fn jobs_that_never_start_say_why() {
    let mut large = job(2, "ann", 500);
    large.request.tasks = Some(5);
    let mut held = job(3, "ann", 400);
    held.held_ms = vec![(0, i64::MAX)];
    let mut long = job(4, "ann", 300);
    long.request.limit_mins = Some(120);
    let present = [ran(1, "ann", 600, None), large, held, long];
    let past = past("ann", &[HOUR; 12]);
    let found = forecasts(&present, &past, Making::default(), &[2, 3, 4]);
    assert_eq!((found[0].start, found[0].stuck), (None, Some(Stuck::Never)));
    assert_eq!((found[1].start, found[1].stuck), (None, None));
    // The others keep nobody.
    assert_eq!(found[2].start, Some(NOW + 3000));
}

// `other` is empty: job 2 starts there in the next pass over all jobs, which is within a minute.
#[test]
fn changes_are_tried() {
    let machine = machine();
    let present = [ran(1, "ann", 600, None), job(2, "ann", 500)];
    let (past, fixed) = (past("ann", &[HOUR / 4; 12]), HashMap::new());
    let queue = Queue {
        present: &present,
        past: &past,
        fixed: &fixed,
    };
    let made = Forecaster::new(&machine, site(&machine), NOW, queue, Making::default());
    let place = made.find(2, None).expect("it waits");
    let changes = [Change::Partition(1), Change::Limit(1200)];
    let shown = Some(NOW + 500);
    let found = made.helps(place, shown, &changes, &mut || true);
    let found = found.expect("priced");
    assert_eq!(found.len(), 1, "a shorter limit does not help: {found:?}");
    // The gain and the start that is shown fit together.
    assert_eq!(found[0].earlier_secs, Some(NOW + 500 - found[0].start));
    assert_eq!(found[0].change, Change::Partition(1));
    assert!(found[0].start <= NOW + 61, "{found:?}");
    // A quarter of an hour and a tenth more, in whole five minutes.
    assert_eq!(made.shorter_limit(place), Some(1200));
}
