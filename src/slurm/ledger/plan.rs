//! Settings that concern the ledger.

use crate::config::{Config, UsageModel};
use crate::usage::window::{Window, WindowError};
use crate::usage::{Outcomes, Plan, Total};
use jiff::civil::DateTime;
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
        let plan = |model| plan_of(model, zone);
        let given = config.accounts.iter();
        let given = given.filter_map(|row| Some((row.account.clone(), row.plan?)));
        let accounts: Vec<_> = given.collect();
        let models = accounts.iter().map(|(_, model)| *model);
        let length = |model| match model {
            UsageModel::Window { length_secs } => Some(u64::from(length_secs)),
            UsageModel::HalfLife | UsageModel::Total { .. } => None,
        };
        LedgerPlan {
            default: plan(config.usage()),
            length_secs: models.chain([config.usage()]).filter_map(length).max(),
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

fn plan_of(model: UsageModel, zone: &TimeZone) -> Plan {
    match model {
        UsageModel::HalfLife | UsageModel::Window { .. } => Plan::Window,
        UsageModel::Total { since } => {
            // In a zone east of Greenwich, 1970 begins before the epoch.
            let since = moment(since, zone).unwrap_or(0).max(0);
            Total::new(since).map_or(Plan::Window, Plan::Total)
        }
    }
}

/// A local date as seconds since 1970. Times that the clock skips or shows twice are resolved as in
/// [`jiff::tz::Disambiguation::Compatible`]. `None` at the end of time.
fn moment(date: DateTime, zone: &TimeZone) -> Option<i64> {
    let zoned = date.to_zoned(zone.clone()).ok()?;
    Some(zoned.timestamp().as_second())
}
