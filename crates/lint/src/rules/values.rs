//! Values: what a setting does not take, and numbers that are not what they look like.

use super::words::entries;
use crate::effective_settings::{EffectiveSettings, Scope, WEIGHTS};
use crate::rule::{Hit, Rule, Severity};
use crate::spelling::did_you_mean;
use fairtree::config::{ConfigError, SlurmConfReader, number, time};
use fairtree_model::input::slurm::document::{Setting, Spot};

pub(super) static RULES: [Rule; 2] = [
    Rule {
        id: "bad-value",
        severity: Severity::Error,
        summary: "a value that its setting does not take",
        source: "slurm.conf(5), the entry of each setting",
        scope: Scope::Always,
        check: bad_value,
    },
    Rule {
        id: "number-not-decimal",
        severity: Severity::Warning,
        summary: "a number that is not what it looks like: octal, or in units of 1024",
        source: "slurmctld reads numbers as strtoul(3) with base 0, and a k behind them as 1024",
        scope: Scope::Always,
        check: number_not_decimal,
    },
];

/// The keys of a partition's line that take numbers of 16 bits.
const PARTITION_NUMBERS: [&str; 3] = ["Priority", "PriorityJobFactor", "PriorityTier"];

/// The words of `AccountingStorageEnforce` (slurm.conf(5)); slurmctld takes 1 and 2 as well.
const ENFORCE: [&str; 8] = [
    "associations",
    "limits",
    "nojobs",
    "nosteps",
    "qos",
    "safe",
    "wckeys",
    "all",
];

/// The spots of values that are refused, and of lines of such settings that cannot be parsed.
pub(super) fn bad_lines(conf: &EffectiveSettings<'_>) -> impl Iterator<Item = Spot> {
    bad_settings(conf).into_iter().map(|(spot, _)| spot)
}

/// The errors of lines of priority settings, with their places.
fn bad_settings(conf: &EffectiveSettings<'_>) -> Vec<(Spot, ConfigError)> {
    let mut found = Vec::new();
    for source in 0..conf.document.sources.len() {
        let mut reader = SlurmConfReader::new();
        reader.read(&conf.document.text(source), "");
        let errors = reader.finish().err().unwrap_or_default();
        for error in errors {
            let Some(place) = &error.place else {
                continue;
            };
            let spot = Spot {
                source,
                line: place.line,
                column: place.column,
                length: error.value.chars().count().max(1),
            };
            if !has_rule_of_its_own(conf, &error, &spot) {
                found.push((spot, error));
            }
        }
    }
    found
}

fn bad_value(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let settings = bad_settings(conf).into_iter();
    let settings = settings.map(|(spot, error)| {
        let value = error.value.escape_debug();
        Hit::new(
            spot,
            format!("{} does not take \"{value}\"", error.setting),
            format!("allowed is {}", error.allowed),
        )
    });
    let mut hits: Vec<Hit> = settings.collect();
    hits.extend(conf.partition_lines().flat_map(bad_partition_values));
    hits.extend(bad_enforcement(conf));
    hits
}

/// True for the value of `PriorityParameters`, which depends on the plugin, and for a half-life
/// of 0, which depends on a setting that may be in another file.
fn has_rule_of_its_own(conf: &EffectiveSettings<'_>, error: &ConfigError, spot: &Spot) -> bool {
    if error.setting == "PriorityDecayHalfLife" {
        return time::parse_minutes_as_secs(&error.value) == Ok(0);
    }
    let parameters = conf.document.settings.iter();
    let mut parameters = parameters.filter(|setting| setting.is("PriorityParameters"));
    parameters.any(|setting| {
        let length = setting.value.text.chars().count();
        let mut places = (0..length.max(1)).map(|offset| setting.value_part(offset, spot.length));
        places.any(|place| place == *spot)
    })
}

fn bad_partition_values(line: &Setting) -> Vec<Hit> {
    let numbers = line.pairs().into_iter().filter(|pair| {
        let mut keys = PARTITION_NUMBERS.iter();
        keys.any(|key| key.eq_ignore_ascii_case(&pair.key))
    });
    numbers
        .filter_map(|pair| {
            let error = number::parse_u16(&pair.value, 0).err()?;
            let value = pair.value.escape_debug();
            Some(Hit::new(
                line.pair_values(&pair),
                format!("{} does not take \"{value}\"", pair.key),
                format!("allowed is {}", error.allowed),
            ))
        })
        .collect()
}

fn bad_enforcement(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some(setting) = conf.last("AccountingStorageEnforce") else {
        return Vec::new();
    };
    let words = entries(&setting.value.text).into_iter();
    let known = |word: &str| {
        let mut all = ENFORCE.into_iter().chain(["1", "2"]);
        all.any(|known| known.eq_ignore_ascii_case(word))
    };
    words
        .filter(|(_, word)| !known(word))
        .map(|(offset, word)| {
            let value = word.escape_debug();
            Hit::new(
                setting.value_part(offset, word.chars().count()),
                format!("AccountingStorageEnforce does not take \"{value}\""),
                did_you_mean(word.trim(), &ENFORCE),
            )
        })
        .collect()
}

fn number_not_decimal(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let given = WEIGHTS
        .iter()
        .filter_map(|factor| conf.last(factor.weight_key()));
    given
        .filter_map(|setting| {
            let text = setting.value.text.as_str();
            let number = number::parse_u32(text).ok()?;
            let hexadecimal = text.contains(['x', 'X']);
            let (how, meant) = if let Some(thousands) = text.strip_suffix(['k', 'K']) {
                ("k is 1024", format!("{thousands}000"))
            } else if text.starts_with('0') && number != 0 && !hexadecimal {
                let digits = text.trim_start_matches('0');
                ("a number that begins with 0 is octal", digits.to_string())
            } else {
                return None;
            };
            Some(Hit::new(
                setting.value_spot(),
                format!("{text} is {number}: {how}"),
                format!("write {meant} if that is meant, else {number}"),
            ))
        })
        .collect()
}
