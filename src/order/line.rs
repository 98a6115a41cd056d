//! Jobs in their order with their numbers; finds the place of a new job.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::forest::Forest;
use super::guests::{Floor, Guests};
use super::integers::{MAX_NUMBER, between, renumber_free};
use super::merge::interleaved;
use super::rows::{Job, Level, Neighbours, OrderError, Placed};
use super::tier::Tier;
use super::walk::Walk;

/// Jobs in the order of [`super::interleaved`] or [`super::strict`]; single jobs may enter and
/// leave.
///
/// A new job gets the place that it would have if all jobs were sorted from scratch. Such a sort
/// could also change the relative places of jobs after it: these keep theirs until the next order,
/// with the use that they had in the last one. If a new job comes before older jobs of its own node
/// or of a sibling node, a tie above them that those jobs had won may go to another node: the new
/// job is placed before the older jobs nevertheless.
#[derive(Clone, Debug)]
pub struct JobLine {
    forest: Arc<Forest>,
    /// Use of each node.
    used: Arc<Vec<u128>>,
    standing: LineState,
    /// Numbers that must not be given.
    fixed: BTreeSet<u32>,
}

#[derive(Clone, Debug)]
enum LineState {
    Indexed(Box<Guests>),
    /// For trees in which a node with jobs competes with nodes below it.
    Walked(Walk),
}

/// An empty line without nodes: no job can enter.
impl Default for JobLine {
    fn default() -> JobLine {
        JobLine {
            forest: Arc::new(Forest::new(&[], Level::Leaf).expect("no nodes have no cycle")),
            used: Arc::default(),
            standing: LineState::Indexed(Box::default()),
            fixed: BTreeSet::new(),
        }
    }
}

impl JobLine {
    /// Puts jobs, in any order, each with its present number or 0, into their order and gives them
    /// numbers, changing as few numbers as possible. Also returns the number of each job, in the
    /// order of `jobs`.
    ///
    /// `used`: use of each node, in whole units. `interleaves`: true for the order of
    /// [`super::interleaved`], false for that of [`super::strict`], which ignores expected use.
    /// `fixed`: numbers set by administrators, which are not given.
    ///
    /// Takes time in O(n log n) for each level; O(n) plus a sort of the nodes for levels on which
    /// all jobs of a node have one key, as in a strict order.
    ///
    /// # Errors
    /// Unknown node of a job; too many jobs.
    ///
    /// # Panics
    /// If the number of uses differs from the number of nodes.
    pub fn ordered(
        forest: &Arc<Forest>,
        used: Vec<u128>,
        interleaves: bool,
        jobs: &[Placed],
        fixed: BTreeSet<u32>,
    ) -> Result<(JobLine, Vec<u32>), OrderError> {
        assert_eq!(used.len(), forest.len(), "one use per node");
        let (rows, limit) = (jobs.len(), u32::MAX as usize);
        if rows > limit {
            return Err(OrderError::TooManyRows { rows, limit });
        }
        jobs.iter()
            .try_for_each(|placed| forest.check(&placed.job))?;
        let used = Arc::new(used);
        if jobs.iter().any(|placed| forest.is_mixed(placed.job.node)) {
            return JobLine::walked(forest, used, interleaves, jobs, fixed);
        }
        let mut order = Vec::with_capacity(jobs.len());
        let mut slots: Vec<u32> = vec![0; jobs.len()];
        let mut floors: Vec<Floor> = Vec::new();
        let mut rows: Vec<u32> = (0..).take(jobs.len()).collect();
        let tier = |row: u32| jobs[row as usize].job.tier;
        rows.sort_by_key(|row| Reverse(tier(*row)));
        for rows in rows.chunk_by_mut(|a, b| tier(*a) == tier(*b)) {
            let used = match floors.last() {
                Some(above) => above.tier.used_after(forest),
                None => Arc::clone(&used),
            };
            let value = tier(rows[0]);
            let first = order.len() as u32;
            let tier = Tier::new(forest, used, rows, jobs, interleaves);
            order.extend(tier.order().iter().map(|slot| rows[*slot as usize]));
            for (row, slot) in rows.iter().zip(first..) {
                slots[*row as usize] = slot;
            }
            floors.push(Floor {
                value,
                first,
                tier,
                numbers: Vec::new(),
            });
        }
        let (in_order, numbers) = numbers(&order, jobs, &fixed);
        for floor in &mut floors {
            floor.numbers = in_order[floor.first as usize..][..floor.tier.jobs.len()].to_vec();
        }
        // Hosts list jobs by ascending id, or nearly so.
        if !jobs.is_sorted_by_key(|placed| placed.job.id) {
            rows.sort_unstable_by_key(|row| jobs[*row as usize].job.id);
            slots = rows.iter().map(|row| slots[*row as usize]).collect();
        }
        let line = JobLine {
            forest: Arc::clone(forest),
            used,
            standing: LineState::Indexed(Box::new(Guests::new(floors, slots))),
            fixed,
        };
        Ok((line, numbers))
    }

    /// As [`JobLine::ordered`], for trees in which a node with jobs competes with nodes below it.
    fn walked(
        forest: &Arc<Forest>,
        used: Arc<Vec<u128>>,
        interleaves: bool,
        jobs: &[Placed],
        fixed: BTreeSet<u32>,
    ) -> Result<(JobLine, Vec<u32>), OrderError> {
        let row = |placed: &Placed| match (placed.job, interleaves) {
            (job, true) => job,
            (job, false) => Job { expected: 0, ..job },
        };
        let rows: Vec<Job> = jobs.iter().map(row).collect();
        let order = interleaved(&forest.nodes(&used), forest.level, &rows)?;
        let (in_order, numbers) = numbers(&order, jobs, &fixed);
        let placed = order.iter().zip(in_order).map(|(&row, number)| Placed {
            job: rows[row as usize],
            number,
        });
        let walk = Walk::new(Arc::clone(forest), Arc::clone(&used), placed.collect());
        let line = JobLine {
            forest: Arc::clone(forest),
            used,
            standing: LineState::Walked(walk),
            fixed,
        };
        Ok((line, numbers))
    }

    /// The jobs, first to last.
    pub fn jobs(&self) -> Vec<Placed> {
        match &self.standing {
            LineState::Indexed(guests) => guests.jobs(),
            LineState::Walked(walk) => walk.jobs().to_vec(),
        }
    }

    /// Returns true if a job is in the line. Takes the time of [`JobLine::submits`] for one job.
    pub fn contains(&self, id: u64) -> bool {
        !self.submits(std::iter::once(id)).is_empty()
    }

    /// Ids and submit times of those of the jobs that are in the line. Takes time in O(log n) for
    /// each; O(n) for all if a node with jobs competes with nodes below it.
    pub fn submits(&self, ids: impl Iterator<Item = u64>) -> Vec<(u64, i64)> {
        match &self.standing {
            LineState::Indexed(guests) => ids
                .filter_map(|id| Some((id, guests.job(id)?.submit)))
                .collect(),
            LineState::Walked(walk) => {
                let ids: HashSet<u64> = ids.collect();
                let jobs = walk.jobs().iter().map(|placed| &placed.job);
                let wanted = jobs.filter(|job| ids.contains(&job.id));
                wanted.map(|job| (job.id, job.submit)).collect()
            }
        }
    }

    /// Takes a job out of the line; `None` if it is not there. Takes time in O(log n) for each
    /// level; O(n) if a node with jobs competes with nodes below it.
    pub fn remove(&mut self, id: u64) -> Option<Placed> {
        match &mut self.standing {
            LineState::Indexed(guests) => guests.remove(&self.forest, id),
            LineState::Walked(walk) => walk.remove(id),
        }
    }

    /// Puts a job in its place and returns its number. It keeps the number that it `had` if that is
    /// in order there. If no number is left, it gets the number of the job before it, and the next
    /// order makes room. Takes time in O(log n) for each level, and for the jobs that entered or
    /// left since the last order; O(n) if a node with jobs competes with nodes below it.
    ///
    /// # Errors
    /// Unknown node; the line does not change.
    pub fn insert(&mut self, job: Job, had: Option<u32>) -> Result<u32, OrderError> {
        self.forest.check(&job)?;
        let fixed = &self.fixed;
        let number = |Neighbours { above, below }: Neighbours| {
            let fits = |number: &u32| {
                above.is_none_or(|above| *number < above)
                    && *number > below.unwrap_or(0)
                    && *number <= MAX_NUMBER
                    && !fixed.contains(number)
            };
            let number = had.filter(fits);
            let number = number.or_else(|| between(above, below, fixed));
            number.or(above).unwrap_or(MAX_NUMBER)
        };
        if let LineState::Indexed(guests) = &self.standing {
            if self.forest.is_mixed(job.node) {
                let (forest, used) = (Arc::clone(&self.forest), Arc::clone(&self.used));
                let walk = Walk::new(forest, used, guests.jobs());
                self.standing = LineState::Walked(walk);
            }
        }
        Ok(match &mut self.standing {
            LineState::Indexed(guests) => guests.insert(&self.forest, &self.used, job, number),
            LineState::Walked(walk) => walk.insert(job, number),
        })
    }
}

/// Numbers by place, and by row, of jobs in an order of rows.
fn numbers(order: &[u32], jobs: &[Placed], fixed: &BTreeSet<u32>) -> (Vec<u32>, Vec<u32>) {
    let mut in_order: Vec<u32> = order.iter().map(|row| jobs[*row as usize].number).collect();
    renumber_free(&mut in_order, fixed, MAX_NUMBER);
    let mut numbers = vec![0; jobs.len()];
    for (row, number) in order.iter().zip(&in_order) {
        numbers[*row as usize] = *number;
    }
    (in_order, numbers)
}

#[cfg(test)]
mod tests {
    use super::super::{Entitled, Node, interleaved, positions, strict};
    use super::*;
    use proptest::prelude::*;

    fn ordered(
        nodes: &[Node],
        level: Level,
        interleaves: bool,
        jobs: &[Placed],
        fixed: &BTreeSet<u32>,
    ) -> (JobLine, Vec<u32>) {
        let forest = Arc::new(Forest::new(nodes, level).unwrap());
        let used = nodes.iter().map(|node| node.used).collect();
        JobLine::ordered(&forest, used, interleaves, jobs, fixed.clone()).unwrap()
    }

    fn jobs(nodes: usize) -> impl Strategy<Value = Vec<Job>> {
        let job = (0..nodes as u32, 0..2_i64, 0..4_i64, 0..4_u128);
        // In the larger unit, sums need more than 64 bits.
        let unit = prop_oneof![Just(1_u128), Just(1 << 63)];
        (prop::collection::vec(job, 1..14), unit).prop_map(|(rows, unit)| {
            let job = |((node, tier, submit, expected), id)| Job {
                node,
                tier,
                nice: 0,
                submit,
                id,
                expected: expected * unit,
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
        /// The last job enters a line of the others: its place is the same as in an order of all
        /// jobs.
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
            let (mut line, numbers) = ordered(&nodes, level, takes_turns, &had, &fixed);
            let ids: Vec<u64> = line.jobs().iter().map(|one| one.job.id).collect();
            let same = sorted.iter().map(|at| others[*at as usize].id);
            prop_assert_eq!(ids, same.collect::<Vec<_>>());
            prop_assert!(numbers.iter().all(|number| *number > 0 && !fixed.contains(number)));
            // Jobs already in the right order keep their numbers.
            let had = line.jobs();
            let again = ordered(&nodes, level, takes_turns, &had, &fixed);
            prop_assert_eq!(again.0.jobs(), had);
            let number = line.insert(*last, None).unwrap();
            let at = line.jobs().iter().position(|one| one.job.id == last.id).unwrap();
            let all = order(&nodes, level, &jobs).unwrap();
            let place = positions(&all)[jobs.len() - 1] as usize;
            if all[..place] == sorted[..place] {
                prop_assert_eq!(at, place);
            } else {
                // A tie went to the other node.
                prop_assert!(at < place);
            }
            prop_assert!(line.jobs().windows(2).all(|two| two[0].number > two[1].number));
            // A job that is taken out and put back keeps its number.
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
        let jobs = [placed(1, 10, 7), placed(2, 30, 6)];
        let (mut line, numbers) = ordered(&nodes, Level::Leaf, false, &jobs, &BTreeSet::new());
        assert_eq!(numbers, [7, 6]);
        assert_eq!(line.insert(job(3, 20), None), Ok(7));
        assert_eq!(line.remove(9), None);
    }

    /// Events between two orders, and changes of nodes before the second one.
    #[derive(Clone, Debug)]
    enum Event {
        Comes(Job),
        Goes(u64),
        /// New nice value of a job.
        Changes(u64, i64),
        Charged(usize, u128),
    }

    fn events(nodes: usize) -> impl Strategy<Value = Vec<Event>> {
        let job = (0..nodes as u32, 0..2_i64, 0..4_i64, 0..4_u128, 100..120_u64);
        let comes = job.prop_map(|(node, tier, submit, expected, id)| {
            Event::Comes(Job {
                node,
                tier,
                nice: 0,
                submit,
                id,
                expected,
            })
        });
        let event = prop_oneof![
            comes,
            (1..120_u64).prop_map(Event::Goes),
            (1..120_u64, -1..2_i64).prop_map(|(id, nice)| Event::Changes(id, nice)),
            (0..nodes, 0..3_u128).prop_map(|(node, more)| Event::Charged(node, more)),
        ];
        prop::collection::vec(event, 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        /// A new order after any events equals an order from scratch. Numbers fall along it, also
        /// between orders, unless room was used up.
        #[test]
        fn what_is_carried_on_is_as_from_scratch(
            (nodes, jobs, events) in nodes().prop_flat_map(|nodes| {
                let (jobs, events) = (jobs(nodes.len()), events(nodes.len()));
                (Just(nodes), jobs, events)
            }),
            level in level(),
            takes_turns: bool,
        ) {
            let order = if takes_turns { interleaved } else { strict };
            let mut nodes = nodes;
            let had: Vec<Placed> = jobs.iter().map(|&job| Placed { job, number: 0 }).collect();
            let (mut line, _) = ordered(&nodes, level, takes_turns, &had, &BTreeSet::new());
            let mut real: Vec<Job> = jobs.clone();
            let mut as_ordered = true;
            for event in &events {
                match *event {
                    Event::Comes(job) => {
                        let had = line.remove(job.id).map(|one| one.number);
                        prop_assert_eq!(had.is_some(), real.iter().any(|one| one.id == job.id));
                        real.retain(|one| one.id != job.id);
                        real.push(job);
                        let expected = if takes_turns { job.expected } else { 0 };
                        line.insert(Job { expected, ..job }, had).unwrap();
                        as_ordered = false;
                    }
                    Event::Goes(id) => {
                        let gone = line.remove(id);
                        as_ordered &= gone.is_none();
                        prop_assert_eq!(gone.is_some(), real.iter().any(|one| one.id == id));
                        real.retain(|one| one.id != id);
                    }
                    Event::Changes(id, nice) => {
                        let Some(placed) = line.remove(id) else { continue };
                        let job = Job { nice, ..placed.job };
                        line.insert(job, Some(placed.number)).unwrap();
                        // A job that enters before another changes what the other's node will have
                        // used.
                        if placed.job.nice == nice && as_ordered {
                            let now = line.jobs();
                            let now = now.iter().find(|one| one.job.id == id).unwrap();
                            prop_assert_eq!(now.number, placed.number);
                        }
                        as_ordered &= placed.job.nice == nice;
                        real.iter_mut().filter(|one| one.id == id).for_each(|one| one.nice = nice);
                    }
                    Event::Charged(node, more) => nodes[node].used += more,
                }
                let stands = line.jobs();
                prop_assert_eq!(stands.len(), real.len());
                prop_assert!(stands.windows(2).all(|two| two[0].number > two[1].number));
            }
            // A job that an administrator has touched keeps its expected use there.
            let had: Vec<Placed> = (line.jobs().into_iter())
                .map(|one| {
                    let job = *real.iter().find(|job| job.id == one.job.id).unwrap();
                    Placed { job, number: one.number }
                })
                .collect();
            let rows: Vec<Job> = had.iter().map(|one| one.job).collect();
            let scratch = order(&nodes, level, &rows).unwrap();
            let (line, _) = ordered(&nodes, level, takes_turns, &had, &BTreeSet::new());
            let ids: Vec<u64> = line.jobs().iter().map(|one| one.job.id).collect();
            let expected: Vec<u64> = scratch.iter().map(|at| rows[*at as usize].id).collect();
            prop_assert_eq!(ids, expected);
        }
    }
}
