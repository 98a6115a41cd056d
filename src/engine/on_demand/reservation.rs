//! Reservations: a machine, its owner for a time, and what is left at the end.

use super::bill::{Billed, seconds};
use super::error::OnDemandError;
use super::{AccountId, OnDemand};
use crate::engine::queue::{Micros, SECOND};

/// A machine is an account's from `start` until before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reservation {
    pub machine: u32,
    pub owner: AccountId,
    pub start: Micros,
    pub end: Micros,
}

impl OnDemand {
    /// Reserves a machine from `start` until before `end`, which is whole seconds later.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`](crate::engine::MachineError::UnknownMachine), [`OnDemandError::ReservationTwice`],
    /// [`OnDemandError::Length`], [`OnDemandError::Past`], [`OnDemandError::Overlap`].
    pub fn reserve(
        &mut self,
        reservation: u64,
        machine: &str,
        owner: AccountId,
        (start, end): (Micros, Micros),
        now: Micros,
    ) -> Result<(), OnDemandError> {
        let at = self.machine(machine)?;
        if self.reservations.contains_key(&reservation) {
            return Err(OnDemandError::ReservationTwice { reservation });
        }
        let micros = i128::from(end) - i128::from(start);
        let fits = i64::try_from(micros).is_ok_and(|length| length > 0 && length % SECOND == 0);
        if !fits {
            return Err(OnDemandError::Length {
                reservation,
                micros,
            });
        }
        let now = now.max(self.now);
        if start < now {
            return Err(OnDemandError::Past {
                reservation,
                start,
                now,
            });
        }
        let made = Reservation {
            machine: at,
            owner,
            start,
            end,
        };
        if let Some(other) = self.overlapping(&made) {
            return Err(OnDemandError::Overlap {
                reservation,
                other,
                name: machine.to_owned(),
            });
        }
        self.advance(now);
        self.book(reservation, made);
        Ok(())
    }

    /// One that is in the way of another.
    pub(super) fn overlapping(&self, new: &Reservation) -> Option<u64> {
        let reserved = &self.machines[new.machine as usize].reserved;
        let (_, &last) = reserved.range(..new.end).next_back()?;
        (self.reservations[&last].end > new.start).then_some(last)
    }

    pub(super) fn book(&mut self, id: u64, new: Reservation) {
        let reserved = &mut self.machines[new.machine as usize].reserved;
        reserved.insert(new.start, id);
        self.ends.insert((new.end, id));
        self.reservations.insert(id, new);
    }

    /// Cancels a reservation that has not begun; it costs nothing.
    ///
    /// # Errors
    /// [`OnDemandError::UnknownReservation`], [`OnDemandError::Begun`].
    pub fn cancel_reservation(
        &mut self,
        reservation: u64,
        now: Micros,
    ) -> Result<(), OnDemandError> {
        self.advance(now);
        let found = self.reservations.get(&reservation).copied();
        let found = found.ok_or(OnDemandError::UnknownReservation { reservation })?;
        if found.start <= self.now {
            let start = found.start;
            return Err(OnDemandError::Begun { reservation, start });
        }
        self.drop_reservation(reservation, &found);
        Ok(())
    }

    fn drop_reservation(&mut self, reservation: u64, dropped: &Reservation) {
        self.reservations.remove(&reservation);
        self.ends.remove(&(dropped.end, reservation));
        let reserved = &mut self.machines[dropped.machine as usize].reserved;
        reserved.remove(&dropped.start);
    }

    /// The reservation of a machine that runs now.
    pub(super) fn reservation_now(&self, machine: u32) -> Option<&Reservation> {
        let reserved = &self.machines[machine as usize].reserved;
        let (_, last) = reserved.range(..=self.now).next_back()?;
        Some(&self.reservations[last])
    }

    /// Time passes: reservations end, and what is left of them becomes on-demand. Every call with
    /// a moment does so first.
    pub fn advance(&mut self, now: Micros) {
        self.now = self.now.max(now);
        while let Some(&(end, reservation)) = self.ends.first().filter(|first| first.0 <= self.now)
        {
            let ended = self.reservations[&reservation];
            self.drop_reservation(reservation, &ended);
            let secs = seconds(end - ended.start);
            let billed = Billed::Reserved(secs);
            self.ledger.add(end, ended.owner, ended.machine, billed);
            let left = std::mem::take(&mut self.machines[ended.machine as usize].in_reservation);
            for (_, id) in left {
                self.leave_over(id, end);
            }
        }
    }

    /// A job that waits when its reservation ends.
    fn leave_over(&mut self, id: u64, end: Micros) {
        let job = self.jobs.get_mut(&id).expect("a job that is known");
        job.queued = Some(end);
        let (account, machine) = (job.account, job.machine);
        match self.check_room(account, machine) {
            Ok(()) => self.wait(id),
            Err(error) => {
                self.jobs.remove(&id);
                self.refused.push((id, error));
            }
        }
    }
}
