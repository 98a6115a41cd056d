//! Commands that ask a live Slurm, when it does not answer as it should. Slurm's commands are
//! scripts that print what Slurm 22.05.8 printed, or fail with the words of Slurm's own.

#[path = "command/slurm.rs"]
mod slurm;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use slurm::{commands, fairtree, link_tools};

/// What asks Slurm, and which of Slurm's commands it cannot do without.
const ASKING: [(&[&str], &[&str]); 8] = [
    (&["share", "-a"], &["scontrol", "sshare"]),
    (&["chart"], &["scontrol", "sshare"]),
    (&["explain", "ft2-bob@physics"], &["scontrol", "sshare"]),
    (&["prio", "-l"], &ALL),
    (&["explain", "301"], &ALL),
    (&["explain", "301", "--versus", "303"], &ALL),
    (&["what-if", "--shares", "physics=40"], &ALL),
    (
        &["cost", "-u", "ft2-bob", "-t", "60", "--tres", "cpu=4"],
        &ALL,
    ),
];

const ALL: [&str; 4] = ["scontrol", "sshare", "sprio", "squeue"];

/// What a command of Slurm does instead of answering, and what is said of it.
const FAILURES: [(&str, &str, &str); 7] = [
    ("missing", "", "is not installed"),
    (
        "down",
        "echo 'error: Unable to contact slurm controller (connect failure)' >&2; exit 1",
        "slurmctld cannot be reached",
    ),
    (
        "denied",
        "echo 'error: Access/permission denied' >&2; exit 1",
        "not permitted",
    ),
    ("other", "echo boom >&2; exit 3", "exit status: 3: boom"),
    ("silent", "exit 1", "exit status: 1: it said nothing"),
    ("odd", "echo surprise", "unexpected output"),
    ("slow", "exec sleep 1000", "no answer within 1 seconds"),
];

/// A folder of this test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("live-{name}"));
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("it can be emptied");
    }
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Nothing on standard output, one message, exit code 2.
fn refused(ran: &Output, words: &str, what: &str) {
    let said = text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{what}: {said}");
    assert!(said.contains(words), "{what}: {said}");
    assert!(said.contains("fairtree: error: "), "{what}: {said}");
    assert_eq!(text(&ran.stdout), "", "{what}");
}

#[test]
fn each_way_to_fail_is_told_by_each_command() {
    for (name, script, words) in FAILURES {
        for program in ALL {
            let folder = folder(&format!("{name}-{program}"));
            let bin = commands(&folder, &[(program, script)]);
            link_tools(&bin);
            for (args, needed) in ASKING {
                let what = format!("{name} {program}: {args:?}");
                // One that waits in vain is as good as all of them.
                if name == "slow" && program != "sshare" {
                    continue;
                }
                // Those that answer have long enough on any machine.
                let limit = if name == "slow" { "1" } else { "600" };
                let args = [args, &["--time-limit", limit]].concat();
                let ran = fairtree(&args, Some(&bin), true);
                // The names of jobs may be anything.
                if needed.contains(&program) && (name, program) != ("odd", "squeue") {
                    refused(&ran, words, &what);
                } else {
                    let said = text(&ran.stderr);
                    assert_eq!(ran.status.code(), Some(0), "{what}: {said}");
                    assert_ne!(text(&ran.stdout), "", "{what}");
                }
            }
        }
    }
}

#[test]
fn users_are_explained_without_the_jobs_that_run() {
    let folder = folder("without-jobs");
    let bin = commands(&folder, &[("sprio", "echo boom >&2; exit 3")]);
    let ran = fairtree(&["explain", "ft2-bob@physics"], Some(&bin), false);
    let said = text(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(
        said.contains("note: explained without the jobs that run, which are not known: sprio"),
        "{said}"
    );
}

#[test]
fn without_slurmdbd_there_is_what_does_not_need_it() {
    let folder = folder("slurmdbd");
    let refuses = "echo 'sacctmgr: error: Connection refused' >&2; exit 1";
    let bin = commands(&folder, &[("sacctmgr", refuses)]);
    // Priorities of QOS count at this site.
    let without = "the priorities of the QOS are not there";
    for (args, needed) in ASKING {
        let ran = fairtree(args, Some(&bin), false);
        let said = text(&ran.stderr);
        let what = format!("{args:?}: {said}");
        if needed == ALL {
            assert_eq!(ran.status.code(), Some(2), "{what}");
            assert!(said.contains("slurmdbd cannot be reached"), "{what}");
            assert!(said.contains(without), "{what}");
            assert_eq!(text(&ran.stdout), "", "{what}");
        } else {
            assert!(ran.status.success(), "{what}");
        }
    }
}

// sshare is asked for all associations, so nothing is taken for granted.
#[test]
fn answers_of_slurm_are_whole() {
    let folder = folder("whole");
    let bin = commands(&folder, &[]);
    for args in [&["share", "-a"][..], &["chart"]] {
        let live = fairtree(args, Some(&bin), false);
        let captured = fairtree(&[args, &["--from", slurm::CLUSTER]].concat(), None, false);
        for ran in [live, captured] {
            assert!(ran.status.success());
            assert_eq!(text(&ran.stderr), "", "{args:?}");
        }
    }
}
