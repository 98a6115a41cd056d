//! The jobs of a log, filtered for a machine, in order of submission.

use std::collections::HashMap;

use fairtree_model::input::workload::LoggedJob;

use crate::job::Job;

/// Why a job of a log is left out of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It got or asked for more processors than the machine has.
    TooLarge,
    /// It neither got nor asked for a processor.
    NoProcessors,
    /// It did not run for a second, or had not ended.
    NoRun,
    /// It had no time limit, or none is known.
    NoLimit,
    /// The moment of its submission is not known.
    NoSubmission,
}

/// Jobs of a log with something in common: how many, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// The first one; `None` where there are none.
    pub first: Option<Place>,
}

impl Tally {
    fn add(&mut self, job: &LoggedJob<'_>, value: i64) {
        self.count += 1;
        self.first.get_or_insert_with(|| Place {
            line: job.line,
            job: job.id.to_owned(),
            value,
        });
    }
}

/// A job of a log and the value in question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line in the log, from 1.
    pub line: usize,
    /// Number of the job, as the log writes it.
    pub job: String,
    /// The value: processors, or seconds.
    pub value: i64,
}

/// Names of one kind, each once, by number.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The names.
    pub names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// The number of a name; a new one where it is new.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// Who submitted a job and where to, as numbers of names; no name has the number of an empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Number of the job, as the log writes it.
    pub id: String,
    /// In [`Workload::users`].
    pub user: u32,
    /// In [`Workload::accounts`].
    pub account: u32,
    /// In [`Workload::partitions`].
    pub partition: u32,
    /// In [`Workload::qos`].
    pub qos: u32,
}

/// The jobs of a log that a machine can replay, in order of submission; ties by number, then by
/// place in the log.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// Processors of the machine.
    pub processors: u32,
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Their owners, one per job.
    pub owners: Vec<Owner>,
    /// Names of users.
    pub users: Names,
    /// Names of accounts.
    pub accounts: Names,
    /// Names of partitions.
    pub partitions: Names,
    /// Names of QOS.
    pub qos: Names,
    /// Jobs left out, in the order of [`Why`].
    pub left_out: [Tally; 5],
    /// Jobs that ran longer than their limit: they run to it.
    pub cut: Tally,
    /// Jobs that stand in the log after a job that was submitted later.
    pub unsorted: Tally,
    /// Submission of the job before, as long as jobs are added.
    last_submit: Option<i64>,
}

impl Workload {
    /// No jobs yet, for a machine of `processors`.
    pub fn new(processors: u32) -> Workload {
        Workload {
            processors,
            ..Workload::default()
        }
    }

    /// Adds a job of the log, or counts why it is left out.
    pub fn add(&mut self, logged: &LoggedJob<'_>) {
        match self.filtered(logged) {
            Ok(job) => {
                if self.last_submit.is_some_and(|last| job.submit < last) {
                    self.unsorted.add(logged, job.submit);
                }
                self.last_submit = Some(job.submit);
                let name = Option::unwrap_or_default;
                self.owners.push(Owner {
                    id: logged.id.to_owned(),
                    user: self.users.number(name(logged.user)),
                    account: self.accounts.number(name(logged.account)),
                    partition: self.partitions.number(name(logged.partition)),
                    qos: self.qos.number(name(logged.qos)),
                });
                self.jobs.push(job);
            }
            Err((why, value)) => self.left_out[why as usize].add(logged, value),
        }
    }

    /// The job, or why it is left out, with the value in question. The order of these steps is that
    /// in which published schedules were filtered.
    fn filtered(&mut self, logged: &LoggedJob<'_>) -> Result<Job, (Why, i64)> {
        let counts = [logged.requested, logged.allocated];
        let counts = counts.map(|count| count.filter(|count| *count > 0));
        let most = counts.into_iter().flatten().max();
        if let Some(most) = most.filter(|most| *most > u64::from(self.processors)) {
            return Err((Why::TooLarge, i64::try_from(most).unwrap_or(i64::MAX)));
        }
        let [requested, allocated] = counts;
        let processors = requested.or(allocated).ok_or((Why::NoProcessors, 0))?;
        let positive = |secs: Option<i64>| secs.filter(|secs| *secs > 0);
        let unknown = |secs: Option<i64>| secs.unwrap_or(-1);
        let run = positive(logged.run_secs).ok_or((Why::NoRun, unknown(logged.run_secs)))?;
        let limit = positive(logged.limit_secs);
        let limit = limit.ok_or((Why::NoLimit, unknown(logged.limit_secs)))?;
        let submit = logged.submit.ok_or((Why::NoSubmission, -1))?;
        if run > limit {
            self.cut.add(logged, run);
        }
        Ok(Job {
            submit,
            run_secs: run.min(limit),
            limit_secs: limit,
            // No more than the machine has.
            processors: processors as u32,
        })
    }

    /// Sorts the jobs; call it after the last one.
    pub fn sort(&mut self) {
        let number = |id: &str| {
            let digits = id.bytes().take_while(u8::is_ascii_digit).count();
            id[..digits].parse::<u64>().unwrap_or(u64::MAX)
        };
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        order.sort_by_cached_key(|&at| (self.jobs[at].submit, number(&self.owners[at].id)));
        self.jobs = order.iter().map(|&at| self.jobs[at]).collect();
        let mut owners: Vec<Option<Owner>> = self.owners.drain(..).map(Some).collect();
        let taken = order.iter().filter_map(|&at| owners[at].take());
        self.owners = taken.collect();
    }
}
