//! Expected values: the integral of 2^(-t/h) by hand and by a sum over every second.

use super::*;
use crate::share::from_site;
use fairtree::config::PriorityParameters;

const DAY: i64 = 86_400;

fn job(user: &'static str, start: i64, end: i64, billing: f64) -> JobUse<'static> {
    JobUse {
        account: Some("a"),
        user: Some(user),
        start,
        end,
        billing,
        by_processors: false,
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// What jobs count at `time`, second by second: each at its middle, which for a second of a
/// half-life of a day is right to 1e-11.
fn by_seconds(jobs: &[JobUse<'_>], half_life: f64, time: i64) -> f64 {
    let second =
        |job: &JobUse<'_>, at: i64| job.billing * (-((time - at) as f64 - 0.5) / half_life).exp2();
    jobs.iter()
        .map(|job| {
            (job.start..job.end.min(time))
                .map(|at| second(job, at))
                .sum::<f64>()
        })
        .sum()
}

#[test]
fn steps_double_without_losing_anything() {
    let jobs = [
        job("x", 30, 4_000, 2.0),
        job("x", 100_000, 100_001, 8.0),
        job("x", 50_000, 300_000, 1.0),
        job("x", 7, 20, 5.0),
    ];
    for order in [[0, 1, 2, 3], [2, 1, 0, 3], [3, 0, 2, 1]] {
        let mut history = OwnerHistory::new(86_400, ResetPeriod::None);
        for at in order {
            history.charge(&jobs[at]);
        }
        let times = history.times();
        assert!(times.len() as i64 <= MAX_STEPS && times.len() as i64 > MAX_STEPS / 4);
        assert!(history.step_secs() > FIRST_STEP_SECS);
        let mut at = 0;
        history.walk(|time, used| {
            assert_eq!(time, times[at]);
            assert!(close(used[0], by_seconds(&jobs, 86_400.0, time)), "{time}");
            at += 1;
        });
    }
}

#[test]
fn without_half_life_seconds_add_up() {
    let mut history = OwnerHistory::new(0, ResetPeriod::None);
    history.charge(&job("x", -100, 900, 3.0));
    history.charge(&job("x", 5 * DAY, 5 * DAY + 10, 1.0));
    history.charge(&job("y", 10, 10, 1.0));
    history.charge(&job("y", 10, 20, 0.0));
    assert_eq!(history.at_end(), [3_010.0]);
    assert_eq!(history.owners().len(), 1);
}

fn under(parameters: &str) -> OwnerHistory {
    let config = Config {
        parameters: PriorityParameters::parse(parameters, None).unwrap(),
        ..Config::default()
    };
    OwnerHistory::of(&config)
}

// By hand: at t so much of 0..1000 counts as is in t - 600..t, three times; steps of a minute.
#[test]
fn a_window_forgets_what_is_older() {
    let mut history = under("usage=window:10");
    history.charge(&job("x", 0, 1000, 3.0));
    history.charge(&job("y", 2400, 2460, 1.0));
    assert_eq!(
        (history.step_secs(), history.window_secs()),
        (60, Some(600))
    );
    history.walk(|time, used| {
        let inside = (time.min(1000) - (time - 600).max(0)).max(0);
        assert_eq!(used[0], 3.0 * inside as f64, "{time}");
    });
    assert_eq!(history.at_end(), [0.0, 60.0]);
    // In a window of 90 s the far edge halves a step: 60 + 30 s.
    let mut history = under("usage=window:0-00:01:30,resolution=1");
    history.charge(&job("x", 0, 600, 2.0));
    assert_eq!(history.at_end(), [180.0]);
}

// By hand: an hour before 1970-01-02 does not count, half an hour after does.
#[test]
fn a_total_counts_from_its_date_on() {
    let mut history = under("usage=total:1970-01-02");
    history.charge(&job("x", DAY - 3600, DAY + 1800, 2.0));
    history.charge(&job("x", 10, 20, 7.0));
    assert_eq!(history.at_end(), [3600.0]);
}

// By hand: an hour around midnight and eight minutes at the end, of account a (no plan), b (a window)
// and c (a date).
#[test]
fn plans_of_accounts_count_beside_the_usual_model() {
    let plan = |account: &str, model: &str| {
        let config = PriorityParameters::parse(&format!("usage={model}"), None).unwrap();
        let config = Config {
            parameters: config,
            ..Config::default()
        };
        (account.to_owned(), config.usage())
    };
    let plans = [plan("B", "window:8"), plan("c", "total:1970-01-02")];
    let mut history = under("usage=total:1970-01-01").with_plans(plans.into_iter());
    for account in ["a", "b", "c"] {
        let of = |job: JobUse<'static>| JobUse {
            account: Some(account),
            ..job
        };
        history.charge(&of(job("x", DAY - 1800, DAY + 1800, 1.0)));
        history.charge(&of(job("x", 2 * DAY - 480, 2 * DAY, 1.0)));
    }
    // The window is as long as a step.
    assert_eq!((history.step_secs(), history.window_secs()), (480, None));
    assert_eq!(history.at_end(), [4080.0, 480.0, 2280.0]);
}

#[test]
fn a_reset_clears_what_was_used_before() {
    // Ten days of one processor, cleared every midnight; then none.
    let mut history = OwnerHistory::new(0, ResetPeriod::Daily);
    history.charge(&job("x", 0, 10 * DAY, 1.0));
    history.walk(|time, used| {
        // At midnight itself everything is cleared.
        let expected = if time <= 10 * DAY {
            time.rem_euclid(DAY)
        } else {
            0
        };
        assert_eq!(used[0], expected as f64, "{time}");
    });
    assert!(history.step_secs() > 3_000);
}

#[test]
fn users_whom_the_site_does_not_know_count_for_their_account() {
    let text = "[accounts.a]\nusers.x = { shares = 1 }\n[accounts.b]\nusers.z = { usage = 5 }\n";
    let site = fairtree_model::input::site::read("site", text.as_bytes()).unwrap();
    let mut history = OwnerHistory::new(0, ResetPeriod::None);
    history.charge(&job("x", 0, 60, 1.0));
    history.charge(&job("stranger", 0, 60, 2.0));
    history.charge(&JobUse {
        account: Some("nowhere"),
        ..job("y", 0, 60, 4.0)
    });
    let placed = on_site(site, &history);
    let report = from_site(
        &placed.site,
        placed.site.config.ranking(),
        Compat::Documented,
    );
    let usage: Vec<(String, u64)> = report
        .rows
        .iter()
        .map(|row| (row.name(), row.raw_usage.unwrap()))
        .collect();
    let expected = [("root", 420), ("a", 180), ("x@a", 60), ("b", 0), ("z@b", 0)];
    assert_eq!(
        usage,
        expected.map(|(name, usage)| (name.to_owned(), usage))
    );
    assert_eq!(placed.notes.len(), 3, "{:?}", placed.notes);
}

#[test]
fn a_timeline_is_what_the_engine_says_at_each_step() {
    let mut history = OwnerHistory::new(0, ResetPeriod::None);
    history.charge(&job("x", 0, 60, 1.0));
    history.charge(&job("y", 60, 120, 3.0));
    history.charge(&JobUse {
        account: None,
        ..job("z", 60, 120, 4.0)
    });
    let config = Config::default();
    let placed = own_site("log", &config, &history).unwrap();
    let timeline = from_history(&history, &placed, config.ranking(), Compat::Documented);
    assert_eq!(timeline.times, [60, 120]);
    let of = |name: &str| {
        let at = timeline
            .latest
            .rows
            .iter()
            .position(|row| row.name() == name)
            .unwrap();
        &timeline.courses[at]
    };
    assert_eq!(of("x@a").effective_usage, [Some(1.0), Some(0.25)]);
    assert_eq!(of("a").effective_usage, [Some(1.0), Some(0.5)]);
    assert_eq!(of("a").norm_shares, [Some(0.5), Some(0.5)]);
    // z has used nothing at first, and as much as account a later; a tie of a user and an account
    // gives the user the rank of the account's best.
    assert_eq!(of("z@root").fs_factor, [Some(1.0), Some(1.0)]);
    assert_eq!(of("y@a").fs_factor, [Some(2.0 / 3.0), Some(1.0 / 3.0)]);
    assert_eq!(of("a").fs_factor, [None, None]);
}
