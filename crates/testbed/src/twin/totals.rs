//! Random lives without decay: a total since the beginning equals half-life usage without decay.
//!
//! Both charge the same runs in different ways: one adds to the records from pass to pass and at
//! ends of jobs, the other keeps intervals in a ledger and sets the records to their sums.
//!
//! The usage in a window equals the difference of two such totals: the one of now, and the one at
//! the start of the window.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::compare::fields;
use super::host::{Dump, TwinHost};
use super::life::Life;
use super::{Draw, Size, generate};

const SIZE: Size = Size {
    assocs: 30,
    jobs: 30,
    events: 60,
    large: false,
};

/// Events that the two count differently, each correctly: crashes lose unsaved usage, which is not
/// the same in both; half-life charges the time in which a job is suspended; and only half-life
/// charges the QOS of a job without association, and only at its end.
const LEFT_OUT: [&str; 6] = [
    "crash",
    "crash_in_pass",
    "suspend",
    "resume",
    "assoc_del",
    "usage",
];

/// Further events, by the beginning of their line: half-life does not charge jobs from before a
/// restart while the clock is behind.
const STEPS_BACK: [&str; 2] = ["pass -", "step -"];

/// All usage since the beginning.
const TOTAL: &str = "usage=total:1970-01-01";

/// Start time of lives with a window.
const START: usize = 1_700_000_000;

/// Allowed difference of numbers: relative, and an absolute addition.
const SLACK: (f64, f64) = (1e-9, 1e-6);

/// Number of passes between two switches of the way of counting.
const SWITCHES_EVERY: usize = 3;

/// The life of a seed, without decay. `resets`: with `RawUsage=0`.
fn life(seed: u64, resets: bool) -> Life {
    let mut left_out = LEFT_OUT.map(str::to_owned).to_vec();
    if !resets {
        left_out.push("assoc_zero".to_owned());
    }
    let drawn = generate(seed, SIZE).without(&left_out);
    let mut life = Life::default();
    for line in &drawn.lines {
        let sets = |key: &str| line.contains(key);
        if STEPS_BACK.iter().any(|back| line.starts_with(back))
            || sets("assoc=0")
            || sets("AccountingStorage")
            || sets("PriorityDecayHalfLife")
            || sets("PriorityUsageResetPeriod")
        {
            continue;
        }
        // slurmctld does not reset the users of such an account.
        let line = line.replace("shares=parent", "shares=1");
        // The threads of two plugins wake at different moments.
        let line = line.replace("elapse ", "pass ");
        let is_reset = line.starts_with("assoc_zero");
        match &*line {
            "boot" => life.push(
                "conf AccountingStorageEnforce=limits,qos PriorityDecayHalfLife=0 \
                 PriorityUsageResetPeriod=NONE",
            ),
            // A ledger forgets the usage up to the pass that finds the reset.
            _ if is_reset => life.push("pass 0"),
            _ => {}
        }
        life.push(line);
        if is_reset {
            life.push("pass 0");
        }
    }
    life
}

/// Seconds between two passes of a life with a window; time passes in no other way. All charges
/// begin and end at limits of buckets of this length, so that the window's edge cuts none.
const BUCKET_SECS: usize = 300;

/// Buckets in the window.
const WINDOW: usize = 7;

/// The life of a seed, with a pass every [`BUCKET_SECS`]: one to four of them when time passes.
fn life_by_buckets(seed: u64) -> Life {
    let mut draw = Draw::new(seed);
    let mut life = Life::default();
    for line in &self::life(seed, false).lines {
        match line.split(' ').next() {
            Some("clock") => life.push(format!("clock {}", START / BUCKET_SECS * BUCKET_SECS)),
            Some("pass" | "step") => {
                for _ in 0..draw.between(1, 4) {
                    life.push(format!("pass {BUCKET_SECS}"));
                }
            }
            Some("restart") => life.push(format!("restart {BUCKET_SECS}")),
            // Usage of such a QOS never leaves the window.
            Some("qos") => life.push(line.replace(" nodecay=1", "")),
            _ => life.push(line.as_str()),
        }
    }
    life
}

/// The same life, in which `usage` changes now and then.
fn switching(life: &Life) -> Life {
    let mut switching = Life::default();
    let mut passes = 0;
    for line in &life.lines {
        switching.push(line.clone());
        if line.starts_with("pass") {
            passes += 1;
            let usage = match passes / SWITCHES_EVERY % 2 {
                1 => "usage=half_life",
                _ => TOTAL,
            };
            if passes % SWITCHES_EVERY == 0 {
                switching.push(format!("reconfig PriorityParameters={usage}"));
            }
        }
    }
    switching
}

type Fields = BTreeMap<String, String>;

/// Usage after each event except the switches, with its line.
fn events(dump: &Dump, life: &Life) -> Vec<(usize, Fields)> {
    let is_switch = |line: &usize| life.lines[line - 1].contains("PriorityParameters=");
    let mut events = Vec::new();
    let mut own = Vec::new();
    for line in &dump.lines {
        match line.strip_prefix("= ") {
            Some(event) => {
                let number = event.split(' ').next().and_then(|word| word.parse().ok());
                let own = std::mem::take(&mut own).into_iter();
                events.push((number.unwrap_or(1), fields(own)));
            }
            None if is_usage(line) => own.push(line.as_str()),
            None => {}
        }
    }
    events.retain(|(line, _)| !is_switch(line));
    events
}

/// Returns true for usage of associations and QOS. Half-life counts whole units of billing as a
/// TRES, as slurmctld allocates them, so that is left out.
fn is_usage(line: &str) -> bool {
    let mut words = line.split(' ');
    let (Some(who), Some(name)) = (words.next(), words.nth(1)) else {
        return false;
    };
    let kind = name.split('[').next().unwrap_or_default();
    ["assoc", "qos"].contains(&who)
        && ["usage_raw", "wall", "tres_raw"].contains(&kind)
        && name != "tres_raw[4]"
}

/// The number at the end of a field's value, after its bits.
fn number(value: &str) -> Option<f64> {
    value.rsplit(' ').next()?.parse().ok()
}

fn agree(a: &str, b: &str) -> bool {
    let Some((a, b)) = number(a).zip(number(b)) else {
        return false;
    };
    (a - b).abs() <= SLACK.0 * a.abs().max(b.abs()) + SLACK.1
}

/// Usage in a life under these parameters.
fn play(
    (host, plugin): (&TwinHost, &Path),
    life: &Life,
    parameters: &str,
) -> Result<Vec<(usize, Fields)>> {
    let host = (host.clone()).with("--conf", &format!("PriorityParameters={parameters}"));
    let dump = host.play(plugin, life, Some((1, life.lines.len())))?;
    ensure!(dump.ending == "exit 0", "{parameters}: {}", dump.ending);
    Ok(events(&dump, life))
}

/// Plays the life of a seed both ways: even seeds with resets, odd seeds with switches between the
/// two ways. (A ledger does not record resets while `usage` is `half_life`.)
///
/// # Errors
/// Fails at the first event after which usage differs, or if the host fails.
pub fn a_total_is_usage_without_decay(host: &TwinHost, plugin: &Path, seed: u64) -> Result<()> {
    let resets = seed % 2 == 0;
    let life = life(seed, resets);
    let other = match resets {
        true => life.clone(),
        false => switching(&life),
    };
    let summed = play((host, plugin), &life, "compat=documented")?;
    let of_ledger = play((host, plugin), &other, TOTAL)?;
    ensure!(summed.len() == of_ledger.len(), "not the same events");
    for ((line, summed), (_, of_ledger)) in summed.iter().zip(&of_ledger) {
        for (name, value) in summed {
            let other = of_ledger.get(name).with_context(|| name.clone())?;
            ensure!(
                agree(value, other),
                "seed {seed}, line {line}: {}: {name}: {value} without decay, {other} in all\n{}",
                life.lines[line - 1],
                life.text()
            );
        }
    }
    Ok(())
}

/// Plays the life of a seed with a total and with a window, and compares users and QOS. Accounts
/// are left out: their earlier usage belongs to the users who were below them then.
///
/// # Errors
/// Fails as [`a_total_is_usage_without_decay`].
pub fn a_window_is_what_totals_differ_by(host: &TwinHost, plugin: &Path, seed: u64) -> Result<()> {
    let life = life_by_buckets(seed);
    let length = WINDOW * BUCKET_SECS;
    let window = format!("usage=window:0:{length},resolution=0:{BUCKET_SECS}");
    let totals = play((host, plugin), &life, TOTAL)?;
    let windows = play((host, plugin), &life, &window)?;
    ensure!(totals.len() == windows.len(), "not the same events");
    let accounts = accounts(&life);
    // One element for each bucket.
    let mut earlier: Vec<&Fields> = Vec::new();
    for ((line, total), (_, window)) in totals.iter().zip(&windows) {
        let event = &life.lines[line - 1];
        let is_pass = event.starts_with("pass");
        if !is_pass && !event.starts_with("restart") {
            continue;
        }
        earlier.push(total);
        if !is_pass {
            continue;
        }
        let before = earlier.len().checked_sub(WINDOW + 1).map(|at| earlier[at]);
        for (name, now) in total.iter().filter(|(name, _)| !is_of(name, &accounts)) {
            let before = before.and_then(|before| number(before.get(name)?));
            let now = number(now).context("a number")?;
            let found = number(&window[name]).context("a number")?;
            let expected = now - before.unwrap_or(0.0);
            ensure!(
                (found - expected).abs() <= SLACK.0 * now + SLACK.1,
                "seed {seed}, line {line}: {name}: {found} in the window, and not {expected}\n{}",
                life.text()
            );
        }
    }
    Ok(())
}

/// The prefixes of the fields of accounts.
fn accounts(life: &Life) -> Vec<String> {
    let lines = life.lines.iter().filter(|line| !line.contains("user="));
    let definitions =
        lines.filter(|line| line.starts_with("assoc ") || line.starts_with("assoc_add "));
    let ids = definitions.filter_map(|line| line.split(' ').nth(1));
    ids.map(|id| format!("assoc {id} ")).collect()
}

fn is_of(name: &str, accounts: &[String]) -> bool {
    accounts.iter().any(|account| name.starts_with(account))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_before_their_event() {
        let lines = ["qos 1 wall f64:0 0", "= 4 boot aa", "qos 1 wall f64:1 7"];
        let dump = Dump {
            ending: String::new(),
            lines: [&lines[..], &["= 5 pass bb"]]
                .concat()
                .iter()
                .map(|line| (*line).to_owned())
                .collect(),
        };
        let life = Life::parse("a\nb\nc\nboot\npass 300\n");
        let events = events(&dump, &life);
        assert_eq!((events[0].0, events[1].0), (4, 5));
        assert_eq!(events[1].1["qos 1 wall"], "f64:1 7");
    }

    #[test]
    fn every_third_pass_switches() {
        let life = Life::parse(&"pass 300\n".repeat(7));
        let lines = switching(&life).lines;
        assert_eq!(lines[3], "reconfig PriorityParameters=usage=half_life");
        assert_eq!(
            lines[7],
            "reconfig PriorityParameters=usage=total:1970-01-01"
        );
        assert_eq!(lines.len(), 9);
    }

    #[test]
    fn numbers_agree_within_rounding() {
        assert!(agree("f80:00 1e9", "f80:01 1000000000.5"));
        assert!(!agree("f80:00 1000", "f80:01 1000.1"));
        assert!(!agree("f80:00 1000", "nothing"));
        assert!(is_usage("assoc 3 tres_raw[0] f80:0 0"));
        assert!(!is_usage("assoc 3 tres_raw[4] f80:0 0"));
        assert!(!is_usage("job 3 wall f64:0 0"));
        assert!(!is_usage("daemon"));
    }
}
