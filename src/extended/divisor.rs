//! Division of many numbers by the same one.

use std::ops::Div;

use super::Extended;

/// A divisor of many numbers: `a / Divisor::new(b)` equals `a / b` to the last bit, without the
/// slow division instruction.
///
/// Source: N. Möller, T. Granlund, "Improved Division by Invariant Integers", IEEE Transactions on
/// Computers 60 (2011), algorithm 4.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    number: Extended,
    /// `(2^128 - 1) / mantissa - 2^64`; 0 if the divisor has no digits.
    reciprocal: u64,
}

impl Divisor {
    pub(crate) fn new(number: Extended) -> Divisor {
        let reciprocal = u128::MAX.checked_div(number.mantissa.into()).unwrap_or(0);
        Divisor {
            number,
            // The quotient has 65 bits; the first is left out.
            reciprocal: reciprocal as u64,
        }
    }

    pub(crate) fn number(&self) -> Extended {
        self.number
    }

    /// A whole number divided by this one, which is finite and above 0; rounded once.
    #[inline]
    pub(crate) fn of_whole(&self, whole: u128) -> Extended {
        if whole == 0 {
            return Extended::ZERO;
        }
        let divisor = self.number.mantissa;
        let zeros = whole.leading_zeros();
        let shifted = whole << zeros;
        // One more digit if the first ones are not below the divisor.
        let more = u32::from((shifted >> 64) as u64 >= divisor);
        let dividend = shifted >> more;
        let (quotient, rest) = self.quotient((dividend >> 64) as u64, dividend as u64);
        let rest = u128::from(rest) << more | shifted & u128::from(more);
        let exponent = 126 + more as i32 - zeros as i32 - self.number.exponent;
        Extended::from_quotient(
            false,
            quotient,
            (rest, u128::from(divisor) << more),
            exponent,
        )
    }

    /// `(high * 2^64 + low) / mantissa` and the remainder; `high` is below the mantissa.
    #[inline(always)]
    fn quotient(&self, high: u64, low: u64) -> (u64, u64) {
        let divisor = self.number.mantissa;
        let dividend = u128::from(high) << 64 | u128::from(low);
        let estimate = u128::from(self.reciprocal) * u128::from(high) + dividend;
        let quotient = ((estimate >> 64) as u64).wrapping_add(1);
        let rest = low.wrapping_sub(quotient.wrapping_mul(divisor));
        // Too large by one in half of all cases, so no branch is used.
        let above = u64::from(rest > estimate as u64);
        let quotient = quotient.wrapping_sub(above);
        let rest = rest.wrapping_add(divisor & above.wrapping_neg());
        if rest < divisor {
            (quotient, rest)
        } else {
            (quotient + 1, rest - divisor)
        }
    }
}

impl Div<Divisor> for Extended {
    type Output = Extended;

    /// Equals the division by the number.
    #[inline]
    fn div(self, other: Divisor) -> Extended {
        self.divided_by(other.number, |high, low| other.quotient(high, low))
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;

    /// Often a number at an end of its range, where an estimate goes wrong.
    fn digits() -> impl Strategy<Value = u64> {
        let ends = [1 << 63, (1 << 63) + (1 << 32), u64::MAX - 2];
        let near = (prop::sample::select(ends.to_vec()), 0..3_u64).prop_map(|(end, by)| end + by);
        prop_oneof![near, any::<u64>().prop_map(|digits| digits | 1 << 63)]
    }

    proptest! {
        #[test]
        fn quotients_are_those_of_whole_numbers(
            divisor in digits(), high in digits(), low in any::<u64>(),
        ) {
            let high = high % divisor;
            let by = Divisor::new(Extended::from_u64(divisor));
            let (wide, whole) = (u128::from(high) << 64 | u128::from(low), u128::from(divisor));
            let expected = ((wide / whole) as u64, (wide % whole) as u64);
            prop_assert_eq!(by.quotient(high, low), expected);
        }

        #[test]
        fn divides_as_the_number_does(
            a in digits(), b in digits(), exponents in (-16_400..16_400_i32, -16_400..16_400_i32),
        ) {
            let number = |digits, exponent| Extended::from_wide(digits, exponent, false);
            let (a, b) = (number(a.into(), exponents.0), number(b.into(), exponents.1));
            for (a, b) in [(a, b), (-a, b), (a, -b)] {
                prop_assert_eq!(a / Divisor::new(b), a / b);
            }
        }
    }

    proptest! {
        /// Compares with the digits of the exact quotient, computed in whole numbers of any size.
        #[test]
        fn whole_numbers_are_rounded_once(
            whole in (1..u128::MAX, 0..128_u32).prop_map(|(whole, shift)| (whole >> shift).max(1)),
            divisor in prop_oneof![digits(), 1..u64::MAX, Just(1), Just(1_000_000_000 * 86_400)],
        ) {
            let dividend = BigUint::from(whole) << 192;
            let (exact, rest): (BigUint, BigUint) = (&dividend / divisor, &dividend % divisor);
            let shift = exact.bits().saturating_sub(128);
            let wide = u128::try_from(&exact >> shift).unwrap();
            let sticky = rest != BigUint::ZERO || exact.trailing_zeros().unwrap() < shift;
            let expected = Extended::from_wide(wide, shift as i32 - 192, sticky);
            let by = Divisor::new(Extended::from_u64(divisor));
            prop_assert_eq!(by.of_whole(whole), expected);
        }
    }

    #[test]
    fn zero_and_infinity_divide_as_the_number_does() {
        let numbers = [Extended::ZERO, Extended::ONE, Extended::INFINITY];
        for (a, b) in numbers
            .iter()
            .flat_map(|a| numbers.iter().map(move |b| (*a, *b)))
        {
            for (a, b) in [(a, b), (-a, b), (a, -b)] {
                assert_eq!(a / Divisor::new(b), a / b, "{a:?} / {b:?}");
            }
        }
    }
}
