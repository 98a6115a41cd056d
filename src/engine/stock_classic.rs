//! Stock's order of a pass for classic fair share: `compat=slurm` without Fair Tree.
//!
//! Stock computes the effective usage of accounts first, from the usage that the last pass
//! left; then usage decays; then stock goes once through the job list, charging each job and
//! pricing it if it waits. A user's effective usage is computed when the first of his jobs is
//! priced, from the usage at that moment, and does not change in the rest of the pass. So the
//! effect of a job on its neighbours in this pass depends on its place in the list.
//!
//! On a first pass, and when the clock stepped back, only the accounts are computed.

use super::input::Input;
use crate::config::Config;
use crate::extended::Extended;
use crate::fairshare::stock_records::Records;
use crate::fairshare::{self, RecordState};
use crate::priority::Job;
use crate::tree::AssocIndex;

/// Slurmctld's records, to be changed by a pass. `record_states`: one per association.
pub(super) fn records<'a>(input: &Input<'a>, record_states: &'a mut [RecordState]) -> Records<'a> {
    let (ranking, compat) = (input.config.ranking(), input.config.compat);
    Records::new(input.tree, input.host_math, ranking, compat, record_states)
}

/// Records for a host without any: as if all had been computed from `raw` just before.
pub(super) fn record_states(input: &Input<'_>, raw: &[Extended]) -> Vec<RecordState> {
    let (ranking, compat) = (input.config.ranking(), input.config.compat);
    let found = fairshare::compute(ranking, compat, input.tree, raw);
    found.iter().map(RecordState::from).collect()
}

/// The association whose factor the price of this job needs, if it needs one.
pub(super) fn payer(config: &Config, job: &Job) -> Option<AssocIndex> {
    let held = job.priority == 0;
    let weighs = config.priority_weight_fairshare != 0;
    job.assoc.filter(|_| weighs && !held && !job.direct)
}
