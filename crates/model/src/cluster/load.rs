//! Costs of running jobs.

use std::collections::BTreeMap;

use fairtree::engine::Accruing;
use fairtree::tree::AssocIndex;

/// Usage that the running jobs of one association add.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The association that pays.
    pub assoc: AssocIndex,
    /// Billing TRES times usage factor: TRES-seconds per second, from 0 up.
    pub tres_per_sec: f64,
}

impl Load {
    /// The sums over the jobs that accrue usage now, by position; jobs at their end and jobs that
    /// cost nothing are left out.
    pub fn of(accruing: &[Accruing]) -> Vec<Load> {
        let mut sums: BTreeMap<AssocIndex, f64> = BTreeMap::new();
        for job in accruing.iter().filter(|job| !job.at_end) {
            // As charges read it: a negative usage factor counts as 1.
            let usage_factor = job.run.usage_factor;
            let usage_factor = if usage_factor >= 0.0 {
                usage_factor
            } else {
                1.0
            };
            let rate = job.run.billable_tres * usage_factor;
            if rate > 0.0 && rate.is_finite() {
                *sums.entry(job.assoc).or_default() += rate;
            }
        }
        let sums = sums.into_iter();
        sums.map(|(assoc, tres_per_sec)| Load {
            assoc,
            tres_per_sec,
        })
        .collect()
    }
}
