//! What was used and how it decays.
//!
//! | noun | what it is |
//! |---|---|
//! | [`Model`] | how usage follows from what was used when: [`HalfLife`], [`Windowed`] |
//! | [`Decay`] | the half-life, as a factor over a time and as the weight of use over a period |
//! | [`RawUsage`] | raw usage per association; charging a leaf charges its ancestors |
//! | [`window::WindowLedger`] | what was used in a window of time, and since dates ([`Total`]), per association |
//! | [`ResetSchedule`] | when `PriorityUsageResetPeriod` clears everything |
//! | [`billable_tres`] | what a job counts per second |
//! | [`Run`], [`charge`] | what a job is charged for a period |
//! | [`RunTimes`] | how long runs took, as an estimate of the next ones |
//!
//! ```
//! use fairtree::compat::Compat;
//! use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
//! use fairtree::usage::{Decay, RawUsage};
//! let row = |id, parent, kind| Assoc { id, parent, kind, shares: Shares::Raw(1) };
//! let tree = Tree::from_rows([
//!     row(1, None, AssocKind::Account),
//!     row(2, Some(1), AssocKind::Account),
//!     row(3, Some(2), AssocKind::User),
//! ])?;
//! let mut raw_usage = RawUsage::new(&tree);
//! let user = tree.index_of(3).unwrap();
//! raw_usage.charge(&tree, user, 1_000.0)?;
//! raw_usage.decay(Decay::new(604_800, Compat::Documented).factor(604_800));
//! assert!(raw_usage.raw().iter().all(|usage| usage.to_f64() == 500.0));
//! assert!(raw_usage.charge(&tree, user, f64::NAN).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accrual;
mod billing;
mod decay;
pub mod model;
mod outcome;
mod quirks;
mod raw;
mod reset;
mod run;
mod run_times;
mod total;
pub mod window;

pub use accrual::{Amounts, Charge, Consumed, Due, accrues, charge, consumed_at_start, due};
pub use billing::{BillingRule, TresKind, billable_tres, recounts_billing};
pub use decay::Decay;
pub use model::{
    Given, HalfLife, Model, ModelSettings, Quantity, UsageChange, Use, Windowed,
    longest_window_secs,
};
pub use outcome::{EndState, Outcomes};
pub use raw::{RawUsage, UsageError};
pub use reset::{ResetSchedule, next_reset};
pub use run::{Period, Phase, Run, RunState};
pub use run_times::{LastRuns, RunTimes};
pub use total::{Plan, Total};
