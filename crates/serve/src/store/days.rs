//! Waits and owed core-hours of each day, which stay when the days are older than the jobs that sacct lists.

use fairtree_analysis::past::{DayOfOwed, DayOfWaits};
use rusqlite::params;

use super::{Store, StoreError};

/// At most this many days are read, the latest ones.
const DAYS: u32 = 400;

/// Whose days.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// All jobs.
    Site,
    /// The jobs of an account and of the accounts below it.
    Account(String),
    /// The jobs of a user, in all accounts.
    User(String),
}

impl Group {
    /// Kind and name, as the table has them.
    fn words(&self) -> (&str, &str) {
        match self {
            Group::Site => ("site", ""),
            Group::Account(name) => ("account", name),
            Group::User(name) => ("user", name),
        }
    }
}

/// What is kept of a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Day {
    /// When it begins in UTC, seconds since 1970.
    pub day: i64,
    /// Waits of the jobs that started; `None`: none did.
    pub waits: Option<DayOfWaits>,
    /// Core-hours owed; `None`: not known.
    pub owed: Option<DayOfOwed>,
}

impl Store {
    /// Keeps days of groups; a day that is kept already is replaced.
    ///
    /// # Errors
    /// [`StoreError`]; then none of them is kept.
    pub fn keep_days<'a>(
        &self,
        of: impl Iterator<Item = (&'a Group, Day)>,
    ) -> Result<(), StoreError> {
        let mut held = self.held();
        let change = held.transaction()?;
        {
            let mut keep = change.prepare(
                "INSERT OR REPLACE INTO day \
                 (kind, name, day, started_jobs, median_wait, p95_wait, owed_core_hours) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for (group, day) in of {
                let (kind, name) = group.words();
                keep.execute(params![
                    kind,
                    name,
                    day.day,
                    day.waits
                        .map_or(0, |waits| i64::try_from(waits.started_jobs)
                            .unwrap_or(i64::MAX)),
                    day.waits.map(|waits| waits.median_wait_seconds),
                    day.waits.map(|waits| waits.p95_wait_seconds),
                    day.owed.map(|owed| owed.owed_core_hours),
                ])?;
            }
        }
        change.commit()?;
        Ok(())
    }

    /// The days of a group before a moment, in order: the latest 400 of them.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn days(&self, group: &Group, before: i64) -> Result<Vec<Day>, StoreError> {
        let (kind, name) = group.words();
        let mut days = self.read(|held| {
            let mut rows = held.prepare(
                "SELECT day, started_jobs, median_wait, p95_wait, owed_core_hours FROM day \
                 WHERE kind = ?1 AND name = ?2 AND day < ?3 ORDER BY day DESC LIMIT ?4",
            )?;
            let days = rows.query_map(params![kind, name, before, DAYS], |row| {
                let day = row.get(0)?;
                let quantiles: (Option<f64>, Option<f64>) = (row.get(2)?, row.get(3)?);
                let started_jobs = u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
                let waits = quantiles
                    .0
                    .zip(quantiles.1)
                    .map(|(median, p95)| DayOfWaits {
                        day,
                        started_jobs,
                        median_wait_seconds: median,
                        p95_wait_seconds: p95,
                    });
                let owed = row.get::<_, Option<f64>>(4)?;
                let owed = owed.map(|owed_core_hours| DayOfOwed {
                    day,
                    owed_core_hours,
                });
                Ok(Day { day, waits, owed })
            })?;
            Ok(days.collect::<Result<Vec<_>, _>>()?)
        })?;
        days.reverse();
        Ok(days)
    }
}
