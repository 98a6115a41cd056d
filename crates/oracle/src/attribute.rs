//! Finds the faults that explain the records that a plugin left.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context as _, Result};

use super::check::mismatches;
use super::faults::{Fault, Faults};
use super::memory::Memory;
use super::mismatch::Mismatch;
use super::model::{Call, Left, leave};
use super::rows;
use super::trace::{Event, Hook, Trace};

/// Number of actions of each fault, and of fields that it changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Number of calls that need the fault, and of fields in them that are wrong without it.
    pub faults: BTreeMap<Fault, (usize, usize)>,
    /// Number of all calls.
    pub calls: usize,
}

impl FaultCounts {
    /// Prints the table, if it is not empty.
    pub fn print(&self) {
        if self.calls > 0 {
            print!("{self}");
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &FaultCounts) {
        self.calls += other.calls;
        for (fault, (calls, fields)) in &other.faults {
            let own = self.faults.entry(*fault).or_default();
            own.0 += calls;
            own.1 += fields;
        }
    }
}

impl fmt::Display for FaultCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<26} {:>8} {:>9}  of {} calls",
            "fault", "calls", "fields", self.calls
        )?;
        for fault in Fault::ALL {
            let (calls, fields) = self.faults.get(fault).copied().unwrap_or_default();
            writeln!(f, "{fault:<26} {calls:>8} {fields:>9}  {}", fault.text())?;
        }
        Ok(())
    }
}

/// A call that no set of faults explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// The line of the life.
    pub line: usize,
    /// The call.
    pub hook: Hook,
    /// Differences from the nearest explanation.
    pub fields: Vec<Mismatch>,
}

/// The result for a trace.
pub enum Explained {
    /// Every call is explained.
    All(FaultCounts),
    /// One call is not explained.
    Not(Box<Unexplained>),
}

/// Explains every call of a trace by as few faults of `allowed` as possible.
///
/// # Errors
/// Fails if the trace cannot be read.
pub fn explain(text: &str, allowed: &Faults) -> Result<Explained> {
    let mut trace = Trace::new(text);
    let mut memory = Memory::default();
    let mut counts = FaultCounts::default();
    // Most calls need the same faults as earlier calls.
    let mut usual: Vec<Fault> = vec![];
    while let Some(event) = trace.next()? {
        let (line, hook, before, after, rows) = match event {
            Event::Saved(time) => {
                memory.files.dumped = Some(time);
                memory.files.dump_is_last = true;
                continue;
            }
            Event::Crash => {
                memory.files_at_crash = Some(memory.files.clone());
                continue;
            }
            Event::Call { after: None, .. } => break,
            Event::Call {
                line,
                hook,
                before,
                after: Some(after),
                rows,
            } => (line, hook, before, after, rows),
        };
        let call = Call {
            hook,
            before: &before,
            after: &after,
            rows: &rows,
        };
        let explain = |memory: &Memory| {
            let found = explain_call(&call, memory, allowed, &usual);
            found.with_context(|| format!("line {line}: {hook:?}"))
        };
        let mut found = explain(&memory)?;
        if let (Err(_), Some(other)) = (&found, memory.of_one_second()) {
            found = explain(&other)?;
        }
        match found {
            Ok((faults, next)) => {
                memory = next;
                counts.calls += 1;
                for (fault, fields) in faults {
                    if !usual.contains(&fault) {
                        usual.push(fault);
                    }
                    let own = counts.faults.entry(fault).or_default();
                    own.0 += 1;
                    own.1 += fields;
                }
            }
            Err(fields) => {
                return Ok(Explained::Not(Box::new(Unexplained { line, hook, fields })));
            }
        }
    }
    Ok(Explained::All(counts))
}

/// The faults that one call needed, with the number of fields that are wrong without each, and the
/// plugin's memory; or the unexplained fields.
type Attribution = Result<(Vec<(Fault, usize)>, Memory), Vec<Mismatch>>;

/// Wrong fields in the records and answers of a call.
fn wrong(call: &Call, left: &Left, faults: &Faults) -> Vec<Mismatch> {
    let mut found = mismatches(left, call.after);
    found.extend(rows::mismatches(call.rows, &left.records, faults));
    found
}

fn explain_call(
    call: &Call,
    memory: &Memory,
    allowed: &Faults,
    usual: &[Fault],
) -> Result<Attribution> {
    let none = Faults::none();
    let documented = leave(call, memory, &none)?;
    if wrong(call, &documented, &none).is_empty() {
        return Ok(Ok((vec![], documented.memory)));
    }
    // The copy records only the faults that this call queries.
    let allowed = allowed.afresh();
    let mut left = leave(call, memory, &allowed)?;
    let rest = wrong(call, &left, &allowed);
    if !rest.is_empty() {
        return Ok(Err(rest));
    }
    // Remove one fault after the other, as long as the rest is enough.
    let mut asked = allowed.asked();
    let few: Vec<Fault> = asked
        .iter()
        .copied()
        .filter(|fault| usual.contains(fault))
        .collect();
    if few.len() < asked.len() {
        let only = Faults::only(&few);
        let tried = leave(call, memory, &only)?;
        if wrong(call, &tried, &only).is_empty() {
            (asked, left) = (few, tried);
        }
    }
    let (mut needed, mut named) = (Faults::only(&asked), vec![]);
    for fault in asked {
        let fewer = needed.without(fault);
        let tried = leave(call, memory, &fewer)?;
        let fields = wrong(call, &tried, &fewer).len();
        if fields == 0 {
            (needed, left) = (fewer, tried);
        } else {
            named.push((fault, fields));
        }
    }
    Ok(Ok((named, left.memory)))
}
