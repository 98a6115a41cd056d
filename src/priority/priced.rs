//! From weighted terms to the one integer.

/// Weighted terms of one job, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Priced {
    /// Age factor times `PriorityWeightAge`.
    pub age: f64,
    /// Association factor times `PriorityWeightAssoc`.
    pub assoc: f64,
    /// Fair-share factor times `PriorityWeightFairshare`.
    pub fairshare: f64,
    /// Job size factor times `PriorityWeightJobSize`.
    pub job_size: f64,
    /// Partition factor times `PriorityWeightPartition`.
    pub partition: f64,
    /// QOS factor times `PriorityWeightQOS`.
    pub qos: f64,
    /// Sum of the weighted TRES factors.
    pub tres: f64,
    /// Site factor.
    pub site: i32,
    /// Nice value.
    pub nice: i32,
    /// The priority, 1..=4294967295; 0: held.
    pub priority: u32,
    /// The sum was above 4294967295, or not a number, so the priority is 4294967295: report it to
    /// the administrator.
    pub overflow: bool,
}

impl Priced {
    /// The sum, in Slurm's order of additions.
    #[inline]
    pub fn sum(&self) -> f64 {
        self.age
            + self.assoc
            + self.fairshare
            + self.job_size
            + self.partition
            + self.qos
            + self.tres
            + f64::from(self.site)
            - f64::from(self.nice)
    }

    /// The sum in Slurm's order for a job's other partitions and QOS, which can differ from
    /// [`Priced::sum`] in the last bit.
    #[inline]
    pub fn variant_sum(&self) -> f64 {
        self.partition
            + (self.age
                + self.assoc
                + self.fairshare
                + self.job_size
                + self.qos
                + self.tres
                + f64::from(self.site)
                - f64::from(self.nice))
    }

    /// Sets the priority from a sum: truncated, at least 1 because 0 means held, at most
    /// 4294967295. NaN counts as too large, as on x86-64.
    #[inline]
    pub(super) fn set_priority(&mut self, sum: f64) {
        (self.priority, self.overflow) = to_priority(sum);
    }
}

/// [`Priced::set_priority`]: the priority, and true if the sum was too large.
#[inline(always)]
pub(super) fn to_priority(sum: f64) -> (u32, bool) {
    const END: f64 = 4_294_967_296.0;
    let overflow = sum >= END || sum.is_nan();
    // The conversion truncates, and gives the nearest end beyond the range.
    (
        (if overflow { END - 1.0 } else { sum.max(1.0) }) as u32,
        overflow,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_cut_to_the_range() {
        assert_eq!(to_priority(f64::NEG_INFINITY), (1, false));
        assert_eq!(to_priority(-5.0), (1, false));
        assert_eq!(to_priority(0.999), (1, false));
        assert_eq!(to_priority(1.999), (1, false));
        assert_eq!(to_priority(1000.9999), (1000, false));
        assert_eq!(to_priority(4_294_967_295.0), (u32::MAX, false));
        assert_eq!(to_priority(4_294_967_295.9), (u32::MAX, false));
        assert_eq!(to_priority(4_294_967_296.0), (u32::MAX, true));
        assert_eq!(to_priority(1e30), (u32::MAX, true));
        assert_eq!(to_priority(f64::INFINITY), (u32::MAX, true));
        assert_eq!(to_priority(f64::NAN), (u32::MAX, true));
    }

    // 2^53 + 1 rounds to 2^53 if 1 is added first, and not if it is added last.
    #[test]
    fn the_two_orders_of_addition_differ() {
        let priced = Priced {
            age: 1.0,
            partition: 9_007_199_254_740_992.0,
            tres: 1.0,
            ..Priced::default()
        };
        assert_eq!(priced.sum(), 9_007_199_254_740_992.0);
        assert_eq!(priced.variant_sum(), 9_007_199_254_740_994.0);
    }
}
