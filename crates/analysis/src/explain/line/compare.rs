//! The reason why one job is before another.

use std::cmp::Ordering;

use serde::Serialize;

use super::super::{ExplainError, Side};
use super::swap::{self, Swap};
use super::{JobPlace, NodeStanding, OrderWord, OrderedQueue};
use fairtree::order::{Job, OrderError, Parting, parting};
use fairtree_model::cluster::{ClusterJob, Names};

/// The deciding difference between two jobs: the first of these that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// One of them has no place in the order.
    NoPlace,
    /// `tiers=`: the higher priority of QOS or partition.
    Tier,
    /// One is charged to the account itself that the other's is below.
    OwnJobs,
    /// The lower ratio at the level where they part.
    Ratio,
    /// Equal ratios there: of the jobs whose turn it is the oldest first.
    EqualRatios,
    /// Both are of one association: the lower nice value.
    Nice,
    /// Both are of one association: the older one.
    SubmitTime,
    /// And submitted in one second: the lower job number.
    JobNumber,
}

/// Two jobs in an order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlacesCompared {
    /// `order=`.
    pub order: OrderWord,
    /// Number of jobs in the order.
    pub waiting: usize,
    /// The two, in the order of the question.
    pub jobs: [JobPlace; 2],
    /// Which comes first; `None`: one of them has no place.
    pub first: Option<Side>,
    /// The deciding difference.
    pub cause: Cause,
    /// The account below which they part; `None`: they compete over the whole tree, or do not part.
    pub below: Option<String>,
    /// Who competes for each where they part, once the turn of the job comes; `None`: both are of one
    /// association, or one has no place.
    pub sides: Option<[NodeStanding; 2]>,
    /// Each of these would swap the two, all else as it is.
    pub swaps: Vec<Swap>,
}

impl OrderedQueue<'_> {
    /// Compares two different jobs, and finds what would swap them.
    ///
    /// # Errors
    /// [`ExplainError::SameJob`], [`ExplainError::Order`].
    pub fn compare(&self, jobs: [&ClusterJob; 2]) -> Result<PlacesCompared, ExplainError> {
        if jobs[0].job.id == jobs[1].job.id {
            return Err(ExplainError::SameJob { id: jobs[0].job.id });
        }
        let mut compared = self.compared(jobs)?;
        let slots = jobs.map(|job| self.slot(job));
        if let (Some(first), [Some((_, a)), Some((_, b))]) = (compared.first, slots) {
            let met = self.parting([a, b])?;
            let moves = first.other().position();
            compared.swaps = swap::all(self, [a, b], met.as_ref(), compared.cause, moves)?;
        }
        Ok(compared)
    }

    fn parting(&self, pair: [u32; 2]) -> Result<Option<Parting>, OrderError> {
        let expects = self.word == OrderWord::Interleaved;
        let order = (&self.order[..], &self.jobs[..]);
        parting(&self.nodes, self.level, order, pair, expects)
    }

    /// As [`OrderedQueue::compare`], without what would swap them.
    pub(super) fn compared(&self, jobs: [&ClusterJob; 2]) -> Result<PlacesCompared, OrderError> {
        let mut compared = PlacesCompared {
            order: self.word,
            waiting: self.waiting(),
            jobs: jobs.map(|job| self.described(job)),
            first: None,
            cause: Cause::NoPlace,
            below: None,
            sides: None,
            swaps: Vec::new(),
        };
        if let [Some((a, slot_a)), Some((b, slot_b))] = jobs.map(|job| self.slot(job)) {
            let met = self.parting([slot_a, slot_b])?;
            compared.first = Some(if a < b { Side::First } else { Side::Second });
            compared.cause = cause(
                [slot_a, slot_b].map(|slot| &self.jobs[slot as usize]),
                met.as_ref(),
            );
            compared.below = met.and_then(|met| {
                let account = self.assocs[met.below? as usize]?;
                Some(self.cluster.assoc(account))
            });
            compared.sides = met.map(|met| met.sides.map(|side| self.standing(&side)));
        }
        Ok(compared)
    }
}

fn cause([a, b]: [&Job; 2], met: Option<&Parting>) -> Cause {
    if a.tier != b.tier {
        return Cause::Tier;
    }
    match met {
        Some(met) => {
            let [one, other] = &met.sides;
            match one.key.cmp(&other.key) {
                _ if one.node.is_none() || other.node.is_none() => Cause::OwnJobs,
                Ordering::Equal => Cause::EqualRatios,
                Ordering::Less | Ordering::Greater => Cause::Ratio,
            }
        }
        None if a.nice != b.nice => Cause::Nice,
        None if a.submit != b.submit => Cause::SubmitTime,
        None => Cause::JobNumber,
    }
}
