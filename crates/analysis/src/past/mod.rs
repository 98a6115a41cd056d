//! The jobs of the last days, day by day: how long they waited, and core-hours owed to their accounts and users.

mod owed;
mod waits;

use std::collections::HashMap;
use std::hash::Hash;

pub use owed::{DayOfOwed, Owed, PastOwed};
pub use waits::{DayOfWaits, PastStarts};

/// Length of a day, seconds. Days are those of UTC.
pub const DAY_SECS: i64 = 86_400;

/// Names, each with its position.
struct Names<N> {
    names: Vec<N>,
    positions: HashMap<N, u32>,
}

impl<N: Copy + Eq + Hash> Names<N> {
    fn new() -> Names<N> {
        Names {
            names: Vec::new(),
            positions: HashMap::new(),
        }
    }

    fn position(&mut self, name: N) -> u32 {
        *self.positions.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() as u32 - 1
        })
    }
}
