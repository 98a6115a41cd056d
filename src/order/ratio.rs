//! Used over entitled, as an exact number.
//!
//! `used / entitled` is a quotient of products of whole numbers. A rounded quotient decides clear
//! cases; close cases are decided by cross-multiplication in 384 bits.

use std::cmp::Ordering;

/// Entitlement of a node: a fraction of whole numbers, in the unit of usage.
///
/// Exact as long as the reduced numerator and denominator fit in 128 bits: about four levels of
/// arbitrary shares, many more of usual shares. Beyond that the last digits are dropped, which
/// changes the value by less than one part in 2^60 per level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entitled {
    numerator: u128,
    /// Not 0.
    denominator: u128,
    /// The value is `numerator / denominator * 2^exponent`; 0 unless digits were dropped.
    exponent: i32,
}

/// [`Entitled::ZERO`].
impl Default for Entitled {
    fn default() -> Entitled {
        Entitled::ZERO
    }
}

impl Entitled {
    /// Entitled to nothing: such a node comes after all others.
    pub const ZERO: Entitled = Entitled::whole(0);

    /// Entitlement to a whole number.
    pub const fn whole(amount: u128) -> Entitled {
        Entitled {
            numerator: amount,
            denominator: 1,
            exponent: 0,
        }
    }

    /// `shares` parts of `of` of this entitlement; nothing if `of` is 0.
    ///
    /// ```
    /// use fairtree::order::Entitled;
    /// let hub = Entitled::whole(100).part(3, 5);
    /// assert_eq!(hub, Entitled::whole(60));
    /// assert_eq!(hub.part(2, 3), Entitled::whole(40));
    /// assert_eq!(hub.part(2, 0), Entitled::ZERO);
    /// ```
    #[must_use]
    pub fn part(self, shares: u64, of: u64) -> Entitled {
        if shares == 0 || of == 0 || self.numerator == 0 {
            return Entitled::ZERO;
        }
        let (mut shares, mut of) = (u128::from(shares), u128::from(of));
        let mut part = self;
        reduce(&mut shares, &mut of);
        reduce(&mut shares, &mut part.denominator);
        reduce(&mut part.numerator, &mut of);
        // A factor of 64 bits keeps at least 64 digits.
        while part.numerator.checked_mul(shares).is_none() {
            part.numerator >>= 1;
            part.exponent = part.exponent.saturating_add(1);
        }
        while part.denominator.checked_mul(of).is_none() {
            part.denominator >>= 1;
            part.exponent = part.exponent.saturating_sub(1);
        }
        part.numerator *= shares;
        part.denominator *= of;
        part
    }

    /// To this without a whole number; to nothing where that is no less.
    ///
    /// ```
    /// use fairtree::order::Entitled;
    /// let rest = Entitled::whole(100).less(80);
    /// assert_eq!(rest.part(1, 3).less(5).part(3, 1), rest.less(15));
    /// assert_eq!(rest.less(21), Entitled::ZERO);
    /// ```
    #[must_use]
    pub fn less(self, amount: u128) -> Entitled {
        if amount == 0 {
            return self;
        }
        if self.exponent != 0 {
            // Digits were dropped before.
            const PARTS: u64 = 1 << 52;
            let left = 1.0 - amount as f64 / self.to_f64();
            return self.part((left.max(0.0) * PARTS as f64) as u64, PARTS);
        }
        let taken = amount.checked_mul(self.denominator);
        let left = taken.and_then(|taken| self.numerator.checked_sub(taken));
        let Some(mut numerator) = left.filter(|left| *left > 0) else {
            return Entitled::ZERO;
        };
        let mut denominator = self.denominator;
        reduce(&mut numerator, &mut denominator);
        Entitled {
            numerator,
            denominator,
            exponent: 0,
        }
    }

    /// To nothing?
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// The nearest `f64` or its neighbour; infinity beyond the range of `f64`.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64 * 2_f64.powi(self.exponent)
    }
}

/// Divides both by their greatest common divisor; neither is 0.
fn reduce(a: &mut u128, b: &mut u128) {
    let (mut high, mut low) = (*a, *b);
    while low != 0 {
        (high, low) = (low, high % low);
    }
    *a /= high;
    *b /= high;
}

/// Used over entitled; the lowest comes first.
///
/// If entitled to nothing: above every other ratio; the unused ones below the used ones, which are
/// all equal. Otherwise 0 if unused, whatever the entitlement.
///
/// ```
/// use fairtree::order::{Entitled, Ratio};
/// let ratio = |used, entitled| Ratio::new(used, Entitled::whole(entitled));
/// assert_eq!(ratio(1, 3), ratio(2, 6));
/// assert_eq!(ratio(0, 3), ratio(0, 7));
/// assert!(ratio(1, 3) < ratio(1, 2));
/// assert!(ratio(9, 1) < ratio(0, 0));
/// assert!(ratio(0, 0) < ratio(5, 0));
/// assert_eq!(ratio(5, 0), ratio(6, 0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    rounded: f64,
    used: u128,
    entitled: Entitled,
}

impl Ratio {
    /// No use, with an entitlement above 0: less than or equal to every other ratio.
    pub const ZERO: Ratio = Ratio {
        rounded: 0.0,
        used: 0,
        entitled: Entitled::whole(1),
    };

    /// Ratio of these, both in one unit.
    #[inline]
    pub fn new(used: u128, entitled: Entitled) -> Ratio {
        Ratio {
            rounded: quotient(used, entitled),
            used,
            entitled,
        }
    }

    /// Use.
    pub const fn used(&self) -> u128 {
        self.used
    }

    /// Value within a few units of the last place; infinity if entitled to nothing. Two ratios
    /// whose values here differ by more than one part in 2^46 compare as these values do.
    pub const fn rounded(&self) -> f64 {
        self.rounded
    }
}

/// Quotient with at most five roundings: wrong by less than one part in 2^50.
#[inline]
fn quotient(used: u128, entitled: Entitled) -> f64 {
    if entitled.is_zero() {
        return f64::INFINITY;
    }
    if used == 0 {
        return 0.0;
    }
    let quotient = used as f64 * entitled.denominator as f64 / entitled.numerator as f64;
    (quotient * scale(entitled)).min(f64::MAX)
}

fn scale(entitled: Entitled) -> f64 {
    match entitled.exponent {
        0 => 1.0,
        exponent => 2_f64.powi(-exponent),
    }
}

/// Order of two rounded ratios if the exact ratios are sure to have the same order.
#[inline]
pub(crate) fn clearly(a: f64, b: f64) -> Option<Ordering> {
    const MARGIN: f64 = 1.0 / (1_u64 << 46) as f64;
    if a < b - b * MARGIN {
        Some(Ordering::Less)
    } else if b < a - a * MARGIN {
        Some(Ordering::Greater)
    } else if a == 0.0 && b == 0.0 {
        // Only an unused ratio rounds to 0.
        Some(Ordering::Equal)
    } else {
        None
    }
}

impl Ord for Ratio {
    #[inline]
    fn cmp(&self, other: &Ratio) -> Ordering {
        clearly(self.rounded, other.rounded).unwrap_or_else(|| exactly(self, other))
    }
}

#[cold]
fn exactly(a: &Ratio, b: &Ratio) -> Ordering {
    match (a.entitled.is_zero(), b.entitled.is_zero()) {
        (true, true) => return (a.used > 0).cmp(&(b.used > 0)),
        (false, true) => return Ordering::Less,
        (true, false) => return Ordering::Greater,
        (false, false) => {}
    }
    if a.entitled == b.entitled || a.used == 0 || b.used == 0 {
        return a.used.cmp(&b.used);
    }
    let left = WideProduct::new(a.used, a.entitled.denominator, b.entitled.numerator);
    let right = WideProduct::new(b.used, b.entitled.denominator, a.entitled.numerator);
    let left_top = left.top + i64::from(b.entitled.exponent);
    let right_top = right.top + i64::from(a.entitled.exponent);
    (left_top.cmp(&right_top)).then_with(|| left.digits.cmp(&right.digits))
}

/// Product of three numbers that are not 0: `digits` with the first bit set, and the number of
/// bits.
struct WideProduct {
    top: i64,
    digits: [u64; 6],
}

impl WideProduct {
    fn new(a: u128, b: u128, c: u128) -> WideProduct {
        // Here the first digit is the lowest.
        let mut digits = [0; 6];
        (digits[0], digits[1]) = (a as u64, (a >> 64) as u64);
        let digits = times(times(digits, b), c);
        let zeros = digits.iter().rev().take_while(|digit| **digit == 0).count();
        let shift = digits[5 - zeros.min(5)].leading_zeros();
        let mut shifted = [0; 6];
        for (to, at) in (zeros..6).map(|at| 5 - at).enumerate() {
            let below = if at > 0 { digits[at - 1] } else { 0 };
            let carried = if shift == 0 { 0 } else { below >> (64 - shift) };
            shifted[to] = digits[at] << shift | carried;
        }
        WideProduct {
            top: 384 - 64 * zeros as i64 - i64::from(shift),
            digits: shifted,
        }
    }
}

/// Multiplies; the product must fit.
fn times(a: [u64; 6], b: u128) -> [u64; 6] {
    let mut product = [0_u64; 6];
    for (shift, factor) in [(0, b as u64), (1, (b >> 64) as u64)] {
        let mut carry = 0_u128;
        for at in shift..6 {
            let sum =
                u128::from(a[at - shift]) * u128::from(factor) + u128::from(product[at]) + carry;
            product[at] = sum as u64;
            carry = sum >> 64;
        }
        debug_assert_eq!(carry, 0);
    }
    product
}

impl PartialOrd for Ratio {
    #[inline]
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    #[inline]
    fn eq(&self, other: &Ratio) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use num_rational::Ratio as Rational;
    use proptest::prelude::*;

    use super::*;

    fn digits() -> impl Strategy<Value = u128> {
        (any::<u128>(), 0..128_u32).prop_map(|(number, shift)| number >> shift)
    }

    fn rational(used: u128, entitled: Entitled) -> Rational<BigUint> {
        assert_eq!(entitled.exponent, 0);
        Rational::new(
            BigUint::from(used) * entitled.denominator,
            BigUint::from(entitled.numerator),
        )
    }

    #[test]
    fn neighbours_beyond_any_rounding_differ() {
        let most = u128::MAX;
        let ratio = |used, entitled| Ratio::new(used, Entitled::whole(entitled));
        assert!(ratio(most - 1, most) < ratio(most, most));
        // (m - 2)/(m - 1) < (m - 1)/m
        assert!(ratio(most - 2, most - 1) < ratio(most - 1, most));
        assert_eq!(ratio(most, most), ratio(7, 7));
    }

    #[test]
    fn beyond_128_bits_digits_are_dropped_and_nothing_breaks() {
        let shares = u64::from(u32::MAX >> 1);
        let mut entitled = Entitled::whole(1);
        for _ in 0..40 {
            entitled = entitled.part(shares - 1, shares);
        }
        let expected = (1.0 - 1.0 / shares as f64).powi(40);
        assert!((entitled.to_f64() / expected - 1.0).abs() < 1e-9);
        let mut tiny = Entitled::whole(1);
        for _ in 0..40 {
            tiny = tiny.part(1, shares - 2);
        }
        assert!(!tiny.is_zero());
        assert!(Ratio::new(1, entitled) < Ratio::new(1, tiny));
        assert!(Ratio::new(2, tiny) > Ratio::new(1, tiny));
        assert!(Ratio::new(1, tiny) < Ratio::new(0, Entitled::ZERO));
    }

    proptest! {
        #[test]
        fn compares_as_fractions_do(
            used in [digits(), digits()], whole in [digits(), digits()],
            parts in [(1..u64::MAX, 1..u64::MAX), (1..u64::MAX, 1..u64::MAX)],
        ) {
            let entitled = [0, 1].map(|n| {
                Entitled::whole(whole[n].max(1) >> 64).part(parts[n].0, parts[n].1)
            });
            prop_assume!(!entitled[0].is_zero() && !entitled[1].is_zero());
            let [a, b] = [0, 1].map(|n| Ratio::new(used[n], entitled[n]));
            let [x, y] = [0, 1].map(|n| rational(used[n], entitled[n]));
            prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        }

        #[test]
        fn equal_however_written(used in 0..u64::MAX, whole in 1..u64::MAX, times in 1..u64::MAX) {
            let (used, whole, times) = (u128::from(used), u128::from(whole), u128::from(times));
            let a = Ratio::new(used, Entitled::whole(whole));
            prop_assert_eq!(a, Ratio::new(used * times, Entitled::whole(whole * times)));
            if used > 0 {
                prop_assert!(a < Ratio::new(used * times + 1, Entitled::whole(whole * times)));
            }
        }
    }
}
