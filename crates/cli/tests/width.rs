//! Tables of the command in terminals of several widths, which `COLUMNS` tells. sshare's and
//! sprio's own tables are as wide as theirs.

#[allow(clippy::duplicate_mod)] // Other files of a test program use it, too.
#[path = "../../../tests/common/checkout.rs"]
mod checkout;

use std::process::{Command, Stdio};

use checkout::checkout;

const CLUSTER: &str = "tests/captures/cluster";

fn lines(args: &[&str], columns: Option<usize>) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fairtree"));
    command
        .args(args)
        .args(["--quiet", "--from", CLUSTER])
        .current_dir(checkout())
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .stdin(Stdio::null());
    if let Some(columns) = columns {
        command.env("COLUMNS", columns.to_string());
    }
    let ran = command.output().expect("the command runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{args:?}: {said}");
    let out = String::from_utf8(ran.stdout).expect("UTF-8");
    out.lines().map(str::to_owned).collect()
}

/// The lines of tables, which are indented.
fn widest(lines: &[String]) -> usize {
    let table = lines
        .iter()
        .filter(|line| line.starts_with("  ") && !line.contains("  - "));
    table
        .map(|line| line.chars().count())
        .max()
        .expect("a table")
}

const TABLES: [&[&str]; 5] = [
    &["what-if", "--all", "--shares", "physics=40"],
    &["cost", "-u", "ft2-bob", "-t", "60", "--tres", "cpu=4"],
    &["share", "--tree", "-a"],
    &["shares", "--below", "science"],
    &["shares", "--shares", "physics=40"],
];

#[test]
fn tables_fit_into_the_terminal() {
    for args in TABLES {
        for columns in [120, 100, 80, 64] {
            let lines = lines(args, Some(columns));
            assert!(
                widest(&lines) <= columns,
                "{args:?} {columns}:\n{}",
                lines.join("\n")
            );
        }
    }
}

#[test]
fn what_has_no_room_is_named_and_what_is_piped_has_all() {
    for args in &TABLES[..2] {
        let narrow = lines(args, Some(60));
        assert!(
            narrow.iter().any(|line| line.contains("(no room for ")),
            "{narrow:?}"
        );
        for piped in [lines(args, None), lines(args, Some(500))] {
            assert!(
                piped.iter().any(|line| line.contains("LEVELFS")),
                "{piped:?}"
            );
            assert!(!piped.iter().any(|line| line.contains("no room")));
        }
    }
}
