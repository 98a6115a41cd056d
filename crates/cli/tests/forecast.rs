//! Forecasts of captures, from outside. Expected starts are computed by hand: one node of four CPUs, on
//! which jobs follow one another.

mod command;

use std::fs;
use std::path::Path;

use command::one_node::{HISTORY, NOW, STARTED, capture, history, job};
use command::{Ran, fairtree, folder};
use serde_json::{Value, json};

fn waiting() -> String {
    let waits = ("PENDING", "Priority", 5);
    job(2, "ft2-bob", waits) + &job(3, "ft2-bob", waits)
}

fn forecast(args: &[&str]) -> Ran {
    fairtree(&[&["forecast"], args].concat(), b"")
}

fn json_of(args: &[&str]) -> Value {
    let ran = forecast(&[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

// Without a past, jobs take their hour; with it 59 minutes: 2 starts when 1 ends, 3 when 2 ends.
#[test]
fn a_start_is_when_the_jobs_before_end() {
    let from = capture("forecast-limits", &waiting(), Some(HISTORY));
    let with = capture("forecast-exact", &waiting(), Some(&history(12, 59)));
    for (from, run_times, run) in [(&from, "too_short", 3600), (&with, "history", 59 * 60)] {
        let found = json_of(&["-u", "ft2-bob", "--from", from]);
        assert_eq!(found["schema"], "fairtree.start/1");
        assert_eq!(found["run_times"], run_times);
        assert_eq!(found["now"], NOW);
        let jobs = found["jobs"].as_array().expect("jobs");
        let starts: Vec<i64> = jobs
            .iter()
            .map(|job| job["start"].as_i64().expect("a start"))
            .collect();
        assert_eq!(starts, [STARTED + run, STARTED + 2 * run]);
        assert_eq!(jobs[0]["place"], 1);
        assert_eq!(jobs[1]["by_limits"], STARTED + 7200);
    }
    let found = json_of(&["3", "--from", &with]);
    let job = &found["jobs"][0];
    assert_eq!(
        job["drawn_from"], job["drawn_to"],
        "nothing is drawn by chance"
    );
    assert_eq!(job["drawn_from"], STARTED + 2 * 59 * 60);
    assert_eq!(job["ahead"], json!([{"account": "physics", "jobs": 1}]));
    // As wide as wait and width, as nothing is known of misses.
    let wait = STARTED + 2 * 59 * 60 - NOW;
    assert_eq!(job["band_to"], NOW + 2 * wait);
    let limits = json_of(&["3", "--proxy", "limit", "--from", &with]);
    assert_eq!(limits["run_times"], "limits");
    assert_eq!(limits["jobs"][0]["start"], STARTED + 7200);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let short = history(12, 20)
        .replace("2026-11-19", "2026-11-18")
        .replace("10", "20");
    let past = history(12, 59) + &short[HISTORY.len()..];
    let from = capture("forecast-seeds", &waiting(), Some(&past));
    let of = |seed: &str| {
        let mut found = json_of(&["3", "--seed", seed, "--from", &from]);
        found["age_seconds"] = Value::Null;
        found.to_string()
    };
    assert_eq!(of("1"), of("1"));
    assert_ne!(of("1"), of("2"));
}

#[test]
fn sentences_for_one_job_and_a_table_for_several() {
    let from = capture("forecast-text", &waiting(), Some(&history(12, 59)));
    let ran = forecast(&["3", "--from", &from]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], "Job 3 of ft2-bob (physics), partition main");
    assert!(lines[1].starts_with("Likely start "), "{}", ran.out);
    assert!(
        lines[1].contains(", in 90 of 100 cases between "),
        "{}",
        ran.out
    );
    assert!(lines[1].contains(" ago"), "{}", ran.out);
    assert!(
        ran.out
            .contains("place 2 of 2 in partition main; ahead: 1 of physics"),
        "{}",
        ran.out
    );
    let ran = forecast(&["--all", "--from", &from]);
    assert!(
        ran.out.starts_with("2 jobs wait, from the capture of "),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("LIKELY START"), "{}", ran.out);
}

#[test]
fn jobs_that_can_never_start_say_why() {
    let held = job(4, "ft2-bob", ("PENDING", "JobHeldUser", 0));
    let large = job(5, "ft2-bob", ("PENDING", "Resources", 5)).replace("cpu=4", "cpu=8");
    let large = large.replace("NumCPUs=4 NumTasks=4", "NumCPUs=8 NumTasks=8");
    let from = capture(
        "forecast-never",
        &(waiting() + &held + &large),
        Some(&history(12, 59)),
    );
    let found = json_of(&["--all", "--from", &from]);
    let jobs = found["jobs"].as_array().expect("jobs");
    assert_eq!(jobs[2]["start"], Value::Null);
    let why = jobs[2]["never"].as_str().expect("a reason");
    assert!(why.contains("its owner holds it"), "{why}");
    let why = jobs[3]["never"].as_str().expect("a reason");
    assert!(
        why.contains("8 cpus") && why.contains("main grants 4"),
        "{why}"
    );
    assert_eq!(jobs[0]["start"], STARTED + 59 * 60, "they keep nobody");
    let ran = forecast(&["4", "--from", &from]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.out.contains("No start is forecast: its owner holds it"),
        "{}",
        ran.out
    );
}

#[test]
fn other_jobs_are_refused() {
    let ended = job(6, "ft2-bob", ("COMPLETED", "None", 5));
    let from = capture("forecast-refused", &(waiting() + &ended), None);
    for (name, why) in [
        ("1", "job 1 is RUNNING: it has started"),
        ("6", "job 6 is COMPLETED: it is over"),
        ("77", "found no job 77"),
        ("x", "JOB: found \"x\""),
    ] {
        let ran = forecast(&[name, "--from", &from]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}");
        assert!(ran.err.contains(why), "{name}: {}", ran.err);
    }
    let ran = forecast(&["2", "--from", &from]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("has no past jobs"), "{}", ran.err);
    assert!(
        ran.out.contains("the history is too short, 0 ended jobs"),
        "{}",
        ran.out
    );
    let ran = forecast(&["--from", "absent"]);
    assert_eq!(ran.code, 2);
}

/// Replaces text in a file of a capture.
fn edit(from: &str, file: &str, old: &str, new: &str) {
    let path = Path::new(from).join(file);
    let text = fs::read_to_string(&path).expect("text");
    assert!(text.contains(old), "{file} has no {old}");
    fs::write(&path, text.replace(old, new)).expect("written");
}

// Without job 1 the node counts as free: job 2 starts at once, and the notes say why.
#[test]
fn running_jobs_that_cannot_be_read_are_named() {
    for (at, (old, new)) in [
        ("JobId=1 ", "JobId= "),
        ("NodeList=n0", "NodeList=n[0-"),
        ("StartTime=2026", "StartTime=2099"),
    ]
    .into_iter()
    .enumerate()
    {
        let from = capture(&format!("forecast-damaged-{at}"), &waiting(), None);
        edit(&from, "jobs.txt", old, new);
        let ran = forecast(&["2", "--json", "--from", &from]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let without = "the forecast is without a job that cannot be read: if it runs, its nodes count as free";
        let record = format!("{from}/jobs.txt:1:");
        assert!(ran.err.contains(without), "{}", ran.err);
        assert!(ran.err.contains(&record), "{}", ran.err);
        let found: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(found["assumptions"][1], without);
        let explained = fairtree(&["explain", "2", "--forecast", "--from", &from], b"");
        assert!(explained.err.contains(without), "{}", explained.err);
    }
    // A job that waits: the note comes before the error that it is not there.
    let damaged = waiting().replacen("TimeLimit=01:00:00", "TimeLimit=-5", 1);
    let from = capture("forecast-damaged-limit", &damaged, None);
    let ran = forecast(&["2", "--from", &from]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("TimeLimit \"-5\" is not allowed") && ran.err.contains("found no job 2"),
        "{}",
        ran.err
    );
    // Nodes that are not known.
    let from = capture("forecast-damaged-node", &waiting(), None);
    edit(&from, "jobs.txt", "NodeList=n0", "NodeList=zz0");
    let ran = forecast(&["2", "--from", &from]);
    assert!(
        ran.err
            .contains("job 1 runs on a node that is not known, zz0: "),
        "{}",
        ran.err
    );
}

#[test]
fn no_change_helps_a_job_whose_dependency_failed() {
    let failed = job(4, "ft2-bob", ("PENDING", "Dependency", 5))
        .replace("Dependency=(null)", "Dependency=afterok:250(failed)");
    let from = capture(
        "forecast-failed",
        &(waiting() + &failed),
        Some(&history(12, 20)),
    );
    // As one that may start: a shorter limit, or another partition.
    let debug = fs::read_to_string(Path::new(&from).join("partitions.txt")).expect("text");
    let debug = debug.replace("PartitionName=main", "PartitionName=debug");
    let path = Path::new(&from).join("partitions.txt");
    let both = fs::read_to_string(&path).expect("text") + &debug;
    fs::write(&path, both).expect("written");
    let found = json_of(&["4", "--from", &from]);
    let job = &found["jobs"][0];
    let why = job["never"].as_str().expect("a reason");
    assert!(why.contains("depends on"), "{why}");
    assert_eq!((&job["start"], &job["helps"]), (&Value::Null, &json!([])));
}

#[test]
fn partitions_and_nodes_that_are_down_and_long_limits_are_told_apart() {
    for (name, file, old, new, why) in [
        (
            "partition",
            "partitions.txt",
            " State=UP",
            " State=DOWN",
            "partition main is not up and starts no job",
        ),
        (
            "nodes",
            "nodes.txt",
            " State=ALLOCATED",
            " State=DOWN",
            "all nodes of partition main are down or drained",
        ),
        (
            "limit",
            "jobs.txt",
            "TimeLimit=01:00:00",
            "TimeLimit=5-00:00:00",
            "its time limit of 5-00:00:00 is over the MaxTime=1-00:00:00 of partition main",
        ),
    ] {
        let from = capture(&format!("forecast-off-{name}"), &waiting(), None);
        edit(&from, file, old, new);
        let found = json_of(&["2", "--from", &from]);
        assert_eq!(found["jobs"][0]["never"], why, "{name}");
    }
}

#[test]
fn options_that_do_not_fit_are_refused_by_name() {
    let from = capture("forecast-options", &waiting(), None);
    for (options, why) in [
        (
            "--procs 4",
            "--procs: not with a queue; allowed is --procs with --score",
        ),
        ("--scheduler easy", "--scheduler: not with a queue"),
        ("--forecasts 3", "--forecasts: not with a queue"),
        ("--columns X", "--columns: not with a queue"),
        ("--cluster y", "--cluster: not with a queue"),
        ("--proxy limit --draws 5", "--draws: not with --proxy limit"),
        ("--proxy limit --seed 9", "--seed: not with --proxy limit"),
    ] {
        let options: Vec<&str> = options.split(' ').collect();
        let ran = forecast(&[&["2", "--from", &from], &options[..]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options:?}");
        assert!(ran.err.contains(why), "{options:?}: {}", ran.err);
    }
}

#[test]
fn past_jobs_that_the_manifest_does_not_list_are_named() {
    let from = capture("forecast-unlisted", &waiting(), None);
    fs::write(Path::new(&from).join("history.txt"), history(12, 59)).expect("written");
    let ran = forecast(&["2", "--from", &from]);
    assert!(
        ran.err
            .contains("history.txt is there, but manifest.json does not list it"),
        "{}",
        ran.err
    );
}

// The latest capture before it that has past jobs.
#[test]
fn past_jobs_of_an_earlier_capture_count() {
    let folder = folder("forecast-beside");
    let both = [
        ("20261121T094018Z", Some(history(12, 59))),
        ("20261121T104018Z", None),
    ];
    for (at, (name, history)) in both.iter().enumerate() {
        let made = capture(
            &format!("forecast-beside-{at}"),
            &waiting(),
            history.as_deref(),
        );
        let target = folder.join(name);
        fs::rename(&made, &target).expect("renamed");
        if at == 0 {
            let path = target.join("manifest.json");
            let text = fs::read_to_string(&path).expect("text");
            let mut manifest: Value = serde_json::from_str(&text).expect("JSON");
            manifest["time"] = json!(NOW - 3600);
            fs::write(&path, manifest.to_string()).expect("written");
        }
    }
    let found = json_of(&["3", "--from", &folder.display().to_string()]);
    assert_eq!(
        (&found["run_times"], &found["now"]),
        (&json!("history"), &json!(NOW))
    );
}

#[test]
fn hidden_jobs_leave_the_plan_of_slurmctld() {
    let from = capture("forecast-hidden", &waiting(), Some(&history(12, 59)));
    let edit = |file: &str, old: &str, new: &str| {
        let path = Path::new(&from).join(file);
        let text = fs::read_to_string(&path).expect("text");
        fs::write(&path, text.replace(old, new)).expect("written");
    };
    edit("manifest.json", "\"user\":\"root\"", "\"user\":\"ft2-bob\"");
    let config = fs::read_to_string(Path::new(&from).join("config.txt")).expect("text");
    let private = config.lines().find(|line| line.starts_with("PrivateData"));
    edit(
        "config.txt",
        private.expect("a setting"),
        "PrivateData = jobs",
    );
    let ran = forecast(&["2", "--from", &from]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains(
            "PrivateData=jobs: Slurm shows you no jobs of others, so nothing is simulated"
        ),
        "{}",
        ran.err
    );
    assert!(
        ran.out.contains("slurmctld plans no start for it yet")
            && ran
                .out
                .contains("no simulation: what is hidden may be ahead"),
        "{}",
        ran.out
    );
    let jobs = fs::read_to_string(Path::new(&from).join("jobs.txt")).expect("text");
    let plan = |line: &str| match line.starts_with("JobId=2 ") {
        true => line.replace("StartTime=Unknown", "StartTime=2026-11-21T12:30:00"),
        false => line.to_owned(),
    };
    let jobs: Vec<String> = jobs.lines().map(plan).collect();
    fs::write(Path::new(&from).join("jobs.txt"), jobs.join("\n") + "\n").expect("written");
    let planned = json_of(&["2", "--from", &from]);
    assert_eq!(planned["run_times"], "planned");
    // 12:30 UTC.
    assert_eq!(planned["jobs"][0]["start"], 1_795_264_200_i64);
    assert_eq!(planned["jobs"][0]["band_from"], Value::Null);
}

#[test]
fn explain_ends_with_the_likely_start() {
    let with = capture("forecast-explain", &waiting(), Some(&history(12, 59)));
    let ran = fairtree(&["explain", "3", "--from", &with], b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let last = ran.out.lines().last().expect("a line");
    assert!(last.starts_with("Likely start "), "{}", ran.out);
    assert!(last.contains(", from the capture of "), "{}", ran.out);
    let plain = capture("forecast-explain-without", &waiting(), None);
    let without = fairtree(&["explain", "3", "--from", &plain], b"");
    assert!(
        !without.out.contains("start is forecast"),
        "{}",
        without.out
    );
    let asked = fairtree(&["explain", "3", "--forecast", "--from", &plain], b"");
    let last = asked.out.lines().last().expect("a line");
    assert!(last.starts_with("Start "), "{}", asked.out);
    assert!(
        last.contains("if every job runs to its time limit"),
        "{}",
        asked.out
    );
}
