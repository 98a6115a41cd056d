//! Counts as Slurm prints them, with units and ranges.

/// A count, `K`, `M`, `G`, `T` for powers of 1024: `16`, `2K`.
pub(super) fn count(text: &str) -> Option<u64> {
    let (digits, power) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 1),
        'M' => (&text[..text.len() - 1], 2),
        'G' => (&text[..text.len() - 1], 3),
        'T' => (&text[..text.len() - 1], 4),
        'P' => (&text[..text.len() - 1], 5),
        _ => (text, 0),
    };
    // Half of a resource without a unit is a number that Slurm does not print.
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let zeros = !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0');
    match (power, zeros) {
        (0, true) => scaled(whole, 1, 1),
        (0, false) => None,
        _ => scaled(digits, 1024u64.pow(power), 1),
    }
}

/// `digits`, which may have a fraction, times `over`/`under`, cut to a whole number.
fn scaled(digits: &str, over: u64, under: u64) -> Option<u64> {
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match digits.split_once('.') {
        None if plain(digits) => digits
            .parse::<u64>()
            .ok()?
            .checked_mul(over)
            .map(|n| n / under),
        Some((whole, fraction)) if plain(whole) && plain(fraction) => {
            let value: f64 = digits.parse().ok()?;
            Some((value * over as f64 / under as f64) as u64)
        }
        _ => None,
    }
}

/// Memory in megabytes, as Slurm counts it: `4000M`, `1G`, `512` is megabytes.
pub(in crate::input) fn megabytes(text: &str) -> Option<u64> {
    let unit = text.chars().last()?;
    let digits = text
        .strip_suffix(unit)
        .filter(|_| unit.is_ascii_alphabetic());
    match (digits, unit) {
        (None, _) => scaled(text, 1, 1),
        (Some(digits), 'K') => scaled(digits, 1, 1024),
        (Some(digits), 'M') => scaled(digits, 1, 1),
        (Some(digits), 'G') => scaled(digits, 1024, 1),
        (Some(digits), 'T') => scaled(digits, 1024 * 1024, 1),
        (Some(digits), 'P') => scaled(digits, 1024 * 1024 * 1024, 1),
        _ => None,
    }
}

/// The least and the most of a range: `4`, `2-8`.
pub(super) fn range(text: &str) -> Option<(u64, u64)> {
    match text.split_once('-') {
        Some((least, most)) => Some((count(least)?, count(most)?)),
        None => count(text).map(|n| (n, n)),
    }
}

/// Resources with their counts: `cpu=16,mem=4000M,gres/gpu:a100=2`. Memory in megabytes.
pub fn tres(text: &str) -> Option<Vec<(String, u64)>> {
    let terms = text.split(',').filter(|term| !term.is_empty());
    terms
        .map(|term| {
            let (name, number) = term.split_once('=')?;
            let number = match name {
                "mem" | "vmem" => megabytes(number)?,
                _ => count(number)?,
            };
            Some((name.to_ascii_lowercase(), number))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024() {
        assert_eq!(count("16"), Some(16));
        assert_eq!(count("2K"), Some(2048));
        assert_eq!(range("2-8"), Some((2, 8)));
        assert_eq!(range("4"), Some((4, 4)));
        assert_eq!(
            tres("cpu=16,mem=4000M,node=4,billing=1K"),
            Some(vec![
                ("cpu".into(), 16),
                ("mem".into(), 4000),
                ("node".into(), 4),
                ("billing".into(), 1024)
            ])
        );
        assert_eq!(tres("mem=1.50G"), Some(vec![("mem".into(), 1536)]));
        assert_eq!(tres("mem=512K"), Some(vec![("mem".into(), 0)]));
        assert_eq!(count("3.00"), Some(3));
        for text in ["", "x", "K", "-1", "1.", "1e5", "0.5", "1.5"] {
            assert_eq!(count(text), None, "{text:?}");
        }
        assert_eq!(tres("cpu"), None);
        assert_eq!(tres(""), Some(vec![]));
    }
}
