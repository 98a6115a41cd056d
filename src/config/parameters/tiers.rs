//! `tiers=`.

use super::key::Key;
use super::word;
use crate::compat::Release;
use crate::config::{Config, ValueError};

/// `tiers=`: what comes before the order of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tiers {
    /// `none`: nothing.
    #[default]
    None,
    /// `qos`: the priority of the QOS.
    Qos,
    /// `partition`: the priority of the partition.
    Partition,
}

const WORDS: [(&str, Tiers); 3] = [
    ("none", Tiers::None),
    ("qos", Tiers::Qos),
    ("partition", Tiers::Partition),
];

/// Criteria that come before the order of jobs.
pub struct TiersKey;

impl Key for TiersKey {
    type Value = Tiers;
    const NAME: &'static str = "tiers";
    const FORM: &'static str = "none, qos or partition";
    const DEFAULT: &'static str = "none";
    const MEANING: &'static str = "what comes before the order of jobs";

    fn parse(text: &str, _: Option<Release>) -> Result<Tiers, ValueError> {
        word(text, &WORDS)
    }

    fn is_in_stock(value: &Tiers) -> bool {
        match value {
            Tiers::None => true,
            Tiers::Qos | Tiers::Partition => false,
        }
    }
}

impl Config {
    /// `tiers=`, or its default.
    pub fn tiers(&self) -> Tiers {
        self.parameters.tiers.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(TiersKey::parse("none", None), Ok(Tiers::default()));
        let other = TiersKey::parse("QOS", None);
        assert_eq!(other, Ok(Tiers::Qos));
        assert!(!TiersKey::is_in_stock(&Tiers::Qos));
        let error = TiersKey::parse("both", None).unwrap_err();
        assert_eq!(error.allowed, "one of none, qos, partition");
    }
}
