//! The numbers of one association over time, in little memory: a log of a megabyte can name tens of
//! thousands of users, each with hundreds of moments.

/// Numbers, one per moment; `None` where the number is missing.
///
/// A number takes eight bytes. Those that are the same at all moments, such as shares that nobody
/// changed, take as little as one.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// How many there are.
    count: usize,
    /// The common value of all, in bits, as long as `each` is empty.
    same: u64,
    /// The bits of each.
    each: Vec<u64>,
}

/// None: a NaN that no computation gives.
const NONE: u64 = 0x7ff8_6e6f_6e65_0000;

fn bits(number: Option<f64>) -> u64 {
    number.map_or(NONE, f64::to_bits)
}

fn number(bits: u64) -> Option<f64> {
    (bits != NONE).then(|| f64::from_bits(bits))
}

impl Series {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the number of the next moment.
    pub fn push(&mut self, number: Option<f64>) {
        let bits = bits(number);
        if self.each.is_empty() {
            if self.count == 0 {
                self.same = bits;
            }
            if self.same == bits {
                self.count += 1;
                return;
            }
            self.each.resize(self.count, self.same);
        }
        self.each.push(bits);
        self.count += 1;
    }

    /// The number at a moment; `None` also after the last.
    pub fn get(&self, at: usize) -> Option<f64> {
        match self.each.get(at) {
            Some(bits) => number(*bits),
            None if at < self.count => number(self.same),
            None => None,
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Option<f64>> + Clone {
        (0..self.count).map(|at| self.get(at))
    }
}

/// Equal where all numbers are; as of any numbers, NaN equals none.
impl PartialEq for Series {
    fn eq(&self, other: &Series) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<const N: usize> PartialEq<[Option<f64>; N]> for Series {
    fn eq(&self, other: &[Option<f64>; N]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_they_were_added() {
        let (one, two) = (Some(1.0), Some(2.0));
        for numbers in [
            &[][..],
            &[None],
            &[one, one, one],
            &[one, one, None, one],
            &[None, None, two],
            &[Some(0.0), Some(-0.0), Some(f64::INFINITY)],
        ] {
            let mut series = Series::default();
            numbers.iter().for_each(|number| series.push(*number));
            let found: Vec<Option<u64>> = series.iter().map(|n| n.map(f64::to_bits)).collect();
            let expected: Vec<Option<u64>> = numbers.iter().map(|n| n.map(f64::to_bits)).collect();
            assert_eq!(found, expected);
            assert_eq!(series.len(), numbers.len());
            assert_eq!(series.is_empty(), numbers.is_empty());
            assert_eq!(series.get(numbers.len()), None);
        }
    }

    #[test]
    fn no_number_passes_for_none() {
        let mut series = Series::default();
        series.push(Some(f64::NAN));
        series.push(Some(-f64::NAN));
        assert!(series.iter().all(|number| number.is_some_and(f64::is_nan)));
    }
}
