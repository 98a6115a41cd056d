//! Files in `StateSaveLocation` that outlive slurmctld.
//!
//! | file | whose | what |
//! |---|---|---|
//! | `priority_last_decay_ran` | Slurm's: `priority/multifactor` reads and writes it, too | times of the last pass and the last reset |
//! | `priority_fairtree_state` | ours | the same, and all usage at that pass, to the last bit |
//! | both with `.old` | | those of the pass before |
//! | `priority_fairtree_settings` | ours | the settings that were last accepted: see [`accepted`] |
//! | `assoc_usage`, `qos_usage` | slurmctld's, read only | usage at the last dump, every few minutes and at shutdown |
//!
//! slurmctld's dump and the time of the last pass are not written together, so that after a crash
//! they may not belong to each other: usage of a period is lost, or charged again. Our file holds
//! both. At start it is taken if it belongs to the last pass and is newer than the dump; after
//! another plugin has made passes, or after an orderly stop of slurmctld with a later dump, it is
//! not. A damaged file of ours is set aside, and the one of the pass before counts (see `load`).

pub(super) mod accepted;
mod dump;
mod files;
mod load;
mod own;
mod watch;

#[cfg(feature = "slurm")]
mod stored;

#[cfg(feature = "slurm")]
pub(super) use load::Found;
pub(super) use load::load;
#[cfg(feature = "slurm")]
pub(super) use own::Stamp;
pub(super) use own::{Image, State};
use std::fs;
use std::path::Path;

#[cfg(feature = "slurm")]
pub(super) use stored::Stored;
#[cfg(feature = "slurm")]
pub(super) use watch::{Line, SaveWatch};

/// Slurm's file.
pub(super) const SLURM_FILE: &str = "priority_last_decay_ran";
/// Ours.
pub(super) const OWN_FILE: &str = "priority_fairtree_state";

/// The name of the file of the pass before.
fn old(name: &str) -> String {
    format!("{name}.old")
}

/// Times of Slurm's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) last_ran: i64,
    pub(super) last_reset: i64,
}

impl Times {
    /// Two big-endian numbers, as Slurm packs times.
    fn encode(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.last_ran.to_be_bytes());
        bytes[8..].copy_from_slice(&self.last_reset.to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Times> {
        let (last_ran, rest) = bytes.split_first_chunk()?;
        let (last_reset, _) = rest.split_first_chunk()?;
        Some(Times {
            last_ran: i64::from_be_bytes(*last_ran),
            last_reset: i64::from_be_bytes(*last_reset),
        })
    }
}

/// Writes both files, each replaced in one step: ours first. The old ones stay as `.old`.
///
/// # Errors
/// The first that occurred, with the name of the file. The old files stay.
pub(super) fn store(dir: &Path, image: &Image<'_>) -> Result<(), String> {
    write(dir, OWN_FILE, &image.pieces(), true)?;
    store_times(dir, image.times())
}

/// Writes Slurm's file alone.
///
/// # Errors
/// As [`store`].
pub(super) fn store_times(dir: &Path, times: Times) -> Result<(), String> {
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

#[cfg(test)]
mod tests;
