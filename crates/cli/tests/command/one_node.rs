//! Captures of one node of four CPUs, on which jobs follow one another.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::{CLUSTER, checkout, folder};

/// The moment of the capture, 2026-11-21T10:40:18Z.
pub const NOW: i64 = 1_795_257_618;
/// 2026-11-21T10:36:33Z, when job 1 started.
pub const STARTED: i64 = NOW - 225;

pub const HISTORY: &str = "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|\
    ElapsedRaw|TimelimitRaw|ReqCPUS|ReqTRES|AllocCPUS|AllocTRES|NodeList\n";

/// A job of four CPUs for an hour, as scontrol 22.05.8 prints it.
pub fn job(id: u32, user: &str, (state, reason, priority): (&str, &str, u32)) -> String {
    let (start, nodes) = match state {
        "RUNNING" => ("2026-11-21T10:36:33", "n0"),
        _ => ("Unknown", ""),
    };
    format!(
        "JobId={id} JobName=wrap UserId={user}(1006) GroupId={user}(1006) MCS_label=N/A \
         Priority={priority} Nice=0 Account=physics QOS=normal JobState={state} Reason={reason} \
         Dependency=(null) Requeue=1 RunTime=00:00:00 TimeLimit=01:00:00 TimeMin=N/A \
         SubmitTime=2026-11-21T10:36:{id:02} EligibleTime=2026-11-21T10:36:{id:02} \
         AccrueTime=2026-11-21T10:36:{id:02} StartTime={start} EndTime=Unknown Partition=main \
         ReqNodeList=(null) ExcNodeList=(null) NodeList={nodes} NumNodes=1 NumCPUs=4 NumTasks=4 CPUs/Task=1 \
         ReqB:S:C:T=0:0:*:* TRES=cpu=4,mem=1000M,node=1,billing=4 Socks/Node=* NtasksPerN:B:S:C=0:0:*:* \
         CoreSpec=* MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0 Features=(null) DelayBoot=00:00:00 \
         OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) Command=(null) WorkDir=/\n"
    )
}

/// `count` past jobs of bob that ran for `minutes` of the hour that they might.
pub fn history(count: u32, minutes: u32) -> String {
    let mut text = HISTORY.to_owned();
    let tres = "billing=4,cpu=4,node=1";
    for at in 0..count {
        let hour = at % 20;
        let id = 1000 + at;
        writeln!(
            text,
            "{id}|{id}|ft2-bob|physics|main|normal|COMPLETED|2026-11-19T{hour:02}:00:00|\
             2026-11-19T{hour:02}:00:00|2026-11-19T{hour:02}:00:00|2026-11-19T{hour:02}:{minutes:02}:00|{}|60|4|\
             {tres}|4|{tres}|n0",
            minutes * 60
        )
        .expect("a text");
    }
    text
}

/// A capture of one node, with job 1 that runs and others that wait.
pub fn capture(name: &str, others: &str, history: Option<&str>) -> String {
    // Of its own: a capture beside it may have past jobs.
    let folder = folder(name).join("20261121T104018Z");
    fs::create_dir(&folder).expect("it can be made");
    let recorded = checkout().join(CLUSTER);
    let read = |file: &str| fs::read_to_string(recorded.join(file)).expect("text");
    let put = |file: &str, text: &str| fs::write(folder.join(file), text).expect("written");
    for file in ["config.txt", "sshare.txt", "assocs.txt", "qos.txt"] {
        put(file, &read(file));
    }
    let first = |file: &str| read(file).lines().next().map(|line| line.to_owned() + "\n");
    let running = ("RUNNING", "None", 9);
    let jobs = job(1, "ft2-bob", running) + others;
    put("jobs.txt", &jobs);
    let ids = jobs
        .lines()
        .filter_map(|line| line.split([' ', '=']).nth(1));
    let names: String = ids.map(|id| format!("{id}|wrap\n")).collect();
    put("names.txt", &names);
    put("sprio.txt", &first("sprio.txt").expect("a header"));
    put("nodes.txt", &first("nodes.txt").expect("a node"));
    let partition = first("partitions.txt").expect("a partition");
    let partition = partition.replace("Nodes=n[0-3]", "Nodes=n0").replace(
        "cpu=16,mem=4000M,node=4,billing=16",
        "cpu=4,mem=1000M,node=1,billing=4",
    );
    put("partitions.txt", &partition);
    let mut manifest: Value = serde_json::from_str(&read("manifest.json")).expect("JSON");
    manifest["user"] = json!("root");
    if let Some(history) = history {
        put("history.txt", history);
        let answers = manifest["answers"].as_array_mut().expect("a list");
        answers
            .push(json!({"command": ["sacct"], "file": "history.txt", "secs": 0.1, "error": null}));
    }
    put("manifest.json", &manifest.to_string());
    folder.display().to_string()
}
