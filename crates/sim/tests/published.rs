//! Starts of published schedules of the collection of real data. Expected: the wait in column 3 of
//! each line, which PySS gave for the job of the line.

#[path = "../../../tests/common/data.rs"]
#[allow(dead_code)] // Other tests read text.
mod data;

use std::collections::HashMap;

use fairtree_model::input::{stream, swf};
use fairtree_sim::replay::replay;
use fairtree_sim::scheduler::Kind;
use fairtree_sim::workload::Workload;

/// The jobs of a log that a machine of `processors` can replay, and the wait of each in the log.
fn read(path: &str, processors: u32) -> Option<(Workload, HashMap<String, i64>)> {
    let file = std::fs::File::open(data::data(path)?).expect("the log");
    let opened = stream::open(file).expect("a stream");
    let mut workload = Workload::new(processors);
    let mut waits = HashMap::new();
    swf::read_jobs(path, opened.input, &mut |job| {
        let wait = job
            .start
            .zip(job.submit)
            .map(|(start, submit)| start - submit);
        waits.insert(job.id.to_owned(), wait.expect("a wait"));
        workload.add(job);
    })
    .unwrap_or_else(|error| panic!("{error}"));
    workload.sort();
    Some((workload, waits))
}

/// Every start of `schedule` follows from the log of `swf/` that it was made of.
fn starts_are_those_of(kind: Kind, log: &str, schedule: &str, processors: u32, jobs: usize) {
    let Some((workload, _)) = read(&format!("swf/{log}.swf.gz"), processors) else {
        return;
    };
    let (_, waits) = read(&format!("schedules/{schedule}.swf.gz"), processors).expect("a schedule");
    let starts = replay(&workload.jobs, kind.scheduler(processors), &mut ()).starts;
    assert_eq!(starts.len(), jobs);
    assert_eq!(waits.len(), jobs);
    let both = workload.owners.iter().zip(&workload.jobs).zip(starts);
    let differ = both.filter(|((owner, job), start)| {
        start.map(|start| start - job.submit) != waits.get(&owner.id).copied()
    });
    let differ: Vec<_> = differ.collect();
    assert!(
        differ.is_empty(),
        "{} of {jobs}: {:?}",
        differ.len(),
        differ[0]
    );
}

const KTH: &str = "KTH-SP2-1996-2.1-cln";

#[test]
fn easy_of_kth() {
    starts_are_those_of(Kind::Easy, KTH, "KTH-SP2-easy-pyss", 100, 28_467);
}

#[test]
fn fcfs_of_kth() {
    starts_are_those_of(Kind::Fcfs, KTH, "KTH-SP2-fcfs-pyss", 100, 28_467);
}

#[test]
fn conservative_of_kth() {
    starts_are_those_of(
        Kind::Conservative,
        KTH,
        "KTH-SP2-conservative-pyss",
        100,
        28_467,
    );
}

#[test]
fn easy_of_hpc2n() {
    let log = "HPC2N-2002-2.1-cln";
    starts_are_those_of(Kind::Easy, log, "HPC2N-easy-pyss", 240, 202_876);
}

#[test]
fn easy_of_curie() {
    let log = "CEA-Curie-2011-2.1-cln";
    starts_are_those_of(Kind::Easy, log, "CEA-Curie-easy-pyss", 80_640, 295_540);
}
