//! A binary floating-point number with a 64-bit mantissa.
//!
//! Slurm keeps usage in x86-64's `long double`. [`Extended`] carries such a number without loss
//! and computes with it in whole-number arithmetic, each operation rounded to nearest, ties to
//! even, as the x87 unit does; so every machine gets the same answer, x86-64 or not.

use std::cmp::Ordering;
use std::fmt;

/// A signed number `mantissa * 2^(exponent - 63)`, or an infinity. Never NaN.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Extended {
    /// Top bit set, or 0 for the number zero and for infinities.
    mantissa: u64,
    /// Power of two of the top bit; `i32::MAX` for an infinity; 0 for zero.
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
        exponent: i32::MAX,
        negative: false,
    };

    /// The number `value`, exactly; `None` for NaN.
    pub fn from_f64(_value: f64) -> Option<Extended> {
        todo!()
    }

    /// Rounded to nearest, ties to even.
    pub fn to_f64(self) -> f64 {
        todo!()
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
    fn cmp(&self, _other: &Self) -> Ordering {
        todo!()
    }
}
