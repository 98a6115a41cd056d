//! Files in `StateSaveLocation` that outlive slurmctld.
//!
//! | file | whose | what |
//! |---|---|---|
//! | `priority_last_decay_ran` | Slurm's: `priority/multifactor` reads and writes it, too | times of the last pass and the last reset |
//! | `priority_fairtree_state` | ours | the same, and all usage at that pass, to the last bit |
//! | `priority_fairtree_settings` | ours | the settings that were last accepted: see [`accepted`] |
//! | `assoc_usage`, `qos_usage` | slurmctld's, read only | usage at the last dump, every few minutes and at shutdown |
//!
//! slurmctld's dump and the time of the last pass are not written together, so that after a crash
//! they may not belong to each other: usage of a period is lost, or charged again. Our file holds
//! both. At start it is taken if it belongs to the last pass and is newer than the dump; after
//! another plugin has made passes, or after an orderly stop of slurmctld with a later dump, it is
//! not. A damaged file of ours is set aside, and what slurmctld has counts.

pub(super) mod accepted;
mod files;
mod own;

#[cfg(feature = "slurm")]
mod collected;

pub(super) use own::State;
use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

#[cfg(feature = "slurm")]
pub(super) use collected::Collected;

/// Slurm's file.
pub(super) const SLURM_FILE: &str = "priority_last_decay_ran";
/// Ours.
pub(super) const OWN_FILE: &str = "priority_fairtree_state";
const DUMP_FILE: &str = "assoc_usage";

/// What was found at start.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) last_ran: Option<i64>,
    pub(super) last_reset: Option<i64>,
    /// Usage to put back in place of what slurmctld loaded.
    pub(super) saved: Option<State>,
    /// When the usage that counts was written down: the state's or that of slurmctld's dump.
    /// What was charged later is not in it.
    pub(super) usage_as_of: Option<i64>,
    /// For the administrator, as errors.
    pub(super) complaints: Vec<String>,
    /// For the curious.
    pub(super) notes: Vec<String>,
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

/// Reads what the last slurmctld left. Never fails: what cannot be read is complained of.
/// Without `own`, our file is left alone and Slurm's count, as for the stock plugin.
pub(super) fn load(dir: &Path, own: bool) -> Found {
    let mut found = Found::default();
    let times = load_times(dir, &mut found);
    let state = own.then(|| load_own(dir, &mut found)).flatten();
    let state = state.filter(|state| belongs(dir, state, times, &mut found));
    let times = state.as_ref().map(State::times).or(times);
    let known = |time: i64| (time != 0).then_some(time);
    found.last_ran = times.and_then(|times| known(times.last_ran));
    found.last_reset = times.and_then(|times| known(times.last_reset));
    found.usage_as_of = match &state {
        Some(state) => Some(state.written_at),
        None => dump_time(&dir.join(DUMP_FILE)),
    };
    found.saved = state;
    found
}

fn load_times(dir: &Path, found: &mut Found) -> Option<Times> {
    // The stock plugin has an instant without the file, and leaves the one before as .old.
    for name in [SLURM_FILE.to_string(), format!("{SLURM_FILE}.old")] {
        match fs::read(dir.join(&name)) {
            Ok(bytes) => match Times::decode(&bytes) {
                Some(times) => return Some(times),
                None => found.complaints.push(format!(
                    "{name} has {} bytes instead of 16: the time of the last pass is not known from it",
                    bytes.len()
                )),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                found.notes.push(format!("no {name} to recover"));
            }
            Err(error) => found.complaints.push(format!("{name} cannot be read: {error}")),
        }
    }
    None
}

fn load_own(dir: &Path, found: &mut Found) -> Option<State> {
    let path = dir.join(OWN_FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            found.complaints.push(format!(
                "{OWN_FILE} cannot be read: {error}; usage is what slurmctld saved"
            ));
            return None;
        }
    };
    match State::decode(&bytes) {
        Ok(state) => Some(state),
        Err(damage) => {
            let aside = format!("{OWN_FILE}.damaged");
            let fate = match fs::rename(&path, dir.join(&aside)) {
                Ok(()) => format!("it is now {aside}"),
                Err(error) => format!("it cannot be set aside: {error}"),
            };
            found.complaints.push(format!(
                "{OWN_FILE} is damaged ({damage}); {fate}; usage is what slurmctld saved"
            ));
            None
        }
    }
}

/// Is this the state of the last pass, and newer than slurmctld's own dump?
fn belongs(dir: &Path, state: &State, times: Option<Times>, found: &mut Found) -> bool {
    // Ours is written before Slurm's file: after a crash between the two, Slurm's is one behind.
    let last = times.is_none_or(|times| {
        times.last_ran == state.last_ran || times.last_ran == state.previous_ran
    });
    if !last {
        found.notes.push(format!(
            "{OWN_FILE} is not of the last pass: usage is what slurmctld saved"
        ));
        return false;
    }
    let newer = is_newer_than_dump(dir, state);
    if !newer {
        found.notes.push(format!(
            "{DUMP_FILE} is newer than {OWN_FILE}: usage is what slurmctld saved"
        ));
    }
    newer
}

fn is_newer_than_dump(dir: &Path, state: &State) -> bool {
    let Some(dumped_at) = dump_time(&dir.join(DUMP_FILE)) else {
        return true;
    };
    if state.written_at != dumped_at {
        return state.written_at > dumped_at;
    }
    match (
        modified(&dir.join(OWN_FILE)),
        modified(&dir.join(DUMP_FILE)),
    ) {
        (Some(own), Some(dump)) => own >= dump,
        _ => true,
    }
}

/// The time in the header of slurmctld's dump, behind its version.
fn dump_time(path: &Path) -> Option<i64> {
    let bytes = fs::read(path).ok()?;
    let time = bytes.get(2..)?.first_chunk()?;
    Some(i64::from_be_bytes(*time))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// Writes both files, each replaced in one step: ours first.
///
/// # Errors
/// The first that occurred, with the name of the file. The old files stay.
pub(super) fn store(dir: &Path, state: &State) -> Result<(), String> {
    write(dir, OWN_FILE, &state.encode())?;
    store_times(dir, state.times())
}

/// Writes Slurm's file alone.
///
/// # Errors
/// As [`store`].
pub(super) fn store_times(dir: &Path, times: Times) -> Result<(), String> {
    write(dir, SLURM_FILE, &times.encode())
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    files::replace(dir, name, bytes)
        .map_err(|error| format!("{}: {error}", dir.join(name).display()))
}

#[cfg(test)]
mod tests;
