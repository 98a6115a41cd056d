//! Replacing a file so that there is always a whole one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Puts `pieces`, one after the other, in place of the file `name`: after this, or after any crash, the file is either
/// the old one or the new one, and on disk. The old one stays under the name `old`, if there is one
/// and the file system has links.
///
/// # Errors
/// Those of the file system; the old file stays, no other one is left behind.
pub(super) fn replace(
    dir: &Path,
    name: &str,
    old: Option<&str>,
    pieces: &[&[u8]],
) -> io::Result<()> {
    let temporary = dir.join(format!("{name}.new"));
    let written = write(&temporary, pieces).and_then(|()| {
        if let Some(old) = old {
            keep(&dir.join(name), &dir.join(old));
        }
        fs::rename(&temporary, dir.join(name))
    });
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    File::open(dir)?.sync_all()
}

/// Without the old file all is as well as without this function: not worth an error.
fn keep(file: &Path, old: &Path) {
    if file.exists() {
        let _ = fs::remove_file(old);
        let _ = fs::hard_link(file, old);
    }
}

fn write(path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.sync_all()
}
