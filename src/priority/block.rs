//! Many jobs at a time: one factor of all jobs in a block, then the next.
//!
//! What a factor depends on is then decided once per block rather than once per job, and the
//! processor divides for several jobs at once. Every number is that of [`Pricer::price`], to the
//! last bit: the same operations in the same order.

use super::factors;
use super::priced::settled;
use super::{AssocFactors, Job, Priced, Pricer, TimeLimit};

/// So many jobs are a block: their columns fit into the innermost cache.
pub(crate) const BLOCK: usize = 64;

/// How often [`Block::fill`] lets its caller do something else in between.
#[cfg_attr(
    not(feature = "capi"),
    allow(dead_code, reason = "only the C ABI asks")
)]
pub(crate) const BREAKS: usize = 5;

/// A job of which only those columns are read that count; its association's factors and its site
/// factor come beside it ([`Block::assocs`], [`Block::site_factors`]).
pub(crate) trait Row {
    /// As [`Job::accrue_time`].
    fn accrue_time(&self) -> i64;
    /// As [`Job::cpus`].
    fn cpus(&self) -> u32;
    /// As [`Job::nodes`].
    fn nodes(&self) -> u32;
    /// As [`Job::time_limit`].
    fn time_limit(&self) -> TimeLimit;
    /// Position of its partition plus 1; 0 for none.
    fn partition_slot(&self) -> usize;
    /// Position of its QOS plus 1; 0 for none.
    fn qos_slot(&self) -> usize;
    /// Where its TRES counts start (see [`Job::tres`]), of `len` numbers each.
    fn tres(&self, len: usize) -> Option<usize>;
    /// As [`Job::nice`].
    fn nice(&self) -> i32;
    /// As [`Job::priority`].
    fn priority(&self) -> u32;
    /// As [`Job::direct`].
    fn direct(&self) -> bool;
}

impl Row for Job {
    #[inline(always)]
    fn accrue_time(&self) -> i64 {
        self.accrue_time
    }
    #[inline(always)]
    fn cpus(&self) -> u32 {
        self.cpus
    }
    #[inline(always)]
    fn nodes(&self) -> u32 {
        self.nodes
    }
    #[inline(always)]
    fn time_limit(&self) -> TimeLimit {
        self.time_limit
    }
    #[inline(always)]
    fn partition_slot(&self) -> usize {
        self.partition.map_or(0, |index| index.get() + 1)
    }
    #[inline(always)]
    fn qos_slot(&self) -> usize {
        self.qos.map_or(0, |index| index.get() + 1)
    }
    #[inline(always)]
    fn tres(&self, _len: usize) -> Option<usize> {
        self.tres.map(super::Index::get)
    }
    #[inline(always)]
    fn nice(&self) -> i32 {
        self.nice
    }
    #[inline(always)]
    fn priority(&self) -> u32 {
        self.priority
    }
    #[inline(always)]
    fn direct(&self) -> bool {
        self.direct
    }
}

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

/// A block of jobs, by column: what comes beside their rows, and their prices. Only as many places
/// count as there are rows.
pub(crate) struct Block {
    /// The factors of each job's association; set before [`Block::fill`].
    pub(crate) assocs: [AssocFactors; BLOCK],
    /// As [`Job::site_factor`], of each job; set before [`Block::fill`], 0 at first.
    pub(crate) site_factors: [i32; BLOCK],
    age: [f64; BLOCK],
    assoc: [f64; BLOCK],
    fairshare: [f64; BLOCK],
    job_size: [f64; BLOCK],
    partition: [f64; BLOCK],
    qos: [f64; BLOCK],
    tres: [f64; BLOCK],
    priority: [u32; BLOCK],
    when: When,
}

impl Default for Block {
    fn default() -> Block {
        Block {
            assocs: [AssocFactors::default(); BLOCK],
            site_factors: [0; BLOCK],
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
    /// Prices up to [`BLOCK`] jobs, with what was set beside them.
    ///
    /// `meanwhile` is called between columns, with the number of the break, each of [`BREAKS`]
    /// once: to let the processor fetch what the next block needs, a bit at a time, while it
    /// calculates.
    #[inline(always)]
    pub(crate) fn fill<R: Row>(
        &mut self,
        pricer: &Pricer<'_>,
        rows: &[R],
        when: When,
        mut meanwhile: impl FnMut(usize),
    ) {
        // A constant length lets the loops below go without checks; the last block is shorter.
        if let Ok(rows) = <&[R; BLOCK]>::try_from(rows) {
            self.fill_terms(pricer, rows, &mut meanwhile);
            self.settle(rows);
        } else {
            let rows = &rows[..rows.len().min(BLOCK)];
            self.fill_terms(pricer, rows, &mut meanwhile);
            self.settle(rows);
        }
        self.when = when;
        let incr_only = when == When::Pass && pricer.flags.incr_only;
        let special = |row: &R| row.direct() | (row.priority() == 0);
        if incr_only || rows.iter().fold(false, |any, row| any | special(row)) {
            self.keep(rows, incr_only);
        }
    }

    /// The priorities, one per row.
    #[cfg_attr(
        not(feature = "capi"),
        allow(dead_code, reason = "only the C ABI asks")
    )]
    #[inline(always)]
    pub(crate) fn priorities(&self) -> &[u32; BLOCK] {
        &self.priority
    }

    /// The price of the job at `at`, which is `row`.
    #[inline(always)]
    pub(crate) fn priced<R: Row>(&self, at: usize, row: &R) -> Priced {
        let priority = self.priority[at];
        if self.stays(row) {
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
            nice: row.nice(),
            priority,
            overflow: priority == u32::MAX && settled(self.sum(at, row)).1,
        }
    }

    #[inline(always)]
    fn fill_terms<R: Row>(
        &mut self,
        pricer: &Pricer<'_>,
        rows: &[R],
        meanwhile: &mut impl FnMut(usize),
    ) {
        let weights = &pricer.weights;
        meanwhile(0);
        // Where a weight is 0 the column is never written, and stays 0.
        if weights.age != 0.0 {
            for (term, row) in self.age.iter_mut().zip(rows) {
                *term = pricer.age.factor(row.accrue_time()) * weights.age;
            }
        }
        if weights.assoc != 0.0 {
            let normal = !pricer.flags.no_normal_assoc;
            for (term, assoc) in self.assoc.iter_mut().zip(&self.assocs) {
                *term = factors::assoc(assoc, normal) * weights.assoc;
            }
        }
        meanwhile(1);
        if weights.fairshare != 0.0 {
            for (term, assoc) in self.fairshare.iter_mut().zip(&self.assocs) {
                *term = assoc.fs_factor * weights.fairshare;
            }
        }
        meanwhile(2);
        if weights.job_size != 0.0 {
            self.fill_sizes(pricer, rows);
        }
        meanwhile(3);
        for ((partition, qos), row) in self.partition.iter_mut().zip(&mut self.qos).zip(rows) {
            *partition = pricer.partition_terms[row.partition_slot()];
            *qos = pricer.qos_terms[row.qos_slot()];
        }
        meanwhile(4);
        if pricer.weighs_tres() {
            let len = pricer.site.tres_names.len();
            for (term, row) in self.tres.iter_mut().zip(rows) {
                *term = pricer.tres_at(row.tres(len), row.partition_slot());
            }
        }
    }

    #[inline(always)]
    fn fill_sizes<R: Row>(&mut self, pricer: &Pricer<'_>, rows: &[R]) {
        let (size, weight) = (&pricer.size, pricer.weights.job_size);
        let columns = self.job_size.iter_mut().zip(rows);
        if size.is_plain() {
            for (term, row) in columns {
                *term = size.plain(row.nodes(), row.cpus()) * weight;
            }
        } else {
            for (term, row) in columns {
                let max_time_mins = || pricer.max_time_mins(row.partition_slot());
                let limit = row.time_limit();
                *term = size.factor(row.nodes(), row.cpus(), limit, max_time_mins) * weight;
            }
        }
    }

    #[inline(always)]
    fn settle<R: Row>(&mut self, rows: &[R]) {
        for (at, row) in rows.iter().enumerate() {
            self.priority[at] = settled(self.sum(at, row)).0;
        }
    }

    /// In Slurm's order of additions, as [`Priced::sum`].
    #[inline(always)]
    fn sum<R: Row>(&self, at: usize, row: &R) -> f64 {
        self.age[at]
            + self.assoc[at]
            + self.fairshare[at]
            + self.job_size[at]
            + self.partition[at]
            + self.qos[at]
            + self.tres[at]
            + f64::from(self.site_factors[at])
            - f64::from(row.nice())
    }

    /// Puts back the priorities that stay, and those that only grow.
    #[cold]
    fn keep<R: Row>(&mut self, rows: &[R], incr_only: bool) {
        for (at, row) in rows.iter().enumerate() {
            let grows = !incr_only || self.priority[at] >= row.priority();
            if self.stays(row) || !grows {
                self.priority[at] = row.priority();
            }
        }
    }

    /// Whether a job keeps its priority, so that its terms are 0: an administrator's, and in a
    /// pass that of a held job.
    #[inline(always)]
    fn stays<R: Row>(&self, row: &R) -> bool {
        match row.priority() {
            0 => self.when == When::Pass,
            _ => row.direct(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{NOW, config, job, site};
    use super::super::{Index, Site};
    use super::*;
    use crate::compat::{Compat, Release};
    use crate::config::{Config, PriorityFlags};
    use crate::tree::AssocIndex;

    /// Jobs of all kinds, more than a block and no multiple of one.
    fn jobs(site: &Site) -> Vec<Job> {
        let some = |number: usize, len: usize| (number % (len + 1)).checked_sub(1);
        (0..3 * BLOCK + 7)
            .map(|number| Job {
                assoc: some(number, site.assocs.len()).map(AssocIndex::new),
                partition: some(number / 2, site.partitions.len()).map(Index::new),
                qos: some(number / 3, site.qos.len()).map(Index::new),
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
        let site = site();
        let jobs = jobs(&site);
        for config in configs() {
            let pricer = Pricer::new(&config, &site, NOW).unwrap();
            let mut out = vec![Priced::default(); jobs.len()];
            pricer.price_all(&jobs, &mut out);
            for (job, priced) in jobs.iter().zip(&out) {
                let alone = pricer.price(job);
                assert_eq!(format!("{priced:?}"), format!("{alone:?}"), "{job:?}");
            }
            let mut block = Block::default();
            for jobs in jobs.chunks(BLOCK) {
                for (at, job) in jobs.iter().enumerate() {
                    let assoc = job.assoc.map(|assoc| site.assocs[assoc.get()]);
                    block.assocs[at] = assoc.unwrap_or_default();
                    block.site_factors[at] = job.site_factor;
                }
                block.fill(&pricer, jobs, When::Set, |_| ());
                for (at, job) in jobs.iter().enumerate() {
                    let (priced, alone) = (block.priced(at, job), pricer.price_set(job));
                    assert_eq!(format!("{priced:?}"), format!("{alone:?}"), "{job:?}");
                    assert_eq!(block.priorities()[at], alone.priority);
                }
            }
        }
    }
}
