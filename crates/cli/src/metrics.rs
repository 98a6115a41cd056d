//! `fairtree metrics`.

use std::io::{BufWriter, Write, stdout};
use std::time::{SystemTime, UNIX_EPOCH};

use super::args::MetricsArgs;
use super::cluster::Where;
use super::input::about_capture;
use super::message::Messages;
use super::{Failure, Outcome};
use fairtree_analysis::metrics::{About, families};
use fairtree_model::output::{SHARED, replace};
use fairtree_render::metrics::write;

/// Reads, computes, writes.
pub(super) fn run(args: &MetricsArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let top_users = args.users.as_deref().map(top).transpose()?.unwrap_or(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    });
    let live = args.live.asked_again(true);
    let place = Where {
        live: &live,
        file: args.file.as_deref(),
        format: None,
        compat: None,
        policy: None,
    };
    let cluster = place.with_jobs(messages)?;
    let (name, taken) = match &args.live.from {
        Some(folder) => about_capture(folder)?,
        None if args.file.is_none() => (None, Some(now)),
        None => (None, None),
    };
    let about = About {
        cluster: name.or(cluster.cluster.clone()).unwrap_or_default(),
        taken,
        // Waits are as of the answers.
        now: match (&args.file, taken) {
            (Some(_), None) => cluster.now().unwrap_or(now),
            _ => now,
        },
        top_users,
    };
    let families = families(&cluster, &about).map_err(|error| Failure::Usage(error.to_string()))?;
    match &args.output {
        Some(path) => {
            let mut text = Vec::new();
            write(&mut text, &families)?;
            let written = replace(path, SHARED, &text);
            written.map_err(|error| Failure::File(path.display().to_string(), error))?;
        }
        None => {
            let mut out = BufWriter::new(stdout().lock());
            write(&mut out, &families)?;
            out.flush()?;
        }
    }
    for note in &cluster.assumptions {
        messages.note(note);
    }
    Ok(Outcome::Done)
}

/// The number of `top=50`.
fn top(text: &str) -> Result<usize, Failure> {
    let number = text.strip_prefix("top=");
    number
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| {
            let allowed = "top=NUMBER, as top=50: that many associations with the most usage";
            Failure::Usage(format!("--users: found {text:?}, allowed is {allowed}"))
        })
}
