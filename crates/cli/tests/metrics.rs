//! `fairtree metrics` from the outside: values by hand, the text by Prometheus' rules
//! (prometheus.io/docs/instrumenting/exposition_formats), and the dashboard and rules beside it.

mod command;

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use command::{CLUSTER, checkout, fairtree};

/// Two accounts: physics has 60 of 100 shares and used 9000 of 12000.
const SITE: &str = "
[accounts.physics]
shares = 60
users.alice = { shares = 1, usage = 8000 }
users.anna = { shares = 1, usage = 1000 }
[accounts.chemistry]
shares = 40
users.bob = { shares = 1, usage = 3000 }
";

fn metrics(args: &[&str], input: &str) -> String {
    let mut all = vec!["metrics"];
    all.extend(args);
    let ran = fairtree(&all, input.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out
}

/// Samples by name and labels; checks the form of the text.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut described) = (BTreeMap::new(), BTreeSet::new());
    let mut family = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a help text");
            assert!(
                !help.is_empty() && described.insert(name.to_owned()),
                "{line}"
            );
            family = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            assert_eq!(rest, format!("{family} gauge"));
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let name = series.split('{').next().expect("a name");
            assert_eq!(name, family, "{line}");
            let plain = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(
                name.starts_with("fairtree_") && name.chars().all(plain),
                "{line}"
            );
            let value = value.replace("+Inf", "inf").parse().expect("a number");
            assert!(samples.insert(series.to_owned(), value).is_none(), "{line}");
        }
    }
    samples
}

#[test]
fn accounts_and_users_of_a_site() {
    let found = parsed(&metrics(&["--users", "top=1", "-"], SITE));
    let of = |series: &str| {
        *found
            .get(series)
            .unwrap_or_else(|| panic!("{series}: {found:#?}"))
    };
    let physics = "{account=\"physics\",parent=\"root\"}";
    assert_eq!(of(&format!("fairtree_account_shares{physics}")), 60.0);
    assert_eq!(
        of(&format!("fairtree_account_due_level_ratio{physics}")),
        0.6
    );
    assert_eq!(
        of(&format!("fairtree_account_due_cluster_ratio{physics}")),
        0.6
    );
    assert_eq!(
        of(&format!("fairtree_account_usage_tres_seconds{physics}")),
        9000.0
    );
    assert_eq!(of(&format!("fairtree_account_used_ratio{physics}")), 0.75);
    assert_eq!(
        of(&format!("fairtree_account_used_to_due_ratio{physics}")),
        1.25
    );
    assert_eq!(
        of(&format!("fairtree_account_level_fairshare_ratio{physics}")),
        0.8
    );
    // chemistry is first, then anna, then alice: 3, 2 and 1 of 3.
    let third = 1.0 / 3.0;
    assert_eq!(
        of(&format!("fairtree_account_factor_min_ratio{physics}")),
        third
    );
    assert_eq!(
        of(&format!("fairtree_account_factor_max_ratio{physics}")),
        2.0 * third
    );
    let alice = "{account=\"physics\",user=\"alice\"}";
    assert_eq!(
        of(&format!("fairtree_user_usage_tres_seconds{alice}")),
        8000.0
    );
    assert_eq!(of("fairtree_users_without_series"), 2.0);
    assert_eq!(of("fairtree_tied_users"), 0.0);
    assert!(
        !found.keys().any(|series| series.contains("anna")),
        "{found:#?}"
    );
    let without = parsed(&metrics(&["-"], SITE));
    assert!(
        !without.keys().any(|series| series.contains("user=")),
        "{without:#?}"
    );
}

/// Jobs of the capture, counted in its file.
#[test]
fn the_queue_of_a_capture() {
    let found = parsed(&metrics(&["--from", CLUSTER], ""));
    let jobs = std::fs::read_to_string(checkout().join(CLUSTER).join("jobs.txt"));
    let jobs = jobs.expect("a capture");
    let count = |account: &str, state: &str| {
        let fits = |line: &&str| {
            let is_held = line.contains(" Priority=0 ");
            line.contains(&format!(" Account={account} "))
                && line.contains(&format!(" JobState={state} "))
                && !is_held
        };
        jobs.lines().filter(fits).count() as f64
    };
    for account in ["physics", "genomics", "biology", "imaging"] {
        for (family, state) in [("pending", "PENDING"), ("running", "RUNNING")] {
            let name = format!("fairtree_account_{family}_jobs{{");
            let label = format!("account=\"{account}\"");
            let series = found
                .iter()
                .find(|(key, _)| key.starts_with(&name) && key.contains(&label));
            assert_eq!(
                *series.expect("a series").1,
                count(account, state),
                "{account} {state}"
            );
        }
    }
    assert!(
        found
            .keys()
            .any(|key| key.starts_with("fairtree_capture_timestamp_seconds"))
    );
}

/// Series do not grow with users.
#[test]
fn as_many_series_with_many_users() {
    let site = |users: usize| {
        let users = (0..users).map(|at| format!("users.u{at} = {{ shares = 1, usage = {at} }}\n"));
        format!("[accounts.a]\nshares = 1\n{}", users.collect::<String>())
    };
    let count = |users| parsed(&metrics(&["-"], &site(users))).len();
    assert_eq!(count(3), count(300));
}

/// Families that only fairtree-serve has, whose tests look for them.
const OF_SERVICE: [&str; 5] = [
    "fairtree_account_charged_tres_seconds_total",
    "fairtree_capture_duration_seconds",
    "fairtree_captures_total",
    "fairtree_changes_total",
    "fairtree_page_requests_total",
];

/// Every family that the dashboard and the rules name is there.
#[test]
fn dashboard_and_rules_name_families_that_there_are() {
    let known = metrics(&["--users", "top=1", "--from", CLUSTER], "");
    for file in [
        "examples/metrics/dashboard.json",
        "examples/metrics/alerts.yml",
    ] {
        let text = std::fs::read_to_string(checkout().join(file)).expect("a file");
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text.split(|c: char| !is_part(c));
        let named: BTreeSet<&str> = words.filter(|word| word.starts_with("fairtree_")).collect();
        assert!(named.len() > 3, "{file}: {named:?}");
        for name in named.iter().filter(|name| !OF_SERVICE.contains(name)) {
            assert!(
                known.contains(&format!("# TYPE {name} gauge\n")),
                "{file}: {name}"
            );
        }
        if file.ends_with(".json") {
            serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
        }
    }
}

/// Prometheus' own check, where it is installed (Debian: prometheus).
#[test]
fn promtool_accepts_metrics_and_rules() {
    let text = metrics(&["--users", "top=3", "--from", CLUSTER], "");
    let folder = command::folder("promtool");
    let path = folder.join("fairtree.prom");
    std::fs::write(&path, text).expect("written");
    let check = |args: &[&str], input: Stdio| match Command::new("promtool")
        .args(args)
        .stdin(input)
        .output()
    {
        Ok(ran) => {
            let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{args:?}: {said}");
        }
        Err(error) => println!("promtool: {error}; not checked"),
    };
    check(
        &["check", "metrics"],
        std::fs::File::open(&path).expect("a file").into(),
    );
    for (action, file) in [("check", "alerts.yml"), ("test", "alerts-test.yml")] {
        let rules = checkout().join("examples/metrics").join(file);
        check(
            &[action, "rules", rules.to_str().expect("UTF-8")],
            Stdio::null(),
        );
    }
}

#[test]
fn what_is_not_a_number_of_users() {
    let ran = fairtree(&["metrics", "--users", "all", "-"], SITE.as_bytes());
    assert_eq!(ran.code, 2);
    assert!(
        ran.err
            .contains("--users: found \"all\", allowed is top=NUMBER"),
        "{}",
        ran.err
    );
}
