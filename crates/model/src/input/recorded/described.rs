//! The site of a log, described in TOML: its machine, its settings, its accounts.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::super::error::{InputError, Problem};
use super::super::site::{self, Site};
use super::super::slurm::assoc::AssocRow;
use super::super::slurm::conf::{Conf, PartitionLine};
use super::super::slurm::script::{Accounting, AssocAsked, QosAsked};
use super::{open, shown};
use crate::machine::{Limits, Machine, QosLimits};

/// Returns true for the name of a site in TOML.
pub fn is_described(path: &Path) -> bool {
    let ends = path.extension().and_then(|ends| ends.to_str());
    ends.is_some_and(|ends| ends.eq_ignore_ascii_case("toml"))
}

/// Reads a site in TOML, and the machine that it lists.
///
/// # Errors
/// Those of [`site::read`]; a site without nodes.
pub fn read_site(path: &Path) -> Result<(Site, Machine), InputError> {
    let name = shown(path);
    let site = site::read(&name, open(path)?.input)?;
    match site.machine.clone() {
        Some(machine) => Ok((site, machine)),
        None => {
            let why = "lists no nodes, which a simulation needs".to_owned();
            Err(InputError::new(&name, Problem::Absent(why))
                .hint("describe them: [[nodes]] with name = \"n[1-4]\" and cpus = 64"))
        }
    }
}

/// The settings and partitions of a site, as a slurm.conf has them. Its priorities are those of this
/// project's plugin, unless its settings say otherwise.
pub(super) fn conf(site: &Site) -> Conf {
    let partitions = site.queued.iter().flat_map(|queued| &queued.partitions);
    let line = |row: &super::super::slurm::partition::PartitionRow| PartitionLine {
        name: row.name.clone(),
        priority_job_factor: Some(row.priority_job_factor),
        tres_billing_weights: row.tres_billing_weights.clone(),
    };
    Conf {
        priority_type: Some("priority/fairtree".to_owned()),
        config: site.config.clone(),
        partitions: partitions.map(line).collect(),
    }
}

/// The accounts, users and QOS of a site; it has no limits.
pub(super) fn accounting(site: &Site) -> Accounting {
    let mut found = Accounting::default();
    let listed = site.queued.as_ref().map(|queued| &queued.assocs);
    let mut with_default: HashSet<String> = HashSet::new();
    let assoc = |(row, index): (&site::SiteRow, _)| {
        let parent = site.tree.parent(index).filter(|_| row.user.is_none());
        let same = |other: &&AssocRow| {
            let (a, b) = (&other.account, &row.account);
            a == b && other.user == row.user && other.partition == row.partition
        };
        let listed = listed.and_then(|rows| rows.iter().find(same));
        // A user's first association is that of jobs that name no account.
        let user = row.user.clone();
        let is_default = user.is_some_and(|user| with_default.insert(user));
        AssocAsked {
            row: AssocRow {
                account: row.account.to_lowercase(),
                user: row.user.clone(),
                partition: row.partition.clone(),
                parent: parent.map(|at| site.rows[at.get()].account.to_lowercase()),
                shares: site.tree.rows()[index.get()].shares,
                priority: listed.map_or(0, |row| row.priority),
                qos: Arc::default(),
                limits: None,
            },
            limits: Limits::default(),
            default_qos: None,
            is_default,
        }
    };
    found.assocs = site
        .rows
        .iter()
        .zip(site.tree.indices())
        .map(assoc)
        .collect();
    for row in site.queued.iter().flat_map(|queued| &queued.qos) {
        let mut row = row.clone();
        row.name = row.name.to_lowercase();
        match found.qos.iter_mut().find(|own| own.row.name == row.name) {
            Some(own) => own.row = row,
            None => found.qos.push(QosAsked {
                row,
                limits: QosLimits::default(),
            }),
        }
    }
    found
}
