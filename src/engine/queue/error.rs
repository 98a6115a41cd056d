//! Why a queue refuses a call.

use crate::engine::MachineError;
use crate::tree::{AssocId, TreeError};

/// Why a queue refuses a call. The queue is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
    #[error(
        "account {id} has a rule of its own, but shares as its parent does, or is a user where \
         users do not compete"
    )]
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
    /// More minutes than the parent has.
    #[error(
        "the accounts below account {id} have {given} minutes together, but it has {minutes} to give"
    )]
    MinutesBeyond {
        /// The parent.
        id: AssocId,
        /// Its minutes, or what is left for it of those of an account above.
        minutes: f64,
        /// Those of its children together.
        given: u64,
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
    /// A job without an expected and a maximum run time.
    #[error(
        "job {job} has neither an expected nor a maximum run time, and there is no default for its \
         machine"
    )]
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
    /// More use than is counted.
    #[error(
        "association {assoc}, or an account above it, could have used more than is counted: 2^126 \
         units times microseconds"
    )]
    TooMuchUse {
        /// The association.
        assoc: AssocId,
    },
    /// Machines, jobs or saved bytes of which every queue refuses this.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A saved tree that is none.
    #[error(transparent)]
    Tree(#[from] TreeError),
}
