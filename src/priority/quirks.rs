//! Where `priority/multifactor` departs from its documentation, per release.

use crate::compat::Compat;

/// Which of Slurm's own ways to follow; all false under `compat=documented`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Quirks {
    /// Age is counted in 32 bits and wraps after 136 years.
    pub age_wraps: bool,
    /// A job with more CPUs than the cluster is taken for the smallest one: the difference wraps
    /// in 32 bits.
    pub cpus_wrap: bool,
    /// The same with nodes (before 23.02).
    pub nodes_wrap: bool,
    /// A cluster without nodes or CPUs, or a time limit of 0 minutes, divides by zero as it comes.
    pub divides_by_zero: bool,
    /// Without nodes or CPUs the size factor is worked out all the same (before 23.02).
    pub sizes_empty_cluster: bool,
    /// In a list of several QOS, one of priority 0 counts as the job's first QOS does.
    pub qos_of_0_inherits: bool,
    /// A job has no list of QOS (before 24.11).
    pub no_qos_lists: bool,
}

impl Quirks {
    /// Those of `compat`. From 24.11 on nothing changed up to 26.05.
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
