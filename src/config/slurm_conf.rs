//! Reading the priority settings out of slurm.conf's lines.
//!
//! Keys that are not about priorities are passed over with their lines, and of a key given twice
//! the last value counts, both as in slurmctld. A bad value is an error even where a later one
//! replaces it, except that of `PriorityParameters`, which is read last.

use super::error::{ConfigError, Place, ValueError};
use super::lines::{self, Statement, Word};
use super::{Config, ConfigBuilder, PriorityFlags, PriorityParameters, Program, ResetPeriod};
use super::{number, time, tres_weights};
use crate::compat::Release;

/// Reads a value into a builder.
type Apply = fn(ConfigBuilder, &str) -> Result<ConfigBuilder, ValueError>;

/// slurm.conf's spelling of each key, and what takes its value.
const SETTINGS: [(&str, Apply); 15] = [
    ("FairShareDampeningFactor", |b, v| {
        Ok(b.fair_share_dampening_factor(number::parse_u16(v, 1)?))
    }),
    ("PriorityCalcPeriod", |b, v| {
        Ok(b.priority_calc_period_secs(calc_period(v)?))
    }),
    ("PriorityDecayHalfLife", |b, v| {
        Ok(b.priority_decay_half_life_secs(time::parse_minutes_as_secs(v)?))
    }),
    ("PriorityFavorSmall", |b, v| {
        Ok(b.priority_favor_small(number::parse_bool(v)?))
    }),
    ("PriorityFlags", |b, v| {
        Ok(b.priority_flags(PriorityFlags::parse(v)))
    }),
    ("PriorityMaxAge", |b, v| {
        Ok(b.priority_max_age_secs(time::parse_minutes_as_secs(v)?))
    }),
    // Its value is read when all lines are known, because it outranks PriorityCalcPeriod.
    (PARAMETERS, |b, _| Ok(b)),
    ("PriorityUsageResetPeriod", |b, v| {
        Ok(b.priority_usage_reset_period(ResetPeriod::parse(v)?))
    }),
    ("PriorityWeightAge", |b, v| {
        Ok(b.priority_weight_age(number::parse_u32(v)?))
    }),
    ("PriorityWeightAssoc", |b, v| {
        Ok(b.priority_weight_assoc(number::parse_u32(v)?))
    }),
    ("PriorityWeightFairshare", |b, v| {
        Ok(b.priority_weight_fairshare(number::parse_u32(v)?))
    }),
    ("PriorityWeightJobSize", |b, v| {
        Ok(b.priority_weight_job_size(number::parse_u32(v)?))
    }),
    ("PriorityWeightPartition", |b, v| {
        Ok(b.priority_weight_partition(number::parse_u32(v)?))
    }),
    ("PriorityWeightQOS", |b, v| {
        Ok(b.priority_weight_qos(number::parse_u32(v)?))
    }),
    ("PriorityWeightTRES", |b, v| {
        Ok(b.priority_weight_tres(tres_weights::parse_tres_weights(v)?))
    }),
];

const PARAMETERS: &str = "PriorityParameters";

fn calc_period(value: &str) -> Result<u32, ValueError> {
    let error = || {
        ValueError::new(
            value,
            "whole minutes from 1, as a time such as 5 or 1:00:00",
        )
    };
    match time::parse_minutes_as_secs(value) {
        Ok(secs) if secs > 0 && secs != time::INFINITE_SECS => Ok(secs),
        _ => Err(error()),
    }
}

/// An `include` line, for the caller to read that file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The file, as written; relative names are relative to the folder of slurm.conf.
    pub file: String,
    /// Place of the line.
    pub place: Place,
}

/// Reads slurm.conf and the files that it includes; gathers every error, not only the first.
///
/// ```
/// use fairtree::config::SlurmConfReader;
/// let mut reader = SlurmConfReader::new();
/// let includes = reader.read("PriorityWeightAge=1000\ninclude more.conf\n", "slurm.conf");
/// assert_eq!(includes[0].file, "more.conf");
/// reader.read("PriorityWeightQOS=many\n", "more.conf");
/// let errors = reader.finish().unwrap_err();
/// assert_eq!(errors[0].place.as_ref().unwrap().to_string(), "more.conf:1:19");
/// ```
#[derive(Clone, Debug, Default)]
pub struct SlurmConfReader {
    builder: ConfigBuilder,
    /// Meaning of `compat=slurm` without a release.
    host: Option<Release>,
    errors: Vec<ConfigError>,
    /// The last value of each key, for errors that show only at the end.
    found: Vec<(&'static str, String, Word)>,
}

impl SlurmConfReader {
    /// A reader that has read nothing: slurm.conf's defaults.
    pub fn new() -> SlurmConfReader {
        SlurmConfReader::default()
    }

    /// The same for the slurm.conf of a site whose release is known: `compat=slurm` means that one.
    pub fn for_host(host: Option<Release>) -> SlurmConfReader {
        SlurmConfReader {
            host,
            ..SlurmConfReader::default()
        }
    }

    /// A reader that starts with the settings of `config` instead of slurm.conf's defaults.
    pub fn of(config: Config, host: Option<Release>) -> SlurmConfReader {
        SlurmConfReader {
            builder: ConfigBuilder::of(config),
            ..SlurmConfReader::for_host(host)
        }
    }

    /// Reads the lines of a file called `name` and returns its `include` lines, which it does not
    /// follow. A file read later outranks one read earlier.
    pub fn read(&mut self, text: &str, name: &str) -> Vec<Include> {
        let mut includes = Vec::new();
        for line in lines::lines(text) {
            match line.statement() {
                Statement::Include { file, .. } => includes.push(Include {
                    place: file.place(name, 0),
                    file: file.text,
                }),
                Statement::Setting { key, value, rest } => self.setting(&key, value, &rest, name),
                Statement::Other(word) => self.other(&word, name),
            }
        }
        includes
    }

    /// Takes one setting by itself, as if it were on a line: `value` without quotes, comments and
    /// escapes. It outranks settings that were read earlier.
    ///
    /// # Errors
    /// A key that is not about priorities, and a bad value, without a place; the setting is then
    /// unchanged. Errors that only show when all settings are known are returned by
    /// [`SlurmConfReader::finish`].
    ///
    /// ```
    /// use fairtree::config::SlurmConfReader;
    /// let mut reader = SlurmConfReader::new();
    /// reader.set("PriorityMaxAge", "7-0").unwrap();
    /// assert!(reader.set("PriorityMaximumAge", "7-0").is_err());
    /// assert_eq!(reader.finish().unwrap().priority_max_age_secs, 604_800);
    /// ```
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        let Some((setting, apply)) = known(key) else {
            let names = SETTINGS.map(|(setting, _)| setting).join(", ");
            let error = ValueError::new(key, format!("one of {names}"));
            return Err(error.of("setting"));
        };
        let applied = apply(self.builder.clone(), value);
        self.builder = applied.map_err(|error| error.of(setting))?;
        self.found.retain(|(known, _, _)| *known != setting);
        self.found
            .push((setting, String::new(), Word::alone(value)));
        Ok(())
    }

    /// The settings, or every error in the order of the lines.
    ///
    /// # Errors
    /// Bad values, and what slurmctld refuses of the whole: see [`ConfigBuilder::build`].
    pub fn finish(self) -> Result<Config, Vec<ConfigError>> {
        self.finish_for(Program::Engine)
    }

    /// The same where another host carries the settings out.
    ///
    /// # Errors
    /// As [`SlurmConfReader::finish`].
    pub fn finish_for(mut self, host: Program) -> Result<Config, Vec<ConfigError>> {
        let parameters = self.last(PARAMETERS).map(|(name, word)| {
            PriorityParameters::parse_at(&word.text, self.host)
                .map_err(|(offset, error)| at(error, word.place(name, offset)))
        });
        match parameters {
            Some(Ok(parameters)) => self.builder = self.builder.priority_parameters(parameters),
            Some(Err(error)) => self.errors.push(error),
            None => {}
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let built = self.builder.clone().build_for(host);
        built.map_err(|error| {
            let (setting, key) = match error.setting.split_once(' ') {
                Some((setting, key)) => (setting, Some(key)),
                None => (error.setting.as_str(), None),
            };
            let Some((name, word)) = self.last(setting) else {
                return vec![error];
            };
            // Of a key within PriorityParameters, that entry.
            let offset = key.map_or(0, |key| PriorityParameters::offset(&word.text, key));
            let place = Some(word.place(name, offset));
            let value = match key {
                Some(_) => error.value.clone(),
                None => word.text.clone(),
            };
            vec![ConfigError {
                place,
                value,
                ..error
            }]
        })
    }

    fn last(&self, setting: &str) -> Option<(&str, &Word)> {
        let found = self.found.iter().find(|(known, _, _)| *known == setting);
        found.map(|(_, name, word)| (name.as_str(), word))
    }

    fn setting(&mut self, key: &Word, value: Word, rest: &Word, name: &str) {
        let Some((setting, apply)) = known(&key.text) else {
            return;
        };
        if !rest.text.is_empty() {
            let error = ValueError::new(
                &rest.text,
                "nothing after the value: one setting a line, values with blanks in quotes",
            );
            self.errors.push(at(error.of(setting), rest.place(name, 0)));
            return;
        }
        match apply(self.builder.clone(), &value.text) {
            Ok(builder) => self.builder = builder,
            Err(error) => {
                let place = value.place(name, error.offset);
                self.errors.push(at(error.of(setting), place));
            }
        }
        self.found.retain(|(known, _, _)| *known != setting);
        self.found.push((setting, name.to_string(), value));
    }

    /// A line without `=` or without value is an error if it begins with a key of ours.
    fn other(&mut self, word: &Word, name: &str) {
        let key: &str = word
            .text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
        if let Some((setting, _)) = known(key) {
            let error = ValueError::new(&word.text, format!("{setting}=value"));
            self.errors.push(at(error.of(setting), word.place(name, 0)));
        }
    }
}

fn known(key: &str) -> Option<(&'static str, Apply)> {
    SETTINGS
        .into_iter()
        .find(|(setting, _)| setting.eq_ignore_ascii_case(key))
}

fn at(error: ConfigError, place: Place) -> ConfigError {
    ConfigError {
        place: Some(place),
        ..error
    }
}

impl Config {
    /// Reads the priority settings out of slurm.conf's text; `name` is the file's name for
    /// messages. Other keys and `include` lines are passed over ([`SlurmConfReader`] hands the
    /// latter out).
    ///
    /// # Errors
    /// The first of the errors of [`SlurmConfReader::finish`].
    ///
    /// ```
    /// use fairtree::config::Config;
    /// let config = Config::from_slurm_conf("PriorityMaxAge = 7-0 # a week\n", "slurm.conf");
    /// assert_eq!(config.unwrap().priority_max_age_secs, 604_800);
    /// let error = Config::from_slurm_conf("PriorityMaxAge=7x", "slurm.conf").unwrap_err();
    /// assert!(error.to_string().starts_with("slurm.conf:1:16: PriorityMaxAge: found \"7x\""));
    /// ```
    pub fn from_slurm_conf(text: &str, name: &str) -> Result<Config, ConfigError> {
        Config::from_slurm_conf_for(Program::Engine, text, name)
    }

    /// The same where another host carries the settings out.
    ///
    /// # Errors
    /// As [`Config::from_slurm_conf`].
    pub fn from_slurm_conf_for(
        host: Program,
        text: &str,
        name: &str,
    ) -> Result<Config, ConfigError> {
        let mut reader = SlurmConfReader::new();
        reader.read(text, name);
        reader
            .finish_for(host)
            .map_err(|mut errors| errors.swap_remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::{Compat, Release};

    fn read(text: &str) -> Result<Config, ConfigError> {
        Config::from_slurm_conf(text, "slurm.conf")
    }

    // Source: slurm.conf(5), the default of every setting.
    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(read("").unwrap(), Config::default());
        assert_eq!(read("# PriorityWeightAge=1\n").unwrap(), Config::default());
    }

    #[test]
    fn every_key_in_any_case_with_blanks() {
        let text = "\
            fairsharedampeningfactor=5\n\
            PRIORITYCALCPERIOD = 10\n\
            PriorityDecayHalfLife= 14-0\n\
            PriorityFavorSmall =YES\n\
            PriorityFlags=ACCRUE_ALWAYS,\\\nINCR_ONLY\n\
            PriorityMaxAge=INFINITE\n\
            PriorityParameters=\"compat=slurm:22.05.8, max_lock_ms=50\"\n\
            PriorityUsageResetPeriod=yearly\n\
            PriorityWeightAge=1\n\
            PriorityWeightAssoc=2\n\
            PriorityWeightFairshare=3\n\
            PriorityWeightJobSize=4\n\
            PriorityWeightPartition=5\n\
            PriorityWeightQOS=6 # don't use the qos factor\n\
            PriorityWeightTRES=cpu=7,gres/gpu=-8\n\
            PartitionName=x Priority=y PriorityWeightAge=9\n";
        let config = read(text).unwrap();
        let expected = Config {
            priority_weight_age: 1,
            priority_weight_assoc: 2,
            priority_weight_fairshare: 3,
            priority_weight_job_size: 4,
            priority_weight_partition: 5,
            priority_weight_qos: 6,
            priority_weight_tres: vec![("cpu".into(), 7.0), ("gres/gpu".into(), -8.0)],
            priority_max_age_secs: 4_294_967_236,
            priority_favor_small: true,
            priority_flags: PriorityFlags {
                accrue_always: true,
                incr_only: true,
                ..PriorityFlags::default()
            },
            priority_decay_half_life_secs: 14 * 86_400,
            priority_usage_reset_period: ResetPeriod::Yearly,
            priority_calc_period_secs: 600,
            fair_share_dampening_factor: 5,
            compat: Compat::Slurm(Release::V22_05_8),
            max_lock_ms: 50,
            ..Config::default()
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn calc_period_in_seconds_outranks_the_minutes_in_any_order() {
        for text in [
            "PriorityCalcPeriod=5\nPriorityParameters=calc_period=20",
            "PriorityParameters=calc_period=20\nPriorityCalcPeriod=5",
        ] {
            assert_eq!(read(text).unwrap().priority_calc_period_secs, 20);
        }
    }

    #[test]
    fn the_last_of_two_counts() {
        let config = read("PriorityWeightAge=1\nPriorityWeightAge=2\n").unwrap();
        assert_eq!(config.priority_weight_age, 2);
        let config = read("PriorityParameters=x\nPriorityParameters=max_lock_ms=2\n").unwrap();
        assert_eq!(config.max_lock_ms, 2);
    }

    #[test]
    fn errors_name_line_column_value_and_what_is_allowed() {
        for (text, place, value, allowed) in [
            ("\nPriorityMaxAge = 7x", "2:18", "7x", "7-0"),
            ("PriorityCalcPeriod=0", "1:20", "0", "from 1"),
            ("PriorityCalcPeriod=INFINITE", "1:20", "INFINITE", "from 1"),
            ("PriorityDecayHalfLife=-5", "1:23", "-5", "INFINITE"),
            ("PriorityFavorSmall=on", "1:20", "on", "YES"),
            ("PriorityUsageResetPeriod=x", "1:26", "x", "MONTHLY"),
            ("PriorityWeightQOS=1.5", "1:19", "1.5", "4294967295"),
            ("PriorityWeightTRES=cpu=1,mem", "1:26", "mem", "gres/gpu"),
            (
                "PriorityWeightTRES=\"cpu=1,mem\"",
                "1:27",
                "mem",
                "gres/gpu",
            ),
            ("FairShareDampeningFactor=0", "1:26", "0", "from 1"),
            (
                "PriorityWeightAge=1 PriorityWeightQOS=2",
                "1:21",
                "PriorityWeightQOS=2",
                "one setting",
            ),
            (
                "PriorityWeightAge 5",
                "1:1",
                "PriorityWeightAge 5",
                "PriorityWeightAge=value",
            ),
            (
                "PriorityWeightAge=",
                "1:1",
                "PriorityWeightAge=",
                "PriorityWeightAge=value",
            ),
            (
                "PriorityParameters=compat=slurm,x=2",
                "1:33",
                "x=2",
                "max_lock_ms",
            ),
            (
                "A=1\nPriorityDecayHalfLife=0-0",
                "2:23",
                "0-0",
                "PriorityUsageResetPeriod",
            ),
            (
                "PriorityParameters=\"calc_period=5, counts = COMPLETED\"",
                "1:36",
                "COMPLETED",
                "a window or total",
            ),
        ] {
            let error = read(text).unwrap_err();
            let found = error.place.as_ref().unwrap().to_string();
            assert_eq!(found, format!("slurm.conf:{place}"), "{text}: {error}");
            assert_eq!(error.value, value, "{text}");
            assert!(error.allowed.contains(allowed), "{text}: {error}");
        }
    }

    #[test]
    fn every_error_is_gathered() {
        let mut reader = SlurmConfReader::new();
        reader.read("PriorityWeightAge=a\nPriorityWeightQOS=b\n", "one");
        reader.read("PriorityParameters=c\n", "two");
        let errors = reader.finish().unwrap_err();
        let values: Vec<&str> = errors.iter().map(|error| error.value.as_str()).collect();
        assert_eq!(values, ["a", "b", "c"]);
        assert_eq!(errors[2].place.as_ref().unwrap().to_string(), "two:1:20");
    }
}
