//! Use by jobs, from the log of a machine: accounting records or an archived workload.
//!
//! A log may be longer than memory. Its readers read it once, pass on each job as it comes, and
//! keep nothing of it; they count the records that they left out.

/// A job that used something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobUse<'a> {
    /// The account; `None` where the log has none.
    pub account: Option<&'a str>,
    /// The user; `None` if the log does not say.
    pub user: Option<&'a str>,
    /// Start, seconds since 1970.
    pub start: i64,
    /// End, seconds since 1970, from `start` on.
    pub end: i64,
    /// Billing per second.
    pub billing: f64,
    /// `billing` are processors, as the record has no billing TRES: where any record of the log has,
    /// this one counts 0.
    pub by_processors: bool,
}

/// Summary of a log, after its last line.
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
    /// Notes for a reader of the numbers, in sentences.
    pub notes: Vec<String>,
}

/// The receiver of the jobs.
pub type Sink<'s> = &'s mut dyn FnMut(&JobUse<'_>);
