use super::*;
use crate::picture::Picture;
use fairtree_analysis::past::{DayOfOwed, DayOfWaits};
use fairtree_analysis::plan::{Change, LevelThen, RowThen, SCHEMA, Who};
use fairtree_model::cluster::AssocName;

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

/// A transaction that is open on the connection that writes: a page has the course of before at once.
#[test]
fn pages_do_not_wait_for_the_writer() {
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures/cluster");
    let mut picture = Picture::read(Path::new(capture)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("fairtree.db")).unwrap();
    for _ in 0..2 {
        store.keep_course(&picture, 35).unwrap();
        picture.manifest.time += 3600;
    }
    let name = AssocName {
        account: "physics".to_owned(),
        user: None,
        partition: None,
    };
    let held = store.held();
    held.execute_batch("BEGIN IMMEDIATE; DELETE FROM course")
        .unwrap();
    assert_eq!(store.course(&name).unwrap().unwrap().times.len(), 2);
    held.execute_batch("COMMIT").unwrap();
    drop(held);
    assert_eq!(store.course(&name).unwrap(), None);
    let refused = store.read(|held| Ok(held.execute("DELETE FROM assoc", [])?));
    assert!(refused.is_err());
}

/// The statements that make the tables of a database.
fn tables(connection: &Connection) -> Vec<String> {
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    let mut rows = connection.prepare(sql).unwrap();
    let found = rows.query_map([], |row| row.get(0)).unwrap();
    found.collect::<Result<_, _>>().unwrap()
}

/// Dumps of databases of each schema, as `sqlite3 FILE .dump` prints them: plan 2 (1 was removed), two changes from
/// outside, from schema 2 on two moments of physics and one of bob in it, from schema 3 on the first moment from sacct,
/// from schema 4 on a day of physics and one of the site, without waits.
#[test]
fn databases_of_each_schema_are_brought_up() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    let fresh = tables(&Store::in_memory().unwrap().held());
    for schema in 1..=schema::STEPS.len() {
        let dump = std::fs::read_to_string(folder.join(format!("{schema}.sql"))).unwrap();
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("fairtree.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(&dump)
            .unwrap();
        let store = Store::open(&path).unwrap();
        assert_eq!(tables(&store.held()), fresh, "schema {schema}");
        let kept = Plan {
            id: "2".to_owned(),
            ..plan()
        };
        assert_eq!(store.plans().unwrap(), [kept], "schema {schema}");
        let eva = Recorded {
            time: 1600,
            actor: "eva".to_owned(),
            name: "b@lab".to_owned(),
            before: None,
            after: "parent".to_owned(),
            outcome: "outside".to_owned(),
            plan: None,
        };
        assert_eq!(store.changes().unwrap(), [eva, outside(1500, "9")]);
        let name = |user: Option<&str>| AssocName {
            account: "physics".to_owned(),
            user: user.map(str::to_owned),
            partition: None,
        };
        let found = store.course(&name(None)).unwrap();
        assert_eq!(found.is_some(), schema >= 2);
        if let Some(found) = found {
            assert_eq!(found.times, [7200, 10_800]);
            let used: Vec<_> = found.course.effective_usage.iter().collect();
            assert_eq!(used, [Some(0.25), Some(0.75)]);
            let mut factors = found.course.fs_factor.iter();
            assert!(factors.all(|factor| factor.is_none()));
            // From schema 3 on, physics has its first moment from sacct.
            let computed = (schema >= 3).then_some(7200);
            assert_eq!(found.computed_from, computed, "schema {schema}");
            let recorded = if schema >= 3 { 10_800 } else { 7200 };
            assert_eq!(found.recorded_from, Some(recorded), "schema {schema}");
            let sql = "SELECT time, norm_shares, used, fs_factor FROM course WHERE assoc = 2";
            let bob: (i64, f64, f64, f64) = store
                .held()
                .query_row(sql, [], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })
                .unwrap();
            assert_eq!(bob, (7200, 0.25, 50.0, 0.875));
        }
        let days = store.days(&Group::Account("physics".to_owned()), 172_800);
        let waits = DayOfWaits {
            day: 86_400,
            started_jobs: 3,
            median_wait_seconds: 60.0,
            p95_wait_seconds: 90.0,
        };
        let owed = DayOfOwed {
            day: 86_400,
            owed_core_hours: 1.5,
        };
        let day = Day {
            day: 86_400,
            waits: Some(waits),
            owed: Some(owed),
        };
        let expected = if schema >= 4 { vec![day] } else { Vec::new() };
        assert_eq!(days.unwrap(), expected, "schema {schema}");
        // Numbers are not used again.
        assert_eq!(store.keep(&plan()).unwrap(), "3");
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

/// The recorded capture each hour for three days, with 35 days less 34: of users the hours of the last day stay,
/// and one picture of each day before. The capture is of 10:40: the first days end at 23:40.
#[test]
fn users_are_thinned_out_and_accounts_stay() {
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures/cluster");
    let mut picture = Picture::read(std::path::Path::new(capture)).unwrap();
    let store = Store::in_memory().unwrap();
    let begin = picture.manifest.time;
    for hour in 0..72 {
        for minute in [0, 10] {
            picture.manifest.time = begin + hour * 3600 + minute * 60;
            store.keep_course(&picture, 1).unwrap();
        }
    }
    let course = |account: &str, user: Option<&str>| {
        let name = AssocName {
            account: account.to_owned(),
            user: user.map(str::to_owned),
            partition: None,
        };
        store.course(&name).unwrap()
    };
    let physics = course("physics", None).unwrap();
    assert_eq!(physics.times.len(), 72);
    assert_eq!(physics.times[1] - physics.times[0], 3600);
    // 2 of 3 shares.
    let mut shares = physics.course.norm_shares.iter().flatten();
    let share = shares.next().unwrap();
    assert!((share - 2.0 / 3.0).abs() < 1e-6, "{share}");
    let bob = course("physics", Some("ft2-bob")).unwrap();
    assert_eq!(bob.times.len(), 25 + 2);
    assert_eq!(course("physics", Some("nobody")), None);
    // root has used nothing.
    assert_eq!(course("root", Some("root")), None);
}
