//! Logs in the Standard Workload Format of the Parallel Workloads Archive.
//!
//! Lines that begin with `;` are the header, which gives `UnixStartTime`; every other line is a job
//! of 18 numbers, -1 for unknown. This reader takes the job's submission and wait (its start), its
//! run time, its processors (those allocated, or else those requested), its user and its group.
//! Users are called `u7`; groups become accounts and are called `g3`.
//!
//! Source: the Archive's page "The Standard Workload Format", version 2.2.

use std::io::BufRead;

use super::error::{InputError, Problem};
use super::lines::Lines;
use super::prompt::is_prompt;
use super::workload::{JobUse, Sink, Summary};

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

const SUBMIT: usize = 1;
const WAIT: usize = 2;
const RUN: usize = 3;
const ALLOCATED: usize = 4;
const REQUESTED: usize = 7;
const USER: usize = 11;
const GROUP: usize = 12;

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
    let mut lines = Lines::new(file, input);
    let mut summary = Summary::default();
    let mut log = Log {
        file,
        ..Log::default()
    };
    while let Some(line) = lines.next()? {
        let text = line.trim();
        if let Some(comment) = text.strip_prefix(';') {
            log.comment(comment, &mut summary)
                .map_err(|error| error.at_line(log.number + 1, &line))?;
        } else if !text.is_empty() && !is_aside(text, &summary) {
            log.job(&line, &mut summary, each)?;
        }
        log.number = lines.number;
    }
    if summary.jobs + summary.idle == 0 {
        return Err(InputError::new(file, Problem::Empty).hint("give a log with jobs in it"));
    }
    if log.start.is_none() {
        summary.notes.push(
            "the header does not tell when the log begins (UnixStartTime): times count from 1970"
                .into(),
        );
    }
    if log.requested > 0 {
        summary.notes.push(format!(
            "{} jobs whose allocated processors are not known count those requested",
            log.requested
        ));
    }
    for (count, why) in [
        (
            log.fractions,
            "jobs have times with fractions of a second, which are cut off",
        ),
        (
            log.waits,
            "jobs whose wait is not known count from their submission",
        ),
    ] {
        if count > 0 {
            summary.notes.push(format!("{count} {why}"));
        }
    }
    Ok(summary)
}

/// Returns true if a line above the first job is a comment of another kind, or a prompt.
fn is_aside(text: &str, summary: &Summary) -> bool {
    summary.jobs + summary.idle == 0 && (text.starts_with('#') || is_prompt(text))
}

/// The state of the reader.
#[derive(Default)]
struct Log<'f> {
    file: &'f str,
    /// Lines read.
    number: usize,
    /// `UnixStartTime`.
    start: Option<i64>,
    requested: u64,
    /// Jobs of which a time has a fraction.
    fractions: u64,
    /// Jobs whose wait is not known.
    waits: u64,
}

impl Log<'_> {
    fn comment(&mut self, comment: &str, summary: &mut Summary) -> Result<(), InputError> {
        let Some((key, value)) = comment.split_once(':') else {
            return Ok(());
        };
        let value = value.trim();
        match key.trim() {
            "UnixStartTime" => {
                let seconds = value.parse::<u32>().ok().map(i64::from);
                if seconds.is_none() || self.start.is_some() && self.start != seconds {
                    let problem = Problem::Value {
                        what: "UnixStartTime".into(),
                        found: value.to_owned(),
                        allowed: "one number of seconds since 1970, up to 4294967295".into(),
                    };
                    return Err(InputError::new(self.file, problem));
                }
                self.start = seconds;
            }
            "Computer" if summary.machine.is_none() => summary.machine = Some(value.to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn job(&mut self, line: &str, summary: &mut Summary, each: Sink<'_>) -> Result<(), InputError> {
        let mut numbers = [0_i64; COLUMNS.len()];
        let mut count = 0;
        let mut fraction = false;
        for word in line.split_whitespace() {
            fraction |= matches!(count, SUBMIT | WAIT | RUN)
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
        let allocated = numbers[ALLOCATED];
        let processors = if allocated > 0 {
            allocated
        } else {
            numbers[REQUESTED]
        };
        if numbers[RUN] <= 0 || processors <= 0 {
            summary.idle += 1;
            return Ok(());
        }
        self.requested += u64::from(allocated <= 0);
        summary.jobs += 1;
        self.fractions += u64::from(fraction);
        self.waits += u64::from(numbers[WAIT] < 0);
        let wait = numbers[WAIT].max(0);
        let start = self.start.unwrap_or(0) + numbers[SUBMIT] + wait;
        let known = |at: usize| (numbers[at] >= 0).then_some(numbers[at]);
        let user = known(USER).map(|number| format!("u{number}"));
        let group = known(GROUP).map(|number| format!("g{number}"));
        each(&JobUse {
            account: group.as_deref(),
            user: user.as_deref(),
            start,
            end: start + numbers[RUN],
            billing: processors as f64,
            by_processors: false,
        });
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
