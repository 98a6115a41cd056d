//! Level fairshare as an exact number.
//!
//! `(shares / level shares) / (usage / parent's usage)` is a quotient of two products of integers,
//! each below 2^128. Its correctly rounded value decides most comparisons, because rounding never
//! swaps two numbers. Only if two rounded values are equal are the quotients themselves compared,
//! by cross-multiplication in 256 bits.

use std::cmp::Ordering;

use crate::extended::Extended;

/// `numerator / denominator * 2^exponent`; both parts have one of their upper two bits set, and the
/// numerator is even.
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelRatio {
    numerator: u128,
    denominator: u128,
    exponent: i32,
}

/// A level fairshare: ordered by value, infinity last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// No shares.
    Zero,
    /// Shares and usage.
    Finite(LevelRatio),
    /// Shares without usage; or a user with `FairShare=parent`.
    Infinite,
}

impl Level {
    /// Level fairshare of `shares` out of `level_shares` (below 2^63) and `usage` out of
    /// `parent_usage`; usages are finite and not negative.
    #[inline]
    pub(super) fn new(
        shares: u32,
        level_shares: u64,
        usage: Extended,
        parent_usage: Extended,
    ) -> Level {
        if shares == 0 {
            return Level::Zero;
        }
        let (Some((used, used_exponent)), Some((total, total_exponent))) =
            (usage.to_parts(), parent_usage.to_parts())
        else {
            return Level::Infinite;
        };
        if used == 0 || total == 0 {
            return Level::Infinite;
        }
        debug_assert!(level_shares >= u64::from(shares) && level_shares >> 63 == 0);
        // The top bit of usages is set. If that of the shares is also set, the product has its top
        // bit or the bit below it set.
        let shares = u64::from(shares);
        let (up, down) = (shares.leading_zeros(), level_shares.leading_zeros());
        Level::Finite(LevelRatio {
            numerator: u128::from(shares << up) * u128::from(total),
            denominator: u128::from(level_shares << down) * u128::from(used),
            exponent: total_exponent - used_exponent - up as i32 + down as i32,
        })
    }

    /// Rounded to nearest, ties to even. `a <= b` implies `a.rounded() <= b.rounded()`.
    #[inline]
    pub(super) fn rounded(&self) -> Extended {
        match self {
            Level::Zero => Extended::ZERO,
            Level::Finite(ratio) => ratio.rounded(),
            Level::Infinite => Extended::INFINITY,
        }
    }
}

impl LevelRatio {
    #[inline(always)]
    fn rounded(&self) -> Extended {
        let lacks_top = |number: u128| u32::from(number >> 127 == 0);
        let (up, down) = (lacks_top(self.numerator), lacks_top(self.denominator));
        let mut dividend = self.numerator << up;
        let divisor = self.denominator << down;
        let mut exponent = self.exponent - up as i32 + down as i32;
        if dividend >= divisor {
            // Loses nothing, because the numerator is even.
            dividend >>= 1;
            exponent += 1;
        }
        let (quotient, rest) = divide(dividend, divisor);
        Extended::from_quotient(false, quotient, (rest, divisor), exponent - 1)
    }
}

/// `dividend * 2^64 / divisor` and its remainder, for `dividend < divisor` and a divisor with the
/// top bit set. (Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D.)
fn divide(dividend: u128, divisor: u128) -> (u64, u128) {
    const DIGIT: u128 = 1 << 64;
    let (high, low) = (divisor >> 64, divisor & (DIGIT - 1));
    let mut quotient = dividend / high;
    let mut rest = dividend - quotient * high;
    // The estimate ignores `low` and is at most 2 too large, so it is at most 2^64 + 1.
    while rest < DIGIT && quotient * low > rest << 64 {
        quotient -= 1;
        rest += high;
    }
    // The remainder fits, although intermediate values may not.
    (quotient as u64, (rest << 64).wrapping_sub(quotient * low))
}

/// A product of two 128-bit numbers with its power of two: value `(high, low) * 2^(top - 255)`,
/// the top bit of `high` set; so that values order as `(top, high, low)`.
fn normalised_product(a: u128, b: u128, exponent: i32) -> (i32, u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (ah, al, bh, bl) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (hl, lh, ll) = (ah * bl, al * bh, al * bl);
    let middle = (ll >> 64) + (hl & LOW) + (lh & LOW);
    let high = ah * bh + (hl >> 64) + (lh >> 64) + (middle >> 64);
    let low = middle << 64 | ll & LOW;
    if high == 0 {
        let zeros = low.leading_zeros();
        return (exponent + 127 - zeros as i32, low << zeros, 0);
    }
    let zeros = high.leading_zeros();
    let carried = if zeros == 0 { 0 } else { low >> (128 - zeros) };
    let top = exponent + 255 - zeros as i32;
    (top, high << zeros | carried, low << zeros)
}

impl Ord for LevelRatio {
    fn cmp(&self, other: &LevelRatio) -> Ordering {
        // Only the difference of the exponents matters; it is added on the left side.
        let left = normalised_product(
            self.numerator,
            other.denominator,
            self.exponent - other.exponent,
        );
        let right = normalised_product(other.numerator, self.denominator, 0);
        left.cmp(&right)
    }
}

impl PartialOrd for LevelRatio {
    fn partial_cmp(&self, other: &LevelRatio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for LevelRatio {
    fn eq(&self, other: &LevelRatio) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for LevelRatio {}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;

    fn level(shares: u32, level_shares: u64, usage: u64, parent_usage: u64) -> Level {
        let (usage, parent_usage) = (Extended::from(usage), Extended::from(parent_usage));
        Level::new(shares, level_shares, usage, parent_usage)
    }

    #[test]
    fn edges() {
        assert_eq!(level(0, 0, 0, 0), Level::Zero);
        assert_eq!(level(0, 5, 0, 7), Level::Zero);
        assert_eq!(level(1, 5, 0, 7), Level::Infinite);
        assert_eq!(
            level(1, 5, 3, 0),
            Level::Infinite,
            "usage unknown to the parent"
        );
        assert!(Level::Zero < level(1, 5, 3, 7));
        assert!(level(1, 5, 3, 7) < Level::Infinite);
    }

    #[test]
    fn equal_ratios_are_equal_however_written() {
        // (40/170) / (20/110) = (50/170) / (25/110) = 22/17: two users of Slurm's test24.4.
        let (a, b) = (level(40, 170, 20, 110), level(50, 170, 25, 110));
        assert_eq!(a, b);
        assert_eq!(a.rounded(), b.rounded());
        let expected = Extended::from(22_u64) / Extended::from(17_u64);
        assert_eq!(a.rounded(), expected);
        // (1/3) / (7/9) = (2/6) / (14/18)
        assert_eq!(level(1, 3, 7, 9), level(2, 6, 14, 18));
    }

    #[test]
    fn numbers_closer_than_rounding_still_order() {
        // 1/1 / (p/q) for neighbouring p of 63 bits: quotients that differ by 2^-125.
        let big = u64::MAX / 2;
        let exact = |usage, parent| level(1, 1 << 62, usage, parent);
        let (a, b) = (exact(big, big - 1), exact(big - 1, big - 2));
        assert_eq!(a.rounded(), b.rounded());
        // (big - 1)/big > (big - 2)/(big - 1)
        assert!(a > b);
    }

    #[test]
    fn wide_division() {
        let top = 1 << 127;
        assert_eq!(divide(top >> 1, top), (1 << 63, 0));
        assert_eq!(divide(top, top + 1), (u64::MAX, top - u128::from(u64::MAX)));
        assert_eq!(
            divide(u128::MAX - 1, u128::MAX),
            (u64::MAX, u128::MAX - (1 << 64))
        );
    }

    proptest! {
        #[test]
        fn wide_division_agrees_with_big_integers(
            divisor in digits(), dividend in digits(),
        ) {
            let divisor = divisor | 1 << 127;
            let dividend = dividend % divisor;
            let (quotient, rest) = divide(dividend, divisor);
            let (whole, divisor) = (BigUint::from(dividend) << 64, BigUint::from(divisor));
            prop_assert_eq!(BigUint::from(quotient), &whole / &divisor);
            prop_assert_eq!(BigUint::from(rest), whole % divisor);
        }
    }

    /// Two 64-bit digits, often at an end of their range, where an estimate goes wrong.
    fn digits() -> impl Strategy<Value = u128> {
        let ends = [0_u64, 1 << 63, u64::MAX - 2];
        let near = (prop::sample::select(ends.to_vec()), 0..3_u64).prop_map(|(end, by)| end + by);
        let digit = prop_oneof![near, any::<u64>()];
        let number = |(high, low): (u64, u64)| u128::from(high) << 64 | u128::from(low);
        (digit.clone(), digit).prop_map(number)
    }

    #[test]
    fn products_are_compared_to_the_last_bit() {
        // k/(k + 1) > (k - 1)/k, because k^2 > k^2 - 1: these differ only in the last of 201 bits.
        let k = (1 << 100) + 1;
        let ratio = |numerator, denominator| LevelRatio {
            numerator,
            denominator,
            exponent: 0,
        };
        assert!(ratio(k, k + 1) > ratio(k - 1, k));
        assert_eq!(ratio(k, k + 1), ratio(k, k + 1));
        // Exponents matter.
        assert!(
            ratio(3, 2)
                < LevelRatio {
                    exponent: 1,
                    ..ratio(1, 1)
                }
        );
        assert_eq!(
            ratio(4, 2),
            LevelRatio {
                exponent: 1,
                ..ratio(1, 1)
            }
        );
        assert_eq!(
            ratio(1, 1 << 126),
            LevelRatio {
                exponent: -126,
                ..ratio(1, 1)
            }
        );
    }

    #[test]
    fn extremes_stay_in_range() {
        let tiny = Extended::from_x87(1, 0).expect("the smallest");
        let most = u64::MAX >> 1;
        let large = Level::new(0x7fff_fffe, 0x7fff_fffe, tiny, Extended::MAX);
        assert_eq!(large.rounded(), Extended::INFINITY);
        assert!(
            large < Level::Infinite,
            "finite though it rounds to infinity"
        );
        let small = Level::new(1, most, Extended::MAX, tiny);
        assert_eq!(small.rounded(), Extended::ZERO);
        assert!(small > Level::Zero);
        assert!(small < large);
    }
}
