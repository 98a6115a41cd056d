//! Long inputs pass through: they may be longer than the memory that the command may have.

use std::io::{BufWriter, Write};
use std::process::{Command, Output, Stdio};

/// The most memory for data, in units of 1024 bytes, as `ulimit -d` takes it.
const MEMORY: u32 = 48 * 1024;

/// Bytes of an input: more than the memory.
const INPUT: usize = 80 << 20;

/// Runs the command with little memory on an input of `header` and lines that `line` makes, at
/// least [`INPUT`] bytes, through a pipe; gives what it left, and how many lines there were.
fn with_little_memory(
    words: &[&str],
    header: &str,
    line: impl Fn(usize) -> String,
) -> (Output, usize) {
    let limited = format!("ulimit -d {MEMORY} && exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_fairtree")])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sh starts");
    let mut input = BufWriter::new(child.stdin.take().expect("a pipe"));
    let (mut bytes, mut lines) = (0, 0);
    let mut fed = writeln!(input, "{header}").is_ok();
    while fed && bytes < INPUT {
        let line = line(lines);
        bytes += line.len() + 1;
        lines += 1;
        fed = writeln!(input, "{line}").is_ok();
    }
    drop(input);
    (child.wait_with_output().expect("it ends"), lines)
}

/// The last column of the row of `root`, `-P -n`.
fn root_usage(output: &Output) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let root = text.lines().find(|line| line.starts_with("root||"));
    let root = root.unwrap_or_else(|| panic!("{text}{said}"));
    root.rsplit('|')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a number")
}

/// One CPU for ten seconds each, within an hour, of which almost nothing decays with a half-life of
/// a week.
fn adds_up(output: &Output, lines: usize) {
    let usage = root_usage(output) / (10.0 * lines as f64);
    assert!((0.99..=1.0).contains(&usage), "{usage}");
}

const SHARE: [&str; 6] = ["share", "-n", "-P", "-o", "Account,User,RawUsage", "-"];

#[test]
fn a_workload_log_longer_than_memory() {
    let line = |number: usize| {
        let (user, group) = (number % 50 + 1, number % 7 + 1);
        let remark = "x".repeat(2000);
        format!(
            "{} {} 0 10 1 -1 -1 1 60 -1 1 {user} {group} 1 1 1 -1 -1\n; {remark}",
            number + 1,
            number % 3600
        )
    };
    let header = "; UnixStartTime: 1600000000";
    let (output, lines) = with_little_memory(&SHARE, header, line);
    adds_up(&output, lines);
}

#[test]
fn a_listing_of_sacct_longer_than_memory() {
    let header = "JobID|Account|User|Start|End|ElapsedRaw|AllocCPUS|State|Comment";
    let line = |number: usize| {
        let minute = number % 60;
        format!(
            "{}|a{}|u{}|2026-01-01T00:{minute:02}:00|2026-01-01T00:{minute:02}:10|10|1|COMPLETED|{}",
            number + 1,
            number % 7,
            number % 50,
            "x".repeat(2000)
        )
    };
    let (output, lines) = with_little_memory(&SHARE, header, line);
    adds_up(&output, lines);
}
