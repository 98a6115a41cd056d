//! The 80 bits of an x87 register, for hosts that use it as `long double`.

use super::{Extended, MAX_EXPONENT, MIN_EXPONENT};

/// Exponent field of infinities and NaNs.
const SPECIAL: u16 = 0x7fff;
/// Exponent field of 2^0.
const BIAS: i32 = 16383;
const SIGN: u16 = 0x8000;
const TOP: u64 = 1 << 63;

impl Extended {
    /// The number in the 10 bytes of an x86 `long double`: its mantissa (bytes 0..8) and its sign
    /// and exponent (bytes 8..10). Exact for every number, subnormal ones included.
    ///
    /// `None` for NaNs and for the encodings that the x87 unit itself refuses as operands
    /// (unnormals, pseudo-infinities). Negative zero becomes zero.
    pub fn from_x87(mantissa: u64, sign_exponent: u16) -> Option<Extended> {
        let field = sign_exponent & SPECIAL;
        let magnitude = match field {
            SPECIAL if mantissa == TOP => Extended::INFINITY,
            SPECIAL => return None,
            // Subnormal, or a pseudo-subnormal with the top bit set: field 0 counts as 1.
            0 => Extended::from_u64(mantissa).scaled(MIN_EXPONENT - 63),
            _ if mantissa & TOP == 0 => return None,
            _ => Extended::from_u64(mantissa).scaled(i32::from(field) - BIAS - 63),
        };
        Some(magnitude.with_sign(sign_exponent & SIGN != 0))
    }

    /// Mantissa, and sign with exponent, of the x86 `long double` of this value; exact.
    pub fn to_x87(self) -> (u64, u16) {
        let (mantissa, field) = if self.mantissa == 0 {
            if self.is_infinite() {
                (TOP, SPECIAL)
            } else {
                (0, 0)
            }
        } else if self.exponent < MIN_EXPONENT {
            (self.mantissa >> (MIN_EXPONENT - self.exponent), 0)
        } else {
            debug_assert!(self.exponent <= MAX_EXPONENT);
            (self.mantissa, (self.exponent + BIAS) as u16)
        };
        (mantissa, field | if self.negative { SIGN } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_of_numbers_round_trip() {
        let cases: [(u64, u16); 9] = [
            (0, 0),
            (TOP, 0x3fff),                   // 1
            (TOP, 0xbfff),                   // -1
            (0xc000_0000_0000_0000, 0x4000), // 3
            (u64::MAX, 0x7ffe),              // the largest
            (TOP, 0x0001),                   // the smallest normal
            (TOP - 1, 0x0000),               // the largest subnormal
            (1, 0x8000),                     // the smallest, negative
            (TOP, 0xffff),                   // -infinity
        ];
        for (mantissa, sign_exponent) in cases {
            let number = Extended::from_x87(mantissa, sign_exponent).expect("a number");
            assert_eq!(number.to_x87(), (mantissa, sign_exponent));
        }
        assert_eq!(Extended::from_x87(TOP, 0x3fff), Some(Extended::ONE));
        assert_eq!(Extended::from_x87(TOP, 0x7fff), Some(Extended::INFINITY));
    }

    #[test]
    fn other_encodings() {
        assert_eq!(Extended::from_x87(0, 0x8000), Some(Extended::ZERO));
        // A pseudo-subnormal has the value that it would have with exponent field 1.
        assert_eq!(Extended::from_x87(TOP, 0), Extended::from_x87(TOP, 1));
        assert_eq!(Extended::from_x87(TOP | 1, 0x7fff), None, "signalling NaN");
        assert_eq!(
            Extended::from_x87(TOP | TOP >> 1, 0xffff),
            None,
            "quiet NaN"
        );
        assert_eq!(Extended::from_x87(0, 0x7fff), None, "pseudo-infinity");
        assert_eq!(Extended::from_x87(1, 0x3fff), None, "unnormal");
        assert_eq!(Extended::from_x87(0, 0x3fff), None, "unnormal");
    }
}
