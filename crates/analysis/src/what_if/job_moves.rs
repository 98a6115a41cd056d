//! The queue before and after: kept as entries of both sides, and put together one job at a time.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use serde::{Serialize, Serializer};

use super::moves::{JobMove, Move};
use super::standing::{Entry, QueueError, queue};
use fairtree::priority::Index;
use fairtree_model::cluster::{Cluster, ClusterJob};

/// The queue before and after, in the order of job numbers. Of a large queue all moves at a time
/// would take more memory than the queue itself: each is made anew when it is asked for.
#[derive(Clone, Debug)]
pub struct JobMoves {
    before: Side,
    after: Side,
    /// The entries of either side; of one side only where it is not there on the other.
    pairs: Vec<[Option<u32>; 2]>,
    partitions: Vec<String>,
    qos: Vec<String>,
}

#[derive(Clone, Debug)]
struct Side {
    entries: Vec<Entry>,
    jobs: Arc<Vec<ClusterJob>>,
}

/// The queues of two clusters.
///
/// # Errors
/// Settings and jobs that cannot be priced.
pub(super) fn queues(before: &Cluster, after: &Cluster) -> Result<[Vec<Entry>; 2], QueueError> {
    let [before, after] = thread::scope(|scope| {
        let after = scope.spawn(|| queue(after));
        let before = queue(before);
        let after = after.join();
        [before, after.unwrap_or_else(|panic| resume_unwind(panic))]
    });
    Ok([before?, after?])
}

impl Side {
    fn of(cluster: &Cluster, entries: Vec<Entry>) -> Side {
        Side {
            entries,
            jobs: cluster.jobs.clone().unwrap_or_default(),
        }
    }

    /// The entries in the order of their keys; equal ones as they stand.
    fn sorted(&self) -> Vec<u32> {
        let key = |at: &u32| {
            let key = &self.entries[*at as usize].key;
            (
                key.id,
                key.partition.map(Index::get),
                key.qos.map(Index::get),
            )
        };
        let mut order: Vec<u32> = (0..).take(self.entries.len()).collect();
        if !order.is_sorted_by_key(key) {
            order.sort_by_key(key);
        }
        order
    }
}

impl JobMoves {
    /// The queues of a cluster and of the same one after changes, which has the same partitions and
    /// QOS.
    pub(super) fn new(
        (before, old): (&Cluster, Vec<Entry>),
        (after, new): (&Cluster, Vec<Entry>),
    ) -> JobMoves {
        let partitions = before.partitions.iter();
        let qos = before.qos.iter();
        let mut moves = JobMoves {
            partitions: partitions.map(|partition| partition.name.clone()).collect(),
            qos: qos.map(|qos| qos.name.clone()).collect(),
            before: Side::of(before, old),
            after: Side::of(after, new),
            pairs: Vec::new(),
        };
        moves.pair();
        moves
    }

    /// Those of after in their order, then those that are gone; then by job number.
    fn pair(&mut self) {
        let (old, new) = (self.before.sorted(), self.after.sorted());
        let before = |at: u32| self.before.entries[at as usize].key;
        let after = |at: u32| self.after.entries[at as usize].key;
        let order = |key: super::standing::JobKey| {
            (
                key.id,
                key.partition.map(Index::get),
                key.qos.map(Index::get),
            )
        };
        let mut earlier = vec![None; new.len()];
        let mut kept = vec![false; old.len()];
        let mut at = 0;
        for &entry in &new {
            let key = after(entry);
            while old
                .get(at)
                .is_some_and(|old| order(before(*old)) < order(key))
            {
                at += 1;
            }
            // Of entries that no key tells apart each is that of the last one.
            while old.get(at + 1).is_some_and(|next| before(*next) == key) {
                kept[old[at] as usize] = true;
                at += 1;
            }
            if let Some(found) = old.get(at).filter(|old| before(**old) == key) {
                earlier[entry as usize] = Some(*found);
                kept[*found as usize] = true;
            }
        }
        let here = earlier
            .into_iter()
            .zip(0..)
            .map(|(old, new)| [old, Some(new)]);
        let lost = kept.iter().zip(0..).filter(|(kept, _)| !**kept);
        let lost = lost.map(|(_, old)| [Some(old), None]);
        let mut pairs: Vec<_> = here.chain(lost).collect();
        let id = |pair: &[Option<u32>; 2]| match *pair {
            [_, Some(new)] => self.after.entries[new as usize].key.id,
            [Some(old), None] => self.before.entries[old as usize].key.id,
            [None, None] => 0,
        };
        pairs.sort_by_key(id);
        self.pairs = pairs;
    }

    /// How many there are: one for each partition and QOS of a job.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns true if there are no moves.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The move at a position.
    ///
    /// # Panics
    /// When there is none.
    pub fn get(&self, at: usize) -> JobMove<'_> {
        let [before, after] = self.pairs[at];
        let before = before.map(|at| &self.before.entries[at as usize]);
        let after = after.map(|at| &self.after.entries[at as usize]);
        let (about, side) = match (after, before) {
            (Some(about), _) => (about, &self.after),
            (None, Some(about)) => (about, &self.before),
            (None, None) => unreachable!("each pair has an entry"),
        };
        let job = &side.jobs[about.job as usize];
        let place = |side: Option<&Entry>| side.and_then(|entry| entry.standing.place);
        JobMove {
            job_id: about.key.id,
            user: &job.user,
            account: job.account.as_deref(),
            partition: about
                .key
                .partition
                .map(|at| self.partitions[at.get()].as_str()),
            qos: about.qos.map(|at| self.qos[at.get()].as_str()),
            moves: Move::of(place(before), place(after)),
            before: before.map(|entry| entry.standing.clone()),
            after: after.map(|entry| entry.standing.clone()),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = JobMove<'_>> + Clone {
        (0..self.len()).map(|at| self.get(at))
    }
}

/// Equal where all moves are.
impl PartialEq for JobMoves {
    fn eq(&self, other: &JobMoves) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Serialize for JobMoves {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
