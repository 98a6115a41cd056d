//! Changes applied to a cluster, as Slurm would apply them.

use std::sync::Arc;

use super::{JobChange, SiteChange};
use fairtree::priority::{Index, Span};
use fairtree::tree::TreeError;
use fairtree::usage::UsageError;
use fairtree_model::cluster::{AssocName, Cluster, FindError, JobName, JobPhase};

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// There is no such thing.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The tree does not allow it.
    #[error("{change}: {error}")]
    Tree {
        /// The change in words.
        change: String,
        /// Why.
        error: TreeError,
    },
    /// Usage that is not a number from 0 up.
    #[error("{change}: {error}")]
    Usage {
        /// The change in words.
        change: String,
        /// Why.
        error: UsageError,
    },
    /// It contradicts the site.
    #[error("{change}: {why}")]
    Refused {
        /// The change in words.
        change: String,
        /// Why.
        why: String,
    },
}

/// Returns true if ranks of associations are others after a change.
fn moves_ranks(cluster: &Cluster, change: &SiteChange) -> bool {
    match change {
        SiteChange::Job(..)
        | SiteChange::PartitionFactor(..)
        | SiteChange::QosPriority(..)
        | SiteChange::AssocPriority(..) => false,
        SiteChange::Settings(config, _) => {
            config.ranking() != cluster.config.ranking()
                || config.usage() != cluster.config.usage()
                || config.order() != cluster.config.order()
        }
        _ => true,
    }
}

/// Returns true if a change counts by what is hidden of partitions and nodes.
fn needs_hidden(cluster: &Cluster, change: &SiteChange) -> bool {
    let hidden = cluster.hidden;
    match change {
        SiteChange::PartitionFactor(..) | SiteChange::Job(_, JobChange::Partitions(_)) => {
            hidden.partitions
        }
        // The weights of such factors are 0 here, as their points are known alone.
        SiteChange::Settings(config, _) => hidden.countable((**config).clone()) != **config,
        _ => false,
    }
}

/// Applies one change; the ranks are as before until [`Cluster::rank`].
///
/// # Errors
/// Names that the site does not have, and what its tree does not allow. The cluster may then have
/// been changed in part.
pub(crate) fn apply(cluster: &mut Cluster, change: &SiteChange) -> Result<(), ChangeError> {
    let tree_error = |error| ChangeError::Tree {
        change: change.to_string(),
        error,
    };
    let refused = |why: &str| ChangeError::Refused {
        change: change.to_string(),
        why: why.to_owned(),
    };
    if !cluster.is_whole() && moves_ranks(cluster, change) {
        return Err(refused(
            "its effect depends on shares and usage of others, which PrivateData hides from you; allowed are \
             changes of jobs, partitions, QOS and weights, or a capture by an administrator (--from DIR)",
        ));
    }
    if needs_hidden(cluster, change) {
        return Err(refused(
            "its effect depends on partitions and nodes, which PrivateData hides from you; a capture by an \
             administrator has them: --from DIR",
        ));
    }
    match change {
        SiteChange::Settings(config, _) => {
            let set = cluster.set_config((**config).clone());
            set.map_err(|error| refused(&error.to_string()))?;
        }
        SiteChange::PartitionFactor(name, factor) => {
            let at = cluster.find_partition(name)?;
            cluster.tables.partitions[at].priority_job_factor = *factor;
        }
        SiteChange::QosPriority(name, priority) => {
            let at = cluster.find_qos(name)?;
            cluster.tables.qos[at].priority = *priority;
        }
        SiteChange::UsageFactor(name, factor) => {
            let at = cluster.find_qos(name)?;
            cluster.qos[at].usage_factor = *factor;
            set_usage_factor(cluster, at, *factor);
        }
        SiteChange::AddAccount {
            account,
            parent,
            shares,
        } => {
            let parent = cluster.find_account(parent)?;
            if cluster.find_account(account).is_ok() {
                return Err(refused("there is an account of that name"));
            }
            let name = AssocName {
                account: account.clone(),
                ..AssocName::default()
            };
            cluster.add(name, parent, *shares).map_err(tree_error)?;
        }
        SiteChange::AddUser {
            user,
            account,
            shares,
        } => {
            let parent = cluster.find_account(account)?;
            if cluster.find(&format!("{user}@{account}")).is_ok() {
                return Err(refused("it is there already"));
            }
            let name = AssocName {
                account: account.clone(),
                user: Some(user.clone()),
                partition: None,
            };
            cluster.add(name, parent, *shares).map_err(tree_error)?;
        }
        SiteChange::Remove(who) => {
            let index = cluster.find_any(who)?;
            if cluster.tree().parent(index).is_none() {
                return Err(refused("the root stays"));
            }
            cluster.remove(index).map_err(tree_error)?;
        }
        SiteChange::Parent { account, parent } => {
            let account = cluster.find_account(account)?;
            let parent = cluster.find_account(parent)?;
            let moved = cluster.move_account(account, parent);
            moved.map_err(tree_error)?;
        }
        SiteChange::Shares(who, shares) => {
            let index = cluster.find_any(who)?;
            let shared = cluster.set_shares(index, *shares);
            shared.map_err(tree_error)?;
        }
        SiteChange::AssocPriority(who, priority) => {
            let index = cluster.find_any(who)?;
            cluster.tables.assocs[index.get()].priority = *priority;
        }
        SiteChange::Charge(who, usage) => {
            let index = cluster.find(who)?;
            if !cluster.is_user(index) {
                return Err(refused(
                    "usage is charged to users: name one as USER@ACCOUNT",
                ));
            }
            let charged = cluster.charge(index, *usage);
            charged.map_err(|error| ChangeError::Usage {
                change: change.to_string(),
                error,
            })?;
        }
        SiteChange::ResetUsage(who) => {
            let index = cluster.find_any(who)?;
            cluster.reset_usage(index);
        }
        SiteChange::Machine(_) | SiteChange::Scheduler { .. } | SiteChange::Nodes { .. } => {
            return Err(refused(
                "a simulation is needed: fairtree simulate --against",
            ));
        }
        SiteChange::Job(name, what) => job(cluster, *name, what, &refused)?,
        SiteChange::After(secs) => {
            let passed = cluster.pass(*secs);
            passed.map_err(|error| ChangeError::Usage {
                change: change.to_string(),
                error,
            })?;
        }
    }
    Ok(())
}

fn set_usage_factor(cluster: &mut Cluster, qos: usize, factor: f64) {
    for job in cluster.jobs_mut().into_iter().flatten() {
        if let (Some(run), Some(own)) = (&mut job.run, job.job.qos) {
            if own.get() == qos {
                run.usage_factor = factor;
            }
        }
    }
}

fn job(
    cluster: &mut Cluster,
    name: JobName,
    change: &JobChange,
    refused: &dyn Fn(&str) -> ChangeError,
) -> Result<(), ChangeError> {
    let at = cluster.find_job(name)?;
    let phase = cluster.jobs()[at].phase;
    if *change == JobChange::Cancel {
        if let Some(jobs) = cluster.jobs_mut() {
            jobs.remove(at);
        }
        return Ok(());
    }
    if phase != JobPhase::Pending {
        let state = cluster.jobs()[at].state.to_ascii_lowercase();
        return Err(refused(&format!(
            "it is {state}; only a waiting job can change that"
        )));
    }
    let found = match change {
        JobChange::Qos(names) => {
            let mut found = Vec::with_capacity(names.len());
            for name in names {
                found.push(Index::new(cluster.find_qos(name)?));
            }
            // slurmctld sorts them by priority.
            found.sort_by_key(|qos| std::cmp::Reverse(cluster.tables.qos[qos.get()].priority));
            found
        }
        JobChange::Partitions(names) => {
            let mut found = Vec::with_capacity(names.len());
            for name in names {
                found.push(Index::new(cluster.find_partition(name)?));
            }
            found
        }
        _ => Vec::new(),
    };
    let now = cluster.now().unwrap_or(0);
    let site = &mut cluster.tables;
    let jobs = cluster.jobs.as_mut().map(Arc::make_mut);
    let Some(row) = jobs.map(|jobs| &mut jobs[at].job) else {
        return Ok(());
    };
    match change {
        JobChange::Qos(_) => {
            row.qos = found.first().copied();
            row.qos_list = list(&mut site.qos_lists, &found);
        }
        JobChange::Partitions(_) => {
            row.partition = found.first().copied();
            row.partitions = list(&mut site.partition_lists, &found);
        }
        JobChange::Nice(nice) => row.nice = *nice,
        JobChange::Priority(priority) => {
            row.priority = *priority;
            row.direct = *priority > 0;
        }
        JobChange::Release => {
            row.direct = false;
            row.priority = row.priority.max(1);
            if row.accrue_time == 0 {
                // It is eligible from now on, and so begins to age.
                row.accrue_time = now;
            }
        }
        JobChange::Cancel => {}
    }
    Ok(())
}

/// Appends a list of several and says where it is; one by itself needs no list.
fn list(lists: &mut Vec<Index>, list: &[Index]) -> Span {
    if list.len() < 2 {
        return Span::default();
    }
    let at = |count: usize| u32::try_from(count).expect("fewer entries than 2^32");
    let span = Span {
        start: at(lists.len()),
        len: at(list.len()),
    };
    lists.extend(list);
    span
}

/// Works out priorities over the largest of their kind anew.
pub(crate) fn normalise(cluster: &mut Cluster) {
    let site = &mut cluster.tables;
    let largest = |all: &mut dyn Iterator<Item = u32>| f64::from(all.max().unwrap_or(0).max(1));
    let factor = |row: &fairtree::priority::Partition| u32::from(row.priority_job_factor);
    let most = largest(&mut site.partitions.iter().map(factor));
    for row in &mut site.partitions {
        row.norm_priority = f64::from(row.priority_job_factor) / most;
    }
    let most = largest(&mut site.qos.iter().map(|row| row.priority));
    for row in &mut site.qos {
        row.norm_priority = f64::from(row.priority) / most;
    }
    let most = largest(&mut site.assocs.iter().map(|row| row.priority));
    for row in &mut site.assocs {
        row.norm_priority = f64::from(row.priority) / most;
    }
}
