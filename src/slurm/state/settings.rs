//! slurm.conf's settings, checked.

use super::accepted_settings::{self, Accepted};
use super::quirks::Quirks;
use crate::compat::Release;
use crate::config::{Config, HostConfig, MOST_POLICY_BYTES, UsageModel};
use crate::slurm::runtime::host::{self, HostSettings, SLURM_VERSION_NUMBER};
use std::io::Read;
use std::path::PathBuf;

/// The release that this plugin was built for.
pub(in crate::slurm) const RELEASE: Release = Release::new(
    (SLURM_VERSION_NUMBER >> 16) as u8,
    (SLURM_VERSION_NUMBER >> 8 & 0xff) as u8,
    (SLURM_VERSION_NUMBER & 0xff) as u8,
);

/// What a pass and the hooks go by.
#[derive(Clone, Debug)]
pub(in crate::slurm) struct Settings {
    pub(in crate::slurm) config: Config,
    /// Those of `config.compat`.
    pub(in crate::slurm) quirks: Quirks,
    /// `PriorityFlags` as slurmctld's own functions take them.
    pub(in crate::slurm) flags: u32,
    /// `StateSaveLocation`.
    pub(in crate::slurm) state_dir: PathBuf,
    /// `ClusterName`.
    pub(in crate::slurm) cluster: String,
    /// `MinJobAge`: how long slurmctld remembers ended jobs, 0 for ever.
    pub(in crate::slurm) min_job_age_secs: u32,
    /// Does slurmctld account through slurmdbd? Without it there is no usage to speak of.
    pub(in crate::slurm) has_slurmdbd: bool,
}

/// Settings at start.
pub(in crate::slurm) struct AtStart {
    pub(in crate::slurm) settings: Settings,
    /// Why they are not slurmctld's of now.
    pub(in crate::slurm) refused: Option<String>,
    /// To be kept for the next reconfigure, where that is a start.
    pub(in crate::slurm) accepted: Option<Accepted>,
}

impl Settings {
    /// What slurmctld has. `lock`: take the configuration read lock, because the caller came
    /// without locks.
    ///
    /// # Errors
    /// A setting that is refused, by name.
    pub(in crate::slurm) fn read(lock: bool) -> Result<Settings, String> {
        let host = host::settings(lock);
        Settings::of(&host.config(), &host, read_policy)
    }

    /// At start: what slurmctld has. If that is refused and a reconfigure has started slurmctld
    /// again, what was accepted before: nothing of ours ends a slurmctld that runs.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub(in crate::slurm) fn read_at_start() -> Result<AtStart, String> {
        let host = host::settings(false);
        let mut policy = None;
        let read = |path: &str| {
            let text = read_policy(path)?;
            policy = Some(text.clone());
            Ok(text)
        };
        let refused = match Settings::of(&host.config(), &host, read) {
            Ok(settings) => {
                return Ok(AtStart {
                    settings,
                    refused: None,
                    accepted: to_remember(&host, policy.as_deref()),
                });
            }
            Err(refused) if !is_started_by_reconfigure() => return Err(refused),
            Err(refused) => refused,
        };
        let accepted = accepted_settings::load(&host.state_save_location);
        let before = match &accepted {
            Ok(accepted) => accepted.host().ok_or("damaged".to_string()),
            Err(error) => Err(error.clone()),
        };
        let policy = accepted.as_ref().ok().and_then(Accepted::policy);
        let read = |path: &str| policy.ok_or(format!("{path} is not remembered"));
        let before = before.and_then(|before| Settings::of(&before, &host, read));
        let (settings, refused) = match before {
            Ok(settings) => (settings, format!("{refused}; the old settings stay")),
            Err(why) => {
                let settings = Settings::of(&without_texts(&host), &host, read_policy)?;
                let why =
                    format!("{refused}; the old settings are not known ({why}): it is left out");
                (settings, why)
            }
        };
        Ok(AtStart {
            settings,
            refused: Some(refused),
            accepted: None,
        })
    }

    /// `read`: the text of the policy file, by its path.
    fn of(
        config: &HostConfig<'_>,
        host: &HostSettings,
        read: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Settings, String> {
        let checked =
            Config::from_host_reading(config, RELEASE, read).map_err(|error| error.to_string())?;
        let settings = Settings {
            quirks: Quirks::of(checked.compat),
            config: checked,
            flags: u32::from(config.priority_flags),
            min_job_age_secs: host.numbers.min_job_age,
            state_dir: host.state_save_location.clone(),
            cluster: host.cluster_name.clone(),
            has_slurmdbd: host::has_slurmdbd(),
        };
        settings.check_tres()?;
        settings.check_accounts()?;
        Ok(settings)
    }

    /// Names in PriorityWeightTRES that slurmctld does not know. Without a list of TRES
    /// (slurmctld has not heard from its database yet) nothing can be said.
    fn check_tres(&self) -> Result<(), String> {
        if !self.weighs_tres() {
            return Ok(());
        }
        let names = host::tres_names();
        let known = |name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        let mut weights = self.config.priority_weight_tres.iter();
        match weights.find(|(name, _)| !names.is_empty() && !known(name)) {
            None => Ok(()),
            Some((name, _)) => Err(format!(
                "PriorityWeightTRES: found \"{name}\", allowed are the site's TRES: {}",
                names.join(", ")
            )),
        }
    }

    /// Accounts of the policy file that the site does not have. Without associations (slurmctld has
    /// not heard from its database yet) nothing can be said.
    fn check_accounts(&self) -> Result<(), String> {
        let accounts = &self.config.accounts;
        if accounts.is_empty() || !host::has_root() {
            return Ok(());
        }
        let ids = host::account_ids(accounts.iter().map(|row| row.account.as_str()));
        let unknown = accounts.iter().zip(ids).find(|(_, id)| id.is_none());
        match unknown {
            None => Ok(()),
            Some((row, _)) => Err(format!(
                "{}: accounts: found \"{}\", allowed is an account of the site",
                row.place,
                row.account.escape_debug()
            )),
        }
    }

    /// Without slurmdbd stock starts with neither age nor fair share, although age could be had;
    /// a reconfigure brings it back.
    pub(in crate::slurm) fn at_start(mut self) -> Settings {
        if self.quirks.forgets_weights_at_start && !self.has_slurmdbd {
            self.config.priority_weight_age = 0;
            self.config.priority_weight_fairshare = 0;
        }
        self
    }

    /// True where ranks decide fair share.
    pub(in crate::slurm) fn is_fair_tree(&self) -> bool {
        self.config.ranking().keeps_levels()
    }

    /// True where stock's order of things decides fair share: outside Fair Tree, under
    /// `compat=slurm`.
    pub(in crate::slurm) fn is_stock_classic(&self) -> bool {
        self.quirks.reads_records && !self.is_fair_tree()
    }

    /// True where usage is what the ledger says: in windows and totals.
    pub(in crate::slurm) fn by_ledger(&self) -> bool {
        self.config.usage() != UsageModel::HalfLife && self.has_slurmdbd
    }

    /// True where the plugin may write a ledger.
    pub(in crate::slurm) fn can_keep_ledger(&self) -> bool {
        !self.quirks.has_no_state_file && self.has_slurmdbd
    }

    /// True where a pass may begin with the associations as the last one left them. Under
    /// `compat=slurm` it reads more of them than usage.
    pub(in crate::slurm) fn caches_assocs(&self) -> bool {
        self.is_fair_tree() && !self.quirks.reads_records && self.has_slurmdbd
    }

    /// True where stock makes one pass at start and no other: its older releases without slurmdbd.
    pub(in crate::slurm) fn passes_once(&self) -> bool {
        cfg!(not(slurm_has_thread_start))
            && self.quirks.needs_slurmdbd_to_pass
            && !self.has_slurmdbd
    }

    /// True where stock makes passes without usage and notes their time: its newer releases
    /// without slurmdbd.
    pub(in crate::slurm) fn counts_passes_only(&self) -> bool {
        cfg!(slurm_has_thread_start) && self.quirks.needs_slurmdbd_to_pass && !self.has_slurmdbd
    }

    /// True where stock without slurmdbd prices nothing in a pass that no time has led up to: outside
    /// Fair Tree, from 25.11 on. Before, it does not survive its first pass.
    pub(in crate::slurm) fn prices_in_new_time_only(&self) -> bool {
        self.counts_passes_only() && self.is_stock_classic() && cfg!(not(slurm_has_calc_fs_factor))
    }

    /// True when TRES counts of waiting jobs matter.
    pub(in crate::slurm) fn weighs_tres(&self) -> bool {
        !self.config.priority_weight_tres.is_empty()
    }
}

/// The text of a policy file; of one that is too long, more than may be in one.
fn read_policy(path: &str) -> Result<String, String> {
    let read = || -> std::io::Result<String> {
        // A pipe would keep slurmctld waiting.
        if !std::fs::metadata(path)?.is_file() {
            return Err(std::io::Error::other("it is no regular file"));
        }
        let mut text = String::new();
        let file = std::fs::File::open(path)?;
        file.take(MOST_POLICY_BYTES as u64 + 1)
            .read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|error| error.to_string())
}

/// What slurmctld has, without the settings that only the plugin checks.
fn without_texts(host: &HostSettings) -> HostConfig<'_> {
    HostConfig {
        priority_params: "",
        priority_weight_tres: "",
        fs_dampening_factor: host.numbers.fs_dampening_factor.max(1),
        ..host.config()
    }
}

/// True in a slurmctld that `scontrol reconfigure` has restarted (from 23.11 on).
fn is_started_by_reconfigure() -> bool {
    std::env::var_os("SLURMCTLD_RECONF").is_some()
}

/// Accepted settings, if this release restarts slurmctld for a reconfigure.
fn to_remember(host: &HostSettings, policy: Option<&str>) -> Option<Accepted> {
    RELEASE
        .facts()
        .reconfigure_restarts
        .then(|| Accepted::with(&host.config(), policy))
}
