//! Jobs of an `ft_on_demand`: submitted, started, halted, ended, and what is foretold of them.

use std::ffi::c_char;

use crate::engine::on_demand::{Limit, NewJob, OnDemand, OnDemandError};

use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::held_jobs::FinishedRow;
use super::machine_queue::{self, EstimateRow};
use super::on_demand::{OnDemandHandle, account};
use super::out_list::OutList;
use super::tree::FT_NONE;
use super::view::{self, OutArray, Plain};

/// A job that is submitted to an on-demand queue.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OnDemandJobRow {
    /// sizeof(ft_on_demand_job).
    pub struct_size: usize,
    /// Unique among the jobs that wait or run.
    pub id: u64,
    /// Who pays: any number but FT_NONE.
    pub account: u32,
    /// Zero.
    pub reserved: u32,
    /// The machine that it waits for.
    pub machine: *const c_char,
    /// Numbers of the parts of the machine that it uses; (NULL, 0): all of it. Jobs of a
    /// reservation run side by side on disjoint parts.
    pub parts: *const u32,
    /// How many there are.
    pub parts_len: usize,
    /// How long it is expected to run, or may at most: for estimates. 0: the default
    /// (ft_on_demand_set_default_limit); without one no time.
    pub expected_micros: u64,
}

// SAFETY: numbers, and pointers that are checked before they are followed.
unsafe impl Plain for OnDemandJobRow {}

/// What became of a job that was submitted.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SubmittedRow {
    /// 1: a job of the reservation that runs; 0: an on-demand job.
    pub in_reservation: u32,
    /// 1: an on-demand job is to be halted for it; ft_on_demand_next() says so, too.
    pub must_halt: u32,
    /// The id of that job, or 0.
    pub halt: u64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for SubmittedRow {}

/// What limits waiting on-demand jobs.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LimitKind {
    /// Those of an account, for all machines.
    FT_LIMIT_ACCOUNT = 0,
    /// Those for a machine, of all accounts.
    FT_LIMIT_MACHINE = 1,
}

/// A job that is gone, as there was no room for it when its reservation ended.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RefusedRow {
    /// Its id.
    pub job: u64,
    /// Which limit: one of enum ft_limit.
    pub limit: u32,
    /// The account, or the number of the machine.
    pub whose: u32,
    /// How many jobs may wait.
    pub size: u32,
    /// How many did.
    pub waiting: u32,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for RefusedRow {}

/// The number of a machine that exists, or was removed.
fn machine_number(queue: &OnDemand, name: &str) -> u32 {
    queue.number_of(name).unwrap_or(FT_NONE)
}

impl RefusedRow {
    /// `None`: another error, which no refusal is.
    fn new(queue: &OnDemand, job: u64, error: &OnDemandError) -> Option<RefusedRow> {
        let OnDemandError::Full {
            limit,
            size,
            waiting,
        } = error
        else {
            return None;
        };
        let (kind, whose) = match limit {
            Limit::Account(account) => (LimitKind::FT_LIMIT_ACCOUNT, *account),
            Limit::Machine(name) => (LimitKind::FT_LIMIT_MACHINE, machine_number(queue, name)),
        };
        Some(RefusedRow {
            job,
            limit: kind as u32,
            whose,
            size: *size,
            waiting: *waiting,
        })
    }
}

/// Submits a job: one of a reservation if the account owns the reservation that runs on the
/// machine at this moment, otherwise an on-demand job.
///
/// `job`: the job; a copy is kept.
/// `submitted`: receives which of the two it is. `row_size`: sizeof(ft_submitted).
///
/// Errors: FT_ERR_FULL, FT_ERR_UNKNOWN_MACHINE, FT_ERR_DUPLICATE_JOB, FT_ERR_ELSEWHERE (the
/// account is bound to other machines), FT_ERR_RANGE (FT_NONE as an account, reserved is not
/// zero), FT_ERR_STRUCT_SIZE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_submit(
    queue: *mut OnDemandHandle,
    job: *const OnDemandJobRow,
    now_micros: i64,
    submitted: *mut SubmittedRow,
    row_size: usize,
) -> i32 {
    guard::status("ft_on_demand_submit", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a readable struct.
        let (mut handle, row) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                view::options(job, "job")?,
            )
        };
        // SAFETY: the caller passes a terminated string and readable parts.
        let (machine, parts) = unsafe {
            (
                view::string(row.machine, "job.machine")?,
                view::slice(row.parts, row.parts_len, "job.parts")?,
            )
        };
        if row.reserved != 0 {
            let why = format!("job: reserved is {}, but must be 0", row.reserved);
            return Err(Failure::new(Status::FT_ERR_RANGE, why));
        }
        let out = OutArray::rows(submitted, 1, row_size, "submitted")?;
        let new = NewJob {
            id: row.id,
            account: account(row.account, "job.account")?,
            machine,
            parts,
            expected: row.expected_micros,
        };
        let found = handle.edit(|queue| queue.submit(&new, now_micros))?;
        let told = SubmittedRow {
            in_reservation: found.reservation.into(),
            must_halt: found.halt.is_some().into(),
            halt: found.halt.unwrap_or(0),
        };
        // SAFETY: the caller passes a writable row.
        unsafe { out.write([told]) };
        Ok(())
    })
}

/// Tells what a machine is to do; starts and halts nothing.
///
/// `machine`: its name. `now_micros`: now.
/// `what`: receives one of enum ft_next.
/// `job`: receives the id of the job to run or to halt; 0 when there is none.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_next(
    queue: *mut OnDemandHandle,
    machine: *const c_char,
    now_micros: i64,
    what: *mut u32,
    job: *mut u64,
) -> i32 {
    guard::status("ft_on_demand_next", || {
        // SAFETY: the caller passes a live handle that no other thread uses, a terminated string, and
        // writable pointers.
        unsafe { machine_queue::next(queue, machine, now_micros, what, job) }
    })
}

/// A waiting job starts: the one that ft_on_demand_next() told, or any other that can.
///
/// Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_PAUSED, FT_ERR_BUSY, FT_ERR_NULL,
/// FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_start(
    queue: *mut OnDemandHandle,
    job: u64,
    now_micros: i64,
) -> i32 {
    guard::status("ft_on_demand_start", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        unsafe { machine_queue::start(queue, job, now_micros) }
    })
}

/// An on-demand job was halted: its partial result is discarded, it costs nothing, and it waits
/// again in the very place that it had, whatever the limits.
///
/// Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_RUNNING, FT_ERR_NOT_ON_DEMAND, FT_ERR_NULL,
/// FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_halted(
    queue: *mut OnDemandHandle,
    job: u64,
    now_micros: i64,
) -> i32 {
    guard::status("ft_on_demand_halted", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        handle.edit(|queue| queue.halted(job, now_micros))?;
        Ok(())
    })
}

/// A run has ended, and its job is gone. It is billed if the job is on-demand and such ends are.
///
/// `end`: one of enum ft_end. `exit_code`: any; matters to FT_END_FAILED only.
/// `executed_micros`: how long it was on the machine; from 0 up to what has passed since its
/// start.
/// `finished`: receives the bill of the run. `row_size`: sizeof(ft_finished). (NULL, 0): not
/// wanted.
///
/// Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_RUNNING, FT_ERR_TIME (it cannot have run for so long),
/// FT_ERR_ENUM, FT_ERR_STRUCT_SIZE, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_finish(
    queue: *mut OnDemandHandle,
    job: u64,
    end: u32,
    exit_code: u32,
    executed_micros: i64,
    now_micros: i64,
    finished: *mut FinishedRow,
    row_size: usize,
) -> i32 {
    guard::status("ft_on_demand_finish", || {
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

/// A waiting job is gone. One that runs is ended by ft_on_demand_finish().
///
/// Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_cancel(
    queue: *mut OnDemandHandle,
    job: u64,
    now_micros: i64,
) -> i32 {
    guard::status("ft_on_demand_cancel", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        handle.edit(|queue| queue.cancel(job, now_micros))?;
        Ok(())
    })
}

/// Orders all jobs that wait for a machine, first to last.
///
/// `jobs`: receives their ids. `jobs_len`: how many fit; (NULL, 0) to learn the number first.
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
/// FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_positions(
    queue: *mut OnDemandHandle,
    machine: *const c_char,
    now_micros: i64,
    jobs: *mut u64,
    jobs_len: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_on_demand_positions", || {
        // SAFETY: the caller passes a live handle that no other thread uses, a terminated string, and
        // writable memory.
        unsafe { machine_queue::positions(queue, machine, now_micros, (jobs, jobs_len, found)) }
    })
}

/// Foretells when the jobs that wait for a machine will start, in this order, if each runs for
/// its expected time, halted ones restart and nothing comes.
///
/// `estimates`: receives one row per job; proxy is FT_PROXY_EXPECTED in each.
/// `estimates_len`: how many fit; (NULL, 0) to learn the number first.
/// `row_size`: sizeof(ft_estimate).
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
/// FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_estimate(
    queue: *mut OnDemandHandle,
    machine: *const c_char,
    now_micros: i64,
    estimates: *mut EstimateRow,
    estimates_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_on_demand_estimate", || {
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

/// Tells which jobs are gone, as they still waited when their reservation ended and the limits
/// left no room for them. Each is told once: it stays to be told while the array is too short.
///
/// `refused`: receives one row per job. `refused_len`: how many fit; (NULL, 0) to learn the
/// number.
/// `row_size`: sizeof(ft_refused).
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_take_refused(
    queue: *mut OnDemandHandle,
    now_micros: i64,
    refused: *mut RefusedRow,
    refused_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_on_demand_take_refused", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        let out = OutList::new(refused, refused_len, row_size, found, "refused")?;
        let count = handle.edit(|queue| queue.count_refused(now_micros));
        // SAFETY: the caller passes writable memory.
        unsafe { out.check_room(count)? };
        let rows = handle.edit(|queue| {
            let told = match out.has_room(queue.refused(now_micros).len()) {
                true => queue.take_refused(now_micros),
                false => queue.refused(now_micros).to_vec(),
            };
            let row = |(job, error): &(u64, OnDemandError)| RefusedRow::new(queue, *job, error);
            told.iter().filter_map(row).collect::<Vec<_>>()
        });
        // SAFETY: the caller passes writable memory.
        unsafe { out.write(&rows) }
    })
}
