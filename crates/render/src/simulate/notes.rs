//! What was left out of a replay, in sentences.

use fairtree_analysis::simulate::LeftOut;
use fairtree_sim::workload::{Tally, Workload};

fn of(count: u64) -> String {
    format!("{count} job{}", if count == 1 { "" } else { "s" })
}

fn larger(processors: u32) -> String {
    format!("with more processors than the machine's {processors}")
}

/// A sentence on jobs that are larger than a machine; `None` for 0 jobs.
pub fn too_large_for(jobs: u64, processors: u32) -> Option<String> {
    (jobs > 0).then(|| format!("left out: {} {}", of(jobs), larger(processors)))
}

/// A sentence for each kind of jobs that are left out or replayed otherwise, with the first of them.
pub fn notes(workload: &Workload, left_out: &LeftOut) -> Vec<String> {
    let [too_large, no_processors, no_run, no_limit, no_submission] = &workload.left_out;
    let larger = larger(workload.processors);
    let mut notes = Vec::new();
    let mut note = |tally: &Tally, what: &str, value: &str| {
        let Some(first) = &tally.first else { return };
        let value = value.replace("{}", &first.value.to_string());
        notes.push(format!(
            "{what}; the first is job {} in line {}{value}",
            first.job, first.line
        ));
    };
    for (tally, why, value) in [
        (too_large, larger.as_str(), ", with {}"),
        (no_processors, "without processors", ""),
        (no_run, "that did not run for a second or had not ended", ""),
        (no_limit, "without a time limit", ""),
        (no_submission, "without a submission", ""),
    ] {
        let what = format!("left out: {} {why}", of(tally.count));
        note(tally, &what, value);
    }
    let what = format!(
        "{} ran longer than the time limit, and are cut to it",
        of(workload.cut.count)
    );
    note(&workload.cut, &what, ", which ran {} s");
    let what = format!(
        "the log is not sorted by submission, and was sorted: {} submitted before the job above",
        of(workload.unsorted.count)
    );
    note(&workload.unsorted, &what, ", submitted at {}");
    // Jobs of a site have no tally of those that are larger than its pool.
    if too_large.first.is_none() {
        notes.extend(too_large_for(left_out.too_large, workload.processors));
    }
    if left_out.never_started > 0 {
        notes.push(format!(
            "left out: {} that never started",
            of(left_out.never_started)
        ));
    }
    if left_out.unreadable > 0 {
        let s = if left_out.unreadable == 1 { "" } else { "s" };
        notes.push(format!(
            "left out: {} record{s} that cannot be read",
            left_out.unreadable
        ));
    }
    notes
}
