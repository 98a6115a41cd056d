//! `scontrol show config`.

use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use fairtree::compat::{Compat, Release};
use fairtree::config::{Config, ConfigError, Program, SlurmConfReader};

/// The part of the answer about priorities.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `ClusterName`.
    pub cluster: Option<String>,
    /// `SLURM_VERSION`.
    pub release: Option<Release>,
    /// `PriorityType`.
    pub priority_type: Option<String>,
    /// Names of the resources that are tracked, in Slurm's order.
    pub tres: Vec<String>,
    /// The time of the answer, seconds since 1970.
    pub time: Option<i64>,
    /// `PrivateData` in words of slurm.conf, as `jobs`; empty: nothing is private.
    pub private_data: Vec<String>,
    /// The settings. Their `compat` is that of the plugin in use: what `PriorityParameters` says
    /// to ours, and what the release does where `PriorityType` is `priority/multifactor`.
    pub config: Config,
}

/// Behaviour of a plugin in a release: for ours, `told`, which `PriorityParameters` gave it; for
/// Slurm's own, that of the release.
pub fn compat_of(priority_type: Option<&str>, release: Option<Release>, told: Compat) -> Compat {
    match (priority_type, release) {
        (Some("priority/multifactor"), Some(release)) => {
            Compat::Slurm(release.max(Release::V22_05_8))
        }
        _ => told,
    }
}

/// The keys that scontrol prints under each plugin; `true`: not under `priority/basic`, which prints no
/// other setting of priorities.
///
/// Source: `slurm_ctl_conf_2_key_pairs()` in `src/common/slurm_protocol_defs.c` and `read_config.c`,
/// 22.05 to 26.05.
const PRINTED: [(&str, bool); 18] = [
    ("AccountingStorageTRES", false),
    ("ClusterName", false),
    ("FairShareDampeningFactor", true),
    ("PriorityParameters", false),
    ("PriorityDecayHalfLife", true),
    ("PriorityCalcPeriod", true),
    ("PriorityFavorSmall", true),
    ("PriorityFlags", true),
    ("PriorityMaxAge", true),
    ("PriorityUsageResetPeriod", true),
    ("PriorityWeightAge", true),
    ("PriorityWeightAssoc", true),
    ("PriorityWeightFairShare", true),
    ("PriorityWeightJobSize", true),
    ("PriorityWeightPartition", true),
    ("PriorityWeightQOS", true),
    ("PriorityWeightTRES", true),
    ("SLURM_VERSION", false),
];

/// Reads the answer. `file` names it in messages. A setting whose value slurm.conf would not take, or
/// that is missing although scontrol always prints it, goes to `left`, and counts as one that is not
/// said.
///
/// # Errors
/// No settings in it; settings that contradict each other.
pub fn read(file: &str, text: &str, left: &mut LeftOut) -> Result<Settings, InputError> {
    let mut settings = Settings {
        cluster: None,
        release: None,
        priority_type: None,
        tres: Vec::new(),
        time: None,
        private_data: Vec::new(),
        config: Config::default(),
    };
    // The priority settings as lines of slurm.conf, each where it is in the answer.
    let mut conf: Vec<String> = Vec::new();
    let mut found: Vec<&str> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut said_here = String::new();
        if let Some(time) = line.strip_prefix("Configuration data as of ") {
            settings.time = super::time::moment(time.trim());
        }
        if let Some((key, value)) = pair(line) {
            found.push(key);
            let said = (!value.is_empty() && value != "(null)").then_some(value);
            match (key, said) {
                ("ClusterName", said) => settings.cluster = said.map(str::to_owned),
                ("SLURM_VERSION", Some(version)) => {
                    settings.release = release(version);
                    if settings.release.is_none() {
                        left.keep::<()>(Err(no_release(file, version).at_line(number, line)))?;
                    }
                }
                ("PrivateData", Some(words)) if words != "none" => {
                    settings.private_data = words.split(',').map(str::to_ascii_lowercase).collect();
                }
                ("PriorityType", said) => settings.priority_type = said.map(str::to_owned),
                ("AccountingStorageTRES", Some(names)) => {
                    settings.tres = names.split(',').map(str::to_ascii_lowercase).collect();
                }
                (key, Some(value))
                    if key.starts_with("Priority") || key.starts_with("FairShare") =>
                {
                    said_here = format!("{key}=\"{value}\"");
                }
                _ => {}
            }
        }
        conf.push(said_here);
    }
    if found.is_empty() {
        let problem = match text.trim().is_empty() {
            true => Problem::Empty,
            false => Problem::Structure("has no line Key = Value".to_owned()),
        };
        return Err(InputError::new(file, problem).hint("give scontrol show config"));
    }
    let cut_off = |why: String| {
        InputError::new(file, Problem::Structure(why))
            .hint("is the answer cut off? Give all of scontrol show config")
    };
    if settings.priority_type.is_none() {
        return Err(cut_off("the key PriorityType is not there".to_owned()));
    }
    let is_basic = settings.priority_type.as_deref() == Some("priority/basic");
    for (key, weighs) in PRINTED {
        if !(found.contains(&key) || weighs && is_basic) {
            left.keep::<()>(Err(cut_off(format!("the key {key} is not there"))))?;
        }
    }
    settings.config = accepted(file, text, conf, settings.release, left)?;
    let config = &mut settings.config;
    let plugin = settings.priority_type.as_deref();
    config.compat = compat_of(plugin, settings.release, config.compat);
    Ok(settings)
}

/// Keys and values of the answer, in its order.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(pair)
}

/// Value of one key in the answer; `None`: not given.
pub fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let (_, value) = pairs(text).find(|(known, _)| *known == key)?;
    (!value.is_empty() && value != "(null)").then_some(value)
}

/// The settings of `conf`, a line for each of `text`, without those that are refused.
fn accepted(
    file: &str,
    text: &str,
    mut conf: Vec<String>,
    release: Option<Release>,
    left: &mut LeftOut,
) -> Result<Config, InputError> {
    loop {
        let mut reader = SlurmConfReader::for_host(release);
        reader.read(&conf.join("\n"), file);
        let errors = match reader.finish_for(Program::Command) {
            Ok(config) => return Ok(config),
            Err(errors) => errors,
        };
        let mut fewer = false;
        for error in &errors {
            let line = error.place.as_ref().map(|place| place.line);
            let own = line.and_then(|line| conf.get_mut(line - 1));
            // One line may be wrong twice.
            if let Some(own) = own.filter(|own| !own.is_empty()) {
                left.keep::<()>(Err(refused(file, text, error)))?;
                own.clear();
                fewer = true;
            }
        }
        if !fewer {
            return Err(refused(file, text, &errors[0]));
        }
    }
}

fn no_release(file: &str, version: &str) -> InputError {
    let problem = Problem::Value {
        what: "SLURM_VERSION".to_owned(),
        found: version.to_owned(),
        allowed: "a release as 24.11.5 or 26.11.0-0rc1".to_owned(),
    };
    InputError::new(file, problem)
}

fn refused(file: &str, text: &str, error: &ConfigError) -> InputError {
    let problem = Problem::Value {
        what: error.setting.clone(),
        found: error.value.clone(),
        allowed: error.allowed.clone(),
    };
    let refused = InputError::new(file, problem);
    match &error.place {
        Some(place) => {
            let line = text.lines().nth(place.line - 1).unwrap_or("");
            refused.at_line(place.line, line)
        }
        None => refused,
    }
}

/// Returns true if `PrivateData` hides jobs of other users.
pub fn hides_jobs(private_data: &[String]) -> bool {
    private_data
        .iter()
        .any(|word| matches!(word.as_str(), "jobs" | "all"))
}

/// Returns true if `PrivateData` hides shares and usage of other users: sshare lists neither where
/// accounts or users are hidden.
pub fn hides_usage(private_data: &[String]) -> bool {
    let hides = |word: &String| matches!(word.as_str(), "usage" | "accounts" | "users" | "all");
    private_data.iter().any(hides)
}

/// `Key   = value`.
fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    (!key.is_empty() && !key.contains(' ')).then(|| (key, value.trim()))
}

/// `22.05.8`, also with a suffix as `23.11.0-0rc1`.
pub(crate) fn release(text: &str) -> Option<Release> {
    let numbers = text.split('-').next()?;
    let mut parts = numbers.split('.').map(|part| part.parse::<u8>().ok());
    let (major, minor, micro) = (parts.next()??, parts.next()??, parts.next()??);
    Some(Release::new(major, minor, micro))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Printed by scontrol 22.05.8.
    const TEXT: &str = "Configuration data as of 2026-11-21T10:07:26\n\
        AccountingStorageTRES   = cpu,mem,energy,node,billing,fs/disk,vmem,pages\n\
        ClusterName             = fairtree\nFairShareDampeningFactor = 1\n\
        PriorityParameters      = (null)\nPriorityDecayHalfLife   = 01:00:00\nPriorityCalcPeriod      = 00:01:00\n\
        PriorityFavorSmall      = No\nPriorityFlags           = \nPriorityMaxAge          = 01:00:00\n\
        PriorityUsageResetPeriod = NONE\nPriorityType            = priority/multifactor\n\
        PriorityWeightAge       = 0\nPriorityWeightAssoc     = 0\n\
        PriorityWeightFairShare = 100000\nPriorityWeightJobSize   = 0\n\
        PriorityWeightPartition = 0\nPriorityWeightQOS       = 0\n\
        PriorityWeightTRES      = (null)\nSLURM_VERSION           = 22.05.8\n\nSlurmctld(primary) at localhost is UP\n";

    fn of(text: &str) -> Result<Settings, InputError> {
        read("f", text, &mut LeftOut::default())
    }

    #[test]
    fn priority_settings_are_read() {
        let settings = of(TEXT).unwrap();
        assert_eq!(settings.cluster.as_deref(), Some("fairtree"));
        assert_eq!(settings.release, Some(Release::V22_05_8));
        assert_eq!(settings.tres[1], "mem");
        assert_eq!(settings.time, Some(1_795_255_646));
        assert_eq!(settings.config.priority_weight_fairshare, 100_000);
        assert_eq!(settings.config.priority_max_age_secs, 3600);
        assert_eq!(settings.config.priority_decay_half_life_secs, 3600);
    }

    #[test]
    fn the_plugin_in_use_says_whose_behaviour_to_follow() {
        let compat = |text: &str| of(text).unwrap().config.compat;
        assert_eq!(compat(TEXT), Compat::Slurm(Release::V22_05_8));
        let ours = TEXT.replace("/multifactor", "/fairtree");
        assert_eq!(compat(&ours), Compat::Documented);
        let told = ours.replace("Parameters      = (null)", "Parameters = compat=slurm");
        assert_eq!(compat(&told), Compat::Slurm(Release::V22_05_8));
    }

    #[test]
    fn one_broken_setting_hides_no_other() {
        let text = TEXT
            .replace("100000", "many")
            .replace("HalfLife   = 01:00:00", "HalfLife   = soon");
        let mut left = LeftOut::default();
        let config = read("f", &text, &mut left).unwrap().config;
        assert_eq!(config.priority_max_age_secs, 3600);
        assert_eq!(config.priority_weight_fairshare, 0);
        let notes = left.notes();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(
            notes[0].contains("PriorityDecayHalfLife \"soon\""),
            "{notes:?}"
        );
        assert!(notes[1].starts_with("f:15"), "{notes:?}");
    }

    #[test]
    fn wrong_values_are_errors_at_their_line() {
        let refuse = |text: &str| read("f", text, &mut LeftOut::refusing()).unwrap_err();
        assert!(read("f", TEXT, &mut LeftOut::refusing()).is_ok());
        assert_eq!(refuse(&TEXT.replace("100000", "many")).line, Some(15));
        let error = refuse(&TEXT.replace("22.05.8", "new"));
        assert_eq!(error.line, Some(20));
        assert!(of("slurmctld is down\n").is_err());
        // Without a key, its setting would count as a default.
        for (key, weighs) in PRINTED {
            let other = TEXT.replace(&format!("{key} "), "Other ");
            let error = refuse(&other).explained();
            assert!(
                error.contains(&format!("the key {key} is not there")),
                "{error}"
            );
            assert!(error.contains("is the answer cut off?"), "{error}");
            let basic = other.replace("/multifactor", "/basic");
            let read = read("f", &basic, &mut LeftOut::refusing());
            assert_eq!(read.is_ok(), weighs, "{key}");
        }
        assert!(of(&TEXT.replace("PriorityType ", "Other ")).is_err());
    }
}
