//! Past use, from the accounting database into ledgers, and the contents of ledger files.
//!
//! | module | noun |
//! |---|---|
//! | `filler` | runs of `sacct` as [`fairtree::usage::window::UsageHistory`], by the rules of a site |
//! | `overview` | which times are covered by whom, and how old each source is |
//! | `check` | what is wrong with ledger files, and whether their sums are those of `sacct` |

mod check;
mod filler;
mod overview;

pub use check::{LedgerCheck, LedgerProblem, SumCheck, check_files, check_sums, sums_needed};
pub use filler::{Filled, Filler, LedgerRules, Times};
pub use overview::{CoveredTime, FileOverview, Overview, SourceOverview, overview};
