//! Common parts of `ft_queue` and `ft_on_demand`: machines that ask for the next job, jobs that
//! start and end, positions, estimates, and saved bytes.

use std::ffi::c_char;
use std::mem::size_of;

use crate::config::ValueError;
use crate::engine::{Finished, MachineError};
use crate::usage::{EndState, Outcomes};

use super::error::{Failure, Status};
use super::handle::{self, Handle};
use super::held_jobs::{FinishedRow, finished_out};
use super::out_list::OutList;
use super::view::{self, Out, Plain};

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Failure {
        let (status, argument) = match error {
            MachineError::UnknownMachine { .. } => (Status::FT_ERR_UNKNOWN_MACHINE, "machine"),
            MachineError::MachineTwice { .. } => (Status::FT_ERR_DUPLICATE_MACHINE, "machine"),
            MachineError::JobTwice { .. } => (Status::FT_ERR_DUPLICATE_JOB, "job"),
            MachineError::UnknownJob { .. } => (Status::FT_ERR_UNKNOWN_JOB, "job"),
            MachineError::NotWaiting { .. } => (Status::FT_ERR_NOT_WAITING, "job"),
            MachineError::NotRunning { .. } => (Status::FT_ERR_NOT_RUNNING, "job"),
            MachineError::Paused { .. } => (Status::FT_ERR_PAUSED, "job"),
            MachineError::Elsewhere { .. } => (Status::FT_ERR_ELSEWHERE, "machine"),
            MachineError::InUse { .. } => (Status::FT_ERR_IN_USE, "machine"),
            MachineError::RanTooLong { .. } => (Status::FT_ERR_TIME, "executed_micros"),
            MachineError::Damaged { .. } => (Status::FT_ERR_STATE_DAMAGED, "bytes"),
            MachineError::Version { .. } => (Status::FT_ERR_STATE_VERSION, "bytes"),
        };
        Failure::new(status, format!("{argument}: {error}"))
    }
}

/// What a machine is to do.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NextKind {
    /// Run this job.
    FT_NEXT_JOB = 0,
    /// Nothing: no job waits for it.
    FT_NEXT_NONE_WAITS = 1,
    /// Nothing: it is in maintenance.
    FT_NEXT_PAUSED = 2,
    /// Nothing: it runs all that it can at a time.
    FT_NEXT_BUSY = 3,
    /// Halt this on-demand job, as one of a reservation waits: see ft_on_demand_halted().
    FT_NEXT_HALT = 4,
}

/// How a run ended, in the words of sacct and with the numbers of Slurm.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum End {
    /// Exit code 0.
    FT_END_COMPLETED = 3,
    /// By a user or an administrator.
    FT_END_CANCELLED = 4,
    /// Another exit code.
    FT_END_FAILED = 5,
    /// At its time limit.
    FT_END_TIMEOUT = 6,
    /// A part of the machine failed.
    FT_END_NODE_FAIL = 7,
    /// For another job.
    FT_END_PREEMPTED = 8,
    /// A part of the machine did not boot.
    FT_END_BOOT_FAIL = 9,
    /// At its deadline.
    FT_END_DEADLINE = 10,
    /// Out of memory.
    FT_END_OUT_OF_MEMORY = 11,
    /// By an administrator, to run again.
    FT_END_REQUEUED = 1024,
}

/// The end that a caller gave, checked.
pub(super) fn ended(end: u32) -> Result<EndState, Failure> {
    const ENDS: [(End, EndState); 10] = [
        (End::FT_END_COMPLETED, EndState::Completed),
        (End::FT_END_CANCELLED, EndState::Cancelled),
        (End::FT_END_FAILED, EndState::Failed),
        (End::FT_END_TIMEOUT, EndState::Timeout),
        (End::FT_END_NODE_FAIL, EndState::NodeFail),
        (End::FT_END_PREEMPTED, EndState::Preempted),
        (End::FT_END_BOOT_FAIL, EndState::BootFail),
        (End::FT_END_DEADLINE, EndState::Deadline),
        (End::FT_END_OUT_OF_MEMORY, EndState::OutOfMemory),
        (End::FT_END_REQUEUED, EndState::Requeued),
    ];
    let state = ENDS.into_iter().find(|(each, _)| *each as u32 == end);
    state.map(|(_, state)| state).ok_or_else(|| {
        let why = format!("end {end} is none of enum ft_end");
        Failure::new(Status::FT_ERR_ENUM, why)
    })
}

/// Where the expected run time of a job comes from.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ProxyKind {
    /// It was told: expected_micros.
    FT_PROXY_EXPECTED = 0,
    /// The maximum stands for it: limit_micros.
    FT_PROXY_MAXIMUM = 1,
}

/// When a waiting job will start.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct EstimateRow {
    /// Its id.
    pub job: u64,
    /// When, in microseconds since 1970; 0 when it never does.
    pub start_micros: i64,
    /// 1: it starts. 0: never, as the machine is paused, or as the limits of an on-demand queue
    /// will leave no room for it.
    pub starts: u32,
    /// What stands for its run time: one of enum ft_proxy.
    pub proxy: u32,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for EstimateRow {}

/// Ends of runs in words; NULL: `default`.
///
/// # Safety
/// As for [`view::string`], or NULL.
pub(super) unsafe fn outcomes(
    text: *const c_char,
    default: Outcomes,
    argument: &str,
) -> Result<Outcomes, Failure> {
    if text.is_null() {
        return Ok(default);
    }
    // SAFETY: as promised by the caller of this function.
    let text = unsafe { view::string(text, argument)? };
    text.parse()
        .map_err(|error: ValueError| error.of(argument).into())
}

/// Names of machines; (NULL, 0): none.
///
/// # Safety
/// As for [`view::slice`], and each as for [`view::string`].
pub(super) unsafe fn names<'a>(
    names: *const *const c_char,
    len: usize,
    argument: &str,
) -> Result<Vec<&'a str>, Failure> {
    // SAFETY: as promised by the caller of this function.
    let names = unsafe { view::slice(names, len, argument)? };
    let name = |(at, name): (usize, &*const c_char)| {
        // SAFETY: as promised by the caller of this function.
        unsafe { view::string(*name, &format!("{argument}[{at}]")) }
    };
    names.iter().enumerate().map(name).collect()
}

/// The name of a machine; NULL: all machines.
///
/// # Safety
/// As for [`view::string`], or NULL.
pub(super) unsafe fn machine_or_all<'a>(
    machine: *const c_char,
) -> Result<Option<&'a str>, Failure> {
    match machine.is_null() {
        true => Ok(None),
        // SAFETY: as promised by the caller of this function.
        false => unsafe { view::string(machine, "machine").map(Some) },
    }
}

pub(super) fn flag(value: u32, argument: &str) -> Result<bool, Failure> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::new(
            Status::FT_ERR_ENUM,
            format!("{argument} is {value}, but must be 0 or 1"),
        )),
    }
}

/// A queue that machines ask. Moments are microseconds since 1970.
pub(super) trait MachineQueue: Sized {
    /// Why it refuses a call.
    type Error: Into<Failure>;

    /// The next action of a machine, and the job; 0 if there is no job.
    fn next(&mut self, machine: &str, now: i64) -> Result<(NextKind, u64), Self::Error>;

    /// A waiting job starts.
    fn start(&mut self, job: u64, now: i64) -> Result<(), Self::Error>;

    /// A run has ended: how, and with which exit code.
    fn finish(
        &mut self,
        job: u64,
        end: (EndState, u32),
        executed: i64,
        now: i64,
    ) -> Result<Finished, Self::Error>;

    /// Begins or ends maintenance.
    fn set_paused(&mut self, machine: &str, paused: bool) -> Result<(), Self::Error>;

    /// How many jobs will wait for a machine at a moment; no time passes.
    fn count_waiting(&mut self, machine: &str, now: i64) -> Result<usize, Self::Error>;

    /// The jobs that wait for a machine, first to last.
    fn positions(&mut self, machine: &str, now: i64) -> Result<Vec<u64>, Self::Error>;

    /// When they will start.
    fn estimates(&mut self, machine: &str, now: i64) -> Result<Vec<EstimateRow>, Self::Error>;

    /// All of it as bytes.
    fn save(&self) -> Vec<u8>;

    /// The queue that was saved.
    fn restore(bytes: &[u8]) -> Result<Self, Self::Error>;
}

/// Tells what a machine is to do.
///
/// # Safety
/// `queue` is as for [`handle::exclusive`], `machine` as for [`view::string`]; `what` and `job` are
/// writable.
pub(super) unsafe fn next<H: Handle<Model: MachineQueue>>(
    queue: *mut H,
    machine: *const c_char,
    now: i64,
    what: *mut u32,
    job: *mut u64,
) -> Result<(), Failure> {
    // SAFETY: as promised by the caller of this function.
    let (mut handle, machine) = unsafe { asked(queue, machine)? };
    let (what, job) = (Out::new(what, "what")?, Out::new(job, "job")?);
    let (kind, id) = handle
        .edit(|queue| queue.next(machine, now))
        .map_err(Into::into)?;
    // SAFETY: as promised by the caller of this function.
    unsafe {
        what.write(kind as u32);
        job.write(id);
    }
    Ok(())
}

/// A waiting job starts.
///
/// # Safety
/// `queue` is as for [`handle::exclusive`].
pub(super) unsafe fn start<H: Handle<Model: MachineQueue>>(
    queue: *mut H,
    job: u64,
    now: i64,
) -> Result<(), Failure> {
    // SAFETY: as promised by the caller of this function.
    let mut handle = unsafe { handle::exclusive(queue, "queue")? };
    let started = handle.edit(|queue| queue.start(job, now));
    started.map_err(Into::into)
}

/// A run has ended. `end`: one of [`End`], and the exit code. Out: its bill, and the size of the row;
/// (NULL, 0): not wanted.
///
/// # Safety
/// `queue` is as for [`handle::exclusive`]; the memory is writable.
pub(super) unsafe fn finish<H: Handle<Model: MachineQueue>>(
    queue: *mut H,
    job: u64,
    (end, exit_code): (u32, u32),
    executed: i64,
    now: i64,
    (finished, row_size): (*mut FinishedRow, usize),
) -> Result<(), Failure> {
    // SAFETY: as promised by the caller of this function.
    let mut handle = unsafe { handle::exclusive(queue, "queue")? };
    let end = (ended(end)?, exit_code);
    let out = finished_out(finished, row_size)?;
    let finished = handle.edit(|queue| queue.finish(job, end, executed, now));
    let finished = finished.map_err(Into::into)?;
    if let Some(out) = out {
        // SAFETY: as promised by the caller of this function.
        unsafe { out.write([finished.into()]) };
    }
    Ok(())
}

/// Begins or ends maintenance.
///
/// # Safety
/// `queue` is as for [`handle::exclusive`], `machine` as for [`view::string`].
pub(super) unsafe fn set_paused<H: Handle<Model: MachineQueue>>(
    queue: *mut H,
    machine: *const c_char,
    paused: u32,
) -> Result<(), Failure> {
    // SAFETY: as promised by the caller of this function.
    let (mut handle, machine) = unsafe { asked(queue, machine)? };
    let paused = flag(paused, "paused")?;
    let set = handle.edit(|queue| queue.set_paused(machine, paused));
    set.map_err(Into::into)
}

/// Orders all jobs that wait for a machine. Out: the jobs, how many fit, how many there are.
///
/// # Safety
/// `queue` is as for [`handle::exclusive`], `machine` as for [`view::string`]; the memory is
/// writable.
pub(super) unsafe fn positions<H: Handle<Model: MachineQueue>>(
    queue: *mut H,
    machine: *const c_char,
    now: i64,
    (jobs, jobs_len, found): (*mut u64, usize, *mut usize),
) -> Result<(), Failure> {
    // SAFETY: as promised by the caller of this function.
    let (mut handle, machine) = unsafe { asked(queue, machine)? };
    let out = OutList::new(jobs, jobs_len, size_of::<u64>(), found, "jobs")?;
    let count = handle.edit(|queue| queue.count_waiting(machine, now));
    // SAFETY: as promised by the caller of this function.
    unsafe { out.check_room(count.map_err(Into::into)?)? };
    let order = handle
        .edit(|queue| queue.positions(machine, now))
        .map_err(Into::into)?;
    // SAFETY: as promised by the caller of this function.
    unsafe { out.write(&order) }
}

/// Foretells when the jobs that wait for a machine will start. Out: the rows, how many fit, the size
/// of one, how many there are.
///
/// # Safety
/// `queue` is as for [`handle::exclusive`], `machine` as for [`view::string`]; the memory is
/// writable.
pub(super) unsafe fn estimate<H: Handle<Model: MachineQueue>>(
    queue: *mut H,
    machine: *const c_char,
    now: i64,
    (rows, rows_len, row_size, found): (*mut EstimateRow, usize, usize, *mut usize),
) -> Result<(), Failure> {
    // SAFETY: as promised by the caller of this function.
    let (mut handle, machine) = unsafe { asked(queue, machine)? };
    let out = OutList::new(rows, rows_len, row_size, found, "estimates")?;
    let count = handle.edit(|queue| queue.count_waiting(machine, now));
    // SAFETY: as promised by the caller of this function.
    unsafe { out.check_room(count.map_err(Into::into)?)? };
    let estimates = handle
        .edit(|queue| queue.estimates(machine, now))
        .map_err(Into::into)?;
    // SAFETY: as promised by the caller of this function.
    unsafe { out.write(&estimates) }
}

/// Saves a queue.
///
/// # Safety
/// `queue` is as for [`handle::shared`]; the memory is writable.
pub(super) unsafe fn save<H: Handle<Model: MachineQueue>>(
    queue: *const H,
    bytes: *mut u8,
    bytes_len: usize,
    found: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: as promised by the caller of this function.
    let model = unsafe { handle::shared(queue, "queue")? };
    let out = OutList::new(bytes, bytes_len, 1, found, "bytes")?;
    let saved = model.save();
    // SAFETY: as promised by the caller of this function.
    unsafe { out.write(&saved) }
}

/// Makes the queue that was saved.
///
/// # Safety
/// `bytes` are readable, and `queue` is writable.
pub(super) unsafe fn restore<H: Handle<Model: MachineQueue>>(
    bytes: *const u8,
    bytes_len: usize,
    queue: *mut *mut H,
) -> Result<(), Failure> {
    // SAFETY: as promised by the caller of this function.
    let bytes = unsafe { view::slice(bytes, bytes_len, "bytes")? };
    let out = Out::new(queue, "queue")?;
    let restored = H::Model::restore(bytes).map_err(Into::into)?;
    // SAFETY: as promised by the caller of this function.
    unsafe { out.write(handle::new(restored)) };
    Ok(())
}

/// A queue for a call that changes it, and the name of a machine.
///
/// # Safety
/// As for [`handle::exclusive`] and [`view::string`].
unsafe fn asked<'a, H: Handle>(
    queue: *mut H,
    machine: *const c_char,
) -> Result<(handle::Exclusive<'a, H::Model>, &'a str), Failure> {
    // SAFETY: as promised by the caller of this function.
    unsafe {
        Ok((
            handle::exclusive(queue, "queue")?,
            view::string(machine, "machine")?,
        ))
    }
}
