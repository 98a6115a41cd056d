//! Longest increasing subsequence.

/// Positions, ascending, of a longest subsequence whose keys increase according to `may_follow`;
/// positions without a key are left out. If there are several, any of them. Without keys the result
/// is empty. `len` is below 2^32 - 1. Takes O(n) time if keys increase, and for neighbours that
/// were moved together; O(n log n) at most.
///
/// Source: M. L. Fredman, On computing the length of longest increasing subsequences, 1975.
pub(super) fn longest(
    len: usize,
    key: impl Fn(usize) -> Option<u32>,
    may_follow: impl Fn(u32, u32) -> bool,
) -> Vec<u32> {
    // Position of the smallest last key, for each length.
    let mut lasts: Vec<u32> = Vec::with_capacity(len);
    let mut ends: Vec<u32> = Vec::with_capacity(len);
    // Position before each one in a longest subsequence that ends there.
    let mut before = Vec::with_capacity(len);
    let mut near = Near::new((0..len).filter_map(&key).max(), len);
    for (at, position) in (0..len).zip(0..) {
        let Some(key) = key(at) else {
            before.push(NOWHERE);
            continue;
        };
        let follows = |last: &u32| may_follow(*last, key);
        let place = match lasts.last() {
            Some(last) if !follows(last) => partition_point_near(&lasts, near.of(key), follows),
            _ => lasts.len(),
        };
        near.set(key, place);
        before.push(place.checked_sub(1).map_or(NOWHERE, |last| ends[last]));
        match lasts.get_mut(place) {
            Some(last) => (*last, ends[place]) = (key, position),
            None => {
                lasts.push(key);
                ends.push(position);
            }
        }
    }
    let mut at = ends.last().copied().unwrap_or(NOWHERE);
    for place in ends.iter_mut().rev() {
        *place = at;
        at = before[at as usize];
    }
    ends
}

/// No position: nothing comes before.
const NOWHERE: u32 = u32::MAX;

/// Cache of the last search result for keys of similar size: the place of a key is near that of the
/// last similar one, which is in the CPU caches and few branches away. If the search starts at the
/// place of the previous position instead, an interleaved order of 100,000 jobs takes 5 % more
/// time, one of a million 12 %, and a strict order 2 to 6 % (both versions of
/// [`super::Line::ordered`] alternating in one process).
struct Near {
    /// By leading bits of keys; 0 before the first key with these bits.
    places: Vec<u32>,
    shift: u32,
}

impl Near {
    /// A cache for keys up to `most`, with 8 to 16 positions per place if keys are spread evenly;
    /// `None`: no keys.
    fn new(most: Option<u32>, len: usize) -> Near {
        let most = most.unwrap_or(0);
        let bits = (usize::BITS - len.leading_zeros()).saturating_sub(4);
        let shift = (u32::BITS - most.leading_zeros()).saturating_sub(bits.max(1));
        Near {
            places: vec![0; (most >> shift) as usize + 1],
            shift,
        }
    }

    fn of(&self, key: u32) -> usize {
        self.places[(key >> self.shift) as usize] as usize
    }

    fn set(&mut self, key: u32, place: usize) {
        self.places[(key >> self.shift) as usize] = place as u32;
    }
}

/// As `partition_point`, starting at `near`, in steps that double. If all is searched instead, a
/// strict order of a million jobs takes 4 to 12 % more time: both versions of
/// [`super::Line::ordered`] alternating in one process.
fn partition_point_near(all: &[u32], near: usize, is_before: impl Fn(&u32) -> bool) -> usize {
    let near = near.min(all.len());
    let (mut low, mut high) = (0, all.len());
    let mut step = 1;
    if all.get(near).is_some_and(&is_before) {
        low = near + 1;
        while let Some(one) = all.get(low + step - 1) {
            if !is_before(one) {
                high = low + step - 1;
                break;
            }
            low += step;
            step *= 2;
        }
    } else {
        high = near;
        while let Some(at) = high.checked_sub(step) {
            if is_before(&all[at]) {
                low = at + 1;
                break;
            }
            high = at;
            step *= 2;
        }
    }
    low + all[low..high].partition_point(is_before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Length of a longest subsequence, from the longest that end at each position.
    fn naive(keys: &[Option<u32>], may_follow: impl Fn(u32, u32) -> bool) -> usize {
        let mut lens = vec![0; keys.len()];
        for (at, key) in keys.iter().enumerate() {
            let Some(key) = *key else { continue };
            let follows = |before: &usize| keys[*before].is_some_and(|last| may_follow(last, key));
            let before = (0..at).filter(follows).map(|before| lens[before]);
            lens[at] = 1 + before.max().unwrap_or(0);
        }
        lens.into_iter().max().unwrap_or(0)
    }

    /// Some keys of the same length in bits, some of any length.
    fn key() -> impl Strategy<Value = u32> {
        let anywhere = (any::<u32>(), 0..32_u32).prop_map(|(key, shift)| key >> shift);
        prop_oneof![0..12_u32, Just(u32::MAX), anywhere]
    }

    proptest! {
        #[test]
        fn a_point_is_found_from_everywhere(before in 0..40_u32, behind in 0..40_u32, near in 0..90_usize) {
            let all: Vec<u32> = (0..before + behind).collect();
            let found = partition_point_near(&all, near, |one| *one < before);
            prop_assert_eq!(found, before as usize);
        }

        #[test]
        fn none_is_longer(keys in prop::collection::vec(prop::option::of(key()), 0..90)) {
            let rules: [fn(u32, u32) -> bool; 2] = [|a, b| a < b, |a, b| a <= b];
            for may_follow in rules {
                let found = longest(keys.len(), |at| keys[at], may_follow);
                prop_assert!(found.is_sorted());
                let those: Vec<u32> = found.iter().map(|at| keys[*at as usize].unwrap()).collect();
                prop_assert!(those.is_sorted_by(|a, b| may_follow(*a, *b)));
                prop_assert_eq!(found.len(), naive(&keys, may_follow));
            }
        }
    }
}
