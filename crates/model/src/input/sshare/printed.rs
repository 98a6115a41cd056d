//! A number as it was printed: rounded to the printed digits.

/// Value of 1 in the last digit of a long double that slurmctld sends.
const SENT_UNIT: f64 = 1e-6;

/// A printed number and the values that print so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// The number itself; infinity for `inf`, NaN for `nan`.
    pub value: f64,
    /// The smallest value that rounds to it.
    pub low: f64,
    /// The largest value that rounds to it.
    pub high: f64,
}

impl Printed {
    /// A number as C prints it with `%f` or `%e`: digits, a point, an exponent; or `inf`, `nan`.
    /// `None` for anything else, negative numbers included.
    pub fn parse(text: &str) -> Option<Printed> {
        match text {
            "inf" => return Some(Printed::exactly(f64::INFINITY)),
            "nan" | "-nan" => return Some(Printed::exactly(f64::NAN)),
            _ => {}
        }
        let (mantissa, exponent) = match text.split_once('e') {
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || text.ends_with('.') {
            return None;
        }
        let value: f64 = text.parse().ok()?;
        let decimals = i32::try_from(fraction.len()).ok()?;
        Some(Printed::rounded(value, exponent.saturating_sub(decimals)))
    }

    /// The same of a long double of slurmctld, which sends it as text with six decimals: where fewer
    /// are printed, it was rounded twice.
    pub(super) fn rounded_twice(self) -> Printed {
        if self.high - self.value <= SENT_UNIT {
            return self;
        }
        Printed {
            low: (self.low - SENT_UNIT / 2.0).max(0.0),
            high: self.high + SENT_UNIT / 2.0,
            ..self
        }
    }

    /// A number from 0 up whose last digit counts for ten to the power of `unit`.
    fn rounded(value: f64, unit: i32) -> Printed {
        Printed::within(value, 10f64.powi(unit))
    }

    /// A number from 0 up whose last digit counts for `unit`.
    pub(in crate::input) fn within(value: f64, unit: f64) -> Printed {
        // Half a unit of the last digit, and the noise of computing so in floating point.
        let half = 0.5 * unit + value * 4.0 * f64::EPSILON;
        Printed {
            value,
            low: (value - half).max(0.0),
            high: value + half,
        }
    }

    /// A number without any rounding.
    pub const fn exactly(value: f64) -> Printed {
        Printed {
            value,
            low: value,
            high: value,
        }
    }
}

/// An exponent as `%e` prints it: a sign and at least two digits.
fn exponent_of(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-'])?;
    if digits.len() < 2 || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_reaches_half_a_unit_of_the_last_digit() {
        let near = |a: f64, b: f64| (a - b).abs() <= b.abs() * 1e-12;
        let p = Printed::parse("0.013736").unwrap();
        assert!(near(p.low, 0.0137355) && near(p.high, 0.0137365));
        let p = Printed::parse("1.5085e+04").unwrap();
        assert!(near(p.low, 15084.5) && near(p.high, 15085.5));
        // 15084.4999996 is sent as 15084.500000.
        let p = p.rounded_twice();
        assert!(near(p.low, 15_084.499_999_5) && near(p.high, 15_085.500_000_5));
        let p = Printed::parse("0.013736").unwrap();
        assert_eq!(p.rounded_twice(), p);
        let p = Printed::parse("0.000000").unwrap();
        assert_eq!(p.low, 0.0);
        assert!(near(p.high, 5e-7));
        assert_eq!(Printed::parse("inf"), Some(Printed::exactly(f64::INFINITY)));
    }

    #[test]
    fn what_c_never_prints_is_refused() {
        for text in [
            "",
            "-1.0",
            "1e5",
            "1.0e+5",
            "1,5",
            "0x10",
            "1.",
            ".5",
            "1.5+",
            "infinity",
            "NaN",
            "1.0e+99999",
            "١",
        ] {
            assert_eq!(Printed::parse(text), None, "{text:?}");
        }
    }
}
