//! Opening what a command reads.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::Failure;
use super::args::LiveArgs;
use super::message::Messages;
use crate::config::Config;
use crate::input::capture::{open, take};
use crate::input::site::Site;
use crate::input::slurm::snapshot::{Answers, Snapshot, Source};
use crate::input::slurm::{config, dump};
use crate::input::sprio::Queue;
use crate::input::sshare::Listing;
use crate::input::{Format, InputError, site, sprio, sshare};

/// An input, read.
pub(super) enum Input {
    /// The output of sshare, and the settings of its site where they are known.
    Listing(Listing, Option<Config>),
    /// A site.
    Site(Box<Site>),
}

/// Reads the output of sprio from a file, or from standard input for `-` or none.
pub(super) fn read_queue(file: Option<&Path>) -> Result<Queue, Failure> {
    match file {
        Some(path) if path != Path::new("-") => {
            let name = path.display().to_string();
            let opened = File::open(path).map_err(|error| InputError::new(&name, error))?;
            Ok(sprio::read(&name, BufReader::new(opened))?)
        }
        _ => Ok(sprio::read("standard input", io::stdin().lock())?),
    }
}

/// Whether something is piped into standard input, or it is a file; a terminal and /dev/null are
/// neither.
pub(super) fn is_piped() -> bool {
    let stdin = std::fs::metadata("/dev/stdin").map(|metadata| metadata.file_type());
    stdin.is_ok_and(|kind| kind.is_fifo() || kind.is_file() || kind.is_socket())
}

/// The site of a capture, or the live one; `None` where a file or a pipe is to be read.
pub(super) fn snapshot(
    live: &LiveArgs,
    file: Option<&Path>,
    messages: &Messages,
) -> Result<Option<Snapshot>, Failure> {
    let (name, answers) = match &live.from {
        Some(folder) => {
            let stored = open(folder)?;
            (stored.folder.display().to_string(), stored.answers)
        }
        None if file.is_none() && !is_piped() => {
            let taken = take(&Source::ALL, live.limit())?;
            for (_, error) in &taken.missing {
                messages.note(&error.to_string());
            }
            ("the live site".to_owned(), taken.answers)
        }
        None => return Ok(None),
    };
    Ok(Some(Snapshot::read(&name, &answers)?))
}

/// The shares of a capture.
fn shares(answers: &Answers) -> Result<Input, Failure> {
    let missing = |source: Source| {
        Failure::Usage(format!(
            "the capture has no answer of {}",
            source.command()[0]
        ))
    };
    let get = |source| answers.get(&source).ok_or_else(|| missing(source));
    let (settings, shares) = (get(Source::Config)?, get(Source::Shares)?);
    let settings = config::read(&settings.name, &settings.text)?;
    let listing = sshare::read(&shares.name, shares.text.as_bytes())?;
    Ok(Input::Listing(listing, Some(settings.config)))
}

/// As much of an input as its format is found by.
const HEAD_BYTES: usize = 64 * 1024;

/// Reads a capture, a file, what is piped in, or asks Slurm.
pub(super) fn read_or_ask(
    live: &LiveArgs,
    file: Option<&Path>,
    format: Option<Format>,
) -> Result<Input, Failure> {
    let answers = match &live.from {
        Some(folder) => open(folder)?.answers,
        None if file.is_none() && !is_piped() => {
            take(&[Source::Config, Source::Shares], live.limit())?.answers
        }
        None => return read(file, format),
    };
    shares(&answers)
}

/// Reads a file, or standard input for `-` or none, in the given format or the one it looks like.
fn read(file: Option<&Path>, format: Option<Format>) -> Result<Input, Failure> {
    match file {
        Some(path) if path != Path::new("-") => {
            let name = path.display().to_string();
            let opened = File::open(path).map_err(|error| InputError::new(&name, error))?;
            read_from(&name, opened, format)
        }
        _ => read_from("standard input", io::stdin().lock(), format),
    }
}

fn read_from(name: &str, input: impl io::Read, format: Option<Format>) -> Result<Input, Failure> {
    let mut input = BufReader::with_capacity(HEAD_BYTES, input);
    let format = match format {
        Some(format) => format,
        None => detect(name, &mut input)?,
    };
    Ok(match format {
        Format::Sshare => Input::Listing(sshare::read(name, input)?, None),
        Format::Site => Input::Site(Box::new(site::read(name, input)?)),
        Format::Dump => {
            let text = io::read_to_string(input).map_err(|error| InputError::new(name, error))?;
            Input::Site(Box::new(dump::read_site(name, &text)?))
        }
    })
}

fn detect(name: &str, input: &mut impl BufRead) -> Result<Format, InputError> {
    // A pipe gives what is there; the first line that says anything comes in one piece in practice,
    // and blank pieces before it are passed over.
    loop {
        let head = input
            .fill_buf()
            .map_err(|error| InputError::new(name, error))?;
        let (empty, blank) = (head.is_empty(), head.trim_ascii().is_empty());
        if !empty && blank && !head.contains(&b'\n') {
            let length = head.len();
            input.consume(length);
            continue;
        }
        return Format::detect(name, &String::from_utf8_lossy(head));
    }
}
