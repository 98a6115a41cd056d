//! `calc_period=`.

use super::key::Key;
use super::whole_number;
use crate::compat::Release;
use crate::config::ValueError;

/// Time between two passes, seconds from 1; `PriorityCalcPeriod` knows minutes only.
pub struct CalcPeriod;

impl Key for CalcPeriod {
    type Value = u32;
    const NAME: &'static str = "calc_period";
    const FORM: &'static str = "seconds, from 1";
    const DEFAULT: &'static str = "PriorityCalcPeriod";
    const MEANING: &'static str = "time between two passes";
    const IS_POLICY: bool = false;

    fn parse(text: &str, _: Option<Release>) -> Result<u32, ValueError> {
        whole_number(text, 1, "seconds")
    }

    // Stock makes passes, too.
    fn is_in_stock(_: &u32) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_seconds_from_1() {
        assert_eq!(CalcPeriod::parse("30", None), Ok(30));
        for text in ["0", "5m", "", "-1", "+1"] {
            let error = CalcPeriod::parse(text, None).unwrap_err();
            assert_eq!(error.value, text);
            assert!(error.allowed.contains("seconds from 1 to"));
        }
    }
}
