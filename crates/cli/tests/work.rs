//! The work of each reader grows in step with its input: instructions, counted by valgrind, so that
//! a busy machine does not matter. Twice as long a line, a row, a number of rows takes at most about
//! twice as many.

use std::fs;
use std::process::Command;

/// Instructions that a run of the command takes.
fn instructions(args: &[&str]) -> u64 {
    let ran = Command::new("valgrind")
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ])
        .arg(env!("CARGO_BIN_EXE_fairtree"))
        .args(args)
        .output()
        .expect("valgrind is installed: cargo xtask deps");
    let text = String::from_utf8_lossy(&ran.stderr);
    let line = text
        .lines()
        .rfind(|line| line.contains("I   refs:") || line.contains("I refs:"));
    let digits = line.unwrap_or_else(|| panic!("a count in {text}"));
    let digits: String = digits.rsplit(':').next().unwrap_or("").split(',').collect();
    digits.trim().parse().expect("a number")
}

/// A listing of 1,000 bytes times `size`, whose last part is `piece` again and again.
fn repeated(head: &str, piece: &str, tail: &str) -> impl Fn(usize) -> String {
    move |size: usize| format!("{head}{}{tail}", piece.repeat(size * 1000 / piece.len()))
}

#[test]
fn twice_the_input_takes_twice_the_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let nothing = folder.path().join("nothing").display().to_string();
    fs::write(&nothing, "").expect("written");
    let idle = instructions(&["share", &nothing]);
    let queue = "  JOBID PARTITION   PRIORITY       SITE        AGE\n    7 p          5          0          2\n";
    let sacct = "JobID|JobName|User|Start|End|NCPUS\n";
    let times = "|u|2026-01-01T00:00:00|2026-01-01T01:00:00|1\n";
    let dump = "Cluster - 'c'\nParent - 'root'\n";
    let row = format!("{sacct}1|");
    for (name, command, text) in [
        ("prompts", "share", repeated("", "#", "")),
        ("signs", "share", repeated("", "$ % > ", "")),
        ("calls", "share", repeated("", "# sshare ", "")),
        ("paths", "share", repeated("$ ", "sshare/", "")),
        ("prompts of prio", "prio", repeated(queue, "#", "\n")),
        ("columns", "prio", repeated("", "JOBID ", "\n7\n")),
        ("bars", "share", repeated("Account|User\nroot|", "|", "\n")),
        (
            "rows",
            "share",
            repeated("Account|User|RawShares\nroot||\n a||1\n", "  a|u|1\n", ""),
        ),
        ("bars in a record", "share", repeated(&row, "a|", times)),
        ("lines of a record", "share", repeated(&row, "a\n", times)),
        (
            "broken records",
            "share",
            repeated(sacct, "1|x\n", &format!("1|x{times}")),
        ),
        (
            "quotes",
            "share",
            repeated(&format!("{dump}Account - 'a':D='"), "' ", "'\n"),
        ),
        (
            "continued lines",
            "share",
            repeated(&format!("{dump}Account - 'a':D=\\\n"), "x\\\n", "\n"),
        ),
        (
            "users of a dump",
            "share",
            repeated(dump, "User - 'u'\n", ""),
        ),
        ("words of SWF", "share", repeated("", "1 ", "\n")),
        (
            "texts in JSON",
            "share",
            repeated("{\"a\":\"", "\\\"", "\"}"),
        ),
        (
            "tables",
            "share",
            repeated("[accounts.a]\n", "users.u = {}\n", ""),
        ),
    ] {
        let path = folder.path().join("input").display().to_string();
        let [once, twice] = [12, 24].map(|size| {
            fs::write(&path, text(size)).expect("written");
            instructions(&[command, &path]).saturating_sub(idle)
        });
        assert!(twice < once * 5 / 2, "{name}: {once}, then {twice}");
    }
}
