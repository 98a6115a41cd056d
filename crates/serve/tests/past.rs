//! What pages show of the jobs of the last days. Expected values are computed by hand.

mod site;

use std::fmt::Write as _;
use std::fs;

use axum::http::StatusCode;
use fairtree_analysis::past::DayOfWaits;
use fairtree_serve::picture::Picture;
use fairtree_serve::store::{Day, Group, Store};
use serde_json::{Value, json};
use site::{Site, copy, numbers};

/// 2026-11-19T00:00:00Z and the day after; the capture is of 2026-11-21T10:40:18Z.
const DAYS: [i64; 2] = [1_795_046_400, 1_795_132_800];

/// Account, user, when it is eligible, its wait in seconds.
const JOBS: [(&str, &str, &str, i64); 7] = [
    ("physics", "ft2-bob", "2026-11-19T10:00:00", 100),
    ("physics", "ft2-bob", "2026-11-19T11:00:00", 300),
    ("physics", "ft2-alice", "2026-11-19T12:00:00", 500),
    ("genomics", "ft2-frank", "2026-11-19T12:00:00", 1000),
    ("genomics", "ft2-alice", "2026-11-20T12:00:00", 50),
    // Of this day only a part is known, and of this account nothing.
    ("physics", "ft2-bob", "2026-10-22T12:00:00", 7),
    ("gone", "ft2-gone", "2026-11-20T12:00:00", 150),
];

fn history() -> String {
    let mut text =
        "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|\
                    TimelimitRaw|ReqCPUS|ReqTRES|AllocCPUS|AllocTRES|NodeList\n"
            .to_owned();
    for (at, (account, user, eligible, wait)) in JOBS.into_iter().enumerate() {
        let id = 1000 + at;
        let begin: jiff::Timestamp = format!("{eligible}Z").parse().expect("a moment");
        let moment = |secs: i64| {
            let moment = jiff::Timestamp::from_second(begin.as_second() + secs);
            let text = moment.expect("a moment").to_string();
            text.trim_end_matches('Z').to_owned()
        };
        let [submit, start, end] = [-1000, wait, wait + 3600].map(moment);
        let tres = "billing=4,cpu=4,node=1";
        writeln!(
            text,
            "{id}|{id}|{user}|{account}|main|normal|COMPLETED|{submit}|{eligible}|{start}|{end}|3600|60|4|{tres}|4|\
             {tres}|n0"
        )
        .expect("a text");
    }
    text
}

/// The recorded capture with a past.
fn capture(private: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let change = format!("PrivateData = {private}");
    copy(
        folder.path(),
        &[("config.txt", "PrivateData             = none", &change)],
    );
    let file = folder.path().join("manifest.json");
    let text = fs::read_to_string(&file).expect("text");
    let mut manifest: Value = serde_json::from_str(&text).expect("JSON");
    let answers = manifest["answers"].as_array_mut().expect("a list");
    answers.push(json!({"command": ["sacct"], "file": "history.txt", "secs": 0.1, "error": null}));
    // The service is an operator: Slurm hides nothing from it.
    manifest["user"] = json!("root");
    fs::write(file, manifest.to_string()).expect("written");
    fs::write(folder.path().join("history.txt"), history()).expect("written");
    folder
}

fn site(user: &str, private: &str) -> Site {
    let folder = capture(private);
    let site = Site::of(folder.path(), user);
    // It is read when it is asked for.
    site.page("/site");
    site
}

/// Day, jobs, median and p95 of each row.
type Rows = Vec<(i64, f64, f64, f64)>;

fn near(found: &Rows, expected: &[(i64, f64, f64, f64)], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((found.0, found.1), (expected.0, expected.1), "{what}");
        assert!((found.2 - expected.2).abs() < 1e-9, "{what}: {found:?}");
        assert!((found.3 - expected.3).abs() < 1e-9, "{what}: {found:?}");
    }
}

/// The rows of a page in its three forms, which are the same.
fn waits(site: &Site, path: &str) -> Rows {
    let document = site.json(&format!("/api/v1{path}"));
    let number = |value: &Value| value.as_f64().expect("a number");
    let rows = document["waits"].as_array().expect("a list").iter();
    let rows = rows.map(|row| {
        (
            row["day"].as_i64().expect("a day"),
            number(&row["started_jobs"]),
            number(&row["median_wait_seconds"]),
            number(&row["p95_wait_seconds"]),
        )
    });
    let rows: Rows = rows.collect();
    let page = site.page(path);
    let values = |name: &str| numbers(&page, name);
    let days: Vec<f64> = rows.iter().map(|row| row.0 as f64).collect();
    assert_eq!(values("day"), days);
    let of = |which: fn(&(i64, f64, f64, f64)) -> f64| rows.iter().map(which).collect::<Vec<_>>();
    assert_eq!(values("started_jobs"), of(|row| row.1));
    assert_eq!(values("median_wait_seconds"), of(|row| row.2));
    assert_eq!(values("p95_wait_seconds"), of(|row| row.3));
    let sheet = site.get(&format!("{path}.csv")).text;
    let mut lines = sheet
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a header");
    let column = |name: &str| head.iter().position(|one| *one == name).expect("a column");
    let places = [
        "day",
        "started_jobs",
        "median_wait_seconds",
        "p95_wait_seconds",
    ]
    .map(column);
    let lines = lines.filter(|cells| !cells[places[1]].is_empty());
    let cells = lines.map(|cells| {
        assert_eq!(cells.len(), head.len());
        places.map(|at| cells[at].parse::<f64>().expect("a number"))
    });
    let expected = rows.iter().map(|row| [row.0 as f64, row.1, row.2, row.3]);
    assert_eq!(cells.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    rows
}

// By hand: p95 of 100 and 300 is 100 + 0.95 * 200; of 100, 300 and 500 it is at rank 1.9, of 100, 300, 500 and 1000 at
// rank 2.85.
#[test]
fn waits_are_shown_by_day() {
    let bob = site("ft2-bob", "none");
    near(&waits(&bob, "/me"), &[(DAYS[0], 2.0, 200.0, 290.0)], "me");
    let physics = [(DAYS[0], 3.0, 300.0, 480.0)];
    near(&waits(&bob, "/account/physics"), &physics, "physics");
    let medicine = [(DAYS[0], 1.0, 1000.0, 1000.0), (DAYS[1], 1.0, 50.0, 50.0)];
    near(&waits(&bob, "/account/medicine"), &medicine, "medicine");
    let all = [(DAYS[0], 4.0, 400.0, 925.0), (DAYS[1], 2.0, 100.0, 145.0)];
    near(&waits(&bob, "/site"), &all, "site");
    let page = bob.page("/site");
    assert_eq!(numbers(&page, "past_taken"), [1_795_257_618.0]);
}

// squeue shows others' jobs to operators and coordinators alone.
#[test]
fn waits_of_others_are_private() {
    let mine = [(DAYS[0], 2.0, 200.0, 290.0)];
    let bob = site("ft2-bob", "jobs");
    for path in ["/me", "/account/physics", "/account/root", "/site"] {
        near(&waits(&bob, path), &mine, path);
    }
    near(&waits(&bob, "/account/medicine"), &[], "medicine");
    let frank = site("ft2-frank", "jobs");
    let medicine = [(DAYS[0], 1.0, 1000.0, 1000.0), (DAYS[1], 1.0, 50.0, 50.0)];
    near(&waits(&frank, "/site"), &medicine, "frank");
    near(&waits(&frank, "/account/physics"), &[], "frank");
    let dave = site("ft2-dave", "jobs,usage,users,accounts");
    let all = [(DAYS[0], 4.0, 400.0, 925.0), (DAYS[1], 2.0, 100.0, 145.0)];
    near(&waits(&dave, "/site"), &all, "an operator");
    let hidden = site("ft2-bob", "usage").get("/account/physics");
    assert_eq!(hidden.status, StatusCode::NOT_FOUND);
}

/// Days on which anything is owed, and core-hours; a page has all days in its three forms.
fn owed(site: &Site, path: &str) -> Vec<(i64, f64)> {
    let document = site.json(&format!("/api/v1{path}"));
    let rows = document["owed"].as_array().expect("a list").iter();
    let rows: Vec<(i64, f64)> = rows
        .map(|row| {
            let hours = row["owed_core_hours"].as_f64().expect("a number");
            (row["day"].as_i64().expect("a day"), hours)
        })
        .collect();
    // From 2026-10-23, the first whole day, to the day of the capture.
    assert!([0, 30].contains(&rows.len()), "{path}");
    let hours: Vec<f64> = rows.iter().map(|row| row.1).collect();
    assert_eq!(numbers(&site.page(path), "owed_core_hours"), hours);
    let sheet = site.get(&format!("{path}.csv")).text;
    let last = sheet.lines().map(|line| line.rsplit(',').next());
    let found = last.filter_map(|cell| cell?.parse::<f64>().ok());
    assert_eq!(found.collect::<Vec<_>>(), hours, "{path}");
    rows.into_iter().filter(|row| row.1 != 0.0).collect()
}

fn near_owed(found: &[(i64, f64)], expected: &[(i64, f64)], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.0, expected.0, "{what}");
        assert!((found.1 - expected.1).abs() < 1e-9, "{what}: {found:?}");
    }
}

// By hand. Of 16 CPUs physics is entitled to 60/101 * 2/3, genomics to 40/101 * 1/4. Jobs of 4 CPUs wait while nothing of
// physics runs for 100, 200 and 200 s, and beside a job that runs for 100 and 300 s. Two users divide what physics has:
// bob's jobs wait for 300 s while none of his runs.
#[test]
fn owed_core_hours_are_shown_by_day() {
    let (physics, genomics) = (16.0 * 40.0 / 101.0, 16.0 * 10.0 / 101.0);
    let of_physics = (4.0 * 500.0 + (physics - 4.0) * 400.0) / 3600.0;
    let of_genomics = [genomics * 1000.0 / 3600.0, genomics * 50.0 / 3600.0];
    let mine = [(DAYS[0], physics / 2.0 * 300.0 / 3600.0)];
    let bob = site("ft2-bob", "none");
    near_owed(&owed(&bob, "/me"), &mine, "me");
    near_owed(
        &owed(&bob, "/account/physics"),
        &[(DAYS[0], of_physics)],
        "physics",
    );
    let medicine = [(DAYS[0], of_genomics[0]), (DAYS[1], of_genomics[1])];
    near_owed(&owed(&bob, "/account/medicine"), &medicine, "medicine");
    let all = [
        (DAYS[0], of_physics + of_genomics[0]),
        (DAYS[1], of_genomics[1]),
    ];
    near_owed(&owed(&bob, "/site"), &all, "site");
    // sshare shows others' use to operators and coordinators alone.
    let bob = site("ft2-bob", "usage");
    near_owed(&owed(&bob, "/me"), &mine, "me");
    near_owed(&owed(&bob, "/site"), &[], "site");
    near_owed(
        &owed(&site("ft2-frank", "usage"), "/site"),
        &medicine,
        "frank",
    );
    near_owed(
        &owed(&site("ft2-dave", "usage"), "/site"),
        &all,
        "an operator",
    );
    // What is owed tells whose jobs waited.
    let bob = site("ft2-bob", "jobs");
    near_owed(&owed(&bob, "/me"), &mine, "me");
    near_owed(&owed(&bob, "/account/physics"), &[], "physics");
    near_owed(&owed(&bob, "/site"), &[], "site");
    near_owed(
        &owed(&site("ft2-dave", "jobs"), "/site"),
        &all,
        "an operator",
    );
}

/// A later capture without past jobs, and a database that kept the days of the capture with them.
fn later(user: &str, private: &str) -> Site {
    let folder = capture(private);
    let picture = Picture::read(folder.path()).expect("a capture");
    let store = Store::in_memory().expect("a database");
    let past = picture.past().as_ref().expect("past jobs");
    for _ in 0..2 {
        past.keep(&store, &picture).expect("kept");
    }
    // A day long ago.
    let waits = DayOfWaits {
        day: LONG_AGO,
        started_jobs: 7,
        median_wait_seconds: 60.0,
        p95_wait_seconds: 90.0,
    };
    let day = Day {
        day: LONG_AGO,
        waits: Some(waits),
        owed: None,
    };
    let science = Group::Account("science".to_owned());
    let kept = store.keep_days([(&science, day)].into_iter());
    kept.expect("kept");
    let folder = folder.path().join("20261121T104018Z");
    fs::create_dir(&folder).expect("it can be made");
    let private = format!("PrivateData = {private}");
    copy(
        &folder,
        &[("config.txt", "PrivateData             = none", &private)],
    );
    let site = Site::with(&folder, user, store);
    // It is read when it is asked for.
    site.page("/me");
    site
}

/// 1000 days before the first one of the jobs.
const LONG_AGO: i64 = DAYS[0] - 1000 * 86_400;

/// Days with core-hours owed that are kept.
fn kept_owed(site: &Site, path: &str) -> Vec<(i64, f64)> {
    let document = site.json(&format!("/api/v1{path}"));
    let rows = document["owed"].as_array().expect("a list").iter();
    let rows = rows.map(|row| {
        let hours = row["owed_core_hours"].as_f64().expect("a number");
        (row["day"].as_i64().expect("a day"), hours)
    });
    rows.filter(|row| row.1 != 0.0).collect()
}

// The values are those of the two tests above.
#[test]
fn days_outlive_the_past_jobs() {
    let bob = later("ft2-bob", "none");
    near(&waits(&bob, "/me"), &[(DAYS[0], 2.0, 200.0, 290.0)], "me");
    let physics = [(DAYS[0], 3.0, 300.0, 480.0)];
    near(&waits(&bob, "/account/physics"), &physics, "physics");
    let medicine = [(DAYS[0], 1.0, 1000.0, 1000.0), (DAYS[1], 1.0, 50.0, 50.0)];
    near(&waits(&bob, "/account/medicine"), &medicine, "medicine");
    let science = [(LONG_AGO, 7.0, 60.0, 90.0), physics[0]];
    near(&waits(&bob, "/account/science"), &science, "science");
    let all = [(DAYS[0], 4.0, 400.0, 925.0), (DAYS[1], 2.0, 100.0, 145.0)];
    near(&waits(&bob, "/site"), &all, "site");
    let page = bob.page("/site");
    assert_eq!(numbers(&page, "past_taken"), [0.0; 0]);
    assert_eq!(numbers(&page, "kept_until"), [(DAYS[1] + 86_400) as f64]);
    let (physics, genomics) = (16.0 * 40.0 / 101.0, 16.0 * 10.0 / 101.0);
    let of_physics = (4.0 * 500.0 + (physics - 4.0) * 400.0) / 3600.0;
    let of_genomics = [genomics * 1000.0 / 3600.0, genomics * 50.0 / 3600.0];
    let mine = [(DAYS[0], physics / 2.0 * 300.0 / 3600.0)];
    near_owed(&kept_owed(&bob, "/me"), &mine, "me");
    let medicine = [(DAYS[0], of_genomics[0]), (DAYS[1], of_genomics[1])];
    near_owed(&kept_owed(&bob, "/account/medicine"), &medicine, "medicine");
    let all = [
        (DAYS[0], of_physics + of_genomics[0]),
        (DAYS[1], of_genomics[1]),
    ];
    near_owed(&kept_owed(&bob, "/site"), &all, "site");
}

#[test]
fn kept_days_of_others_are_private() {
    let all = [(DAYS[0], 4.0, 400.0, 925.0), (DAYS[1], 2.0, 100.0, 145.0)];
    let bob = later("ft2-bob", "jobs,usage");
    near(&waits(&bob, "/me"), &[(DAYS[0], 2.0, 200.0, 290.0)], "me");
    near(&waits(&bob, "/site"), &[], "site");
    assert_eq!(kept_owed(&bob, "/site"), []);
    let bob = later("ft2-bob", "jobs");
    near(&waits(&bob, "/account/physics"), &[], "physics");
    // What is owed tells whose jobs waited.
    assert_eq!(kept_owed(&bob, "/site"), []);
    let bob = later("ft2-bob", "usage");
    near(&waits(&bob, "/site"), &all, "site");
    assert_eq!(kept_owed(&bob, "/site"), []);
    let frank = later("ft2-frank", "jobs");
    let medicine = [(DAYS[0], 1.0, 1000.0, 1000.0), (DAYS[1], 1.0, 50.0, 50.0)];
    near(&waits(&frank, "/account/medicine"), &medicine, "frank");
    let dave = later("ft2-dave", "jobs,usage,users,accounts");
    near(&waits(&dave, "/site"), &all, "an operator");
    assert_eq!(kept_owed(&dave, "/site").len(), 2);
}

#[test]
fn without_a_past_there_are_no_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("20261121T104018Z");
    fs::create_dir(&folder).expect("it can be made");
    copy(&folder, &[]);
    let site = Site::of(&folder, "ft2-bob");
    let me = site.json("/api/v1/me");
    assert_eq!(
        (&me["past_taken"], &me["waits"]),
        (&Value::Null, &json!([]))
    );
    assert!(!site.page("/site").contains("Waits over time"));
}
