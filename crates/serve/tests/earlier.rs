//! Courses of the days before the first picture. Expected values are computed by hand.

mod site;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fairtree_model::cluster::AssocName;
use fairtree_serve::earlier;
use fairtree_serve::picture::Picture;
use fairtree_serve::store::{Over, Store};
use serde_json::{Value, json};
use site::{Site, copy, numbers};

/// The begin of 2026-11-19 (UTC), and the moment of the capture.
const DAY: i64 = 1_795_046_400;
const TAKEN: i64 = 1_795_257_618;
const HOUR: i64 = 3600;

/// Account, user, start and end in hours of 2026-11-19; each has a billing of 4.
const JOBS: [(&str, &str, i64, i64); 3] = [
    ("physics", "ft2-bob", 10, 11),
    ("physics", "ft2-alice", 12, 13),
    ("genomics", "ft2-frank", 36, 38),
];

/// The recorded capture, in which nothing decays, with these jobs. `asked`: who asked Slurm; `private`: of whom it hides
/// jobs and use.
fn capture(asked: &str, private: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let decay = "PriorityDecayHalfLife   = ";
    copy(
        folder.path(),
        &[
            (
                "config.txt",
                &format!("{decay}01:00:00"),
                &format!("{decay}00:00:00"),
            ),
            (
                "config.txt",
                "PrivateData             = none",
                &format!("PrivateData             = {private}"),
            ),
        ],
    );
    let file = folder.path().join("manifest.json");
    let text = fs::read_to_string(&file).expect("text");
    let mut manifest: Value = serde_json::from_str(&text).expect("JSON");
    let answers = manifest["answers"].as_array_mut().expect("a list");
    answers.push(json!({"command": ["sacct"], "file": "history.txt", "secs": 0.1, "error": null}));
    manifest["user"] = json!(asked);
    fs::write(file, manifest.to_string()).expect("written");
    let mut text =
        "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|\
                    TimelimitRaw|ReqCPUS|ReqTRES|AllocCPUS|AllocTRES|NodeList\n"
            .to_owned();
    for (id, (account, user, start, end)) in JOBS.into_iter().enumerate() {
        let moment = |hours: i64| {
            let moment = jiff::Timestamp::from_second(DAY + hours * HOUR).expect("a moment");
            moment.to_string().trim_end_matches('Z').to_owned()
        };
        let secs = (end - start) * HOUR;
        let [start, end] = [start, end].map(moment);
        let tres = "billing=4,cpu=4,node=1";
        writeln!(
            text,
            "{id}|{id}|{user}|{account}|main|normal|COMPLETED|{start}|{start}|{start}|{end}|{secs}|600|4|{tres}|4|{tres}|n0"
        )
        .expect("a text");
    }
    fs::write(folder.path().join("history.txt"), text).expect("written");
    folder
}

fn picture(folder: &Path) -> Picture {
    Picture::read(folder).expect("a capture")
}

fn course(store: &Store, account: &str, user: Option<&str>) -> Option<Over> {
    let name = AssocName {
        account: account.to_owned(),
        user: user.map(str::to_owned),
        partition: None,
    };
    store.course(&name).expect("a course")
}

/// Share, use and factor at a moment.
fn at(over: &Over, time: i64) -> [Option<f64>; 3] {
    let place = over.times.iter().position(|one| *one == time);
    let place = place.unwrap_or_else(|| panic!("{time}: {:?}", over.times));
    let course = &over.course;
    [
        &course.norm_shares,
        &course.effective_usage,
        &course.fs_factor,
    ]
    .map(|series| series.iter().nth(place).expect("a number"))
}

fn near(found: [Option<f64>; 3], expected: [Option<f64>; 3]) {
    for (found, expected) in found.into_iter().zip(expected) {
        let (found_value, expected_value) = (found.unwrap_or(-1.0), expected.unwrap_or(-1.0));
        assert!(
            (found_value - expected_value).abs() < 1e-12,
            "{found:?}, expected {expected:?}"
        );
    }
}

// 28 hours in at most 256 steps of a minute, doubled: 480 s, the first one until 10:08. bob has 2 of 3 shares of physics,
// and half of what it used. science has 60 of 101 shares; it alone used something until frank's job, and 28,800 of
// 42,240 and of 57,600 TRES-seconds after 56 minutes of that and at its end. Then carol and dave, who share the place of the
// best of them, are second of eight after root; bob is before alice (more shares), both before medicine, whose erin and
// alice used nothing: bob is the fourth, with 5/8, and frank the last.
#[test]
fn the_days_before_are_computed_from_jobs() {
    let folder = capture("root", "none");
    let picture = picture(folder.path());
    let store = Store::in_memory().expect("a database");
    earlier::keep(&store, &picture).expect("kept");
    let physics = course(&store, "physics", None).expect("a course");
    // Every other one is drawn, the last one always.
    assert_eq!(physics.times.len(), 28 * 3600 / 480 / 2);
    let end = DAY + 38 * HOUR;
    assert_eq!(physics.times[0], DAY + 10 * HOUR + 960);
    assert_eq!(physics.times.last(), Some(&end));
    assert_eq!(physics.computed_from, Some(DAY + 10 * HOUR + 480));
    assert_eq!(physics.recorded_from, None);
    let share = Some(60.0 / 101.0);
    let science = course(&store, "science", None).expect("a course");
    for (time, used) in [
        (DAY + 12 * HOUR + 480, 1.0),
        (DAY + 36 * HOUR + 3360, 28_800.0 / 42_240.0),
        (end, 0.5),
    ] {
        near(at(&science, time), [share, Some(used), None]);
    }
    // Of users, the last moment of each day: 2026-11-19T23:52 and the end.
    let bob = course(&store, "physics", Some("ft2-bob")).expect("a course");
    assert_eq!(bob.times, [DAY + 24 * HOUR - 480, end]);
    near(at(&bob, end), [Some(2.0 / 3.0), Some(0.5), Some(5.0 / 8.0)]);
    assert_eq!(course(&store, "genomics", Some("ft2-alice")), None);
}

/// Once, and only before the first picture.
#[test]
fn what_was_recorded_stays() {
    let folder = capture("root", "none");
    let store = Store::in_memory().expect("a database");
    let mut first = picture(folder.path());
    // The service was there, without an answer of sacct, from 2026-11-19T12:30 on.
    let begin = DAY + 12 * HOUR + 1800;
    first.manifest.time = u64::try_from(begin).expect("a moment");
    store.keep_course(&first, 35).expect("kept");
    for _ in 0..2 {
        let picture = picture(folder.path());
        earlier::keep(&store, &picture).expect("kept");
        store.keep_course(&picture, 35).expect("kept");
    }
    let physics = course(&store, "physics", None).expect("a course");
    // Computed are 10:08 to 12:24.
    assert_eq!(physics.times.len(), 18 + 2);
    assert_eq!(physics.times[17..], [DAY + 12 * HOUR + 1440, begin, TAKEN]);
    assert_eq!(physics.computed_from, Some(DAY + 10 * HOUR + 480));
    assert_eq!(physics.recorded_from, Some(begin));
}

/// What Slurm hides from the service is not taken for all.
#[test]
fn hidden_jobs_are_no_past() {
    let folder = capture("ft2-bob", "jobs");
    let store = Store::in_memory().expect("a database");
    earlier::keep(&store, &picture(folder.path())).expect("kept");
    assert_eq!(course(&store, "physics", None), None);
}

#[test]
fn pages_say_which_part_is_which() {
    let folder = capture("root", "none");
    let site = Site::first_start(folder.path(), "ft2-bob");
    for (path, first) in [
        ("/me", DAY + 24 * HOUR - 480),
        ("/account/science", DAY + 10 * HOUR + 480),
        ("/site", DAY + 10 * HOUR + 480),
    ] {
        let page = site.page(path);
        assert_eq!(numbers(&page, "recorded_from"), [TAKEN as f64], "{path}");
        assert_eq!(numbers(&page, "computed_from"), [first as f64], "{path}");
    }
    let site = Site::over_time(folder.path(), "ft2-bob", 2);
    let page = site.page("/site");
    assert_eq!(numbers(&page, "recorded_from"), [(TAKEN - HOUR) as f64]);
    assert_eq!(numbers(&page, "computed_from"), [0.0; 0]);
}
