//! Differences between releases of Slurm, from the engine's table.

use fairtree::compat::{Facts, Release as EngineRelease};
use xtask::release::Release;

/// The engine's name of a release.
pub fn engine_release(release: &Release) -> EngineRelease {
    // An invalid number counts as the largest.
    let [major, minor, micro] = release
        .numbers()
        .map(|number| u8::try_from(number).unwrap_or(u8::MAX));
    EngineRelease::new(major, minor, micro)
}

/// Returns true if slurmctld itself may crash when it reconfigures right after jobs were submitted:
/// it unloads `accounting_storage`, and then sends the jobs to it. Seen in 25.05.8 with stock's
/// plugin and with ours, in `jobacct_storage_g_job_start` below `_slurm_rpc_submit_batch_job` and
/// below `dump_all_job_state`.
pub fn crashes_at_busy_reconfigure(release: &Release) -> bool {
    matches!(release.numbers(), [25, 5, _])
}

/// Returns true if slurmctld moves a state file away before it renames the new one, and looks for
/// no other: if that rename fails, no file is left, and slurmctld does not start. Before 26.05 it
/// makes and removes links.
pub fn loses_files_where_renames_fail(release: &Release) -> bool {
    release.numbers() >= [26, 5, 0]
}

/// The facts of a release.
pub fn facts(release: &Release) -> Facts {
    engine_release(release).facts()
}
