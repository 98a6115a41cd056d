//! Uses in whole units, stored in 64 bits where these are enough.

use super::sparse::Sparse;

/// A use: 64 bits if all uses that can occur in an order fit, else 128. An interleaved order of a
/// million jobs takes 5 % more time if 128 bits are always used, each rounded ratio costs a
/// division, and columns are filled job by job instead of run by run: measured together, both
/// versions of [`super::Line::ordered`] alternating in one process.
pub(super) trait Amount: Copy + Default + PartialEq {
    /// Converts a use that fits.
    fn of(use_: u128) -> Self;
    fn to_u128(self) -> u128;
    fn to_f64(self) -> f64;
    fn saturating_add(self, other: Self) -> Self;
    fn keep(all: Vec<Self>) -> Amounts;
    /// Uses stored in this type; empty if nothing is stored or the other type is used.
    fn kept(all: &Amounts) -> &[Self];
}

/// Uses by position; nothing is stored while all are 0. With 128 bits always, jobs are sorted by
/// node as rows of 48 bytes instead of 32, and an interleaved order of a million jobs takes 5 to 6
/// % more time (both versions of [`super::Line::ordered`] alternating in one process).
#[derive(Clone, Debug)]
pub(super) enum Amounts {
    Narrow(Sparse<u64>),
    Wide(Sparse<u128>),
}

macro_rules! amount {
    ($type:ty, $kind:ident) => {
        impl Amount for $type {
            fn of(use_: u128) -> Self {
                <$type>::try_from(use_).unwrap_or(<$type>::MAX)
            }

            fn to_u128(self) -> u128 {
                self.into()
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn saturating_add(self, other: Self) -> Self {
                self.saturating_add(other)
            }

            fn keep(all: Vec<Self>) -> Amounts {
                Amounts::$kind(all.into_iter().collect())
            }

            fn kept(all: &Amounts) -> &[Self] {
                match all {
                    Amounts::$kind(all) => all.stored(),
                    _ => &[],
                }
            }
        }
    };
}

amount!(u64, Narrow);
amount!(u128, Wide);

impl Default for Amounts {
    fn default() -> Amounts {
        Amounts::Narrow(Sparse::default())
    }
}

impl Amounts {
    #[inline]
    pub(super) fn get(&self, at: u32) -> u128 {
        match self {
            Amounts::Narrow(all) => all.get(at).into(),
            Amounts::Wide(all) => all.get(at),
        }
    }

    /// Sum of all uses; saturates.
    pub(super) fn sum(&self) -> u128 {
        match self {
            // At most 2^32 numbers of 64 bits, so the sum cannot overflow.
            Amounts::Narrow(all) => all.stored().iter().map(|one| u128::from(*one)).sum(),
            Amounts::Wide(all) => all
                .stored()
                .iter()
                .fold(0, |sum, one| sum.saturating_add(*one)),
        }
    }

    /// Returns true if nothing is stored.
    pub(super) fn is_default(&self) -> bool {
        match self {
            Amounts::Narrow(all) => all.is_default(),
            Amounts::Wide(all) => all.is_default(),
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Amounts::Narrow(all) => all.clear(),
            Amounts::Wide(all) => all.clear(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, use_: u128) {
        match (&mut *self, u64::try_from(use_)) {
            (Amounts::Narrow(all), Ok(use_)) => all.push(use_),
            (Amounts::Narrow(all), Err(_)) => {
                let mut wide = all.map(u128::from);
                wide.push(use_);
                *self = Amounts::Wide(wide);
            }
            (Amounts::Wide(all), _) => all.push(use_),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_of_any_width_are_kept() {
        let mut all = Amounts::default();
        let uses = [0, 0, 3, u128::MAX, 5];
        for use_ in uses {
            all.push(use_);
        }
        assert!((0..5).map(|at| all.get(at)).eq(uses));
        all.clear();
        assert!(all.is_default());
    }
}
