//! Longest increasing subsequence.

/// Positions, ascending, of a longest subsequence whose keys increase according to `may_follow`;
/// positions without a key are left out. If there are several, any of them. Without keys the result
/// is empty. `len` is below 2^32 - 1. Takes O(n) time if keys increase; O(n log n) at most.
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
    for (at, position) in (0..len).zip(0..) {
        let Some(key) = key(at) else {
            before.push(NOWHERE);
            continue;
        };
        let follows = |last: &u32| may_follow(*last, key);
        let place = match lasts.last() {
            Some(last) if !follows(last) => lasts.partition_point(follows),
            _ => lasts.len(),
        };
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
