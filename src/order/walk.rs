//! Finds the place of a new job by walking along the jobs in line.
//!
//! For trees in which a node competes with nodes below it: there a key depends on how many jobs of
//! other nodes were taken. For all other trees see [`super::tier`].

use std::sync::Arc;

use super::forest::{Child, Forest};
use super::ratio::Ratio;
use super::rows::{Job, Neighbours, Placed};

/// Jobs in their order, to which single jobs are added.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    tree: Arc<Forest>,
    /// Use of each node.
    used: Arc<Vec<u128>>,
    /// First to last.
    jobs: Vec<Placed>,
}

impl Walk {
    /// Jobs that are already in order, first to last.
    pub(super) fn new(tree: Arc<Forest>, used: Arc<Vec<u128>>, jobs: Vec<Placed>) -> Walk {
        Walk { tree, used, jobs }
    }

    /// The jobs, first to last.
    pub(super) fn jobs(&self) -> &[Placed] {
        &self.jobs
    }

    /// Takes a job out of the line; `None` if it is not there. Takes time in O(n).
    pub(super) fn remove(&mut self, id: u64) -> Option<Placed> {
        let at = self.jobs.iter().position(|placed| placed.job.id == id)?;
        Some(self.jobs.remove(at))
    }

    /// Puts a job in its place; `number` chooses its number between those of its neighbours.
    /// Takes time in O(n) for each level.
    pub(super) fn insert(&mut self, job: Job, number: impl FnOnce(Neighbours) -> u32) -> u32 {
        let at = self.place(&job);
        let number = number(Neighbours {
            above: at.checked_sub(1).map(|at| self.jobs[at].number),
            below: self.jobs.get(at).map(|placed| placed.number),
        });
        self.jobs.insert(at, Placed { job, number });
        number
    }

    /// Place of a job.
    ///
    /// As long as it is not taken, the others are taken as without it. So it is enough to find,
    /// from its node up to the level, the first job of each sequence that it comes before.
    fn place(&self, job: &Job) -> usize {
        let start = self.jobs.partition_point(|one| one.job.tier > job.tier);
        let end = self.jobs.partition_point(|one| one.job.tier >= job.tier);
        let mut used = self.used.to_vec();
        for placed in &self.jobs[..start] {
            self.charge(&mut used, &placed.job);
        }
        let tier = &self.jobs[start..end];
        let within = |job: &Job| (job.nice, job.submit, job.id);
        let before = tier.iter().filter(|one| one.job.node == job.node);
        let mut before = before.filter(|one| within(&one.job) < within(job)).count();
        for (child, parent) in self.tree.chain(job.node) {
            before = self.place_below(tier, &used, (child, parent), before, job);
        }
        start + before
    }

    /// Number of jobs below `parent` that are taken before the job that has `before` others before
    /// it below `child`.
    fn place_below(
        &self,
        tier: &[Placed],
        used: &[u128],
        (child, parent): (Child, Option<u32>),
        before: usize,
        job: &Job,
    ) -> usize {
        let mut used = used.to_vec();
        let (mut passed, mut place) = (0, 0);
        for placed in tier {
            let other = &placed.job;
            let Some(of) = self.tree.child(other.node, parent) else {
                continue;
            };
            let comes_first = if of == child {
                passed == before
            } else {
                let key = |child, job: &Job| (self.key(&used, child), job.submit, job.id);
                passed == before && key(child, job) < key(of, other)
            };
            if comes_first {
                break;
            }
            passed += usize::from(of == child);
            place += 1;
            self.charge(&mut used, other);
        }
        place
    }

    fn key(&self, used: &[u128], child: Child) -> Ratio {
        match child {
            Child::Own => Ratio::ZERO,
            Child::Node(node) => {
                let at = node as usize;
                Ratio::new(used[at], self.tree.entitled[at])
            }
        }
    }

    fn charge(&self, used: &mut [u128], job: &Job) {
        let mut above = Some(job.node).filter(|_| job.expected > 0);
        while let Some(node) = above {
            let used = &mut used[node as usize];
            *used = used.saturating_add(job.expected);
            above = self.tree.parents[node as usize];
        }
    }
}
