//! `fairtree simulate` with a site and with recorded runs, from outside. Expected: hand calculation from
//! the lines; of the recorded run, what slurmctld's log says and the bounds of docs/simulate.md.

mod command;
#[path = "../../../tests/common/data.rs"]
#[allow(dead_code)] // Other tests read text.
mod data;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use command::{fairtree, folder};
use serde_json::Value;

/// A node of four CPUs; fair share counts, or nothing.
fn site(name: &str, weight: u32) -> PathBuf {
    let folder = folder(name);
    let conf = format!(
        "ClusterName=c\nPriorityType=priority/multifactor\nPriorityCalcPeriod=1\n\
         PriorityDecayHalfLife=7-0\nPriorityWeightFairshare={weight}\n\
         SchedulerParameters=bf_interval=30\n\
         NodeName=n1 CPUs=4\nPartitionName=main Nodes=n1 Default=YES MaxTime=1-0\n"
    );
    let script = "add account a fairshare=1\nadd account b fairshare=1\n\
                  add user ann account=a fairshare=1\nadd user bob account=b fairshare=1\n";
    fs::write(folder.join("slurm.conf"), conf).expect("written");
    fs::write(folder.join("sacctmgr.script"), script).expect("written");
    folder
}

/// Lines of sacct: number, user, account, submission (seconds after midnight), run time, CPUs.
fn log(folder: &Path, jobs: &[(u32, &str, &str, u32, u32, u32)]) -> String {
    let mut text = String::from(
        "JobID|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|NCPUS\n",
    );
    for (id, user, account, submit, run, cpus) in jobs {
        let time = |secs: u32| {
            let (h, m, s) = (secs / 3600, secs / 60 % 60, secs % 60);
            format!("2026-03-01T{h:02}:{m:02}:{s:02}")
        };
        text += &format!(
            "{id}|{user}|{account}|main|normal|COMPLETED|{}|{}|{}|{run}|60|{cpus}|{cpus}\n",
            time(*submit),
            time(*submit),
            time(submit + run),
        );
    }
    let path = folder.join("log.sacct");
    fs::write(&path, text).expect("written");
    path.display().to_string()
}

fn json(args: &[&str]) -> Value {
    let ran = fairtree(&[&["simulate", "--json"], args].concat(), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

/// Ann has all of the machine until 1200, then one of the jobs of 600 s starts after the other: of the
/// two that wait since 60 and 61, Bob's first, as his account has used nothing.
const TURNS: &[(u32, &str, &str, u32, u32, u32)] = &[
    (1, "ann", "a", 0, 1200, 4),
    (2, "ann", "a", 60, 600, 4),
    (3, "bob", "b", 61, 600, 4),
];

#[test]
fn a_pool_is_in_the_order_of_priorities() {
    let of = |name: &str, weight: u32, scheduler: &str| {
        let site = site(name, weight);
        let log = log(&site, TURNS);
        let site = site.display().to_string();
        json(&["--scheduler", scheduler, "--site", &site, &log])
    };
    for scheduler in ["easy", "fcfs", "conservative"] {
        let report = of("pool-fair", 1000, scheduler);
        assert_eq!(
            (&report["order"], &report["processors"]),
            (&"priority".into(), &4.into())
        );
        // Job 2 from 1800, job 3 from 1200.
        let waits =
            [&report["users"][0], &report["users"][1]].map(|user| &user["mean_wait_seconds"]);
        assert_eq!(
            waits,
            [&(1740.0 / 2.0).into(), &Value::from(1139.0)],
            "{scheduler}"
        );
        // Without job 3, which came later, job 2 would have started at 1200.
        assert_eq!(report["unfairly_delayed"], 1.0 / 3.0);
        assert_eq!(report["mean_unfair_delay_seconds"], 600.0);
        // Root's own user has a share, too: an account is entitled to a third of four processors. b has
        // none from 61 to 1200, a none from 1200 on.
        for (account, secs) in [(0, 600.0), (1, 1139.0)] {
            let owed = report["accounts"][account]["owed_core_hours"].as_f64();
            let by = owed.expect("a number") - secs * 4.0 / 3.0 / 3600.0;
            assert!(by.abs() < 1e-9, "{by}");
        }
        // Where nothing counts, the order is that of submission.
        let report = of("pool-none", 0, scheduler);
        let waits =
            [&report["users"][0], &report["users"][1]].map(|user| &user["mean_wait_seconds"]);
        assert_eq!(
            waits,
            [&(1140.0 / 2.0).into(), &Value::from(1739.0)],
            "{scheduler}"
        );
        assert_eq!(report["unfairly_delayed"], 0.0);
    }
}

/// By hand: ann has used 600 s of all CPUs and bob 100 s when both wait at 700, so that bob comes first. Without a reset
/// before the first pass none is due; stock counts missed resets one by one, one in each pass.
#[test]
fn a_replay_begins_without_a_reset() {
    let jobs = &[
        (1, "ann", "a", 0, 600, 4),
        (2, "bob", "b", 60, 100, 4),
        (3, "ann", "a", 610, 600, 4),
        (4, "bob", "b", 611, 600, 4),
    ];
    for plugin in ["multifactor", "fairtree"] {
        let folder = site(&format!("reset-{plugin}"), 1000);
        let path = folder.join("slurm.conf");
        let conf = fs::read_to_string(&path).expect("text");
        let conf = conf.replace("multifactor", plugin);
        fs::write(&path, conf + "PriorityUsageResetPeriod=MONTHLY\n").expect("written");
        let log = log(&folder, jobs);
        let site = folder.display().to_string();
        let report = json(&["--scheduler", "easy", "--site", &site, &log]);
        let waits = [0, 1].map(|user| &report["users"][user]["mean_wait_seconds"]);
        // ann: 0 and from 610 to 1300; bob: from 60 to 600 and from 611 to 700.
        let expected = [690.0 / 2.0, (540.0 + 89.0) / 2.0];
        assert_eq!(
            waits,
            [&expected[0].into(), &Value::from(expected[1])],
            "{plugin}"
        );
    }
}

/// As above under Slurm's rules: the main scheduler looks each second, and three seconds after its last
/// pass at the earliest.
#[test]
fn unfair_delays_are_found_under_slurms_rules() {
    let site = site("slurm-fair", 1000);
    let log = log(&site, TURNS);
    let site = site.display().to_string();
    let report = json(&["--scheduler", "slurm", "--site", &site, &log]);
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!((number(&report["unfairly_delayed"]) - 1.0 / 3.0).abs() < 1e-9);
    let by = number(&report["mean_unfair_delay_seconds"]);
    assert!((596.0..=640.0).contains(&by), "{by}");
    assert_eq!(report["fair_starts"], 3);
}

/// A job of ten minutes with a limit of an hour, submitted at 10 s.
const ALONE: &[(u32, &str, &str, u32, u32, u32)] = &[(1, "ann", "a", 10, 600, 4)];

/// Schedulers look once a minute at least.
#[test]
fn nodes_that_are_away_are_waited_for() {
    let files = [
        // An hour does not fit before the reservation begins.
        (
            "reservations.txt",
            "ReservationName=maint StartTime=2026-03-01T00:30:00 EndTime=2026-03-01T02:00:00 \
             Nodes=n1 Flags=MAINT\n",
            7200,
        ),
        (
            "node_events.txt",
            "NodeName|TimeStart|TimeEnd|State|Reason\n\
             n1|2026-03-01T00:00:00|2026-03-01T00:20:00|DOWN|fan\n\
             n1|2026-03-01T00:10:00|2026-03-01T00:40:00|DRAIN|disk\n",
            2400,
        ),
    ];
    for (file, text, from) in files {
        let folder = site("away", 0);
        fs::write(folder.join(file), text).expect("written");
        let log = log(&folder, ALONE);
        let site = folder.display().to_string();
        let report = json(&["--scheduler", "slurm", "--site", &site, &log]);
        let wait = report["mean_wait_seconds"].as_f64().expect("a number") as i64;
        assert!((from - 10..from + 60).contains(&wait), "{file}: {wait}");
    }
}

#[test]
fn limits_on_minutes_hold_jobs() {
    // Two jobs of 600 s with four CPUs are 80 CPU-minutes; usage decays to less than 40 in half an hour.
    let folder = site("minutes", 0);
    let conf = folder.join("slurm.conf");
    let text = fs::read_to_string(&conf).expect("text");
    let text = text.replace("7-0", "0:30:00") + "AccountingStorageEnforce=limits\n";
    fs::write(&conf, text).expect("written");
    let script = folder.join("sacctmgr.script");
    let text = fs::read_to_string(&script).expect("text");
    fs::write(&script, text + "modify account a set GrpTRESMins=cpu=35\n").expect("written");
    let jobs = [
        (1, "ann", "a", 0, 600, 4),
        (2, "ann", "a", 10, 600, 4),
        (3, "bob", "b", 20, 600, 4),
    ];
    let log = log(&folder, &jobs);
    let site = folder.display().to_string();
    let report = json(&["--scheduler", "slurm", "--site", &site, &log]);
    let waits = |at: usize| {
        report["users"][at]["mean_wait_seconds"]
            .as_f64()
            .expect("a number")
    };
    // Bob does not wait for ann's second job, which waits until less than 35 minutes are left of 40.
    assert!((580.0..640.0).contains(&waits(1)), "{}", waits(1));
    assert!(2.0 * waits(0) > 1180.0, "{}", waits(0));
    let ran = fairtree(
        &[
            "simulate",
            "--scheduler",
            "slurm",
            "--site",
            &site,
            "--why",
            "2",
            &log,
        ],
        b"",
    );
    assert!(
        ran.out.contains("GrpTRESMins of the association"),
        "{}",
        ran.out
    );
}

#[test]
fn options_of_another_use_are_refused_by_name() {
    let site = site("modes", 0);
    let log = log(&site, TURNS);
    let site = site.display().to_string();
    for (args, words) in [
        (
            &["--phases", "3", "--procs", "4", &log][..],
            "--phases: not with --scheduler easy",
        ),
        (
            &["--seed", "3", "--procs", "4", &log],
            "--seed: not with --scheduler easy",
        ),
        (
            &["--scheduler", "slurm", &log],
            "--scheduler slurm needs --site",
        ),
        (
            &["--scheduler", "slurm", "--site", &site],
            "the name of a log is needed",
        ),
        (
            &["--scheduler", "slurm", "--site", &site, "-"],
            "the name of a log is needed",
        ),
        (
            &[
                "--scheduler",
                "slurm",
                "--site",
                &site,
                "--procs",
                "4",
                &log,
            ],
            "--procs: not with",
        ),
        (
            &["--why", "2", "--site", &site, &log],
            "--why: not with --scheduler easy",
        ),
        (
            &[
                "--why",
                "2",
                "--jobs",
                "x.csv",
                "--scheduler",
                "slurm",
                "--site",
                &site,
                &log,
            ],
            "--jobs: not with --why",
        ),
        (
            &["--columns", "JobID", "--site", &site, &log],
            "--columns: not with --scheduler easy",
        ),
        (
            &["--check", &site, "--free", &site],
            "--free: not with --check",
        ),
        (
            &["--check", &site, "--scheduler", "slurm"],
            "--scheduler: not with --check",
        ),
        (&["--check", &site, &log], "LOG: not with --check"),
        (&["--free", &site, "--top", "3"], "--top: not with --free"),
        (&["--procs", "4", "--why", "2", &log], "--why: not with"),
        (&[&log], "--procs NUMBER is needed"),
    ] {
        let ran = fairtree(&[&["simulate"], args].concat(), b"");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
}

#[test]
fn a_log_without_jobs_says_why() {
    let folder = site("no-job", 0);
    let site = folder.display().to_string();
    let swf = folder.join("log.swf");
    let text = "1 0 -1 10 -1 -1 -1 -1 100 -1 1 1 1 -1 -1 -1 -1 -1\n\
                2 0 -1 10 1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n\
                3 0 -1 0 1 -1 -1 -1 100 -1 1 1 1 -1 -1 -1 -1 -1\n\
                4 0 -1 0 1 -1 -1 -1 100 -1 1 1 1 -1 -1 -1 -1 -1\n";
    fs::write(&swf, text).expect("written");
    let swf = swf.display().to_string();
    let refused = |log: &str, words: &[&str]| {
        for scheduler in ["slurm", "easy"] {
            let args = ["simulate", "--scheduler", scheduler, "--site", &site, log];
            let ran = fairtree(&args, b"");
            assert_eq!(ran.code, 2, "{}", ran.out);
            for words in [&["has no job that can be replayed"], words].concat() {
                assert!(ran.err.contains(words), "{words}: {}", ran.err);
            }
        }
    };
    refused(
        &swf,
        &[
            "1 job left out: without processors",
            "1 job left out: without a time limit",
            "2 jobs left out: that did not run for a second",
        ],
    );
    let sacct = log(&folder, TURNS);
    let text = fs::read_to_string(&sacct).expect("text");
    fs::write(&sacct, text.replace("|main|", "|gone|")).expect("written");
    refused(
        &sacct,
        &["3 jobs left out: partition gone is not in slurm.conf"],
    );
}

// By hand: of two nodes n2 is drained until 600, so that job 1 has n1 from 60 on, and job 2, which comes at 120, waits for
// n2; from 720 on n1 is down while job 1 runs there, so that job 3, which comes at 780, waits for the end of job 2 at 1200.
// Cycles are assumed at submissions, ends, and each minute from 60 on. Where no event is known, two jobs are predicted
// in each of their cycles.
#[test]
fn a_recorded_run_with_nodes_that_come_and_go_is_predicted() {
    let folder = site("check-nodes", 0);
    let conf = fs::read_to_string(folder.join("slurm.conf")).expect("text");
    let conf = conf
        .replace("NodeName=n1 CPUs", "NodeName=n[1-2] CPUs")
        .replace("Nodes=n1", "Nodes=ALL");
    fs::write(folder.join("slurm.conf"), conf).expect("written");
    let header = "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|\
                  ReqCPUS|NCPUS|NodeList";
    let job = |id: u32, submit: &str, start: &str, end: &str, node: &str| {
        let [submit, start, end] = [submit, start, end].map(|at| format!("2026-03-01T00:{at}"));
        format!(
            "{id}|{id}|ann|a|main|normal|COMPLETED|{submit}|{submit}|{start}|{end}|600|60|4|4|{node}"
        )
    };
    let lines = [
        header.to_owned(),
        job(1, "01:00", "01:00", "29:00", "n1"),
        job(2, "02:00", "10:00", "20:00", "n2"),
        job(3, "13:00", "20:00", "30:00", "n2"),
    ];
    fs::write(folder.join("sacct.txt"), lines.join("\n") + "\n").expect("written");
    let path = folder.display().to_string();
    let counts = |report: &Value| {
        let names = [
            "starts",
            "starts_predicted",
            "predictions",
            "predictions_wrong",
            "same_nodes",
        ];
        names.map(|name| report[name].as_u64().expect("a number"))
    };
    let [starts, predicted, _, wrong, _] = counts(&json(&["--check", &path]));
    assert_eq!((starts, predicted), (3, 3));
    assert!(wrong >= 8, "{wrong}");
    let events = "NodeName|TimeStart|TimeEnd|State|Reason\n\
                  n2|2026-02-28T23:00:00|2026-03-01T00:10:00|DRAIN|disk\n\
                  n1|2026-03-01T00:12:00|Unknown|DOWN*|fan\n";
    fs::write(folder.join("node_events.txt"), events).expect("written");
    let [starts, predicted, predictions, wrong, same] = counts(&json(&["--check", &path]));
    assert_eq!(
        (starts, predicted, wrong, same),
        (3, 3, 0, 3),
        "{predictions}"
    );
}

/// The first 20 minutes of a run that was recorded of Slurm 22.05.8.
fn short_run(name: &str) -> Option<PathBuf> {
    let conf = data::data("slurm/ordinary/slurm.conf")?;
    let from = conf.parent().expect("a folder");
    let to = folder(name);
    let read = |file: &str| {
        let opened = fs::File::open(from.join(file)).expect("a file");
        let opened = fairtree_model::input::stream::open(opened).expect("a stream");
        let (mut input, mut text) = (opened.input, String::new());
        input.read_to_string(&mut text).expect("text");
        text
    };
    for file in ["slurm.conf", "sacctmgr.script", "jobs.tsv"] {
        fs::write(to.join(file), read(file)).expect("written");
    }
    let log = read("slurmctld.log.gz");
    let first = log.get(1..17).expect("a time");
    let minute: u32 = first[14..].parse().expect("minutes");
    // Within the hour of the first line, or the next one.
    let hour: u32 = first[11..13].parse().expect("hours");
    let end = hour * 60 + minute + 20;
    let end = format!("{}T{:02}:{:02}", &first[..10], end / 60, end % 60);
    let lines = log
        .lines()
        .filter(|line| line.get(1..17).is_some_and(|time| time < end.as_str()));
    let lines: Vec<&str> = lines.collect();
    fs::write(to.join("slurmctld.log"), lines.join("\n") + "\n").expect("written");
    let sacct = read("sacct.txt");
    let mut rows = sacct.lines();
    let header = rows.next().expect("a header");
    let column = |name: &str| {
        header
            .split('|')
            .position(|one| one == name)
            .expect("a column")
    };
    let [submit, start, ended, state] = ["Submit", "Start", "End", "State"].map(column);
    let kept = rows.filter_map(|row| {
        let mut cells: Vec<&str> = row.split('|').collect();
        // What happened later is not known yet.
        if cells[start] >= end.as_str() {
            (cells[start], cells[state]) = ("Unknown", "PENDING");
        }
        if cells[ended] >= end.as_str() {
            cells[ended] = "Unknown";
        }
        (cells[submit] < end.as_str()).then(|| cells.join("|"))
    });
    let kept: Vec<String> = std::iter::once(header.to_owned()).chain(kept).collect();
    fs::write(to.join("sacct.txt"), kept.join("\n") + "\n").expect("written");
    Some(to)
}

#[test]
fn a_short_recorded_run_is_predicted() {
    let Some(folder) = short_run("short-check") else {
        return;
    };
    let folder = folder.display().to_string();
    let report = json(&["--check", &folder]);
    let count = |key: &str| report[key].as_u64().expect("a number");
    assert!(count("starts") >= 50, "{}", count("starts"));
    assert_eq!(report["cycles_from"], "log");
    assert!(count("starts_predicted") * 10 >= count("starts") * 9);
    assert!(count("predictions_wrong") * 10 <= count("predictions"));
    let ran = fairtree(&["simulate", "--check", &folder, "--top", "1"], b"");
    let words = format!("of {}", count("starts"));
    assert!(ran.out.contains(&words), "{words}: {}", ran.out);
    let said = "slurmctld.log ends at";
    assert!(!ran.out.contains(said), "{}", ran.out);
    let log = fs::read_to_string(format!("{folder}/slurmctld.log")).expect("text");
    let half = log[..log.len() / 2].rsplit_once('\n').expect("lines").0;
    fs::write(format!("{folder}/slurmctld.log"), half).expect("written");
    let ran = fairtree(&["simulate", "--check", &folder, "--top", "1"], b"");
    assert!(ran.out.contains(said), "{}", ran.out);
}

#[test]
fn a_short_recorded_run_runs_on_its_own() {
    let Some(folder) = short_run("short-free") else {
        return;
    };
    let folder = folder.display().to_string();
    let args = ["--free", &folder, "--phases", "3"];
    let report = json(&args);
    assert_eq!((&report["phases"], &report["seed"]), (&3.into(), &1.into()));
    let number = |key: &str| report[key].as_f64().expect("a number");
    let [least, most] = [0, 1].map(|at| {
        report["mean_wait_range_seconds"][at]
            .as_f64()
            .expect("a number")
    });
    assert!(least <= number("mean_wait_seconds") && number("mean_wait_seconds") <= most);
    // Jobs that never started in these minutes are missing in both.
    let ratio = number("mean_wait_seconds") / number("real_mean_wait_seconds");
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
    assert_eq!(json(&args), report, "the same seed gives the same runs");
    let text = fairtree(&["simulate", "--free", &folder, "--phases", "1"], b"").out;
    assert!(text.contains("(all)"), "{text}");
}
