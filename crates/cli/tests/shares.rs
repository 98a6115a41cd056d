//! `fairtree shares` from outside. Expected values: hand calculation, those of `docs/policies`.

#[allow(dead_code)] // The pages here neither hover nor fold.
#[path = "../../testbed/src/browser.rs"]
mod browser;
mod command;

use std::path::PathBuf;
use std::process::Command;

use browser::Browser;
use command::{CLUSTER, fairtree, folder};
use serde_json::Value;

/// A row of a level by its name.
fn row<'a>(level: &'a Value, name: &str) -> &'a Value {
    let mut rows = level["rows"].as_array().expect("rows").iter();
    rows.find(|row| row["name"] == name).expect("a row")
}

fn shares(args: &[&str]) -> command::Ran {
    fairtree(&[&["shares"][..], args].concat(), b"")
}

fn json(args: &[&str]) -> Value {
    let ran = shares(&[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

fn close(value: &Value, expected: f64) {
    let value = value.as_f64().expect("a number");
    assert!(
        (value - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "{value}: {expected}"
    );
}

// 40320 minutes in 28 days: hub A has 3/5, its groups 2/3 and 1/3 of that.
#[test]
fn a_level_of_hubs() {
    let level = &json(&["--below", "hub_a", "examples/hubs.toml"])["level"];
    assert_eq!(level["ranking"], "least_used:2");
    close(&level["account"]["share_of_whole"], 0.6);
    for (name, part, whole, minutes, used, ratio) in [
        (
            "a_group1",
            2.0 / 3.0,
            0.4,
            16_128.0,
            120.0,
            120.0 / 16_128.0,
        ),
        ("a_group2", 1.0 / 3.0, 0.2, 8_064.0, 100.0, 100.0 / 8_064.0),
    ] {
        let row = row(level, name);
        close(&row["share_of_level"], part);
        close(&row["share_of_whole"], whole);
        close(&row["entitled"], minutes * 60.0);
        close(&row["used"], used * 60.0);
        close(&row["used_ratio"], ratio);
        assert_eq!(row["score"]["grade"], "under");
    }
    close(&level["sum"]["share_of_level"], 1.0);
    close(&level["sum"]["claim"], 24_192.0 * 60.0);
    let ran = shares(&["--below", "hub_a", "examples/hubs.toml"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        lines[0].starts_with("Below hub_a: 60.00% of the whole, entitled to 24192 TRES-minutes")
    );
    assert!(
        lines[2].contains("66.67%") && lines[2].ends_with("used 0.74% of its entitlement"),
        "{}",
        ran.out
    );
    assert!(lines[4].trim_start().starts_with("together"), "{}", ran.out);
}

// docs/policies/classic.md and fair-tree.md: `ben` used 0.8 times what he is due, `eli` twice, fay is
// at her share; under Fair Tree LevelFS of vision is 1.5, of ana 0.625.
#[test]
fn scores_are_those_of_the_recipes() {
    let of = |file: &str, below: &str, name: &str| {
        let ran = shares(&["--below", below, file]);
        let mut lines = ran.out.lines();
        let line = lines.find(|line| line.trim_start().starts_with(name));
        let line = line
            .unwrap_or_else(|| panic!("{}{}", ran.out, ran.err))
            .to_owned();
        line.rsplit_once("  ").expect("columns").1.to_owned()
    };
    let classic = "examples/classic.toml";
    assert_eq!(of(classic, "vision", "ben"), "under its share, 0.8 : 1");
    assert_eq!(of(classic, "robots", "eli"), "over its share, 2 : 1");
    assert_eq!(of(classic, "robots", "fay"), "at its share, 1 : 1");
    assert_eq!(of(classic, "language", "cem"), "over its share, 4.22 : 1");
    let fair_tree = "examples/fair_tree.toml";
    assert_eq!(of(fair_tree, "root", "vision"), "under its share, 0.67 : 1");
    assert_eq!(of(fair_tree, "root", "robots"), "at its share, 1 : 1");
    assert_eq!(of(fair_tree, "vision", "ana"), "over its share, 1.6 : 1");
    assert_eq!(of(fair_tree, "robots", "fay"), "unused");
}

/// By hand: of one machine in a day, 1440 minutes, b and c have 1/3 and 2/3; beside them a has 360. The
/// whole is 1800. Where nobody knows the capacity, only minutes count: a has all, b and c nothing.
#[test]
fn the_root_has_what_all_have_together() {
    let folder = folder("shares-root");
    let site = folder.join("machines.toml");
    let accounts = "[accounts.a]\nminutes = 360\n[accounts.b]\n[accounts.c]\nshares = 2\n";
    let machines =
        format!("now = 2026-03-01T00:00:00Z\nusage = 'window:1-0'\n{accounts}[machines.m1]\n");
    std::fs::write(&site, machines).expect("written");
    let site = site.display().to_string();
    let level = &json(&[&site])["level"];
    close(&level["account"]["entitled"], 1800.0 * 60.0);
    close(&level["account"]["share_of_whole"], 1.0);
    assert_eq!(level["account"]["score"]["grade"], "root");
    for (name, minutes) in [("a", 360.0), ("b", 480.0), ("c", 960.0)] {
        let row = row(level, name);
        close(&row["entitled"], minutes * 60.0);
        close(&row["share_of_whole"], minutes / 1800.0);
    }
    close(&level["sum"]["share_of_whole"], 1.0);
    close(&level["sum"]["claim"], 1800.0 * 60.0);
    // The queue gives them the same.
    let standings = b"{\"event\":\"standing\",\"account\":\"b\"}\n";
    let ran = fairtree(&["queue", &site], standings);
    let standing: Value =
        serde_json::from_str(ran.out.lines().last().expect("a line")).expect("JSON");
    close(&standing["entitled"], 480.0 * 60.0e6);
    // A site of Slurm under a policy file: 100 minutes of a alone.
    let args = [
        "--policy",
        "examples/minutes.toml",
        "examples/instances.toml",
    ];
    let level = &json(&args)["level"];
    close(&level["account"]["share_of_whole"], 1.0);
    close(&level["sum"]["share_of_whole"], 1.0);
    assert_eq!(level["account"]["entitled"], level["sum"]["claim"]);
    // acme has 1000 minutes, the plan of zeta 10000.
    assert_eq!(level["minutes"]["given"], 11_000);
    let ran = shares(&args);
    assert!(
        ran.out.starts_with("Below root: 100.00% of the whole, "),
        "{}",
        ran.out
    );
}

// Of three shares below root one is not listed, as NormShares says: a has 1 of the 2 that are.
#[test]
fn a_listing_without_some_rows_is_shown_with_a_note() {
    let listing = "Account|User|RawShares|NormShares|RawUsage|EffectvUsage\nroot|||0.000000|30|\n\
                   \x20a||1|0.333333|10|0.333333\n b||1|0.333333|10|0.333333\n";
    let ran = fairtree(&["shares", "--json"], listing.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("shown is what the listed rows make"),
        "{}",
        ran.err
    );
    let level: Value = serde_json::from_str(&ran.out).expect("JSON");
    close(&row(&level["level"], "a")["share_of_level"], 0.5);
    // What is above the rows is not listed at all.
    let ran = fairtree(
        &["shares"],
        b"Account|User|RawShares|RawUsage\n  a|u|1|10\n",
    );
    assert_eq!(ran.code, 2, "{}", ran.out);
}

#[test]
fn a_site_of_machines_is_read_by_all_reports_of_shares() {
    // Two machines, 28 days: 80640 minutes; group 2 of hub B has 3/4 of 2/5.
    let level = &json(&["--below", "hub_b", "examples/cloud.toml"])["level"];
    let group = row(level, "b_group2");
    close(&group["entitled"], 80_640.0 * 60.0 * 0.3);
    assert_eq!(group["score"]["grade"], "unused");
    // All is in this file: what changes it is a patch.
    let ran = shares(&["--shares", "a_group2=2", "examples/cloud.toml"]);
    let patch = "--- examples/cloud.toml\n+++ examples/cloud.toml\n";
    assert!(ran.out.contains(patch), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("\n-shares = 1\n+shares = 2\n"),
        "{}",
        ran.out
    );
    // Accounts without users have no factor to compare, but shares and use.
    let explained = fairtree(&["explain", "project_y", "examples/cloud.toml"], b"");
    let first = "project_y is an account without users. Its share and use beside its siblings:\n";
    assert!(explained.out.starts_with(first), "{}", explained.err);
    let level = shares(&["--below", "hub_a", "examples/cloud.toml"]).out;
    let explained = fairtree(&["explain", "a_group1", "examples/cloud.toml"], b"");
    assert!(explained.out.ends_with(&level), "{}", explained.out);
    let args = [
        "explain",
        "a_group1",
        "--versus",
        "hub_b",
        "examples/cloud.toml",
    ];
    let explained = fairtree(&args, b"");
    let said = "a_group1 is an account; allowed are users";
    assert!(
        explained.code == 2 && explained.err.contains(said),
        "{}",
        explained.err
    );
    let share = fairtree(&["share", "examples/cloud.toml"], b"");
    assert!(
        share.code == 0 && share.out.contains("b_group2"),
        "{}",
        share.err
    );
    let what_if = fairtree(
        &["what-if", "--shares", "a_group2=2", "examples/cloud.toml"],
        b"",
    );
    assert_eq!(what_if.code, 0, "{}", what_if.err);
    let refused = fairtree(&["share", "examples/on_demand.toml"], b"");
    assert!(
        refused.code == 2 && refused.err.contains("compares no shares"),
        "{}",
        refused.err
    );
}

#[test]
fn each_kind_of_input() {
    let live = json(&["--from", CLUSTER]);
    assert!(
        live["level"]["rows"]
            .as_array()
            .is_some_and(|rows| rows.len() > 2)
    );
    let listing = std::fs::read(command::checkout().join(CLUSTER).join("sshare-al.txt"));
    let ran = fairtree(&["shares", "--json"], &listing.expect("a listing"));
    let listed: Value = serde_json::from_str(&ran.out).expect(&ran.err);
    let names = |json: &Value| -> Vec<String> {
        let rows = json["level"]["rows"].as_array().expect("rows").iter();
        rows.map(|row| row["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&listed), names(&live));
    let dump = "Cluster - 'alpha'\nParent - 'root'\nAccount - 'a':Fairshare=3\nAccount - 'b':Fairshare=1\n";
    let ran = fairtree(&["shares", "--shares", "a=1", "-"], dump.as_bytes());
    assert!(
        ran.out
            .contains("\nsacctmgr -i modify account where name=a cluster=alpha set fairshare=1\n"),
        "{}{}",
        ran.out,
        ran.err
    );
    let ran = shares(&["--below", "nobody", "examples/hubs.toml"]);
    assert!(
        ran.code == 2 && ran.err.contains("found no account nobody"),
        "{}",
        ran.err
    );
}

// docs/policies/hub-group-project.md: both groups are due 30 %, and group 2 is the first of four.
#[test]
fn shares_before_and_after() {
    let args = [
        "--below",
        "hub_a",
        "--shares",
        "a_group2=2",
        "examples/hubs.toml",
    ];
    let proposal = &json(&args)["proposal"];
    let change = &proposal["levels"][0];
    close(&row(&change["before"], "a_group2")["share_of_whole"], 0.2);
    close(&row(&change["after"], "a_group2")["share_of_whole"], 0.3);
    assert_eq!(
        proposal["commands"]["lines"][0],
        "sacctmgr -i modify account where name=a_group2 set fairshare=2"
    );
    let ran = shares(&args);
    assert!(
        ran.out.contains("50.00%") && ran.out.contains("3 -> 1 of 4"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("Up by most: "), "{}", ran.out);
    let zero = shares(&["--shares", "a_group2=0", "examples/hubs.toml"]);
    let said = "a_group2 is entitled to nothing: it comes after all others";
    assert!(zero.code == 0 && zero.err.contains(said), "{}", zero.err);
}

#[test]
fn an_account_elsewhere_is_refused() {
    for (args, said) in [
        (
            ["--below", "hub_a", "--shares", "b_group1=2"],
            "b_group1 is not below hub_a",
        ),
        (
            ["--below", "hub_a", "--shares", "hub_a=2"],
            "hub_a is not below hub_a",
        ),
        (
            ["--below", "hub_a", "--shares", "root=2"],
            "root is not below hub_a",
        ),
        (
            ["--below", "hub_a", "--shares", "a_group1=x"],
            "allowed is WHO=SHARES",
        ),
        (
            ["--below", "hub_a", "--minutes", "a_group1=-1"],
            "allowed is ACCOUNT=MINUTES",
        ),
    ] {
        let ran = shares(&[&args[..], &["examples/hubs.toml"]].concat());
        assert!(
            ran.code == 2 && ran.err.contains(said),
            "{args:?}: {}",
            ran.err
        );
    }
    let ran = shares(&["--minutes", "vision=5", "examples/fair_tree.toml"]);
    assert!(
        ran.code == 2 && ran.err.contains("minutes need ranking=least_used:LEVEL"),
        "{}",
        ran.err
    );
}

/// An account of 1000 minutes whose child lab has 600, the instance lab_1 of it 400.
const POLICY: &str = "usage = \"window:28-0\"\nranking = \"least_used:leaf\"\n\n[accounts.acme]\nminutes = 1000\n\
    [accounts.lab]\nminutes = 600 # the lab\n[accounts.lab_1]\nminutes = 400\n";

const SITE: &str = "now = 2026-03-01T00:00:00Z\n[accounts.acme]\n[accounts.lab]\nparent = \"acme\"\n\
    [accounts.shop]\nparent = \"acme\"\n[accounts.store]\nparent = \"acme\"\nshares = 3\n\
    [accounts.lab_1]\nparent = \"lab\"\nusers.ann = { shares = \"parent\", usage = 12000 }\n\
    [accounts.lab_2]\nparent = \"lab\"\nusers.bob = { shares = \"parent\", usage = 600 }\n";

fn files(name: &str, policy: &str) -> (PathBuf, PathBuf) {
    let folder = folder(name);
    let (site, file) = (folder.join("site.toml"), folder.join("policy.toml"));
    std::fs::write(&site, SITE).expect("written");
    std::fs::write(&file, policy).expect("written");
    (site, file)
}

fn with_policy(name: &str, policy: &str, args: &[&str]) -> command::Ran {
    let (site, file) = files(name, policy);
    let (site, file) = (site.display().to_string(), file.display().to_string());
    shares(&[args, &["--policy", &file, &site]].concat())
}

// shop and store divide the 400 minutes that lab leaves of acme's, 1 : 3.
#[test]
fn minutes_are_given_out_by_a_patch_of_the_policy() {
    let ran = with_policy("shares-level", POLICY, &["--below", "acme", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).expect(&ran.err);
    let level = &found["level"];
    close(&row(level, "lab")["entitled"], 36_000.0);
    close(&row(level, "shop")["entitled"], 6_000.0);
    close(&row(level, "store")["entitled"], 18_000.0);
    close(&level["minutes"]["left"], 400.0);
    let ran = with_policy("shares-text", POLICY, &["--below", "acme"]);
    let said = "Minutes: 600 given out of the 1000 of acme; 400 are left to give out; the 2 children without \
                minutes divide them by shares.";
    assert!(ran.out.contains(said), "{}", ran.out);

    let ran = with_policy("shares-beyond", POLICY, &["--minutes", "lab=1001"]);
    let said = "below acme 1001 minutes would be given out, but it has 1000: allowed for lab are up to 1000";
    assert!(ran.code == 2 && ran.err.contains(said), "{}", ran.err);
    let ran = with_policy("shares-less", POLICY, &["--minutes", "lab=300"]);
    assert!(
        ran.code == 2 && ran.err.contains("its children have 400 minutes"),
        "{}",
        ran.err
    );
    let ran = with_policy("shares-parent", POLICY, &["--shares", "lab=parent"]);
    assert!(
        ran.code == 2 && ran.err.contains("it has minutes"),
        "{}",
        ran.err
    );

    let ran = with_policy(
        "shares-patch",
        POLICY,
        &[
            "--below",
            "acme",
            "--minutes",
            "lab=1000",
            "--minutes",
            "shop=0",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (_, commands) = ran
        .out
        .split_once("nothing was changed:\n")
        .expect("commands");
    let patch = commands
        .strip_suffix("scontrol reconfigure\n")
        .expect("the last line");
    // patch(1) makes of the file what was asked for, and all else stays.
    let (_, file) = files("shares-patched", POLICY);
    let patch = patch.replace("shares-patch/policy.toml", "shares-patched/policy.toml");
    let status = Command::new("sh")
        .args(["-c", &patch])
        .current_dir("/")
        .status();
    if status.is_ok_and(|status| status.success()) {
        let after = std::fs::read_to_string(file).expect("the file");
        let expected =
            POLICY.replace("600 # the lab", "1000 # the lab") + "\n[accounts.shop]\nminutes = 0\n";
        assert_eq!(after, expected);
    } else {
        assert!(
            patch.contains("-minutes = 600 # the lab\n+minutes = 1000 # the lab\n"),
            "{patch}"
        );
    }
}

/// The fields of a page: what somebody types, and what the page then says.
#[test]
fn a_page_follows_as_one_types() {
    let Some(mut browser) = Browser::start(1200, 900) else {
        return;
    };
    let ran = shares(&["--html", "--below", "hub_a", "examples/hubs.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = folder("shares-page").join("hub_a.html");
    std::fs::write(&page, &ran.out).expect("written");
    browser.open(&page);
    let cell = |row: u32, class: &str| {
        format!(
            "document.querySelectorAll('#level tbody tr')[{row}].querySelector('.{class}').textContent"
        )
    };
    assert_eq!(browser.text(&cell(0, "of-level")), "66.67%");
    assert_eq!(browser.text(&cell(0, "of-whole")), "40.00%");
    assert_eq!(browser.text(&cell(0, "claim")), "16128");
    assert_eq!(
        browser.text("document.getElementById('commands').value"),
        ""
    );
    browser.value(
        "(() => { const f = document.querySelectorAll('#level input')[1]; f.value = '2'; \
         f.dispatchEvent(new Event('input', { bubbles: true })); })()",
    );
    assert_eq!(browser.text(&cell(1, "of-level")), "50.00%");
    assert_eq!(browser.text(&cell(1, "of-whole")), "30.00%");
    assert_eq!(browser.text(&cell(1, "claim")), "12096");
    assert_eq!(
        browser.text("document.getElementById('commands').value"),
        "sacctmgr -i modify account where name=a_group2 set fairshare=2"
    );
    browser.keep(&PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("shares.png"));
    assert_eq!(browser.complaints(), [] as [&str; 0]);

    let ran = with_policy(
        "shares-page-minutes",
        POLICY,
        &["--html", "--below", "acme"],
    );
    std::fs::write(&page, &ran.out).expect("written");
    browser.open(&page);
    // lab 600, shop 1 and store 3 shares of the other 400.
    assert_eq!(browser.text(&cell(2, "claim")), "300");
    assert_eq!(
        browser.text("document.getElementById('left').textContent"),
        "400 of 1000 minutes are left to give out."
    );
    let kind = "(value) => { const f = document.querySelectorAll('#level input')[0]; f.value = value; \
                f.dispatchEvent(new Event('input', { bubbles: true })); }";
    browser.value(&format!("({kind})('800')"));
    assert_eq!(browser.text(&cell(2, "claim")), "150");
    assert_eq!(
        browser.text("document.getElementById('commands').value"),
        "accounts.lab.minutes = 800"
    );
    browser.value(&format!("({kind})('1001')"));
    let left = browser.text("document.getElementById('left').textContent");
    assert!(left.starts_with("1 minutes too many"), "{left}");
    assert_eq!(
        browser.text("document.getElementById('commands').value"),
        ""
    );
    assert_eq!(browser.complaints(), [] as [&str; 0]);
}
