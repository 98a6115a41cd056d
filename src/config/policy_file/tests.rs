use super::*;
use crate::config::{Counts, EndState, Order};

fn parse(text: &str) -> Result<PolicyFile, ConfigError> {
    PolicyFile::parse(text, "p.toml", None)
}

#[test]
fn keys_and_accounts() {
    let file = parse(
        r#"
        usage = "window:28-0"
        resolution = "1:00:00"
        scope = 'all_clusters'
        counts = ["COMPLETED", "TIMEOUT", "FAILED:12"]
        ranking = "fair_tree"
        order = "interleaved"
        [accounts.team2]
        minutes = 10_000
        plan = "total:2026-01-01"
        [accounts.team1]
        minutes = 400
        "#,
    )
    .unwrap();
    let inline = "usage=window:28-0,resolution=1:00:00,scope=all_clusters,\
                  counts=COMPLETED+TIMEOUT+FAILED:12,ranking=fair_tree,order=interleaved";
    assert_eq!(
        file.parameters,
        PriorityParameters::parse(inline, None).unwrap()
    );
    assert_eq!(file.parameters.order, Some(Order::Interleaved));
    let counts = file.parameters.counts.clone().unwrap_or(Counts::All);
    assert!(counts.has(EndState::Failed, 12) && !counts.has(EndState::Failed, 1));
    let [team1, team2] = &file.accounts[..] else {
        panic!("{:?}", file.accounts);
    };
    assert_eq!((team1.minutes, team1.plan), (Some(400), None));
    assert_eq!(team2.minutes, Some(10_000));
    assert_eq!(team2.plan.unwrap().to_string(), "total:2026-01-01T00:00:00");
    assert_eq!((team1.place.line, team2.place.line), (11, 8));
    assert_eq!(parse(""), Ok(PolicyFile::default()));
}

#[test]
fn errors_name_place_value_and_what_is_allowed() {
    for (text, place, setting, value, allowed) in [
        ("usage = 'window:x'", "1:17", "usage", "x", "days-hours"),
        (
            "\nuse = 'half_life'",
            "2:1",
            "key",
            "use",
            "usage, resolution",
        ),
        ("policy = '/x'", "1:1", "key", "policy", "accounts"),
        ("compat = 'slurm'", "1:1", "key", "compat", "accounts"),
        ("order = 3.5", "1:9", "order", "3.5", "a string"),
        ("order = 'fast'", "1:10", "order", "fast", "interleaved"),
        (
            "counts = [\n 'COMPLETED',\n 'X']",
            "3:3",
            "counts",
            "X",
            "TIMEOUT",
        ),
        (
            "counts = ['FAILED:999']",
            "1:19",
            "counts",
            "999",
            "0 to 255",
        ),
        ("counts = ['A+B']", "1:11", "counts", "'A+B'", "without +"),
        ("counts = [1]", "1:11", "counts", "1", "a string"),
        ("counts = []", "1:10", "counts", "", "COMPLETED"),
        ("accounts = 3", "1:12", "accounts", "3", "[accounts.NAME]"),
        ("accounts.a = 3", "1:14", "accounts.a", "3", "minutes, plan"),
        ("[accounts.a]", "1:11", "accounts.a", "", "minutes, plan"),
        (
            "[accounts.a]\nminute = 3",
            "2:1",
            "accounts.a",
            "minute",
            "minutes",
        ),
        (
            "[accounts.a]\nminutes = '3'",
            "2:11",
            "accounts.a.minutes",
            "'3'",
            "from 0 to",
        ),
        (
            "[accounts.a]\nminutes = 1000000000001",
            "2:11",
            "accounts.a.minutes",
            "1000000000001",
            "from 0 to",
        ),
        (
            "[accounts.a]\nplan = 'x'",
            "2:9",
            "accounts.a.plan",
            "x",
            "window:LENGTH",
        ),
        (
            "[accounts.a]\nminutes = 1\n[accounts.A]\nminutes = 2",
            "3:11",
            "accounts",
            "A",
            "line 1 has it already",
        ),
    ] {
        let error = parse(text).unwrap_err();
        let shown = error.place.as_ref().unwrap().to_string();
        assert_eq!(shown, format!("p.toml:{place}"), "{text}: {error}");
        assert_eq!(
            (error.setting.as_str(), error.value.as_str()),
            (setting, value),
            "{text}"
        );
        assert!(error.allowed.contains(allowed), "{text}: {error}");
    }
}

#[test]
fn what_is_not_toml_has_a_place() {
    for (text, line) in [
        ("usage = 'half_life'\nusage = 'half_life'", 2),
        ("[accounts.a]\nminutes = 1\n[accounts.a]\nminutes = 2", 3),
        ("order = \"strict", 1),
        ("order", 1),
        ("\n= 3", 2),
        ("order = 'ä' x", 1),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.setting, "syntax", "{text}");
        assert_eq!(error.place.unwrap().line, line, "{text}");
        assert!(error.allowed.starts_with("TOML: "), "{text}");
    }
}

#[test]
fn accounts_must_be_the_sites() {
    let file = parse("[accounts.a]\nminutes = 1\n[accounts.b]\nminutes = 1").unwrap();
    assert_eq!(file.check_accounts(|_| true), Ok(()));
    let error = file.check_accounts(|name| name == "a").unwrap_err();
    assert_eq!(
        error.to_string(),
        "p.toml:3:11: accounts: found \"b\", allowed is an account of the site"
    );
}

// By hand: 80 + 30 of 100 minutes.
#[test]
fn children_have_no_more_minutes_than_their_account() {
    use crate::tree::{Assoc, AssocKind, Shares};
    let row = |id, parent| Assoc {
        id,
        parent,
        kind: AssocKind::Account,
        shares: Shares::Raw(1),
    };
    let rows = [
        row(1, None),
        row(2, Some(1)),
        row(3, Some(2)),
        row(4, Some(2)),
    ];
    let tree = Tree::from_rows(rows).unwrap();
    let find = |name: &str| {
        let at = ["root", "up", "a", "b"]
            .iter()
            .position(|known| *known == name);
        at.map(AssocIndex::new)
    };
    let check = |text: &str| {
        let text = format!("ranking = 'least_used:leaf'\n{text}");
        let config = Config::default().under_policy(&parse(&text).unwrap());
        config.unwrap().check_minutes(&tree, find)
    };
    let up = "[accounts.up]\nminutes = 100\n[accounts.b]\nminutes = 30\n";
    assert_eq!(check(up), Ok(()));
    assert_eq!(check(&format!("{up}[accounts.a]\nminutes = 70")), Ok(()));
    let error = check(&format!("{up}[accounts.a]\nminutes = 80")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "p.toml:4:11: accounts.b.minutes: found \"30\", allowed is 100 minutes in all directly \
         below one account, as many as it has; b, a have 110"
    );
    // Minutes of another usage model are no part of those above.
    let flex = format!("{up}[accounts.a]\nminutes = 80\nplan = 'total:2026-01-01'");
    assert_eq!(check(&flex), Ok(()));
    // Without minutes above there is nothing to exceed.
    assert_eq!(check("[accounts.a]\nminutes = 80"), Ok(()));
}
