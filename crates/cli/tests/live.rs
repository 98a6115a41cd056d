//! Commands that ask a live Slurm, when it does not answer as it should. Slurm's commands are
//! scripts that print what Slurm 22.05.8 printed, or fail with the words of Slurm's own.

#[path = "command/slurm.rs"]
mod slurm;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use slurm::{checkout, commands, fairtree, link_tools};

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
    let bin = commands(&folder, &[("squeue", "echo boom >&2; exit 3")]);
    let ran = fairtree(&["explain", "ft2-bob@physics"], Some(&bin), false);
    let said = text(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(
        said.contains("note: explained without the jobs that run, which are not known: squeue"),
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
        // All that read jobs need the QOS.
        if needed.contains(&"squeue") {
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

/// By hand: of 101 shares root's user has 1, biology 20, alice 5 and 40/3, bob 80/3, erin 30, frank 5; used
/// over that: 0, 51.6, 303.2 and 76.2, 24.5, 86.6, 158.8. The two users of biology are one leaf: 7 places.
const LEAST_USED: [(&str, &str, &str); 8] = [
    ("root", "root", "1.000000"),
    ("physics", "ft2-bob", "0.857143"),
    ("biology", "ft2-carol", "0.714286"),
    ("biology", "ft2-dave", "0.714286"),
    ("physics", "ft2-alice", "0.571429"),
    ("imaging", "ft2-erin", "0.428571"),
    ("genomics", "ft2-frank", "0.285714"),
    ("genomics", "ft2-alice", "0.142857"),
];

/// Commands of a site that follows `policy=FILE`; the file is in `folder`.
fn under_policy(folder: &Path) -> PathBuf {
    let policy = folder.join("policy.toml");
    fs::write(&policy, "ranking = 'least_used:leaf'\n").expect("written");
    let recorded = checkout().join(slurm::CLUSTER);
    let read = |file: &str| fs::read_to_string(recorded.join(file)).expect("recorded");
    let row = |line: &str| {
        let mut cells: Vec<&str> = line.split('|').collect();
        let is = |row: &&(&str, &str, &str)| cells[0].trim() == row.0 && cells[1] == row.1;
        if let Some(found) = LEAST_USED.iter().find(is) {
            cells[9] = found.2;
        }
        if cells[0] != "Account" {
            // Those of Fair Tree; FairShare alone is compared.
            cells[8] = "";
            cells[10] = "";
        }
        cells.join("|") + "\n"
    };
    let shares: String = read("sshare.txt").lines().map(row).collect();
    // Passes are close, so that doctor need not wait long for the next one.
    let parameters = format!(
        "PriorityParameters      = calc_period=1,policy={}",
        policy.display()
    );
    let config = read("config.txt")
        .replace("PriorityParameters      = (null)", &parameters)
        .replace("priority/multifactor", "priority/fairtree");
    for (file, text) in [("sshare.txt", shares), ("config.txt", config)] {
        fs::write(folder.join(file), text).expect("written");
    }
    let scontrol = format!(
        "case \"$*\" in *config) f='{}';; *partition) f=partitions.txt;; *node) f=nodes.txt;; \
         *) f=jobs.txt;; esac\ncd '{}' && cat $f",
        folder.join("config.txt").display(),
        recorded.display()
    );
    let sshare = format!("cat '{}'", folder.join("sshare.txt").display());
    commands(folder, &[("scontrol", &scontrol), ("sshare", &sshare)])
}

/// Ranks are places of leaves, of which an account may be one, and the policy file says so.
#[test]
fn a_live_site_is_read_by_its_policy_file() {
    let folder = folder("policy");
    let bin = under_policy(&folder);
    for args in [
        &["what-if", "--shares", "physics=40"][..],
        &["explain", "ft2-bob@physics"],
        &["explain", "301", "--versus", "309"],
        &["share", "-a", "--json"],
        &["chart"],
    ] {
        let ran = fairtree(args, Some(&bin), false);
        let said = text(&ran.stderr);
        assert!(ran.status.success(), "{args:?}: {said}");
        assert!(
            !said.contains("policy file is not read"),
            "{args:?}: {said}"
        );
        assert!(!said.contains("is no rank among"), "{args:?}: {said}");
    }
    let json = fairtree(&["share", "-a", "--json"], Some(&bin), false);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["gaps"].as_array().map(Vec::len), Some(0), "{json}");
    for (account, user, factor) in LEAST_USED {
        let rows = json["rows"].as_array().expect("rows").iter();
        let is = |row: &&serde_json::Value| row["account"] == account && row["user"] == user;
        let found = rows.clone().find(is).expect("a row")["fs_factor"].as_f64();
        let found = format!("{:.6}", found.expect("a number"));
        assert_eq!(found, factor, "{user}@{account}");
    }
    let set = "PriorityParameters=usage=window:28-0,ranking=least_used:1";
    let ran = fairtree(&["what-if", "--set", set], Some(&bin), false);
    let said = text(&ran.stdout);
    assert!(said.contains("usage stays as it is"), "{said}");
    let ran = fairtree(&["doctor"], Some(&bin), false);
    let said = text(&ran.stdout);
    assert!(said.contains("[numbers]"), "{said}");
    assert!(!said.contains("numbers of sshare differ"), "{said}");
    // A file that is not there leaves the settings as they are, which is told.
    fs::remove_file(folder.join("policy.toml")).expect("removed");
    let ran = fairtree(&["share", "-a"], Some(&bin), false);
    assert!(text(&ran.stderr).contains("policy file is not read here"));
}

/// Under `order=` sprio has a number as FAIRSHARE and as PRIORITY: it is not compared with the sums.
#[test]
fn numbers_of_an_order_are_no_sums() {
    let folder = folder("order");
    let recorded = checkout().join(slurm::CLUSTER).display().to_string();
    let scontrol = format!(
        "case \"$*\" in *config) f=config;; *partition) f=partitions;; *node) f=nodes;; \
         *) f=jobs;; esac\n\
         sed -e 's|^PriorityParameters.*|PriorityParameters = order=strict|' \
         -e 's|^PriorityType .*|PriorityType = priority/fairtree|' '{recorded}'/$f.txt"
    );
    let sprio = format!(
        "awk -F'|' -v OFS='|' 'NR > 1 {{ $4 = $12 = 1000000 - NR; $5 = $4 / 4294967295; $13 = $12 / 100000; \
         $8 = $14 = $16 = $18 = 0; $9 = $15 = $17 = $19 = \"0.0000000\"; $20 = $21 = \"\" }} {{ print }}' \
         '{recorded}'/sprio.txt"
    );
    let bin = commands(&folder, &[("scontrol", &scontrol), ("sprio", &sprio)]);
    let ran = fairtree(&["prio", "--check"], Some(&bin), false);
    let said = text(&ran.stdout) + &text(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("order=strict decides"), "{said}");
    let ran = fairtree(&["doctor"], Some(&bin), false);
    let said = text(&ran.stdout);
    assert!(said.contains("[numbers]"), "{said}");
    assert!(!said.contains("numbers of sprio differ"), "{said}");
    // Whoever waits has a place there.
    let ran = fairtree(&["explain", "301", "--versus", "302"], Some(&bin), false);
    let said = text(&ran.stdout);
    assert!(said.contains("under order=strict"), "{said}");
    assert!(!said.contains("administrator"), "{said}");
}
