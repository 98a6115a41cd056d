//! Loads the files that the last slurmctld left, and decides which of them count.
//!
//! Our file has a checksum, Slurm's files do not. So if ours is intact, its times and its usage
//! count, unless another plugin has made passes since. Both that plugin and ours keep the times of
//! the previous pass as `priority_last_decay_ran.old`: whichever plugin wrote last, the two files
//! have the times of the last two passes. If ours is damaged, the file of the previous pass
//! replaces it: jobs are then charged from that pass on, and nothing is lost.

use super::order_state::OrderState;
use super::state_file::State;
use super::times::{OWN_FILE, SLURM_FILE, Times, old};
use super::usage_dump::{self, ASSOC_FILE as DUMP_FILE, DumpTime};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// State as loaded at start.
#[derive(Debug, Default)]
pub(in crate::slurm) struct Loaded {
    pub(in crate::slurm) last_ran: Option<i64>,
    pub(in crate::slurm) last_reset: Option<i64>,
    /// Usage that replaces the usage that slurmctld loaded.
    pub(in crate::slurm) saved: Option<State>,
    /// When the usage that counts was written: the time of our state or of slurmctld's dump.
    /// It does not contain later charges.
    pub(in crate::slurm) usage_as_of: Option<i64>,
    /// Our file on disk says that no pass changes usage before this time: see [`State::next_pass`].
    pub(in crate::slurm) next_pass: Option<i64>,
    /// Data that an order keeps, from our file, even if the usage of that file does not count.
    pub(in crate::slurm) order: OrderState,
    /// Messages for the administrator, logged as errors.
    pub(in crate::slurm) complaints: Vec<String>,
    /// Messages of a lower level.
    pub(in crate::slurm) notes: Vec<String>,
}

/// Times of the last two passes, from Slurm's files.
#[derive(Clone, Copy, Debug, Default)]
struct Passes {
    last: Option<Times>,
    before: Option<Times>,
}

/// Reads the files that the last slurmctld left. Never fails: files that cannot be read are in
/// `complaints`. Without `own`, our file is not read and Slurm's files count, as for the stock
/// plugin.
pub(in crate::slurm) fn load(dir: &Path, own: bool) -> Loaded {
    let mut loaded = Loaded::default();
    let passes = load_passes(dir, &mut loaded);
    let damages = if own {
        usage_dump::damages(dir)
    } else {
        vec![]
    };
    let dump = if damages.is_empty() {
        usage_dump::time(dir)
    } else {
        None
    };
    let found = own.then(|| load_own(dir, passes, dump, &mut loaded));
    let (own_times, state) = found.flatten().unzip();
    let state: Option<State> = state.flatten();
    let instead = match &state {
        Some(_) => format!("using {OWN_FILE}"),
        None => "using the usage that slurmctld could read".to_string(),
    };
    let lines = damages.iter().map(|damage| format!("{damage}; {instead}"));
    loaded.complaints.extend(lines);
    let times = own_times.or(passes.last).or(passes.before);
    let known = |time: i64| (time != 0).then_some(time);
    loaded.last_ran = times.and_then(|times| known(times.last_ran));
    loaded.last_reset = times.and_then(|times| known(times.last_reset));
    loaded.usage_as_of = match &state {
        Some(state) => Some(state.written_at),
        None => dump.map(|dump| dump.written),
    };
    loaded.saved = state;
    loaded
}

fn load_passes(dir: &Path, loaded: &mut Loaded) -> Passes {
    let last = load_times(dir, SLURM_FILE, loaded);
    let mut unsaid = Loaded::default();
    // The stock plugin leaves a moment without this file; the previous file then has the times.
    let complained = if last.is_none() { loaded } else { &mut unsaid };
    let before = load_times(dir, &old(SLURM_FILE), complained);
    Passes { last, before }
}

fn load_times(dir: &Path, name: &str, loaded: &mut Loaded) -> Option<Times> {
    match fs::read(dir.join(name)) {
        Ok(bytes) => {
            let times = Times::decode(&bytes);
            if times.is_none() {
                loaded.complaints.push(format!(
                    "{name} has {} bytes instead of 16: cannot read the time of the last pass from it",
                    bytes.len()
                ));
            }
            times
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            loaded.notes.push(format!("no {name} to recover"));
            None
        }
        Err(error) => {
            loaded
                .complaints
                .push(format!("{name} cannot be read: {error}"));
            None
        }
    }
}

/// The times of our file, or of the previous one if ours is damaged, if they count: Slurm's file of
/// the times may be one pass older. And the usage in it, unless slurmctld's own is newer.
/// `dump`: when slurmctld wrote its own files; `None` if they are missing or damaged.
fn load_own(
    dir: &Path,
    passes: Passes,
    dump: Option<DumpTime>,
    loaded: &mut Loaded,
) -> Option<(Times, Option<State>)> {
    let damage = match read_own(dir, OWN_FILE)? {
        Ok(state) => {
            loaded.order.clone_from(&state.order);
            if !belongs(&state, passes, loaded) {
                return None;
            }
            loaded.next_pass = Some(state.next_pass);
            // No other pass had changed usage when slurmctld wrote its own files.
            let same_pass = dump.is_some_and(|dump| dump.header < state.next_pass);
            let counts = !same_pass || is_newer(dir, &state, dump, loaded);
            return Some((state.times(), counts.then_some(state)));
        }
        Err(damage) => damage,
    };
    let aside = format!("{OWN_FILE}.damaged");
    let fate = match fs::rename(dir.join(OWN_FILE), dir.join(&aside)) {
        Ok(()) => format!("renamed to {aside}"),
        Err(error) => format!("cannot rename it: {error}"),
    };
    let before = read_own(dir, &old(OWN_FILE)).and_then(Result::ok);
    if let Some(state) = &before {
        loaded.order.clone_from(&state.order);
    }
    let before =
        before.filter(|state| !is_superseded(state, passes) && is_newer(dir, state, dump, loaded));
    let instead = match &before {
        Some(_) => format!("using {} from the previous pass", old(OWN_FILE)),
        None => "using the usage that slurmctld saved".to_string(),
    };
    loaded.complaints.push(format!(
        "{OWN_FILE} is damaged ({damage}); {fate}; {instead}"
    ));
    before.map(|state| (state.times(), Some(state)))
}

/// Reads a file of ours; `None` if it is missing.
fn read_own(dir: &Path, name: &str) -> Option<Result<State, String>> {
    match fs::read(dir.join(name)) {
        Ok(bytes) => Some(State::decode(&bytes).map_err(|damage| damage.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(format!("it cannot be read: {error}"))),
    }
}

/// Returns true if this is the state of the last pass. It is if no other plugin can have made a
/// pass since, even if Slurm's file has other times.
fn belongs(state: &State, passes: Passes, loaded: &mut Loaded) -> bool {
    let Some(last) = passes.last else {
        return true;
    };
    // Ours is written before Slurm's file: after a crash in between, Slurm's is one pass older.
    let is_behind = last.last_ran == state.previous_ran && last.last_ran != state.last_ran;
    if last == state.times() || is_behind {
        return true;
    }
    if passes
        .before
        .is_some_and(|before| before.last_ran >= state.last_ran)
    {
        loaded.notes.push(format!(
            "{OWN_FILE} is older than the last pass: using the usage that slurmctld saved"
        ));
        return false;
    }
    loaded.complaints.push(format!(
        "{SLURM_FILE} is damaged (last pass {}, last reset {}); using {OWN_FILE} (last pass {}, \
         last reset {})",
        last.last_ran, last.last_reset, state.last_ran, state.last_reset
    ));
    true
}

/// Returns true if another plugin has made a pass later than the one that followed this state.
fn is_superseded(state: &State, passes: Passes) -> bool {
    passes
        .before
        .is_some_and(|before| before.last_ran > state.last_ran)
}

/// Returns true if the state is newer than slurmctld's own files.
fn is_newer(dir: &Path, state: &State, dump: Option<DumpTime>, loaded: &mut Loaded) -> bool {
    let Some(dumped_at) = dump.map(|dump| dump.written) else {
        return true;
    };
    let newer = if state.written_at == dumped_at {
        let own = modified(&dir.join(OWN_FILE));
        let dump = modified(&dir.join(DUMP_FILE));
        own.zip(dump)
            .is_none_or(|(own, dump)| own >= dump || was_touched_later(own, dump))
    } else {
        state.written_at > dumped_at
    };
    if !newer {
        loaded.notes.push(format!(
            "{DUMP_FILE} is newer than {OWN_FILE}: using the usage that slurmctld saved"
        ));
    }
    newer
}

/// Returns true if the dump's file is so much later than ours that both cannot have been written in
/// the same second: the dump was touched since.
fn was_touched_later(own: SystemTime, dump: SystemTime) -> bool {
    const CLOSE: Duration = Duration::from_secs(5);
    dump.duration_since(own).is_ok_and(|apart| apart > CLOSE)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}
