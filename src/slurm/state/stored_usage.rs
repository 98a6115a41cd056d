//! Copies usage between slurmctld's records and the plugin's own file.

use super::order_state::OrderState;
use super::save;
use super::saver::Job;
use super::state_file::{Image, Number, Record, RecordWriter, Stamp, State};
use crate::slurm::runtime::host::{UsageLock, ffi};
use crate::slurm::runtime::sync::{Arc, Mutex};
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};

/// slurmctld's usage at one moment, in the format of the file. Memory is kept from one use to the
/// next.
#[derive(Default)]
pub(in crate::slurm) struct StoredUsage {
    /// Users, and accounts with usage of removed users.
    assocs: RecordWriter,
    qos: RecordWriter,
    tres_ids: Vec<u32>,
}

/// Takes usage rows from the shim: appends each to the [`RecordWriter`] that `context` points to.
extern "C" fn append(context: *mut c_void, row: *const ffi::shim_usage_row) {
    // SAFETY: `context` is a `RecordWriter` that no other thread uses during the call of the shim
    // to which it was passed; the row and its numbers are valid for this call.
    unsafe {
        let row = &*row;
        let tres = slice(row.tres, row.tres_len as usize);
        let tres = tres.iter().map(|value| number(*value));
        let writer = &mut *context.cast::<RecordWriter>();
        writer.append(row.id, number(row.usage_raw), row.wall, tres);
    }
}

impl StoredUsage {
    /// Removes all usage. `assocs`: the expected number of associations.
    pub(in crate::slurm) fn begin(&mut self, lock: &UsageLock, assocs: usize) {
        self.assocs.clear(assocs);
        self.qos.clear(0);
        self.tres_ids = tres_ids(lock);
    }

    /// Callback and context for the shim's functions that report usage of associations.
    pub(in crate::slurm) fn assoc_sink(
        &mut self,
        _lock: &UsageLock,
    ) -> (ffi::shim_usage_sink, *mut c_void) {
        (Some(append), (&raw mut self.assocs).cast())
    }

    /// Copies usage of all associations.
    pub(in crate::slurm) fn take_assocs(&mut self, lock: &UsageLock) {
        let (sink, context) = self.assoc_sink(lock);
        // SAFETY: the usage lock is held; the context is the one that the sink takes.
        unsafe { ffi::shim_each_assoc_usage(sink, context) }
    }

    /// Copies usage of all QOS.
    pub(in crate::slurm) fn take_qos(&mut self, _lock: &UsageLock) {
        // SAFETY: the usage lock is held; the context is the one that the sink takes.
        unsafe { ffi::shim_each_qos_usage(Some(append), (&raw mut self.qos).cast()) }
    }

    /// The file, with the data of an order. `None` if memory was exhausted.
    fn image(&self, stamp: Stamp, order: &OrderState) -> Option<Image<'_>> {
        let (assocs, qos) = (self.assocs.records()?, self.qos.records()?);
        Some(Image::new(stamp, &self.tres_ids, assocs, qos, order))
    }
}

/// Data that passes and the saving thread exchange.
#[derive(Default)]
pub(in crate::slurm) struct Saved {
    /// Memory for the usage that is saved next.
    pub(in crate::slurm) spare: Mutex<Option<StoredUsage>>,
    /// Time of the last pass whose two files are on disk.
    last_ran: AtomicI64,
    /// Data that an order keeps.
    pub(in crate::slurm) order: Mutex<OrderState>,
}

impl Saved {
    /// The data at start: time of the last pass and data of an order from the files.
    pub(in crate::slurm) fn new(last_ran: Option<i64>, order: OrderState) -> Saved {
        Saved {
            spare: Mutex::default(),
            last_ran: AtomicI64::new(last_ran.unwrap_or(0)),
            order: Mutex::new(order),
        }
    }
}

/// The job that saves this usage in the folder `dir`.
pub(in crate::slurm) fn saving(
    stored: StoredUsage,
    stamp: Stamp,
    dir: PathBuf,
    saved: Arc<Saved>,
) -> Job {
    Box::new(move |wanted| {
        let stamp = Stamp {
            previous_ran: saved.last_ran.load(Ordering::Relaxed),
            ..stamp
        };
        let order = saved.order.lock().clone();
        let result = match stored.image(stamp, &order) {
            Some(image) => save::store(&dir, &image, wanted),
            None => Err("no memory".to_string()),
        };
        if result.is_ok() {
            saved.last_ran.store(stamp.last_ran, Ordering::Relaxed);
        }
        *saved.spare.lock() = Some(stored);
        result
    })
}

impl State {
    /// Replaces slurmctld's usage with this one.
    pub(in crate::slurm) fn put_back(&mut self, lock: &UsageLock) {
        self.arrange(&tres_ids(lock));
        let assocs: Vec<_> = self.assocs.iter().map(row).collect();
        let qos: Vec<_> = self.qos.iter().map(row).collect();
        let tres: Vec<_> = self.tres.iter().map(|n| extended(*n)).collect();
        // SAFETY: the usage lock is held; rows ascend by id (`decode` sorts them), and the shim
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
    // SAFETY: the usage lock includes the TRES; the array has as many places as are passed.
    unsafe {
        let mut ids = vec![0; ffi::shim_tres_ids(std::ptr::null_mut(), 0)];
        ffi::shim_tres_ids(ids.as_mut_ptr(), ids.len());
        ids
    }
}

/// # Safety
/// `at` points to `len` initialised elements, which stay valid for `'a`.
unsafe fn slice<'a, T>(at: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at, len) }
}

fn number(value: ffi::shim_extended) -> Number {
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

fn row(record: &Record) -> ffi::shim_saved_usage {
    ffi::shim_saved_usage {
        usage_raw: extended(record.usage_raw),
        wall: record.wall,
        id: record.id,
        tres: u32::try_from(record.tres).unwrap_or(u32::MAX),
        tres_len: u32::try_from(record.tres_len).unwrap_or(0),
    }
}
