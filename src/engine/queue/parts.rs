//! All that a queue is made of, by ids and names: what it is saved as, and rebuilt from when
//! the tree or the settings change.

use super::competitors::Competitors;
use super::error::QueueError;
use super::history::Run;
use super::job::Job;
use super::machine::Machine;
use super::{Counted, MOST_USE, MOST_USE_OF_RUN, Micros, NewJob, Queue, Settings};
use crate::tree::{AssocId, Tree};

#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub tree: Tree,
    pub settings: Settings,
    pub now: Micros,
    pub machines: Vec<Machine>,
    /// `node` and `machine` are positions in what they came from; only `machine` is looked at.
    pub jobs: Vec<Job>,
    /// Runs that some window may still reach.
    pub runs: Vec<(AssocId, Run)>,
    /// Moments since which all use counts somewhere.
    pub moments: Vec<Micros>,
    /// What was used since such a moment.
    pub sums: Vec<(AssocId, Micros, u128)>,
}

impl Queue {
    /// Goes on with another tree or other settings. Jobs stay, and use stays with its
    /// association by id; that of one which is gone counts no more. Where the settings count use
    /// from farther back than before, only what was still known counts.
    ///
    /// Rebuilds the queue: O(n log n).
    ///
    /// # Errors
    /// Those of [`Queue::new`]; when the association of a job is gone or has no shares,
    /// [`QueueError::UnknownAssoc`] and [`QueueError::NoShares`]; [`QueueError::TooMuchUse`].
    pub fn change(&mut self, tree: &Tree, settings: Settings) -> Result<(), QueueError> {
        let parts = Parts {
            tree: tree.clone(),
            settings,
            ..self.parts()
        };
        *self = Queue::from_parts(parts)?;
        Ok(())
    }

    pub(super) fn parts(&self) -> Parts {
        let assoc = |node: u32| self.competitors.nodes[node as usize].assoc;
        let moment = |rule: &Counted| match rule {
            Counted::Since(moment) => Some(*moment),
            Counted::Window(_) => None,
        };
        let rules = &self.competitors.rules;
        let sums = self.history.sums().filter_map(|(rule, node, used)| {
            let moment = moment(&rules[rule])?;
            Some((assoc(node), moment, used))
        });
        Parts {
            tree: self.tree.clone(),
            settings: self.settings.clone(),
            now: self.now,
            machines: self.machines.clone(),
            jobs: self.jobs.iter().flatten().cloned().collect(),
            runs: (self.history.runs())
                .map(|run| (assoc(run.node), *run))
                .collect(),
            moments: rules.iter().filter_map(moment).collect(),
            sums: sums.collect(),
        }
    }

    pub(super) fn from_parts(parts: Parts) -> Result<Queue, QueueError> {
        let mut queue = Queue::new(&parts.tree, parts.settings, parts.now)?;
        for machine in &parts.machines {
            queue.add_machine(&machine.name, machine.slots)?;
            queue.set_paused(&machine.name, machine.paused)?;
        }
        let Competitors { rules, .. } = &queue.competitors;
        let summed: Vec<bool> = (rules.iter())
            .map(|rule| match rule {
                Counted::Since(moment) => parts.moments.contains(moment),
                Counted::Window(_) => false,
            })
            .collect();
        let rules = rules.clone();
        let none = vec![0; rules.len()];
        // As `Queue::check_use` leaves room for them.
        let running = parts.jobs.iter().filter(|job| job.started.is_some());
        let most = MOST_USE.saturating_sub(running.count() as u128 * MOST_USE_OF_RUN);
        let check = |queue: &Queue, assoc, node| match queue.contest.most_used(node) <= most {
            true => Ok(()),
            false => Err(QueueError::TooMuchUse { assoc }),
        };
        for (assoc, run) in parts.runs {
            let Ok(node) = queue.node(0, assoc) else {
                continue;
            };
            let run = Run { node, ..run };
            let edges = queue.history.edges().iter().zip(&summed);
            let behind = edges.map(|(edge, summed)| if *summed { 0 } else { run.behind(*edge) });
            let behind: Vec<u128> = behind.collect();
            queue.recharge(node, &none, &behind);
            check(&queue, assoc, node)?;
            queue.history.add(run, &summed);
        }
        for (assoc, moment, used) in parts.sums {
            let rule = rules
                .iter()
                .position(|rule| *rule == Counted::Since(moment));
            if let (Ok(node), Some(rule)) = (queue.node(0, assoc), rule) {
                if used > most {
                    return Err(QueueError::TooMuchUse { assoc });
                }
                let mut by = none.clone();
                by[rule] = used;
                queue.recharge(node, &none, &by);
                check(&queue, assoc, node)?;
                queue.history.add_sum(rule, node, used);
            }
        }
        for job in parts.jobs {
            queue.put_back(&job, &parts.machines)?;
        }
        Ok(queue)
    }

    fn put_back(&mut self, job: &Job, machines: &[Machine]) -> Result<(), QueueError> {
        self.add(&NewJob {
            id: job.id,
            assoc: job.assoc,
            machine: &machines[job.machine as usize].name,
            submit: job.submit,
            nice: job.nice,
            expected: job.expected,
            limit: job.limit,
            rate: job.rate,
        })?;
        if let Some(started) = job.started {
            self.run(self.find(job.id)?, started);
        }
        Ok(())
    }
}
