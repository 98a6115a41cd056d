//! The factors from table lookups: age, association, fair share, partition, QOS.

use super::{AssocFactors, Partition, Qos};

/// The factors of a job before they are weighted, each 0..=1 unless a `NO_NORMAL_...` flag makes it
/// a raw priority. A factor with weight 0 is 0: it is not computed. TRES factors are not included,
/// because each has its own weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    /// Time since the job began to age over `PriorityMaxAge`, at most 1.
    pub age: f64,
    /// Priority of the association over the largest of all.
    pub assoc: f64,
    /// Fair-share factor of the association.
    pub fairshare: f64,
    /// Size of the job against the cluster.
    pub job_size: f64,
    /// `PriorityJobFactor` of the partition over the largest of all.
    pub partition: f64,
    /// Priority of the QOS over the largest of all.
    pub qos: f64,
}

/// The age factor of one pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Age {
    now: i64,
    least_secs: i64,
    most_secs: i64,
    /// True if ages are counted in 32 bits, as in some releases of Slurm.
    wraps: bool,
}

impl Age {
    pub(super) fn new(now: i64, max_age_secs: u32, wraps: bool) -> Age {
        Age {
            now,
            // If the maximum is 0, every age counts as 1 of 1.
            least_secs: i64::from(max_age_secs == 0),
            most_secs: i64::from(max_age_secs.max(1)),
            wraps,
        }
    }

    /// Seconds since the job began to age over the maximum age, at most 1. 0 for a job that does
    /// not age (`accrue_time` 0) or begins in the future; 1 for any other if the maximum is 0.
    pub(super) fn factor(&self, accrue_time: i64) -> f64 {
        if accrue_time == 0 {
            return 0.0;
        }
        let mut secs = self.now.saturating_sub(accrue_time).max(0);
        if self.wraps {
            secs &= 0xffff_ffff;
        }
        secs.clamp(self.least_secs, self.most_secs) as f64 / self.most_secs as f64
    }
}

/// Priority of the association, normalised or raw.
#[inline]
pub(super) fn assoc(assoc: &AssocFactors, normal: bool) -> f64 {
    if normal {
        assoc.norm_priority
    } else {
        f64::from(assoc.priority)
    }
}

/// Factor of the partition; 0 without a partition.
#[inline]
pub(super) fn partition(partition: Option<&Partition>, normal: bool) -> f64 {
    match partition {
        Some(partition) if normal => partition.norm_priority,
        Some(partition) => f64::from(partition.priority_job_factor),
        None => 0.0,
    }
}

/// Factor of the QOS; 0 without a QOS, and for a QOS of priority 0.
#[inline]
pub(super) fn qos(qos: Option<&Qos>, normal: bool) -> f64 {
    match qos {
        None | Some(Qos { priority: 0, .. }) => 0.0,
        Some(qos) if normal => qos.norm_priority,
        Some(qos) => f64::from(qos.priority),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn age(now: i64, accrue_time: i64, max_age_secs: u32, wraps: bool) -> f64 {
        Age::new(now, max_age_secs, wraps).factor(accrue_time)
    }

    // Worked by hand; "at some configurable length of time (PriorityMaxAge), the age factor will
    // max out to 1.0".
    #[test]
    fn age_grows_to_1() {
        for (now, accrue_time, max_age, factor) in [
            (1000, 0, 100, 0.0),
            (1000, 1000, 100, 0.0),
            (1000, 1001, 100, 0.0),
            (1000, 975, 100, 0.25),
            (1000, 901, 100, 0.99),
            (1000, 900, 100, 1.0),
            (1000, 1, 100, 1.0),
            (1000, 1000, 0, 1.0),
            (1000, 2000, 0, 1.0),
            (1000, 0, 0, 0.0),
        ] {
            for wraps in [false, true] {
                assert_eq!(age(now, accrue_time, max_age, wraps), factor);
            }
        }
    }

    #[test]
    fn age_wraps_only_for_slurm() {
        let century_and_more = (1 << 32) + 25;
        assert_eq!(age(century_and_more + 1, 1, 100, false), 1.0);
        assert_eq!(age(century_and_more + 1, 1, 100, true), 0.25);
        assert_eq!(age(i64::MAX, i64::MIN, 100, false), 1.0);
    }

    // As documented, with numbers that do not overflow.
    #[test]
    fn ages_at_the_ends_of_time() {
        let times = [i64::MIN, i64::MIN + 1, -1, 0, 1, 99, i64::MAX - 1, i64::MAX];
        for (now, accrue_time) in times.iter().flat_map(|now| times.map(|time| (*now, time))) {
            for max_age in [0, 1, 100, u32::MAX] {
                let secs = (i128::from(now) - i128::from(accrue_time)).max(0);
                let expected = match (accrue_time, max_age) {
                    (0, _) => 0.0,
                    (_, 0) => 1.0,
                    _ => secs.min(max_age.into()) as f64 / f64::from(max_age),
                };
                assert_eq!(age(now, accrue_time, max_age, false), expected);
            }
        }
    }

    #[test]
    fn raw_or_normalised() {
        let row = AssocFactors {
            fs_factor: 0.5,
            priority: 30,
            norm_priority: 0.3,
        };
        assert_eq!(assoc(&row, true), 0.3);
        assert_eq!(assoc(&row, false), 30.0);
        let row = Partition {
            priority_job_factor: 700,
            norm_priority: 0.7,
            max_time_mins: None,
            tres: None,
        };
        assert_eq!(partition(Some(&row), true), 0.7);
        assert_eq!(partition(Some(&row), false), 700.0);
        assert_eq!(partition(None, false), 0.0);
        let mut row = Qos {
            priority: 20,
            norm_priority: 0.2,
        };
        assert_eq!(qos(Some(&row), true), 0.2);
        assert_eq!(qos(Some(&row), false), 20.0);
        row.priority = 0;
        assert_eq!(qos(Some(&row), true), 0.0);
        assert_eq!(qos(None, true), 0.0);
    }
}
