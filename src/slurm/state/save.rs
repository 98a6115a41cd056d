//! Writes the files of a pass.

use super::files::{self, Replacement};
use super::state_file::{Image, RecordWriter, State};
#[cfg(feature = "slurm")]
use super::times::Times;
use super::times::{OWN_FILE, SLURM_FILE, old};
use std::fs;
use std::path::Path;

/// Writes both files. Each is replaced in one step, ours first, after both new ones are on disk.
/// The previous ones stay as `.old`. `wanted`: see [`files::replace`].
///
/// # Errors
/// The first that occurred, with the name of the file. The old files stay.
pub(in crate::slurm) fn store(
    dir: &Path,
    image: &Image<'_>,
    wanted: &dyn Fn() -> bool,
) -> Result<(), String> {
    let own = Replacement {
        name: OWN_FILE,
        old: Some(old(OWN_FILE)),
        pieces: &image.pieces(),
    };
    let times = image.times().encode();
    let slurms = Replacement {
        name: SLURM_FILE,
        old: old_times(dir, &times),
        pieces: &[&times],
    };
    files::replace(dir, &[own, slurms], wanted)
}

/// Writes only Slurm's file.
///
/// # Errors
/// As [`store`].
#[cfg(feature = "slurm")]
pub(in crate::slurm) fn store_times(
    dir: &Path,
    times: Times,
    wanted: &dyn Fn() -> bool,
) -> Result<(), String> {
    let times = times.encode();
    let slurms = Replacement {
        name: SLURM_FILE,
        old: old_times(dir, &times),
        pieces: &[&times],
    };
    files::replace(dir, &[slurms], wanted)
}

/// The name under which the previous file is kept; `None` if it has the same times, because the
/// `.old` file must be of a different pass.
fn old_times(dir: &Path, times: &[u8]) -> Option<String> {
    let same = fs::read(dir.join(SLURM_FILE)).is_ok_and(|found| found == times);
    (!same).then(|| old(SLURM_FILE))
}

/// Lowers `next_pass` in our file, if it is later there. Usage and other times do not change. Does
/// nothing if the file is missing or damaged.
///
/// # Errors
/// As [`store`].
pub(in crate::slurm) fn advance_next_pass(
    dir: &Path,
    next_pass: i64,
    wanted: &dyn Fn() -> bool,
) -> Result<(), String> {
    let Ok(bytes) = fs::read(dir.join(OWN_FILE)) else {
        return Ok(());
    };
    let Ok(mut state) = State::decode(&bytes) else {
        return Ok(());
    };
    if state.next_pass <= next_pass {
        return Ok(());
    }
    state.next_pass = next_pass;
    let [mut assocs, mut qos] = [RecordWriter::default(), RecordWriter::default()];
    let image = state.image(&mut assocs, &mut qos).ok_or("no memory")?;
    let own = Replacement {
        name: OWN_FILE,
        old: None,
        pieces: &image.pieces(),
    };
    files::replace(dir, &[own], wanted)
}
