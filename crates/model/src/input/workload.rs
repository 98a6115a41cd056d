//! What jobs used, from the log of a machine: accounting records or an archived workload.
//!
//! A log may be longer than memory. Its readers go through it once, hand each job on as it comes,
//! and keep nothing of it; what they left out they count.

/// A job that used something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobUse<'a> {
    /// The account; `None` where the log has none.
    pub account: Option<&'a str>,
    /// The user; `None` where the log does not tell.
    pub user: Option<&'a str>,
    /// Start, seconds since 1970.
    pub start: i64,
    /// End, seconds since 1970, from `start` on.
    pub end: i64,
    /// What it counted per second.
    pub billing: f64,
    /// `billing` are processors, as the record has no billing TRES: where any record of the log has,
    /// this one counts 0.
    pub by_processors: bool,
}

/// What a reader says of a log after its last line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The machine or the cluster.
    pub machine: Option<String>,
    /// Jobs that used something.
    pub jobs: u64,
    /// Jobs that used nothing: never started, ended as they started, no processors.
    pub idle: u64,
    /// A record has billing TRES: jobs that are counted by processors count 0.
    pub billed: bool,
    /// Records that could not be read and are left out; the notes say which and why.
    pub unreadable: u64,
    /// What a reader of the numbers should know, in sentences.
    pub notes: Vec<String>,
}

/// The receiver of the jobs.
pub type Sink<'s> = &'s mut dyn FnMut(&JobUse<'_>);
