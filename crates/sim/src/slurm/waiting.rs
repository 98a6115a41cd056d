//! The jobs that wait, with their priorities.

use std::collections::HashMap;

use fairtree::priority::Job;
use fairtree_model::machine::Machine;

use super::ask::Ask;
use super::node_set::NodeSet;
use super::select::{NodeCounts, Question, Weights};
use super::site::{Site, Unpriced};
use super::usage::Uses;

/// A job that waits.
#[derive(Clone, Debug, Default)]
struct Place {
    /// Its priorities, one per partition that it asked for.
    priorities: Vec<u32>,
    /// When it began to age, seconds since 1970; 0: it does not.
    accrue: i64,
    /// CPUs that its size counts from the first pass on.
    size_cpus: u32,
}

/// CPUs that a job's size counts once Slurm has looked for its nodes: all CPUs of its nodes where it gets whole
/// nodes, those of an idle machine; else, and where no node can have it, the CPUs that it asks for.
pub fn size_cpus(machine: &Machine, ask: &Ask) -> u32 {
    let whole = |at: &&usize| ask.exclusive || machine.partitions[**at].is_exclusive;
    let Some(partition) = ask.partitions.first().filter(whole).copied() else {
        return ask.cpus;
    };
    let Some(counts) = NodeCounts::of(machine, ask, partition) else {
        return ask.cpus;
    };
    let question = Question {
        machine,
        ask,
        partition,
        counts,
    };
    let nodes = machine.partitions[partition].nodes.iter().copied();
    let mut offered = NodeSet::of(machine.nodes.len(), nodes);
    offered.keep(&ask.usable);
    let mut weights = Weights::new(machine);
    weights.set(machine, &offered);
    let found = question.choose(&offered, &Uses::none(machine), &mut weights);
    found.map_or(ask.cpus, |found| found.cpus())
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
        let rows = partitions.map(|at| site.job(machine, ask, *at, (accrue, ask.cpus), &mut tres));
        let rows: Vec<Job> = rows.collect();
        let priorities = match ask.fixed {
            Some(priority) => vec![priority; rows.len()],
            None => site.prices(now, &rows, &tres)?,
        };
        let size_cpus = size_cpus(machine, ask);
        let place = Place {
            priorities,
            accrue,
            size_cpus,
        };
        self.places.insert(job, place);
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
            let size_cpus = size_cpus(machine, &asks[*job]);
            let place = Place {
                priorities,
                accrue,
                size_cpus,
            };
            self.places.insert(*job, place);
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

    /// The engine's row of a job in one of its partitions, as a pass sees it.
    fn row(
        &self,
        job: usize,
        partition: usize,
        machine: &Machine,
        ask: &Ask,
        site: &Site,
        tres: &mut Vec<u64>,
    ) -> Job {
        let place = self.places.get(&job);
        let of_place = place.map_or((0, ask.cpus), |place| (place.accrue, place.size_cpus));
        site.job(machine, ask, partition, of_place, tres)
    }

    /// The engine's rows of all jobs that wait, by number.
    pub fn rows(&self, machine: &Machine, asks: &[Ask], site: &Site) -> Vec<Job> {
        let mut tres = Vec::new();
        let waiting = self.waiting.iter();
        let rows = waiting.map(|job| {
            let ask = &asks[*job];
            self.row(*job, ask.partitions[0], machine, ask, site, &mut tres)
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
                rows.push(self.row(*job, *partition, machine, ask, site, &mut tres));
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

#[cfg(test)]
mod tests {
    use super::super::ask::Asker;
    use super::*;
    use fairtree_model::machine::{Node, Partition, Request};

    /// By hand: a job of two tasks counts 2 CPUs; with `--exclusive` all 8 of its node, on two nodes 16. Slurm
    /// 22.05.8 prints the same: a job of two tasks on four nodes of 8 CPUs has a size of
    /// (1/4 + 2/32)/2 = 0.156 when it is submitted, and 0.250 from the next pass on.
    #[test]
    fn exclusive_jobs_count_all_cpus_of_their_nodes() {
        let node = |at: usize| Node {
            name: format!("n{at}"),
            cores: 8,
            threads: 1,
            memory_mb: 8000,
            is_up: true,
            ..Node::default()
        };
        let machine = Machine {
            nodes: (0..4).map(node).collect(),
            partitions: vec![Partition {
                name: "main".to_owned(),
                is_default: true,
                nodes: (0..4).collect(),
                is_up: true,
                ..Partition::default()
            }],
            ..Machine::default()
        };
        let size = |exclusive: bool, nodes: u32| {
            let request = Request {
                tasks: Some(2),
                nodes: Some((nodes, nodes)),
                exclusive,
                ..Request::default()
            };
            let who = Asker {
                user: 0,
                assoc: None,
                qos: None,
            };
            let ask = Ask::new(&machine, &request, (1, None), 0, who).expect("it can be had");
            size_cpus(&machine, &ask)
        };
        assert_eq!(size(false, 1), 2);
        assert_eq!(size(true, 1), 8);
        assert_eq!(size(true, 2), 16);
    }
}
