//! Changes of an `ft_queue` in mid-life: shares and minutes of one association, machines, bindings, and
//! the default of the maximum run time.

use std::ffi::c_char;

use crate::engine::queue::Queue;

use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::machine_queue::{self, names};
use super::queue::{QueueHandle, given_minutes, slots_failure};
use super::tree::shares;
use super::view;

/// Refuses an association that is not in the tree of a queue.
fn check_known(queue: &Queue, assoc: u32) -> Result<(), Failure> {
    match queue.tree().index_of(assoc) {
        Some(_) => Ok(()),
        None => Err(Failure::new(
            Status::FT_ERR_UNKNOWN_ID,
            format!("assoc: association {assoc} is not in the tree"),
        )),
    }
}

/// Gives an association other shares: ft_queue_change() without the whole tree. While it has
/// minutes, shares have no effect.
///
/// Rebuilds the queue, in a time that grows with its jobs and associations.
///
/// `raw_shares`: 0..FT_SHARES_MAX, or FT_SHARES_PARENT.
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_SHARES, FT_ERR_ROOT, FT_ERR_CONFIG (it has a rule of its own
/// and would share as its parent does), FT_ERR_NO_SHARES (of the association of a job),
/// FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_set_shares(
    queue: *mut QueueHandle,
    assoc: u32,
    raw_shares: u32,
) -> i32 {
    guard::status("ft_queue_set_shares", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        let shares = shares(assoc, raw_shares)?;
        handle.edit(|queue| queue.set_shares(assoc, shares))?;
        Ok(())
    })
}

/// Gives an association minutes instead of shares, or its shares again: ft_queue_change() without
/// the whole tree. How its use counts stays.
///
/// Rebuilds the queue, in a time that grows with its jobs and associations.
///
/// `has_minutes`: 1: it has minutes; 0: it has its shares. `minutes`: 0..1000000000000; 0 without
/// has_minutes. Children with minutes may have no more together than their parent.
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_ENUM, FT_ERR_RANGE, FT_ERR_CONFIG (more minutes than the
/// parent has, use since a moment without minutes, or an association that does not compete),
/// FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_set_minutes(
    queue: *mut QueueHandle,
    assoc: u32,
    has_minutes: u32,
    minutes: u64,
) -> i32 {
    guard::status("ft_queue_set_minutes", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        check_known(handle.get(), assoc)?;
        let minutes = given_minutes(has_minutes, minutes, "minutes")?;
        handle.edit(|queue| queue.set_minutes(assoc, minutes))?;
        Ok(())
    })
}

/// Changes how many jobs a machine runs at a time. Where more run, they continue, and none starts
/// until fewer than that run.
///
/// `machine`: its name. `slots`: from 1 up.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_CONFIG (no slots), FT_ERR_UTF8, FT_ERR_NULL,
/// FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_set_slots(
    queue: *mut QueueHandle,
    machine: *const c_char,
    slots: u32,
) -> i32 {
    guard::status("ft_queue_set_slots", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a terminated string.
        let (mut handle, machine) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                view::string(machine, "machine")?,
            )
        };
        let set = handle.edit(|queue| queue.set_slots(machine, slots));
        set.map_err(slots_failure)
    })
}

/// Removes a machine for which no job waits and on which none runs. What was used there still
/// counts. Its number is not used again; its name may be.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_IN_USE (cancel or finish its jobs first: ft_queue_jobs()
/// has them), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_remove_machine(
    queue: *mut QueueHandle,
    machine: *const c_char,
) -> i32 {
    guard::status("ft_queue_remove_machine", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a terminated string.
        let (mut handle, machine) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                view::string(machine, "machine")?,
            )
        };
        handle.edit(|queue| queue.remove_machine(machine))?;
        Ok(())
    })
}

/// Binds an association and all below it to machines: a job for another machine is refused with
/// FT_ERR_ELSEWHERE. Where an association and one above it are bound, both bindings hold. Jobs
/// that wait or run stay where they are.
///
/// `machines`: names. `machines_len`: how many; (NULL, 0): bound no more.
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
/// FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_bind(
    queue: *mut QueueHandle,
    assoc: u32,
    machines: *const *const c_char,
    machines_len: usize,
) -> i32 {
    guard::status("ft_queue_bind", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and terminated strings.
        let (mut handle, machines) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                names(machines, machines_len, "machines")?,
            )
        };
        check_known(handle.get(), assoc)?;
        handle.edit(|queue| queue.bind(assoc, &machines))?;
        Ok(())
    })
}

/// Sets the maximum run time of jobs that come from now on with neither an expected nor a maximum
/// run time. Without such a default they are refused.
///
/// `machine`: the machine; NULL: all machines that have none of their own.
/// `limit_micros`: the time; 0: none.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_set_default_limit(
    queue: *mut QueueHandle,
    machine: *const c_char,
    limit_micros: u64,
) -> i32 {
    guard::status("ft_queue_set_default_limit", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and NULL or a terminated
        // string.
        let (mut handle, machine) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                machine_queue::machine_or_all(machine)?,
            )
        };
        let limit = (limit_micros != 0).then_some(limit_micros);
        handle.edit(|queue| queue.set_default_limit(machine, limit))?;
        Ok(())
    })
}
