//! The rows of slurmctld, copied.

use crate::slurm::runtime::host::{self, NONE, SnapshotLock, UsageLock, ffi};
use crate::slurm::state::StoredUsage;
use std::ffi::c_void;

/// Rows of slurmctld's associations, QOS, partitions and jobs. Memory is kept from one use to
/// the next.
#[derive(Default)]
pub(in crate::slurm) struct Snapshot(ffi::shim_snapshot);

// SAFETY: the arrays belong to the snapshot alone. The pointers in `assoc_at` and `qos_at` are
// only followed by the shim, in calls that ask for the lock under which they were set; without it
// they are no more than marks.
unsafe impl Send for Snapshot {}

/// Why there is no snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::slurm) enum SnapshotError {
    #[error("no memory for a copy of associations and jobs")]
    OutOfMemory,
    #[error("slurmctld's tree of associations has more children than associations")]
    BrokenTree,
}

macro_rules! rows {
    ($($name:ident: $row:ty;)*) => {$(
        pub(in crate::slurm) fn $name(&self) -> &[$row] {
            let rows = &self.0.$name;
            if rows.len == 0 {
                return &[];
            }
            // SAFETY: the shim keeps `len` initialised elements at `at`, which nobody else has;
            // it changes them only in calls that borrow the snapshot mutably.
            unsafe { std::slice::from_raw_parts(rows.at, rows.len) }
        }
    )*};
}

impl Snapshot {
    rows! {
        assocs: ffi::shim_assoc;
        kept: ffi::shim_assoc_kept;
        row_of_id: u32;
        qos: ffi::shim_qos;
        partitions: ffi::shim_partition;
        waiting: ffi::shim_waiting;
        lists: ffi::shim_lists;
        accruing: ffi::shim_accruing;
        partition_keys: u64;
        qos_ids: u32;
        tres: u64;
    }

    /// The associations, to be charged.
    pub(in crate::slurm) fn assocs_mut(&mut self) -> &mut [ffi::shim_assoc] {
        let rows = &self.0.assocs;
        if rows.len == 0 {
            return &mut [];
        }
        // SAFETY: as for the shared ones; the snapshot is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(rows.at, rows.len) }
    }

    /// Copies everything.
    pub(in crate::slurm) fn take(&mut self, _lock: &SnapshotLock, want: &ffi::shim_want) {
        // SAFETY: the snapshot is ours; the lock is the one that the shim asks for.
        unsafe { ffi::shim_snapshot_take(&mut self.0, want) }
    }

    /// Copies the associations again and leaves the rest.
    pub(in crate::slurm) fn take_assocs(&mut self, _lock: &UsageLock, want: &ffi::shim_want) {
        // SAFETY: the snapshot is ours; the lock is the one that the shim asks for.
        unsafe { ffi::shim_snapshot_take_assocs(&mut self.0, want) }
    }

    /// Were the associations left as the last pass left them?
    pub(in crate::slurm) fn assocs_cached(&self) -> bool {
        self.0.assocs_kept
    }

    /// Were they what the records hold, when these were last written to?
    pub(in crate::slurm) fn assoc_cache_is_valid(&self) -> bool {
        self.0.assocs_agree
    }

    /// The next [`Snapshot::take`] copies them in any case.
    pub(in crate::slurm) fn invalidate_assoc_cache(&mut self) {
        self.0.assocs_agree = false;
    }

    /// Is there an association for every job that may be charged?
    pub(in crate::slurm) fn has_assocs_of_all(&self) -> bool {
        let mut jobs = self.accruing().iter();
        jobs.all(|row| row.assoc_id == 0 || self.assoc_row(row.assoc_id).is_some())
    }

    /// Makes associations findable; after [`Snapshot::take`], without lock.
    pub(in crate::slurm) fn index(&mut self) -> Result<(), SnapshotError> {
        // SAFETY: the snapshot is ours; nothing of slurmctld is touched.
        unsafe { ffi::shim_snapshot_index(&mut self.0) }
        self.check()
    }

    /// The row of the association `id`, after [`Snapshot::index`].
    pub(in crate::slurm) fn assoc_row(&self, id: u32) -> Option<u32> {
        // The usual case without a call: this is asked for every waiting job.
        let row = match self.row_of_id() {
            // SAFETY: the snapshot is ours; nothing of slurmctld is touched.
            [] => unsafe { ffi::shim_snapshot_row(&self.0, id) },
            rows => rows.get(id as usize).copied().unwrap_or(NONE),
        };
        (row != NONE).then_some(row)
    }

    /// Asks memory for what [`Snapshot::assoc_row`] will read.
    pub(in crate::slurm) fn fetch_assoc_row(&self, id: u32) {
        if let Some(row) = self.row_of_id().get(id as usize) {
            host::fetch(row);
        }
    }

    /// The rows of a job's QOS, and of its partition's QOS if that is another one.
    pub(in crate::slurm) fn qos_rows(
        &self,
        job: &ffi::shim_accruing,
    ) -> (Option<u32>, Option<u32>) {
        let row = |id: u32| {
            let found = self.qos().iter().position(|qos| id != 0 && qos.id == id);
            found.and_then(|row| u32::try_from(row).ok())
        };
        let own = row(job.qos_id);
        let partitions = row(job.partition_qos_id);
        (
            own,
            partitions.filter(|_| job.partition_qos_id != job.qos_id),
        )
    }

    /// Copies one waiting job and what it refers to, its associations only if wanted.
    ///
    /// # Safety
    /// `job` is slurmctld's job record, and the caller's hook came with the job lock. With
    /// associations wanted, it came without a lock of the association manager.
    pub(in crate::slurm) unsafe fn take_waiting_job(
        &mut self,
        want: &ffi::shim_want,
        job: *const c_void,
    ) -> Result<(), SnapshotError> {
        // SAFETY: the caller's promise.
        unsafe { ffi::shim_snapshot_waiting_job(&mut self.0, want, job) }
        self.check()
    }

    /// Copies one job that ends, its association and QOS bound to their rows.
    ///
    /// # Safety
    /// `job` is slurmctld's job record, and the caller's hook came with the job write lock.
    pub(in crate::slurm) unsafe fn take_ending_job(
        &mut self,
        _lock: &UsageLock,
        want: &ffi::shim_want,
        job: *const c_void,
    ) -> Result<(), SnapshotError> {
        // SAFETY: the caller's promise; the usage lock is held.
        unsafe { ffi::shim_snapshot_ending_job(&mut self.0, want, job) }
        self.check()
    }

    fn check(&self) -> Result<(), SnapshotError> {
        if self.0.out_of_memory {
            Err(SnapshotError::OutOfMemory)
        } else if self.0.broken_tree {
            Err(SnapshotError::BrokenTree)
        } else {
            Ok(())
        }
    }

    /// Finds slurmctld's records of the rows.
    pub(in crate::slurm) fn bind(&mut self, _lock: &UsageLock) -> Result<(), SnapshotError> {
        // SAFETY: the snapshot is ours; the usage lock is held.
        unsafe { ffi::shim_usage_bind(&mut self.0) }
        self.check()
    }

    /// Finds the records, lets their usage fade by `factor`, writes what was found into them,
    /// charges jobs, and appends all to `stored`. The number of run-second counters that were too
    /// small.
    ///
    /// Panics unless there is one element of `factors` per association, and charges are linked
    /// by [`crate::slurm::rows::assoc_row::link`].
    pub(in crate::slurm) fn renew(
        &mut self,
        _lock: &UsageLock,
        factor: f64,
        factors: &[ffi::shim_assoc_factors],
        charges: &mut [ffi::shim_charge],
        stored: &mut StoredUsage,
    ) -> Result<u32, SnapshotError> {
        assert_eq!(factors.len(), self.assocs().len());
        // `NONE` is the last number: with 1 added, it comes before all charges.
        let is_charge = |at: u32| at.wrapping_sub(NONE) as usize <= charges.len();
        assert!(factors.iter().all(|found| is_charge(found.first_charge)));
        assert!(charges.iter().all(|charge| is_charge(charge.next)));
        // SAFETY: snapshot and bytes are ours; the usage lock is held; rows that the shim finds
        // are those of the snapshot's associations, of which there are as many factors; charges
        // that it comes to are among these (just checked), and `tres` is as for `charge`.
        let underflows = unsafe {
            ffi::shim_usage_renew(
                &mut self.0,
                factor,
                factors.as_ptr(),
                charges.as_mut_ptr(),
                charges.len(),
                stored.raw(),
            )
        };
        self.check()?;
        Ok(underflows)
    }

    /// Charges jobs; returns the number of run-second counters that were too small.
    pub(in crate::slurm) fn charge(&self, _lock: &UsageLock, charges: &[ffi::shim_charge]) -> u32 {
        // SAFETY: the usage lock is held since the records were bound; rows outside the tables
        // are ignored by the shim, and `tres` comes from a row of this snapshot.
        unsafe { ffi::shim_usage_charge(&self.0, charges.as_ptr(), charges.len()) }
    }

    /// Lets slurmctld normalise all shares anew.
    pub(in crate::slurm) fn normalize_shares(&self, _lock: &UsageLock) {
        // SAFETY: as for `charge`.
        unsafe { ffi::shim_shares_normalize(&self.0) }
    }

    /// What the shim's functions on jobs take.
    pub(in crate::slurm) fn raw(&self) -> *const ffi::shim_snapshot {
        &raw const self.0
    }

    pub(in crate::slurm) fn tres_count(&self) -> usize {
        self.0.tres_count as usize
    }

    /// Associations whose id another one has, too, after [`Snapshot::index`].
    pub(in crate::slurm) fn twins(&self) -> u32 {
        self.0.twins
    }

    pub(in crate::slurm) fn cluster_cpus(&self) -> u32 {
        self.0.cluster_cpus
    }

    pub(in crate::slurm) fn cluster_nodes(&self) -> u32 {
        self.0.cluster_nodes
    }

    pub(in crate::slurm) fn enforces_limits(&self) -> bool {
        self.0.enforces_limits
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // SAFETY: the arrays came from the shim and are not used afterwards.
        unsafe { ffi::shim_snapshot_free(&mut self.0) }
    }
}
