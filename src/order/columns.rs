//! Waiting jobs in columns: an order reads only some of the columns, for all jobs and in random
//! order.

use super::amounts::Amounts;
use super::rows::{Job, OrderError, Placed};
use super::sparse::Sparse;

/// Submit time and id, which decide when nothing else distinguishes two jobs.
pub(super) type Stamp = (i64, u64);

pub(super) fn stamp(job: &Job) -> Stamp {
    (job.submit, job.id)
}

/// Sort key within a node.
pub(super) fn within(job: &Job) -> (i64, Stamp) {
    (job.nice, stamp(job))
}

/// Waiting jobs by row, each with its present number.
#[derive(Clone, Debug, Default)]
pub struct JobColumns {
    pub(super) nodes: Vec<u32>,
    pub(super) stamps: Vec<Stamp>,
    pub(super) tiers: Sparse<i64>,
    pub(super) nices: Sparse<i64>,
    pub(super) expected: Amounts,
    pub(super) numbers: Vec<u32>,
}

impl JobColumns {
    /// Number of jobs.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if there are no jobs.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Removes all jobs and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.stamps.clear();
        self.tiers.clear();
        self.nices.clear();
        self.expected.clear();
        self.numbers.clear();
    }

    /// Appends a job.
    #[inline]
    pub fn push(&mut self, placed: &Placed) {
        let &Placed { ref job, number } = placed;
        self.nodes.push(job.node);
        self.stamps.push(stamp(job));
        self.tiers.push(job.tier);
        self.nices.push(job.nice);
        self.expected.push(job.expected);
        self.numbers.push(number);
    }

    /// Checks that there are not too many jobs, and that each job belongs to one of `nodes`
    /// nodes.
    pub(super) fn check(&self, nodes: usize) -> Result<(), OrderError> {
        let (rows, limit) = (self.len(), u32::MAX as usize);
        if rows > limit {
            return Err(OrderError::TooManyRows { rows, limit });
        }
        let mut rows = self.nodes.iter().zip(&self.stamps);
        match rows.find(|(node, _)| **node as usize >= nodes) {
            Some((&node, &(_, id))) => Err(OrderError::UnknownNode { id, node, nodes }),
            None => Ok(()),
        }
    }

    /// Ids of all jobs.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> {
        self.stamps.iter().map(|stamp| stamp.1)
    }

    /// The job in a row.
    pub(super) fn job(&self, row: u32) -> Job {
        let (submit, id) = self.stamp(row);
        Job {
            node: self.nodes[row as usize],
            tier: self.tiers.get(row),
            nice: self.nices.get(row),
            submit,
            id,
            expected: self.expected.get(row),
        }
    }

    pub(super) fn stamp(&self, row: u32) -> Stamp {
        self.stamps[row as usize]
    }

    pub(super) fn within(&self, row: u32) -> (i64, Stamp) {
        (self.nices.get(row), self.stamp(row))
    }
}

impl FromIterator<Placed> for JobColumns {
    fn from_iter<I: IntoIterator<Item = Placed>>(jobs: I) -> JobColumns {
        let mut columns = JobColumns::default();
        jobs.into_iter().for_each(|placed| columns.push(&placed));
        columns
    }
}
