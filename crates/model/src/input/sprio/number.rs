//! A printed number in eight bytes.

use crate::input::sshare::Printed;

/// A number as it was printed: its digits, and how many of them are after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digits(u64);

/// Whole numbers below 2^53 and powers of ten up to this one are exact in floating point, so that
/// one divided by the other is the number nearest to what the digits say, as a reader of text makes
/// it.
const MOST_DECIMALS: usize = 22;

const TENS: [f64; MOST_DECIMALS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Value of 1 in the last digit, by decimals.
const UNITS: [f64; MOST_DECIMALS + 1] = {
    let mut units = TENS;
    let mut at = 0;
    while at < units.len() {
        units[at] = 1.0 / TENS[at];
        at += 1;
    }
    units
};

/// Bits of the digits; the decimals are above them.
const BITS: u32 = 53;

impl Digits {
    /// The digits of a text such as `0.0312500`; `None` for a different form of a number, for text
    /// that is not a number, and for more digits.
    pub fn parse(text: &str) -> Option<Digits> {
        let (mut digits, mut decimals, mut point) = (0_u64, 0, false);
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    digits = digits * 10 + u64::from(byte - b'0');
                    decimals += usize::from(point);
                    if digits >> BITS > 0 || decimals > MOST_DECIMALS {
                        return None;
                    }
                }
                b'.' if !point && at > 0 && at + 1 < text.len() => point = true,
                _ => return None,
            }
        }
        (!text.is_empty()).then_some(Digits((decimals as u64) << BITS | digits))
    }

    /// The number, and those that print so.
    pub fn printed(self) -> Printed {
        let decimals = (self.0 >> BITS) as usize;
        let digits = self.0 & ((1 << BITS) - 1);
        Printed::within(digits as f64 / TENS[decimals], UNITS[decimals])
    }

    /// The bits, none of which is set from bit 58 on.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Returns true if the number is 0.
    pub fn is_zero(self) -> bool {
        self.0 & ((1 << BITS) - 1) == 0
    }

    /// The inverse of [`Digits::bits`].
    pub fn from_bits(bits: u64) -> Digits {
        Digits(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected: the reader of text.
    #[test]
    fn digits_say_what_the_text_says() {
        let mut texts: Vec<String> = [
            "0",
            "7",
            "007",
            "0.0",
            "0.0000000",
            "0.00001471635187",
            "12.5",
            "4294967295",
            "9007199254740991",
            "0.1234567890123456789012",
            "123456789012.345",
        ]
        .map(str::to_owned)
        .into();
        // Halves, thirds and so on with up to 14 decimals.
        for under in 2..60_u32 {
            for decimals in 0..15 {
                texts.push(format!("{:.decimals$}", 1.0 / f64::from(under)));
            }
        }
        for text in texts {
            if let Some(digits) = Digits::parse(&text) {
                assert_eq!(Some(digits.printed()), Printed::parse(&text), "{text}");
                assert_eq!(digits.is_zero(), digits.printed().value == 0.0);
                assert_eq!(digits.bits() >> 58, 0);
                assert_eq!(Digits::from_bits(digits.bits()), digits);
            }
        }
        assert!(Digits::parse("9007199254740991").is_some());
    }

    #[test]
    fn other_forms_are_none() {
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "1..2",
            "-1",
            "1e5",
            "inf",
            "9007199254740992",
            "0.12345678901234567890123",
        ] {
            assert_eq!(Digits::parse(text), None, "{text:?}");
        }
    }
}
