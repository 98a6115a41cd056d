//! Jobs from the log of a machine: accounting records or an archived workload.
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

impl JobUse<'_> {
    /// No use, by nobody.
    pub const NONE: JobUse<'static> = JobUse {
        account: None,
        user: None,
        start: 0,
        end: 0,
        billing: 0.0,
        by_processors: false,
    };
}

/// A job as a log has it, for what replays a log. `None` where the log does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedJob<'a> {
    /// Number of the job, as the log writes it.
    pub id: &'a str,
    /// Line in the log, from 1.
    pub line: usize,
    /// The account; the group of a log in the Standard Workload Format.
    pub account: Option<&'a str>,
    /// The user.
    pub user: Option<&'a str>,
    /// The partition.
    pub partition: Option<&'a str>,
    /// The QOS; the queue of a log in the Standard Workload Format.
    pub qos: Option<&'a str>,
    /// How it ended, in Slurm's words.
    pub state: Option<&'a str>,
    /// Submission, seconds since 1970.
    pub submit: Option<i64>,
    /// Start, seconds since 1970.
    pub start: Option<i64>,
    /// Run time, seconds; `None` also where the job had not ended.
    pub run_secs: Option<i64>,
    /// Time limit, seconds; `None` also where the job had no limit.
    pub limit_secs: Option<i64>,
    /// Processors that it got.
    pub allocated: Option<u64>,
    /// Processors that it asked for.
    pub requested: Option<u64>,
}

/// A job with all that accounting records have of it. `None` where the log does not have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded<'a> {
    /// Who, when, how much; without start where it never started.
    pub job: LoggedJob<'a>,
    /// End, seconds since 1970; `None` also where it had not ended.
    pub end: Option<i64>,
    /// Its own number, also of a task of an array.
    pub raw_id: Option<&'a str>,
    /// When it became eligible, seconds since 1970; `None` also where it never did.
    pub eligible: Option<i64>,
    /// `ReqMem`.
    pub requested_memory: Option<&'a str>,
    /// `ReqTRES`; memory in megabytes.
    pub requested_tres: Option<Vec<(String, u64)>>,
    /// `AllocTRES`; memory in megabytes.
    pub allocated_tres: Option<Vec<(String, u64)>>,
    /// Number of nodes that it got, or asked for.
    pub nodes: Option<u32>,
    /// Nodes that it got, as Slurm writes them.
    pub node_list: Option<&'a str>,
    /// Features that it asked for.
    pub features: Option<&'a str>,
    /// The command that submitted it.
    pub command_line: Option<&'a str>,
    /// Its name.
    pub name: Option<&'a str>,
    /// `ReqGRES`.
    pub gres: Option<&'a str>,
}

/// The receiver of jobs as a log has them.
pub type JobSink<'s> = &'s mut dyn FnMut(&LoggedJob<'_>);

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
    /// The moment from which a log in the Standard Workload Format counts its seconds, seconds since
    /// 1970; `None` where its header does not have it.
    pub epoch: Option<i64>,
    /// Notes for a reader of the numbers, in sentences.
    pub notes: Vec<String>,
}

/// The receiver of the jobs.
pub type Sink<'s> = &'s mut dyn FnMut(&JobUse<'_>);
