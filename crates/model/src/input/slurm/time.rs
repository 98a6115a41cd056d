//! Moments and time limits as Slurm's commands print them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use fairtree::priority::TimeLimit;

/// `2026-11-21T10:04:14` in UTC, or what `SLURM_TIME_FORMAT=%s` prints, as seconds since 1970;
/// `Unknown`, `None` and `N/A` are 0.
pub(in crate::input) fn moment(text: &str) -> Option<i64> {
    if matches!(text, "Unknown" | "None" | "N/A" | "NONE") {
        return Some(0);
    }
    // Fewer digits could be those of a date.
    if text.len() >= 9 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let moment = Timestamp::from_second(text.parse().ok()?);
        return Some(moment.ok()?.as_second());
    }
    let civil = match printed(text) {
        Some(civil) => civil,
        None => text.parse().ok()?,
    };
    let moment = TimeZone::UTC.to_timestamp(civil).ok()?;
    Some(moment.as_second())
}

/// `2026-11-21T10:04:14`, the form that Slurm prints; any other goes to a general reader.
fn printed(text: &str) -> Option<DateTime> {
    let bytes: &[u8; 19] = text.as_bytes().try_into().ok()?;
    let signs = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if signs.iter().any(|&(at, sign)| bytes[at] != sign) {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = bytes[from..to].iter();
        digits.copied().try_fold(0_i16, |number, digit| {
            let digit = digit.is_ascii_digit().then(|| i16::from(digit - b'0'))?;
            Some(number * 10 + digit)
        })
    };
    let two = |at: usize| number(at, at + 2).and_then(|number| i8::try_from(number).ok());
    let (year, month, day) = (number(0, 4)?, two(5)?, two(8)?);
    DateTime::new(year, month, day, two(11)?, two(14)?, two(17)?, 0).ok()
}

/// `1-00:30:00`, `UNLIMITED`, `Partition_Limit` as whole minutes, begun ones counted.
pub(super) fn limit(text: &str) -> Option<TimeLimit> {
    match text {
        "UNLIMITED" | "INFINITE" => return Some(TimeLimit::Unlimited),
        "Partition_Limit" | "NONE" | "N/A" => return Some(TimeLimit::Unset),
        _ => {}
    }
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (days.parse::<u32>().ok()?, clock),
        None => (0, text),
    };
    let mut parts = clock.split(':').map(|part| part.parse::<u32>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || minutes > 59 || seconds > 59 {
        return None;
    }
    let hours = days.checked_mul(24)?.checked_add(hours)?;
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    Some(TimeLimit::Minutes(
        minutes.checked_add(u32::from(seconds > 0))?,
    ))
}

/// `1-02:03:04`, `02:03:04`, `03:04.567` as whole seconds.
pub(in crate::input) fn span(text: &str) -> Option<i64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (days.parse::<u32>().ok()?, clock),
        None => (0, text),
    };
    let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let parts: Option<Vec<u32>> = clock.split(':').map(|part| part.parse().ok()).collect();
    let (hours, minutes, seconds) = match parts?[..] {
        [hours, minutes, seconds] => (hours, minutes, seconds),
        [minutes, seconds] => (0, minutes, seconds),
        _ => return None,
    };
    (minutes < 60 && seconds < 60).then(|| {
        let minutes = (i64::from(days) * 24 + i64::from(hours)) * 60 + i64::from(minutes);
        minutes * 60 + i64::from(seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected: date(1) of GNU coreutils.
    #[test]
    fn moments_and_limits() {
        assert_eq!(moment("2026-11-21T10:04:14"), Some(1_795_255_454));
        assert_eq!(moment("Unknown"), Some(0));
        assert_eq!(moment("1795255454"), Some(1_795_255_454));
        assert_eq!(moment("9999999999999"), None);
        assert_eq!(moment("yesterday"), None);
        assert_eq!(limit("1-00:30:00"), Some(TimeLimit::Minutes(1470)));
        assert_eq!(limit("00:05:00"), Some(TimeLimit::Minutes(5)));
        assert_eq!(limit("UNLIMITED"), Some(TimeLimit::Unlimited));
        assert_eq!(limit("Partition_Limit"), Some(TimeLimit::Unset));
        assert_eq!(span("7-20:39:39"), Some(679_179));
        assert_eq!(span("03:04.567"), Some(184));
        assert_eq!((span("5"), span("1:60:00")), (None, None));
        for text in ["", "5", "1:2", "1:60:00", "99999999-00:00:00"] {
            assert_eq!(limit(text), None, "{text:?}");
        }
    }
}
