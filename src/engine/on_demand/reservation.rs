//! Reservations: a machine, its owner for a time, and what is left at the end.

use std::ops::Bound;

use super::bill::{BillLine, Billed, seconds};
use super::error::OnDemandError;
use super::{AccountId, Job, OnDemand};
use crate::engine::queue::{Micros, SECOND};

/// A machine is an account's from `start` until before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reservation {
    pub machine: u32,
    pub owner: AccountId,
    pub start: Micros,
    pub end: Micros,
    /// Price of a second, where the price of the machine has changed since it began.
    pub price: Option<u64>,
}

impl OnDemand {
    /// Reserves a machine from `start` until before `end`, which is whole seconds later.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`](crate::engine::MachineError::UnknownMachine),
    /// [`MachineError::Elsewhere`](crate::engine::MachineError::Elsewhere),
    /// [`OnDemandError::ReservationTwice`], [`OnDemandError::Length`], [`OnDemandError::Past`],
    /// [`OnDemandError::Overlap`].
    pub fn reserve(
        &mut self,
        reservation: u64,
        machine: &str,
        owner: AccountId,
        (start, end): (Micros, Micros),
        now: Micros,
    ) -> Result<(), OnDemandError> {
        let at = self.machine(machine)?;
        let made = Reservation {
            machine: at,
            owner,
            start,
            end,
            price: None,
        };
        self.check_bound(owner, machine)?;
        self.at(now, |queue| queue.check(reservation, &made))?;
        self.book(reservation, made);
        Ok(())
    }

    /// Refuses a reservation that cannot be made now.
    fn check(&self, reservation: u64, made: &Reservation) -> Result<(), OnDemandError> {
        if self.reservations.contains_key(&reservation) {
            return Err(OnDemandError::ReservationTwice { reservation });
        }
        let (start, now) = (made.start, self.now);
        check_length(reservation, start, made.end)?;
        if start < now {
            return Err(OnDemandError::Past {
                reservation,
                start,
                now,
            });
        }
        match self.overlapping(made) {
            Some(other) => Err(OnDemandError::Overlap {
                reservation,
                other,
                name: self.machines[made.machine as usize].name.clone(),
            }),
            None => Ok(()),
        }
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

    /// Shortens or extends a reservation that is not over: it ends at `end`, whole seconds after its
    /// start and not before now. Jobs of it that wait become on-demand jobs at the new end. It is
    /// billed by its new length.
    ///
    /// # Errors
    /// [`OnDemandError::UnknownReservation`], [`OnDemandError::Length`], [`OnDemandError::Over`],
    /// [`OnDemandError::Overlap`].
    pub fn set_reservation_end(
        &mut self,
        reservation: u64,
        end: Micros,
        now: Micros,
    ) -> Result<(), OnDemandError> {
        self.at(now, |queue| {
            let found = queue.reservations.get(&reservation).copied();
            let found = found.ok_or(OnDemandError::UnknownReservation { reservation })?;
            check_length(reservation, found.start, end)?;
            let now = queue.now;
            if end < now {
                return Err(OnDemandError::Over {
                    reservation,
                    end,
                    now,
                });
            }
            let machine = &queue.machines[found.machine as usize];
            let later = (Bound::Excluded(found.start), Bound::Excluded(end));
            if let Some((_, &other)) = machine.reserved.range(later).next() {
                return Err(OnDemandError::Overlap {
                    reservation,
                    other,
                    name: machine.name.clone(),
                });
            }
            queue.drop_reservation(reservation, &found);
            queue.book(reservation, Reservation { end, ..found });
            Ok(())
        })?;
        // It may end at this very moment.
        self.pass(now);
        Ok(())
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
        self.at(now, |queue| {
            let found = queue.reservations.get(&reservation).copied();
            let found = found.ok_or(OnDemandError::UnknownReservation { reservation })?;
            if found.start <= queue.now {
                let start = found.start;
                return Err(OnDemandError::Begun { reservation, start });
            }
            queue.drop_reservation(reservation, &found);
            Ok(())
        })
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
    /// a moment does so first, unless it fails: then no time has passed.
    pub fn advance(&mut self, now: Micros) {
        self.pass(now);
    }

    /// Calls `call` at a moment. Where that fails, the queue is as it was before; `call` has
    /// changed nothing then.
    pub(super) fn at<T>(
        &mut self,
        now: Micros,
        call: impl FnOnce(&mut OnDemand) -> Result<T, OnDemandError>,
    ) -> Result<T, OnDemandError> {
        let passed = self.pass(now);
        let result = call(self);
        if result.is_err() {
            self.undo(passed);
        }
        result
    }

    /// Looks at the queue as it will be at a moment, if nothing comes.
    pub(super) fn foreseen<T>(&mut self, now: Micros, look: impl FnOnce(&OnDemand) -> T) -> T {
        let passed = self.pass(now);
        let seen = look(self);
        self.undo(passed);
        seen
    }

    fn pass(&mut self, now: Micros) -> Passed {
        let mut passed = Passed {
            since: self.now,
            refused: self.refused.len(),
            ..Passed::default()
        };
        self.now = self.now.max(now);
        while let Some(&(end, reservation)) = self.ends.first().filter(|first| first.0 <= self.now)
        {
            let ended = self.reservations[&reservation];
            self.drop_reservation(reservation, &ended);
            let prices = self.machines[ended.machine as usize].prices;
            let line = BillLine {
                account: ended.owner,
                machine: ended.machine,
                billed: Billed::Reserved(seconds(end - ended.start)),
                price: ended.price.unwrap_or(prices.reserved_second),
            };
            self.ledger.add(end, line);
            passed.ended.push((reservation, ended));
            let left = std::mem::take(&mut self.machines[ended.machine as usize].in_reservation);
            for (_, id) in left {
                passed.left.push((id, self.jobs[&id].clone()));
                self.leave_over(id, end);
            }
        }
        passed
    }

    /// Undoes [`OnDemand::pass`], right after it.
    fn undo(&mut self, passed: Passed) {
        for (id, job) in passed.left {
            if self.jobs.contains_key(&id) {
                self.leave_line(id);
            }
            self.jobs.insert(id, job);
            self.wait(id);
        }
        for (id, reservation) in passed.ended.into_iter().rev() {
            self.ledger.take_last(reservation.end);
            self.book(id, reservation);
        }
        self.refused.truncate(passed.refused);
        self.now = passed.since;
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

/// Refuses a length that is not whole seconds, at least 1.
fn check_length(reservation: u64, start: Micros, end: Micros) -> Result<(), OnDemandError> {
    let micros = i128::from(end) - i128::from(start);
    match i64::try_from(micros).is_ok_and(|length| length > 0 && length % SECOND == 0) {
        true => Ok(()),
        false => Err(OnDemandError::Length {
            reservation,
            micros,
        }),
    }
}

/// What changed when time passed.
#[derive(Debug, Default)]
struct Passed {
    since: Micros,
    /// How many jobs had been refused before.
    refused: usize,
    /// Reservations that ended.
    ended: Vec<(u64, Reservation)>,
    /// Jobs that waited then, as they were.
    left: Vec<(u64, Job)>,
}
