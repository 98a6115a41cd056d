use super::*;
use crate::compat::Release;
use crate::priority::TimeLimit;
use proptest::prelude::*;

const SLURM: Compat = Compat::Slurm(Release::V22_05_8);
const START: i64 = 1_700_000_000;

fn running() -> Run {
    Run {
        state: RunState::default(),
        start_time: START,
        end_time: START + 3_600,
        end_time_exp: Some(START + 3_600),
        time_limit: TimeLimit::Minutes(60),
        billable_tres: 4.0,
        usage_factor: 1.0,
        charged_until: None,
        passed: None,
        run_secs_renewed: false,
    }
}

fn completing(run: Run, end_time: i64) -> Run {
    Run {
        state: RunState {
            phase: Phase::Finished,
            completing: true,
            ..RunState::default()
        },
        end_time,
        ..run
    }
}

fn never(compat: Compat) -> Decay {
    Decay::new(0, compat)
}

fn pass(last_ran: i64, now: i64) -> Period {
    Period::pass(Some(last_ran), now)
}

#[test]
fn a_pass_charges_from_the_last_pass_or_the_start() {
    for compat in [Compat::Documented, SLURM] {
        let tick = |last, now| charge(&never(compat), &running(), &pass(last, now), false).unwrap();
        let whole = tick(START + 300, START + 600);
        assert_eq!(whole.decayed.wall_secs, 300.0);
        assert_eq!(whole.decayed.usage, 1_200.0);
        assert_eq!(whole.run_secs, 300);
        assert_eq!(whole.tres_run_secs(16), 4_800);
        assert_eq!(whole.decayed.tres(16).to_f64(), 4_800.0);
        assert_eq!(tick(START - 200, START + 100).run_secs, 100);
        assert_eq!(tick(START - 200, START - 100), Charge::default());
        // The clock stepped back.
        assert_eq!(tick(START + 600, START + 300), Charge::default());
        // No pass yet: all from the start.
        let first = charge(
            &never(compat),
            &running(),
            &Period::pass(None, START + 50),
            false,
        );
        assert_eq!(first.unwrap().decayed.usage, 200.0);
    }
}

#[test]
fn slurm_decays_as_if_used_at_the_start_of_the_period() {
    let decay = Decay::new(604_800, SLURM);
    let run = Run {
        billable_tres: 3.5,
        usage_factor: 0.7,
        ..running()
    };
    let got = charge(&decay, &run, &pass(START, START + 300), false).unwrap();
    let per_second = 1.0_f64 - 0.693 / 604_800.0;
    let run_decay = 300.0 * per_second.powf(300.0);
    assert_eq!(got.decayed.wall_secs, run_decay * 0.7);
    assert_eq!(got.decayed.usage, run_decay * 3.5 * 0.7);
    assert_eq!(got.undecayed.wall_secs, 300.0 * 0.7);
    assert_eq!(got.amounts(true), got.undecayed);
    assert_eq!(got.amounts(false), got.decayed);
    // 300 * 0.7 is a little less than 210 in binary.
    assert_eq!(got.run_secs, (300.0_f64 * 0.7) as u64);
}

#[test]
fn over_the_time_limit_usage_goes_on_and_run_seconds_stop() {
    for compat in [Compat::Documented, SLURM] {
        let tick = |last, now| charge(&never(compat), &running(), &pass(last, now), false).unwrap();
        let across = tick(START + 3_500, START + 3_800);
        assert_eq!((across.decayed.wall_secs, across.run_secs), (300.0, 100));
        let beyond = tick(START + 3_800, START + 4_100);
        assert_eq!((beyond.decayed.wall_secs, beyond.run_secs), (300.0, 0));
    }
}

#[test]
fn an_end_charges_to_the_end_and_settles_the_run_seconds() {
    for compat in [Compat::Documented, SLURM] {
        let run = completing(running(), START + 700);
        let period = Period::between_passes(Some(START + 600), START + 720);
        let end = charge(&never(compat), &run, &period, true).unwrap();
        assert_eq!(end.decayed.usage, 400.0);
        assert_eq!(end.run_secs, 3_000);
        let again = Run {
            end_time_exp: None,
            ..run
        };
        assert_eq!(charge(&never(compat), &again, &period, true), None);
    }
}

#[test]
fn a_simulated_end_of_a_pending_job_charges_nothing() {
    let pending = Run {
        state: RunState {
            phase: Phase::Pending,
            ..RunState::default()
        },
        start_time: 0,
        end_time: 0,
        end_time_exp: Some(0),
        ..running()
    };
    let period = Period::between_passes(Some(START), START + 60);
    assert_eq!(
        charge(&never(Compat::Documented), &pending, &period, true),
        None
    );
    // The fault of 26.05: 60 s of a job that never ran.
    let phantom = charge(&never(SLURM), &pending, &period, true).unwrap();
    assert_eq!(phantom.decayed.usage, 240.0);
}

#[test]
fn backfill_trying_a_job_removes_its_whole_limit_and_no_usage() {
    for compat in [Compat::Documented, SLURM] {
        let trial = Run {
            end_time_exp: Some(START),
            ..completing(running(), START)
        };
        let period = Period::between_passes(Some(START - 100), START);
        let end = charge(&never(compat), &trial, &period, true).unwrap();
        assert_eq!(end.decayed, Amounts::default());
        assert_eq!(end.run_secs, 3_600);
    }
}

#[test]
fn a_pass_since_the_planned_start_of_a_trial_leaves_no_run_seconds() {
    // Planned 3 s ago; 2 s ago backfill let others have the locks, and a pass ran.
    let trial = Run {
        end_time_exp: Some(START + 3),
        ..completing(running(), START)
    };
    let period = Period::between_passes(Some(START + 1), START + 3);
    let end = |compat| charge(&never(compat), &trial, &period, true).unwrap();
    assert_eq!(end(Compat::Documented).run_secs, 3_600);
    assert_eq!(end(Compat::Documented).decayed, Amounts::default());
    assert_eq!(end(SLURM).run_secs, 3_599);
    // A job that was suspended in its first second has lost the seconds that passes took.
    let cancelled = completing(running(), START);
    let end = charge(&never(Compat::Documented), &cancelled, &period, true).unwrap();
    assert_eq!(end.run_secs, 3_599);
}

#[test]
fn a_resize_is_charged_once_and_leaves_no_run_seconds() {
    // Resized at 700 s, between the passes at 600 s and 900 s; ends at 1000 s.
    let resizing = Run {
        state: RunState {
            resizing: true,
            ..RunState::default()
        },
        end_time: 0,
        ..running()
    };
    let resized = Run {
        charged_until: Some(START + 700),
        run_secs_renewed: true,
        ..running()
    };
    let life = |compat| {
        let decay = never(compat);
        let old = charge(
            &decay,
            &resizing,
            &Period::between_passes(Some(START + 600), START + 700),
            true,
        );
        let next = charge(&decay, &resized, &pass(START + 600, START + 900), false);
        let end = charge(
            &decay,
            &completing(running(), START + 1_000),
            &Period::between_passes(Some(START + 900), START + 1_000),
            true,
        );
        let charges = [old.unwrap(), next.unwrap(), end.unwrap()];
        (
            charges.map(|charge| charge.decayed.wall_secs),
            charges.map(|charge| charge.run_secs),
        )
    };
    let (wall, run_secs) = life(Compat::Documented);
    assert_eq!(wall, [100.0, 200.0, 100.0]);
    // 3,000 s of the old size were left; of the new size's 3,600 s all are taken back.
    assert_eq!(run_secs, [3_000, 900, 2_700]);
    let (wall, run_secs) = life(SLURM);
    assert_eq!(wall, [100.0, 300.0, 100.0]);
    assert_eq!(run_secs, [3_000, 300, 2_700]);
}

#[test]
fn suspended_jobs_accrue() {
    let suspended = RunState {
        phase: Phase::Suspended,
        ..RunState::default()
    };
    for compat in [Compat::Documented, SLURM] {
        assert!(accrues(compat, false, suspended, START));
        let run = Run {
            state: suspended,
            ..running()
        };
        let tick = charge(&never(compat), &run, &pass(START, START + 60), false).unwrap();
        assert_eq!(tick.decayed.usage, 240.0);
    }
}

#[test]
fn who_accrues() {
    let state = RunState::default();
    for compat in [Compat::Documented, SLURM] {
        assert!(accrues(compat, false, state, START));
        assert!(!accrues(compat, false, state, 0));
        for off in [
            RunState {
                completing: true,
                ..state
            },
            RunState {
                powering_up: true,
                ..state
            },
            RunState {
                phase: Phase::Finished,
                ..state
            },
        ] {
            assert!(!accrues(compat, true, off, START));
        }
    }
    let pending = RunState {
        phase: Phase::Pending,
        ..state
    };
    assert!(!accrues(SLURM, false, pending, START));
    assert!(accrues(SLURM, true, pending, START));
    assert!(!accrues(Compat::Documented, true, pending, START));
}

#[test]
fn unlimited_and_unset_limits_count_as_slurmctld_counts_them() {
    for (limit, minutes) in [
        (TimeLimit::Unlimited, 4_294_967_295_u64),
        (TimeLimit::Unset, 4_294_967_294),
    ] {
        for compat in [Compat::Documented, SLURM] {
            let run = Run {
                time_limit: limit,
                ..completing(running(), START + 100)
            };
            let period = Period::between_passes(Some(START + 100), START + 100);
            let end = charge(&never(compat), &run, &period, true).unwrap();
            assert_eq!(end.run_secs, minutes * 60 - 100);
        }
    }
}

#[test]
fn an_unset_usage_factor_is_one_and_zero_is_zero() {
    for compat in [Compat::Documented, SLURM] {
        let with = |usage_factor| {
            let run = Run {
                usage_factor,
                ..running()
            };
            charge(&never(compat), &run, &pass(START, START + 60), false).unwrap()
        };
        assert_eq!(with(-1.0), with(1.0));
        assert_eq!(with(f64::NAN), with(1.0));
        assert_eq!(with(0.0), Charge::default());
        assert_eq!(with(2.0).run_secs, 120);
    }
}

#[test]
fn negative_billing_is_free_or_as_in_slurm() {
    let run = Run {
        billable_tres: -2.0,
        ..running()
    };
    for (compat, usage) in [(Compat::Documented, 0.0), (SLURM, -120.0)] {
        let tick = charge(&never(compat), &run, &pass(START, START + 60), false).unwrap();
        assert_eq!((tick.decayed.usage, tick.undecayed.usage), (usage, usage));
        assert_eq!(tick.decayed.wall_secs, 60.0);
    }
}

#[test]
fn run_seconds_before_a_restart() {
    let at = |compat, run: &Run, last_ran| {
        consumed_at_start(compat, run, last_ran).map(|used| used.tres_run_secs(7))
    };
    let half = Run {
        usage_factor: 0.5,
        ..running()
    };
    // 101 s at a half, of 7: truncated after the count in Slurm, before it as added documented.
    assert_eq!(at(SLURM, &half, Some(START + 101)), Some(353));
    assert_eq!(at(Compat::Documented, &half, Some(START + 101)), Some(350));

    let suspended = Run {
        state: RunState {
            phase: Phase::Suspended,
            ..RunState::default()
        },
        ..running()
    };
    assert_eq!(at(SLURM, &suspended, Some(START + 100)), None);
    assert_eq!(
        at(Compat::Documented, &suspended, Some(START + 100)),
        Some(700)
    );

    // A job over its limit: Slurm takes more than was added.
    assert_eq!(at(SLURM, &running(), Some(START + 4_000)), Some(28_000));
    assert_eq!(
        at(Compat::Documented, &running(), Some(START + 4_000)),
        Some(25_200)
    );

    for compat in [Compat::Documented, SLURM] {
        assert_eq!(at(compat, &running(), None), None);
        assert_eq!(at(compat, &running(), Some(START - 1)), None);
        let charged = Run {
            end_time_exp: None,
            ..running()
        };
        assert_eq!(at(compat, &charged, Some(START + 100)), None);
        let ended = completing(running(), START + 50);
        assert_eq!(at(compat, &ended, Some(START + 100)), None);
    }
}

/// A whole life: passes at `passes` (seconds after the start), then the end.
fn life(decay: &Decay, run: &Run, passes: &[i64], end: i64) -> (f64, f64, u64) {
    let (mut usage, mut wall, mut run_secs) = (0.0, 0.0, 0);
    let mut last = START;
    for &now in passes {
        let now = START + now;
        let charge = charge(decay, run, &pass(last, now), false).unwrap();
        usage = usage * decay.factor(now - last) + charge.decayed.usage;
        wall += charge.undecayed.wall_secs;
        run_secs += charge.run_secs;
        last = last.max(now);
    }
    let period = Period::between_passes(Some(last), START + end);
    let ended = completing(*run, START + end);
    let charge = charge(decay, &ended, &period, true).unwrap();
    // A last pass at the end, so that usage is worth its number then.
    usage = (usage + charge.decayed.usage) * decay.factor(START + end - last);
    (
        usage,
        wall + charge.undecayed.wall_secs,
        run_secs + charge.run_secs,
    )
}

proptest! {
    #[test]
    fn passes_change_nothing(
        mut passes in prop::collection::vec(0i64..8_000, 0..12),
        after in 0i64..300,
        usage_factor in prop_oneof![Just(1.0), Just(0.0), 0.01f64..3.0],
        half_life in prop_oneof![Just(0u32), 300u32..10_000_000],
    ) {
        passes.sort_unstable();
        let end = passes.last().copied().unwrap_or(0) + after;
        let run = Run { usage_factor, ..running() };
        let decay = Decay::new(half_life, Compat::Documented);
        let (usage, wall, run_secs) = life(&decay, &run, &passes, end);

        let exact = decay.weight(START, START + end, START + end) * 4.0 * usage_factor;
        prop_assert!((usage - exact).abs() <= 1e-11 * exact, "{usage} {exact}");
        prop_assert!((wall - end as f64 * usage_factor).abs() <= 1e-9);
        // slurmctld added this many when the job began.
        prop_assert_eq!(run_secs, (3_600.0 * usage_factor) as u64);
    }

    #[test]
    fn a_restart_in_between_leaves_no_run_seconds(
        restart in 0i64..8_000,
        after in 0i64..8_000,
        usage_factor in 0.01f64..3.0,
    ) {
        let run = Run { usage_factor, ..running() };
        let decay = never(Compat::Documented);
        let added = (3_600.0 * usage_factor) as u64;
        let used = consumed_at_start(Compat::Documented, &run, Some(START + restart))
            .map_or(0, |used| used.tres_run_secs(1));
        let period = Period::between_passes(Some(START + restart), START + restart + after);
        let ended = completing(run, START + restart + after);
        let rest = charge(&decay, &ended, &period, true).unwrap().run_secs;
        prop_assert_eq!(used + rest, added);
    }
}

#[test]
fn slurm_leaves_run_seconds_behind_with_fractional_factors() {
    let run = Run {
        usage_factor: 0.7,
        ..running()
    };
    let passes: Vec<i64> = (1..60).map(|minute| minute * 61).collect();
    let (_, _, documented) = life(&never(Compat::Documented), &run, &passes, 3_599);
    let (_, _, slurm) = life(&never(SLURM), &run, &passes, 3_599);
    assert_eq!(documented, 2_520);
    // 61 s * 0.7 = 42.7: up to 0.7 s is lost in each of 59 passes.
    assert_eq!(slurm, 59 * 42);
}

/// A job over its time limit gets another size: the old one is charged up to now.
#[test]
fn a_size_ends_when_the_job_is_resized() {
    let run = Run {
        state: RunState {
            resizing: true,
            ..RunState::default()
        },
        end_time: START + 300,
        ..running()
    };
    let period = Period::between_passes(Some(START + 200), START + 700);
    for (compat, secs) in [(Compat::Documented, 500.0), (SLURM, 100.0)] {
        let size = charge(&never(compat), &run, &period, true).unwrap();
        assert_eq!(size.decayed.usage, 4.0 * secs);
    }
}

#[test]
fn a_run_that_began_after_the_clock_stepped_back_is_charged_before_the_last_pass() {
    let last_ran = START + 10_000;
    let run = Run {
        passed: Some(START + 300),
        end_time: START + 700,
        ..running()
    };
    let decay = never(Compat::Documented);
    let tick = charge(&decay, &run, &pass(last_ran, START + 600), false).unwrap();
    assert_eq!((tick.decayed.usage, tick.run_secs), (4.0 * 300.0, 300));
    // Its end, charged before a pass has seen it: all of it, and the whole limit's run-seconds.
    let unseen = Run {
        passed: Some(START),
        ..completing(run, START + 700)
    };
    let period = Period::between_passes(Some(last_ran), START + 700);
    let end = charge(&decay, &unseen, &period, true).unwrap();
    assert_eq!((end.decayed.usage, end.run_secs), (4.0 * 700.0, 3_600));
    // After a restart: what passes have charged is taken from the run-seconds.
    let consumed = consumed_at_start(
        Compat::Documented,
        &Run {
            passed: Some(START + 300),
            ..running()
        },
        Some(last_ran),
    );
    assert_eq!(consumed, Some(Consumed::Whole(300)));
}

#[test]
fn usage_behind_the_last_pass_is_worth_its_number_then() {
    let decay = Decay::new(3_600, Compat::Documented);
    let run = Run {
        passed: Some(START),
        ..running()
    };
    // Used in the second before a pass that is one half-life behind the last one.
    let period = pass(START + 1 + 3_600, START + 1);
    let charged = charge(&decay, &run, &period, false).unwrap().decayed.usage;
    assert!((charged - 2.0).abs() < 1e-3, "{charged}");
}
