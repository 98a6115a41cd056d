//! Hooks called by slurmctld and sshare, and computations between passes.
//!
//! | module | noun |
//! |---|---|
//! | `exports` | the symbols that slurmctld looks up |
//! | `price` | one job's priority between passes |
//! | `lazy_usage` | effective usage of one association, computed on demand as stock does |
//! | `calc_fs_factor`, `record_fs_factor` | the classic factor: a formula for slurmctld, or in its record |
//! | `factors_list` | the rows of sprio |

#[cfg(slurm_has_calc_fs_factor)]
mod calc_fs_factor;
mod exports;
mod factors_list;
mod lazy_usage;
mod price;
#[cfg(not(slurm_has_calc_fs_factor))]
pub(in crate::slurm) mod record_fs_factor;
