//! The job size factor, in its three modes.
//!
//! With n nodes and c CPUs of the job, N nodes and C CPUs of the cluster, t minutes of time limit:
//!
//! | setting | factor |
//! |---|---|
//! | default | (n/N + c/C) / 2, or n/N where c is 0 |
//! | `PriorityFavorSmall=YES` | ((N-n)/N + (C-c)/C) / 2, or (N-n)/N where c is 0 |
//! | `SMALL_RELATIVE_TO_TIME` | max(n C/N, c) / t / C |
//! | both | 1 - max(n C/N, c) / t / C |
//!
//! clamped to 0..=1. t is the job's limit, or the partition's `MaxTime` if the job has none, or 1
//! without a partition; unlimited counts as 4294967295 minutes, as in Slurm. Under
//! `compat=documented`, differences are at least 0; a cluster without nodes or CPUs gives 0, and so
//! does a job without size. Source: Slurm's priority_multifactor.html, "Job Size Factor"; its
//! sentence "the single node job will receive the 1.0 job size factor" is true for large clusters
//! only.

use super::TimeLimit;
use super::quirks::Quirks;
use crate::config::Config;

/// The size factor of one pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    relative_to_time: bool,
    favor_small: bool,
    quirks: Quirks,
    nodes: u32,
    cpus: u32,
}

impl Size {
    pub(super) fn new(config: &Config, nodes: u32, cpus: u32) -> Size {
        Size {
            relative_to_time: config.priority_flags.small_relative_to_time,
            favor_small: config.priority_favor_small,
            quirks: Quirks::of(config.compat),
            nodes,
            cpus,
        }
    }

    /// The factor of a job, 0..=1. `max_time_mins` returns the limit of its partition, and is
    /// called only if needed: `None` without a partition, `Some(None)` without a limit.
    ///
    /// The result is NaN only under `compat=slurm`, for a job or cluster of size 0.
    #[inline]
    pub(super) fn factor(
        &self,
        nodes: u32,
        cpus: u32,
        limit: TimeLimit,
        max_time_mins: impl Fn() -> Option<Option<u32>>,
    ) -> f64 {
        if (self.nodes == 0 || self.cpus == 0) && !self.quirks.sizes_empty_cluster {
            return 0.0;
        }
        let factor = if self.relative_to_time {
            self.per_minute(nodes, cpus, minutes(limit, max_time_mins()))
        } else if self.favor_small {
            self.small(nodes, cpus)
        } else {
            self.plain(nodes, cpus)
        };
        factor.clamp(0.0, 1.0)
    }

    fn plain(&self, nodes: u32, cpus: u32) -> f64 {
        average(
            f64::from(nodes) / f64::from(self.nodes),
            f64::from(cpus) / f64::from(self.cpus),
            cpus,
        )
    }

    fn per_minute(&self, nodes: u32, cpus: u32, minutes: u32) -> f64 {
        let on_nodes = f64::from(nodes) * f64::from(self.cpus) / f64::from(self.nodes);
        let asked = f64::from(cpus);
        // Written as a comparison so that NaN is kept; f64::max would drop it.
        let cpus = if asked > on_nodes { asked } else { on_nodes };
        let share = if cpus == 0.0 && !self.quirks.divides_by_zero {
            0.0
        } else {
            cpus / f64::from(minutes) / f64::from(self.cpus)
        };
        if self.favor_small { 1.0 - share } else { share }
    }

    fn small(&self, nodes: u32, cpus: u32) -> f64 {
        let left = |all: u32, used: u32, wraps: bool| {
            let left = if wraps {
                all.wrapping_sub(used)
            } else {
                all.saturating_sub(used)
            };
            f64::from(left) / f64::from(all)
        };
        average(
            left(self.nodes, nodes, self.quirks.nodes_wrap),
            left(self.cpus, cpus, self.quirks.cpus_wrap),
            cpus,
        )
    }
}

/// Average of the two; nodes alone if the job's CPUs are unknown.
#[inline(always)]
fn average(of_nodes: f64, of_cpus: f64, cpus: u32) -> f64 {
    if cpus == 0 {
        of_nodes
    } else {
        (of_nodes + of_cpus) / 2.0
    }
}

fn minutes(limit: TimeLimit, max_time_mins: Option<Option<u32>>) -> u32 {
    match (limit, max_time_mins) {
        (TimeLimit::Minutes(minutes), _) => minutes,
        (TimeLimit::Unlimited, _) => u32::MAX,
        (TimeLimit::Unset, Some(max_time)) => max_time.unwrap_or(u32::MAX),
        (TimeLimit::Unset, None) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Job, samples::job};
    use super::*;
    use crate::compat::{Compat, Release};
    use crate::config::PriorityFlags;

    const SLURM_22: Compat = Compat::Slurm(Release::V22_05_8);
    const SLURM_23: Compat = Compat::Slurm(Release::new(23, 2, 0));
    const SLURM_24: Compat = Compat::Slurm(Release::V24_11_5);

    impl Size {
        fn of(&self, job: &Job, max_time_mins: impl Fn() -> Option<Option<u32>>) -> f64 {
            self.factor(job.nodes, job.cpus, job.time_limit, max_time_mins)
        }
    }

    /// Ten nodes with 160 CPUs.
    fn size(relative: bool, small: bool, compat: Compat) -> Size {
        let config = Config {
            priority_flags: PriorityFlags {
                small_relative_to_time: relative,
                ..PriorityFlags::default()
            },
            priority_favor_small: small,
            compat,
            ..Config::default()
        };
        Size::new(&config, 10, 160)
    }

    fn of(nodes: u32, cpus: u32, minutes: u32) -> Job {
        Job {
            nodes,
            cpus,
            time_limit: TimeLimit::Minutes(minutes),
            ..job()
        }
    }

    // Computed by hand from the table above.
    #[test]
    fn large_and_small() {
        for compat in [Compat::Documented, SLURM_22, SLURM_24] {
            let large = size(false, false, compat);
            let small = size(false, true, compat);
            for (nodes, cpus, of_large, of_small) in [
                (10, 160, 1.0, 0.0),
                (1, 16, 0.1, 0.9),
                (5, 160, 0.75, 0.25),
                (5, 0, 0.5, 0.5),
                (1, 0, 0.1, 0.9),
                (0, 40, 0.125, 0.875),
            ] {
                let job = of(nodes, cpus, 60);
                assert_eq!(large.of(&job, || None), of_large);
                assert_eq!(small.of(&job, || None), of_small);
            }
            assert_eq!(large.of(&of(20, 320, 60), || None), 1.0);
        }
    }

    // "A full-system job with a time limit of one will receive a job size factor of 1.0."
    #[test]
    fn relative_to_time() {
        for compat in [Compat::Documented, SLURM_22, SLURM_24] {
            let long = size(true, false, compat);
            let short = size(true, true, compat);
            for (nodes, cpus, minutes, factor) in [
                (10, 160, 1, 1.0),
                (10, 160, 4, 0.25),
                (1, 16, 10, 0.01),
                (1, 80, 10, 0.05),
                (5, 1, 2, 0.25),
                (1, 1, 0, 1.0),
            ] {
                let job = of(nodes, cpus, minutes);
                assert_eq!(long.of(&job, || None), factor);
                assert_eq!(short.of(&job, || None), 1.0 - factor);
            }
        }
    }

    #[test]
    fn the_time_limit_falls_back_to_the_partitions() {
        let long = size(true, false, Compat::Documented);
        let unset = Job {
            time_limit: TimeLimit::Unset,
            ..of(10, 160, 0)
        };
        assert_eq!(long.of(&unset, || Some(Some(8))), 0.125);
        assert_eq!(long.of(&unset, || Some(None)), 1.0 / 4_294_967_295.0);
        assert_eq!(long.of(&unset, || None), 1.0);
        let unlimited = Job {
            time_limit: TimeLimit::Unlimited,
            ..unset
        };
        assert_eq!(long.of(&unlimited, || Some(Some(8))), 1.0 / 4_294_967_295.0);
    }

    // Slurm treats a job larger than the cluster (nodes may be down or removed) as the smallest.
    #[test]
    fn a_job_larger_than_the_cluster() {
        let big = of(11, 161, 60);
        assert_eq!(size(false, true, Compat::Documented).of(&big, || None), 0.0);
        assert_eq!(size(false, true, SLURM_24).of(&big, || None), 1.0);
        assert_eq!(size(false, true, SLURM_22).of(&big, || None), 1.0);
        let nodes_only = of(11, 0, 60);
        for (compat, factor) in [(SLURM_22, 1.0), (SLURM_23, 0.0), (SLURM_24, 0.0)] {
            let found = size(false, true, compat).of(&nodes_only, || None);
            assert_eq!(found, factor);
        }
    }

    #[test]
    fn an_empty_cluster_gives_0_except_in_old_slurm() {
        let job = of(0, 0, 60);
        for (relative, small) in [(false, false), (false, true), (true, false), (true, true)] {
            for compat in [Compat::Documented, SLURM_23, SLURM_24] {
                let mut size = size(relative, small, compat);
                (size.nodes, size.cpus) = (0, 160);
                assert_eq!(size.of(&job, || None), 0.0);
                (size.nodes, size.cpus) = (10, 0);
                assert_eq!(size.of(&job, || None), 0.0);
            }
            let mut old = size(relative, small, SLURM_22);
            (old.nodes, old.cpus) = (0, 0);
            assert!(old.of(&job, || None).is_nan());
        }
    }

    #[test]
    fn a_job_without_size_or_time_has_no_nan_in_documented() {
        let none = of(0, 0, 0);
        assert_eq!(
            size(true, false, Compat::Documented).of(&none, || None),
            0.0
        );
        assert!(size(true, false, SLURM_24).of(&none, || None).is_nan());
    }
}
