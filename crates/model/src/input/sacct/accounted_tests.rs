//! Expected values: hand calculation; times by date(1).

use super::*;

const GOOD: &str = "hpc|7|phys|anna|FAILED|12:0|2026-11-21T10:00:00|2026-11-21T10:04:14|\
                    2026-11-21T10:05:14|50|00:00:10|60|billing=8,cpu=4,mem=2G,node=1";

fn found(text: &str) -> Result<Found, InputError> {
    read_accounted("f", text.as_bytes())
}

fn good() -> Accounted {
    Accounted {
        cluster: "hpc".into(),
        job: 7,
        account: "phys".into(),
        user: "anna".into(),
        progress: Progress::Ended(EndState::Failed),
        exit_code: 12,
        start: 1_795_255_454,
        end: Some(1_795_255_514),
        elapsed_secs: 50,
        suspended_secs: 10,
        limit_secs: Some(3600),
        billing: 8,
        by_processors: false,
        tres: vec![("cpu".into(), 4), ("mem".into(), 2048), ("node".into(), 1)],
    }
}

#[test]
fn a_record_is_a_run() {
    assert_eq!(found(GOOD).unwrap().runs, [good()]);
    // As sacct -p prints, with a header, in another order.
    let mut columns: Vec<&str> = COLUMNS.to_vec();
    columns.reverse();
    let mut cells: Vec<&str> = GOOD.split('|').collect();
    cells.reverse();
    let text = format!("{}|JobName|\n{}|x|\n", columns.join("|"), cells.join("|"));
    assert_eq!(found(&text).unwrap().runs, [good()]);
}

#[test]
fn states_tell_how_far_a_run_has_come() {
    for (state, progress) in [
        ("CANCELLED by 1000", Progress::Ended(EndState::Cancelled)),
        ("REQUEUED", Progress::Ended(EndState::Requeued)),
        ("RESIZING", Progress::Resized),
        ("RUNNING", Progress::Running),
        ("SUSPENDED", Progress::Running),
    ] {
        let text = GOOD.replace("FAILED", state);
        assert_eq!(found(&text).unwrap().runs[0].progress, progress, "{state}");
    }
    let running = GOOD
        .replace("FAILED", "RUNNING")
        .replace("2026-11-21T10:05:14", "Unknown")
        .replace("|60|", "|UNLIMITED|");
    let run = &found(&running).unwrap().runs[0];
    assert_eq!((run.limit_secs, run.known_until()), (None, 1_795_255_514));
    let never = [
        GOOD.replace("FAILED", "PENDING"),
        GOOD.replace("2026-11-21T10:04:14", "Unknown"),
        GOOD.replace("|50|", "|0|")
            .replace("billing=8,cpu=4,mem=2G,node=1", ""),
    ];
    let all = found(&never.join("\n")).unwrap();
    assert_eq!((all.runs.len(), all.never_ran), (0, 3));
}

#[test]
fn without_billing_cpus_count() {
    let run = &found(&GOOD.replace("billing=8,", "energy=5,"))
        .unwrap()
        .runs[0];
    assert_eq!((run.billing, run.by_processors), (4, true));
    assert_eq!(run.tres, good().tres);
}

#[test]
fn what_is_broken_is_left_out_and_the_rest_is_read() {
    for (from, to, word) in [
        ("hpc", "", "cluster"),
        ("|7|", "|7.batch|", "number of a job"),
        ("phys", "", "account"),
        ("FAILED", "DONE", "state"),
        ("12:0", "12", "exit code"),
        ("2026-11-21T10:04:14", "yesterday", "start \"yesterday\""),
        (
            "2026-11-21T10:05:14",
            "2026-11-21T10:04:13",
            "not before the start",
        ),
        ("2026-11-21T10:05:14", "Unknown", "not before the start"),
        ("|50|", "|61|", "no more than from start to end"),
        ("|50|", "|-1|", "elapsedraw"),
        ("00:00:10", "a while", "suspended"),
        ("|60|", "|an hour|", "timelimitraw"),
        ("cpu=4", "cpu=four", "alloctres"),
        ("cpu=4", "mem=4", "each resource once"),
        ("billing=8,cpu=4,", "", "billing or cpu"),
        ("|anna", "", "12 cells"),
        ("|anna", "|anna|x|y", "15 cells"),
    ] {
        let broken = GOOD.replacen(from, to, 1);
        let text = format!("{GOOD}\n{broken}\n{}\n", GOOD.replace("|7|", "|8|"));
        let all = found(&text).unwrap();
        let jobs: Vec<u32> = all.runs.iter().map(|run| run.job).collect();
        assert_eq!(jobs, [7, 8], "{to}");
        let notes = all.left.notes();
        assert!(
            notes.len() == 1 && notes[0].starts_with("f:2: ") && notes[0].contains(word),
            "{to}: {notes:?}"
        );
        // Nothing else: it is no such listing.
        assert!(found(&broken).is_err(), "{to}");
    }
    let error = found("cluster|jobidraw|account|start|end\n").unwrap_err();
    assert!(error.to_string().contains("the column user is not there"));
    assert_eq!(found("").unwrap().runs, []);
}
