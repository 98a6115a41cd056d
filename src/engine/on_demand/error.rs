//! Why an on-demand queue refuses a call.

use super::Limit;
use crate::engine::queue::Micros;

/// Why an on-demand queue refuses a call. The queue is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OnDemandError {
    /// No room for another waiting job.
    #[error("the limit of {limit} is reached: {waiting} on-demand jobs wait, {size} may")]
    Full {
        /// Which limit.
        limit: Limit,
        /// Its size.
        size: u32,
        /// How full it is.
        waiting: u32,
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
    /// A job of a reservation, which is not halted for others.
    #[error("job {job} is a job of a reservation: only on-demand jobs are halted")]
    NotHalted {
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
    /// A machine that runs a job which this one cannot run beside.
    #[error("machine {name:?} runs job {running}, job {job} cannot run beside it")]
    Busy {
        /// Its name.
        name: String,
        /// The job that runs.
        running: u64,
        /// The job that does not.
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
    /// A second reservation of an id.
    #[error("there is a reservation {reservation} already")]
    ReservationTwice {
        /// Its id.
        reservation: u64,
    },
    /// A reservation that is not there, or is over.
    #[error("there is no reservation {reservation}")]
    UnknownReservation {
        /// Its id.
        reservation: u64,
    },
    /// A reservation of no time, or of a part of a second.
    #[error(
        "reservation {reservation} lasts {micros} microseconds: it must be whole seconds, at least 1"
    )]
    Length {
        /// Its id.
        reservation: u64,
        /// How long.
        micros: i128,
    },
    /// A reservation that would begin in the past.
    #[error("reservation {reservation} starts at {start}, but it is {now} already")]
    Past {
        /// Its id.
        reservation: u64,
        /// Its start.
        start: Micros,
        /// Now.
        now: Micros,
    },
    /// Two reservations of one machine at one time.
    #[error("reservation {reservation} overlaps reservation {other} of machine {name:?}")]
    Overlap {
        /// Its id.
        reservation: u64,
        /// The one that was there.
        other: u64,
        /// The machine.
        name: String,
    },
    /// A reservation that runs cannot be cancelled.
    #[error("reservation {reservation} has begun at {start}")]
    Begun {
        /// Its id.
        reservation: u64,
        /// Its start.
        start: Micros,
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
}
