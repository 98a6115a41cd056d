//! Rows of `ft_queue` and `ft_on_demand`: jobs that they hold, runs that ended, names of machines.

use std::ffi::c_char;

use crate::engine::{Finished, Held};

use super::error::{Failure, Status};
use super::view::{Out, OutArray, Plain};

/// State of a job.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum JobState {
    /// It waits.
    FT_JOB_WAITS = 0,
    /// It runs.
    FT_JOB_RUNS = 1,
}

/// A job that waits or runs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct HeldJobRow {
    /// Its id.
    pub job: u64,
    /// The association that it is charged to; on demand the account that pays.
    pub account: u32,
    /// The number of its machine.
    pub machine: u32,
    /// One of enum ft_job_state.
    pub state: u32,
    /// 1: a job of a reservation; 0: any other.
    pub in_reservation: u32,
    /// When it was submitted, in microseconds since 1970.
    pub submit_micros: i64,
    /// Since when it waits or runs. A waiting job: since it was submitted, or on demand since the
    /// end of its reservation; after a run that was halted or requeued still since then.
    pub since_micros: i64,
    /// Its place among the jobs that wait for its machine, 0 for the first; 0 for a job that runs.
    pub place: u64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for HeldJobRow {}

impl From<&Held> for HeldJobRow {
    fn from(held: &Held) -> HeldJobRow {
        let state = match held.place {
            Some(_) => JobState::FT_JOB_WAITS,
            None => JobState::FT_JOB_RUNS,
        };
        HeldJobRow {
            job: held.job,
            account: held.account,
            machine: held.machine,
            state: state as u32,
            in_reservation: held.in_reservation.into(),
            submit_micros: held.submit,
            since_micros: held.since,
            place: held.place.unwrap_or(0) as u64,
        }
    }
}

/// The bill of a run that ended. All numbers are exact.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FinishedRow {
    /// How long the machine executed it, in microseconds.
    pub executed_micros: u64,
    /// 1: its use counts, or on demand it is billed; 0: neither.
    pub counts: u32,
    /// Zero.
    pub reserved: u32,
    /// On demand the price of a microsecond that the machine had when the run started; 0 for a job
    /// of a reservation. An ft_queue has no prices: 0.
    pub price: u64,
    /// Its cost, executed_micros times price if it counts: the lower 64 bits.
    pub cost: u64,
    /// The upper 64 bits of the cost: 0 except for enormous ones.
    pub cost_high: u64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for FinishedRow {}

impl From<Finished> for FinishedRow {
    fn from(finished: Finished) -> FinishedRow {
        FinishedRow {
            executed_micros: finished.executed.unsigned_abs(),
            counts: finished.counts.into(),
            reserved: 0,
            price: finished.price,
            cost: finished.cost as u64,
            cost_high: (finished.cost >> 64) as u64,
        }
    }
}

/// The place for the bill of a run; `None`: the caller does not want it.
pub(super) fn finished_out(
    finished: *mut FinishedRow,
    row_size: usize,
) -> Result<Option<OutArray<FinishedRow>>, Failure> {
    if finished.is_null() && row_size == 0 {
        return Ok(None);
    }
    OutArray::rows(finished, 1, row_size, "finished").map(Some)
}

/// Writes the name of a machine and a NUL. `name`: `None`: no machine has the number.
///
/// # Safety
/// The memory is writable.
pub(super) unsafe fn write_name(
    number: u32,
    name: Option<&str>,
    (text, text_size, text_len): (*mut c_char, usize, *mut usize),
) -> Result<(), Failure> {
    let out = OutArray::new(text.cast::<u8>(), text_size, "text")?;
    let len = Out::optional(text_len, "text_len")?;
    let name = name.ok_or_else(|| {
        let why = format!("machine: there is no machine of number {number}, or it was removed");
        Failure::new(Status::FT_ERR_UNKNOWN_MACHINE, why)
    })?;
    if let Some(len) = len {
        // SAFETY: as promised by the caller of this function.
        unsafe { len.write(name.len()) };
    }
    if out.len() > name.len() {
        // SAFETY: as promised by the caller of this function.
        unsafe { out.write(name.bytes().chain([0])) };
    } else if out.len() > 0 {
        let (has, needed) = (out.len(), name.len() + 1);
        let why = format!("text has {has} bytes, but {needed} are needed");
        return Err(Failure::new(Status::FT_ERR_BUFFER, why));
    }
    Ok(())
}
