//! One random client.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::deeds::Deeds;
use crate::twin::Draw;
use xtask::interrupt;

/// Counts of each deed, and of its refusals by Slurm (a job that no longer exists, an account that
/// is in use).
#[derive(Clone, Debug, Default)]
pub struct DeedCounts(BTreeMap<&'static str, [u32; 2]>);

impl DeedCounts {
    fn note(&mut self, deed: &'static str, done: bool) {
        self.0.entry(deed).or_default()[usize::from(!done)] += 1;
    }

    /// Adds the counts of a second client.
    pub fn add(&mut self, other: &DeedCounts) {
        for (deed, [done, refused]) in &other.0 {
            let sum = self.0.entry(deed).or_default();
            sum[0] += done;
            sum[1] += refused;
        }
    }

    /// Deeds that Slurm carried out.
    pub fn done(&self) -> u32 {
        self.0.values().map(|[done, _]| done).sum()
    }
}

impl fmt::Display for DeedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} deeds:", self.done())?;
        for (deed, [done, refused]) in &self.0 {
            write!(f, " {deed} {done}")?;
            if *refused > 0 {
                write!(f, " (refused {refused})")?;
            }
        }
        Ok(())
    }
}

/// Does one deed after the other until the storm is over.
pub fn live(deeds: &Deeds<'_>, seed: u64, over: &AtomicBool) -> DeedCounts {
    let mut draw = Draw::new(seed);
    let mut ledger = DeedCounts::default();
    while !over.load(Ordering::Relaxed) && interrupt::check().is_ok() {
        let (name, done) = deeds.one(&mut draw);
        ledger.note(name, done);
    }
    ledger
}
