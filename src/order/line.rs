//! Jobs in their order, with their numbers: where one more belongs.

use std::collections::BTreeSet;

use super::integers::{MAX_NUMBER, Number, between, renumber};
use super::merge::{self, interleaved};
use super::ratio::Ratio;
use super::rows::{Job, Level, Node, OrderError};

/// A job that stands in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The job. Of an order by present ratios, its expected use is 0.
    pub job: Job,
    /// Its number, the larger comes first; 0: it has none yet.
    pub number: u32,
}

/// Jobs in the order of [`super::interleaved`] or [`super::strict`], to which single ones come.
///
/// A job that comes gets the place that it would have if all were sorted from scratch. Those behind it
/// may then have other places among themselves; they keep theirs until the next order. Where it
/// comes before older jobs of its node or of one beside it, a tie above them may go to another
/// node that these had won: it stands before the older ones nevertheless.
#[derive(Clone, Debug, Default)]
pub struct Line {
    nodes: Vec<Node>,
    depths: Vec<u32>,
    inner: Vec<bool>,
    level: Option<Level>,
    /// First to last.
    jobs: Vec<Placed>,
    /// Numbers that are not given.
    fixed: BTreeSet<u32>,
}

/// What a job of some sequence belongs to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Child {
    /// This node.
    Node(u32),
    /// The parent itself, which has other nodes below it.
    Own,
}

impl Line {
    /// A line of jobs that stand in their order, first to last.
    ///
    /// `fixed`: numbers set by administrators, which are not given.
    ///
    /// # Errors
    /// Those of [`OrderError`].
    pub fn new(
        nodes: Vec<Node>,
        level: Level,
        jobs: Vec<Placed>,
        fixed: BTreeSet<u32>,
    ) -> Result<Line, OrderError> {
        merge::check(&nodes, jobs.iter().map(|placed| &placed.job))?;
        Ok(Line {
            depths: merge::depths(&nodes)?,
            inner: merge::inner(&nodes),
            nodes,
            level: Some(level),
            jobs,
            fixed,
        })
    }

    /// A line of jobs that stand anyhow, each with the number that it has, or 0: puts them in
    /// order and gives them numbers, of which as few as possible are others than they had. Also
    /// gives the number of each job, in the order of `jobs`.
    ///
    /// `interleaves`: by [`super::interleaved`], else by [`super::strict`]; `fixed` as above.
    ///
    /// # Errors
    /// Those of [`OrderError`].
    pub fn ordered(
        nodes: Vec<Node>,
        level: Level,
        interleaves: bool,
        jobs: &[Placed],
        fixed: BTreeSet<u32>,
    ) -> Result<(Line, Vec<u32>), OrderError> {
        let mut rows: Vec<Job> = jobs.iter().map(|placed| placed.job).collect();
        if !interleaves {
            rows.iter_mut().for_each(|job| job.expected = 0);
        }
        let order = interleaved(&nodes, level, &rows)?;
        let free = order
            .iter()
            .map(|&at| Number::Free(jobs[at as usize].number));
        let fixed_numbers = fixed.iter().map(|&number| Number::Fixed(number));
        let mut numbers: Vec<u32> = jobs.iter().map(|placed| placed.number).collect();
        for change in renumber(&free.chain(fixed_numbers).collect::<Vec<_>>()) {
            numbers[order[change.place as usize] as usize] = change.number;
        }
        let placed = order.iter().map(|&at| Placed {
            job: rows[at as usize],
            number: numbers[at as usize],
        });
        let line = Line::new(nodes, level, placed.collect(), fixed)?;
        Ok((line, numbers))
    }

    /// The jobs, first to last.
    pub fn jobs(&self) -> &[Placed] {
        &self.jobs
    }

    /// Takes a job out of the line; `None`: it is not there. Takes time in O(n).
    pub fn remove(&mut self, id: u64) -> Option<Placed> {
        let at = self.jobs.iter().position(|placed| placed.job.id == id)?;
        Some(self.jobs.remove(at))
    }

    /// Puts a job in its place and gives its number. It keeps the number that it `had`, if that
    /// is right there. Where no number is left, it gets that of the job before it, and a new order
    /// makes room. Takes time in O(n) for each level.
    ///
    /// # Errors
    /// A node that is not there; the line stays as it is.
    pub fn insert(&mut self, job: Job, had: Option<u32>) -> Result<u32, OrderError> {
        merge::check(&self.nodes, std::iter::once(&job))?;
        let at = self.place(&job);
        let above = at.checked_sub(1).map(|at| self.jobs[at].number);
        let below = self.jobs.get(at).map(|placed| placed.number);
        let fits = |number: &u32| {
            above.is_none_or(|above| *number < above)
                && *number > below.unwrap_or(0)
                && *number <= MAX_NUMBER
                && !self.fixed.contains(number)
        };
        let number = had.filter(fits);
        let number = number.or_else(|| between(above, below, &self.fixed));
        let number = number.or(above).unwrap_or(MAX_NUMBER);
        self.jobs.insert(at, Placed { job, number });
        Ok(number)
    }

    /// Where a job belongs.
    ///
    /// As long as it is not taken, the others are taken as without it. So from its node up to the
    /// level it is enough to find the first job of each sequence that it comes before.
    fn place(&self, job: &Job) -> usize {
        let start = self.jobs.partition_point(|one| one.job.tier > job.tier);
        let end = self.jobs.partition_point(|one| one.job.tier >= job.tier);
        let mut used: Vec<u128> = self.nodes.iter().map(|node| node.used).collect();
        for placed in &self.jobs[..start] {
            self.charge(&mut used, &placed.job);
        }
        let tier = &self.jobs[start..end];
        let within = |job: &Job| (job.nice, job.submit, job.id);
        let before = tier.iter().filter(|one| one.job.node == job.node);
        let mut before = before.filter(|one| within(&one.job) < within(job)).count();
        for (child, parent) in self.chain(job.node) {
            before = self.place_below(tier, &used, (child, parent), before, job);
        }
        start + before
    }

    /// How many jobs below `parent` are taken before the one that has `before` others before it
    /// below `child`.
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
            let Some(of) = self.child(other.node, parent) else {
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
                Ratio::new(used[at], self.nodes[at].entitled)
            }
        }
    }

    fn charge(&self, used: &mut [u128], job: &Job) {
        let mut above = Some(job.node).filter(|_| job.expected > 0);
        while let Some(node) = above {
            let used = &mut used[node as usize];
            *used = used.saturating_add(job.expected);
            above = self.nodes[node as usize].parent;
        }
    }

    /// Whether a node competes over the whole tree; also with those below it, if `above`.
    fn is_over_all(&self, node: u32, above: bool) -> bool {
        match self.level {
            None | Some(Level::Leaf) => true,
            Some(Level::Depth(level)) => {
                self.depths[node as usize] + u32::from(above) <= level.max(1)
            }
        }
    }

    /// What a job of `node` belongs to in the sequence of `parent`, or of all; `None`: to nothing.
    fn child(&self, node: u32, parent: Option<u32>) -> Option<Child> {
        let mut chain = self.chain(node);
        chain.find_map(|(child, of)| (of == parent).then_some(child))
    }

    /// The sequences that a job of `node` stands in, from its own up to that of all.
    fn chain(&self, node: u32) -> impl Iterator<Item = (Child, Option<u32>)> + '_ {
        let over_all = self.is_over_all(node, true);
        let own = !over_all && self.inner[node as usize];
        let mut at = Some(node);
        let nodes = std::iter::from_fn(move || {
            let child = at?;
            let top = over_all || self.is_over_all(child, false);
            let parent = self.nodes[child as usize].parent.filter(|_| !top);
            at = parent;
            Some((Child::Node(child), parent))
        });
        own.then_some((Child::Own, Some(node)))
            .into_iter()
            .chain(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Entitled, interleaved, positions, strict};
    use super::*;
    use proptest::prelude::*;

    fn jobs(nodes: usize) -> impl Strategy<Value = Vec<Job>> {
        let job = (0..nodes as u32, 0..2_i64, 0..4_i64, 0..4_u128);
        prop::collection::vec(job, 1..14).prop_map(|rows| {
            let job = |((node, tier, submit, expected), id)| Job {
                node,
                tier,
                nice: 0,
                submit,
                id,
                expected,
            };
            rows.into_iter().zip(1..).map(job).collect()
        })
    }

    fn nodes() -> impl Strategy<Value = Vec<Node>> {
        let node = (0..8_u32, 0..4_u128, 0..4_u128);
        prop::collection::vec(node, 1..9).prop_map(|rows| {
            let node = |(at, (parent, used, entitled)): (u32, (u32, u128, u128))| Node {
                parent: (parent < at).then_some(parent),
                used,
                entitled: Entitled::whole(entitled),
            };
            (0..).zip(rows).map(node).collect()
        })
    }

    fn level() -> impl Strategy<Value = Level> {
        prop_oneof![Just(Level::Leaf), (1..4_u32).prop_map(Level::Depth)]
    }

    proptest! {
        /// The last job comes to a line of the others: its place is that of an order of all.
        #[test]
        fn a_place_is_that_of_a_new_order(
            (nodes, jobs) in nodes().prop_flat_map(|nodes| {
                let jobs = jobs(nodes.len());
                (Just(nodes), jobs)
            }),
            level in level(),
            takes_turns: bool,
        ) {
            let order = if takes_turns { interleaved } else { strict };
            let (last, others) = jobs.split_last().unwrap();
            let sorted = order(&nodes, level, others).unwrap();
            let had: Vec<Placed> = others.iter().map(|&job| Placed { job, number: 0 }).collect();
            let fixed = BTreeSet::from([2048, MAX_NUMBER]);
            let ordered = Line::ordered(nodes.clone(), level, takes_turns, &had, fixed.clone());
            let (mut line, numbers) = ordered.unwrap();
            let ids: Vec<u64> = line.jobs().iter().map(|one| one.job.id).collect();
            let same = sorted.iter().map(|at| others[*at as usize].id);
            prop_assert_eq!(ids, same.collect::<Vec<_>>());
            prop_assert!(numbers.iter().all(|number| *number > 0 && !fixed.contains(number)));
            // What stands right is left.
            let had = line.jobs().to_vec();
            let again = Line::ordered(nodes.clone(), level, takes_turns, &had, fixed).unwrap();
            prop_assert_eq!(again.0.jobs(), &had[..]);
            let number = line.insert(*last, None).unwrap();
            let at = line.jobs().iter().position(|one| one.job.id == last.id).unwrap();
            let all = order(&nodes, level, &jobs).unwrap();
            let place = positions(&all)[jobs.len() - 1] as usize;
            if all[..place] == sorted[..place] {
                prop_assert_eq!(at, place);
            } else {
                // A tie went to another node.
                prop_assert!(at < place);
            }
            prop_assert!(line.jobs().windows(2).all(|two| two[0].number > two[1].number));
            // Taken out and put back it keeps its number.
            prop_assert_eq!(line.remove(last.id).map(|one| one.number), Some(number));
            prop_assert_eq!(line.insert(*last, Some(number)), Ok(number));
        }
    }

    #[test]
    fn without_room_a_job_gets_the_number_before_it() {
        let nodes = vec![Node {
            entitled: Entitled::whole(1),
            ..Node::default()
        }];
        let job = |id, submit| Job {
            id,
            submit,
            ..Job::default()
        };
        let placed = |id, submit, number| Placed {
            job: job(id, submit),
            number,
        };
        let jobs = vec![placed(1, 10, 7), placed(2, 30, 6)];
        let mut line = Line::new(nodes, Level::Leaf, jobs, BTreeSet::new()).unwrap();
        assert_eq!(line.insert(job(3, 20), None), Ok(7));
        assert_eq!(line.remove(9), None);
    }
}
