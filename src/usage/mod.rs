//! What was used and how it fades.
//!
//! | noun | what it is |
//! |---|---|
//! | [`Decay`] | the half-life, as a factor over a time and as the weight of use over a period |
//! | [`Ledger`] | raw usage per association; charging a leaf charges its ancestors |
//! | [`ResetSchedule`] | when `PriorityUsageResetPeriod` clears everything |
//! | [`billable_tres`] | what a job counts per second |
//! | [`Run`], [`charge`] | what a job is charged for a period |

mod accrual;
mod billing;
mod decay;
mod ledger;
mod reset;
mod run;

pub use accrual::{Amounts, Charge, Consumed, accrues, charge, consumed_at_start};
pub use billing::{BillingRule, TresKind, billable_tres, recounts_billing};
pub use decay::Decay;
pub use ledger::{Ledger, UsageError};
pub use reset::{ResetSchedule, next_reset};
pub use run::{Period, Phase, Run, RunState};
