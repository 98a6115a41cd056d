//! Sorting what is nearly in order.

/// Sorts entries, no two of which are equal. Takes time in O(n + d log d) where all but some d of
/// them stand in their order already.
///
/// What stands in order stays in front, in place; of two that do not, either may be the one that
/// moved, so both are set apart, sorted, and merged again.
pub(super) fn sort<T: Copy>(entries: &mut [T], before: impl Fn(&T, &T) -> bool) {
    let falls = |pair: &[T]| before(&pair[1], &pair[0]);
    let Some(first) = entries.windows(2).position(falls) else {
        return;
    };
    let mut apart = Vec::new();
    let sorted = first + 1;
    let mut kept = sorted;
    for at in sorted..entries.len() {
        let entry = entries[at];
        if kept > 0 && before(&entry, &entries[kept - 1]) {
            kept -= 1;
            apart.push(entries[kept]);
            if kept > 0 && before(&entry, &entries[kept - 1]) {
                apart.push(entry);
                continue;
            }
        }
        entries[kept] = entry;
        kept += 1;
    }
    apart.sort_unstable_by(|a, b| match before(a, b) {
        true => std::cmp::Ordering::Less,
        false if before(b, a) => std::cmp::Ordering::Greater,
        false => std::cmp::Ordering::Equal,
    });
    // From the end: nothing is written before it is read.
    let mut to = entries.len();
    while let Some(last) = apart.last() {
        to -= 1;
        if kept > 0 && before(last, &entries[kept - 1]) {
            kept -= 1;
            entries[to] = entries[kept];
        } else {
            entries[to] = *last;
            apart.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_whatever_comes(numbers in prop::collection::vec(0..1000_u32, 0..60)) {
            let mut entries: Vec<(u32, usize)> = numbers.into_iter().zip(0..).collect();
            let mut expected = entries.clone();
            expected.sort_unstable();
            sort(&mut entries, |a, b| a < b);
            prop_assert_eq!(entries, expected);
        }
    }

    #[test]
    fn a_few_that_moved_cost_little() {
        let mut entries: Vec<u64> = (0..10_000).map(|n| n * 10).collect();
        for (at, to) in [(5, 70_005), (9_000, 15), (3, 1), (9_999, 99_995)] {
            entries[at] = to;
        }
        let asked = std::cell::Cell::new(0);
        sort(&mut entries, |a, b| {
            asked.set(asked.get() + 1);
            a < b
        });
        assert!(entries.is_sorted());
        assert!(asked.get() < 40_000, "{}", asked.get());
    }
}
