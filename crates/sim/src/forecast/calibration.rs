//! Bands that hold as often as they say: widened by the misses of earlier forecasts.
//!
//! The miss of a forecast is how far the start was outside of its raw band, relative to the forecast
//! wait and the width of that band; negative inside. A band is widened at both ends by a quantile of
//! the last misses. Where that is more than the wait and the width themselves, it is no more than the same
//! quantile in seconds: a job that was to start at once and waited for an hour says nothing of weeks. The level of that quantile moves with each outcome, so that a share of misses
//! other than the nominal one corrects itself; without an upper limit, as many forecasts miss together
//! when a queue stands still for longer than any job of it was known to run.
//!
//! Source: I. Gibbs, E. Candes, "Adaptive conformal inference under distribution shift", 2021.

use std::collections::VecDeque;

/// Misses that are kept.
const KEPT: usize = 300;
/// By how much an outcome moves the level.
const STEP: f64 = 0.01;
/// Relative miss that is assumed before there are outcomes.
const FIRST_MISS: f64 = 1.0;
/// Relative miss above which misses in seconds limit it.
const MOST_MISS: f64 = 1.0;
/// Relative miss that is taken as the largest at least, when a band is to be wider than all misses.
const LEAST_MISS: f64 = 0.1;
/// Doublings of the largest miss for a level of 2.
const GROWTH: f64 = 4.0;
/// Outcomes before the misses count.
const FIRST_OUTCOMES: usize = 20;

/// The band of a forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// Earliest start.
    pub from: i64,
    /// Latest start.
    pub to: i64,
}

impl Band {
    /// Returns true if a start is in it, ends included.
    pub fn holds(&self, start: i64) -> bool {
        (self.from..=self.to).contains(&start)
    }

    /// Its width, seconds.
    pub fn width(&self) -> i64 {
        self.to - self.from
    }
}

/// A forecast before calibration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    pub made_at: i64,
    pub start: i64,
    pub band: Band,
}

impl Raw {
    /// Forecast wait and width, at least a second.
    fn scale(&self) -> f64 {
        ((self.start - self.made_at) + self.band.width()).max(1) as f64
    }
}

/// How far a start was outside of a raw band; negative inside.
#[derive(Clone, Copy, Debug)]
struct Miss {
    /// Relative to the forecast wait and the width.
    relative: f64,
    /// Seconds.
    secs: f64,
}

/// Misses of the last forecasts, and the level at which bands are widened.
#[derive(Clone, Debug)]
pub(super) struct Calibration {
    nominal: f64,
    level: f64,
    misses: VecDeque<Miss>,
}

impl Calibration {
    /// For bands that hold `nominal` of the starts, 0 to 1.
    pub fn new(nominal: f64) -> Calibration {
        Calibration {
            nominal,
            level: nominal,
            misses: VecDeque::with_capacity(KEPT),
        }
    }

    /// The calibrated band of a forecast; it begins no earlier than the forecast was made.
    pub fn band(&self, raw: &Raw) -> Band {
        let by = self.by(raw.scale()).round() as i64;
        let from = (raw.band.from - by).max(raw.made_at);
        Band {
            from,
            to: (raw.band.to + by).max(from),
        }
    }

    /// The job of a forecast has started.
    pub fn came(&mut self, raw: &Raw, start: i64) {
        let secs = (raw.band.from - start).max(start - raw.band.to) as f64;
        let relative = secs / raw.scale();
        if self.misses.len() == KEPT {
            self.misses.pop_front();
        }
        self.misses.push_back(Miss { relative, secs });
    }

    /// The band of a forecast held, or did not; that may be known before the job starts.
    pub fn held(&mut self, held: bool) {
        let held = if held { 1.0 } else { 0.0 };
        self.level = (self.level + STEP * (self.nominal - held)).max(0.0);
    }

    /// By how much a band is widened, seconds. `scale`: its forecast wait and width.
    fn by(&self, scale: f64) -> f64 {
        if self.misses.len() < FIRST_OUTCOMES {
            return FIRST_MISS * scale;
        }
        let relative = self.quantile(|miss| miss.relative, LEAST_MISS);
        match relative > MOST_MISS {
            true => (relative * scale).min(scale.max(self.quantile(|miss| miss.secs, scale))),
            false => relative * scale,
        }
    }

    /// The quantile of the misses at the level; above 1 more than the largest of them, and than `least`.
    fn quantile(&self, of: fn(&Miss) -> f64, least: f64) -> f64 {
        let mut sorted: Vec<f64> = self.misses.iter().map(of).collect();
        sorted.sort_by(f64::total_cmp);
        let rank = (self.level * (sorted.len() + 1) as f64).ceil() as usize;
        let miss = sorted[rank.clamp(1, sorted.len()) - 1];
        match self.level > 1.0 {
            true => miss.max(least) * (GROWTH * (self.level - 1.0)).exp2(),
            false => miss,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts are 0 to 99 seconds after the raw band: a band that holds 90 % of them is about 90
    /// seconds longer.
    #[test]
    fn bands_hold_as_often_as_they_say() {
        let mut calibration = Calibration::new(0.9);
        let raw = Raw {
            made_at: 0,
            start: 100,
            band: Band { from: 50, to: 150 },
        };
        let mut held = 0;
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..5000 {
            let start = 150 + rng.i64(0..100);
            let band = calibration.band(&raw);
            held += u32::from(band.holds(start));
            calibration.came(&raw, start);
            calibration.held(band.holds(start));
        }
        assert!((4400..=4600).contains(&held), "{held}");
        let band = calibration.band(&raw);
        assert!((220..=249).contains(&band.to), "{band:?}");
        assert_eq!(band.from, 0);
    }

    /// Raw bands that are too wide are narrowed.
    #[test]
    fn wide_bands_are_narrowed() {
        let mut calibration = Calibration::new(0.9);
        let raw = Raw {
            made_at: 0,
            start: 500,
            band: Band { from: 0, to: 1000 },
        };
        for at in 0..1000 {
            let band = calibration.band(&raw);
            let start = 450 + at % 100;
            calibration.came(&raw, start);
            calibration.held(band.holds(start));
        }
        let band = calibration.band(&raw);
        assert!(band.from >= 440 && band.to <= 560, "{band:?}");
    }

    /// A job that was to start at once and waited for an hour widens no band by weeks.
    #[test]
    fn misses_of_short_waits_do_not_widen_long_ones_by_their_ratio() {
        let mut calibration = Calibration::new(0.9);
        let now = Raw {
            made_at: 0,
            start: 10,
            band: Band { from: 10, to: 10 },
        };
        (0..100).for_each(|_| calibration.came(&now, 3610));
        assert_eq!(calibration.band(&now).to, 3610);
        let later = Raw {
            made_at: 0,
            start: 7200,
            band: Band {
                from: 7200,
                to: 7200,
            },
        };
        let band = calibration.band(&later);
        assert_eq!((band.from, band.to), (0, 14_400));
    }
}
