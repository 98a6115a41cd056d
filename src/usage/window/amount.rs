//! Amounts as whole numbers, so that sums are exact.
//!
//! The unit of every amount is 10^-9 of a TRES-second (billing and each TRES) or of a second
//! (wall time). A run's rate is converted once, see [`Columns::rate`]; rate x seconds is then a
//! whole number, and whatever is added and taken away in whatever order leaves the same sum.
//!
//! | bound | number | keeps |
//! |---|---|---|
//! | all that a ledger holds, per column | [`LIMIT`], 2^110 units, 1.3e24 TRES-seconds | every node's sum below it, so only this is checked |
//! | seconds of a bucket | 86,400 < 2^17 | sum x resolution, the numerator of [`Used`], below 2^127 |
//! | a moment | 0 to the year 9999 | differences in `i64` |

use super::WindowError;
use crate::extended::Extended;

/// Units of a TRES-second.
pub const UNITS: u64 = 1_000_000_000;

/// Above all that a ledger may hold of one column, in units.
pub(super) const LIMIT: u128 = 1 << 110;

/// What a ledger counts besides billing and wall time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Ascending.
    tres: Vec<String>,
}

/// One of the numbers that a ledger keeps per bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Billing TRES: raw usage.
    Billing,
    /// Wall time times usage factor (`grp_used_wall`).
    Wall,
    /// A TRES, by its position in [`Columns::tres`].
    Tres(usize),
}

impl Column {
    /// The column at a position of amounts: billing, wall time, TRES in their order.
    pub(crate) fn at(position: usize) -> Column {
        match position {
            0 => Column::Billing,
            1 => Column::Wall,
            at => Column::Tres(at - 2),
        }
    }

    pub(super) fn get(self) -> usize {
        match self {
            Column::Billing => 0,
            Column::Wall => 1,
            Column::Tres(at) => 2 + at,
        }
    }
}

impl Columns {
    /// The most TRES.
    pub const MAX_TRES: usize = 126;

    /// Columns for these TRES (`cpu`, `mem`, `gres/gpu` ...), in any order; without `billing`,
    /// which has a column of its own.
    ///
    /// # Errors
    /// [`WindowError::TresName`] where one stands twice or is empty, [`WindowError::TresCount`].
    pub fn new<S: Into<String>>(tres: impl IntoIterator<Item = S>) -> Result<Columns, WindowError> {
        let mut tres: Vec<String> = tres.into_iter().map(Into::into).collect();
        tres.sort();
        if tres.len() > Columns::MAX_TRES {
            let (found, allowed) = (tres.len(), Columns::MAX_TRES);
            return Err(WindowError::TresCount { found, allowed });
        }
        let is_wrong = |at: &usize| {
            tres[*at].is_empty()
                || tres[*at].len() > usize::from(u16::MAX)
                || *at > 0 && tres[*at - 1] == tres[*at]
        };
        match (0..tres.len()).find(is_wrong) {
            Some(at) => Err(WindowError::TresName {
                name: tres.swap_remove(at),
            }),
            None => Ok(Columns { tres }),
        }
    }

    /// Names of the TRES, ascending.
    pub fn tres(&self) -> &[String] {
        &self.tres
    }

    /// The column of a TRES.
    pub fn find(&self, name: &str) -> Option<Column> {
        let at = self.tres.binary_search_by(|each| each.as_str().cmp(name));
        at.ok().map(Column::Tres)
    }

    /// Numbers per bucket.
    pub(super) fn width(&self) -> usize {
        2 + self.tres.len()
    }

    /// What a run uses per second.
    ///
    /// * `billing_tres`: see [`crate::usage::billable_tres`].
    /// * `usage_factor`: `UsageFactor` of the QOS, 1 without; wall time and TRES are multiplied
    ///   by it, too, as in [`crate::usage::Amounts`].
    /// * `counts`: allocated TRES by position in [`Columns::tres`]; what is not named is 0.
    ///
    /// The factor is rounded to 10^-9, the billing TRES times the factor likewise; the rest is
    /// exact.
    ///
    /// # Errors
    /// [`WindowError::Rate`] for negative and infinite numbers, NaN, and those above 1e19.
    ///
    /// Panics at a position beyond the columns.
    pub fn rate(
        &self,
        billing_tres: f64,
        usage_factor: f64,
        counts: &[(usize, u64)],
    ) -> Result<Rate, WindowError> {
        let units = vec![0; self.width()].into_boxed_slice();
        let mut rate = Rate { units };
        let counts = counts.iter().copied();
        self.set_rate(&mut rate, billing_tres, usage_factor, counts)?;
        Ok(rate)
    }

    /// [`Columns::rate`] into a rate of these columns, which need not be allocated again. On error it
    /// is any.
    pub(crate) fn set_rate(
        &self,
        rate: &mut Rate,
        billing_tres: f64,
        usage_factor: f64,
        counts: impl IntoIterator<Item = (usize, u64)>,
    ) -> Result<(), WindowError> {
        let check = |what, found: f64| match (0.0..=1e19).contains(&found) {
            true => Ok((found * UNITS as f64).round() as u128),
            false => Err(WindowError::Rate { what, found }),
        };
        let factor = check("usage factor", usage_factor)?;
        check("billing TRES", billing_tres)?;
        let units = &mut rate.units;
        units.fill(0);
        units[0] = check("billing TRES x usage factor", billing_tres * usage_factor)?;
        units[1] = factor;
        for (at, count) in counts {
            let amount = factor.checked_mul(u128::from(count));
            // 10^19 x 10^9 x 2^64 is above 2^128; what is above the limit is refused later.
            units[2 + at] = amount.unwrap_or(u128::MAX).min(LIMIT);
        }
        Ok(())
    }
}

/// What a run uses per second, in units; see [`Columns::rate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    pub(super) units: Box<[u128]>,
}

/// Seconds times rate for the column of `units`; `None` from [`LIMIT`] on.
pub(super) fn amount(units: u128, secs: i64) -> Option<u128> {
    let secs = u128::from(u64::try_from(secs).ok()?);
    // Times are below 2^38.
    if units >> 72 == 0 && secs >> 38 == 0 {
        return Some(units * secs);
    }
    units.checked_mul(secs).filter(|amount| *amount < LIMIT)
}

/// An amount as an exact fraction of a TRES-second: `numerator / (denominator x 10^9)`.
///
/// The denominator is that of all usage in one window, so that numerators add up: a node's is
/// the sum of those of its leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Units times `denominator`.
    pub numerator: u128,
    /// Seconds of a bucket, or 1 for a total.
    pub denominator: u32,
}

impl Used {
    /// TRES-seconds, rounded once.
    ///
    /// ```
    /// use fairtree::usage::window::Used;
    /// let third = Used { numerator: 1_000_000_000, denominator: 3 };
    /// assert_eq!(third.to_f64(), 1.0 / 3.0);
    /// ```
    pub fn to_extended(self) -> Extended {
        let units = UNITS * u64::from(self.denominator.max(1));
        Extended::of_quotient(self.numerator, units)
    }

    /// TRES-seconds, rounded to 64 bits and then to an `f64`.
    pub fn to_f64(self) -> f64 {
        self.to_extended().to_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_by_hand() {
        let columns = Columns::new(["mem", "cpu"]).unwrap();
        assert_eq!(columns.tres(), ["cpu", "mem"]);
        assert_eq!(columns.find("mem"), Some(Column::Tres(1)));
        assert_eq!(columns.find("gres/gpu"), None);
        let rate = columns.rate(2.5, 0.1, &[(0, 4), (1, 1000)]).unwrap();
        let expected = [250_000_000, 100_000_000, 400_000_000, 100_000_000_000];
        assert_eq!(*rate.units, expected);
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        let columns = Columns::default();
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e20] {
            assert!(columns.rate(wrong, 1.0, &[]).is_err());
            assert!(columns.rate(1.0, wrong, &[]).is_err());
        }
        assert!(columns.rate(1e15, 1e15, &[]).is_err());
        let error = Columns::new(["cpu", "cpu"]).unwrap_err();
        assert_eq!(
            error,
            WindowError::TresName {
                name: "cpu".to_owned()
            }
        );
        let many = (0..127).map(|n| format!("gres/{n}"));
        assert!(Columns::new(many).is_err());
    }

    #[test]
    fn fractions_are_rounded_once() {
        let used = |numerator, denominator| Used {
            numerator,
            denominator,
        };
        let of = |number| Extended::from_f64(number).unwrap();
        assert_eq!(used(0, 7).to_extended(), Extended::ZERO);
        assert_eq!(used(5 * 3 * 1_000_000_000, 3).to_extended(), of(5.0));
        assert_eq!(
            used(1, 1).to_extended(),
            Extended::ONE / Extended::from_u64(UNITS)
        );
        let large = used((1 << 126) + 1, 86_400).to_extended();
        let divisor = Extended::from_u64(UNITS * 86_400);
        assert_eq!(large, Extended::from_wide(1 << 126, 0, false) / divisor);
    }
}
