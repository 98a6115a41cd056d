//! Values as words: lists, and times.

/// The entries of a comma-separated list, each with the number of characters before it; those
/// that are empty left out.
pub(super) fn entries(list: &str) -> Vec<(usize, &str)> {
    let mut offset = 0;
    let mut entries = Vec::new();
    for entry in list.split(',') {
        if !entry.is_empty() {
            entries.push((offset, entry));
        }
        offset += entry.chars().count() + 1;
    }
    entries
}

/// Whole and rounded times in the largest fitting unit: `7 minutes`, `5 hours`, `14 days`.
pub(super) fn duration(secs: u32) -> String {
    let (number, unit) = match secs {
        secs if secs % 86_400 == 0 && secs > 0 => (secs / 86_400, "day"),
        secs if secs % 3600 == 0 && secs > 0 => (secs / 3600, "hour"),
        secs => (secs.div_ceil(60), "minute"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural}")
}

/// The number of a time string that is one plain number (minutes) and looks as if days were
/// meant: from 1 to 365.
pub(super) fn looks_like_days(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = text.parse().ok().filter(|_| digits)?;
    (1..=365).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_in_words() {
        for (secs, words) in [
            (0, "0 minutes"),
            (60, "1 minute"),
            (420, "7 minutes"),
            (5400, "90 minutes"),
            (7200, "2 hours"),
            (86_400, "1 day"),
            (1_209_600, "14 days"),
        ] {
            assert_eq!(duration(secs), words);
        }
    }

    #[test]
    fn plain_numbers_up_to_a_year_look_like_days() {
        assert_eq!(looks_like_days("7"), Some(7));
        assert_eq!(looks_like_days("365"), Some(365));
        for text in ["0", "366", "7-0", "7:00", "+7", "", "99999999999"] {
            assert_eq!(looks_like_days(text), None, "{text}");
        }
    }
}
