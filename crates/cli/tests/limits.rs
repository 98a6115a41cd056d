//! The table of `docs/reliability.md`: what no file exceeds, and what no input below 1 MB takes. Memory is
//! bounded for the command by `ulimit`, so that a machine's speed does not matter.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const FAIRTREE: &str = env!("CARGO_BIN_EXE_fairtree");

/// Runs a line of shell, in which `$F` is the command and `$D` a folder.
fn shell(folder: &Path, line: &str) -> Output {
    let mut bash = Command::new("bash");
    bash.args(["-c", line]).env("F", FAIRTREE).env("D", folder);
    // One arena: the others are address space that nobody uses.
    bash.env("MALLOC_ARENA_MAX", "1").stdin(Stdio::null());
    bash.output().expect("bash")
}

#[test]
fn texts_have_a_length() {
    let folder = tempfile::tempdir().expect("a folder");
    let many = "head -c 300000000 /dev/zero | tr '\\0' '#' |";
    let some = "head -c 70000000 /dev/zero | tr '\\0' '#' |";
    let values = "(printf 'x = ['; head -c 9000000 /dev/zero | tr '\\0' ','; printf ']') |";
    for (line, why) in [
        (
            format!("{many} $F share --input-format site"),
            "is longer than 268435456 bytes",
        ),
        (
            format!("{many} $F share --input-format dump"),
            "is longer than 268435456 bytes",
        ),
        (
            format!("{many} $F compare - /dev/null"),
            "is longer than 268435456 bytes",
        ),
        (format!("{some} $F lint -"), "is longer than 67108864 bytes"),
        (
            format!("{values} $F share --input-format site"),
            "has more than 4000000 values",
        ),
    ] {
        let ran = shell(folder.path(), &line);
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{line}: {err}");
        assert!(err.contains(why), "{line}: {err}");
    }
}

/// Lines up to a megabyte.
fn megabyte(head: &str, line: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = head.to_owned();
    for at in 0.. {
        let line = line(at);
        if text.len() + line.len() > 1_000_000 {
            break;
        }
        text.push_str(&line);
    }
    text.into_bytes()
}

/// As many lines as a megabyte of gzip may have.
fn packed(head: &str, line: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = head.to_owned();
    (0..165_000).for_each(|at| text.push_str(&line(at)));
    let mut child = Command::new("gzip")
        .arg("-1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gzip");
    let mut to = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || to.write_all(text.as_bytes()).expect("written"));
    let bytes = child.wait_with_output().expect("gzip").stdout;
    writer.join().expect("a writer");
    assert!(bytes.len() < 1_000_000, "{}", bytes.len());
    bytes
}

/// A number that does not pack well.
fn noise(at: usize) -> u32 {
    (at as u32).wrapping_mul(2_654_435_761).rotate_left(7) % 10_000
}

#[test]
fn no_input_below_a_megabyte_takes_500_mb() {
    let folder = tempfile::tempdir().expect("a folder");
    let user = |at: usize| format!("  a|u{at}|1|{at}\n");
    let job = |at: usize| format!("{at}|||||||||||\n");
    let log = |at: usize| format!("1|{at:x}||2026-01-01T00:00:00|999999|1\n");
    let swf = |at: usize| format!("1 1 1 99999999 1 1 1 1 1 1 1 {at} 1 1 1 1 1 1\n");
    let shares = "Account|User|RawShares|RawUsage\nroot|||9\n a||1|1\n";
    let inputs = [
        (
            "tiny",
            megabyte("Account|User\nroot|\n", |_| " x|\n".into()),
        ),
        ("users", megabyte(shares, user)),
        (
            "packed",
            packed(shares, |at| format!("  a|u{at}|1|{}\n", noise(at))),
        ),
        (
            "queue",
            megabyte(
                "JOBID|PARTITION|USER|PRIORITY|SITE|NICE|AGE|ASSOC|FAIRSHARE|JOBSIZE|QOS|TRES\n",
                job,
            ),
        ),
        (
            "log",
            megabyte("JobID|User|Account|Start|ElapsedRaw|NCPUS\n", log),
        ),
        ("swf", megabyte("; UnixStartTime: 1\n", swf)),
        ("accounts", megabyte("", |at| format!("[accounts.a{at}]\n"))),
        ("values", megabyte("x = [", |_| "0,".into())),
        (
            "dump",
            megabyte("Cluster - c\nParent - root\n", |at| {
                format!("User - u{at}\n")
            }),
        ),
    ];
    for (name, bytes) in &inputs {
        fs::write(folder.path().join(name), bytes).expect("written");
    }
    for (command, names) in [
        (
            "share",
            &[
                "tiny", "users", "packed", "log", "swf", "accounts", "values", "dump",
            ][..],
        ),
        ("share --json", &["users", "packed"]),
        ("share --tree", &["users"]),
        ("chart -o -", &["users", "log"]),
        ("prio", &["queue"]),
        ("lint", &["users"]),
    ] {
        for name in names {
            // 500 MB, and the program itself.
            let line = format!("ulimit -v 550000; exec $F {command} $D/{name} > /dev/null");
            let ran = shell(folder.path(), &line);
            let err = String::from_utf8_lossy(&ran.stderr).into_owned();
            let code = ran.status.code();
            assert!(
                code.is_some_and(|code| code <= 2),
                "{command} {name}: {code:?} {err}"
            );
            assert!(!err.contains("memory"), "{command} {name}: {err}");
        }
    }
}

// A level for each of tens of thousands of accounts, and a thousand levels of few.
#[test]
fn a_chart_of_a_deep_tree_takes_500_mb() {
    let folder = tempfile::tempdir().expect("a folder");
    let nested = |at: usize| match at {
        0 => "[accounts.a0]\n".to_owned(),
        _ => format!("[accounts.a{at}]\nparent = \"a{}\"\n", at - 1),
    };
    let listed = |at: usize| format!("{:1$}a{at}||1|{at}\n", "", 900.min(at + 1));
    let head = "Account|User|RawShares|RawUsage\nroot|||9\n";
    let inputs = [
        (
            "nested",
            megabyte("", nested),
            2,
            "bytes of SVG, and 2097152 are allowed",
        ),
        ("listed", megabyte(head, listed), 2, "pixels are more than"),
    ];
    for (name, bytes, png, why) in inputs {
        fs::write(folder.path().join(name), bytes).expect("written");
        for (format, code) in [("html", 0), ("svg", 0), ("json", 0), ("png", png)] {
            let chart = format!("$F chart --format {format} -o $D/drawn $D/{name}");
            let line = format!("ulimit -v 550000; exec {chart}");
            let ran = shell(folder.path(), &line);
            let err = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert_eq!(ran.status.code(), Some(code), "{format} {name}: {err}");
            assert!(code == 0 || err.contains(why), "{format} {name}: {err}");
        }
    }
}

// Tens of thousands of users, each with a course of hundreds of moments.
#[test]
fn a_chart_of_a_log_below_a_megabyte_takes_300_mb() {
    let folder = tempfile::tempdir().expect("a folder");
    let head = "JobID|User|Account|Start|ElapsedRaw|NCPUS\n";
    let alike = |at: usize| format!("1|{at:x}||2026-01-01T00:00:00|999999|1\n");
    let apart = |at: usize| {
        let (day, hour, minute) = (1 + at % 9, at % 10, at % 60);
        let secs = 1 + noise(at) * 90;
        format!("1|{at:x}||2026-01-0{day}T0{hour}:{minute:02}:00|{secs}|1\n")
    };
    for (name, bytes, formats) in [
        ("alike", megabyte(head, alike), &["svg"][..]),
        ("apart", megabyte(head, apart), &["html", "json"]),
    ] {
        fs::write(folder.path().join(name), bytes).expect("written");
        for format in formats {
            // 300 MB, and the program itself.
            let chart = format!("$F chart --format {format} -o $D/drawn $D/{name}");
            let line = format!("ulimit -v 350000; exec {chart}");
            let ran = shell(folder.path(), &line);
            let err = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert_eq!(ran.status.code(), Some(0), "{format} {name}: {err}");
        }
    }
}
