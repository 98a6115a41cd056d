//! Replaces files so that a complete version of each always exists.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file to replace.
pub(super) struct Replacement<'a> {
    pub(super) name: &'a str,
    /// Name under which the previous file is kept, if it exists and the file system has links.
    pub(super) old: Option<String>,
    /// The new contents, in this order.
    pub(super) pieces: &'a [&'a [u8]],
}

/// Replaces files: afterwards, or after any crash, each of them is either the old or the new
/// version, and on disk. They are replaced in this order, after all new versions are on disk. It
/// syncs each file once, and the folder once.
///
/// `wanted` is called right before the first file is replaced; if it returns false, no file is
/// replaced.
///
/// # Errors
/// Those of the file system, with the name of the file; files that were not replaced stay, and
/// temporary files are removed.
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
        return Err("save abandoned: the plugin has ended".to_string());
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

/// Keeps the previous file under the name `old`, if possible. Nothing depends on it, so errors are
/// ignored.
fn keep(file: &Path, old: &Path) {
    if file.exists() {
        let _ = fs::remove_file(old);
        let _ = fs::hard_link(file, old);
    }
}

/// Writes a new file that only its owner may read; replaces a link of this name instead of
/// following it.
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
