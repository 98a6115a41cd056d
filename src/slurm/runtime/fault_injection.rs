//! Fault injection, so that a test can show the effect of a failure. Inactive unless slurmctld's
//! environment enables it at start.
//!
//! `FAIRTREE_FAULT=PLACE:panic` makes the named place panic whenever it is reached,
//! `FAIRTREE_FAULT=PLACE:panic:N` the first N times. Places are the hooks (`set`, `job_end`,
//! `reconfig`, `set_assoc_usage`, `calc_fs_factor`, `factors_list`) and the steps of a pass
//! (`snapshot`, `compute`, `ledger` if one is kept, `apply`, `state`, `again` if associations are
//! ranked twice, `factors`, `prices`, `slice` between two of these).

use std::sync::atomic::{AtomicU32, Ordering};

/// The name of the variable.
pub(in crate::slurm) const VARIABLE: &str = "FAIRTREE_FAULT";

const PLACES: [&str; 15] = [
    "set",
    "job_end",
    "reconfig",
    "set_assoc_usage",
    "calc_fs_factor",
    "factors_list",
    "snapshot",
    "compute",
    "ledger",
    "apply",
    "again",
    "prices",
    "slice",
    "factors",
    "state",
];

/// An injected fault, or none.
#[derive(Debug, Default)]
pub(in crate::slurm) struct FaultInjection {
    place: Option<&'static str>,
    /// Remaining number of panics.
    left: AtomicU32,
}

impl FaultInjection {
    /// Reads the value of [`VARIABLE`].
    ///
    /// # Errors
    /// A message that lists the allowed values.
    pub(in crate::slurm) fn parse(text: &str) -> Result<FaultInjection, String> {
        let refused = || {
            let places = PLACES.join(", ");
            format!(
                "{VARIABLE}: found \"{text}\", allowed is PLACE:panic or PLACE:panic:TIMES, with PLACE one of {places}"
            )
        };
        let mut words = text.split(':');
        let place = words.next().unwrap_or_default();
        let place = PLACES.iter().find(|known| **known == place);
        let panics = words.next() == Some("panic");
        let times = words.next().map_or(Ok(u32::MAX), str::parse);
        match (place, panics, times, words.next()) {
            (Some(place), true, Ok(times), None) => Ok(FaultInjection {
                place: Some(place),
                left: AtomicU32::new(times),
            }),
            _ => Err(refused()),
        }
    }

    /// The place where it panics; `None` if it does not.
    pub(in crate::slurm) fn place(&self) -> Option<&'static str> {
        self.place
    }

    /// Panics if this is the place, and panics remain.
    pub(in crate::slurm) fn inject(&self, place: &str) {
        if self.place != Some(place) {
            return;
        }
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return;
        }
        if left != u32::MAX {
            self.left.store(left - 1, Ordering::Relaxed);
        }
        panic!("{VARIABLE} asked for a fault in {place}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn panics_at(fault: &FaultInjection, place: &str) -> bool {
        catch_unwind(AssertUnwindSafe(|| fault.inject(place))).is_err()
    }

    #[test]
    fn inactive_by_default() {
        let fault = FaultInjection::default();
        assert_eq!(fault.place(), None);
        assert!(PLACES.iter().all(|place| !panics_at(&fault, place)));
    }

    #[test]
    fn panics_where_and_as_often_as_asked() {
        let always = FaultInjection::parse("set:panic").unwrap();
        assert!((0..5).all(|_| panics_at(&always, "set")));
        assert!(!panics_at(&always, "job_end"));
        let twice = FaultInjection::parse("compute:panic:2").unwrap();
        let seen = [0; 3].map(|_| panics_at(&twice, "compute"));
        assert_eq!(seen, [true, true, false]);
    }

    #[test]
    fn other_words_are_refused() {
        for text in [
            "",
            "set",
            "set:exit",
            "sets:panic",
            "set:panic:x",
            "set:panic:1:2",
        ] {
            assert!(
                FaultInjection::parse(text).unwrap_err().contains("allowed"),
                "{text}"
            );
        }
    }
}
