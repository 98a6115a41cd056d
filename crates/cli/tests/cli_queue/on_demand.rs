//! The rules of an on-demand queue with reservations.

use super::*;

fn reserve(account: &str, start: u64, end: u64) -> String {
    format!(
        r#"{{"event":"reserve","time":0,"reservation":1,"machine":"m","account":"{account}","start":{start},"end":{end}}}"#
    )
}

/// Rule 1: the owner's jobs while the reservation runs are its jobs; one that waited before, and
/// those of others, are on-demand.
#[test]
fn rule_1_whose_job_is_of_the_reservation() {
    let found = demand(
        "rule-1",
        &[
            reserve("a", 1_000_000, 2_000_000),
            submit(1, "a", 999_999),
            submit(2, "a", 1_000_000),
            submit(3, "b", 1_000_000),
            submit(4, "a", 2_000_000),
        ],
    );
    let kinds: Vec<bool> = found[1..]
        .iter()
        .map(|answer| answer["reservation"].as_bool().unwrap())
        .collect();
    assert_eq!(kinds, [false, true, false, false]);
}

/// Rule 2: the reservation's oldest job, then the oldest on-demand job, which runs alone; jobs of the
/// reservation on disjoint parts run side by side.
#[test]
fn rule_2_what_is_next() {
    let part = |job: u64, part: u32| {
        format!(
            r#"{{"event":"submit","time":1000000,"job":{job},"account":"a","machine":"m","limit":9,"parts":[{part}]}}"#
        )
    };
    let found = demand(
        "rule-2",
        &[
            reserve("a", 1_000_000, 2_000_000),
            submit(1, "b", 5),
            submit(2, "b", 6),
            part(3, 1),
            part(4, 1),
            part(5, 2),
            next(1_000_000),
            start(3, 1_000_000),
            next(1_000_000),
            r#"{"event":"cancel","job":4}"#.to_owned(),
            next(1_000_000),
            start(5, 1_000_000),
            next(1_000_001),
            finish(3, 1_000_002, "COMPLETED"),
            finish(5, 1_000_002, "COMPLETED"),
            next(1_000_002),
            start(1, 1_000_002),
            next(1_000_002),
        ],
    );
    // Job 5 passes job 4, which waits for part 1.
    let expected = ["run 3", "run 5", "run 5", "busy", "run 1", "busy"];
    assert_eq!(decisions(&found), expected);
}

/// Rule 3: halted, it goes back to the very place it had, and costs nothing.
#[test]
fn rule_3_halt() {
    let found = demand(
        "rule-3",
        &[
            reserve("a", 1_000_000, 2_000_000),
            submit(1, "b", 5),
            submit(2, "b", 6),
            start(1, 900_000),
            submit(3, "a", 1_000_000),
            next(1_000_000),
            r#"{"event":"halted","job":1,"time":1000010}"#.to_owned(),
            next(1_000_010),
            r#"{"event":"positions","machine":"m"}"#.to_owned(),
            r#"{"event":"bill"}"#.to_owned(),
        ],
    );
    assert_eq!(found[4]["halt"], 1);
    assert_eq!(decisions(&found), ["halt 1", "run 3"]);
    assert_eq!(jobs(&found[8]), [3, 1, 2]);
    assert_eq!(found[9]["total"], 0);
}

/// Rule 4: what is left becomes on-demand at the end, behind what waits, in the order of submission.
/// The machine's limit of 2 leaves room for one.
#[test]
fn rule_4_the_end_of_a_reservation() {
    let site = format!("{DEMAND}limit = 2\n");
    let events = [
        reserve("a", 1_000_000, 2_000_000),
        submit(1, "a", 1_000_000),
        start(1, 1_000_000),
        submit(2, "a", 1_000_001),
        submit(3, "a", 1_000_002),
        submit(4, "b", 1_000_003),
        r#"{"event":"positions","time":2000000}"#.to_owned(),
        // The one that runs goes on.
        finish(1, 2_500_000, "COMPLETED"),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let found = answers(&play("rule-4", &site, &events, &["--bill"]));
    let refused = &found[6];
    assert_eq!(
        (&refused["event"], &refused["job"], &refused["limit"]),
        (&"refused".into(), &3.into(), &"machine".into())
    );
    assert_eq!(
        (&refused["name"], &refused["size"], &refused["waiting"]),
        (&"m".into(), &2.into(), &2.into())
    );
    assert_eq!(jobs(&found[7]), [4, 2]);
    // One second reserved; the run was one of the reservation.
    assert_eq!(found[9]["total"], 70);
}

/// Rule 5: a full queue refuses, and says which limit, its size and how full it is. What runs does not
/// wait.
#[test]
fn rule_5_limits() {
    let site = DEMAND.replace("[accounts.b]", "[accounts.b]\nlimit = 1");
    let events = [
        submit(1, "b", 1),
        submit(2, "b", 1),
        start(1, 2),
        submit(3, "b", 2),
        submit(4, "a", 2),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let found = answers(&play("rule-5", &site, &events, &[]));
    let kinds: Vec<&Value> = found.iter().map(|answer| &answer["event"]).collect();
    assert_eq!(kinds, ["submit", "refused", "start", "submit", "submit"]);
    assert_eq!(
        (&found[1]["limit"], &found[1]["name"]),
        (&"account".into(), &"b".into())
    );
    assert_eq!(
        (&found[1]["size"], &found[1]["waiting"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn rule_6_maintenance() {
    let found = demand(
        "rule-6",
        &[
            submit(1, "a", 1),
            r#"{"event":"pause","machine":"m"}"#.to_owned(),
            next(2),
            r#"{"event":"resume","machine":"m"}"#.to_owned(),
            next(2),
        ],
    );
    assert_eq!(decisions(&found), ["paused", "run 1"]);
}

/// Rule 7: a: 100 us executed of 1000 that passed, at 3, and 4 s reserved at 70; b's run failed.
#[test]
fn rule_7_bills() {
    let mut events = vec![
        reserve("a", 1_000_000, 5_000_000),
        submit(1, "a", 10),
        start(1, 100),
        r#"{"event":"finish","job":1,"time":1100,"outcome":"COMPLETED","executed":100}"#.to_owned(),
        submit(2, "b", 1200),
        start(2, 1200),
        finish(2, 1300, "FAILED"),
        r#"{"event":"time","time":6000000}"#.to_owned(),
    ];
    // The reservation ended at 5 s; the run at 1100 us.
    events.push(r#"{"event":"bill","from":0,"to":5000000}"#.to_owned());
    events.push(r#"{"event":"bill","from":5000000}"#.to_owned());
    events.push(r#"{"event":"bill"}"#.to_owned());
    let found = demand("rule-7", &events);
    let totals: Vec<&Value> = found[8..].iter().map(|answer| &answer["total"]).collect();
    assert_eq!(totals, [300, 280, 580]);
    let bills = found[10]["bills"].as_array().unwrap();
    assert_eq!(bills.len(), 1);
    assert_eq!(
        (&bills[0]["executed"], &bills[0]["reserved_secs"]),
        (&100.into(), &4.into())
    );
}

/// The longest times and rates that are read: no sum overflows.
#[test]
fn the_largest_numbers() {
    let site = "[machines.m]\nslots = 1000000\n[accounts.a]\n[accounts.b]\n";
    let mut events = Vec::new();
    for job in 0..20 {
        events.push(format!(
            r#"{{"event":"submit","time":0,"job":{job},"account":"a","machine":"m","expected":9223372036854775807,"rate":4294967295}}"#
        ));
    }
    events.extend((0..10).map(|job| start(job, 0)));
    events.push(r#"{"event":"estimate","time":253402300799999999}"#.to_owned());
    events.push(finish(0, 253_402_300_799_999_999, "COMPLETED"));
    events.push(r#"{"event":"standing","account":"a"}"#.to_owned());
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let found = answers(&play("largest", site, &events, &["--positions"]));
    assert_eq!(jobs(found.last().unwrap()).len(), 10);
}
