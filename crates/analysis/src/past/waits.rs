//! Waits of jobs that started, by day.

use std::collections::BTreeMap;

use fairtree_model::input::recorded::RecordedJob;
use serde::Serialize;

use super::{DAY_SECS, Names};
use crate::simulate::quantile;

/// Jobs that started, of all accounts and users.
#[derive(Clone, Debug, Default)]
pub struct PastStarts {
    /// Account and user; empty where the record has none.
    owners: Vec<(String, String)>,
    /// In order of day, then of wait.
    starts: Vec<Started>,
}

/// A job that started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Started {
    /// Days since 1970.
    day: i32,
    wait_secs: u32,
    /// Position among the owners.
    owner: u32,
}

/// Waits of the jobs that started on one day.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DayOfWaits {
    /// When the day begins in UTC, seconds since 1970.
    pub day: i64,
    /// Jobs that started; at least one.
    pub started_jobs: u64,
    /// Median of their waits, seconds.
    pub median_wait_seconds: f64,
    /// 95 % of them waited no longer, seconds.
    pub p95_wait_seconds: f64,
}

impl PastStarts {
    /// The starts in `from..until` (seconds since 1970) among recorded jobs. A job waits from when it is eligible;
    /// one without that moment from its submission.
    pub fn of(jobs: &[RecordedJob], from: i64, until: i64) -> PastStarts {
        let mut owners = Names::new();
        let mut starts = Vec::new();
        for job in jobs {
            let Some(start_ms) = job.start_ms else {
                continue;
            };
            let start = start_ms.div_euclid(1000);
            if start < from || start >= until {
                continue;
            }
            let eligible = job.eligible_ms.unwrap_or(job.submit_ms).div_euclid(1000);
            let account = job.request.account.as_deref().unwrap_or("");
            let user = job.request.user.as_deref().unwrap_or("");
            starts.push(Started {
                day: i32::try_from(start.div_euclid(DAY_SECS)).unwrap_or(i32::MAX),
                wait_secs: u32::try_from((start - eligible).max(0)).unwrap_or(u32::MAX),
                owner: owners.position((account, user)),
            });
        }
        starts.sort_unstable();
        let owned = |(account, user): (&str, &str)| (account.to_owned(), user.to_owned());
        PastStarts {
            owners: owners.names.into_iter().map(owned).collect(),
            starts,
        }
    }

    /// Waits by day of the jobs of some accounts and users; days on which none of these started are absent.
    pub fn by_day(&self, is_of: impl Fn(&str, &str) -> bool) -> Vec<DayOfWaits> {
        let only = |account: &str, user: &str| vec![0; usize::from(is_of(account, user))];
        self.by_day_of(only).remove(&0).unwrap_or_default()
    }

    /// Waits by day of groups of jobs, which may overlap; `groups`: those of the jobs of an account and a user. Days on
    /// which none of a group started are absent.
    pub fn by_day_of(
        &self,
        mut groups: impl FnMut(&str, &str) -> Vec<u32>,
    ) -> BTreeMap<u32, Vec<DayOfWaits>> {
        let owners = self.owners.iter();
        let of: Vec<Vec<u32>> = owners
            .map(|(account, user)| groups(account, user))
            .collect();
        let mut days: BTreeMap<u32, Vec<DayOfWaits>> = BTreeMap::new();
        for of_day in self.starts.chunk_by(|a, b| a.day == b.day) {
            let mut waits: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for start in of_day {
                for group in &of[start.owner as usize] {
                    let of_group = waits.entry(*group).or_default();
                    of_group.push(f64::from(start.wait_secs));
                }
            }
            for (group, waits) in waits {
                let day = DayOfWaits::of(of_day[0].day, &waits);
                days.entry(group).or_default().extend(day);
            }
        }
        days
    }
}

impl DayOfWaits {
    /// Waits in ascending order, on a day since 1970; `None` without any.
    fn of(day: i32, waits: &[f64]) -> Option<DayOfWaits> {
        let both = quantile(waits, 0.5).zip(quantile(waits, 0.95));
        both.map(|(median, p95)| DayOfWaits {
            day: i64::from(day) * DAY_SECS,
            started_jobs: waits.len() as u64,
            median_wait_seconds: median,
            p95_wait_seconds: p95,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use fairtree_model::input::recorded::past;

    use super::*;

    /// 2024-10-04, in days since 1970.
    const FIRST: i64 = 20_000;

    /// Account, user, eligible and start, both in seconds after the first day began.
    fn jobs(of: &[(&str, &str, i64, Option<i64>)]) -> Vec<RecordedJob> {
        let mut text =
            "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|\
                        TimelimitRaw|ReqCPUS|ReqTRES|AllocCPUS|AllocTRES|NodeList\n"
                .to_owned();
        let moment = |secs: i64| {
            let text = jiff::Timestamp::from_second(FIRST * DAY_SECS + secs)
                .unwrap()
                .to_string();
            text.trim_end_matches('Z').to_owned()
        };
        for (at, (account, user, eligible, start)) in of.iter().enumerate() {
            let (id, eligible) = (at + 1, moment(*eligible));
            let (state, start, end) = match start {
                Some(start) => ("COMPLETED", moment(*start), moment(start + 60)),
                None => ("PENDING", "Unknown".to_owned(), "Unknown".to_owned()),
            };
            let tres = "billing=1,cpu=1,node=1";
            writeln!(
                text,
                "{id}|{id}|{user}|{account}|main|normal|{state}|2024-10-01T00:00:00|{eligible}|{start}|{end}|60|60|1|\
                 {tres}|1|{tres}|n0"
            )
            .unwrap();
        }
        past::read("f", text.as_bytes()).unwrap().jobs
    }

    // By hand. First day: waits of 10, 20, 80 and 80 s, whose median is 50, and whose p95 is at rank 0.95 * 3 = 2.85,
    // between 80 and 80. Second day: one job, which is eligible on the day before.
    #[test]
    fn waits_count_on_the_day_of_the_start() {
        let jobs = jobs(&[
            ("a", "u", 0, Some(20)),
            ("a", "v", 0, Some(10)),
            ("b", "u", 100, Some(180)),
            ("b", "v", 100, Some(180)),
            ("a", "u", 86_000, Some(86_400)),
            // Does not start, starts before the span, starts after it.
            ("a", "u", 0, None),
            ("a", "u", -200, Some(-100)),
            ("a", "u", 0, Some(172_800)),
        ]);
        let past = PastStarts::of(&jobs, FIRST * DAY_SECS, (FIRST + 2) * DAY_SECS);
        let day = |day: i64, jobs, median, p95| DayOfWaits {
            day: (FIRST + day) * DAY_SECS,
            started_jobs: jobs,
            median_wait_seconds: median,
            p95_wait_seconds: p95,
        };
        assert_eq!(
            past.by_day(|_, _| true),
            [day(0, 4, 50.0, 80.0), day(1, 1, 400.0, 400.0)]
        );
        assert_eq!(
            past.by_day(|account, user| (account, user) == ("b", "u")),
            [day(0, 1, 80.0, 80.0)]
        );
        assert_eq!(past.by_day(|_, user| user == "x"), []);
        // Group 0 has all, 1 those of b, 2 nobody.
        let groups = past.by_day_of(|account, _| match account {
            "b" => vec![0, 1],
            _ => vec![0],
        });
        assert_eq!(groups[&0], [day(0, 4, 50.0, 80.0), day(1, 1, 400.0, 400.0)]);
        assert_eq!(groups[&1], [day(0, 2, 80.0, 80.0)]);
        assert_eq!(groups.len(), 2);
    }
}
