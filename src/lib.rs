//! Fair Tree fair-share factors and multifactor job priorities.
//!
//! The engine is plain data in, plain data out: no I/O, no clock, no globals, no `unsafe`.
//!
//! | module | noun |
//! |---|---|
//! | [`extended`] | a number with a 64-bit mantissa, as Slurm's `long double` |
//! | [`compat`] | whose behaviour to follow: the documentation's or a Slurm release's |
//! | [`tree`] | who shares with whom: associations, shares, parents |
//! | [`usage`] | past use, and its decay |
//! | [`fairshare`] | who comes first |
//! | [`priority`] | the factors of a job, the weights and the one integer |
//! | [`order`] | in which order jobs start where the factor is no term of a sum |
//! | [`config`] | slurm.conf's own names for all of the above |
//! | [`engine`] | one pass: usage, ranks, priorities |
//!
//! With the feature `capi` this is the library of `include/fairtree.h`, with the feature `slurm` the
//! priority plugin. What reads files, reports and draws stands in `crates/`, over this.

pub mod compat;
pub mod config;
pub mod engine;
pub mod extended;
pub mod fairshare;
pub mod order;
pub mod priority;
pub mod tree;
pub mod usage;

#[cfg(feature = "capi")]
pub mod capi;

#[cfg(any(feature = "slurm", test))]
#[cfg_attr(not(feature = "slurm"), allow(dead_code))]
#[allow(unsafe_code)]
mod slurm;
