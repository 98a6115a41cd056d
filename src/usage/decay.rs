//! The half-life: how much of old usage is left, and what use over a period counts.

use super::quirks::Quirks;
use crate::compat::Compat;
use crate::extended::Extended;

/// How usage decays with time (`PriorityDecayHalfLife`).
///
/// | | documented | `compat=slurm` |
/// |---|---|---|
/// | factor over `t` s | `2^(-t/h)` | `d^t`, `d = 1 - 0.693/h`, at least the smallest normal `f64` |
/// | one unit in use for `t` s | the integral of the factor | `t * d^t`, as if all use came at the start |
///
/// Documented numbers come from whole-number arithmetic and are the same on every machine.
/// `h` is the half-life in seconds. The constant 0.693 stands for ln 2 = 0.6931…: after one
/// half-life 0.50007 is left. Source: the manual page slurm.conf(5), `PriorityDecayHalfLife`,
/// and the comment at `_decay_thread` in Slurm's priority/multifactor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    half_life_secs: u32,
    compat: Compat,
    quirks: Quirks,
}

impl Decay {
    /// What `PriorityDecayHalfLife=INFINITE` becomes in slurmctld: -1 minute in 32 bits.
    ///
    /// Documented: usage never decays. Slurm: a half-life of 136 years.
    pub const INFINITE_SECS: u32 = u32::MAX - 59;

    /// Use never counts for more than this many doublings (see [`Decay::weight`]).
    const MAX_DOUBLINGS: u32 = 512;

    /// Halves in `half_life_secs` seconds; 0 means that usage never decays.
    pub const fn new(half_life_secs: u32, compat: Compat) -> Decay {
        Decay {
            half_life_secs,
            compat,
            quirks: Quirks::of(compat),
        }
    }

    /// The half-life in seconds, 0 for none.
    pub const fn half_life_secs(&self) -> u32 {
        self.half_life_secs
    }

    /// Whose formulas these are.
    pub const fn compat(&self) -> Compat {
        self.compat
    }

    pub(crate) const fn quirks(&self) -> Quirks {
        self.quirks
    }

    /// True when time changes nothing.
    pub const fn is_none(&self) -> bool {
        self.half_life_secs == 0
            || (!self.quirks.infinity_ends && self.half_life_secs == Self::INFINITE_SECS)
    }

    /// What is left of 1 after `secs` seconds, 0..=1; 1 for `secs <= 0`.
    ///
    /// Documented: 0 after more than 1074 half-lives. Slurm: never below the smallest normal
    /// `f64`.
    ///
    /// ```
    /// use fairtree::compat::Compat;
    /// use fairtree::usage::Decay;
    /// let week = Decay::new(604_800, Compat::Documented);
    /// assert_eq!(week.factor(604_800), 0.5);
    /// assert_eq!(week.factor(-1), 1.0);
    /// assert_eq!(Decay::new(0, Compat::Documented).factor(604_800), 1.0);
    /// ```
    pub fn factor(&self, secs: i64) -> f64 {
        if self.is_none() || secs <= 0 {
            return 1.0;
        }
        if self.quirks.approximates_half_life {
            return self.slurm_power(secs as f64).max(f64::MIN_POSITIVE);
        }
        self.half_lives(secs.saturating_neg()).exp2().to_f64()
    }

    /// What one unit in use from `from` to `to` (seconds) counts when valued at `valued_at`.
    ///
    /// Documented: the exact integral of `2^(-(valued_at - t)/half_life)`; also right for
    /// `valued_at` before `to`, where use counts for more than its seconds. A `valued_at` more
    /// than 512 half-lives before `to` counts as 512: let usage decay up to `to` first.
    /// Slurm: `(to - from) * factor(to - from)` without the floor, whatever `valued_at`.
    /// 0 for `to <= from`.
    ///
    /// ```
    /// use fairtree::compat::Compat;
    /// use fairtree::usage::Decay;
    /// let day = Decay::new(86_400, Compat::Documented);
    /// let at_end = day.weight(0, 3600, 3600);
    /// assert!(at_end < 3600.0);
    /// // A day later it counts half.
    /// let later = day.weight(0, 3600, 3600 + 86_400);
    /// assert!((later / at_end - 0.5).abs() < 1e-15);
    /// ```
    pub fn weight(&self, from: i64, to: i64, valued_at: i64) -> f64 {
        let secs = to.saturating_sub(from);
        if secs <= 0 {
            return 0.0;
        }
        if self.is_none() {
            return secs as f64;
        }
        if self.quirks.approximates_half_life {
            return secs as f64 * self.slurm_power(secs as f64);
        }
        let at_end = self.weight_at_end(secs);
        if to == valued_at {
            return at_end.to_f64();
        }
        let doublings = self.half_lives(to.saturating_sub(valued_at));
        let doublings = doublings.min(Extended::from(Self::MAX_DOUBLINGS));
        (at_end * doublings.exp2()).to_f64()
    }

    /// A time in half-lives.
    fn half_lives(&self, secs: i64) -> Extended {
        let size = Extended::from(secs.unsigned_abs()) / Extended::from(self.half_life_secs);
        if secs < 0 { -size } else { size }
    }

    /// The integral of `2^(-t/h)` over `0..secs`: `h/ln 2 (1 - 2^(-secs/h))`.
    fn weight_at_end(&self, secs: i64) -> Extended {
        let half_lives = self.half_lives(secs);
        if half_lives + half_lives > Extended::ONE {
            let left = (-half_lives).exp2();
            return Extended::from(self.half_life_secs) / ln_2() * (Extended::ONE - left);
        }
        // Of a short period little decays, and the difference would lose digits. Its series:
        // secs (1 - y/2! + y^2/3! - ...), y = secs/h ln 2.
        let y = half_lives * ln_2();
        let (mut term, mut sum) = (Extended::ONE, Extended::ONE);
        for k in 2..20_u32 {
            term *= -y / Extended::from(k);
            let next = sum + term;
            if next == sum {
                break;
            }
            sum = next;
        }
        Extended::from(secs.unsigned_abs()) * sum
    }

    /// `pow(1 - 0.693/half_life, secs)`: [`f64::powf`] is the C library's `pow`, the function
    /// that the stock plugin calls, so both get the same bits on one machine.
    fn slurm_power(&self, secs: f64) -> f64 {
        (1.0 - 0.693 / f64::from(self.half_life_secs)).powf(secs)
    }
}

/// [`Decay::weight`] of one use after the other: most runs of a pass were in use all the time since
/// the last one, and weigh the same.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    decay: Decay,
    /// From, to, valued at, and the weight.
    last: (i64, i64, i64, f64),
}

impl Weights {
    pub(crate) fn new(decay: &Decay) -> Weights {
        Weights {
            decay: *decay,
            last: (0, 0, 0, decay.weight(0, 0, 0)),
        }
    }

    pub(crate) fn decay(&self) -> &Decay {
        &self.decay
    }

    /// As [`Decay::weight`].
    pub(crate) fn weight(&mut self, from: i64, to: i64, valued_at: i64) -> f64 {
        let (last_from, last_to, last_valued_at, _) = self.last;
        if (from, to, valued_at) != (last_from, last_to, last_valued_at) {
            let weight = self.decay.weight(from, to, valued_at);
            self.last = (from, to, valued_at, weight);
        }
        self.last.3
    }
}

/// ln 2, to 64 bits.
fn ln_2() -> Extended {
    Extended::from_x87(0xb172_17f7_d1cf_79ac, 0x3ffe).expect("a number")
}

#[cfg(test)]
mod tests {
    use std::f64::consts::LN_2;

    use super::*;
    use crate::compat::Release;
    use proptest::prelude::*;

    const SLURM: Compat = Compat::Slurm(Release::V22_05_8);
    const WEEK: u32 = 604_800;

    fn close(a: f64, b: f64, relative: f64) -> bool {
        (a - b).abs() <= relative * a.abs().max(b.abs())
    }

    /// Gauss-Legendre with five points on many pieces: error far below 1e-14.
    fn quadrature(half_life: f64, from: f64, to: f64, valued_at: f64) -> f64 {
        const POINTS: [(f64, f64); 5] = [
            (0.0, 0.568_888_888_888_888_9),
            (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
            (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
            (0.906_179_845_938_664, 0.236_926_885_056_189_08),
            (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
        ];
        let pieces = 64;
        let half = (to - from) / f64::from(pieces) / 2.0;
        (0..pieces)
            .map(|piece| {
                let middle = from + half * f64::from(2 * piece + 1);
                POINTS
                    .iter()
                    .map(|(x, w)| w * ((middle + half * x - valued_at) / half_life).exp2())
                    .sum::<f64>()
                    * half
            })
            .sum()
    }

    #[test]
    fn halves_each_half_life() {
        let decay = Decay::new(WEEK, Compat::Documented);
        assert_eq!(decay.factor(0), 1.0);
        assert_eq!(decay.factor(i64::from(WEEK)), 0.5);
        assert_eq!(decay.factor(10 * i64::from(WEEK)), 1.0 / 1024.0);
        assert_eq!(decay.factor(i64::MAX), 0.0);
        assert_eq!(decay.factor(i64::MIN), 1.0);
    }

    #[test]
    fn weight_agrees_with_numeric_integration() {
        for (half_life, from, to, valued_at) in [
            (604_800, 0, 300, 300),
            (604_800, 1_000, 1_001, 1_300),
            (604_800, 0, 604_800 * 3, 604_800 * 3),
            (604_800, 100, 400, 100),
            (3_600, 0, 86_400, 90_000),
            (60, 0, 300, 0),
            (60, 0, 300, 120),
        ] {
            let decay = Decay::new(half_life, Compat::Documented);
            let got = decay.weight(from, to, valued_at);
            let expected = quadrature(
                f64::from(half_life),
                from as f64,
                to as f64,
                valued_at as f64,
            );
            assert!(close(got, expected, 1e-13), "{got} {expected}");
        }
    }

    #[test]
    fn one_half_life_of_use_by_hand() {
        // The integral of 2^(-t/h) over 0..h is h / (2 ln 2).
        let decay = Decay::new(WEEK, Compat::Documented);
        let week = i64::from(WEEK);
        let by_hand = 604_800.0 / (2.0 * LN_2);
        assert!(close(decay.weight(0, week, week), by_hand, 1e-15));
        assert!(close(decay.weight(0, week, 0), 2.0 * by_hand, 1e-15));
    }

    #[test]
    fn recorded_digits() {
        // h/ln 2 (1 - e^(-s ln 2/h)) and e^(-s ln 2/h) to 60 digits (Python's decimal), as f64.
        for (half_life, secs, weight, factor) in [
            (604_800, 300, 299.94843245927046, 0.9996562360941261),
            (604_800, 1, 0.9999994269618752, 0.9999988539239694),
            (3_600, 1_799, 1520.4929645927882, 0.7072429412586878),
            (3_600, 1_801, 1521.9071781638993, 0.7069706473282641),
            (
                1_209_600,
                2_000_000,
                1190354.0714104683,
                0.31788147448229337,
            ),
        ] {
            let decay = Decay::new(half_life, Compat::Documented);
            assert_eq!(decay.weight(0, secs, secs), weight);
            assert_eq!(decay.factor(secs), factor);
        }
    }

    #[test]
    fn without_half_life_a_second_is_a_second() {
        for compat in [Compat::Documented, SLURM] {
            let decay = Decay::new(0, compat);
            assert_eq!(decay.factor(i64::MAX), 1.0);
            assert_eq!(decay.weight(100, 400, 1_000_000), 300.0);
        }
        let infinite = Decay::new(Decay::INFINITE_SECS, Compat::Documented);
        assert_eq!(infinite.weight(0, 300, 300), 300.0);
        assert_eq!(infinite.factor(1 << 40), 1.0);
        assert!(Decay::new(Decay::INFINITE_SECS, SLURM).factor(1 << 32) < 0.51);
    }

    #[test]
    fn nothing_is_used_backwards() {
        for compat in [Compat::Documented, SLURM] {
            let decay = Decay::new(WEEK, compat);
            assert_eq!(decay.weight(400, 100, 400), 0.0);
            assert_eq!(decay.weight(400, 400, 400), 0.0);
            assert_eq!(decay.weight(i64::MAX, i64::MIN, 0), 0.0);
            assert!(decay.weight(i64::MIN, i64::MAX, i64::MIN).is_finite());
        }
    }

    #[test]
    fn slurm_uses_0_693_and_the_start_of_the_period() {
        let decay = Decay::new(WEEK, SLURM);
        let per_second: f64 = 1.0 - 0.693 / 604_800.0;
        assert_eq!(decay.factor(300), per_second.powf(300.0));
        assert_eq!(decay.weight(700, 1_000, 5), 300.0 * per_second.powf(300.0));
        // exp(-0.693) = 0.500 073 6 after one half-life, by hand.
        assert!((decay.factor(i64::from(WEEK)) - 0.500_073_6).abs() < 1e-6);
        assert_eq!(decay.factor(i64::MAX), f64::MIN_POSITIVE);
        assert_eq!(decay.weight(0, 1 << 40, 0), 0.0);
    }

    proptest! {
        #[test]
        fn two_halves_weigh_as_much_as_the_whole(
            half_life in 60u32..10_000_000,
            cuts in (0i64..1_000_000, 0i64..1_000_000, 0i64..1_000_000),
            valued_after in -1_000i64..1_000_000,
        ) {
            let decay = Decay::new(half_life, Compat::Documented);
            let mut cuts = [cuts.0, cuts.1, cuts.2];
            cuts.sort_unstable();
            let [from, middle, to] = cuts;
            let valued_at = to + valued_after;
            let whole = decay.weight(from, to, valued_at);
            let halves = decay.weight(from, middle, valued_at) + decay.weight(middle, to, valued_at);
            prop_assert!(close(whole, halves, 1e-12), "{whole} {halves}");
        }

        #[test]
        fn weighing_then_decaying_is_weighing_later(
            half_life in 60u32..10_000_000,
            from in 0i64..1_000_000,
            secs in 1i64..100_000,
            later in 0i64..100_000,
        ) {
            let decay = Decay::new(half_life, Compat::Documented);
            let to = from + secs;
            let decayed = decay.weight(from, to, to) * decay.factor(later);
            prop_assert!(close(decayed, decay.weight(from, to, to + later), 1e-12));
        }
    }
}
