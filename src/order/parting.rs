//! The point where two jobs of an order part: the sequence in which they compete, and their keys.

use super::forest::{Child, Forest};
use super::ratio::Ratio;
use super::rows::{Job, Level, Node, OrderError};

/// One of two jobs, in the sequence where they part.
#[derive(Clone, Copy, Debug)]
pub struct PartingSide {
    /// Node that competes for the job; `None`: the job is charged to the parent itself, and comes
    /// before all jobs charged below it.
    pub node: Option<u32>,
    /// Number of jobs of that node, or below it, that come before this one.
    pub jobs_before: usize,
    /// Expected use of these jobs; 0 where expected use does not count.
    pub expected_before: u128,
    /// The deciding key, lowest first: what the node will have used when this job's turn comes,
    /// over its entitlement.
    pub key: Ratio,
}

/// The point where two jobs part.
#[derive(Clone, Copy, Debug)]
pub struct Parting {
    /// Node whose children compete; `None`: competition over the whole tree.
    pub below: Option<u32>,
    /// The two jobs.
    pub sides: [PartingSide; 2],
}

impl Parting {
    /// Positions, ascending, of the jobs that decide which of the two comes first: those charged to
    /// the nodes of the two, or below them. An order of these jobs alone has the two in the same
    /// order as one of all jobs. `own`: the nodes of the two jobs.
    ///
    /// Takes time in O(n) for each level.
    pub fn competing(&self, nodes: &[Node], jobs: &[Job], own: [u32; 2]) -> Vec<u32> {
        let is_of = |job: &Job| {
            let mut sides = self.sides.iter().zip(own);
            sides.any(|(side, own)| match side.node {
                Some(node) => is_at_or_below(nodes, job.node, node),
                None => job.node == own,
            })
        };
        let all = (0..).zip(jobs).filter(|(_, job)| is_of(job));
        all.map(|(at, _)| at).collect()
    }
}

/// Point where two jobs of an order part, with their keys; `None`: both belong to one node.
/// `order`: positions of all `jobs`, first to last, as returned by
/// [`interleaved`](super::interleaved) or [`strict`](super::strict); `expects`: true for the
/// former.
///
/// Takes time in O(n).
///
/// # Errors
/// Those of [`OrderError`].
///
/// # Panics
/// If a position is not among the jobs.
pub fn parting(
    nodes: &[Node],
    level: Level,
    (order, jobs): (&[u32], &[Job]),
    pair: [u32; 2],
    expects: bool,
) -> Result<Option<Parting>, OrderError> {
    super::merge::check(nodes, jobs.iter())?;
    let forest = Forest::new(nodes, level)?;
    let own = pair.map(|job| jobs[job as usize].node);
    if own[0] == own[1] {
        return Ok(None);
    }
    let other: Vec<_> = forest.chain(own[1]).collect();
    let met = forest.chain(own[0]).find_map(|(child, below)| {
        let fits = |(_, of): &&(Child, Option<u32>)| *of == below;
        let (competitor, _) = other.iter().find(fits)?;
        (*competitor != child).then_some(([child, *competitor], below))
    });
    let (children, below) = met.expect("one sequence has all jobs");
    let side_of = |side: usize| {
        let node = match children[side] {
            Child::Node(node) => Some(node),
            Child::Own => None,
        };
        let is_of = |job: &&Job| match node {
            Some(node) => is_at_or_below(nodes, job.node, node),
            None => job.node == own[side],
        };
        let before = order.iter().take_while(|at| **at != pair[side]);
        let before = before.map(|at| &jobs[*at as usize]).filter(is_of);
        let (mut jobs_before, mut expected_before) = (0, 0_u128);
        for job in before {
            jobs_before += 1;
            expected_before = expected_before.saturating_add(job.expected);
        }
        if !expects {
            expected_before = 0;
        }
        let key = node.map_or(Ratio::ZERO, |node| {
            let Node { used, entitled, .. } = nodes[node as usize];
            Ratio::new(used.saturating_add(expected_before), entitled)
        });
        PartingSide {
            node,
            jobs_before,
            expected_before,
            key,
        }
    };
    Ok(Some(Parting {
        below,
        sides: [side_of(0), side_of(1)],
    }))
}

/// Returns true if `node` is `above` or below it.
fn is_at_or_below(nodes: &[Node], node: u32, above: u32) -> bool {
    let mut at = Some(node);
    while let Some(node) = at {
        if node == above {
            return true;
        }
        at = nodes[node as usize].parent;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::{Entitled, interleaved, strict};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The two keep their order without the jobs that do not compete with theirs.
        #[test]
        fn the_others_do_not_matter(
            nodes in prop::collection::vec((0..8_u32, 0..4_u128, 0..4_u128), 2..9),
            jobs in prop::collection::vec((0..9_u32, 0..2_i64, 0..4_i64, 0..4_u128), 2..14),
            depth in 0..4_u32,
            takes_turns: bool,
        ) {
            let node = |(at, (parent, used, entitled)): (u32, (u32, u128, u128))| {
                node((parent < at).then_some(parent), used, entitled)
            };
            let nodes: Vec<Node> = (0..).zip(nodes).map(node).collect();
            let job = |((node, tier, submit, expected), id)| Job {
                node: node % nodes.len() as u32,
                tier,
                nice: 0,
                submit,
                id,
                expected,
            };
            let jobs: Vec<Job> = jobs.into_iter().zip(1..).map(job).collect();
            let level = if depth == 0 { Level::Leaf } else { Level::Depth(depth) };
            let ordered = if takes_turns { interleaved } else { strict };
            let order = ordered(&nodes, level, &jobs).unwrap();
            let first = |order: &[u32], pair: [u32; 2]| *order.iter().find(|at| pair.contains(at)).unwrap();
            for pair in (1..jobs.len() as u32).map(|at| [at - 1, at]) {
                let met = parting(&nodes, level, (&order, &jobs), pair, takes_turns).unwrap();
                let Some(met) = met else { continue };
                let own = pair.map(|at| jobs[at as usize].node);
                let some = met.competing(&nodes, &jobs, own);
                let those: Vec<Job> = some.iter().map(|at| jobs[*at as usize]).collect();
                let alone = ordered(&nodes, level, &those).unwrap();
                let alone: Vec<u32> = alone.iter().map(|at| some[*at as usize]).collect();
                prop_assert_eq!(first(&alone, pair), first(&order, pair));
            }
        }
    }

    fn node(parent: Option<u32>, used: u128, entitled: u128) -> Node {
        Node {
            parent,
            used,
            entitled: Entitled::whole(entitled),
        }
    }

    fn job(node: u32, id: u64) -> Job {
        Job {
            node,
            id,
            submit: id as i64,
            expected: 1,
            ..Job::default()
        }
    }

    // By hand, from the example of interleaved orders: A is entitled to 2, B to 1; the order is A1
    // B1 A2 A3 B2 B3. Before A3, A has used 2 of 2; before B2, B has used 1 of 1: a tie. Without
    // expected use all keys are 0.
    #[test]
    fn keys_are_what_will_have_been_used() {
        let nodes = [node(None, 0, 2), node(None, 0, 1)];
        let jobs: Vec<Job> = [0, 0, 0, 1, 1, 1]
            .iter()
            .zip(1..)
            .map(|(node, id)| job(*node, id))
            .collect();
        let order = interleaved(&nodes, Level::Leaf, &jobs).unwrap();
        let met = |pair| {
            parting(&nodes, Level::Leaf, (&order, &jobs), pair, true)
                .unwrap()
                .unwrap()
        };
        let [a3, b2] = met([2, 4]).sides;
        assert_eq!((a3.jobs_before, b2.jobs_before), (2, 1));
        assert_eq!((a3.expected_before, b2.expected_before), (2, 1));
        assert_eq!(a3.key, b2.key);
        let [a2, b2] = met([1, 4]).sides;
        assert_eq!(a2.key, Ratio::new(1, Entitled::whole(2)));
        assert!(a2.key < b2.key);
        let order = strict(&nodes, Level::Leaf, &jobs).unwrap();
        let met = parting(&nodes, Level::Leaf, (&order, &jobs), [2, 5], false).unwrap();
        let [a3, b3] = met.unwrap().sides;
        assert_eq!((a3.key, b3.key), (Ratio::ZERO, Ratio::ZERO));
        assert_eq!((a3.jobs_before, b3.jobs_before), (2, 2));
        let same = parting(&nodes, Level::Leaf, (&order, &jobs), [0, 1], false);
        assert!(same.unwrap().is_none());
    }

    // Hub 0 with groups 1 and 2, and hub 3. At depth 1, jobs of 1 and 2 part below hub 0, and both
    // part from jobs of 3 over the whole tree. A job of hub 0 itself comes before those of its
    // groups.
    #[test]
    fn the_level_is_the_lowest_that_both_stand_in() {
        let nodes = [
            node(None, 30, 60),
            node(Some(0), 20, 20),
            node(Some(0), 10, 40),
            node(None, 30, 40),
        ];
        let jobs = [job(1, 1), job(2, 2), job(3, 3), job(0, 4)];
        let order = strict(&nodes, Level::Depth(1), &jobs).unwrap();
        assert_eq!(order, [3, 1, 0, 2]);
        let met = |a, b| {
            let level = Level::Depth(1);
            let met = parting(&nodes, level, (&order, &jobs), [a, b], false);
            let met = met.unwrap().unwrap();
            (met.below, met.sides.map(|side| side.node))
        };
        assert_eq!(met(0, 1), (Some(0), [Some(1), Some(2)]));
        assert_eq!(met(1, 2), (None, [Some(0), Some(3)]));
        assert_eq!(met(3, 0), (Some(0), [None, Some(1)]));
    }
}
