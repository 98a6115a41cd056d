//! How good forecasts of starts are, on the jobs of a log.

use serde::Serialize;

use crate::simulate::quantile;
use fairtree_sim::forecast::{Options, Score};

/// Errors of forecasts, and how often their bands held.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForecastScore {
    /// The scheduler: `easy`, `fcfs`, `conservative`.
    pub scheduler: &'static str,
    /// Processors of the machine.
    pub processors: u32,
    /// Seed of the draws.
    pub seed: u64,
    /// Simulations for each forecast.
    pub draws: usize,
    /// False where it was stopped before its end.
    pub complete: bool,
    /// Jobs of the log that were replayed.
    pub jobs: usize,
    /// Jobs that had to wait.
    pub waited: usize,
    /// Those for which forecasts were made.
    pub waiting_jobs: usize,
    /// Their mean wait, seconds.
    pub mean_wait_seconds: f64,
    /// Mean distance of the forecast from the start, seconds.
    pub mean_error_seconds: f64,
    /// Median distance, seconds.
    pub median_error_seconds: f64,
    /// Mean distance of the forecast that takes time limits for run times, seconds.
    pub mean_error_of_limits_seconds: f64,
    /// Its median distance, seconds.
    pub median_error_of_limits_seconds: f64,
    /// The part of the starts that are no more than ten minutes from the forecast, 0 to 1.
    pub within_10_minutes: f64,
    /// The part of the starts that are in the band which should hold 90 %, 0 to 1.
    pub band_90_holds: f64,
    /// Median width of these bands, seconds.
    pub band_90_median_width_seconds: f64,
}

impl ForecastScore {
    /// The figures of forecasts on `jobs` jobs; zeros where none was made.
    pub fn new(score: &Score, options: &Options, processors: u32, jobs: usize) -> ForecastScore {
        let forecasts = &score.forecasts;
        let sorted = |of: fn(&fairtree_sim::forecast::Forecast) -> i64| {
            let mut values: Vec<f64> = forecasts.iter().map(|made| of(made) as f64).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let errors = sorted(|made| (made.start - made.came).abs());
        let by_limits = sorted(|made| (made.by_limits - made.came).abs());
        let widths = sorted(|made| made.band.width());
        let part = |count: usize| match forecasts.len() {
            0 => 0.0,
            all => count as f64 / all as f64,
        };
        let held = forecasts.iter().filter(|made| made.band.holds(made.came));
        let near = errors.iter().filter(|error| **error <= 600.0);
        let median = |values: &[f64]| quantile(values, 0.5).unwrap_or(0.0);
        ForecastScore {
            scheduler: options.scheduler.name(),
            processors,
            seed: options.seed,
            draws: options.draws,
            complete: score.is_complete,
            jobs,
            waited: score.waited,
            waiting_jobs: forecasts.len(),
            mean_wait_seconds: mean(&sorted(|made| made.came - made.made_at)),
            mean_error_seconds: mean(&errors),
            median_error_seconds: median(&errors),
            mean_error_of_limits_seconds: mean(&by_limits),
            median_error_of_limits_seconds: median(&by_limits),
            within_10_minutes: part(near.count()),
            band_90_holds: part(held.count()),
            band_90_median_width_seconds: median(&widths),
        }
    }
}

/// The mean; 0 without values.
fn mean(values: &[f64]) -> f64 {
    match values.len() {
        0 => 0.0,
        count => values.iter().sum::<f64>() / count as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree_sim::forecast::{Band, Forecast};
    use fairtree_sim::scheduler::Kind;

    // By hand.
    #[test]
    fn errors_and_bands_are_counted() {
        let made = |start, from, to, by_limits, came| Forecast {
            job: 0,
            made_at: 0,
            start,
            band: Band { from, to },
            by_limits,
            came,
        };
        let score = Score {
            forecasts: vec![
                made(100, 50, 200, 1000, 200),
                made(5000, 4000, 6000, 9000, 3000),
            ],
            waited: 7,
            is_complete: true,
        };
        let options = Options {
            scheduler: Kind::Easy,
            forecasts: 2,
            draws: 12,
            seed: 1,
        };
        let figures = ForecastScore::new(&score, &options, 8, 9);
        assert_eq!((figures.waiting_jobs, figures.waited), (2, 7));
        assert_eq!(figures.mean_wait_seconds, 1600.0);
        assert_eq!(figures.mean_error_seconds, 1050.0);
        assert_eq!(figures.mean_error_of_limits_seconds, 3400.0);
        assert_eq!(
            (figures.within_10_minutes, figures.band_90_holds),
            (0.5, 0.5)
        );
        assert_eq!(figures.band_90_median_width_seconds, 1075.0);
        let none = ForecastScore::new(&Score::default(), &options, 8, 9);
        assert_eq!((none.mean_error_seconds, none.band_90_holds), (0.0, 0.0));
    }
}
