//! One pass: usage, ranks, priorities. Knows no host, no clock, no files.
//!
//! The order of a pass is written here once, in [`Engine`]. A host that has the whole site in memory
//! (the C ABI, the command) holds a [`Site`]; the plugin, whose usage is in slurmctld's records, hands
//! these to an [`Engine`] before each pass:
//!
//! | step | what | by |
//! |---|---|---|
//! | advance | usage becomes that of now: all of it changes by one factor | [`Model::advance`] |
//! | charge | running and ended jobs are charged what they used since the last pass, in their order | [`due`], [`Model::charge`] |
//! | rank | fair share is computed from usage | [`fairshare::compute`] |
//! | publish | factors go to the table that pricing reads, and the results to the host | [`Host::ranked`] |
//! | price | jobs are priced | [`Pricer`] |
//!
//! Jobs are priced by the host, when it can write. Memory is reused from pass to pass. [`Standings`] has
//! the numbers that reports show of a site that was ranked.
//!
//! Stock orders classic fair share differently (`compat=slurm` without Fair Tree): jobs are charged
//! and priced one after the other; see `stock_classic`.
//!
//! | | Fair Tree, and documented | classic under `compat=slurm` |
//! |---|---|---|
//! | accounts' effective usage | of usage up to now | of usage before this pass |
//! | users' effective usage | of usage up to now | of usage when their first job is priced |
//! | first pass, or the clock stepped back | all steps | nothing at all |
//!
//! [`ChargedByPasses`] has the time up to which each run is charged, so that nothing is charged
//! twice when the clock steps back.
//!
//! [`queue`] selects the next job of a machine; [`on_demand`] does so with reservations.
//!
//! Source: `_decay_thread` and `fair_tree_decay` of priority/multifactor.
//!
//! [`Model::advance`]: crate::usage::Model::advance
//! [`Model::charge`]: crate::usage::Model::charge
//! [`due`]: crate::usage::due
//! [`Pricer`]: crate::priority::Pricer

mod assoc_result;
#[cfg(any(feature = "capi", feature = "slurm", test))]
mod bytes;
mod charge;
mod charged_by_passes;
mod competitors;
mod held;
mod input;
mod machine_error;
pub mod on_demand;
mod pass;
pub mod queue;
mod site;
mod standing;
mod stock_classic;

use crate::config::{Config, UsageModel};
use crate::fairshare::{self, AssocFairshare};
use crate::priority::JobTables;
use crate::tree::Tree;
use crate::usage::{Decay, RawUsage};

pub use assoc_result::AssocResult;
pub use charge::{Accruing, Refused};
pub use charged_by_passes::{ChargedByPasses, RunKey};
pub use competitors::{ChargedTo, Competitors, longest_secs, units};
pub use held::{Finished, Held};
pub use input::Input;
pub use machine_error::MachineError;
pub use pass::{Engine, Host, Outcome, asks_for_queue};
pub use site::Site;
pub use standing::{Claim, Standing, Standings};

/// How usage decays under these settings; not at all in windows and totals.
pub fn decay(config: &Config) -> Decay {
    let half_life_secs = match config.usage() {
        UsageModel::HalfLife => config.priority_decay_half_life_secs,
        UsageModel::Window { .. } | UsageModel::Total { .. } => 0,
    };
    Decay::new(half_life_secs, config.compat)
}

/// Fair share of all associations, one per association by position, computed from scratch.
pub fn rank(config: &Config, tree: &Tree, raw_usage: &RawUsage) -> Vec<AssocFairshare> {
    fairshare::compute(config.ranking(), config.compat, tree, raw_usage.raw())
}

/// Writes fair-share factors to the table that pricing reads; 0 where there is none.
///
/// Panics when the tables differ in size.
pub fn publish(fairshare: &[AssocFairshare], tables: &mut JobTables) {
    assert_eq!(fairshare.len(), tables.assocs.len());
    for (found, assoc) in fairshare.iter().zip(&mut tables.assocs) {
        assoc.fs_factor = found.fs_factor.unwrap_or(0.0);
    }
}

#[cfg(test)]
mod tests;
