//! A check that a printed PRIORITY is the sum of the factors beside it.

use super::{MAX_PRIORITY, PrioReport};
use fairtree_model::input::sprio::{
    Column, Factor, Form, Listing, Queue, SprioRow, Terms, Weights,
};
use fairtree_model::input::sshare::Printed;

/// Which columns a listing has, as far as sums ask.
#[derive(Clone, Debug)]
pub(super) struct Has {
    /// By [`Factor::index`]: in either form.
    factors: [bool; 7],
    /// `-o` chose the columns: sprio itself always shows SITE beside weighted numbers.
    chosen: bool,
}

impl Has {
    pub fn of(listing: &Listing) -> Has {
        Has {
            factors: Factor::ALL.map(|factor| listing.has_factor(factor)),
            chosen: listing.has(Column::Priority(Form::Weighted)) && !listing.has(Column::Site),
        }
    }

    pub fn factor(&self, factor: Factor) -> bool {
        self.factors[factor.index()]
    }
}

/// The sum of the factors of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sum {
    /// The sum of the printed numbers.
    pub value: f64,
    /// The smallest sum of numbers that print so.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Columns that are not there and would shift the sum.
    pub hidden: Vec<&'static str>,
    /// Resources may be missing, which a column too narrow cut.
    pub cut: Option<Cut>,
}

/// The known facts about a cell of resources that may be cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cut {
    /// Some of it cannot be read.
    Surely,
    /// It fills its column: the last resource may have more digits than these points.
    Perhaps(f64),
}

impl Cut {
    /// `None` where all of a cell can be read and is shorter than its column.
    fn of(terms: &Terms, text: Option<&str>) -> Option<Cut> {
        let text = text?;
        let last = terms.last().filter(|(name, _)| {
            let number = text.strip_prefix(&**name);
            number.is_some_and(|number| number.starts_with('='))
        });
        Some(last.map_or(Cut::Surely, |(_, points)| Cut::Perhaps(points.value)))
    }
}

impl Sum {
    /// `None` where a factor is not known, and where `-o` chose the columns: sprio itself leaves
    /// out only factors without a weight, and always shows SITE beside weighted ones.
    pub fn of(has: &Has, row: &SprioRow<'_>, weights: Option<&Weights>) -> Option<Sum> {
        if has.chosen {
            return None;
        }
        let mut sum = Sum {
            value: 0.0,
            low: 0.0,
            high: 0.0,
            hidden: Vec::new(),
            cut: row.tres.and_then(|terms| Cut::of(terms, row.tres_cut)),
        };
        for factor in Factor::ALL {
            if has.factor(factor) {
                sum.add_factor(row, factor, weights)?;
            }
        }
        for (column, value, sign) in [
            (Column::Site, row.site, 1.0),
            (Column::Nice, row.nice, -1.0),
        ] {
            match value {
                Some(value) => sum.add(Printed::exactly(sign * value as f64)),
                None => sum.hidden.push(column.name()),
            }
        }
        Some(sum)
    }

    /// Points of the resources that cannot be read, where the printed priority gives them; with
    /// those of a last resource whose digits are cut.
    pub fn unseen(&self, printed: Option<f64>) -> Option<f64> {
        let read = match self.cut? {
            Cut::Surely => self.value,
            Cut::Perhaps(last) => self.value - last,
        };
        let unseen = printed? - read;
        (self.hidden.is_empty() && unseen >= 0.0).then_some(unseen)
    }

    fn add(&mut self, term: Printed) {
        self.value += term.value;
        self.low += term.low;
        self.high += term.high;
    }

    /// Adds the points of a factor, in as many terms as were printed; `None` where they are not
    /// known.
    fn add_factor(
        &mut self,
        row: &SprioRow<'_>,
        factor: Factor,
        weights: Option<&Weights>,
    ) -> Option<()> {
        if factor == Factor::Tres {
            let terms = match (row.tres, row.norm_tres) {
                (Some(terms), _) => terms,
                (None, Some(terms)) if terms.is_empty() => terms,
                _ => return None,
            };
            terms.iter().for_each(|(_, points)| self.add(*points));
            return Some(());
        }
        let at = factor.index();
        let weight = weights
            .and_then(|weights| weights.points[at])
            .map(f64::from);
        // Normalised numbers have more digits, where the weight is known.
        let points = match (row.norm[at], weight) {
            (Some(share), Some(weight)) => Printed {
                value: share.value * weight,
                low: share.low * weight,
                high: share.high * weight,
            },
            _ => row.weighted[at]?,
        };
        self.add(points);
        Some(())
    }

    /// More than adding in floating point can be off.
    fn noise(&self) -> f64 {
        1e-9 * self.high.abs().max(1.0)
    }

    /// Returns true if a number in `from..to` can be the priority: the sum, at least 1.
    fn allows(&self, from: f64, to: f64) -> bool {
        let noise = self.noise();
        self.low.max(1.0) - noise < to && self.high.max(1.0) + noise >= from
    }
}

/// The result of the comparison of one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// PRIORITY is the sum, cut to a whole number, at least 1.
    Agrees,
    /// All factors are 0: the priority was set by an administrator.
    SetByHand,
    /// No factors that print so add up to PRIORITY.
    Differs {
        /// The smallest priority that the printed factors allow.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// The same, but a column is not there that may explain it.
    DiffersOrHidden {
        /// The smallest priority that the printed factors allow.
        low: f64,
        /// The largest.
        high: f64,
        /// The columns that are not there.
        hidden: Vec<&'static str>,
        /// The points that these would have to add.
        missing: f64,
    },
}

/// `None` where there is nothing to compare.
pub(super) fn verdict(row: &SprioRow<'_>, sum: Option<&Sum>) -> Option<Verdict> {
    let sum = sum?;
    let (from, to) = match (row.priority, row.norm_priority) {
        (Some(printed), _) => (printed, printed + 1.0),
        (None, Some(share)) => (share.low * MAX_PRIORITY, share.high * MAX_PRIORITY),
        (None, None) => return None,
    };
    // What a column too narrow cut only adds to the sum.
    let less = sum.low.max(1.0) - sum.noise() < to;
    match sum.cut {
        Some(Cut::Surely) if less => return None,
        _ if sum.allows(from, to) => return Some(Verdict::Agrees),
        Some(Cut::Perhaps(_)) if less => return None,
        _ => {}
    }
    if set_by_hand(row) {
        return Some(Verdict::SetByHand);
    }
    let noise = sum.noise();
    let low = (sum.low + noise).max(1.0).trunc();
    let high = (sum.high + noise).max(1.0).trunc();
    Some(if sum.hidden.is_empty() {
        Verdict::Differs { low, high }
    } else {
        Verdict::DiffersOrHidden {
            low,
            high,
            hidden: sum.hidden.clone(),
            missing: from.trunc() - sum.value,
        }
    })
}

/// Returns true if every factor of a row is 0, and there is at least one.
fn set_by_hand(row: &SprioRow<'_>) -> bool {
    let factors = row.weighted.iter().chain(&row.norm).flatten();
    let mut any = false;
    let zero = factors.fold(true, |zero, factor| {
        any = true;
        zero && factor.value == 0.0
    });
    let no_terms = |terms: Option<&Terms>| terms.is_none_or(<[_]>::is_empty);
    any && zero
        && no_terms(row.tres)
        && row.tres_cut.is_none()
        && row.norm_tres_cut.is_none()
        && no_terms(row.norm_tres)
        && row.site.unwrap_or(0) == 0
        && row.nice.unwrap_or(0) == 0
}

/// A PRIORITY that is not what the factors add up to.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Which listing, from 0.
    pub listing: usize,
    /// Which row of it, from 0.
    pub row: usize,
    /// The printed value.
    pub printed: f64,
    /// The sum of the printed factors, at least 1.
    pub sum: f64,
    /// The kind of difference.
    pub verdict: Verdict,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Rows compared.
    pub compared: usize,
    /// Rows of priorities that were set by hand.
    pub set_by_hand: usize,
    /// Rows that could not be compared: a factor or the priority is not there.
    pub skipped: usize,
    /// Rows that differ.
    pub differences: Vec<Difference>,
}

/// Compares every row of a file. `reports` are those that [`super::from_queue`] made of it.
pub fn check(queue: &Queue, reports: &[PrioReport]) -> Agreement {
    let mut agreement = Agreement::default();
    for (number, (listing, report)) in queue.listings.iter().zip(reports).enumerate() {
        let has = Has::of(listing);
        for (at, row) in listing.rows.iter().enumerate() {
            let sum = Sum::of(&has, &row, report.weights.as_ref());
            let printed = row
                .priority
                .or(row.norm_priority.map(|p| p.value * MAX_PRIORITY));
            match (verdict(&row, sum.as_ref()), &sum, printed) {
                (Some(Verdict::Agrees), ..) => agreement.compared += 1,
                (Some(Verdict::SetByHand), ..) => agreement.set_by_hand += 1,
                (Some(verdict), Some(sum), Some(printed)) => {
                    agreement.compared += 1;
                    agreement.differences.push(Difference {
                        listing: number,
                        row: at,
                        printed,
                        sum: sum.value.max(1.0),
                        verdict,
                    });
                }
                _ => agreement.skipped += 1,
            }
        }
    }
    agreement
}

#[cfg(test)]
mod tests {
    use super::super::from_queue;
    use super::*;
    use fairtree_model::input::sprio::read;

    /// The verdict on one row under the header of `sprio -l` without TRES.
    fn of(row: &str) -> Option<Verdict> {
        let text = format!("JOBID PRIORITY SITE AGE FAIRSHARE NICE\n{row}\n");
        let queue = read("f", text.as_bytes()).unwrap();
        let listing = &queue.listings[0];
        let row = listing.rows.get(0);
        verdict(&row, Sum::of(&Has::of(listing), &row, None).as_ref())
    }

    // By hand: each factor is half a point off at most, PRIORITY is cut.
    #[test]
    fn rounding_is_no_difference() {
        for row in [
            "1 300 0 100 200 0",
            "1 301 0 100 200 0",
            "1 299 0 100 200 0",
        ] {
            assert_eq!(of(row), Some(Verdict::Agrees), "{row}");
        }
        for row in ["1 302 0 100 200 0", "1 297 0 100 200 0"] {
            let differs = Verdict::Differs {
                low: 299.0,
                high: 301.0,
            };
            assert_eq!(of(row), Some(differs), "{row}");
        }
    }

    #[test]
    fn site_and_nice_count_and_the_least_is_one() {
        assert_eq!(of("1 255 5 100 200 50"), Some(Verdict::Agrees));
        assert_eq!(of("1 1 0 100 200 5000"), Some(Verdict::Agrees));
        assert_eq!(of("1 350 0 100 200 -50"), Some(Verdict::Agrees));
    }

    #[test]
    fn a_row_without_factors_was_set_by_hand() {
        assert_eq!(of("1 5000 0 0 0 0"), Some(Verdict::SetByHand));
        assert_eq!(of("1 1 0 0 0 0"), Some(Verdict::Agrees));
    }

    #[test]
    fn a_hidden_nice_value_is_named() {
        let queue = read("f", &b"JOBID PRIORITY SITE AGE\n7 586 0 886\n"[..]).unwrap();
        let agreement = check(&queue, &from_queue(&queue));
        let verdict = Verdict::DiffersOrHidden {
            low: 885.0,
            high: 886.0,
            hidden: vec!["NICE"],
            missing: -300.0,
        };
        assert_eq!(agreement.differences[0].verdict, verdict);
    }

    // By hand: 0.05 * 1000 + 0.625 * 100000 = 62550; 62550 / 4294967295 = 0.0000145635575...
    #[test]
    fn normalised_numbers_count_with_the_weights() {
        let text = |priority: &str| {
            format!(
                "JOBID|PRIORITY|SITE|AGE|FAIRSHARE|NICE\nWeights||1|1000|100000|\n\n\
                 JOBID|PRIORITY|SITE|AGE|FAIRSHARE|NICE\n4|{priority}|0|0.0500000|0.6250000|0\n"
            )
        };
        for (priority, differences) in [("0.00001456355752", 0), ("0.00001466355752", 1)] {
            let queue = read("f", text(priority).as_bytes()).unwrap();
            let agreement = check(&queue, &from_queue(&queue));
            assert_eq!(agreement.compared, 1);
            assert_eq!(agreement.differences.len(), differences, "{priority}");
        }
    }
}
