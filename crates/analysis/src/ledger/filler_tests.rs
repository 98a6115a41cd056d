//! Expected values: hand calculation, and a naive model that adds up run by run.

use super::*;
use fairtree::config::PriorityParameters;
use fairtree::usage::window::Column;
use proptest::prelude::*;

fn rules(counts: &str) -> LedgerRules {
    let parameters = PriorityParameters::parse(counts, None).unwrap();
    LedgerRules {
        resolution_secs: 10,
        dates: Vec::new(),
        counts: parameters.counts.unwrap_or_default(),
    }
}

/// A run of 2 billing TRES that has completed.
fn run(job: u32, user: &str, start: i64, secs: i64) -> Accounted {
    Accounted {
        cluster: "hpc".into(),
        job,
        account: "phys".into(),
        user: user.into(),
        progress: Progress::Ended(EndState::Completed),
        exit_code: 0,
        start,
        end: None,
        elapsed_secs: secs,
        suspended_secs: 0,
        limit_secs: None,
        billing: 2,
        by_processors: false,
        tres: vec![("cpu".into(), 4)],
    }
}

fn filled(rules: &LedgerRules, times: Times, runs: &[Accounted]) -> Filled {
    let mut filler = Filler::new(rules, [("hpc".to_owned(), times)]).unwrap();
    filler.take(runs.to_vec(), 0, i64::MAX, true);
    let (mut all, problems) = filler.finish().unwrap();
    assert_eq!(problems, Vec::<String>::new());
    all.remove(0)
}

/// Billing TRES times seconds of a user.
fn used(filled: &Filled, user: &str) -> u64 {
    let leaf = LeafKey::new("phys", user, "").unwrap();
    let used = filled.history.used(&leaf, 0, 1_000_000, Column::Billing);
    used.unwrap().to_f64() as u64
}

// sacct leaves out a billing of 0: such a run counts 0 where any other has billing, whichever comes
// first, and its CPUs where none has.
#[test]
fn a_free_partition_is_free() {
    let free = |job: u32| Accounted {
        billing: 4,
        by_processors: true,
        ..run(job, "x", 100, 50)
    };
    for runs in [
        [free(1), run(2, "x", 100, 50)],
        [run(1, "x", 100, 50), free(2)],
    ] {
        let found = filled(&rules(""), Times::Since(0, 1000), &runs);
        assert_eq!(used(&found, "x"), 100);
        assert_eq!((found.runs, found.free, found.by_processors), (2, 1, 0));
    }
    let found = filled(&rules(""), Times::Since(0, 1000), &[free(1), free(2)]);
    assert_eq!(used(&found, "x"), 400);
    assert_eq!((found.runs, found.free, found.by_processors), (2, 0, 2));
}

#[test]
fn a_gap_has_the_runs_that_ended_in_it() {
    let runs = [
        run(1, "ended", 100, 50),
        run(2, "over the edge", 80, 30),
        run(3, "at its end", 190, 10),
        run(4, "beyond", 190, 11),
        Accounted {
            progress: Progress::Running,
            ..run(5, "running", 120, 70)
        },
    ];
    let times = Times::Gaps(vec![(100, 200), (300, 400)], 1000);
    let filled = filled(&rules(""), times, &runs);
    assert_eq!(used(&filled, "ended"), 100);
    assert_eq!(used(&filled, "over the edge"), 20);
    assert_eq!(used(&filled, "at its end"), 20);
    assert_eq!(used(&filled, "beyond"), 0);
    assert_eq!(used(&filled, "running"), 0);
    assert_eq!((filled.runs, filled.running), (3, 0));
    let covered = filled.history.sources()[0].covered.as_slice();
    assert_eq!(covered, [(100, 200), (300, 400)]);
}

#[test]
fn ends_that_do_not_count_take_their_parts_with_them() {
    let with = |run: Accounted, progress, exit_code| Accounted {
        progress,
        exit_code,
        ..run
    };
    let ended = Progress::Ended;
    let runs = [
        with(run(1, "a", 100, 10), ended(EndState::Failed), 12),
        with(run(2, "b", 100, 10), ended(EndState::Failed), 13),
        with(run(3, "c", 100, 10), Progress::Resized, 0),
        with(run(3, "c", 110, 10), ended(EndState::Cancelled), 0),
        // The next run of the same job.
        with(run(3, "c", 150, 5), ended(EndState::Completed), 0),
        with(run(4, "d", 100, 10), Progress::Resized, 0),
        with(run(4, "d", 110, 7), Progress::Running, 0),
        with(run(5, "e", 100, 10), ended(EndState::Requeued), 0),
    ];
    let rules = rules("counts=COMPLETED+FAILED:12");
    let found = filled(&rules, Times::Since(0, 1000), &runs);
    let of: Vec<u64> = ["a", "b", "c", "d", "e"]
        .map(|user| used(&found, user))
        .into();
    assert_eq!(of, [20, 0, 10, 34, 0]);
    assert_eq!((found.runs, found.running, found.not_counted), (3, 1, 3));
    let all = filled(&self::rules(""), Times::Since(0, 1000), &runs);
    let of: Vec<u64> = ["a", "b", "c", "d", "e"]
        .map(|user| used(&all, user))
        .into();
    assert_eq!(of, [20, 20, 50, 34, 20]);
}

#[test]
fn what_goes_on_counts_up_to_its_limit_and_the_last_word_of_its_cluster() {
    let running = |job, user, limit_secs| Accounted {
        progress: Progress::Running,
        limit_secs,
        ..run(job, user, 100, 10_000)
    };
    let runs = [
        running(1, "limited", Some(300)),
        running(2, "endless", None),
        run(3, "ended", 700, 200),
    ];
    let all = filled(&rules(""), Times::Since(0, 5000), &runs);
    assert_eq!((used(&all, "limited"), used(&all, "endless")), (600, 9800));
    // The last that was heard is an end at 900.
    let all = filled(&rules(""), Times::Silent(0, 500, 5000), &runs);
    assert_eq!((used(&all, "limited"), used(&all, "endless")), (600, 1600));
    assert_eq!((used(&all, "ended"), all.running), (400, 2));
    assert_eq!(all.history.sources()[0].as_of, 900);
    assert_eq!(all.history.sources()[0].covered.as_slice(), [(0, 900)]);
    // It had been heard of later, before.
    let all = filled(&rules(""), Times::Silent(0, 1000, 5000), &runs);
    assert_eq!(used(&all, "endless"), 1800);
}

#[test]
fn the_last_record_of_a_run_stands() {
    let before = Accounted {
        progress: Progress::Running,
        ..run(1, "a", 100, 10)
    };
    let all = filled(
        &rules(""),
        Times::Since(0, 1000),
        &[before, run(1, "a", 100, 30)],
    );
    assert_eq!((used(&all, "a"), all.runs, all.running), (60, 1, 0));
}

#[test]
fn what_no_ledger_takes_is_told_and_the_rest_counts() {
    let rules = rules("");
    let times = Times::Since(0, 1000);
    let mut filler = Filler::new(&rules, [("hpc".to_owned(), times)]).unwrap();
    let much = Accounted {
        billing: u64::MAX,
        ..run(1, "a", 100, 10)
    };
    let other = Accounted {
        tres: vec![("gres/gpu".into(), 1)],
        ..run(2, "b", 100, 10)
    };
    filler.take(vec![much, other], 0, i64::MAX, true);
    let (all, problems) = filler.finish().unwrap();
    assert!(
        problems.len() == 1 && problems[0].starts_with("cluster hpc, job 1: rate: "),
        "{problems:?}"
    );
    assert_eq!(used(&all[0], "b"), 20);
    assert_eq!(all[0].history.columns().tres(), ["cpu", "gres/gpu"]);
}

/// Runs of three users between 0 and 1000, with suspensions; some continue at 1000.
fn any_runs() -> impl Strategy<Value = Vec<Accounted>> {
    let each = (
        0_i64..990,
        0_i64..400,
        0_i64..50,
        0_usize..3,
        1_u64..9,
        any::<bool>(),
    );
    prop::collection::vec(each, 0..30).prop_map(|runs| {
        let made = runs.into_iter().zip(1..);
        let made = made.map(
            |((start, secs, suspended_secs, user, billing, goes_on), job)| {
                let end = (start + secs + suspended_secs).min(1000);
                let suspended_secs = suspended_secs.min(end - start);
                Accounted {
                    billing,
                    suspended_secs,
                    progress: match goes_on && end == 1000 {
                        true => Progress::Running,
                        false => Progress::Ended(EndState::Completed),
                    },
                    ..run(
                        job,
                        ["a", "b", "c"][user],
                        start,
                        end - start - suspended_secs,
                    )
                }
            },
        );
        made.collect()
    })
}

/// The usage in `[from, to)`, run by run.
fn naive(runs: &[Accounted], user: &str, from: i64, to: i64) -> u64 {
    let of = runs.iter().filter(|run| run.user == user);
    let secs = |run: &Accounted| {
        let inside = |second: &i64| (from..to).contains(second);
        let seconds = run.start..run.start + run.elapsed_secs;
        seconds.filter(inside).count() as u64
    };
    of.map(|run| secs(run) * run.billing).sum()
}

proptest! {
    // However the time is cut into slices, and whatever each answer has besides.
    #[test]
    fn each_run_counts_once_in_any_slices(
        runs in any_runs(),
        cuts in prop::collection::btree_set(1_i64..1000, 0..6),
        since in 0_i64..500,
    ) {
        let rules = rules("");
        let times = Times::Since(since, 1000);
        let mut filler = Filler::new(&rules, [("hpc".to_owned(), times)]).unwrap();
        let mut from = since;
        let cuts = cuts.into_iter().filter(|cut| *cut > since).chain([1000]);
        for (at, to) in cuts.enumerate() {
            // sacct: what overlaps with the slice, and all that goes on.
            let answer = runs.iter().filter(|run| {
                run.progress == Progress::Running || run.start < to && run.known_until() >= from
            });
            filler.take(answer.cloned().collect(), from, to, at == 0);
            from = to;
        }
        let (all, problems) = filler.finish().unwrap();
        prop_assert_eq!(problems, Vec::<String>::new());
        for user in ["a", "b", "c"] {
            prop_assert_eq!(used(&all[0], user), naive(&runs, user, since, 1000));
        }
    }

    // What the plugin charges by its rule and what is filled into its gaps is together all there is.
    #[test]
    fn plugin_and_gaps_are_the_whole(
        runs in any_runs(),
        edges in prop::collection::btree_set(1_i64..1000, 2..9),
        since in 0_i64..300,
    ) {
        let edges: Vec<i64> = edges.into_iter().filter(|edge| *edge > since).collect();
        let mut covered = fairtree::usage::window::Spans::default();
        edges.chunks_exact(2).for_each(|pair| covered.add(pair[0], pair[1]));
        let Some(&(_, until)) = covered.as_slice().last() else {
            return Ok(());
        };
        let seen = Times::Seen(covered.as_slice().to_vec(), since, until);
        let gaps = Times::Gaps(covered.gaps(since, until), 1000);
        let (seen, gaps) = (filled(&rules(""), seen, &runs), filled(&rules(""), gaps, &runs));
        for user in ["a", "b", "c"] {
            let all = used(&seen, user) + used(&gaps, user);
            prop_assert_eq!(all, naive(&runs, user, since, until));
        }
    }
}
