//! Predictions of an `ft_queue`: positions, start times, and standings of accounts; and its state.

use std::ffi::c_char;

use crate::engine::queue::QueueStanding;

use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::machine_queue::{self, EstimateRow};
use super::queue::QueueHandle;
use super::view::{self, Out, OutArray, Plain};

/// What an association stands at.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StandingRow {
    /// Used by it and all below it, as far as it counts now: units times microseconds, of which
    /// these are the lower 64 bits. Jobs that run count up to now.
    pub used: u64,
    /// The upper 64 bits of the same: 0 but for very long or wide use.
    pub used_high: u64,
    /// What it is entitled to, rounded: its part of what the capacity gives in the window, or its
    /// minutes, in the same unit.
    pub entitled: f64,
    /// Used over entitled as jobs are chosen, rounded: with FT_CHOICE_INTERLEAVED jobs that run
    /// count with their expected time. Infinity for one that is entitled to nothing.
    pub ratio: f64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for StandingRow {}

impl From<&QueueStanding> for StandingRow {
    fn from(found: &QueueStanding) -> StandingRow {
        StandingRow {
            used: found.used as u64,
            used_high: (found.used >> 64) as u64,
            entitled: found.entitled.to_f64(),
            ratio: found.ratio.rounded(),
        }
    }
}

/// Tells how many jobs wait for a machine.
///
/// `found`: receives the number.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: any number may read one queue at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_waiting(
    queue: *const QueueHandle,
    machine: *const c_char,
    found: *mut usize,
) -> i32 {
    guard::status("ft_queue_waiting", || {
        // SAFETY: the caller passes a live handle that no other thread changes, and a terminated
        // string.
        let (model, machine) = unsafe {
            (
                handle::shared(queue, "queue")?,
                view::string(machine, "machine")?,
            )
        };
        let out = Out::new(found, "found")?;
        let waiting = model.waiting(machine)?;
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(waiting) };
        Ok(())
    })
}

/// Tells the place of a waiting job among those that wait for its machine, as
/// ft_queue_positions() orders them at the latest moment that the queue was told.
///
/// For many jobs call ft_queue_positions() once: one place costs as much as all of them.
///
/// `position`: receives the place, 0 for the next job.
///
/// Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: any number may read one queue at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_position(
    queue: *const QueueHandle,
    job: u64,
    position: *mut usize,
) -> i32 {
    guard::status("ft_queue_position", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(queue, "queue")? };
        let out = Out::new(position, "position")?;
        let position = model.position(job)?;
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(position) };
        Ok(())
    })
}

/// Orders all jobs that wait for a machine, first to last.
///
/// With FT_CHOICE_INTERLEAVED this is the order in which they would start if each were charged
/// its expected use at once; with FT_CHOICE_STRICT the order by present ratios.
///
/// `jobs`: receives their ids. `jobs_len`: how many fit; (NULL, 0) to learn the number first.
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
/// FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_positions(
    queue: *mut QueueHandle,
    machine: *const c_char,
    now_micros: i64,
    jobs: *mut u64,
    jobs_len: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_queue_positions", || {
        // SAFETY: the caller passes a live handle that no other thread uses, a terminated string, and
        // writable memory.
        unsafe { machine_queue::positions(queue, machine, now_micros, (jobs, jobs_len, found)) }
    })
}

/// Foretells when the jobs that wait for a machine will start, in this order.
///
/// All machines run on, each job for its expected time, or for its maximum if that is unknown, and
/// nothing comes; the row says which of the two was used. A job that has run longer than that
/// already ends now. Every run ends well. Machines that become idle at one moment choose one after
/// the other, in the order in which they were added: what a machine takes is charged before the
/// next one chooses.
///
/// `estimates`: receives one row per job. `estimates_len`: how many fit; (NULL, 0) to learn the
/// number first. `row_size`: sizeof(ft_estimate).
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
/// FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_estimate(
    queue: *mut QueueHandle,
    machine: *const c_char,
    now_micros: i64,
    estimates: *mut EstimateRow,
    estimates_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_queue_estimate", || {
        // SAFETY: the caller passes a live handle that no other thread uses, a terminated string, and
        // writable memory.
        unsafe {
            machine_queue::estimate(
                queue,
                machine,
                now_micros,
                (estimates, estimates_len, row_size, found),
            )
        }
    })
}

/// Tells what an association has used, is entitled to, and stands at. For one that shares as its
/// parent does this is the account that shares for it.
///
/// `standing`: receives it. `row_size`: sizeof(ft_standing).
///
/// Errors: FT_ERR_UNKNOWN_ID (it is not in the tree), FT_ERR_NO_SHARES (neither it nor an account
/// above it has shares, as with the root), FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_standing(
    queue: *mut QueueHandle,
    assoc: u32,
    now_micros: i64,
    standing: *mut StandingRow,
    row_size: usize,
) -> i32 {
    guard::status("ft_queue_standing", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        let out = OutArray::rows(standing, 1, row_size, "standing")?;
        if handle.get().tree().index_of(assoc).is_none() {
            return Err(Failure::new(
                Status::FT_ERR_UNKNOWN_ID,
                format!("assoc: association {assoc} is not in the tree"),
            ));
        }
        let found = handle.edit(|queue| queue.standing(assoc, now_micros));
        let found = found.ok_or_else(|| {
            Failure::new(
                Status::FT_ERR_NO_SHARES,
                format!("assoc: neither association {assoc} nor an account above it has shares"),
            )
        })?;
        // SAFETY: the caller passes a writable row.
        unsafe { out.write([StandingRow::from(&found)]) };
        Ok(())
    })
}

/// Saves all that a queue holds into bytes, for you to keep: tree, settings, machines, jobs, use.
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
pub unsafe extern "C" fn ft_queue_save(
    queue: *const QueueHandle,
    bytes: *mut u8,
    bytes_len: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_queue_save", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call, and
        // writable memory.
        unsafe { machine_queue::save(queue, bytes, bytes_len, found) }
    })
}

/// Makes the queue that was saved.
///
/// `bytes`: as from ft_queue_save(), of this version of the format.
/// `queue`: receives the queue, which is yours to free.
///
/// Errors: FT_ERR_STATE_DAMAGED, FT_ERR_STATE_VERSION, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_restore(
    bytes: *const u8,
    bytes_len: usize,
    queue: *mut *mut QueueHandle,
) -> i32 {
    guard::status("ft_queue_restore", || {
        // SAFETY: the caller passes readable bytes and a writable pointer.
        unsafe { machine_queue::restore(bytes, bytes_len, queue) }
    })
}
