//! Comments that contradict the setting beside them.

use super::words::duration;
use crate::effective_settings::{EffectiveSettings, Scope};
use crate::rule::{Hit, Rule, Severity};
use fairtree::config::time::parse_minutes_as_secs;
use fairtree_model::input::slurm::document::Setting;

pub(super) static RULES: [Rule; 1] = [Rule {
    id: "comment-disagrees",
    severity: Severity::Note,
    summary: "a time whose comment says another time",
    source: "the comment above the setting or behind it",
    scope: Scope::Always,
    check: comment_disagrees,
}];

/// The settings that are times.
const TIMES: [&str; 3] = [
    "PriorityCalcPeriod",
    "PriorityDecayHalfLife",
    "PriorityMaxAge",
];

/// Names of units, and their seconds.
const UNITS: [(&str, u32); 6] = [
    ("minute", 60),
    ("min", 60),
    ("hour", 3600),
    ("hr", 3600),
    ("day", 86_400),
    ("week", 7 * 86_400),
];

fn comment_disagrees(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let given = TIMES.into_iter().filter_map(|key| conf.last(key));
    given
        .filter_map(|setting| {
            let secs = parse_minutes_as_secs(&setting.value.text).ok()?;
            let times = times_in(&comment(conf, setting));
            let first = *times.first().filter(|_| !times.contains(&secs))?;
            let (said, done) = (duration(first), duration(secs));
            Some(Hit::new(
                setting.value_spot(),
                format!("the comment says {said}, and the value is {done}"),
                "correct whichever is wrong",
            ))
        })
        .collect()
}

/// The remark about a setting: the comment after it, if it names a time, or else the comment lines
/// directly above it, up to a setting that was commented out, which has its own remark.
fn comment(conf: &EffectiveSettings<'_>, setting: &Setting) -> String {
    let mut spot = setting.key_spot();
    let line = conf.document.line(&spot);
    let behind = line.split_once('#').map_or("", |(_, comment)| comment);
    if !times_in(behind).is_empty() {
        return behind.to_owned();
    }
    let mut above = Vec::new();
    while spot.line > 1 {
        spot.line -= 1;
        let Some(comment) = conf.document.line(&spot).trim_start().strip_prefix('#') else {
            break;
        };
        if is_setting(comment) {
            break;
        }
        above.push(comment);
    }
    above.reverse();
    above.join("\n")
}

/// Returns true if a comment is a setting that was commented out.
fn is_setting(comment: &str) -> bool {
    comment.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim();
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Every time of the form `2 weeks` or `30-minute` in a text, in seconds.
fn times_in(text: &str) -> Vec<u32> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let pairs = words.windows(2);
    pairs
        .filter_map(|pair| {
            let number = number(pair[0])?;
            let name = pair[1].to_ascii_lowercase();
            let name = name.strip_suffix('s').unwrap_or(&name);
            let (_, secs) = UNITS.iter().find(|(unit, _)| *unit == name)?;
            number.checked_mul(*secs)
        })
        .collect()
}

/// `14`, or a small number in words.
fn number(word: &str) -> Option<u32> {
    const WORDS: [&str; 7] = ["one", "two", "three", "four", "five", "six", "seven"];
    let word = word.to_ascii_lowercase();
    let written = WORDS.iter().zip(1..).find(|(known, _)| **known == word);
    written.map_or_else(|| word.parse().ok(), |(_, number)| Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_words() {
        let day = 86_400;
        for (text, times) in [
            ("after waiting in the\nqueue for 2 weeks.", vec![14 * day]),
            ("2-week half-life; was 30 Days", vec![14 * day, 30 * day]),
            ("90 min, 1 hr", vec![5400, 3600]),
            ("8/30/21 - changed to 120,000", vec![]),
            ("half-life of one week, Two days", vec![7 * day, 2 * day]),
            ("a week, 7 nodes, 99999999 weeks", vec![]),
        ] {
            assert_eq!(times_in(text), times, "{text}");
        }
    }
}
