//! Quantiles of a sample.

/// The quantile `q`, from 0 to 1, of sorted values: between two ranks by linear interpolation, so
/// that the median of an even count is the mean of the middle two. `None` without values.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let rank = q * last as f64;
    let below = rank.floor();
    let at = below as usize;
    let next = sorted[(at + 1).min(last)];
    Some(sorted[at] + (next - sorted[at]) * (rank - below))
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand; those of NumPy's default are the same.
    #[test]
    fn quantiles_are_between_ranks() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.95), Some(7.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), Some(3.0));
        assert_eq!(quantile(&[0.0, 10.0], 0.95), Some(9.5));
        assert_eq!(quantile(&[1.0, 2.0, 3.0], 1.0), Some(3.0));
    }
}
