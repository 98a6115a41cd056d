//! Numbers in the forms that readers know from Slurm's own tools.

use std::fmt;

use crate::figures::larger_unit;

/// TRES-seconds, and the same in a larger unit.
pub(super) struct TresSeconds(pub(super) f64);

impl fmt::Display for TresSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} TRES-seconds", self.0)?;
        match larger_unit(self.0) {
            Some(larger) => write!(f, " ({larger})"),
            None => Ok(()),
        }
    }
}

/// The place of a rank: 1 is the first, where the best rank is the number of users.
pub(super) fn place(rank: u64, users: u64) -> u64 {
    (users + 1).saturating_sub(rank)
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
