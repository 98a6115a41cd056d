//! The engine's tables, made from the rows of slurmctld.

use super::snapshot::Snapshot;
use crate::fairshare::{Entitlement, RecordState};
use crate::priority::{
    AssocFactors, Index, Job, JobTables, Partition, Pricer, PriorityError, Qos, Span,
};
use crate::slurm::runtime::host::{self, NONE, ffi};
use crate::slurm::state::settings::Settings;
use crate::tree::{Assoc, AssocId, AssocIndex, AssocKind, Shares, Tree, TreeError};
use std::sync::Arc;

/// Tables of one snapshot; kept from pass to pass, so that unchanged ones are not rebuilt.
#[derive(Debug, Default)]
pub(in crate::slurm) struct Tables {
    /// Associations; shared with readers of the last pass's tree.
    pub(in crate::slurm) tree: Arc<Tree>,
    /// State of slurmctld's records, by position; under `compat=slurm`.
    pub(in crate::slurm) record_states: Vec<RecordState>,
    pub(in crate::slurm) job_tables: JobTables,
    /// Entitlements of associations.
    pub(in crate::slurm) entitlement: Entitlement,
    /// Accounts whose children have more minutes than they, with the minutes of the children.
    exceeded: Vec<(AssocId, u64)>,
    /// Positions of slurmctld's TRES that have a weight, in a pass.
    pub(in crate::slurm) weighed: Vec<u32>,
    partitions: Vec<(u64, Index)>,
    qos: Vec<(u32, Index)>,
}

impl Tables {
    /// Finds the TRES that have a weight: a pass must copy only their counts.
    pub(in crate::slurm) fn weigh(&mut self, settings: &Settings) {
        self.weighed.clear();
        self.job_tables.tres_names.clear();
        if !settings.weighs_tres() {
            return;
        }
        let weights = &settings.config.priority_weight_tres;
        for (place, name) in (0..).zip(host::tres_names()) {
            if weights
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(&name))
            {
                self.weighed.push(place);
                self.job_tables.tres_names.push(name);
            }
        }
    }

    /// Takes associations, QOS, partitions and lists from a snapshot, with the TRES found by
    /// [`Tables::weigh`]. Fair-share factors do not change; they are 0 if the tree is different.
    ///
    /// # Errors
    /// If the associations are not a tree.
    pub(in crate::slurm) fn fill(&mut self, snapshot: &Snapshot) -> Result<(), TreeError> {
        if !snapshot.assocs_cached() {
            self.fill_assocs(snapshot)?;
        }
        self.fill_job_tables(snapshot);
        Ok(())
    }

    /// Determines entitlements of associations: shares of one whole; if the policy gives minutes to
    /// accounts, only these count. Returns the accounts whose children exceed them, with the minutes of
    /// the children, where they differ from those before.
    pub(in crate::slurm) fn entitle(&mut self, settings: &Settings) -> Vec<(AssocId, u64)> {
        let config = &settings.config;
        if !config.gives_minutes() {
            self.entitlement = Entitlement::SHARES;
            self.exceeded.clear();
            return Vec::new();
        }
        let ids = host::account_ids(config.accounts.iter().map(|row| row.account.as_str()));
        let index = |id: Option<AssocId>| id.and_then(|id| self.tree.index_of(id));
        let rows = config.accounts.iter().zip(ids.into_iter().map(index));
        self.entitlement = Entitlement::of_policy(config, &self.tree, rows, 0);
        let found = self.entitlement.excesses(&self.tree).into_iter();
        let id = |parent: AssocIndex| self.tree.rows()[parent.get()].id;
        let found: Vec<(AssocId, u64)> = found.map(|row| (id(row.parent), row.given)).collect();
        match found == self.exceeded {
            true => Vec::new(),
            false => {
                self.exceeded.clone_from(&found);
                found
            }
        }
    }

    /// The same without associations: the data for pricing one job. `tres_names`: one per TRES of
    /// the snapshot, in Slurm's order; empty if TRES have no weight.
    pub(in crate::slurm) fn fill_job(&mut self, snapshot: &Snapshot, tres_names: Vec<String>) {
        self.job_tables.tres_names = tres_names;
        self.fill_job_tables(snapshot);
    }

    fn fill_job_tables(&mut self, snapshot: &Snapshot) {
        let tables = &mut self.job_tables;
        // Counts of partitions come first. Those of jobs stay in the snapshot: see `pricer`.
        let count = tables.tres_names.len();
        let of_partitions = snapshot.partitions().iter();
        let end = of_partitions.filter(|row| row.tres != NONE);
        let end = end.map(|row| row.tres as usize + count).max().unwrap_or(0);
        tables.tres_counts.clear();
        tables
            .tres_counts
            .extend_from_slice(&snapshot.tres()[..end]);
        tables.cluster_cpus = snapshot.cluster_cpus();
        tables.cluster_nodes = snapshot.cluster_nodes();
        self.fill_partitions(snapshot);
        self.fill_qos(snapshot);
    }

    fn fill_assocs(&mut self, snapshot: &Snapshot) -> Result<(), TreeError> {
        self.fill_tree(snapshot)?;
        self.record_states.clear();
        self.record_states
            .extend(snapshot.recorded().iter().map(recorded));
        for (row, to) in snapshot.assocs().iter().zip(&mut self.job_tables.assocs) {
            to.priority = row.priority;
            to.norm_priority = row.priority_norm;
        }
        Ok(())
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
            self.job_tables.assocs.clear();
            let none = AssocFactors::default();
            self.job_tables.assocs.resize(rows.len(), none);
        }
        Ok(())
    }

    fn fill_partitions(&mut self, snapshot: &Snapshot) {
        self.partitions.clear();
        self.job_tables.partitions.clear();
        for (position, row) in snapshot.partitions().iter().enumerate() {
            self.partitions.push((row.key, Index::new(position)));
            self.job_tables.partitions.push(Partition {
                priority_job_factor: row.priority_job_factor,
                norm_priority: row.norm_priority,
                max_time_mins: (!row.max_time_infinite).then_some(row.max_time),
                tres: index(row.tres),
            });
        }
        self.partitions.sort_unstable_by_key(|(key, _)| *key);
        self.job_tables.partition_lists.clear();
        for key in snapshot.partition_keys() {
            // For a moment, a job may refer to a partition that is no longer in slurmctld's list.
            // Any index will do then, because its priorities will not be written.
            let index = find(&self.partitions, key).unwrap_or(Index::new(0));
            self.job_tables.partition_lists.push(index);
        }
    }

    fn fill_qos(&mut self, snapshot: &Snapshot) {
        self.qos.clear();
        self.job_tables.qos.clear();
        for (position, row) in snapshot.qos().iter().enumerate() {
            self.qos.push((row.id, Index::new(position)));
            self.job_tables.qos.push(Qos {
                priority: row.priority,
                norm_priority: row.norm_priority,
            });
        }
        self.qos.sort_by_key(|(id, _)| *id);
        self.job_tables.qos_lists.clear();
        for id in snapshot.qos_ids() {
            let index = find(&self.qos, id).unwrap_or(Index::new(0));
            self.job_tables.qos_lists.push(index);
        }
    }

    /// A pricer for the jobs of the snapshot from which the tables were made.
    ///
    /// # Errors
    /// Those of [`Pricer::new`].
    pub(in crate::slurm) fn pricer<'a>(
        &'a self,
        settings: &Settings,
        snapshot: &'a Snapshot,
        now: i64,
    ) -> Result<Pricer<'a>, PriorityError> {
        self.job_tables.check()?;
        self.pricer_again(settings, snapshot, now)
    }

    /// The same for tables that already had a pricer.
    pub(in crate::slurm) fn pricer_again<'a>(
        &'a self,
        settings: &Settings,
        snapshot: &'a Snapshot,
        now: i64,
    ) -> Result<Pricer<'a>, PriorityError> {
        let pricer = Pricer::of_checked(&settings.config, &self.job_tables, now)?;
        Ok(pricer.with_job_counts(snapshot.tres()))
    }

    /// The position of a QOS.
    pub(in crate::slurm) fn qos_row(&self, id: u32) -> Option<Index> {
        find(&self.qos, &id)
    }

    /// A waiting job, to be priced; `assoc` is its association's position.
    pub(in crate::slurm) fn job(
        snapshot: &Snapshot,
        row: &ffi::shim_waiting,
        assoc: Option<AssocIndex>,
    ) -> Job {
        let lists = snapshot.lists().get(row.lists as usize);
        let (partitions, qos_list) = lists.map_or_else(Default::default, spans);
        Job {
            assoc,
            partitions,
            qos_list,
            ..Tables::plain_job(row)
        }
    }

    /// The same without association and lists, which are not in the row.
    #[inline(always)]
    pub(in crate::slurm) fn plain_job(row: &ffi::shim_waiting) -> Job {
        Job {
            partition: index(row.partition),
            qos: index(row.qos),
            accrue_time: row.accrue_time,
            cpus: row.cpus,
            nodes: row.nodes,
            time_limit: row.limit(),
            nice: row.nice,
            site_factor: row.site_factor,
            tres: index(row.tres),
            priority: row.priority,
            direct: row.is(ffi::SHIM_DIRECT),
            ..Job::new(row.job_id)
        }
    }
}

/// An association of slurmctld as a row of the engine.
pub(in crate::slurm) fn assoc(row: &ffi::shim_assoc) -> Assoc {
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

fn recorded(row: &ffi::shim_assoc_recorded) -> RecordState {
    RecordState {
        norm_shares: row.shares_norm,
        norm_usage: row.has_usage_norm.then(|| host::number(row.usage_norm)),
        effective_usage: row.has_usage_efctv.then(|| host::number(row.usage_efctv)),
    }
}

#[inline(always)]
fn index(row: u32) -> Option<Index> {
    Index::from_slot(row.wrapping_sub(NONE))
}

/// Lists of partitions and QOS of a job.
fn spans(lists: &ffi::shim_lists) -> (Span, Span) {
    let span = |start, len| Span { start, len };
    (
        span(lists.partitions, lists.partitions_len),
        span(lists.qos, lists.qos_len),
    )
}

fn find<K: Ord>(sorted: &[(K, Index)], key: &K) -> Option<Index> {
    let position = sorted.binary_search_by(|(known, _)| known.cmp(key)).ok()?;
    Some(sorted[position].1)
}
