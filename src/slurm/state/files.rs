//! Replacing files so that there is always a whole one of each.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file that is to be replaced.
pub(super) struct Replacement<'a> {
    pub(super) name: &'a str,
    /// The name that the file of before is kept under, if there is one and the file system has
    /// links.
    pub(super) old: Option<String>,
    /// What it is to hold, one after the other.
    pub(super) pieces: &'a [&'a [u8]],
}

/// Puts new files in place of old ones: after this, or after any crash, each of them is either the
/// old one or the new one, and on disk. They are replaced in this order, once all new ones are on
/// disk. One sync a file, and one of the folder.
///
/// `wanted` is asked last, right before the first file is replaced: when it says no, nothing is.
///
/// # Errors
/// Those of the file system, with the name of the file; old files that were not replaced stay, and
/// no other ones are left behind.
pub(super) fn replace(
    dir: &Path,
    files: &[Replacement<'_>],
    wanted: &dyn Fn() -> bool,
) -> Result<(), String> {
    let replaced = try_replace(dir, files, wanted);
    if replaced.is_err() {
        for file in files {
            let _ = fs::remove_file(temporary(dir, file));
        }
    }
    replaced
}

fn try_replace(
    dir: &Path,
    files: &[Replacement<'_>],
    wanted: &dyn Fn() -> bool,
) -> Result<(), String> {
    let named = |file: &Replacement<'_>, error: io::Error| {
        format!("{}: {error}", dir.join(file.name).display())
    };
    for file in files {
        write(&temporary(dir, file), file.pieces).map_err(|error| named(file, error))?;
    }
    if !wanted() {
        return Err("nobody waits for it any more".to_string());
    }
    for file in files {
        let path = dir.join(file.name);
        if let Some(old) = &file.old {
            keep(&path, &dir.join(old));
        }
        fs::rename(temporary(dir, file), &path).map_err(|error| named(file, error))?;
    }
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(|error| format!("{}: {error}", dir.display()))
}

fn temporary(dir: &Path, file: &Replacement<'_>) -> PathBuf {
    dir.join(format!("{}.new", file.name))
}

/// Without the old file all is as well as without this function: not worth an error.
fn keep(file: &Path, old: &Path) {
    if file.exists() {
        let _ = fs::remove_file(old);
        let _ = fs::hard_link(file, old);
    }
}

/// A new file of the owner's alone, whatever had its name before: a link is not followed.
fn write(path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.sync_all()
}
