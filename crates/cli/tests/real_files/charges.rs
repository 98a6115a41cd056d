//! Logs of jobs and what they are charged.

use super::*;

// By hand: 1 CPU for 2 hours, and 4 CPUs for one hour that ends an hour before the end and for one
// that ends there; half-life 7 days. An hour of 4 at its end: 14400 x (1 - 2^(-1/168)) x 168 / ln 2.
#[test]
fn times_of_a_log_have_offsets() {
    for (file, moment, due) in [
        ("dst", "2026-10-25T01:30:00Z", &["a1|u1|7170|1.000000"][..]),
        ("winter", "2026-03-02T10:00:00Z", &["a1|u1|14370|1.000000"]),
        (
            "two-zones",
            "2026-03-02T11:00:00Z",
            &["a1|u1|14311|1.000000", "a2|u2|14370|0.500000"],
        ),
    ] {
        let path = format!("tests/files/sacct-offset/{file}.txt");
        let text = std::fs::read_to_string(command::checkout().join(&path)).expect("text");
        // As sacct prints it under other formats of time.
        for form in [
            text.clone(),
            text.replace("+0100", "+01:00").replace("+0200", "+02:00"),
            text.replace("+0100", "+01").replace("+0200", "+02"),
        ] {
            let ran = fairtree(
                &["share", "-P", "-n", "-o", "Account,User,RawUsage,FairShare"],
                form.as_bytes(),
            );
            for row in due {
                assert!(
                    ran.out.lines().any(|line| line.trim() == *row),
                    "{row} in {}",
                    ran.out
                );
            }
            assert!(
                ran.err.contains(&format!("usage as of {moment}")),
                "{}",
                ran.err
            );
        }
        let odd = fairtree(&["share"], text.replace("+0100", "CET").as_bytes());
        assert!(odd.err.contains("CET\" is not allowed"), "{}", odd.err);
    }
}

// Two runs of 5 s with 2 CPUs, one in a partition with TRESBillingWeights="CPU=0.0": 10 TRES-seconds,
// which are 9.9995 half a minute later and are cut to a whole number.
#[test]
fn a_free_partition_is_free() {
    let file = "sacct-billing/free-partition.sacct";
    let due = ["root||9", "physics||9", "physics|ft3-bob|9"];
    assert_eq!(rows("Account,User,RawUsage", file), due);
    let path = command::checkout().join("tests/files").join(file);
    let text = std::fs::read_to_string(path).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(1, 2);
    let args = ["share", "-P", "-n", "-o", "Account,User,RawUsage"];
    let swapped = fairtree(&args, (lines.join("\n") + "\n").as_bytes());
    assert!(
        swapped.out.lines().map(str::trim).eq(due),
        "{}",
        swapped.out
    );
    assert!(
        swapped.err.contains("counted as billing 0"),
        "{}",
        swapped.err
    );
    // Without any billing the CPUs count: 2 x 5 + 2 x 5.
    let none = fairtree(&args, text.replace("billing=2,", "").as_bytes());
    assert!(none.out.starts_with("root||19\n"), "{}", none.out);
    assert!(none.err.contains("billed by processors"), "{}", none.err);
}

fn billed(name: &str, prices: &str, log: &str) -> (serde_json::Value, String) {
    let path = folder(name).join("prices.toml");
    std::fs::write(&path, prices).expect("written");
    let path = path.display().to_string();
    let ran = ran(&[
        "bill",
        "--json",
        "-p",
        &path,
        &format!("tests/files/sacct-billing/{log}.sacct"),
    ]);
    (serde_json::from_str(&ran.out).expect("JSON"), ran.err)
}

// Every run is in a sum or in a counter.
#[test]
fn bills_pass_over_no_run() {
    // 2 s of billing 1 in each run but the third of `brief`.
    let (found, _) = billed("free", "billing_second = 1\n", "free-partition");
    assert_eq!(
        (&found["total"], &found["bills"][1]["billing_secs"]),
        (&10.into(), &10.into())
    );
    let prices = "[partitions.ondemand]\nexecution_microsecond = 3\n";
    let (found, notes) = billed("brief", prices, "brief");
    assert_eq!(
        (&found["total"], &found["unmeasured"]),
        (&0.into(), &3.into())
    );
    assert!(
        notes.contains("not billed: 3 runs without executed_us"),
        "{notes}"
    );
    let (found, notes) = billed("brief-seconds", "run_second = 2\n", "brief");
    assert_eq!((&found["total"], &found["brief"]), (&8.into(), &1.into()));
    assert!(notes.contains("1 run of less than a second"), "{notes}");
    // 60 s x 2 in each run but that of half a billing TRES, which is none.
    let (found, notes) = billed("zero", "run_second = 2\n", "billing-zero");
    assert_eq!(
        (&found["total"], &found["unreadable"]),
        (&360.into(), &1.into())
    );
    assert!(notes.contains("billing=0.5"), "{notes}");
    let (found, _) = billed("exact", "billing_second = 1\n", "billing-2p53");
    assert_eq!(found["total"].to_string(), "9007199254740993");
}

// 4294967296 s x 2 = 8589934592; what is longer than any time is refused by name.
#[test]
fn long_runs_cost_what_they_take() {
    let path = folder("long-runs").join("prices.toml");
    std::fs::write(&path, "run_second = 2\n").expect("written");
    let path = path.display().to_string();
    let log = "JobID|User|State|Start|End|ElapsedRaw|AllocTRES\n\
               1|u|COMPLETED|2026-01-01T00:00:00|2162-02-07T06:28:16|4294967296|billing=1\n\
               2|u|COMPLETED|2026-01-01T00:00:00|2162-02-07T06:28:16|18446744073709551616|billing=1\n\
               3|u|PENDING|Unknown|Unknown|0|\n";
    let ran = fairtree(&["bill", "--json", "-p", &path], log.as_bytes());
    let found: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(found["total"], 8_589_934_592_u64);
    assert_eq!(
        (&found["unreadable"], &found["never_ran"]),
        (&1.into(), &1.into())
    );
    assert!(ran.err.contains("18446744073709551616"), "{}", ran.err);
}

// `share` and `chart` charge the time that a run was not suspended, as `bill` and `ledger` do.
#[test]
fn suspended_time_counts_nothing() {
    let log = |columns: &str, cells: &str| {
        format!(
            "JobID|User|Account|Start|End|{columns}|AllocTRES\n\
             1|u|a|2026-01-01T00:00:00|2026-01-01T01:00:00|{cells}|billing=2\n"
        )
    };
    let args = [
        "share",
        "-P",
        "-n",
        "-o",
        "Account,User,RawUsage",
        "--input-format",
        "sacct",
    ];
    // Half an hour from 00:00 on, seen at 00:30; by hand 3600 x 2 x 168 / ln 2 x (1 - 2^(-0.5/168)) / 2.
    for (columns, cells) in [
        ("ElapsedRaw", "1800"),
        ("Elapsed", "00:30:00"),
        ("Suspended", "00:30:00"),
        ("ElapsedRaw|Suspended", "1800|00:30:00"),
    ] {
        let ran = fairtree(&args, log(columns, cells).as_bytes());
        assert!(
            ran.out.starts_with("root||3596\n"),
            "{columns}: {}",
            ran.out
        );
        assert!(
            ran.err.contains("(suspended): 1 job"),
            "{columns}: {}",
            ran.err
        );
    }
    let ran = fairtree(&args, log("ElapsedRaw", "3600").as_bytes());
    assert!(!ran.err.contains("suspended"), "{}", ran.err);
}

// The columns of each example of sacct are enough.
#[test]
fn examples_of_bill_have_the_columns() {
    let help = fairtree(&["bill", "--help"], b"").out.replace("\\\n", " ");
    let mut examples = 0;
    for line in help
        .lines()
        .filter(|line| line.contains("sacct ") && line.contains("| fairtree bill"))
    {
        let mut words = line.split_whitespace().skip_while(|word| *word != "-o");
        let columns: Vec<&str> = words.nth(1).expect("columns").split(',').collect();
        let cell = |column: &&str| match *column {
            "JobID" => "1",
            "State" => "COMPLETED",
            "ExitCode" => "0:0",
            "Start" => "2026-01-01T00:00:00",
            "End" => "2026-01-01T00:01:00",
            "Elapsed" => "00:01:00",
            "AllocTRES" => "billing=1",
            _ => "x",
        };
        let cells: Vec<&str> = columns.iter().map(cell).collect();
        let log = format!("{}\n{}\n", columns.join("|"), cells.join("|"));
        let ran = fairtree(&["bill", "-p", "examples/prices.toml"], log.as_bytes());
        // 60 s x 2 + 60 x 1 x 1.
        assert!(
            ran.out.ends_with("In all: 180\n"),
            "{line}: {}{}",
            ran.out,
            ran.err
        );
        examples += 1;
    }
    assert!(examples > 0, "{help}");
}
