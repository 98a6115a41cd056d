//! Reports under policies that PriorityFlags do not name. Expected values: hand calculation.

mod command;

use std::path::Path;

use command::{fairtree, folder};
use serde_json::Value;

/// 800 in all: of three shares of four 300 were used, of one 500.
const SITE: &str = "\
[accounts.a]
shares = 3
users.ann = { shares = 1, usage = 300 }
[accounts.b]
shares = 1
users.bob = { shares = 1, usage = 500 }
users.cyd = { shares = 1 }
";

/// Runs the command with the site and a policy, both in files of their own.
fn ran(name: &str, policy: &str, args: &[&str]) -> command::Ran {
    let folder = folder(name);
    let path = |file: &str| folder.join(file).display().to_string();
    std::fs::write(Path::new(&path("site.toml")), SITE).expect("written");
    std::fs::write(Path::new(&path("policy.toml")), policy).expect("written");
    let (site, policy) = (path("site.toml"), path("policy.toml"));
    fairtree(&[args, &["--policy", &policy, &site]].concat(), b"")
}

/// Whether an explanation in JSON has this reason.
fn reason(json: &str, word: &str) -> bool {
    let dense: String = json.split_whitespace().collect();
    dense.contains(&format!("\"reason\":\"{word}\""))
}

/// A field of the rows of `share`, by user or account.
fn field(json: &Value, name: &str, field: &str) -> Option<f64> {
    let rows = json["rows"].as_array().expect("rows");
    let is = |row: &&Value| match row["user"].as_str() {
        Some(user) => user == name,
        None => row["account"] == name,
    };
    rows.iter().find(is).expect("a row")[field].as_f64()
}

fn share(name: &str, policy: &str) -> Value {
    let ran = ran(name, policy, &["share", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

#[test]
fn by_shares_its_part_of_all_that_was_used_is_due_to_each() {
    let json = share("policy-shares", "ranking = 'least_used:1'\n");
    for (name, due, ratio) in [
        ("a", 600.0, 0.5),
        ("b", 200.0, 2.5),
        ("ann", 600.0, 0.5),
        ("bob", 100.0, 5.0),
        ("cyd", 100.0, 0.0),
    ] {
        assert_eq!(field(&json, name, "due"), Some(due), "{name}");
        assert_eq!(field(&json, name, "entitled"), None, "{name}");
        assert_eq!(field(&json, name, "used_ratio"), Some(ratio), "{name}");
    }
    assert_eq!(field(&json, "root", "due"), None);
    let table = ran("policy-table", "ranking = 'least_used:1'\n", &["share"]).out;
    assert!(
        table.contains(" Due  UsedRatio") && !table.contains("Entitled"),
        "{table}"
    );
    // Other rankings compare with nothing of the kind.
    let json = share("policy-none", "ranking = 'fair_tree'\n");
    assert_eq!(field(&json, "a", "due"), None);
}

/// A machine of two CPUs gives 2 x 3600 s in an hour: a has three quarters, 5400, of which it used 300.
#[test]
fn a_window_entitles_to_a_time_where_the_machine_is_known() {
    let policy = "usage = 'window:1:00:00'\nranking = 'least_used:1'\n";
    let with = |name: &str, machine: &str| {
        let folder = folder(name);
        let path = |file: &str| folder.join(file).display().to_string();
        let (site, file) = (path("site.toml"), path("policy.toml"));
        std::fs::write(&site, format!("{machine}\n{SITE}")).expect("written");
        std::fs::write(&file, policy).expect("written");
        let ran = fairtree(&["share", "--json", "--policy", &file, &site], b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str::<Value>(&ran.out).expect("JSON")
    };
    let json = with("policy-capacity", "cpus = 2");
    assert_eq!(field(&json, "a", "entitled"), Some(5400.0));
    assert_eq!(field(&json, "a", "due"), Some(600.0));
    assert_eq!(field(&json, "a", "used_ratio"), Some(300.0 / 5400.0));
    assert_eq!(field(&json, "a", "share_of_whole"), Some(0.75));
    // One node is one machine; weights bill something else than CPUs.
    let json = with("policy-capacity-nodes", "nodes = 1");
    assert_eq!(field(&json, "a", "entitled"), Some(2700.0));
    let weights = "cpus = 2\n[partitions.p]\ntres_billing_weights = 'CPU=2'";
    let json = with("policy-capacity-weights", weights);
    assert_eq!(field(&json, "a", "entitled"), None);
    assert_eq!(field(&json, "a", "due"), Some(600.0));
}

/// Per cent of 15 minutes: a has 10, b 5.
#[test]
fn parts_of_minutes_are_parts_of_all_minutes() {
    let policy =
        "ranking = 'least_used:leaf'\n[accounts.a]\nminutes = 10\n[accounts.b]\nminutes = 5\n";
    let tree = ran("policy-minutes-tree", policy, &["share", "--tree"]).out;
    for line in [
        "a                66.7%",
        "b                33.3%",
        "bob           16.7%",
    ] {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed(&tree).contains(&squeezed(line)), "{line}: {tree}");
    }
    let explained = ran(
        "policy-minutes-explain",
        policy,
        &["explain", "bob", "--versus", "ann"],
    );
    let text = explained.out.replace('\n', " ");
    assert!(text.contains("entitled to 66.67%, used 37.50%"), "{text}");
    assert!(text.contains("entitled to 16.67%, used 62.50%"), "{text}");
    // 66.67 over 37.5: level fairshare is due over used, as elsewhere.
    assert!(text.contains("level fairshare 1.777778"), "{text}");
    let json = share("policy-minutes-parts", policy);
    assert_eq!(field(&json, "cyd", "share_of_whole"), Some(1.0 / 6.0));
    let what_if = ran("policy-minutes-what-if", policy, &["what-if", "--json"]);
    let json: Value = serde_json::from_str(&what_if.out).expect(&what_if.err);
    let due = json["accounts"][0]["after"]["norm_shares"].as_f64();
    assert_eq!(due, Some(2.0 / 3.0));
}

/// b has what a leaves of up's 100 minutes.
#[test]
fn what_siblings_with_minutes_leave_is_divided() {
    let site = "[accounts.up]\n[accounts.a]\nparent = 'up'\nusers.ann = { usage = 60 }\n\
                [accounts.b]\nparent = 'up'\nusers.bob = { usage = 60 }\n";
    let run = |name: &str, minutes: u32| {
        let folder = folder(name);
        let path = |file: &str| folder.join(file).display().to_string();
        let (site_file, file) = (path("site.toml"), path("policy.toml"));
        let policy = format!(
            "ranking = 'least_used:leaf'\n[accounts.up]\nminutes = 100\n[accounts.a]\nminutes = {minutes}\n"
        );
        std::fs::write(&site_file, site).expect("written");
        std::fs::write(&file, policy).expect("written");
        fairtree(&["share", "--json", "--policy", &file, &site_file], b"")
    };
    let json: Value = serde_json::from_str(&run("policy-rest", 80).out).expect("JSON");
    assert_eq!(field(&json, "b", "entitled"), Some(1200.0));
    assert_eq!(field(&json, "bob", "used_ratio"), Some(0.05));
    let refused = run("policy-excess", 101);
    assert_eq!(refused.code, 2);
    let said = "policy.toml:4:11: accounts.a.minutes: found \"101\", allowed is 100 minutes in all \
                directly below one account, as many as it has; a have 101";
    assert!(refused.err.contains(said), "{}", refused.err);
}

/// Ten minutes are 600 s, five 300 s of which each user has half; one minute is 60 s.
#[test]
fn minutes_count_instead_of_shares() {
    let policy = |minutes: u32| {
        format!(
            "ranking = 'least_used:leaf'\n[accounts.A]\nminutes = {minutes}\n[accounts.b]\nminutes = 5\n"
        )
    };
    for (minutes, entitled, ratio, places) in [
        (10, 600.0, 0.5, [("cyd", 3.0), ("ann", 2.0), ("bob", 1.0)]),
        (1, 60.0, 5.0, [("cyd", 3.0), ("bob", 2.0), ("ann", 1.0)]),
    ] {
        let json = share(&format!("policy-minutes-{minutes}"), &policy(minutes));
        assert_eq!(field(&json, "ann", "entitled"), Some(entitled));
        assert_eq!(field(&json, "ann", "used_ratio"), Some(ratio));
        assert_eq!(field(&json, "bob", "entitled"), Some(150.0));
        for (user, place) in places {
            assert_eq!(field(&json, user, "fs_factor"), Some(place / 3.0), "{user}");
        }
    }
}

/// At the level of the ranking: a used 300 of 600, b 500 of 200.
#[test]
fn explanations_name_the_level_and_both_ratios() {
    let args = ["explain", "bob", "--versus", "ann"];
    let ran_one = ran("policy-explain", "ranking = 'least_used:1'\n", &args);
    assert_eq!(ran_one.code, 0, "{}", ran_one.err);
    let text = ran_one.out.replace('\n', " ");
    for words in [
        "They differ first below root:",
        "Who used least of what it is entitled to comes first: a used ",
        "a ratio of 0.500000, b used",
        "a ratio of 2.500000.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // All leaves at once: cyd used nothing.
    let args = ["explain", "ann", "--versus", "cyd", "--json"];
    let leaf = ran(
        "policy-explain-leaf",
        "ranking = 'least_used:leaf'\n",
        &args,
    );
    let json: Value = serde_json::from_str(&leaf.out).expect("JSON");
    assert!(reason(&leaf.out, "ratio"), "{json}");
    // Weights: a has 3/4 of shares and 3/8 of usage, b 1/4 and 5/8.
    let args = ["explain", "bob", "--versus", "ann", "--json"];
    let walk = ran("policy-explain-walk", "ranking = 'weighted_walk'\n", &args);
    assert!(reason(&walk.out, "weight"), "{}", walk.out);
}

/// a and b used 300 and 500: under shares 3 : 1 a is first; with 1 and 500 minutes b is.
#[test]
fn what_if_compares_two_policies() {
    let folder = folder("policy-two");
    let path = |file: &str| folder.join(file).display().to_string();
    let (site, before, after) = (path("site.toml"), path("before.toml"), path("after.toml"));
    std::fs::write(Path::new(&site), SITE).expect("written");
    std::fs::write(Path::new(&before), "ranking = 'least_used:1'\n").expect("written");
    let minutes = "[accounts.a]\nminutes = 1\n[accounts.b]\nminutes = 500\n";
    let text = format!("ranking = 'least_used:1'\n{minutes}");
    std::fs::write(Path::new(&after), text).expect("written");
    let two = ["what-if", &site, "--policy", &before, "--policy", &after];
    let ran = fairtree(&[&two[..], &["--json"]].concat(), b"");
    let json: Value = serde_json::from_str(&ran.out).expect(&ran.err);
    let accounts = json["accounts"].as_array().expect("accounts");
    let places = |name: &str| {
        let row = accounts
            .iter()
            .find(|row| row["name"] == name)
            .expect("a row");
        [
            row["before"]["place"].as_u64(),
            row["after"]["place"].as_u64(),
        ]
    };
    assert_eq!(places("a"), [Some(1), Some(2)]);
    assert_eq!(places("b"), [Some(2), Some(1)]);
    let three = fairtree(&[&two[..], &["--policy", &after]].concat(), b"");
    assert!(
        three.code == 2 && three.err.contains("allowed are two"),
        "{}",
        three.err
    );
    // Minutes that no ranking looks at are an error in each report.
    for args in [
        &["share"][..],
        &["shares"],
        &["explain", "bob"],
        &["what-if"],
    ] {
        let alone = ran_with(minutes, args);
        let said = "minutes beside ranking=least_used:LEVEL";
        assert!(
            alone.code == 2 && alone.err.contains(said),
            "{args:?}: {}",
            alone.err
        );
    }
}

/// Shares are minutes, and a's children have 150 of 100: both reports flag it, and each child has its part.
#[test]
fn shares_that_are_too_many_minutes_are_flagged() {
    let site = "[settings]\nPriorityParameters = 'ranking=least_used:leaf,minutes=shares'\n\
                [accounts.a]\nshares = 100\n[accounts.b]\nparent = 'a'\nshares = 90\n\
                [accounts.c]\nparent = 'a'\nshares = 60\n";
    let said = "children of a have 150 minutes, more than its 100";
    let share = fairtree(&["share", "--json", "-"], site.as_bytes());
    assert!(share.err.contains(said), "{}", share.err);
    let json: Value = serde_json::from_str(&share.out).expect("JSON");
    assert_eq!(field(&json, "b", "entitled"), Some(3600.0));
    assert_eq!(field(&json, "c", "entitled"), Some(2400.0));
    let shares = fairtree(&["shares", "--below", "a", "-"], site.as_bytes());
    assert!(
        shares.code == 0 && shares.err.contains(said),
        "{}",
        shares.err
    );
    let words = "Minutes: 150 given out of the 100 of a: 50 too many; each child is entitled to 100 x its own / 150.";
    assert!(shares.out.contains(words), "{}", shares.out);
    // Less than before is taken, more is not.
    let fewer = fairtree(&["shares", "--minutes", "b=80", "-"], site.as_bytes());
    assert!(
        fewer.out.contains("set fairshare=80"),
        "{}{}",
        fewer.out,
        fewer.err
    );
    let more = fairtree(&["shares", "--minutes", "b=91", "-"], site.as_bytes());
    assert!(
        more.code == 2 && more.err.contains("allowed for b are up to 40"),
        "{}",
        more.err
    );
    // Minutes in two places.
    let both = ran(
        "policy-both",
        "ranking = 'least_used:leaf'\nminutes = 'shares'\n[accounts.a]\nminutes = 4\n",
        &["share"],
    );
    let place = "policy.toml:3:11: accounts.a.minutes";
    assert!(both.code == 2 && both.err.contains(place), "{}", both.err);
    assert!(both.err.contains("no minutes of accounts"), "{}", both.err);
}

fn ran_with(policy: &str, args: &[&str]) -> command::Ran {
    ran(&format!("policy-unfit-{}", args[0]), policy, args)
}

#[test]
fn what_if_takes_policies() {
    let policy =
        "ranking = 'least_used:leaf'\n[accounts.a]\nminutes = 1\n[accounts.b]\nminutes = 5\n";
    let ran_one = ran("policy-what-if", policy, &["what-if"]);
    assert_eq!(ran_one.code, 0, "{}", ran_one.err);
    assert!(
        ran_one.out.contains("the policy is that of"),
        "{}",
        ran_one.out
    );
    let set = "PriorityParameters=usage=window:28-0,ranking=least_used:1,order=strict";
    let of_set = |more: &[&str]| {
        let args = [&["what-if", "--set", set], more, &["-"]].concat();
        fairtree(&args, SITE.as_bytes())
    };
    let changed = of_set(&[]);
    assert_eq!(changed.code, 0, "{}", changed.err);
    let later = of_set(&["--after", "1-0"]);
    assert!(
        later.code == 2 && later.err.contains("--after: with usage=window:"),
        "{}",
        later.err
    );
}

#[test]
fn every_policy_is_read_and_what_is_not_followed_is_told() {
    let own = "[settings]\nPriorityParameters = 'usage=window:28-0,scope=all_clusters,ranking=\
               least_used:1,order=interleaved,counts=COMPLETED,policy=/etc/x.toml'\n";
    let site = format!("{own}{SITE}");
    for args in [
        &["share", "-"][..],
        &["explain", "bob", "-"],
        &["chart", "-"],
    ] {
        let ran = fairtree(args, site.as_bytes());
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        if args[0] != "chart" {
            assert!(
                ran.err.contains("--policy /etc/x.toml follows it"),
                "{}",
                ran.err
            );
            assert!(
                ran.err.contains("numbers waiting jobs by their places"),
                "{}",
                ran.err
            );
        }
    }
}

#[test]
fn wrong_policies_are_refused_with_their_place() {
    for (policy, words) in [
        ("ranking = 'fast'\n", "policy.toml:1:12: ranking"),
        (
            "ranking = 'least_used:1'\n[accounts.nobody]\nminutes = 1\n",
            "policy.toml:2:11: accounts: found \"nobody\"",
        ),
    ] {
        for args in [&["share"][..], &["explain", "bob"], &["what-if"]] {
            let ran = ran("policy-wrong", policy, args);
            assert!(
                ran.code == 2 && ran.err.contains(words),
                "{args:?}: {}",
                ran.err
            );
        }
    }
}

/// Jobs of one CPU: an hour of ann and one of bob ten days before the end of the log, ten minutes
/// of each at its end.
const LOG: &str = "\
JobID|User|Account|Partition|State|Start|End|Elapsed|AllocCPUS|AllocTRES
1|ann|a|p|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|01:00:00|1|billing=1,cpu=1
2|bob|b|p|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|01:00:00|1|billing=1,cpu=1
3|ann|a|p|COMPLETED|2026-03-10T23:50:00|2026-03-11T00:00:00|00:10:00|1|billing=1,cpu=1
4|bob|b|p|COMPLETED|2026-03-10T23:50:00|2026-03-11T00:00:00|00:10:00|1|billing=1,cpu=1
";

/// A week for all, and for b all since February.
const PLANS: &str = "usage = 'window:7-0'\n[accounts.b]\nplan = 'total:2026-02-01'\n";

#[test]
fn a_log_counts_by_the_plans_of_accounts() {
    let folder = folder("policy-log");
    let path = |file: &str| folder.join(file).display().to_string();
    let files = [("log", LOG), ("policy.toml", PLANS), ("site.toml", SITE)];
    for (name, text) in files {
        std::fs::write(Path::new(&path(name)), text).expect("written");
    }
    let (log, policy, site) = (path("log"), path("policy.toml"), path("site.toml"));
    let chart: &[&str] = &["chart", &log, "--policy", &policy, "--format", "json"];
    let on_site = [chart, &["--site", &site]].concat();
    let share: &[&str] = &["share", &log, "--policy", &policy, "--json"];
    let json = |args: &[&str]| -> Value {
        let ran = fairtree(args, b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str(&ran.out).expect("JSON")
    };
    let found = json(share);
    assert_eq!(field(&found, "ann", "raw_usage"), Some(600.0));
    assert_eq!(field(&found, "bob", "raw_usage"), Some(4200.0));
    // Of 600 + 4200.
    for args in [chart, &on_site] {
        let found = json(args);
        let all = found["associations"].as_array().expect("associations");
        let used = |user: &str| {
            let row = all.iter().find(|row| row["user"] == user);
            row.expect("a row")["used"].as_f64()
        };
        assert_eq!((used("ann"), used("bob")), (Some(0.125), Some(0.875)));
    }
    let ran = fairtree(&on_site, b"");
    assert!(
        ran.err
            .contains("usage of b and below it by its plan, total:2026-02-01"),
        "{}",
        ran.err
    );
    // An account that is not there.
    std::fs::write(
        Path::new(&policy),
        PLANS.replace("accounts.b", "accounts.q"),
    )
    .expect("written");
    for args in [chart, &on_site, share] {
        let ran = fairtree(args, b"");
        assert!(
            ran.code == 2 && ran.err.contains("accounts: found \"q\""),
            "{} {}",
            ran.code,
            ran.err
        );
    }
}

#[test]
fn another_usage_model_counts_the_use_of_a_site_anew() {
    let folder = folder("policy-uses");
    let path = |file: &str| folder.join(file).display().to_string();
    let on = |user: &str, account: &str, day: u8| {
        format!(
            "[[use]]\nuser = '{user}'\naccount = '{account}'\nbilling = 1\n\
             start = 2026-03-{day:02}T00:00:00Z\nend = 2026-03-{day:02}T01:00:00Z\n"
        )
    };
    let site = format!(
        "now = 2026-03-11T00:00:00Z\n[accounts.a.users.ann]\n[accounts.b.users.bob]\n{}{}{}{}",
        on("ann", "a", 1),
        on("bob", "b", 1),
        on("ann", "a", 10),
        on("bob", "b", 10)
    );
    std::fs::write(Path::new(&path("site.toml")), site).expect("written");
    std::fs::write(Path::new(&path("policy.toml")), PLANS).expect("written");
    let (site, policy) = (path("site.toml"), path("policy.toml"));
    let ran = fairtree(&["share", &site, "--policy", &policy, "--json"], b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(field(&json, "ann", "raw_usage"), Some(3600.0));
    assert_eq!(field(&json, "bob", "raw_usage"), Some(7200.0));
    let ran = fairtree(&["what-if", &site, "--policy", &policy, "--json"], b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    // Of 10800 in all bob has two thirds, where both had half.
    assert!(ran.out.contains("0.6666666666666666"), "{}", ran.out);
}

/// The window reaches back an hour. ann used two CPUs for its first half, bob one for its second: 3600 and
/// 1800. A quarter of an hour later half of ann's has left, an hour later all, and a job of bob's that has run
/// since is all there is.
#[test]
fn use_leaves_a_window_as_time_passes() {
    let site = "now = 2026-03-01T01:00:00Z\n[settings]\nPriorityParameters = \
                'usage=window:1:00:00,resolution=1,ranking=least_used:1'\n\
                [accounts.a]\nusers.ann = {}\n[accounts.b]\nusers.bob = {}\n\
                [[use]]\naccount = 'a'\nuser = 'ann'\nbilling = 2\nstart = 2026-03-01T00:00:00Z\n\
                end = 2026-03-01T00:30:00Z\n\
                [[use]]\naccount = 'b'\nuser = 'bob'\nbilling = 1\nstart = 2026-03-01T00:30:00Z\n\
                end = 2026-03-01T01:00:00Z\n";
    let path = folder("policy-window")
        .join("site.toml")
        .display()
        .to_string();
    std::fs::write(&path, site).expect("written");
    let json = |args: &[&str]| -> Value {
        let ran = fairtree(&[args, &[&path]].concat(), b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str(&ran.out).expect("JSON")
    };
    let after = json(&["what-if", "--json", "--after", "0:15:00"]);
    for (at, before, later) in [(0, 3600.0, 1800.0), (1, 1800.0, 1800.0)] {
        let user = &after["users"][at];
        assert_eq!(user["before"]["raw_usage"].as_f64(), Some(before), "{user}");
        assert_eq!(user["after"]["raw_usage"].as_f64(), Some(later), "{user}");
    }
    // Half an hour later all that ann had used has left, the charge of this moment has not; what bob used is
    // b's now. When the hour is over, nothing is left.
    let changes = ["--charge", "ann=900s", "--remove", "bob", "--after"];
    for (time, ann, b) in [
        ("0:30:00", 900.0, 1800.0),
        ("0:59:59", 900.0, 1.0),
        ("1:00:00", 0.0, 0.0),
    ] {
        let after = json(&[&["what-if", "--json"], &changes[..], &[time]].concat());
        let usage = |of: &str, name: &str| {
            let rows = after[of].as_array().expect("rows");
            let row = rows.iter().find(|row| row["name"] == name).expect("a row");
            row["after"]["raw_usage"].as_f64()
        };
        assert_eq!(usage("users", "ann@a"), Some(ann), "{time}");
        assert_eq!(usage("accounts", "b"), Some(b), "{time}");
    }
    // The hour is cut to the window: what is left is what the job used.
    let cost = json(&[
        "cost", "--json", "--tres", "cpu=1", "-t", "1:00:00", "-u", "bob",
    ]);
    assert_eq!(cost["left_at_end"].as_f64(), Some(3600.0));
    let effect = &cost["effects"][0];
    assert_eq!(effect["without"]["raw_usage"].as_f64(), Some(0.0));
    assert_eq!(effect["with"]["raw_usage"].as_f64(), Some(3600.0));
    let said = cost["assumptions"].to_string();
    assert!(
        !said.contains("it is not known here when it was used"),
        "{said}"
    );
}
