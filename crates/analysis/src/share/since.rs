//! Usage charged since the pass that the derived numbers are of.
//!
//! slurmctld charges a job's last stretch when the job ends, but computes effective usage and
//! level fairshare only in its next pass. A listing made in between shows quotients of the earlier
//! usage beside the new RawUsage. Usage only grows between passes (it decays in a pass), so the
//! story can be tested: there must be one earlier usage of the account that fits all its rows.

use super::ranks::Interval;

/// What one row of a level tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// RawUsage, as printed.
    pub raw_usage: u64,
    /// The part of the account's usage that it had at the pass, as printed.
    pub part: Interval,
    /// Whether what it grew by is in what the account grew by once more (a row directly below).
    pub direct: bool,
}

/// The most usage that an account can have had at the last pass, if its rows agree on any that is
/// less than `raw_usage` by no more than the part `max_growth` of it.
///
/// No row had more than it has now, and together they grew by no more than the account. The less
/// the account had, the more room there is, so the most is found by halving the doubt.
pub(super) fn usage_at_pass(raw_usage: u64, rows: &[Told], max_growth: f64) -> Option<f64> {
    const HALVINGS: u32 = 64;
    let now = raw_usage as f64;
    let limit = |row: &Told| (row.raw_usage as f64 + 1.0) / row.part.low;
    let parts = rows.iter().filter(|row| row.part.low > 0.0);
    let mut most = parts.map(limit).fold(now + 1.0, f64::min);
    let mut least = now * (1.0 - max_growth);
    let fits = |before: f64| {
        let grew = |row: &Told| (row.raw_usage as f64 - row.part.high * before).max(0.0);
        let grown: f64 = rows.iter().filter(|row| row.direct).map(grew).sum();
        grown <= now + 1.0 - before + rows.len() as f64
    };
    if most < least || !fits(least) {
        return None;
    }
    if fits(most) {
        return Some(most);
    }
    for _ in 0..HALVINGS {
        let middle = least + (most - least) / 2.0;
        if fits(middle) {
            least = middle;
        } else {
            most = middle;
        }
    }
    Some(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree_model::input::sshare::Printed;
    use fairtree_model::listed::MAX_GROWTH;

    fn told(raw_usage: u64, part: &str) -> Told {
        let Printed { low, high, .. } = Printed::parse(part).unwrap();
        Told {
            raw_usage,
            part: Interval { low, high },
            direct: true,
        }
    }

    // Hand calculation: 1,000,000 at the pass, half each; then one row gets 500 more.
    #[test]
    fn growth_of_one_row_is_found() {
        let rows = [told(500_500, "0.500000"), told(500_000, "0.500000")];
        let before = usage_at_pass(1_000_500, &rows, MAX_GROWTH).unwrap();
        assert!((before - 1_000_000.0).abs() < 5.0, "{before}");
    }

    #[test]
    fn shrinking_and_unlikely_growth_are_no_explanation() {
        // The first row would have had more than it has now, or the account much less.
        let rows = [told(490_000, "0.500000"), told(510_000, "0.500000")];
        assert_eq!(usage_at_pass(1_000_000, &rows, MAX_GROWTH), None);
        // The rows grew by more than the account.
        let rows = [told(500_900, "0.500000"), told(500_900, "0.500000")];
        assert_eq!(usage_at_pass(1_000_500, &rows, MAX_GROWTH), None);
    }
}
