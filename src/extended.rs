//! A binary floating-point number with a 64-bit mantissa.
//!
//! Slurm keeps usage in x86-64's `long double`. [`Extended`] stores such a number without loss and
//! computes with it in integer arithmetic. Each operation is rounded to nearest, ties to even, as
//! in the x87 unit, so every machine gets the same result, x86-64 or not.
//!
//! The range is also that of the x87 unit: results above about 1.19e4932 become infinite, results
//! below about 3.36e-4932 lose bits gradually and become 0 below 1.8e-4951.
//!
//! Two differences from the x87 unit are deliberate:
//! * there is no NaN. An undefined operation (infinity - infinity, 0 * infinity, 0 / 0,
//!   infinity / infinity) gives [`Extended::ZERO`], so that no later code has to order a value that
//!   has no order;
//! * zero has no sign. A quotient with divisor 0 has the sign of the dividend.

mod arithmetic;
mod decimal;
mod functions;
mod x87;

use std::cmp::Ordering;
use std::fmt;

/// Exponent that marks an infinity.
const INFINITE: i32 = i32::MAX;
/// Largest exponent of a finite number.
const MAX_EXPONENT: i32 = 16383;
/// Smallest exponent at which all 64 bits are kept.
const MIN_EXPONENT: i32 = -16382;

/// A signed number `mantissa * 2^(exponent - 63)`, or an infinity. Never NaN.
///
/// Order: -infinity, negative numbers, zero, positive numbers, infinity.
///
/// ```
/// use fairtree::extended::Extended;
/// let third = Extended::ONE / Extended::from(3_u64);
/// assert_ne!(third, Extended::from_f64(1.0 / 3.0).unwrap()); // 11 bits finer than f64
/// assert_eq!(third.to_f64(), 1.0 / 3.0);
/// assert_eq!(Extended::from_f64(f64::NAN), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extended {
    /// Top bit set, or 0 for the number zero and for infinities.
    mantissa: u64,
    /// Power of two of the top bit; `INFINITE` for an infinity; 0 for zero.
    exponent: i32,
    negative: bool,
}

impl Extended {
    /// Zero.
    pub const ZERO: Extended = Extended {
        mantissa: 0,
        exponent: 0,
        negative: false,
    };
    /// One.
    pub const ONE: Extended = Extended {
        mantissa: 1 << 63,
        exponent: 0,
        negative: false,
    };
    /// Positive infinity.
    pub const INFINITY: Extended = Extended {
        mantissa: 0,
        exponent: INFINITE,
        negative: false,
    };
    /// The largest finite number, about 1.19e4932.
    pub const MAX: Extended = Extended {
        mantissa: u64::MAX,
        exponent: MAX_EXPONENT,
        negative: false,
    };

    /// The whole number `value`, exactly.
    pub const fn from_u64(value: u64) -> Extended {
        if value == 0 {
            return Extended::ZERO;
        }
        let shift = value.leading_zeros();
        Extended {
            mantissa: value << shift,
            exponent: 63 - shift as i32,
            negative: false,
        }
    }

    /// The number `value`, exactly; `None` for NaN.
    pub fn from_f64(value: f64) -> Option<Extended> {
        if value.is_nan() {
            return None;
        }
        let negative = value.is_sign_negative();
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let number = match (bits >> 52) & 0x7ff {
            0x7ff => Extended::INFINITY,
            // Subnormal or zero: `fraction * 2^-1074`.
            0 => Extended::from_u64(fraction).scaled(-1074),
            field => Extended::from_u64(fraction | 1 << 52).scaled(field as i32 - 1075),
        };
        Some(number.with_sign(negative))
    }

    /// The nearest `f64`, ties to even; infinite if too large for an `f64`.
    pub fn to_f64(self) -> f64 {
        let magnitude = if self.is_infinite() || self.exponent > 1023 {
            f64::INFINITY
        } else if self.is_zero() || self.exponent < -1075 {
            0.0
        } else {
            self.finite_to_f64()
        };
        if self.negative { -magnitude } else { magnitude }
    }

    /// The magnitude, for exponents -1075..=1023.
    fn finite_to_f64(self) -> f64 {
        // Below 2^-1022 an f64 keeps fewer than its 53 bits.
        let drop = 11 + (-1022 - self.exponent).max(0) as u32;
        let kept = round_off(u128::from(self.mantissa), drop) as u64;
        let field = (self.exponent + 1023).max(1) as u64;
        // The implicit top bit, and a carry from rounding, are added to the exponent field: `kept`
        // counts units of the smallest bit.
        f64::from_bits(((field - 1) << 52) + kept)
    }

    /// The whole part, rounded towards zero. 0 for negative numbers; `u64::MAX` for 2^64, larger
    /// numbers and infinity.
    pub fn to_u64_truncated(self) -> u64 {
        if self.negative || self.exponent < 0 {
            0
        } else if self.exponent > 63 {
            u64::MAX
        } else {
            self.mantissa >> (63 - self.exponent)
        }
    }

    /// True for the number zero.
    pub const fn is_zero(self) -> bool {
        self.mantissa == 0 && self.exponent != INFINITE
    }

    /// True for both infinities.
    pub const fn is_infinite(self) -> bool {
        self.exponent == INFINITE
    }

    /// True for numbers below zero.
    pub const fn is_negative(self) -> bool {
        self.negative
    }

    /// True for numbers below 1.
    #[inline]
    pub(crate) const fn is_below_one(self) -> bool {
        self.exponent < 0 || self.negative || self.is_zero()
    }

    /// The number without its sign.
    pub const fn abs(self) -> Extended {
        Extended {
            negative: false,
            ..self
        }
    }

    /// The 64-bit mantissa (top bit set) and the power of two of its lowest bit, so that the
    /// magnitude is `mantissa * 2^exponent` exactly; `(0, 0)` for zero, `None` for infinities.
    pub const fn to_parts(self) -> Option<(u64, i32)> {
        if self.is_infinite() {
            None
        } else if self.is_zero() {
            Some((0, 0))
        } else {
            Some((self.mantissa, self.exponent - 63))
        }
    }

    /// Sort key of the magnitude.
    #[inline]
    fn size(&self) -> u128 {
        // The exponent of zero has no meaning.
        let exponent = if self.is_zero() {
            0
        } else {
            self.exponent.wrapping_sub(i32::MIN) as u32
        };
        u128::from(exponent) << 64 | u128::from(self.mantissa)
    }

    /// The number times a power of two, if the result needs no rounding.
    const fn scaled(self, power: i32) -> Extended {
        if self.mantissa == 0 {
            return self;
        }
        Extended {
            exponent: self.exponent + power,
            ..self
        }
    }

    /// The number with this sign; zero has none.
    const fn with_sign(self, negative: bool) -> Extended {
        Extended {
            negative: negative && !self.is_zero(),
            ..self
        }
    }
}

/// `bits / 2^drop`, rounded to nearest, ties to even.
const fn round_off(bits: u128, drop: u32) -> u128 {
    if drop == 0 {
        return bits;
    }
    if drop > 128 {
        return 0;
    }
    let half = 1 << (drop - 1);
    let rest = bits & (half | (half - 1));
    let kept = if drop == 128 { 0 } else { bits >> drop };
    if rest > half || (rest == half && kept & 1 == 1) {
        kept + 1
    } else {
        kept
    }
}

impl From<u64> for Extended {
    fn from(value: u64) -> Extended {
        Extended::from_u64(value)
    }
}

impl From<u32> for Extended {
    fn from(value: u32) -> Extended {
        Extended::from_u64(u64::from(value))
    }
}

impl Default for Extended {
    /// Zero.
    fn default() -> Extended {
        Extended::ZERO
    }
}

impl fmt::Debug for Extended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extended({:?})", self.to_f64())
    }
}

impl PartialOrd for Extended {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Extended {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.size().cmp(&other.size()),
            (true, true) => other.size().cmp(&self.size()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ext(value: f64) -> Extended {
        Extended::from_f64(value).expect("a number")
    }

    /// Every kind of `f64`, ascending.
    const ASCENDING: [f64; 15] = [
        f64::NEG_INFINITY,
        f64::MIN,
        -2.5,
        -1.0,
        -f64::MIN_POSITIVE,
        -5e-324,
        0.0,
        5e-324,
        1.5e-320,
        f64::MIN_POSITIVE,
        0.1,
        1.0,
        1.0 + f64::EPSILON,
        f64::MAX,
        f64::INFINITY,
    ];

    #[test]
    fn f64_round_trips() {
        for value in ASCENDING {
            assert_eq!(ext(value).to_f64().to_bits(), value.to_bits(), "{value}");
        }
        assert_eq!(ext(-0.0), Extended::ZERO);
        assert_eq!(Extended::from_f64(f64::NAN), None);
    }

    #[test]
    fn numbers_order_as_numbers() {
        for (i, a) in ASCENDING.iter().enumerate() {
            for (j, b) in ASCENDING.iter().enumerate() {
                assert_eq!(ext(*a).cmp(&ext(*b)), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn to_f64_rounds_to_even() {
        // 2^53 + 1 is halfway between 2^53 and 2^53 + 2; 2^53 + 3 between 2^53 + 2 and 2^53 + 4.
        let top = 1_u64 << 53;
        assert_eq!(Extended::from_u64(top + 1).to_f64(), top as f64);
        assert_eq!(Extended::from_u64(top + 3).to_f64(), (top + 4) as f64);
        assert_eq!(
            Extended::from_u64(u64::MAX).to_f64(),
            18_446_744_073_709_551_616.0
        );
        assert_eq!(Extended::MAX.to_f64(), f64::INFINITY);
        // Half of the smallest f64 is a tie with zero; any more rounds up.
        let half = Extended::ONE.scaled(-1075);
        assert_eq!(half.to_f64(), 0.0);
        let more = Extended {
            mantissa: half.mantissa + 1,
            ..half
        };
        assert_eq!(more.to_f64(), 5e-324);
        // The largest subnormal and a half rounds up into the normal numbers.
        let below = ext(f64::MIN_POSITIVE) - Extended::ONE.scaled(-1075);
        assert_eq!(below.to_f64(), f64::MIN_POSITIVE);
    }

    #[test]
    fn truncation_saturates() {
        assert_eq!(ext(2.999).to_u64_truncated(), 2);
        assert_eq!(ext(0.999).to_u64_truncated(), 0);
        assert_eq!(ext(-7.0).to_u64_truncated(), 0);
        assert_eq!(Extended::from_u64(u64::MAX).to_u64_truncated(), u64::MAX);
        assert_eq!(
            ext(18_446_744_073_709_551_616.0).to_u64_truncated(),
            u64::MAX
        );
        assert_eq!(Extended::INFINITY.to_u64_truncated(), u64::MAX);
        assert_eq!(Extended::ZERO.to_u64_truncated(), 0);
    }

    #[test]
    fn parts_rebuild_the_number() {
        assert_eq!(Extended::ZERO.to_parts(), Some((0, 0)));
        assert_eq!(Extended::INFINITY.to_parts(), None);
        assert_eq!(Extended::from_u64(3).to_parts(), Some((3 << 62, -62)));
    }
}
