use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::input::InputError;
use fairtree::engine::queue::{Counted, SECOND};

fn site(text: &str) -> Result<QueueSite, InputError> {
    read("q.toml", text.as_bytes())
}

fn event(line: &str) -> Result<Event, InputError> {
    let mut events = Events::new("e", line.as_bytes());
    events.read_event().map(|event| event.expect("a line"))
}

/// The keys of every event, from the schema that is documented.
#[test]
fn the_schema_has_the_events_that_are_read() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/queue-events.schema.json"
    );
    let text = std::fs::read_to_string(path).expect("a schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let described = schema["oneOf"].as_array().expect("a list");
    let names: Vec<&Value> = described
        .iter()
        .map(|one| &one["properties"]["event"]["const"])
        .collect();
    let known: Vec<&str> = forms().iter().map(|form| form.name).collect();
    assert_eq!(names, known);
    for (form, one) in forms().iter().zip(described) {
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let required: BTreeSet<String> = one["required"]
            .as_array()
            .expect("a list")
            .iter()
            .map(text)
            .collect();
        let own = form.required.iter().chain(&["event"]);
        assert_eq!(
            required,
            own.map(|key| (*key).to_owned()).collect(),
            "{}",
            form.name
        );
        let keys = one["properties"].as_object().expect("an object").keys();
        let keys: BTreeSet<&str> = keys.map(String::as_str).collect();
        let all = form.required.iter().chain(form.optional);
        let all = all.chain(&["event", "time"]).copied();
        assert_eq!(keys, all.collect(), "{}", form.name);
        assert_eq!(one["additionalProperties"], false);
    }
    let outcomes = &described[3]["properties"]["outcome"]["enum"];
    assert_eq!(outcomes.as_array().expect("a list"), &ends());
}

#[test]
fn a_site_by_minutes() {
    let read = site(
        "usage = 'window:7-0'\nranking = 'least_used:2'\n[machines.m]\nslots = 3\n[machines.n]\n\
         [accounts.a]\nminutes = 100\n[accounts.b]\nparent = 'a'\nminutes = 60\n\
         [accounts.c]\nparent = 'a'\nminutes = 40\n\
         [accounts.flex]\nparent = 'a'\nminutes = 9000\nplan = 'total:2026-01-01'\n",
    );
    let read = read.unwrap();
    let Policy::FairShare(settings) = &read.policy else {
        panic!("{:?}", read.policy);
    };
    assert_eq!(settings.counted, Counted::Window(7 * 86_400 * SECOND));
    assert_eq!(settings.capacity, 4);
    assert_eq!(settings.accounts.len(), 4);
    let flex = read.rows.iter().position(|row| row.account == "flex");
    let id = flex.unwrap() as u32 + 1;
    let (_, rule) = settings.accounts.iter().find(|(of, _)| *of == id).unwrap();
    // 2026-01-01, 20454 days after 1970.
    let since = 20_454 * 86_400 * SECOND;
    assert_eq!(rule.counted, Some(Counted::Since(since)));
}

/// Defects, each with the place and the words of the message.
#[test]
fn sites_that_are_refused() {
    let m = "[machines.m]\n";
    for (text, place, words) in [
        ("", "", "describes no machine"),
        ("usag = 'x'\n[machines.m]", "1:1", "unknown field `usag`"),
        (
            "policy = 'fifo'\n[machines.m]",
            "1:10",
            "\"fair_share\" or \"on_demand\"",
        ),
        (
            "usage = 'half_life'\n[machines.m]",
            "1:9",
            "window:LENGTH or total:DATE",
        ),
        ("usage = 'window:x'\n[machines.m]", "1:9", "days-hours"),
        (
            "ranking = 'fair_tree'\n[machines.m]",
            "1:11",
            "least_used:LEVEL",
        ),
        (
            "order = 'weighted'\n[machines.m]",
            "1:9",
            "\"strict\" or \"interleaved\"",
        ),
        (
            "counts = ['DONE']\n[machines.m]",
            "1:10",
            "COMPLETED, CANCELLED",
        ),
        (
            "usage = 'window:0:30'\nresolution = '1:00'\n[machines.m]",
            "2:14",
            "length of the window",
        ),
        ("capacity = 0\n[machines.m]", "1:12", "from 1 to"),
        (
            "account_limit = 3\n[machines.m]",
            "1:17",
            "policy = \"on_demand\" only",
        ),
        (
            "[machines.m]\nlimit = 3",
            "2:9",
            "policy = \"on_demand\" only",
        ),
        (
            "policy = 'on_demand'\nusage = 'window:1-0'\n[machines.m]",
            "2:9",
            "\"fair_share\" only",
        ),
        (
            "policy = 'on_demand'\n[machines.m]\nslots = 2",
            "3:9",
            "\"fair_share\" only",
        ),
        (
            "policy = 'on_demand'\n[machines.m]\nreserved_second = -1",
            "3:19",
            "from 0",
        ),
        ("[machines.m]\nslots = 0", "2:9", "from 1 to 1000000"),
        ("[machines.'a b']", "1:11", "a name without blanks"),
        (
            "default_limit = 0\n[machines.m]",
            "1:17",
            "from 1 microsecond up",
        ),
        (
            "[machines.m]\ndefault_limit = 'UNLIMITED'",
            "2:17",
            "Slurm's form",
        ),
        (
            "policy = 'on_demand'\nusers_compete = true\n[machines.m]",
            "2:17",
            "\"fair_share\" only",
        ),
        (
            &format!("{m}[accounts.a]\nmachines = ['m', 'n']"),
            "3:18",
            "machines \"n\" is not allowed: allowed is a machine that the file describes",
        ),
        (
            &format!("{m}[accounts.a]\nmachines = []"),
            "2:11",
            "could use none",
        ),
        (
            &format!("{m}[accounts.a]\nparent = 'b'"),
            "3:10",
            "an account of this file",
        ),
        (
            &format!("{m}[accounts.a]\nminutes = 4\nshares = 1"),
            "4:10",
            "either shares or minutes",
        ),
        (
            &format!("{m}[accounts.a]\nplan = 'total:2026-01-01'"),
            "3:8",
            "give the account some",
        ),
        (
            &format!("{m}[accounts.root]\nminutes = 5"),
            "2:11",
            "root is above all",
        ),
        (
            &format!(
                "{m}[accounts.a]\nminutes = 5\n[accounts.b]\nparent = 'a'\nminutes = 3\n[accounts.c]\nparent = 'a'\nminutes = 3"
            ),
            "9:11",
            "minutes \"3\" is not allowed: allowed is up to 2, which account a has left of its 5",
        ),
        (
            &format!(
                "policy = 'on_demand'\n{m}[[reservations]]\nid = 1\nmachine = 'n'\naccount = 'a'\nstart = 2026-01-01T00:00:00Z\nend = 2026-01-01T00:00:00Z"
            ),
            "5:11",
            "a machine that the file describes",
        ),
    ] {
        let error = site(text).expect_err(text).to_string();
        let place = match place {
            "" => "q.toml: ".to_owned(),
            place => format!("q.toml:{place}: "),
        };
        assert!(
            error.starts_with(&place) && error.contains(words),
            "{text}: {error}"
        );
    }
}

#[test]
fn events_in_all_forms() {
    let read = event(
        r#"{"event": "submit", "time": "2026-03-01T12:00:00.000001", "job": 7, "account": "a", "machine": "m", "expected": 5, "limit": "1:30:00", "parts": []}"#,
    );
    let read = read.unwrap();
    // 20513 days and 12 hours.
    assert_eq!(read.time, Some((20_513 * 86_400 + 43_200) * SECOND + 1));
    let Act::Submit(new) = read.act else {
        panic!("{:?}", read.act);
    };
    assert_eq!((new.expected, new.limit), (Some(5), Some(5_400_000_000)));
    assert_eq!(new.parts, Some(Vec::new()));
    let lines =
        "# a remark\n\n{\"event\": \"time\", \"time\": 5}\n{\"event\":\"next\",\"machine\":\"m\"}";
    let mut events = Events::new("e", lines.as_bytes());
    let first = events.read_event().unwrap().unwrap();
    assert_eq!((first.time, first.act, first.line), (Some(5), Act::Time, 3));
    let second = events.read_event().unwrap().unwrap();
    assert_eq!((second.time, second.act), (None, Act::Next("m".to_owned())));
    assert_eq!(events.read_event().unwrap(), None);
}

#[test]
fn events_that_are_refused() {
    for (line, place, words) in [
        ("[1]", "1:", "an object as"),
        ("{\"event\": \"next\"", "1:", "EOF"),
        ("{}", "1", "one of submit, next"),
        (r#"{"event": "nxt"}"#, "1:2", "one of submit, next"),
        (
            r#"{"event": "next"}"#,
            "1",
            "next lacks the key \"machine\"",
        ),
        (
            r#"{"event": "next", "machine": "m", "job": 1}"#,
            "1:35",
            "one of event, time, machine for next",
        ),
        (
            r#"{"event": "next", "machine": "m", "machine": "n"}"#,
            "1",
            "twice",
        ),
        (
            r#"{"event": "start", "job": -1}"#,
            "1:20",
            "from 0 to 18446744073709551615",
        ),
        (r#"{"event": "start", "job": 1.5}"#, "1:20", "whole number"),
        (r#"{"event": "start", "job": "1"}"#, "1:20", "whole number"),
        (
            r#"{"event": "time", "time": "today"}"#,
            "1:19",
            "microseconds since 1970",
        ),
        (
            r#"{"event": "time", "time": -1}"#,
            "1:19",
            "microseconds since 1970",
        ),
        (
            r#"{"event": "time", "time": 9223372036854775807}"#,
            "1:19",
            "microseconds since 1970",
        ),
        (
            r#"{"event": "time", "time": "2026-01-01T00:00:00.0000001Z"}"#,
            "1:19",
            "six decimals",
        ),
        (
            r#"{"event": "shares", "account": "a", "shares": 2147483647}"#,
            "1:37",
            "from 0 to 2147483646, or \"parent\"",
        ),
        (
            r#"{"event": "minutes", "account": "a"}"#,
            "1",
            "minutes lacks the key \"minutes\"",
        ),
        (
            r#"{"event": "minutes", "account": "a", "minutes": 1000000000001}"#,
            "1:38",
            "from 0 to 1000000000000, or null",
        ),
        (
            r#"{"event": "price", "machine": "m"}"#,
            "1",
            "price lacks a price",
        ),
        (
            r#"{"event": "price", "machine": "m", "reserved_second": 1000000000000001}"#,
            "1:36",
            "from 0 to 1000000000000000",
        ),
        (
            r#"{"event": "limit", "account": "a", "machine": "m", "limit": 1}"#,
            "1",
            "not of both",
        ),
        (r#"{"event": "limit", "limit": "none"}"#, "1:20", "or null"),
        (
            r#"{"event": "submit", "job": 1, "account": "", "machine": "m", "limit": 1}"#,
            "1:31",
            "a name",
        ),
        (
            r#"{"event": "submit", "job": 1, "account": "a", "machine": "m", "limit": -1}"#,
            "1:63",
            "Slurm's form",
        ),
        (
            r#"{"event": "submit", "job": 1, "account": "a", "machine": "m", "limit": 1, "parts": [-1]}"#,
            "1:75",
            "4096",
        ),
        (
            r#"{"event": "submit", "job": 1, "account": "a", "machine": "m", "limit": 1, "rate": 4294967296}"#,
            "1:75",
            "4294967295",
        ),
        (
            r#"{"event": "submit", "job": 1, "account": "a", "machine": "m", "limit": 1, "rate": 0}"#,
            "1:75",
            "from 1 to 4294967295",
        ),
        (
            r#"{"event": "finish", "job": 1, "outcome": "RUNNING"}"#,
            "1:31",
            "one of COMPLETED, CANCELLED",
        ),
        (
            r#"{"event": "finish", "job": 1, "outcome": "FAILED", "exit_code": 4294967296}"#,
            "1:52",
            "0 to 4294967295",
        ),
    ] {
        let error = event(line).expect_err(line).to_string();
        let begins = format!("e:{place}");
        assert!(
            error.starts_with(&begins) && error.contains(words),
            "{line}: {error}"
        );
    }
}
