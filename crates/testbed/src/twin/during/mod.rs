//! Events in the middle of a pass, at every point where the plugin holds no lock.
//!
//! Each event is played before a pass, after it, and at its first, second, ... point until the pass
//! has no more points. At the end each field of the records must have the value that it has when
//! the event happens before or after the pass. The next pass corrects what this pass could not
//! know: after it there is no exception.

mod event;
mod kind;
mod ranks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail, ensure};

use xtask::interrupt;

use super::compare::fields;
use super::host::{Dump, TwinHost};
use super::life::Life;
use super::own::Own;
use event::{event, setup};
use kind::{ORDER, STOCK, WINDOW};
use ranks::replace_numbers;

pub use event::Event;
pub use kind::{KINDS, Kind};

/// The time of an event.
#[derive(Clone, Copy, Debug)]
enum When {
    Before,
    During(usize),
    After,
}

/// The fields after the pass with its event, and after the next pass.
type Ends = [BTreeMap<String, String>; 2];

/// A life up to a pass, in which events come.
pub struct Stage {
    host: TwinHost,
    plugin: PathBuf,
    setup: Vec<String>,
    /// Priority of job 21 before the pass.
    priority: String,
    /// Allowed relative difference of sums.
    slack: f64,
    /// True if the pass changes priorities.
    moves: bool,
    /// True if the plugin follows stock.
    is_stock: bool,
    /// True if usage comes from a ledger.
    has_window: bool,
    /// True if waiting jobs have an order.
    has_order: bool,
}

impl Stage {
    /// `last`: events that always happen between the last pass and the one under test.
    fn new(host: &TwinHost, plugin: &Path, parameters: &str, last: &[&str]) -> Result<Stage> {
        let mut setup = setup(&format!("{parameters},max_lock_ms=1"));
        setup.extend(last.iter().map(|line| (*line).to_owned()));
        let moves = !last.is_empty();
        let is_stock = parameters == STOCK;
        let (life, last) = (
            Life {
                lines: setup.clone(),
            },
            setup.len(),
        );
        let dump = host.play(plugin, &life, Some((last, last)))?;
        ensure!(dump.ending == "exit 0", "{}", dump.ending);
        let found = fields(dump.lines.iter().map(String::as_str));
        let priority = found.get("job 21 priority").context("job 21")?.clone();
        Ok(Stage {
            host: host.clone(),
            plugin: plugin.to_owned(),
            setup,
            priority,
            // Stock's formula charges an end as if all usage came at once, so the decay in a pass
            // right after it is a little less.
            slack: if is_stock { 1e-4 } else { 1e-9 },
            moves,
            is_stock,
            has_window: parameters == WINDOW,
            has_order: parameters == ORDER,
        })
    }

    /// Plays an event; `None` if the pass had no such point.
    fn play(&self, event: &Event, when: When) -> Result<Option<Ends>> {
        let mut lines = self.setup.clone();
        let same = format!("prio={}", self.priority);
        let events = event
            .lines
            .iter()
            .map(|line| line.replace("prio=same", &same));
        // Each look at the clock takes as long as the lock limit, so that the pass has the most
        // pieces.
        let pass = ["look 1000000", "pass 0", "look 0"].map(str::to_owned);
        match when {
            When::Before => lines.extend(events.chain(pass)),
            When::After => lines.extend(pass.into_iter().chain(events)),
            When::During(point) => {
                lines.extend(events.map(|line| format!("during {point} {line}")));
                lines.extend(pass);
            }
        }
        lines.extend(["step 0", "pass 300"].map(str::to_owned));
        let last = lines.len();
        let dump = self
            .host
            .play(&self.plugin, &Life { lines }, Some((last - 1, last)))?;
        ensure!(dump.ending == "exit 0", "{}", dump.ending);
        if dump.lines.iter().any(|line| line.starts_with("~ never")) {
            return Ok(None);
        }
        self.ends(&dump).map(Some)
    }

    /// The two dumps at the end of a life.
    fn ends(&self, dump: &Dump) -> Result<Ends> {
        let mut sections = vec![vec![]];
        for line in &dump.lines {
            if line.starts_with('=') {
                sections.push(vec![]);
            } else if let Some(section) = sections.last_mut().filter(|_| !line.starts_with('~')) {
                section.push(line.as_str());
            }
        }
        let mut full = sections.into_iter().filter(|section| !section.is_empty());
        let (Some(first), Some(second)) = (full.next(), full.next()) else {
            bail!("the dump lacks its last events");
        };
        let mut ends = [first, second].map(|lines| fields(lines.into_iter()));
        if self.has_order {
            ends.iter_mut().for_each(replace_numbers);
        }
        Ok(ends)
    }

    /// Plays one event at every point; returns the number of points.
    ///
    /// # Errors
    /// Fails at the first field with neither the value of the event first nor that of the event
    /// last.
    pub fn enumerate(&self, event: &Event) -> Result<usize> {
        let (Some(before), Some(after)) = (
            self.play(event, When::Before)?,
            self.play(event, When::After)?,
        ) else {
            bail!("a pass without a point was asked for one");
        };
        for point in 1.. {
            interrupt::check()?;
            let Some(during) = self.play(event, When::During(point))? else {
                return Ok(point - 1);
            };
            let own = match event.own {
                Own::Arrays if !self.moves => Own::Nothing,
                Own::Levels if !self.has_window => Own::Nothing,
                own => own,
            };
            let moments = [
                ("after the pass", own),
                ("after the next one", Own::Nothing),
            ];
            for (end, (name, own)) in moments.into_iter().enumerate() {
                let found = either(&during[end], &before[end], &after[end], own, self.slack);
                ensure!(
                    found.is_empty(),
                    "{:?} at point {point}, {name}:\n{}",
                    event.lines,
                    found.join("\n")
                );
            }
        }
        unreachable!("a pass has an end")
    }
}

/// Plays all events at all points under all of [`KINDS`], and a pass that fails half-way.
///
/// # Errors
/// Fails as [`Stage::enumerate`] and [`fails_half_way`].
pub fn enumerate(host: &TwinHost, plugin: &Path, threads: usize) -> Result<()> {
    for kind in &KINDS {
        let name = kind.name;
        let stage = kind.stage(host, plugin)?;
        let events: Vec<&Event> = kind.events().collect();
        let points = all(&stage, &events, threads).with_context(|| name)?;
        fails_half_way(&stage).with_context(|| name)?;
        slurmctld_ends_meanwhile(&stage).with_context(|| name)?;
        let events = events.len();
        println!("{name}: {events} events at {points} points, no difference");
    }
    Ok(())
}

/// Plays every event; returns the total number of points.
fn all(stage: &Stage, events: &[&Event], threads: usize) -> Result<usize> {
    let next = AtomicUsize::new(0);
    let worker = || -> Result<usize> {
        let mut points = 0;
        while let Some(event) = events.get(next.fetch_add(1, Ordering::Relaxed)) {
            points += stage.enumerate(event)?;
        }
        Ok(points)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?)
            .sum()
    })
}

/// A pass that fails between two pieces: jobs have priorities of this pass or of the last one, and
/// the next pass completes all of it.
///
/// # Errors
/// Fails if a job has any other priority.
pub fn fails_half_way(stage: &Stage) -> Result<()> {
    let nothing = event(&["step 0"]);
    let Some(whole) = stage.play(&nothing, When::After)? else {
        bail!("a pass without a point was asked for one");
    };
    let failing = Stage {
        host: stage
            .host
            .clone()
            .with_variable("FAIRTREE_FAULT", "slice:panic:1"),
        plugin: stage.plugin.clone(),
        // The fault hits the first pass that works in pieces.
        setup: stage.setup.clone(),
        priority: String::new(),
        slack: stage.slack,
        moves: stage.moves,
        is_stock: stage.is_stock,
        has_window: stage.has_window,
        has_order: stage.has_order,
    };
    let Some(half) = failing.play(&nothing, When::After)? else {
        bail!("a pass without a point was asked for one");
    };
    let pending = |fields: &BTreeMap<String, String>| {
        let priorities = fields
            .iter()
            .filter(|(name, _)| name.ends_with(" priority"));
        priorities
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<BTreeMap<_, _>>()
    };
    let (whole_first, half_first) = (pending(&whole[0]), pending(&half[0]));
    let differing = whole_first
        .iter()
        .filter(|(name, value)| half_first.get(*name) != Some(value))
        .count();
    ensure!(
        differing > 0 && differing < whole_first.len(),
        "{differing} of {} priorities are not those of the pass that failed half-way",
        whole_first.len()
    );
    let late = either(&half[1], &whole[1], &whole[1], Own::Nothing, stage.slack);
    ensure!(
        late.is_empty(),
        "after a pass that failed:\n{}",
        late.join("\n")
    );
    Ok(())
}

/// slurmctld gets the order to end, at every point of a pass; then it starts again, or continues
/// after all. Returns the number of points. The host fails if the pass takes a lock of slurmctld
/// after the order.
///
/// # Errors
/// Fails if a field differs from its value after an undisturbed pass.
pub fn slurmctld_ends_meanwhile(stage: &Stage) -> Result<usize> {
    let play = |further: &[&str]| -> Result<Option<Ends>> {
        let mut lines = stage.setup.clone();
        lines.extend(further.iter().map(|&line| line.to_owned()));
        let last = lines.len();
        let dump = stage
            .host
            .play(&stage.plugin, &Life { lines }, Some((last - 1, last)))?;
        ensure!(dump.ending == "exit 0", "{}", dump.ending);
        let never = dump.lines.iter().any(|line| line.starts_with("~ never"));
        if never {
            Ok(None)
        } else {
            stage.ends(&dump).map(Some)
        }
    };
    let mut points = 0;
    // Stock's usage and run-seconds at a start depend on the time of its last pass.
    let again: &[&str] = if stage.is_stock { &[] } else { &["restart 0"] };
    // They also differ if it charges in two passes instead of one.
    let slack = if stage.is_stock { 1e-3 } else { stage.slack };
    for &then in again.iter().chain(&["ending off"]) {
        let pass = ["look 1000000", "pass 0", "look 0"];
        let whole = play(&[&pass[..], &[then, "pass 300"]].concat())?;
        let whole = whole.context("a pass without a point was asked for one")?;
        for point in 1.. {
            interrupt::check()?;
            let ending = format!("during {point} ending");
            let life = [&[ending.as_str()], &pass[..], &[then, "pass 300"]].concat();
            let Some(cut) = play(&life)? else {
                break;
            };
            let found = either(&cut[1], &whole[1], &whole[1], Own::Nothing, slack);
            ensure!(
                found.is_empty(),
                "slurmctld ends at point {point}, then {then}:\n{}",
                found.join("\n")
            );
            points += 1;
        }
    }
    Ok(points)
}

/// Lists fields that have neither the value of `a` nor that of `b`.
fn either(
    fields: &BTreeMap<String, String>,
    a: &BTreeMap<String, String>,
    b: &BTreeMap<String, String>,
    own: Own,
    slack: f64,
) -> Vec<String> {
    let absent = "(absent)".to_owned();
    let names: std::collections::BTreeSet<&String> =
        fields.keys().chain(a.keys()).chain(b.keys()).collect();
    let mut differing = vec![];
    for name in names {
        let value = |of: &BTreeMap<String, String>| of.get(name).unwrap_or(&absent).clone();
        let (found, a, b) = (value(fields), value(a), value(b));
        if !own.covers(name) && !same(name, &found, &a, slack) && !same(name, &found, &b, slack) {
            differing.push(format!(
                "{name}\n  before {a}\n  during {found}\n  after  {b}"
            ));
        }
    }
    differing
}

/// Returns true if two fields are equal. Sums are added in a different order, so numbers may differ
/// by the relative `slack`, and truncated numbers by one.
fn same(name: &str, a: &str, b: &str, slack: f64) -> bool {
    let number = |text: &str| -> Option<f64> { text.split(' ').next_back()?.parse().ok() };
    if a == b {
        return true;
    }
    let (Some(x), Some(y)) = (number(a), number(b)) else {
        return false;
    };
    let cut = name.ends_with(" priority") || name.contains(" array");
    let slack = if a.starts_with('f') {
        slack * x.abs().max(y.abs())
    } else if cut {
        1.0
    } else {
        0.0
    };
    (x - y).abs() <= slack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_differ_in_their_last_digits() {
        assert!(same(
            "assoc 3 usage_raw",
            "f80:x 1.00000000001",
            "f80:y 1",
            1e-9
        ));
        assert!(!same("assoc 3 usage_raw", "f80:x 1.0001", "f80:y 1", 1e-9));
        assert!(same("job 3 priority", "100", "101", 1e-9));
        assert!(!same("job 3 priority", "100", "102", 1e-9));
        assert!(!same("job 3 state", "0", "1", 1e-9));
    }
}
