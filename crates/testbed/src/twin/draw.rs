//! Random choices from a seed, the same on every machine.

use rand::Rng as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// A source of choices.
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// The source of a seed.
    pub fn new(seed: u64) -> Draw {
        Draw(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Returns true in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.0.random_range(0..100) < percent
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.random_range(low..=high)
    }

    /// An index below `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        self.0.random_range(0..count)
    }

    /// Returns one of several items.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// Returns one of several values.
    pub fn one_of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A number whose size is spread over all magnitudes up to `high`.
    pub fn magnitude(&mut self, high: u32) -> u32 {
        let bits = self.0.random_range(0..=u32::BITS - high.leading_zeros());
        let value = self.0.random_range(0..(1_u64 << bits));
        u32::try_from(value).unwrap_or(high).min(high)
    }

    /// An index drawn by weight; the weights do not sum to 0.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut at = self.0.random_range(0..weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            if at < *weight {
                return index;
            }
            at -= weight;
        }
        weights.len() - 1
    }
}
