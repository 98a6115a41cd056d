//! `minutes=`.

use super::key::Key;
use super::word;
use crate::compat::Release;
use crate::config::{Config, ValueError};

/// `minutes=`: where the minutes of accounts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinutesFrom {
    /// `file`: in the tables of accounts of the policy file.
    #[default]
    File,
    /// `shares`: the raw shares of an account are its minutes.
    Shares,
}

const WORDS: [(&str, MinutesFrom); 2] =
    [("file", MinutesFrom::File), ("shares", MinutesFrom::Shares)];

/// The place of the minutes of accounts.
pub struct MinutesKey;

impl Key for MinutesKey {
    type Value = MinutesFrom;
    const NAME: &'static str = "minutes";
    const FORM: &'static str = "file or shares";
    const DEFAULT: &'static str = "file";
    const MEANING: &'static str =
        "where minutes of accounts are given: in the policy file, or as shares";

    fn parse(text: &str, _: Option<Release>) -> Result<MinutesFrom, ValueError> {
        word(text, &WORDS)
    }

    fn is_in_stock(value: &MinutesFrom) -> bool {
        match value {
            MinutesFrom::File => true,
            MinutesFrom::Shares => false,
        }
    }
}

impl Config {
    /// `minutes=`, or its default.
    pub fn minutes(&self) -> MinutesFrom {
        self.parameters.minutes.unwrap_or_default()
    }

    /// Returns true if accounts have minutes, wherever they are given.
    pub fn gives_minutes(&self) -> bool {
        self.minutes() == MinutesFrom::Shares
            || self.accounts.iter().any(|row| row.minutes.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(MinutesKey::parse("file", None), Ok(MinutesFrom::default()));
        let shares = MinutesKey::parse("Shares", None);
        assert_eq!(shares, Ok(MinutesFrom::Shares));
        assert!(!MinutesKey::is_in_stock(&MinutesFrom::Shares));
        let error = MinutesKey::parse("400", None).unwrap_err();
        assert_eq!(error.allowed, "one of file, shares");
    }
}
