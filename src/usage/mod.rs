//! What was used and how it fades.
//!
//! * [`Decay`]: the half-life, as a factor over a time and as the weight of use over a period.
//! * [`Ledger`]: raw usage per association; charging a leaf charges its ancestors.
//! * `reset`: when `PriorityUsageResetPeriod` next clears everything.

use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};

/// How usage fades with time (`PriorityDecayHalfLife`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    half_life_secs: u32,
    compat: Compat,
}

impl Decay {
    /// Halves in `half_life_secs` seconds; 0 means that usage never fades.
    pub fn new(half_life_secs: u32, compat: Compat) -> Decay {
        Decay {
            half_life_secs,
            compat,
        }
    }
    /// What is left of 1 after `secs` seconds, 0..=1; 1 for `secs <= 0`.
    pub fn factor(&self, _secs: i64) -> f64 {
        todo!()
    }
    /// What one unit in use from `from` to `to` (seconds) counts when valued at `valued_at`.
    ///
    /// Documented: the exact integral of `2^(-(valued_at - t)/half_life)`; also right for
    /// `valued_at` before `to`, where use counts for more than its seconds.
    /// Slurm: `(to - from) * factor(to - from)`, whatever `valued_at`. 0 for `to <= from`.
    pub fn weight(&self, _from: i64, _to: i64, _valued_at: i64) -> f64 {
        todo!()
    }
}

/// Why usage was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UsageError {
    /// NaN, infinite or negative.
    #[error("association {id}: usage {value} is not a number from 0 up")]
    NotANumber {
        /// The association.
        id: crate::tree::AssocId,
        /// What was given.
        value: f64,
    },
}

/// Raw usage (TRES-seconds) of every association of one tree.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    own: Vec<Extended>,
    raw: Vec<Extended>,
}

impl Ledger {
    /// No usage yet.
    pub fn new(_tree: &Tree) -> Ledger {
        todo!()
    }
    /// Raw usage by position: own and of all below, TRES-seconds.
    pub fn raw(&self) -> &[Extended] {
        &self.raw
    }
    /// Usage charged to each association itself, by position.
    pub fn own(&self) -> &[Extended] {
        &self.own
    }
    /// Charges `tres_seconds` to an association and to all its ancestors.
    pub fn charge(
        &mut self,
        _tree: &Tree,
        _index: AssocIndex,
        _tres_seconds: f64,
    ) -> Result<(), UsageError> {
        todo!()
    }
    /// Lets all usage fade by `factor` (see [`Decay::factor`]).
    pub fn decay(&mut self, _factor: f64) {
        todo!()
    }
    /// Forgets all usage.
    pub fn reset(&mut self) {
        todo!()
    }
}
