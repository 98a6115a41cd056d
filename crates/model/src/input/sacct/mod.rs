//! Output of `sacct -P` (or `-p`).
//!
//! Columns in any order, given by the header or by name; columns that are not in this table are
//! ignored. A row of a job gives one [`JobUse`](super::workload::JobUse); rows of steps are part of
//! their job and are skipped.
//!
//! | column | meaning here |
//! |---|---|
//! | `Start`, and `End` or `Elapsed` or `ElapsedRaw` | when the job ran; `Unknown` and `None`: never |
//! | `User`, `Account` | who is charged |
//! | `AllocTRES` | billing, else cpu, per second; else `AllocCPUS` or `NCPUS` |
//! | `JobID`, `JobIDRaw` | with a point: a step |
//! | `State`, `ExitCode`, `Partition` | how a run ended and where, for [`read_runs`] |
//! | `AdminComment` | with a word `executed_us=N`: how long a run was executed, for [`read_runs`]; several different N are no measurement |
//! | `Submit`, `Timelimit` or `TimelimitRaw`, `ReqCPUS`, `QOS` | what a job asked for, for [`read_jobs`] |
//! | `JobIDRaw`, `Eligible`, `ReqMem`, `ReqTRES`, `NNodes`, `NodeList`, `Constraints`, `SubmitLine`, `JobName`, `ReqGRES` | where the log has them, for [`read_requests`] |
//! | `Cluster` | one cluster per log |
//!
//! sacct quotes nothing, so a job's name may hold `|` and its command line breaks of lines. Such a
//! row is read where the values of the other columns leave one reading only.
//!
//! [`ask()`] asks the accounting database for what a ledger needs, and [`read_accounted`] reads that.

mod accounted;
mod align;
mod ask;
mod columns;
mod reader;

pub use accounted::{Accounted, COLUMNS, Found, Progress, read_accounted};
pub use ask::{ClusterRow, Clusters, Slices, ask, ask_clusters};
pub use columns::{begins, is_record};
pub use reader::{Executed, Options, RunRecord, read, read_jobs, read_requests, read_runs};
