//! Share, use and factor of associations over time: of accounts for ever, of users as long as settings say, one
//! picture an hour.

use fairtree::tree::AssocIndex;
use fairtree_analysis::history::Course;
use fairtree_model::cluster::AssocName;
use rusqlite::{Connection, params};

use super::{Store, StoreError};
use crate::picture::Picture;

/// At most one picture in this time is kept, seconds.
const EVERY_SECS: i64 = 3600;

const DAY_SECS: i64 = 86_400;

/// At most this many moments are read, evenly chosen.
const POINTS: usize = 400;

/// The course of an association, and its moments: seconds since 1970, ascending.
pub type Over = (Course, Vec<i64>);

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
            let mut add = change.prepare(
                "INSERT OR IGNORE INTO assoc (account, user, partition) VALUES (?1, ?2, ?3)",
            )?;
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

    /// The course of an association; `None`: it has no two moments.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn course(&self, name: &AssocName) -> Result<Option<Over>, StoreError> {
        let points = self.read(|held| points(held, name))?;
        if points.len() < 2 {
            return Ok(None);
        }
        let step = points.len().div_ceil(POINTS);
        let (mut course, mut times) = (Course::default(), Vec::new());
        // The last one is always there.
        let chosen = points.iter().rev().step_by(step).collect::<Vec<_>>();
        for (time, [share, usage, factor]) in chosen.into_iter().rev() {
            times.push(*time);
            course.norm_shares.push(*share);
            course.effective_usage.push(*usage);
            course.fs_factor.push(*factor);
        }
        Ok(Some((course, times)))
    }
}

/// Moment, share, use and factor of an association, in order of time.
type Points = Vec<(i64, [Option<f64>; 3])>;

fn points(held: &Connection, name: &AssocName) -> Result<Points, StoreError> {
    let mut rows = held.prepare(
        "SELECT time, norm_shares, effective_usage, fs_factor FROM course WHERE assoc = \
         (SELECT id FROM assoc WHERE account = ?1 AND user = ?2 AND partition = ?3) ORDER BY time",
    )?;
    let points = rows.query_map(words(name), |row| {
        Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
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
