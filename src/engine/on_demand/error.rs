//! Why an on-demand queue refuses a call.

use super::Limit;
use crate::engine::MachineError;
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
    /// A job of a reservation, which is not halted for others.
    #[error("job {job} is a job of a reservation: only on-demand jobs are halted")]
    NotHalted {
        /// Its id.
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
    /// A reservation that would have ended in the past.
    #[error("reservation {reservation} ends at {end}, but it is {now} already")]
    Over {
        /// Its id.
        reservation: u64,
        /// Its end.
        end: Micros,
        /// Now.
        now: Micros,
    },
    /// A reservation that runs cannot be cancelled.
    #[error("reservation {reservation} has begun at {start}")]
    Begun {
        /// Its id.
        reservation: u64,
        /// Its start.
        start: Micros,
    },
    /// Machines, jobs or saved bytes of which every queue refuses this.
    #[error(transparent)]
    Machine(#[from] MachineError),
}
