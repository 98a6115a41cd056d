//! Moments and time limits as Slurm's commands print them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use fairtree::priority::TimeLimit;

/// `2026-11-21T10:04:14` as seconds since 1970, in UTC unless an offset follows (`+0100`, `+01:00`,
/// `+01`, `Z`); or what `SLURM_TIME_FORMAT=%s` prints. `Unknown`, `None` and `N/A` are 0. `None` for
/// fractions of a second, names of zones and any other text.
pub(in crate::input) fn moment(text: &str) -> Option<i64> {
    if matches!(text, "Unknown" | "None" | "N/A" | "NONE") {
        return Some(0);
    }
    // Fewer digits could be those of a date.
    if text.len() >= 9 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let moment = Timestamp::from_second(text.parse().ok()?);
        return Some(moment.ok()?.as_second());
    }
    let (civil, offset_secs) = match printed(text) {
        Some(civil) => (civil, 0),
        None => {
            let (civil, offset) = split_offset(text)?;
            (civil.parse().ok()?, offset)
        }
    };
    let moment = TimeZone::UTC.to_timestamp(civil).ok()?;
    (moment.subsec_nanosecond() == 0).then(|| moment.as_second() - offset_secs)
}

/// A date and time apart from the offset after it, seconds east of UTC; 0 without one. `None` for an
/// offset that is not understood.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    // A reader of times alone would pass over what follows.
    let Some(date) = text.get(..10).filter(|_| text.len() > 10) else {
        return Some((text, 0));
    };
    let after = text[date.len()..].find(|c: char| !(c.is_ascii_digit() || "T :.".contains(c)));
    let Some(at) = after.map(|at| date.len() + at) else {
        return Some((text, 0));
    };
    let (civil, offset) = (text[..at].trim_end(), &text[at..]);
    if matches!(offset, "Z" | "z" | "UTC" | "GMT") {
        return Some((civil, 0));
    }
    let (sign, digits) = match offset.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    if !digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b':')
    {
        return None;
    }
    let two = |from: usize| digits.get(from..from + 2)?.parse::<i64>().ok();
    let (hours, minutes) = match digits.len() {
        2 => (two(0)?, 0),
        4 => (two(0)?, two(2)?),
        5 if digits.as_bytes()[2] == b':' => (two(0)?, two(3)?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some((civil, sign * (hours * 60 + minutes) * 60))
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
        for text in [
            "2026-11-21T11:04:14+0100",
            "2026-11-21T11:04:14+01:00",
            "2026-11-21T11:04:14+01",
            "2026-11-21T07:34:14-0230",
            "2026-11-21T10:04:14Z",
            "2026-11-21T10:04:14.000",
            "2026-11-21 10:04:14",
            "2026-11-21 11:04:14 +0100",
        ] {
            assert_eq!(moment(text), Some(1_795_255_454), "{text}");
        }
        for text in [
            "2026-11-21T10:04:14CET",
            "2026-11-21T10:04:14+1",
            "2026-11-21T10:04:14+01:0",
            "2026-11-21T10:04:14+25:00",
            "2026-11-21T10:04:14+é1",
            "2026-11-21T10:04:14+01:00[Europe/Berlin]",
            "2026-11-21T10:04:14.5",
            "2026-11-21T10:04:14 x",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
        assert_eq!(moment("2026-11-21"), Some(1_795_219_200));
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
