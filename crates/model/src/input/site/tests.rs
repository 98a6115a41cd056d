//! Sites in TOML. Expected: hand calculation, and the rules of `docs/site-format.md`.

use super::*;
use crate::cluster::Cluster;
use fairtree::config::PolicyFile;
use fairtree::tree::{AssocKind, Shares};

fn site(text: &str) -> Site {
    read("site.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{}", error.explained()))
}

fn refused(text: &str) -> String {
    read("site.toml", text.as_bytes()).unwrap_err().to_string()
}

fn names(site: &Site) -> Vec<String> {
    let name = |row: &SiteRow| match &row.user {
        Some(user) => format!("{}/{user}", row.account),
        None => row.account.clone(),
    };
    site.rows.iter().map(name).collect()
}

fn usage(site: &Site) -> Vec<f64> {
    (0..site.rows.len())
        .map(|row| site.raw_usage(row).to_f64())
        .collect()
}

#[test]
fn rows_stand_in_slurmctlds_order() {
    let site = site(
        "[accounts.zoo]\nparent = 'bio'\n[accounts.bio.users]\nwim = {}\nanna = {}\n\
         [accounts.abc]\n[accounts.root.users.admin]\n",
    );
    assert_eq!(
        names(&site),
        [
            "root",
            "root/admin",
            "abc",
            "bio",
            "bio/anna",
            "bio/wim",
            "zoo"
        ]
    );
    assert_eq!(site.tree.rows()[4].kind, AssocKind::User);
    assert_eq!(
        site.tree
            .parent(fairtree::tree::AssocIndex::new(6))
            .unwrap()
            .get(),
        3
    );
}

#[test]
fn by_lineage_a_name_that_goes_on_with_a_dash_comes_first() {
    let text = "[accounts.chem]\n[accounts.chem-lab]\n";
    assert_eq!(names(&site(text)), ["root", "chem", "chem-lab"]);
    let text = format!("settings.PriorityParameters = 'compat=slurm:24.11.5'\n{text}");
    assert_eq!(names(&site(&text)), ["root", "chem-lab", "chem"]);
}

#[test]
fn shares_are_one_unless_given() {
    let site = site("[accounts.a]\nshares = 40\nusers.u = { shares = 'parent' }\nusers.v = {}\n");
    let shares: Vec<Shares> = site.tree.rows().iter().map(|row| row.shares).collect();
    assert_eq!(
        shares[1..],
        [Shares::Raw(40), Shares::Parent, Shares::Raw(1)]
    );
}

// 0.9 + 0.6 = 0.1 + 1.4 = 1.5, also a half-life later, though none of them is a binary number.
#[test]
fn decimal_usage_keeps_ties() {
    for settings in [
        "",
        "usage_time = 2026-03-01T00:00:00Z\nnow = 2026-03-08T00:00:00Z\n",
        "usage_time = 2026-03-01T00:00:00Z\nnow = 2026-03-03T05:06:07Z\n",
    ] {
        let text = format!(
            "{settings}[accounts.a.users]\nu = {{ usage = 0.9 }}\nv = {{ usage = 0.6 }}\n\
             [accounts.b.users]\nw = {{ usage = 0.1 }}\nx = {{ usage = 1.4 }}\n\
             [accounts.c.users]\ny = {{ usage = 1.5 }}\n"
        );
        let site = site(&text);
        let of = |name: &str| {
            let mut rows = site.rows.iter();
            let row = rows.position(|row| row.user.is_none() && row.account == name);
            site.raw_usage(row.unwrap())
        };
        assert_eq!(of("a"), of("b"), "{settings}");
        assert_eq!(of("a"), of("c"), "{settings}");
    }
}

#[test]
fn usage_adds_up_and_halves_in_a_half_life() {
    let text = "
        usage_time = 2026-03-01T00:00:00Z
        now = '2026-03-08T00:00:00+00:00'
        settings.PriorityDecayHalfLife = '7-0'
        [accounts.a.users]
        u = { usage = 800, partitions.gpu = { usage = 200.5 } }
    ";
    assert_eq!(usage(&site(text)), [500.25, 500.25, 400.0, 100.25]);
    // Without times, usage is what it says.
    let text = "[accounts.a.users.u]\nusage = 800\n";
    assert_eq!(usage(&site(text)), [800.0, 800.0, 800.0]);
}

#[test]
fn use_is_charged_where_and_when_it_was() {
    let text = "
        now = 2026-03-01T04:00:00Z
        settings = { PriorityDecayHalfLife = 0, PriorityUsageResetPeriod = 'MONTHLY' }
        [accounts.a.users]
        u = { partitions.gpu = {} }
        [[use]]
        account = 'a'
        user = 'u'
        partition = 'gpu'
        billing = 8
        start = 2026-02-28T23:00:00Z
        end = 2026-03-01T01:00:00Z
    ";
    // No decay; the reset at midnight of March clears the first of the two hours.
    assert_eq!(usage(&site(text)), [28800.0, 28800.0, 0.0, 28800.0]);
    let never = text.replace("MONTHLY", "NONE");
    assert_eq!(usage(&site(&never))[3], 57600.0);
}

#[test]
fn use_counts_in_the_window_or_since_the_date() {
    let text = |usage: &str| {
        format!(
            "
            usage_time = 2026-03-01T00:00:00Z
            now = 2026-03-02T04:00:00Z
            settings = {{ PriorityDecayHalfLife = '1-0', PriorityParameters = 'usage={usage}' }}
            [accounts.a.users]
            u = {{ usage = 100 }}
            [[use]]
            account = 'a'
            user = 'u'
            billing = 8
            start = 2026-03-01T23:00:00Z
            end = 2026-03-02T01:00:00Z
            "
        )
    };
    let of = |model: &str| usage(&site(&text(model)))[2];
    // Two hours of 8, or what of them is in the last 4 hours, or on the second; the 100 are older.
    assert_eq!(of("window:0-12"), 57_600.0);
    assert_eq!(of("window:0-4"), 28_800.0);
    assert_eq!(of("window:0-1"), 0.0);
    assert_eq!(of("total:2026-03-02"), 28_800.0);
    // The window reaches back to when the 100 held, and the date is before that.
    assert_eq!(of("window:2-0"), 57_700.0);
    assert_eq!(of("total:2026-02-01"), 57_700.0);
}

// By hand: at noon of the 10th a week reaches back to the 3rd. An hour of 1 each on the 2nd and the 9th.
#[test]
fn another_policy_counts_the_same_use_anew() {
    let on = |account: &str, user: &str, day: &str| {
        format!(
            "[[use]]\naccount = '{account}'\nuser = '{user}'\nbilling = 1\n\
             start = 2026-03-{day}T00:00:00Z\nend = 2026-03-{day}T01:00:00Z\n"
        )
    };
    let users = [("a", "x"), ("b", "y"), ("c", "z")];
    let uses = users.map(|(account, user)| on(account, user, "02") + &on(account, user, "09"));
    let text = format!(
        "usage_time = 2026-03-01T00:00:00Z\nnow = 2026-03-10T12:00:00Z\n\
         settings.PriorityParameters = 'usage=total:2026-01-01'\n[accounts.a]\nusers.x = {{ usage = 7 }}\n\
         [accounts.b]\nusers.y = {{ usage = 7 }}\n[accounts.c]\nparent = 'b'\nusers.z = {{}}\n{}",
        uses.concat()
    );
    let policy = |text: &str| PolicyFile::parse(text, "policy.toml", None).unwrap();
    let mut site = site(&text);
    // Root, a, x, b, y, c, z.
    assert_eq!(
        usage(&site)[1..],
        [7207.0, 7207.0, 14407.0, 7207.0, 7200.0, 7200.0]
    );
    let plans = "usage = 'window:7-0'\n[accounts.B]\nplan = 'total:2026-02-01'\n";
    site.follow_policy(&policy(plans)).unwrap();
    assert_eq!(
        usage(&site)[1..],
        [3600.0, 3600.0, 14407.0, 7207.0, 7200.0, 7200.0]
    );
    let one = format!("{plans}[accounts.c]\nplan = 'window:7-0'\n");
    site.follow_policy(&policy(&one)).unwrap();
    assert_eq!(
        usage(&site)[1..],
        [3600.0, 3600.0, 10807.0, 7207.0, 3600.0, 3600.0]
    );
    let error = site.follow_policy(&policy("usage = 'window:7-0'\n[accounts.q]\nminutes = 1\n"));
    assert!(error.is_err());
    assert_eq!(usage(&site)[1], 3600.0);
    // The same in a cluster; what the site does not have before it has it there.
    let mut cluster = Cluster::from_site(site, None).unwrap();
    cluster
        .follow_policy(&policy("usage = 'total:2026-01-01'\n"))
        .unwrap();
    assert_eq!(cluster.raw()[1].to_f64(), 7207.0);
    cluster.follow_policy(&policy(plans)).unwrap();
    let raw: Vec<f64> = cluster.raw().iter().map(|raw| raw.to_f64()).collect();
    assert_eq!(raw[1..], [3600.0, 3600.0, 14407.0, 7207.0, 7200.0, 7200.0]);
}

#[test]
fn settings_are_slurm_confs() {
    let site = site("[settings]\nPriorityFlags = 'NO_FAIR_TREE'\nFairShareDampeningFactor = 5\n");
    assert_eq!(
        site.config.ranking(),
        fairtree::fairshare::Ranking::classic(5)
    );
}

#[test]
fn errors_name_place_value_and_what_is_allowed() {
    for (text, expected) in [
        (
            "[accounts.a]\nshares = -1\n",
            "site.toml:2:10: shares \"-1\" is not allowed: allowed is a whole number from 0 to \
             2147483646, or \"parent\"",
        ),
        (
            "[accounts.a]\nshare = 1\n",
            "site.toml:2:1: unknown field `share`",
        ),
        (
            "[accounts.a]\nparent = 'b'\n",
            "site.toml:2:10: parent \"b\"",
        ),
        ("[accounts.\"a b\"]\n", "site.toml:1:11: account \"a b\""),
        (
            "[accounts.root]\nshares = 1\n",
            "site.toml:2:10: root is above all",
        ),
        (
            "[accounts.a]\nparent = 'b'\n[accounts.b]\nparent = 'a'\n",
            "site.toml:2:10: account \"a\" is not below root",
        ),
        (
            "[accounts.a.users.u]\nusage = nan\n",
            "site.toml:2:9: usage \"nan\"",
        ),
        (
            "[accounts.a.users.u]\nusage = '5'\n",
            "site.toml:2:9: usage \"5\"",
        ),
        (
            "settings.PriorityMaxAge = '7x'\n",
            "site.toml:1:28: PriorityMaxAge \"7x\"",
        ),
        (
            "settings.PriorityParameters = 'compat=x'\n",
            "site.toml:1:32: PriorityParameters compat \"x\"",
        ),
        (
            "[settings]\nSelectType = 'x'\n",
            "site.toml:2:1: setting \"SelectType\"",
        ),
        ("now = 2026-13-01\n", "site.toml:1:"),
        ("now = 5\n", "site.toml:1:7: now \"5\""),
        (
            "usage_time = 2026-03-02\nnow = 2026-03-01\n",
            "site.toml:2:7: now \"2026-03-01\"",
        ),
        (
            "[accounts.a]\ngrp_tres_mins = 'cpu'\n",
            "site.toml:2:17: grp_tres_mins \"cpu\"",
        ),
        ("[accounts.a]\n[accounts.a]\n", "site.toml:2:"),
    ] {
        let error = refused(text);
        assert!(error.starts_with(expected), "{text}\n{error}\n{expected}");
    }
    assert!(read("s", &b"a = '\xff'"[..]).is_err());
}

#[test]
fn use_without_a_time_or_a_user_is_refused() {
    let entry =
        "[[use]]\naccount = 'a'\nuser = 'u'\nbilling = 1\nstart = 2026-01-01\nend = 2026-01-02\n";
    assert!(refused(entry).contains("depends on the time"));
    let text = format!("now = 2026-02-01\n{entry}");
    assert!(refused(&text).starts_with("site.toml:4:8: user \"u\""));
    let text = format!("now = 2026-01-01\n[accounts.a.users.u]\n{entry}");
    assert!(refused(&text).starts_with("site.toml:8:7: end"));
}

#[test]
fn a_circle_that_root_does_not_reach_is_found_behind_a_deep_tree() {
    let mut text = String::from("[accounts.a0]\n");
    for depth in 1..3000 {
        text.push_str(&format!("[accounts.a{depth}]\nparent = 'a{}'\n", depth - 1));
    }
    assert_eq!(site(&text).rows.len(), 3001);
}
