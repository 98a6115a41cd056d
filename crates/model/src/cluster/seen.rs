//! A cluster of which a user sees only a part: its own rows of sshare, and what sprio shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::source::of_compat;
use super::{AssocName, Cluster, pass_time};
use crate::input::slurm::snapshot::Snapshot;
use crate::input::sprio::Factor;
use crate::input::{InputError, Problem};
use crate::listed::WholeSite;
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::tree::{Assoc, AssocId, AssocKind, Shares, Tree};
use fairtree::usage::RawUsage;

/// The visible part of an association of a user.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    shares: Option<Shares>,
    /// TRES-seconds.
    usage: u64,
    /// Fair-share factor, 0..=1.
    factor: Option<f64>,
}

/// Users with their partitions, by account.
type Users = BTreeMap<String, BTreeMap<(String, Option<String>), Seen>>;

impl Cluster {
    /// The cluster that a user sees where `PrivateData` hides shares and usage of others: jobs with the
    /// fair-share factors that sprio prints, and the usage in the rows of sshare. Its tree has each
    /// account that is seen below the root, and nobody has a place in it; factors stay as they are
    /// printed ([`Cluster::is_whole`]).
    ///
    /// # Errors
    /// Waiting jobs whose partition or QOS is not there; more associations than ids.
    pub fn seen(snapshot: &Snapshot, compat: Option<Compat>) -> Result<Cluster, InputError> {
        let queued = &snapshot.queued;
        let broken = |why: String| InputError::new(&queued.name, Problem::Structure(why));
        let config = of_compat(&queued.settings.config, compat);
        let mut names = vec![AssocName {
            account: "root".to_owned(),
            ..AssocName::default()
        }];
        let root = Assoc {
            id: 1,
            parent: None,
            kind: AssocKind::Account,
            shares: Shares::Raw(1),
        };
        let (mut rows, mut raw, mut factors) = (vec![root], vec![0_u64], vec![None]);
        for (account, users) in users(snapshot) {
            let above = id(rows.len()).map_err(&broken)?;
            rows.push(Assoc {
                id: above,
                parent: Some(1),
                ..root
            });
            let used: u64 = users.values().map(|seen| seen.usage).sum();
            raw[0] += used;
            raw.push(used);
            factors.push(None);
            names.push(AssocName {
                account: account.clone(),
                ..AssocName::default()
            });
            for ((user, partition), seen) in users {
                rows.push(Assoc {
                    id: id(rows.len()).map_err(&broken)?,
                    parent: Some(above),
                    kind: AssocKind::User,
                    shares: seen.shares.unwrap_or(Shares::Raw(1)),
                });
                raw.push(seen.usage);
                factors.push(seen.factor);
                names.push(AssocName {
                    account: account.clone(),
                    user: Some(user),
                    partition,
                });
            }
        }
        let tree = Tree::from_rows(rows).map_err(|error| broken(error.to_string()))?;
        let raw: Vec<Extended> = raw.into_iter().map(Extended::from).collect();
        let raw_usage =
            RawUsage::from_raw(&tree, &raw).map_err(|error| broken(error.to_string()))?;
        let site = WholeSite {
            names,
            tree,
            raw_usage,
        };
        let now = Some(pass_time(queued, &config));
        let mut cluster = Cluster::queued(queued, config, site, now, None)?;
        cluster.printed_factors = Some(Arc::new(factors));
        cluster.rank();
        Ok(cluster)
    }

    /// Returns true unless shares and usage of others are hidden: then ranks, places and what changes
    /// them cannot be computed.
    pub fn is_whole(&self) -> bool {
        self.printed_factors.is_none()
    }
}

/// The number of the association at a position.
fn id(position: usize) -> Result<AssocId, String> {
    AssocId::try_from(position + 1).map_err(|_| "too many associations".to_owned())
}

/// Users of jobs and of the rows of sshare.
fn users(snapshot: &Snapshot) -> Users {
    let mut users = Users::new();
    let listings = snapshot.queued.queue.listings.iter();
    let rows = listings.flat_map(|listing| listing.rows.iter());
    let printed = rows.filter_map(|row| {
        let factor = row.norm[Factor::Fairshare.index()]?;
        Some((row.job_id?, factor.value))
    });
    let printed: BTreeMap<u32, f64> = printed.collect();
    for job in snapshot.queued.jobs.iter() {
        let Some(account) = &job.account else {
            continue;
        };
        let of_account = users.entry(account.to_string()).or_default();
        let seen = of_account.entry((job.user.to_string(), None)).or_default();
        seen.factor = seen.factor.or(printed.get(&job.id).copied());
    }
    for row in &snapshot.shares.rows {
        let (Some(account), Some(user)) = (&row.account, &row.user) else {
            continue;
        };
        let of_account = users.entry(account.clone()).or_default();
        let key = (user.clone(), row.partition.clone());
        let seen = of_account.entry(key).or_default();
        seen.shares = row.raw_shares;
        seen.usage = row.raw_usage.unwrap_or(0);
        seen.factor = row.fs_factor.map(|factor| factor.value).or(seen.factor);
    }
    users
}
