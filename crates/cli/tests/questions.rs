//! The commands of Slurm that each command runs at a live site: those of the table in the administrator's
//! guide, each once.

#[path = "command/slurm.rs"]
mod slurm;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use slurm::{checkout, commands, fairtree};

/// The commands in the first column of the table, as they are run.
const ASKING: [(&str, &[&str]); 11] = [
    ("share", &["share", "-a", "--fresh"]),
    ("shares", &["shares", "--fresh"]),
    ("chart", &["chart", "--fresh"]),
    (
        "cost",
        &[
            "cost", "-u", "ft2-bob", "-t", "60", "--tres", "cpu=4", "--fresh",
        ],
    ),
    ("explain USER", &["explain", "ft2-bob@physics", "--fresh"]),
    ("explain JOB", &["explain", "309", "--fresh"]),
    ("prio", &["prio", "-l", "--fresh"]),
    ("what-if", &["what-if", "--nice", "309=5", "--fresh"]),
    ("metrics", &["metrics", "--fresh"]),
    ("forecast", &["forecast", "309"]),
    ("capture", &["capture", "DIR"]),
];

/// The words of the other columns, and how the commands of Slurm begin that answer them.
const ANSWERS: [(&str, &str); 13] = [
    ("settings", "scontrol show config"),
    ("partitions", "scontrol -a -o show partition"),
    ("nodes", "scontrol -a -o show node"),
    ("names of jobs", "squeue "),
    ("jobs", "scontrol -a -o show job"),
    ("priorities", "sprio "),
    ("shares", "sshare "),
    ("associations", "sacctmgr -P show assoc "),
    ("QOS", "sacctmgr -P show qos "),
    ("accounts", "sacctmgr -P show account "),
    ("users", "sacctmgr -P show user "),
    ("its own settings", "sacctmgr show config"),
    ("past jobs", "sacct "),
];

/// The words in the row of a command in the guide's table.
fn promised(guide: &str, command: &str) -> BTreeSet<String> {
    let table = guide.split("## What a command costs slurmctld").nth(1);
    let table = table.expect("the part about costs").split("\n## ").next();
    let name = format!("`{command}`");
    let row = table.expect("a table").lines().find(|line| {
        let first = line
            .strip_prefix("| ")
            .and_then(|line| line.split('|').next());
        first.is_some_and(|cell| cell.trim().split(", ").any(|word| word == name))
    });
    let row = row.unwrap_or_else(|| panic!("the guide has no row of {command}"));
    let cells = row.split('|').skip(2);
    let words = cells.flat_map(|cell| cell.split(','));
    let words = words.map(|word| word.trim().to_owned());
    words.filter(|word| !word.is_empty()).collect()
}

/// Runs a command with scripts in place of Slurm's, with `edit` applied to each; what they were asked.
fn asked(folder: &Path, args: &[&str], edit: &dyn Fn(&str, String) -> String) -> Vec<String> {
    let bin = commands(folder, &[]);
    let log = folder.join("log");
    for entry in fs::read_dir(&bin).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let script = fs::read_to_string(&path).expect("a script");
        let noting = format!("#!/bin/sh\necho \"{name} $*\" >>'{}'\n", log.display());
        let script = edit(&name, script.replacen("#!/bin/sh\n", &noting, 1));
        fs::write(&path, script).expect("written");
    }
    let dir = folder.join("captures").display().to_string();
    let args: Vec<&str> = args
        .iter()
        .map(|word| if *word == "DIR" { &*dir } else { *word })
        .collect();
    let ran = fairtree(&args, Some(&bin), false);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{args:?}: {said}");
    let log = fs::read_to_string(&log).expect("something was asked");
    log.lines().map(str::to_owned).collect()
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("questions-{name}"));
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("it can be emptied");
    }
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

#[test]
fn each_command_asks_what_the_guide_says_and_once() {
    let guide = fs::read_to_string(checkout().join("docs/administrator.md")).expect("the guide");
    for (command, args) in ASKING {
        let lines = asked(&folder(&command.replace(' ', "-")), args, &|_, script| {
            script
        });
        let word = |line: &String| {
            let found = ANSWERS.iter().find(|(_, begin)| line.starts_with(begin));
            found
                .unwrap_or_else(|| panic!("{command}: {line}"))
                .0
                .to_owned()
        };
        let words: Vec<String> = lines.iter().map(word).collect();
        let once: BTreeSet<String> = words.iter().cloned().collect();
        assert_eq!(once.len(), words.len(), "{command} asks once: {words:?}");
        assert_eq!(once, promised(&guide, command), "{command}");
    }
}

// Only the size of jobs counts nodes.
#[test]
fn nodes_are_asked_for_where_the_size_of_jobs_counts() {
    let no_size = |name: &str, script: String| match name {
        "scontrol" => {
            let from = "^PriorityWeightJobSize .*";
            script.trim_end().to_owned()
                + &format!(" | sed 's/{from}/PriorityWeightJobSize = 0/'\n")
        }
        _ => script,
    };
    for (args, name) in [
        (&["explain", "309"][..], "explain"),
        (&["prio", "-l"], "prio"),
    ] {
        let args = [args, &["--fresh"]].concat();
        let lines = asked(&folder(&format!("no-size-{name}")), &args, &no_size);
        assert!(
            !lines.iter().any(|line| line.ends_with("show node")),
            "{lines:?}"
        );
    }
}
