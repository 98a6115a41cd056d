//! `fairtree simulate`, from outside. Expected: hand calculation from the lines; of the archived log,
//! the waits of the published schedule.

mod command;
#[path = "../../../tests/common/data.rs"]
#[allow(dead_code)] // Other tests read text.
mod data;

use std::collections::HashMap;
use std::fs;
use std::io::Read;

use command::{fairtree, folder};
use serde_json::Value;

/// A line of a log: number, submission, run time, processors, limit, user, group.
fn line(job: [i64; 7]) -> String {
    let [id, submit, run, processors, limit, user, group] = job;
    format!(
        "{id} {submit} -1 {run} {processors} -1 -1 -1 {limit} -1 1 {user} {group} -1 -1 -1 -1 -1\n"
    )
}

/// Two processors: job 1 has one of them until 10, job 2 wants both, job 3 overtakes it.
fn overtaken() -> String {
    let jobs = [
        [1, 0, 10, 1, 100, 7, 1],
        [2, 1, 5, 2, 5, 8, 2],
        [3, 2, 50, 1, 58, 9, 1],
    ];
    jobs.map(line).concat()
}

fn json(args: &[&str], input: &str) -> Value {
    let ran = fairtree(&[&["simulate", "--json"], args].concat(), input.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

/// Column 3 by column 1.
fn waits(swf: &str) -> HashMap<String, String> {
    let lines = swf.lines().filter(|line| !line.starts_with(';'));
    let both = lines.map(|line| {
        let mut words = line.split_whitespace();
        let id = words.next().expect("a number").to_owned();
        (id, words.nth(1).expect("a wait").to_owned())
    });
    both.collect()
}

#[test]
fn a_small_log_by_hand() {
    // Starts at 0, 52 and 2; ends at 10, 57 and 52. Waits of 0, 51 and 0 seconds.
    let report = json(&["--procs", "2"], &overtaken());
    assert_eq!(report["jobs"], 3);
    assert_eq!(report["mean_wait_seconds"], 17.0);
    assert_eq!(report["median_wait_seconds"], 0.0);
    // Between the second and the third, nine tenths of the way.
    let p95 = report["p95_wait_seconds"].as_f64().expect("a number");
    assert!((p95 - 45.9).abs() < 1e-9, "{p95}");
    // 10 + 10 + 50 of 2 x 57 processor-seconds.
    let utilisation = report["utilisation"].as_f64().expect("a number");
    assert!((utilisation - 70.0 / 114.0).abs() < 1e-12, "{utilisation}");
    // Without job 3, job 2 would have started at 10.
    assert_eq!(report["unfairly_delayed"], 1.0 / 3.0);
    assert_eq!(report["mean_unfair_delay_seconds"], 42.0);
    // Account 2 is entitled to one processor, and has none from 1 to 52.
    let owed = report["accounts"][1]["owed_core_hours"].as_f64();
    assert!(
        (owed.expect("a number") - 51.0 / 3600.0).abs() < 1e-12,
        "{owed:?}"
    );
    assert_eq!(report["accounts"][0]["owed_core_hours"], 0.0);
    assert_eq!(report["users"][1]["name"], "u8");
    assert_eq!(report["sizes"][0]["name"], "1");
    assert_eq!(report["complete"], true);
    let report = json(&["--procs", "2", "--scheduler", "fcfs"], &overtaken());
    assert_eq!(report["mean_wait_seconds"], (9.0 + 13.0) / 3.0);
}

/// A schedule that is replayed gives the same schedule.
#[test]
fn a_schedule_is_a_log() {
    let folder = folder("simulate-schedule");
    let path = |name: &str| folder.join(name).display().to_string();
    let (first, second, csv) = (path("first.swf"), path("second.swf"), path("jobs.csv"));
    json(
        &["--procs", "2", "--schedule", &first, "--jobs", &csv],
        &overtaken(),
    );
    json(&["--procs", "2", "--schedule", &second, &first], "");
    let read = |path: &str| fs::read_to_string(path).expect("text");
    assert_eq!(waits(&read(&first)), waits(&read(&second)));
    assert_eq!(waits(&read(&first))["2"], "51");
    let rows = "job,user,account,partition,qos,processors,limit,run,submit,start,wait,end,fair_start\n\
                1,u7,g1,,,1,100,10,0,0,0,10,\n\
                2,u8,g2,,,2,5,5,1,52,51,57,10\n\
                3,u9,g1,,,1,58,50,2,2,0,52,\n";
    assert_eq!(read(&csv), rows);
}

#[test]
fn every_start_of_a_published_schedule_is_equal() {
    let Some(log) = data::data("swf/KTH-SP2-1996-2.1-cln.swf.gz") else {
        return;
    };
    let log = log.display().to_string();
    for name in ["easy", "fcfs", "conservative"] {
        let published = format!("schedules/KTH-SP2-{name}-pyss.swf.gz");
        let published = fs::File::open(data::data(&published).expect("a schedule"));
        let mut text = String::new();
        let opened = fairtree_model::input::stream::open(published.expect("a file"));
        let mut input = opened.expect("a stream").input;
        input.read_to_string(&mut text).expect("text");
        let schedule = folder(&format!("simulate-{name}")).join("schedule.swf");
        let schedule = schedule.display().to_string();
        let args = [
            "--procs",
            "100",
            "--scheduler",
            name,
            "--schedule",
            &schedule,
            "--fair-starts",
            "10",
            &log,
        ];
        let report = json(&args, "");
        assert_eq!(report["jobs"], 28_467);
        assert_eq!(report["left_out"]["no_processors"], 1);
        assert_eq!(report["left_out"]["no_run"], 8);
        let ours = waits(&fs::read_to_string(&schedule).expect("text"));
        assert!(ours == waits(&text), "{name}");
    }
}

#[test]
fn what_is_left_out_is_named_with_its_place() {
    let jobs = [
        [5, 100, 10, 1, 100, 7, 1],
        [6, 90, 10, 3, 100, 7, 1],
        [7, 80, 10, 1, 100, 7, 1],
        [8, 200, 10, -1, 100, 7, 1],
        [9, 200, 0, 1, 100, 7, 1],
        [10, 200, 10, 1, -1, 7, 1],
        [11, -1, 10, 1, 100, 7, 1],
        [12, 200, 30, 1, 20, 7, 1],
    ];
    let log = jobs.map(line).concat() + "13 200 -1 10";
    let ran = fairtree(&["simulate", "--procs", "2", "--json"], log.as_bytes());
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(report["jobs"], 3);
    for (field, count) in [
        ("too_large", 1),
        ("no_processors", 1),
        ("no_run", 1),
        ("no_limit", 1),
        ("no_submission", 1),
        ("unreadable", 1),
        ("cut", 1),
        ("unsorted", 1),
    ] {
        assert_eq!(report["left_out"][field], count, "{field}");
    }
    for note in [
        "1 job with more processors than the machine's 2; the first is job 6 in line 2, with 3",
        "1 job without processors; the first is job 8 in line 4",
        "the first is job 9 in line 5",
        "1 job without a time limit; the first is job 10 in line 6",
        "1 job without a submission; the first is job 11 in line 7",
        "the first is job 12 in line 8, which ran 30 s",
        "the first is job 7 in line 3, submitted at 80",
        "standard input:9: 4 numbers, where a job has 18",
        "standard input ends within a line",
    ] {
        assert!(ran.err.contains(note), "{note}: {}", ran.err);
    }
}

#[test]
fn what_cannot_be_replayed_is_an_error() {
    let none = line([1, 0, 10, 3, 100, 7, 1]);
    for (args, input, words) in [
        (
            &["--procs", "2", "absent.swf"][..],
            "",
            "absent.swf: cannot be read: No such file",
        ),
        (
            &["--procs", "2", "examples/site.toml"],
            "",
            "is no log of jobs",
        ),
        (&["--procs", "2"], &none, "no job that can be replayed"),
        (&["--procs", "2"], "; Version: 2.2\n", "is empty"),
        (&["--procs", "0"], &none, "0 is not in 1..="),
        (&["--scheduler", "magic", "--procs", "2"], &none, "'magic'"),
    ] {
        let ran = fairtree(&[&["simulate"], args].concat(), input.as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
}

#[test]
fn a_listing_of_sacct_is_replayed() {
    let report = json(&["--procs", "64", "examples/day.sacct"], "");
    assert_eq!(report["jobs"], 59);
    assert_eq!(report["left_out"]["never_started"], 1);
    assert_eq!(report["qos"][0]["name"], "high");
    let Some(log) = data::data("slurm/ordinary/sacct.txt") else {
        return;
    };
    let report = json(&["--procs", "120", &log.display().to_string()], "");
    assert_eq!(report["jobs"], 400);
}

/// Bounds of the method on an archived log: less than half of the error by limits is for logs with
/// longer waits (docs/forecast.md); bands must hold.
#[test]
fn forecasts_of_an_archived_log_hold() {
    let Some(log) = data::data("swf/KTH-SP2-1996-2.1-cln.swf.gz") else {
        return;
    };
    let log = log.display().to_string();
    let score = |seed: &str| {
        let args = [
            "forecast",
            "--procs",
            "100",
            "--seed",
            seed,
            "--forecasts",
            "3000",
            "--json",
            "--score",
            &log,
        ];
        let ran = fairtree(&args, b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out
    };
    let out = score("1");
    assert_eq!(out, score("1"));
    let figures: Value = serde_json::from_str(&out).expect("JSON");
    let number = |key: &str| figures[key].as_f64().expect("a number");
    assert_eq!(figures["waiting_jobs"], 3000);
    assert_eq!(figures["seed"], 1);
    let ratio = number("mean_error_seconds") / number("mean_error_of_limits_seconds");
    assert!(ratio < 0.6, "{ratio}");
    let holds = number("band_90_holds");
    assert!((0.88..=0.92).contains(&holds), "{holds}");
}

/// One processor: job 1 runs to 10, so job 2 starts then. By limits it would be 100.
#[test]
fn a_forecast_by_limits_by_hand() {
    let log = [[1, 0, 10, 1, 100, 7, 1], [2, 1, 5, 1, 5, 8, 2]]
        .map(line)
        .concat();
    let ran = fairtree(
        &["forecast", "--procs", "1", "--json", "--score", "-"],
        log.as_bytes(),
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let figures: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        (&figures["jobs"], &figures["waiting_jobs"]),
        (&2.into(), &1.into())
    );
    assert_eq!(figures["mean_wait_seconds"], 9.0);
    assert_eq!(figures["mean_error_of_limits_seconds"], 90.0);
    // Nothing is known of any user: limits it is.
    assert_eq!(figures["mean_error_seconds"], 90.0);
}
