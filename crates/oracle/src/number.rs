//! Numbers of the records as exact fractions, and functions with irrational results.
//!
//! An `f64` or x87 number is a fraction; so are sums, products and quotients of fractions. Powers
//! of 2 and of a decay factor, and logarithms, are approximated by fractions to within 2^-150.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use num_traits::{One, Signed as _, ToPrimitive as _, Zero};

/// An exact number.
pub type Fraction = BigRational;

/// What a floating-point field can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// A number.
    Finite(Fraction),
    /// Above all numbers.
    Infinite,
    /// Not a number, or below all numbers.
    None,
}

/// Number of bits kept in a function's value.
const KEPT: u64 = 160;

/// Bits after the binary point in logarithms, exponentials and powers.
const BITS: u32 = 200;

/// `mantissa * 2^exponent`.
pub fn dyadic(mantissa: BigInt, exponent: i64) -> Fraction {
    if mantissa.is_zero() {
        return Fraction::zero();
    }
    let zeros = mantissa.trailing_zeros().unwrap_or(0);
    let (mantissa, exponent) = (
        mantissa >> zeros,
        exponent + i64::try_from(zeros).unwrap_or(0),
    );
    if exponent >= 0 {
        Fraction::from_integer(mantissa << exponent)
    } else {
        // An odd number and a power of 2 have no common factor.
        Fraction::new_raw(mantissa, BigInt::one() << -exponent)
    }
}

/// The exponent of a denominator that is a power of 2.
fn halvings(value: &Fraction) -> Option<i64> {
    let zeros = value.denom().trailing_zeros()?;
    (zeros + 1 == value.denom().bits()).then(|| i64::try_from(zeros).unwrap_or(0))
}

/// A positive number as odd over odd, times a power of 2, if machine words can hold it.
struct Words {
    top: u64,
    bottom: u64,
    power: i64,
}

impl Words {
    fn of(value: &Fraction) -> Option<Words> {
        let odd = |part: &BigUint| -> Option<(u64, i64)> {
            let zeros = part.trailing_zeros()?;
            Some(((part >> zeros).to_u64()?, i64::try_from(zeros).ok()?))
        };
        if value.is_negative() {
            return None;
        }
        let (top, up) = odd(value.numer().magnitude())?;
        let (bottom, down) = odd(value.denom().magnitude())?;
        let power = up - down;
        Some(Words { top, bottom, power })
    }

    /// The fraction in lowest terms: powers of 2 have no common factor with odd numbers.
    fn fraction(top: [u64; 2], bottom: [u64; 2], power: i64) -> Fraction {
        let whole = |[a, b]: [u64; 2]| u128::from(a) * u128::from(b);
        let (top, bottom) = (whole(top), whole(bottom));
        let common = num_integer::gcd(top, bottom);
        let (mut top, mut bottom) = (BigInt::from(top / common), BigInt::from(bottom / common));
        if power >= 0 {
            top <<= power;
        } else {
            bottom <<= -power;
        }
        Fraction::new_raw(top, bottom)
    }
}

/// `a * b`, in machine words, or without a search for common factors if only 2 is possible.
pub fn product(a: &Fraction, b: &Fraction) -> Fraction {
    if let (Some(of_a), Some(of_b)) = (halvings(a), halvings(b)) {
        return dyadic(a.numer() * b.numer(), -(of_a + of_b));
    }
    match (Words::of(a), Words::of(b)) {
        (Some(a), Some(b)) => {
            Words::fraction([a.top, b.top], [a.bottom, b.bottom], a.power + b.power)
        }
        _ => a * b,
    }
}

/// `a / b`, `b` not 0, in the same way.
pub fn quotient(a: &Fraction, b: &Fraction) -> Fraction {
    match (Words::of(a), Words::of(b)) {
        (Some(a), Some(b)) => {
            Words::fraction([a.top, b.bottom], [a.bottom, b.top], a.power - b.power)
        }
        _ => a / b,
    }
}

/// Returns true if two fractions are equal. All are in lowest terms.
fn same(a: &Fraction, b: &Fraction) -> bool {
    a.numer() == b.numer() && a.denom() == b.denom()
}

/// `to += more`, without a search for common factors if only 2 is possible.
pub fn add(to: &mut Fraction, more: &Fraction) {
    if more.is_zero() {
        return;
    }
    *to = match (halvings(to), halvings(more)) {
        (Some(a), Some(b)) => {
            let common = a.max(b);
            let sum = (to.numer() << (common - a)) + (more.numer() << (common - b));
            dyadic(sum, -common)
        }
        _ => &*to + more,
    };
}

/// A whole number.
pub fn whole(value: impl Into<BigInt>) -> Fraction {
    Fraction::from_integer(value.into())
}

/// The number of an `f64`.
pub fn of_f64(value: f64) -> Number {
    if value.is_nan() || value == f64::NEG_INFINITY {
        return Number::None;
    }
    if value.is_infinite() {
        return Number::Infinite;
    }
    let bits = value.to_bits();
    let field = i64::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) = match field {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, field - 1075),
    };
    let mantissa = BigInt::from(mantissa);
    Number::Finite(dyadic(
        if value < 0.0 { -mantissa } else { mantissa },
        exponent,
    ))
}

/// The fraction of an `f64` that is a number; 0 otherwise.
pub fn exact(value: f64) -> Fraction {
    match of_f64(value) {
        Number::Finite(value) => value,
        _ => Fraction::zero(),
    }
}

/// The number of an x87 value: sign and exponent, mantissa.
pub fn of_x87(high: u16, mantissa: u64) -> Number {
    let negative = high & 0x8000 != 0;
    let field = i64::from(high & 0x7fff);
    if field == 0x7fff {
        let infinite = mantissa << 1 == 0 && !negative;
        return if infinite {
            Number::Infinite
        } else {
            Number::None
        };
    }
    let mantissa = BigInt::from(mantissa);
    let exponent = field.max(1) - 16_383 - 63;
    Number::Finite(dyadic(
        if negative { -mantissa } else { mantissa },
        exponent,
    ))
}

/// Rounds to an `f64`.
pub fn to_f64(value: &Fraction) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

/// Rounds to nearest, ties to even, with `bits` bits of mantissa.
pub fn rounded(value: &Fraction, bits: u64) -> Fraction {
    if value.is_zero() {
        return value.clone();
    }
    let (numerator, denominator) = (value.numer().magnitude(), value.denom().magnitude());
    let scale = i64::try_from(bits).unwrap_or(64) + 1
        - (i64::try_from(numerator.bits()).unwrap_or(0)
            - i64::try_from(denominator.bits()).unwrap_or(0));
    let (mut top, mut bottom) = (numerator.clone(), denominator.clone());
    if scale >= 0 {
        top <<= scale;
    } else {
        bottom <<= -scale;
    }
    let quotient = &top / &bottom;
    let sticky = &quotient * &bottom != top;
    let mantissa = round_to(&quotient, sticky, bits);
    let rounded = dyadic(BigInt::from_biguint(Sign::Plus, mantissa), -scale);
    if value.is_negative() {
        -rounded
    } else {
        rounded
    }
}

/// Rounds a whole number to its `bits` highest bits; `sticky`: there are nonzero bits below it.
fn round_to(quotient: &BigUint, sticky: bool, bits: u64) -> BigUint {
    let extra = quotient.bits().saturating_sub(bits);
    let kept = quotient >> extra;
    let rest = quotient - (&kept << extra);
    let half = if extra == 0 {
        BigUint::zero()
    } else {
        BigUint::one() << (extra - 1)
    };
    let up = match rest.cmp(&half) {
        Ordering::Greater => extra > 0,
        Ordering::Equal if extra > 0 => sticky || kept.bit(0),
        _ => false,
    };
    (kept + u32::from(up)) << extra
}

/// Numbers above this count as infinite: shares over nearly zero usage.
pub const HUGE: f64 = 1e290;

/// Returns true if two numbers are equal except for `relative` of the larger one, or if both are
/// nearly zero, or both [`HUGE`].
pub fn close(a: &Fraction, b: &Fraction, relative: f64) -> bool {
    if same(a, b) {
        return true;
    }
    let (x, y) = (to_f64(a), to_f64(b));
    // Endless decay ends in rounding: 2^-1000 counts as zero.
    let size = x.abs().max(y.abs());
    if size < 1e-290 {
        return true;
    }
    if x.min(y) > HUGE {
        return true;
    }
    // The two values are close, so rounding affects their difference only below the size of the
    // roundings themselves.
    (x - y).abs() <= relative * size
}

/// A number in fixed point, in units of 2^-BITS.
fn fixed(value: &Fraction) -> BigInt {
    (value.numer() << BITS) / value.denom()
}

fn unfixed(value: BigInt) -> Fraction {
    dyadic(value, -i64::from(BITS))
}

/// `ln((1 + x) / (1 - x))` in fixed point, for `x` in fixed point, from -0.5 to 0.5.
fn twice_atanh(x: &BigInt) -> BigInt {
    let square: BigInt = (x * x) >> BITS;
    let (mut power, mut sum) = (x.clone(), x.clone());
    for odd in (3_u32..).step_by(2) {
        power = (power * &square) >> BITS;
        let term = &power / odd;
        if term.is_zero() || term == -BigInt::one() {
            break;
        }
        sum += term;
    }
    sum * 2
}

fn ln_2_fixed() -> BigInt {
    // ln 2 = 2 atanh(1/3)
    twice_atanh(&((BigInt::one() << BITS) / 3))
}

/// ln 2.
pub fn ln_2() -> Fraction {
    unfixed(ln_2_fixed())
}

/// The natural logarithm of a positive number.
pub fn ln(value: &Fraction) -> Fraction {
    let bits = |part: &BigInt| i64::try_from(part.bits()).unwrap_or(0);
    let doublings = bits(value.numer()) - bits(value.denom());
    let power = dyadic(BigInt::one(), -doublings);
    // Between 1/2 and 2; (m - 1) / (m + 1) is between -1/3 and 1/3.
    let mantissa = value * power;
    let one = Fraction::one();
    let x = fixed(&((&mantissa - &one) / (mantissa + one)));
    unfixed(twice_atanh(&x) + ln_2_fixed() * doublings)
}

/// e to the power of a number; 0 if it is too small for an `f64`.
pub fn exp(value: &Fraction) -> Fraction {
    exp_above(value, -1080)
}

/// A positive number to a power from 0 to 1; 0 if it is too small for an x87 number.
pub fn power(base: &Fraction, exponent: f64) -> Fraction {
    exp_above(&(ln(base) * exact(exponent)), -16_450)
}

/// e to the power of a number; 0 if that is not above 2^`lowest`.
fn exp_above(value: &Fraction, lowest: i64) -> Fraction {
    let value = fixed(value);
    let ln_2 = ln_2_fixed();
    let doublings = num_integer::Integer::div_floor(&value, &ln_2);
    let Some(power) = doublings.to_i64().filter(|power| *power > lowest) else {
        return Fraction::zero();
    };
    let rest = value - &doublings * &ln_2;
    let one = BigInt::one() << BITS;
    let (mut term, mut sum) = (one.clone(), one);
    for k in 1_u32.. {
        term = ((term * &rest) >> BITS) / k;
        if term.is_zero() {
            break;
        }
        sum += &term;
    }
    dyadic(sum, power - i64::from(BITS))
}

thread_local! {
    static POWERS: RefCell<HashMap<(u32, bool, i64), Fraction>> = RefCell::default();
}

/// Decay of usage: each second multiplies it by one factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decay {
    /// The half-life, not 0.
    pub half_life_secs: u32,
    /// The factor of a second is 1 - 0.693 / half-life in an `f64`, and not 2^(-1 / half-life).
    pub approximate: bool,
}

impl Decay {
    /// The factor of `secs` seconds; above 1 for negative seconds.
    pub fn factor(self, secs: i64) -> Fraction {
        let key = (self.half_life_secs, self.approximate, secs);
        if let Some(known) = POWERS.with_borrow(|powers| powers.get(&key).cloned()) {
            return known;
        }
        let factor = rounded(&exp(&(self.ln() * whole(secs))), KEPT);
        POWERS.with_borrow_mut(|powers| {
            if powers.len() > 10_000 {
                powers.clear();
            }
            powers.insert(key, factor.clone());
        });
        factor
    }

    /// The logarithm of the factor of one second, which is negative.
    fn ln(self) -> Fraction {
        if self.approximate {
            ln(&exact(1.0 - 0.693 / f64::from(self.half_life_secs)))
        } else {
            -ln_2() / whole(self.half_life_secs)
        }
    }

    /// Decayed value at time `at` of one unit per second from `from` to `to`.
    pub fn integral(self, from: i64, to: i64, at: i64) -> Fraction {
        let value = (self.factor(at - to) - self.factor(at - from)) / -self.ln();
        rounded(&value, KEPT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: &Fraction, expected: f64) {
        assert!(
            close(got, &exact(expected), 1e-15),
            "{} {expected}",
            to_f64(got)
        );
    }

    #[test]
    fn numbers_of_memory() {
        assert_eq!(exact(0.375), Fraction::new(3.into(), 8.into()));
        assert_eq!(of_f64(-2.0), Number::Finite(whole(-2)));
        assert_eq!(of_x87(0x3fff, 1 << 63), Number::Finite(whole(1)));
        assert_eq!(of_x87(0xc000, 3 << 62), Number::Finite(whole(-3)));
        assert_eq!(of_x87(0x7fff, 1 << 63), Number::Infinite);
        assert_eq!(of_f64(f64::NAN), Number::None);
    }

    #[test]
    fn products_and_quotients_are_those_of_fractions() {
        let values = [0.375, 3.0, 1e-290, 7e20, 5.0, 0.1, 96.0].map(exact);
        let thirds = values.clone().map(|value| value / whole(3));
        for a in values.iter().chain(&thirds) {
            for b in values.iter().chain(&thirds) {
                assert!(same(&quotient(a, b), &(a / b)), "{a} / {b}");
                assert!(same(&quotient(&-a, b), &(-a / b)), "-{a} / {b}");
                assert!(same(&product(a, b), &(a * b)), "{a} * {b}");
            }
            assert!(quotient(&Fraction::zero(), a).is_zero());
            assert!(product(&Fraction::zero(), a).is_zero());
        }
    }

    #[test]
    fn rounding_is_that_of_the_processor() {
        for (top, bottom) in [
            (1_i64, 3),
            (2, 3),
            (-1, 10),
            (9_007_199_254_740_993, 1),
            (0, 1),
        ] {
            let value = Fraction::new(top.into(), bottom.into());
            let expected = top as f64 / f64::from(bottom);
            assert_eq!(rounded(&value, 53), exact(expected), "{top}/{bottom}");
        }
    }

    // Compares with the C library, which is exact to an f64.
    #[test]
    fn functions() {
        near(&ln_2(), std::f64::consts::LN_2);
        near(&ln(&exact(10.0)), std::f64::consts::LN_10);
        near(&ln(&exact(0.001)), 0.001_f64.ln());
        near(&exp(&exact(1.0)), std::f64::consts::E);
        near(&exp(&exact(-700.0)), (-700.0_f64).exp());
        near(&power(&exact(0.3), 0.7), 0.3_f64.powf(0.7));
        // (2^-2000)^(1/8) = 2^-250
        near(
            &power(&dyadic(BigInt::one(), -2000), 0.125),
            2_f64.powi(-250),
        );
    }

    // Computed by hand: after one half-life a half; the value of 1 per second over a half-life is h
    // / (2 ln 2) at its end.
    #[test]
    fn decay() {
        let decay = Decay {
            half_life_secs: 604_800,
            approximate: false,
        };
        near(&decay.factor(604_800), 0.5);
        near(&decay.factor(-604_800), 2.0);
        let by_hand = 604_800.0 / (2.0 * std::f64::consts::LN_2);
        near(&decay.integral(0, 604_800, 604_800), by_hand);
        let approximate = Decay {
            approximate: true,
            ..decay
        };
        near(&approximate.factor(1), 1.0 - 0.693 / 604_800.0);
    }
}
