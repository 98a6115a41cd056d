//! `fairtree compare`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write, stdout};
use std::path::Path;
use std::{panic, thread};

use super::args::CompareArgs;
use super::input::note_cut;
use super::message::Messages;
use super::{Failure, Outcome, open as files, told};
use fairtree_analysis::compare::{Change, Kind, Summary, queue, settings, shares};
use fairtree_analysis::prio::{PrioReport, from_queue};
use fairtree_model::input::capture::open_only;
use fairtree_model::input::slurm::config;
use fairtree_model::input::slurm::snapshot::Source;
use fairtree_model::input::sshare::Listing;
use fairtree_model::input::{InputError, LeftOut, Problem, sprio, sshare, stream};
use fairtree_render::compare::to_json;

/// Reads both, compares, prints.
pub(super) fn run(args: &CompareArgs, messages: &Messages) -> Result<Outcome, Failure> {
    if args.before == Path::new("-") && args.after == Path::new("-") {
        return Err(Failure::Usage(
            "only one of the two can be standard input".into(),
        ));
    }
    let (before, after) = thread::scope(|scope| {
        let after = scope.spawn(|| read(&args.after));
        let before = read(&args.before);
        let after = after.join();
        (
            before,
            after.unwrap_or_else(|panic| panic::resume_unwind(panic)),
        )
    });
    let (before, after) = (before?, after?);
    for side in [&before, &after] {
        let left_out = side.left.notes();
        let notes = side.notes.iter().chain(&left_out);
        notes.for_each(|note| messages.note(note));
    }
    let mut of_shares = Vec::new();
    let mut compared = Vec::new();
    let both_shares = before.shares.as_ref().zip(after.shares.as_ref());
    let both_shares = both_shares.map(|(before, after)| [before, after]);
    if let Some([before, after]) = both_shares {
        of_shares = shares(before, after);
        compared.push("shares");
    }
    let both_queues = before.queue.as_ref().zip(after.queue.as_ref());
    if both_queues.is_some() {
        compared.push("queue");
    }
    if compared.is_empty() {
        return Err(Failure::Usage(
            "the two are not of one kind: give two outputs of sshare, of sprio, of both, or two captures"
                .into(),
        ));
    }
    let of_queues = both_queues.map(|(before, after)| queue(before, after, both_shares));
    let mut of_queues = of_queues.into_iter().flatten().peekable();
    let mut outcome = Outcome::Done;
    // First what people changed: settings, weights, shares; then what follows from it.
    let mut first = match (&before.config, &after.config) {
        (Some(old), Some(new)) => settings(
            old,
            new,
            [&before, &after].map(|side| side.policy.as_deref()),
        ),
        _ => Vec::new(),
    };
    while let Some(weight) = of_queues.next_if(|change| change.kind == Kind::Weight) {
        first.push(weight);
    }
    let is_share = |change: &Change| {
        change
            .values
            .iter()
            .any(|values| values.name == "RawShares")
    };
    let (of_hand, of_shares): (Vec<Change>, Vec<Change>) = of_shares
        .into_iter()
        .partition(|change| !args.json && is_share(change));
    first.extend(of_hand);
    let changes = first.into_iter().chain(of_shares).chain(of_queues);
    let mut changes = changes.inspect(|_| outcome = Outcome::Differences);
    let mut out = BufWriter::new(stdout().lock());
    let written = if args.json {
        let name = |path: &Path| path.display().to_string();
        let (before, after) = (name(&args.before), name(&args.after));
        to_json(&mut out, &before, &after, &compared, &mut changes)
    } else {
        let mut summary = Summary::default();
        let lines = changes.by_ref().filter_map(|change| summary.line(&change));
        let mut lines = lines.map(|line| writeln!(out, "{line}"));
        let written = lines.try_for_each(|line| line);
        drop(lines);
        written.and_then(|()| {
            let mut rest = summary.rest().into_iter();
            rest.try_for_each(|line| writeln!(out, "{line}"))
        })
    };
    drop(changes);
    let written = written.and_then(|()| match (&outcome, args.json) {
        (Outcome::Done, false) => writeln!(out, "nothing changed"),
        _ => Ok(()),
    });
    told(written.and_then(|()| out.flush()), outcome)
}

/// The contents of one side.
#[derive(Default)]
struct Side {
    shares: Option<Listing>,
    queue: Option<PrioReport>,
    /// The answer of `scontrol show config` in a capture.
    config: Option<String>,
    /// The policy file in a capture.
    policy: Option<String>,
    /// Records of a capture that cannot be read.
    left: LeftOut,
    /// The parts of a file that cannot be read.
    notes: Vec<String>,
}

/// The longest text that is compared, in bytes: a listing of a million rows has less.
const MAX_BYTES: u64 = 256 << 20;

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
        false => Box::new(files::named(path).map_err(|error| InputError::new(&name, error))?),
    };
    let read = stream::open(raw).and_then(|stream| files::at_most(stream.input, MAX_BYTES));
    let bytes = read.map_err(|error| InputError::new(&name, error))?;
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        note_cut(&name);
    }
    let text = String::from_utf8_lossy(&bytes);
    if sshare::json::begins(&text) {
        return Ok(Side {
            shares: Some(sshare::json::read(&name, &bytes[..])?),
            ..Side::default()
        });
    }
    parse(&name, &text)
}

/// Outputs of sshare and sprio in one file are recognised by their headers.
fn parse(name: &str, text: &str) -> Result<Side, Failure> {
    let (mut of_shares, mut of_queue) = (String::new(), String::new());
    let (mut has_shares, mut has_queue) = (false, false);
    let mut in_queue = false;
    for line in text.split_inclusive('\n') {
        if sprio::begins(line) {
            in_queue = true;
        } else if sshare::begins(line.trim_end()) {
            in_queue = false;
        }
        let said = !line.trim().is_empty() && (in_queue || !line.trim_start().starts_with("# "));
        // Each reader gets all lines, the other's empty: so it names the right ones.
        let (own, other) = match in_queue {
            true => (&mut of_queue, &mut of_shares),
            false => (&mut of_shares, &mut of_queue),
        };
        own.push_str(line);
        other.push('\n');
        has_queue |= in_queue && said;
        has_shares |= !in_queue && said;
    }
    if !has_shares && !has_queue {
        return Err(InputError::new(name, Problem::Empty)
            .hint("give the output of sshare -l, of sprio -l, or of both, or a capture")
            .into());
    }
    let mut side = Side::default();
    if has_shares {
        let listing = sshare::read(name, of_shares.as_bytes())?;
        side.notes.clone_from(&listing.notes);
        side.shares = Some(listing);
    }
    if has_queue {
        let queue = sprio::read(name, of_queue.as_bytes())?;
        side.queue = Some(single(name, &queue)?);
        side.notes.extend(queue.notes);
    }
    Ok(side)
}

/// Reads only the parts of a capture that are compared.
fn capture(folder: &Path) -> Result<Side, Failure> {
    let stored = open_only(folder, &[Source::Shares, Source::Config])?;
    let config = stored.answers.get(&Source::Config);
    if let Some(answer) = config {
        config::read(&answer.name, &answer.text, &mut LeftOut::refusing())?;
    }
    let mut side = Side {
        config: config.map(|answer| answer.text.clone()),
        policy: stored.policy()?.map(|(_, text)| text),
        ..Side::default()
    };
    if let Some(answer) = stored.answers.get(&Source::Shares) {
        let text = answer.text.as_bytes();
        side.shares = Some(sshare::read_answer(
            &answer.name,
            text,
            &mut LeftOut::refusing(),
        )?);
    }
    if stored.has(Source::Priorities) {
        let path = stored.path(Source::Priorities)?;
        let name = path.display().to_string();
        let file = File::open(&path).map_err(|error| InputError::new(&name, error))?;
        let input = BufReader::with_capacity(1 << 20, file);
        let queue = sprio::read_answer(&name, input, &mut side.left)?;
        side.queue = Some(single(&name, &queue)?);
    }
    Ok(side)
}

/// The one listing with jobs; that of `sprio -w` before it only shows weights.
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
