//! A run of a job, from the cells of its record.

use std::io::BufRead;

use super::header::MORE;
use super::records::Records;
use super::{Detail, Totals};
use crate::input::error::InputError;
use crate::input::slurm::count;
use crate::input::slurm::time::{moment, span};
use crate::input::workload::{JobUse, LoggedJob};

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
    /// The other facts that a replay needs; the default unless [`read_jobs`](super::read_jobs) reads.
    pub(super) asked: Asked<'a>,
    /// Cells of [`MORE`]; the default unless [`read_requests`](super::read_requests) reads.
    pub(super) more: [Option<&'a str>; MORE.len()],
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

/// Request of a job, and its allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Asked<'a> {
    pub(super) line: usize,
    pub(super) qos: Option<&'a str>,
    pub(super) submit: Option<i64>,
    pub(super) limit_secs: Option<i64>,
    pub(super) allocated: Option<u64>,
    pub(super) requested: Option<u64>,
    pub(super) end: Option<i64>,
}

/// The job of a record, as a replay needs it.
pub(super) fn logged<'a>(run: &RunRecord<'a>) -> LoggedJob<'a> {
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

impl<R: BufRead> Records<'_, R> {
    /// The record; `used` is without names.
    pub(super) fn record<'s>(
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
    pub(super) fn billing(
        &self,
        cells: &[&str],
        totals: &mut Totals,
    ) -> Result<Billing, InputError> {
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
pub(super) struct Billing {
    pub(super) count: u64,
    /// They are processors: there is no billing.
    pub(super) by_processors: bool,
}

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
