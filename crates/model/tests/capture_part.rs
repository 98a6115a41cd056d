//! A capture read with a few of its jobs gives the same about these as the whole capture.

#[allow(clippy::duplicate_mod)] // Other files of a test program use it, too.
#[path = "../../../tests/common/checkout.rs"]
mod checkout;

use std::path::{Path, PathBuf};

use checkout::checkout;

use fairtree_model::cluster::{Cluster, runs};
use fairtree_model::input::InputError;
use fairtree_model::input::capture::{Stored, open};
use fairtree_model::input::slurm::part::Wanted;
use fairtree_model::input::slurm::snapshot::{Purpose, Snapshot, Source};

const CLUSTER: &str = "tests/captures/cluster";

fn capture(folder: &Path) -> Stored {
    open(folder).expect("a capture")
}

fn part(stored: &Stored, wanted: &Wanted) -> Result<Snapshot, InputError> {
    let place = |source: Source| -> Result<PathBuf, InputError> { stored.path(source) };
    Snapshot::read_part("part", &stored.answers, &place, wanted)
}

fn only(ids: &[u32]) -> Wanted {
    Wanted {
        ids: ids.to_vec(),
        arrays: Vec::new(),
        in_state: runs,
    }
}

#[test]
fn the_jobs_in_question_are_as_in_the_whole() {
    let stored = capture(&checkout().join(CLUSTER));
    let whole = Snapshot::read("whole", &stored.answers, Purpose::Any).expect("a snapshot");
    let all = Cluster::from_snapshot(&whole, None).expect("a cluster");
    for job in whole.queued.jobs.iter() {
        let part = part(&stored, &only(&[job.id])).expect("a snapshot");
        let found = part.queued.jobs.iter().find(|row| row.id == job.id);
        assert_eq!(found, Some(job));
        let rows = |snapshot: &Snapshot| -> Vec<String> {
            let rows = snapshot
                .queued
                .queue
                .listings
                .iter()
                .flat_map(|l| l.rows.iter());
            let rows = rows.filter(|row| row.job_id == Some(job.id));
            // All but the line, which is that of the excerpt.
            rows.map(|row| format!("{:?}", (row.partition, row.priority, row.norm, row.tres)))
                .collect()
        };
        assert_eq!(rows(&part), rows(&whole), "job {}", job.id);
        let few = Cluster::from_snapshot(&part, None).expect("a cluster");
        assert_eq!(few.now(), all.now());
        assert_eq!(few.load(), all.load(), "running jobs are all there");
    }
}

#[test]
fn errors_name_the_line_of_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(checkout().join(CLUSTER)).expect("a folder") {
        let path = entry.expect("an entry").path();
        let to = folder.path().join(path.file_name().expect("a name"));
        std::fs::copy(&path, to).expect("a copy");
    }
    let jobs = folder.path().join("jobs.txt");
    let text = std::fs::read_to_string(&jobs).expect("text");
    let (at, line) = text.lines().enumerate().last().expect("jobs");
    let id: u32 = line["JobId=".len()..]
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let broken = line.replacen(" Nice=", " Nice=x", 1);
    std::fs::write(&jobs, text.replace(line, &broken)).expect("written");
    // The broken job is left out, and the note names its line of the file.
    let read = part(&capture(folder.path()), &only(&[id])).expect("a snapshot");
    let place = format!("jobs.txt:{}:", at + 1);
    let [note] = &read.queued.left_out[..] else {
        panic!("{:?}", read.queued.left_out);
    };
    assert!(note.contains(&place) && note.contains("Nice"), "{note}");
    assert!(read.queued.jobs.iter().all(|job| job.id != id));
    // What is no job at all is an error, whichever job is asked for.
    std::fs::write(&jobs, format!("surprise\n{text}")).expect("written");
    let error = part(&capture(folder.path()), &only(&[])).map(drop);
    assert_eq!(error.unwrap_err().line, Some(1));
}
