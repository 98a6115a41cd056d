//! `usage=`.

use std::fmt;

use jiff::civil::DateTime;

use super::key::Key;
use crate::compat::Release;
use crate::config::time::{Time, parse_time};
use crate::config::{Config, ValueError};

/// `usage=`: how usage follows from what was used when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageModel {
    /// `half_life`: PriorityDecayHalfLife and PriorityUsageResetPeriod.
    #[default]
    HalfLife,
    /// `window:LENGTH`: what was used within that time before now.
    Window {
        /// Seconds, from 1.
        length_secs: u32,
    },
    /// `total:DATE`: what was used since then.
    Total {
        /// The moment in local time, which the host's time zone makes one.
        since: DateTime,
    },
}

/// As `usage=` takes it.
impl fmt::Display for UsageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsageModel::HalfLife => f.write_str("half_life"),
            UsageModel::Window { length_secs } => {
                let (days, rest) = (length_secs / 86_400, length_secs % 86_400);
                let (hours, mins, secs) = (rest / 3600, rest / 60 % 60, rest % 60);
                write!(f, "window:{days}-{hours:02}:{mins:02}:{secs:02}")
            }
            UsageModel::Total { since } => write!(f, "total:{since}"),
        }
    }
}

/// The usage model of all associations that the policy file gives no `plan`.
pub struct Usage;

impl Key for Usage {
    type Value = UsageModel;
    const NAME: &'static str = "usage";
    const FORM: &'static str = "half_life, window:LENGTH or total:DATE, such as window:28-0 or \
                                total:2026-01-01";
    const DEFAULT: &'static str = "half_life";
    const MEANING: &'static str = "how usage follows from what was used when";

    fn parse(text: &str, _: Option<Release>) -> Result<UsageModel, ValueError> {
        let (word, argument) = match text.split_once(':') {
            Some((word, argument)) => (word, Some(argument)),
            None => (text, None),
        };
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        let behind = |error: ValueError| error.shifted(word.chars().count() + 1);
        match argument {
            None if is("half_life") => Ok(UsageModel::HalfLife),
            Some(length) if is("window") => match parse_time(length).map_err(behind)? {
                Time::Secs(length_secs) if length_secs > 0 => {
                    Ok(UsageModel::Window { length_secs })
                }
                _ => Err(behind(ValueError::new(
                    length,
                    "a time above 0, such as 28-0 for 28 days",
                ))),
            },
            Some(date) if is("total") => parse_date(date)
                .map(|since| UsageModel::Total { since })
                .ok_or_else(|| {
                    behind(ValueError::new(
                        date,
                        "a date in local time of 1970 to 9998, YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS",
                    ))
                }),
            _ => Err(ValueError::new(text, Self::FORM)),
        }
    }

    fn is_in_stock(value: &UsageModel) -> bool {
        match value {
            UsageModel::HalfLife => true,
            UsageModel::Window { .. } | UsageModel::Total { .. } => false,
        }
    }
}

/// `2026-01-01` or `2026-01-01T12:00:00`.
fn parse_date(text: &str) -> Option<DateTime> {
    let digits = |pattern: &str| {
        text.len() == pattern.len()
            && text
                .bytes()
                .zip(pattern.bytes())
                .all(|(byte, form)| match form {
                    b'0' => byte.is_ascii_digit(),
                    _ => byte.eq_ignore_ascii_case(&form),
                })
    };
    let is_date = digits("0000-00-00") || digits("0000-00-00T00:00:00");
    let date: DateTime = text.to_ascii_uppercase().parse().ok()?;
    // What a ledger can be asked for, whatever the time zone.
    (is_date && (1970..9999).contains(&date.year())).then_some(date)
}

impl Config {
    /// `usage=`, or its default.
    pub fn usage(&self) -> UsageModel {
        self.parameters.usage.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models() {
        let parse = |text| Usage::parse(text, None).unwrap();
        assert_eq!(parse("HALF_LIFE"), UsageModel::HalfLife);
        let window = |length_secs| UsageModel::Window { length_secs };
        assert_eq!(parse("window:28-0"), window(28 * 86_400));
        assert_eq!(parse("Window:1:00:00"), window(3600));
        assert_eq!(parse("window:0:01"), window(1));
        let since = jiff::civil::date(2026, 1, 1).at(0, 0, 0, 0);
        assert_eq!(parse("total:2026-01-01"), UsageModel::Total { since });
        let since = since.date().at(12, 30, 5, 0);
        assert_eq!(
            parse("total:2026-01-01t12:30:05"),
            UsageModel::Total { since }
        );
        for text in [
            "half_life",
            "window:28-01:02:03",
            "total:2026-01-01T00:00:00",
        ] {
            assert_eq!(parse(text).to_string(), text);
        }
    }

    #[test]
    fn errors_say_which_part() {
        for (text, value, offset, allowed) in [
            ("window", "window", 0, "window:LENGTH"),
            ("half_life:3", "half_life:3", 0, "half_life"),
            ("sliding:7-0", "sliding:7-0", 0, "total:DATE"),
            ("window:0", "0", 7, "above 0"),
            ("window:INFINITE", "INFINITE", 7, "above 0"),
            ("window:x", "x", 7, "days-hours"),
            ("total:2026-13-01", "2026-13-01", 6, "YYYY-MM-DD"),
            ("total:1969-12-31", "1969-12-31", 6, "1970 to 9998"),
            ("total:2026-02-30", "2026-02-30", 6, "YYYY-MM-DD"),
            ("total:2026-01-01T1", "2026-01-01T1", 6, "YYYY-MM-DD"),
        ] {
            let error = Usage::parse(text, None).unwrap_err();
            assert_eq!(
                (error.value.as_str(), error.offset),
                (value, offset),
                "{text}"
            );
            assert!(error.allowed.contains(allowed), "{text}: {}", error.allowed);
        }
    }
}
