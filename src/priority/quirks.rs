//! Differences of `priority/multifactor` from its documentation, per release.

use crate::compat::Compat;

/// Slurm's deviations to follow; all false under `compat=documented`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Quirks {
    /// Age is counted in 32 bits and wraps after 136 years.
    pub age_wraps: bool,
    /// A job with more CPUs than the cluster counts as the smallest one: the difference wraps in 32
    /// bits.
    pub cpus_wrap: bool,
    /// The same with nodes (before 23.02).
    pub nodes_wrap: bool,
    /// A cluster without nodes or CPUs, or a time limit of 0 minutes, leads to a division by zero
    /// in floating point.
    pub divides_by_zero: bool,
    /// The size factor is computed even without nodes or CPUs (before 23.02).
    pub sizes_empty_cluster: bool,
    /// In a list of several QOS, a QOS of priority 0 counts as the job's first QOS does.
    pub qos_of_0_inherits: bool,
    /// A job has no list of QOS (before 24.11).
    pub no_qos_lists: bool,
}

impl Quirks {
    /// Deviations of `compat`. Nothing changed from 24.11 to 26.05.
    pub(super) fn of(compat: Compat) -> Quirks {
        let Some(facts) = compat.facts() else {
            return Quirks::default();
        };
        Quirks {
            age_wraps: true,
            cpus_wrap: true,
            nodes_wrap: facts.nodes_wrap,
            divides_by_zero: true,
            sizes_empty_cluster: facts.nodes_wrap,
            qos_of_0_inherits: true,
            no_qos_lists: !facts.qos_lists,
        }
    }
}
