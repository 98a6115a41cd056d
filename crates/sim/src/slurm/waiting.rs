//! The jobs that wait, with their priorities.

use std::collections::HashMap;

use fairtree::priority::Job;
use fairtree_model::machine::Machine;

use super::ask::Ask;
use super::site::{Site, Unpriced};

/// A job that waits.
#[derive(Clone, Debug, Default)]
struct Place {
    /// Its priorities, one per partition that it asked for.
    priorities: Vec<u32>,
    /// When it began to age, seconds since 1970; 0: it does not.
    accrue: i64,
}

/// The jobs that wait.
#[derive(Clone, Debug, Default)]
pub struct WaitingJobs {
    /// Jobs in order of submission.
    waiting: Vec<usize>,
    places: HashMap<usize, Place>,
}

impl WaitingJobs {
    /// Nobody waits.
    pub fn new() -> WaitingJobs {
        WaitingJobs::default()
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
        let accrue = if always { ask.submit } else { 0 };
        let mut tres = Vec::new();
        let partitions = ask.partitions.iter();
        let rows = partitions.map(|at| site.job(machine, ask, *at, accrue, &mut tres));
        let rows: Vec<Job> = rows.collect();
        let priorities = match ask.fixed {
            Some(priority) => vec![priority; rows.len()],
            None => site.prices(now, &rows, &tres)?,
        };
        self.places.insert(job, Place { priorities, accrue });
        Ok(())
    }

    /// Jobs that wait already, each with the moment since which it ages, seconds since 1970; 0: it does not
    /// yet. They are priced as at a pass.
    ///
    /// # Errors
    /// A row that cannot be priced.
    pub fn submit_all(
        &mut self,
        jobs: &[(usize, i64)],
        now: i64,
        machine: &Machine,
        asks: &[Ask],
        site: &Site,
    ) -> Result<(), Unpriced> {
        let always = site.config().priority_flags.accrue_always;
        for (job, accrue) in jobs {
            self.waiting.push(*job);
            let accrue = if always { asks[*job].submit } else { *accrue };
            let priorities = vec![0; asks[*job].partitions.len()];
            self.places.insert(*job, Place { priorities, accrue });
        }
        self.price(now, machine, asks, site)
    }

    /// A job that is eligible since a moment ages since then, unless it ages already.
    pub fn age(&mut self, job: usize, eligible: i64) {
        if let Some(place) = self.places.get_mut(&job).filter(|place| place.accrue == 0) {
            place.accrue = eligible;
        }
    }

    /// A job leaves.
    pub fn leave(&mut self, job: usize) {
        self.waiting.retain(|own| *own != job);
        self.places.remove(&job);
    }

    /// Only jobs for which `stays` says so stay.
    pub fn retain(&mut self, mut stays: impl FnMut(usize) -> bool) {
        self.waiting.retain(|job| stays(*job));
        let WaitingJobs { waiting, places } = self;
        places.retain(|job, _| waiting.contains(job));
    }

    /// Returns true if nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The jobs that wait, in order of submission.
    pub fn jobs(&self) -> Vec<usize> {
        self.waiting.clone()
    }

    /// Priorities of a job by partition.
    pub fn priorities(&self, job: usize, ask: &Ask) -> Vec<(usize, u32)> {
        let own = self.places.get(&job);
        let own = own.map_or(&[][..], |place| &place.priorities);
        let both = ask.partitions.iter().zip(own);
        both.map(|(partition, priority)| (*partition, *priority))
            .collect()
    }

    /// When a job began to age; 0: it does not.
    fn accrue(&self, job: usize) -> i64 {
        self.places.get(&job).map_or(0, |place| place.accrue)
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
                self.accrue(*job),
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
                rows.push(site.job(machine, ask, *partition, self.accrue(*job), &mut tres));
            }
        }
        let mut prices = site.prices(now, &rows, &tres)?.into_iter();
        for job in &self.waiting {
            if let Some(place) = self.places.get_mut(job) {
                let count = place.priorities.len();
                place.priorities.clear();
                place.priorities.extend(prices.by_ref().take(count));
                if let Some(priority) = asks[*job].fixed {
                    place.priorities.fill(priority);
                }
            }
        }
        Ok(())
    }
}
