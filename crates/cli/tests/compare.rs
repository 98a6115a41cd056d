//! `fairtree compare` from outside. Expected values: hand calculation, on top of what Slurm 22.05.8
//! printed (`tests/captures`).

#[allow(clippy::duplicate_mod)] // Other files of a test program use it, too.
#[path = "../../../tests/common/checkout.rs"]
mod checkout;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use checkout::checkout;

const CLUSTER: &str = "tests/captures/cluster";

fn fairtree(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fairtree"))
        .args(args)
        .current_dir(checkout())
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // The command may not read it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compare-{name}"));
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("it can be emptied");
    }
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

#[test]
fn captures_are_compared_in_both_ways() {
    let same = fairtree(&["compare", CLUSTER, CLUSTER], "");
    assert_eq!(
        (out(&same).as_str(), same.status.code()),
        ("nothing changed\n", Some(0))
    );
    let folder = folder("captures");
    for entry in fs::read_dir(checkout().join(CLUSTER)).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("a copy");
    }
    let edit = |file: &str, from: &str, to: &str| {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).expect("text");
        assert!(text.contains(from), "{file} has {from}");
        fs::write(&path, text.replacen(from, to, 1)).expect("written");
    };
    edit("sshare.txt", "ft2-bob||10|2|", "ft2-bob||10|5|");
    edit(
        "sprio.txt",
        "|4242|4242.00000000000000|",
        "|4300|4300.00000000000000|",
    );
    let after = folder.display().to_string();
    let ran = fairtree(&["compare", CLUSTER, &after], "");
    assert_eq!(ran.status.code(), Some(1));
    let shown = out(&ran);
    assert!(
        shown.contains("ft2-bob@physics: RawShares 2 -> 5\n"),
        "{shown}"
    );
    assert!(shown.contains("PRIORITY 4242 -> 4300"), "{shown}");
    assert_eq!(shown.lines().count(), 2, "{shown}");
}

#[test]
fn differences_as_json() {
    let folder = folder("json");
    let write = |name: &str, rows: &str| {
        let path = folder.join(name);
        let heading = "Account|User|RawShares|RawUsage|LevelFS|FairShare\n";
        fs::write(&path, format!("{heading}{rows}")).expect("written");
        path.display().to_string()
    };
    let root = "root|||300000||\n";
    let before = write(
        "before",
        &format!("{root} root|a|1|100000|1.500000|1.000000\n root|b|1|200000|0.750000|0.500000\n"),
    );
    let after = write(
        "after",
        &format!(
            "{root} root|a|parent|200000|0.750000|0.500000\n root|b|1|100000|inf|1.000000\n root|c|1|0|inf|1.000000\n"
        ),
    );
    let ran = fairtree(&["compare", "--json", &before, &after], "");
    assert_eq!(ran.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_str(&out(&ran)).expect("JSON");
    assert_eq!(json["schema"], "fairtree.compare/1");
    assert_eq!(json["compared"], serde_json::json!(["shares"]));
    let changes = json["changes"].as_array().expect("a list");
    let kinds: Vec<&str> = changes
        .iter()
        .map(|c| c["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(
        kinds,
        ["order", "association", "association", "association"]
    );
    assert_eq!(
        changes[0]["values"][0],
        serde_json::json!({"name": "b@root", "before": 0.75, "after": "inf"})
    );
    assert_eq!(
        changes[1]["values"][0],
        serde_json::json!({"name": "RawShares", "before": 1, "after": "parent"})
    );
    assert_eq!(changes[1]["values"][1]["after"], 200_000);
    assert_eq!(
        (&changes[3]["about"], &changes[3]["happened"]),
        (&"c@root".into(), &"new".into())
    );
    let same = fairtree(&["compare", "--json", &before, &before], "");
    assert_eq!(same.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_str(&out(&same)).expect("JSON");
    assert_eq!(json["changes"], serde_json::json!([]));
}

/// 24.11 prints a row for each QOS of a job.
#[test]
fn jobs_with_several_qos() {
    let rows = |second: &str| {
        format!("JOBID|PARTITION|PRIORITY|SITE|AGE|QOS\n7|main|300|0|100|200\n7|main|{second}\n")
    };
    let folder = folder("qos");
    let path = folder.join("before");
    fs::write(&path, rows("150|0|100|50")).expect("written");
    let ran = fairtree(
        &["compare", &path.display().to_string(), "-", "--json"],
        &rows("100|0|100|0"),
    );
    let json: serde_json::Value = serde_json::from_str(&out(&ran)).expect("JSON");
    let changes = json["changes"].as_array().expect("a list");
    assert_eq!(changes.len(), 1, "{json}");
    assert_eq!(
        changes[0]["values"][0],
        serde_json::json!({"name": "PRIORITY", "before": 150, "after": 100})
    );
    assert_eq!(
        changes[0]["values"][1],
        serde_json::json!({"name": "QOS", "before": 50.0, "after": 0.0})
    );
}

#[test]
fn files_and_a_pipe() {
    let text = fs::read_to_string(checkout().join("tests/sprio/long.txt")).expect("text");
    let same = fairtree(&["compare", "tests/sprio/long.txt", "-"], &text);
    assert_eq!(same.status.code(), Some(0), "{}", out(&same));
    let less: String = text
        .lines()
        .take(8)
        .map(|line| format!("{line}\n"))
        .collect();
    let ran = fairtree(&["compare", "tests/sprio/long.txt", "-"], &less);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        out(&ran).contains("gone: it started, ended or was held"),
        "{}",
        out(&ran)
    );
}

/// Both outputs of one moment in a file, in either order.
#[test]
fn sshare_and_sprio_in_one_file() {
    let before = "tests/compare/before.txt";
    let text = fs::read_to_string(checkout().join(before)).expect("text");
    let at = text.find("          JOBID").expect("sprio's header");
    let turned = format!("{}{}", &text[at..], &text[..at]);
    let same = fairtree(&["compare", before, "-"], &turned);
    assert_eq!(
        (out(&same).as_str(), same.status.code()),
        ("nothing changed\n", Some(0))
    );
    // Half of it is compared with what is there.
    let queue = fairtree(&["compare", before, "-"], &text[at..]);
    assert_eq!(
        (out(&queue).as_str(), queue.status.code()),
        ("nothing changed\n", Some(0))
    );
    let cut = text.replace("  tb|b2|0|", "  tb|b2|0.5|");
    let ran = fairtree(&["compare", before, "-"], &cut);
    assert_eq!(ran.status.code(), Some(1));
    let said = String::from_utf8(ran.stderr).expect("UTF-8");
    assert!(said.contains("standard input:8:"), "{said}");
    assert!(said.contains("this cell counts as blank"), "{said}");
    let late = text.replace("      10120  ", "      1o120  ");
    let ran = fairtree(&["compare", before, "-"], &late);
    let said = String::from_utf8(ran.stderr).expect("UTF-8");
    assert!(said.contains("standard input:10"), "{said}");
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    for args in [
        &["compare", "tests/sprio/long.txt", "tests/sites/tie.sshare"][..],
        &["compare", "-", "-"],
        &["compare", "no-such-file", "tests/sprio/long.txt"],
        &["compare", "tests/sprio/long.txt"],
        &["compare", "tests/sites/week.toml", "tests/sites/week.toml"],
    ] {
        let ran = fairtree(args, "");
        assert_eq!(
            (ran.status.code(), out(&ran).as_str()),
            (Some(2), ""),
            "{args:?}"
        );
    }
}

/// With the files that the examples name; the names of captures are those of two copies of one.
#[test]
fn the_examples_of_the_help_text_work() {
    let folder = folder("help");
    for (name, file) in [
        ("monday.sshare", "tests/sites/tie.sshare"),
        ("tuesday.sshare", "tests/sites/tie.sshare"),
        ("earlier.sprio", "tests/sprio/long.txt"),
        ("before", "tests/compare/before.txt"),
    ] {
        fs::copy(checkout().join(file), folder.join(name)).expect("a copy");
    }
    for moment in ["20261121T103630Z", "20261121T104015Z"] {
        let capture = folder.join("week").join(moment);
        fs::create_dir_all(&capture).expect("a folder");
        for entry in fs::read_dir(checkout().join(CLUSTER)).expect("a folder") {
            let path = entry.expect("an entry").path();
            fs::copy(&path, capture.join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
    let help = out(&fairtree(&["compare", "--help"], ""));
    let sprio = fs::read_to_string(checkout().join("tests/sprio/long.txt")).expect("text");
    let both = fs::read_to_string(checkout().join("tests/compare/before.txt")).expect("text");
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    let mut count = 0;
    for line in examples.lines().take_while(|line| !line.is_empty()) {
        let (_, args) = line.split_once("fairtree ").expect("a command");
        let args = args.split(" | ").next().expect("a command");
        let file = |word: &str| {
            let path = folder.join(word);
            match path.exists() {
                true => path.display().to_string(),
                false => word.to_owned(),
            }
        };
        let args: Vec<String> = args.split_whitespace().map(file).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let input = if line.contains("; sprio") {
            &both
        } else {
            &sprio
        };
        let ran = fairtree(&args, input);
        assert_eq!(ran.status.code(), Some(0), "{line}: {}", out(&ran));
        count += 1;
    }
    assert_eq!(count, 5);
}
