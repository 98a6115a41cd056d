//! Spans of time in Slurm's form.

use std::fmt;

/// Seconds as `D-HH:MM:SS`, or `HH:MM:SS` below a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<T>(pub T);

impl<T: Copy + Into<u64>> fmt::Display for Span<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs: u64 = self.0.into();
        let (days, rest) = (secs / 86_400, secs % 86_400);
        if days > 0 {
            write!(f, "{days}-")?;
        }
        let (hours, minutes, secs) = (rest / 3600, rest / 60 % 60, rest % 60);
        write!(f, "{hours:02}:{minutes:02}:{secs:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_told_where_there_are_some() {
        for (secs, text) in [
            (0_u64, "00:00:00"),
            (3_661, "01:01:01"),
            (86_399, "23:59:59"),
            (604_800, "7-00:00:00"),
        ] {
            assert_eq!(Span(secs).to_string(), text);
        }
    }
}
