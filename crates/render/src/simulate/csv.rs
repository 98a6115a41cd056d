//! A line of CSV for each job.

use std::io::{self, Write};

use fairtree_analysis::simulate::Replayed;
use fairtree_sim::workload::Workload;

/// Writes a heading and a line per job, in the order of their submission. Times are seconds since
/// 1970; cells of a job that did not start, and the fair start of a job that it was not computed of,
/// are empty.
///
/// # Errors
/// Those of `out`.
pub fn write_jobs(
    out: &mut impl Write,
    workload: &Workload,
    replayed: &Replayed,
) -> io::Result<()> {
    let mut rows = ::csv::Writer::from_writer(out);
    rows.write_record([
        "job",
        "user",
        "account",
        "partition",
        "qos",
        "processors",
        "limit",
        "run",
        "submit",
        "start",
        "wait",
        "end",
        "fair_start",
    ])?;
    let mut fair_starts = replayed.fair_starts.iter().peekable();
    let starts = &replayed.schedule.starts;
    for (at, (job, owner)) in workload.jobs.iter().zip(&workload.owners).enumerate() {
        let cell = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
        let start = starts[at];
        let fair = fair_starts.next_if(|(job, _)| *job as usize == at);
        rows.write_record([
            owner.id.as_str(),
            &workload.users.names[owner.user as usize],
            &workload.accounts.names[owner.account as usize],
            &workload.partitions.names[owner.partition as usize],
            &workload.qos.names[owner.qos as usize],
            &job.processors.to_string(),
            &job.limit_secs.to_string(),
            &job.run_secs.to_string(),
            &job.submit.to_string(),
            &cell(start),
            &cell(start.map(|start| start - job.submit)),
            &cell(start.map(|start| start + job.run_secs)),
            &cell(fair.map(|(_, start)| *start)),
        ])?;
    }
    rows.flush()
}
