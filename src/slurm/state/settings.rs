//! Checked settings of slurm.conf.

use super::accepted_settings::{self, Accepted};
use super::quirks::Quirks;
use crate::compat::{Compat, Release};
use crate::config::{Config, HostConfig, MOST_POLICY_BYTES, Order, UsageModel};
use crate::slurm::runtime::host::{self, HostSettings, SLURM_VERSION_NUMBER};
use std::io::Read;
use std::path::PathBuf;

/// The release that this plugin was built for.
pub(in crate::slurm) const RELEASE: Release = Release::new(
    (SLURM_VERSION_NUMBER >> 16) as u8,
    (SLURM_VERSION_NUMBER >> 8 & 0xff) as u8,
    (SLURM_VERSION_NUMBER & 0xff) as u8,
);

/// Settings that a pass and the hooks use.
#[derive(Clone, Debug)]
pub(in crate::slurm) struct Settings {
    pub(in crate::slurm) config: Config,
    /// The quirks of `config.compat`.
    pub(in crate::slurm) quirks: Quirks,
    /// `PriorityFlags` in the form that slurmctld's own functions take.
    pub(in crate::slurm) flags: u32,
    /// `StateSaveLocation`.
    pub(in crate::slurm) state_dir: PathBuf,
    /// `ClusterName`.
    pub(in crate::slurm) cluster: String,
    /// `MinJobAge`: seconds for which slurmctld keeps ended jobs; 0: for ever.
    pub(in crate::slurm) min_job_age_secs: u32,
    /// True if slurmctld uses slurmdbd. Without it, no usage is known.
    pub(in crate::slurm) has_slurmdbd: bool,
}

/// The version of the plugin, the revision of its source and the release of Slurm that it is for.
pub(in crate::slurm) fn version() -> String {
    let revision = option_env!("FAIRTREE_REVISION").unwrap_or("unknown");
    let version = env!("CARGO_PKG_VERSION");
    format!("fairtree {version}, revision {revision}, for Slurm {RELEASE}")
}

/// Settings at start.
pub(in crate::slurm) struct AtStart {
    pub(in crate::slurm) settings: Settings,
    /// Why slurmctld's current settings are not used; `None` if they are.
    pub(in crate::slurm) refused: Option<String>,
    /// Settings to save for the next reconfigure, if this release restarts slurmctld for it.
    pub(in crate::slurm) accepted: Option<Accepted>,
}

impl Settings {
    /// The settings in force, in the words of slurm.conf, for a line of the log.
    pub(in crate::slurm) fn in_force(&self) -> String {
        let config = &self.config;
        let tres: Vec<String> = config
            .priority_weight_tres
            .iter()
            .map(|(name, weight)| format!("{name}={weight}"))
            .collect();
        let tres = match tres.is_empty() {
            true => "none".to_string(),
            false => tres.join(","),
        };
        let policy = config.policy_file().unwrap_or("none");
        let compat = match config.compat {
            Compat::Documented => "documented".to_string(),
            Compat::Slurm(release) => format!("slurm:{release}"),
        };
        let order = match config.order() {
            Order::Weighted => "weighted",
            Order::Strict => "strict",
            Order::Interleaved => "interleaved",
        };
        format!(
            "compat={compat}, ranking={}, order={order}, usage={}, policy={policy}, weights: age={}, assoc={}, fairshare={}, \
             jobsize={}, partition={}, qos={}, tres={tres}; half-life {} s, max age {} s, pass every {} s",
            config.ranking(),
            config.usage(),
            config.priority_weight_age,
            config.priority_weight_assoc,
            config.priority_weight_fairshare,
            config.priority_weight_job_size,
            config.priority_weight_partition,
            config.priority_weight_qos,
            config.priority_decay_half_life_secs,
            config.priority_max_age_secs,
            config.priority_calc_period_secs,
        )
    }

    /// slurmctld's settings. `lock`: take the configuration read lock, because the caller holds no
    /// locks.
    ///
    /// # Errors
    /// A refused setting, by name.
    pub(in crate::slurm) fn read(lock: bool) -> Result<Settings, String> {
        let host = host::settings(lock);
        Settings::of(&host.config(), &host, read_policy)
    }

    /// slurmctld's settings at start. If they are refused and a reconfigure has restarted
    /// slurmctld, the previously accepted ones: the plugin never ends a running slurmctld.
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
        let read = |path: &str| policy.ok_or(format!("no accepted version of {path} is saved"));
        let before = before.and_then(|before| Settings::of(&before, &host, read));
        let (settings, refused) = match before {
            Ok(settings) => (settings, format!("{refused}; keeping the old settings")),
            Err(why) => {
                let settings = Settings::of(&without_texts(&host), &host, read_policy)?;
                let why = format!(
                    "{refused}; cannot use the old settings ({why}): PriorityParameters and \
                     PriorityWeightTRES are ignored"
                );
                (settings, why)
            }
        };
        Ok(AtStart {
            settings,
            refused: Some(refused),
            accepted: None,
        })
    }

    /// Checks settings. `read` returns the text of the policy file, given its path.
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

    /// Refuses names in PriorityWeightTRES that slurmctld does not know. Accepts all if slurmctld
    /// has no list of TRES yet, because its database has not answered.
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

    /// Refuses accounts of the policy file that the site does not have. Accepts all if slurmctld
    /// has no associations yet, because its database has not answered.
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

    /// The settings until the first reconfigure: without slurmdbd, stock starts without age and
    /// fair share, although age could be computed; a reconfigure enables it.
    pub(in crate::slurm) fn at_start(mut self) -> Settings {
        if self.quirks.forgets_weights_at_start && !self.has_slurmdbd {
            self.config.priority_weight_age = 0;
            self.config.priority_weight_fairshare = 0;
        }
        self
    }

    /// Returns true if ranks decide fair share.
    pub(in crate::slurm) fn is_fair_tree(&self) -> bool {
        self.config.ranking().keeps_levels()
    }

    /// Returns true if fair share is computed in stock's order of steps: outside Fair Tree, under
    /// `compat=slurm`.
    pub(in crate::slurm) fn is_stock_classic(&self) -> bool {
        self.quirks.reads_records && !self.is_fair_tree()
    }

    /// Returns true if usage comes from the ledger: in windows and totals.
    pub(in crate::slurm) fn by_ledger(&self) -> bool {
        self.config.usage() != UsageModel::HalfLife && self.has_slurmdbd
    }

    /// Returns true if the plugin may write a ledger.
    pub(in crate::slurm) fn can_keep_ledger(&self) -> bool {
        !self.quirks.has_no_state_file && self.has_slurmdbd
    }

    /// Returns true if a pass may start from the associations that the last pass left. Under
    /// `compat=slurm` a pass reads more of their records than usage.
    pub(in crate::slurm) fn caches_assocs(&self) -> bool {
        self.is_fair_tree() && !self.quirks.reads_records && self.has_slurmdbd
    }

    /// Returns true if stock makes one pass at start and no more: its older releases without
    /// slurmdbd.
    pub(in crate::slurm) fn passes_once(&self) -> bool {
        cfg!(not(slurm_has_thread_start))
            && self.quirks.needs_slurmdbd_to_pass
            && !self.has_slurmdbd
    }

    /// Returns true if stock makes passes without usage and records their time: its newer releases
    /// without slurmdbd.
    pub(in crate::slurm) fn counts_passes_only(&self) -> bool {
        cfg!(slurm_has_thread_start) && self.quirks.needs_slurmdbd_to_pass && !self.has_slurmdbd
    }

    /// Returns true if stock without slurmdbd computes no priorities in a pass at the time of the
    /// last one: outside Fair Tree, from 25.11 on. Earlier releases crash in their first pass.
    pub(in crate::slurm) fn prices_in_new_time_only(&self) -> bool {
        self.counts_passes_only() && self.is_stock_classic() && cfg!(not(slurm_has_calc_fs_factor))
    }

    /// Returns true if priorities depend on TRES counts of waiting jobs.
    pub(in crate::slurm) fn weighs_tres(&self) -> bool {
        !self.config.priority_weight_tres.is_empty()
    }
}

/// Reads a policy file. If it is too long, reads one byte more than allowed, so that the caller
/// refuses it.
fn read_policy(path: &str) -> Result<String, String> {
    let read = || -> std::io::Result<String> {
        // Reading a pipe could block slurmctld.
        if !std::fs::metadata(path)?.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        let mut text = String::new();
        let file = std::fs::File::open(path)?;
        file.take(MOST_POLICY_BYTES as u64 + 1)
            .read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|error| error.to_string())
}

/// slurmctld's settings, without those that only the plugin checks.
fn without_texts(host: &HostSettings) -> HostConfig<'_> {
    HostConfig {
        priority_params: "",
        priority_weight_tres: "",
        fs_dampening_factor: host.numbers.fs_dampening_factor.max(1),
        ..host.config()
    }
}

/// Returns true in a slurmctld that `scontrol reconfigure` has restarted (from 23.11 on).
fn is_started_by_reconfigure() -> bool {
    std::env::var_os("SLURMCTLD_RECONF").is_some()
}

/// The accepted settings to save, if this release restarts slurmctld for a reconfigure.
fn to_remember(host: &HostSettings, policy: Option<&str>) -> Option<Accepted> {
    RELEASE
        .facts()
        .reconfigure_restarts
        .then(|| Accepted::with(&host.config(), policy))
}
