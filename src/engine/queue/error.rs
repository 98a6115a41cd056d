//! Why a queue refuses a call.

use super::settings::Micros;
use crate::tree::{AssocId, TreeError};

/// Why a queue refuses a call. The queue is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// A setting without sense.
    #[error("{setting} is {value}: it must be {allowed}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// A rule for an account that is not there.
    #[error("account {id} has a rule of its own, but is not in the tree")]
    UnknownAccount {
        /// Its id.
        id: AssocId,
    },
    /// Two rules for one account.
    #[error("account {id} has two rules of its own")]
    AccountTwice {
        /// Its id.
        id: AssocId,
    },
    /// A rule for an account that does not compete.
    #[error("account {id} has a rule of its own, but shares as its parent does")]
    AccountAside {
        /// Its id.
        id: AssocId,
    },
    /// Total use without a total allocation.
    #[error("account {id} counts all use since a moment, so it must be given minutes")]
    NoMinutes {
        /// Its id.
        id: AssocId,
    },
    /// An association that is not there.
    #[error("job {job}: association {assoc} is not in the tree")]
    UnknownAssoc {
        /// The job's id.
        job: u64,
        /// Its association.
        assoc: AssocId,
    },
    /// An association that no node of the shares stands for.
    #[error("job {job}: neither association {assoc} nor an account above it has shares")]
    NoShares {
        /// The job's id.
        job: u64,
        /// Its association.
        assoc: AssocId,
    },
    /// A machine that is not there.
    #[error("there is no machine {name:?}")]
    UnknownMachine {
        /// Its name.
        name: String,
    },
    /// A second machine of a name.
    #[error("there is a machine {name:?} already")]
    MachineTwice {
        /// Its name.
        name: String,
    },
    /// A second job of an id.
    #[error("there is a job {job} already")]
    JobTwice {
        /// Its id.
        job: u64,
    },
    /// A job that is not there.
    #[error("there is no job {job}")]
    UnknownJob {
        /// Its id.
        job: u64,
    },
    /// A job that runs.
    #[error("job {job} does not wait, it runs")]
    NotWaiting {
        /// Its id.
        job: u64,
    },
    /// A job that waits.
    #[error("job {job} does not run, it waits")]
    NotRunning {
        /// Its id.
        job: u64,
    },
    /// A job without an expected and a maximum run time.
    #[error("job {job} has neither an expected nor a maximum run time")]
    NoLength {
        /// Its id.
        job: u64,
    },
    /// A machine that runs as many jobs as it can.
    #[error("machine {name:?} runs {running} jobs at a time, job {job} would be one more")]
    Busy {
        /// Its name.
        name: String,
        /// How many it runs.
        running: u32,
        /// The job.
        job: u64,
    },
    /// A machine in maintenance.
    #[error("machine {name:?} is paused, job {job} cannot start")]
    Paused {
        /// Its name.
        name: String,
        /// The job.
        job: u64,
    },
    /// A job that ran longer than time has passed.
    #[error("job {job} started {passed} microseconds ago, it cannot have run for {executed}")]
    RanTooLong {
        /// Its id.
        job: u64,
        /// Reported.
        executed: Micros,
        /// Since its start.
        passed: Micros,
    },
    /// Saved bytes that are damaged.
    #[error("the saved queue is damaged: {why}")]
    Damaged {
        /// How.
        why: String,
    },
    /// Saved bytes of another version.
    #[error("the saved queue has format {found}, this version reads {read}")]
    Version {
        /// Its format.
        found: u32,
        /// Ours.
        read: u32,
    },
    /// A saved tree that is none.
    #[error(transparent)]
    Tree(#[from] TreeError),
}
