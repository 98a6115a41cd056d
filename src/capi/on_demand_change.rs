//! Changes of an `ft_on_demand` in mid-life: prices, limits and removal of machines, ends of
//! reservations, bindings, and the default of the run time.

use std::ffi::c_char;

use crate::engine::on_demand::Prices;

use super::guard;
use super::handle;
use super::machine_queue::{self, names};
use super::on_demand::{OnDemandHandle, account, limit};
use super::view;

/// Changes the prices of a machine for runs that start, and reservations that begin, from now on.
/// What started or began before is billed at the prices that it had.
///
/// `execution_price`, `reserved_price`: as for ft_on_demand_add_machine().
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_set_prices(
    queue: *mut OnDemandHandle,
    machine: *const c_char,
    execution_price: u64,
    reserved_price: u64,
    now_micros: i64,
) -> i32 {
    guard::status("ft_on_demand_set_prices", || {
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
        handle.edit(|queue| queue.set_prices(machine, prices, now_micros))?;
        Ok(())
    })
}

/// Changes how many on-demand jobs may wait for a machine. Jobs that wait already stay.
///
/// `limit`: how many; FT_UNLIMITED: any number.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_limit_machine(
    queue: *mut OnDemandHandle,
    machine: *const c_char,
    limit: u32,
) -> i32 {
    guard::status("ft_on_demand_limit_machine", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a terminated string.
        let (mut handle, machine) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                view::string(machine, "machine")?,
            )
        };
        handle.edit(|queue| queue.set_limit(machine, self::limit(limit)))?;
        Ok(())
    })
}

/// Removes a machine without jobs and without reservations that are not over. What was used there
/// is still billed. Its number is not used again; its name may be.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_IN_USE (end what it has first: ft_on_demand_jobs() and
/// ft_on_demand_reservations() have it), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_remove_machine(
    queue: *mut OnDemandHandle,
    machine: *const c_char,
    now_micros: i64,
) -> i32 {
    guard::status("ft_on_demand_remove_machine", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a terminated string.
        let (mut handle, machine) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                view::string(machine, "machine")?,
            )
        };
        handle.edit(|queue| queue.remove_machine(machine, now_micros))?;
        Ok(())
    })
}

/// Shortens or extends a reservation that is not over. Jobs of it that still wait become on-demand
/// jobs at the new end, and it is billed by its new length.
///
/// `end_micros`: its new end, whole seconds after its start, at least 1; not before now.
///
/// Errors: FT_ERR_UNKNOWN_RESERVATION, FT_ERR_RANGE (its length), FT_ERR_TIME (it would have ended
/// already), FT_ERR_OVERLAP (with the next one of the machine), FT_ERR_NULL, FT_ERR_ALIGN,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_set_reservation_end(
    queue: *mut OnDemandHandle,
    reservation: u64,
    end_micros: i64,
    now_micros: i64,
) -> i32 {
    guard::status("ft_on_demand_set_reservation_end", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        handle.edit(|queue| queue.set_reservation_end(reservation, end_micros, now_micros))?;
        Ok(())
    })
}

/// Binds an account to machines: a job or a reservation elsewhere is refused with
/// FT_ERR_ELSEWHERE. Present jobs and reservations stay.
///
/// `account`: any number except FT_NONE.
/// `machines`: names. `machines_len`: how many; (NULL, 0): bound no more.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_RANGE (FT_NONE as an account), FT_ERR_UTF8, FT_ERR_NULL,
/// FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_bind(
    queue: *mut OnDemandHandle,
    account: u32,
    machines: *const *const c_char,
    machines_len: usize,
) -> i32 {
    guard::status("ft_on_demand_bind", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and terminated strings.
        let (mut handle, machines) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                names(machines, machines_len, "machines")?,
            )
        };
        let account = self::account(account, "account")?;
        handle.edit(|queue| queue.bind(account, &machines))?;
        Ok(())
    })
}

/// Sets the run time, for estimates, of jobs that come from now on with expected_micros 0.
///
/// `machine`: the machine; NULL: all machines that have none of their own.
/// `limit_micros`: the time; 0: none.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_set_default_limit(
    queue: *mut OnDemandHandle,
    machine: *const c_char,
    limit_micros: u64,
) -> i32 {
    guard::status("ft_on_demand_set_default_limit", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and NULL or a terminated
        // string.
        let (mut handle, machine) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                machine_queue::machine_or_all(machine)?,
            )
        };
        let length = (limit_micros != 0).then_some(limit_micros);
        handle.edit(|queue| queue.set_default_length(machine, length))?;
        Ok(())
    })
}
