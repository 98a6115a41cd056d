//! When and where a job can run: running jobs end by their limits, some at a time, until enough is idle.

use fairtree_model::machine::Machine;

use crate::slurm::main_loop::Layout;
use crate::slurm::node_set::NodeSet;
use crate::slurm::select::{Offers, Question, Weights};
use crate::slurm::state::{Running, State};
use crate::slurm::usage::{Allocation, NodeUse, Uses};

/// A start that will be possible.
pub(super) struct WillRun {
    /// Seconds since 1970.
    pub start: i64,
    /// The resources.
    pub allocation: Allocation,
}

/// The moments to look at.
pub(super) struct When<'a> {
    /// Seconds since 1970.
    pub now: i64,
    /// Only now will do.
    pub now_only: bool,
    /// Positions of running jobs, in order of their ends by limit.
    pub by_end: &'a [usize],
}

/// The first moment at which running jobs leave enough of `offered` to a job, by their limits.
pub(super) fn will_run(
    question: &Question<'_>,
    offered: &NodeSet,
    when: When<'_>,
    layout: &Layout,
    state: &mut State,
) -> Option<WillRun> {
    let State {
        uses,
        running,
        weights,
        ..
    } = state;
    let mut offers = question.offers(offered, uses, weights);
    if let Some(allocation) = question.choose_from(&offers, uses, weights) {
        return Some(WillRun {
            start: when.now,
            allocation,
        });
    }
    if when.now_only {
        return None;
    }
    // A job that has too few CPUs when nothing runs need not wait for each end. Where generic resources are
    // asked for, each end sets weights of nodes.
    let is_plain = question.ask.gres.is_empty();
    let cpus = || {
        offered
            .iter()
            .map(|at| u64::from(layout.cpus[at]))
            .sum::<u64>()
    };
    if is_plain && cpus() < u64::from(question.ask.cpus) {
        return None;
    }
    let mut idle = Ends {
        question,
        offered,
        uses,
        weights,
        before: Vec::new(),
    };
    let jobs: Vec<&Running> = when.by_end.iter().map(|at| &running[*at]).collect();
    let found = idle.first(&jobs, when.now, &mut offers);
    idle.undo();
    found
}

/// Nodes on which jobs end, one after the other.
struct Ends<'a> {
    question: &'a Question<'a>,
    offered: &'a NodeSet,
    uses: &'a mut Uses,
    weights: &'a mut Weights,
    /// The use of nodes before the ends.
    before: Vec<(usize, NodeUse)>,
}

impl Ends<'_> {
    fn first(&mut self, jobs: &[&Running], now: i64, offers: &mut [Offers]) -> Option<WillRun> {
        let machine = self.question.machine;
        let settings = &machine.scheduling;
        let mut window = 30;
        let mut base = None;
        let mut at = 0;
        loop {
            let mut last: Option<&Running> = None;
            let mut next: Option<&Running>;
            let mut more = true;
            let mut released = 0;
            loop {
                let Some(running) = jobs.get(at) else {
                    more = false;
                    next = None;
                    break;
                };
                at += 1;
                // Jobs whose nodes are not usable are passed over only where they are taken, not where
                // the next one is looked at.
                if !self.is_usable(running) {
                    continue;
                }
                let base = *base.get_or_insert(running.limit_end + 30 - running.limit_end % 30);
                last = Some(running);
                self.end(machine, running, offers);
                next = jobs.get(at).copied();
                match next {
                    None => {
                        more = false;
                        break;
                    }
                    Some(next) if next.limit_end > base + window => break,
                    Some(_) if released > 200 => break,
                    Some(_) => released += 1,
                }
            }
            let last = last?;
            let base = base.unwrap_or(last.limit_end);
            loop {
                window = match settings.window_step {
                    0 => window * 2,
                    step => window + step,
                };
                if next.is_none_or(|next| next.limit_end <= base + window) {
                    break;
                }
            }
            let found = self.question.choose_from(offers, self.uses, self.weights);
            if let Some(allocation) = found {
                let start = match last.limit_end <= now {
                    true => {
                        let over = settings.over_limit.unwrap_or(0);
                        (last.limit_end + settings.kill_wait + over).max(now + 1)
                    }
                    false => last.limit_end,
                };
                return Some(WillRun { start, allocation });
            }
            if !more {
                return None;
            }
        }
    }

    fn is_usable(&self, running: &Running) -> bool {
        let mut parts = running.allocation.parts.iter();
        parts.any(|part| self.offered.contains(part.node))
    }

    fn end(&mut self, machine: &Machine, running: &Running, offers: &mut [Offers]) {
        let parts = running.allocation.parts.iter();
        for part in parts.filter(|part| self.offered.contains(part.node)) {
            self.before.push((part.node, self.uses[part.node].clone()));
            self.uses
                .release_part(machine, part, running.allocation.whole);
            for offers in &mut *offers {
                offers.renew(
                    self.question,
                    part.node,
                    &self.uses[part.node],
                    self.weights,
                );
            }
        }
    }

    /// The jobs run again.
    fn undo(self) {
        let machine = self.question.machine;
        for (node, used) in self.before.into_iter().rev() {
            self.uses.set(machine, node, used);
        }
    }
}
