//! The four operations, each exact before its single rounding.

use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::{Extended, MAX_EXPONENT, MIN_EXPONENT, round_off};

/// The cut-off part of a mantissa if it is exactly half of the last bit.
const TIE: u64 = 1 << 63;

/// The number `wide * 2^(top - 127)`, a little larger if `sticky`, rounded to nearest even.
///
/// With `sticky`, `wide` must have at least 66 significant bits, so that the cut-off part cannot be
/// a tie.
pub(super) fn rounded(negative: bool, wide: u128, top: i32, sticky: bool) -> Extended {
    if wide == 0 {
        return Extended::ZERO;
    }
    let shift = wide.leading_zeros();
    let bits = (wide << shift) | u128::from(sticky);
    rounded_bits(negative, bits, top - shift as i32)
}

/// [`rounded`] for a number with one of its upper two bits set, as in products and sums.
#[inline(always)]
fn rounded_high(negative: bool, wide: u128, top: i32, sticky: bool) -> Extended {
    debug_assert!(wide >> 126 != 0);
    let shift = u32::from(wide >> 127 == 0);
    let bits = (wide << shift) | u128::from(sticky);
    rounded_bits(negative, bits, top - shift as i32)
}

/// The number `bits * 2^(exponent - 127)`, whose top bit is set, rounded to nearest even.
#[inline(always)]
fn rounded_bits(negative: bool, bits: u128, exponent: i32) -> Extended {
    if !(MIN_EXPONENT..MAX_EXPONENT).contains(&exponent) {
        return rounded_at_ends(negative, bits, exponent);
    }
    // All 64 bits are kept, and a carry cannot lead to infinity.
    let (mantissa, rest) = ((bits >> 64) as u64, bits as u64);
    rounded_up(negative, mantissa, exponent, rest > TIE - (mantissa & 1))
}

/// The number `mantissa * 2^(exponent - 63)`; with `up`, its last bit plus one.
#[inline(always)]
fn rounded_up(negative: bool, mantissa: u64, exponent: i32, up: bool) -> Extended {
    let (mantissa, carry) = mantissa.overflowing_add(u64::from(up));
    Extended {
        mantissa: mantissa | u64::from(carry) << 63,
        exponent: exponent + i32::from(carry),
        negative,
    }
}

/// [`rounded_bits`] near the ends of the range, where fewer bits or none may be kept.
#[cold]
fn rounded_at_ends(negative: bool, bits: u128, exponent: i32) -> Extended {
    let drop = 64 + (MIN_EXPONENT - exponent).max(0);
    let kept = round_off(bits, drop as u32);
    if kept == 0 {
        return Extended::ZERO;
    }
    // `kept` counts units of 2^(exponent - 127 + drop) and may have 65 bits after a carry.
    let unit = exponent - 127 + drop;
    let zeros = kept.leading_zeros() as i32;
    let exponent = unit + 127 - zeros;
    if exponent > MAX_EXPONENT {
        return Extended::INFINITY.with_sign(negative);
    }
    let mantissa = ((kept << zeros) >> 64) as u64;
    Extended {
        mantissa,
        exponent,
        negative,
    }
}

impl Extended {
    /// The number `wide * 2^exponent`, a little larger if `sticky`, rounded to nearest even.
    ///
    /// With `sticky`, `wide` must have at least 66 significant bits.
    pub(crate) fn from_wide(wide: u128, exponent: i32, sticky: bool) -> Extended {
        rounded(false, wide, exponent + 127, sticky)
    }

    /// The number `(quotient + rest / divisor) * 2^(exponent - 63)`, rounded to nearest even; the
    /// top bit of `quotient` is set, and `rest` below `divisor`.
    #[inline(always)]
    pub(crate) fn from_quotient<T>(
        negative: bool,
        quotient: u64,
        (rest, divisor): (T, T),
        exponent: i32,
    ) -> Extended
    where
        T: Copy + Ord + Sub<Output = T> + From<bool>,
    {
        let to_next = divisor - rest;
        if (MIN_EXPONENT..MAX_EXPONENT).contains(&exponent) {
            let up = rest > to_next - T::from(quotient & 1 == 1);
            return rounded_up(negative, quotient, exponent, up);
        }
        // Below the quotient only this matters: 0, less than half, half, or more than half.
        let below: u128 = match rest.cmp(&to_next) {
            Ordering::Less if rest == T::from(false) => 0,
            Ordering::Less => 1 << 62,
            Ordering::Equal => 1 << 63,
            Ordering::Greater => 3 << 62,
        };
        let bits = u128::from(quotient) << 64 | below;
        rounded_at_ends(negative, bits, exponent)
    }

    /// A whole number over another, which is above 0; rounded once.
    pub(crate) fn of_quotient(whole: u128, divisor: u64) -> Extended {
        if whole == 0 {
            return Extended::ZERO;
        }
        let (zeros, up) = (whole.leading_zeros(), divisor.leading_zeros());
        let divisor = u128::from(divisor << up);
        let shifted = whole << zeros;
        // One more digit if the first ones are not below the divisor.
        let more = u32::from(shifted >> 64 >= divisor);
        let dividend = shifted >> more;
        let rest = (dividend % divisor) << more | shifted & u128::from(more);
        let quotient = (dividend / divisor) as u64;
        let exponent = 63 + (more + up) as i32 - zeros as i32;
        Extended::from_quotient(false, quotient, (rest, divisor << more), exponent)
    }

    /// Neither zero nor infinite.
    #[inline(always)]
    fn has_digits(self) -> bool {
        self.mantissa != 0
    }

    /// Sum or difference of magnitudes; `large` has the greater exponent, or the same exponent
    /// and no smaller mantissa.
    #[inline(always)]
    fn combine(large: Extended, small: Extended) -> Extended {
        // One spare bit above for the carry, 63 below: a shift by up to 63 loses nothing.
        let a = u128::from(large.mantissa) << 63;
        let full = u128::from(small.mantissa) << 63;
        let distance = (large.exponent - small.exponent) as u32;
        let (b, lost) = match distance {
            0..64 => (full >> distance, false),
            64..128 => (full >> distance, (full >> distance) << distance != full),
            _ => (0, true),
        };
        let top = large.exponent + 1;
        if large.negative == small.negative {
            return rounded_high(large.negative, a + b, top, lost);
        }
        // The lost bits belong to the subtrahend: borrow one, so that the rest is positive.
        rounded(large.negative, a - b - u128::from(lost), top, lost)
    }

    /// The quotient of two numbers. `divide` returns the quotient of `(high, low)`, a number of 128
    /// bits, by the divisor's mantissa, which is above `high`, and the remainder.
    #[inline(always)]
    pub(super) fn divided_by(
        self,
        other: Extended,
        divide: impl FnOnce(u64, u64) -> (u64, u64),
    ) -> Extended {
        let negative = self.negative != other.negative;
        if !self.has_digits() || !other.has_digits() {
            return if self.is_zero() || other.is_infinite() {
                Extended::ZERO
            } else {
                Extended::INFINITY.with_sign(negative)
            };
        }
        // Shifted so that the quotient has exactly 64 bits.
        let less = self.mantissa < other.mantissa;
        let (high, low) = if less {
            (self.mantissa, 0)
        } else {
            (self.mantissa >> 1, self.mantissa << 63)
        };
        let (quotient, rest) = divide(high, low);
        let exponent = self.exponent - other.exponent - i32::from(less);
        Extended::from_quotient(negative, quotient, (rest, other.mantissa), exponent)
    }

    /// The sum if one of the numbers has no digits.
    #[cold]
    fn add_special(self, other: Extended) -> Extended {
        match (self.is_infinite(), other.is_infinite()) {
            (true, true) if self.negative != other.negative => Extended::ZERO,
            (true, _) => self,
            (_, true) => other,
            _ if self.is_zero() => other,
            _ => self,
        }
    }
}

impl Add for Extended {
    type Output = Extended;

    /// Zero for infinity - infinity.
    #[inline]
    fn add(self, other: Extended) -> Extended {
        if !self.has_digits() || !other.has_digits() {
            self.add_special(other)
        } else if self.size() < other.size() {
            Extended::combine(other, self)
        } else {
            Extended::combine(self, other)
        }
    }
}

impl Neg for Extended {
    type Output = Extended;

    fn neg(self) -> Extended {
        self.with_sign(!self.negative)
    }
}

impl Sub for Extended {
    type Output = Extended;

    /// Zero for infinity - infinity.
    fn sub(self, other: Extended) -> Extended {
        self + -other
    }
}

impl Mul for Extended {
    type Output = Extended;

    /// Zero for 0 * infinity.
    #[inline]
    fn mul(self, other: Extended) -> Extended {
        let negative = self.negative != other.negative;
        if !self.has_digits() || !other.has_digits() {
            return if self.is_zero() || other.is_zero() {
                Extended::ZERO
            } else {
                Extended::INFINITY.with_sign(negative)
            };
        }
        let wide = u128::from(self.mantissa) * u128::from(other.mantissa);
        rounded_high(negative, wide, self.exponent + other.exponent + 1, false)
    }
}

impl Div for Extended {
    type Output = Extended;

    /// Infinity, with the dividend's sign, for division by zero; zero for 0 / 0 and for
    /// infinity / infinity.
    #[inline]
    fn div(self, other: Extended) -> Extended {
        let divisor = other.mantissa;
        self.divided_by(other, |high, low| {
            let dividend = u128::from(high) << 64 | u128::from(low);
            let quotient = (dividend / u128::from(divisor)) as u64;
            // The quotient fits, although intermediate values do not.
            (quotient, low.wrapping_sub(quotient.wrapping_mul(divisor)))
        })
    }
}

impl AddAssign for Extended {
    #[inline]
    fn add_assign(&mut self, other: Extended) {
        *self = *self + other;
    }
}

impl SubAssign for Extended {
    fn sub_assign(&mut self, other: Extended) {
        *self = *self - other;
    }
}

impl MulAssign for Extended {
    #[inline]
    fn mul_assign(&mut self, other: Extended) {
        *self = *self * other;
    }
}

impl DivAssign for Extended {
    fn div_assign(&mut self, other: Extended) {
        *self = *self / other;
    }
}

impl Sum for Extended {
    /// Adds from the first to the last; each sum is rounded.
    fn sum<I: Iterator<Item = Extended>>(numbers: I) -> Extended {
        numbers.fold(Extended::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    proptest! {
        /// Compares with the digits of the exact quotient, computed in whole numbers of any size.
        #[test]
        fn whole_numbers_are_rounded_once(
            whole in (1..u128::MAX, 0..128_u32).prop_map(|(whole, shift)| (whole >> shift).max(1)),
            divisor in prop_oneof![1..u64::MAX, Just(1), Just(1_000_000_000 * 86_400)],
        ) {
            let dividend = BigUint::from(whole) << 192;
            let (exact, rest): (BigUint, BigUint) = (&dividend / divisor, &dividend % divisor);
            let shift = exact.bits().saturating_sub(128);
            let wide = u128::try_from(&exact >> shift).unwrap();
            let sticky = rest != BigUint::ZERO || exact.trailing_zeros().unwrap() < shift;
            let expected = Extended::from_wide(wide, shift as i32 - 192, sticky);
            prop_assert_eq!(Extended::of_quotient(whole, divisor), expected);
        }
    }

    fn int(value: u64) -> Extended {
        Extended::from_u64(value)
    }

    fn ext(value: f64) -> Extended {
        Extended::from_f64(value).expect("a number")
    }

    #[test]
    fn small_whole_numbers_are_exact() {
        assert_eq!(int(2) + int(3), int(5));
        assert_eq!(int(3) - int(5), -int(2));
        assert_eq!(int(6) * int(7), int(42));
        assert_eq!(int(42) / int(6), int(7));
        assert_eq!(int(5) - int(5), Extended::ZERO);
        assert_eq!([1, 2, 3].map(int).into_iter().sum::<Extended>(), int(6));
    }

    #[test]
    fn rounding_is_to_nearest_even_at_64_bits() {
        let top = int(1 << 63);
        // 2^64 + 1 is a tie between 2^64 and 2^64 + 2; 2^64 + 3 between + 2 and + 4.
        let big = top + top;
        assert_eq!(big + int(1), big);
        assert_eq!(big + int(3), big + int(4));
        // A tie plus the smallest number rounds up.
        assert_eq!(big + (int(1) + ext(1e-10)), big + int(2));
        // Just below a power of two the spacing is half as wide.
        assert_eq!(big - ext(0.5), big);
        assert_ne!(big - ext(0.75), big);
        assert_eq!(int(1) - ext(1e-300), int(1));
        // (2^64 - 1)^2 = 2^128 - 2^65 + 1; the nearest is 2^128 - 2^65.
        let max = int(u64::MAX);
        assert_eq!(max * max, (max - Extended::ONE) * big);
    }

    #[test]
    fn quotients_of_equal_ratios_agree() {
        assert_eq!(int(1) / int(3), int(7) / int(21));
        assert_eq!((int(1) / int(3)).mantissa, 0xaaaa_aaaa_aaaa_aaab);
        assert_eq!(int(2) / int(3) * int(3), int(2));
    }

    #[test]
    fn operations_without_a_meaning_give_zero() {
        let inf = Extended::INFINITY;
        assert_eq!(inf - inf, Extended::ZERO);
        assert_eq!(-inf + inf, Extended::ZERO);
        assert_eq!(inf / inf, Extended::ZERO);
        assert_eq!(Extended::ZERO / Extended::ZERO, Extended::ZERO);
        assert_eq!(Extended::ZERO * inf, Extended::ZERO);
        assert_eq!(inf * Extended::ZERO, Extended::ZERO);
    }

    #[test]
    fn infinities_absorb() {
        let inf = Extended::INFINITY;
        assert_eq!(inf + int(1), inf);
        assert_eq!(int(1) - inf, -inf);
        assert_eq!(inf + inf, inf);
        assert_eq!(inf * -int(2), -inf);
        assert_eq!(inf / -int(2), -inf);
        assert_eq!(int(2) / inf, Extended::ZERO);
        assert_eq!(int(2) / Extended::ZERO, inf);
        assert_eq!(-int(2) / Extended::ZERO, -inf);
    }

    #[test]
    fn the_range_ends_as_on_x87() {
        assert_eq!(Extended::MAX + Extended::MAX, Extended::INFINITY);
        assert_eq!(Extended::MAX + int(1), Extended::MAX);
        let tiny = Extended::ONE.scaled(-16445);
        assert_eq!(tiny * ext(0.5), Extended::ZERO, "a tie goes to even, zero");
        assert_eq!(tiny * ext(0.75), tiny);
        assert_eq!(tiny + tiny, Extended::ONE.scaled(-16444));
        assert_eq!(tiny / int(3), Extended::ZERO);
    }
}
