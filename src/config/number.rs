//! Slurm's whole numbers and truth values.
//!
//! slurmctld reads numbers as C does: `0x10` is 16, `010` is 8. Weights take the suffix `k`
//! (times 1024) as well, and `UNLIMITED` or `INFINITE` for the largest number.

use super::error::ValueError;

/// Reads a number of 32 bits, 0..=4294967295.
///
/// # Errors
/// Signs other than `+`, fractions, anything after the digits but one `k`, and larger numbers.
///
/// ```
/// use fairtree::config::number::parse_u32;
/// assert_eq!(parse_u32("1000"), Ok(1000));
/// assert_eq!(parse_u32("010"), Ok(8));
/// assert!(parse_u32("-1").is_err());
/// ```
pub fn parse_u32(text: &str) -> Result<u32, ValueError> {
    if is_unlimited(text) {
        return Ok(u32::MAX);
    }
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1024),
        None => (text, 1),
    };
    c_integer(digits)
        .and_then(|number| number.checked_mul(factor))
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| ValueError::new(text, "a whole number from 0 to 4294967295"))
}

/// Reads a number of 16 bits from `least` to 65535.
///
/// # Errors
/// Signs other than `+`, fractions, anything after the digits, and numbers out of range.
pub fn parse_u16(text: &str, least: u16) -> Result<u16, ValueError> {
    if is_unlimited(text) {
        return Ok(u16::MAX);
    }
    c_integer(text)
        .and_then(|number| u16::try_from(number).ok())
        .filter(|number| *number >= least)
        .ok_or_else(|| ValueError::new(text, format!("a whole number from {least} to 65535")))
}

/// Reads `YES`, `UP`, `TRUE`, `1` or `NO`, `DOWN`, `FALSE`, `0`, in any case of letters.
///
/// # Errors
/// Any other word.
pub fn parse_bool(text: &str) -> Result<bool, ValueError> {
    let is = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["yes", "up", "true", "1"]) {
        Ok(true)
    } else if is(["no", "down", "false", "0"]) {
        Ok(false)
    } else {
        Err(ValueError::new(text, "YES or NO"))
    }
}

fn is_unlimited(text: &str) -> bool {
    text.eq_ignore_ascii_case("UNLIMITED") || text.eq_ignore_ascii_case("INFINITE")
}

/// A C integer constant without sign: decimal, `0x` and hexadecimal, `0` and octal.
fn c_integer(text: &str) -> Option<u64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (digits, radix) = if let Some(hex) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        (hex, 16)
    } else if text.len() > 1 && text.starts_with('0') {
        (&text[1..], 8)
    } else {
        (text, 10)
    };
    // from_str_radix would take a second sign.
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_c_writes_them() {
        for (text, number) in [
            ("0", 0),
            ("1000", 1000),
            ("+5", 5),
            ("0x10", 16),
            ("0XfF", 255),
            ("010", 8),
            ("00", 0),
            ("2k", 2048),
            ("2K", 2048),
            ("4294967295", u32::MAX),
            ("UNLIMITED", u32::MAX),
            ("infinite", u32::MAX),
        ] {
            assert_eq!(parse_u32(text), Ok(number), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        for text in [
            "",
            "-1",
            "1.5",
            "1e3",
            "08",
            "0x",
            "k",
            "1kk",
            "1m",
            "++1",
            "0x+1",
            " 1",
            "4294967296",
            "99999999999999999999",
            "4194304k",
        ] {
            assert_eq!(parse_u32(text).unwrap_err().value, text);
        }
    }

    #[test]
    fn sixteen_bits_with_a_least_value() {
        assert_eq!(parse_u16("1", 1), Ok(1));
        assert_eq!(parse_u16("65535", 1), Ok(65535));
        let error = parse_u16("0", 1).unwrap_err();
        assert_eq!(error.allowed, "a whole number from 1 to 65535");
        assert!(parse_u16("65536", 1).is_err());
        assert!(parse_u16("1k", 1).is_err());
    }

    #[test]
    fn truth_values() {
        for text in ["YES", "yes", "Up", "TRUE", "1"] {
            assert_eq!(parse_bool(text), Ok(true));
        }
        for text in ["NO", "no", "Down", "false", "0"] {
            assert_eq!(parse_bool(text), Ok(false));
        }
        assert_eq!(parse_bool("on").unwrap_err().allowed, "YES or NO");
    }
}
