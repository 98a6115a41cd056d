//! Logarithm, power of two and power, the same on every machine.
//!
//! A host's `log` and `pow` differ in the last bit between C libraries; these do not, and their
//! errors are far smaller than the precision of an `f64`.

use std::cmp::Ordering;

use super::Extended;

/// ln 2 in units of 2^-128.
const LN_2: u128 = 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af;
/// Fraction bits of the fixed-point numbers inside `ln`: enough for 16445 * ln 2 in an `i128`.
const LN_BITS: u32 = 110;
/// Terms of the logarithm's series: the square of its argument stays below 2^-5.
const LN_TERMS: u128 = 25;
/// `2^(i/64)` in units of 2^-63.
const POWERS: [u64; 64] = powers();

/// The upper half of a 256-bit product.
const fn mul_high(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (ah, al, bh, bl) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (hl, lh) = (ah * bl, al * bh);
    let middle = ((al * bl) >> 64) + (hl & LOW) + (lh & LOW);
    ah * bh + (hl >> 64) + (lh >> 64) + (middle >> 64)
}

const fn powers() -> [u64; 64] {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        // Taylor's series of e^(i/64 ln 2) - 1, in units of 2^-127, from its terms.
        let x = LN_2 / 64 * i as u128;
        let mut term = x >> 1;
        let mut sum: u128 = 0;
        let mut n = 2;
        while term > 0 {
            sum += term;
            term = mul_high(term, x) / n;
            n += 1;
        }
        table[i] = (1 << 63) + ((sum + (1 << 63)) >> 64) as u64;
        i += 1;
    }
    table
}

impl Extended {
    /// Natural logarithm of a positive number, within 2^-100 (absolute) before its rounding.
    ///
    /// Zero gives -infinity, infinity gives infinity. Negative numbers, which have no logarithm,
    /// give zero.
    pub(crate) fn ln(self) -> Extended {
        if self.is_zero() {
            return -Extended::INFINITY;
        } else if self.is_infinite() || self.is_negative() {
            return if self == Extended::INFINITY {
                self
            } else {
                Extended::ZERO
            };
        }
        // self = (1 + z) / (1 - z) * 2^power, the first factor between sqrt 1/2 and sqrt 2.
        const ONE: u128 = 1 << 63;
        const SQRT_2: u128 = 0xb504_f333_f9de_6485;
        let mantissa = u128::from(self.mantissa);
        let halve = u32::from(mantissa > SQRT_2);
        let one = ONE << halve;
        let below_one = mantissa < one;
        let (distance, sum) = (mantissa.abs_diff(one), mantissa + one);
        let high = (distance << 63) / sum;
        let low = (((distance << 63) % sum) << 62) / sum;
        let series = arctanh((high << 62 | low) << 3);
        // `series` is in units of 2^-128; ln is twice it.
        let part = (series >> (127 - LN_BITS)) as i128;
        let power = i128::from(self.exponent) + i128::from(halve);
        let whole = power * (LN_2 >> (128 - LN_BITS)) as i128;
        let total = if below_one {
            whole - part
        } else {
            whole + part
        };
        Extended::from_wide(total.unsigned_abs(), -(LN_BITS as i32), false).with_sign(total < 0)
    }

    /// `2^self`, with a relative error below 2^-60; exact for whole numbers.
    pub(crate) fn exp2(self) -> Extended {
        const LIMIT: i32 = 15;
        if self.exponent >= LIMIT && !self.is_zero() {
            return if self.negative {
                Extended::ZERO
            } else {
                Extended::INFINITY
            };
        }
        // In units of 2^-64, rounded down, so that the fraction is never negative.
        let shift = 1 + self.exponent;
        let wide = if shift >= -63 {
            ((u128::from(self.mantissa) << 16) >> (16 - shift)) as i128
        } else {
            0
        };
        let fixed = if self.negative { -wide } else { wide };
        let whole = (fixed >> 64) as i32;
        let fraction = fixed as u64;
        let head = POWERS[(fraction >> 58) as usize];
        let tail = exp_tail(((u128::from(fraction << 6) * (LN_2 >> 64)) >> 70) as u64);
        Extended::from_wide(u128::from(head) * u128::from(tail), whole - 126, false)
    }

    /// `self^exponent` of a positive number, with a relative error below 2^-45 over the whole
    /// range and below 2^-56 for results between 2^-64 and 2^64.
    pub(crate) fn pow(self, exponent: Extended) -> Extended {
        match self.cmp(&Extended::ZERO) {
            Ordering::Greater => {
                let ln_2 = Extended::from_wide(LN_2, -128, false);
                (exponent * self.ln() / ln_2).exp2()
            }
            _ => Extended::ZERO,
        }
    }
}

/// The inverse hyperbolic tangent; argument and result in units of 2^-128.
fn arctanh(z: u128) -> u128 {
    let square = mul_high(z, z);
    let mut power = z;
    let mut sum = 0;
    for k in 0..LN_TERMS {
        sum += power / (2 * k + 1);
        power = mul_high(power, square);
    }
    sum
}

/// e^x for x below 2^-6 in units of 2^-64; the result in units of 2^-63.
fn exp_tail(x: u64) -> u64 {
    // Horner's scheme on 1 + x/1 (1 + x/2 (1 + x/3 (...))).
    const TERMS: u64 = 9;
    const ONE: u64 = 1 << 63;
    let times = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64;
    (1..=TERMS)
        .rev()
        .fold(ONE, |sum, n| ONE + times(x, sum) / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ext(value: f64) -> Extended {
        Extended::from_f64(value).expect("a number")
    }

    fn close(got: Extended, digits: &str, tolerance: f64) {
        let expected: f64 = digits.parse().expect("a number");
        let error = (got.to_f64() - expected).abs();
        assert!(error <= tolerance * expected.abs(), "{got:.25} {digits}");
    }

    #[test]
    fn logarithms() {
        // Expected digits: a table of logarithms.
        assert_eq!(Extended::ONE.ln(), Extended::ZERO);
        assert_eq!(format!("{:.18}", ext(2.0).ln()), "0.693147180559945309");
        assert_eq!(format!("{:.18}", ext(0.5).ln()), "-0.693147180559945309");
        assert_eq!(format!("{:.17}", ext(10.0).ln()), "2.30258509299404568");
        assert_eq!(format!("{:.17}", ext(1.5).ln()), "0.40546510810816438");
        assert_eq!(Extended::ZERO.ln(), -Extended::INFINITY);
        assert_eq!(Extended::INFINITY.ln(), Extended::INFINITY);
        for value in [
            1e-300, 1e-5, 0.7, 0.99, 1.01, 1.414, 1.415, 3.0, 1e17, 1e300,
        ] {
            close(ext(value).ln(), &value.ln().to_string(), 4e-16);
        }
    }

    #[test]
    fn powers_of_two() {
        for whole in [-1000, -3, -1, 0, 1, 2, 63, 1000] {
            let expected = 2_f64.powi(whole);
            assert_eq!(ext(f64::from(whole)).exp2(), ext(expected));
        }
        // sqrt 2 to 18 decimals.
        assert_eq!(format!("{:.17}", ext(0.5).exp2()), "1.41421356237309505");
        for value in [
            -700.3, -1.000_001, -0.3, -1e-9, -1e-30, 1e-30, 0.1, 0.99, 17.77,
        ] {
            close(ext(value).exp2(), &value.exp2().to_string(), 3e-16);
        }
        assert_eq!((-Extended::INFINITY).exp2(), Extended::ZERO);
        assert_eq!(ext(-1e6).exp2(), Extended::ZERO);
        assert_eq!(ext(1e6).exp2(), Extended::INFINITY);
    }

    #[test]
    fn powers() {
        assert_eq!(ext(8.0).pow(Extended::ONE).to_f64(), 8.0);
        assert_eq!(ext(9.0).pow(ext(0.5)).to_f64(), 3.0);
        assert_eq!(ext(0.0).pow(ext(0.5)), Extended::ZERO);
        for (base, exponent) in [(0.3, 0.7), (1e-9, 0.01), (12.5, 0.33)] {
            let expected: f64 = f64::powf(base, exponent);
            close(ext(base).pow(ext(exponent)), &expected.to_string(), 3e-16);
        }
    }
}
