//! Machines, and the decisions for them.

use super::error::QueueError;
use super::{Micros, Queue};
use crate::engine::MachineError;

/// What a machine is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The job with this id.
    Job(u64),
    /// None, and why.
    Nothing(Nothing),
}

/// Why there is no job to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// No job waits for the machine.
    NoneWaits,
    /// The machine is in maintenance.
    Paused,
    /// The machine runs as many jobs as it can at a time.
    Busy,
}

#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub name: String,
    /// Jobs that it can run at a time.
    pub slots: u32,
    pub running: u32,
    pub waiting: usize,
    pub paused: bool,
    /// The maximum run time of jobs that come without any.
    pub default_limit: Option<u64>,
    /// It is gone; its number is not used again.
    pub removed: bool,
}

impl Machine {
    /// Can it start `job`?
    pub fn check(&self, job: u64) -> Result<(), QueueError> {
        let name = || self.name.clone();
        if self.paused {
            return Err(MachineError::Paused { name: name(), job }.into());
        }
        if self.running >= self.slots {
            return Err(QueueError::Busy {
                name: name(),
                running: self.running,
                job,
            });
        }
        Ok(())
    }
}

/// Refuses a machine that runs nothing.
pub(super) fn check_slots(slots: u32) -> Result<(), QueueError> {
    match slots {
        0 => Err(QueueError::Setting {
            setting: "the number of jobs that a machine runs at a time",
            value: "0".to_owned(),
            allowed: "at least 1",
        }),
        _ => Ok(()),
    }
}

impl Queue {
    /// Adds a machine that runs `slots` jobs at a time. Its number is how many were added before,
    /// also those that were removed.
    ///
    /// # Errors
    /// [`MachineError::MachineTwice`]; [`QueueError::Setting`] when `slots` is 0.
    pub fn add_machine(&mut self, name: &str, slots: u32) -> Result<(), QueueError> {
        if self.names.contains_key(name) {
            let name = name.to_owned();
            return Err(MachineError::MachineTwice { name }.into());
        }
        check_slots(slots)?;
        self.push_machine(Machine {
            name: name.to_owned(),
            slots,
            running: 0,
            waiting: 0,
            paused: false,
            default_limit: None,
            removed: false,
        });
        Ok(())
    }

    pub(super) fn push_machine(&mut self, machine: Machine) {
        let at = self.machines.len() as u32;
        if !machine.removed {
            self.names.insert(machine.name.clone(), at);
        }
        self.machines.push(machine);
        self.contest.add_machine();
    }

    /// The names of the machines, sorted.
    pub fn machines(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Begins or ends maintenance. A paused machine gives no job; what runs there is the
    /// caller's business.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn set_paused(&mut self, machine: &str, paused: bool) -> Result<(), QueueError> {
        let at = self.machine(machine)?;
        self.machines[at as usize].paused = paused;
        Ok(())
    }

    /// How many jobs wait for a machine.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn waiting(&self, machine: &str) -> Result<usize, QueueError> {
        Ok(self.machines[self.machine(machine)? as usize].waiting)
    }

    pub(super) fn machine(&self, name: &str) -> Result<u32, QueueError> {
        let found = self.names.get(name).copied();
        found.ok_or_else(|| {
            MachineError::UnknownMachine {
                name: name.to_owned(),
            }
            .into()
        })
    }

    /// The job that the machine is to run next; does not start it. Costs O(log n) for each use
    /// that changed since the last call, whatever the number of waiting jobs.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn next(&mut self, machine: &str, now: Micros) -> Result<Next, QueueError> {
        let at = self.machine(machine)?;
        self.advance(now);
        Ok(match self.next_at(at) {
            Ok(job) => Next::Job(self.job(job).id),
            Err(why) => Next::Nothing(why),
        })
    }

    /// The position of the next job.
    pub(super) fn next_at(&self, at: u32) -> Result<u32, Nothing> {
        let machine = &self.machines[at as usize];
        if machine.paused {
            Err(Nothing::Paused)
        } else if machine.running >= machine.slots {
            Err(Nothing::Busy)
        } else {
            self.contest.first(at).ok_or(Nothing::NoneWaits)
        }
    }
}
