//! Waiting jobs of a pass: those that are priced, their priorities, and the terms of these.
//!
//! A job costs one row of the snapshot and one of prices. Its factors are written to its record as
//! soon as they are computed, some thousand jobs at a time: those of all jobs are never stored. A
//! job with a place in an order has a number instead, and no factors.

use crate::priority::{Job, Priced, Pricer, variant_count};
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::rows::tables::Tables;
use crate::slurm::runtime::host::{self, NONE, ffi};
use crate::slurm::runtime::log;
use crate::slurm::state::settings::Settings;
use crate::tree::AssocIndex;
use std::ops::Range;

/// Maximum number of jobs that are priced together.
pub(in crate::slurm) const BATCH: usize = 64;

/// Number of jobs by which the row of a job's association, and its factors, are prefetched ahead.
/// Without this a pass takes 8 to 11 % more CPU time (`time_pass`, 100,000 jobs; 32fc6dc).
const AHEAD: usize = 16;

/// Waiting jobs with their prices; memory that passes reuse.
#[derive(Default)]
pub(in crate::slurm) struct Pending {
    /// Jobs that must be written, followed by those that were taken and are not computed yet.
    prices: Vec<ffi::shim_price>,
    to_write: usize,
    next: usize,
    /// True if any job keeps its present priority.
    stays: bool,
    /// `PriorityFlags=INCR_ONLY`.
    only_raises: bool,
    /// First row of the snapshot that has not been examined yet.
    next_row: usize,
    /// Priorities per partition and QOS, job after job.
    variants: Vec<u32>,
    /// One per TRES, if TRES have weights.
    tres_weights: Vec<f64>,
    /// Weighted TRES terms of the jobs of the last priced batch, job after job.
    tres_terms: Vec<f64>,
    /// Terms of one job, for the TRES that have a weight.
    weighed_terms: Vec<f64>,
    overflows: Overflows,
    /// Number that replaces the priority of a job, by row of the snapshot; none if 0, or beyond the
    /// end.
    numbers: Vec<u32>,
}

/// Returns true for jobs that a pass does not price, although it prices jobs in their state.
fn passed_over(settings: &Settings, row: &ffi::shim_waiting) -> bool {
    if settings.is_stock_classic() || settings.passes_once() {
        // Stock prices a job right after charging it, and not if it does not charge it.
        let charges =
            settings.config.priority_flags.calculate_running || !row.is(ffi::SHIM_PENDING);
        let charged =
            row.is(ffi::SHIM_STARTED) && row.is(ffi::SHIM_ALREADY_CHARGED) && row.assoc_id != 0;
        row.is(ffi::SHIM_ENDED) || (charges && charged)
    } else {
        // A job that has ended for good needs no priority.
        !settings.quirks.prices_ended && row.is(ffi::SHIM_ENDED) && !row.is(ffi::SHIM_PENDING)
    }
}

/// Returns true if a job already has the right priority, so that its record need not be read: a
/// priority that was set in the meantime stays.
fn keeps(price: &ffi::shim_price, row: &ffi::shim_waiting) -> bool {
    price.priority == price.seen_priority
        && price.variants_len == 0
        && !row.is(ffi::SHIM_HAS_VARIANTS)
}

/// A job that must get a price.
fn price_of(position: usize, row: &ffi::shim_waiting) -> ffi::shim_price {
    ffi::shim_price {
        job_id: row.job_id,
        seen_priority: row.priority,
        row: u32::try_from(position).unwrap_or(NONE),
        assoc: NONE,
        seen_direct: row.is(ffi::SHIM_DIRECT),
        seen_pending: row.is(ffi::SHIM_PENDING),
        ..ffi::shim_price::default()
    }
}

/// Sets the location of a job's priorities in its partitions and QOS.
fn set_variants(price: &mut ffi::shim_price, start: usize, count: usize) {
    price.variants = u32::try_from(start).unwrap_or(NONE);
    price.variants_len = u32::try_from(count).unwrap_or(0);
}

/// Number of the job in a row, if it has a place in an order.
fn number_in(numbers: &[u32], row: usize) -> Option<u32> {
    numbers.get(row).copied().filter(|number| *number > 0)
}

impl Pending {
    /// Called before the waiting jobs of a snapshot are taken.
    pub(in crate::slurm) fn begin(&mut self, snapshot: &Snapshot) {
        self.clear();
        self.next_row = 0;
        self.prices.reserve_exact(snapshot.waiting().len());
    }

    /// Removes all jobs; none will be taken.
    pub(in crate::slurm) fn clear(&mut self) {
        self.prices.clear();
        (self.to_write, self.next) = (0, 0);
        self.stays = false;
        self.variants.clear();
        self.next_row = usize::MAX;
    }

    /// Numbers of jobs in an order: one for each row of the snapshot, 0 for jobs without a place.
    /// Empty if there is no order.
    pub(in crate::slurm) fn numbers(&mut self) -> &mut Vec<u32> {
        &mut self.numbers
    }

    /// Number of priorities that must be written, once all are computed.
    pub(in crate::slurm) fn len(&self) -> usize {
        self.to_write
    }

    /// Returns true if any job keeps its present priority.
    pub(in crate::slurm) fn stays(&self) -> bool {
        self.stays
    }

    /// First row of the snapshot that has not been examined yet.
    pub(in crate::slurm) fn next_row(&self) -> usize {
        self.next_row
    }

    /// Takes the next jobs to be priced: a full batch, or fewer at the end, or before jobs with
    /// numbers that are not priced; takes the numbers of the latter on the way.
    pub(in crate::slurm) fn take(
        &mut self,
        settings: &Settings,
        snapshot: &Snapshot,
        tables: &Tables,
    ) -> Range<usize> {
        if self.next == self.prices.len() {
            self.prices.truncate(self.to_write);
            loop {
                if snapshot.is_order_only() {
                    self.number(settings, snapshot);
                }
                self.next = self.to_write;
                self.collect(settings, snapshot, tables, self.next + BATCH);
                // Skipped rows may have preceded a row with a number.
                let is_done = self.next_row >= snapshot.waiting().len();
                if is_done || self.next < self.prices.len() {
                    break;
                }
            }
        }
        self.next..self.prices.len().min(self.next + BATCH)
    }

    /// Takes jobs with numbers, up to the first one without a number.
    fn number(&mut self, settings: &Settings, snapshot: &Snapshot) {
        let only_raises = settings.config.priority_flags.incr_only;
        let first = self.next_row;
        let rows = snapshot.waiting().get(first..).unwrap_or_default();
        for (position, row) in (first..).zip(rows) {
            let Some(number) = number_in(&self.numbers, position) else {
                break;
            };
            self.next_row = position + 1;
            let mut price = ffi::shim_price {
                priority: number,
                notify: !only_raises || number > row.priority,
                ..price_of(position, row)
            };
            if let Some(lists) = snapshot.lists().get(row.lists as usize) {
                let counts = [lists.partitions_len, lists.qos_len].map(|len| len as usize);
                let (start, count) = (self.variants.len(), variant_count(counts[0], counts[1]));
                self.variants.resize(start + count, number);
                set_variants(&mut price, start, count);
            }
            match keeps(&price, row) {
                true => self.stays = true,
                false => self.prices.push(price),
            }
        }
        self.to_write = self.prices.len();
    }

    /// Takes waiting jobs of a snapshot that a pass prices, until there are `len` or no more.
    pub(in crate::slurm) fn collect(
        &mut self,
        settings: &Settings,
        snapshot: &Snapshot,
        tables: &Tables,
        len: usize,
    ) {
        // Without slurmdbd, the factors from associations do not count.
        let assoc = |id| {
            settings
                .has_slurmdbd
                .then(|| snapshot.assoc_row(id))
                .flatten()
        };
        let first = self.next_row;
        let rows = snapshot.waiting().get(first..).unwrap_or_default();
        for (position, row) in (first..).zip(rows) {
            let only_numbered =
                || snapshot.is_order_only() && number_in(&self.numbers, position).is_some();
            if self.prices.len() >= len || only_numbered() {
                break;
            }
            self.next_row = position + 1;
            if let Some(later) = rows.get(position - first + AHEAD) {
                snapshot.prefetch_assoc_row(later.assoc_id);
            }
            if row.is(ffi::SHIM_POWERING_UP)
                || !row.is(ffi::SHIM_HAS_DETAILS)
                || passed_over(settings, row)
            {
                continue;
            }
            let assoc = assoc(row.assoc_id);
            if let Some(factors) = assoc.and_then(|row| tables.job_tables.assocs.get(row as usize))
            {
                host::prefetch(factors);
            }
            self.prices.push(ffi::shim_price {
                assoc: assoc.unwrap_or(NONE),
                ..price_of(position, row)
            });
        }
    }

    /// The jobs as the engine's rows.
    pub(in crate::slurm) fn jobs<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        of: Range<usize>,
    ) -> impl ExactSizeIterator<Item = Job> + 'a {
        self.prices[of].iter().map(|price| {
            let row = &snapshot.waiting()[price.row as usize];
            let assoc = (price.assoc != NONE).then(|| AssocIndex::new(price.assoc as usize));
            Tables::job(snapshot, row, assoc)
        })
    }

    /// The jobs as the engine's rows, without requested resources, each with the number of accruing
    /// jobs that precede it in slurmctld's list.
    pub(in crate::slurm) fn among<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        accruing: &'a [u32],
    ) -> impl Iterator<Item = (Job, usize)> + 'a {
        let waiting = |row: u32| snapshot.accruing()[row as usize].waiting;
        let mut next = 0;
        let jobs = self.jobs(snapshot, 0..self.prices.len());
        jobs.zip(&self.prices).map(move |(job, price)| {
            while next < accruing.len() && waiting(accruing[next]) <= price.row {
                next += 1;
            }
            (Job { tres: None, ..job }, next)
        })
    }

    /// Takes settings and the weights of TRES, once for all jobs.
    pub(in crate::slurm) fn weigh(
        &mut self,
        pricer: &Pricer<'_>,
        settings: &Settings,
        snapshot: &Snapshot,
        tables: &Tables,
    ) {
        let tres = if settings.weighs_tres() {
            snapshot.tres_count()
        } else {
            0
        };
        self.only_raises = settings.config.priority_flags.incr_only;
        self.weighed_terms.resize(tables.weighed.len(), 0.0);
        self.tres_weights.resize(tres, 0.0);
        pricer.tres_weights(&mut self.weighed_terms);
        spread(&tables.weighed, &self.weighed_terms, &mut self.tres_weights);
    }

    /// Prices the jobs that were taken, and writes the terms of their priorities to `factors`, which
    /// then point into `self`. Jobs that already have the right priority are dropped.
    pub(in crate::slurm) fn price(
        &mut self,
        pricer: &Pricer<'_>,
        snapshot: &Snapshot,
        tables: &Tables,
        of: Range<usize>,
        factors: &mut [ffi::shim_factors],
    ) {
        let tells = log::tells_priorities();
        let tres = self.tres_weights.len();
        self.tres_terms.clear();
        self.tres_terms.resize(of.len() * tres, 0.0);
        for (at, price) in self.prices[of.clone()].iter_mut().enumerate() {
            let row = &snapshot.waiting()[price.row as usize];
            let job = Tables::job(snapshot, row, None);
            let assoc = tables.job_tables.assocs.get(price.assoc as usize);
            let priced = pricer.price_with(&job, &assoc.copied().unwrap_or_default());
            let number = number_in(&self.numbers, price.row as usize);
            let priority = number.unwrap_or(priced.priority);
            price.priority = priority;
            // Stock notifies clients about each job that it prices.
            price.notify = !self.only_raises || priority > price.seen_priority;
            if tells {
                log::priority(|| describe(row.job_id, &priced));
            }
            if priority == u32::MAX {
                self.overflows.note(row.job_id, &priced);
            }
            if row.lists != NONE {
                let variants = self.variants.len();
                let count = pricer.variants(&job).len();
                self.variants.resize(variants + count, 0);
                let to = &mut self.variants[variants..];
                pricer.price_variants(&job, &priced, to);
                if let Some(number) = number {
                    to.fill(number);
                } else if self.only_raises {
                    snapshot.raise_variants(snapshot.lists().get(row.lists as usize), to);
                }
                set_variants(price, variants, count);
            }
            let terms = &mut self.tres_terms[at * tres..][..tres];
            if tres > 0 {
                pricer.tres_terms(&job, &mut self.weighed_terms);
                spread(&tables.weighed, &self.weighed_terms, terms);
            }
            factors[at] = to_shim(&priced, price.seen_direct, terms, &self.tres_weights);
        }
        self.keep_changed(snapshot, of);
    }

    /// Moves priced jobs that must be written next to the earlier ones.
    fn keep_changed(&mut self, snapshot: &Snapshot, of: Range<usize>) {
        self.next = of.end;
        for at in of {
            let price = self.prices[at];
            let keeps = keeps(&price, &snapshot.waiting()[price.row as usize]);
            self.stays |= keeps;
            self.prices[self.to_write] = price;
            self.to_write += usize::from(!keeps);
        }
    }

    /// Logs priorities that are too large.
    pub(in crate::slurm) fn log_overflows(&mut self) {
        std::mem::take(&mut self.overflows).log();
    }

    /// Prices of some jobs, and the variants to which they refer.
    pub(in crate::slurm) fn prices(&self, of: Range<usize>) -> (&[ffi::shim_price], &[u32]) {
        (&self.prices[of], &self.variants)
    }
}

/// Copies numbers of the TRES with a weight, `weighed`, to the positions of these TRES in
/// slurmctld.
fn spread(weighed: &[u32], from: &[f64], to: &mut [f64]) {
    to.fill(0.0);
    for (place, number) in weighed.iter().zip(from) {
        if let Some(to) = to.get_mut(*place as usize) {
            *to = *number;
        }
    }
}

/// Jobs whose priority is too large. One line of the log for all of them: a wrong weight affects
/// the whole queue.
#[derive(Default)]
struct Overflows {
    first: Option<u32>,
    count: usize,
}

impl Overflows {
    fn note(&mut self, job_id: u32, priced: &Priced) {
        if priced.overflow {
            self.first.get_or_insert(job_id);
            self.count += 1;
        }
    }

    fn log(&self) {
        if let Some(first) = self.first {
            log::error(format_args!(
                "priorities of job {first} and {} other jobs exceed 4294967295 and are set to it: check \
                 PriorityWeight*",
                self.count - 1
            ));
        }
    }
}

fn or_null(numbers: &[f64]) -> *const f64 {
    if numbers.is_empty() {
        std::ptr::null()
    } else {
        numbers.as_ptr()
    }
}

/// Converts factors for the shim; the pointers are valid as long as the slices.
pub(in crate::slurm) fn to_shim(
    priced: &Priced,
    clear: bool,
    tres: &[f64],
    tres_weights: &[f64],
) -> ffi::shim_factors {
    ffi::shim_factors {
        age: priced.age,
        assoc: priced.assoc,
        fairshare: priced.fairshare,
        job_size: priced.job_size,
        partition: priced.partition,
        qos: priced.qos,
        tres: or_null(tres),
        tres_weights: or_null(tres_weights),
        tres_len: tres.len(),
        site: priced.site,
        nice: priced.nice,
        clear,
    }
}

/// A line of the log for `DebugFlags=Priority`.
fn describe(job_id: u32, priced: &Priced) -> String {
    format!(
        "job {}: {} = age {:.2} + assoc {:.2} + fairshare {:.2} + size {:.2} + partition {:.2} \
         + QOS {:.2} + TRES {:.2} + site {} - nice {}",
        job_id,
        priced.priority,
        priced.age,
        priced.assoc,
        priced.fairshare,
        priced.job_size,
        priced.partition,
        priced.qos,
        priced.tres,
        priced.site,
        priced.nice
    )
}
