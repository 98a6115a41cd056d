//! Content of an `ft_queue`: its jobs, its machines, and all standings at once.

use std::ffi::c_char;

use crate::engine::Held;
use crate::engine::queue::MachineState;

use super::guard;
use super::handle;
use super::held_jobs::{HeldJobRow, write_name};
use super::out_list::OutList;
use super::queue::QueueHandle;
use super::queue_order::StandingRow;
use super::view::Plain;

/// A machine of an ft_queue.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct QueueMachineRow {
    /// Its number: how many machines were added before it.
    pub machine: u32,
    /// Jobs that it runs at a time.
    pub slots: u32,
    /// Jobs that run there: those of ft_queue_jobs() with this machine and FT_JOB_RUNS.
    pub running: u32,
    /// 1: in maintenance; 0: not.
    pub paused: u32,
    /// Jobs that wait for it.
    pub waiting: u64,
    /// The maximum run time of jobs that come without any; 0: that of the queue.
    pub default_limit_micros: u64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for QueueMachineRow {}

impl From<MachineState<'_>> for QueueMachineRow {
    fn from(machine: MachineState<'_>) -> QueueMachineRow {
        QueueMachineRow {
            machine: machine.number,
            slots: machine.slots,
            running: machine.running,
            paused: machine.paused.into(),
            waiting: machine.waiting as u64,
            default_limit_micros: machine.default_limit.unwrap_or(0),
        }
    }
}

/// The standing of an association of an ft_queue.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AssocStandingRow {
    /// Its id.
    pub assoc: u32,
    /// Zero.
    pub reserved: u32,
    /// As from ft_queue_standing().
    pub standing: StandingRow,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for AssocStandingRow {}

/// Reads all jobs of a queue, also after ft_queue_restore(): machine by machine, first those that
/// run, by start and id, then those that wait, by place.
///
/// `jobs`: receives one row per job. `jobs_len`: how many fit; (NULL, 0) to learn the number
/// first.
/// `row_size`: sizeof(ft_held_job).
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_jobs(
    queue: *mut QueueHandle,
    now_micros: i64,
    jobs: *mut HeldJobRow,
    jobs_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_queue_jobs", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        let out = OutList::new(jobs, jobs_len, row_size, found, "jobs")?;
        // SAFETY: the caller passes writable memory.
        unsafe { out.check_room(handle.get().job_count())? };
        let held: Vec<Held> = handle.edit(|queue| queue.held(now_micros));
        let rows: Vec<HeldJobRow> = held.iter().map(HeldJobRow::from).collect();
        // SAFETY: the caller passes writable memory.
        unsafe { out.write(&rows) }
    })
}

/// Reads all machines of a queue, in the order in which they were added: slots, jobs that run and
/// wait, in maintenance or not. ft_queue_machine_name() has their names.
///
/// `machines`: receives one row per machine. `machines_len`: how many fit; (NULL, 0) to learn the
/// number first. `row_size`: sizeof(ft_queue_machine).
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one queue at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_machines(
    queue: *const QueueHandle,
    machines: *mut QueueMachineRow,
    machines_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_queue_machines", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(queue, "queue")? };
        let out = OutList::new(machines, machines_len, row_size, found, "machines")?;
        let rows: Vec<_> = model.machine_states().map(QueueMachineRow::from).collect();
        // SAFETY: the caller passes writable memory.
        unsafe { out.write(&rows) }
    })
}

/// Reads the name of a machine of a queue.
///
/// `machine`: its number, as in rows.
/// `text`: receives the name and a NUL. `text_size`: bytes there are for both; (NULL, 0) to learn
/// the length first. `text_len`: receives the length without the NUL, also with FT_ERR_BUFFER; may
/// be NULL.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE (also for one that was removed), FT_ERR_NULL,
/// FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one queue at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_machine_name(
    queue: *const QueueHandle,
    machine: u32,
    text: *mut c_char,
    text_size: usize,
    text_len: *mut usize,
) -> i32 {
    guard::status("ft_queue_machine_name", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(queue, "queue")? };
        let mut machines = model.machine_states();
        let name = machines.find(|one| one.number == machine);
        // SAFETY: the caller passes writable memory.
        unsafe {
            write_name(
                machine,
                name.map(|one| one.name),
                (text, text_size, text_len),
            )
        }
    })
}

/// Reads the standings of all associations that have shares or minutes and compete, in the order
/// of the tree. One that shares as its parent does has no row; nor has the root.
///
/// `standings`: receives one row per association. `standings_len`: how many fit; (NULL, 0) to
/// learn the number first. `row_size`: sizeof(ft_assoc_standing).
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_standings(
    queue: *mut QueueHandle,
    now_micros: i64,
    standings: *mut AssocStandingRow,
    standings_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_queue_standings", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        let out = OutList::new(standings, standings_len, row_size, found, "standings")?;
        // SAFETY: the caller passes writable memory.
        unsafe { out.check_room(handle.get().standing_count())? };
        let stand = handle.edit(|queue| queue.standings(now_micros));
        let row = |(assoc, standing): &(u32, _)| AssocStandingRow {
            assoc: *assoc,
            reserved: 0,
            standing: StandingRow::from(standing),
        };
        let rows: Vec<AssocStandingRow> = stand.iter().map(row).collect();
        // SAFETY: the caller passes writable memory.
        unsafe { out.write(&rows) }
    })
}
