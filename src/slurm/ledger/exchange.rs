//! Data that passes and the ledgers exchange.

use super::plan::LedgerPlan;
use super::tree_ledger::Numbers;
use super::written::Held;
use crate::engine::RunKey;
use crate::tree::{AssocId, AssocIndex, Tree};
use crate::usage::Plan;
use crate::usage::window::{LeafKey, UsageHistory, WindowError};
use std::collections::HashMap;
use std::sync::Arc;

/// Data of a QOS that a pass needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::slurm) struct SeenQos {
    pub(in crate::slurm) id: u32,
    /// True for the flag NoDecay: its usage never decays.
    pub(in crate::slurm) no_decay: bool,
    /// Values in its record; `None` if they are not numbers.
    pub(in crate::slurm) held: Option<Held>,
}

/// Host data that a pass needs, except runs.
pub(in crate::slurm) struct SeenSite<'a> {
    pub(in crate::slurm) cluster: &'a str,
    pub(in crate::slurm) tree: &'a Arc<Tree>,
    /// Names of the host's TRES, in its order.
    pub(in crate::slurm) tres: &'a [String],
    pub(in crate::slurm) qos: &'a [SeenQos],
    pub(in crate::slurm) now: i64,
    pub(in crate::slurm) plan: &'a LedgerPlan,
    /// Plans of accounts.
    pub(in crate::slurm) plans: &'a [(AssocId, Plan)],
    /// Returns the values in this association's record; `None` if they are not numbers. Without
    /// a function, records have the values last set plus the charges since then.
    pub(in crate::slurm) held: Option<&'a dyn Fn(AssocIndex) -> Option<Held>>,
    /// Names of the associations; called if the tree is different.
    pub(in crate::slurm) names: &'a dyn Fn() -> HashMap<AssocId, LeafKey>,
}

/// Content of the ledgers' files.
#[derive(Debug, Default)]
pub(in crate::slurm) struct Found {
    pub(in crate::slurm) assocs: Option<UsageHistory>,
    pub(in crate::slurm) qos: Option<UsageHistory>,
    /// True if no other plugin has made passes since.
    pub(in crate::slurm) continues: bool,
}

/// Problems of a pass: the first of each kind, and the number of others.
#[derive(Debug, Default)]
pub(in crate::slurm) struct LedgerComplaints {
    pub(in crate::slurm) refused: Option<(RunKey, WindowError, usize)>,
    pub(in crate::slurm) lines: Vec<String>,
}

/// Change of a QOS record.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::slurm) struct QosChange {
    pub(in crate::slurm) id: u32,
    /// true: add these numbers to the record; false: overwrite it.
    pub(in crate::slurm) adds: bool,
    pub(in crate::slurm) numbers: Numbers,
}
