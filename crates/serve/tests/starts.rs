//! Forecasts on pages. Expected starts are computed by hand: one node of four CPUs, on which jobs follow one another.

mod running;
mod site;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use running::{CALLS, Place};
use serde_json::{Value, json};
use site::{Site, checkout, numbers};

/// The moment of the capture, 2026-11-21T10:40:18Z.
const NOW: i64 = 1_795_257_618;
/// 2026-11-21T10:36:33Z, when job 1 started.
const STARTED: i64 = NOW - 225;
/// Slurm's own estimate for job 2, 2026-11-21T11:36:33Z.
const ESTIMATE: i64 = STARTED + 3600;

const HISTORY: &str = "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|\
    ElapsedRaw|TimelimitRaw|ReqCPUS|ReqTRES|AllocCPUS|AllocTRES|NodeList\n";

/// A job of four CPUs for an hour, as scontrol 22.05.8 prints it.
fn job(id: u32, state: &str, start: &str, nodes: &str) -> String {
    format!(
        "JobId={id} JobName=wrap UserId=ft2-bob(1006) GroupId=ft2-bob(1006) MCS_label=N/A Priority=5 Nice=0 \
         Account=physics QOS=normal JobState={state} Reason=Priority Dependency=(null) Requeue=1 RunTime=00:00:00 \
         TimeLimit=01:00:00 TimeMin=N/A SubmitTime=2026-11-21T10:36:{id:02} EligibleTime=2026-11-21T10:36:{id:02} \
         AccrueTime=2026-11-21T10:36:{id:02} StartTime={start} EndTime=Unknown Partition=main ReqNodeList=(null) \
         ExcNodeList=(null) NodeList={nodes} NumNodes=1 NumCPUs=4 NumTasks=4 CPUs/Task=1 ReqB:S:C:T=0:0:*:* \
         TRES=cpu=4,mem=1000M,node=1,billing=4 Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=* MinCPUsNode=1 \
         MinMemoryNode=0 MinTmpDiskNode=0 Features=(null) DelayBoot=00:00:00 OverSubscribe=OK Contiguous=0 \
         Licenses=(null) Network=(null) Command=(null) WorkDir=/\n"
    )
}

/// Past jobs of bob, each of 59 minutes with a limit of an hour.
fn history(count: u32) -> String {
    let mut text = HISTORY.to_owned();
    for at in 0..count {
        let (hour, id, tres) = (at % 20, 1000 + at, "billing=4,cpu=4,node=1");
        let at = format!("2026-11-19T{hour:02}:00:00");
        writeln!(
            text,
            "{id}|{id}|ft2-bob|physics|main|normal|COMPLETED|{at}|{at}|{at}|2026-11-19T{hour:02}:59:00|3540|60|4|\
             {tres}|4|{tres}|n0"
        )
        .expect("a text");
    }
    text
}

/// Pages for bob over a capture of one node, with job 1 that runs, jobs 2 and 3 that wait, and a past.
fn site(history: Option<String>) -> Site {
    // Of its own: a capture beside it may have past jobs.
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("20261121T104018Z");
    fs::create_dir(&folder).expect("it can be made");
    let recorded = checkout().join("tests/captures/cluster");
    let read = |file: &str| fs::read_to_string(recorded.join(file)).expect("text");
    let put = |file: &str, text: &str| fs::write(folder.join(file), text).expect("written");
    for file in ["config.txt", "sshare.txt", "assocs.txt", "qos.txt"] {
        put(file, &read(file));
    }
    let first = |file: &str| read(file).lines().next().expect("a line").to_owned() + "\n";
    put(
        "jobs.txt",
        &[
            job(1, "RUNNING", "2026-11-21T10:36:33", "n0"),
            job(2, "PENDING", "2026-11-21T11:36:33", ""),
            job(3, "PENDING", "Unknown", ""),
        ]
        .concat(),
    );
    put("names.txt", "1|wrap\n2|wrap\n3|wrap\n");
    put("sprio.txt", &first("sprio.txt"));
    put("nodes.txt", &first("nodes.txt"));
    let partition = first("partitions.txt")
        .replace("Nodes=n[0-3]", "Nodes=n0")
        .replace(
            "cpu=16,mem=4000M,node=4,billing=16",
            "cpu=4,mem=1000M,node=1,billing=4",
        );
    put("partitions.txt", &partition);
    let mut manifest: Value = serde_json::from_str(&read("manifest.json")).expect("JSON");
    if let Some(history) = history {
        put("history.txt", &history);
        let answers = manifest["answers"].as_array_mut().expect("a list");
        answers
            .push(json!({"command": ["sacct"], "file": "history.txt", "secs": 0.1, "error": null}));
    }
    put("manifest.json", &manifest.to_string());
    Site::forecast(&folder, "ft2-bob")
}

// Past jobs ran 59 minutes: 2 starts when 1 ends, 3 when 2 ends. As nothing is known of misses, the band is as wide as
// the wait.
#[test]
fn the_forecast_is_shown_in_place_of_the_estimate() {
    let site = site(Some(history(12)));
    let starts = [STARTED + 3540, STARTED + 2 * 3540];
    for (job, start) in [2, 3].into_iter().zip(starts) {
        let page = site.page(&format!("/job/{job}"));
        assert_eq!(numbers(&page, "forecast_start"), [start as f64]);
        assert_eq!(
            numbers(&page, "forecast_to"),
            [(NOW + 2 * (start - NOW)) as f64]
        );
        assert_eq!(numbers(&page, "forecast_made_from"), [NOW as f64]);
        assert!(page.contains("in 90 of 100 cases"), "{page}");
        // No past job waited.
        let why = "Here bands are wide: only 0 forecasts of past jobs show how far such forecasts miss, of the 20";
        assert!(page.contains(why), "{page}");
        assert!(!page.contains("own estimate"), "{page}");
        let document = site.json(&format!("/api/v1/job/{job}"));
        assert_eq!(document["waiting"]["forecast"]["start"], start);
        assert_eq!(document["waiting"]["forecast"]["band_90_held"], Value::Null);
    }
    let me = site.page("/me");
    assert!(!me.contains("are being computed"), "{me}");
    assert_eq!(
        numbers(&me, "forecast_start"),
        starts.map(|start| start as f64)
    );
    assert!(!me.contains("own estimate"), "{me}");
    let document = site.json("/api/v1/me");
    assert_eq!(document["waiting"][1]["forecast"]["made_from"], NOW);
    // Slurm's word stays in the document, by its own name.
    assert_eq!(document["waiting"][0]["slurm_start_time"], ESTIMATE);
    let csv = site.get("/me.csv").text;
    assert!(
        csv.lines()
            .next()
            .is_some_and(|line| line.contains(",forecast_start,forecast_from,forecast_to,")),
        "{csv}"
    );
}

#[test]
fn without_a_past_the_estimate_stays() {
    for past in [None, Some(HISTORY.to_owned()), Some(history(9))] {
        let site = site(past);
        for path in ["/job/2", "/me"] {
            let page = site.page(path);
            assert_eq!(numbers(&page, "slurm_start_time"), [ESTIMATE as f64]);
            assert!(page.contains("by Slurm's own estimate"), "{page}");
            assert_eq!(numbers(&page, "forecast_start"), [0.0; 0]);
        }
        assert_eq!(
            site.json("/api/v1/job/2")["waiting"]["forecast"],
            Value::Null
        );
    }
}

/// sacct is asked once a day, also by a service that starts again.
#[test]
fn past_jobs_are_asked_for_once() {
    let place = Place::recorded();
    fs::write(place.answers().join("history.txt"), HISTORY).expect("written");
    let asked = || {
        let calls = fs::read_to_string(place.path("calls")).expect("the calls");
        calls
            .lines()
            .filter(|line| line.contains("/sacct "))
            .count()
    };
    for (before, all) in [(0, CALLS + 1), (CALLS + 1, 2 * CALLS + 1)] {
        let service = place.start();
        service.await_picture(&place, before);
        // One call more than for other pictures.
        while place.calls() < all {
            std::thread::yield_now();
        }
        assert_eq!((place.calls(), asked()), (all, 1));
        let has_history = |folder: &Path| folder.join("history.txt").exists();
        let captures = fs::read_dir(place.path("captures")).expect("captures");
        let with = captures.filter(|entry| has_history(&entry.as_ref().expect("an entry").path()));
        assert_eq!(with.count(), 1);
    }
}

// Before the first ones are there.
#[test]
fn a_page_says_that_forecasts_are_being_computed() {
    let site = Site::recorded("cluster", "ft2-bob");
    let said = "Forecasts of these jobs are being computed.";
    assert!(!site.page("/me").contains(said));
    site.shared.begin_forecast();
    assert!(site.page("/me").contains(said));
    site.shared.forecast(None);
    assert!(!site.page("/me").contains(said));
}
