//! Jobs that enter or leave a line between two orders.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::forest::{Child, Forest};
use super::ratio::Ratio;
use super::rows::{Job, Neighbours, Placed, Stamp};
use super::tier::{Point, Tier};

/// The jobs of an order, after single jobs have entered and left.
///
/// Finding the place of a new job takes a binary search in each sequence to which it belongs, from
/// its node up to all jobs, and time for the jobs that entered or left since the order. Keys of the
/// jobs that were in the order do not change.
#[derive(Clone, Debug, Default)]
pub(super) struct Guests {
    /// Highest tier first.
    tiers: Vec<Floor>,
    /// Slots of the order's jobs, counted over all tiers, by ascending job id.
    by_id: Vec<u32>,
    came: HashMap<u64, Placed>,
    /// Guests of each sequence that has any, in their order.
    lists: HashMap<Sequence, Vec<Guest>>,
    /// Jobs that left each sequence: place and expected use.
    gaps: HashMap<Sequence, Vec<(usize, u128)>>,
    /// Slots of the jobs that left, counted over all tiers.
    gone: HashSet<u32>,
}

/// A tier with its numbers.
#[derive(Clone, Debug)]
pub(super) struct Floor {
    pub(super) value: i64,
    /// Number of slots in the tiers above.
    pub(super) first: u32,
    pub(super) tier: Tier,
    /// Numbers by place.
    pub(super) numbers: Vec<u32>,
}

/// A sequence of a tier.
type Sequence = (i64, Whose);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Whose {
    /// The jobs of this node, in order of arrival.
    Own(u32),
    /// All jobs below this node; `None`: all jobs.
    Below(Option<u32>),
}

/// A job that entered, in one of its sequences.
#[derive(Clone, Copy, Debug)]
struct Guest {
    id: u64,
    /// Number of jobs of the order before it.
    gap: usize,
    within: (i64, Stamp),
    /// Its key in a merge.
    ratio: Ratio,
    latest: Stamp,
    expected: u128,
}

/// Place of a guest in a sequence.
#[derive(Clone, Copy)]
struct At {
    sequence: Sequence,
    gap: usize,
    /// Its place among the guests.
    nth: usize,
}

impl Guests {
    /// `floors`: the highest tier first; `by_id`: the slots of all jobs, counted over all tiers, by
    /// ascending id.
    pub(super) fn new(floors: Vec<Floor>, by_id: Vec<u32>) -> Guests {
        Guests {
            tiers: floors,
            by_id,
            ..Guests::default()
        }
    }

    /// All jobs, first to last.
    pub(super) fn jobs(&self) -> Vec<Placed> {
        let mut all = Vec::new();
        for floor in &self.tiers {
            let guests = self.lists.get(&(floor.value, Whose::Below(None)));
            let mut guests = guests.into_iter().flatten().peekable();
            for (place, &slot) in floor.tier.order().iter().enumerate() {
                while let Some(guest) = guests.next_if(|guest| guest.gap <= place) {
                    all.push(self.came[&guest.id]);
                }
                if !self.gone.contains(&(floor.first + slot)) {
                    all.push(Placed {
                        job: floor.tier.jobs[slot as usize],
                        number: floor.numbers[place],
                    });
                }
            }
            all.extend(guests.map(|guest| self.came[&guest.id]));
        }
        all
    }

    /// A job in the line.
    pub(super) fn job(&self, id: u64) -> Option<Job> {
        if let Some(placed) = self.came.get(&id) {
            return Some(placed.job);
        }
        let (slot, floor) = self.of_order(id)?;
        (!self.gone.contains(&slot)).then(|| floor.tier.jobs[(slot - floor.first) as usize])
    }

    /// Slot of a job of the order, counted over all tiers, and the job's tier.
    fn of_order(&self, id: u64) -> Option<(u32, &Floor)> {
        let id_of = |slot: &u32| {
            let floor = self.of_slot(*slot);
            floor.tier.jobs[(slot - floor.first) as usize].id
        };
        let found = self.by_id.binary_search_by_key(&id, id_of);
        let slot = self.by_id[found.ok()?];
        Some((slot, self.of_slot(slot)))
    }

    /// The tier of a slot, counted over all tiers.
    fn of_slot(&self, slot: u32) -> &Floor {
        // A tier without jobs begins where the next tier does.
        let behind = self.tiers.partition_point(|floor| floor.first <= slot);
        &self.tiers[behind - 1]
    }

    /// Takes a job out of the line; `None` if it is not there.
    pub(super) fn remove(&mut self, forest: &Forest, id: u64) -> Option<Placed> {
        if let Some(placed) = self.came.remove(&id) {
            for sequence in sequences(forest, &placed.job) {
                let list = self.lists.get_mut(&sequence).expect("it came to it");
                list.retain(|guest| guest.id != id);
            }
            return Some(placed);
        }
        let (among_all, floor) = self.of_order(id)?;
        if self.gone.contains(&among_all) {
            return None;
        }
        let (slot, tier) = (among_all - floor.first, &floor.tier);
        let job = tier.jobs[slot as usize];
        let own = tier.of_node(job.node);
        let place = own.partition_point(|other| tier.jobs[*other as usize].within() < job.within());
        let mut places = vec![place];
        for (child, parent) in forest.chain(job.node) {
            places.push(tier.place_below(forest.step(child, parent), parent, slot));
        }
        let placed = Placed {
            job,
            number: floor.numbers[tier.place(slot)],
        };
        self.gone.insert(among_all);
        for (sequence, place) in sequences(forest, &job).into_iter().zip(places) {
            let gaps = self.gaps.entry(sequence).or_default();
            gaps.push((place, job.expected));
        }
        Some(placed)
    }

    /// Puts a job in its place; `number` chooses its number between those of its neighbours.
    pub(super) fn insert(
        &mut self,
        forest: &Forest,
        used: &Arc<Vec<u128>>,
        job: Job,
        number: impl FnOnce(Neighbours) -> u32,
    ) -> u32 {
        let floor = self.floor(forest, used, job.tier);
        let first_slot = self.tiers[floor].first;
        let tier = &self.tiers[floor].tier;
        let sequence = (job.tier, Whose::Own(job.node));
        let mut base = tier.of_node(job.node);
        let mine = job.within();
        let list = self.lists.entry(sequence).or_default();
        let mut at = At {
            sequence,
            gap: base.partition_point(|slot| tier.jobs[*slot as usize].within() < mine),
            nth: list.partition_point(|guest| guest.within < mine),
        };
        let mut guest = Guest {
            id: job.id,
            gap: at.gap,
            within: mine,
            ratio: Ratio::ZERO,
            latest: job.stamp(),
            expected: job.expected,
        };
        list.insert(at.nth, guest);
        for (child, parent) in forest.chain(job.node) {
            let step = forest.step(child, parent);
            let before = at.gap.checked_sub(1).map(|before| base[before]);
            let behind = base.get(at.gap).copied();
            let others = &self.lists[&at.sequence];
            let beside = |nth: Option<usize>| nth.and_then(|nth| others.get(nth)).map(|g| g.id);
            let (first, next) = (beside(at.nth.checked_sub(1)), beside(Some(at.nth + 1)));
            let extra = others[..at.nth].iter();
            let extra = extra.fold(0_u128, |sum, guest| sum.saturating_add(guest.expected));
            let less = self.less(at);
            guest.ratio = match child {
                Child::Own => Ratio::ZERO,
                Child::Node(node) => {
                    let spent = tier.spent(step, child, before).saturating_add(extra);
                    let entitled = forest.entitled[node as usize];
                    Ratio::new(spent.saturating_sub(less), entitled)
                }
            };
            guest.latest = job.stamp();
            let gone = &self.gone;
            let still = before.filter(|slot| !gone.contains(&(first_slot + *slot)));
            let point = still.map(|slot| tier.point(forest, step, parent, slot));
            let sequence = (job.tier, Whose::Below(parent));
            let list = self.lists.entry(sequence).or_default();
            let find = |id: Option<u64>| list.iter().position(|guest| Some(guest.id) == id);
            let (first, next) = (find(first), find(next));
            let known = first.map(|first| Point {
                ratio: list[first].ratio,
                latest: list[first].latest,
            });
            for point in [point, known].into_iter().flatten() {
                if point.ratio == guest.ratio {
                    guest.latest = guest.latest.max(point.latest);
                }
            }
            // Between its neighbours of the same child in that sequence.
            let above = tier.below(step, parent);
            let place = |slot: u32| tier.place_below(step, parent, slot);
            let low = before.map_or(0, |slot| place(slot) + 1);
            let low = low.max(first.map_or(0, |first| list[first].gap));
            let high = behind.map_or(above.len(), place);
            let high = high.min(next.map_or(above.len(), |next| list[next].gap));
            let high = high.max(low);
            let key = (guest.ratio, guest.latest);
            let passed = above[low..high].partition_point(|slot| {
                let point = tier.point(forest, step, parent, *slot);
                (point.ratio, point.latest) < key
            });
            guest.gap = low + passed;
            let key = (guest.gap, guest.ratio, guest.latest);
            let nth = list.partition_point(|one| (one.gap, one.ratio, one.latest) < key);
            let nth = nth.max(first.map_or(0, |first| first + 1));
            let nth = nth.min(next.unwrap_or(list.len()));
            list.insert(nth, guest);
            (at, base) = (
                At {
                    sequence,
                    gap: guest.gap,
                    nth,
                },
                above,
            );
        }
        let number = number(Neighbours {
            above: self.above(floor, at.gap, at.nth),
            below: self.behind(floor, at.gap, at.nth + 1),
        });
        self.came.insert(job.id, Placed { job, number });
        number
    }

    /// Expected use of the jobs before a place that left.
    fn less(&self, at: At) -> u128 {
        let gone = self.gaps.get(&at.sequence).into_iter().flatten();
        let gone = gone.filter(|(place, _)| *place < at.gap);
        gone.fold(0, |sum, (_, expected)| sum.saturating_add(*expected))
    }

    /// Index of the tier of a value; makes the tier if it is missing.
    fn floor(&mut self, forest: &Forest, used: &Arc<Vec<u128>>, value: i64) -> usize {
        let at = self.tiers.partition_point(|floor| floor.value > value);
        if self.tiers.get(at).is_none_or(|floor| floor.value != value) {
            let above = at.checked_sub(1).map(|above| &self.tiers[above]);
            let used =
                above.map_or_else(|| Arc::clone(used), |above| above.tier.used_after(forest));
            let floor = Floor {
                value,
                first: above.map_or(0, |above| above.first + above.numbers.len() as u32),
                tier: Tier::new(forest, used, &mut [], &[], true),
                numbers: Vec::new(),
            };
            self.tiers.insert(at, floor);
        }
        at
    }

    fn guests(&self, floor: usize) -> &[Guest] {
        let sequence = (self.tiers[floor].value, Whose::Below(None));
        self.lists.get(&sequence).map_or(&[], Vec::as_slice)
    }

    /// Number of a job of the order; `None` if it left.
    fn number(&self, floor: usize, place: usize) -> Option<u32> {
        let floor = &self.tiers[floor];
        let slot = floor.first + floor.tier.order()[place];
        (!self.gone.contains(&slot)).then(|| floor.numbers[place])
    }

    /// Number of the last of a tier's first `place` jobs of the order and `nth` guests; without
    /// any, that of the last job of the tiers above.
    fn above(&self, floor: usize, mut place: usize, nth: usize) -> Option<u32> {
        let guests = self.guests(floor);
        while place > 0 || nth > 0 {
            if nth > 0 && guests[nth - 1].gap >= place {
                return Some(self.came[&guests[nth - 1].id].number);
            }
            if let Some(number) = self.number(floor, place - 1) {
                return Some(number);
            }
            place -= 1;
        }
        let above = floor.checked_sub(1)?;
        let places = self.tiers[above].numbers.len();
        self.above(above, places, self.guests(above).len())
    }

    /// Number of the first job of a tier after `place` jobs of the order and `nth` guests; without
    /// any, that of the first job of the tiers below.
    fn behind(&self, floor: usize, mut place: usize, nth: usize) -> Option<u32> {
        let guests = self.guests(floor);
        let places = self.tiers[floor].numbers.len();
        while place < places || nth < guests.len() {
            if nth < guests.len() && guests[nth].gap <= place {
                return Some(self.came[&guests[nth].id].number);
            }
            if let Some(number) = self.number(floor, place) {
                return Some(number);
            }
            place += 1;
        }
        (floor + 1 < self.tiers.len()).then(|| self.behind(floor + 1, 0, 0))?
    }
}

/// The sequences to which a job belongs, from its node's up to that of all jobs.
fn sequences(forest: &Forest, job: &Job) -> Vec<Sequence> {
    let above = forest
        .chain(job.node)
        .map(|(_, parent)| Whose::Below(parent));
    let all = std::iter::once(Whose::Own(job.node)).chain(above);
    all.map(|whose| (job.tier, whose)).collect()
}
