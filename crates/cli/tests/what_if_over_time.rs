//! `fairtree what-if --after` by simulation, from outside. Expected values are computed by hand: one node of
//! four CPUs, on which jobs of all CPUs follow one another. Job 1 runs since [`STARTED`]; 2 and 3 wait.

mod command;

use std::fs;
use std::path::Path;

use command::fairtree;
use command::one_node::{HISTORY, NOW, STARTED, capture, history, job};
use serde_json::{Value, json};

/// Two hours from the moment of the capture.
const END: i64 = NOW + 7200;
/// `PriorityDecayHalfLife` of the capture.
const HALF_LIFE: f64 = 3600.0;

fn waiting() -> String {
    let waits = ("PENDING", "Priority", 5);
    job(2, "ft2-bob", waits) + &job(3, "ft2-bob", waits)
}

fn what_if(args: &[&str], from: &str) -> Value {
    let all = [
        "what-if",
        "--compat",
        "documented",
        "--json",
        "--from",
        from,
    ];
    let ran = fairtree(&[&all[..], args].concat(), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

fn row<'a>(rows: &'a Value, key: &str, value: Value) -> &'a Value {
    let mut rows = rows.as_array().expect("rows").iter();
    rows.find(|row| row[key] == value).expect("a row")
}

/// Four CPUs in use between two moments, as they count at the end.
fn used(from: i64, to: i64) -> f64 {
    let left = |at: i64| (-((END - at) as f64) / HALF_LIFE).exp2();
    4.0 * HALF_LIFE / std::f64::consts::LN_2 * (left(to) - left(from))
}

// Without the change 2 starts when 1 ends after its hour, and 3 an hour later; where 2 is held, 3 starts an
// hour earlier, and nothing runs in the last 225 seconds.
#[test]
fn a_held_job_lets_the_next_one_start() {
    let from = capture("what-if-passing", &waiting(), None);
    let found = what_if(&["--hold", "2", "--after", "2:00:00"], &from);
    assert_eq!(found["now"], json!([END, END]));
    let meanwhile = &found["meanwhile"];
    assert_eq!(
        (&meanwhile["from"], &meanwhile["until"]),
        (&json!(NOW), &json!(END))
    );
    assert_eq!(meanwhile["run_times"], "too_short");
    assert_eq!(
        (&meanwhile["both"], &meanwhile["draws"]),
        (&json!(true), &json!(1))
    );
    let job = |id: u32| row(&meanwhile["jobs"], "job_id", json!(id));
    let (first, second) = (STARTED + 3600, STARTED + 7200);
    assert_eq!(
        job(2)["before"],
        json!({"part": 1.0, "start": first, "held": false})
    );
    assert_eq!(
        job(2)["after"],
        json!({"part": 0.0, "start": null, "held": true})
    );
    assert_eq!(job(3)["before"]["start"], second);
    assert_eq!(job(3)["after"]["start"], first);
    assert_eq!(job(3)["earlier_seconds"], 3600);
    let counts = &meanwhile["counts"];
    for name in ["physics", "ft2-bob@physics"] {
        let count = row(counts, "name", json!(name));
        assert_eq!(
            (&count["before"], &count["after"], &count["difference"]),
            (&json!(2.0), &json!(1.0), &json!(-1.0))
        );
    }
    // 2 is in the queue of one side alone, and held there.
    let queue = found["jobs"].as_array().expect("jobs");
    assert_eq!(queue.len(), 1);
    assert_eq!(
        (&queue[0]["job_id"], &queue[0]["before"]),
        (&json!(2), &Value::Null)
    );
    assert_eq!(queue[0]["after"]["priority"], 0);
    let bob = row(&found["users"], "name", json!("ft2-bob@physics"));
    let raw = |side: &str| bob[side]["raw_usage"].as_f64().expect("a number");
    let difference = raw("before") - raw("after");
    let expected = used(second, END);
    assert!(
        (difference - expected).abs() < 1e-6 * expected,
        "{difference} is not {expected}"
    );
}

// Past jobs of bob ran for half an hour: so do 1, 2 and 3, and all have started after an hour.
#[test]
fn time_alone_is_compared_with_now() {
    let from = capture("what-if-alone", &waiting(), Some(&history(12, 30)));
    let found = what_if(&["--after", "1:00:00"], &from);
    let meanwhile = &found["meanwhile"];
    assert_eq!(
        (&meanwhile["both"], &meanwhile["draws"]),
        (&json!(false), &json!(20))
    );
    assert_eq!(meanwhile["run_times"], "history");
    for (id, start) in [(2, STARTED + 1800), (3, STARTED + 3600)] {
        let job = row(&meanwhile["jobs"], "job_id", json!(id));
        assert_eq!(job["before"], Value::Null);
        assert_eq!(
            job["after"],
            json!({"part": 1.0, "start": start, "held": false})
        );
        let queued = row(&found["jobs"], "job_id", json!(id));
        assert_eq!(queued["move"], "gone");
    }
    let again = what_if(&["--after", "1:00:00"], &from);
    assert_eq!(found, again);
}

#[test]
fn both_sides_stand_side_by_side() {
    let from = capture("what-if-text", &waiting(), None);
    let args = [
        "what-if", "--hold", "2", "--after", "2:00:00", "--from", &from,
    ];
    let ran = fairtree(&args, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for line in [
        "02:00:00 simulated without and with the changes: 1 simulation each, seed 1, run times are limits",
        "Starts: 2 jobs, 1 earlier, 1 not any more",
        "00:56:15 -> held",
        "started -> held",
        "01:56:15 -> 00:56:15  01:00:00 earlier",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    assert!(!ran.err.contains("no job starts"), "{}", ran.err);
    let page = command::folder("what-if-text-page").join("page.html");
    let page = page.display().to_string();
    let ran = fairtree(&[&args[..], &["--html", &page]].concat(), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let html = std::fs::read_to_string(page).expect("a page");
    assert!(html.contains("Jobs that start"), "{html}");
}

#[test]
fn options_of_the_simulation_need_a_time() {
    let ran = fairtree(&["what-if", "--hold", "2", "--seed", "3"], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--after"), "{}", ran.err);
}

// docs/capture.md: a file of another size than the manifest names, or that ends within a line, is refused.
#[test]
fn past_jobs_that_are_cut_off_are_refused_as_by_forecast() {
    let past = history(12, 30);
    let from = capture("what-if-cut", &waiting(), Some(&past));
    let at = |file: &str| Path::new(&from).join(file);
    let manifest = fs::read_to_string(at("manifest.json")).expect("text");
    let mut sized: Value = serde_json::from_str(&manifest).expect("JSON");
    let answers = sized["answers"].as_array_mut().expect("a list");
    answers.last_mut().expect("the past")["bytes"] = json!(past.len());
    let whole_lines = past.lines().count() - 1;
    let fewer: String = past.split_inclusive('\n').take(whole_lines).collect();
    for (manifest, text, why) in [
        (manifest, &past[..past.len() - 9], "ends within a line"),
        (sized.to_string(), &fewer, "where manifest.json names"),
    ] {
        fs::write(at("manifest.json"), manifest).expect("written");
        fs::write(at("history.txt"), text).expect("written");
        let args = ["what-if", "--hold", "2", "--after", "1:00:00"];
        let ran = fairtree(&[&args[..], &["--from", &from]].concat(), b"");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{why}: {}", ran.err);
        assert!(ran.err.contains(why), "{why}: {}", ran.err);
        let forecast = fairtree(&["forecast", "2", "--from", &from], b"");
        assert_eq!((forecast.code, forecast.err), (2, ran.err));
        // Who needs no starts needs no past.
        let ran = fairtree(
            &[&args[..], &["--no-starts", "--from", &from]].concat(),
            b"",
        );
        assert_eq!(ran.code, 0, "{why}: {}", ran.err);
    }
}

// Both simulate from the same state with the same seed: by limits, by past jobs that all ran as long, and by ones that
// ran for 20 or 59 minutes, of which each simulation draws.
#[test]
fn a_start_is_that_of_the_forecast() {
    let mixed = history(12, 59) + &history(12, 20)[HISTORY.len()..].replace("\n1", "\n2");
    for (name, past) in [
        ("limits", None),
        ("even", Some(history(12, 30))),
        ("mixed", Some(mixed)),
    ] {
        let from = capture(&format!("what-if-as-{name}"), &waiting(), past.as_deref());
        let json = |args: &[&str]| -> Value {
            let ran = fairtree(&[args, &["--json", "--from", &from]].concat(), b"");
            assert_eq!(ran.code, 0, "{}", ran.err);
            serde_json::from_str(&ran.out).expect("JSON")
        };
        let passed = json(&["what-if", "--after", "3:00:00"]);
        for id in ["2", "3"] {
            let forecast = &json(&["forecast", id])["jobs"][0];
            let id: u32 = id.parse().expect("a number");
            let moved = row(&passed["meanwhile"]["jobs"], "job_id", json!(id));
            let start = &forecast["start"];
            assert!(start.is_i64(), "{name}: {forecast}");
            assert_eq!(&moved["after"]["start"], start, "{name}: job {id}");
        }
    }
}
