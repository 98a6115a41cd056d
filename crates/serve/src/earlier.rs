//! Share, use and factors of the days before the service kept any, computed from the jobs that sacct lists.
//!
//! This is done once: where the database has nothing from sacct yet, and only for moments before its first picture.
//! Shares are those of the picture that does it, and use of before the first listed job does not count.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;

use fairtree_analysis::history::{OwnerHistory, each_moment, on_site, plans_on};
use fairtree_analysis::past::DAY_SECS;
use fairtree_model::cluster::AssocName;
use fairtree_model::input::capture::{open_only, with_history};
use fairtree_model::input::sacct;
use fairtree_model::input::site::from_assocs::site;
use fairtree_model::input::slurm::config::{hides_jobs, hides_usage};
use fairtree_model::input::slurm::snapshot::Source;
use fairtree_model::input::workload::JobUse;
use fairtree_model::input::{InputError, Problem};

use crate::picture::Picture;
use crate::store::{Earlier, Store, StoreError};

/// Reason why the days before are not known.
#[derive(Debug, thiserror::Error)]
pub enum EarlierError {
    /// The capture cannot be read.
    #[error("{}", .0.explained())]
    Input(#[from] InputError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Computes the days before the first picture from the past jobs of a picture, or of the latest one before it in the
/// same folder that has any, and keeps them; nothing where that was done before, or where the picture does not have
/// the jobs and shares of all.
///
/// # Errors
/// [`EarlierError`]; then nothing is kept.
pub fn keep(store: &Store, picture: &Picture) -> Result<(), EarlierError> {
    let cluster = &picture.cluster;
    let private = &cluster.private_data;
    let Some(until) = store.unknown_before(picture.time())? else {
        return Ok(());
    };
    let Some(stored) = with_history(&open_only(&picture.folder, &[])?)? else {
        return Ok(());
    };
    let taken = i64::try_from(stored.manifest.time).unwrap_or(i64::MAX);
    let from = taken.saturating_sub(Source::HISTORY_DAYS * DAY_SECS);
    if until <= from || hides_jobs(private) || hides_usage(private) {
        return Ok(());
    }
    let name = stored.folder.display().to_string();
    let mut site = site(&name, cluster.cluster.clone(), &cluster.listed)?;
    site.config = cluster.config.clone();
    let history = OwnerHistory::of(&site.config);
    let mut history = history.with_plans(plans_on(&site.config, &site).into_iter());
    let path = stored.path(Source::History)?;
    let file = path.display().to_string();
    let input = File::open(&path).map_err(|error| InputError::new(&file, error))?;
    let input = BufReader::with_capacity(1 << 16, input);
    let mut charge = |job: &JobUse<'_>| history.charge(job);
    match sacct::read(&file, input, sacct::Options::default(), &mut charge) {
        Ok(summary) if summary.billed => history.bill(),
        Ok(_) => {}
        // A new cluster has no past.
        Err(error) if error.line.is_none() && matches!(*error.problem, Problem::Empty) => {}
        Err(error) => return Err(error.into()),
    }
    let (ranking, compat) = (site.config.ranking(), site.config.compat);
    let placed = on_site(site, &history);
    let times = history.times().into_iter();
    let times: Vec<i64> = times.filter(|time| *time > from && *time < until).collect();
    let of_users = last_of_days(&times);
    let times: HashSet<i64> = times.into_iter().collect();
    let rows = &placed.site.rows;
    let mut found = Vec::new();
    each_moment(&history, &placed, ranking, compat, &mut |time, of| {
        if !times.contains(&time) {
            return;
        }
        for (at, one) in of.iter().enumerate() {
            let used = one.raw_usage.to_f64();
            if rows[at].user.is_some() && (used <= 0.0 || !of_users.contains(&time)) {
                continue;
            }
            found.push(Earlier {
                at,
                time,
                norm_shares: one.norm_shares,
                effective_usage: one.effective_usage.to_f64(),
                used,
                fs_factor: one.fs_factor,
            });
        }
    });
    found.sort_by_key(|one| (one.at, one.time));
    let names = rows.iter().map(|row| AssocName {
        account: row.account.clone(),
        user: row.user.clone(),
        partition: row.partition.clone(),
    });
    Ok(store.keep_earlier(&names.collect::<Vec<_>>(), &found)?)
}

/// The last moment of each day (UTC) among some, which ascend.
fn last_of_days(times: &[i64]) -> HashSet<i64> {
    let days = times.chunk_by(|a, b| a.div_euclid(DAY_SECS) == b.div_euclid(DAY_SECS));
    days.filter_map(|day| day.last().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_moment_of_each_day() {
        let days = last_of_days(&[0, 86_399, 86_400, 200_000, 259_199]);
        assert_eq!(days, HashSet::from([86_399, 86_400, 259_199]));
    }
}
