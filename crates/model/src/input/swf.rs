//! Logs in the Standard Workload Format of the Parallel Workloads Archive.
//!
//! Lines that begin with `;` are the header, which gives `UnixStartTime`; every other line is a job
//! of 18 numbers, -1 for unknown. [`read`] takes the job's submission and wait (its start), its run
//! time, its processors (those allocated, or else those requested), its user and its group;
//! [`read_jobs`] also the processors and the time that it requested, its status, queue and partition.
//! Users are called `u7`; groups become accounts and are called `g3`; queues become QOS and are
//! called `q1`; partitions are called `p2`.
//!
//! Source: the Archive's page "The Standard Workload Format", version 2.2.

use std::io::BufRead;

use super::error::{InputError, Problem};
use super::left_out::LeftOut;
use super::lines::Lines;
use super::prompt::is_prompt;
use super::workload::{JobSink, JobUse, LoggedJob, Sink, Summary};

/// Columns of a job.
const COLUMNS: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

const JOB: usize = 0;
const SUBMIT: usize = 1;
const WAIT: usize = 2;
const RUN: usize = 3;
const ALLOCATED: usize = 4;
const REQUESTED: usize = 7;
const LIMIT: usize = 8;
const STATUS: usize = 10;
const USER: usize = 11;
const GROUP: usize = 12;
const QUEUE: usize = 14;
const PARTITION: usize = 15;

/// Returns true if `line` can be the first of a log.
pub fn begins(line: &str) -> bool {
    line.starts_with(';')
        || line.split_whitespace().count() == COLUMNS.len()
            && line
                .split_whitespace()
                .all(|word| word.parse::<f64>().is_ok())
}

/// Reads a log and hands each job that used something to `each`; `file` names the stream in
/// messages. Processors in use count one per second each.
///
/// # Errors
/// A stream that breaks; a line that is no comment and not of 18 numbers; a number that its column
/// does not allow; a header that says when the log starts twice, or with no number; no job.
pub fn read(file: &str, input: impl BufRead, each: Sink<'_>) -> Result<Summary, InputError> {
    let mut summary = Summary::default();
    let (mut requested, mut fractions, mut waits) = (0_u64, 0_u64, 0_u64);
    let mut charge = |job: &LoggedJob<'_>, odd: Odd| {
        let allocated = job.allocated.filter(|count| *count > 0);
        let processors = allocated.or(job.requested).unwrap_or(0);
        let run_secs = job.run_secs.unwrap_or(0);
        if run_secs <= 0 || processors == 0 {
            summary.idle += 1;
            return;
        }
        requested += u64::from(allocated.is_none());
        fractions += u64::from(odd.has_fraction);
        waits += u64::from(odd.has_no_wait);
        summary.jobs += 1;
        let start = job.start.unwrap_or(0);
        each(&JobUse {
            account: job.account,
            user: job.user,
            start,
            end: start + run_secs,
            billing: processors as f64,
            by_processors: false,
        });
    };
    let times = &[SUBMIT, WAIT, RUN];
    let log = read_log(file, input, times, &mut LeftOut::refusing(), &mut charge)?;
    if summary.jobs + summary.idle == 0 {
        return Err(no_jobs(file));
    }
    (summary.machine, summary.epoch) = (log.machine, log.epoch);
    if log.epoch.is_none() {
        summary.notes.push(
            "the header does not tell when the log begins (UnixStartTime): times count from 1970"
                .into(),
        );
    }
    if requested > 0 {
        summary.notes.push(format!(
            "{requested} jobs whose allocated processors are not known count those requested"
        ));
    }
    summary.notes.extend(fractions_note(fractions));
    if waits > 0 {
        summary.notes.push(format!(
            "{waits} jobs whose wait is not known count from their submission"
        ));
    }
    Ok(summary)
}

/// Reads a log and hands each job on, also those that used nothing; `file` names the stream in
/// messages. A line that cannot be read is left out and named in a note. Times count from 1970 where
/// the header has no `UnixStartTime`.
///
/// # Errors
/// A stream that breaks; a header with two moments at which the log begins, or with no number for
/// it; no job; no line that can be read.
pub fn read_jobs(
    file: &str,
    input: impl BufRead,
    each: JobSink<'_>,
) -> Result<Summary, InputError> {
    let mut summary = Summary::default();
    let mut left = LeftOut::default();
    let mut fractions = 0_u64;
    let times = &[SUBMIT, WAIT, RUN, LIMIT];
    let log = read_log(file, input, times, &mut left, &mut |job, odd| {
        summary.jobs += 1;
        fractions += u64::from(odd.has_fraction);
        each(job);
    })?;
    left.any_read(usize::try_from(summary.jobs).unwrap_or(usize::MAX), 0)?;
    if summary.jobs == 0 {
        return Err(no_jobs(file));
    }
    (summary.machine, summary.epoch) = (log.machine, log.epoch);
    summary.unreadable = left.count() as u64;
    summary.notes = left.notes();
    summary.notes.extend(fractions_note(fractions));
    Ok(summary)
}

fn no_jobs(file: &str) -> InputError {
    InputError::new(file, Problem::Empty).hint("give a log with jobs in it")
}

/// Note on jobs of which a time has a fraction; `None` if there are none.
fn fractions_note(jobs: u64) -> Option<String> {
    let note = format!("{jobs} jobs have times with fractions of a second, which are cut off");
    (jobs > 0).then_some(note)
}

/// Oddities of a job that its numbers do not show.
#[derive(Clone, Copy)]
struct Odd {
    /// A time has a fraction, which is cut off.
    has_fraction: bool,
    /// The wait is not known: the start is the submission.
    has_no_wait: bool,
}

/// The receiver of each job, and of what is odd in it.
type OddSink<'s> = &'s mut dyn FnMut(&LoggedJob<'_>, Odd);

fn read_log<'f>(
    file: &'f str,
    input: impl BufRead,
    times: &'static [usize],
    left: &mut LeftOut,
    each: OddSink<'_>,
) -> Result<Log<'f>, InputError> {
    let mut lines = Lines::new(file, input);
    let mut log = Log {
        file,
        times,
        ..Log::default()
    };
    while let Some(line) = lines.next()? {
        let text = line.trim();
        if let Some(comment) = text.strip_prefix(';') {
            log.comment(comment)
                .map_err(|error| error.at_line(log.number + 1, &line))?;
        } else if !text.is_empty() && !is_aside(text, log.jobs) {
            log.jobs += u64::from(left.keep(log.job(&line, each))?.is_some());
        }
        log.number = lines.number;
    }
    Ok(log)
}

/// Returns true if a line above the first job is a comment of another kind, or a prompt.
fn is_aside(text: &str, jobs: u64) -> bool {
    jobs == 0 && (text.starts_with('#') || is_prompt(text))
}

/// The state of the reader.
#[derive(Default)]
struct Log<'f> {
    file: &'f str,
    /// Lines read.
    number: usize,
    /// `UnixStartTime`.
    epoch: Option<i64>,
    /// `Computer`.
    machine: Option<String>,
    /// Jobs read.
    jobs: u64,
    /// The columns of times that the caller uses.
    times: &'static [usize],
}

impl Log<'_> {
    fn comment(&mut self, comment: &str) -> Result<(), InputError> {
        let Some((key, value)) = comment.split_once(':') else {
            return Ok(());
        };
        let value = value.trim();
        match key.trim() {
            "UnixStartTime" => {
                let seconds = value.parse::<u32>().ok().map(i64::from);
                if seconds.is_none() || self.epoch.is_some() && self.epoch != seconds {
                    let problem = Problem::Value {
                        what: "UnixStartTime".into(),
                        found: value.to_owned(),
                        allowed: "one number of seconds since 1970, up to 4294967295".into(),
                    };
                    return Err(InputError::new(self.file, problem));
                }
                self.epoch = seconds;
            }
            "Computer" if self.machine.is_none() => self.machine = Some(value.to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn job(&self, line: &str, each: OddSink<'_>) -> Result<(), InputError> {
        let mut numbers = [0_i64; COLUMNS.len()];
        let mut count = 0;
        let mut has_fraction = false;
        for word in line.split_whitespace() {
            has_fraction |= self.times.contains(&count)
                && word.contains('.')
                && word
                    .parse::<f64>()
                    .is_ok_and(|number| number.fract() != 0.0);
            if let Some(slot) = numbers.get_mut(count) {
                *slot = number(word).ok_or_else(|| self.value(line, word, count))?;
            }
            count += 1;
        }
        if count != COLUMNS.len() {
            let due = COLUMNS.len();
            let why = format!("{count} numbers, where a job has {due}");
            return Err(InputError::new(self.file, Problem::Structure(why))
                .at_line(self.number + 1, line)
                .hint("is the file cut off? Comments begin with `;`"));
        }
        let known = |at: usize| (numbers[at] >= 0).then_some(numbers[at]);
        let count = |at: usize| known(at).map(i64::unsigned_abs);
        let named = |letter: char, at: usize| known(at).map(|number| format!("{letter}{number}"));
        let (user, group) = (named('u', USER), named('g', GROUP));
        let (queue, partition) = (named('q', QUEUE), named('p', PARTITION));
        let submit = self.epoch.unwrap_or(0) + numbers[SUBMIT];
        let odd = Odd {
            has_fraction,
            has_no_wait: numbers[WAIT] < 0,
        };
        let job = LoggedJob {
            id: line.split_whitespace().nth(JOB).unwrap_or_default(),
            line: self.number + 1,
            account: group.as_deref(),
            user: user.as_deref(),
            partition: partition.as_deref(),
            qos: queue.as_deref(),
            state: match numbers[STATUS] {
                0 => Some("FAILED"),
                1 => Some("COMPLETED"),
                5 => Some("CANCELLED"),
                // Parts of a job, and what is not known.
                _ => None,
            },
            submit: known(SUBMIT).map(|_| submit),
            start: Some(submit + numbers[WAIT].max(0)),
            run_secs: known(RUN),
            limit_secs: known(LIMIT),
            allocated: count(ALLOCATED),
            requested: count(REQUESTED),
        };
        each(&job, odd);
        Ok(())
    }

    fn value(&self, line: &str, word: &str, at: usize) -> InputError {
        let problem = Problem::Value {
            what: COLUMNS[at].to_owned(),
            found: word.chars().take(80).collect(),
            allowed: "a number from -1 (not known) to 1099511627776".into(),
        };
        // The words of a line are parts of it.
        let before = &line[..word.as_ptr() as usize - line.as_ptr() as usize];
        InputError::new(self.file, problem)
            .at_line(self.number + 1, line)
            .at_column(before.chars().count() + 1)
    }
}

/// A number from -1 up; some logs give fractions of seconds.
fn number(word: &str) -> Option<i64> {
    const MAX: i64 = 1 << 40;
    let whole = word.parse::<i64>().ok();
    let value = whole.or_else(|| {
        let value: f64 = word.parse().ok()?;
        value.is_finite().then_some(value as i64)
    })?;
    (-1..=MAX).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Result<(Vec<String>, Summary), InputError> {
        let mut jobs = Vec::new();
        let summary = read("log", text.as_bytes(), &mut |job| {
            jobs.push(format!(
                "{}@{} {}..{} x {}",
                job.user.unwrap_or("?"),
                job.account.unwrap_or("?"),
                job.start,
                job.end,
                job.billing
            ));
        })?;
        Ok((jobs, summary))
    }

    // The lines are of the KTH and Thunder logs; the sums by hand.
    #[test]
    fn jobs_are_read_as_documented() {
        let (jobs, summary) = log("; Computer: IBM SP2\n; UnixStartTime: 843480031\n;\n\
            15 599850 192180 3477 4 -1 -1 4 53940 -1 1 12 12 -1 -1 -1 -1 -1\n\
            3 207147 -1 42010 -1 -1.5 -1 24 -1 -1 5 7 -1 7 -1 1 -1 -1\n\
            16 600022 11940 0 25 -1 -1 25 3600 -1 1 13 13 -1 -1 -1 -1 -1\n")
        .unwrap();
        assert_eq!(
            jobs,
            [
                "u12@g12 844272061..844275538 x 4",
                "u7@? 843687178..843729188 x 24"
            ]
        );
        assert_eq!((summary.jobs, summary.idle), (2, 1));
        assert_eq!(summary.machine.as_deref(), Some("IBM SP2"));
        assert_eq!(
            summary.notes,
            [
                "1 jobs whose allocated processors are not known count those requested",
                "1 jobs whose wait is not known count from their submission"
            ]
        );
        let (jobs, summary) =
            log("; UnixStartTime: 0\n1 5.5 -1 9 4 1 1 1 1 1 1 1 1 1 1 1 1 1\n").unwrap();
        assert_eq!(jobs, ["u1@g1 5..14 x 4"]);
        assert!(
            summary.notes[0].contains("fractions of a second"),
            "{summary:?}"
        );
    }

    #[test]
    fn jobs_are_handed_on_with_what_they_asked_for() {
        let job = "15 599850 192180 3477 4 -1 -1 8 53940 -1 1 12 13 -1 2 1 -1 -1\n";
        let none = "3 -1 -1 -1 -1 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n";
        let text = format!("; UnixStartTime: 1000\n{job}15 599850 1921\n{none}");
        let mut jobs = Vec::new();
        let summary = read_jobs("log", text.as_bytes(), &mut |job| {
            let numbers = (job.submit, job.start, job.run_secs, job.limit_secs);
            let names = [job.user, job.account, job.qos, job.partition, job.state];
            let names = names.map(|name| name.unwrap_or("?")).join(" ");
            jobs.push((job.line, numbers, job.allocated, job.requested, names));
        })
        .unwrap();
        let numbers = (Some(600_850), Some(793_030), Some(3477), Some(53_940));
        let names = "u12 g13 q2 p1 COMPLETED".to_owned();
        assert_eq!(jobs[0], (2, numbers, Some(4), Some(8), names));
        let numbers = (None, Some(999), None, None);
        assert_eq!(jobs[1], (4, numbers, None, None, "? ? ? ? FAILED".into()));
        assert_eq!((summary.jobs, summary.unreadable), (2, 1));
        assert_eq!(summary.epoch, Some(1000));
        assert!(
            summary.notes[0].starts_with("log:3: 3 numbers"),
            "{summary:?}"
        );
        // A replay uses the time limit, too; a comment and a prompt above the jobs are no jobs.
        let text = format!("# a comment\n$ cat log\n{}", job.replace("53940", "60.5"));
        let summary = read_jobs("log", text.as_bytes(), &mut |_| ()).unwrap();
        assert_eq!((summary.jobs, summary.unreadable), (1, 0), "{summary:?}");
        assert!(
            summary.notes[0].contains("fractions of a second"),
            "{summary:?}"
        );
        // One bad line is the error of a log without a good one.
        let error = read_jobs("log", &b"15 599850 1921\n"[..], &mut |_| ()).unwrap_err();
        assert_eq!(error.line, Some(1));
    }

    #[test]
    fn wrong_logs_are_errors_with_their_place() {
        let job = "15 599850 192180 3477 4 -1 -1 4 53940 -1 1 12 12 -1 -1 -1 -1 -1\n";
        for (text, place, word) in [
            ("; Computer: x\n".to_owned(), (None, None), "empty"),
            (format!("{job}15 599850 1921"), (Some(2), None), "3 numbers"),
            (
                format!("{job}{}", job.replace("3477", "34x7")),
                (Some(2), Some(18)),
                "run time",
            ),
            (job.replace("3477", "-2"), (Some(1), Some(18)), "run time"),
            (
                format!("; UnixStartTime: soon\n{job}"),
                (Some(1), None),
                "UnixStartTime",
            ),
        ] {
            let error = log(&text).unwrap_err();
            assert_eq!((error.line, error.column), place, "{error}");
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn the_format_shows_in_its_first_line() {
        assert!(begins("; Version: 2.2"));
        assert!(begins(
            "   15   599850 192180   3477    4     -1    -1    4  53940    -1  1  12  12  -1 -1 -1 -1 -1"
        ));
        assert!(!begins("1 2 3"));
        assert!(!begins("[accounts]"));
    }
}
