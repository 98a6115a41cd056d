//! Something that happens at a site, or a question.

use fairtree::engine::queue::Micros;
use fairtree::tree::Shares;
use fairtree::usage::EndState;

/// A line of the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its moment; `None`: that of the line before.
    pub time: Option<Micros>,
    /// The event.
    pub act: Act,
    /// Number of its line, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
}

/// An event or a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A job begins to wait.
    Submit(Submission),
    /// Which job must the machine run next?
    Next(String),
    /// A waiting job starts.
    Start(u64),
    /// A run has ended.
    Finish(u64, Ended),
    /// A run has ended, and the job waits again.
    Requeue(u64, Ended),
    /// An on-demand job was halted.
    Halted(u64),
    /// A waiting job is gone.
    Cancel(u64),
    /// Maintenance of a machine begins.
    Pause(String),
    /// Maintenance of a machine is over.
    Resume(String),
    /// A machine is reserved.
    Reserve {
        /// Number of the reservation.
        reservation: u64,
        /// The machine.
        machine: String,
        /// The owner.
        account: String,
        /// From this moment.
        start: Micros,
        /// Until before this one.
        end: Micros,
    },
    /// A reservation that has not begun is gone.
    CancelReservation(u64),
    /// An account or a user has other shares.
    Shares {
        /// The account.
        account: String,
        /// A user of it.
        user: Option<String>,
        /// Its shares.
        shares: Shares,
    },
    /// An account has other minutes; `None`: its shares again.
    Minutes {
        /// The account.
        account: String,
        /// Its minutes.
        minutes: Option<u64>,
    },
    /// A machine has other prices; `None`: that price stays.
    Price {
        /// The machine.
        machine: String,
        /// Of a microsecond of an on-demand run.
        execution_microsecond: Option<u64>,
        /// Of a second of a reservation.
        reserved_second: Option<u64>,
    },
    /// Another number of on-demand jobs may wait.
    Limit {
        /// The jobs that it is for.
        of: LimitedBy,
        /// How many; `None`: any number.
        limit: Option<u32>,
    },
    /// Time passes.
    Time,
    /// Which place does a job have?
    Position(u64),
    /// In which order are the jobs of a machine, or of each?
    Positions(Option<String>),
    /// When will the jobs of a machine, or of each, start?
    Estimate(Option<String>),
    /// How much has an account used, and what is it entitled to?
    Standing {
        /// The account.
        account: String,
        /// A user of it.
        user: Option<String>,
    },
    /// How much do accounts owe?
    Bill {
        /// For what ended from this moment on; `None`: from the beginning.
        from: Option<Micros>,
        /// And before this one; `None`: up to and with now.
        to: Option<Micros>,
    },
}

/// Jobs that a limit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// Those of an account.
    Account(String),
    /// Those for a machine.
    Machine(String),
    /// Those of each account without a limit of its own.
    EachAccount,
}

/// A job that begins to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Its number.
    pub job: u64,
    /// The account that pays.
    pub account: String,
    /// A user of the account.
    pub user: Option<String>,
    /// The machine that it waits for.
    pub machine: String,
    /// Expected run time, microseconds.
    pub expected: Option<u64>,
    /// Maximum run time, microseconds.
    pub limit: Option<u64>,
    /// Units that it uses at a time.
    pub rate: Option<u32>,
    /// Later among the jobs of the same account.
    pub nice: Option<i64>,
    /// Parts of the machine that it uses.
    pub parts: Option<Vec<u32>>,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// In which state.
    pub outcome: EndState,
    /// With which exit code.
    pub exit_code: u32,
    /// Time for which the machine executed it, microseconds; `None`: since its start.
    pub executed: Option<Micros>,
}

/// The keys of one kind of event, besides `event` and `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Value of `event`.
    pub name: &'static str,
    /// Keys that must be there.
    pub required: &'static [&'static str],
    /// Keys that may be there.
    pub optional: &'static [&'static str],
}

const ENDED: &[&str] = &["exit_code", "executed"];
const MACHINE: &[&str] = &["machine"];
const JOB: &[&str] = &["job"];

const fn form(
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> Form {
    Form {
        name,
        required,
        optional,
    }
}

const FORMS: [Form; 21] = [
    form(
        "submit",
        &["job", "account", "machine"],
        &["user", "expected", "limit", "rate", "nice", "parts"],
    ),
    form("next", MACHINE, &[]),
    form("start", JOB, &[]),
    form("finish", &["job", "outcome"], ENDED),
    form("requeue", &["job", "outcome"], ENDED),
    form("halted", JOB, &[]),
    form("cancel", JOB, &[]),
    form("pause", MACHINE, &[]),
    form("resume", MACHINE, &[]),
    form(
        "reserve",
        &["reservation", "machine", "account", "start", "end"],
        &[],
    ),
    form("cancel_reservation", &["reservation"], &[]),
    form("shares", &["account", "shares"], &["user"]),
    form("minutes", &["account", "minutes"], &[]),
    form(
        "price",
        MACHINE,
        &["execution_microsecond", "reserved_second"],
    ),
    form("limit", &["limit"], &["account", "machine"]),
    form("time", &[], &[]),
    form("position", JOB, &[]),
    form("positions", &[], MACHINE),
    form("estimate", &[], MACHINE),
    form("standing", &["account"], &["user"]),
    form("bill", &[], &["from", "to"]),
];

/// Every kind of event.
pub fn forms() -> &'static [Form] {
    &FORMS
}

/// The words that `outcome` may be.
pub fn ends() -> Vec<&'static str> {
    EndState::all().map(EndState::name).collect()
}
