//! The settings of a site's files, in the form that rules need.

use super::options::Options;
use fairtree::compat::Release;
use fairtree::config::{
    Config, ConfigError, Include, PriorityFlags, PriorityParameters, ResetPeriod,
};
use fairtree::config::{number, time, tres_weights};
use fairtree::priority::Factor;
use fairtree_model::input::slurm::document::{Document, Setting};

/// `PriorityType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plugin {
    Basic,
    Multifactor,
    Fairtree,
    /// A plugin that this project does not know.
    Unknown,
    /// Not given, and the release that decides the default is not known.
    Unstated,
}

/// The plugins that a rule concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Any.
    Always,
    /// Plugins that compute priorities from weights: not `priority/basic`.
    Weighted,
    /// Plugins that behave as `priority/multifactor` does, faults included.
    Stock,
}

/// A partition: the last value of each of its keys, those of `PartitionName=DEFAULT` included.
#[derive(Debug)]
pub(super) struct Partition {
    /// `PriorityJobFactor`, or `Priority`, which outranks it.
    pub(super) job_factor: u16,
    pub(super) tier_given: bool,
    pub(super) billed_by_weights: bool,
}

/// The settings in force.
#[derive(Debug)]
pub(super) struct EffectiveSettings<'a> {
    pub(super) document: &'a Document,
    pub(super) options: &'a Options,
    pub(super) plugin: Plugin,
    /// The priority settings; one that cannot be read has its default.
    pub(super) config: Config,
    /// All but `DEFAULT`.
    pub(super) partitions: Vec<Partition>,
    /// Why the policy file is refused; `None`: its keys and accounts are in `config`, or there is
    /// no such file.
    pub(super) bad_policy: Option<ConfigError>,
}

/// The weights with one number.
pub(super) const WEIGHTS: [Factor; 6] = Factor::WITH_ONE_WEIGHT;

impl<'a> EffectiveSettings<'a> {
    /// `fetch`: the text of a policy file, or why it cannot be read.
    pub(super) fn new(
        document: &'a Document,
        options: &'a Options,
        fetch: &mut dyn FnMut(&Include) -> Result<String, String>,
    ) -> EffectiveSettings<'a> {
        let mut config = config(document);
        let bad_policy = follow_policy(document, &mut config, fetch).err();
        EffectiveSettings {
            document,
            options,
            plugin: plugin(document, options.release),
            config,
            partitions: partitions(document),
            bad_policy,
        }
    }

    /// True where every file was read, so that a setting that was not seen is not there.
    pub(super) fn complete(&self) -> bool {
        self.document.unread.is_empty()
    }

    /// True where that is a site's whole slurm.conf and not a part of one, such as its priority
    /// settings alone: one that names its cluster, its controller, nodes or partitions.
    pub(super) fn is_whole(&self) -> bool {
        /// Keys that a site's whole slurm.conf has, and that a part for a different purpose has
        /// not.
        const WHOLE: [&str; 6] = [
            "ClusterName",
            "SlurmctldHost",
            "ControlMachine",
            "NodeName",
            "PartitionName",
            "AccountingStorageType",
        ];
        self.complete() && WHOLE.iter().any(|key| self.last(key).is_some())
    }

    /// True if rules of that scope concern this site. A site that does not say its plugin has the
    /// newer default.
    pub(super) fn is_in(&self, scope: Scope) -> bool {
        match scope {
            Scope::Always => true,
            Scope::Weighted => !matches!(self.plugin, Plugin::Basic | Plugin::Unknown),
            Scope::Stock => match self.plugin {
                Plugin::Multifactor | Plugin::Unstated => true,
                Plugin::Fairtree => self.config.compat.is_slurm(),
                Plugin::Basic | Plugin::Unknown => false,
            },
        }
    }

    /// The lines of partitions, `DEFAULT` included.
    pub(super) fn partition_lines(&self) -> impl Iterator<Item = &'a Setting> + use<'a> {
        let settings = self.document.settings.iter();
        settings.filter(|setting| setting.is("PartitionName"))
    }

    pub(super) fn last(&self, key: &str) -> Option<&'a Setting> {
        self.document.last(key)
    }

    /// Value of a weight of [`WEIGHTS`].
    pub(super) fn weight(&self, key: &str) -> u32 {
        let found = WEIGHTS.iter().find(|factor| factor.weight_key() == key);
        let weight = found.and_then(|factor| factor.weight(&self.config));
        weight.unwrap_or(0)
    }

    /// True if that weight is certain to be 0: not given anywhere, or given as 0.
    pub(super) fn is_weightless(&self, key: &str) -> bool {
        match self.last(key) {
            Some(setting) => number::parse_u32(&setting.value.text) == Ok(0),
            None => self.complete(),
        }
    }

    /// True if every weight is certain to be 0, those of TRES included.
    pub(super) fn is_all_weightless(&self) -> bool {
        let tres = self.last("PriorityWeightTRES");
        let tres = tres.map(|setting| tres_weights::parse_tres_weights(&setting.value.text));
        let tres = match tres {
            Some(Ok(weights)) => weights.iter().all(|(_, weight)| *weight == 0.0),
            Some(Err(_)) => false,
            None => self.complete(),
        };
        tres && WEIGHTS
            .iter()
            .all(|factor| self.is_weightless(factor.weight_key()))
    }

    /// The weights of [`WEIGHTS`] that are not 0, with their lines.
    pub(super) fn weights(&self) -> Vec<(&'static str, u32, &'a Setting)> {
        let given = WEIGHTS.iter().map(|factor| factor.weight_key());
        given
            .filter_map(|key| Some((key, self.weight(key), self.last(key)?)))
            .filter(|(_, weight, _)| *weight != 0)
            .collect()
    }

    /// True if any weight is not 0, those of TRES included.
    pub(super) fn has_weights(&self) -> bool {
        let tres = &self.config.priority_weight_tres;
        !self.weights().is_empty() || tres.iter().any(|(_, weight)| *weight != 0.0)
    }

    /// True with `AccountingStorageType=accounting_storage/slurmdbd`.
    pub(super) fn has_slurmdbd(&self) -> bool {
        let storage = self.last("AccountingStorageType");
        storage.is_some_and(|setting| {
            let value = &setting.value.text;
            value.eq_ignore_ascii_case("accounting_storage/slurmdbd")
        })
    }

    /// True if `AccountingStorageEnforce` includes limits, by itself or by a word that implies
    /// them (slurm.conf(5), "AccountingStorageEnforce").
    pub(super) fn enforces_limits(&self) -> bool {
        let words = self.last("AccountingStorageEnforce");
        words.is_some_and(|setting| {
            let mut words = setting.value.text.split(',').map(str::trim);
            words.any(|word| {
                let limits = ["limits", "safe", "all", "2"];
                limits.iter().any(|known| known.eq_ignore_ascii_case(word))
            })
        })
    }

    /// True if the site tracks that TRES: Slurm's own ones, those of `AccountingStorageTRES`, and
    /// what those bring along (slurm.conf(5), "AccountingStorageTRES").
    pub(super) fn tracks(&self, tres: &str) -> bool {
        const OWN: [&str; 8] = [
            "billing", "cpu", "energy", "fs/disk", "mem", "node", "pages", "vmem",
        ];
        const GPU: [&str; 2] = ["gres/gpumem", "gres/gpuutil"];
        let is = |known: &str| known.eq_ignore_ascii_case(tres);
        let more = self.last("AccountingStorageTRES");
        let more = more.map_or("", |setting| &setting.value.text);
        let mut more = more.split(',').map(str::trim);
        OWN.into_iter().any(is)
            || more.any(|known| {
                is(known) || known.eq_ignore_ascii_case("gres/gpu") && GPU.into_iter().any(is)
            })
    }
}

/// True if `GresTypes` names that generic resource, so that nodes can have it; what belongs to
/// `gpu` comes with it (gres.conf(5)).
pub(super) fn has_gres(conf: &EffectiveSettings<'_>, name: &str) -> bool {
    let name = match name.to_ascii_lowercase().as_str() {
        "gpumem" | "gpuutil" => "gpu".to_string(),
        other => other.to_string(),
    };
    let types = conf.last("GresTypes");
    let types = types.map_or("", |setting| &setting.value.text);
    types
        .split(',')
        .any(|known| known.trim().eq_ignore_ascii_case(&name))
}

fn plugin(document: &Document, release: Option<Release>) -> Plugin {
    match document.last("PriorityType") {
        None => match release {
            None => Plugin::Unstated,
            Some(release) if !release.facts().multifactor_by_default => Plugin::Basic,
            Some(_) => Plugin::Multifactor,
        },
        Some(setting) => match setting.value.text.as_str() {
            "priority/basic" => Plugin::Basic,
            "priority/multifactor" => Plugin::Multifactor,
            "priority/fairtree" => Plugin::Fairtree,
            _ => Plugin::Unknown,
        },
    }
}

/// Takes what the policy file says that PriorityParameters names, as the plugin does.
fn follow_policy(
    document: &Document,
    config: &mut Config,
    fetch: &mut dyn FnMut(&Include) -> Result<String, String>,
) -> Result<(), ConfigError> {
    let Some(setting) = document.last("PriorityParameters") else {
        return Ok(());
    };
    let read = |path: &str| {
        let text = fetch(&Include {
            file: path.to_owned(),
            place: document.place(&setting.value_spot()),
        })?;
        // What the caller puts in the place of other bytes.
        match text.contains(char::REPLACEMENT_CHARACTER) {
            true => Err("it is not UTF-8".to_owned()),
            false => Ok(text),
        }
    };
    let own = config.parameters.clone();
    (config.parameters, config.accounts) = own.with_policy_file(None, read)?;
    Ok(())
}

fn config(document: &Document) -> Config {
    let mut config = Config::default();
    let value = |key: &str| {
        document
            .last(key)
            .map(|setting| setting.value.text.as_str())
    };
    for factor in WEIGHTS {
        if let Some(weight) = factor.weight_mut(&mut config) {
            set(weight, value(factor.weight_key()).map(number::parse_u32));
        }
    }
    let minutes = |key| value(key).map(time::parse_minutes_as_secs);
    set(&mut config.priority_max_age_secs, minutes("PriorityMaxAge"));
    set(
        &mut config.priority_decay_half_life_secs,
        minutes("PriorityDecayHalfLife"),
    );
    set(
        &mut config.priority_calc_period_secs,
        minutes("PriorityCalcPeriod"),
    );
    set(
        &mut config.priority_favor_small,
        value("PriorityFavorSmall").map(number::parse_bool),
    );
    set(
        &mut config.priority_usage_reset_period,
        value("PriorityUsageResetPeriod").map(ResetPeriod::parse),
    );
    set(
        &mut config.fair_share_dampening_factor,
        value("FairShareDampeningFactor").map(|text| number::parse_u16(text, 1)),
    );
    set(
        &mut config.priority_weight_tres,
        value("PriorityWeightTRES").map(tres_weights::parse_tres_weights),
    );
    config.priority_flags = PriorityFlags::parse(value("PriorityFlags").unwrap_or_default());
    let parameters = value("PriorityParameters").unwrap_or_default();
    if let Ok(parameters) = PriorityParameters::parse(parameters, None) {
        config.compat = parameters.compat.unwrap_or(config.compat);
        config.parameters = parameters;
    }
    config
}

fn set<T, E>(field: &mut T, value: Option<Result<T, E>>) {
    if let Some(Ok(value)) = value {
        *field = value;
    }
}

/// Values that a partition's line gives; `None`: not given.
#[derive(Clone, Copy, Default)]
struct Given {
    old_priority: Option<u16>,
    job_factor: Option<u16>,
    tier: bool,
    billing: bool,
}

fn partitions(document: &Document) -> Vec<Partition> {
    let mut partitions: Vec<Partition> = Vec::new();
    let mut default = Given::default();
    for line in document.settings.iter().filter(|s| s.is("PartitionName")) {
        let mut given = default;
        for pair in line.pairs() {
            let number = number::parse_u16(&pair.value, 0).ok();
            match pair.key.to_ascii_lowercase().as_str() {
                "priority" => given.old_priority = number.or(given.old_priority),
                "priorityjobfactor" => given.job_factor = number.or(given.job_factor),
                "prioritytier" => given.tier = true,
                "tresbillingweights" => given.billing = !pair.value.is_empty(),
                _ => {}
            }
        }
        if line.value.text.eq_ignore_ascii_case("DEFAULT") {
            default = given;
            continue;
        }
        partitions.push(Partition {
            job_factor: given.old_priority.or(given.job_factor).unwrap_or(1),
            tier_given: given.tier,
            billed_by_weights: given.billing,
        });
    }
    partitions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(text: &str, ask: impl FnOnce(&EffectiveSettings<'_>) -> T) -> T {
        let mut fetch = |_: &fairtree::config::Include| Err(String::new());
        let document = Document::read(text, "slurm.conf", &mut fetch);
        ask(&EffectiveSettings::new(
            &document,
            &Options::default(),
            &mut fetch,
        ))
    }

    // Source: slurm.conf(5), "PartitionName": DEFAULT holds for the lines after it.
    #[test]
    fn partitions_inherit_from_the_default_line() {
        let text = "\
            PartitionName=a\n\
            PartitionName=DEFAULT PriorityJobFactor=5\n\
            PartitionName=b\n\
            PartitionName=c PriorityJobFactor=7 TRESBillingWeights=\"CPU=1\"\n\
            PartitionName=d PriorityJobFactor=7 Priority=9 PriorityTier=2\n";
        with(text, |conf| {
            let factors: Vec<u16> = conf.partitions.iter().map(|p| p.job_factor).collect();
            assert_eq!(factors, [1, 5, 7, 9]);
            assert!(conf.partitions[2].billed_by_weights && conf.partitions[3].tier_given);
        });
    }

    // Source: slurm.conf(5), "AccountingStorageTRES" and "AccountingStorageEnforce".
    #[test]
    fn tracked_tres_and_enforced_limits() {
        let text = "AccountingStorageTRES=gres/gpu,license/x\nAccountingStorageEnforce=safe\n";
        with(text, |conf| {
            for tres in ["CPU", "Mem", "GRES/gpu", "license/x", "gres/gpuutil"] {
                assert!(conf.tracks(tres), "{tres}");
            }
            assert!(!conf.tracks("gres/gpu:a100") && !conf.tracks("gpu"));
            assert!(conf.enforces_limits());
        });
        with("AccountingStorageEnforce=qos", |conf| {
            assert!(!conf.enforces_limits())
        });
    }

    // Source: slurm.conf(5) of 22.05 and 24.11, "PriorityType", the default.
    #[test]
    fn the_release_decides_the_plugin_that_is_not_given() {
        let mut fetch = |_: &fairtree::config::Include| Err(String::new());
        let document = Document::read("", "slurm.conf", &mut fetch);
        for (release, expected) in [
            (None, Plugin::Unstated),
            (Some(Release::V22_05_8), Plugin::Basic),
            (Some(Release::V24_11_5), Plugin::Multifactor),
        ] {
            assert_eq!(plugin(&document, release), expected);
        }
    }
}
