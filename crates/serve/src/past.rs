//! The jobs of the last days, as a capture has them from sacct: read once for each picture, shown day by day. Their whole
//! days are kept in the database, and so outlive the answer of sacct.

use std::collections::{BTreeMap, HashMap};
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

use crate::picture::Picture;
use crate::store::{Day, Group, Store, StoreError};

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
        let shares = cluster.tree.norm_shares_on_path(Compat::Documented);
        let part = |account: &str| picture.account(account).map_or(0.0, |at| shares[at.get()]);
        let owed = match hides_jobs(private) || hides_usage(private) {
            true => None,
            false => cpus(picture).map(|cpus| PastOwed::of(&past.jobs, first, taken, cpus, part)),
        };
        Ok(Arc::new(Past {
            folder: Some(stored.folder),
            taken,
            first_day: first,
            owed,
            starts: PastStarts::of(&past.jobs, first, taken + 1),
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
        let mut groups = Groups::default();
        let waits = self.starts.by_day_of(|account, user| {
            let mut of = groups.above(picture, account);
            of.extend([
                groups.position(Group::Site),
                groups.position(Group::User(user.to_owned())),
            ]);
            of
        });
        let mut owed = BTreeMap::new();
        if let Some(past) = &self.owed {
            owed = past.by_day_of(&past.accounts, |account| {
                let mut of = groups.above(picture, account);
                if !of.is_empty() {
                    of.push(groups.position(Group::Site));
                }
                of
            });
            owed.extend(past.by_day_of(&past.users, |user| {
                vec![groups.position(Group::User(user.to_owned()))]
            }));
        }
        let none = |day| Day {
            day,
            waits: None,
            owed: None,
        };
        let mut days: BTreeMap<(u32, i64), Day> = BTreeMap::new();
        for (group, of) in waits {
            for waits in of {
                let day = days.entry((group, waits.day));
                day.or_insert_with(|| none(waits.day)).waits = Some(waits);
            }
        }
        for (group, of) in owed {
            for owed in of {
                let day = days.entry((group, owed.day));
                day.or_insert_with(|| none(owed.day)).owed = Some(owed);
            }
        }
        let is_of_use = |group: &Group, day: &Day| {
            // Of most users there is nothing to say on most days.
            let nothing =
                day.waits.is_none() && day.owed.is_none_or(|owed| owed.owed_core_hours == 0.0);
            day.day + DAY_SECS <= self.taken && !(nothing && matches!(group, Group::User(_)))
        };
        let days = days.into_iter();
        let days = days.map(|((group, _), day)| (&groups.all[group as usize], day));
        store.keep_days(days.filter(|(group, day)| is_of_use(group, day)))
    }
}

/// Groups of jobs, each with its position.
#[derive(Default)]
struct Groups {
    all: Vec<Group>,
    positions: HashMap<Group, u32>,
}

impl Groups {
    fn position(&mut self, group: Group) -> u32 {
        if let Some(at) = self.positions.get(&group) {
            return *at;
        }
        let at = self.all.len() as u32;
        self.all.push(group.clone());
        self.positions.insert(group, at);
        at
    }

    /// The account with a name, and those above it; none that the picture does not have.
    fn above(&mut self, picture: &Picture, account: &str) -> Vec<u32> {
        let mut of = Vec::new();
        let mut next = picture.account(account);
        while let Some(at) = next {
            let name = picture.cluster.name(at).account.clone();
            of.push(self.position(Group::Account(name)));
            next = picture.cluster.tree.parent(at);
        }
        of
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
