//! `max_lock_ms=`.

use super::key::Key;
use super::whole_number;
use crate::compat::Release;
use crate::config::ValueError;

/// Longest hold of slurmctld's job lock by a pass, milliseconds; 0: a pass is applied in one
/// piece.
pub struct MaxLockMs;

impl Key for MaxLockMs {
    type Value = u32;
    const NAME: &'static str = "max_lock_ms";
    const FORM: &'static str = "milliseconds";
    const DEFAULT: &'static str = "0";
    const MEANING: &'static str = "longest hold of slurmctld's job lock by a pass; 0: one piece";
    const IS_POLICY: bool = false;

    fn parse(text: &str, _: Option<Release>) -> Result<u32, ValueError> {
        whole_number(text, 0, "milliseconds")
    }

    // It changes no number.
    fn is_in_stock(_: &u32) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_milliseconds() {
        assert_eq!(MaxLockMs::parse("0", None), Ok(0));
        for text in ["-1", "+1", "1.5"] {
            let error = MaxLockMs::parse(text, None).unwrap_err();
            assert!(error.allowed.contains("milliseconds"));
        }
    }
}
