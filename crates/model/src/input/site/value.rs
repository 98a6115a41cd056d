//! Single values: shares, usage, times, TRES lists, names.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use toml::{Spanned, Value};

use super::place::Text;
use crate::input::error::InputError;
use crate::input::lines::turns_text;
use crate::input::slurm::parse_tres;
use fairtree::config::time::{Time, parse_time};
use fairtree::priority::TimeLimit;
use fairtree::tree::Shares;

const SHARES: &str = "a whole number from 0 to 2147483646, or \"parent\"";

/// Shares; 1 where none are given, as for sacctmgr.
pub(in crate::input) fn shares(
    text: &Text<'_>,
    value: Option<&Spanned<Value>>,
) -> Result<Shares, InputError> {
    let Some(value) = value else {
        return Ok(Shares::Raw(1));
    };
    let found = match value.get_ref() {
        Value::String(word) if word == "parent" => Some(Shares::Parent),
        Value::Integer(count) => u32::try_from(*count)
            .ok()
            .filter(|&count| count <= Shares::MAX_RAW)
            .map(Shares::Raw),
        _ => None,
    };
    found.ok_or_else(|| text.value(&value.span(), "shares", SHARES))
}

/// The largest number of TRES-seconds taken: Slurm prints usage as 64-bit whole numbers.
const MAX_AMOUNT: f64 = 1e18;

/// A number from 0 up; 0 where none is given.
pub(in crate::input) fn amount(
    text: &Text<'_>,
    value: Option<&Spanned<Value>>,
    what: &str,
) -> Result<f64, InputError> {
    let Some(value) = value else {
        return Ok(0.0);
    };
    let found = match value.get_ref() {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    };
    found
        .filter(|number| (0.0..=MAX_AMOUNT).contains(number))
        .ok_or_else(|| text.value(&value.span(), what, "a number from 0 to 1e18"))
}

/// Priorities of QOS, associations and jobs; the two highest numbers mean "none" in Slurm.
pub(in crate::input) const PRIORITIES: std::ops::RangeInclusive<i64> = 0..=4_294_967_293;

/// A whole number from `range`.
pub(in crate::input) fn whole<T: TryFrom<i64> + Copy>(
    text: &Text<'_>,
    value: &Spanned<Value>,
    what: &str,
    range: std::ops::RangeInclusive<i64>,
) -> Result<T, InputError> {
    let found = match value.get_ref() {
        Value::Integer(number) if range.contains(number) => T::try_from(*number).ok(),
        _ => None,
    };
    found.ok_or_else(|| {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        text.value(&value.span(), what, allowed)
    })
}

/// A time limit in Slurm's form, `1-12:00:00`, or a number of minutes.
pub(in crate::input) fn limit(
    text: &Text<'_>,
    value: &Spanned<Value>,
    what: &str,
) -> Result<TimeLimit, InputError> {
    let written = match value.get_ref() {
        Value::String(written) => written.clone(),
        Value::Integer(minutes) => minutes.to_string(),
        _ => String::new(),
    };
    match parse_time(&written) {
        Ok(Time::Infinite) => Ok(TimeLimit::Unlimited),
        // Slurm counts limits in minutes and rounds up.
        Ok(Time::Secs(secs)) if secs > 0 => Ok(TimeLimit::Minutes(secs.div_ceil(60))),
        _ => {
            let allowed =
                "a time above 0 as \"2-0\" (days), \"12:00:00\", 90 (minutes), or \"UNLIMITED\"";
            Err(text.value(&value.span(), what, allowed))
        }
    }
}

/// Resources with their counts, `cpu=64,mem=256G`, of those that the site tracks. Memory in
/// megabytes.
pub(in crate::input) fn resources(
    text: &Text<'_>,
    value: &Spanned<String>,
    tracked: &[String],
) -> Result<Vec<(String, u64)>, InputError> {
    let found = parse_tres(value.get_ref()).filter(|tres| !tres.is_empty());
    let found = found.ok_or_else(|| {
        let allowed = "resources with their counts, as cpu=64,mem=256G,gres/gpu=4";
        text.value(&value.span(), "tres", allowed)
    })?;
    match found.iter().find(|(name, _)| !tracked.contains(name)) {
        None => Ok(found),
        Some((name, _)) => {
            let allowed = format!("what the site tracks: {}", tracked.join(", "));
            let error = text.value(&value.span(), "tres", allowed);
            Err(error.hint(format!(
                "settings.AccountingStorageTRES = \"{name}\" adds it"
            )))
        }
    }
}

/// Seconds since 1970; a time without offset is UTC.
pub(in crate::input) fn time(
    text: &Text<'_>,
    value: &Spanned<Value>,
    what: &str,
) -> Result<i64, InputError> {
    let written = match value.get_ref() {
        Value::Datetime(time) => time.to_string(),
        Value::String(time) => time.clone(),
        _ => String::new(),
    };
    let with_offset = written.parse::<Timestamp>().ok();
    let utc = || {
        let civil: DateTime = written.parse().ok()?;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let time = with_offset.or_else(utc).ok_or_else(|| {
        let allowed = "a time as 2026-03-01T12:00:00Z; without offset it is UTC";
        text.value(&value.span(), what, allowed)
    })?;
    Ok(time.as_second())
}

/// A list of TRES in Slurm's form, `cpu=100,gres/gpu=2`, unchanged.
pub(in crate::input) fn tres(
    text: &Text<'_>,
    value: Option<&Spanned<String>>,
    what: &str,
) -> Result<Option<String>, InputError> {
    let Some(value) = value else {
        return Ok(None);
    };
    let pair = |entry: &str| {
        entry.split_once('=').is_some_and(|(name, count)| {
            !name.is_empty() && !name.contains(char::is_whitespace) && count.parse::<u64>().is_ok()
        })
    };
    if value.get_ref().split(',').all(pair) {
        Ok(Some(value.get_ref().clone()))
    } else {
        Err(text.value(
            &value.span(),
            what,
            "name=count,name=count, as cpu=100,gres/gpu=2",
        ))
    }
}

/// A name that Slurm's commands can print and read back.
pub(in crate::input) fn name(
    text: &Text<'_>,
    name: &Spanned<String>,
    what: &str,
) -> Result<(), InputError> {
    let unseen = |c: char| c.is_whitespace() || c.is_control() || turns_text(c);
    let bad = |c: char| unseen(c) || "|,\"'".contains(c);
    if name.get_ref().is_empty() || name.get_ref().contains(bad) {
        let allowed = "a name without blanks, quotes, commas, bars and control characters";
        return Err(text.value(&name.span(), what, allowed));
    }
    Ok(())
}
