//! Scores, times and minutes in words.

use crate::figures::trimmed;
use fairtree_analysis::shares::{Basis, Grade, Level, LevelRow, Minutes};

/// The score of a row in words: `used half of what is due`, `over its share, 2 : 1`.
pub fn score(row: &LevelRow, basis: Basis) -> String {
    let score = row.score;
    let share = match score.grade {
        Grade::Parent if row.user.is_some() => return "shares those of its account".to_owned(),
        Grade::Root => return "the whole".to_owned(),
        Grade::Parent => return "its children compete on this level".to_owned(),
        Grade::EntitledToNothing => return "entitled to nothing: after all others".to_owned(),
        Grade::Unused => return "unused".to_owned(),
        Grade::Under => "under its share",
        Grade::At => "at its share",
        Grade::Over => "over its share",
    };
    let ratio = score.ratio.unwrap_or(0.0);
    match (basis, score.excess) {
        (Basis::Claim, _) => {
            let of = match row.entitled {
                Some(_) => "its entitlement",
                None => "what is due",
            };
            format!("used {} {of}", multiple(ratio))
        }
        (Basis::Difference, Some(excess)) => {
            format!(
                "{share} by {}% of the whole",
                decimals(excess.abs() * 100.0)
            )
        }
        _ => format!("{share}, {} : 1", decimals(ratio)),
    }
}

/// `half of`, `all of`, `0.74% of`, `1.5 times`.
fn multiple(ratio: f64) -> String {
    match decimals(ratio).as_str() {
        "0.5" => "half of".to_owned(),
        "1" => "all of".to_owned(),
        _ if ratio < 1.0 => format!("{}% of", decimals(ratio * 100.0)),
        times => format!("{times} times"),
    }
}

/// Two decimals, or two digits of a smaller number, without zeros at the end.
fn decimals(number: f64) -> String {
    let places = match number {
        _ if number >= 0.095 || number <= 0.0 => 2,
        _ => (1 - number.log10().floor() as i32).clamp(2, 9) as usize,
    };
    trimmed(&format!("{number:.places$}")).to_owned()
}

/// TRES-minutes of TRES-seconds, one decimal.
pub(super) fn tres_minutes(secs: f64) -> String {
    trimmed(&format!("{:.1}", secs / 60.0)).to_owned()
}

/// The minutes of a level in a sentence; empty where nobody has minutes.
pub fn minutes(level: &Level) -> String {
    let Some(minutes) = &level.minutes else {
        return String::new();
    };
    let name = &level.account.name;
    let Minutes { given, sharing, .. } = *minutes;
    let (Some(of), Some(left)) = (minutes.of_account, minutes.left) else {
        return format!("Minutes: {given} given out; no account has minutes that limit them.");
    };
    let (of, size) = (decimals(of), decimals(left.abs()));
    if left < 0.0 {
        return format!(
            "Minutes: {given} given out of the {of} of {name}: {size} too many; each child is \
             entitled to {of} x its own / {given}."
        );
    }
    let rest = match (left == 0.0, sharing) {
        (true, _) => "nothing is left to give out".to_owned(),
        (false, 0) => format!("{size} are left to give out"),
        (false, 1) => format!("{size} are left to give out; the child without minutes has them"),
        (false, _) => format!(
            "{size} are left to give out; the {sharing} children without minutes divide them by shares"
        ),
    };
    format!("Minutes: {given} given out of the {of} of {name}; {rest}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_and_decimals() {
        assert_eq!(multiple(0.5), "half of");
        assert_eq!(multiple(1.0), "all of");
        assert_eq!(multiple(0.0074), "0.74% of");
        assert_eq!(multiple(1.5), "1.5 times");
        assert_eq!(multiple(0.99), "99% of");
        assert_eq!(decimals(0.0074), "0.0074");
        assert_eq!(decimals(2.0), "2");
        assert_eq!(decimals(4.222), "4.22");
        assert_eq!(decimals(0.0), "0");
        assert_eq!(tres_minutes(600.0), "10");
        assert_eq!(tres_minutes(90.0), "1.5");
    }
}
