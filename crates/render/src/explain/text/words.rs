//! Numbers in the forms that readers know from Slurm's own tools.

use std::fmt;

/// TRES-seconds, and the same in hours.
pub(super) struct TresSeconds(pub(super) f64);

impl fmt::Display for TresSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hours = self.0 / 3600.0;
        write!(f, "{:.0} TRES-seconds ({hours:.1} TRES-hours)", self.0)
    }
}

/// A part of the whole in percent.
pub(super) struct Percent(pub(super) f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}%", self.0 * 100.0)
    }
}

/// Points with two decimals, or none if both are 0.
pub(super) struct Points(pub(super) f64);

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = match text.strip_suffix(".00") {
            Some("-0") => "0",
            Some(whole) => whole,
            None => &text,
        };
        f.pad(text)
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_lists() {
        assert_eq!(Points(100.0).to_string(), "100");
        assert_eq!(Points(-0.001).to_string(), "0");
        assert_eq!(Points(-2.5).to_string(), "-2.50");
        assert_eq!(format!("{:>6}", Points(2.25)), "  2.25");
        let words = ["a", "b", "c"].map(str::to_string);
        assert_eq!(list(&words[..1]), "a");
        assert_eq!(list(&words[..2]), "a and b");
        assert_eq!(list(&words), "a, b and c");
        assert_eq!(
            TresSeconds(5400.0).to_string(),
            "5400 TRES-seconds (1.5 TRES-hours)"
        );
        assert_eq!(Percent(0.4).to_string(), "40.00%");
    }
}
