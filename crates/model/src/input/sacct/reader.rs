//! From the stream to what each job used.

mod header;
mod records;
mod run;

use std::io::BufRead;

use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::lines::Lines;
use crate::input::slurm::count;
use crate::input::slurm::time::{moment, span};
use crate::input::workload::{JobSink, JobUse, Recorded, Sink, Summary};
use header::{Header, MORE};
use records::Records;
use run::logged;
pub use run::{Executed, RunRecord};

/// Options of a reader.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The columns of a log without header, separated by commas or `|`.
    pub columns: Option<&'a str>,
    /// Only the jobs of this cluster.
    pub cluster: Option<&'a str>,
}

/// Reads a log and hands each job that used something to `each`; `file` names the stream in
/// messages. A job counts from its start for as long as it ran (Elapsed, or else from start to end
/// without the time that it was suspended). A record that cannot be read is left out and reported
/// in a note: one with fewer cells than columns, with more than one reading, or with a cell that
/// sacct would not print.
///
/// # Errors
/// A stream that breaks; no header and no columns given; a column that is missing; records of which
/// none can be read; records of two clusters and none chosen.
pub fn read<'a>(
    file: &'a str,
    input: impl BufRead,
    options: Options<'a>,
    each: Sink<'_>,
) -> Result<Summary, InputError> {
    read_rows(file, input, options, Detail::Use, &mut |run| {
        each(&run.used)
    })
}

/// How much of a record is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Its use.
    Use,
    /// The run, for a bill.
    Run,
    /// The job, for a replay.
    Job,
    /// The job with all that it asked for, also one that never started.
    Request,
}

/// As [`read`], with all that a replay needs of each job that started; needs the columns JobID,
/// Submit and Timelimit (or TimelimitRaw), too, and takes State, Partition, QOS and ReqCPUS where
/// they are there.
///
/// # Errors
/// As [`read`].
pub fn read_jobs<'a>(
    file: &'a str,
    input: impl BufRead,
    options: Options<'a>,
    each: JobSink<'_>,
) -> Result<Summary, InputError> {
    read_rows(file, input, options, Detail::Job, &mut |run| {
        each(&logged(run));
    })
}

/// As [`read_jobs`], with all that the log has of each job, also of those that never started.
///
/// # Errors
/// As [`read`].
pub fn read_requests<'a>(
    file: &'a str,
    input: impl BufRead,
    options: Options<'a>,
    each: &mut dyn FnMut(&Recorded<'_>),
) -> Result<Summary, InputError> {
    read_rows(file, input, options, Detail::Request, &mut |run| {
        let [
            raw,
            eligible,
            memory,
            tres,
            allocated,
            nodes,
            list,
            features,
            line,
            name,
            gres,
        ] = run.more;
        each(&Recorded {
            job: logged(run),
            end: run.asked.end,
            raw_id: raw,
            eligible: eligible.and_then(moment).filter(|time| *time > 0),
            requested_memory: memory,
            requested_tres: tres.and_then(count::tres),
            allocated_tres: allocated.and_then(count::tres),
            nodes: nodes.and_then(|text| text.parse().ok()),
            node_list: list,
            features,
            command_line: line,
            name,
            gres,
        });
    })
}

/// As [`read`], with all of each run that began, also those of less than a second, those that
/// count nothing and those that end before they start; needs the columns State and Elapsed (or ElapsedRaw), too. No record here can be one that somebody
/// wrote into a name.
///
/// # Errors
/// As [`read`]; columns that hold what users write, as JobName.
pub fn read_runs<'a>(
    file: &'a str,
    input: impl BufRead,
    options: Options<'a>,
    each: &mut dyn FnMut(&RunRecord<'_>),
) -> Result<Summary, InputError> {
    read_rows(file, input, options, Detail::Run, each)
}

fn read_rows<'a>(
    file: &'a str,
    input: impl BufRead,
    options: Options<'a>,
    detail: Detail,
    each: &mut dyn FnMut(&RunRecord<'_>),
) -> Result<Summary, InputError> {
    let mut records = Records {
        file,
        lines: Lines::new(file, input),
        header: match options.columns {
            Some(list) => Header::new(list, list.replace(',', "|").trim())
                .map_err(|why| InputError::new(file, Problem::Structure(why)))?,
            None => Header::default(),
        },
        text: String::new(),
        first: 0,
        pending: None,
        wanted_cluster: options.cluster,
        detail,
    };
    if options.columns.is_none() {
        records.read_header()?;
    }
    let (missing, hint) = match detail {
        Detail::Use => (Ok(()), HINT),
        Detail::Run => (records.header.find_runs(), RUNS_HINT),
        Detail::Job | Detail::Request => (records.header.find_jobs(), JOBS_HINT),
    };
    missing.map_err(|why| InputError::new(file, Problem::Structure(why)).hint(hint))?;
    if let (Some(name), None) = (options.cluster, records.header.cluster) {
        let why = format!("has no column Cluster, by which jobs of {name} could be told");
        return Err(InputError::new(file, Problem::Structure(why)).hint(hint));
    }
    if detail == Detail::Request {
        records.header.more = MORE.map(|name| records.header.find(name));
    }
    let free = records.header.free();
    let mut summary = Summary::default();
    if !free.is_empty() {
        let why = format!(
            "users write what stands in {}, where a line break can make a record that looks like \
             another job's",
            free.join(", ")
        );
        if detail == Detail::Run {
            return Err(InputError::new(file, Problem::Structure(why)).hint(hint));
        }
        summary.notes.push(format!("{why}; {hint}"));
    }
    let mut totals = Totals::default();
    let mut left = LeftOut::default();
    while records.advance(&mut left)? {
        left.keep(records.job(&mut summary, &mut totals, each))?;
        if let Some(error) = totals.two_clusters {
            return Err(error);
        }
    }
    let read = summary.jobs + summary.idle + totals.steps + totals.other_clusters;
    left.any_read(usize::try_from(read).unwrap_or(usize::MAX), 0)?;
    summary.unreadable = left.count() as u64;
    summary.notes.extend(left.notes());
    summary.machine = totals.cluster;
    summary.billed = totals.any_billing;
    if matches!(detail, Detail::Job | Detail::Request) {
        // A replay takes processors, not billing.
    } else if totals.by_processors > 0 && !totals.any_billing {
        summary.notes.push(format!(
            "billed by processors, as no record has billing among its resources: {}",
            jobs(totals.by_processors)
        ));
    } else if totals.by_processors > 0 {
        if detail == Detail::Use {
            summary.jobs -= totals.by_processors;
            summary.idle += totals.by_processors;
        }
        summary.notes.push(format!(
            "counted as billing 0, as sacct leaves out the billing of a free partition and other records \
             have it: {}",
            jobs(totals.by_processors)
        ));
    }
    for (count, why) in [
        (
            totals.shorter,
            "counted from the start for as long as they ran, which is less than up to the end (suspended)",
        ),
        (
            totals.longer,
            "counted from the start for as long as they ran, which is more than up to the end",
        ),
        (
            totals.other_clusters,
            "left out, as they are of other clusters",
        ),
    ] {
        if count > 0 {
            summary.notes.push(format!("{why}: {}", jobs(count)));
        }
    }
    if totals.backwards > 0 {
        summary.notes.push(format!(
            "not counted, as the end is before the start: {}",
            jobs(totals.backwards)
        ));
    }
    if summary.jobs + summary.idle == 0 {
        return Err(InputError::new(file, Problem::Empty).hint(
            "sacct shows today's own jobs unless told otherwise: sacct -a -S 2026-01-01 -P",
        ));
    }
    Ok(summary)
}

fn jobs(count: u64) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} job{s}")
}

/// Facts collected while reading.
#[derive(Default)]
struct Totals {
    cluster: Option<String>,
    /// Jobs that count by processors unless a record has billing.
    by_processors: u64,
    /// A record has billing among its resources.
    any_billing: bool,
    backwards: u64,
    steps: u64,
    /// Jobs of clusters that are not wanted.
    other_clusters: u64,
    /// Jobs that ran for less, or for more, than from start to end.
    shorter: u64,
    longer: u64,
    /// The first record of another cluster.
    two_clusters: Option<InputError>,
}

const JOBS_HINT: &str = "these are enough: sacct -a -S 2026-01-01 -X -P -o JobID,User,Account,Partition,QOS,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,ReqCPUS,NCPUS,AllocTRES";

const RUNS_HINT: &str = "these are enough: sacct -a -D -S 2026-01-01 -X -P -o JobID,User,Account,Partition,State,ExitCode,Start,End,ElapsedRaw,AllocTRES";

const HINT: &str = "these are enough: sacct -a -S 2026-01-01 -X -P -o JobID,User,Account,Start,End,Elapsed,AllocTRES";

impl<R: BufRead> Records<'_, R> {
    /// Hands the job of the record on: one that used something, or else every one that started.
    fn job(
        &self,
        summary: &mut Summary,
        totals: &mut Totals,
        each: &mut dyn FnMut(&RunRecord<'_>),
    ) -> Result<(), InputError> {
        let header = &self.header;
        let cells = self.cells()?;
        let said = |at: Option<usize>| {
            at.map(|at| cells[at].trim())
                .filter(|text| !text.is_empty())
        };
        for at in header.wanted() {
            if !header.kinds[at].fits(cells[at]) {
                return Err(self.value(&cells, at, header.kinds[at].allowed()));
            }
        }
        let step = match header.id {
            Some(id) => cells[id].contains('.'),
            None => said(header.user).is_none(),
        };
        if step {
            totals.steps += 1;
            return Ok(());
        }
        if let Some(cluster) = said(header.cluster) {
            if self.wanted_cluster.is_some_and(|wanted| wanted != cluster) {
                totals.other_clusters += 1;
                return Ok(());
            }
            match &totals.cluster {
                None => totals.cluster = Some(cluster.to_owned()),
                Some(known) if known != cluster => {
                    let why = format!("jobs of two clusters, {known} and {cluster}");
                    let error = self.error(why);
                    let hint = "choose one: sacct -M NAME, or `fairtree chart --cluster NAME`, or `fairtree bill --cluster NAME`";
                    totals.two_clusters = Some(error.hint(hint));
                    return Ok(());
                }
                Some(_) => {}
            }
        }
        let runs = self.detail == Detail::Run;
        let start = said(header.start).and_then(moment).unwrap_or(0);
        let time = |at: Option<usize>| match at.filter(|&at| !cells[at].trim().is_empty()) {
            Some(at) => match seconds(cells[at].trim()) {
                None if start > 0 => Err(self.value(&cells, at, SECONDS)),
                secs => Ok(secs),
            },
            None => Ok(None),
        };
        let (elapsed, suspended) = (time(header.elapsed)?, time(header.suspended)?);
        let billing = self.billing(&cells, totals)?;
        if start <= 0 {
            summary.idle += 1;
            if self.detail == Detail::Request {
                each(&self.record(&cells, JobUse::NONE, 0, 0));
            }
            return Ok(());
        }
        let end = match said(header.end).and_then(moment).filter(|&end| end > 0) {
            Some(end) => Some(end),
            // Still running: as long as it has run.
            None => elapsed.map(|secs| start.saturating_add(secs)),
        };
        let Some(end) = end else {
            let at = header.end.unwrap_or_default();
            return Err(self
                .value(
                    &cells,
                    at,
                    "a time, unless the column Elapsed tells how long the job has run",
                )
                .hint(HINT));
        };
        if runs && elapsed.is_none() {
            let at = header.elapsed.unwrap_or_default();
            return Err(self.value(&cells, at, SECONDS));
        }
        if end < start && !runs {
            totals.backwards += 1;
            summary.idle += 1;
            return Ok(());
        }
        let ran = elapsed.or(suspended.map(|secs| (end - start - secs).max(0)));
        let ran = ran.unwrap_or(end - start);
        let idle = ran <= 0 || billing.count == 0;
        if idle && self.detail == Detail::Use {
            summary.idle += 1;
            return Ok(());
        }
        totals.shorter += u64::from(!runs && ran < end - start);
        totals.longer += u64::from(!runs && ran > end - start);
        totals.by_processors += u64::from(billing.by_processors);
        summary.jobs += 1;
        let used = JobUse {
            account: None,
            user: None,
            start,
            end: if runs { end } else { start.saturating_add(ran) },
            billing: billing.count as f64,
            by_processors: billing.by_processors,
        };
        each(&self.record(&cells, used, billing.count, ran.unsigned_abs()));
        Ok(())
    }
}

const SECONDS: &str = "a whole number of seconds up to 253402300799, or a time as 1-02:03:04";

/// `ElapsedRaw` or `Elapsed` in seconds; `None` for fractions, and more than a time can be.
fn seconds(text: &str) -> Option<i64> {
    /// Up to the year 9999.
    const MOST: i64 = 253_402_300_799;
    let fraction = text.split_once('.').map_or("0", |(_, fraction)| fraction);
    if fraction.bytes().any(|byte| byte != b'0') {
        return None;
    }
    let secs = text.parse::<i64>().ok().or_else(|| span(text))?;
    (0..=MOST).contains(&secs).then_some(secs)
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
