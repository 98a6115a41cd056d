//! `ft_on_demand`: first come, first served, and reservations first. Machines, limits and
//! reservations, and the queue's life.

use std::ffi::c_char;

use crate::engine::Finished;
use crate::engine::on_demand::{Estimate, Next, OnDemand, OnDemandError, Prices};
use crate::usage::EndState;

use super::error::{Failure, Status};
use super::guard;
use super::handle::{self, Handle};
use super::machine_queue::{self, EstimateRow, MachineQueue, NextKind, ProxyKind, outcomes};
use super::site::FT_UNLIMITED;
use super::tree::FT_NONE;
use super::view::{self, Out};

/// An on-demand queue: machines that accounts reserve for a time and that run all accounts' jobs
/// otherwise, first come, first served; and what each account owes.
///
/// A job that the owner of a reservation submits to its machine while it runs is a job of the
/// reservation. Every other job is on-demand, and stays so. Jobs of the running reservation go
/// first, also side by side where their parts of the machine are disjoint, and past one that waits
/// for parts that they do not use; where one waits and an on-demand job runs, ft_on_demand_next()
/// says to halt that one: it goes back to the very place that it had, costs nothing and starts
/// again. When a reservation ends, jobs of it that still wait become on-demand jobs of that
/// moment, within the limits; one that runs goes on.
///
/// Times are MICROseconds since 1970 and their names end with _micros. An earlier moment than the
/// latest one that the queue was told counts as the latest. A call that fails leaves the queue as
/// it was: no time passes.
/// Made by ft_on_demand_new(), ft_on_demand_restore(); freed by ft_on_demand_free().
pub struct OnDemandHandle {
    _opaque: [u8; 0],
}

impl Handle for OnDemandHandle {
    const TAG: u64 = 0x6674_5f6f_6e5f_6405;
    const NAME: &'static str = "ft_on_demand";
    type Model = OnDemand;
}

impl From<OnDemandError> for Failure {
    fn from(error: OnDemandError) -> Failure {
        let (status, argument) = match error {
            OnDemandError::Full { .. } => (Status::FT_ERR_FULL, "job"),
            OnDemandError::NotHalted { .. } => (Status::FT_ERR_NOT_ON_DEMAND, "job"),
            OnDemandError::Busy { .. } => (Status::FT_ERR_BUSY, "job"),
            OnDemandError::ReservationTwice { .. } => {
                (Status::FT_ERR_DUPLICATE_RESERVATION, "reservation")
            }
            OnDemandError::UnknownReservation { .. } => {
                (Status::FT_ERR_UNKNOWN_RESERVATION, "reservation")
            }
            OnDemandError::Length { .. } => (Status::FT_ERR_RANGE, "end_micros"),
            OnDemandError::Past { .. } => (Status::FT_ERR_TIME, "start_micros"),
            OnDemandError::Over { .. } => (Status::FT_ERR_TIME, "end_micros"),
            OnDemandError::Overlap { .. } => (Status::FT_ERR_OVERLAP, "reservation"),
            OnDemandError::Begun { .. } => (Status::FT_ERR_TIME, "reservation"),
            OnDemandError::Machine(error) => return error.into(),
        };
        Failure::new(status, format!("{argument}: {error}"))
    }
}

impl MachineQueue for OnDemand {
    type Error = OnDemandError;

    fn next(&mut self, machine: &str, now: i64) -> Result<(NextKind, u64), OnDemandError> {
        Ok(match OnDemand::next(self, machine, now)? {
            Next::Job(id) => (NextKind::FT_NEXT_JOB, id),
            Next::Halt(id) => (NextKind::FT_NEXT_HALT, id),
            Next::NoneWaits => (NextKind::FT_NEXT_NONE_WAITS, 0),
            Next::Paused => (NextKind::FT_NEXT_PAUSED, 0),
            Next::Busy => (NextKind::FT_NEXT_BUSY, 0),
        })
    }

    fn start(&mut self, job: u64, now: i64) -> Result<(), OnDemandError> {
        OnDemand::start(self, job, now)
    }

    fn finish(
        &mut self,
        job: u64,
        (end, code): (EndState, u32),
        executed: i64,
        now: i64,
    ) -> Result<Finished, OnDemandError> {
        OnDemand::finish(self, job, end, code, executed, now)
    }

    fn set_paused(&mut self, machine: &str, paused: bool) -> Result<(), OnDemandError> {
        OnDemand::set_paused(self, machine, paused)
    }

    fn count_waiting(&mut self, machine: &str, now: i64) -> Result<usize, OnDemandError> {
        OnDemand::count_waiting(self, machine, now)
    }

    fn positions(&mut self, machine: &str, now: i64) -> Result<Vec<u64>, OnDemandError> {
        OnDemand::positions(self, machine, now)
    }

    fn estimates(&mut self, machine: &str, now: i64) -> Result<Vec<EstimateRow>, OnDemandError> {
        let row = |found: &Estimate| EstimateRow {
            job: found.job,
            start_micros: found.start.unwrap_or(0),
            starts: found.start.is_some().into(),
            proxy: ProxyKind::FT_PROXY_EXPECTED as u32,
        };
        Ok(self.estimate(machine, now)?.iter().map(row).collect())
    }

    fn save(&self) -> Vec<u8> {
        OnDemand::save(self)
    }

    fn restore(bytes: &[u8]) -> Result<OnDemand, OnDemandError> {
        OnDemand::restore(bytes)
    }
}

/// A limit, or none.
pub(super) fn limit(limit: u32) -> Option<u32> {
    (limit != FT_UNLIMITED).then_some(limit)
}

/// Accounts may be any numbers except FT_NONE.
pub(super) fn account(id: u32, argument: &str) -> Result<u32, Failure> {
    match id {
        FT_NONE => Err(Failure::new(
            Status::FT_ERR_RANGE,
            format!("{argument} cannot be FT_NONE"),
        )),
        id => Ok(id),
    }
}

/// Makes an on-demand queue without machines.
///
/// `billed`: which ends of on-demand runs are billed, in the words of enum ft_end without
/// FT_END_: "COMPLETED,TIMEOUT"; "ALL": all of them. NULL: "COMPLETED".
/// `now_micros`: now, in microseconds since 1970.
/// `queue`: receives the queue, which is yours to free.
///
/// Errors: FT_ERR_CONFIG, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_new(
    billed: *const c_char,
    now_micros: i64,
    queue: *mut *mut OnDemandHandle,
) -> i32 {
    guard::status("ft_on_demand_new", || {
        // SAFETY: the caller passes NULL or a terminated string.
        let billed = unsafe { outcomes(billed, OnDemand::default_billed(), "billed")? };
        let out = Out::new(queue, "queue")?;
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(handle::new(OnDemand::new(billed, now_micros))) };
        Ok(())
    })
}

/// Frees an on-demand queue. NULL is harmless; freeing one twice is not.
///
/// Threads: no other thread may use the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ft_on_demand_free(queue: *mut OnDemandHandle) {
    guard::value("ft_on_demand_free", (), || {
        // SAFETY: the caller passes NULL or a handle of its own and does not use it again.
        unsafe { handle::free(queue) };
    });
}

/// Adds a machine. Its number is how many were added before, also those that were removed: 0 for
/// the first one.
///
/// `machine`: its name.
/// `limit`: how many on-demand jobs may wait for it; FT_UNLIMITED: any number.
/// `execution_price`: for a microsecond that an on-demand job was executed.
/// `reserved_price`: for a second that was reserved. Prices are in a unit of your choice.
///
/// Errors: FT_ERR_DUPLICATE_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_add_machine(
    queue: *mut OnDemandHandle,
    machine: *const c_char,
    limit: u32,
    execution_price: u64,
    reserved_price: u64,
) -> i32 {
    guard::status("ft_on_demand_add_machine", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a terminated string.
        let (mut handle, machine) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                view::string(machine, "machine")?,
            )
        };
        let prices = Prices {
            execution_microsecond: execution_price,
            reserved_second: reserved_price,
        };
        handle.edit(|queue| queue.add_machine(machine, self::limit(limit), prices))?;
        Ok(())
    })
}

/// Begins or ends maintenance. A paused machine gives no job; what runs there is your business.
///
/// `paused`: 1: begins; 0: ends.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_ENUM, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_set_paused(
    queue: *mut OnDemandHandle,
    machine: *const c_char,
    paused: u32,
) -> i32 {
    guard::status("ft_on_demand_set_paused", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a terminated string.
        unsafe { machine_queue::set_paused(queue, machine, paused) }
    })
}

/// Limits how many on-demand jobs of an account may wait, for all machines together. Jobs that
/// wait already stay.
///
/// `account`: the account; FT_NONE: every one that has no limit of its own.
/// `limit`: how many; FT_UNLIMITED: any number, as without this call.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_limit_account(
    queue: *mut OnDemandHandle,
    account: u32,
    limit: u32,
) -> i32 {
    guard::status("ft_on_demand_limit_account", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        let account = (account != FT_NONE).then_some(account);
        handle.edit(|queue| queue.limit_account(account, self::limit(limit)));
        Ok(())
    })
}

/// Reserves a machine for an account, from start_micros until before end_micros.
///
/// `reservation`: an id of your choice, unique among those that are not over.
/// `start_micros`: not before now. `end_micros`: whole seconds later, at least 1.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_ELSEWHERE (the account is bound to other machines),
/// FT_ERR_DUPLICATE_RESERVATION, FT_ERR_OVERLAP, FT_ERR_TIME (it would start in the past),
/// FT_ERR_RANGE (its length, or FT_NONE as an account), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_reserve(
    queue: *mut OnDemandHandle,
    reservation: u64,
    machine: *const c_char,
    account: u32,
    start_micros: i64,
    end_micros: i64,
    now_micros: i64,
) -> i32 {
    guard::status("ft_on_demand_reserve", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a terminated string.
        let (mut handle, machine) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                view::string(machine, "machine")?,
            )
        };
        let owner = self::account(account, "account")?;
        let period = (start_micros, end_micros);
        handle.edit(|queue| queue.reserve(reservation, machine, owner, period, now_micros))?;
        Ok(())
    })
}

/// Cancels a reservation that has not begun; it costs nothing.
///
/// Errors: FT_ERR_UNKNOWN_RESERVATION, FT_ERR_TIME (it has begun), FT_ERR_NULL, FT_ERR_ALIGN,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_cancel_reservation(
    queue: *mut OnDemandHandle,
    reservation: u64,
    now_micros: i64,
) -> i32 {
    guard::status("ft_on_demand_cancel_reservation", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        handle.edit(|queue| queue.cancel_reservation(reservation, now_micros))?;
        Ok(())
    })
}

/// Lets time pass: reservations end. Every other call with a moment does so first, unless it
/// fails.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_advance(queue: *mut OnDemandHandle, now_micros: i64) -> i32 {
    guard::status("ft_on_demand_advance", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        handle.edit(|queue| queue.advance(now_micros));
        Ok(())
    })
}

/// Saves all that an on-demand queue holds into bytes, for you to keep: machines, limits,
/// reservations, jobs and what is billed.
///
/// The bytes have a version and a checksum, and are the same on every machine.
///
/// `bytes`: receives them. `bytes_len`: how many fit; (NULL, 0) to learn the number first.
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: any number may read one queue at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_save(
    queue: *const OnDemandHandle,
    bytes: *mut u8,
    bytes_len: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_on_demand_save", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call, and
        // writable memory.
        unsafe { machine_queue::save(queue, bytes, bytes_len, found) }
    })
}

/// Makes the on-demand queue that was saved.
///
/// `bytes`: as from ft_on_demand_save(), of this version of the format.
/// `queue`: receives the queue, which is yours to free.
///
/// Errors: FT_ERR_STATE_DAMAGED, FT_ERR_STATE_VERSION, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_restore(
    bytes: *const u8,
    bytes_len: usize,
    queue: *mut *mut OnDemandHandle,
) -> i32 {
    guard::status("ft_on_demand_restore", || {
        // SAFETY: the caller passes readable bytes and a writable pointer.
        unsafe { machine_queue::restore(bytes, bytes_len, queue) }
    })
}
