//! Usage between slurmctld's records and a [`State`].

use super::own::{Number, Record, State};
use crate::slurm::host::{self, UsageLock, ffi};

/// Usage as slurmctld has it at one moment, not yet put in order.
pub(in crate::slurm) struct Collected {
    rows: ffi::shim_saved,
    last_ran: i64,
    previous_ran: i64,
    last_reset: i64,
}

impl Collected {
    /// Copies all usage.
    pub(in crate::slurm) fn new(
        _lock: &UsageLock,
        last_ran: i64,
        previous_ran: i64,
        last_reset: i64,
    ) -> Collected {
        let mut collected = Collected {
            rows: ffi::shim_saved::default(),
            last_ran,
            previous_ran,
            last_reset,
        };
        // SAFETY: the rows are ours; the usage lock is held.
        unsafe { ffi::shim_saved_collect(&mut collected.rows) }
        collected
    }

    /// Puts it in order. `None` if memory did not suffice.
    pub(in crate::slurm) fn state(&self) -> Option<State> {
        if self.rows.out_of_memory {
            return None;
        }
        // SAFETY: the shim keeps `len` initialised elements at `at`, and they are ours.
        let (assocs, qos, tres, tres_ids) = unsafe {
            (
                slice(self.rows.assocs.at, self.rows.assocs.len),
                slice(self.rows.qos.at, self.rows.qos.len),
                slice(self.rows.tres.at, self.rows.tres.len),
                slice(self.rows.tres_ids.at, self.rows.tres_ids.len),
            )
        };
        Some(State {
            // All usage up to the last pass is in it, also where the clock has stepped back since:
            // an older dump of slurmctld must not seem to be newer.
            written_at: host::now().max(self.last_ran),
            last_ran: self.last_ran,
            previous_ran: self.previous_ran,
            last_reset: self.last_reset,
            tres_ids: tres_ids.to_vec(),
            assocs: assocs.iter().map(record).collect(),
            qos: qos.iter().map(record).collect(),
            tres: tres.iter().map(number).collect(),
        })
    }
}

impl Drop for Collected {
    fn drop(&mut self) {
        // SAFETY: the arrays came from the shim and are not used afterwards.
        unsafe { ffi::shim_saved_free(&mut self.rows) }
    }
}

impl State {
    /// Makes this the usage that slurmctld has.
    pub(in crate::slurm) fn put_back(&mut self, lock: &UsageLock) {
        self.arrange(&tres_ids(lock));
        let assocs: Vec<_> = self.assocs.iter().map(row).collect();
        let qos: Vec<_> = self.qos.iter().map(row).collect();
        let tres: Vec<_> = self.tres.iter().map(|n| extended(*n)).collect();
        // SAFETY: the usage lock is held; rows ascend by id (decode saw to it), and the shim
        // checks where their TRES are.
        unsafe {
            ffi::shim_saved_restore(
                assocs.as_ptr(),
                assocs.len(),
                qos.as_ptr(),
                qos.len(),
                tres.as_ptr(),
                tres.len(),
            );
        }
    }
}

/// Ids of slurmctld's TRES, in its order.
fn tres_ids(_lock: &UsageLock) -> Vec<u32> {
    let mut rows = ffi::shim_saved::default();
    // SAFETY: the rows are ours, and freed with what the shim put there; the usage lock, which
    // is held, is also a lock of the TRES.
    unsafe {
        ffi::shim_saved_tres_ids(&mut rows);
        let ids = slice(rows.tres_ids.at, rows.tres_ids.len).to_vec();
        ffi::shim_saved_free(&mut rows);
        ids
    }
}

/// # Safety
/// `len` initialised elements at `at`, which stay for `'a`.
unsafe fn slice<'a, T>(at: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at, len) }
}

fn number(value: &ffi::shim_extended) -> Number {
    Number {
        mantissa: value.mantissa,
        sign_exponent: value.sign_exponent,
    }
}

fn extended(value: Number) -> ffi::shim_extended {
    ffi::shim_extended {
        mantissa: value.mantissa,
        sign_exponent: value.sign_exponent,
    }
}

fn record(row: &ffi::shim_saved_usage) -> Record {
    Record {
        id: row.id,
        usage_raw: number(&row.usage_raw),
        wall: row.wall,
        tres: row.tres as usize,
        tres_len: row.tres_len as usize,
    }
}

fn row(record: &Record) -> ffi::shim_saved_usage {
    ffi::shim_saved_usage {
        usage_raw: extended(record.usage_raw),
        wall: record.wall,
        id: record.id,
        tres: u32::try_from(record.tres).unwrap_or(u32::MAX),
        tres_len: u32::try_from(record.tres_len).unwrap_or(0),
    }
}
