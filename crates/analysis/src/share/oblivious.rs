//! Effective usage by the rule of `DEPTH_OBLIVIOUS`, of numbers that lie in intervals.

use super::ranks::Interval;

/// The factor on `ln Rp`, as in slurmctld's plugin.
const STEEPNESS: f64 = 5.0;

/// The numbers that effective usage follows from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Normalised usage of the association.
    pub own: Interval,
    /// That of the others on its level with shares of their own, summed.
    pub others: Interval,
    /// Normalised shares of the association.
    pub shares: f64,
    /// Effective usage of the account above.
    pub above: Interval,
    /// Normalised shares of that account.
    pub shares_above: f64,
}

/// All values that effective usage can have: `Rp * Rl^k * S`, rising in the usage of the association,
/// and its own usage where a number is 0 (see `fairtree::fairshare::DepthOblivious`).
pub(super) fn effective_usage(level: Level) -> Interval {
    let Level { own, others, .. } = level;
    if level.shares == 0.0
        || level.shares_above == 0.0
        || own.high == 0.0
        || level.above.high == 0.0
    {
        return own;
    }
    let ratio = Interval {
        low: level.above.low / level.shares_above,
        high: level.above.high / level.shares_above,
    };
    let part = |own: f64, others: f64| match own + others {
        0.0 => 0.0,
        sum => own / sum * level.shares_above / level.shares,
    };
    let local = Interval {
        low: part(own.low, others.high),
        high: part(own.high, others.low),
    };
    let powers = |local: f64| exponents(ratio, local).map(move |exponent| local.powf(exponent));
    let mut found = Interval {
        low: ratio.low * powers(local.low).fold(f64::INFINITY, f64::min) * level.shares,
        high: ratio.high * powers(local.high).fold(0.0, f64::max) * level.shares,
    };
    // An account that may be unused leaves its children their own usage.
    if ratio.low == 0.0 {
        found.low = found.low.min(own.low);
        found.high = found.high.max(own.high);
    }
    found
}

/// The least and the greatest exponent of a local ratio, for parents' ratios of an interval: 1, or less
/// where one ratio is above 1 and the other below.
fn exponents(ratio: Interval, local: f64) -> impl Iterator<Item = f64> {
    let exponent = |ratio: f64| 1.0 / (1.0 + (STEEPNESS * ratio.ln()).powi(2));
    let may_oppose = match local {
        local if local > 1.0 => ratio.low < 1.0,
        local if local < 1.0 => ratio.high > 1.0,
        _ => false,
    };
    let ends = [ratio.low, ratio.high].map(exponent);
    let holds_one = ratio.low <= 1.0 && ratio.high >= 1.0;
    let may_agree = !may_oppose || holds_one;
    may_agree
        .then_some(1.0)
        .into_iter()
        .chain(ends.into_iter().filter(move |_| may_oppose))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(value: f64) -> Interval {
        Interval {
            low: value,
            high: value,
        }
    }

    /// Hand calculation: an account with 0.5 of the shares and 0.8 of the usage, Rp = 1.6. Two users of
    /// equal shares (S = 0.25) used 0.6 and 0.2: Rl = 0.75 / 0.5 = 1.5, which agrees with Rp, so
    /// UE = 1.6 * 1.5 * 0.25 = 0.6; and Rl = 0.5, which opposes it: k = 1 / (1 + (5 ln 1.6)^2) =
    /// 0.153313, UE = 1.6 * 0.5^0.153313 * 0.25 = 0.359673.
    #[test]
    fn exact_numbers_give_the_formula() {
        let of = |own: f64, others: f64| {
            effective_usage(Level {
                own: exactly(own),
                others: exactly(others),
                shares: 0.25,
                above: exactly(0.8),
                shares_above: 0.5,
            })
        };
        for (own, others, expected) in [(0.6, 0.2, 0.6), (0.2, 0.6, 0.359_673)] {
            let found = of(own, others);
            assert!((found.low - expected).abs() < 1e-6, "{found:?}");
            assert!((found.high - expected).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn wider_numbers_give_wider_intervals() {
        let of = |slack: f64| {
            let about = |value: f64| Interval {
                low: value - slack,
                high: value + slack,
            };
            effective_usage(Level {
                own: about(0.2),
                others: about(0.6),
                shares: 0.25,
                above: about(0.5),
                shares_above: 0.5,
            })
        };
        let (exact, wide) = (of(0.0), of(1e-3));
        assert!(wide.low < exact.low && exact.high < wide.high);
    }
}
