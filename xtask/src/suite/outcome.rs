//! Numbers of passed and failed tests.

use std::ops::AddAssign;

/// A count of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Number of passed tests.
    pub passed: usize,
    /// Number of failed tests.
    pub failed: usize,
}

impl AddAssign for Outcome {
    fn add_assign(&mut self, more: Outcome) {
        self.passed += more.passed;
        self.failed += more.failed;
    }
}

impl Outcome {
    /// The counts in a line `test result: ok. 12 passed; 0 failed; 0 ignored; ...` of a test
    /// program; `None` for its other lines.
    pub fn of_line(line: &str) -> Option<Outcome> {
        let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
        let count = |word: &str| {
            counts
                .split("; ")
                .find_map(|part| part.strip_suffix(word))
                .and_then(|number| number.trim().parse().ok())
        };
        Some(Outcome {
            passed: count("passed")?,
            failed: count("failed")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_test_programs_are_counted() {
        let line = "test result: FAILED. 17 passed; 1 failed; 0 ignored; 0 measured; \
                    0 filtered out; finished in 0.30s";
        let outcome = Outcome::of_line(line).unwrap();
        assert_eq!((outcome.passed, outcome.failed), (17, 1));
        assert!(Outcome::of_line("test wait::tests::x ... ok").is_none());
    }
}
