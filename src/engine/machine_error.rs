//! Why a queue of machines refuses a call, whatever it goes by.

/// Why a queue of machines refuses a call: what [`queue`](super::queue) and
/// [`on_demand`](super::on_demand) refuse alike. The queue is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
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
    /// A machine in maintenance.
    #[error("machine {name:?} is paused, job {job} cannot start")]
    Paused {
        /// Its name.
        name: String,
        /// The job.
        job: u64,
    },
    /// A machine that an account is not bound to.
    #[error("account {account} runs on {} only, not on machine {name:?}", listed(.allowed))]
    Elsewhere {
        /// The account or association that is bound.
        account: u32,
        /// The machine.
        name: String,
        /// The machines that it is bound to.
        allowed: Vec<String>,
    },
    /// A machine that cannot be removed yet.
    #[error(
        "machine {name:?} cannot be removed: {waiting} jobs wait for it, {running} jobs run there, \
         {reservations} reservations are not over"
    )]
    InUse {
        /// Its name.
        name: String,
        /// Jobs that wait for it.
        waiting: usize,
        /// Jobs that run there.
        running: usize,
        /// Reservations that are not over.
        reservations: usize,
    },
    /// A job that ran longer than time has passed.
    #[error("job {job} started {passed} microseconds ago, it cannot have run for {executed}")]
    RanTooLong {
        /// Its id.
        job: u64,
        /// Reported, in microseconds.
        executed: i64,
        /// Since its start, in microseconds.
        passed: i64,
    },
    /// Saved bytes that are damaged.
    #[error("the saved queue is damaged: {why}")]
    Damaged {
        /// How.
        why: String,
    },
    /// Saved bytes of another version.
    #[error("the saved queue has format {found}, this version reads formats 1 to {read}")]
    Version {
        /// Its format.
        found: u32,
        /// The latest that is read.
        read: u32,
    },
}

/// Names of machines in quotes.
fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.len() {
        1 => format!("machine {}", quoted[0]),
        _ => format!("machines {}", quoted.join(", ")),
    }
}
