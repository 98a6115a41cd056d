//! `fairtree capture`.

use std::fs;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;
use std::time::Duration;

use super::args::CaptureArgs;
use super::message::Messages;
use super::progress::Waiting;
use super::{Failure, Outcome};
use fairtree_model::input::capture::{
    Stored, list as captures, load_pseudonyms, open, save_pseudonyms, store, take,
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
    // A folder that cannot be written to is told before Slurm is asked.
    fs::create_dir_all(&args.folder).map_err(failed)?;
    let waiting = Waiting::new("asking Slurm");
    let mut taken = take(&Source::ALL, Duration::from_secs(args.time_limit))?;
    drop(waiting);
    for (_, error) in &taken.missing {
        messages.note(&error.to_string());
    }
    let mut left = std::mem::take(&mut taken.left);
    if args.anonymise {
        let mut pseudonyms = load_pseudonyms(&args.folder)?;
        taken.answers = pseudonyms.apply(&taken.answers, &mut left)?;
        let user = taken.manifest.user.take();
        taken.manifest.user = user.map(|user| pseudonyms.user(&user));
        taken.manifest.anonymised = true;
        let kept = save_pseudonyms(&args.folder, &pseudonyms).map_err(failed)?;
        messages.note(&format!(
            "{} tells who is who: do not pass it on",
            kept.display()
        ));
    }
    left.notes().iter().for_each(|note| messages.note(note));
    let folder = store(&args.folder, &taken.manifest, &taken.answers).map_err(failed)?;
    list(&open(&folder)?, &mut out)?;
    out.flush()?;
    Ok(Outcome::Done)
}

/// What a capture holds: a line about it, a line per answer.
fn list(stored: &Stored, out: &mut impl Write) -> std::io::Result<()> {
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
    let sizes = Source::ALL.map(|source| {
        let answer = stored.answers.get(&source);
        (
            source.file(),
            answer.map(|a| (a.text.len(), a.text.lines().count())),
        )
    });
    for entry in &manifest.answers {
        let size = |file: &str| sizes.iter().find(|(name, _)| *name == file)?.1;
        let command = entry.command.join(" ");
        match entry
            .file
            .as_deref()
            .and_then(|file| Some((file, size(file)?)))
        {
            Some((file, (bytes, lines))) => {
                writeln!(
                    out,
                    "  {file:<15} {lines:>8} lines {bytes:>11} bytes  {command}"
                )?;
            }
            None => writeln!(out, "  {:<15} {:>32}  {command}", "-", "no answer")?,
        }
    }
    Ok(())
}

/// Every capture in a folder, the oldest first.
fn list_all(folder: &Path, out: &mut impl Write) -> Result<(), Failure> {
    for folder in captures(folder)? {
        list(&open(&folder)?, out)?;
    }
    Ok(())
}
