//! An error in a setting: its place, the value found, and the allowed values.

use std::fmt;

/// A place in a configuration file; lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Line.
    pub line: usize,
    /// Column of the first wrong character.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A value that its syntax or its range does not allow; what a value parser says, which knows
/// neither the setting nor the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// The part that is wrong, as found.
    pub value: String,
    /// The allowed values, as the end of the sentence "allowed is ...".
    pub allowed: String,
    /// Characters of the whole value before the wrong part.
    pub offset: usize,
}

impl ValueError {
    /// The whole of `value` is wrong.
    pub fn new(value: impl Into<String>, allowed: impl Into<String>) -> ValueError {
        ValueError {
            value: value.into(),
            allowed: allowed.into(),
            offset: 0,
        }
    }

    /// The same error, `chars` characters further right.
    #[must_use]
    pub fn shifted(mut self, chars: usize) -> ValueError {
        self.offset += chars;
        self
    }

    /// The error of the setting `setting`, without a place.
    pub fn of(self, setting: impl Into<String>) -> ConfigError {
        ConfigError {
            setting: setting.into(),
            value: self.value,
            allowed: self.allowed,
            place: None,
        }
    }
}

/// A setting that cannot be taken. Printed as
/// `slurm.conf:12:16: PriorityMaxAge: found "7x", allowed is ...`, without the place where there
/// is no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// The setting, in slurm.conf's spelling; for a key inside `PriorityParameters` that word, a
    /// blank and the key.
    pub setting: String,
    /// The value found.
    pub value: String,
    /// The allowed values.
    pub allowed: String,
    /// The place; `None` for values that came from no file.
    pub place: Option<Place>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        let (value, cut) = match self.value.char_indices().nth(MOST_QUOTED) {
            Some((end, _)) => (&self.value[..end], "..."),
            None => (self.value.as_str(), ""),
        };
        write!(
            f,
            "{}: found \"{}{cut}\", allowed is {}",
            self.setting,
            value.escape_debug(),
            self.allowed
        )
    }
}

/// At most this many characters of a value are quoted; slurm.conf may have 900,000 in one.
pub const MOST_QUOTED: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_place_setting_value_and_what_is_allowed() {
        let mut error = ValueError::new("7x", "a number").of("PriorityWeightAge");
        assert_eq!(
            error.to_string(),
            "PriorityWeightAge: found \"7x\", allowed is a number"
        );
        error.place = Some(Place {
            file: "slurm.conf".into(),
            line: 12,
            column: 19,
        });
        assert_eq!(
            error.to_string(),
            "slurm.conf:12:19: PriorityWeightAge: found \"7x\", allowed is a number"
        );
    }

    #[test]
    fn long_values_are_cut() {
        let error = |length| ValueError::new("x".repeat(length), "a number").of("A");
        let quoted = |length| error(length).to_string();
        assert_eq!(quoted(MOST_QUOTED).matches('x').count(), MOST_QUOTED);
        assert!(!quoted(MOST_QUOTED).contains("..."));
        assert_eq!(quoted(900_000).matches('x').count(), MOST_QUOTED);
        assert!(quoted(900_000).contains("x...\", allowed is"));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let error = ValueError::new("\u{1b}[2J", "a number").of("PriorityWeightAge");
        assert!(!error.to_string().contains('\u{1b}'));
    }
}
