//! `fairtree compare`.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write, stdout};
use std::path::Path;

use super::args::CompareArgs;
use super::{Failure, Outcome};
use crate::input::capture::open;
use crate::input::slurm::snapshot::Source;
use crate::input::sshare::Listing;
use crate::input::{InputError, Problem, sprio, sshare, stream};
use crate::report::compare::{queue, shares};
use crate::report::prio::{PrioReport, from_queue};

/// Reads both, compares, prints.
pub(super) fn run(args: &CompareArgs) -> Result<Outcome, Failure> {
    if args.before == Path::new("-") && args.after == Path::new("-") {
        return Err(Failure::Usage(
            "only one of the two can be standard input".into(),
        ));
    }
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let mut changes = Vec::new();
    let mut compared = false;
    if let (Some(before), Some(after)) = (&before.shares, &after.shares) {
        changes.extend(shares(before, after));
        compared = true;
    }
    if let (Some(before), Some(after)) = (&before.queue, &after.queue) {
        changes.extend(queue(before, after));
        compared = true;
    }
    if !compared {
        return Err(Failure::Usage(
            "the two are not of one kind: give two outputs of sshare, two of sprio, or two captures"
                .into(),
        ));
    }
    let mut out = BufWriter::new(stdout().lock());
    for change in &changes {
        writeln!(out, "{change}")?;
    }
    out.flush()?;
    Ok(match changes.is_empty() {
        true => Outcome::Done,
        false => Outcome::Differences,
    })
}

/// What one side holds.
#[derive(Default)]
struct Side {
    shares: Option<Listing>,
    queue: Option<PrioReport>,
}

fn read(path: &Path) -> Result<Side, Failure> {
    if path.is_dir() {
        return capture(path);
    }
    let name = match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    };
    let raw: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(path).map_err(|error| InputError::new(&name, error))?),
    };
    let mut bytes = Vec::new();
    let read = stream::open(raw).and_then(|mut stream| stream.input.read_to_end(&mut bytes));
    read.map_err(|error| InputError::new(&name, error))?;
    let text = String::from_utf8_lossy(&bytes);
    if sshare::json::begins(&text) {
        return Ok(Side {
            shares: Some(sshare::json::read(&name, &bytes[..])?),
            ..Side::default()
        });
    }
    let mut said = text.lines().filter(|line| {
        let comment = line.trim_start().starts_with("# ") && !sprio::begins(line);
        !line.trim().is_empty() && !comment
    });
    match said.next() {
        Some(line) if sprio::begins(line) => Ok(Side {
            queue: Some(single(&name, &sprio::read(&name, &bytes[..])?)?),
            ..Side::default()
        }),
        Some(_) => Ok(Side {
            shares: Some(sshare::read(&name, &bytes[..])?),
            ..Side::default()
        }),
        None => Err(InputError::new(&name, Problem::Empty)
            .hint("give the output of sshare -l or sprio -l, or a capture")
            .into()),
    }
}

fn capture(folder: &Path) -> Result<Side, Failure> {
    let stored = open(folder)?;
    let mut side = Side::default();
    if let Some(answer) = stored.answers.get(&Source::Shares) {
        side.shares = Some(sshare::read(&answer.name, answer.text.as_bytes())?);
    }
    if let Some(answer) = stored.answers.get(&Source::Priorities) {
        let queue = sprio::read(&answer.name, answer.text.as_bytes())?;
        side.queue = Some(single(&answer.name, &queue)?);
    }
    Ok(side)
}

/// The one listing with jobs; that of `sprio -w` before it only tells weights.
fn single(name: &str, queue: &sprio::Queue) -> Result<PrioReport, InputError> {
    let mut reports = from_queue(queue);
    reports.retain(|report| !report.rows.is_empty());
    match reports.len() {
        0 => Ok(from_queue(queue).pop().unwrap_or_default()),
        1 => Ok(reports.remove(0)),
        count => {
            let why = format!("holds {count} listings of jobs");
            Err(InputError::new(name, Problem::Structure(why))
                .hint("keep each listing in a file of its own"))
        }
    }
}
