//! A log of jobs for a pool of processors.

use std::path::Path;

use super::super::Failure;
use super::super::input::{Opened, open_stream};
use super::no_job;
use fairtree_analysis::simulate::LeftOut;
use fairtree_model::input::workload::{LoggedJob, Summary};
use fairtree_model::input::{Format, MAX_ROWS, sacct, swf};
use fairtree_render::simulate::notes;
use fairtree_sim::workload::Workload;

/// A log of jobs, read.
pub(in super::super) struct Log {
    /// Name in messages.
    pub name: String,
    /// Its jobs, filtered for the machine.
    pub workload: Workload,
    /// What its reader says.
    pub summary: Summary,
}

/// Reads the jobs of a log for a machine of `processors`.
pub(in super::super) fn read_log(
    file: Option<&Path>,
    options: sacct::Options<'_>,
    processors: u32,
) -> Result<Log, Failure> {
    let format = options.columns.map(|_| Format::Sacct);
    let Opened {
        name,
        format,
        input,
        ..
    } = open_stream(file, format)?;
    let mut workload = Workload::new(processors);
    let mut beyond = 0_u64;
    let mut add = |job: &LoggedJob<'_>| match workload.jobs.len() < MAX_ROWS {
        true => workload.add(job),
        false => beyond += 1,
    };
    let summary = match format {
        Format::Swf => swf::read_jobs(&name, input, &mut add)?,
        Format::Sacct => sacct::read_jobs(&name, input, options, &mut add)?,
        _ => {
            return Err(Failure::Usage(format!(
                "{name}: is no log of jobs; allowed are the output of sacct -X -P and the Standard \
                 Workload Format"
            )));
        }
    };
    if beyond > 0 {
        return Err(Failure::Usage(format!(
            "{name}: has more than {MAX_ROWS} jobs"
        )));
    }
    workload.sort();
    if workload.jobs.is_empty() {
        let whole = notes(
            &workload,
            &LeftOut::of(&workload, summary.idle, summary.unreadable),
        );
        return Err(no_job(&name, &whole));
    }
    Ok(Log {
        name,
        workload,
        summary,
    })
}
