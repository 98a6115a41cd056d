//! `expect=`.

use super::key::Key;
use super::word;
use crate::compat::Release;
use crate::config::{Config, ValueError};

/// `expect=`: what a waiting job is expected to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expect {
    /// `time_limit`: its time limit.
    #[default]
    TimeLimit,
    /// `history`: what jobs like it have used.
    History,
}

const WORDS: [(&str, Expect); 2] = [
    ("time_limit", Expect::TimeLimit),
    ("history", Expect::History),
];

/// Expected use of a waiting job.
pub struct ExpectKey;

impl Key for ExpectKey {
    type Value = Expect;
    const NAME: &'static str = "expect";
    const FORM: &'static str = "time_limit or history";
    const DEFAULT: &'static str = "time_limit";
    const MEANING: &'static str = "what a waiting job is expected to use";

    fn parse(text: &str, _: Option<Release>) -> Result<Expect, ValueError> {
        word(text, &WORDS)
    }

    fn is_in_stock(value: &Expect) -> bool {
        match value {
            Expect::TimeLimit => true,
            Expect::History => false,
        }
    }
}

impl Config {
    /// `expect=`, or its default.
    pub fn expect(&self) -> Expect {
        self.parameters.expect.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(ExpectKey::parse("time_limit", None), Ok(Expect::default()));
        let other = ExpectKey::parse("HISTORY", None);
        assert_eq!(other, Ok(Expect::History));
        assert!(!ExpectKey::is_in_stock(&Expect::History));
        let error = ExpectKey::parse("both", None).unwrap_err();
        assert_eq!(error.allowed, "one of time_limit, history");
    }
}
