//! What the last slurmctld left, and which of it counts.
//!
//! Our file has a checksum, Slurm's have none. So where ours is whole, its times and its usage
//! count, unless another plugin has made passes since. That one leaves the times of the pass
//! before as `priority_last_decay_ran.old`, and so do we: whichever plugin wrote last, the two files tell
//! of the last two passes. Where ours is damaged, the one of the pass before takes its place: jobs
//! are then charged from that pass on, and nothing is lost.

use super::order_state::OrderState;
use super::state_file::State;
use super::times::{OWN_FILE, SLURM_FILE, Times, old};
use super::usage_dump::{self, ASSOC_FILE as DUMP_FILE, DumpTime};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What was loaded at start.
#[derive(Debug, Default)]
pub(in crate::slurm) struct Loaded {
    pub(in crate::slurm) last_ran: Option<i64>,
    pub(in crate::slurm) last_reset: Option<i64>,
    /// Usage to put back in place of what slurmctld loaded.
    pub(in crate::slurm) saved: Option<State>,
    /// When the usage that counts was written down: the state's or that of slurmctld's dump.
    /// What was charged later is not in it.
    pub(in crate::slurm) usage_as_of: Option<i64>,
    /// Our file on disk says that no pass changes usage before this time: see [`State::next_pass`].
    pub(in crate::slurm) next_pass: Option<i64>,
    /// What an order remembers, by our file, whether its usage counts or not.
    pub(in crate::slurm) order: OrderState,
    /// For the administrator, as errors.
    pub(in crate::slurm) complaints: Vec<String>,
    /// For the curious.
    pub(in crate::slurm) notes: Vec<String>,
}

/// Times of the last pass and of the one before, by Slurm's files.
#[derive(Clone, Copy, Debug, Default)]
struct Passes {
    last: Option<Times>,
    before: Option<Times>,
}

/// Reads what the last slurmctld left. Never fails: what cannot be read is complained of.
/// Without `own`, our file is left alone and Slurm's count, as for the stock plugin.
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
        Some(_) => format!("usage is taken from {OWN_FILE}"),
        None => "usage is what slurmctld could read".to_string(),
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
    // The stock plugin has an instant without the file; that before it says what was.
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
                    "{name} has {} bytes instead of 16: the time of the last pass is not known from it",
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

/// The times of our file, or of the one of the pass before where it is damaged, if they count: of
/// Slurm's files one may be behind. And the usage in it, unless that of slurmctld's is newer.
/// `dump`: when slurmctld wrote its own files; `None` where they are none or damaged.
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
        Ok(()) => format!("it is now {aside}"),
        Err(error) => format!("it cannot be set aside: {error}"),
    };
    let before = read_own(dir, &old(OWN_FILE)).and_then(Result::ok);
    if let Some(state) = &before {
        loaded.order.clone_from(&state.order);
    }
    let before =
        before.filter(|state| !is_superseded(state, passes) && is_newer(dir, state, dump, loaded));
    let instead = match &before {
        Some(_) => format!("usage is that of the pass before, from {}", old(OWN_FILE)),
        None => "usage is what slurmctld saved".to_string(),
    };
    loaded.complaints.push(format!(
        "{OWN_FILE} is damaged ({damage}); {fate}; {instead}"
    ));
    before.map(|state| (state.times(), Some(state)))
}

/// `None`: there is no such file.
fn read_own(dir: &Path, name: &str) -> Option<Result<State, String>> {
    match fs::read(dir.join(name)) {
        Ok(bytes) => Some(State::decode(&bytes).map_err(|damage| damage.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(format!("it cannot be read: {error}"))),
    }
}

/// Is this the state of the last pass? If no other plugin can have made one since, it is, whatever
/// Slurm's file says.
fn belongs(state: &State, passes: Passes, loaded: &mut Loaded) -> bool {
    let Some(last) = passes.last else {
        return true;
    };
    // Ours is written before Slurm's file: after a crash between the two, Slurm's is one behind.
    let is_behind = last.last_ran == state.previous_ran && last.last_ran != state.last_ran;
    if last == state.times() || is_behind {
        return true;
    }
    if passes
        .before
        .is_some_and(|before| before.last_ran >= state.last_ran)
    {
        loaded.notes.push(format!(
            "{OWN_FILE} is not of the last pass: usage is what slurmctld saved"
        ));
        return false;
    }
    loaded.complaints.push(format!(
        "{SLURM_FILE} is damaged: by it the last pass was at {} and the last reset at {}, by {OWN_FILE}, \
         which counts, at {} and {}",
        last.last_ran, last.last_reset, state.last_ran, state.last_reset
    ));
    true
}

/// Has another plugin made a pass since the one after this state?
fn is_superseded(state: &State, passes: Passes) -> bool {
    passes
        .before
        .is_some_and(|before| before.last_ran > state.last_ran)
}

/// Is it newer than slurmctld's own files?
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
            "{DUMP_FILE} is newer than {OWN_FILE}: usage is what slurmctld saved"
        ));
    }
    newer
}

/// Two files that were written in the same second have times that are close to each other.
fn was_touched_later(own: SystemTime, dump: SystemTime) -> bool {
    const CLOSE: Duration = Duration::from_secs(5);
    dump.duration_since(own).is_ok_and(|apart| apart > CLOSE)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}
