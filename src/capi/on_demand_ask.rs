//! Content of an `ft_on_demand`: its jobs, its machines, its reservations.

use std::ffi::c_char;

use crate::engine::on_demand::{MachineState, Reserved};

use super::guard;
use super::handle;
use super::held_jobs::{HeldJobRow, write_name};
use super::on_demand::OnDemandHandle;
use super::out_list::OutList;
use super::site::FT_UNLIMITED;
use super::view::Plain;

/// A machine of an ft_on_demand.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OnDemandMachineRow {
    /// Its number: how many machines were added before it.
    pub machine: u32,
    /// How many on-demand jobs may wait for it, or FT_UNLIMITED.
    pub limit: u32,
    /// Jobs that run there: those of ft_on_demand_jobs() with this machine and FT_JOB_RUNS.
    pub running: u32,
    /// 1: in maintenance; 0: not.
    pub paused: u32,
    /// Jobs that wait for it.
    pub waiting: u64,
    /// Its price of a microsecond of an on-demand run that starts now.
    pub execution_price: u64,
    /// Its price of a second of a reservation that begins now.
    pub reserved_price: u64,
    /// The run time of jobs that come without any; 0: that of the queue.
    pub default_limit_micros: u64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for OnDemandMachineRow {}

impl From<MachineState<'_>> for OnDemandMachineRow {
    fn from(machine: MachineState<'_>) -> OnDemandMachineRow {
        OnDemandMachineRow {
            machine: machine.number,
            limit: machine.limit.unwrap_or(FT_UNLIMITED),
            running: machine.running as u32,
            paused: machine.paused.into(),
            waiting: machine.waiting as u64,
            execution_price: machine.prices.execution_microsecond,
            reserved_price: machine.prices.reserved_second,
            default_limit_micros: machine.default_length.unwrap_or(0),
        }
    }
}

/// A reservation that is not over.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ReservationRow {
    /// Its id.
    pub reservation: u64,
    /// The number of its machine.
    pub machine: u32,
    /// Its owner.
    pub account: u32,
    /// From this moment, in microseconds since 1970.
    pub start_micros: i64,
    /// Until before this one.
    pub end_micros: i64,
    /// Its price of a second: if it has begun, that of the machine at its begin; otherwise the
    /// present one of the machine.
    pub price: u64,
    /// 1: it has begun; 0: not yet.
    pub begun: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for ReservationRow {}

impl From<&Reserved> for ReservationRow {
    fn from(one: &Reserved) -> ReservationRow {
        ReservationRow {
            reservation: one.reservation,
            machine: one.machine,
            account: one.owner,
            start_micros: one.start,
            end_micros: one.end,
            price: one.price,
            begun: one.begun.into(),
            reserved: 0,
        }
    }
}

/// Reads all jobs of an on-demand queue, also after ft_on_demand_restore(): machine by machine,
/// first those that run, by start and id, then those that wait, by place.
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
pub unsafe extern "C" fn ft_on_demand_jobs(
    queue: *mut OnDemandHandle,
    now_micros: i64,
    jobs: *mut HeldJobRow,
    jobs_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_on_demand_jobs", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        let out = OutList::new(jobs, jobs_len, row_size, found, "jobs")?;
        let count = handle.edit(|queue| queue.count_jobs(now_micros));
        // SAFETY: the caller passes writable memory.
        unsafe { out.check_room(count)? };
        let held = handle.edit(|queue| queue.held(now_micros));
        let rows: Vec<HeldJobRow> = held.iter().map(HeldJobRow::from).collect();
        // SAFETY: the caller passes writable memory.
        unsafe { out.write(&rows) }
    })
}

/// Reads all machines of an on-demand queue, in the order in which they were added, as they are at
/// the latest moment of a call. ft_on_demand_machine_name() has their names.
///
/// `machines`: receives one row per machine. `machines_len`: how many fit; (NULL, 0) to learn the
/// number first. `row_size`: sizeof(ft_on_demand_machine).
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one queue at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_machines(
    queue: *const OnDemandHandle,
    machines: *mut OnDemandMachineRow,
    machines_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_on_demand_machines", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(queue, "queue")? };
        let out = OutList::new(machines, machines_len, row_size, found, "machines")?;
        let rows = model.machine_states().map(OnDemandMachineRow::from);
        let rows: Vec<OnDemandMachineRow> = rows.collect();
        // SAFETY: the caller passes writable memory.
        unsafe { out.write(&rows) }
    })
}

/// Reads the name of a machine of an on-demand queue.
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
pub unsafe extern "C" fn ft_on_demand_machine_name(
    queue: *const OnDemandHandle,
    machine: u32,
    text: *mut c_char,
    text_size: usize,
    text_len: *mut usize,
) -> i32 {
    guard::status("ft_on_demand_machine_name", || {
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

/// Reads all reservations that are not over, by machine and start.
///
/// `reservations`: receives one row per reservation. `reservations_len`: how many fit; (NULL, 0)
/// to learn the number first. `row_size`: sizeof(ft_reservation).
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_reservations(
    queue: *mut OnDemandHandle,
    now_micros: i64,
    reservations: *mut ReservationRow,
    reservations_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_on_demand_reservations", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        let out = OutList::new(
            reservations,
            reservations_len,
            row_size,
            found,
            "reservations",
        )?;
        let count = handle.edit(|queue| queue.count_reservations(now_micros));
        // SAFETY: the caller passes writable memory.
        unsafe { out.check_room(count)? };
        let reserved = handle.edit(|queue| queue.reservations(now_micros));
        let rows: Vec<ReservationRow> = reserved.iter().map(ReservationRow::from).collect();
        // SAFETY: the caller passes writable memory.
        unsafe { out.write(&rows) }
    })
}
