//! All that a queue is made of, by ids and names: what it is saved as, and rebuilt from when
//! the tree or the settings change.

use super::competitors::QueueCompetitors;
use super::error::QueueError;
use super::history::Run;
use super::job::Job;
use super::machine::{Machine, check_slots};
use super::{Counted, MOST_USE, MOST_USE_OF_RUN, Micros, NewJob, Queue, Settings};
use crate::engine::MachineError;
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
    /// The machines that accounts are bound to, by name.
    pub bindings: Vec<(AssocId, Vec<String>)>,
    pub default_limit: Option<u64>,
}

impl Queue {
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
            bindings: (self.bindings.iter())
                .map(|(assoc, machines)| (*assoc, machines.clone()))
                .collect(),
            default_limit: self.default_limit,
        }
    }

    pub(super) fn from_parts(parts: Parts) -> Result<Queue, QueueError> {
        let mut queue = Queue::empty(&parts.tree, parts.settings, parts.now)?;
        for machine in &parts.machines {
            check_slots(machine.slots)?;
            if queue.names.contains_key(&machine.name) && !machine.removed {
                let name = machine.name.clone();
                return Err(MachineError::MachineTwice { name }.into());
            }
            queue.push_machine(Machine {
                running: 0,
                waiting: 0,
                ..machine.clone()
            });
        }
        let QueueCompetitors { rules, .. } = &queue.competitors;
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
        // Jobs that were taken stay, also where they would be refused today.
        queue.default_limit = parts.default_limit;
        let bindings = parts.bindings.into_iter();
        queue.bindings = bindings
            .filter(|(assoc, _)| parts.tree.index_of(*assoc).is_some())
            .collect();
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
