//! The jobs of the last days, as `sacct` lists them for a capture.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::jobs::{Options, RecordedJob, job};
use crate::input::error::{InputError, Problem};
use crate::input::sacct;

/// The past jobs of a site, and notes about records that were left out.
#[derive(Debug, Default)]
pub struct Past {
    /// The jobs, in order of submission.
    pub jobs: Vec<RecordedJob>,
    /// One sentence each.
    pub notes: Vec<String>,
}

/// Reads the answer of sacct; `name` names it in messages. An answer without jobs has none.
///
/// # Errors
/// A stream that breaks; a header without the columns that are needed; records of which none can be
/// read.
pub fn read(name: &str, input: impl BufRead) -> Result<Past, InputError> {
    let mut past = Past::default();
    let options = Options::new();
    let mut add = |record: &crate::input::workload::Recorded<'_>| {
        past.jobs
            .extend(job(record, &options).ok().map(|found| found.job));
    };
    let summary = sacct::read_requests(name, input, sacct::Options::default(), &mut add);
    match summary {
        Ok(summary) => past.notes = summary.notes,
        // A new cluster has no past.
        Err(error) if error.line.is_none() && matches!(*error.problem, Problem::Empty) => {}
        Err(error) => return Err(error),
    }
    past.jobs.sort_by_key(|job| (job.submit_ms, job.id));
    Ok(past)
}

/// Reads the file of a capture with the answer of sacct.
///
/// # Errors
/// A file that cannot be opened; those of [`read`].
pub fn read_file(path: &Path) -> Result<Past, InputError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| InputError::new(&name, error))?;
    read(&name, BufReader::with_capacity(1 << 16, file))
}

/// Checks that an answer is what sacct prints.
///
/// # Errors
/// Those of [`read`].
pub fn check(name: &str, input: impl BufRead) -> Result<(), InputError> {
    let summary = sacct::read_requests(name, input, sacct::Options::default(), &mut |_| {});
    match summary {
        Err(error) if error.line.is_some() || !matches!(*error.problem, Problem::Empty) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|\
        ElapsedRaw|TimelimitRaw|ReqCPUS|ReqTRES|AllocCPUS|AllocTRES|NodeList\n";

    // The form of the cells: sacct 22.05.8 -P.
    #[test]
    fn past_jobs_have_requests_and_nodes() {
        let text = format!(
            "{HEADER}7_1|8|ann|physics|main|normal|COMPLETED|2026-11-21T10:00:00|2026-11-21T10:00:00|\
             2026-11-21T10:05:00|2026-11-21T10:25:00|1200|60|4|billing=4,cpu=4,mem=8G,node=2|4|\
             billing=4,cpu=4,mem=8G,node=2|n[1-2]\n9|9|bob|physics|main|normal|CANCELLED by 7|\
             2026-11-21T09:00:00|2026-11-21T09:00:00|Unknown|2026-11-21T09:30:00|0|60|1|cpu=1,node=1|0||\
             None assigned\n"
        );
        let past = read("f", text.as_bytes()).unwrap();
        let [bob, ann] = &past.jobs[..] else {
            panic!("{past:?}")
        };
        assert_eq!((ann.id, ann.task), (8, Some((7, 1))));
        assert_eq!(ann.nodes, ["n1", "n2"]);
        assert_eq!(ann.request.limit_mins, Some(60));
        assert_eq!(ann.end_ms.unwrap() - ann.start_ms.unwrap(), 1_200_000);
        assert_eq!(bob.start_ms, None);
        check("f", text.as_bytes()).unwrap();
    }

    #[test]
    fn a_new_cluster_has_no_past() {
        assert!(read("f", HEADER.as_bytes()).unwrap().jobs.is_empty());
        check("f", HEADER.as_bytes()).unwrap();
        assert!(check("f", &b"JobID|User\n1|ann\n"[..]).is_err());
    }
}
