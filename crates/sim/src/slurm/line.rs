//! The jobs that wait, with their priorities.

use fairtree::priority::Job;
use fairtree_model::machine::Machine;

use super::ask::Ask;
use super::site::{Site, Unpriced};

/// The jobs that wait.
#[derive(Clone, Debug)]
pub struct Line {
    /// Jobs in order of submission.
    waiting: Vec<usize>,
    /// Priorities of each job, one per partition that it asked for.
    priorities: Vec<Vec<u32>>,
    /// When each job began to age, seconds since 1970; 0: it does not.
    accrue: Vec<i64>,
}

impl Line {
    /// Nobody waits, of `jobs` jobs.
    pub fn new(jobs: usize) -> Line {
        Line {
            waiting: Vec::new(),
            priorities: vec![Vec::new(); jobs],
            accrue: vec![0; jobs],
        }
    }

    /// A job is submitted: it has a priority by the factors of the last pass.
    ///
    /// # Errors
    /// A row that cannot be priced.
    pub fn submit(
        &mut self,
        job: usize,
        now: i64,
        machine: &Machine,
        ask: &Ask,
        site: &Site,
    ) -> Result<(), Unpriced> {
        self.waiting.push(job);
        let always = site.config().priority_flags.accrue_always;
        self.accrue[job] = if always { ask.submit } else { 0 };
        let accrue = self.accrue[job];
        let mut tres = Vec::new();
        let partitions = ask.partitions.iter();
        let rows = partitions.map(|at| site.job(machine, ask, *at, accrue, &mut tres));
        let rows: Vec<Job> = rows.collect();
        self.priorities[job] = match ask.fixed {
            Some(priority) => vec![priority; rows.len()],
            None => site.prices(now, &rows, &tres)?,
        };
        Ok(())
    }

    /// A job that is eligible since a moment ages since then, unless it ages already.
    pub fn age(&mut self, job: usize, eligible: i64) {
        if self.accrue[job] == 0 {
            self.accrue[job] = eligible;
        }
    }

    /// A job leaves.
    pub fn leave(&mut self, job: usize) {
        self.waiting.retain(|own| *own != job);
    }

    /// Returns true if nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The jobs that wait, in order of submission.
    pub fn waiting(&self) -> Vec<usize> {
        self.waiting.clone()
    }

    /// Priorities of a job by partition.
    pub fn priorities(&self, job: usize, ask: &Ask) -> Vec<(usize, u32)> {
        let both = ask.partitions.iter().zip(&self.priorities[job]);
        both.map(|(partition, priority)| (*partition, *priority))
            .collect()
    }

    /// The engine's rows of all jobs that wait, by number.
    pub fn rows(&self, machine: &Machine, asks: &[Ask], site: &Site) -> Vec<Job> {
        let mut tres = Vec::new();
        let waiting = self.waiting.iter();
        let rows = waiting.map(|job| {
            let ask = &asks[*job];
            site.job(
                machine,
                ask,
                ask.partitions[0],
                self.accrue[*job],
                &mut tres,
            )
        });
        let mut rows: Vec<Job> = rows.collect();
        rows.sort_by_key(|row| row.id);
        rows
    }

    /// Prices all jobs that wait.
    ///
    /// # Errors
    /// A row that cannot be priced.
    pub fn price(
        &mut self,
        now: i64,
        machine: &Machine,
        asks: &[Ask],
        site: &Site,
    ) -> Result<(), Unpriced> {
        let mut tres = Vec::new();
        let mut rows = Vec::new();
        for job in &self.waiting {
            let ask = &asks[*job];
            for partition in &ask.partitions {
                rows.push(site.job(machine, ask, *partition, self.accrue[*job], &mut tres));
            }
        }
        let mut prices = site.prices(now, &rows, &tres)?.into_iter();
        for job in &self.waiting {
            let own = &mut self.priorities[*job];
            let count = own.len();
            *own = prices.by_ref().take(count).collect();
            if let Some(priority) = asks[*job].fixed {
                own.fill(priority);
            }
        }
        Ok(())
    }
}
