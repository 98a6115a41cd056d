//! slurm.conf's settings, checked.

use super::host::{self, SLURM_VERSION_NUMBER};
use crate::compat::Release;
use crate::config::{Config, ConfigError, HostConfig};
use crate::fairshare::Algorithm;
use std::path::PathBuf;

/// The release that this plugin was built for.
pub(super) const RELEASE: Release = Release::new(
    (SLURM_VERSION_NUMBER >> 16) as u8,
    (SLURM_VERSION_NUMBER >> 8 & 0xff) as u8,
    (SLURM_VERSION_NUMBER & 0xff) as u8,
);

/// What a pass and the hooks go by.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) config: Config,
    /// `PriorityFlags` as slurmctld's own functions take them.
    pub(super) flags: u32,
    /// `StateSaveLocation`.
    pub(super) state_dir: PathBuf,
    /// `MinJobAge`: how long slurmctld remembers ended jobs, 0 for ever.
    pub(super) min_job_age_secs: u32,
    /// Does slurmctld account through slurmdbd? Without it there is no usage to speak of.
    pub(super) has_slurmdbd: bool,
}

impl Settings {
    /// Reads what slurmctld has. `lock`: take the configuration read lock, because the caller
    /// came without locks.
    pub(super) fn read(lock: bool) -> Result<Settings, ConfigError> {
        let host = host::settings(lock);
        let n = &host.numbers;
        let config = Config::from_host(
            &HostConfig {
                priority_weight_age: n.priority_weight_age,
                priority_weight_assoc: n.priority_weight_assoc,
                priority_weight_fs: n.priority_weight_fs,
                priority_weight_js: n.priority_weight_js,
                priority_weight_part: n.priority_weight_part,
                priority_weight_qos: n.priority_weight_qos,
                priority_weight_tres: &host.priority_weight_tres,
                priority_max_age: n.priority_max_age,
                priority_favor_small: n.priority_favor_small,
                priority_flags: n.priority_flags,
                priority_decay_hl: n.priority_decay_hl,
                priority_reset_period: n.priority_reset_period,
                priority_calc_period: n.priority_calc_period,
                fs_dampening_factor: n.fs_dampening_factor,
                priority_params: &host.priority_params,
            },
            RELEASE,
        )?;
        Ok(Settings {
            config,
            flags: u32::from(n.priority_flags),
            min_job_age_secs: n.min_job_age,
            state_dir: host.state_save_location,
            has_slurmdbd: host::has_slurmdbd(),
        })
    }

    /// Without slurmdbd stock starts with neither age nor fair share, although age could be had;
    /// a reconfigure brings it back.
    pub(super) fn at_start(mut self) -> Settings {
        if self.config.compat.is_slurm() && !self.has_slurmdbd {
            self.config.priority_weight_age = 0;
            self.config.priority_weight_fairshare = 0;
        }
        self
    }

    /// True where stock's order of things decides fair share: outside Fair Tree, under
    /// `compat=slurm`.
    pub(super) fn is_stock_classic(&self) -> bool {
        self.config.compat.is_slurm() && self.config.algorithm() != Algorithm::FairTree
    }

    /// True where stock makes one pass at start and no other: its older releases without slurmdbd.
    pub(super) fn passes_once(&self) -> bool {
        cfg!(not(slurm_has_thread_start)) && self.config.compat.is_slurm() && !self.has_slurmdbd
    }

    /// True where stock makes passes without usage and notes their time: its newer releases
    /// without slurmdbd.
    pub(super) fn counts_passes_only(&self) -> bool {
        cfg!(slurm_has_thread_start) && self.config.compat.is_slurm() && !self.has_slurmdbd
    }

    /// True when TRES counts of waiting jobs matter.
    pub(super) fn weighs_tres(&self) -> bool {
        !self.config.priority_weight_tres.is_empty()
    }
}
