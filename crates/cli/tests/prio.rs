//! `fairtree prio` from outside. Expected values: what sprio 22.05.8 printed (`tests/sprio`), what
//! real sites printed, and hand calculation.

mod command;
#[path = "../../../tests/common/mod.rs"]
mod common;

use command::one_node::{capture, job};
use command::{checkout, fairtree};

#[test]
fn what_sprio_printed_prints_the_same() {
    for (file, form) in [
        ("default", &[][..]),
        ("long", &["-l"]),
        ("norm", &["-n"]),
        ("norm-long", &["-n", "-l"]),
        ("weights", &["-w"]),
        ("bars", &["-o", "%i|%r|%u|%Y|%y|%A|%a|%N|%T"]),
    ] {
        let path = format!("tests/sprio/{file}.txt");
        let expected = std::fs::read_to_string(checkout().join(&path)).expect("text");
        let ran = fairtree(&[&["prio", &path][..], form].concat(), b"");
        assert_eq!(
            (ran.out, ran.err, ran.code),
            (expected, String::new(), 0),
            "{file}"
        );
    }
}

#[test]
fn options_choose_and_sort_rows() {
    let rows = |args: &[&str]| {
        let args = [&["prio", "tests/sprio/long.txt", "-h"][..], args].concat();
        fairtree(&args, b"").out
    };
    assert_eq!(rows(&["-o", "%i", "-j", "5,4"]), "4\n5\n");
    assert_eq!(
        rows(&["-o", "%i %u", "-u", "ft2-carol", "-j", "4,5"]),
        "5 ft2-caro\n"
    );
    assert_eq!(rows(&["-o", "%i", "-S", "-i", "-j", "4,5"]), "5\n4\n");
    assert_eq!(rows(&["-p", "no-such"]), "");
    assert_eq!(
        rows(&["-j", "1"]),
        "Unable to find jobs matching user/id(s) specified\n"
    );
    // -u adds the user's column.
    let shown = fairtree(&["prio", "tests/sprio/long.txt", "-u", "ft2-carol"], b"").out;
    assert!(shown.starts_with("          JOBID PARTITION     USER   PRIORITY       SITE"));
}

#[test]
fn weights_turn_points_into_factors() {
    let input = [
        std::fs::read(checkout().join("tests/sprio/weights.txt")).expect("text"),
        std::fs::read(checkout().join("tests/sprio/long.txt")).expect("text"),
    ]
    .concat();
    let ran = fairtree(&["prio", "-h", "-j", "4", "-o", "%a %f %p"], &input);
    // 50 of 1000, 62500 of 100000, 500 of 5000.
    assert!(
        ran.out.contains("0.0500000 0.6250000 0.1000000\n"),
        "{}",
        ran.out
    );
}

#[test]
fn edited_rows_of_real_sites_are_found_and_true_ones_pass() {
    let Some(path) = common::data::data("slurm/sprio/biocloud-sprio.txt") else {
        return;
    };
    let ran = fairtree(&["prio", "--check", path.to_str().expect("UTF-8")], b"");
    assert_eq!(ran.code, 1);
    // 129 + 619 + 138 = 886; the fourth row, 89 + 155 + 64 = 308, is whole.
    for line in [20, 32, 40] {
        let found = format!("(line {line}): PRIORITY is 586, its factors add up to 886");
        assert!(ran.out.contains(&found), "{}", ran.out);
    }
    assert!(
        ran.out.ends_with("compared 4 PRIORITY: 3 differences\n"),
        "{}",
        ran.out
    );
    for (file, count) in [("ilifu-sprio", 5), ("npad-sprio-l", 24), ("tursa-sprio", 9)] {
        let path = common::data::data(&format!("slurm/sprio/{file}.txt")).expect("data");
        let ran = fairtree(&["prio", "--check", path.to_str().expect("UTF-8")], b"");
        assert_eq!(
            ran.out,
            format!("compared {count} PRIORITY: 0 differences\n")
        );
        assert_eq!(ran.code, 0);
    }
}

#[test]
fn real_tables_print_the_same_text() {
    for (file, form) in [
        ("tursa-sprio", &[][..]),
        // An old release without the column TRES, and with the nice value 12 wide.
        (
            "npad-sprio-l",
            &[
                "-o",
                "%.15i %9r %.8u %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10Q %.11N",
            ],
        ),
    ] {
        let Some(path) = common::data::data(&format!("slurm/sprio/{file}.txt")) else {
            return;
        };
        let expected = std::fs::read_to_string(checkout().join(&path)).expect("text");
        let (_, expected) = expected.split_once('\n').expect("a prompt");
        let args = [&["prio", path.to_str().expect("UTF-8")][..], form].concat();
        let ran = fairtree(&args, b"");
        assert_eq!(ran.out, expected, "{file}");
    }
}

#[test]
fn a_priority_that_does_not_follow_is_told() {
    let row = b"JOBID PARTITION PRIORITY SITE AGE NICE\n7 main 586 0 886 0\n";
    let ran = fairtree(&["prio", "-h", "-o", "%Y"], row);
    assert_eq!((ran.out.as_str(), ran.code), ("886\n", 0));
    assert!(
        ran.err
            .contains("is printed as 586, its factors add up to 886"),
        "{}",
        ran.err
    );
    assert_eq!(fairtree(&["prio", "-q"], row).err, "");
    // Without NICE the printed priority stays.
    let row = b"JOBID PARTITION PRIORITY SITE AGE\n7 main 586 0 886\n";
    let ran = fairtree(&["prio", "-h", "-o", "%Y"], row);
    assert_eq!(ran.out, "586\n");
    assert!(ran.err.contains("NICE"), "{}", ran.err);
}

#[test]
fn json_names_its_schema() {
    let ran = fairtree(&["prio", "--json", "-j", "4", "tests/sprio/long.txt"], b"");
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["schema"], "fairtree.prio/1");
    let row = &json["rows"][0];
    assert_eq!(
        (&row["job_id"], &row["priority"]),
        (&4.into(), &63206.0.into())
    );
    assert_eq!(row["points"]["fairshare"], 62500.0);
    assert_eq!(row["set_by_hand"], false);
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(1));
}

#[test]
fn errors_end_with_two() {
    for args in [
        &["prio", "no-such-file"][..],
        &["prio", "-o", "%z", "-"],
        &["prio", "-S", "x", "-"],
        &["prio", "-j", "abc", "-"],
        &["prio", "-l", "-o", "%i", "-"],
        &["prio", "-u", "alice", "tests/sprio/default.txt"],
        &["prio", "tests/sites/week.toml"],
    ] {
        let ran = fairtree(args, b"");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(!ran.err.is_empty(), "{args:?}");
    }
}

/// Each example of the help text, with the recorded output for sprio's and without jq.
#[test]
fn the_examples_of_the_help_text_work() {
    let help = fairtree(&["prio", "--help"], b"").out;
    let input = std::fs::read(checkout().join("tests/sprio/long.txt")).expect("text");
    let mut count = 0;
    for line in help
        .lines()
        .filter_map(|line| line.trim().strip_prefix("sprio -l | fairtree "))
    {
        let command = line.split(" | ").next().expect("a command");
        let command = command.split("   ").next().expect("without comment");
        let args: Vec<String> = command
            .split('\'')
            .enumerate()
            .flat_map(|(at, part)| match at % 2 {
                1 => vec![part.to_owned()],
                _ => part.split_whitespace().map(str::to_owned).collect(),
            })
            .collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = fairtree(&args, &input);
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
        count += 1;
    }
    assert_eq!(count, 4);
}

/// The same numbers as by hand in `explain.rs`; a job in two partitions has two rows, a
/// held one and one that runs have none.
#[test]
fn jobs_of_a_described_site() {
    let ran = fairtree(
        &["prio", "-S", "-Y", "-o", "%i|%r|%Y", "examples/queue.toml"],
        b"",
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(
        ran.out,
        "JOBID|PARTITION|PRIORITY\n102|main|10743\n103|debug|9709\n103|main|9209\n101|main|4154\n"
    );
    for (args, words) in [
        (
            &["prio", "--check", "examples/queue.toml"][..],
            "--check compares with what sprio printed",
        ),
        (
            &["prio", "examples/site.toml"],
            "describes no jobs\nhint: [[jobs]]",
        ),
    ] {
        let ran = fairtree(args, b"");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(words), "{}", ran.err);
    }
}

// The capture has a header of sprio alone. By hand: jobs 2 and 3 wait and are not held, 4 is held.
#[test]
fn an_empty_answer_of_sprio_says_why() {
    let waits = ("PENDING", "Priority", 5);
    let held = job(4, "ft2-bob", ("PENDING", "JobHeldUser", 0));
    let two = job(2, "ft2-bob", waits) + &job(3, "ft2-bob", waits);
    for (name, jobs, words) in [
        (
            "prio-empty",
            two + &held,
            "sprio listed no job, although 2 wait",
        ),
        ("prio-held", held, "no job waits that is not held"),
    ] {
        let from = capture(name, &jobs, None);
        let ran = fairtree(&["prio", "--from", &from], b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
}
