//! Share, use and factor of associations over time: of accounts for ever, of users as long as settings say, one
//! picture an hour. What was before the first picture is computed once from the jobs that sacct lists.

use fairtree::tree::AssocIndex;
use fairtree_analysis::history::Course;
use fairtree_analysis::past::DAY_SECS;
use fairtree_model::cluster::AssocName;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Store, StoreError};
use crate::picture::Picture;

/// At most one picture in this time is kept, seconds.
const EVERY_SECS: i64 = 3600;

/// The statements that keep an association, and that find it.
const ADD_ASSOC: &str =
    "INSERT OR IGNORE INTO assoc (account, user, partition) VALUES (?1, ?2, ?3)";
const FIND_ASSOC: &str = "SELECT id FROM assoc WHERE account = ?1 AND user = ?2 AND partition = ?3";

/// At most this many moments are drawn, evenly chosen: a chart is 290 px wide.
const POINTS: usize = 145;

/// The course of an association.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// Its numbers.
    pub course: Course,
    /// Their moments, seconds since 1970, ascending.
    pub times: Vec<i64>,
    /// The first moment that is of a picture; `None`: all were computed from jobs.
    pub recorded_from: Option<i64>,
    /// The first moment that was computed from the jobs that sacct listed; `None`: no moment was.
    pub computed_from: Option<i64>,
}

/// An association at a moment before the first picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Earlier {
    /// Position of the association in a list of names.
    pub at: usize,
    /// Seconds since 1970.
    pub time: i64,
    /// Normalised shares.
    pub norm_shares: f64,
    /// Effective usage.
    pub effective_usage: f64,
    /// Raw usage, TRES-seconds.
    pub used: f64,
    /// Fair-share factor.
    pub fs_factor: Option<f64>,
}

impl Store {
    /// Keeps shares, use and factors of a picture, unless one of the same hour is kept: of all accounts, and of
    /// users with usage. Of users older than `days` only the last picture of each day stays.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn keep_course(&self, picture: &Picture, days: u32) -> Result<(), StoreError> {
        let time = picture.time();
        let mut held = self.held();
        let change = held.transaction()?;
        let last: Option<i64> =
            change.query_row("SELECT max(time) FROM course", [], |row| row.get(0))?;
        if last.is_some_and(|last| last.div_euclid(EVERY_SECS) >= time.div_euclid(EVERY_SECS)) {
            return Ok(());
        }
        {
            let mut add = change.prepare(ADD_ASSOC)?;
            let mut keep = change.prepare(
                "INSERT INTO course (assoc, time, norm_shares, effective_usage, used, fs_factor) \
                 SELECT id, ?4, ?5, ?6, ?7, ?8 FROM assoc WHERE account = ?1 AND user = ?2 AND partition = ?3",
            )?;
            let cluster = &picture.cluster;
            for (at, row) in picture.report.rows.iter().enumerate() {
                let used = picture.standing(at).used;
                if cluster.is_user(AssocIndex::new(at)) && used <= 0.0 {
                    continue;
                }
                let [account, user, partition] = words(&cluster.names[at]);
                add.execute([account, user, partition])?;
                keep.execute(params![
                    account,
                    user,
                    partition,
                    time,
                    row.norm_shares.value(),
                    row.effective_usage.value(),
                    used,
                    row.fs_factor.value()
                ])?;
            }
        }
        let old = time - i64::from(days) * DAY_SECS;
        change.execute(
            "DELETE FROM course WHERE time < ?1 AND time >= ?2 \
             AND assoc IN (SELECT id FROM assoc WHERE user != '') \
             AND EXISTS (SELECT 1 FROM course AS later WHERE later.assoc = course.assoc \
             AND later.time > course.time AND later.time / ?3 = course.time / ?3)",
            // What is older was thinned out before.
            params![old, old - 3 * DAY_SECS, DAY_SECS],
        )?;
        change.commit()?;
        Ok(())
    }

    /// The moment before which courses are not known and may be computed from jobs: the first picture, or `now`
    /// where none is kept. `None`: they were computed already.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn unknown_before(&self, now: i64) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT time, from_sacct FROM course ORDER BY time LIMIT 1";
        let first = self.held().query_row(sql, [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?))
        });
        Ok(match first.optional()? {
            None => Some(now),
            Some((_, true)) => None,
            Some((time, false)) => Some(time),
        })
    }

    /// Keeps what was computed from jobs; `names`: those of the associations. In order of association and time it is
    /// kept fastest.
    ///
    /// # Errors
    /// [`StoreError`]; then none of it is kept.
    pub fn keep_earlier(&self, names: &[AssocName], of: &[Earlier]) -> Result<(), StoreError> {
        let mut held = self.held();
        let change = held.transaction()?;
        {
            let mut add = change.prepare(ADD_ASSOC)?;
            let mut find = change.prepare(FIND_ASSOC)?;
            let mut keep = change.prepare(
                "INSERT OR IGNORE INTO course \
                 (assoc, time, norm_shares, effective_usage, used, fs_factor, from_sacct) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1)",
            )?;
            for of_one in of.chunk_by(|a, b| a.at == b.at) {
                let name = words(&names[of_one[0].at]);
                add.execute(name)?;
                let id: i64 = find.query_row(name, |row| row.get(0))?;
                for one in of_one {
                    keep.execute(params![
                        id,
                        one.time,
                        one.norm_shares,
                        one.effective_usage,
                        one.used,
                        one.fs_factor
                    ])?;
                }
            }
        }
        change.commit()?;
        Ok(())
    }

    /// The course of an association; `None`: it has no two moments.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn course(&self, name: &AssocName) -> Result<Option<Over>, StoreError> {
        let points = self.read(|held| points(held, name))?;
        if points.len() < 2 {
            return Ok(None);
        }
        let first = |from_sacct: bool| {
            let is = |point: &&Point| point.from_sacct == from_sacct;
            points.iter().find(is).map(|point| point.time)
        };
        let mut over = Over {
            course: Course::default(),
            times: Vec::new(),
            recorded_from: first(false),
            computed_from: first(true),
        };
        let step = points.len().div_ceil(POINTS);
        // The last one is always there.
        let chosen = points.iter().rev().step_by(step).collect::<Vec<_>>();
        for point in chosen.into_iter().rev() {
            let [share, usage, factor] = point.numbers;
            over.times.push(point.time);
            over.course.norm_shares.push(share);
            over.course.effective_usage.push(usage);
            over.course.fs_factor.push(factor);
        }
        Ok(Some(over))
    }
}

/// An association at a moment.
struct Point {
    time: i64,
    /// Share, use and factor.
    numbers: [Option<f64>; 3],
    from_sacct: bool,
}

/// The moments of an association, in order.
fn points(held: &Connection, name: &AssocName) -> Result<Vec<Point>, StoreError> {
    let mut rows = held.prepare(
        "SELECT time, norm_shares, effective_usage, fs_factor, from_sacct FROM course WHERE assoc = \
         (SELECT id FROM assoc WHERE account = ?1 AND user = ?2 AND partition = ?3) ORDER BY time",
    )?;
    let points = rows.query_map(words(name), |row| {
        Ok(Point {
            time: row.get(0)?,
            numbers: [row.get(1)?, row.get(2)?, row.get(3)?],
            from_sacct: row.get(4)?,
        })
    })?;
    Ok(points.collect::<Result<_, _>>()?)
}

fn words(name: &AssocName) -> [&str; 3] {
    [
        &name.account,
        name.user.as_deref().unwrap_or(""),
        name.partition.as_deref().unwrap_or(""),
    ]
}
