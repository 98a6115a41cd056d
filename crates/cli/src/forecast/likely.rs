//! The likely start of one job in a line, for other commands.

use std::path::Path;

use super::queue::{CAPTURES, From, Present, Read, Reading};
use super::{About, one};
use crate::Failure;
use crate::message::Messages;
use fairtree_analysis::forecast::{QueueForecast, forecast_jobs};
use fairtree_model::input::capture::{open_only, with_history};
use fairtree_render::forecast::likely;
use jiff::tz::TimeZone;

/// The line of the newest capture: of `folder`, or where the packaged timer keeps them. `None`: there is
/// none that this user may read and that has past jobs, or the job does not wait there.
pub(crate) fn of_newest(job: &str, folder: Option<&Path>, messages: &Messages) -> Option<String> {
    let folder = folder.unwrap_or(Path::new(CAPTURES));
    let stored = open_only(folder, &[]).ok()?;
    with_history(&stored).ok()??;
    // Whoever asked for an explanation gets it, whatever is wrong with this.
    made_now(job, From::Capture(folder), 60, messages).ok()
}

/// The line of a forecast that is made now.
pub(crate) fn made_now(
    job: &str,
    from: From<'_>,
    time_limit: u64,
    messages: &Messages,
) -> Result<String, Failure> {
    let reading = Reading {
        wants_past: true,
        time_limit,
        ..Reading::default()
    };
    let present = match Present::read(from, reading, messages)? {
        Read::Whole(present) => present,
        Read::Part(part) => {
            let made = part.planned(&[one(job, &part.cluster)?])?;
            messages.note(&part.why);
            return Ok(said(&(&*part).into(), &made));
        }
    };
    for note in &present.unknown {
        messages.note(note);
    }
    let wanted = one(job, &present.cluster)?;
    let made = forecast_jobs(&present.asked(), &[wanted], &mut || true);
    let made = made.map_err(|error| Failure::Usage(format!("{}: {error}", present.name)))?;
    Ok(said(&(&*present).into(), &made))
}

fn said(from: &About<'_>, made: &QueueForecast) -> String {
    let zone = TimeZone::system();
    let first = made.jobs.first();
    first.map_or(String::new(), |job| likely(&from.source(&zone), made, job))
}
