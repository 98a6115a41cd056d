//! `PriorityParameters`: what slurm.conf has no key for, as `key=value,key=value`.
//!
//! | key | value | default | meaning |
//! |---|---|---|---|
//! | `compat` | `documented`, `slurm`, `slurm:24.11.5` | `documented` | whose behaviour to follow ([`Compat`]) |
//! | `calc_period` | seconds, from 1 | `PriorityCalcPeriod` | time between two passes |
//! | `max_lock_ms` | milliseconds | 0 | longest hold of slurmctld's job lock by a pass; 0: one piece |
//!
//! Keys and words may be written in any case of letters, with blanks around them. `compat=slurm`
//! without a release means the host's own inside slurmctld, and elsewhere the newest one whose
//! behaviour is known, 24.11.5.

use super::error::{ConfigError, ValueError};
use crate::compat::{Compat, Release};

/// The value of `PriorityParameters`; `None`: not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityParameters {
    /// `compat=`.
    pub compat: Option<Compat>,
    /// `calc_period=`, seconds.
    pub calc_period_secs: Option<u32>,
    /// `max_lock_ms=`.
    pub max_lock_ms: Option<u32>,
}

const KEYS: [&str; 3] = ["compat", "calc_period", "max_lock_ms"];

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
    /// assert_eq!(parameters.calc_period_secs, Some(30));
    /// let error = PriorityParameters::parse("calcperiod=30", None).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "PriorityParameters: found \"calcperiod=30\", allowed is key=value \
    ///      with one of the keys compat, calc_period, max_lock_ms"
    /// );
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
                    .map_err(|error| (offset + blanks, error))?;
            }
            offset += entry.chars().count() + 1;
        }
        Ok(parameters)
    }

    fn take(&mut self, entry: &str, host: Option<Release>) -> Result<(), ConfigError> {
        let unknown = || {
            let keys = KEYS.join(", ");
            ValueError::new(entry, format!("key=value with one of the keys {keys}"))
                .of("PriorityParameters")
        };
        let (key, value) = entry.split_once('=').ok_or_else(unknown)?;
        let (key, value) = (key.trim(), value.trim());
        let key = KEYS
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(key))
            .ok_or_else(unknown)?;
        let named = |error: ValueError| error.of(format!("PriorityParameters {key}"));
        let first = match key {
            "compat" => {
                let compat = parse_compat(value, host).map_err(named)?;
                self.compat.replace(compat).is_none()
            }
            "calc_period" => {
                let secs = parse_number(value, 1, "seconds").map_err(named)?;
                self.calc_period_secs.replace(secs).is_none()
            }
            _ => {
                let millis = parse_number(value, 0, "milliseconds").map_err(named)?;
                self.max_lock_ms.replace(millis).is_none()
            }
        };
        if first {
            Ok(())
        } else {
            Err(named(ValueError::new(entry, "each key once")))
        }
    }
}

fn parse_number(text: &str, least: u32, unit: &str) -> Result<u32, ValueError> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|number| digits && *number >= least)
        .ok_or_else(|| {
            ValueError::new(
                text,
                format!("a whole number of {unit} from {least} to {}", u32::MAX),
            )
        })
}

fn parse_compat(text: &str, host: Option<Release>) -> Result<Compat, ValueError> {
    let lower = text.to_ascii_lowercase();
    let release = match lower.as_str() {
        "documented" => return Ok(Compat::Documented),
        "slurm" => Some(host.unwrap_or(Release::V24_11_5)),
        _ => lower.strip_prefix("slurm:").and_then(parse_release),
    };
    release.map(Compat::Slurm).ok_or_else(|| {
        ValueError::new(
            text,
            "documented, slurm, or slurm: and a release from 22.05.0 up, such as slurm:24.11.5",
        )
    })
}

/// A release such as `22.05.8` or `22.5.8`, from 22.05.0 up.
fn parse_release(text: &str) -> Option<Release> {
    let mut numbers = text.split('.').map(|number| {
        let digits = number.bytes().all(|b| b.is_ascii_digit());
        number.parse::<u8>().ok().filter(|_| digits)
    });
    let release = Release::new(numbers.next()??, numbers.next()??, numbers.next()??);
    (numbers.next().is_none() && release >= Release::new(22, 5, 0)).then_some(release)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<PriorityParameters, ConfigError> {
        PriorityParameters::parse(text, None)
    }

    #[test]
    fn every_key() {
        let parameters = parse(" Compat = SLURM:22.05.8 ,calc_period=30,,max_lock_ms=0,").unwrap();
        assert_eq!(parameters.compat, Some(Compat::Slurm(Release::V22_05_8)));
        assert_eq!(parameters.calc_period_secs, Some(30));
        assert_eq!(parameters.max_lock_ms, Some(0));
        assert_eq!(parse("").unwrap(), PriorityParameters::default());
    }

    #[test]
    fn compat_takes_the_release_of_the_host() {
        let compat = |text, host| PriorityParameters::parse(text, host).unwrap().compat;
        let host = Some(Release::V22_05_8);
        assert_eq!(compat("compat=documented", host), Some(Compat::Documented));
        assert_eq!(
            compat("compat=slurm", host),
            Some(Compat::Slurm(Release::V22_05_8))
        );
        assert_eq!(
            compat("compat=slurm", None),
            Some(Compat::Slurm(Release::V24_11_5))
        );
        assert_eq!(
            compat("compat=slurm:24.11.5", host),
            Some(Compat::Slurm(Release::V24_11_5))
        );
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
                "compat=slurm:21.08.8",
                "PriorityParameters compat",
                "slurm:21.08.8",
                "22.05.0",
            ),
            (
                "compat=slurm:24.11",
                "PriorityParameters compat",
                "slurm:24.11",
                "24.11.5",
            ),
            (
                "compat=slurm:24.11.5.1",
                "PriorityParameters compat",
                "slurm:24.11.5.1",
                "24.11.5",
            ),
            (
                "compat=slurm:24.+1.5",
                "PriorityParameters compat",
                "slurm:24.+1.5",
                "24.11.5",
            ),
            (
                "calc_period=0",
                "PriorityParameters calc_period",
                "0",
                "from 1 to",
            ),
            (
                "calc_period=5m",
                "PriorityParameters calc_period",
                "5m",
                "seconds",
            ),
            (
                "calc_period=",
                "PriorityParameters calc_period",
                "",
                "seconds",
            ),
            (
                "max_lock_ms=-1",
                "PriorityParameters max_lock_ms",
                "-1",
                "milliseconds",
            ),
            (
                "max_lock_ms=+1",
                "PriorityParameters max_lock_ms",
                "+1",
                "milliseconds",
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
        let (offset, _) = PriorityParameters::parse_at("calc_period=5, x=1", None).unwrap_err();
        assert_eq!(offset, 15);
    }
}
