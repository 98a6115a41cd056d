//! The engine's tables, made from the rows of slurmctld.

use super::host::{self, NONE, ffi};
use super::log;
use super::snapshot::Snapshot;
use crate::compat::Compat;
use crate::extended::Extended;
use crate::fairshare::Kept;
use crate::priority::{AssocFactors, Index, Job, Partition, Qos, Site, Span};
use crate::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree, TreeError};
use std::sync::Arc;

/// Tables of one snapshot; kept from pass to pass, so that what did not change is not rebuilt.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Associations; shared with whoever still reads the last pass's.
    pub(super) tree: Arc<Tree>,
    /// Usage by position, as slurmctld had it.
    pub(super) raw_usage: Vec<Extended>,
    /// What slurmctld's records keep, by position.
    pub(super) kept: Vec<Kept>,
    pub(super) site: Site,
    partitions: Vec<(u64, Index)>,
    qos: Vec<(u32, Index)>,
}

impl Tables {
    /// Takes over associations, QOS, partitions and lists of a snapshot; fair-share factors are
    /// 0 until they are published. `tres_names`: one per TRES of the snapshot, in Slurm's order.
    ///
    /// # Errors
    /// Associations that are no tree.
    pub(super) fn fill(
        &mut self,
        compat: Compat,
        snapshot: &Snapshot,
        tres_names: Vec<String>,
    ) -> Result<(), TreeError> {
        self.fill_tree(snapshot)?;
        self.fill_usage(compat, snapshot);
        self.fill_job(snapshot, tres_names);
        Ok(())
    }

    /// The same without associations: what pricing one job needs.
    pub(super) fn fill_job(&mut self, snapshot: &Snapshot, tres_names: Vec<String>) {
        let site = &mut self.site;
        site.tres_names = tres_names;
        site.tres_counts.clear();
        site.tres_counts.extend_from_slice(snapshot.tres());
        site.cluster_cpus = snapshot.cluster_cpus();
        site.cluster_nodes = snapshot.cluster_nodes();
        self.fill_partitions(snapshot);
        self.fill_qos(snapshot);
    }

    fn fill_tree(&mut self, snapshot: &Snapshot) -> Result<(), TreeError> {
        let rows = snapshot.assocs();
        let same = self.tree.len() == rows.len()
            && self
                .tree
                .rows()
                .iter()
                .zip(rows)
                .all(|(old, row)| *old == assoc(row));
        if !same {
            self.tree = Arc::new(Tree::from_rows(rows.iter().map(assoc))?);
        }
        Ok(())
    }

    fn fill_usage(&mut self, compat: Compat, snapshot: &Snapshot) {
        self.raw_usage.clear();
        self.kept.clear();
        self.site.assocs.clear();
        let mut no_numbers = Vec::new();
        for row in snapshot.assocs() {
            // Neither NaN, infinity nor a negative number can be usage: such a record counts as
            // unused. Rather one strange record than priorities that stay as they are for all.
            // Stock reckons with what lies below 0, which is the rounding error of a removal.
            let usage = host::extended(row.usage_raw).filter(|usage| !usage.is_infinite());
            if usage.is_none() {
                no_numbers.push(row.id);
            }
            let usage = usage.unwrap_or(Extended::ZERO);
            self.raw_usage.push(if compat.is_slurm() {
                usage
            } else {
                usage.max(Extended::ZERO)
            });
            self.kept.push(kept(row));
            self.site.assocs.push(AssocFactors {
                fs_factor: 0.0,
                priority: row.priority,
                norm_priority: row.priority_norm,
            });
        }
        if let Some(first) = no_numbers.first() {
            log::error(format_args!(
                "RawUsage of association {first} and {} more is no finite number and counts as 0",
                no_numbers.len() - 1
            ));
        }
    }

    fn fill_partitions(&mut self, snapshot: &Snapshot) {
        self.partitions.clear();
        self.site.partitions.clear();
        for (position, row) in snapshot.partitions().iter().enumerate() {
            self.partitions.push((row.key, Index::new(position)));
            self.site.partitions.push(Partition {
                priority_job_factor: row.priority_job_factor,
                norm_priority: row.norm_priority,
                max_time_mins: (!row.max_time_infinite).then_some(row.max_time),
                tres: tres(row.tres),
            });
        }
        self.partitions.sort_unstable_by_key(|(key, _)| *key);
        self.site.partition_lists.clear();
        for key in snapshot.partition_keys() {
            // A job may name a partition that is no longer in slurmctld's list, for a moment:
            // the list then stands for any of them, and its priorities will not be written.
            let index = find(&self.partitions, key).unwrap_or(Index::new(0));
            self.site.partition_lists.push(index);
        }
    }

    fn fill_qos(&mut self, snapshot: &Snapshot) {
        self.qos.clear();
        self.site.qos.clear();
        for (position, row) in snapshot.qos().iter().enumerate() {
            self.qos.push((row.id, Index::new(position)));
            self.site.qos.push(Qos {
                priority: row.priority,
                norm_priority: row.norm_priority,
            });
        }
        self.qos.sort_by_key(|(id, _)| *id);
        self.site.qos_lists.clear();
        for id in snapshot.qos_ids() {
            let index = find(&self.qos, id).unwrap_or(Index::new(0));
            self.site.qos_lists.push(index);
        }
    }

    /// The position of a QOS.
    pub(super) fn qos_row(&self, id: u32) -> Option<Index> {
        find(&self.qos, &id)
    }

    /// A waiting job, to be priced; `assoc` is its association's position.
    pub(super) fn job(&self, row: &ffi::shim_waiting, assoc: Option<AssocIndex>) -> Job {
        Job {
            id: row.job_id,
            assoc,
            partition: find(&self.partitions, &row.partition),
            qos: find(&self.qos, &row.qos_id),
            partitions: Span {
                start: row.partitions,
                len: row.partitions_len,
            },
            qos_list: Span {
                start: row.qos_list,
                len: row.qos_list_len,
            },
            accrue_time: row.accrue_time,
            cpus: row.cpus,
            nodes: row.nodes,
            time_limit: host::time_limit(
                row.time_limit,
                row.time_limit_infinite,
                row.time_limit_unset,
            ),
            nice: row.nice,
            site_factor: row.site_factor,
            tres: tres(row.tres),
            priority: row.priority,
            direct: row.direct,
        }
    }
}

/// An association of slurmctld as a row of the engine.
pub(super) fn assoc(row: &ffi::shim_assoc) -> Assoc {
    Assoc {
        id: row.id,
        parent: (row.parent_id != 0).then_some(row.parent_id),
        kind: if row.is_user {
            AssocKind::User
        } else {
            AssocKind::Account
        },
        shares: if row.shares_from_parent {
            Shares::Parent
        } else {
            Shares::Raw(row.shares_raw.min(Shares::MAX_RAW))
        },
    }
}

fn kept(row: &ffi::shim_assoc) -> Kept {
    Kept {
        norm_shares: row.shares_norm,
        norm_usage: row.has_usage_norm.then(|| host::number(row.usage_norm)),
        effective_usage: row.has_usage_efctv.then(|| host::number(row.usage_efctv)),
    }
}

fn tres(start: u32) -> Option<Index> {
    (start != NONE).then(|| Index::new(start as usize))
}

fn find<K: Ord>(sorted: &[(K, Index)], key: &K) -> Option<Index> {
    let position = sorted.binary_search_by(|(known, _)| known.cmp(key)).ok()?;
    Some(sorted[position].1)
}
