//! Machines of an on-demand queue.

use std::collections::{BTreeMap, BTreeSet};

use super::bill::Prices;
use super::error::OnDemandError;
use super::{Micros, OnDemand};
use crate::engine::MachineError;

/// A machine, and the jobs that wait for it.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) limit: Option<u32>,
    pub(super) prices: Prices,
    pub(super) paused: bool,
    /// On-demand jobs that wait: since when, submit time, id.
    pub(super) on_demand: BTreeSet<(Micros, Micros, u64)>,
    /// Jobs of the running reservation that wait: submit time, id.
    pub(super) in_reservation: BTreeSet<(Micros, u64)>,
    pub(super) running: Vec<u64>,
    /// Reservations that are not over, by start.
    pub(super) reserved: BTreeMap<Micros, u64>,
    /// The run time of jobs that come without any.
    pub(super) default_length: Option<u64>,
    /// It is gone; its number is not used again.
    pub(super) removed: bool,
}

impl OnDemand {
    /// Adds a machine. `limit`: of waiting on-demand jobs; `None`: none. Its number is how many were
    /// added before, also those that were removed.
    ///
    /// # Errors
    /// [`MachineError::MachineTwice`].
    pub fn add_machine(
        &mut self,
        name: &str,
        limit: Option<u32>,
        prices: Prices,
    ) -> Result<(), OnDemandError> {
        let name = name.to_owned();
        if self.names.contains_key(&name) {
            return Err(MachineError::MachineTwice { name }.into());
        }
        self.names.insert(name.clone(), self.machines.len() as u32);
        self.machines.push(Machine {
            name,
            limit,
            prices,
            paused: false,
            on_demand: BTreeSet::new(),
            in_reservation: BTreeSet::new(),
            running: Vec::new(),
            reserved: BTreeMap::new(),
            default_length: None,
            removed: false,
        });
        Ok(())
    }

    /// The names of the machines, in the order in which they were added.
    pub fn machines(&self) -> impl Iterator<Item = &str> {
        self.machine_states().map(|machine| machine.name)
    }

    /// The number of the latest machine with a name, also of one that was removed.
    pub fn number_of(&self, name: &str) -> Option<u32> {
        let at = self
            .machines
            .iter()
            .rposition(|machine| machine.name == name)?;
        Some(at as u32)
    }

    /// Begins or ends maintenance. A paused machine gives no job; what runs there is the
    /// caller's business.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn set_paused(&mut self, machine: &str, paused: bool) -> Result<(), OnDemandError> {
        let at = self.machine(machine)?;
        self.machines[at as usize].paused = paused;
        Ok(())
    }

    /// The position of a machine.
    pub(super) fn machine(&self, name: &str) -> Result<u32, OnDemandError> {
        let found = self.names.get(name).copied();
        found.ok_or_else(|| {
            MachineError::UnknownMachine {
                name: name.to_owned(),
            }
            .into()
        })
    }
}
