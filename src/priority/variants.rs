//! Priorities of a job that requested several partitions or several QOS.
//!
//! Slurm keeps one priority per partition and QOS besides the job's own: partition by partition in
//! the order of the job's list, and within each partition QOS by QOS. A job that has only a list of
//! QOS counts as if it had requested a list with its one partition; a job that has only a list of
//! partitions has its one QOS.

use super::{Index, Job, Priced, Pricer, factors};

/// One combination of partition and QOS in which a job could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The partition.
    pub partition: Option<Index>,
    /// The entry of the job's QOS list; `None` without a list: the job's own QOS counts.
    pub qos: Option<Index>,
}

/// Number of variants of a job whose lists have this many partitions and QOS.
pub(crate) fn variant_count(partitions: usize, qos: usize) -> usize {
    match (partitions, qos) {
        (0, qos) => qos,
        (partitions, qos) => partitions * qos.max(1),
    }
}

impl<'a> Pricer<'a> {
    /// The variants of a job, at `partition_index * number of QOS + qos_index`; empty for a job
    /// without lists. Under `compat=slurm` of a release before 24.11, lists of QOS are ignored.
    pub fn variants(&self, job: &Job) -> impl ExactSizeIterator<Item = Variant> + use<'a> {
        let partitions = &self.tables.partition_lists[self.partition_range(job)];
        let qos = &self.tables.qos_lists[self.qos_range(job)];
        let alone = job.partition;
        let per_partition = qos.len().max(1);
        let count = variant_count(partitions.len(), qos.len());
        (0..count).map(move |index| Variant {
            partition: partitions.get(index / per_partition).copied().or(alone),
            qos: qos.get(index % per_partition).copied(),
        })
    }

    /// The price of one variant: `priced`, the job's own price, with the terms of partition, QOS
    /// and TRES recomputed. `INCR_ONLY` is applied by [`Pricer::price_variants`].
    ///
    /// A QOS of priority 0 adds nothing; under `compat=slurm` it inherits the term of the job's
    /// own QOS.
    #[inline]
    pub fn price_variant(&self, job: &Job, priced: &Priced, variant: Variant) -> Priced {
        let partition = self.partition(variant.partition);
        let mut result = *priced;
        result.partition =
            factors::partition(partition, !self.flags.no_normal_part) * self.weights.partition;
        result.tres = self.tres(job, variant.partition);
        if let Some(qos) = self.qos(variant.qos) {
            if qos.priority != 0 || !self.quirks.qos_of_0_inherits {
                result.qos = factors::qos(Some(qos), !self.flags.no_normal_qos) * self.weights.qos;
            }
        }
        result.set_priority(result.variant_sum());
        result
    }

    /// Writes the priorities of all variants into `out`, in the order of [`Pricer::variants`], and
    /// returns their number. `priced` is the result of [`Pricer::price`] or [`Pricer::price_set`]
    /// for this job.
    ///
    /// Under `INCR_ONLY` an element may only grow, so `out` must hold the numbers of the last pass
    /// on entry, or 0. Nothing is written for a held job or a job whose priority an administrator
    /// set: their numbers stay.
    ///
    /// # Panics
    /// If `out` is shorter than the number of variants.
    pub fn price_variants(&self, job: &Job, priced: &Priced, out: &mut [u32]) -> usize {
        let variants = self.variants(job);
        let count = variants.len();
        assert!(count <= out.len(), "one element per variant");
        if job.is_direct() || priced.priority == 0 {
            return count;
        }
        for (variant, element) in variants.zip(out) {
            let priority = self.price_variant(job, priced, variant).priority;
            if !self.flags.incr_only || *element < priority {
                *element = priority;
            }
        }
        count
    }

    fn partition_range(&self, job: &Job) -> std::ops::Range<usize> {
        if job.partitions.is_empty() {
            0..0
        } else {
            job.partitions.range()
        }
    }

    fn qos_range(&self, job: &Job) -> std::ops::Range<usize> {
        if job.qos_list.is_empty() || self.quirks.no_qos_lists {
            0..0
        } else {
            job.qos_list.range()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{NOW, config, job, job_in, tables};
    use super::super::{Qos, Span};
    use super::*;
    use crate::compat::{Compat, Release};
    use crate::config::{Config, PriorityFlags};

    const BOTH: Span = Span { start: 0, len: 2 };

    fn variants(config: &Config, job: &Job) -> Vec<u32> {
        let tables = tables();
        let pricer = Pricer::new(config, &tables, NOW).unwrap();
        let mut out = vec![0; 8];
        let count = pricer.price_variants(job, &pricer.price_set(job), &mut out);
        out.truncate(count);
        out
    }

    // The sample job without partition, QOS and TRES has priority 1000 (see `samples`). Partition 0
    // adds 2000 and 500 for TRES, partition 1 adds 1000 and 250; QOS 0 adds 4000, QOS 1 nothing.
    #[test]
    fn one_priority_per_partition_and_qos() {
        let config = config();
        assert!(variants(&config, &job()).is_empty());
        let partitions = Job {
            partitions: BOTH,
            ..job()
        };
        assert_eq!(variants(&config, &partitions), [7500, 6250]);
        let qos = Job {
            qos_list: BOTH,
            ..job()
        };
        assert_eq!(variants(&config, &qos), [7500, 3500]);
        let both = Job {
            partitions: BOTH,
            ..qos
        };
        assert_eq!(variants(&config, &both), [7500, 3500, 6250, 2250]);
        let nowhere = Job {
            partition: None,
            ..qos
        };
        assert_eq!(variants(&config, &nowhere), [5000, 1000]);
    }

    #[test]
    fn slurm_lets_a_qos_of_priority_0_inherit() {
        let slurm = |release| Config {
            compat: Compat::Slurm(release),
            ..config()
        };
        let both = Job {
            partitions: BOTH,
            qos_list: BOTH,
            ..job()
        };
        let new = variants(&slurm(Release::V24_11_5), &both);
        assert_eq!(new, [7500, 7500, 6250, 6250]);
        let old = variants(&slurm(Release::V22_05_8), &both);
        assert_eq!(old, [7500, 6250]);
        let qos_only = Job {
            qos_list: BOTH,
            ..job()
        };
        assert!(variants(&slurm(Release::V22_05_8), &qos_only).is_empty());
    }

    #[test]
    fn raw_priorities_without_normalisation() {
        let config = Config {
            priority_flags: PriorityFlags::parse("NO_NORMAL_PART,NO_NORMAL_QOS"),
            priority_weight_partition: 1,
            priority_weight_qos: 1,
            priority_weight_tres: Vec::new(),
            ..config()
        };
        let both = Job {
            partitions: BOTH,
            qos_list: BOTH,
            ..job()
        };
        // Partitions of 200 and 100, QOS of 40 and 0.
        assert_eq!(variants(&config, &both), [1240, 1200, 1140, 1100]);
    }

    #[test]
    fn elements_only_grow_under_incr_only() {
        let config = Config {
            priority_flags: PriorityFlags::parse("INCR_ONLY"),
            ..config()
        };
        let tables = tables();
        let pricer = Pricer::new(&config, &tables, NOW).unwrap();
        let job = Job {
            partitions: BOTH,
            ..job()
        };
        let mut out = [9000, 5];
        let count = pricer.price_variants(&job, &pricer.price(&job), &mut out);
        assert_eq!((count, out), (2, [9000, 6250]));
    }

    #[test]
    fn held_and_direct_jobs_keep_their_numbers() {
        let (config, tables) = (config(), tables());
        let pricer = Pricer::new(&config, &tables, NOW).unwrap();
        let direct = Job {
            direct: true,
            priority: 7,
            partitions: BOTH,
            ..job()
        };
        let held = Job {
            priority: 0,
            partitions: BOTH,
            ..job()
        };
        for job in [direct, held] {
            let mut out = [3, 4];
            assert_eq!(
                pricer.price_variants(&job, &pricer.price(&job), &mut out),
                2
            );
            assert_eq!(out, [3, 4]);
        }
        let mut out = [0, 0];
        pricer.price_variants(&held, &pricer.price_set(&held), &mut out);
        assert_eq!(out, [7500, 6250]);
    }

    #[test]
    fn a_variant_shows_its_terms() {
        let (config, mut tables) = (config(), tables());
        tables.qos[1] = Qos {
            priority: 20,
            norm_priority: 0.5,
        };
        let pricer = Pricer::new(&config, &tables, NOW).unwrap();
        let job = Job {
            partitions: BOTH,
            qos_list: BOTH,
            ..job_in(0)
        };
        let last = pricer.variants(&job).last().unwrap();
        let priced = pricer.price_variant(&job, &pricer.price(&job), last);
        assert_eq!(
            (priced.partition, priced.qos, priced.tres),
            (1000.0, 2000.0, 250.0)
        );
        assert_eq!(priced.priority, 4250);
    }
}
