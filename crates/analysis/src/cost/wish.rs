//! A request as people make it, with what is not said taken from a job or from the site.

use super::Request;
use fairtree::priority::TimeLimit;
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::{Cluster, ClusterJob, FindError, JobName};

/// A wish: everything may be left out that a job or the site gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// User who pays.
    pub user: Option<String>,
    /// Account that pays.
    pub account: Option<String>,
    /// A job that gives what is not said.
    pub job: Option<JobName>,
    /// Partition.
    pub partition: Option<String>,
    /// QOS.
    pub qos: Option<String>,
    /// Resources, memory in mebibytes.
    pub tres: Option<Vec<(String, u64)>>,
    /// How long it runs, seconds.
    pub secs: Option<u32>,
    /// `TRESBillingWeights` instead of the partition's.
    pub weights: Option<Vec<(String, f64)>>,
    /// `UsageFactor` instead of the QOS's.
    pub usage_factor: Option<f64>,
}

/// Reason why a wish is no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WishError {
    /// Something is not on the site.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The site has partitions and none is the default.
    #[error("no partition is the default one")]
    NoPartition,
    /// An account pays for nothing by itself.
    #[error("{name} is an account; allowed are users")]
    IsAccount {
        /// The account.
        name: String,
    },
    /// Nothing limits the time.
    #[error("the job has no time limit")]
    NoTime,
    /// A resource that the site does not track.
    #[error("found {name:?}, allowed is what AccountingStorageTRES tracks: {tracked}")]
    Untracked {
        /// The resource.
        name: String,
        /// The resources that are tracked.
        tracked: String,
    },
}

impl Wish {
    /// The request.
    ///
    /// # Errors
    /// [`WishError`].
    pub fn request(self, cluster: &Cluster) -> Result<Request, WishError> {
        let job = self.job.map(|name| cluster.find_job(name)).transpose()?;
        let job = job.map(|at| &cluster.jobs()[at]);
        let partition = self.partition(cluster, job)?;
        let assoc = self.payer(cluster, job)?;
        let tres = self.tres.or_else(|| job.map(|job| tres_of(cluster, job)));
        let tres = tres.unwrap_or_default();
        known_tres(cluster, &tres)?;
        Ok(Request {
            assoc,
            secs: match self.secs {
                Some(secs) => secs,
                None => secs_of(cluster, job, partition)?,
            },
            qos: match &self.qos {
                Some(name) => Some(cluster.find_qos(name)?),
                None => job
                    .and_then(|job| job.job.qos)
                    .map(fairtree::priority::Index::get)
                    .or_else(|| cluster.find_qos("normal").ok()),
            },
            partition,
            tres,
            weights: self.weights,
            usage_factor: self.usage_factor,
            job: job.map(|job| job.job.id),
        })
    }

    fn partition(
        &self,
        cluster: &Cluster,
        job: Option<&ClusterJob>,
    ) -> Result<Option<usize>, WishError> {
        let is_hidden = cluster.hidden.partitions;
        if let Some(name) = &self.partition {
            let found = cluster.find_partition(name);
            // Only those that jobs name are known.
            return match is_hidden {
                true => Ok(found.ok()),
                false => Ok(Some(found?)),
            };
        }
        let own = job
            .and_then(|job| job.job.partition)
            .map(fairtree::priority::Index::get);
        let mut partitions = cluster.partitions.iter();
        let default = partitions.position(|partition| partition.is_default);
        let only = (cluster.partitions.len() == 1 && !is_hidden).then_some(0);
        match own.or(default).or(only) {
            None if !cluster.partitions.is_empty() && !is_hidden => Err(WishError::NoPartition),
            found => Ok(found),
        }
    }

    fn payer(&self, cluster: &Cluster, job: Option<&ClusterJob>) -> Result<AssocIndex, WishError> {
        let found = match (&self.user, &self.account, job) {
            (Some(user), Some(account), _) => cluster.find(&format!("{user}@{account}")),
            (Some(user), None, _) => cluster.find(user),
            (None, _, Some(job)) => {
                let account = self.account.as_deref().or(job.account.as_deref());
                match (job.job.assoc.filter(|_| self.account.is_none()), account) {
                    (Some(assoc), _) => Ok(assoc),
                    (None, Some(account)) => cluster.find(&format!("{}@{account}", job.user)),
                    (None, None) => cluster.find(&job.user),
                }
            }
            (None, _, None) => Err(FindError::NoJobs {
                source_name: cluster.source.clone(),
                name: "a user".to_owned(),
            }),
        }?;
        match cluster.is_user(found) {
            true => Ok(found),
            false => Err(WishError::IsAccount {
                name: cluster.name(found).to_string(),
            }),
        }
    }
}

/// The resources of a job.
fn tres_of(cluster: &Cluster, job: &ClusterJob) -> Vec<(String, u64)> {
    let site = &cluster.tables;
    let names = site.tres_names.iter();
    let Some(start) = job.job.tres else {
        return vec![("cpu".to_owned(), u64::from(job.job.cpus))];
    };
    let counts = &site.tres_counts[start.get()..];
    let tres = names.cloned().zip(counts.iter().copied());
    tres.filter(|(name, count)| *count > 0 && name != "billing")
        .collect()
}

/// The time limit of a job, or of its partition.
fn secs_of(
    cluster: &Cluster,
    job: Option<&ClusterJob>,
    partition: Option<usize>,
) -> Result<u32, WishError> {
    let most = partition.and_then(|at| cluster.tables.partitions[at].max_time_mins);
    let minutes = match job.map(|job| job.job.time_limit) {
        Some(TimeLimit::Minutes(minutes)) => Some(minutes),
        Some(TimeLimit::Unset) => most,
        Some(TimeLimit::Unlimited) | None => None,
    };
    let secs = minutes
        .and_then(|minutes| minutes.checked_mul(60))
        .filter(|secs| *secs > 0);
    secs.ok_or(WishError::NoTime)
}

/// Refuses resources that the site does not track, where that is known.
fn known_tres(cluster: &Cluster, tres: &[(String, u64)]) -> Result<(), WishError> {
    let names = &cluster.tables.tres_names;
    let unknown = tres
        .iter()
        .find(|(name, _)| !names.is_empty() && !names.contains(name));
    match unknown {
        None => Ok(()),
        Some((name, _)) => Err(WishError::Untracked {
            name: name.clone(),
            tracked: names.join(", "),
        }),
    }
}
