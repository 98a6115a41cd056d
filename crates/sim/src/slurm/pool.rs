//! A pool of processors whose queue is in the order of a site's priorities.
//!
//! A job has a priority when it is submitted, by the factors of the last pass; each pass charges what
//! runs, ranks, and orders the queue anew. Higher priorities come first, then earlier submissions.

use std::cmp::Ordering;

use fairtree::priority::Job as Row;
use fairtree_model::machine::Machine;

use super::ask::Ask;
use super::site::Site;
use super::state::Running;
use super::usage::{Allocation, Part};
use crate::job::Waiting;
use crate::replay::Order;

/// The order of a site's priorities.
#[derive(Clone, Debug)]
pub struct Priorities<'a> {
    machine: &'a Machine,
    /// The request of each job of the replay.
    asks: &'a [Ask],
    site: Site,
    /// Priority of each job as of the last pass, or its submission.
    priorities: Vec<u32>,
    running: Vec<Running>,
    next_pass: i64,
}

impl<'a> Priorities<'a> {
    /// The order of `asks`, one for each job of the replay, in order of submission. `phase`: seconds
    /// from the first pass to the first submission.
    pub fn new(
        machine: &'a Machine,
        site: Site,
        asks: &'a [Ask],
        first: i64,
        phase: i64,
    ) -> Priorities<'a> {
        Priorities {
            machine,
            asks,
            site,
            priorities: vec![0; asks.len()],
            running: Vec::new(),
            next_pass: first - phase,
        }
    }

    fn row(&self, job: u32, tres: &mut Vec<u64>) -> Row {
        let ask = &self.asks[job as usize];
        let accrue = ask.submit;
        self.site.job(
            self.machine,
            ask,
            ask.partitions[0],
            (accrue, ask.cpus),
            tres,
        )
    }

    /// Prices jobs.
    fn price(&mut self, jobs: &[Waiting], now: i64) {
        let mut tres = Vec::new();
        let rows = jobs.iter().map(|job| self.row(job.job, &mut tres));
        let rows: Vec<Row> = rows.collect();
        let prices = self.site.prices(now, &rows, &tres);
        let prices = prices.expect("the site has priced its settings before");
        for (job, price) in jobs.iter().zip(prices) {
            self.priorities[job.job as usize] = price;
        }
    }

    fn key(&self, job: &Waiting) -> (std::cmp::Reverse<u32>, u32) {
        // Numbers are in order of submission.
        let priority = self.priorities[job.job as usize];
        (std::cmp::Reverse(priority), job.job)
    }
}

impl Order for Priorities<'_> {
    fn place(&mut self, job: &Waiting, queue: &[Waiting], now: i64) -> usize {
        self.price(&[*job], now);
        let key = self.key(job);
        queue.partition_point(|other| self.key(other) < key)
    }

    fn next_pass(&self) -> Option<i64> {
        Some(self.next_pass)
    }

    fn pass(&mut self, queue: &[Waiting], now: i64) {
        let mut tres = Vec::new();
        let mut rows: Vec<Row> = queue
            .iter()
            .map(|job| self.row(job.job, &mut tres))
            .collect();
        rows.sort_by_key(|row| row.id);
        self.site
            .pass(now, self.machine, self.asks, &self.running, &rows);
        self.price(queue, now);
        self.next_pass += self.site.period();
    }

    fn compare(&self, a: &Waiting, b: &Waiting) -> Ordering {
        self.key(a).cmp(&self.key(b))
    }

    fn started(&mut self, job: &Waiting, now: i64) {
        let ask = &self.asks[job.job as usize];
        let partition = ask.partitions[0];
        // A pool has no nodes: all of a job is on the first one.
        let part = Part {
            node: 0,
            cpus: job.processors,
            cores: job.processors,
            memory_mb: 0,
            gres: Vec::new(),
        };
        self.running.push(Running {
            job: job.job as usize,
            partition,
            start: now,
            limit_end: now + job.limit_secs,
            allocation: Allocation {
                parts: vec![part],
                whole: false,
            },
        });
    }

    fn ended(&mut self, job: &Waiting, _start: i64, now: i64) {
        let own = |running: &Running| running.job == job.job as usize;
        if let Some(at) = self.running.iter().position(own) {
            let running = self.running.swap_remove(at);
            self.site.charge_end(self.machine, self.asks, &running, now);
        }
    }
}
