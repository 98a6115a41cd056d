//! Usage between slurmctld's records and the plugin's own file.

use super::state_file::{Image, Number, Record, Records, Stamp, State};
use crate::slurm::runtime::host::{UsageLock, ffi};

/// Usage as slurmctld has it at one moment, in the form of the file. Memory is kept from one use
/// to the next.
#[derive(Default)]
pub(in crate::slurm) struct StoredUsage(ffi::shim_stored);

// SAFETY: the arrays belong to this alone.
unsafe impl Send for StoredUsage {}

impl StoredUsage {
    /// Empties it.
    pub(in crate::slurm) fn begin(&mut self, _lock: &UsageLock) {
        // SAFETY: the arrays are ours; the usage lock is held, which is also one of the TRES.
        unsafe { ffi::shim_stored_begin(&mut self.0) }
    }

    /// Takes usage of all associations.
    pub(in crate::slurm) fn take_assocs(&mut self, _lock: &UsageLock) {
        // SAFETY: the arrays are ours; the usage lock is held.
        unsafe { ffi::shim_stored_assocs(&mut self.0) }
    }

    /// Takes usage of all QOS.
    pub(in crate::slurm) fn take_qos(&mut self, _lock: &UsageLock) {
        // SAFETY: the arrays are ours; the usage lock is held.
        unsafe { ffi::shim_stored_qos(&mut self.0) }
    }

    /// What the shim's functions that append to it take.
    pub(in crate::slurm) fn raw(&mut self) -> *mut ffi::shim_stored {
        &raw mut self.0
    }

    /// The file. `None` if memory did not suffice.
    pub(in crate::slurm) fn image(&self, stamp: Stamp) -> Option<Image<'_>> {
        let (assocs, qos) = (&self.0.assocs, &self.0.qos);
        // SAFETY: the shim keeps `len` initialised bytes at `at`, and they are ours.
        let (assocs, qos) = unsafe { (slice(assocs.at, assocs.len), slice(qos.at, qos.len)) };
        let assocs = Records {
            count: self.0.assocs_count,
            bytes: assocs,
        };
        let qos = Records {
            count: self.0.qos_count,
            bytes: qos,
        };
        (!self.0.out_of_memory).then(|| Image::new(stamp, self.tres_ids(), assocs, qos))
    }

    fn tres_ids(&self) -> &[u32] {
        // SAFETY: as for the bytes.
        unsafe { slice(self.0.tres_ids.at, self.0.tres_ids.len) }
    }
}

impl Drop for StoredUsage {
    fn drop(&mut self) {
        // SAFETY: the arrays came from the shim and are not used afterwards.
        unsafe { ffi::shim_stored_free(&mut self.0) }
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
fn tres_ids(lock: &UsageLock) -> Vec<u32> {
    let mut stored = StoredUsage::default();
    stored.begin(lock);
    stored.tres_ids().to_vec()
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
