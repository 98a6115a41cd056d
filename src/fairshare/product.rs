//! Products and sums of whole numbers of any size, times a power of two.
//!
//! A fraction is a product over all levels of a path, so the length of its numerator and
//! denominator grows with the depth. They are needed only in rare cases, when rounded ratios are
//! too close to decide.

use std::cmp::Ordering;

use crate::extended::Extended;

/// `digits * 2^exponent`, at least 0.
#[derive(Clone, Debug)]
pub(super) struct Product {
    /// Lowest first; the last one is not 0. Empty for the number 0.
    digits: Vec<u64>,
    exponent: i64,
}

impl Product {
    pub(super) fn new(number: u64) -> Product {
        let digits = if number == 0 {
            Vec::new()
        } else {
            vec![number]
        };
        Product {
            digits,
            exponent: 0,
        }
    }

    /// Converts a finite number that is not negative.
    pub(super) fn of(number: Extended) -> Product {
        let (mantissa, exponent) = number.to_parts().unwrap_or((0, 0));
        Product {
            exponent: i64::from(exponent),
            ..Product::new(mantissa)
        }
    }

    #[must_use]
    pub(super) fn times(mut self, by: u64) -> Product {
        if by == 0 {
            return Product::new(0);
        }
        let mut carry = 0_u128;
        for digit in &mut self.digits {
            let wide = u128::from(*digit) * u128::from(by) + carry;
            *digit = wide as u64;
            carry = wide >> 64;
        }
        if carry != 0 {
            self.digits.push(carry as u64);
        }
        self
    }

    #[must_use]
    pub(super) fn times_product(&self, other: &Product) -> Product {
        let mut sum = Product::new(0);
        for (at, &digit) in other.digits.iter().enumerate() {
            let mut part = self.clone().times(digit);
            part.exponent += other.exponent + 64 * at as i64;
            sum = sum.plus(&part);
        }
        sum
    }

    #[must_use]
    pub(super) fn plus(&self, other: &Product) -> Product {
        let (low, high) = if self.exponent <= other.exponent {
            (self, other)
        } else {
            (other, self)
        };
        if high.digits.is_empty() {
            return low.clone();
        }
        if low.digits.is_empty() {
            return high.clone();
        }
        let mut digits = high.aligned(low.exponent);
        digits.resize(digits.len().max(low.digits.len()) + 1, 0);
        let mut carry = false;
        for (at, digit) in digits.iter_mut().enumerate() {
            let other = low.digits.get(at).copied().unwrap_or(0);
            let (sum, first) = digit.overflowing_add(other);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*digit, carry) = (sum, first || second);
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Product {
            digits,
            exponent: low.exponent,
        }
    }

    /// This less another, at least 0.
    #[must_use]
    pub(super) fn minus(&self, other: &Product) -> Product {
        if self <= other {
            return Product::new(0);
        }
        // Both with the lower exponent, and as many digits.
        let exponent = self.exponent.min(other.exponent);
        let mut left = self.aligned(exponent);
        let right = other.aligned(exponent);
        let mut borrow = false;
        for (at, digit) in left.iter_mut().enumerate() {
            let other = right.get(at).copied().unwrap_or(0);
            let (rest, first) = digit.overflowing_sub(other);
            let (rest, second) = rest.overflowing_sub(u64::from(borrow));
            (*digit, borrow) = (rest, first || second);
        }
        while left.last() == Some(&0) {
            left.pop();
        }
        Product {
            digits: left,
            exponent,
        }
    }

    /// The digits as those of a number with this exponent, which is no higher than its own.
    fn aligned(&self, exponent: i64) -> Vec<u64> {
        let shift = (self.exponent - exponent) as u64;
        let mut digits = vec![0; (shift / 64) as usize];
        let bits = (shift % 64) as u32;
        let mut carry = 0_u64;
        for &digit in &self.digits {
            let wide = u128::from(digit) << bits | u128::from(carry);
            digits.push(wide as u64);
            carry = (wide >> 64) as u64;
        }
        digits.push(carry);
        digits
    }

    /// Number of binary digits; 0 for 0.
    fn len(&self) -> i64 {
        let top = self.digits.last().map_or(64, |top| top.leading_zeros());
        64 * self.digits.len() as i64 - i64::from(if self.digits.is_empty() { 0 } else { top })
    }

    /// The 64 binary digits from `from` on; zeros below the number.
    fn window(&self, from: i64) -> u64 {
        let digit = |at: i64| usize::try_from(at).ok().and_then(|at| self.digits.get(at));
        let at = from.div_euclid(64);
        let bits = from.rem_euclid(64) as u32;
        let low = digit(at).copied().unwrap_or(0);
        let high = digit(at + 1).copied().unwrap_or(0);
        ((u128::from(high) << 64 | u128::from(low)) >> bits) as u64
    }

    /// The upper 64 binary digits: too small by a fraction below 2^-63.
    pub(super) fn cut(&self) -> Extended {
        let from = self.len() - 64;
        let mantissa = self.window(from);
        let exponent = i32::try_from(self.exponent + from).unwrap_or(i32::MAX);
        Extended::from_wide(mantissa.into(), exponent, false)
    }
}

impl Ord for Product {
    fn cmp(&self, other: &Product) -> Ordering {
        let (left, right) = (self.len(), other.len());
        if left == 0 || right == 0 {
            return left.cmp(&right);
        }
        let by_size = (self.exponent + left).cmp(&(other.exponent + right));
        by_size.then_with(|| {
            let windows = (left.max(right) + 63) / 64;
            let mut windows = (1..=windows).map(|at| {
                let (a, b) = (self.window(left - 64 * at), other.window(right - 64 * at));
                a.cmp(&b)
            });
            windows
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        })
    }
}

impl PartialOrd for Product {
    fn partial_cmp(&self, other: &Product) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Product {
    fn eq(&self, other: &Product) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Product {}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;

    /// The number times 2^400, because exponents of products go down to -300.
    fn big(product: &Product) -> BigUint {
        let mut sum = BigUint::from(0_u32);
        for &digit in product.digits.iter().rev() {
            sum = (sum << 64) + digit;
        }
        sum << usize::try_from(product.exponent + 400).expect("not so small")
    }

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![
            Just(0),
            Just(1),
            Just(u64::MAX),
            Just(1 << 63),
            any::<u64>()
        ]
    }

    fn product() -> impl Strategy<Value = Product> {
        (prop::collection::vec(number(), 1..5), -150_i64..150).prop_map(|(factors, exponent)| {
            let one = Product::new(1);
            let mut product = factors.into_iter().fold(one, Product::times);
            product.exponent = exponent;
            product
        })
    }

    proptest! {
        #[test]
        fn agrees_with_big_integers(a in product(), b in product(), by in number()) {
            prop_assert_eq!(a.cmp(&b), big(&a).cmp(&big(&b)));
            prop_assert_eq!(big(&a.plus(&b)), big(&a) + big(&b));
            prop_assert_eq!(big(&a.clone().times(by)), big(&a) * by);
            prop_assert_eq!(big(&a.times_product(&b)) << 400, big(&a) * big(&b));
            prop_assert_eq!(&a.plus(&b), &b.plus(&a));
            prop_assert_eq!(&a.plus(&b).minus(&b), &a);
            prop_assert_eq!(a.minus(&a.plus(&b)), Product::new(0));
        }

        #[test]
        fn the_upper_digits_are_cut(a in product()) {
            let cut = a.cut();
            prop_assert!(Product::of(cut) <= a);
            let above = Product::of(cut).times(u64::MAX).plus(&Product::of(cut).times(2));
            prop_assert!(above >= a.times(u64::MAX));
        }
    }

    #[test]
    fn equal_numbers_however_written() {
        let a = Product {
            digits: vec![0, 3],
            exponent: -64,
        };
        assert_eq!(a, Product::new(3));
        assert_eq!(Product::of(Extended::from(3_u64)), Product::new(3));
        assert_eq!(Product::of(Extended::ZERO), Product::new(0));
        assert_eq!(Product::new(0).cut(), Extended::ZERO);
    }
}
