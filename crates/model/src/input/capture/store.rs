//! Captures on disk.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::manifest::{Manifest, SCHEMA};
use crate::folder::Folder;
use crate::input::error::{InputError, Problem};
use crate::input::lines::{lossy, plain};
use crate::input::slurm::pseudonym::Pseudonyms;
use crate::input::slurm::snapshot::{Answer, Answers, Source};
use crate::output::{HeldSignals, PRIVATE, remove_left, replace};

const MANIFEST: &str = "manifest.json";
/// The table of pseudonyms in the folder, where earlier versions kept it.
const PSEUDONYMS: &str = "pseudonyms.json";

/// A capture that was read.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its folder.
    pub folder: PathBuf,
    /// Its description.
    pub manifest: Manifest,
    /// The answers.
    pub answers: Answers,
}

impl Stored {
    /// Returns true if the capture has the answer of a command.
    pub fn has(&self, source: Source) -> bool {
        let mut files = self.manifest.answers.iter().map(|entry| &entry.file);
        files.any(|file| file.as_deref() == Some(source.file()))
    }

    /// Path of the answer of a command.
    ///
    /// # Errors
    /// The capture does not have it, or it is cut off.
    pub fn path(&self, source: Source) -> Result<PathBuf, InputError> {
        if !self.has(source) {
            return Err(source.missing(&self.folder.display().to_string()));
        }
        let path = self.folder.join(source.file());
        let name = path.display().to_string();
        let looked = fs::File::open(&path)
            .and_then(|file| Ok((file.metadata()?.len(), ends_a_line(&file)?)));
        let (bytes, ends) = looked.map_err(|error| InputError::new(&name, error))?;
        is_whole(&name, bytes, self.bytes_of(source))?;
        ends.then_some(path).ok_or_else(|| cut_off(&name))
    }

    /// Bytes in the answer of a command, if the manifest says.
    fn bytes_of(&self, source: Source) -> Option<u64> {
        bytes_of(&self.manifest, source)
    }
}

/// A folder for a capture, under another name until the capture is whole. It and its files are its
/// owner's alone: what jobs are called, their comments and paths. Dropped it is removed.
#[derive(Debug)]
pub(super) struct Making {
    folder: Folder,
    stamp: String,
    name: String,
    files: Folder,
}

impl Making {
    /// A new one inside of `folder`, which is made if need be. What captures that were interrupted
    /// left is removed.
    pub(super) fn new(folder: &Path, stamp: &str) -> io::Result<Making> {
        fs::create_dir_all(folder)?;
        let folder = Folder::open(folder)?;
        remove_left(&folder, pid_of);
        let name = format!(".{stamp}.{}", std::process::id());
        Ok(Making {
            files: folder.make_private(&name)?,
            folder,
            stamp: stamp.to_owned(),
            name,
        })
    }

    /// Its files.
    pub(super) fn files(&self) -> &Folder {
        &self.files
    }

    /// Makes it a capture, and returns where: there whole or not at all.
    pub(super) fn publish(self, manifest: &Manifest) -> io::Result<PathBuf> {
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        let _held = HeldSignals::new();
        let mut file = self.files.create(MANIFEST, PRIVATE)?;
        file.write_all(&text)?;
        file.sync_all()?;
        publish(&self.folder, &self.stamp, &self.name)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        // Once it is a capture, the folder no longer has this name. If it cannot be removed, the
        // next recording removes it.
        let _ = self.folder.remove(&self.name);
    }
}

/// The process that makes the capture `.20261121T100726Z.PID`.
fn pid_of(entry: &str) -> Option<u32> {
    let (stamp, pid) = entry.strip_prefix('.')?.split_once('.')?;
    let form = stamp
        .bytes()
        .map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    form.eq(*b"00000000T000000Z").then(|| pid.parse().ok())?
}

/// Gives a finished capture its name; of two within a second the later gets a number.
fn publish(folder: &Folder, stamp: &str, making: &str) -> io::Result<PathBuf> {
    for number in 1..1000 {
        let name = match number {
            1 => stamp.to_owned(),
            _ => format!("{stamp}-{number:03}"),
        };
        // Renaming onto an existing folder fails unless that is empty, which a capture is not.
        match folder.rename(making, &name) {
            Ok(()) => return Ok(folder.path().join(name)),
            Err(_) if folder.look(name.as_ref())?.is_some() => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("a thousand captures within one second"))
}

/// Reads a capture: `folder` is one, or holds some, of which the latest is read.
///
/// # Errors
/// No capture there, a manifest of another schema, answers that the manifest names and that are
/// not there, or not to their end.
pub fn open(folder: &Path) -> Result<Stored, InputError> {
    open_only(folder, &Source::ALL)
}

/// As [`open`], with the answers of `sources` alone.
///
/// # Errors
/// Those of [`open`].
pub fn open_only(folder: &Path, sources: &[Source]) -> Result<Stored, InputError> {
    let folder = if folder.join(MANIFEST).is_file() {
        folder.to_owned()
    } else {
        latest(folder)?
    };
    let path = folder.join(MANIFEST);
    let name = path.display().to_string();
    let text = fs::read_to_string(&path).map_err(|error| InputError::new(&name, error))?;
    let manifest = parse(&name, &text)?;
    let mut answers = Answers::new();
    for &source in sources {
        let named = manifest
            .answers
            .iter()
            .any(|e| e.file.as_deref() == Some(source.file()));
        if !named {
            continue;
        }
        let path = folder.join(source.file());
        let name = path.display().to_string();
        let bytes = fs::read(&path).map_err(|error| InputError::new(&name, error))?;
        is_whole(&name, bytes.len() as u64, bytes_of(&manifest, source))?;
        let text = plain(lossy(&bytes)).into_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            let last = text.lines().last().unwrap_or("");
            return Err(cut_off(&name).at_line(text.lines().count(), last));
        }
        answers.insert(source, Answer { name, text });
    }
    Ok(Stored {
        folder,
        manifest,
        answers,
    })
}

/// Returns true if a file is empty or ends with a line break.
pub(super) fn ends_a_line(file: &fs::File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else {
        return Ok(true);
    };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

/// Bytes in the answer of a command, if a manifest says.
fn bytes_of(manifest: &Manifest, source: Source) -> Option<u64> {
    let mut entries = manifest.answers.iter();
    let own = entries.find(|entry| entry.file.as_deref() == Some(source.file()));
    own.and_then(|entry| entry.bytes)
}

/// Compares the bytes of a file with those that the manifest names, if it does.
pub(super) fn is_whole(name: &str, bytes: u64, named: Option<u64>) -> Result<(), InputError> {
    let Some(named) = named.filter(|named| *named != bytes) else {
        return Ok(());
    };
    let why = format!("has {bytes} bytes, where manifest.json names {named}");
    let damaged = InputError::new(name, Problem::Structure(why));
    Err(match bytes < named {
        true => damaged.hint("the file is cut off: copy the capture again, or make another"),
        false => damaged.hint("the file was changed: copy the capture again, or make another"),
    })
}

/// The error of an answer that ends within a line.
fn cut_off(name: &str) -> InputError {
    let why = "ends within a line: the file is cut off";
    InputError::new(name, Problem::Structure(why.into()))
        .hint("copy the capture again, or make another")
}

fn parse(name: &str, text: &str) -> Result<Manifest, InputError> {
    let broken = |error: serde_json::Error| {
        let line = text
            .lines()
            .nth(error.line().saturating_sub(1))
            .unwrap_or("");
        InputError::new(name, Problem::Structure(error.to_string()))
            .at_line(error.line(), line)
            .at_column(error.column().max(1))
    };
    let value: serde_json::Value = serde_json::from_str(text).map_err(broken)?;
    let schema = value["schema"].as_str().unwrap_or("");
    if schema != SCHEMA {
        let problem = Problem::Value {
            what: "schema".into(),
            found: schema.to_owned(),
            allowed: SCHEMA.into(),
        };
        return Err(InputError::new(name, problem).hint("another version of fairtree made it"));
    }
    serde_json::from_str(text).map_err(broken)
}

/// The latest capture in a folder, by name.
fn latest(folder: &Path) -> Result<PathBuf, InputError> {
    captures(folder)?.pop().ok_or_else(|| none_in(folder))
}

fn none_in(folder: &Path) -> InputError {
    let name = folder.display().to_string();
    InputError::new(&name, Problem::Structure("holds no capture".into()))
        .hint("fairtree capture DIR makes one")
}

/// All captures in a folder, the oldest first; the folder itself if it is one.
///
/// # Errors
/// A folder that cannot be read, or that holds none.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>, InputError> {
    if folder.join(MANIFEST).is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let captures = captures(folder)?;
    match captures.is_empty() {
        true => Err(none_in(folder)),
        false => Ok(captures),
    }
}

/// The latest capture that has past jobs, of those of the same cluster in the folder of `stored` that are not
/// later; `None`: there is none.
///
/// # Errors
/// A folder that cannot be read.
pub fn with_history(stored: &Stored) -> Result<Option<Stored>, InputError> {
    if stored.has(Source::History) {
        return Ok(Some(stored.clone()));
    }
    let Some(folder) = stored.folder.parent() else {
        return Ok(None);
    };
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let cluster = &stored.manifest.cluster;
    latest_that(folder, stored.manifest.time, &|other| {
        cluster.is_none() || other.manifest.cluster == *cluster
    })
}

/// The latest capture in a folder that has past jobs and is not later than a moment, seconds since 1970. One
/// of another schema is passed over.
///
/// # Errors
/// A folder that cannot be read.
pub fn latest_history(folder: &Path, until: u64) -> Result<Option<Stored>, InputError> {
    latest_that(folder, until, &|_| true)
}

/// The same, of those that fit.
fn latest_that(
    folder: &Path,
    until: u64,
    fits: &dyn Fn(&Stored) -> bool,
) -> Result<Option<Stored>, InputError> {
    for folder in captures(folder)?.into_iter().rev() {
        let Ok(stored) = open_only(&folder, &[]) else {
            continue;
        };
        if stored.manifest.time <= until && stored.has(Source::History) && fits(&stored) {
            return Ok(Some(stored));
        }
    }
    Ok(None)
}

/// Seconds for which the past jobs of a capture are recent enough: slightly less than a day, so that a
/// daily timer asks each time.
const HISTORY_SECS: u64 = 23 * 3600;

/// Returns true if a capture in a folder has past jobs that are not a day old; `now`: seconds since 1970. A
/// folder that does not exist yet, or cannot be read, has none.
pub fn has_history_of_today(folder: &Path, now: u64) -> bool {
    let found = latest_history(folder, u64::MAX).ok().flatten();
    found.is_some_and(|stored| stored.manifest.time.saturating_add(HISTORY_SECS) > now)
}

fn captures(folder: &Path) -> Result<Vec<PathBuf>, InputError> {
    let name = folder.display().to_string();
    if folder.is_file() {
        let why = "is a file, not a capture and not a folder of captures".into();
        return Err(InputError::new(&name, Problem::Structure(why))
            .hint("a site in TOML, and a listing, are named without an option"));
    }
    let entries = fs::read_dir(folder).map_err(|error| InputError::new(&name, error))?;
    let mut captures = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| InputError::new(&name, error))?.path();
        let hidden = path
            .file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with('.'));
        if !hidden && path.join(MANIFEST).is_file() {
            captures.push(path);
        }
    }
    captures.sort();
    Ok(captures)
}

/// The file of the pseudonyms of a folder: beside it, so that who passes on the folder keeps the table.
fn table_of(folder: &Path) -> PathBuf {
    let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    match whole.file_name() {
        Some(name) => {
            let mut table = name.to_owned();
            table.push("-pseudonyms.json");
            whole.with_file_name(table)
        }
        // The root of the file system has no place beside it.
        None => whole.join(PSEUDONYMS),
    }
}

/// The pseudonyms that captures in `folder` use; empty without a file of them. A table in the folder
/// itself, of an earlier version, is read where there is none beside it.
///
/// # Errors
/// A file that cannot be read, or that does not contain pseudonyms.
pub fn load_pseudonyms(folder: &Path) -> Result<Pseudonyms, InputError> {
    let beside = table_of(folder);
    let path = match beside.exists() {
        true => beside,
        false => folder.join(PSEUDONYMS),
    };
    let name = path.display().to_string();
    match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| InputError::new(&name, Problem::Structure(error.to_string()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Pseudonyms::default()),
        Err(error) => Err(InputError::new(&name, error)),
    }
}

/// Keeps the pseudonyms beside the folder of captures, readable by their owner only; a table in it, of an
/// earlier version, is removed.
///
/// # Errors
/// Those of the file system.
pub fn save_pseudonyms(folder: &Path, pseudonyms: &Pseudonyms) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = table_of(folder);
    let mut text = serde_json::to_vec_pretty(pseudonyms)?;
    text.push(b'\n');
    replace(&path, PRIVATE, &text)?;
    let within = folder.join(PSEUDONYMS);
    match fs::remove_file(&within) {
        Err(error) if error.kind() != io::ErrorKind::NotFound && within != path => Err(error),
        _ => Ok(path),
    }
}
