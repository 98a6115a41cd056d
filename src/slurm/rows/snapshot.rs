//! Copies of slurmctld's rows.

use crate::slurm::runtime::host::{self, NONE, SnapshotLock, UsageLock, ffi};
use crate::slurm::state::StoredUsage;
use std::ffi::c_void;

/// Rows of slurmctld's associations, QOS, partitions and jobs. Memory is kept from one use to
/// the next.
#[derive(Default)]
pub(in crate::slurm) struct Snapshot(ffi::shim_snapshot);

// SAFETY: the arrays belong to the snapshot alone. The pointers in `assoc_at` and `qos_at` are
// followed only by the shim, in calls that require the lock under which they were set; without it
// they are only marks.
unsafe impl Send for Snapshot {}

/// Reason why there is no snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::slurm) enum SnapshotError {
    #[error("out of memory while copying associations and jobs")]
    OutOfMemory,
    #[error("slurmctld's association tree is inconsistent: more children than associations")]
    BrokenTree,
    #[error("slurmctld is about to save its state and end")]
    Ending,
}

/// Charges of jobs, and the TRES to which they apply (see [`Snapshot::charged_tres`]).
pub(in crate::slurm) struct Charges<'a> {
    pub(in crate::slurm) rows: &'a mut [ffi::shim_charge],
    pub(in crate::slurm) tres: &'a [u32],
}

impl Charges<'_> {
    fn raw(&mut self) -> ffi::shim_charges {
        ffi::shim_charges {
            at: self.rows.as_mut_ptr(),
            len: self.rows.len(),
            tres: self.tres.as_ptr(),
            tres_len: self.tres.len(),
        }
    }
}

/// Change of all usage in a pass, before jobs are charged.
#[derive(Clone, Copy)]
pub(in crate::slurm) struct UsageUpdate<'a> {
    /// Scale for associations without a change of their own: those newer than the snapshot, and all
    /// if `assocs` is `None`. 1: unchanged.
    pub(in crate::slurm) scale: f64,
    /// One per association of the snapshot, followed by those to which a `leaf` refers; `None`: all
    /// usage is scaled alike, and the walk reads no changes.
    pub(in crate::slurm) assocs: Option<&'a [ffi::shim_usage_change]>,
    /// One per row of [`Snapshot::qos_now`].
    pub(in crate::slurm) qos: &'a [ffi::shim_usage_change],
    /// Amounts added to TRES, range after range.
    pub(in crate::slurm) tres: &'a [ffi::shim_extended],
    /// Leaves associations alone whose change is the same as last time, whatever their records
    /// contain.
    pub(in crate::slurm) changes_only: bool,
}

impl UsageUpdate<'_> {
    fn raw(&self) -> ffi::shim_usage_update {
        let assocs = self.assocs.unwrap_or_default();
        ffi::shim_usage_update {
            scale: self.scale,
            assocs: if self.assocs.is_some() {
                assocs.as_ptr()
            } else {
                std::ptr::null()
            },
            assocs_len: assocs.len(),
            qos: self.qos.as_ptr(),
            tres: self.tres.as_ptr(),
            tres_len: self.tres.len(),
            changes_only: self.changes_only,
        }
    }
}

/// A change that multiplies usage by one factor.
pub(in crate::slurm) fn scaled(scale: f64) -> ffi::shim_usage_change {
    ffi::shim_usage_change {
        scale,
        add_tres: NONE,
        leaf: NONE,
        ..Default::default()
    }
}

macro_rules! rows {
    ($($name:ident: $row:ty;)*) => {$(
        pub(in crate::slurm) fn $name(&self) -> &[$row] {
            let rows = &self.0.$name;
            if rows.len == 0 {
                return &[];
            }
            // SAFETY: the shim keeps `len` initialised elements at `at`, which no other thread has;
            // it changes them only in calls that borrow the snapshot mutably.
            unsafe { std::slice::from_raw_parts(rows.at, rows.len) }
        }
    )*};
}

impl Snapshot {
    rows! {
        assocs: ffi::shim_assoc;
        recorded: ffi::shim_assoc_recorded;
        row_of_id: u32;
        qos: ffi::shim_qos;
        qos_now: ffi::shim_qos;
        partitions: ffi::shim_partition;
        waiting: ffi::shim_waiting;
        queued: ffi::shim_queued;
        lists: ffi::shim_lists;
        accruing: ffi::shim_accruing;
        partition_keys: u64;
        qos_ids: u32;
        variants: u32;
        tres: u64;
    }

    /// The associations, for adding charges.
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
        // SAFETY: the snapshot is ours; the lock is the one that the shim requires.
        unsafe { ffi::shim_snapshot_take(&mut self.0, want) }
    }

    /// Copies the associations again; the rest does not change.
    pub(in crate::slurm) fn take_assocs(&mut self, _lock: &UsageLock, want: &ffi::shim_want) {
        // SAFETY: the snapshot is ours; the lock is the one that the shim requires.
        unsafe { ffi::shim_snapshot_take_assocs(&mut self.0, want) }
    }

    /// Returns true if the associations were kept from the last pass.
    pub(in crate::slurm) fn assocs_cached(&self) -> bool {
        self.0.assocs_cached
    }

    /// Returns true if they were equal to the records when these were last written.
    pub(in crate::slurm) fn assoc_cache_is_valid(&self) -> bool {
        self.0.assoc_cache_valid
    }

    /// Forces the next [`Snapshot::take`] to copy them.
    pub(in crate::slurm) fn invalidate_assoc_cache(&mut self) {
        self.0.assoc_cache_valid = false;
    }

    /// Returns true if there is an association for every job that may be charged.
    pub(in crate::slurm) fn has_assocs_of_all(&self) -> bool {
        let mut jobs = self.accruing().iter();
        jobs.all(|row| row.assoc_id == 0 || self.assoc_row(row.assoc_id).is_some())
    }

    /// Builds the index of associations; after [`Snapshot::take`], without lock.
    pub(in crate::slurm) fn index(&mut self) -> Result<(), SnapshotError> {
        // SAFETY: the snapshot is ours; nothing of slurmctld is touched.
        unsafe { ffi::shim_snapshot_index(&mut self.0) }
        self.check()
    }

    /// The row of the association `id`, after [`Snapshot::index`].
    pub(in crate::slurm) fn assoc_row(&self, id: u32) -> Option<u32> {
        // The usual case needs no call: this is used for every waiting job.
        let row = match self.row_of_id() {
            // SAFETY: the snapshot is ours; nothing of slurmctld is touched.
            [] => unsafe { ffi::shim_snapshot_row(&self.0, id) },
            rows => rows.get(id as usize).copied().unwrap_or(NONE),
        };
        (row != NONE).then_some(row)
    }

    /// Prefetches the data that [`Snapshot::assoc_row`] will read.
    pub(in crate::slurm) fn prefetch_assoc_row(&self, id: u32) {
        if let Some(row) = self.row_of_id().get(id as usize) {
            host::prefetch(row);
        }
    }

    /// The rows of a job's QOS and, if different, of its partition's QOS.
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

    /// Raises priorities of a job in its partitions and QOS to its present ones, if these are
    /// higher (`PriorityFlags=INCR_ONLY`). slurmctld rebuilds an array that is too short.
    pub(in crate::slurm) fn raise_variants(
        &self,
        lists: Option<&ffi::shim_lists>,
        variants: &mut [u32],
    ) {
        let Some(lists) = lists else {
            return;
        };
        let from = self.variants().get(lists.variants as usize..);
        let had = from.and_then(|from| from.get(..lists.variants_len as usize));
        let had = had.filter(|had| had.len() >= variants.len());
        for (priority, had) in variants.iter_mut().zip(had.unwrap_or_default()) {
            *priority = (*priority).max(*had);
        }
    }

    /// Copies one waiting job and the data to which it refers; its associations only if wanted.
    ///
    /// # Safety
    /// `job` is slurmctld's job record, and the caller's hook was called with the job lock. If
    /// associations are wanted, it was called without a lock of the association manager.
    pub(in crate::slurm) unsafe fn take_waiting_job(
        &mut self,
        want: &ffi::shim_want,
        job: *const c_void,
    ) -> Result<(), SnapshotError> {
        // SAFETY: the caller's promise.
        unsafe { ffi::shim_snapshot_waiting_job(&mut self.0, want, job) }
        self.check()
    }

    /// Copies one ending job, with its association and QOS bound to their rows.
    ///
    /// # Safety
    /// `job` is slurmctld's job record, and the caller's hook was called with the job write
    /// lock.
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

    /// Copies the present state of all QOS into `qos_now`.
    pub(in crate::slurm) fn take_qos_now(&mut self, _lock: &UsageLock) {
        // SAFETY: the snapshot is ours; the usage lock is held.
        unsafe { ffi::shim_usage_take_qos(&mut self.0) }
    }

    /// Finds the records, changes their usage by `update`, writes the results into them, charges
    /// jobs, and passes all usage to `stored`. Returns the number of run-second counters that were
    /// too small.
    ///
    /// Panics unless there is one element of `factors` per association, charges are linked by
    /// [`super::assoc_row::link`], and the update has all changes that it needs.
    pub(in crate::slurm) fn renew(
        &mut self,
        lock: &UsageLock,
        update: &UsageUpdate<'_>,
        factors: &[ffi::shim_assoc_factors],
        charges: &mut Charges<'_>,
        stored: &mut StoredUsage,
    ) -> Result<u32, SnapshotError> {
        assert_eq!(factors.len(), self.assocs().len());
        assert_eq!(update.qos.len(), self.qos_now().len());
        assert!(
            update
                .assocs
                .is_none_or(|assocs| assocs.len() >= self.assocs().len())
        );
        // `NONE` is the largest number: after adding 1 it is below all charges.
        let is_charge = |at: u32| at.wrapping_sub(NONE) as usize <= charges.rows.len();
        assert!(factors.iter().all(|row| is_charge(row.first_charge)));
        assert!(charges.rows.iter().all(|charge| is_charge(charge.next)));
        let (sink, context) = stored.assoc_sink(lock);
        // SAFETY: the snapshot is ours, and the usage lock is held; rows that the shim finds are
        // those of the snapshot's associations, of which there are as many factors and changes;
        // charges that it visits are among these (just checked), and `tres` is as for `charge`.
        // `context` is what `sink` takes, and no other thread uses it during the call.
        let underflows = unsafe {
            ffi::shim_usage_renew(
                &mut self.0,
                &update.raw(),
                factors.as_ptr(),
                &charges.raw(),
                sink,
                context,
            )
        };
        self.check()?;
        Ok(underflows)
    }

    /// Charges jobs; returns the number of run-second counters that were too small.
    pub(in crate::slurm) fn charge(&self, _lock: &UsageLock, charges: &mut Charges<'_>) -> u32 {
        // SAFETY: the usage lock is held since the records were bound; rows outside the tables
        // are ignored by the shim, and `tres` comes from a row of this snapshot.
        unsafe { ffi::shim_usage_charge(&self.0, &charges.raw()) }
    }

    /// Makes slurmctld normalise all shares again.
    pub(in crate::slurm) fn normalize_shares(&self, _lock: &UsageLock) {
        // SAFETY: as for `charge`.
        unsafe { ffi::shim_shares_normalize(&self.0) }
    }

    /// Argument for the shim's functions on jobs.
    pub(in crate::slurm) fn raw(&self) -> *const ffi::shim_snapshot {
        &raw const self.0
    }

    pub(in crate::slurm) fn tres_count(&self) -> usize {
        self.0.tres_count as usize
    }

    /// Number of associations whose id is used twice, after [`Snapshot::index`].
    pub(in crate::slurm) fn twins(&self) -> u32 {
        self.0.twins
    }

    pub(in crate::slurm) fn cluster_cpus(&self) -> u32 {
        self.0.cluster_cpus
    }

    pub(in crate::slurm) fn cluster_nodes(&self) -> u32 {
        self.0.cluster_nodes
    }

    /// Positions of the TRES for which jobs are charged besides their billing: all except energy
    /// while slurmctld enforces limits, and so keeps these counts; otherwise empty.
    pub(in crate::slurm) fn charged_tres(&self) -> Vec<u32> {
        /// `TRES_ARRAY_ENERGY`.
        const ENERGY: u32 = 2;
        let count = if self.enforces_limits() {
            self.0.tres_count
        } else {
            0
        };
        (0..count).filter(|tres| *tres != ENERGY).collect()
    }

    pub(in crate::slurm) fn enforces_limits(&self) -> bool {
        self.0.enforces_limits
    }

    /// True if waiting jobs have only the data that an order needs: they must not be priced.
    pub(in crate::slurm) fn is_order_only(&self) -> bool {
        self.0.order_only
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // SAFETY: the arrays came from the shim and are not used afterwards.
        unsafe { ffi::shim_snapshot_free(&mut self.0) }
    }
}
