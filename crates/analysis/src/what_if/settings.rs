//! Other settings of a site, and how the site changes under them.

use fairtree::compat::Compat;
use fairtree::config::{
    Config, ConfigError, PolicyFile, PriorityFlags, Program, SlurmConfReader, UsageModel,
    ValueError,
};
use fairtree_model::cluster::Cluster;
use fairtree_model::input::slurm::conf::{Conf, PartitionLine};
use fairtree_model::input::slurm::config::compat_of;

use super::SiteChange;

/// Settings in the place of a site's own. Empty: nothing changes.
#[derive(Clone, Debug, Default)]
pub struct NewSettings {
    /// Another slurm.conf, with the factors of its partitions.
    pub conf: Option<Conf>,
    /// Keys and values, as in a line of slurm.conf; the last of a key counts.
    pub settings: Vec<(String, String)>,
    /// A policy file, and its name.
    pub policy: Option<(PolicyFile, String)>,
    /// Name of the policy file that the site is taken to follow before.
    pub before: Option<String>,
}

/// Why settings cannot be those of a site.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A value that slurmctld would refuse.
    #[error("--set: {0}")]
    Setting(ConfigError),
    /// A policy that does not fit the site.
    #[error(transparent)]
    Policy(ConfigError),
    /// Time passes, and what leaves a window or total is not known.
    #[error(
        "--after: with usage={0} it is not known what leaves the usage there is; allowed is usage=half_life, or \
         a described site with [[use]] alone"
    )]
    After(UsageModel),
}

impl NewSettings {
    /// All changes of a site, in the order in which they are made: the settings, the factors of
    /// partitions, `others`.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn changes(
        &self,
        cluster: &Cluster,
        others: Vec<SiteChange>,
    ) -> Result<Vec<SiteChange>, SettingsError> {
        let mut changes = Vec::new();
        let mut usage = cluster.config.usage();
        let conf = self.conf.as_ref();
        if conf.is_some() || !self.settings.is_empty() || self.policy.is_some() {
            let mut config = config(cluster, conf, &self.settings)?;
            let mut said = differences(cluster, &config, conf, &self.settings);
            if let Some((file, name)) = &self.policy {
                config = under_policy(cluster, config, file).map_err(SettingsError::Policy)?;
                said.push(match &self.before {
                    Some(before) => format!("the policy is that of {name}, not of {before}"),
                    None => format!("the policy is that of {name}"),
                });
            }
            usage = config.usage();
            if cluster.uses().is_none()
                && cluster.usage_models_under(&config) != cluster.usage_models()
            {
                said.push("usage stays as it is, as it is not known when it was used".to_owned());
            }
            changes.push(SiteChange::Settings(Box::new(config), said));
        }
        for line in conf.iter().flat_map(|conf| &conf.partitions) {
            changes.extend(partition(cluster, line));
        }
        let passes = |change: &SiteChange| matches!(change, SiteChange::After(_));
        let known = cluster.uses().is_some_and(|uses| uses.has_times());
        if usage != UsageModel::HalfLife && !known && others.iter().any(passes) {
            return Err(SettingsError::After(usage));
        }
        changes.extend(others);
        Ok(changes)
    }
}

/// Settings under a policy whose accounts and minutes fit the site.
fn under_policy(
    cluster: &Cluster,
    config: Config,
    file: &PolicyFile,
) -> Result<Config, ConfigError> {
    let config = config.under_policy(file)?;
    let find = |name: &str| cluster.account(name);
    file.check_accounts(|name| find(name).is_some())?;
    config.check_minutes(cluster.tree(), find)?;
    Ok(config)
}

/// The factor of a partition of the site, if the file gives a different one.
fn partition(cluster: &Cluster, line: &PartitionLine) -> Option<SiteChange> {
    let at = cluster.find_partition(&line.name).ok()?;
    let own = cluster.tables.partitions[at].priority_job_factor;
    // slurm.conf(5): PriorityJobFactor is 1 where nothing is given.
    let factor = line.priority_job_factor.unwrap_or(1);
    (factor != own).then(|| SiteChange::PartitionFactor(line.name.clone(), factor))
}

/// The settings after the changes.
fn config(
    cluster: &Cluster,
    conf: Option<&Conf>,
    settings: &[(String, String)],
) -> Result<Config, SettingsError> {
    let is = |key: &str, wanted: &str| key.eq_ignore_ascii_case(wanted);
    let mut plugin = match conf {
        Some(conf) => conf.priority_type.clone(),
        None => cluster.priority_type.clone(),
    };
    let mut base = conf.map_or_else(|| cluster.config.clone(), |conf| conf.config.clone());
    let told = |key: &str| is(key, "PriorityParameters") || is(key, "PriorityType");
    if settings.iter().any(|(key, _)| told(key)) {
        // Said anew, and what is not said is the default.
        base.compat = Compat::Documented;
    }
    let mut reader = SlurmConfReader::of(base, cluster.release);
    for (key, value) in settings {
        if is(key, "PriorityType") {
            let known = ["priority/fairtree", "priority/multifactor"];
            if !known.iter().any(|name| name.eq_ignore_ascii_case(value)) {
                let error = ValueError::new(value, known.join(" or "));
                return Err(SettingsError::Setting(error.of("PriorityType")));
            }
            plugin = Some(value.clone());
        } else {
            // slurmctld passes over words that are no flag; whoever asks for one wants its effect.
            if is(key, "PriorityFlags") {
                if let Some(word) = PriorityFlags::unknown_words(value).first() {
                    let error = ValueError::new(*word, "flags of slurm.conf(5), as NO_FAIR_TREE");
                    return Err(SettingsError::Setting(error.of("PriorityFlags")));
                }
            }
            reader.set(key, value).map_err(SettingsError::Setting)?;
        }
    }
    let mut config = match reader.finish_for(Program::Command) {
        Ok(config) => config,
        Err(errors) => {
            let first = errors.into_iter().next();
            return Err(SettingsError::Setting(
                first.expect("a refusal has a reason"),
            ));
        }
    };
    config.compat = compat_of(plugin.as_deref(), cluster.release, config.compat);
    Ok(config)
}

/// The differences between the settings now and before, as far as the words of options show them.
fn differences(
    cluster: &Cluster,
    config: &Config,
    conf: Option<&Conf>,
    settings: &[(String, String)],
) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    if conf.is_some() {
        said.push("the settings of another slurm.conf".to_owned());
    }
    said.extend(settings.iter().map(|(key, value)| format!("{key}={value}")));
    if config.compat != cluster.config.compat {
        let whose = match config.compat {
            Compat::Documented => "what the documentation states".to_owned(),
            Compat::Slurm(release) => format!("what priority/multifactor of {release} does"),
        };
        said.push(format!("priorities follow {whose}"));
    }
    said
}
