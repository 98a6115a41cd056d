use super::*;

fn who(account: &str, user: Option<&str>) -> Who {
    Who {
        account: account.to_owned(),
        user: user.map(str::to_owned),
        partition: None,
    }
}

/// `lab` has the children `a` (1 share), `b` (3) and the user ann (parent); `a` and ann change.
fn plan() -> Plan {
    let row = |who: Who, shares: &str| RowThen {
        who,
        shares: shares.to_owned(),
    };
    let change = |who: Who, before: &str, after: &str| Change {
        name: who.to_string(),
        who,
        before: before.to_owned(),
        after: after.to_owned(),
    };
    Plan {
        schema: SCHEMA.to_owned(),
        id: "7".to_owned(),
        user: "dan".to_owned(),
        account: "lab".to_owned(),
        cluster: "alpha".to_owned(),
        time: 100,
        made_from: 90,
        shares: vec![
            change(who("a", None), "1", "2"),
            change(who("lab", Some("ann")), "parent", "5"),
        ],
        levels: vec![LevelThen {
            account: "lab".to_owned(),
            rows: vec![
                row(who("a", None), "1"),
                row(who("b", None), "3"),
                row(who("lab", Some("ann")), "parent"),
            ],
        }],
        undo_of: None,
        outcome: None,
    }
}

#[test]
fn a_plan_is_json_and_lines_of_sacctmgr() {
    let plan = plan();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(Plan::read(&text), Ok(plan.clone()));
    assert_eq!(
        plan.lines(),
        [
            "sacctmgr -i modify account where name=a cluster=alpha set fairshare=2",
            "sacctmgr -i modify user where name=ann account=lab cluster=alpha set fairshare=5",
        ]
    );
}

#[test]
fn changes_meanwhile_are_named() {
    let level = &plan().levels[0];
    assert_eq!(level.differences(&level.rows), [] as [&str; 0]);
    let mut now = level.rows.clone();
    now[1].shares = "4".to_owned();
    now[0].who.account = "c".to_owned();
    assert_eq!(
        level.differences(&now),
        [
            "a is no longer below lab",
            "b has 4 shares; the plan was made from 3",
            "c is new below lab",
        ]
    );
}

#[test]
fn undo_takes_back_what_is_in_force() {
    let mut plan = plan();
    assert_eq!(plan.undo("dan", 200), None);
    plan.outcome = Some(Outcome {
        state: State::Partly,
        user: "dan".to_owned(),
        time: 150,
        done: vec![1],
        said: Vec::new(),
    });
    let undo = plan.undo("eve", 200).unwrap();
    undo.check().unwrap();
    assert_eq!(undo.undo_of.as_deref(), Some("7"));
    assert_eq!(undo.shares.len(), 1);
    assert_eq!(
        undo.lines(),
        ["sacctmgr -i modify user where name=ann account=lab cluster=alpha set fairshare=parent"]
    );
    assert_eq!(undo.levels[0].rows[2].shares, "5");
    assert_eq!(undo.levels[0].rows[0].shares, "1");
}

// Names that sacctmgr would take for several: sacctmgr(1), comma-separated lists; quotes are taken off.
#[test]
fn documents_that_are_not_plans() {
    let refused = |change: fn(&mut Plan)| {
        let mut plan = plan();
        change(&mut plan);
        plan.check().unwrap_err()
    };
    let name = refused(|plan| plan.shares[0].who.account = "a,b".to_owned());
    assert!(matches!(name, PlanError::Name { .. }), "{name}");
    let name = refused(|plan| plan.cluster = "x\ny".to_owned());
    assert!(matches!(name, PlanError::Name { .. }), "{name}");
    let shares = refused(|plan| plan.shares[0].after = "2147483647".to_owned());
    assert!(matches!(shares, PlanError::Shares { .. }), "{shares}");
    let other = refused(|plan| plan.shares[0].before = "9".to_owned());
    assert!(matches!(other, PlanError::NotThere { .. }), "{other}");
    assert_eq!(refused(|plan| plan.shares.clear()), PlanError::Empty);
    let schema = refused(|plan| plan.schema = "x/1".to_owned());
    assert!(matches!(schema, PlanError::Schema { .. }), "{schema}");
    assert!(Plan::read("{}").is_err());
}
