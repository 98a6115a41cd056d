//! `scontrol show config`.

use crate::input::error::{InputError, Problem};
use fairtree::compat::{Compat, Release};
use fairtree::config::{Config, SlurmConfReader};

/// What the answer tells about priorities.
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
    /// The settings. Their `compat` is that of the plugin in use: what `PriorityParameters` says
    /// to ours, and what the release does where `PriorityType` is `priority/multifactor`.
    pub config: Config,
}

/// What a plugin does in a release: ours what `PriorityParameters` told it, `told`; Slurm's own
/// what it does.
pub fn compat_of(priority_type: Option<&str>, release: Option<Release>, told: Compat) -> Compat {
    match (priority_type, release) {
        (Some("priority/multifactor"), Some(release)) => {
            Compat::Slurm(release.max(Release::V22_05_8))
        }
        _ => told,
    }
}

/// Reads the answer. `file` names it in messages.
///
/// # Errors
/// No settings in it, and values that slurm.conf would not take.
pub fn read(file: &str, text: &str) -> Result<Settings, InputError> {
    let mut settings = Settings {
        cluster: None,
        release: None,
        priority_type: None,
        tres: Vec::new(),
        time: None,
        config: Config::default(),
    };
    // The priority settings as lines of slurm.conf, each where it is in the answer.
    let mut conf = String::new();
    let (mut any, mut weights) = (false, false);
    for line in text.lines() {
        if let Some(time) = line.strip_prefix("Configuration data as of ") {
            settings.time = super::time::moment(time.trim());
        }
        if let Some((key, value)) = pair(line) {
            any = true;
            weights |= key == "PriorityWeightTRES";
            let said = (!value.is_empty() && value != "(null)").then_some(value);
            match (key, said) {
                ("ClusterName", said) => settings.cluster = said.map(str::to_owned),
                ("SLURM_VERSION", Some(version)) => settings.release = release(version),
                ("PriorityType", said) => settings.priority_type = said.map(str::to_owned),
                ("AccountingStorageTRES", Some(names)) => {
                    settings.tres = names.split(',').map(str::to_ascii_lowercase).collect();
                }
                (key, Some(value))
                    if key.starts_with("Priority") || key.starts_with("FairShare") =>
                {
                    conf.push_str(&format!("{key}=\"{value}\""));
                }
                _ => {}
            }
        }
        conf.push('\n');
    }
    if !any {
        return Err(InputError::new(file, Problem::Empty).hint("give scontrol show config"));
    }
    // What is not said counts as not weighed, so nothing may be missing unnoticed.
    let weighs = settings.priority_type.as_deref() != Some("priority/basic");
    if settings.priority_type.is_none() || (weighs && !weights) {
        let why = "PriorityType or the weights after it are not there";
        return Err(InputError::new(file, Problem::Structure(why.into()))
            .hint("is the answer cut off? Give all of scontrol show config"));
    }
    let mut reader = SlurmConfReader::for_host(settings.release);
    reader.read(&conf, file);
    settings.config = reader.finish().map_err(|errors| {
        let error = &errors[0];
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
    })?;
    let config = &mut settings.config;
    let plugin = settings.priority_type.as_deref();
    config.compat = compat_of(plugin, settings.release, config.compat);
    Ok(settings)
}

/// What the answer says of one key; `None`: nothing.
pub fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut pairs = text.lines().filter_map(pair);
    let (_, value) = pairs.find(|(known, _)| *known == key)?;
    (!value.is_empty() && value != "(null)").then_some(value)
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
        ClusterName             = fairtree\nPriorityParameters      = (null)\n\
        PriorityDecayHalfLife   = 01:00:00\nPriorityCalcPeriod      = 00:01:00\n\
        PriorityFavorSmall      = No\nPriorityFlags           = \nPriorityMaxAge          = 01:00:00\n\
        PriorityUsageResetPeriod = NONE\nPriorityType            = priority/multifactor\n\
        PriorityWeightFairShare = 100000\nPriorityWeightTRES      = (null)\n\
        SLURM_VERSION           = 22.05.8\n\nSlurmctld(primary) at localhost is UP\n";

    #[test]
    fn priority_settings_are_read() {
        let settings = read("f", TEXT).unwrap();
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
        let compat = |text: &str| read("f", text).unwrap().config.compat;
        assert_eq!(compat(TEXT), Compat::Slurm(Release::V22_05_8));
        let ours = TEXT.replace("/multifactor", "/fairtree");
        assert_eq!(compat(&ours), Compat::Documented);
        let told = ours.replace("Parameters      = (null)", "Parameters = compat=slurm");
        assert_eq!(compat(&told), Compat::Slurm(Release::V22_05_8));
    }

    #[test]
    fn wrong_values_are_errors_at_their_line() {
        let error = read("f", &TEXT.replace("100000", "many")).unwrap_err();
        assert_eq!(error.line, Some(12));
        assert!(read("f", "slurmctld is down\n").is_err());
        // Cut off, it would be a site that weighs nothing.
        let cut = TEXT.split("PriorityWeightTRES").next().unwrap();
        let error = read("f", cut).unwrap_err().explained();
        assert!(error.contains("is the answer cut off?"), "{error}");
        let basic = cut.replace("/multifactor", "/basic");
        assert!(read("f", &basic).is_ok());
    }
}
