//! `fairtree bill` from outside. Expected values: hand calculation, written beside each.

mod command;

use command::{Ran, fairtree, folder};
use serde_json::{Value, json};

const HEADER: &str =
    "JobID|User|Account|Partition|State|ExitCode|Submit|Start|End|ElapsedRaw|AllocTRES\n";

/// A record: hours of the 21st of November 2026 for start and end.
fn run(job: &str, account: &str, partition: &str, state: &str, end: &str, secs: u32) -> String {
    format!(
        "{job}|anna|{account}|{partition}|{state}|3:0|2026-11-20T00:00:00|2026-11-21T01:00:00|\
         2026-11-21T{end}|{secs}|billing=4,cpu=8,node=1\n"
    )
}

fn bill(name: &str, prices: &str, log: &str, options: &[&str]) -> Ran {
    let path = folder(name).join("prices.toml");
    std::fs::write(&path, prices).expect("written");
    let path = path.display().to_string();
    let mut args = vec!["bill", "--prices", &path];
    args.extend(options);
    fairtree(&args, format!("{HEADER}{log}").as_bytes())
}

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

const PRICES: &str = "run_second = 5\n[partitions.gpu]\nbilling_second = 7\n";

/// 1.5 s at 3 a microsecond and 5 a second: 1,500,000 x 3 + 2 x 5. One of 40 us: 120. One that is not
/// measured is not billed; a preempted one neither. By the second, a run within one does not count.
#[test]
fn runs_are_billed_by_the_microsecond_where_it_is_kept() {
    let header = "JobID|User|Account|Partition|State|Start|End|ElapsedRaw|AllocTRES|AdminComment\n";
    let run = |job: u32, partition: &str, state: &str, secs: u32, comment: &str| {
        format!(
            "{job}|anna|a|{partition}|{state}|2026-11-21T01:00:00|2026-11-21T01:00:{secs:02}|{secs}|\
             billing=4|{comment}\n"
        )
    };
    let log = [
        run(1, "q", "COMPLETED", 2, "calibrated, executed_us=1500000"),
        run(2, "q", "COMPLETED", 0, "executed_us=40 fidelity=0.9"),
        run(3, "q", "COMPLETED", 5, "calibrated"),
        run(4, "q", "PREEMPTED", 5, "executed_us=7"),
        run(5, "main", "COMPLETED", 3, ""),
        run(6, "main", "COMPLETED", 0, "executed_us=9"),
    ]
    .concat();
    let path = folder("microseconds").join("prices.toml");
    let prices = "run_second = 5\n[partitions.q]\nrun_second = 5\nexecution_microsecond = 3\n";
    std::fs::write(&path, prices).expect("written");
    let path = path.display().to_string();
    let args = ["bill", "--prices", &path, "--json"];
    let found = json(&fairtree(&args, format!("{header}{log}").as_bytes()));
    let bills = json!([
        {"account": "a", "partition": "main", "runs": 1, "run_secs": 3, "billing_secs": 12,
         "executed_us": 0, "amount": 15},
        {"account": "a", "partition": "q", "runs": 2, "run_secs": 2, "billing_secs": 8,
         "executed_us": 1_500_040, "amount": 4_500_130},
    ]);
    assert_eq!(found["bills"], bills);
    assert_eq!(
        (&found["unmeasured"], &found["left_out"]["PREEMPTED"]),
        (&1.into(), &1.into())
    );
}

/// Measurements that cannot be: 9 s of a run of 2 s on 4 parts fit (4 x 3 s), 12 s do not; two numbers in
/// one comment; the number of the run that was pre-empted before. The other two cost 9,000,000 + 40.
#[test]
fn measurements_that_cannot_be_are_listed() {
    let header = "JobID|User|Account|Partition|State|Start|End|ElapsedRaw|AllocTRES|AdminComment\n";
    let run = |job: u32, state: &str, secs: u32, comment: &str| {
        format!(
            "{job}|anna|a|q|{state}|2026-11-21T01:00:00|2026-11-21T01:00:{secs:02}|{secs}|\
             billing=4|{comment}\n"
        )
    };
    let log = [
        run(1, "COMPLETED", 2, "executed_us=9000000"),
        run(2, "COMPLETED", 2, "executed_us=12000000"),
        run(3, "COMPLETED", 5, "executed_us=5 executed_us=6"),
        run(4, "PREEMPTED", 5, "executed_us=7"),
        run(4, "COMPLETED", 9, "executed_us=7"),
        run(5, "PREEMPTED", 5, "executed_us=7"),
        run(5, "COMPLETED", 9, "executed_us=40,executed_us=40"),
        run(6, "COMPLETED", 9, "executed_us=1e3"),
        run(7, "COMPLETED", 9, "executed_us="),
    ]
    .concat();
    let path = folder("doubtful").join("prices.toml");
    std::fs::write(&path, "execution_microsecond = 1\ncounts = 'COMPLETED'\n").expect("written");
    let path = path.display().to_string();
    let ran = fairtree(
        &["bill", "-p", &path, "--json"],
        format!("{header}{log}").as_bytes(),
    );
    assert_eq!(ran.code, 1, "{}", ran.err);
    let found: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(found["total"], 9_000_040);
    let doubts: Vec<(&str, &str)> = found["doubtful"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| {
            (
                run["job"].as_str().expect("a job"),
                run["why"].as_str().expect("why"),
            )
        })
        .collect();
    assert_eq!(
        doubts,
        [
            ("2", "longer"),
            ("3", "several"),
            ("4", "left_over"),
            ("6", "unreadable"),
            ("7", "unreadable")
        ]
    );
    let ran = fairtree(&["bill", "-p", &path], format!("{header}{log}").as_bytes());
    for said in [
        "In all, as far as it is certain: 9000040\n",
        "  job 2 of a in q, ended 2026-11-21T01:00:02Z: executed_us=12000000 is more than the 2 s that it ran \
         allow\n",
        "  job 4 of a in q, ended 2026-11-21T01:00:09Z: executed_us=7 is that of an earlier run of the job\n",
    ] {
        assert!(ran.out.contains(said), "{}", ran.out);
    }
}

/// Of ten records, the first of job 1, that of job 6 and the parts of job 8 can be: 9 x 5, 3600 x 5 and
/// (10 + 20) x 5. An hour has 3600 s, which job 4 exceeds by one.
#[test]
fn records_that_cannot_be_are_listed() {
    let first = run("1", "a", "main", "COMPLETED", "02:00:00", 9);
    let log = [
        first.clone(),
        first,
        run("2", "a", "main", "WEIRD", "02:00:00", 9),
        run("3", "a", "main", "FAILED", "00:59:59", 9),
        run("4", "a", "main", "COMPLETED", "02:00:00", 3601),
        run("5", "a", "main", "RESIZING", "01:00:09", 10),
        run("5", "a", "main", "COMPLETED", "02:00:00", 9),
        run("6", "a", "main", "COMPLETED", "02:00:00", 3600),
        run("7", "a", "main", "SUSPENDED", "02:00:00", 9),
        run("8", "a", "main", "RESIZING", "01:00:10", 10),
        run("8", "a", "main", "COMPLETED", "02:00:00", 20),
    ]
    .concat();
    let ran = bill("impossible", PRICES, &log, &["--json"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let found: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(found["total"], 45 + 18_000 + 150);
    assert_eq!(found["not_ended"], 1);
    let doubts = found["doubtful"].as_array().expect("a list").iter();
    let doubts: Vec<Value> = doubts.map(|run| json!([run["job"], run["why"]])).collect();
    let expected = json!([
        ["1", "twice"],
        ["2", "state"],
        ["3", "backwards"],
        ["4", "elapsed"],
        ["5", "elapsed"]
    ]);
    assert_eq!(json!(doubts), expected);
    let ran = bill("impossible-table", PRICES, &log, &[]);
    for said in [
        "In all, as far as it is certain: 18195\n",
        "ended 2026-11-21T02:00:00Z: the listing has the same record before it\n",
        ": \"WEIRD\" is no state of a job\n",
        "ended 2026-11-21T00:59:59Z: it started after that, 2026-11-21T01:00:00Z\n",
    ] {
        assert!(ran.out.contains(said), "{}", ran.out);
    }
}

/// A job that was pre-empted after 100 s, lost its node after 50 s and then completed in 30 s: 30 x 5.
/// A failed one of 10 s: 50. In gpu 20 s of 4 billing: 20 x 4 x 7 = 560. A requeued run's record has
/// REQUEUED; one that runs is not billed, nor is one that never began; a step is part of its job.
#[test]
fn runs_are_billed_by_their_ends() {
    let log = [
        run("1", "a", "main", "PREEMPTED", "02:00:00", 100),
        run("1", "a", "main", "NODE_FAIL", "03:00:00", 50),
        run("1", "a", "main", "COMPLETED", "04:00:00", 30),
        run("1.batch", "a", "main", "COMPLETED", "04:00:00", 30),
        run("2", "a", "main", "FAILED", "04:00:00", 10),
        run("3", "b", "gpu", "CANCELLED by 1000", "04:00:00", 20),
        run("4", "b", "gpu", "REQUEUED", "04:00:00", 20),
        run("5", "b", "gpu", "RUNNING", "04:00:00", 20),
        "6|anna|b|gpu|PENDING|0:0|2026-11-20T00:00:00|Unknown|Unknown|0|\n".to_owned(),
    ]
    .concat();
    let found = json(&bill("ends", PRICES, &log, &["--json"]));
    let bills = json!([
        {"account": "a", "partition": "main", "runs": 2, "run_secs": 40, "billing_secs": 160, "executed_us": 0,
         "amount": 200},
        {"account": "b", "partition": "gpu", "runs": 1, "run_secs": 20, "billing_secs": 80, "executed_us": 0,
         "amount": 560},
    ]);
    assert_eq!(found["schema"], "fairtree.bill/1");
    assert_eq!((&found["bills"], &found["total"]), (&bills, &760.into()));
    let left_out = json!({"NODE_FAIL": 1, "PREEMPTED": 1, "REQUEUED": 1});
    assert_eq!(found["left_out"], left_out);
    assert_eq!(found["not_ended"], 1);
    let table = bill("ends-table", PRICES, &log, &[]);
    assert!(table.out.ends_with("In all: 760\n"), "{}", table.out);
    assert!(
        table.err.contains("not billed: 1 run that ended PREEMPTED"),
        "{}",
        table.err
    );
}

/// The prices' ends, and --counts over them: exit code 3 counts, 12 does not.
#[test]
fn outcome_rules() {
    let log = [
        run("1", "a", "main", "COMPLETED", "02:00:00", 1),
        run("2", "a", "main", "FAILED", "02:00:00", 10),
        run("3", "a", "main", "NODE_FAIL", "02:00:00", 100),
    ]
    .concat();
    let prices = "run_second = 1\ncounts = 'COMPLETED'\n";
    for (options, total) in [
        (&["--json"][..], 1),
        (&["--json", "--counts", "COMPLETED,FAILED:3"], 11),
        (&["--json", "--counts", "COMPLETED+FAILED:12"], 1),
        (&["--json", "--counts", "all"], 111),
    ] {
        let found = json(&bill("outcomes", prices, &log, options));
        assert_eq!(found["total"], total, "{options:?}");
    }
}

/// A run of 60 s and then, resized, 40 s: 100 x 5 where it completes, nothing where it is lost.
#[test]
fn a_resized_job_is_one_run() {
    let part = run("1", "a", "main", "RESIZING", "02:00:00", 60);
    for (state, total, runs) in [("COMPLETED", 500, json!(1)), ("NODE_FAIL", 0, Value::Null)] {
        let log = format!("{part}{}", run("1", "a", "main", state, "03:00:00", 40));
        let found = json(&bill("resized", PRICES, &log, &["--json"]));
        assert_eq!(found["total"], total, "{state}");
        assert_eq!(found["bills"][0]["runs"], runs, "{state}");
    }
    let found = json(&bill("resizing", PRICES, &part, &["--json"]));
    assert_eq!(
        (&found["total"], &found["not_ended"]),
        (&0.into(), &1.into())
    );
}

/// By the end: from 02:00:00 on, before 03:00:00.
#[test]
fn a_period() {
    let ends = ["01:59:59", "02:00:00", "02:59:59", "03:00:00"];
    let runs = ends.iter().zip([1, 10, 100, 1000]);
    let log: String = runs
        .map(|(end, secs)| run("1", "a", "main", "COMPLETED", end, secs))
        .collect();
    let options = [
        "--json",
        "--since",
        "2026-11-21T02:00:00",
        "--until",
        "2026-11-21T03:00:00Z",
    ];
    let found = json(&bill("period", "run_second = 1\n", &log, &options));
    assert_eq!(
        (&found["total"], &found["outside"]),
        (&110.into(), &2.into())
    );
    // 2026-11-21 02:00, by date(1).
    assert_eq!(found["from"], 1_795_226_400);
}

#[test]
fn partitions_without_a_price_are_told() {
    let log = [
        run("1", "a", "main", "COMPLETED", "02:00:00", 9),
        run("2", "a", "gpu", "COMPLETED", "02:00:00", 1),
    ]
    .concat();
    let ran = bill("unpriced", "[partitions.gpu]\nrun_second = 3\n", &log, &[]);
    assert!(ran.out.ends_with("In all: 3\n"), "{}", ran.out);
    assert!(
        ran.err.contains("1 run in partitions without a price"),
        "{}",
        ran.err
    );
}

/// 2^63 - 1 for each of 10^16 billing TRES in each of 2^32 - 1 seconds is some 2^148.
#[test]
fn sums_beyond_128_bits_are_refused() {
    let log = run("1", "a", "main", "COMPLETED", "02:00:00", u32::MAX);
    let log = log.replace("billing=4", "billing=10000000000000000");
    let log = log.replace("2026-11-21T02", "2163-11-21T02");
    let prices = "billing_second = 9223372036854775807\n";
    let ran = bill("beyond", prices, &log, &[]);
    assert!(
        ran.code == 2 && ran.err.contains("does not fit 128 bits"),
        "{}{}",
        ran.out,
        ran.err
    );
}

#[test]
fn what_is_wrong_is_told() {
    let log = run("1", "a", "main", "COMPLETED", "02:00:00", 9);
    for (prices, options, words) in [
        ("run_second = -1\n", &[][..], "prices.toml:1:14: run_second"),
        ("", &[], "names no price"),
        (PRICES, &["--counts", "DONE"], "--counts: found \"DONE\""),
        (PRICES, &["--since", "today"], "--since: found \"today\""),
        (
            PRICES,
            &["--since", "2026-01-02", "--until", "2026-01-01"],
            "a time after --since",
        ),
    ] {
        let ran = bill("wrong", prices, &log, options);
        assert!(
            ran.code == 2 && ran.err.contains(words),
            "{words}: {}",
            ran.err
        );
    }
    for (header, words) in [
        (
            "JobID|User|Start|End|NCPUS|Elapsed",
            "the column State is not there",
        ),
        (
            "JobID|User|Start|End|NCPUS|State",
            "the column Elapsed or ElapsedRaw is not there",
        ),
        (
            "User|Start|End|NCPUS|State|Elapsed",
            "the column JobID is not there",
        ),
    ] {
        let args = ["bill", "--prices", "examples/prices.toml"];
        let ran = fairtree(&args, header.as_bytes());
        assert!(
            ran.code == 2 && ran.err.contains(words),
            "{words}: {}",
            ran.err
        );
    }
    // Exit codes that are asked for, and not there.
    let log = "JobID|User|Start|End|NCPUS|State|Elapsed\n\
               1|u|2026-11-21T01:00:00|2026-11-21T01:00:09|1|FAILED|00:00:09\n";
    let args = [
        "bill",
        "--prices",
        "examples/prices.toml",
        "--counts",
        "FAILED:3",
    ];
    let ran = fairtree(&args, log.as_bytes());
    assert!(ran.code == 2 && ran.err.contains("ExitCode"), "{}", ran.err);
}
