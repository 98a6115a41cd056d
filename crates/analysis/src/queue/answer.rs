//! The answers of the queue, as `docs/queue.md` describes them.

use serde::Serialize;

use fairtree::engine::queue::Micros;

/// The queue's answer to one event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The moment, microseconds since 1970.
    pub time: Micros,
    /// The content.
    #[serde(flatten)]
    pub said: Said,
}

/// The content of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Said {
    /// A job waits.
    Submit {
        /// Its number.
        job: u64,
        /// On-demand: whether it is a job of the reservation that runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        reservation: Option<bool>,
        /// The on-demand job that must be halted for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        halt: Option<u64>,
    },
    /// A job does not wait, as a limit is reached.
    Refused(Refused),
    /// The next action of a machine.
    Next {
        /// The machine.
        machine: String,
        /// The action.
        decision: Decision,
        /// The job to run or to halt.
        job: Option<u64>,
        /// Its account.
        account: Option<String>,
        /// Why there is nothing to do.
        reason: Option<Reason>,
    },
    /// A job runs.
    Start {
        /// Its number.
        job: u64,
    },
    /// A run has ended.
    Finish(Finished),
    /// A run has ended, and the job waits again.
    Requeue(Finished),
    /// An on-demand job waits again, where it stood.
    Halted {
        /// Its number.
        job: u64,
    },
    /// A job is gone.
    Cancel {
        /// Its number.
        job: u64,
    },
    /// Maintenance begins.
    Pause {
        /// The machine.
        machine: String,
    },
    /// Maintenance is over.
    Resume {
        /// The machine.
        machine: String,
    },
    /// A machine is reserved.
    Reserve {
        /// Number of the reservation.
        reservation: u64,
    },
    /// A reservation is gone.
    CancelReservation {
        /// Number of the reservation.
        reservation: u64,
    },
    /// An account or a user has other shares.
    Shares {
        /// The account.
        account: String,
        /// The user.
        #[serde(skip_serializing_if = "Option::is_none")]
        user: Option<String>,
        /// Its shares; `None`: it shares as its parent does.
        shares: Option<u32>,
    },
    /// An account has other minutes.
    Minutes {
        /// The account.
        account: String,
        /// Its minutes; `None`: it has its shares again.
        minutes: Option<u64>,
    },
    /// A machine has other prices for what starts from now on.
    Price {
        /// The machine.
        machine: String,
        /// Of a microsecond of an on-demand run.
        execution_microsecond: u64,
        /// Of a second of a reservation.
        reserved_second: u64,
    },
    /// Another number of on-demand jobs may wait.
    Limit {
        /// Those of this account.
        #[serde(skip_serializing_if = "Option::is_none")]
        account: Option<String>,
        /// Those for this machine. Neither: those of each account without a limit of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
        /// How many; `None`: any number.
        limit: Option<u32>,
    },
    /// Time has passed.
    Time,
    /// The place of a job.
    Position {
        /// Its number.
        job: u64,
        /// The machine that it waits for.
        machine: String,
        /// Its place, from 1.
        position: usize,
    },
    /// The jobs that wait for a machine, first to last.
    Positions {
        /// The machine.
        machine: String,
        /// Its jobs.
        jobs: Vec<Place>,
    },
    /// When the jobs of a machine will start, in this order.
    Estimate {
        /// The machine.
        machine: String,
        /// Its jobs.
        jobs: Vec<Estimated>,
    },
    /// The standing of an account.
    Standing {
        /// The account.
        account: String,
        /// The user.
        #[serde(skip_serializing_if = "Option::is_none")]
        user: Option<String>,
        /// The usage of it and all below it, as far as it counts: units times microseconds.
        used: u128,
        /// Its entitlement, in the same unit.
        entitled: f64,
        /// Used over entitled, as jobs are chosen; `None`: entitled to nothing.
        ratio: Option<f64>,
    },
    /// The amounts that accounts owe.
    Bill(Bills),
}

/// A job that does not wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Its number.
    pub job: u64,
    /// Which limit: of an account, or of a machine.
    pub limit: LimitOf,
    /// The account or the machine.
    pub name: String,
    /// How many on-demand jobs may wait.
    pub size: u32,
    /// How many do.
    pub waiting: u32,
}

/// The subject of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitOf {
    /// All on-demand jobs of an account.
    Account,
    /// All on-demand jobs for a machine.
    Machine,
}

/// The next action of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run the job.
    Run,
    /// Halt the job.
    Halt,
    /// Nothing.
    Nothing,
}

/// Why there is nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No job waits for the machine.
    NoneWaits,
    /// The machine is in maintenance.
    Paused,
    /// Running jobs leave no room.
    Busy,
}

/// A run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Finished {
    /// Its job.
    pub job: u64,
    /// How long it was executed, microseconds.
    pub executed: Micros,
    /// Its use counts, or on demand it is billed.
    pub counts: bool,
    /// On demand: price of a microsecond under which it ran; 0 for a job of a reservation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<u64>,
    /// On demand: its cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u128>,
}

/// A job in its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its number.
    pub job: u64,
    /// Its account.
    pub account: String,
}

/// When a job will start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Estimated {
    /// Its number.
    pub job: u64,
    /// Its account.
    pub account: String,
    /// When, microseconds since 1970; `None`: never, as things are.
    pub start: Option<Micros>,
    /// The estimate of the run time: `expected` or `limit`.
    pub proxy: &'static str,
    /// With run times as they were in the past it starts from this moment on in 95 % of all cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<Micros>,
    /// And up to this one in 95 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<Micros>,
}

/// The amounts that accounts owe for what ended in a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bills {
    /// From this moment on.
    pub from: Micros,
    /// Before this one.
    pub to: Micros,
    /// By account and machine.
    pub bills: Vec<Billed>,
    /// The sum.
    pub total: u128,
}

/// The amount that an account owes for a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Billed {
    /// The account.
    pub account: String,
    /// The machine.
    pub machine: String,
    /// Microseconds of execution that are billed.
    pub executed: u128,
    /// Seconds that were reserved.
    pub reserved_secs: u128,
    /// The cost of both.
    pub amount: u128,
}
