//! `PriorityUsageResetPeriod`: when usage is cleared.

use super::error::ValueError;

/// `PriorityUsageResetPeriod`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetPeriod {
    /// Never clear usage.
    #[default]
    None,
    /// Once, at start.
    Now,
    /// Every midnight.
    Daily,
    /// Every Sunday, midnight.
    Weekly,
    /// The first of each month.
    Monthly,
    /// The first of January, April, July, October.
    Quarterly,
    /// The first of January.
    Yearly,
}

/// slurm.conf's words; the position is the number in slurm.h's `PRIORITY_RESET_*`.
const WORDS: [(&str, ResetPeriod); 7] = [
    ("NONE", ResetPeriod::None),
    ("NOW", ResetPeriod::Now),
    ("DAILY", ResetPeriod::Daily),
    ("WEEKLY", ResetPeriod::Weekly),
    ("MONTHLY", ResetPeriod::Monthly),
    ("QUARTERLY", ResetPeriod::Quarterly),
    ("YEARLY", ResetPeriod::Yearly),
];

impl ResetPeriod {
    /// Reads slurm.conf's word, in any case of letters.
    ///
    /// # Errors
    /// Any other word.
    ///
    /// ```
    /// use fairtree::config::ResetPeriod;
    /// assert_eq!(ResetPeriod::parse("monthly"), Ok(ResetPeriod::Monthly));
    /// assert!(ResetPeriod::parse("hourly").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<ResetPeriod, ValueError> {
        WORDS
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(text))
            .map(|(_, period)| *period)
            .ok_or_else(|| {
                let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
                ValueError::new(text, format!("one of {}", words.join(", ")))
            })
    }

    /// Reads slurmctld's number (`PRIORITY_RESET_*` of slurm.h).
    ///
    /// # Errors
    /// Numbers above 6.
    pub fn from_host(number: u16) -> Result<ResetPeriod, ValueError> {
        WORDS
            .get(usize::from(number))
            .map(|(_, period)| *period)
            .ok_or_else(|| ValueError::new(number.to_string(), "a number from 0 to 6"))
    }

    /// slurm.conf's word.
    pub fn name(self) -> &'static str {
        WORDS[self as usize].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: slurm.h of 22.05.8 and 24.11.5, PRIORITY_RESET_*.
    #[test]
    fn words_numbers_and_names_agree() {
        for (number, word) in [
            "none",
            "NOW",
            "Daily",
            "weekly",
            "MONTHLY",
            "quarterly",
            "yearly",
        ]
        .into_iter()
        .enumerate()
        {
            let period = ResetPeriod::parse(word).unwrap();
            assert_eq!(ResetPeriod::from_host(number as u16), Ok(period));
            assert!(period.name().eq_ignore_ascii_case(word));
        }
    }

    #[test]
    fn other_words_and_numbers_are_refused() {
        let error = ResetPeriod::parse("HOURLY").unwrap_err();
        assert!(error.allowed.contains("QUARTERLY"));
        assert!(ResetPeriod::from_host(7).is_err());
    }
}
