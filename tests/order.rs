//! Compares orders of jobs with a loop that picks and charges, written from the definition.

mod common;

use std::cmp::Ordering;

use common::random::Random;
use fairtree::order::{Entitled, Job, Level, Node, OrderError, interleaved, positions, strict};
use num_bigint::BigInt;
use num_rational::BigRational;

/// A site with small numbers, so that ratios often tie.
struct Small {
    parents: Vec<Option<u32>>,
    used: Vec<u128>,
    /// Numerators and denominators.
    entitled: Vec<(u64, u64)>,
    level: Level,
    jobs: Vec<Job>,
}

impl Small {
    fn random(random: &mut Random) -> Small {
        let mut parents: Vec<Option<u32>> = Vec::new();
        let mut depth = Vec::new();
        for _ in 0..1 + random.below(12) {
            let above: Vec<usize> = (0..parents.len()).filter(|at| depth[*at] < 3).collect();
            let chosen = random.below(above.len() as u64 + 2) as usize;
            let parent = above.get(chosen).copied();
            depth.push(parent.map_or(1, |parent| depth[parent] + 1));
            parents.push(parent.map(|parent| parent as u32));
        }
        let mut used: Vec<u128> = (parents.iter()).map(|_| random.below(4).into()).collect();
        for node in (0..parents.len()).rev() {
            if let Some(parent) = parents[node] {
                used[parent as usize] += used[node];
            }
        }
        let entitled = (parents.iter())
            .map(|_| (random.below(4), 1 + random.below(3)))
            .collect();
        let kind = random.below(4) as u32;
        let (charged, tiers) = (random.below(4) > 0, random.below(4) == 0);
        let jobs = (0..random.below(24))
            .map(|id| Job {
                node: random.below(parents.len() as u64) as u32,
                tier: if tiers { random.below(3) as i64 - 1 } else { 0 },
                nice: random.below(4).saturating_sub(2) as i64,
                submit: random.below(12) as i64,
                id,
                expected: if charged { random.below(4).into() } else { 0 },
            })
            .collect();
        Small {
            parents,
            used,
            entitled,
            level: if kind == 3 {
                Level::Leaf
            } else {
                Level::Depth(kind + 1)
            },
            jobs,
        }
    }

    fn nodes(&self) -> Vec<Node> {
        (0..self.parents.len())
            .map(|at| Node {
                parent: self.parents[at],
                used: self.used[at],
                entitled: Entitled::whole(self.entitled[at].0.into()).part(1, self.entitled[at].1),
            })
            .collect()
    }
}

/// The definition, step by step.
struct Naive<'a> {
    small: &'a Small,
    used: Vec<u128>,
    waiting: Vec<usize>,
}

/// Class and ratio: nodes without entitlement come last, the unused first among them.
type Key = (u8, BigRational);

impl Naive<'_> {
    fn order(small: &Small, charging: bool) -> Vec<u32> {
        let mut naive = Naive {
            small,
            used: small.used.clone(),
            waiting: (0..small.jobs.len()).collect(),
        };
        let mut order = Vec::new();
        while let Some(next) = naive.next() {
            order.push(next as u32);
            naive.waiting.retain(|job| *job != next);
            let mut above = Some(small.jobs[next].node);
            while let Some(node) = above
                && charging
            {
                naive.used[node as usize] += small.jobs[next].expected;
                above = small.parents[node as usize];
            }
        }
        order
    }

    fn ratio(&self, node: usize) -> Key {
        let (shares, of) = self.small.entitled[node];
        let zero = BigRational::from(BigInt::from(0));
        let used = self.used[node];
        match (shares, used) {
            (0, 0) => (1, zero),
            (0, _) => (2, zero),
            _ => (
                0,
                BigRational::new((used * u128::from(of)).into(), shares.into()),
            ),
        }
    }

    fn depth(&self, node: usize) -> u32 {
        1 + self.small.parents[node].map_or(0, |parent| self.depth(parent as usize))
    }

    fn children(&self, node: usize) -> Vec<usize> {
        (0..self.used.len())
            .filter(|child| self.small.parents[*child] == Some(node as u32))
            .collect()
    }

    fn next(&self) -> Option<usize> {
        let level = match self.small.level {
            Level::Depth(level) => level,
            Level::Leaf => u32::MAX,
        };
        let all = 0..self.used.len();
        let candidates = all.filter_map(|node| {
            let depth = self.depth(node);
            let job = match depth.cmp(&level) {
                Ordering::Less => self.own(node),
                Ordering::Equal => self.best_below(node),
                Ordering::Greater => None,
            };
            Some((self.ratio(node), job?))
        });
        self.first(candidates.collect())
    }

    fn tier(&self) -> Option<i64> {
        self.waiting
            .iter()
            .map(|job| self.small.jobs[*job].tier)
            .max()
    }

    /// The first own job of a node.
    fn own(&self, node: usize) -> Option<usize> {
        let mut own: Vec<usize> = (self.waiting.iter().copied())
            .filter(|job| self.small.jobs[*job].node as usize == node)
            .filter(|job| Some(self.small.jobs[*job].tier) == self.tier())
            .collect();
        own.sort_by_key(|job| {
            let job = &self.small.jobs[*job];
            (job.nice, job.submit, job.id)
        });
        own.first().copied()
    }

    fn best_below(&self, node: usize) -> Option<usize> {
        let mut candidates = Vec::new();
        if let Some(job) = self.own(node) {
            candidates.push(((0, BigRational::from(BigInt::from(0))), job));
        }
        for child in self.children(node) {
            if let Some(job) = self.best_below(child) {
                candidates.push((self.ratio(child), job));
            }
        }
        self.first(candidates)
    }

    fn first(&self, candidates: Vec<(Key, usize)>) -> Option<usize> {
        let age = |job: usize| (self.small.jobs[job].submit, self.small.jobs[job].id);
        (candidates.into_iter())
            .min_by(|a, b| a.0.cmp(&b.0).then(age(a.1).cmp(&age(b.1))))
            .map(|(_, job)| job)
    }
}

#[test]
fn interleaved_and_strict_are_what_the_loop_picks() {
    let mut random = Random::new(25);
    let mut ties = 0;
    for case in 0..3_000 {
        let small = Small::random(&mut random);
        let expected = Naive::order(&small, true);
        let nodes = small.nodes();
        let order = interleaved(&nodes, small.level, &small.jobs).unwrap();
        assert_eq!(order, expected, "case {case}");
        let without = Naive::order(&small, false);
        let order = strict(&nodes, small.level, &small.jobs).unwrap();
        assert_eq!(order, without, "case {case}");
        ties += usize::from(expected != without);
    }
    assert!(ties > 500, "orders that differ: {ties}");
}

#[test]
fn without_expected_use_interleaved_is_strict() {
    let mut random = Random::new(26);
    for _ in 0..500 {
        let mut small = Small::random(&mut random);
        let nodes = small.nodes();
        let order = strict(&nodes, small.level, &small.jobs).unwrap();
        for job in &mut small.jobs {
            job.expected = 0;
        }
        assert_eq!(
            interleaved(&nodes, small.level, &small.jobs).unwrap(),
            order
        );
    }
}

/// By hand: keys of A are 0, 1/2, 1, those of B 0, 1, 2.
#[test]
fn the_example_of_two_accounts() {
    let nodes = [2, 1].map(|whole| Node {
        entitled: Entitled::whole(whole),
        ..Node::default()
    });
    let job = |node, id| Job {
        node,
        id,
        submit: id as i64,
        expected: 1,
        ..Job::default()
    };
    let jobs = [
        job(0, 1),
        job(0, 2),
        job(0, 3),
        job(1, 4),
        job(1, 5),
        job(1, 6),
    ];
    let order = interleaved(&nodes, Level::Depth(1), &jobs).unwrap();
    assert_eq!(order, [0, 3, 1, 2, 4, 5], "A1 B1 A2 A3 B2 B3");
    assert_eq!(positions(&order), [0, 2, 3, 1, 4, 5]);
    let order = strict(&nodes, Level::Leaf, &jobs).unwrap();
    assert_eq!(
        order,
        [0, 1, 2, 3, 4, 5],
        "unused both: the older job first"
    );
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let mut random = Random::new(27);
    for _ in 0..500 {
        let small = Small::random(&mut random);
        let nodes = small.nodes();
        let order = interleaved(&nodes, small.level, &small.jobs).unwrap();
        let mut shuffle = |len: usize| {
            let mut to: Vec<usize> = (0..len).collect();
            for at in (1..len).rev() {
                to.swap(at, random.below(at as u64 + 1) as usize);
            }
            to
        };
        let (node_to, job_to) = (shuffle(nodes.len()), shuffle(small.jobs.len()));
        let mut moved = nodes.clone();
        for (at, node) in nodes.iter().enumerate() {
            let parent = node.parent.map(|parent| node_to[parent as usize] as u32);
            moved[node_to[at]] = Node { parent, ..*node };
        }
        let mut jobs = small.jobs.clone();
        for (at, job) in small.jobs.iter().enumerate() {
            let node = node_to[job.node as usize] as u32;
            jobs[job_to[at]] = Job { node, ..*job };
        }
        let again = interleaved(&moved, small.level, &jobs).unwrap();
        let expected: Vec<u32> = order
            .iter()
            .map(|job| job_to[*job as usize] as u32)
            .collect();
        assert_eq!(again, expected);
    }
}

#[test]
fn rows_that_are_no_tree_are_refused() {
    let node = |parent| Node {
        parent,
        ..Node::default()
    };
    let job = Job {
        node: 2,
        id: 7,
        ..Job::default()
    };
    let level = Level::Depth(1);
    assert_eq!(interleaved(&[], level, &[]), Ok(Vec::new()));
    assert_eq!(
        interleaved(&[node(None)], level, &[job])
            .unwrap_err()
            .to_string(),
        "job 7: node 2 is not among the 1 nodes"
    );
    assert_eq!(
        strict(&[node(Some(1))], level, &[])
            .unwrap_err()
            .to_string(),
        "node 0: its parent 1 is not among the 1 nodes"
    );
    let circle = [node(Some(1)), node(Some(2)), node(Some(1))];
    let error = strict(&circle, level, &[]).unwrap_err();
    assert_eq!(error, OrderError::Cycle { node: 0 });
}

/// A chain of all nodes must not need stack.
#[test]
fn depth_comes_from_input() {
    let depth = 100_000;
    let nodes: Vec<Node> = (0..depth)
        .map(|at: u32| Node {
            parent: at.checked_sub(1),
            entitled: Entitled::whole(1),
            used: 0,
        })
        .collect();
    let jobs: Vec<Job> = [depth - 1, depth - 2]
        .iter()
        .zip(0..)
        .map(|(&node, id)| Job {
            node,
            id,
            ..Job::default()
        })
        .collect();
    for level in [Level::Depth(1), Level::Depth(depth), Level::Leaf] {
        let order = interleaved(&nodes, level, &jobs).unwrap();
        assert_eq!(order.len(), 2);
    }
}
