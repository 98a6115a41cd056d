//! Numbers and what became of them, in the forms that several reports have.

/// `a -> b`, or `a` where both are the same.
pub(crate) fn arrow(before: Option<String>, after: Option<String>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before == after => after,
        (Some(before), Some(after)) => format!("{before} -> {after}"),
        (Some(before), None) => format!("{before} -> gone"),
        (None, Some(after)) => format!("new -> {after}"),
        (None, None) => String::new(),
    }
}

/// TRES-seconds in the unit that shows at least one digit: `2.5 TRES-hours`, `4.8 TRES-minutes`; `None`
/// below a minute, where seconds say it all.
pub(crate) fn larger_unit(tres_secs: f64) -> Option<String> {
    let secs = tres_secs.abs();
    if secs >= 3600.0 {
        Some(format!("{:.1} TRES-hours", tres_secs / 3600.0))
    } else if secs >= 60.0 {
        Some(format!("{:.1} TRES-minutes", tres_secs / 60.0))
    } else {
        None
    }
}

/// TRES-hours of a column: one decimal, or two digits of a number that would be 0.0.
pub(crate) fn hours_cell(tres_secs: f64) -> String {
    let hours = tres_secs / 3600.0;
    let decimals = match hours.abs() {
        small if small > 0.0 && small < 0.1 => 1 - small.log10().floor() as i32,
        _ => 1,
    };
    format!("{hours:.*}", decimals.clamp(1, 6) as usize)
}

/// A part of the whole.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.2}%", part * 100.0)
}

/// A number with digits after the point, without zeros at its end.
pub(crate) fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_show_a_digit() {
        assert_eq!(larger_unit(9000.0).as_deref(), Some("2.5 TRES-hours"));
        assert_eq!(larger_unit(290.0).as_deref(), Some("4.8 TRES-minutes"));
        assert_eq!(larger_unit(59.0), None);
        assert_eq!(hours_cell(0.0), "0.0");
        assert_eq!(hours_cell(9000.0), "2.5");
        assert_eq!(hours_cell(290.0), "0.081");
        assert_eq!(hours_cell(1.0), "0.00028");
    }
}
