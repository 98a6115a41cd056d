//! Where the plugin does as `priority/multifactor` does, and not as documented.

use crate::compat::Compat;

/// Which of Slurm's own ways to follow; all false under `compat=documented`. What depends on the
/// release is decided when the plugin is built for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub(in crate::slurm) struct Quirks {
    /// Without slurmdbd, age and fair share do not count from the start to the first reconfigure.
    pub forgets_weights_at_start: bool,
    /// Without slurmdbd there are no passes, or only their times are noted.
    pub needs_slurmdbd_to_pass: bool,
    /// Fair share is what the associations' records say, and what asking for it writes there.
    pub reads_records: bool,
    /// A row of the list behind sprio keeps the term of the job's first QOS for a QOS of priority 0.
    pub keeps_term_of_first_qos: bool,
    /// In that list, TRES that a job's other partition has no count for are weighted once more.
    pub weighs_tres_again: bool,
    /// Before 23.02, a row of a job in several partitions does not show the priority that an
    /// administrator set.
    pub hides_direct_priority: bool,
    /// Run seconds are not given again where a reconfigure brings another ranking.
    pub keeps_run_secs: bool,
    /// Run seconds of jobs whose association is gone are taken away, too.
    pub takes_run_secs_of_gone: bool,
    /// Ends of jobs that slurmctld does not report are not looked for, nor are those before a crash.
    pub misses_unreported_ends: bool,
    /// Ends are valued with the half-life of the last pass, not with the present one.
    pub values_ends_as_last_pass: bool,
    /// A job whose limits are tried at its submission, by its end while it waits, is taken for ended
    /// (heterogeneous jobs, from 26.05 on).
    pub takes_trials_for_ends: bool,
    /// No call of the site factor plugin in a pass whose clock is behind the last one; no message
    /// tells of such a clock.
    pub ignores_clock_back: bool,
    /// Jobs that have ended are priced.
    pub prices_ended: bool,
    /// What was charged until when is not known run by run.
    pub keeps_no_runs: bool,
    /// No file of ours has all usage beside the time of the last pass.
    pub has_no_state_file: bool,
    /// Usage below zero is reckoned with.
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
