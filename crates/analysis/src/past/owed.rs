//! Core-hours that accounts and users were owed, by day.

use std::collections::BTreeMap;

use fairtree_model::input::recorded::RecordedJob;
use fairtree_sim::job::Job;
use serde::Serialize;

use super::{DAY_SECS, Names};
use crate::simulate::owed_core_secs_by;

/// Core-hours owed to each account and each user.
#[derive(Clone, Debug, Default)]
pub struct PastOwed {
    /// The days, each by the moment at which it begins.
    days: Vec<i64>,
    /// To accounts.
    pub accounts: Vec<Owed>,
    /// To users, over all their accounts.
    pub users: Vec<Owed>,
}

/// Core-hours owed to an account or a user.
#[derive(Clone, Debug)]
pub struct Owed {
    /// Its name; empty for jobs without one.
    pub name: String,
    /// Core-hours on each day.
    core_hours: Vec<f64>,
}

/// Core-hours owed on one day.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DayOfOwed {
    /// When the day begins in UTC, seconds since 1970.
    pub day: i64,
    /// Core-hours.
    pub owed_core_hours: f64,
}

/// A job, its account and its user as positions among the names.
struct Wanted {
    job: Job,
    start: Option<i64>,
    account: u32,
    user: u32,
}

impl PastOwed {
    /// Core-hours owed on the days from `from` (the begin of a day) to `until`; the last one may be a part of a day.
    ///
    /// `cpus`: those of all nodes. `part`: the part of them to which an account is entitled, 0 to 1; users of an account
    /// have equal parts of it. A job asks for its processors from when it is eligible. Jobs that ended without a start are
    /// left out, also those that were never eligible.
    pub fn of(
        jobs: &[RecordedJob],
        from: i64,
        until: i64,
        cpus: u32,
        part: impl Fn(&str) -> f64,
    ) -> PastOwed {
        let (mut accounts, mut users) = (Names::new(), Names::new());
        let wanted = jobs.iter().filter_map(|job| {
            let secs = |ms: i64| ms.div_euclid(1000);
            let start = job.start_ms.map(secs);
            let eligible = match (start, job.end_ms, job.eligible_ms) {
                (Some(_), ..) => job.eligible_ms.unwrap_or(job.submit_ms),
                (None, None, Some(eligible)) => eligible,
                (None, ..) => return None,
            };
            let submit = secs(eligible).min(start.unwrap_or(i64::MAX));
            let run_secs = start.map_or(0, |start| job.end_ms.map_or(until, secs) - start);
            Some(Wanted {
                job: Job {
                    submit,
                    run_secs: run_secs.max(0),
                    limit_secs: run_secs.max(0),
                    processors: job.allocated_cpus.max(job.request.cpus()),
                },
                start,
                account: accounts.position(job.request.account.as_deref().unwrap_or("")),
                user: users.position(job.request.user.as_deref().unwrap_or("")),
            })
        });
        let wanted: Vec<Wanted> = wanted.collect();
        let machine = f64::from(cpus);
        let entitled: Vec<f64> = accounts
            .names
            .iter()
            .map(|name| part(name) * machine)
            .collect();
        let mut pairs: Vec<(u32, u32)> = wanted.iter().map(|job| (job.account, job.user)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut of_users = vec![0.0; users.names.len()];
        for of_one in pairs.chunk_by(|a, b| a.0 == b.0) {
            for (account, user) in of_one {
                of_users[*user as usize] += entitled[*account as usize] / of_one.len() as f64;
            }
        }
        let days: Vec<i64> = (from..until).step_by(DAY_SECS as usize).collect();
        let moments: Vec<i64> = days.iter().copied().chain([until]).collect();
        let starts: Vec<Option<i64>> = wanted.iter().map(|job| job.start).collect();
        let asked: Vec<Job> = wanted.iter().map(|job| job.job).collect();
        let owed = |names: Names<&str>, of: fn(&Wanted) -> u32, entitled: &[f64]| {
            let group = |at: usize| of(&wanted[at]);
            let sums = owed_core_secs_by(&asked, &starts, group, entitled, &moments);
            let each = names.names.into_iter().zip(sums).map(|(name, sums)| Owed {
                name: name.to_owned(),
                core_hours: sums
                    .windows(2)
                    .map(|two| (two[1] - two[0]) / 3600.0)
                    .collect(),
            });
            each.collect()
        };
        PastOwed {
            accounts: owed(accounts, |job| job.account, &entitled),
            users: owed(users, |job| job.user, &of_users),
            days,
        }
    }

    /// Core-hours owed by day to groups of `accounts` or `users`, which may overlap; `groups`: those of a name.
    pub fn by_day_of(
        &self,
        of: &[Owed],
        mut groups: impl FnMut(&str) -> Vec<u32>,
    ) -> BTreeMap<u32, Vec<DayOfOwed>> {
        let mut members: BTreeMap<u32, Vec<&Owed>> = BTreeMap::new();
        for one in of {
            for group in groups(&one.name) {
                members.entry(group).or_default().push(one);
            }
        }
        let days = members.into_iter();
        days.map(|(group, of)| (group, self.by_day(of.into_iter())))
            .collect()
    }

    /// Core-hours owed by day to some of `accounts` or `users` together.
    pub fn by_day<'a>(&self, to: impl Iterator<Item = &'a Owed>) -> Vec<DayOfOwed> {
        let mut sums = vec![0.0; self.days.len()];
        for one in to {
            for (sum, hours) in sums.iter_mut().zip(&one.core_hours) {
                *sum += hours;
            }
        }
        let days = self.days.iter().zip(sums);
        days.map(|(day, owed_core_hours)| DayOfOwed {
            day: *day,
            owed_core_hours,
        })
        .collect()
    }
}
