//! The queue of a run: sorted anew only where a new job cannot take its place in it.

use super::Free;
use crate::slurm::main_loop;
use crate::slurm::state::{InLine, insert, sort};

impl Free<'_> {
    /// Takes the jobs that wait and could start, sorted; [`Free::started`] puts them back.
    pub(super) fn queue(&mut self, ms: i64) -> Vec<InLine> {
        let (lives, fates) = (self.jobs.lives, &self.fates);
        let differs =
            |(job, was): &(usize, bool)| lives[*job].is_eligible(ms, lives, fates) != *was;
        if !self.is_sorted || self.unsettled.iter().any(differs) {
            self.sort(ms);
        }
        std::mem::take(&mut self.sorted)
    }

    fn sort(&mut self, ms: i64) {
        let (machine, asks, lives) = (self.machine, self.jobs.asks, self.jobs.lives);
        let mut queue = std::mem::take(&mut self.sorted);
        queue.clear();
        self.unsettled.clear();
        for job in self.waiting.jobs() {
            let is_eligible = lives[job].is_eligible(ms, lives, &self.fates);
            if !lives[job].is_settled(ms) {
                self.unsettled.push((job, is_eligible));
            }
            if is_eligible {
                self.entries(job, ms, &mut |one| queue.push(one));
            }
        }
        sort(machine, asks, &mut queue);
        self.sorted = queue;
        self.is_sorted = true;
    }

    /// A job that was submitted takes its place in the queue, as far as that is sorted.
    pub(super) fn enter(&mut self, job: usize, ms: i64) {
        let (machine, asks, lives) = (self.machine, self.jobs.asks, self.jobs.lives);
        if !self.is_sorted {
            return;
        }
        if !lives[job].is_settled(ms) {
            self.is_sorted = false;
            return;
        }
        let mut queue = std::mem::take(&mut self.sorted);
        self.entries(job, ms, &mut |one| {
            insert(machine, asks, &mut queue, one);
        });
        self.sorted = queue;
    }

    /// The entries of an eligible job, one for each partition that takes it.
    fn entries(&mut self, job: usize, ms: i64, add: &mut dyn FnMut(InLine)) {
        let (machine, asks, lives) = (self.machine, self.jobs.asks, self.jobs.lives);
        let secs = ms.div_euclid(1000);
        let eligible = *self.fates[job].eligible_ms.get_or_insert_with(|| {
            let waits_for = !lives[job].conditions.is_empty() || !lives[job].held_ms.is_empty();
            if waits_for { ms } else { lives[job].begin_ms }
        });
        self.waiting.age(job, eligible.div_euclid(1000));
        for (partition, priority) in self.waiting.priorities(job, &asks[job]) {
            if priority > 0 && !main_loop::breaks_partition(machine, &asks[job], partition) {
                let one = InLine {
                    job,
                    partition,
                    priority,
                    eligible: eligible.div_euclid(1000).min(secs),
                };
                add(one);
            }
        }
    }
}
