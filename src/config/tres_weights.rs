//! Slurm's TRES weights: `CPU=1000,Mem=0.25G,GRES/gpu=3000`.
//!
//! A weight is a number per unit of the TRES: a count, or a mebibyte for `mem` and `bb/...`. With
//! a letter K, M, G, T or P the weight is meant per that larger unit and is divided by 1024 for
//! every step from the TRES's own unit up to it; a unit below its own changes nothing, and what
//! follows the letter does not count (`GB`). Weights may be negative.
//!
//! Source: slurm.conf(5), "PriorityWeightTRES" and "TRESBillingWeights".

use super::error::ValueError;

/// Reads TRES weights: names as written and weights, in the order given; empty entries (`a=1,,b=2`)
/// are skipped. The reader of the result decides if a TRES exists.
///
/// # Errors
/// An entry without name, `=` or weight, a name with blanks, a weight that is not a finite decimal
/// number, a weight followed by a wrong letter. [`ValueError::offset`] is that of the entry.
///
/// ```
/// use fairtree::config::tres_weights::parse_tres_weights;
/// let weights = parse_tres_weights("CPU=1000,Mem=0.5G").unwrap();
/// assert_eq!(weights[0], ("CPU".to_string(), 1000.0));
/// assert_eq!(weights[1], ("Mem".to_string(), 0.5 / 1024.0)); // per mebibyte
/// assert!(parse_tres_weights("CPU").is_err());
/// ```
pub fn parse_tres_weights(text: &str) -> Result<Vec<(String, f64)>, ValueError> {
    let mut weights = Vec::new();
    let mut offset = 0;
    for entry in text.split(',') {
        if !entry.is_empty() {
            weights.push(parse_entry(entry).map_err(|e| e.shifted(offset))?);
        }
        offset += entry.chars().count() + 1;
    }
    Ok(weights)
}

fn parse_entry(entry: &str) -> Result<(String, f64), ValueError> {
    let bad = || {
        ValueError::new(
            entry,
            "TRES=weight, such as cpu=1000, mem=0.25G or gres/gpu=3000, with a decimal number \
             and at most one unit of K, M, G, T, P",
        )
    };
    let (name, weight) = entry.split_once('=').ok_or_else(bad)?;
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(bad());
    }
    let (number, unit) = split_number(weight);
    let number: f64 = number.parse().map_err(|_| bad())?;
    if !number.is_finite() {
        return Err(bad());
    }
    let steps = match unit.chars().next() {
        None => 0,
        Some(letter) => steps_up(name, letter).ok_or_else(bad)?,
    };
    Ok((name.to_string(), number / 1024_f64.powi(steps)))
}

/// Splits a decimal number, with sign, fraction and exponent, from what follows.
fn split_number(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        at
    };
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    end = digits(end);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let last = digits(end + 1 + sign);
        // "1E" alone is a number and a (wrong) unit, not an exponent.
        if last > end + 1 + sign {
            end = last;
        }
    }
    text.split_at(end)
}

/// Steps of 1024 from the TRES's own unit up to `letter`, at least 0; `None`: no such unit.
fn steps_up(name: &str, letter: char) -> Option<i32> {
    let kind = name.split('/').next().unwrap_or(name);
    let mebibytes = kind.eq_ignore_ascii_case("mem") || kind.eq_ignore_ascii_case("bb");
    let own = if mebibytes { 2 } else { 0 };
    let unit = match letter.to_ascii_uppercase() {
        'K' => 1,
        'M' => 2,
        'G' => 3,
        'T' => 4,
        'P' => 5,
        _ => return None,
    };
    Some((unit - own).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> f64 {
        let weights = parse_tres_weights(text).unwrap();
        assert_eq!(weights.len(), 1, "{text}");
        weights[0].1
    }

    // Source: slurm.conf(5): "CPU=1000,Mem=2000,GRES/gpu=3000", "Negative values are allowed".
    #[test]
    fn names_and_numbers() {
        let weights = parse_tres_weights("CPU=1000,Mem=2000,,GRES/gpu=-3000,").unwrap();
        let names: Vec<&str> = weights.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["CPU", "Mem", "GRES/gpu"]);
        let numbers: Vec<f64> = weights.iter().map(|(_, weight)| *weight).collect();
        assert_eq!(numbers, [1000.0, 2000.0, -3000.0]);
        assert_eq!(one("cpu=.03"), 0.03);
        assert_eq!(one("cpu=1."), 1.0);
        assert_eq!(one("cpu=+2e3"), 2000.0);
        assert!(parse_tres_weights("").unwrap().is_empty());
    }

    #[test]
    fn a_unit_divides_the_weight() {
        assert_eq!(one("mem=1M"), 1.0);
        assert_eq!(one("mem=1K"), 1.0);
        assert_eq!(one("Mem=0.25G"), 0.25 / 1024.0);
        assert_eq!(one("mem=0.25GB"), 0.25 / 1024.0);
        assert_eq!(one("bb/datawarp=3t"), 3.0 / 1_048_576.0);
        assert_eq!(one("cpu=5K"), 5.0 / 1024.0);
        assert_eq!(one("fs/disk=1G"), 1.0 / 1_073_741_824.0);
        assert_eq!(one("mem=1P"), 1.0 / 1_073_741_824.0);
    }

    #[test]
    fn bad_entries_are_named() {
        for (text, value, offset) in [
            ("cpu", "cpu", 0),
            ("cpu=", "cpu=", 0),
            ("=5", "=5", 0),
            ("cpu=1, mem=2", " mem=2", 6),
            ("cpu=1,mem=x", "mem=x", 6),
            ("cpu=1,mem=1E", "mem=1E", 6),
            ("cpu=1,mem=1Q", "mem=1Q", 6),
            ("cpu=inf", "cpu=inf", 0),
            ("cpu=nan", "cpu=nan", 0),
            ("cpu=1e999", "cpu=1e999", 0),
            ("cpu=0x10", "cpu=0x10", 0),
            ("cpu=--1", "cpu=--1", 0),
            ("é=1,cpu", "cpu", 4),
        ] {
            let error = parse_tres_weights(text).unwrap_err();
            assert_eq!((error.value.as_str(), error.offset), (value, offset));
        }
    }
}
