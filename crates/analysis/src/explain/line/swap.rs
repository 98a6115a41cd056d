//! Changes that would swap two jobs of an order.
//!
//! Amounts are looked for by halving; the engine orders all jobs that compete with the two again: with
//! the amount named the two are swapped, with one less they are not.

use serde::Serialize;

use super::super::search::least;
use super::{Cause, OrderedQueue};
use fairtree::order::{Entitled, Job, Node, OrderError, Parting};
use fairtree::tree::{AssocIndex, Shares};
use fairtree_model::cluster::Names;

/// A change that would swap two jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Swap {
    /// Of what kind.
    #[serde(flatten)]
    pub kind: SwapKind,
    /// The least amount that swaps them.
    pub least: u64,
}

/// Kinds of changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SwapKind {
    /// The association of the later job had used that many TRES-seconds less.
    LessUsage {
        /// Its name.
        name: String,
    },
    /// The association of the job ahead uses that many TRES-seconds more.
    MoreUsage {
        /// Its name.
        name: String,
    },
    /// The association of the later job had that many raw shares more.
    MoreShares {
        /// Its name.
        name: String,
        /// Those that it has.
        raw_shares: u32,
    },
    /// It had that many minutes more.
    MoreMinutes {
        /// Its name.
        name: String,
        /// Those that it has.
        minutes: u64,
    },
    /// A nice value lower by that much.
    LowerNice {
        /// The nice value that the later job has.
        nice: i64,
    },
    /// Its QOS or partition had a priority higher by that much.
    HigherTier {
        /// The one that it has.
        priority: i64,
    },
}

/// More than this of anything is not looked for: TRES-seconds, a billion CPUs for a month.
const MOST: u64 = 1 << 51;
/// The largest raw share, nice value and priority that are looked for.
const MOST_RAW: u64 = 0x7fff_fffd;

/// All that swap the job at `moves` of `pair` with the other, which is before it.
pub(super) fn all(
    queue: &OrderedQueue<'_>,
    pair: [u32; 2],
    met: Option<&Parting>,
    cause: Cause,
    moves: usize,
) -> Result<Vec<Swap>, OrderError> {
    let trial = Trial::new(queue, pair, met, moves);
    let own = queue.jobs[pair[moves] as usize];
    let mut found = Vec::new();
    let mut add = |kind: SwapKind, least: Option<u64>| {
        found.extend(least.map(|least| Swap { kind, least }));
    };
    match (cause, met) {
        (Cause::Tier, _) => {
            let kind = SwapKind::HigherTier { priority: own.tier };
            add(kind, trial.of_job(|job, more| job.tier += more));
        }
        (_, None) => {
            let kind = SwapKind::LowerNice { nice: own.nice };
            add(kind, trial.of_job(|job, less| job.nice -= less));
        }
        (Cause::Ratio | Cause::EqualRatios, Some(met)) => {
            let nodes = [moves, 1 - moves].map(|side| met.sides[side].node);
            let [Some(behind), Some(ahead)] = nodes else {
                return Ok(found);
            };
            let cluster = queue.cluster;
            let assocs = [behind, ahead].map(|node| queue.assocs[node as usize]);
            let [Some(assoc), Some(assoc_ahead)] = assocs else {
                return Ok(found);
            };
            let name = || cluster.assoc(assoc);
            let unit = 1_u128 << 10;
            let used = queue.nodes[behind as usize].used / unit;
            let used = u64::try_from(used).unwrap_or(MOST).min(MOST);
            let less = trial.of_node(used, |nodes, amount| {
                charge(nodes, behind, |used| {
                    used.saturating_sub(u128::from(amount) * unit)
                });
            });
            add(SwapKind::LessUsage { name: name() }, less);
            let more = trial.of_node(MOST, |nodes, amount| {
                charge(nodes, ahead, |used| {
                    used.saturating_add(u128::from(amount) * unit)
                });
            });
            let ahead_name = cluster.assoc(assoc_ahead);
            add(SwapKind::MoreUsage { name: ahead_name }, more);
            let minutes = cluster.entitlement().seconds(assoc).map(|secs| secs / 60);
            if let Some(minutes) = minutes {
                let more = trial.of_node(MOST / 60, |nodes, amount| {
                    let secs = (u128::from(minutes) + u128::from(amount)) * 60;
                    nodes[behind as usize].entitled = Entitled::whole(secs * unit);
                });
                let name = name();
                add(SwapKind::MoreMinutes { name, minutes }, more);
            } else if let Some((raw_shares, siblings)) = shares(queue, assoc, assoc_ahead) {
                let more = trial.of_node(MOST_RAW, |nodes, amount| {
                    more_shares(queue, nodes, &siblings, behind, amount);
                });
                let name = name();
                add(SwapKind::MoreShares { name, raw_shares }, more);
            }
        }
        (_, Some(_)) => {}
    }
    Ok(found)
}

/// The raw shares of an association beside another one, and the siblings of both with theirs and
/// their nodes; `None`: they are no siblings, or have others below them, whose parts would change, too.
fn shares(
    queue: &OrderedQueue<'_>,
    assoc: AssocIndex,
    other: AssocIndex,
) -> Option<(u32, Vec<(u32, u64)>)> {
    let (tree, entitlement) = (queue.cluster.tree(), queue.cluster.entitlement());
    let Shares::Raw(raw) = tree.rows()[assoc.get()].shares else {
        return None;
    };
    let parent = tree.fs_parent(assoc)?;
    if tree.fs_parent(other) != Some(parent) {
        return None;
    }
    let nodes = (0..).zip(&queue.assocs);
    let siblings = nodes.filter_map(|(node, at)| {
        let at = (*at)?;
        let is = tree.fs_parent(at) == Some(parent) && entitlement.seconds(at).is_none();
        let raw = tree.rows()[at.get()].shares.raw().filter(|_| is)?;
        Some((node, raw.into()))
    });
    let siblings: Vec<(u32, u64)> = siblings.collect();
    let inner = queue.nodes.iter().filter_map(|node| node.parent);
    let mut inner = inner.filter(|above| siblings.iter().any(|(node, _)| node == above));
    inner.next().is_none().then_some((raw, siblings))
}

/// Divides what the siblings have together anew.
fn more_shares(
    queue: &OrderedQueue<'_>,
    nodes: &mut [Node],
    siblings: &[(u32, u64)],
    behind: u32,
    amount: u64,
) {
    let before: u64 = siblings.iter().map(|(_, raw)| raw).sum();
    let own = siblings.iter().find(|(_, raw)| *raw > 0);
    let Some(&(first, shares)) = own else {
        return;
    };
    let together = queue.nodes[first as usize].entitled.part(before, shares);
    for &(node, raw) in siblings {
        let raw = raw + if node == behind { amount } else { 0 };
        nodes[node as usize].entitled = together.part(raw, before + amount);
    }
}

/// Changes what a node and those above it used.
fn charge(nodes: &mut [Node], node: u32, change: impl Fn(u128) -> u128) {
    let mut at = Some(node);
    while let Some(node) = at {
        let row = &mut nodes[node as usize];
        row.used = change(row.used);
        at = row.parent;
    }
}

/// Two jobs whose order is tried.
struct Trial<'a> {
    queue: &'a OrderedQueue<'a>,
    /// All that may decide between the two.
    jobs: Vec<Job>,
    /// Where the two are among these.
    pair: [u32; 2],
    moves: usize,
}

impl<'a> Trial<'a> {
    fn new(
        queue: &'a OrderedQueue<'a>,
        pair: [u32; 2],
        met: Option<&Parting>,
        moves: usize,
    ) -> Trial<'a> {
        let job = |at: &u32| queue.jobs[*at as usize];
        let own = [0, 1].map(|side| job(&pair[side]).node);
        let competing = match met {
            Some(met) => met.competing(&queue.nodes, &queue.jobs, own),
            // Jobs of one node are in order of arrival.
            None => pair.to_vec(),
        };
        let place = |at: u32| competing.iter().position(|other| *other == at);
        let place = |at: u32| place(at).expect("both compete") as u32;
        Trial {
            queue,
            jobs: competing.iter().map(job).collect(),
            pair: pair.map(place),
            moves,
        }
    }

    /// Returns true if the job that moves comes before the other.
    fn swaps(&self, nodes: &[Node], jobs: &[Job]) -> bool {
        let Ok(order) = self.queue.ordered(nodes, jobs) else {
            return false;
        };
        let first = order.iter().find(|at| self.pair.contains(at));
        first == Some(&self.pair[self.moves])
    }

    /// The least by which a number of the job has to change.
    fn of_job(&self, change: impl Fn(&mut Job, i64)) -> Option<u64> {
        let own = self.pair[self.moves] as usize;
        let mut jobs = self.jobs.clone();
        least(MOST_RAW, |amount| {
            jobs[own] = self.jobs[own];
            change(&mut jobs[own], i64::try_from(amount).unwrap_or(i64::MAX));
            self.swaps(&self.queue.nodes, &jobs)
        })
    }

    /// The least by which a number of `node` has to change.
    fn of_node(&self, most: u64, change: impl Fn(&mut [Node], u64)) -> Option<u64> {
        let mut nodes = self.queue.nodes.clone();
        least(most, |amount| {
            nodes.copy_from_slice(&self.queue.nodes);
            change(&mut nodes, amount);
            self.swaps(&nodes, &self.jobs)
        })
    }
}
