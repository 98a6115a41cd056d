//! Slurm's time strings: `7-0` is seven days, `90` is minutes.
//!
//! | form | meaning |
//! |---|---|
//! | `M`, `M:S` | minutes; minutes and seconds |
//! | `H:M:S` | hours, minutes, seconds |
//! | `D-H`, `D-H:M`, `D-H:M:S` | days, hours, minutes, seconds |
//! | `INFINITE`, `UNLIMITED`, `-1` | [`Time::Infinite`], in any case of letters |
//!
//! Source: slurm.conf(5), "PriorityMaxAge", and the time formats of sbatch(1), `--time`. A field
//! may exceed its usual range (`100:00` is 100 minutes), and a lone dash may replace days or hours
//! of 0 (`7-` is seven days), as in slurmctld.

use super::error::ValueError;

/// A time string's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Without end.
    Infinite,
    /// Seconds.
    Secs(u32),
}

/// Largest time in seconds: slurmctld counts in 32-bit signed integers and rounds up to minutes.
pub const MAX_SECS: u32 = (i32::MAX as u32 - 59) / 60 * 60;

const ALLOWED: &str = "minutes (90), minutes:seconds, hours:minutes:seconds, \
     days-hours (7-0), days-hours:minutes, days-hours:minutes:seconds, up to 24855 days, \
     or INFINITE";

/// Reads a time string to the second.
///
/// # Errors
/// Anything that is not one of the forms above, or is above [`MAX_SECS`].
///
/// ```
/// use fairtree::config::time::{Time, parse_time};
/// assert_eq!(parse_time("7-0"), Ok(Time::Secs(7 * 86_400)));
/// assert_eq!(parse_time("7"), Ok(Time::Secs(7 * 60)));
/// assert!(parse_time("7 days").is_err());
/// ```
pub fn parse_time(text: &str) -> Result<Time, ValueError> {
    let infinite = ["-1", "INFINITE", "UNLIMITED"];
    if infinite.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Ok(Time::Infinite);
    }
    seconds(text)
        .and_then(|secs| u32::try_from(secs).ok())
        .filter(|secs| *secs <= MAX_SECS)
        .map(Time::Secs)
        .ok_or_else(|| ValueError::new(text, ALLOWED))
}

/// Reads a time string and rounds it up to whole minutes, the precision of slurm.conf's settings;
/// in seconds. [`Time::Infinite`] becomes [`INFINITE_SECS`].
///
/// # Errors
/// Those of [`parse_time`].
pub fn parse_minutes_as_secs(text: &str) -> Result<u32, ValueError> {
    Ok(match parse_time(text)? {
        Time::Infinite => INFINITE_SECS,
        Time::Secs(secs) => secs.div_ceil(60) * 60,
    })
}

/// Value of an infinite half-life or age in slurmctld, in seconds: minus one minute as an unsigned
/// number, 136 years.
pub const INFINITE_SECS: u32 = 60_u32.wrapping_neg();

/// Seconds of a time string with digits, at most one dash and two colons; `None`: bad syntax or
/// overflow.
fn seconds(text: &str) -> Option<u64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(days), clock),
        None => (None, text),
    };
    let fields: Vec<&str> = clock.split(':').collect();
    let number = |field: &str| -> Option<u64> {
        let digits = !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit());
        if digits { field.parse().ok() } else { None }
    };
    let units: &[u64] = match (days.is_some(), fields.len()) {
        (true, 1..=3) => &[3600, 60, 1],
        (false, 1 | 2) => &[60, 1],
        (false, 3) => &[3600, 60, 1],
        _ => return None,
    };
    let mut total = match days {
        Some(days) => number(days)?.checked_mul(86_400)?,
        None => 0,
    };
    if days.is_some() && clock.is_empty() {
        return Some(total);
    }
    for (field, unit) in fields.iter().zip(units) {
        total = total.checked_add(number(field)?.checked_mul(*unit)?)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: slurm.conf(5) ("min, hr:min:00, days-hr:min:00, or days-hr") and sbatch(1) --time.
    #[test]
    fn every_documented_form() {
        for (text, secs) in [
            ("0", 0),
            ("7", 420),
            ("90", 5400),
            ("1:30", 90),
            ("1:30:00", 5400),
            ("24:00:01", 86_401),
            ("7-0", 604_800),
            ("14-0", 1_209_600),
            ("0-4", 14_400),
            ("7-0:30", 606_600),
            ("7-0:30:00", 606_600),
            ("1-2:3:4", 93_784),
            ("7-", 604_800),
            ("100:00", 6000),
        ] {
            assert_eq!(parse_time(text), Ok(Time::Secs(secs)), "{text}");
        }
        for text in ["INFINITE", "unlimited", "Infinite", "-1"] {
            assert_eq!(parse_time(text), Ok(Time::Infinite), "{text}");
            assert_eq!(parse_minutes_as_secs(text), Ok(4_294_967_236));
        }
    }

    #[test]
    fn seconds_round_up_to_minutes() {
        assert_eq!(parse_minutes_as_secs("0:01"), Ok(60));
        assert_eq!(parse_minutes_as_secs("1:00"), Ok(60));
        assert_eq!(parse_minutes_as_secs("1:01"), Ok(120));
        assert_eq!(parse_minutes_as_secs("0"), Ok(0));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            " ",
            "-",
            "-2",
            "7x",
            "7 ",
            "1:2:3:4",
            "1-2-3",
            "1:2-3",
            ":",
            "1:",
            "::",
            "1-2:3:4:5",
            "1.5",
            "+7",
            "0x10",
            "24856-0",
            "99999999999999999999",
            "213503982334602-0",
        ] {
            let error = parse_time(text).unwrap_err();
            assert_eq!(error.value, text);
            assert!(error.allowed.contains("7-0"));
        }
    }
}
