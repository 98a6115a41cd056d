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
