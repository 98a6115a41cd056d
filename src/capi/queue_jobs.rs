//! Jobs of an `ft_queue`: they wait, start and end.

use std::ffi::c_char;

use crate::engine::queue::NewJob;

use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::held_jobs::{FinishedRow, finished_out};
use super::machine_queue::{self, ended};
use super::queue::QueueHandle;
use super::view::{self, Plain};

/// A job that begins to wait.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct QueueJobRow {
    /// sizeof(ft_queue_job).
    pub struct_size: usize,
    /// Unique among the jobs that wait or run.
    pub id: u64,
    /// The association it is charged to: a user or an account.
    pub assoc: u32,
    /// Units that it uses at a time, from 1 up; 1 for a machine that runs one job.
    pub rate: u32,
    /// The machine that it waits for.
    pub machine: *const c_char,
    /// When it was submitted.
    pub submit_micros: i64,
    /// Added by the user to come later among the jobs of the same leaf.
    pub nice: i64,
    /// How long it is expected to run; 0: unknown.
    pub expected_micros: u64,
    /// How long it may run at most, which is used if the expected time is unknown; 0: no limit.
    /// One of the two must be there, or a default: ft_queue_set_default_limit().
    pub limit_micros: u64,
}

// SAFETY: numbers, and a pointer that is checked before it is followed.
unsafe impl Plain for QueueJobRow {}

/// Adds a job that waits.
///
/// `job`: the job; a copy is kept.
///
/// Errors: FT_ERR_DUPLICATE_JOB, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UNKNOWN_ID, FT_ERR_NO_SHARES,
/// FT_ERR_ELSEWHERE (its account is bound to other machines), FT_ERR_RANGE (no rate, or neither an
/// expected nor a maximum time); FT_ERR_STRUCT_SIZE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN,
/// FT_ERR_LENGTH, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_add_job(queue: *mut QueueHandle, job: *const QueueJobRow) -> i32 {
    guard::status("ft_queue_add_job", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a readable struct.
        let (mut handle, row) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                view::options(job, "job")?,
            )
        };
        // SAFETY: the caller passes a terminated string.
        let machine = unsafe { view::string(row.machine, "job.machine")? };
        if row.rate == 0 {
            let why = format!("job.rate: job {} uses no units, but must use one", row.id);
            return Err(Failure::new(Status::FT_ERR_RANGE, why));
        }
        let known = |micros: u64| (micros != 0).then_some(micros);
        let new = NewJob {
            id: row.id,
            assoc: row.assoc,
            machine,
            submit: row.submit_micros,
            nice: row.nice,
            expected: known(row.expected_micros),
            limit: known(row.limit_micros),
            rate: row.rate,
        };
        handle.edit(|queue| queue.add(&new))?;
        Ok(())
    })
}

/// Tells which job a machine is to run; does not start it.
///
/// Costs little, however many jobs wait. The answer holds until something is reported or time
/// passes: after each start ask again.
///
/// `machine`: its name. `now_micros`: now.
/// `what`: receives FT_NEXT_JOB, or why there is none: FT_NEXT_NONE_WAITS, FT_NEXT_PAUSED or
/// FT_NEXT_BUSY.
/// `job`: receives the id of the job; 0 when there is none.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_next(
    queue: *mut QueueHandle,
    machine: *const c_char,
    now_micros: i64,
    what: *mut u32,
    job: *mut u64,
) -> i32 {
    guard::status("ft_queue_next", || {
        // SAFETY: the caller passes a live handle that no other thread uses, a terminated string, and
        // writable pointers.
        unsafe { machine_queue::next(queue, machine, now_micros, what, job) }
    })
}

/// A waiting job starts: the one that ft_queue_next() told, or any other of its machine.
///
/// Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_PAUSED, FT_ERR_BUSY, FT_ERR_RANGE (more
/// use than is counted, 2^126 units times microseconds, could come of it), FT_ERR_NULL,
/// FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_start(queue: *mut QueueHandle, job: u64, now_micros: i64) -> i32 {
    guard::status("ft_queue_start", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        unsafe { machine_queue::start(queue, job, now_micros) }
    })
}

/// A run has ended, and its job is gone. What it executed counts where such ends count, and
/// otherwise nothing of it does.
///
/// `end`: one of enum ft_end. `exit_code`: any; matters to FT_END_FAILED only.
/// `executed_micros`: how long it was on the machine, from its start on; from 0 up to what has
/// passed since.
/// `finished`: receives the bill of the run; what it cost is 0. `row_size`: sizeof(ft_finished).
/// (NULL, 0): not wanted.
///
/// Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_RUNNING, FT_ERR_TIME (it cannot have run for so long),
/// FT_ERR_ENUM, FT_ERR_STRUCT_SIZE, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_finish(
    queue: *mut QueueHandle,
    job: u64,
    end: u32,
    exit_code: u32,
    executed_micros: i64,
    now_micros: i64,
    finished: *mut FinishedRow,
    row_size: usize,
) -> i32 {
    guard::status("ft_queue_finish", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and NULL or a writable row.
        unsafe {
            machine_queue::finish(
                queue,
                job,
                (end, exit_code),
                executed_micros,
                now_micros,
                (finished, row_size),
            )
        }
    })
}

/// As ft_queue_finish(), but the job waits again, in the place that it had.
///
/// Errors: those of ft_queue_finish(): FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_RUNNING and so on.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_requeue(
    queue: *mut QueueHandle,
    job: u64,
    end: u32,
    exit_code: u32,
    executed_micros: i64,
    now_micros: i64,
    finished: *mut FinishedRow,
    row_size: usize,
) -> i32 {
    guard::status("ft_queue_requeue", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        let end = ended(end)?;
        let out = finished_out(finished, row_size)?;
        let told =
            handle.edit(|queue| queue.requeue(job, end, exit_code, executed_micros, now_micros))?;
        if let Some(out) = out {
            // SAFETY: the caller passes a writable row.
            unsafe { out.write([told.into()]) };
        }
        Ok(())
    })
}

/// A waiting job is gone. One that runs is ended by ft_queue_finish().
///
/// Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_cancel(queue: *mut QueueHandle, job: u64) -> i32 {
    guard::status("ft_queue_cancel", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        handle.edit(|queue| queue.cancel(job))?;
        Ok(())
    })
}
