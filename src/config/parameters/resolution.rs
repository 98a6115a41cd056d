//! `resolution=`.

use super::key::Key;
use crate::compat::Release;
use crate::config::time::{Time, parse_time};
use crate::config::{Config, ValueError};

/// Length of a bucket of the ledger that windows read, seconds, 1..=86400.
pub struct Resolution;

/// Where the key is not given.
pub(crate) const DEFAULT_SECS: u32 = 3600;

/// The same as it is written.
pub(crate) const DEFAULT: &str = "1:00:00";

impl Key for Resolution {
    type Value = u32;
    const NAME: &'static str = "resolution";
    const FORM: &'static str = "a time from 0:01 (a second) to 1-0 (a day)";
    const DEFAULT: &'static str = DEFAULT;
    const MEANING: &'static str = "length of a bucket of the ledger that windows read";

    fn parse(text: &str, _: Option<Release>) -> Result<u32, ValueError> {
        match parse_time(text) {
            Ok(Time::Secs(secs @ 1..=86_400)) => Ok(secs),
            _ => Err(ValueError::new(text, Self::FORM)),
        }
    }

    // Stock has no windows.
    fn is_in_stock(_: &u32) -> bool {
        false
    }
}

impl Config {
    /// `resolution=` or its default, seconds, 1..=86400.
    pub fn resolution_secs(&self) -> u32 {
        self.parameters.resolution.unwrap_or(DEFAULT_SECS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_a_second_to_a_day() {
        for (text, secs) in [("0:01", 1), ("1", 60), ("1:00:00", 3600), ("1-0", 86_400)] {
            assert_eq!(Resolution::parse(text, None), Ok(secs));
        }
        let default = Resolution::parse(Resolution::DEFAULT, None);
        assert_eq!(default, Ok(DEFAULT_SECS));
        for text in ["0", "1-0:00:01", "INFINITE", "hour"] {
            assert!(Resolution::parse(text, None).is_err(), "{text}");
        }
    }
}
