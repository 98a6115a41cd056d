//! Sites in TOML that list their nodes, simulated without a slurm.conf. Expected values are computed by hand: two
//! nodes of four CPUs, all of which job 1 has until 12:30.

mod command;

use std::fs;

use command::{fairtree, folder};
use serde_json::{Value, json};

/// 2026-03-08T12:00:00Z.
const NOW: i64 = 1_772_971_200;

/// Two nodes of four CPUs, all of which job 1 has until 12:30; the others wait.
const SITE: &str = include_str!("../../../examples/nodes.toml");

fn file(name: &str, text: &str) -> String {
    let path = folder(name).join("site.toml");
    fs::write(&path, text).expect("written");
    path.display().to_string()
}

fn json_of(args: &[&str]) -> Value {
    let ran = fairtree(args, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

// Ann uses eight CPUs until 12:30, so bob's job comes first, and hers an hour later: it needs both nodes.
#[test]
fn forecasts() {
    let site = file("nodes-forecast", SITE);
    let found = json_of(&["forecast", "--all", "--json", "--from", &site]);
    assert_eq!(found["now"], NOW);
    let start = |at: usize| found["jobs"][at]["start"].as_i64().expect("a start") - NOW;
    assert_eq!((start(0), start(1)), (90 * 60, 30 * 60));
    let lost = file("nodes-lost", &SITE.replace("node_list = \"n[1-2]\"\n", ""));
    let ran = fairtree(&["forecast", "--all", "--from", &lost], b"");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("job 1 runs, and its nodes are not given"),
        "{}",
        ran.err
    );
}

/// A job that names no partition, where none is the default, is not simulated: one reason, in its row and as a note.
#[test]
fn jobs_without_a_partition_have_one_reason() {
    let mut text = SITE.replace(
        "[accounts.a]\n",
        "[partitions.other]\nnodes = \"n1\"\n[accounts.a]\n",
    );
    for id in [1, 2] {
        let line = format!("id = {id}\n");
        text = text.replace(&line, &format!("{line}partition = \"main\"\n"));
    }
    let site = file("nodes-no-partition", &text);
    let found = json_of(&["forecast", "--all", "--json", "--from", &site]);
    let mut jobs = found["jobs"].as_array().expect("jobs").iter();
    let job = jobs.find(|job| job["job"] == 3).expect("job 3");
    assert_eq!(job["never"], "the site has no default partition");
    let notes = found["assumptions"].to_string();
    let note = "1 job left out: the site has no default partition";
    assert!(notes.contains(note), "{notes}");
}

#[test]
fn time_that_passes() {
    let site = file("nodes-what-if", SITE);
    let args = [
        "what-if", "--cancel", "3", "--after", "1:00:00", "--json", &site,
    ];
    let found = json_of(&args);
    let job = &found["meanwhile"]["jobs"][0];
    assert_eq!(job["job_id"], 2);
    assert_eq!(
        job["before"],
        json!({"part": 0.0, "start": null, "held": false})
    );
    assert_eq!(
        job["after"],
        json!({"part": 1.0, "start": NOW + 1800, "held": false})
    );
    // Without nodes nothing starts.
    let plain = SITE.replace("[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\n", "");
    let plain = plain
        .replace("nodes = \"ALL\"\n", "")
        .replace("node_list = \"n[1-2]\"\n", "");
    let plain = file("nodes-none", &plain);
    let ran = fairtree(&["what-if", "--after", "1:00:00", &plain], b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("lists no nodes, which a simulation needs"),
        "{}",
        ran.err
    );
}

// Two jobs of all CPUs, submitted together: the second waits for the hour of the first.
#[test]
fn replays() {
    let site = file("nodes-simulate", SITE);
    let log = folder("nodes-log").join("log.sacct");
    let job = |id: u32| {
        format!(
            "{id}|ann|a|main|normal|COMPLETED|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|\
             120|8|8|billing=8,cpu=8,node=2\n"
        )
    };
    let header = "JobID|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|NCPUS|\
                  AllocTRES\n";
    fs::write(&log, format!("{header}{}{}", job(1), job(2))).expect("written");
    let log = log.display().to_string();
    let args = [
        "simulate",
        &log,
        "--scheduler",
        "slurm",
        "--site",
        &site,
        "--json",
    ];
    let found = json_of(&args);
    assert_eq!(
        (&found["jobs"], &found["processors"]),
        (&json!(2), &json!(8))
    );
    let mean = found["mean_wait_seconds"].as_f64().expect("a wait");
    assert!((1800.0..1860.0).contains(&mean), "{mean}");
}

// By hand: bob's job 1 has the node until 00:30 of the first of a month, and ann used a lot before. Without a reset bob is
// before her in the queue. At the month's start usage is cleared, and bob uses the node for half an hour more: ann is
// first. NOW was done when slurmctld started.
#[test]
fn usage_is_cleared_at_the_months_start() {
    let text = r#"
now = 2026-03-31T23:00:00Z
[settings]
PriorityWeightFairshare = 10000
PriorityUsageResetPeriod = "NONE"
[[nodes]]
name = "n1"
cpus = 4
[partitions.main]
nodes = "ALL"
[accounts.a]
users.ann = { usage = 1000000 }
[accounts.b]
users.bob = { usage = 1000 }
[[jobs]]
id = 1
user = "bob"
account = "b"
state = "RUNNING"
node_list = "n1"
submit_time = 2026-03-31T22:30:00Z
start_time = 2026-03-31T22:30:00Z
time_limit = "2:00:00"
cpus = 4
[[jobs]]
id = 2
user = "ann"
account = "a"
submit_time = 2026-03-31T22:40:00Z
time_limit = "1:00:00"
cpus = 4
[[jobs]]
id = 3
user = "bob"
account = "b"
submit_time = 2026-03-31T22:50:00Z
time_limit = "1:00:00"
cpus = 4
"#;
    for (period, plugin, order) in [
        ("NONE", "documented", [90, 150]),
        ("NOW", "documented", [90, 150]),
        ("YEARLY", "documented", [90, 150]),
        ("YEARLY", "slurm", [90, 150]),
        ("MONTHLY", "documented", [150, 90]),
        ("DAILY", "documented", [150, 90]),
        ("MONTHLY", "slurm", [150, 90]),
    ] {
        let settings = format!("\"{period}\"\nPriorityParameters = \"compat={plugin}\"");
        let site = file(
            &format!("nodes-reset-{period}-{plugin}"),
            &text.replace("\"NONE\"", &settings),
        );
        let found = json_of(&["forecast", "--all", "--json", "--from", &site]);
        let now = found["now"].as_i64().expect("a moment");
        let start = |at: usize| found["jobs"][at]["start"].as_i64().expect("a start") - now;
        // Job 3 of bob, job 2 of ann: minutes.
        let own = [start(1) / 60, start(0) / 60];
        assert_eq!(own, order, "{period} {plugin}: {found}");
    }
}

// scontrol(1), suspend: "A suspended job releases its CPUs for allocation to other jobs"; it keeps its memory. By hand: bob's
// job starts at once beside job 1, and at its end at 12:30 where job 1 has all memory.
#[test]
fn a_suspended_job_leaves_its_cpus_and_keeps_its_memory() {
    let alone = SITE.replace("id = 2\n", "id = 2\nheld = true\n");
    let suspended = alone.replace("\"RUNNING\"", "\"SUSPENDED\"");
    let memory = suspended
        .replace("cpus = 4\n", "cpus = 4\nreal_memory = \"4G\"\n")
        .replacen("cpu=8,node=2", "cpu=8,node=2,mem=8G", 1)
        .replace("cpu=4,node=1", "cpu=4,node=1,mem=1G");
    for (name, text, mins) in [
        ("running", &alone, 30),
        ("cpus", &suspended, 0),
        ("memory", &memory, 30),
    ] {
        let site = file(&format!("nodes-suspended-{name}"), text);
        let found = json_of(&["forecast", "3", "--json", "--from", &site]);
        let start = found["jobs"][0]["start"].as_i64().expect("a start") - NOW;
        assert_eq!(start / 60, mins, "{name}: {found}");
    }
}
