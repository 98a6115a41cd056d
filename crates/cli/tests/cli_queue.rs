//! `fairtree queue` from outside. Expected values: hand calculation, written beside each.

mod command;
#[path = "cli_queue/on_demand.rs"]
mod on_demand;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use command::{Ran, checkout, fairtree, folder};
use serde_json::Value;

fn play(name: &str, site: &str, events: &[&str], options: &[&str]) -> Ran {
    let folder = folder(name);
    let path = folder.join("site.toml").display().to_string();
    std::fs::write(&path, site).expect("written");
    let mut args = vec!["queue", &path];
    args.extend(options);
    fairtree(&args, events.join("\n").as_bytes())
}

/// The answers, without the first line.
fn answers(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let lines = ran.out.lines().skip(1);
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// The decisions, as `run 7`, `halt 2` or the reason.
fn decisions(answers: &[Value]) -> Vec<String> {
    let next = answers.iter().filter(|answer| answer["event"] == "next");
    next.map(|answer| match answer["decision"].as_str() {
        Some("nothing") => answer["reason"].as_str().expect("a reason").to_owned(),
        word => format!("{} {}", word.expect("a word"), answer["job"]),
    })
    .collect()
}

fn jobs(answer: &Value) -> Vec<u64> {
    let jobs = answer["jobs"].as_array().expect("a list").iter();
    jobs.map(|job| job["job"].as_u64().expect("a number"))
        .collect()
}

const DEMAND: &str = "policy = 'on_demand'\n[accounts.a]\n[accounts.b]\n[machines.m]\n\
                      execution_microsecond = 3\nreserved_second = 70\n";

fn submit(job: u64, account: &str, time: u64) -> String {
    format!(
        r#"{{"event":"submit","time":{time},"job":{job},"account":"{account}","machine":"m","expected":100}}"#
    )
}

fn start(job: u64, time: u64) -> String {
    format!(r#"{{"event":"start","job":{job},"time":{time}}}"#)
}

fn finish(job: u64, time: u64, outcome: &str) -> String {
    format!(r#"{{"event":"finish","job":{job},"time":{time},"outcome":"{outcome}"}}"#)
}

fn next(time: u64) -> String {
    format!(r#"{{"event":"next","time":{time},"machine":"m"}}"#)
}

fn demand(name: &str, events: &[String]) -> Vec<Value> {
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    answers(&play(name, DEMAND, &events, &["--json"]))
}

/// The seven plans in two hubs: Hub A / Group 1 / Project Y, then Hub B / Group 2 / Project N. Ratios
/// of the groups in minutes: 120/32256, 120/16128, 90/8064, 150/24192.
#[test]
fn seven_plans_in_two_hubs() {
    let args = [
        "queue",
        "examples/cloud.toml",
        "--events",
        "examples/cloud.jsonl",
        "--positions",
        "--estimate",
    ];
    let found = answers(&fairtree(&args, b""));
    assert_eq!(decisions(&found), ["paused", "run 14", "busy", "run 22"]);
    let next: Vec<&Value> = found
        .iter()
        .filter(|answer| answer["decision"] == "run")
        .map(|answer| &answer["account"])
        .collect();
    assert_eq!(next, ["project_y", "project_n"]);
    // Then all are charged: 240/32256 = 120/16128 = 0.0074, where w's job is older than x's; they
    // make it 360/32256 = 0.0112 and 240/16128 = 0.0149. m's 90/8064 and group 2 of hub B with
    // 270/24192 are 0.0112, too; m's job is older, and o (120) before n (150).
    let positions = found.iter().find(|answer| answer["event"] == "positions");
    assert_eq!(jobs(positions.unwrap()), [12, 13, 15, 17, 11, 16]);
    let position = found.iter().find(|answer| answer["event"] == "position");
    assert_eq!(position.unwrap()["position"], 4);
    let estimate = found.iter().find(|answer| answer["event"] == "estimate");
    // Two hours each, from the end of job 14 on: 2026-03-02T10:00:00Z.
    let starts = estimate.unwrap()["jobs"].as_array().unwrap().iter();
    let starts: Vec<u64> = starts.map(|job| job["start"].as_u64().unwrap()).collect();
    let first = 1_772_445_600_000_000;
    let expected: Vec<u64> = (0..6).map(|at| first + at * 7_200_000_000).collect();
    assert_eq!(starts, expected);
}

/// Twice the minutes, twice the work: a has 20, b 10; runs of one minute. Ratios before each
/// choice: 0/20 0/10 (older: 1), 1/20 0, 1/20 1/10, 2/20 1/10 (tie, a's is older), 3/20 1/10, ...
#[test]
fn minutes_instead_of_shares() {
    let site = "now = 2026-01-01T00:00:00Z\n[machines.m]\n[accounts.a]\nminutes = 20\n\
                [accounts.b]\nminutes = 10\n";
    let mut events = Vec::new();
    for (job, account) in [(1, "a"), (2, "a"), (3, "a"), (4, "a"), (5, "b"), (6, "b")] {
        events.push(format!(
            r#"{{"event":"submit","job":{job},"account":"{account}","machine":"m","limit":"0:01:00"}}"#
        ));
    }
    let minute = |at: u64| 1_767_225_600_000_000 + at * 60_000_000;
    for (at, job) in [1, 5, 2, 3, 6, 4].into_iter().enumerate() {
        let at = at as u64;
        events.extend([
            next(minute(at)),
            start(job, minute(at)),
            finish(job, minute(at + 1), "COMPLETED"),
        ]);
    }
    events.push(r#"{"event":"standing","account":"a"}"#.to_owned());
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let found = answers(&play("minutes", site, &events, &[]));
    let runs = [1, 5, 2, 3, 6, 4].map(|job| format!("run {job}"));
    assert_eq!(decisions(&found), runs);
    let standing = found.last().unwrap();
    assert_eq!(standing["used"], 240_000_000);
    assert_eq!(standing["entitled"], 1_200_000_000.0);
    assert_eq!(standing["ratio"], 0.2);
}

#[test]
fn ends_that_do_not_count_are_taken_back() {
    let site = "counts = 'COMPLETED'\norder = 'strict'\n[machines.m]\nslots = 2\n[accounts.a]\n[accounts.b]\n";
    let events = [
        submit(1, "a", 0),
        start(1, 0),
        r#"{"event":"requeue","job":1,"time":60,"outcome":"NODE_FAIL"}"#.to_owned(),
        start(1, 100),
        r#"{"event":"finish","job":1,"time":160,"outcome":"COMPLETED","executed":50}"#.to_owned(),
        r#"{"event":"standing","account":"a"}"#.to_owned(),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let found = answers(&play("taken-back", site, &events, &[]));
    assert_eq!(
        (&found[2]["executed"], &found[2]["counts"]),
        (&60.into(), &false.into())
    );
    assert_eq!(
        (&found[4]["executed"], &found[4]["counts"]),
        (&50.into(), &true.into())
    );
    assert_eq!(found[5]["used"], 50);
}

/// A program that waits for each answer before it goes on.
#[test]
fn each_event_is_answered_at_once() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fairtree"))
        .args(["queue", "examples/cloud.toml"])
        .current_dir(checkout())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    from.read_line(&mut line).expect("a line");
    assert!(line.contains("\"schema\":\"fairtree.queue/1\""), "{line}");
    for _ in 0..3 {
        writeln!(to, r#"{{"event":"next","machine":"m1"}}"#).expect("written");
        line.clear();
        from.read_line(&mut line).expect("a line");
        assert!(line.contains("\"reason\":\"none_waits\""), "{line}");
    }
    drop(to);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn what_is_wrong_is_told_at_its_line() {
    let site = format!("now = 1970-01-01T00:00:01Z\n{DEMAND}");
    let first = submit(1, "a", 1_000_000);
    for (event, words) in [
        (submit(2, "nobody", 1_000_000), "account \"nobody\" is not allowed: allowed is an account of the site: a, b"),
        (submit(1, "a", 1_000_000), "there is a job 1 already"),
        (submit(2, "a", 999_999), "time goes back: 1970-01-01T00:00:00.999999Z is before 1970-01-01T00:00:01Z"),
        (start(7, 1_000_000), "there is no job 7"),
        (finish(1, 1_000_000, "COMPLETED"), "job 1 does not run, it waits"),
        (r#"{"event":"next","machine":"x"}"#.to_owned(), "there is no machine \"x\""),
        (r#"{"event":"position","job":9}"#.to_owned(), "there is no job 9"),
        (r#"{"event":"standing","account":"a"}"#.to_owned(), "policy = \"fair_share\" only"),
        (r#"{"event":"requeue","job":1,"outcome":"FAILED"}"#.to_owned(), "policy = \"fair_share\" only"),
        (r#"{"event":"reserve","reservation":1,"machine":"m","account":"a","start":1000000,"end":1500000}"#.to_owned(), "whole seconds"),
        (r#"{"event":"submit","job":2,"account":"a","user":"u","machine":"m","limit":1}"#.to_owned(), "user \"u\" is not allowed"),
        (r#"{"event":"submit","job":2,"account":"a","machine":"m","limit":1,"nice":1}"#.to_owned(), "nice has a meaning"),
    ] {
        let ran = play("wrong", &site, &[&first, &event], &[]);
        assert_eq!(ran.code, 2, "{event}");
        assert!(
            ran.err.contains("standard input:2: ") && ran.err.contains(words),
            "{event}: {}",
            ran.err
        );
        // What was answered before stays.
        assert_eq!(ran.out.lines().count(), 2, "{event}: {}", ran.out);
    }
    let ran = play(
        "no-time",
        DEMAND,
        &[r#"{"event":"next","machine":"m"}"#],
        &[],
    );
    assert!(
        ran.err.contains("the first event needs a time"),
        "{}",
        ran.err
    );
    let overlap = format!(
        "{site}[[reservations]]\nid = 1\nmachine = 'm'\naccount = 'a'\nstart = 1970-01-01T00:00:10Z\n\
         end = 1970-01-01T00:00:20Z\n[[reservations]]\nid = 2\nmachine = 'm'\naccount = 'b'\n\
         start = 1970-01-01T00:00:19Z\nend = 1970-01-01T00:00:30Z\n"
    );
    let ran = play("overlap", &overlap, &[], &[]);
    assert!(
        ran.code == 2
            && ran
                .err
                .contains("site.toml:15: reservation 2 overlaps reservation 1"),
        "{}",
        ran.err
    );
}

/// By hand: 100 us at 3, then 100 us at 5; a machine for which no job may wait; then any number may.
#[test]
fn prices_and_limits_change_from_then_on() {
    let found = demand(
        "administrator",
        &[
            submit(1, "a", 0),
            start(1, 0),
            r#"{"event":"price","time":10,"machine":"m","execution_microsecond":5}"#.to_owned(),
            finish(1, 100, "COMPLETED"),
            submit(2, "a", 100),
            start(2, 100),
            finish(2, 200, "COMPLETED"),
            r#"{"event":"limit","machine":"m","limit":0}"#.to_owned(),
            submit(3, "a", 200),
            r#"{"event":"limit","machine":"m","limit":null}"#.to_owned(),
            r#"{"event":"limit","account":"a","limit":1}"#.to_owned(),
            submit(3, "a", 200),
            submit(4, "a", 200),
            r#"{"event":"bill"}"#.to_owned(),
        ],
    );
    let bill = |at: usize| (found[at]["price"].as_u64(), found[at]["cost"].as_u64());
    let price = &found[2];
    assert_eq!(price["execution_microsecond"], 5);
    assert_eq!(price["reserved_second"], 70, "that one stays");
    assert_eq!(
        (bill(3), bill(6)),
        ((Some(3), Some(300)), (Some(5), Some(500)))
    );
    assert_eq!(found[6]["counts"], true);
    let refused = |at: usize| (found[at]["limit"].as_str(), found[at]["size"].as_u64());
    assert_eq!(refused(8), (Some("machine"), Some(0)));
    assert_eq!(found[11]["event"], "submit");
    assert_eq!(refused(12), (Some("account"), Some(1)));
    assert_eq!(found[13]["total"], 800);
}

/// By hand: without shares a comes after b; with 100 minutes of its own it is entitled to 6,000,000,000
/// microseconds, b to all of the rest of the window by its share.
#[test]
fn shares_and_minutes_change_from_then_on() {
    let site = "usage = 'window:1-0'\n[machines.m]\n[accounts.a]\nminutes = 200\n\
                [accounts.a1]\nparent = 'a'\n[accounts.a2]\nparent = 'a'\n[accounts.b]\n";
    let standing = |account: &str| format!(r#"{{"event":"standing","account":"{account}"}}"#);
    let events = [
        r#"{"event":"minutes","time":0,"account":"a1","minutes":150}"#.to_owned(),
        standing("a1"),
        standing("a2"),
        r#"{"event":"minutes","account":"a1","minutes":null}"#.to_owned(),
        r#"{"event":"shares","account":"a1","shares":3}"#.to_owned(),
        standing("a1"),
        r#"{"event":"shares","account":"a1","shares":0}"#.to_owned(),
        submit(1, "a1", 1),
        submit(2, "a2", 2),
        next(2),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let found = answers(&play("shares", site, &events, &[]));
    // Of 200 minutes 150, and the other 50; then three of four.
    let entitled = [1, 2, 5].map(|at: usize| found[at]["entitled"].as_f64());
    assert_eq!(
        entitled,
        [150.0, 50.0, 150.0].map(|minutes| Some(minutes * 60e6))
    );
    assert_eq!(found[3]["minutes"], Value::Null);
    assert_eq!(decisions(&found), ["run 2"]);

    let beyond = [r#"{"event":"minutes","time":0,"account":"a1","minutes":201}"#];
    let ran = play("beyond", site, &beyond, &[]);
    assert_eq!(ran.code, 2);
    let why = "accounts below \"a\" would have 201 minutes together, but it has 200 to give";
    assert!(ran.err.contains(why), "{}", ran.err);
}

/// Both policies: accounts are bound to machines, also by an account above them, and jobs may come
/// without a run time where there is a default.
#[test]
fn accounts_are_bound_and_run_times_have_a_default() {
    for policy in ["fair_share", "on_demand"] {
        let site = format!(
            "policy = '{policy}'\n[machines.m]\ndefault_limit = '0:01:00'\n[machines.n]\n\
             [accounts.hub]\nmachines = ['m']\n[accounts.a]\nparent = 'hub'\n"
        );
        let submit = |machine: &str, account: &str| {
            format!(
                r#"{{"event":"submit","time":0,"job":1,"account":"{account}","machine":"{machine}"}}"#
            )
        };
        let events = [
            submit("m", "a"),
            r#"{"event":"estimate","machine":"m"}"#.to_owned(),
        ];
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let found = answers(&play(&format!("bound-{policy}"), &site, &events, &[]));
        assert_eq!(found[1]["jobs"][0]["proxy"], "limit");
        let refused = |event: &str| {
            let ran = play(&format!("refused-{policy}"), &site, &[event], &[]);
            assert_eq!(ran.code, 2, "{}", ran.out);
            ran.err
        };
        let timed = submit("n", "a").replace('}', r#","limit":60}"#);
        let elsewhere = refused(&timed);
        let why = "account hub runs on m only, not on machine n";
        let on_demand = "account a runs on m only, not on machine n";
        assert!(
            elsewhere.contains(why) || elsewhere.contains(on_demand),
            "{elsewhere}"
        );
        let endless = refused(&submit("n", "root"));
        assert!(endless.contains("neither"), "{endless}");
    }
}

/// Users of a project do not compete unless asked for: first in, first out.
#[test]
fn users_compete_only_where_asked_for() {
    let site = "order = 'strict'\n[machines.m]\n[accounts.a.users.u]\nshares = 1\n\
                [accounts.a.users.v]\nshares = 1\n";
    let submit = |job: u64, user: &str| {
        format!(
            r#"{{"event":"submit","time":0,"job":{job},"account":"a","user":"{user}","machine":"m","limit":60}}"#
        )
    };
    let events = [
        submit(1, "u"),
        submit(2, "u"),
        submit(3, "v"),
        start(1, 0),
        finish(1, 60, "COMPLETED"),
        next(60),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let ran = play("fifo", site, &events, &[]);
    assert_eq!(decisions(&answers(&ran)), ["run 2"]);
    let note = "users in account a have shares, which have no effect";
    assert!(ran.err.contains(note), "{}", ran.err);
    let competing = format!("users_compete = true\n{site}");
    let ran = play("compete", &competing, &events, &[]);
    assert_eq!(decisions(&answers(&ran)), ["run 3"]);
    assert_eq!(ran.err, "");
}

/// By hand: ten runs took half of their 100 microseconds, or five half and five all of it. Then job 11
/// runs from 1000 on, and 12 waits: by the limits it starts at 1100, in the past way from 1050 on.
#[test]
fn estimates_have_a_band_where_past_run_times_are_known() {
    for (slow, high) in [(0, 1050), (5, 1100)] {
        let mut events = Vec::new();
        for job in 1..=10 {
            let took = if job <= slow { 100 } else { 50 };
            let time = 100 * (job - 1);
            events.extend([
                submit(job, "a", time),
                start(job, time),
                finish(job, time + took, "COMPLETED"),
            ]);
        }
        events.extend([
            submit(11, "b", 1000),
            submit(12, "a", 1000),
            start(11, 1000),
        ]);
        events.push(r#"{"event":"estimate"}"#.to_owned());
        let found = demand("band", &events);
        let job = &found.last().unwrap()["jobs"][0];
        assert_eq!((&job["job"], &job["start"]), (&12.into(), &1100.into()));
        assert_eq!((&job["low"], &job["high"]), (&1050.into(), &high.into()));
        let few = demand("no-band", &events[3..]);
        let job = &few.last().unwrap()["jobs"][0];
        assert_eq!((&job["start"], &job["low"]), (&1100.into(), &Value::Null));
    }
}
