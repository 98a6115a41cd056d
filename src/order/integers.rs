//! Numbers for hosts that sort jobs by a 32-bit priority, larger first.
//!
//! [`renumber`] gives distinct numbers to jobs in a given order and changes as few of their old
//! numbers as possible. Jobs whose relative order is unchanged keep their numbers (a longest
//! increasing subsequence that leaves room for the jobs in between); the others
//! get numbers in the gaps. When a gap is full, the numbers around it are spread again, over a
//! range that grows with the number of jobs there, so that many insertions
//! at one place stay cheap. [`between`] is for one job that is submitted between two passes.

use std::collections::BTreeSet;

use super::longest::longest;

/// The largest number given; the smallest is 1, and 0 means held.
pub const MAX_NUMBER: u32 = 4_000_000_000;

/// Distance between two new numbers at the ends of the order.
const SPACING: u64 = 2_048;

/// Present number of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A job that waits at this place of the order, with its number; 0 if it has none yet.
    Free(u32),
    /// Set by an administrator: the number does not change, wherever the job is in the order, and
    /// no other job gets it.
    Fixed(u32),
    /// A held job, with its present number. It gets 0.
    Held(u32),
}

/// A number that must be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewNumber {
    /// Place of the job in the order, from 0.
    pub place: u32,
    /// New number of the job.
    pub number: u32,
}

/// Changes after which free jobs have distinct numbers from 1 to [`MAX_NUMBER`], each smaller than
/// that of the job before it; by place.
///
/// `order`: one per job, first to last. The result is empty if nothing changes. As few changes as
/// possible, unless a gap is used up. Designed for up to a few million jobs; takes time in O(n log
/// n).
///
/// ```
/// use fairtree::order::{NewNumber, Number::*, renumber};
/// let change = |place, number| NewNumber { place, number };
/// assert_eq!(renumber(&[Free(30), Free(20), Free(10)]), []);
/// assert_eq!(renumber(&[Free(30), Free(0), Free(10)]), [change(1, 20)]);
/// assert_eq!(renumber(&[Free(30), Held(25), Free(10)]), [change(1, 0)]);
/// assert_eq!(renumber(&[Free(30), Free(0), Free(10), Fixed(20)]), [change(1, 21)]);
/// ```
pub fn renumber(order: &[Number]) -> Vec<NewNumber> {
    renumber_within(order, MAX_NUMBER)
}

/// A number for one job between a job with `above` and one with `below`, each `None` if there is no
/// neighbour on that side. Returns `None` if no number is left there: the next [`renumber`] makes
/// room.
///
/// `fixed`: numbers set by administrators, which are not given to the job.
///
/// ```
/// use fairtree::order::between;
/// use std::collections::BTreeSet;
/// let none = BTreeSet::new();
/// assert_eq!(between(Some(30), Some(10), &none), Some(20));
/// assert_eq!(between(Some(30), Some(29), &none), None);
/// assert_eq!(between(Some(30), Some(28), &BTreeSet::from([29])), None);
/// assert!(between(None, Some(30), &none) > Some(30));
/// ```
pub fn between(above: Option<u32>, below: Option<u32>, fixed: &BTreeSet<u32>) -> Option<u32> {
    let below_number = below.unwrap_or(0);
    let above_number = above.unwrap_or(MAX_NUMBER + 1).min(MAX_NUMBER + 1);
    if above_number <= below_number {
        return None;
    }
    let inside = fixed.range(below_number + 1..above_number);
    let mut occupied: Vec<u32> = inside.copied().collect();
    let distance = u64::from(above_number - below_number) - occupied.len() as u64;
    let offset = offset(0, 1, distance, above.is_some(), below.is_some())?;
    // Counts numbers that are not fixed, from below.
    let mut number = below_number + (distance - offset) as u32;
    occupied.sort_unstable();
    for taken in occupied {
        number += u32::from(taken <= number);
    }
    Some(number)
}

fn renumber_within(order: &[Number], max: u32) -> Vec<NewNumber> {
    let mut changes = Vec::new();
    let (mut places, mut numbers) = (Vec::new(), Vec::new());
    let mut fixed = BTreeSet::new();
    for (place, number) in (0..).zip(order) {
        match *number {
            Number::Held(0) => {}
            Number::Held(_) => changes.push(NewNumber { place, number: 0 }),
            Number::Fixed(number) => {
                fixed.insert(number);
            }
            Number::Free(number) => {
                places.push(place);
                numbers.push(number);
            }
        }
    }
    let had = numbers.clone();
    renumber_free(&mut numbers, &fixed, max);
    let rows = places.into_iter().zip(had.into_iter().zip(numbers));
    let changed = rows.filter(|(_, (had, number))| had != number);
    changes.extend(changed.map(|(place, (_, number))| NewNumber { place, number }));
    changes.sort_unstable_by_key(|change| change.place);
    changes
}

/// As [`renumber`] of free jobs; replaces their numbers, with numbers up to `max`.
///
/// # Panics
/// If there are more jobs than numbers.
pub(super) fn renumber_free(numbers: &mut [u32], fixed: &BTreeSet<u32>, max: u32) {
    let fixed: Vec<u32> = (fixed.iter().copied())
        .filter(|number| (1..=max).contains(number))
        .collect();
    let ranks = Ranks { fixed, max };
    for number in &mut *numbers {
        *number = ranks.of(*number);
    }
    spread(numbers, ranks.len());
    ranks.to_numbers(numbers);
}

/// Numbers that may be given, counted from 1, without fixed numbers.
struct Ranks {
    fixed: Vec<u32>,
    max: u32,
}

impl Ranks {
    fn len(&self) -> u32 {
        self.max - self.fixed.len() as u32
    }

    /// Rank of a number; 0 if it may not be given.
    fn of(&self, number: u32) -> u32 {
        let below = self.fixed.partition_point(|fixed| *fixed < number);
        let free = (1..=self.max).contains(&number) && self.fixed.get(below) != Some(&number);
        if free { number - below as u32 } else { 0 }
    }

    /// Converts falling ranks to numbers.
    fn to_numbers(&self, ranks: &mut [u32]) {
        if self.fixed.is_empty() {
            return;
        }
        let mut passed = 0;
        // From the last rank backwards they only grow.
        for rank in ranks.iter_mut().rev() {
            let mut number = *rank + passed as u32;
            while self.fixed.get(passed).is_some_and(|fixed| *fixed <= number) {
                passed += 1;
                number += 1;
            }
            *rank = number;
        }
    }
}

/// Changes ranks (0: none yet) so that they fall strictly within 1..=`len`, and keeps as many as
/// possible.
///
/// Panics if there are more jobs than ranks.
fn spread(ranks: &mut [u32], len: u32) {
    let count = ranks.len() as u64;
    assert!(count <= len.into(), "{count} jobs for {len} numbers");
    if ranks.is_sorted_by(|a, b| a > b) && ranks.last() != Some(&0) {
        return;
    }
    // Two jobs can both keep their ranks if there is room between them for the jobs between them.
    let roomy = |at: usize| {
        let sum = u64::from(ranks[at]) + at as u64;
        let fits = ranks[at] > 0 && (count..=len.into()).contains(&sum);
        fits.then(|| len - sum as u32)
    };
    let kept = longest(ranks.len(), roomy, |last, next| last <= next);
    let kept = widened(kept, ranks, len);
    fill(&kept, ranks, len);
}

/// A stretch between two kept jobs, or an end of the order.
#[derive(Clone, Copy)]
struct Gap {
    /// Places of the jobs in the gap.
    start: usize,
    end: usize,
    /// Ranks of its neighbours.
    above: u64,
    below: u64,
}

impl Gap {
    /// Returns true if a job in the gap would lose a number that is in order, and jobs that come
    /// later would have no room either.
    fn is_used_up(self, ranks: &[u32]) -> bool {
        let jobs = (self.end - self.start) as u64;
        let is_tight = self.above - self.below < 2 * (jobs + 1);
        is_tight
            && (ranks[self.start..self.end].iter())
                .any(|rank| (self.below + 1..self.above).contains(&u64::from(*rank)))
    }
}

/// Gap between the `left`-th and the `right`-th kept job; 0 and the count plus one are the ends.
fn gap(kept: &[u32], ranks: &[u32], len: u32, left: usize, right: usize) -> Gap {
    let above = left.checked_sub(1).map(|left| kept[left] as usize);
    let below = kept.get(right - 1).map(|place| *place as usize);
    Gap {
        start: above.map_or(0, |place| place + 1),
        end: below.unwrap_or(ranks.len()),
        above: above.map_or(u64::from(len) + 1, |place| ranks[place].into()),
        below: below.map_or(0, |place| ranks[place].into()),
    }
}

/// Kept jobs without those around a gap that is used up.
fn widened(mut kept: Vec<u32>, ranks: &[u32], len: u32) -> Vec<u32> {
    let all = kept.len() + 1;
    let mut keep = vec![true; kept.len()];
    let mut done = 0;
    for at in 0..all {
        if at < done || !gap(&kept, ranks, len, at, at + 1).is_used_up(ranks) {
            continue;
        }
        let (mut left, mut right, mut step) = (at, at + 1, 1);
        loop {
            let wide = gap(&kept, ranks, len, left, right);
            let jobs = (wide.end - wide.start) as u64;
            let spacing = (wide.above - wide.below) / (jobs + 1);
            // Room per job grows with the number of jobs; otherwise every new job would move them
            // all.
            if spacing.saturating_mul(spacing) >= 16 * jobs || right - left == all {
                break;
            }
            left = left.saturating_sub(step);
            right = (right + step).min(all);
            step *= 2;
        }
        keep[left..right - 1].fill(false);
        done = right;
    }
    let mut keep = keep.into_iter();
    kept.retain(|_| keep.next() == Some(true));
    kept
}

/// Spreads the ranks of the other jobs evenly between those that are kept.
fn fill(kept: &[u32], ranks: &mut [u32], len: u32) {
    for at in 0..=kept.len() {
        let gap = gap(kept, ranks, len, at, at + 1);
        let jobs = (gap.end - gap.start) as u64;
        for (nth, rank) in (0..).zip(&mut ranks[gap.start..gap.end]) {
            let (has_above, has_below) = (at > 0, at < kept.len());
            let offset = offset(nth, jobs, gap.above - gap.below, has_above, has_below);
            *rank = (gap.above - offset.expect("room, as jobs were kept for it")) as u32;
        }
    }
}

/// Distance of the `nth` of some jobs from the upper end of a gap of this length; `None` if there
/// is no room. `above`, `below`: true if there is a job at that end.
fn offset(nth: u64, jobs: u64, distance: u64, above: bool, below: bool) -> Option<u64> {
    if distance <= jobs {
        return None;
    }
    if above && below {
        // Both factors have 32 bits. With a division of 128 bits, an interleaved order of a million
        // jobs takes 2 to 3 % more time (both versions of `JobLine::ordered` alternating in one
        // process).
        return Some((nth + 1) * distance / (jobs + 1));
    }
    let step = (distance / (jobs + 1)).min(SPACING);
    Some(if below {
        distance - (jobs - nth) * step
    } else {
        (nth + 1) * step
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers after the changes; checks the promises of [`renumber`].
    fn applied(order: &[Number], max: u32) -> Vec<u32> {
        let had = |number: &Number| match *number {
            Number::Free(number) | Number::Fixed(number) | Number::Held(number) => number,
        };
        let mut numbers: Vec<u32> = order.iter().map(had).collect();
        for change in renumber_within(order, max) {
            let number = &mut numbers[change.place as usize];
            assert_ne!(*number, change.number, "written for nothing");
            *number = change.number;
        }
        let (mut last, mut fixed) = (max + 1, Vec::new());
        for (number, had) in numbers.iter().zip(order) {
            match had {
                Number::Free(_) => {
                    assert!((1..last).contains(number), "{numbers:?} of {order:?}");
                    last = *number;
                }
                Number::Fixed(had) => {
                    assert_eq!(had, number);
                    fixed.push(*number);
                }
                Number::Held(_) => assert_eq!(*number, 0),
            }
        }
        for (number, had) in numbers.iter().zip(order) {
            assert!(!matches!(had, Number::Free(_)) || !fixed.contains(number));
        }
        numbers
    }

    /// The fewest changes, found by trying all subsets.
    fn fewest(had: &[u32], above: u32) -> Option<usize> {
        let Some((first, rest)) = had.split_first() else {
            return Some(0);
        };
        (1..above)
            .filter_map(|number| Some(fewest(rest, number)? + usize::from(number != *first)))
            .min()
    }

    fn free(numbers: &[u32]) -> Vec<Number> {
        numbers.iter().map(|number| Number::Free(*number)).collect()
    }

    proptest! {
        #[test]
        fn as_few_as_possible_unless_a_gap_is_used_up(
            had in proptest::collection::vec(0..12_u32, 0..7),
        ) {
            let changes = renumber_within(&free(&had), 11).len();
            applied(&free(&had), 11);
            let possible = fewest(&had, 12).expect("room for all");
            prop_assert!(changes >= possible);
            let key = |at: usize| Some(had[at]).filter(|n| *n > 0).map(|n| u32::MAX - n);
            let in_order = longest(had.len(), key, |last, next| last < next).len();
            if possible == had.len() - in_order {
                prop_assert_eq!(changes, possible);
            }
        }

        #[test]
        fn fixed_and_held_numbers(
            order in proptest::collection::vec((0..3_u8, 0..30_u32), 0..20),
        ) {
            let order: Vec<Number> = (order.into_iter())
                .map(|(kind, number)| match kind {
                    0 => Number::Fixed(number),
                    1 => Number::Held(number),
                    _ => Number::Free(number),
                })
                .collect();
            let numbers = applied(&order, 40);
            let again: Vec<Number> = (order.iter().zip(numbers))
                .map(|(had, number)| match had {
                    Number::Fixed(_) => Number::Fixed(number),
                    Number::Held(_) => Number::Held(number),
                    Number::Free(_) => Number::Free(number),
                })
                .collect();
            prop_assert_eq!(renumber_within(&again, 40), []);
        }
    }

    #[test]
    fn a_full_range_still_fits() {
        let order = free(&[1, 5, 3, 4, 2]);
        assert_eq!(applied(&order, 5), [5, 4, 3, 2, 1]);
        assert_eq!(applied(&free(&[0; 5]), 5), [5, 4, 3, 2, 1]);
    }

    #[test]
    fn single_moves_among_many_change_one_number() {
        let numbers = applied(&free(&[0; 1_000]), MAX_NUMBER);
        for (from, to) in [(0, 999), (999, 0), (500, 20), (20, 500), (7, 8)] {
            let mut moved = free(&numbers);
            let job = moved.remove(from);
            moved.insert(to, job);
            assert_eq!(renumber(&moved).len(), 1);
        }
    }

    #[test]
    fn a_million_jobs_have_room_between_them() {
        let numbers = applied(&free(&vec![0; 1_000_000]), MAX_NUMBER);
        assert!(numbers.windows(2).all(|pair| pair[0] - pair[1] == 2_048));
        assert_eq!(renumber(&free(&numbers)), []);
    }

    /// New jobs that always enter at one place, or a queue that moves forever: the number of writes
    /// stays in proportion.
    #[test]
    fn many_passes_write_little() {
        let placed = |len: usize, nth: usize| [0, len / 2, len, 2.min(len), nth % (len + 1)];
        for kind in 0..5 {
            let (mut numbers, mut written) = (Vec::new(), 0);
            for nth in 0..1_000 {
                numbers.insert(placed(numbers.len(), nth * 7_919)[kind], 0);
                let order = free(&numbers);
                let before = numbers;
                numbers = applied(&order, MAX_NUMBER);
                written += before.iter().zip(&numbers).filter(|(a, b)| a != b).count();
            }
            assert!(written < 1_000 * 12, "kind {kind}: {written}");
        }
        // First come, first served, in a small range that is used up every few hundred jobs.
        let (mut numbers, mut written) = (vec![0; 100], 0);
        for _ in 0..2_000 {
            numbers.remove(0);
            numbers.push(0);
            let order = free(&numbers);
            let before = numbers;
            numbers = applied(&order, 100_000);
            written += before.iter().zip(&numbers).filter(|(a, b)| a != b).count();
        }
        assert!(written < 2_000 * 12, "a moving queue: {written}");
    }

    #[test]
    fn between_neighbours() {
        let none = BTreeSet::new();
        let mut numbers = applied(&free(&[0; 10]), MAX_NUMBER);
        for at in [0_usize, 5, 11, 12] {
            let above = at.checked_sub(1).map(|at| numbers[at]);
            let number = between(above, numbers.get(at).copied(), &none).unwrap();
            numbers.insert(at, number);
            assert_eq!(renumber(&free(&numbers)), [], "its final number at once");
        }
        let fixed = BTreeSet::from([4, 5, 6]);
        assert_eq!(between(Some(8), Some(3), &fixed), Some(7));
        assert_eq!(between(Some(10), Some(3), &fixed), Some(8));
        assert_eq!(between(Some(7), Some(3), &fixed), None);
        assert_eq!(between(Some(3), Some(3), &none), None);
        assert_eq!(between(None, None, &none), Some(MAX_NUMBER + 1 - 2_048));
        assert_eq!(between(None, Some(MAX_NUMBER), &none), None);
        assert_eq!(between(Some(1), None, &none), None);
    }
}
