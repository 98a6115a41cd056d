//! `fairtree explain` of jobs under `order=`. Expected values: hand calculation.

mod command;

use command::{Ran, fairtree};
use serde_json::Value;

/// Runs the command with the accounts a and b of some shares and use, whose users share no further.
fn run(order: &str, a: (u32, u32), b: (u32, u32), jobs: &str, args: &[&str]) -> Ran {
    let site = format!(
        "now = 2026-03-08T00:00:00Z\n\
         [settings]\nPriorityParameters = 'ranking=least_used:1,{order}'\n\
         [accounts.a]\nshares = {}\nusers.ann = {{ shares = 'parent', usage = {} }}\n\
         [accounts.b]\nshares = {}\nusers.bob = {{ shares = 'parent', usage = {} }}\n\
         [qos.normal]\npriority = 10\n[qos.high]\npriority = 30\n{jobs}",
        a.0, a.1, b.0, b.1
    );
    let mut all = vec!["explain"];
    all.extend(args);
    all.push("-");
    fairtree(&all, site.as_bytes())
}

/// A job of one CPU and an hour, 3600 TRES-seconds, submitted in the minute of its number.
fn job(id: u32, user: &str, more: &str) -> String {
    let account = if user == "ann" { "a" } else { "b" };
    format!(
        "[[jobs]]\nid = {id}\nuser = '{user}'\naccount = '{account}'\ntime_limit = 60\n\
         submit_time = 2026-03-07T00:{id:02}:00Z\n{more}\n"
    )
}

fn answer(ran: &Ran, question: &str) -> Value {
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["question"], question);
    json["answer"].clone()
}

fn close(value: &Value, expected: f64) {
    let found = value.as_f64().expect("a number");
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// The swap of a kind.
fn swap(json: &Value, kind: &str) -> Option<u64> {
    let swaps = json["swaps"].as_array().expect("a list");
    let found = swaps.iter().find(|swap| swap["kind"] == kind);
    found.map(|swap| swap["least"].as_u64().expect("a number"))
}

/// a used 600 of 3/4 of 700, 525: 8/7. b used 100 of 175: 4/7. (600 - x) / 3 is 100 at 300, (100 + x) / 1 is
/// 200 at 100, and 600 / (3 + x) is 100 at 3: a tie, which the older job wins; job 4 is younger than job 2
/// and needs one more.
#[test]
fn the_lower_ratio_comes_first() {
    let jobs = job(1, "ann", "") + &job(2, "bob", "") + &job(3, "bob", "held = true");
    let jobs = jobs + &job(4, "ann", "");
    let args = ["1", "--versus", "2"];
    let of = |args: &[&str]| run("order=strict", (3, 600), (1, 100), &jobs, args);
    let json = answer(&of(&[&args[..], &["--json"]].concat()), "places");
    assert_eq!(
        (&json["order"], &json["waiting"]),
        (&"strict".into(), &3.into())
    );
    assert_eq!(json["first"], "second");
    assert_eq!(json["cause"], "ratio");
    assert_eq!(json["below"], Value::Null);
    let positions = [0, 1].map(|side| json["jobs"][side]["position"].as_u64());
    assert_eq!(positions, [Some(2), Some(1)]);
    close(&json["sides"][0]["used"], 600.0);
    close(&json["sides"][0]["due"], 525.0);
    close(&json["sides"][0]["ratio"], 8.0 / 7.0);
    close(&json["sides"][1]["ratio"], 4.0 / 7.0);
    let swaps =
        |json: &Value| ["less_usage", "more_usage", "more_shares"].map(|kind| swap(json, kind));
    assert_eq!(swaps(&json), [Some(300), Some(100), Some(3)]);
    let younger = answer(&of(&["4", "--versus", "2", "--json"]), "places");
    assert_eq!(swaps(&younger), [Some(301), Some(101), Some(4)]);
    let text = of(&args);
    for words in [
        "job 1 of ann@a (place 2) is behind job 2 of bob@b (place 1) under order=strict.\n",
        "  job 1: a used 600; due 525 TRES-seconds of all use: ratio 1.142857\n",
        "  job 2: b used 100; due 175 TRES-seconds of all use: ratio 0.571429\n",
        "  - a had 6 raw shares, not 3\n",
    ] {
        assert!(text.out.contains(words), "{words}: {}", text.out);
    }
    assert!(!text.err.contains("weighted sums"), "{}", text.err);
    let place = of(&["1"]).out;
    let words = "The order decides which comes first: a Priority only carries a place.\n";
    assert!(place.contains(words), "{place}");
    let held = of(&["3"]);
    assert!(
        held.out
            .starts_with("Waits for: its release (it is held).\n")
            && held.out.contains("\njob 3 of bob@b is held"),
        "{}",
        held.out
    );
}

/// The example of the policies: A is entitled to 2, B to 1, three jobs each. Order A1 B1 A2 A3 B2 B3; the
/// keys of A3 and B2 are equal. The whole is what all are expected to use, six hours.
#[test]
fn interleaved_counts_what_comes_before() {
    let jobs: String = (1..=3).map(|id| job(id, "ann", "")).collect();
    let jobs = jobs + &(4..=6).map(|id| job(id, "bob", "")).collect::<String>();
    let of = |args: &[&str]| run("order=interleaved", (2, 0), (1, 0), &jobs, args);
    for (id, place) in [(1, 1), (4, 2), (2, 3), (3, 4), (5, 5), (6, 6)] {
        let json = answer(&of(&[&id.to_string(), "--json"]), "place");
        assert_eq!(json["job"]["position"], place, "{id}");
        assert_eq!(json["job"]["expected"], 3600.0);
    }
    let json = answer(&of(&["5", "--versus", "3", "--json"]), "places");
    assert_eq!(json["cause"], "equal_ratios");
    for (side, before, entitled) in [(0, 1, 7200.0), (1, 2, 14400.0)] {
        let standing = &json["sides"][side];
        assert_eq!(standing["jobs_before"], before);
        close(&standing["expected_before"], f64::from(before) * 3600.0);
        close(&standing["due"], entitled);
        close(&standing["ratio"], 0.5);
    }
    // With one share more B would come to 1/4; of nothing used there cannot be less.
    assert_eq!(swap(&json, "less_usage"), None);
    assert_eq!(swap(&json, "more_usage"), Some(1));
    assert_eq!(swap(&json, "more_shares"), Some(1));
    let text = of(&["4"]).out;
    for words in [
        "job 4 of bob@b has place 2 of 6 under order=interleaved.\n",
        "job 4 of bob@b (place 2) is behind job 1 of ann@a (place 1)",
        "job 2 of ann@a (place 3) is behind job 4 of bob@b (place 2)",
        "  job 2: a used 0, running jobs will use 0, 1 waiting job of it before this one 3600; due",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// bob's job runs since ten minutes on two CPUs, of an hour: 6000 TRES-seconds are left of it. With 1000
/// used there are 7000 in all, of which each is entitled to half.
#[test]
fn what_runs_counts_for_interleaved_only() {
    let runs = "state = 'RUNNING'\nstart_time = 2026-03-07T23:50:00Z\ntres = 'cpu=2'";
    let jobs = job(1, "ann", "") + &job(2, "bob", "") + &job(9, "bob", runs);
    let of = |order: &str, args: &[&str]| run(order, (1, 1000), (1, 0), &jobs, args);
    let args = ["2", "--versus", "1", "--json"];
    let json = answer(&of("order=interleaved", &args), "places");
    assert_eq!(json["first"], "second");
    close(&json["sides"][0]["running"], 6000.0);
    close(&json["sides"][0]["ratio"], 6000.0 / 3500.0);
    close(&json["sides"][1]["ratio"], 1000.0 / 3500.0);
    let json = answer(&of("order=strict", &args), "places");
    assert_eq!(json["first"], "first");
    close(&json["sides"][0]["ratio"], 0.0);
    let started = of("order=strict", &["9"]);
    assert!(started.out.contains("does not wait"), "{}", started.out);
}

/// First the QOS; then, in one account, nice, then the time of submission.
#[test]
fn before_and_behind_the_ratio() {
    let jobs = [
        job(1, "ann", ""),
        job(2, "ann", "nice = 5"),
        job(3, "ann", ""),
        job(4, "bob", "qos = 'high'"),
        job(5, "ann", "priority = 77"),
    ]
    .concat();
    let of = |args: &[&str]| run("order=strict,tiers=qos", (1, 0), (1, 900), &jobs, args);
    for (pair, cause, kind, least) in [
        (["1", "4"], "tier", "higher_tier", 20),
        // The later one needs a lower nice value.
        (["2", "3"], "nice", "lower_nice", 5),
        (["3", "1"], "submit_time", "lower_nice", 1),
    ] {
        let json = answer(&of(&[pair[0], "--versus", pair[1], "--json"]), "places");
        assert_eq!(json["first"], "second", "{pair:?}");
        assert_eq!(json["cause"], cause);
        assert_eq!(swap(&json, kind), Some(least), "{pair:?}");
    }
    let by_hand = of(&["5", "--versus", "1"]).out;
    assert!(
        by_hand.contains("priority 77 was set by an administrator"),
        "{by_hand}"
    );
    let same = of(&["1", "--versus", "1"]);
    assert_eq!(same.code, 2);
    assert!(
        same.err.contains("cannot be compared with itself"),
        "{}",
        same.err
    );
}

/// Two groups of one hub: 140 used in all, of which hub H is entitled to 70 and each group to 35. G used 100
/// of them and F 40. 100 - 60 is a tie, which the older job wins, as 40 + 60 is; 100 / 3 is below 40.
#[test]
fn groups_of_one_hub_part_below_it() {
    let site = format!(
        "now = 2026-03-08T00:00:00Z\n\
         [settings]\nPriorityParameters = 'ranking=least_used:1,order=strict'\n\
         [accounts.H]\n[accounts.I]\n[accounts.G]\nparent = 'H'\n\
         users.ann = {{ shares = 'parent', usage = 100 }}\n\
         [accounts.F]\nparent = 'H'\nusers.bob = {{ shares = 'parent', usage = 40 }}\n\
         [qos.normal]\npriority = 10\n{}{}",
        job(1, "ann", "").replace("'a'", "'G'"),
        job(2, "bob", "").replace("'b'", "'F'"),
    );
    let ran = fairtree(
        &["explain", "1", "--versus", "2", "--json", "-"],
        site.as_bytes(),
    );
    let json = answer(&ran, "places");
    assert_eq!(
        (&json["first"], &json["cause"]),
        (&"second".into(), &"ratio".into())
    );
    assert_eq!(json["below"], "H");
    for (side, used) in [(0, 100.0), (1, 40.0)] {
        close(&json["sides"][side]["used"], used);
        close(&json["sides"][side]["due"], 35.0);
        close(&json["sides"][side]["ratio"], used / 35.0);
    }
    let swaps = ["less_usage", "more_usage", "more_shares"].map(|kind| swap(&json, kind));
    assert_eq!(swaps, [Some(60), Some(60), Some(2)]);
}

/// a used 300 of 10 minutes, 1/2; b 1200 of 100, 1/5. The older job wins the ties at 120 of 600, 3000 of 6000
/// and 300 of 25 minutes.
#[test]
fn minutes_in_place_of_shares() {
    let policy = tempfile::NamedTempFile::new().expect("a file");
    let text = "ranking = 'least_used:1'\norder = 'strict'\n[accounts.a]\nminutes = 10\n\
                [accounts.b]\nminutes = 100\n";
    std::fs::write(policy.path(), text).expect("written");
    let jobs = job(1, "ann", "") + &job(2, "bob", "");
    let path = policy.path().to_str().expect("a path");
    let args = ["1", "--versus", "2", "--json", "--policy", path];
    let ran = run("order=strict", (3, 300), (1, 1200), &jobs, &args);
    let json = answer(&ran, "places");
    assert_eq!(json["first"], "second");
    for (side, entitled, ratio) in [(0, 600.0, 0.5), (1, 6000.0, 0.2)] {
        close(&json["sides"][side]["entitled"], entitled);
        close(&json["sides"][side]["ratio"], ratio);
    }
    let kinds = ["less_usage", "more_usage", "more_shares", "more_minutes"];
    let swaps = kinds.map(|kind| swap(&json, kind));
    assert_eq!(swaps, [Some(180), Some(1800), None, Some(15)]);
}
