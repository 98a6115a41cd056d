//! Writing the files of a pass.

use super::files;
use super::state_file::Image;
use super::times::{OWN_FILE, SLURM_FILE, Times, old};
use std::fs;
use std::path::Path;

/// Writes both files, each replaced in one step: ours first. The old ones stay as `.old`.
///
/// # Errors
/// The first that occurred, with the name of the file. The old files stay.
pub(in crate::slurm) fn store(dir: &Path, image: &Image<'_>) -> Result<(), String> {
    write(dir, OWN_FILE, &image.pieces(), true)?;
    store_times(dir, image.times())
}

/// Writes Slurm's file alone.
///
/// # Errors
/// As [`store`].
pub(in crate::slurm) fn store_times(dir: &Path, times: Times) -> Result<(), String> {
    let bytes = times.encode();
    // The old one is to tell of another pass.
    let same = fs::read(dir.join(SLURM_FILE)).is_ok_and(|found| found == bytes);
    write(dir, SLURM_FILE, &[&bytes], !same)
}

fn write(dir: &Path, name: &str, pieces: &[&[u8]], keeps_old: bool) -> Result<(), String> {
    let old = keeps_old.then(|| old(name));
    files::replace(dir, name, old.as_deref(), pieces)
        .map_err(|error| format!("{}: {error}", dir.join(name).display()))
}
