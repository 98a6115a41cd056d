//! `PriorityParameters`: what slurm.conf has no key for, as `key=value,key=value`.
//!
//! A key implements [`Key`] in a file of its own, and has one line in the table below; from the
//! table follow the type [`PriorityParameters`], its reader, and [`KEYS`], the list that documents
//! and messages show.
//!
//! Keys and words may be written in any case of letters, with blanks around them. A comma ends a
//! value; within one, `+` joins parts and `:` goes before an argument.

#[macro_use]
mod key;

pub(crate) mod calc_period;
pub(crate) mod compat;
pub(crate) mod counts;
pub(crate) mod expect;
pub(crate) mod max_lock_ms;
pub(crate) mod minutes;
pub(crate) mod order;
pub(crate) mod policy;
pub(crate) mod ranking;
pub(crate) mod resolution;
pub(crate) mod scope;
pub(crate) mod tiers;
pub(crate) mod usage;

use self::key::Key;
use super::error::{ConfigError, ValueError};
use super::policy_file::{AccountPolicy, MOST_POLICY_BYTES, PolicyFile};
use crate::compat::{Compat, Release};

pub use counts::{CountedEnd, Counts, EndState};
pub use expect::Expect;
pub use key::KeyInfo;
pub use minutes::MinutesFrom;
pub use order::Order;
pub use scope::Scope;
pub use tiers::Tiers;
pub use usage::UsageModel;

// One line per key: its file, which is the name of its field, and its type there.
keys! {
    compat: CompatKey,
    calc_period: CalcPeriod,
    max_lock_ms: MaxLockMs,
    usage: Usage,
    resolution: Resolution,
    ranking: Ranking,
    order: OrderKey,
    counts: CountsKey,
    scope: ScopeKey,
    expect: ExpectKey,
    tiers: TiersKey,
    minutes: MinutesKey,
    policy: PolicyKey,
}

impl PriorityParameters {
    /// Reads the value of `PriorityParameters`; empty text and empty entries are fine. `host` is
    /// the release of the slurmctld that asks, `None` elsewhere.
    ///
    /// # Errors
    /// Unknown keys, keys given twice, entries without `=`, bad values: each names the key, what
    /// was found and what is allowed.
    ///
    /// ```
    /// use fairtree::config::PriorityParameters;
    /// let parameters = PriorityParameters::parse("calc_period=30", None).unwrap();
    /// assert_eq!(parameters.calc_period, Some(30));
    /// let error = PriorityParameters::parse("calcperiod=30", None).unwrap_err();
    /// assert!(error.to_string().starts_with(
    ///     "PriorityParameters: found \"calcperiod=30\", allowed is key=value \
    ///      with one of the keys compat, calc_period, max_lock_ms, "
    /// ));
    /// ```
    pub fn parse(text: &str, host: Option<Release>) -> Result<PriorityParameters, ConfigError> {
        PriorityParameters::parse_at(text, host).map_err(|(_, error)| error)
    }

    /// As [`PriorityParameters::parse`]; an error comes with the number of characters before it.
    pub(super) fn parse_at(
        text: &str,
        host: Option<Release>,
    ) -> Result<PriorityParameters, (usize, ConfigError)> {
        let mut parameters = PriorityParameters::default();
        let mut offset = 0;
        for entry in text.split(',') {
            if !entry.trim().is_empty() {
                let blanks = entry.chars().take_while(|c| c.is_whitespace()).count();
                parameters
                    .take(entry.trim(), host)
                    .map_err(|(within, error)| (offset + blanks + within, error))?;
            }
            offset += entry.chars().count() + 1;
        }
        Ok(parameters)
    }

    /// The number of characters before the entry of a key; 0 if there is no such entry.
    pub(super) fn offset(text: &str, key: &str) -> usize {
        let mut offset = 0;
        for entry in text.split(',') {
            let name = entry.split('=').next().unwrap_or_default();
            if name.trim().eq_ignore_ascii_case(key) {
                return offset + name.chars().take_while(|c| c.is_whitespace()).count();
            }
            offset += entry.chars().count() + 1;
        }
        0
    }

    fn take(&mut self, entry: &str, host: Option<Release>) -> Result<(), (usize, ConfigError)> {
        let unknown = || {
            let allowed = format!("key=value with one of the keys {}", names(KEYS));
            (0, ValueError::new(entry, allowed).of("PriorityParameters"))
        };
        let (name, value) = entry.split_once('=').ok_or_else(unknown)?;
        let before_value = name.chars().count() + 1;
        let blanks = value.chars().take_while(|c| c.is_whitespace()).count();
        let (name, value) = (name.trim(), value.trim());
        let known = KEYS.iter().find(|key| key.name.eq_ignore_ascii_case(name));
        let setting = format!("PriorityParameters {}", known.map_or(name, |key| key.name));
        match self.set(name, value, host) {
            None => Err(unknown()),
            Some(Ok(true)) => Ok(()),
            Some(Ok(false)) => Err((0, ValueError::new(entry, "each key once").of(setting))),
            // A value that is wrong as a whole is shown with its key.
            Some(Err(error)) if error.offset == 0 => Err((0, error.of(setting))),
            Some(Err(error)) => Err((before_value + blanks + error.offset, error.of(setting))),
        }
    }

    /// The parameters together with those of a policy file.
    ///
    /// # Errors
    /// A key that both give.
    pub fn with(self, file: &PriorityParameters) -> Result<PriorityParameters, ConfigError> {
        match self.given_twice(file) {
            None => Ok(self.or(file.clone())),
            Some(key) => {
                let (here, there) = (self.written(key), file.written(key));
                let allowed = format!(
                    "each key once, here or in the policy file, which has {key} = \"{there}\""
                );
                Err(ValueError::new(here, allowed).of(format!("PriorityParameters {key}")))
            }
        }
    }

    /// These parameters with those of the policy file that they name, and the accounts of that file;
    /// without `policy=` these alone. `read`: the text of a file by its path, or why it cannot be read.
    ///
    /// # Errors
    /// A file that cannot be read or is longer than [`MOST_POLICY_BYTES`], those of
    /// [`PolicyFile::parse`], and a key that both give.
    pub fn with_policy_file(
        mut self,
        host: Option<Release>,
        read: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<(PriorityParameters, Vec<AccountPolicy>), ConfigError> {
        let Some(path) = self.policy.take() else {
            return Ok((self, Vec::new()));
        };
        let readable = read(&path).and_then(|text| match text.len() > MOST_POLICY_BYTES {
            true => Err("it has more than 4 MiB".to_owned()),
            false => Ok(text),
        });
        let text = readable.map_err(|why| {
            let error = ValueError::new(&path, format!("a file that can be read: {why}"));
            error.of("PriorityParameters policy")
        })?;
        let file = PolicyFile::parse(&text, &path, host)?;
        Ok((self.with(&file.parameters)?, file.accounts))
    }

    /// The refusal of what stock does not have, where stock is followed: it names the keys.
    pub(super) fn beyond_compat(&self, compat: Compat) -> Option<ConfigError> {
        let beyond = self.beyond_stock();
        if !compat.is_slurm() || beyond.is_empty() {
            return None;
        }
        let allowed = format!(
            "compat=documented beside {}: Slurm's own plugin has nothing like it",
            beyond.join(", ")
        );
        let error = ValueError::new(self.written("compat"), allowed);
        Some(error.of("PriorityParameters compat"))
    }
}

/// Reads a usage model, as `usage=` takes it.
pub(super) fn usage_model(text: &str) -> Result<UsageModel, ValueError> {
    usage::Usage::parse(text, None)
}

/// The names of keys, for a message.
fn names(keys: &[KeyInfo]) -> String {
    let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    names.join(", ")
}

/// A whole number from `least` up.
fn whole_number(text: &str, least: u32, unit: &str) -> Result<u32, ValueError> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let number = text.parse().ok();
    number
        .filter(|number| digits && *number >= least)
        .ok_or_else(|| {
            let allowed = format!("a whole number of {unit} from {least} to {}", u32::MAX);
            ValueError::new(text, allowed)
        })
}

/// One of these words, in any case of letters.
fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, ValueError> {
    let known = words
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(text));
    known.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        ValueError::new(text, format!("one of {}", words.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<PriorityParameters, ConfigError> {
        PriorityParameters::parse(text, None)
    }

    #[test]
    fn keys_in_any_case_with_blanks_and_empty_entries() {
        let parameters = parse(" Compat = SLURM:22.05.8 ,calc_period=30,,max_lock_ms=0,").unwrap();
        assert_eq!(parameters.compat, Some(Compat::Slurm(Release::V22_05_8)));
        assert_eq!(parameters.calc_period, Some(30));
        assert_eq!(parameters.max_lock_ms, Some(0));
        assert_eq!(parse("").unwrap(), PriorityParameters::default());
    }

    #[test]
    fn every_key_is_described_once_and_takes_its_default() {
        let mut seen = Vec::new();
        for key in KEYS {
            assert!(!key.form.is_empty() && !key.meaning.is_empty());
            assert!(!seen.contains(&key.name), "{}", key.name);
            seen.push(key.name);
            let is_value = !key.default.contains(' ') && !key.default.starts_with("Priority");
            if is_value {
                parse(&format!("{}={}", key.name, key.default)).unwrap();
            }
        }
    }

    #[test]
    fn errors_name_key_value_and_what_is_allowed() {
        for (text, setting, value, allowed) in [
            ("compat", "PriorityParameters", "compat", "keys compat"),
            ("fast=1", "PriorityParameters", "fast=1", "calc_period"),
            ("=1", "PriorityParameters", "=1", "max_lock_ms"),
            (
                "compat=fast",
                "PriorityParameters compat",
                "fast",
                "documented",
            ),
            (
                "ORDER=fast",
                "PriorityParameters order",
                "fast",
                "interleaved",
            ),
            (
                "calc_period=5,CALC_PERIOD=5",
                "PriorityParameters calc_period",
                "CALC_PERIOD=5",
                "each key once",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.setting, setting, "{text}");
            assert_eq!(error.value, value, "{text}");
            assert!(error.allowed.contains(allowed), "{text}: {error}");
        }
    }

    #[test]
    fn an_error_knows_how_far_in_it_is() {
        let offset = |text| PriorityParameters::parse_at(text, None).unwrap_err().0;
        assert_eq!(offset("calc_period=5, x=1"), 15);
        assert_eq!(offset("calc_period=5, usage= window:x"), 29);
    }

    #[test]
    fn stock_has_some_values_only() {
        let check = |text: &str| {
            let parameters = parse(text).unwrap();
            parameters.beyond_compat(parameters.compat.unwrap_or_default())
        };
        for text in [
            "compat=slurm,calc_period=10,max_lock_ms=11",
            "compat=slurm,usage=half_life,order=weighted,scope=cluster,tiers=none",
            "compat=slurm,ranking=depth_oblivious,expect=time_limit,counts=all",
            "compat=documented,usage=window:28-0,order=strict",
            "usage=window:28-0,order=strict",
        ] {
            assert_eq!(check(text), None, "{text}");
        }
        let error = check("order=strict,compat=slurm:22.05.8,usage=window:28-0").unwrap();
        assert_eq!(error.setting, "PriorityParameters compat");
        assert_eq!(error.value, "slurm:22.05.8");
        assert!(error.allowed.contains("beside usage, order"), "{error}");
        for text in [
            "resolution=1-0",
            "counts=COMPLETED",
            "policy=/x",
            "tiers=qos",
        ] {
            assert!(check(&format!("compat=slurm,{text}")).is_some(), "{text}");
        }
    }
}
