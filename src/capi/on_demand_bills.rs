//! Bills of an `ft_on_demand`.

use crate::engine::on_demand::Bill;

use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::on_demand::OnDemandHandle;
use super::out_list::OutList;
use super::view::Plain;

/// What an account owes for a machine. All numbers are exact.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BillRow {
    /// The account.
    pub account: u32,
    /// The number of the machine.
    pub machine: u32,
    /// Microseconds that its on-demand jobs were executed, of runs that ended well.
    pub executed_micros: u64,
    /// Seconds that it had reserved, whatever ran.
    pub reserved_secs: u64,
    /// Both at the prices under which they ran: the lower 64 bits.
    pub amount: u64,
    /// The upper 64 bits of the amount: 0 but for enormous ones.
    pub amount_high: u64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for BillRow {}

impl BillRow {
    fn new(account: u32, machine: u32, bill: &Bill) -> Result<Self, Failure> {
        let fits = |count: u128, what: &str| {
            u64::try_from(count).map_err(|_| {
                let why = format!("account {account}, machine {machine}: {count} {what}");
                Failure::new(Status::FT_ERR_RANGE, format!("bills: {why}"))
            })
        };
        if bill.amount == u128::MAX {
            let why = format!("account {account}, machine {machine}: the amount is 2^128 or more");
            return Err(Failure::new(Status::FT_ERR_RANGE, format!("bills: {why}")));
        }
        Ok(BillRow {
            account,
            machine,
            executed_micros: fits(bill.executed, "microseconds")?,
            reserved_secs: fits(bill.reserved_secs, "seconds")?,
            amount: bill.amount as u64,
            amount_high: (bill.amount >> 64) as u64,
        })
    }
}

/// Tells what accounts owe for what ended from from_micros until before to_micros.
///
/// On-demand runs are billed by the microsecond of their execution, reservations by the second of
/// their length when they end. Time spent waiting, halted runs, runs that did not end well, and
/// jobs of reservations cost nothing. Prices are those that the machine had when a run started or
/// a reservation began. The queue knows the ends up to the latest moment of a call: see
/// ft_on_demand_advance().
///
/// `bills`: receives one row per account and machine, by account, then by number of the machine.
/// `bills_len`: how many fit; (NULL, 0) to learn the number first. `row_size`: sizeof(ft_bill).
/// `found`: receives how many there are, also with FT_ERR_BUFFER.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_RANGE (2^64 microseconds or more, or an amount of 2^128 or
/// more), FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: any number may read one queue at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_bills(
    queue: *const OnDemandHandle,
    from_micros: i64,
    to_micros: i64,
    bills: *mut BillRow,
    bills_len: usize,
    row_size: usize,
    found: *mut usize,
) -> i32 {
    guard::status("ft_on_demand_bills", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(queue, "queue")? };
        let out = OutList::new(bills, bills_len, row_size, found, "bills")?;
        let owed = model.bills_by_number(from_micros..to_micros);
        let row =
            |((account, machine), bill): (&(u32, u32), _)| BillRow::new(*account, *machine, bill);
        let rows = owed.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        // SAFETY: the caller passes writable memory.
        unsafe { out.write(&rows) }
    })
}

/// Forgets what was billed before a moment, once those bills are written.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_on_demand_forget_bills(
    queue: *mut OnDemandHandle,
    before_micros: i64,
) -> i32 {
    guard::status("ft_on_demand_forget_bills", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(queue, "queue")? };
        handle.edit(|queue| queue.forget_bills(before_micros));
        Ok(())
    })
}
