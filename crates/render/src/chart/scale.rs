//! Axes: from numbers to places, and the places of the marks.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// From `from..=to` to `start..=end`, straight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub from: f64,
    pub to: f64,
    pub start: f64,
    pub end: f64,
}

impl Scale {
    /// The place of a value.
    pub fn at(&self, value: f64) -> f64 {
        let span = self.to - self.from;
        let part = if span > 0.0 {
            (value - self.from) / span
        } else {
            0.5
        };
        self.start + part * (self.end - self.start)
    }
}

/// The end of an axis from 0 that holds `most`, of which a whole is 1, and its marks.
pub(super) fn percents(most: f64) -> (f64, Vec<f64>) {
    const ENDS: [f64; 9] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0];
    let end = ENDS
        .into_iter()
        .find(|end| most <= *end)
        .unwrap_or_else(|| most.ceil());
    let marks = (0..=4).map(|mark| end * f64::from(mark) / 4.0);
    (end, marks.step_by(2).collect())
}

/// The end of an axis from 0 that holds `most`, and its marks, at most six: 1, 2 or 5 times a power of
/// ten apart.
pub(super) fn marks(most: f64) -> (f64, Vec<f64>) {
    let most = if most.is_finite() && most > 0.0 {
        most
    } else {
        1.0
    };
    let power = 10_f64.powf((most / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let step = steps.into_iter().find(|step| step * 5.0 >= most);
    let step = step.unwrap_or(power * 10.0);
    let count = (most / step).ceil().max(1.0);
    let marks = (0..=count as usize).map(|mark| mark as f64 * step);
    (count * step, marks.collect())
}

/// Lengths of time between marks: name of the form, seconds.
const STEPS: [(i64, &str); 16] = [
    (60, "%H:%M"),
    (300, "%H:%M"),
    (900, "%H:%M"),
    (3_600, "%H:%M"),
    (10_800, "%H:%M"),
    (21_600, "%d %b %H:%M"),
    (43_200, "%d %b %H:%M"),
    (86_400, "%d %b"),
    (172_800, "%d %b"),
    (345_600, "%d %b"),
    (604_800, "%d %b"),
    (1_209_600, "%d %b"),
    (2_629_800, "%b %Y"),
    (5_259_600, "%b %Y"),
    (7_889_400, "%b %Y"),
    (31_557_600, "%Y"),
];

/// Moments from `from` to `to` to mark on an axis, at most `most` of them, and their texts, in UTC.
pub(super) fn moments(from: i64, to: i64, most: usize) -> Vec<(i64, String)> {
    let most = i64::try_from(most.max(1)).unwrap_or(1);
    let span = (to - from).max(1);
    let fitting = STEPS.iter().find(|(step, _)| span / step < most);
    let (step, form) = fitting.copied().unwrap_or((span / most + 1, "%Y"));
    let text = |at: i64| {
        let zoned = Timestamp::from_second(at).ok()?.to_zoned(TimeZone::UTC);
        Some(zoned.strftime(form).to_string())
    };
    let aligned = |at: i64| match step {
        2_629_800.. => starts(at, step),
        _ => Some(at.div_euclid(step) * step),
    };
    let mut marks = Vec::new();
    let mut at = from;
    while at <= to + step {
        if let Some(mark) = aligned(at).filter(|mark| (from..=to).contains(mark)) {
            if marks.last().is_none_or(|(last, _)| *last != mark) {
                marks.extend(text(mark).map(|text| (mark, text)));
            }
        }
        at += step;
    }
    marks
}

/// The first of the month, quarter or year that `at` lies in.
fn starts(at: i64, step: i64) -> Option<i64> {
    let date = Timestamp::from_second(at)
        .ok()?
        .to_zoned(TimeZone::UTC)
        .date();
    let month = match step {
        31_557_600.. => 1,
        5_259_600 => (date.month() - 1) / 2 * 2 + 1,
        7_889_400.. => (date.month() - 1) / 3 * 3 + 1,
        _ => date.month(),
    };
    let first = jiff::civil::Date::new(date.year(), month, 1).ok()?;
    Some(first.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

/// A length of time for people: in the largest unit of which it is a whole number.
pub fn span(secs: u32) -> String {
    let units = [
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let (unit, name) = units
        .into_iter()
        .find(|(unit, _)| secs % unit == 0)
        .unwrap_or((1, "second"));
    let count = secs / unit;
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

/// A moment for people, in UTC.
pub(super) fn moment(at: i64) -> String {
    let time = Timestamp::from_second(at)
        .unwrap_or_default()
        .to_zoned(TimeZone::UTC);
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand.
    #[test]
    fn axes_hold_their_values() {
        assert_eq!(marks(7.0), (8.0, vec![0.0, 2.0, 4.0, 6.0, 8.0]));
        assert_eq!(
            marks(100.0),
            (100.0, vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0])
        );
        assert_eq!(
            marks(0.0),
            (1.0, vec![0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0])
        );
    }

    // 1996-09-23 00:00 UTC by date(1).
    const START: i64 = 843_436_800;

    #[test]
    fn marks_stand_on_round_moments() {
        let texts = |from, to, most| -> Vec<String> {
            moments(from, to, most)
                .into_iter()
                .map(|(_, text)| text)
                .collect()
        };
        assert_eq!(
            texts(START + 60, START + 3 * 86_400, 4),
            ["24 Sep", "25 Sep", "26 Sep"]
        );
        assert_eq!(
            texts(START, START + 340 * 86_400, 5),
            ["Oct 1996", "Jan 1997", "Apr 1997", "Jul 1997"]
        );
        assert_eq!(
            texts(START, START + 3_000, 4),
            ["00:00", "00:15", "00:30", "00:45"]
        );
        assert!(texts(0, 4_000_000_000, 6).len() <= 130);
        assert_eq!(texts(START, START, 4), ["00:00"]);
    }

    #[test]
    fn lengths_are_told_in_whole_units() {
        let said = [604_800, 86_400, 3_600, 5_400, 61].map(span);
        assert_eq!(
            said,
            ["7 days", "1 day", "1 hour", "90 minutes", "61 seconds"]
        );
    }

    #[test]
    fn axes_end_on_round_numbers() {
        assert_eq!(percents(0.17), (0.2, vec![0.0, 0.1, 0.2]));
        assert_eq!(percents(1.0).0, 1.0);
        assert_eq!(percents(1.5).0, 2.0);
        let scale = Scale {
            from: 0.0,
            to: 2.0,
            start: 100.0,
            end: 0.0,
        };
        assert_eq!(scale.at(0.5), 75.0);
        assert_eq!(Scale { to: 0.0, ..scale }.at(0.0), 50.0);
    }
}
