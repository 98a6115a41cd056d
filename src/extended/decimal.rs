//! Decimal output in the format in which C prints a `long double`.

use std::fmt;

use super::Extended;

/// Ten to the 19th, the largest power of ten in 64 bits.
const CHUNK: u64 = 10_000_000_000_000_000_000;
const CHUNK_DIGITS: usize = 19;

/// Number of decimals if no precision is given, as for `%Lf`.
const DEFAULT_DECIMALS: usize = 6;

/// A whole number of any size, 64 bits per limb, lowest first.
struct Natural(Vec<u64>);

impl Natural {
    fn multiply(&mut self, factor: u64) {
        let mut carry = 0;
        for limb in &mut self.0 {
            let product = u128::from(*limb) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        if carry != 0 {
            self.0.push(carry as u64);
        }
    }

    fn shift_left(&mut self, bits: usize) {
        if bits % 64 != 0 {
            self.multiply(1 << (bits % 64));
        }
        self.0.splice(0..0, std::iter::repeat_n(0, bits / 64));
    }

    fn bit(&self, index: usize) -> bool {
        self.0
            .get(index / 64)
            .is_some_and(|limb| limb >> (index % 64) & 1 == 1)
    }

    fn any_below(&self, index: usize) -> bool {
        let whole = (index / 64).min(self.0.len());
        self.0[..whole].iter().any(|limb| *limb != 0)
            || (whole * 64..index).any(|bit| self.bit(bit))
    }

    /// Divides by `2^bits`, rounding to nearest, ties to even.
    fn shift_right_rounding(&mut self, bits: usize) {
        let Some(half) = bits.checked_sub(1) else {
            return;
        };
        let up = self.bit(half) && (self.any_below(half) || self.bit(bits));
        self.0.drain(..(bits / 64).min(self.0.len()));
        if bits % 64 != 0 {
            let mut above = 0;
            for limb in self.0.iter_mut().rev() {
                let low = *limb << (64 - bits % 64);
                *limb = *limb >> (bits % 64) | above;
                above = low;
            }
        }
        if up {
            self.increment();
        }
    }

    fn increment(&mut self) {
        for limb in &mut self.0 {
            let (sum, carry) = limb.overflowing_add(1);
            *limb = sum;
            if !carry {
                return;
            }
        }
        self.0.push(1);
    }

    /// Divides by `divisor` and returns the remainder.
    fn divide(&mut self, divisor: u64) -> u64 {
        let mut rest: u64 = 0;
        for limb in self.0.iter_mut().rev() {
            let dividend = u128::from(rest) << 64 | u128::from(*limb);
            *limb = (dividend / u128::from(divisor)) as u64;
            rest = (dividend % u128::from(divisor)) as u64;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        rest
    }

    /// The decimal digits, at least one.
    fn into_digits(mut self) -> String {
        let mut chunks = vec![self.divide(CHUNK)];
        while !self.0.is_empty() {
            chunks.push(self.divide(CHUNK));
        }
        let mut digits = String::with_capacity(chunks.len() * CHUNK_DIGITS);
        for (place, chunk) in chunks.iter().rev().enumerate() {
            let width = if place == 0 { 0 } else { CHUNK_DIGITS };
            digits.push_str(&format!("{chunk:0width$}"));
        }
        digits
    }
}

impl Extended {
    /// The magnitude of a finite number in plain decimal notation, correctly rounded.
    fn to_decimal(self, decimals: usize) -> String {
        let (mantissa, exponent) = self.to_parts().unwrap_or((0, 0));
        let mut number = Natural(vec![mantissa]);
        for _ in 0..decimals {
            number.multiply(10);
        }
        if exponent < 0 {
            number.shift_right_rounding(exponent.unsigned_abs() as usize);
        } else {
            number.shift_left(exponent as usize);
        }
        let mut digits = number.into_digits();
        if decimals > 0 {
            if digits.len() <= decimals {
                digits.insert_str(0, &"0".repeat(decimals + 1 - digits.len()));
            }
            digits.insert(digits.len() - decimals, '.');
        }
        digits
    }
}

/// As C's `%.*Lf`: six decimals unless the format gives a precision, correctly rounded from the
/// exact value, ties to even; `inf` and `-inf`. Width, sign and fill work as for Rust's numbers.
///
/// ```
/// use fairtree::extended::Extended;
/// let number = Extended::from_f64(-2.5).unwrap();
/// assert_eq!(format!("{number} {number:.0} {number:8.1}"), "-2.500000 -2     -2.5");
/// ```
impl fmt::Display for Extended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.is_infinite() {
            "inf".to_owned()
        } else {
            self.to_decimal(f.precision().unwrap_or(DEFAULT_DECIMALS))
        };
        f.pad_integral(!self.negative, "", &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ext(value: f64) -> Extended {
        Extended::from_f64(value).expect("a number")
    }

    #[test]
    fn prints_as_c_does() {
        // Left: value; right: what printf("%.*Lf") of glibc prints.
        assert_eq!(ext(0.0).to_string(), "0.000000");
        assert_eq!(ext(1.0).to_string(), "1.000000");
        assert_eq!(ext(0.5).to_string(), "0.500000");
        assert_eq!(format!("{:.0}", ext(0.5)), "0");
        assert_eq!(format!("{:.0}", ext(1.5)), "2");
        assert_eq!(format!("{:.3}", ext(0.0625)), "0.062");
        assert_eq!(format!("{:.20}", ext(0.1)), "0.10000000000000000555");
        assert_eq!(ext(1e-300).to_string(), "0.000000");
        assert_eq!(ext(999_999.999_999_9).to_string(), "1000000.000000");
        assert_eq!(ext(-1234.5).to_string(), "-1234.500000");
        assert_eq!(ext(1e25).to_string(), "10000000000000000905969664.000000");
        assert_eq!(Extended::INFINITY.to_string(), "inf");
        assert_eq!((-Extended::INFINITY).to_string(), "-inf");
        assert_eq!(format!("{:>12.2}", ext(2.345)), "        2.35");
        assert_eq!(
            Extended::from_u64(u64::MAX).to_string(),
            "18446744073709551615.000000"
        );
    }

    #[test]
    fn prints_the_largest_number() {
        // LDBL_MAX begins 1.18973149535723176502e4932.
        let text = format!("{:.0}", Extended::MAX);
        assert_eq!(text.len(), 4933);
        assert!(text.starts_with("118973149535723176502"), "{text}");
    }
}
