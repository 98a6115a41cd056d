//! Writing the files of a pass.

use super::files::{self, Replacement};
use super::state_file::{Image, RecordWriter, State};
#[cfg(feature = "slurm")]
use super::times::Times;
use super::times::{OWN_FILE, SLURM_FILE, old};
use std::fs;
use std::path::Path;

/// Writes both files: each is replaced in one step, ours first, once both new ones are on disk. The
/// old ones stay as `.old`. `wanted`: see [`files::replace`].
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

/// Writes Slurm's file alone.
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

/// The old one is to tell of another pass.
fn old_times(dir: &Path, times: &[u8]) -> Option<String> {
    let same = fs::read(dir.join(SLURM_FILE)).is_ok_and(|found| found == times);
    (!same).then(|| old(SLURM_FILE))
}

/// Writes into our file that the next pass may be at `next_pass` already, if it says later. Usage
/// and times stay as they are. Does nothing where there is no such file, or a damaged one.
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
