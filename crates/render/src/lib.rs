//! The values of `fairtree-analysis` as text, JSON, pages and pictures.
//!
//! | module | writes |
//! |---|---|
//! | [`share`] | sshare's tables |
//! | [`shares`] | one level: who is due what, and what to run to change it |
//! | [`prio`] | sprio's tables |
//! | [`explain`] | explanations in sentences |
//! | [`what_if`] | who moves |
//! | [`cost`] | what a job costs |
//! | [`doctor`] | what is not as it should be, and what to do |
//! | [`lint`] | findings of the linter in a page |
//! | [`bill`] | what is to be paid |
//! | [`ledger`] | which times ledger files cover |
//! | [`queue`] | which job is next |
//! | [`simulate`] | what another scheduler makes of a log |
//! | [`sweep`] | which of many policies is best |
//! | [`forecast`] | how good forecasts of starts are |
//! | [`compare`] | what changed |
//! | [`chart`] | pictures of shares and use: a tree, and both over time |
//! | [`page`] | pages of HTML in one style |
//! | [`columns`] | text in columns as wide as their widest cell |
//!
//! Nothing is computed here that an answer depends on.

pub mod bill;
pub mod chart;
pub mod columns;
pub mod compare;
pub mod cost;
pub mod doctor;
pub mod explain;
mod figures;
pub mod forecast;
mod json;
pub mod ledger;
pub mod lint;
pub mod metrics;
pub mod page;
mod page_policy;
pub mod prio;
pub mod queue;
pub mod share;
pub mod shares;
pub mod simulate;
pub mod sweep;
pub mod what_if;
