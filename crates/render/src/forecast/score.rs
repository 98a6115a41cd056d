//! How good forecasts of starts are: sentences and JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::figures::percent;
use crate::json;
use fairtree_analysis::forecast::ForecastScore;
use fairtree_model::span::Span;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.forecast/1";

#[derive(Serialize)]
struct Content<'a> {
    source: &'a str,
    #[serde(flatten)]
    score: &'a ForecastScore,
}

/// Writes one JSON object and a line break, as `docs/forecast.md` describes it.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, source: &str, score: &ForecastScore) -> io::Result<()> {
    json::write_document(out, SCHEMA, &Content { source, score })
}

/// Writes sentences.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, score: &ForecastScore) -> io::Result<()> {
    let span = |secs: f64| Span(secs.round().max(0.0) as u64);
    if !score.complete {
        writeln!(
            out,
            "PARTIAL: stopped before the end; the figures are of the forecasts until then"
        )?;
    }
    writeln!(
        out,
        "{} on {} processors: {} jobs, {} had to wait; {} forecasts at submission, seed {}",
        score.scheduler, score.processors, score.jobs, score.waited, score.waiting_jobs, score.seed
    )?;
    writeln!(
        out,
        "  wait              mean {}",
        span(score.mean_wait_seconds)
    )?;
    writeln!(
        out,
        "  error             mean {}, median {}, within 10 minutes {}",
        span(score.mean_error_seconds),
        span(score.median_error_seconds),
        percent(score.within_10_minutes)
    )?;
    write!(
        out,
        "  error by limits   mean {}, median {}",
        span(score.mean_error_of_limits_seconds),
        span(score.median_error_of_limits_seconds)
    )?;
    if score.mean_error_of_limits_seconds > 0.0 {
        let ratio = score.mean_error_seconds / score.mean_error_of_limits_seconds;
        write!(out, "; the forecast has {ratio:.2} of this mean")?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "  90% band          holds {}, median width {}",
        percent(score.band_90_holds),
        span(score.band_90_median_width_seconds)
    )
}
