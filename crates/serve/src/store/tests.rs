use super::*;
use fairtree_analysis::plan::{Change, LevelThen, RowThen, SCHEMA, Who};

fn plan() -> Plan {
    let who = Who {
        account: "a".to_owned(),
        user: None,
        partition: None,
    };
    Plan {
        schema: SCHEMA.to_owned(),
        id: String::new(),
        user: "dan".to_owned(),
        account: "lab".to_owned(),
        cluster: "alpha".to_owned(),
        time: 100,
        made_from: 90,
        shares: vec![Change {
            name: "a".to_owned(),
            who: who.clone(),
            before: "1".to_owned(),
            after: "2".to_owned(),
        }],
        levels: vec![LevelThen {
            account: "lab".to_owned(),
            rows: vec![RowThen {
                who,
                shares: "1".to_owned(),
            }],
        }],
        undo_of: None,
        outcome: None,
    }
}

fn outcome(state: State) -> Outcome {
    Outcome {
        state,
        user: "dan".to_owned(),
        time: 1000,
        done: match state {
            State::Applied => vec![0],
            _ => Vec::new(),
        },
        said: Vec::new(),
    }
}

fn outside(time: i64, after: &str) -> Recorded {
    Recorded {
        time,
        actor: "dan".to_owned(),
        name: "a".to_owned(),
        before: Some("1".to_owned()),
        after: after.to_owned(),
        outcome: "outside".to_owned(),
        plan: None,
    }
}

#[test]
fn plans_and_changes_survive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fairtree.db");
    let store = Store::open(&path).unwrap();
    let id = store.keep(&plan()).unwrap();
    let kept = store.plan(&id).unwrap().unwrap();
    assert_eq!(kept.id, "1");
    assert!(store.became(&kept, &outcome(State::Refused)).unwrap());
    // Refused is not the end; applied is.
    assert!(store.became(&kept, &outcome(State::Applied)).unwrap());
    assert!(!store.became(&kept, &outcome(State::Failed)).unwrap());
    drop(store);
    let store = Store::open(&path).unwrap();
    let kept = store.plan(&id).unwrap().unwrap();
    assert_eq!(kept.outcome, Some(outcome(State::Applied)));
    let outcomes: Vec<String> = store
        .changes()
        .unwrap()
        .into_iter()
        .map(|change| change.outcome)
        .collect();
    assert_eq!(outcomes, ["applied", "refused"]);
    assert_eq!(store.keep(&plan()).unwrap(), "2");
    assert_eq!(store.plans().unwrap().len(), 2);
    assert_eq!(store.plan("3").unwrap(), None);
    assert_eq!(store.plan("x").unwrap(), None);
}

/// slurmdbd and the report of a plan may come in either order.
#[test]
fn a_change_of_a_plan_is_not_one_from_outside() {
    for first in [true, false] {
        let store = Store::in_memory().unwrap();
        let id = store.keep(&plan()).unwrap();
        let kept = store.plan(&id).unwrap().unwrap();
        let seen = [outside(1003, "2"), outside(1500, "9")];
        if first {
            assert_eq!(store.outside(&seen).unwrap().len(), 2);
        }
        store.became(&kept, &outcome(State::Applied)).unwrap();
        let new = store.outside(&seen).unwrap();
        assert_eq!(new.len(), usize::from(!first));
        let changes = store.changes().unwrap();
        let found: Vec<(&str, Option<&str>)> = changes
            .iter()
            .map(|change| (&*change.after, change.plan.as_deref()))
            .collect();
        assert_eq!(found, [("9", None), ("2", Some("1"))], "{first}");
        assert_eq!(store.last_outside().unwrap(), Some(1500));
    }
}

#[test]
fn a_later_database_and_a_link_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fairtree.db");
    drop(Store::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let error = Store::open(&path).unwrap_err().to_string();
    assert!(error.contains("has schema 99"), "{error}");
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(folder.path().join("other.db"), &link).unwrap();
    assert!(Store::open(&link).is_err());
}
