//! Does the plugin do its work: the folder of its state, its last pass, the clocks?

use super::facts::Facts;
use super::finding::{Diagnosis, Level};

const STATE_FOLDER: &str = "state-folder";
const LAST_PASS: &str = "last-pass";
const CLOCK: &str = "clock";

/// Less space than this is too little, bytes.
const LEAST_FREE_BYTES: u64 = 64 << 20;

/// How much later than due the last pass may be, seconds: it computes, and writes.
const GRACE_SECS: i64 = 60;

/// How far clocks may be apart, seconds.
const APART_SECS: i64 = 5;

/// Checks that SlurmUser may write the state.
pub(super) fn state_folder(facts: &Facts, found: &mut Diagnosis) {
    let state = match &facts.state {
        Ok(state) => state,
        Err(why) => return found.say(STATE_FOLDER, Level::Unknown, why.as_str()),
    };
    let (path, user) = (state.folder.path.display(), &state.user);
    if let Err(why) = &state.folder.writable {
        return found.advise(
            STATE_FOLDER,
            Level::Error,
            format!("SlurmUser {user} cannot write to StateSaveLocation {path}: {why}"),
            format!("chown {user} {path} and chmod 700 {path}, on a disk that can be written"),
        );
    }
    let free = state.folder.free_bytes;
    if free < LEAST_FREE_BYTES {
        return found.advise(
            STATE_FOLDER,
            Level::Error,
            format!(
                "the disk of StateSaveLocation {path} has {} MiB left",
                free >> 20
            ),
            "make space: neither slurmctld nor the plugin can save their state on a full disk",
        );
    }
    let text = format!("SlurmUser {user} may write to StateSaveLocation {path}");
    found.say(STATE_FOLDER, Level::Ok, text);
}

/// Checks that passes are made.
pub(super) fn last_pass(facts: &Facts, found: &mut Diagnosis) {
    let (pass, settings) = match (&facts.last_pass, &facts.settings) {
        (Ok(times), Ok(settings)) => (times.pass, settings),
        (Err(why), _) | (_, Err(why)) => {
            return found.say(LAST_PASS, Level::Unknown, why.as_str());
        }
    };
    if pass == 0 {
        let text = match settings.has_slurmdbd() {
            true => "no pass has been made yet",
            false => {
                "without slurmdbd passes charge nothing, and leave no time in StateSaveLocation"
            }
        };
        return found.say(LAST_PASS, Level::Note, text);
    }
    let period = i64::from(settings.period_secs);
    let ago = facts.now.saturating_sub(pass);
    let due = format!("one is due every {}", span(period));
    if ago < -APART_SECS {
        return found.advise(
            LAST_PASS,
            Level::Warning,
            format!(
                "the last pass lies {} in the future: the clock of slurmctld's host was stepped back",
                span(-ago)
            ),
            "nothing is charged twice; running jobs are charged again once the clock gets there",
        );
    }
    let text = format!("the last pass was {} ago, {due}", span(ago.max(0)));
    if ago <= period.saturating_mul(2).saturating_add(GRACE_SECS) {
        found.say(LAST_PASS, Level::Ok, text);
    } else if facts.offline {
        found.say(LAST_PASS, Level::Note, text);
    } else if facts.live.is_err() {
        let text = format!("{text}; slurmctld does not answer");
        found.say(LAST_PASS, Level::Note, text);
    } else {
        found.advise(
            LAST_PASS,
            Level::Warning,
            text,
            "look for priority/ in slurmctld's log: a pass that fails says why, and so does a save",
        );
    }
}

/// Checks that the clocks agree.
pub(super) fn clock(facts: &Facts, found: &mut Diagnosis) {
    let ahead = facts.live.as_ref().ok().and_then(|live| live.ahead_secs);
    if let Some(ahead) = ahead.filter(|ahead| ahead.abs() > APART_SECS) {
        let side = if ahead > 0 { "ahead of" } else { "behind" };
        return found.advise(
            CLOCK,
            Level::Warning,
            format!(
                "slurmctld's clock is {} {side} that of this host",
                span(ahead.abs())
            ),
            "let chrony or another time service set the clocks of all hosts",
        );
    }
    match (facts.synchronised, ahead) {
        (Some(false), _) => found.advise(
            CLOCK,
            Level::Note,
            "no time service keeps this host's clock right",
            "usage is charged by that clock: run chrony or systemd-timesyncd, unless the host of this \
             virtual machine sets it",
        ),
        (_, Some(_)) => found.say(CLOCK, Level::Ok, "slurmctld's clock agrees with that of this host"),
        (Some(true), None) => found.say(
            CLOCK,
            Level::Ok,
            "a time service keeps this host's clock right",
        ),
        (None, None) => found.say(CLOCK, Level::Unknown, "slurmctld did not tell its time"),
    }
}

/// `90 seconds`, `5 minutes`, `3 hours`, `2 days`: rounded down to a unit of which there are two at
/// least.
fn span(secs: i64) -> String {
    let (number, unit) = match secs {
        172_800.. => (secs / 86_400, "day"),
        7200.. => (secs / 3600, "hour"),
        120.. => (secs / 60, "minute"),
        _ => (secs, "second"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural}")
}
