//! What fairtree makes of a site: one set of values each, several renderings.
//!
//! | module | shows |
//! |---|---|
//! | [`chart`] | pictures of shares and use: a tree, and both over time |
//! | [`compare`] | what changed between two moments, and why |
//! | [`history`] | what was used over time, and what the engine makes of it |
//! | [`prio`] | job priorities and their factors, in sprio's columns |
//! | [`share`] | shares, usage and fair-share factors, in sshare's columns |
//! | [`explain`] | why a job has its priority, and why one job or user comes before another |
//! | [`what_if`] | what a change of the site would move |
//! | [`cost`] | what a job would be billed, and what that does to fair share |
//! | [`span`] | spans of time in Slurm's form |
//! | [`columns`] | text in columns as wide as their widest cell |
//! | [`c_format`] | numbers in the forms of C's `printf` |

pub mod c_format;
pub mod chart;
pub mod columns;
pub mod compare;
pub mod cost;
pub mod explain;
pub mod history;
pub mod prio;
pub mod share;
pub mod span;
pub mod what_if;
