//! The report of a replay.

use std::collections::BTreeMap;

use serde::Serialize;

use super::owed::owed_core_secs;
use super::quantile::quantile;
use super::replayed::Replayed;
use fairtree_sim::workload::{Names, Owner, Why, Workload};

/// The run time below which a job counts as one of this many seconds in a bounded slowdown.
const SHORT_SECS: i64 = 10;

/// What a machine did with the jobs of a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The scheduler: `easy`, `fcfs`, `conservative`, `slurm`.
    pub scheduler: &'static str,
    /// The order in which jobs wait.
    pub order: &'static str,
    /// Processors of the machine.
    pub processors: u32,
    /// False where it was stopped before its end: figures are of the jobs that had started by then.
    pub complete: bool,
    /// The moment at which the replay was stopped, seconds since 1970; `None`: all jobs started.
    pub stopped_at: Option<i64>,
    /// Seconds from the first submission to the last end.
    pub span_seconds: i64,
    /// Figures of all jobs.
    #[serde(flatten)]
    pub all: Sums,
    /// Core-hours owed to all accounts.
    pub owed_core_hours: f64,
    /// Jobs whose fair start was computed: all that waited, or an even sample.
    pub fair_starts: usize,
    /// By account.
    pub accounts: Vec<Group>,
    /// By user.
    pub users: Vec<Group>,
    /// By partition; empty where the log has none.
    pub partitions: Vec<Group>,
    /// By QOS; empty where the log has none.
    pub qos: Vec<Group>,
    /// By processors.
    pub sizes: Vec<Group>,
    /// What is not replayed.
    pub left_out: LeftOut,
}

/// Figures of some jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sums {
    /// Jobs that started.
    pub jobs: u64,
    /// Mean wait, seconds.
    pub mean_wait_seconds: f64,
    /// Median wait, seconds.
    pub median_wait_seconds: f64,
    /// 95 % of the jobs waited no longer than this, seconds.
    pub p95_wait_seconds: f64,
    /// 95 % of the jobs had no larger bounded slowdown: (wait + run) / max(run, 10 s), at least 1.
    pub p95_bounded_slowdown: f64,
    /// What they used.
    pub core_hours: f64,
    /// The part of the machine that they used from the first submission to the last end, 0 to 1.
    pub utilisation: f64,
    /// Who was made to wait by later jobs.
    #[serde(flatten)]
    pub delayed: Delayed,
}

/// Jobs that started later than if no job had come after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Delayed {
    /// Their part of the jobs, 0 to 1; `None` where the fair start of no job that waited is known.
    pub unfairly_delayed: Option<f64>,
    /// How much later, on the average of these jobs, seconds; `None` where there are none.
    pub mean_unfair_delay_seconds: Option<f64>,
}

/// Figures of the jobs of an account, a user, a partition, a QOS or a size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The name; empty where the log has none.
    pub name: String,
    /// The figures.
    #[serde(flatten)]
    pub sums: Sums,
    /// What the group was entitled to and asked for, and did not get; `None` for groups that are
    /// not entitled to anything.
    pub owed_core_hours: Option<f64>,
}

/// Jobs of the log that are not replayed, and jobs that are replayed otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// More processors than the machine has.
    pub too_large: u64,
    /// No processors.
    pub no_processors: u64,
    /// Did not run for a second, or had not ended.
    pub no_run: u64,
    /// Never started.
    pub never_started: u64,
    /// No time limit.
    pub no_limit: u64,
    /// No submission.
    pub no_submission: u64,
    /// Records that could not be read.
    pub unreadable: u64,
    /// Jobs whose run is cut to their time limit.
    pub cut: u64,
    /// Jobs that stand in the log after one that was submitted later.
    pub unsorted: u64,
}

impl LeftOut {
    /// Counts of a log: `never_started` and `unreadable` are those of its reader.
    pub fn of(workload: &Workload, never_started: u64, unreadable: u64) -> LeftOut {
        let of = |why: Why| workload.left_out[why as usize].count;
        LeftOut {
            too_large: of(Why::TooLarge),
            no_processors: of(Why::NoProcessors),
            no_run: of(Why::NoRun),
            never_started,
            no_limit: of(Why::NoLimit),
            no_submission: of(Why::NoSubmission),
            unreadable,
            cut: workload.cut.count,
            unsorted: workload.unsorted.count,
        }
    }

    /// Jobs that are not replayed.
    pub fn jobs(&self) -> u64 {
        self.too_large
            + self.no_processors
            + self.no_run
            + self.never_started
            + self.no_limit
            + self.no_submission
            + self.unreadable
    }
}

/// By what jobs are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// Account.
    Account,
    /// User.
    User,
    /// Partition.
    Partition,
    /// QOS.
    Qos,
    /// Processors.
    Size,
}

/// A job that started.
#[derive(Clone, Copy, Debug)]
struct Started {
    at: usize,
    wait: i64,
    run: i64,
    core_secs: i128,
}

impl Report {
    /// The report of a replay. `entitled` is the part of the machine that each account is entitled
    /// to, 0 to 1, by number of its name; users of an account have equal parts of it.
    pub fn new(
        workload: &Workload,
        replayed: &Replayed,
        entitled: &[f64],
        left_out: LeftOut,
    ) -> Report {
        let schedule = &replayed.schedule;
        let until = schedule.stopped_at;
        let both = workload.jobs.iter().zip(&schedule.starts).enumerate();
        let started = both.filter_map(|(at, (job, start))| {
            let start = (*start)?;
            let run = until.map_or(job.run_secs, |until| job.run_secs.min(until - start));
            Some(Started {
                at,
                wait: start - job.submit,
                run,
                core_secs: i128::from(run) * i128::from(job.processors),
            })
        });
        let started: Vec<Started> = started.collect();
        let first = workload.jobs.first().map_or(0, |job| job.submit);
        let end = |job: &Started| workload.jobs[job.at].submit + job.wait + job.run;
        let last = started.iter().map(end).max().unwrap_or(first);
        let last = until.unwrap_or(last);
        let scene = Scene {
            workload,
            replayed,
            started: &started,
            capacity: f64::from(workload.processors) * (last - first) as f64,
        };
        let machine = f64::from(workload.processors);
        let accounts: Vec<f64> = entitled.iter().map(|part| part * machine).collect();
        let users = users_entitled(workload, &accounts);
        let owed = |of: fn(&Owner) -> u32, entitled: &[f64]| {
            let group = |at: usize| of(&workload.owners[at]);
            owed_core_secs(&workload.jobs, &schedule.starts, group, entitled, last)
        };
        let account_owed = owed(|owner| owner.account, &accounts);
        let user_owed = owed(|owner| owner.user, &users);
        let group = |of: fn(&Owner) -> u32, names: &Names, owed: Option<&[f64]>| {
            scene.groups(|at| of(&workload.owners[at]), &names.names, owed)
        };
        let sizes: Vec<String> = (0..=16).map(size_name).collect();
        Report {
            scheduler: replayed.scheduler,
            order: replayed.order,
            processors: workload.processors,
            complete: replayed.is_complete,
            stopped_at: until,
            span_seconds: last - first,
            all: scene.sums(&started),
            owed_core_hours: account_owed.iter().sum::<f64>() / 3600.0,
            fair_starts: replayed.fair_starts.len(),
            accounts: group(
                |owner| owner.account,
                &workload.accounts,
                Some(&account_owed),
            ),
            users: group(|owner| owner.user, &workload.users, Some(&user_owed)),
            partitions: group(|owner| owner.partition, &workload.partitions, None),
            qos: group(|owner| owner.qos, &workload.qos, None),
            sizes: scene.groups(|at| size(workload.jobs[at].processors), &sizes, None),
            left_out,
        }
    }

    /// The groups by `by`.
    pub fn groups(&self, by: By) -> &[Group] {
        match by {
            By::Account => &self.accounts,
            By::User => &self.users,
            By::Partition => &self.partitions,
            By::Qos => &self.qos,
            By::Size => &self.sizes,
        }
    }
}

/// Class of a number of processors: 1, 2 to 4, 5 to 16, 17 to 64 and so on.
fn size(processors: u32) -> u32 {
    (processors.max(1) - 1)
        .checked_ilog2()
        .map_or(0, |log| log / 2 + 1)
}

fn size_name(class: u32) -> String {
    match class {
        0 => "1".to_owned(),
        class => format!(
            "{}-{}",
            (1_u64 << (2 * class - 2)) + 1,
            1_u64 << (2 * class)
        ),
    }
}

/// Processors that each user is entitled to: equal parts of those of each of the user's accounts.
fn users_entitled(workload: &Workload, accounts: &[f64]) -> Vec<f64> {
    let mut pairs: Vec<(u32, u32)> = workload
        .owners
        .iter()
        .map(|owner| (owner.account, owner.user))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut users = vec![0.0; workload.users.names.len()];
    for of_one in pairs.chunk_by(|a, b| a.0 == b.0) {
        for (account, user) in of_one {
            users[*user as usize] += accounts[*account as usize] / of_one.len() as f64;
        }
    }
    users
}

/// What figures are computed from.
struct Scene<'a> {
    workload: &'a Workload,
    replayed: &'a Replayed,
    started: &'a [Started],
    /// Processor-seconds of the machine.
    capacity: f64,
}

impl Scene<'_> {
    fn groups(
        &self,
        of: impl Fn(usize) -> u32,
        names: &[String],
        owed: Option<&[f64]>,
    ) -> Vec<Group> {
        let mut parts: BTreeMap<u32, Vec<Started>> = BTreeMap::new();
        for job in self.started {
            parts.entry(of(job.at)).or_default().push(*job);
        }
        // A log without a name of this kind has no groups of it.
        if names.iter().all(String::is_empty) {
            return Vec::new();
        }
        let mut groups: Vec<Group> = parts
            .into_iter()
            .map(|(number, jobs)| Group {
                name: names[number as usize].clone(),
                sums: self.sums(&jobs),
                owed_core_hours: owed.map(|owed| owed[number as usize] / 3600.0),
            })
            .collect();
        groups.sort_by(|a, b| a.name.cmp(&b.name));
        groups
    }

    fn sums(&self, jobs: &[Started]) -> Sums {
        let count = jobs.len() as f64;
        let waits = sorted(jobs, |job| job.wait as f64);
        let slowdowns = sorted(jobs, |job| {
            let whole = (job.wait + job.run) as f64;
            (whole / job.run.max(SHORT_SECS) as f64).max(1.0)
        });
        let core_secs = jobs.iter().map(|job| job.core_secs).sum::<i128>() as f64;
        // No jobs, and an empty sum is -0.
        let mean = if jobs.is_empty() {
            0.0
        } else {
            waits.iter().sum::<f64>() / count
        };
        Sums {
            jobs: jobs.len() as u64,
            mean_wait_seconds: mean,
            median_wait_seconds: quantile(&waits, 0.5).unwrap_or(0.0),
            p95_wait_seconds: quantile(&waits, 0.95).unwrap_or(0.0),
            p95_bounded_slowdown: quantile(&slowdowns, 0.95).unwrap_or(1.0),
            core_hours: core_secs / 3600.0,
            utilisation: if self.capacity > 0.0 {
                core_secs / self.capacity
            } else {
                0.0
            },
            delayed: self.delayed(jobs),
        }
    }

    /// Of a sample of the jobs that waited; those that did not wait are not delayed.
    fn delayed(&self, jobs: &[Started]) -> Delayed {
        let waited = jobs.iter().filter(|job| job.wait > 0);
        let (mut waited_count, mut known, mut late, mut delay) = (0_u64, 0_u64, 0_u64, 0_i64);
        for job in waited {
            waited_count += 1;
            let sample = &self.replayed.fair_starts;
            let Ok(place) = sample.binary_search_by_key(&(job.at as u32), |(job, _)| *job) else {
                continue;
            };
            known += 1;
            let start = self.workload.jobs[job.at].submit + job.wait;
            let later = start - sample[place].1;
            late += u64::from(later > 0);
            delay += later.max(0);
        }
        let part =
            |known: u64| late as f64 / known as f64 * waited_count as f64 / jobs.len() as f64;
        Delayed {
            unfairly_delayed: match (waited_count, known) {
                (0, _) => Some(0.0),
                (_, 0) => None,
                (_, known) => Some(part(known)),
            },
            mean_unfair_delay_seconds: (late > 0).then(|| delay as f64 / late as f64),
        }
    }
}

fn sorted(jobs: &[Started], of: impl Fn(&Started) -> f64) -> Vec<f64> {
    let mut values: Vec<f64> = jobs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: four times as many in each class.
    #[test]
    fn sizes_are_in_classes() {
        for (processors, name) in [
            (1, "1"),
            (2, "2-4"),
            (4, "2-4"),
            (5, "5-16"),
            (16, "5-16"),
            (17, "17-64"),
            (65, "65-256"),
            (1 << 30, "268435457-1073741824"),
        ] {
            assert_eq!(size_name(size(processors)), name);
        }
    }

    #[test]
    fn users_have_equal_parts_of_their_accounts() {
        let mut workload = Workload::new(8);
        for (user, account) in [(0, 0), (1, 0), (1, 1), (1, 1)] {
            for name in ["u", "v"] {
                workload.users.number(name);
            }
            workload.owners.push(Owner {
                id: String::new(),
                user,
                account,
                partition: 0,
                qos: 0,
            });
        }
        // Half of account 0's six, and all of account 1's two.
        assert_eq!(users_entitled(&workload, &[6.0, 2.0]), [3.0, 5.0]);
    }
}
