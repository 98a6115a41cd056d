//! The hook by which slurmctld and sshare get the classic factor, up to 25.05. From 25.11 on they
//! read it from the association's record (see `record_fs_factor`).

use super::lazy_usage;
use crate::extended::Extended;
use crate::slurm::runtime::guard::Hook;
use crate::slurm::runtime::host;
use crate::slurm::shared::plugin;

static CALC_FS_FACTOR: Hook = Hook::new("calc_fs_factor");

/// Two `long double` arguments. x86-64 passes each in memory, 16 bytes apart and 16-byte aligned,
/// exactly like one structure of 32 bytes; Rust has no `long double`.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub struct LongDoubles {
    usage_efctv: [u64; 2],
    shares_norm: [u64; 2],
}

/// The classic fair-share factor `2^(-usage/shares/dampening)`; also for sshare.
#[unsafe(no_mangle)]
pub extern "C" fn priority_p_calc_fs_factor(arguments: LongDoubles) -> f64 {
    CALC_FS_FACTOR
        .run(|| {
            let dampening = match plugin::get() {
                Some(plugin) => {
                    plugin.fault.inject("calc_fs_factor");
                    plugin.settings().config.fair_share_dampening_factor
                }
                // In sshare, where the configuration does not change.
                None => host::settings(false).numbers.fs_dampening_factor,
            };
            let number = |halves: [u64; 2]| Extended::from_x87(halves[0], halves[1] as u16);
            let usage = number(arguments.usage_efctv);
            let shares = number(arguments.shares_norm);
            match (usage, shares) {
                (Some(usage), Some(shares)) => fs_factor(usage, shares, dampening),
                _ => 0.0,
            }
        })
        .unwrap_or(0.0)
}

fn fs_factor(usage: Extended, shares: Extended, dampening: u16) -> f64 {
    /// slurmctld's value for "not computed yet".
    const NO_VAL: f64 = 4_294_967_294.0;
    if (usage.to_f64() - NO_VAL).abs() < 0.00001 {
        return 0.0;
    }
    lazy_usage::classic_factor(usage, shares, dampening)
}
