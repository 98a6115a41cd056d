//! What fairtree finds out about a site, as values; nothing here writes output.
//!
//! | module | answers |
//! |---|---|
//! | [`share`] | what are shares, usage and fair-share factors, and does what sshare printed follow from them |
//! | [`shares`] | who of a level is due what, who used what, and which commands change that |
//! | [`plan`] | which shares are to be given, do they still fit, and what became of that |
//! | [`prio`] | what are the priorities of jobs and their factors, and does what sprio printed follow from them |
//! | [`explain`] | why has a job its priority, and why does one job or user come before another |
//! | [`what_if`] | what would a change of the site move |
//! | [`waiting`] | what waits in which place, and after whose jobs |
//! | [`cost`] | what would a job be billed, and what does that do to fair share |
//! | [`compare`] | what changed between two moments, and why |
//! | [`doctor`] | is a site well, and would it be after the next upgrade of Slurm |
//! | [`bill`] | what is to be paid for runs that sacct lists |
//! | [`ledger`] | what was used when by the accounting database, and which times ledger files cover |
//! | [`queue`] | which job does a machine run next, when will the others start, and what is to be paid |
//! | [`simulate`] | what does another scheduler make of the jobs of a log |
//! | [`sweep`] | which of many policies is best for the jobs of a log |
//! | [`forecast`] | how good are forecasts of starts |
//! | [`metrics`] | what does a monitoring system store of a site |
//! | [`past`] | how long did jobs of the last days wait, and what were their owners owed, day by day |
//! | [`history`] | what was used over time, and what does the engine make of it |
//! | [`policy`] | which settings and policy file do answers follow, and what do they not follow |
//!
//! `fairtree-render` writes the answers as text, JSON, pages and pictures.

pub mod bill;
pub mod compare;
pub mod cost;
pub mod doctor;
pub mod explain;
pub mod forecast;
pub mod history;
pub mod ledger;
pub mod metrics;
pub mod past;
pub mod plan;
pub mod policy;
pub mod prio;
pub mod queue;
pub mod share;
pub mod shares;
pub mod simulate;
pub mod sweep;
pub mod waiting;
pub mod what_if;
