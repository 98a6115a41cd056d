//! Prices many jobs at a time: one factor of all jobs in a block, then the next factor.
//!
//! The needed columns of the jobs' rows are copied first, so that all other loops run over plain
//! arrays of a constant length. The conditions of each factor are then evaluated once per block
//! instead of once per job, and the processor computes several jobs at once. Every number equals
//! that of [`Pricer::price`] to the last bit: the same operations in the same order.
//!
//! A host's rows have their own layout (C structures). The host passes a function that converts a
//! row to a [`Job`]. Because it is inlined here, each loop reads only the columns it needs, and no
//! [`Job`] is built.

use super::factors;
use super::priced::to_priority;
use super::{AssocFactors, Index, Job, Priced, Pricer};

/// Number of jobs in a block: their columns fit into the L1 cache.
pub(crate) const BLOCK: usize = 64;

/// When jobs are priced: in a pass, or when slurmctld asks for a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// As [`Pricer::price`].
    Pass,
    /// As [`Pricer::price_set`].
    #[cfg_attr(
        not(feature = "capi"),
        allow(dead_code, reason = "only the C ABI asks")
    )]
    Set,
}

/// The terms of a block's priorities, except TRES: as [`Priced`], by column.
#[cfg_attr(
    not(feature = "slurm"),
    allow(dead_code, reason = "only slurmctld's plugin takes them so")
)]
pub(crate) struct Terms<'a> {
    pub(crate) age: &'a Column<f64>,
    pub(crate) assoc: &'a Column<f64>,
    pub(crate) fairshare: &'a Column<f64>,
    pub(crate) job_size: &'a Column<f64>,
    pub(crate) partition: &'a Column<f64>,
    pub(crate) qos: &'a Column<f64>,
    pub(crate) site: &'a Column<i32>,
    pub(crate) nice: &'a Column<i32>,
}

/// A number per job of a block.
type Column<T> = [T; BLOCK];

/// A block of jobs, by column: data read from them, and their prices. Only the first places, one
/// per job, are valid; the others hold old data.
///
/// Call [`Block::read`] first, then what few queues need ([`Block::site_factors`],
/// [`Block::set_assoc`]), then [`Block::fill`].
pub(crate) struct Block {
    /// Fair-share factors of the jobs' associations.
    pub(crate) fs_factors: Column<f64>,
    /// As [`Job::site_factor`]; 0 at first.
    pub(crate) site_factors: Column<i32>,
    /// Position of the partition plus 1; 0 for none.
    pub(crate) partitions: Column<u32>,
    /// Position of the QOS plus 1; 0 for none.
    pub(crate) qos_slots: Column<u32>,
    assoc_factors: Column<f64>,
    accrue_times: Column<i64>,
    cpus: Column<u32>,
    nodes: Column<u32>,
    nice: Column<i32>,
    /// True if any job has a priority that may stay: [`Job::direct`], or held.
    has_special: bool,
    age: Column<f64>,
    assoc: Column<f64>,
    fairshare: Column<f64>,
    job_size: Column<f64>,
    partition: Column<f64>,
    qos: Column<f64>,
    tres: Column<f64>,
    priority: Column<u32>,
    when: When,
}

impl Default for Block {
    fn default() -> Block {
        Block {
            fs_factors: [0.0; BLOCK],
            site_factors: [0; BLOCK],
            partitions: [0; BLOCK],
            qos_slots: [0; BLOCK],
            assoc_factors: [0.0; BLOCK],
            accrue_times: [0; BLOCK],
            cpus: [0; BLOCK],
            nodes: [0; BLOCK],
            nice: [0; BLOCK],
            has_special: false,
            age: [0.0; BLOCK],
            assoc: [0.0; BLOCK],
            fairshare: [0.0; BLOCK],
            job_size: [0.0; BLOCK],
            partition: [0.0; BLOCK],
            qos: [0.0; BLOCK],
            tres: [0.0; BLOCK],
            priority: [0; BLOCK],
            when: When::Pass,
        }
    }
}

impl Block {
    /// Copies the columns that every job has. `assoc` is called once for each job, in order, with
    /// its number in the block, and returns the factors of its association. `job` converts a row;
    /// its association and site factor are ignored.
    #[inline(always)]
    pub(crate) fn read<R>(
        &mut self,
        pricer: &Pricer<'_>,
        rows: &[R],
        job: impl Fn(&R) -> Job,
        assoc: impl FnMut(usize, &R) -> AssocFactors,
    ) {
        // A constant length lets the loop run without bounds checks; the last block is shorter.
        match <&[R; BLOCK]>::try_from(rows) {
            Ok(rows) => self.read_rows(pricer, rows, job, assoc),
            Err(_) => self.read_rows(pricer, &rows[..rows.len().min(BLOCK)], job, assoc),
        }
    }

    #[inline(always)]
    fn read_rows<R>(
        &mut self,
        pricer: &Pricer<'_>,
        rows: &[R],
        job: impl Fn(&R) -> Job,
        mut assoc: impl FnMut(usize, &R) -> AssocFactors,
    ) {
        let (mut direct, mut least) = (false, u32::MAX);
        for (at, row) in rows.iter().enumerate() {
            let job = job(row);
            self.accrue_times[at] = job.accrue_time;
            self.cpus[at] = job.cpus;
            self.nodes[at] = job.nodes;
            self.partitions[at] = Index::slot(job.partition);
            self.qos_slots[at] = Index::slot(job.qos);
            self.nice[at] = job.nice;
            direct |= job.direct;
            least = least.min(job.priority);
            self.set_assoc(pricer, at, &assoc(at, row));
        }
        self.has_special = direct | (least == 0);
    }

    /// Sets the factors of the association of the job at `at`.
    #[inline(always)]
    pub(crate) fn set_assoc(&mut self, pricer: &Pricer<'_>, at: usize, assoc: &AssocFactors) {
        self.fs_factors[at] = assoc.fs_factor;
        self.assoc_factors[at] = factors::assoc(assoc, !pricer.flags.no_normal_assoc);
    }

    /// Prices the jobs that were read, `rows`; `job` as in [`Block::read`].
    #[inline(always)]
    pub(crate) fn fill<R>(
        &mut self,
        pricer: &Pricer<'_>,
        rows: &[R],
        job: impl Fn(&R) -> Job,
        when: When,
    ) {
        self.when = when;
        self.fill_terms(pricer, rows, &job);
        self.set_priority();
        let incr_only = when == When::Pass && pricer.flags.incr_only;
        if incr_only || self.has_special {
            self.keep(rows, job, incr_only);
        }
    }

    /// The priorities, one per row.
    #[cfg_attr(
        not(any(feature = "capi", feature = "slurm")),
        allow(dead_code, reason = "only hosts ask")
    )]
    #[inline(always)]
    pub(crate) fn priorities(&self) -> &[u32; BLOCK] {
        &self.priority
    }

    /// The terms by column, one per row. They have no meaning for a job that keeps its priority.
    #[cfg_attr(
        not(feature = "slurm"),
        allow(dead_code, reason = "only slurmctld's plugin takes them so")
    )]
    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms {
            age: &self.age,
            assoc: &self.assoc,
            fairshare: &self.fairshare,
            job_size: &self.job_size,
            partition: &self.partition,
            qos: &self.qos,
            site: &self.site_factors,
            nice: &self.nice,
        }
    }

    /// The price of the job `job` at `at`.
    #[inline(always)]
    pub(crate) fn priced(&self, at: usize, job: &Job) -> Priced {
        let priority = self.priority[at];
        if self.has_special && self.stays(job) {
            return Priced {
                priority,
                ..Priced::default()
            };
        }
        Priced {
            age: self.age[at],
            assoc: self.assoc[at],
            fairshare: self.fairshare[at],
            job_size: self.job_size[at],
            partition: self.partition[at],
            qos: self.qos[at],
            tres: self.tres[at],
            site: self.site_factors[at],
            nice: self.nice[at],
            priority,
            overflow: priority == u32::MAX && to_priority(self.sum(at)).1,
        }
    }

    #[inline(always)]
    fn fill_terms<R>(&mut self, pricer: &Pricer<'_>, rows: &[R], job: &impl Fn(&R) -> Job) {
        let weights = &pricer.weights;
        // A column with weight 0 is never written, and stays 0.
        if weights.age != 0.0 {
            self.fill_ages(pricer);
        }
        if weights.assoc != 0.0 {
            for at in 0..BLOCK {
                self.assoc[at] = self.assoc_factors[at] * weights.assoc;
            }
        }
        if weights.fairshare != 0.0 {
            for at in 0..BLOCK {
                self.fairshare[at] = self.fs_factors[at] * weights.fairshare;
            }
        }
        if weights.job_size != 0.0 {
            self.fill_sizes(pricer, rows, job);
        }
        let (partition_terms, qos_terms) = (&pricer.partition_terms[..], &pricer.qos_terms[..]);
        for at in 0..BLOCK {
            self.partition[at] = partition_terms[self.partitions[at] as usize];
            self.qos[at] = qos_terms[self.qos_slots[at] as usize];
        }
        if pricer.weighs_tres() {
            for (at, row) in rows.iter().enumerate() {
                let start = job(row).tres.map(Index::get);
                self.tres[at] = pricer.tres_at(start, self.partitions[at] as usize);
            }
        }
    }

    #[inline(always)]
    fn fill_ages(&mut self, pricer: &Pricer<'_>) {
        let (age, weight) = (&pricer.age, pricer.weights.age);
        let columns = self.age.iter_mut().zip(&self.accrue_times);
        if age.wraps() {
            columns.for_each(|(term, time)| *term = age.factor(*time) * weight);
        } else {
            columns.for_each(|(term, time)| *term = age.plain(*time) * weight);
        }
    }

    #[inline(always)]
    fn fill_sizes<R>(&mut self, pricer: &Pricer<'_>, rows: &[R], job: &impl Fn(&R) -> Job) {
        let (size, weight) = (&pricer.size, pricer.weights.job_size);
        if size.is_plain() {
            for at in 0..BLOCK {
                self.job_size[at] = size.plain(self.nodes[at], self.cpus[at]) * weight;
            }
            return;
        }
        for (at, row) in rows.iter().enumerate() {
            let max_time_mins = || pricer.max_time_mins(self.partitions[at] as usize);
            let job = job(row);
            let factor = size.factor(job.nodes, job.cpus, job.time_limit, max_time_mins);
            self.job_size[at] = factor * weight;
        }
    }

    #[inline(always)]
    fn set_priority(&mut self) {
        for at in 0..BLOCK {
            self.priority[at] = to_priority(self.sum(at)).0;
        }
    }

    /// In Slurm's order of additions, as [`Priced::sum`].
    #[inline(always)]
    fn sum(&self, at: usize) -> f64 {
        self.age[at]
            + self.assoc[at]
            + self.fairshare[at]
            + self.job_size[at]
            + self.partition[at]
            + self.qos[at]
            + self.tres[at]
            + f64::from(self.site_factors[at])
            - f64::from(self.nice[at])
    }

    /// Restores priorities that stay, and those that may only grow.
    #[cold]
    fn keep<R>(&mut self, rows: &[R], job: impl Fn(&R) -> Job, incr_only: bool) {
        for (at, row) in rows.iter().enumerate() {
            let job = job(row);
            let grows = !incr_only || self.priority[at] >= job.priority;
            if self.stays(&job) || !grows {
                self.priority[at] = job.priority;
            }
        }
    }

    /// Returns true if a job keeps its priority, so that its terms are 0: if an administrator set
    /// it, and in a pass if the job is held.
    #[inline(always)]
    fn stays(&self, job: &Job) -> bool {
        match job.priority {
            0 => self.when == When::Pass,
            _ => job.direct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{NOW, config, job, tables};
    use super::super::{JobTables, TimeLimit};
    use super::*;
    use crate::compat::{Compat, Release};
    use crate::config::{Config, PriorityFlags};
    use crate::tree::AssocIndex;

    /// Jobs of all kinds, more than one block and not a multiple of a block.
    fn jobs(tables: &JobTables) -> Vec<Job> {
        let some = |number: usize, len: usize| (number % (len + 1)).checked_sub(1);
        (0..3 * BLOCK + 7)
            .map(|number| Job {
                assoc: some(number, tables.assocs.len()).map(AssocIndex::new),
                partition: some(number / 2, tables.partitions.len()).map(Index::new),
                qos: some(number / 3, tables.qos.len()).map(Index::new),
                accrue_time: [0, NOW - 17 * number as i64, NOW + 5, i64::MIN][number % 4],
                cpus: 7 * number as u32 % 50,
                nodes: number as u32 % 9,
                time_limit: match number % 5 {
                    0 => TimeLimit::Unset,
                    1 => TimeLimit::Unlimited,
                    _ => TimeLimit::Minutes(number as u32),
                },
                nice: [0, 3, i32::MIN, i32::MAX][number / 7 % 4],
                site_factor: [0, -9, i32::MAX][number / 5 % 3],
                tres: (number % 3 > 0).then_some(job().tres).flatten(),
                priority: [0, 1, 5_000, u32::MAX][number / 3 % 4],
                direct: number % 11 == 0,
                ..Job::new(number as u32)
            })
            .collect()
    }

    fn configs() -> Vec<Config> {
        let flags = ["", "INCR_ONLY", "SMALL_RELATIVE_TO_TIME", "NO_NORMAL_ALL"];
        let mut all: Vec<Config> = flags
            .map(|flags| Config {
                priority_flags: PriorityFlags::parse(flags),
                ..config()
            })
            .into();
        all.push(Config {
            priority_favor_small: true,
            compat: Compat::Slurm(Release::V22_05_8),
            ..config()
        });
        all.push(Config {
            priority_weight_age: 0,
            priority_weight_fairshare: u32::MAX,
            priority_weight_job_size: 0,
            priority_weight_tres: vec![],
            ..config()
        });
        all
    }

    #[test]
    fn a_block_is_priced_as_its_jobs_are_one_by_one() {
        let tables = tables();
        let jobs = jobs(&tables);
        for config in configs() {
            let pricer = Pricer::new(&config, &tables, NOW).unwrap();
            let mut out = vec![Priced::default(); jobs.len()];
            pricer.price_all(&jobs, &mut out);
            for (job, priced) in jobs.iter().zip(&out) {
                let alone = pricer.price(job);
                assert_eq!(format!("{priced:?}"), format!("{alone:?}"), "{job:?}");
            }
            let mut block = Block::default();
            for jobs in jobs.chunks(BLOCK) {
                block.read(
                    &pricer,
                    jobs,
                    |job| *job,
                    |_, job| {
                        let assoc = job.assoc.map(|assoc| tables.assocs[assoc.get()]);
                        assoc.unwrap_or_default()
                    },
                );
                for (at, job) in jobs.iter().enumerate() {
                    block.site_factors[at] = job.site_factor;
                }
                block.fill(&pricer, jobs, |job| *job, When::Set);
                for (at, job) in jobs.iter().enumerate() {
                    let (priced, alone) = (block.priced(at, job), pricer.price_set(job));
                    assert_eq!(format!("{priced:?}"), format!("{alone:?}"), "{job:?}");
                    assert_eq!(block.priorities()[at], alone.priority);
                }
            }
        }
    }
}
