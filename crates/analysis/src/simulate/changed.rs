//! A site under changes, as a simulation takes it.
//!
//! Changes of accounts and settings are those of [`crate::what_if`], made by the same code: the site is
//! turned into a [`Cluster`] and back.

use std::collections::HashMap;

use fairtree::compat::{Compat, Release};
use fairtree::usage::RawUsage;
use fairtree_model::cluster::{AssocName, Cluster, PartitionAbout, QosAbout};
use fairtree_model::input::slurm::machine::set_scheduling;
use fairtree_model::input::slurm::script::{Accounting, AssocAsked};
use fairtree_model::listed::WholeSite;
use fairtree_sim::slurm::scene::Setup;
use fairtree_sim::slurm::site::{Site, Unpriced, settings};

use crate::what_if::apply::{apply, normalise};
use crate::what_if::{ChangeError, SiteChange};

/// Why a site cannot be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangedError {
    /// A change cannot be made.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// Settings that cannot be priced, in a sentence.
    #[error("{0}")]
    Unpriced(String),
}

impl From<Unpriced> for ChangedError {
    fn from(error: Unpriced) -> ChangedError {
        ChangedError::Unpriced(error.0)
    }
}

/// The site after changes, made in their order; nodes and partitions of another slurm.conf come first.
/// `source` names the site in errors.
///
/// # Errors
/// The first change that cannot be made; settings that cannot be priced, before or after.
pub fn changed(setup: &Setup, source: &str, changes: &[SiteChange]) -> Result<Setup, ChangedError> {
    let mut after = setup.clone();
    for change in changes {
        if let SiteChange::Machine(other) = change {
            after.machine = other.machine.clone();
            after.conf.partitions = other.partitions.clone();
        }
    }
    let mut cluster = cluster_of(&after, source)?;
    for change in changes {
        let refused = |why: String| ChangeError::Refused {
            change: change.to_string(),
            why,
        };
        match change {
            SiteChange::Machine(_) => {}
            SiteChange::Scheduler { key, value } => {
                set_scheduling(&mut after.machine.scheduling, key, value).map_err(refused)?;
            }
            SiteChange::Nodes { partition, count } => {
                after.set_nodes(partition, *count).map_err(refused)?;
            }
            _ => apply(&mut cluster, change)?,
        }
    }
    normalise(&mut cluster);
    take(&mut after, &cluster);
    Ok(after)
}

/// The site without jobs and usage, as [`crate::what_if`] takes it.
///
/// # Errors
/// Settings that cannot be priced.
pub fn cluster_of(setup: &Setup, source: &str) -> Result<Cluster, Unpriced> {
    let Setup {
        conf,
        machine,
        accounting,
        ..
    } = setup;
    let nobody = std::iter::empty();
    let site = Site::new(conf, setup.release, machine, accounting, nobody)?;
    let partitions = machine.partitions.iter().map(|partition| PartitionAbout {
        name: partition.name.clone(),
        is_default: partition.is_default,
        max_nodes: partition.max_nodes,
        ..PartitionAbout::default()
    });
    let qos = accounting.qos.iter().map(|qos| QosAbout {
        name: qos.row.name.clone(),
        usage_factor: qos.row.usage_factor,
        limits: None,
    });
    let whole = WholeSite {
        names: accounting.assocs.iter().map(name).collect(),
        tree: site.tree().clone(),
        raw_usage: RawUsage::new(site.tree()),
    };
    let config = settings(conf, setup.release);
    let tables = site.tables().clone();
    let mut cluster = Cluster::new(source.to_owned(), config, whole, tables, None, None);
    cluster.priority_type.clone_from(&conf.priority_type);
    // Of which release Slurm's own plugin is, where that is not known.
    cluster.release = Some(setup.release.unwrap_or(Release::V22_05_8));
    cluster.partitions = partitions.collect();
    cluster.qos = qos.collect();
    cluster.rank();
    Ok(cluster)
}

fn name(row: &AssocAsked) -> AssocName {
    AssocName {
        account: row.row.account.clone(),
        user: row.row.user.clone(),
        partition: row.row.partition.clone(),
    }
}

/// Takes settings and accounts of a cluster into a site.
fn take(setup: &mut Setup, cluster: &Cluster) {
    let conf = &mut setup.conf;
    conf.config = cluster.config.clone();
    if let Compat::Slurm(release) = conf.config.compat {
        setup.release = Some(release);
        conf.priority_type = Some("priority/multifactor".to_owned());
    } else {
        conf.priority_type = Some("priority/fairtree".to_owned());
    }
    for (line, row) in conf.partitions.iter_mut().zip(&cluster.tables.partitions) {
        line.priority_job_factor = Some(row.priority_job_factor);
    }
    let qos = cluster.tables.qos.iter().zip(&cluster.qos);
    for (own, (row, about)) in setup.accounting.qos.iter_mut().zip(qos) {
        own.row.priority = row.priority;
        own.row.usage_factor = about.usage_factor;
    }
    let before = &setup.accounting.assocs;
    let known: HashMap<AssocName, &AssocAsked> =
        before.iter().map(|row| (name(row), row)).collect();
    let new = Accounting::default().assocs.swap_remove(0);
    let rows = cluster.tree().indices().map(|index| {
        let name = cluster.name(index);
        let mut row = known.get(name).map_or_else(
            || AssocAsked {
                is_default: false,
                ..new.clone()
            },
            |row| (*row).clone(),
        );
        row.row.account.clone_from(&name.account);
        row.row.user.clone_from(&name.user);
        row.row.partition.clone_from(&name.partition);
        let above = cluster.tree().parent(index).filter(|_| name.user.is_none());
        row.row.parent = above.map(|above| cluster.name(above).account.clone());
        row.row.shares = cluster.tree().rows()[index.get()].shares;
        row.row.priority = cluster.tables.assocs[index.get()].priority;
        row
    });
    setup.accounting.assocs = rows.collect();
}
