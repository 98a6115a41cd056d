//! Pricing: prepares once what all jobs of a pass share, then prices one job after the other.

use super::factors::{self, Age};
use super::quirks::Quirks;
use super::size::Size;
use super::term::Weights;
use super::tres::TresWeights;
use super::{AssocFactors, Factors, Index, Job, JobTables, Partition, Priced, PriorityError, Qos};
use crate::config::{Config, PriorityFlags};

/// Prices the jobs of one pass: settings, tables and time, checked and ready.
///
/// Pricing a job allocates nothing and cannot fail, and no job's price depends on another's, so
/// parts of a queue may be priced in several threads. Jobs must point into the tables that the
/// pricer was made with ([`JobTables::check_job`] checks this); otherwise pricing panics.
///
/// ```
/// use fairtree::config::Config;
/// use fairtree::priority::{Job, Pricer, JobTables};
///
/// let config = Config::builder()
///     .priority_weight_age(1000)
///     .priority_max_age_secs(3600)
///     .build()
///     .unwrap();
/// let job = Job { accrue_time: 500, ..Job::new(1) };
/// let tables = JobTables::default();
/// let pricer = Pricer::new(&config, &tables, 500 + 900).unwrap();
/// let priced = pricer.price(&job);
/// assert_eq!((priced.age, priced.priority), (250.0, 250));
/// ```
#[derive(Clone, Debug)]
pub struct Pricer<'a> {
    pub(super) tables: &'a JobTables,
    pub(super) weights: Weights,
    pub(super) flags: PriorityFlags,
    pub(super) quirks: Quirks,
    pub(super) age: Age,
    pub(super) size: Size,
    tres: TresWeights,
    /// [`TresWeights::divisors`] without a partition, of the first partition, and so on.
    divisors: Vec<f64>,
    /// Weighted terms without a partition, of the first partition, and so on.
    pub(super) partition_terms: Vec<f64>,
    /// The same for QOS.
    pub(super) qos_terms: Vec<f64>,
    /// The table into which [`Job::tres`] points.
    job_counts: &'a [u64],
}

impl<'a> Pricer<'a> {
    /// Prepares a pass at `now`, seconds since 1970.
    ///
    /// # Errors
    /// [`PriorityError::UnknownTres`] for a name in `PriorityWeightTRES` that is missing from the
    /// tables, and the errors of [`JobTables::check`].
    pub fn new(
        config: &Config,
        tables: &'a JobTables,
        now: i64,
    ) -> Result<Pricer<'a>, PriorityError> {
        tables.check()?;
        Pricer::of_checked(config, tables, now)
    }

    /// The same for tables that [`JobTables::check`] has accepted.
    pub(crate) fn of_checked(
        config: &Config,
        tables: &'a JobTables,
        now: i64,
    ) -> Result<Pricer<'a>, PriorityError> {
        let mut pricer = Pricer {
            tables,
            weights: Weights::of(config),
            flags: config.priority_flags,
            quirks: Quirks::of(config.compat),
            age: Age::new(
                now,
                config.priority_max_age_secs,
                Quirks::of(config.compat).age_wraps,
            ),
            size: Size::new(config, tables.cluster_nodes, tables.cluster_cpus),
            tres: TresWeights::new(config, &tables.tres_names)?,
            divisors: Vec::new(),
            partition_terms: Vec::new(),
            qos_terms: Vec::new(),
            job_counts: &tables.tres_counts,
        };
        pricer.fill_tables();
        Ok(pricer)
    }

    /// Lets [`Job::tres`] point into `counts` instead of [`JobTables::tres_counts`], for callers
    /// that have the counts of many jobs and need not copy them.
    pub fn with_job_counts(self, counts: &'a [u64]) -> Pricer<'a> {
        Pricer {
            job_counts: counts,
            ..self
        }
    }

    /// Computes the terms that all jobs in one partition or QOS share.
    fn fill_tables(&mut self) {
        let tables = self.tables;
        let partitions = || std::iter::once(None).chain(tables.partitions.iter().map(Some));
        let qos = || std::iter::once(None).chain(tables.qos.iter().map(Some));
        self.partition_terms = partitions()
            .map(|partition| self.partition_factor(partition) * self.weights.partition)
            .collect();
        self.qos_terms = qos()
            .map(|qos| self.qos_factor(qos) * self.weights.qos)
            .collect();
        self.divisors = partitions()
            .flat_map(|partition| {
                let start = partition.and_then(|partition| partition.tres);
                let start = start.map(Index::get);
                self.tres.divisors(self.run(&tables.tres_counts, start))
            })
            .collect();
    }

    /// The price of a job in a pass.
    ///
    /// - A held job (priority 0) stays held: everything is 0.
    /// - A priority that an administrator set stays; all terms are 0, as sprio shows them.
    /// - Under `INCR_ONLY` the priority is the larger of the job's and the new one; the terms are
    ///   the new ones.
    pub fn price(&self, job: &Job) -> Priced {
        self.price_with(job, &self.assoc(job))
    }

    /// [`Pricer::price`] with given factors of the job's association, which is not looked up.
    pub fn price_with(&self, job: &Job, assoc: &AssocFactors) -> Priced {
        if job.priority == 0 {
            return Priced::default();
        }
        let mut priced = self.price_set_with(job, assoc);
        if self.flags.incr_only && priced.priority < job.priority {
            priced.priority = job.priority;
            priced.overflow = false;
        }
        priced
    }

    /// The price of a job outside a pass, when slurmctld asks for it (`priority_p_set`: job
    /// submitted, updated or released). A held job gets a price, and is thereby released.
    /// `INCR_ONLY` is ignored. A priority other than 0 that an administrator set stays here too.
    pub fn price_set(&self, job: &Job) -> Priced {
        self.price_set_with(job, &self.assoc(job))
    }

    /// [`Pricer::price_set`] with given factors of the job's association, which is not looked up.
    pub fn price_set_with(&self, job: &Job, assoc: &AssocFactors) -> Priced {
        if job.is_direct() {
            return Priced {
                priority: job.priority,
                ..Priced::default()
            };
        }
        let factors = self.own_factors(job, assoc);
        let mut priced = Priced {
            age: factors.age * self.weights.age,
            assoc: factors.assoc * self.weights.assoc,
            fairshare: factors.fairshare * self.weights.fairshare,
            job_size: factors.job_size * self.weights.job_size,
            partition: self.partition_terms[slot(job.partition)],
            qos: self.qos_terms[slot(job.qos)],
            tres: self.tres(job, job.partition),
            site: job.site_factor,
            nice: job.nice,
            ..Priced::default()
        };
        priced.set_priority(priced.sum());
        priced
    }

    /// The prices of many jobs, as [`Pricer::price`]; `out` is one per job.
    ///
    /// # Panics
    /// If `out` and `jobs` differ in length.
    pub fn price_all(&self, jobs: &[Job], out: &mut [Priced]) {
        assert_eq!(jobs.len(), out.len(), "one price per job");
        for (job, priced) in jobs.iter().zip(out) {
            *priced = self.price(job);
        }
    }

    /// The factors of a job, not yet weighted.
    #[inline]
    pub fn factors(&self, job: &Job) -> Factors {
        Factors {
            partition: self.partition_factor(self.partition(job.partition)),
            qos: self.qos_factor(self.qos(job.qos)),
            ..self.own_factors(job, &self.assoc(job))
        }
    }

    /// The factors that differ between jobs in the same partition or QOS.
    #[inline(always)]
    fn own_factors(&self, job: &Job, assoc: &AssocFactors) -> Factors {
        let (weights, flags) = (&self.weights, &self.flags);
        let mut factors = Factors::default();
        if weights.age != 0.0 {
            factors.age = self.age.factor(job.accrue_time);
        }
        if weights.assoc != 0.0 {
            factors.assoc = factors::assoc(assoc, !flags.no_normal_assoc);
        }
        if weights.fairshare != 0.0 {
            factors.fairshare = assoc.fs_factor;
        }
        if weights.job_size != 0.0 {
            let max_time_mins = || self.max_time_mins(slot(job.partition));
            let limit = job.time_limit;
            factors.job_size = self.size.factor(job.nodes, job.cpus, limit, max_time_mins);
        }
        factors
    }

    fn partition_factor(&self, partition: Option<&Partition>) -> f64 {
        // For a partition without a factor, Slurm ignores the normalised one too.
        if self.weights.partition != 0.0 && partition.is_some_and(|p| p.priority_job_factor != 0) {
            factors::partition(partition, !self.flags.no_normal_part)
        } else {
            0.0
        }
    }

    fn qos_factor(&self, qos: Option<&Qos>) -> f64 {
        if self.weights.qos != 0.0 {
            factors::qos(qos, !self.flags.no_normal_qos)
        } else {
            0.0
        }
    }

    /// The weighted TRES factors of a job in its partition, one per TRES of the site; their sum is
    /// [`Priced::tres`]. All 0 if [`Job::direct`] keeps the priority.
    ///
    /// # Panics
    /// If the length of `out` differs from that of [`JobTables::tres_names`].
    pub fn tres_terms(&self, job: &Job, out: &mut [f64]) {
        assert_eq!(out.len(), self.tables.tres_names.len(), "one term per TRES");
        if job.is_direct() {
            out.fill(0.0);
            return;
        }
        let counts = self.run(self.job_counts, job.tres.map(Index::get));
        self.tres
            .fill(counts, self.divisors(slot(job.partition)), out);
    }

    /// The weights of `PriorityWeightTRES`, one per TRES of the site; 0 without a weight.
    ///
    /// # Panics
    /// If the length of `out` differs from that of [`JobTables::tres_names`].
    pub fn tres_weights(&self, out: &mut [f64]) {
        assert_eq!(
            out.len(),
            self.tables.tres_names.len(),
            "one weight per TRES"
        );
        self.tres.weights(out);
    }

    /// Sum of the weighted TRES factors of a job in a partition.
    #[inline]
    pub(super) fn tres(&self, job: &Job, partition: Option<Index>) -> f64 {
        if !self.weighs_tres() {
            return 0.0;
        }
        self.tres_at(job.tres.map(Index::get), slot(partition))
    }

    /// Returns true if any TRES has a weight.
    #[inline]
    pub(super) fn weighs_tres(&self) -> bool {
        self.tres.len() > 0
    }

    /// [`Pricer::tres`] with counts that start at `start`.
    #[inline]
    pub(super) fn tres_at(&self, start: Option<usize>, partition_slot: usize) -> f64 {
        let counts = self.run(self.job_counts, start);
        self.tres.sum(counts, self.divisors(partition_slot))
    }

    #[inline]
    fn divisors(&self, partition_slot: usize) -> &[f64] {
        let weights = self.tres.len();
        let start = partition_slot * weights;
        &self.divisors[start..start + weights]
    }

    /// `MaxTime` of a partition: `None` without a partition, `Some(None)` without a limit.
    pub(super) fn max_time_mins(&self, partition_slot: usize) -> Option<Option<u32>> {
        let partition = self.tables.partitions.get(partition_slot.checked_sub(1)?)?;
        Some(partition.max_time_mins)
    }

    #[inline]
    fn run<'c>(&self, counts: &'c [u64], start: Option<usize>) -> Option<&'c [u64]> {
        let start = start?;
        Some(&counts[start..start + self.tables.tres_names.len()])
    }

    /// Returns true if a weight uses factors of associations.
    pub(crate) fn asks_assocs(&self) -> bool {
        self.weights.assoc != 0.0 || self.weights.fairshare != 0.0
    }

    /// The row of a job's association; all 0 without one, and if no weight uses it.
    #[inline]
    fn assoc(&self, job: &Job) -> AssocFactors {
        let counts = self.asks_assocs();
        match job.assoc {
            Some(assoc) if counts => self.tables.assocs[assoc.get()],
            _ => AssocFactors::default(),
        }
    }

    #[inline]
    pub(super) fn partition(&self, index: Option<Index>) -> Option<&'a Partition> {
        index.map(|index| &self.tables.partitions[index.get()])
    }

    #[inline]
    pub(super) fn qos(&self, index: Option<Index>) -> Option<&'a Qos> {
        index.map(|index| &self.tables.qos[index.get()])
    }
}

/// Position in a table whose first entry is for jobs without a partition or QOS.
#[inline]
fn slot(index: Option<Index>) -> usize {
    index.map_or(0, |index| index.get() + 1)
}

/// Prices one job at `now` (seconds since 1970), as [`Pricer::price`] does. For more jobs, make the
/// [`Pricer`] once.
///
/// # Errors
/// Those of [`Pricer::new`] and of [`JobTables::check_job`].
pub fn price(
    config: &Config,
    tables: &JobTables,
    job: &Job,
    now: i64,
) -> Result<Priced, PriorityError> {
    let pricer = Pricer::new(config, tables, now)?;
    tables.check_job(job)?;
    Ok(pricer.price(job))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{NOW, config, job, tables};
    use super::*;

    fn priced(config: &Config, job: &Job) -> Priced {
        price(config, &tables(), job, NOW).unwrap()
    }

    #[test]
    fn the_sum_of_all_terms() {
        let nice = Job {
            nice: 30,
            site_factor: 5,
            ..job()
        };
        let expected = Priced {
            age: 100.0,
            assoc: 200.0,
            fairshare: 300.0,
            job_size: 400.0,
            partition: 2000.0,
            qos: 4000.0,
            tres: 500.0,
            site: 5,
            nice: 30,
            priority: 7475,
            overflow: false,
        };
        assert_eq!(priced(&config(), &nice), expected);
    }

    #[test]
    fn held_direct_and_set() {
        let (config, tables) = (config(), tables());
        let pricer = Pricer::new(&config, &tables, NOW).unwrap();
        let held = Job {
            priority: 0,
            ..job()
        };
        assert_eq!(pricer.price(&held), Priced::default());
        assert_eq!(pricer.price_set(&held).priority, 7500);
        let direct = Job {
            priority: 77,
            direct: true,
            ..job()
        };
        let kept = Priced {
            priority: 77,
            ..Priced::default()
        };
        assert_eq!(pricer.price(&direct), kept);
        assert_eq!(pricer.price_set(&direct), kept);
        let released = Job {
            priority: 0,
            ..direct
        };
        assert_eq!(pricer.price_set(&released).priority, 7500);
    }

    #[test]
    fn incr_only_keeps_the_larger() {
        let config = Config {
            priority_flags: PriorityFlags::parse("INCR_ONLY"),
            ..config()
        };
        for (now, then) in [(7499, 7500), (7500, 7500), (9000, 9000)] {
            let job = Job {
                priority: now,
                ..job()
            };
            assert_eq!(priced(&config, &job).priority, then);
            let tables = tables();
            let pricer = Pricer::new(&config, &tables, NOW).unwrap();
            assert_eq!(pricer.price_set(&job).priority, 7500);
        }
    }

    #[test]
    fn tres_terms_add_up() {
        let (config, tables) = (config(), tables());
        let pricer = Pricer::new(&config, &tables, NOW).unwrap();
        let mut out = [9.0; 2];
        pricer.tres_terms(&job(), &mut out);
        assert_eq!(out, [500.0, 0.0]);
        let direct = Job {
            direct: true,
            ..job()
        };
        pricer.tres_terms(&direct, &mut out);
        assert_eq!(out, [0.0, 0.0]);
    }

    #[test]
    fn a_queue_is_priced_job_by_job() {
        let (config, tables) = (config(), tables());
        let pricer = Pricer::new(&config, &tables, NOW).unwrap();
        let jobs = [job(), Job::new(2)];
        let mut out = [Priced::default(); 2];
        pricer.price_all(&jobs, &mut out);
        assert_eq!(out.map(|priced| priced.priority), [7500, 1]);
        pricer.price_all(&[], &mut []);
        // More jobs than one block, and not a multiple of it.
        let jobs: Vec<Job> = (0..150)
            .map(|id| Job {
                accrue_time: NOW - i64::from(id),
                assoc: job().assoc.filter(|_| id % 3 > 0),
                priority: u32::from(id % 7 > 0),
                ..Job::new(id)
            })
            .collect();
        let mut out = vec![Priced::default(); jobs.len()];
        pricer.price_all(&jobs, &mut out);
        for (job, priced) in jobs.iter().zip(&out) {
            assert_eq!(pricer.price(job), *priced);
        }
    }

    #[test]
    fn bad_settings_and_rows_are_errors() {
        let unknown = Config {
            priority_weight_tres: vec![("gpu".into(), 1.0)],
            ..config()
        };
        let error = price(&unknown, &tables(), &job(), NOW).unwrap_err();
        assert!(matches!(error, PriorityError::UnknownTres { .. }));
        let lost = Job {
            qos: Some(Index::new(2)),
            ..job()
        };
        let error = price(&config(), &tables(), &lost, NOW).unwrap_err();
        assert!(matches!(
            error,
            PriorityError::OutOfRange { field: "qos", .. }
        ));
    }
}
