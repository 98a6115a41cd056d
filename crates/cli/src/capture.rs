//! `fairtree capture`.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write, stdout};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::args::{CaptureArgs, Keep};
use super::cluster::own_policy;
use super::message::Messages;
use super::progress::Waiting;
use super::{Failure, Outcome};
use fairtree_model::input::capture::{
    RecordError, Recording, Stored, has_history_of_today, list as captures, load_pseudonyms,
    open_only, save_pseudonyms,
};
use fairtree_model::input::slurm::snapshot::Source;

/// Asks, keeps, and lists what was kept.
pub(super) fn run(args: &CaptureArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let mut out = BufWriter::new(stdout().lock());
    if args.list {
        list_all(&args.folder, &mut out)?;
        out.flush()?;
        return Ok(Outcome::Done);
    }
    let failed = |error| Failure::File(args.folder.display().to_string(), error);
    let sources = match args.no_history || has_history_of_today(&args.folder, now()) {
        true => &Source::KEPT[..],
        false => &Source::FILES[..],
    };
    let waiting = Waiting::new("asking Slurm");
    let limit = Duration::from_secs(args.time_limit);
    let recording = Recording::new(&args.folder, sources, limit);
    let mut recording = recording.map_err(|error| match error {
        RecordError::Command(error) => Failure::Command(error),
        RecordError::Folder(error) => failed(error),
    })?;
    drop(waiting);
    for (_, error) in &recording.missing {
        messages.note(&error.to_string());
    }
    let policy = recording
        .settings()
        .and_then(|settings| own_policy(&settings.config));
    match policy {
        Some((_, Ok(text))) => recording.keep_policy(&text).map_err(failed)?,
        Some((path, Err(error))) => messages.note(&format!(
            "{path}: {error}: the capture has no policy, which --policy FILE must name"
        )),
        None => {}
    }
    if args.anonymise {
        let mut pseudonyms = load_pseudonyms(&args.folder)?;
        recording.anonymise(&mut pseudonyms)?;
        let kept = save_pseudonyms(&args.folder, &pseudonyms).map_err(failed)?;
        messages.note(&format!(
            "{} shows who is who: do not pass it on",
            kept.display()
        ));
    }
    let notes = recording.left.notes();
    notes.iter().for_each(|note| messages.note(note));
    let folder = recording.publish().map_err(failed)?;
    if let Some(keep) = args.keep {
        remove_old(args, keep, &folder)?;
    }
    list(&open_only(&folder, &[])?, &mut out)?;
    out.flush()?;
    Ok(Outcome::Done)
}

/// Seconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

/// Removes the captures that are not to be kept; never the one that was just made.
fn remove_old(args: &CaptureArgs, keep: Keep, made: &Path) -> Result<(), Failure> {
    let all = captures(&args.folder)?;
    let old: Vec<_> = match keep {
        Keep::Newest(count) => {
            let old = all.len().saturating_sub(count);
            all.into_iter().take(old).collect()
        }
        Keep::Days(days) => {
            let newest = open_only(made, &[])?.manifest.time;
            let oldest = newest.saturating_sub(days.saturating_mul(86_400));
            let mut old = Vec::new();
            for folder in all {
                if open_only(&folder, &[])?.manifest.time < oldest {
                    old.push(folder);
                }
            }
            old
        }
    };
    for folder in old.iter().filter(|folder| folder.as_path() != made) {
        let removed = std::fs::remove_dir_all(folder);
        removed.map_err(|error| Failure::File(folder.display().to_string(), error))?;
    }
    Ok(())
}

/// Lists the contents of a capture: a line about it, a line per answer.
fn list(stored: &Stored, out: &mut impl Write) -> Result<(), Failure> {
    let manifest = &stored.manifest;
    writeln!(
        out,
        "{}: cluster {}, Slurm {}, {}{}",
        stored.folder.display(),
        manifest.cluster.as_deref().unwrap_or("unknown"),
        manifest.slurm.as_deref().unwrap_or("unknown"),
        manifest.time_text,
        if manifest.anonymised {
            ", anonymised"
        } else {
            ""
        }
    )?;
    for entry in &manifest.answers {
        let command = entry.command.join(" ");
        let source = Source::FILES
            .into_iter()
            .find(|source| entry.file.as_deref() == Some(source.file()));
        match source {
            Some(source) => {
                let (file, (bytes, lines)) = (source.file(), size(&stored.path(source)?)?);
                writeln!(
                    out,
                    "  {file:<15} {lines:>8} lines {bytes:>11} bytes  {command}"
                )?;
            }
            None => writeln!(out, "  {:<15} {:>32}  {command}", "-", "no answer")?,
        }
    }
    if let Some(policy) = &manifest.policy {
        writeln!(out, "  {policy:<15} the policy file that the settings name")?;
    }
    Ok(())
}

/// Bytes and lines of an answer.
fn size(path: &Path) -> Result<(u64, u64), Failure> {
    let failed = |error| Failure::File(path.display().to_string(), error);
    let mut input = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
    let (mut bytes, mut lines) = (0, 0);
    loop {
        let read = input.fill_buf().map_err(failed)?;
        if read.is_empty() {
            return Ok((bytes, lines));
        }
        bytes += read.len() as u64;
        lines += read.iter().filter(|byte| **byte == b'\n').count() as u64;
        let read = read.len();
        input.consume(read);
    }
}

/// Every capture in a folder, the oldest first.
fn list_all(folder: &Path, out: &mut impl Write) -> Result<(), Failure> {
    for folder in captures(folder)? {
        list(&open_only(&folder, &[])?, out)?;
    }
    Ok(())
}
