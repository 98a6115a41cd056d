//! What the settings ask of the ledger.

use crate::config::{Config, UsageModel};
use crate::usage::window::{Window, WindowError};
use crate::usage::{Outcomes, Plan, Total};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Buckets are kept for so long at least: a longer window may be asked for later.
const KEPT_SECS: u64 = 62 * 86_400;

/// And for so long while no window is in force: it may come back.
const KEPT_UNUSED_SECS: u64 = 400 * 86_400;

/// Windows, totals and outcomes as the settings have them.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::slurm) struct LedgerPlan {
    /// Of the nodes whose account has no plan of its own.
    pub(in crate::slurm) default: Plan,
    /// Plans of accounts, by name.
    pub(in crate::slurm) accounts: Vec<(String, Plan)>,
    /// The length of windows; `None`: nothing asks for one.
    pub(in crate::slurm) length_secs: Option<u64>,
    /// Of buckets; `None`: nothing asks for one.
    pub(in crate::slurm) resolution_secs: Option<u32>,
    /// Which ends count.
    pub(in crate::slurm) counts: Outcomes,
}

impl LedgerPlan {
    /// What these settings ask for. `zone`: that of the dates.
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

    /// For how long buckets are kept.
    pub(super) fn keep_secs(&self) -> u64 {
        match self.length_secs {
            Some(length_secs) => length_secs.max(KEPT_SECS),
            None => KEPT_UNUSED_SECS,
        }
    }

    /// The window of a ledger with these buckets; where nothing asks for one, of one bucket.
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
            // A clock on the wall may show the first day of 1970 before that begins at Greenwich.
            let since = moment(since, zone).unwrap_or(0).max(0);
            Total::new(since).map_or(Plan::Window, Plan::Total)
        }
    }
}

/// A date of a clock on the wall as seconds since 1970. What the clock skips, or shows twice, is
/// taken as [`jiff::tz::Disambiguation::Compatible`] has it. `None` at the end of time.
fn moment(date: DateTime, zone: &TimeZone) -> Option<i64> {
    let zoned = date.to_zoned(zone.clone()).ok()?;
    Some(zoned.timestamp().as_second())
}
