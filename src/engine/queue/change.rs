//! Changes in mid-life: shares and minutes, machines, the machines that accounts are bound to, and the
//! default of the maximum run time.

use super::competitors::check_minutes;
use super::error::QueueError;
use super::machine::check_slots;
use super::parts::Parts;
use super::{AccountRule, Queue, Settings};
use crate::engine::MachineError;
use crate::tree::{AssocId, Shares, Tree};

impl Queue {
    /// Goes on with another tree or other settings. Jobs stay, and use stays with its
    /// association by id; that of one which is gone counts no more, and nothing binds it. Where the
    /// settings count use from farther back than before, only what was still known counts.
    ///
    /// Rebuilds the queue: O(n log n).
    ///
    /// # Errors
    /// Those of [`Queue::new`]; when the association of a job is gone or has no shares,
    /// [`QueueError::UnknownAssoc`] and [`QueueError::NoShares`]; [`QueueError::TooMuchUse`].
    pub fn change(&mut self, tree: &Tree, settings: Settings) -> Result<(), QueueError> {
        let parts = Parts {
            tree: tree.clone(),
            settings,
            ..self.parts()
        };
        let changed = Queue::from_parts(parts)?;
        check_minutes(&changed.tree, &changed.settings)?;
        *self = changed;
        Ok(())
    }

    /// Gives an association other shares; as [`Queue::change`] otherwise. They have no effect while
    /// it has minutes.
    ///
    /// # Errors
    /// Those of [`Queue::change`] and [`Tree::set_shares`].
    pub fn set_shares(&mut self, assoc: AssocId, shares: Shares) -> Result<(), QueueError> {
        let mut tree = self.tree.clone();
        tree.set_shares(assoc, shares)?;
        self.change(&tree, self.settings.clone())
    }

    /// Gives an association minutes instead of its shares, or with `None` its shares again; as
    /// [`Queue::change`] otherwise.
    ///
    /// # Errors
    /// Those of [`Queue::change`].
    pub fn set_minutes(&mut self, assoc: AssocId, minutes: Option<u64>) -> Result<(), QueueError> {
        if self.tree.index_of(assoc).is_none() {
            return Err(QueueError::UnknownAccount { id: assoc });
        }
        let mut settings = self.settings.clone();
        let rules = &mut settings.accounts;
        match rules.iter_mut().find(|(id, _)| *id == assoc) {
            Some((_, rule)) => rule.minutes = minutes,
            None => {
                let counted = None;
                rules.push((assoc, AccountRule { minutes, counted }));
            }
        }
        rules.retain(|(_, rule)| *rule != AccountRule::default());
        let tree = self.tree.clone();
        self.change(&tree, settings)
    }

    /// Has a machine run `slots` jobs at a time from now on. Where more run, they continue, and none
    /// starts until fewer than that run.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`]; [`QueueError::Setting`] when `slots` is 0.
    pub fn set_slots(&mut self, machine: &str, slots: u32) -> Result<(), QueueError> {
        let at = self.machine(machine)?;
        check_slots(slots)?;
        self.machines[at as usize].slots = slots;
        Ok(())
    }

    /// Removes a machine for which no job waits and on which none runs. What was used there still
    /// counts, and its number is not used again.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`], [`MachineError::InUse`].
    pub fn remove_machine(&mut self, machine: &str) -> Result<(), QueueError> {
        let at = self.machine(machine)?;
        let found = &mut self.machines[at as usize];
        if found.waiting > 0 || found.running > 0 {
            return Err(MachineError::InUse {
                name: machine.to_owned(),
                waiting: found.waiting,
                running: found.running as usize,
                reservations: 0,
            }
            .into());
        }
        found.removed = true;
        self.names.remove(machine);
        Ok(())
    }

    /// Binds an association and all below it to machines: a job for another machine is refused.
    /// Without machines it is bound no more. Jobs that wait or run stay.
    ///
    /// # Errors
    /// [`QueueError::UnknownAccount`], [`MachineError::UnknownMachine`].
    pub fn bind(&mut self, assoc: AssocId, machines: &[&str]) -> Result<(), QueueError> {
        if self.tree.index_of(assoc).is_none() {
            return Err(QueueError::UnknownAccount { id: assoc });
        }
        for machine in machines {
            self.machine(machine)?;
        }
        match machines {
            [] => self.bindings.remove(&assoc),
            _ => {
                let names = machines.iter().map(|name| (*name).to_owned());
                self.bindings.insert(assoc, names.collect())
            }
        };
        Ok(())
    }

    /// Refuses a machine that an association, or an account above it, is not bound to.
    pub(super) fn check_bound(&self, assoc: AssocId, machine: u32) -> Result<(), QueueError> {
        let name = &self.machines[machine as usize].name;
        let assoc = self.tree.index_of(assoc);
        for up in self
            .tree
            .upward(assoc.filter(|_| !self.bindings.is_empty()))
        {
            let account = self.tree.rows()[up.get()].id;
            if let Some(allowed) = self.bindings.get(&account) {
                if !allowed.contains(name) {
                    return Err(MachineError::Elsewhere {
                        account,
                        name: name.clone(),
                        allowed: allowed.clone(),
                    }
                    .into());
                }
            }
        }
        Ok(())
    }

    /// Sets the maximum run time, in microseconds, of jobs that come from now on with neither an
    /// expected nor a maximum run time: for one machine, or with `None` for all that have none of
    /// their own. Without a limit they are refused again.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn set_default_limit(
        &mut self,
        machine: Option<&str>,
        limit: Option<u64>,
    ) -> Result<(), QueueError> {
        match machine {
            Some(machine) => {
                let at = self.machine(machine)?;
                self.machines[at as usize].default_limit = limit;
            }
            None => self.default_limit = limit,
        }
        Ok(())
    }

    /// The maximum run time of jobs for a machine that come without any.
    pub(super) fn default_limit_of(&self, machine: u32) -> Option<u64> {
        self.machines[machine as usize]
            .default_limit
            .or(self.default_limit)
    }
}
