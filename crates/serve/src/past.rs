//! The jobs of the last days, as a capture has them from sacct: read once for each picture, shown day by day. Their whole
//! days are kept in the database, and so outlive the answer of sacct.

use std::path::PathBuf;
use std::sync::Arc;

use fairtree::compat::Compat;
use fairtree_analysis::past::{DAY_SECS, PastOwed, PastStarts};
use fairtree_model::input::InputError;
use fairtree_model::input::capture::{open_only, with_history};
use fairtree_model::input::recorded::past::read_file;
use fairtree_model::input::slurm::config::{hides_jobs, hides_usage};
use fairtree_model::input::slurm::present;
use fairtree_model::input::slurm::snapshot::Source;

use crate::days::Days;
use crate::picture::Picture;
use crate::store::{Store, StoreError};

/// Past jobs.
#[derive(Debug, Default)]
pub struct Past {
    /// The capture that they are from; `None`: there is none with past jobs.
    pub folder: Option<PathBuf>,
    /// When it was taken, seconds since 1970.
    pub taken: i64,
    /// When the first day begins of which all jobs are known, seconds since 1970.
    pub first_day: i64,
    /// Jobs that started on days of which all jobs are known, and on the last day until `taken`.
    pub starts: PastStarts,
    /// Core-hours owed to accounts and users on these days, by the shares of the picture that read them; `None`: the
    /// machine is not known, or not the jobs and shares of all.
    pub owed: Option<PastOwed>,
    /// The same by day of whole groups, which most pages show.
    pub days: Days,
}

impl Past {
    /// The past jobs that a picture, or the latest one before it in the same folder, has. `before`: those of the
    /// picture before, which are taken where they are from the same capture.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn of(picture: &Picture, before: Option<&Arc<Past>>) -> Result<Arc<Past>, InputError> {
        let stored = open_only(&picture.folder, &[])?;
        let Some(stored) = with_history(&stored)? else {
            return Ok(Arc::default());
        };
        if let Some(before) = before.filter(|past| past.folder.as_ref() == Some(&stored.folder)) {
            return Ok(before.clone());
        }
        let past = read_file(&stored.path(Source::History)?)?;
        let taken = i64::try_from(stored.manifest.time).unwrap_or(i64::MAX);
        let from = taken.saturating_sub(Source::HISTORY_DAYS * DAY_SECS);
        // The first day is whole.
        let first = (from + DAY_SECS - 1).div_euclid(DAY_SECS) * DAY_SECS;
        let cluster = &picture.cluster;
        let private = &cluster.private_data;
        let shares = cluster.tree().norm_shares_on_path(Compat::Documented);
        let part = |account: &str| picture.account(account).map_or(0.0, |at| shares[at.get()]);
        let owed = match hides_jobs(private) || hides_usage(private) {
            true => None,
            false => cpus(picture).map(|cpus| PastOwed::of(&past.jobs, first, taken, cpus, part)),
        };
        let starts = PastStarts::of(&past.jobs, first, taken + 1);
        Ok(Arc::new(Past {
            folder: Some(stored.folder),
            taken,
            first_day: first,
            days: Days::of(picture, &starts, owed.as_ref()),
            owed,
            starts,
        }))
    }
}

impl Past {
    /// Keeps the days that are over: of all jobs, of those of each account with the accounts below it, and of those of
    /// each user. Nothing where the picture does not have the jobs of all.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing is kept.
    pub fn keep(&self, store: &Store, picture: &Picture) -> Result<(), StoreError> {
        let private = &picture.cluster.private_data;
        if self.folder.is_none() || hides_jobs(private) || hides_usage(private) {
            return Ok(());
        }
        self.days.keep(store, self.taken)
    }
}

/// CPUs of all nodes; `None`: the capture does not have the machine.
fn cpus(picture: &Picture) -> Option<u32> {
    let of_machine = [Source::Config, Source::Nodes, Source::Partitions];
    let stored = open_only(&picture.folder, &of_machine).ok()?;
    let name = stored.folder.display().to_string();
    let machine = present::read(&name, &stored.answers).ok()?;
    Some(machine.cpus()).filter(|cpus| *cpus > 0)
}
