//! The rows of sprio: the factors of the last pricing, partition by partition and QOS by QOS.

use crate::priority::{Job, Pricer, Variant};
use crate::slurm::line;
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::rows::tables::Tables;
use crate::slurm::runtime::host::{self, FactorsLock, ffi};
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::shared::scratch::Scratch;
use crate::slurm::state::settings::Settings;
use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Makes the list; NULL if there are no rows. `request`: the filters of sprio, NULL if slurmctld
/// does not pass them. Takes read locks of jobs, nodes and partitions if slurmctld has not taken
/// them, and releases them before the rows become a list.
///
/// # Safety
/// `request` is NULL or slurmctld's request; the caller is the hook.
pub(in crate::slurm) unsafe fn list(
    plugin: &Plugin,
    request: *const c_void,
    user_id: u32,
) -> *mut c_void {
    plugin.fault.inject("factors_list");
    let settings = plugin.settings();
    let names = if settings.weighs_tres() {
        host::tres_names()
    } else {
        Vec::new()
    };
    let ordered = line::is_asked_for(&settings.config) && plugin.line.lock().is_formed();
    let mut wanted = Wanted {
        // SAFETY: the request is slurmctld's.
        unfiltered: unsafe { ffi::shim_request_wants_all(request) },
        sees_all: false,
        now: host::now(),
        ordered,
        settings: &settings,
        request,
        user_id,
        scratch: plugin.scratch(),
        rows: ffi::shim_factors_rows::default(),
        panic: None,
    };
    {
        let _lock = FactorsLock::lock();
        // SAFETY: the rows are ours, and the jobs are locked.
        unsafe { ffi::shim_factors_begin(&mut wanted.rows, names.len()) }
    }
    wanted.scratch.tables.job_tables.tres_names = names;
    // SAFETY: the rows are ours.
    unsafe {
        if wanted.unfiltered && ffi::shim_may_see_all(user_id) {
            ffi::shim_factors_touch(&mut wanted.rows);
        }
    }
    {
        let _lock = FactorsLock::lock();
        let _factors = plugin.factors.read();
        // SAFETY: reads settings of slurmctld and its data about the user.
        wanted.sees_all = unsafe { ffi::shim_may_see_all(user_id) };
        // SAFETY: the rows are ours; `each` gets `wanted` back, and no other thread uses it during the call.
        unsafe {
            ffi::shim_each_listed(
                settings.config.priority_flags.accrue_always,
                Some(each),
                (&raw mut wanted).cast(),
            );
        }
    }
    if let Some(panic) = wanted.panic {
        resume_unwind(panic);
    }
    plugin.give_back(wanted.scratch);
    // SAFETY: the rows are ours.
    unsafe { ffi::shim_factors_list(&mut wanted.rows) }
}

/// The access rights of sprio's caller, and the rows made so far.
struct Wanted<'a> {
    now: i64,
    /// True if waiting jobs have an order.
    ordered: bool,
    settings: &'a Settings,
    request: *const c_void,
    /// True if the request has no filters.
    unfiltered: bool,
    user_id: u32,
    /// True if the user may see the jobs of all users.
    sees_all: bool,
    /// Its tables have the names of the TRES, if these have weights.
    scratch: Box<Scratch>,
    rows: ffi::shim_factors_rows,
    panic: Option<Box<dyn Any + Send>>,
}

impl Wanted<'_> {
    /// Returns true if the job is listed: waiting (or any state with CALCULATE_RUNNING), of this
    /// cluster, eligible, not held.
    fn lists(&self, job: &ffi::shim_listed) -> bool {
        let flags = &self.settings.config.priority_flags;
        (flags.calculate_running || job.pending)
            && !job.revoked
            && job.since != 0
            && job.since <= self.now
            && job.priority != 0
            && job.has_partition
            && (job.has_factors || job.direct)
    }

    /// Number that replaces all factors in the row of a job that has a place in an order; otherwise
    /// 0.
    fn number(&self, job: &ffi::shim_listed) -> u32 {
        match self.ordered && job.pending && !job.direct {
            true => job.priority,
            false => 0,
        }
    }

    /// # Safety
    /// The caller holds the job lock since `job` was made.
    unsafe fn shows(&self, job: &ffi::shim_listed) -> bool {
        // SAFETY: the caller's promise.
        self.sees_all || unsafe { ffi::shim_may_see(job.job, self.user_id) }
    }

    /// Returns true if the request includes this job in this partition (key, 0: the job's own).
    ///
    /// # Safety
    /// The caller holds the job lock since `job` was made.
    unsafe fn asks_for(&self, job: &ffi::shim_listed, partition: u64) -> bool {
        // SAFETY: the caller's promise; the request is slurmctld's.
        self.unfiltered || unsafe { ffi::shim_request_wants(self.request, job.job, partition) }
    }
}

extern "C" fn each(context: *mut c_void, job: *const ffi::shim_listed) -> bool {
    // SAFETY: `list` passed its `Wanted`; the shim passes a row that lives as long as the call.
    let (wanted, job) = unsafe { (&mut *context.cast::<Wanted>(), &*job) };
    let visit = || {
        // SAFETY: the job lock is held.
        if wanted.lists(job) && unsafe { wanted.shows(job) } {
            // SAFETY: as above, since the row was made.
            unsafe { add(wanted, job) }
        }
    };
    // A panic must not pass through the shim: `list` continues with it.
    let visited = catch_unwind(AssertUnwindSafe(visit));
    visited.map_err(|panic| wanted.panic = Some(panic)).is_ok()
}

/// # Safety
/// The caller holds the job lock since `row` was made.
unsafe fn add(wanted: &mut Wanted, row: &ffi::shim_listed) {
    // SAFETY: the caller's promise.
    unsafe {
        if row.many {
            add_variants(wanted, row);
        } else if wanted.asks_for(row, 0) {
            let plain = ffi::shim_factors_row {
                number: wanted.number(row),
                ..Default::default()
            };
            ffi::shim_factors_add(&mut wanted.rows, row.job, &plain);
        }
    }
}

/// # Safety
/// As [`add`].
unsafe fn add_variants(wanted: &mut Wanted, row: &ffi::shim_listed) {
    let number = wanted.number(row);
    let Scratch {
        snapshot,
        tables,
        terms: tres,
        weights: again,
        ..
    } = &mut *wanted.scratch;
    let settings = wanted.settings;
    let want = ffi::shim_want {
        waiting_tres: settings.weighs_tres(),
        flags: settings.flags,
        ..Default::default()
    };
    // SAFETY: the caller's promise.
    if unsafe { snapshot.take_waiting_job(&want, row.job) }.is_err() {
        return;
    }
    let mut names = std::mem::take(&mut tables.job_tables.tres_names);
    if settings.weighs_tres() {
        names.resize(snapshot.tres_count(), String::new());
    }
    tables.fill_job(snapshot, names);
    let Some(waiting) = snapshot.waiting().first() else {
        return;
    };
    let job = Tables::job(snapshot, waiting, None);
    let Ok(pricer) = tables.pricer(settings, snapshot, wanted.now) else {
        return;
    };
    for (position, variant) in pricer.variants(&job).enumerate() {
        let per_partition = job.qos_list.len.max(1) as usize;
        let partition = snapshot.partition_keys().get(position / per_partition);
        let partition = partition.copied().unwrap_or(0);
        // SAFETY: the caller's promise.
        if !unsafe { ffi::shim_request_wants(wanted.request, row.job, partition) } {
            continue;
        }
        let qos = snapshot.qos_ids().get(position % per_partition);
        for numbers in [&mut *tres, &mut *again] {
            numbers.clear();
            numbers.resize(tables.job_tables.tres_names.len(), 0.0);
        }
        stock_tres_again(settings, &pricer, (snapshot, tables), &job, variant, again);
        let mut terms = terms(&pricer, &job, variant, tres);
        if settings.quirks.keeps_term_of_first_qos && has_no_priority(tables, variant) {
            // In this case the row keeps the term of the job's first QOS.
            terms.1 = None;
        }
        let out = ffi::shim_factors_row {
            partition,
            qos_id: qos.copied().unwrap_or(0),
            partition_term: terms.0,
            qos_term: terms.1.unwrap_or(0.0),
            number,
            tres: tres.as_ptr(),
            tres_again: again.as_ptr(),
            tres_len: tres.len(),
            replaces_partition: partition != 0,
            replaces_qos: terms.1.is_some(),
            hides_direct: settings.quirks.hides_direct_priority,
        };
        // SAFETY: the caller's promise; the slices live as long as the call.
        unsafe { ffi::shim_factors_add(&mut wanted.rows, row.job, &out) }
    }
}

fn has_no_priority(tables: &Tables, variant: Variant) -> bool {
    let qos = variant.qos.map(|row| &tables.job_tables.qos[row.get()]);
    qos.is_some_and(|qos| qos.priority == 0)
}

/// Stock starts with the weighted terms of the job's own partition, recomputes those TRES that the
/// other partition counts, and then applies the weights to all of them, for the second time to
/// those not recomputed. Under `compat=slurm` the weights of these go into `again`, which has 0 for
/// the others.
fn stock_tres_again(
    settings: &Settings,
    pricer: &Pricer,
    (snapshot, tables): (&Snapshot, &Tables),
    job: &Job,
    variant: Variant,
    again: &mut [f64],
) {
    let config = &settings.config;
    if !settings.quirks.weighs_tres_again || config.priority_flags.no_normal_tres {
        return;
    }
    pricer.tres_weights(again);
    let partition = variant
        .partition
        .and_then(|row| tables.job_tables.partitions[row.get()].tres);
    if let (Some(counts), Some(job)) = (partition, job.tres) {
        for (position, weight) in again.iter_mut().enumerate() {
            let counted = |start: usize| snapshot.tres()[start + position] != 0;
            if counted(counts.get()) && counted(job.get()) {
                *weight = 0.0;
            }
        }
    }
}

/// Terms of one variant: partition, QOS if it has its own, and TRES.
fn terms(pricer: &Pricer, job: &Job, variant: Variant, tres: &mut [f64]) -> (f64, Option<f64>) {
    let base = pricer.price_set(&Job {
        direct: false,
        ..*job
    });
    let priced = pricer.price_variant(job, &base, variant);
    if !tres.is_empty() {
        let there = Job {
            partition: variant.partition,
            direct: false,
            ..*job
        };
        pricer.tres_terms(&there, tres);
    }
    (priced.partition, variant.qos.map(|_| priced.qos))
}
