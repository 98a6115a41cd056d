//! From the stream to what each job used.

use std::io::BufRead;

use super::align::align;
use super::columns::{self, Kind};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::lines::{Lines, MAX_LINE_BYTES};
use crate::input::prompt::is_prompt;
use crate::input::slurm::count;
use crate::input::slurm::time::{moment, span};
use crate::input::workload::{JobSink, JobUse, LoggedJob, Recorded, Sink, Summary};

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

/// A run of a job, from one record of `sacct -D`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunRecord<'a> {
    /// Its use, and when: up to its end, also if it was suspended in between.
    pub used: JobUse<'a>,
    /// Billing TRES, or processors if [`JobUse::by_processors`].
    pub billing: u64,
    /// Number of the job.
    pub job: &'a str,
    /// The partition; `None` if the listing does not say.
    pub partition: Option<&'a str>,
    /// How it ended, or `RUNNING`, `RESIZING` and the like.
    pub state: &'a str,
    /// Exit code of the script, 12 of `12:0`; `None` if the listing does not say.
    pub exit_code: Option<u8>,
    /// Run time, seconds, without the time that it was suspended.
    pub elapsed_secs: u64,
    /// Time for which the machine executed it, as AdminComment has it.
    pub executed: Executed,
    /// The other facts that a replay needs; the default unless [`read_jobs`] reads.
    asked: Asked<'a>,
    /// Cells of [`MORE`]; the default unless [`read_requests`] reads.
    more: [Option<&'a str>; MORE.len()],
}

/// Time for which a machine executed a run, by the words `executed_us=N` of AdminComment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Executed {
    /// There is no such word, or the listing does not say.
    #[default]
    Unknown,
    /// The word has no whole number.
    Unreadable,
    /// N microseconds.
    Micros(u64),
    /// Several words with different numbers.
    Several,
}

/// Columns of what a job asked for and got, where [`read_requests`] reads; all may be missing.
const MORE: [&str; 11] = [
    "JobIDRaw",
    "Eligible",
    "ReqMem",
    "ReqTRES",
    "AllocTRES",
    "NNodes",
    "NodeList",
    "Constraints",
    "SubmitLine",
    "JobName",
    "ReqGRES",
];

/// Request of a job, and its allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Asked<'a> {
    line: usize,
    qos: Option<&'a str>,
    submit: Option<i64>,
    limit_secs: Option<i64>,
    allocated: Option<u64>,
    requested: Option<u64>,
    end: Option<i64>,
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

/// The job of a record, as a replay needs it.
fn logged<'a>(run: &RunRecord<'a>) -> LoggedJob<'a> {
    let (used, asked) = (&run.used, &run.asked);
    let run_secs = i64::try_from(run.elapsed_secs).ok();
    LoggedJob {
        id: run.job,
        line: asked.line,
        account: used.account,
        user: used.user,
        partition: run.partition,
        qos: asked.qos,
        state: Some(run.state).filter(|state| !state.is_empty()),
        submit: asked.submit,
        start: Some(used.start).filter(|start| *start > 0),
        run_secs: run_secs.filter(|_| asked.end.is_some()),
        limit_secs: asked.limit_secs,
        allocated: asked.allocated,
        requested: asked.requested,
    }
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

/// Positions of the columns.
#[derive(Default)]
struct Header {
    names: Vec<String>,
    kinds: Vec<Kind>,
    /// `sacct -p`: a bar at the end of each record, too.
    bar_after: bool,
    id: Option<usize>,
    user: Option<usize>,
    account: Option<usize>,
    cluster: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
    elapsed: Option<usize>,
    suspended: Option<usize>,
    tres: Option<usize>,
    processors: Option<usize>,
    /// These five only where runs or jobs are asked for.
    state: Option<usize>,
    exit_code: Option<usize>,
    partition: Option<usize>,
    job: Option<usize>,
    comment: Option<usize>,
    /// These four only where jobs are asked for.
    qos: Option<usize>,
    submit: Option<usize>,
    limit: Option<usize>,
    requested: Option<usize>,
    /// Of [`MORE`].
    more: [Option<usize>; MORE.len()],
}

impl Header {
    /// The columns that `text` names, `|` between them.
    fn new(line: &str, text: &str) -> Result<Header, String> {
        let bar_after = text.ends_with('|');
        let text = text.strip_suffix('|').unwrap_or(text);
        // A width, as sacct takes it in a list of columns, changes nothing with -P.
        let plain = |name: &str| name.split('%').next().unwrap_or("").trim().to_owned();
        let names: Vec<String> = text.split('|').map(plain).collect();
        let find = |wanted: &[&str]| {
            wanted
                .iter()
                .find_map(|w| names.iter().position(|name| name.eq_ignore_ascii_case(w)))
        };
        let header = Header {
            kinds: names.iter().map(|name| Kind::of(name)).collect(),
            bar_after,
            id: find(&["JobID", "JobIDRaw"]),
            user: find(&["User"]),
            account: find(&["Account"]),
            cluster: find(&["Cluster"]),
            start: find(&["Start"]),
            end: find(&["End"]),
            elapsed: find(&["ElapsedRaw", "Elapsed"]),
            suspended: find(&["Suspended"]),
            tres: find(&["AllocTRES"]),
            processors: find(&["AllocCPUS", "NCPUS"]),
            names: names.clone(),
            state: None,
            exit_code: None,
            partition: None,
            job: None,
            comment: None,
            qos: None,
            submit: None,
            limit: None,
            requested: None,
            more: [None; MORE.len()],
        };
        let missing = if header.user.is_none() {
            "User"
        } else if header.start.is_none() {
            "Start"
        } else if header.end.is_none() && header.elapsed.is_none() {
            "End, Elapsed or ElapsedRaw"
        } else if header.tres.is_none() && header.processors.is_none() {
            "AllocTRES, AllocCPUS or NCPUS"
        } else {
            return Ok(header);
        };
        Err(format!(
            "the column {missing} is not there, among {:?}",
            line.trim()
        ))
    }

    /// The place of a column.
    fn find(&self, wanted: &str) -> Option<usize> {
        let mut names = self.names.iter();
        names.position(|name| name.eq_ignore_ascii_case(wanted))
    }

    /// Finds the columns of what a job asked for.
    fn find_jobs(&mut self) -> Result<(), String> {
        let limit = self.find("TimelimitRaw").or(self.find("Timelimit"));
        let (submit, job) = (self.find("Submit"), self.id);
        let missing = match (job, submit, limit) {
            (None, ..) => "JobID",
            (_, None, _) => "Submit",
            (.., None) => "Timelimit or TimelimitRaw",
            _ => {
                (self.job, self.submit, self.limit) = (job, submit, limit);
                (self.state, self.qos) = (self.find("State"), self.find("QOS"));
                (self.partition, self.requested) = (self.find("Partition"), self.find("ReqCPUS"));
                return Ok(());
            }
        };
        Err(self.lacks(missing))
    }

    fn lacks(&self, missing: &str) -> String {
        let names = self.names.join("|");
        format!("the column {missing} is not there, among {names}")
    }

    /// Finds the other columns that describe a run.
    fn find_runs(&mut self) -> Result<(), String> {
        let found = ["State", "ExitCode", "Partition"].map(|wanted| self.find(wanted));
        let missing = match (found[0], self.elapsed, self.id) {
            (None, ..) => "State",
            (_, None, _) => "Elapsed or ElapsedRaw",
            (.., None) => "JobID",
            _ => {
                [self.state, self.exit_code, self.partition] = found;
                self.job = self.id;
                self.comment = self.find("AdminComment");
                return Ok(());
            }
        };
        Err(self.lacks(missing))
    }

    /// The columns that hold what users write: not AdminComment, which Slurm lets only
    /// administrators set.
    fn free(&self) -> Vec<&str> {
        let both = self.names.iter().zip(&self.kinds).enumerate();
        let both = both.filter(|(at, _)| self.comment != Some(*at));
        let free = both
            .map(|(_, both)| both)
            .filter(|(_, kind)| **kind == Kind::Free);
        free.map(|(name, _)| name.as_str()).collect()
    }

    /// The columns that count, which must be known for certain. Of the cluster alone one reading
    /// among several will do.
    fn wanted(&self) -> impl Iterator<Item = usize> {
        let all = [
            self.id,
            self.user,
            self.account,
            self.start,
            self.end,
            self.elapsed,
            self.suspended,
            self.tres,
            self.processors,
            self.state,
            self.exit_code,
            self.partition,
            self.comment,
            self.qos,
            self.submit,
            self.limit,
            self.requested,
        ];
        all.into_iter().flatten()
    }
}

/// The records of a log.
struct Records<'f, R> {
    file: &'f str,
    lines: Lines<'f, R>,
    header: Header,
    /// The record at hand.
    text: String,
    /// Its first line.
    first: usize,
    /// A line that was read ahead, and its number.
    pending: Option<(usize, String)>,
    /// The only cluster whose jobs count.
    wanted_cluster: Option<&'f str>,
    detail: Detail,
}

const JOBS_HINT: &str = "these are enough: sacct -a -S 2026-01-01 -X -P -o JobID,User,Account,Partition,QOS,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,ReqCPUS,NCPUS,AllocTRES";

const RUNS_HINT: &str = "these are enough: sacct -a -D -S 2026-01-01 -X -P -o JobID,User,Account,Partition,State,ExitCode,Start,End,ElapsedRaw,AllocTRES";

const HINT: &str = "these are enough: sacct -a -S 2026-01-01 -X -P -o JobID,User,Account,Start,End,Elapsed,AllocTRES";

impl<R: BufRead> Records<'_, R> {
    fn error(&self, why: String) -> InputError {
        InputError::new(self.file, Problem::Structure(why)).at_line(self.first, &self.text)
    }

    fn read_header(&mut self) -> Result<(), InputError> {
        loop {
            if !self.next_line()? {
                return Err(InputError::new(self.file, Problem::Empty).hint(HINT));
            }
            // The command above the listing, pasted along.
            if !self.text.starts_with('#') && !is_prompt(&self.text) {
                break;
            }
        }
        if !columns::begins(&self.text) {
            return Err(self
                .error("a listing of sacct without header does not tell its columns".into())
                .hint(
                    "leave out -n of sacct, or name them: fairtree chart --columns \
                     JobID,User,Account,Start,End,AllocTRES,...",
                ));
        }
        self.header =
            Header::new(&self.text, self.text.trim()).map_err(|why| self.error(why).hint(HINT))?;
        Ok(())
    }

    /// Reads the next line that says anything into the record.
    fn next_line(&mut self) -> Result<bool, InputError> {
        if let Some((number, line)) = self.pending.take() {
            if !line.trim().is_empty() {
                (self.first, self.text) = (number, line);
                return Ok(true);
            }
        }
        self.text.clear();
        while let Some(line) = self.lines.next()? {
            if !line.trim().is_empty() {
                self.text.push_str(&line);
                self.first = self.lines.number;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next record, over as many lines as it has. One whose end is not there goes to
    /// `left`.
    fn advance(&mut self, left: &mut LeftOut) -> Result<bool, InputError> {
        while self.next_line()? {
            match self.complete()? {
                None => return Ok(true),
                Some(error) => left.keep::<()>(Err(error))?,
            };
        }
        Ok(false)
    }

    /// Adds the lines in which the record continues; returns the error if there is no such line.
    fn complete(&mut self) -> Result<Option<InputError>, InputError> {
        let due = self.header.names.len() + usize::from(self.header.bar_after);
        // Only what users write goes over several lines.
        let may_go_on = self.header.kinds.contains(&Kind::Free);
        // Counted line by line: a record may have millions.
        let mut short = cells_in(&self.text);
        while short < due {
            let more = match may_go_on {
                true => self.lines.next()?.map(std::borrow::Cow::into_owned),
                false => None,
            };
            // A line that is a record of its own does not continue another.
            match more {
                Some(line) if cells_in(&line) < due => {
                    self.text.push('\n');
                    self.text.push_str(&line);
                    short += cells_in(&line) - 1;
                }
                more => {
                    self.pending = more.map(|line| (self.lines.number, line));
                    let why = format!("{short} cells between |, where the header has {due}");
                    let error = self.error(why);
                    return Ok(Some(
                        error.hint("is the file cut off, or put together from two?"),
                    ));
                }
            }
            if self.text.len() as u64 > MAX_LINE_BYTES {
                let why = format!("a record of more than {MAX_LINE_BYTES} bytes");
                return Ok(Some(self.error(why)));
            }
        }
        Ok(None)
    }

    /// The cells of the record, one per column.
    fn cells(&self) -> Result<Vec<&str>, InputError> {
        let text = match self.header.bar_after {
            true => self.text.strip_suffix('|').unwrap_or(&self.text),
            false => &self.text,
        };
        let cells: Vec<&str> = text.split('|').collect();
        let due = self.header.names.len();
        if cells.len() == due {
            return Ok(cells);
        }
        let found = cells.len();
        let hint =
            "leave out columns whose text may hold | (JobName, Comment, SubmitLine, WorkDir)";
        let Some(aligned) = align(&self.header.kinds, &cells) else {
            let why =
                format!("{found} cells between |, where the header has {due}, fit no reading");
            return Err(self.error(why).hint(hint));
        };
        if let Some(at) = self.header.wanted().find(|&at| aligned[at].is_none()) {
            let why = format!(
                "{found} cells between |, where the header has {due}: which is {} cannot be told",
                self.header.names[at]
            );
            return Err(self.error(why).hint(hint));
        }
        Ok(aligned.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn value(&self, cells: &[&str], at: usize, allowed: &str) -> InputError {
        let before: usize = cells[..at].iter().map(|c| c.chars().count() + 1).sum();
        let problem = Problem::Value {
            what: self.header.names[at].clone(),
            found: cells[at].trim().chars().take(80).collect(),
            allowed: allowed.to_owned(),
        };
        let error = InputError::new(self.file, problem).at_line(self.first, &self.text);
        match self.text.contains('\n') || cells.len() != cells_in(&self.text) {
            true => error,
            false => error.at_column(before + 1),
        }
    }

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

    /// The record; `used` is without names.
    fn record<'s>(
        &self,
        cells: &[&'s str],
        used: JobUse<'s>,
        billing: u64,
        elapsed_secs: u64,
    ) -> RunRecord<'s> {
        let header = &self.header;
        let said = |at: Option<usize>| {
            at.map(|at| cells[at].trim())
                .filter(|text| !text.is_empty())
        };
        let exit_code = said(header.exit_code).and_then(|text| text.split_once(':'));
        RunRecord {
            used: JobUse {
                account: said(header.account),
                user: said(header.user),
                ..used
            },
            billing,
            job: said(header.job).unwrap_or_default(),
            partition: said(header.partition),
            state: said(header.state).unwrap_or_default(),
            exit_code: exit_code.and_then(|(code, _)| code.parse().ok()),
            elapsed_secs,
            executed: said(header.comment).map_or(Executed::Unknown, executed),
            asked: match self.detail {
                Detail::Job | Detail::Request => self.asked(cells),
                Detail::Use | Detail::Run => Asked::default(),
            },
            more: header.more.map(said),
        }
    }

    /// Request of the job, and its allocation.
    fn asked<'s>(&self, cells: &[&'s str]) -> Asked<'s> {
        let said = |at: Option<usize>| {
            at.map(|at| cells[at].trim())
                .filter(|text| !text.is_empty())
        };
        let time = |at| said(at).and_then(moment).filter(|&time| time > 0);
        Asked {
            line: self.first,
            qos: said(self.header.qos),
            submit: time(self.header.submit),
            limit_secs: self.limit_secs(cells),
            allocated: self.allocated(cells),
            requested: said(self.header.requested).and_then(|text| text.parse().ok()),
            end: time(self.header.end),
        }
    }

    /// Time limit; TimelimitRaw has minutes.
    fn limit_secs(&self, cells: &[&str]) -> Option<i64> {
        let text = cells[self.header.limit?].trim();
        let minutes = text.parse::<u32>().ok();
        minutes
            .map(|minutes| i64::from(minutes) * 60)
            .or_else(|| span(text))
    }

    /// Processors that the job got.
    fn allocated(&self, cells: &[&str]) -> Option<u64> {
        let counted = |at: usize| cells[at].trim().parse().ok();
        let listed = |at: usize| {
            let tres = count::tres(cells[at].trim())?;
            tres.iter()
                .find(|(name, _)| name == "cpu")
                .map(|(_, count)| *count)
        };
        let tres = self.header.tres.and_then(listed);
        tres.or_else(|| self.header.processors.and_then(counted))
    }

    /// Billing of the job per second.
    fn billing(&self, cells: &[&str], totals: &mut Totals) -> Result<Billing, InputError> {
        if let Some(at) = self.header.tres {
            let tres = count::tres(cells[at].trim()).unwrap_or_default();
            let of = |name: &str| tres.iter().find(|(known, _)| known == name);
            if let Some((_, billing)) = of("billing") {
                totals.any_billing = true;
                return Ok(Billing {
                    count: *billing,
                    by_processors: false,
                });
            }
            if let Some((_, processors)) = of("cpu") {
                return Ok(Billing {
                    count: *processors,
                    by_processors: true,
                });
            }
        }
        let count = self
            .header
            .processors
            .filter(|&at| !cells[at].trim().is_empty())
            .map(|at| {
                let number = cells[at].trim().parse::<u32>();
                number.map_err(|_| self.value(cells, at, "a whole number up to 4294967295"))
            })
            .transpose()?;
        Ok(Billing {
            count: count.map_or(0, u64::from),
            by_processors: count.is_some_and(|count| count > 0),
        })
    }
}

/// Billing of a job per second.
struct Billing {
    count: u64,
    /// They are processors: there is no billing.
    by_processors: bool,
}

const SECONDS: &str = "a whole number of seconds up to 253402300799, or a time as 1-02:03:04";

/// N of the words `executed_us=N` in what a site wrote of a job.
fn executed(comment: &str) -> Executed {
    let words = comment.split([' ', ',', ';']);
    let mut found = words.filter_map(|word| word.strip_prefix("executed_us="));
    let Some(first) = found.next() else {
        return Executed::Unknown;
    };
    if found.any(|other| other != first) {
        return Executed::Several;
    }
    first.parse().map_or(Executed::Unreadable, Executed::Micros)
}

fn cells_in(text: &str) -> usize {
    text.bytes().filter(|&b| b == b'|').count() + 1
}

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
