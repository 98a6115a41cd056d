//! The least amount that changes something.

/// Where a number is tried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// On a small copy: quick, and nearly always right.
    Sketch,
    /// On a copy of the whole: slow, and what counts.
    Whole,
}

/// The least number from 1 to `most` at which `holds`; `None` where it does not hold at `most`.
///
/// `holds` is false at 0. The number found is right on the whole, and the one below it is not. If
/// `holds` turns true and false several times, it is one of the places where it turns true.
///
/// The sketch is asked some 64 times, twice that where `most` is too much for it; the whole twice
/// if the sketch is right, once if both find that no amount is enough, otherwise about twice the
/// logarithm of the error more often.
pub(super) fn least(most: u64, mut holds: impl FnMut(Scope, u64) -> bool) -> Option<u64> {
    if most == 0 {
        return None;
    }
    // Far out a sketch may see ties where the whole has none, as after years of decay.
    let mut reach = most;
    while reach > 0 && !holds(Scope::Sketch, reach) {
        reach /= 2;
    }
    let (mut no, mut yes) = (0, if reach > 0 { reach } else { most });
    if reach > 0 {
        halve(&mut no, &mut yes, |number| holds(Scope::Sketch, number));
    }
    let guess = yes;
    (no, yes) = (0, most);
    // From the guess outwards, in steps that double, until the turn lies between.
    let mut step = 1;
    if holds(Scope::Whole, guess) {
        yes = guess;
        // A sketch that finds no amount does not show where the turn is.
        while reach > 0 && yes > step {
            let below = yes - step;
            if !holds(Scope::Whole, below) {
                no = below;
                break;
            }
            yes = below;
            step = step.saturating_mul(2);
        }
    } else if guess == most || !holds(Scope::Whole, most) {
        return None;
    } else {
        no = guess;
        while let Some(above) = no.checked_add(step).filter(|above| *above < most) {
            if holds(Scope::Whole, above) {
                yes = above;
                break;
            }
            no = above;
            step = step.saturating_mul(2);
        }
    }
    halve(&mut no, &mut yes, |number| holds(Scope::Whole, number));
    Some(yes)
}

/// Narrows `no..yes` to neighbours.
fn halve(no: &mut u64, yes: &mut u64, mut holds: impl FnMut(u64) -> bool) {
    while *yes - *no > 1 {
        let middle = *no + (*yes - *no) / 2;
        if holds(middle) {
            *yes = middle;
        } else {
            *no = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_sketch_needs_two_looks_at_the_whole() {
        for turn in [1, 2, 3, 1000, u64::MAX - 1, u64::MAX] {
            let mut looks = 0;
            let found = least(u64::MAX, |scope, number| {
                looks += u32::from(scope == Scope::Whole);
                number >= turn
            });
            assert_eq!(found, Some(turn));
            assert!(looks <= 2, "{looks}");
        }
    }

    #[test]
    fn a_wrong_sketch_is_put_right() {
        for most in [1, 2, 7, 1_000_000] {
            for turn in [1, 2, 5, 999, 1_000_000].into_iter().filter(|t| *t <= most) {
                for sketch in [1, 2, 4, 6, 1000, 900_000, u64::MAX] {
                    let found = least(most, |scope, number| match scope {
                        Scope::Sketch => number >= sketch,
                        Scope::Whole => number >= turn,
                    });
                    assert_eq!(found, Some(turn), "{most} {sketch}");
                }
            }
        }
    }

    #[test]
    fn a_sketch_that_gives_up_far_out_is_right_nearer() {
        let mut looks = 0;
        let found = least(87_660, |scope, number| {
            looks += u32::from(scope == Scope::Whole);
            number >= 223 && (scope == Scope::Whole || number < 20_000)
        });
        assert_eq!(found, Some(223));
        assert_eq!(looks, 2);
    }

    #[test]
    fn without_a_sketch_the_whole_is_halved() {
        let mut looks = 0;
        let found = least(87_660, |scope, number| {
            looks += u32::from(scope == Scope::Whole);
            number >= 223 && scope == Scope::Whole
        });
        assert_eq!(found, Some(223));
        assert!(looks <= 18, "{looks}");
    }

    #[test]
    fn no_amount() {
        assert_eq!(least(100, |_, _| false), None);
        assert_eq!(least(0, |_, _| true), None);
    }
}
