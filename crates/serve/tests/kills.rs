//! The service killed while it writes: pictures, courses, plans, what became of them. What it had reported as kept is
//! there after the next start, and whole. Expected: what its answers said before each kill.

mod running;

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use fairtree_model::input::capture::{list, open};
use running::{CALLS, PATIENCE, Place, Running, token};
use rusqlite::Connection;
use serde_json::Value;

/// The contents of answers.
#[derive(Debug, Default)]
struct Told {
    /// Plans that were kept, and the shares that each one gives.
    plans: Vec<(i64, String)>,
    /// Plans of which it was said what became of them.
    outcomes: Vec<i64>,
    /// Lives that have shown a picture of their own, the first one is 0.
    pictures: Vec<u32>,
}

/// Where a life ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// After this number of calls for its picture.
    Call(usize),
    /// This part of the time from the last answer of a capture to the question for changes: the capture is made
    /// public, read, and its courses are kept.
    Reading(f64),
    /// After it has shown its picture, and this number of further plans was applied.
    Plans(usize),
}

/// The ends of all lives but the first.
fn ends() -> Vec<End> {
    let calls = [1, 3, 5, 7, 9, 11].map(End::Call);
    let reading = (0..8).map(|part| End::Reading(f64::from(part) / 7.0));
    let plans = (0..6).map(End::Plans);
    calls.into_iter().chain(reading).chain(plans).collect()
}

#[test]
fn nothing_that_was_told_is_lost() {
    let place = Place::recorded();
    let mut reported = Mutex::new(Told::default());
    // The first life is whole.
    let service = place.start();
    let reading = await_calls(&place, 0, CALLS - 1);
    let reading = await_calls(&place, 0, CALLS) - reading;
    service.await_picture(&place, 0);
    change(&service, &place, &reported, 2).expect("an answer");
    service.kill();
    reported.get_mut().expect("no panic").pictures.push(0);
    let rows = check(&place, &reported, 0, 0);
    assert!(rows > 10, "{rows}");
    for (life, end) in (1..).zip(ends()) {
        place.restore();
        an_hour_passes(&place);
        let before = place.picture_calls();
        let service = place.start();
        thread::scope(|scope| {
            // Both continue until the service does not answer any more.
            scope.spawn(|| {
                let mut shares = life * 1000..;
                shares.all(|shares| change(&service, &place, &reported, shares).is_some());
            });
            scope.spawn(|| while look(&service, &place, &reported, life).is_some() {});
            match end {
                End::Call(count) => drop(await_calls(&place, before, count)),
                End::Reading(part) => {
                    await_calls(&place, before, CALLS - 1);
                    thread::sleep(reading.mul_f64(part));
                }
                End::Plans(more) => await_plans(&reported, life, more),
            }
            service.kill();
        });
        check(&place, &reported, life, rows);
    }
    let reported = reported.into_inner().expect("no panic");
    let lives = reported.pictures.len();
    assert!(reported.plans.len() > 10 && lives >= 7, "{reported:?}");
    let before = place.calls();
    let service = place.start();
    service.await_picture(&place, before);
}

/// Waits for this number of calls for a picture beyond `before`; the moment.
fn await_calls(place: &Place, before: usize, count: usize) -> Instant {
    let start = Instant::now();
    while place.picture_calls() < before + count {
        assert!(start.elapsed() < PATIENCE, "call {count} was not made");
        thread::sleep(Duration::from_micros(200));
    }
    Instant::now()
}

/// Waits until a life has shown its picture, and this number of further plans was applied.
fn await_plans(reported: &Mutex<Told>, life: u32, more: usize) {
    let (mut least, start) = (None, Instant::now());
    while start.elapsed() < PATIENCE {
        let held = reported.lock().expect("no panic");
        let shown = held.pictures.last() == Some(&life);
        if shown && held.outcomes.len() >= *least.get_or_insert(held.outcomes.len() + more) {
            return;
        }
        drop(held);
        thread::sleep(Duration::from_micros(200));
    }
    panic!("no plan was applied in life {life}");
}

/// Keeps a plan and applies it; `None`: the service has ended.
fn change(service: &Running, place: &Place, reported: &Mutex<Told>, shares: u32) -> Option<()> {
    let user = place.user();
    let fields = format!("account=medicine&shares%3Agenomics={shares}");
    let kept = service.post("/plan", user, &fields)?;
    assert_eq!(kept.status, 303, "{}", kept.text);
    let id: i64 = kept.location.strip_prefix("/plan/")?.parse().ok()?;
    let mut held = reported.lock().expect("no panic");
    held.plans.push((id, shares.to_string()));
    drop(held);
    let fields = format!("jwt={}", token(user));
    let applied = service.post(&format!("/plan/{id}/apply"), user, &fields)?;
    assert_eq!(applied.status, 303, "{}", applied.text);
    reported.lock().expect("no panic").outcomes.push(id);
    Some(())
}

/// Sees if this life has shown a picture of its own: it has asked slurmdbd for changes then.
fn look(service: &Running, place: &Place, reported: &Mutex<Told>, life: u32) -> Option<()> {
    let page = service.get("/changes", place.user())?;
    assert_eq!(page.status, 200, "{}", page.text);
    let mut held = reported.lock().expect("no panic");
    if !page.text.contains("was not asked yet") && held.pictures.last() != Some(&life) {
        held.pictures.push(life);
    }
    drop(held);
    thread::sleep(Duration::from_millis(1));
    Some(())
}

/// Courses are kept once an hour.
fn an_hour_passes(place: &Place) {
    let database = Connection::open(place.path("fairtree.db")).expect("the database");
    let passed = database.execute("UPDATE course SET time = time - 3600", []);
    passed.expect("it passes");
}

/// Compares what is kept with what was reported, and returns how many rows the courses of this life have. `rows`: how
/// many a whole picture has.
fn check(place: &Place, reported: &Mutex<Told>, life: u32, rows: u32) -> u32 {
    let reported = reported.lock().expect("no panic");
    let database = Connection::open(place.path("fairtree.db")).expect("the database");
    let text = |sql: &str, id: i64| database.query_row(sql, [id], |row| row.get::<_, String>(0));
    let whole = text(
        "SELECT integrity_check FROM pragma_integrity_check WHERE ?1 = ?1",
        0,
    );
    assert_eq!(whole.expect("a check"), "ok", "life {life}");
    for (id, shares) in &reported.plans {
        let plan = text("SELECT document FROM plan WHERE id = ?1", *id);
        let plan: Value = serde_json::from_str(&plan.expect("the plan")).expect("JSON");
        assert_eq!(plan["shares"][0]["after"], **shares, "life {life}");
        let became = plan["outcome"]["state"].as_str();
        assert_eq!(plan["id"], id.to_string());
        let change = text(
            "SELECT outcome FROM change WHERE plan = ?1 ORDER BY id DESC",
            *id,
        )
        .ok();
        // A plan and its change are in one transaction.
        assert_eq!(became, change.as_deref(), "life {life}, plan {id}");
        assert!(
            became.is_some() || !reported.outcomes.contains(id),
            "life {life}, plan {id}"
        );
    }
    let mut courses = database
        .prepare("SELECT count(*) FROM course GROUP BY time ORDER BY time")
        .expect("courses");
    let counts = courses
        .query_map([], |row| row.get::<_, u32>(0))
        .expect("rows");
    let counts: Vec<u32> = counts.map(|count| count.expect("a count")).collect();
    assert!(
        rows == 0 || counts.iter().all(|count| *count == rows),
        "life {life}: {counts:?}"
    );
    assert!(
        counts.len() >= reported.pictures.len(),
        "life {life}: {counts:?}"
    );
    let captures = list(&place.path("captures")).expect("captures");
    assert!(
        captures.len() >= reported.pictures.len(),
        "life {life}: {captures:?}"
    );
    for capture in captures {
        open(&capture).expect("a whole capture");
    }
    counts.last().copied().unwrap_or(0)
}
