//! Cases in which the plugin follows `priority/multifactor` instead of the documentation.

use crate::compat::Compat;

/// Behaviours of stock to follow; all false under `compat=documented`. Differences between releases
/// are decided when the plugin is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub(in crate::slurm) struct Quirks {
    /// Without slurmdbd, age and fair share do not count until the first reconfigure.
    pub forgets_weights_at_start: bool,
    /// Without slurmdbd there are no passes, or passes only record their time.
    pub needs_slurmdbd_to_pass: bool,
    /// Fair share comes from the associations' records, and a query of it writes to them.
    pub reads_records: bool,
    /// A row of sprio's list keeps the term of the job's first QOS for a QOS of priority 0.
    pub keeps_term_of_first_qos: bool,
    /// In that list, TRES for which a job's other partition has no count are weighted again.
    pub weighs_tres_again: bool,
    /// Before 23.02, a row of a job in several partitions does not show the priority that an
    /// administrator set.
    pub hides_direct_priority: bool,
    /// Run-seconds are not added again if a reconfigure changes the ranking.
    pub keeps_run_secs: bool,
    /// Run-seconds are also subtracted for jobs whose association is gone.
    pub takes_run_secs_of_gone: bool,
    /// Ends of jobs that slurmctld does not report are not searched for, nor are ends before a
    /// crash.
    pub misses_unreported_ends: bool,
    /// Ends are charged with the half-life of the last pass, not with the current one.
    pub values_ends_as_last_pass: bool,
    /// A waiting job whose limits slurmctld tests at submission, by calling the hook for its end,
    /// is treated as ended (heterogeneous jobs, from 26.05 on).
    pub takes_trials_for_ends: bool,
    /// A pass does not call the site factor plugin if the clock shows a time before the last pass;
    /// no message reports such a clock.
    pub ignores_clock_back: bool,
    /// Jobs that have ended get priorities, too.
    pub prices_ended: bool,
    /// The time up to which a run was charged is not kept for each run.
    pub keeps_no_runs: bool,
    /// The plugin writes no state file with all usage and the time of the last pass.
    pub has_no_state_file: bool,
    /// Negative usage is used in computations.
    pub negative_usage: bool,
    /// `PriorityUsageResetPeriod=NOW` resets after each reconfigure.
    pub resets_again: bool,
}

impl Quirks {
    pub(in crate::slurm) const fn of(compat: Compat) -> Quirks {
        let slurm = compat.is_slurm();
        Quirks {
            forgets_weights_at_start: slurm,
            needs_slurmdbd_to_pass: slurm,
            reads_records: slurm,
            keeps_term_of_first_qos: slurm,
            weighs_tres_again: slurm,
            hides_direct_priority: slurm,
            keeps_run_secs: slurm,
            takes_run_secs_of_gone: slurm,
            misses_unreported_ends: slurm,
            values_ends_as_last_pass: slurm,
            takes_trials_for_ends: slurm,
            ignores_clock_back: slurm,
            prices_ended: slurm,
            keeps_no_runs: slurm,
            has_no_state_file: slurm,
            negative_usage: slurm,
            resets_again: slurm,
        }
    }
}
