//! Shrinks a life that shows a difference.

use xtask::interrupt::{self, Interrupted};

use super::compare::compare;
use super::life::Life;
use super::outcome::{Difference, Outcome, Pair};

/// Drops lines, then words, while the only fields that differ are among those that differed at
/// first, so that the difference stays the same.
/// Returns the smallest life found and its difference.
pub fn shrink(
    pair: &Pair<'_>,
    life: &Life,
    first: &Difference,
) -> Result<(Life, Difference), Interrupted> {
    let kinds = first.kinds();
    let fails = |candidate: &Life| match compare(pair, candidate) {
        Ok(Outcome::Differs(found)) => {
            let alike = found.kinds().iter().all(|kind| kinds.contains(kind));
            alike.then_some(*found)
        }
        // A subset of lines that is not a valid life shows nothing.
        _ => None,
    };
    let mut life = life.clone();
    if first.line > 0 {
        life.lines.truncate(first.line);
    }
    let Some(mut left) = fails(&life) else {
        return Ok((life, first.clone()));
    };
    loop {
        let before = life.clone();
        drop_lines(&mut life, &mut left, &fails)?;
        drop_words(&mut life, &mut left, &fails)?;
        if life == before {
            return Ok((life, left));
        }
    }
}

/// Removes runs of lines, from half the life down to single lines.
fn drop_lines(
    life: &mut Life,
    left: &mut Difference,
    fails: &impl Fn(&Life) -> Option<Difference>,
) -> Result<(), Interrupted> {
    let mut run = (life.lines.len() / 2).max(1);
    loop {
        let mut at = 0;
        while at < life.lines.len() {
            interrupt::check()?;
            let end = (at + run).min(life.lines.len());
            let mut smaller = life.clone();
            smaller.lines.drain(at..end);
            match keeps_boot(&smaller).then(|| fails(&smaller)).flatten() {
                Some(found) => {
                    *life = smaller;
                    *left = found;
                }
                None => at = end,
            }
        }
        if run == 1 {
            return Ok(());
        }
        run /= 2;
    }
}

/// Removes single `key=value` words.
fn drop_words(
    life: &mut Life,
    left: &mut Difference,
    fails: &impl Fn(&Life) -> Option<Difference>,
) -> Result<(), Interrupted> {
    for line in 0..life.lines.len() {
        interrupt::check()?;
        let mut word = 1;
        loop {
            let words: Vec<&str> = life.lines[line].split_whitespace().collect();
            if word >= words.len() {
                break;
            }
            let kept = words.iter().enumerate().filter(|(index, _)| *index != word);
            let shorter: Vec<&str> = kept.map(|(_, text)| *text).collect();
            let mut smaller = life.clone();
            smaller.lines[line] = shorter.join(" ");
            match fails(&smaller) {
                Some(found) => {
                    *life = smaller;
                    *left = found;
                }
                None => word += 1,
            }
        }
    }
    Ok(())
}

fn keeps_boot(life: &Life) -> bool {
    life.lines.iter().any(|line| line == "boot")
}
