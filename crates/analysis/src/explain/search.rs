//! The least amount that changes something.

/// The least number from 1 to `most` at which `holds`; `None` where it does not hold at `most`.
///
/// `holds` is false at 0. It is true at the number found, and not at the one below it. If `holds`
/// turns true and false several times, it is one of the places where it turns true.
pub(super) fn least(most: u64, mut holds: impl FnMut(u64) -> bool) -> Option<u64> {
    if most == 0 || !holds(most) {
        return None;
    }
    let (mut no, mut yes) = (0, most);
    while yes - no > 1 {
        let middle = no + (yes - no) / 2;
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    Some(yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_where_it_turns_true() {
        for most in [1, 2, 7, 1_000_000, u64::MAX] {
            for turn in [1, 2, 5, 999, u64::MAX].into_iter().filter(|t| *t <= most) {
                assert_eq!(least(most, |number| number >= turn), Some(turn));
            }
        }
    }

    #[test]
    fn no_amount() {
        assert_eq!(least(100, |_| false), None);
        assert_eq!(least(0, |_| true), None);
    }
}
