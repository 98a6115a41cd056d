//! Charges of jobs outside passes.
//!
//! | module | noun |
//! |---|---|
//! | `run` | a job's record as the engine's run, a charge as the shim's row |
//! | `job_end` | the end of a job, charged when slurmctld reports it |
//! | `unreported_ends` | ends that slurmctld does not report |
//! | `crash_recovery` | ends whose charge was lost in a crash |
//! | `run_secs` | run-seconds that start-up subtracts from the counters of limits |

pub(super) mod crash_recovery;
pub(super) mod job_end;
pub(super) mod run;
pub(super) mod run_secs;
pub(super) mod unreported_ends;
