//! Settings that concern the ledger.

use crate::config::{Config, UsageModel};
use crate::usage::window::{Window, WindowError};
use crate::usage::{Outcomes, Plan, longest_window_secs};
use jiff::tz::TimeZone;

/// Minimum time for which buckets are kept: a longer window may be configured later.
const KEPT_SECS: u64 = 62 * 86_400;

/// Minimum time while no window is configured: it may be configured again.
const KEPT_UNUSED_SECS: u64 = 400 * 86_400;

/// Windows, totals and outcomes from the settings.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::slurm) struct LedgerPlan {
    /// Plan of the nodes whose account has no plan of its own.
    pub(in crate::slurm) default: Plan,
    /// Plans of accounts, by name.
    pub(in crate::slurm) accounts: Vec<(String, Plan)>,
    /// Length of windows; `None` if no setting needs one.
    pub(in crate::slurm) length_secs: Option<u64>,
    /// Length of buckets; `None` if no setting needs one.
    pub(in crate::slurm) resolution_secs: Option<u32>,
    /// Outcomes that count.
    pub(in crate::slurm) counts: Outcomes,
}

impl LedgerPlan {
    /// Plan of these settings. `zone`: time zone of the dates.
    pub(in crate::slurm) fn new(config: &Config, zone: &TimeZone) -> LedgerPlan {
        let plan = |model| Plan::of(model, zone).unwrap_or_default();
        let given = config.accounts.iter();
        let given = given.filter_map(|row| Some((row.account.clone(), row.plan?)));
        let accounts: Vec<_> = given.collect();
        LedgerPlan {
            default: plan(config.usage()),
            length_secs: longest_window_secs(config),
            accounts: accounts
                .into_iter()
                .map(|(account, model)| (account, plan(model)))
                .collect(),
            resolution_secs: match config.usage() {
                UsageModel::HalfLife => None,
                UsageModel::Window { .. } | UsageModel::Total { .. } => {
                    Some(config.resolution_secs())
                }
            },
            counts: Outcomes::from(config.counts()),
        }
    }

    /// Time for which buckets are kept.
    pub(super) fn keep_secs(&self) -> u64 {
        match self.length_secs {
            Some(length_secs) => length_secs.max(KEPT_SECS),
            None => KEPT_UNUSED_SECS,
        }
    }

    /// Window of a ledger with these buckets; one bucket long if no setting needs a window.
    pub(super) fn window(&self, resolution_secs: u32) -> Result<Window, WindowError> {
        let resolution_secs = u64::from(resolution_secs);
        let length_secs = self.length_secs.unwrap_or(resolution_secs);
        Window::new(length_secs.max(resolution_secs), resolution_secs)
    }
}
