//! One standing of an association in every report: share, explain, what-if, cost, chart, the queue.
//! Expected values: hand calculation, beside each site.

mod command;

use std::path::PathBuf;

use command::{fairtree, folder};
use fairtree::engine::queue::{Queue, SECOND};
use fairtree_model::input::queue::{Policy, read};
use serde_json::Value;

/// What each report has to show of one association.
struct Expected {
    /// Account or user.
    name: &'static str,
    share_of_whole: f64,
    /// TRES-seconds that it is entitled to.
    entitled: Option<f64>,
    /// TRES-seconds that are due to it, where it is entitled to no time.
    due: Option<f64>,
    used: f64,
    place: Option<u64>,
    of: u64,
}

impl Expected {
    fn ratio(&self) -> f64 {
        self.used / self.entitled.or(self.due).expect("one of them")
    }
}

/// A site of which a part is due to each.
fn due(name: &'static str, part: f64, of: f64, used: f64, (place, all): (u64, u64)) -> Expected {
    Expected {
        name,
        share_of_whole: part,
        entitled: None,
        due: Some(part * of),
        used,
        place: Some(place),
        of: all,
    }
}

/// One that entitles each to a time.
fn entitled(name: &'static str, part: f64, of: f64, used: f64, place: (u64, u64)) -> Expected {
    let as_due = due(name, part, of, used, place);
    Expected {
        entitled: as_due.due,
        due: None,
        ..as_due
    }
}

fn close(found: &Value, expected: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found}"));
    let near = expected.abs().max(1e-9) * 1e-9;
    assert!(
        (found - expected).abs() <= near,
        "{what}: {found} is not {expected}"
    );
}

fn json(args: &[&str]) -> Value {
    let ran = fairtree(args, b"");
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

/// The row of an association among rows that name it in `keys`.
fn row<'a>(rows: &'a Value, name: &str, keys: &[&str]) -> &'a Value {
    let is = |row: &&Value| {
        let own = keys.iter().find_map(|key| row[*key].as_str()).unwrap_or("");
        own == name || own.split_once('@').is_some_and(|(user, _)| user == name)
    };
    let mut rows = rows.as_array().expect("rows").iter();
    rows.find(is)
        .unwrap_or_else(|| panic!("{name} is not there"))
}

/// Fields that what-if, cost and explain have alike.
fn check(found: &Value, one: &Expected, level_fs: &Value, what: &str) {
    let what = |field: &str| format!("{what}: {field} of {}", one.name);
    close(
        &found["share_of_whole"],
        one.share_of_whole,
        &what("share_of_whole"),
    );
    close(&found["raw_usage"], one.used, &what("raw_usage"));
    close(&found["used_ratio"], one.ratio(), &what("used_ratio"));
    for (field, expected) in [("entitled", one.entitled), ("due", one.due)] {
        match expected {
            Some(expected) => close(&found[field], expected, &what(field)),
            None => assert!(found[field].is_null(), "{}", what(field)),
        }
    }
    assert_eq!(&found["level_fs"], level_fs, "{}", what("level_fs"));
}

/// All reports on a site show what is expected. `users`: two of them, to be compared; `compares`: the
/// ranking compares use with what associations are entitled to.
fn all_show(site: &[&str], users: [&str; 2], compares: bool, expected: &[Expected]) {
    let with = |args: &[&'static str]| json(&[args, site].concat());
    let share = with(&["share", "--json"]);
    // A policy is a change; without one any setting is.
    let follows = site.contains(&"--policy");
    let what_if = match follows {
        true => with(&["what-if", "--json"]),
        false => with(&["what-if", "--json", "--set", "PriorityWeightAge=1"]),
    };
    let chart = with(&["chart", "--format", "json"]);
    let explained = json(&[&["explain", users[0], "--versus", users[1], "--json"], site].concat());
    let asked = [
        "cost", "--json", "--tres", "cpu=1", "-t", "1", "-u", users[0],
    ];
    // The command has no policy for costs.
    let cost = (!follows).then(|| json(&[&asked[..], site].concat()));
    for one in expected {
        let name = one.name;
        let in_share = row(&share["rows"], name, &["user", "account"]);
        let what = |field: &str| format!("share: {field} of {name}");
        close(
            &in_share["share_of_whole"],
            one.share_of_whole,
            &what("share_of_whole"),
        );
        assert_eq!(in_share["place"].as_u64(), one.place, "{}", what("place"));
        assert_eq!(
            in_share["places"].as_u64().unwrap_or(0),
            one.of,
            "{}",
            what("places")
        );
        if compares {
            let claim = if one.entitled.is_some() {
                "entitled"
            } else {
                "due"
            };
            let secs = one.entitled.or(one.due).expect("one of them");
            close(&in_share[claim], secs, &what(claim));
            close(&in_share["used_ratio"], one.ratio(), &what("used_ratio"));
        }
        let level_fs = &in_share["level_fs"];
        let lists =
            [&what_if["accounts"], &what_if["users"]].map(|list| list.as_array().expect("rows"));
        let all = Value::Array(lists.into_iter().flatten().cloned().collect());
        let side = &row(&all, name, &["name"])["after"];
        check(side, one, level_fs, "what-if");
        assert_eq!(side["place"].as_u64(), one.place, "what-if: {name}");
        assert_eq!(side["of"].as_u64(), Some(one.of), "what-if: {name}");
        assert_eq!(side["fs_factor"], in_share["fs_factor"], "what-if: {name}");
        let drawn = row(&chart["associations"], name, &["name"]);
        for field in ["norm_shares", "effective_usage", "fs_factor"] {
            match in_share[field].as_f64() {
                Some(value) => assert_eq!(
                    drawn[field].as_f64(),
                    Some((value * 1e6).round() / 1e6),
                    "chart: {field} of {name}"
                ),
                None => assert!(drawn[field].is_null(), "chart: {field} of {name}"),
            }
        }
        // The ways to both users, and what the first one is charged for.
        let sides = explained["answer"]["sides"]
            .as_array()
            .or(explained["sides"].as_array());
        for side in sides.expect("two users") {
            let path = side["path"].as_array().expect("a way");
            let is = |step: &&Value| {
                let own = step["name"].as_str().expect("a name");
                own == name || own.split_once('@').is_some_and(|(user, _)| user == name)
            };
            if let Some(step) = path.iter().find(is) {
                check(step, one, &step["level_fs"], "explain");
                if !level_fs.is_null() {
                    assert_eq!(&step["level_fs"], level_fs, "explain: {name}");
                }
            }
        }
        let Some(cost) = &cost else { continue };
        let effects = cost["effects"].as_array().expect("a list");
        let is = |effect: &&Value| {
            let own = effect["name"].as_str().expect("a name");
            own == name || own.split_once('@').is_some_and(|(user, _)| user == name)
        };
        if let Some(effect) = effects.iter().find(is) {
            check(&effect["now"], one, level_fs, "cost");
            assert_eq!(effect["now"]["place"].as_u64(), one.place, "cost: {name}");
        }
    }
}

/// 1,500,000 were used. vision has 50 of 100 shares and used a third, language 30 and 7/15, robots 20
/// and a fifth: 1.5, 1, 0.643. cem has 1 of 3 of language.
const GROUPS: f64 = 1_500_000.0;

#[test]
fn fair_tree() {
    let expected = [
        due("vision", 0.5, GROUPS, 500_000.0, (1, 3)),
        due("robots", 0.2, GROUPS, 300_000.0, (2, 3)),
        due("language", 0.3, GROUPS, 700_000.0, (3, 3)),
        due("cem", 0.1, GROUPS, 600_000.0, (6, 6)),
        due("ben", 0.25, GROUPS, 100_000.0, (1, 6)),
    ];
    all_show(
        &["examples/fair_tree.toml"],
        ["cem", "ben"],
        false,
        &expected,
    );
}

/// The factors of the accounts are 0.63, 0.5 and 0.34; of the users cem has the lowest, ben the highest.
#[test]
fn classic() {
    let expected = [
        due("vision", 0.5, GROUPS, 500_000.0, (1, 3)),
        due("robots", 0.2, GROUPS, 300_000.0, (2, 3)),
        due("language", 0.3, GROUPS, 700_000.0, (3, 3)),
        due("cem", 0.1, GROUPS, 600_000.0, (6, 6)),
        due("ben", 0.25, GROUPS, 100_000.0, (1, 6)),
    ];
    all_show(&["examples/classic.toml"], ["cem", "ben"], false, &expected);
}

/// speech and gus used nothing and have 1 of 5 shares each of language. hal is after gus, who is a user
/// beside his bank: the fifth and sixth of eight.
#[test]
fn weighted_walk() {
    let expected = [
        due("vision", 0.5, GROUPS, 500_000.0, (1, 3)),
        due("language", 0.3, GROUPS, 700_000.0, (3, 3)),
        due("speech", 0.06, GROUPS, 0.0, (1, 1)),
        due("gus", 0.06, GROUPS, 0.0, (5, 8)),
        due("hal", 0.06, GROUPS, 0.0, (6, 8)),
        due("cem", 0.06, GROUPS, 600_000.0, (8, 8)),
    ];
    all_show(&["examples/flux.toml"], ["cem", "hal"], false, &expected);
}

/// One machine gives 2,419,200 s in 28 days. Hubs are above the level on which groups compete.
#[test]
fn hubs_in_a_window() {
    let window = 2_419_200.0;
    let hub = Expected {
        place: None,
        of: 0,
        ..entitled("hub_a", 0.6, window, 13_200.0, (0, 0))
    };
    let expected = [
        hub,
        entitled("a_group1", 0.4, window, 7_200.0, (1, 4)),
        entitled("b_group2", 0.24, window, 5_400.0, (2, 4)),
        entitled("a_group2", 0.2, window, 6_000.0, (3, 4)),
        entitled("b_group1", 0.16, window, 5_400.0, (4, 4)),
        entitled("project_y", 0.2, window, 1_200.0, (1, 2)),
        entitled("yan", 0.2, window, 1_200.0, (1, 7)),
        entitled("mia", 0.16, window, 5_400.0, (7, 7)),
    ];
    all_show(&["examples/hubs.toml"], ["mia", "yan"], true, &expected);
    let accounts = "[accounts.hub_a]\nshares = 3\n[accounts.hub_b]\nshares = 2\n\
                    [accounts.a_group1]\nparent = 'hub_a'\nshares = 2\n[accounts.a_group2]\nparent = 'hub_a'\n\
                    [accounts.b_group1]\nparent = 'hub_b'\nshares = 2\n[accounts.b_group2]\nparent = 'hub_b'\n\
                    shares = 3\n";
    let site = format!("usage = 'window:28-0'\nranking = 'least_used:2'\n{accounts}[machines.m]\n");
    let used = [
        ("a_group1", 7200),
        ("b_group2", 5400),
        ("a_group2", 6000),
        ("b_group1", 5400),
    ];
    the_queue_shows("standing-hubs", &site, &used, &expected);
}

/// acme's 1,000 minutes: 400 of shop, the rest of the labs, of which lab_1 has 450 and lab_2 the 150 that
/// are left; zeta's 1,000 are half of all.
#[test]
fn instances_with_minutes() {
    let folder = folder("standing-instances");
    let path = |file: &str| folder.join(file);
    let site = "[accounts.acme]\n[accounts.zeta]\n[accounts.acme_lab]\nparent = 'acme'\n\
                [accounts.acme_shop]\nparent = 'acme'\n[accounts.lab_1]\nparent = 'acme_lab'\n\
                users.ann = { shares = 'parent', usage = 2700 }\n[accounts.lab_2]\nparent = 'acme_lab'\n\
                users.bob = { shares = 'parent', usage = 450 }\n[accounts.shop_1]\nparent = 'acme_shop'\n\
                users.cyd = { shares = 'parent', usage = 6000 }\n[accounts.zeta_1]\nparent = 'zeta'\n\
                users.dan = { shares = 'parent', usage = 12000 }\n";
    let minutes = [
        ("acme", 1000),
        ("acme_shop", 400),
        ("lab_1", 450),
        ("zeta", 1000),
    ];
    let tables = minutes.map(|(name, minutes)| format!("[accounts.{name}]\nminutes = {minutes}\n"));
    let policy = "usage = 'window:28-0'\nranking = 'least_used:leaf'\n";
    let write = |file: &PathBuf, text: &str| std::fs::write(file, text).expect("written");
    write(
        &path("site.toml"),
        &format!("now = 2026-03-01T00:00:00Z\n{site}"),
    );
    write(
        &path("policy.toml"),
        &format!("{policy}{}", tables.concat()),
    );
    let all = 120_000.0;
    // Ratios: 2700/27000, 450/9000, 6000/24000, 12000/60000.
    let inner = |name, part, used| Expected {
        place: None,
        of: 0,
        ..entitled(name, part, all, used, (0, 0))
    };
    let expected = [
        inner("acme", 0.5, 9_150.0),
        inner("acme_lab", 0.3, 3_150.0),
        entitled("lab_2", 0.075, all, 450.0, (1, 4)),
        entitled("lab_1", 0.225, all, 2_700.0, (2, 4)),
        entitled("zeta_1", 0.5, all, 12_000.0, (3, 4)),
        entitled("shop_1", 0.2, all, 6_000.0, (4, 4)),
        entitled("bob", 0.075, all, 450.0, (1, 4)),
        entitled("cyd", 0.2, all, 6_000.0, (4, 4)),
    ];
    let (site_file, policy_file) = (path("site.toml"), path("policy.toml"));
    let paths = [&policy_file, &site_file].map(|path| path.display().to_string());
    all_show(
        &["--policy", &paths[0], &paths[1]],
        ["cyd", "bob"],
        true,
        &expected,
    );
    // The same tree as a queue: accounts with minutes beside their other keys.
    let own = |name: &str| minutes.iter().find(|(known, _)| *known == name);
    let mut queue = "usage = 'window:28-0'\nranking = 'least_used:leaf'\n".to_owned();
    for (name, parent) in [
        ("acme", ""),
        ("zeta", ""),
        ("acme_lab", "acme"),
        ("acme_shop", "acme"),
        ("lab_1", "acme_lab"),
        ("lab_2", "acme_lab"),
        ("shop_1", "acme_shop"),
        ("zeta_1", "zeta"),
    ] {
        queue += &format!("[accounts.{name}]\n");
        if !parent.is_empty() {
            queue += &format!("parent = '{parent}'\n");
        }
        if let Some((_, minutes)) = own(name) {
            queue += &format!("minutes = {minutes}\n");
        }
    }
    queue += "[machines.m]\n";
    let used = [
        ("lab_1", 2700),
        ("lab_2", 450),
        ("shop_1", 6000),
        ("zeta_1", 12_000),
    ];
    the_queue_shows("standing-minutes", &queue, &used, &expected);
}

/// A fair-share queue of two machines by shares: 80,640 minutes in 28 days, of which 40 % and 60 %.
#[test]
fn queue_site() {
    let site = "usage = 'window:28-0'\nranking = 'least_used:1'\n[accounts.a]\nshares = 2\n\
                [accounts.b]\nshares = 3\n[machines.m]\n[machines.n]\n";
    let window = 4_838_400.0;
    let expected = [
        entitled("a", 0.4, window, 600.0, (0, 0)),
        entitled("b", 0.6, window, 60.0, (0, 0)),
    ];
    the_queue_shows("standing-queue", site, &[("a", 600), ("b", 60)], &expected);
}

/// After runs of so many seconds the standings of the command, and of the engine's queue, which
/// `ft_queue_standing` copies, are as expected where both know the account.
fn the_queue_shows(name: &str, site: &str, used: &[(&str, i64)], expected: &[Expected]) {
    let path = folder(name).join("site.toml").display().to_string();
    std::fs::write(&path, site).expect("written");
    let (mut events, mut now) = (Vec::new(), 0);
    for (job, (account, secs)) in used.iter().enumerate() {
        let end = now + secs * SECOND;
        events.push(format!(
            r#"{{"event":"submit","time":{now},"job":{job},"account":"{account}","machine":"m","expected":1}}"#
        ));
        events.push(format!(r#"{{"event":"start","time":{now},"job":{job}}}"#));
        events.push(format!(
            r#"{{"event":"finish","time":{end},"job":{job},"outcome":"COMPLETED"}}"#
        ));
        now = end;
    }
    let known = |one: &&Expected| site.contains(&format!("accounts.{}]", one.name));
    for one in expected.iter().filter(known) {
        let account = one.name;
        events.push(format!(
            r#"{{"event":"standing","time":{now},"account":"{account}"}}"#
        ));
    }
    let ran = fairtree(&["queue", &path, "--json"], events.join("\n").as_bytes());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let answers = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let standings: Vec<Value> = answers
        .filter(|answer: &Value| answer["event"] == "standing")
        .collect();
    let described = read("site", site.as_bytes()).expect("a site");
    let Policy::FairShare(settings) = &described.policy else {
        panic!("a queue by fair share");
    };
    let mut queue = Queue::new(&described.tree, settings.clone(), 0).expect("a queue");
    for (one, found) in expected.iter().filter(known).zip(&standings) {
        let micros = SECOND as f64;
        close(&found["used"], one.used * micros, one.name);
        close(
            &found["entitled"],
            one.entitled.expect("a time") * micros,
            one.name,
        );
        close(&found["ratio"], one.ratio(), one.name);
        let at = described
            .rows
            .iter()
            .position(|row| row.account == one.name);
        let id = described.tree.rows()[at.expect("its row")].id;
        let engine = queue.standing(id, 0).expect("it has shares");
        let secs = engine.entitled.to_f64() / micros;
        assert!(
            (secs - one.entitled.expect("a time")).abs() < 1e-3,
            "{}",
            one.name
        );
    }
    assert_eq!(standings.len(), expected.iter().filter(known).count());
}
