//! A machine and its jobs, simulated: values in, values out.
//!
//! | module | noun |
//! |---|---|
//! | [`job`] | a job as a simulated machine sees it |
//! | [`workload`] | the jobs of a log, filtered for a machine, in order of submission |
//! | [`scheduler`] | rules for which jobs start now: EASY, first come first served, conservative |
//! | [`fair_start`] | when a job would start if no job came after it |
//! | [`forecast`] | forecasts of starts, with bands, and how good they are |
//! | [`replay`] | the events of a run: submissions, ends, starts |
//! | [`slurm`] | Slurm's own schedulers on nodes, in the order of priorities |
//!
//! Times are whole seconds and arguments; nothing here reads a file or a clock.

pub mod fair_start;
pub mod forecast;
pub mod job;
pub mod replay;
pub mod scheduler;
pub mod slurm;
pub mod workload;
