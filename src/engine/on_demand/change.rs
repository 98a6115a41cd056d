//! Changes in mid-life: prices, limits and removal of machines, the machines that accounts are bound to,
//! and the default of the run time. Reservations change in `reservation`.

use super::error::OnDemandError;
use super::{AccountId, OnDemand, Prices};
use crate::engine::MachineError;
use crate::engine::queue::Micros;

impl OnDemand {
    /// Sets the prices of a machine for runs that start, and reservations that begin, from now on.
    /// Earlier runs and reservations keep their prices.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn set_prices(
        &mut self,
        machine: &str,
        prices: Prices,
        now: Micros,
    ) -> Result<(), OnDemandError> {
        let at = self.machine(machine)?;
        self.advance(now);
        let found = &mut self.machines[at as usize];
        for id in found.reserved.range(..self.now).map(|(_, id)| id) {
            let begun = self.reservations.get_mut(id);
            let begun = begun.expect("a reservation that is known");
            begun.price.get_or_insert(found.prices.reserved_second);
        }
        found.prices = prices;
        Ok(())
    }

    /// Limits waiting on-demand jobs for a machine; `None`: no limit. Jobs that wait already stay.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn set_limit(&mut self, machine: &str, limit: Option<u32>) -> Result<(), OnDemandError> {
        let at = self.machine(machine)?;
        self.machines[at as usize].limit = limit;
        Ok(())
    }

    /// Removes a machine without jobs and without reservations that are not over. What was used
    /// there is still billed, and its number is not used again.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`], [`MachineError::InUse`].
    pub fn remove_machine(&mut self, machine: &str, now: Micros) -> Result<(), OnDemandError> {
        let at = self.machine(machine)?;
        self.at(now, |queue| {
            let found = &mut queue.machines[at as usize];
            let waiting = found.on_demand.len() + found.in_reservation.len();
            let (running, reservations) = (found.running.len(), found.reserved.len());
            if waiting + running + reservations > 0 {
                return Err(MachineError::InUse {
                    name: machine.to_owned(),
                    waiting,
                    running,
                    reservations,
                }
                .into());
            }
            found.removed = true;
            queue.names.remove(machine);
            Ok(())
        })
    }

    /// Binds an account to machines: a job or a reservation elsewhere is refused. Without machines it
    /// is bound no more. Present jobs and reservations stay.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn bind(&mut self, account: AccountId, machines: &[&str]) -> Result<(), OnDemandError> {
        for machine in machines {
            self.machine(machine)?;
        }
        match machines {
            [] => self.bindings.remove(&account),
            _ => {
                let names = machines.iter().map(|name| (*name).to_owned());
                self.bindings.insert(account, names.collect())
            }
        };
        Ok(())
    }

    /// Refuses a machine that an account is not bound to.
    pub(super) fn check_bound(
        &self,
        account: AccountId,
        machine: &str,
    ) -> Result<(), OnDemandError> {
        match self.bindings.get(&account) {
            Some(allowed) if !allowed.iter().any(|name| name == machine) => {
                Err(MachineError::Elsewhere {
                    account,
                    name: machine.to_owned(),
                    allowed: allowed.clone(),
                }
                .into())
            }
            _ => Ok(()),
        }
    }

    /// Sets the run time, in microseconds, of jobs that come from now on without any: for one
    /// machine, or with `None` for all that have none of their own.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn set_default_length(
        &mut self,
        machine: Option<&str>,
        length: Option<u64>,
    ) -> Result<(), OnDemandError> {
        match machine {
            Some(machine) => {
                let at = self.machine(machine)?;
                self.machines[at as usize].default_length = length;
            }
            None => self.default_length = length,
        }
        Ok(())
    }

    /// The run time of jobs for a machine that come without any.
    pub(super) fn default_length_of(&self, machine: u32) -> Option<u64> {
        self.machines[machine as usize]
            .default_length
            .or(self.default_length)
    }

    /// The same, by name.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn default_length(&self, machine: &str) -> Result<Option<u64>, OnDemandError> {
        Ok(self.default_length_of(self.machine(machine)?))
    }
}
