//! Pricing jobs in bulk.

use crate::priority::{Index, Job, Priced, Pricer, PriorityError, Site, Span, TimeLimit};

use super::config::ConfigHandle;
use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::job_rows::{BatchRow, JobRow, PricedRow};
use super::site::{FT_UNLIMITED, SiteHandle, SiteModel};
use super::tree::{FT_NONE, TreeHandle, TreeModel};
use super::users::Users;
use super::view::{self, OutArray};

impl From<PriorityError> for Failure {
    fn from(error: PriorityError) -> Failure {
        let status = match error {
            PriorityError::UnknownTres { .. } => Status::FT_ERR_UNKNOWN_TRES,
            PriorityError::BadNumber { .. } => Status::FT_ERR_RANGE,
            PriorityError::OutOfRange { .. } => Status::FT_ERR_UNKNOWN_INDEX,
        };
        Failure::new(status, error.to_string())
    }
}

/// A checked batch: the engine's tables, and the caller's rows.
struct Batch<'a> {
    tables: Site,
    config: &'a crate::config::Config,
    users: Users<'a>,
    jobs: std::borrow::Cow<'a, [JobRow]>,
    /// Where the first row of TRES counts of jobs starts in the tables.
    tres_base: usize,
    tres_rows: usize,
    now: i64,
    outside_pass: bool,
}

impl<'a> Batch<'a> {
    /// # Safety
    /// Handles are live or NULL and nobody changes them; `batch` is NULL or a readable struct
    /// whose arrays are readable.
    unsafe fn new(
        config: *const ConfigHandle,
        site: *const SiteHandle,
        tree: *const TreeHandle,
        batch: *const BatchRow,
    ) -> Result<Batch<'a>, Failure> {
        // SAFETY: as promised by the caller of this function.
        let (config, site, batch) = unsafe {
            (
                handle::shared(config, "config")?,
                handle::shared(site, "site")?,
                view::options(batch, "batch")?,
            )
        };
        let tree = match tree.is_null() {
            true => None,
            // SAFETY: as promised by the caller of this function.
            false => Some(unsafe { handle::shared(tree, "tree")? }),
        };
        // SAFETY: as promised by the caller of this function.
        unsafe { Batch::of_rows(&config.config, site, tree, &batch) }
    }

    /// # Safety
    /// The arrays of `batch` are readable.
    unsafe fn of_rows(
        config: &'a crate::config::Config,
        site: &SiteModel,
        tree: Option<&'a TreeModel>,
        batch: &BatchRow,
    ) -> Result<Batch<'a>, Failure> {
        // SAFETY: as promised by the caller of this function.
        let (jobs, partitions, qos, counts) = unsafe {
            (
                view::rows(batch.jobs, batch.jobs_len, batch.job_size, "batch.jobs")?,
                view::slice(
                    batch.partition_lists,
                    batch.partition_lists_len,
                    "batch.partition_lists",
                )?,
                view::slice(batch.qos_lists, batch.qos_lists_len, "batch.qos_lists")?,
                view::slice(
                    batch.tres_counts,
                    batch.tres_counts_len,
                    "batch.tres_counts",
                )?,
            )
        };
        let outside_pass = match batch.mode {
            0 => false,
            1 => true,
            mode => {
                return Err(Failure::new(
                    Status::FT_ERR_ENUM,
                    format!("batch.mode {mode} is neither FT_MODE_PASS nor FT_MODE_SET"),
                ));
            }
        };
        if batch.reserved != 0 {
            return Err(Failure::new(
                Status::FT_ERR_RANGE,
                format!("batch.reserved is {}, but must be 0", batch.reserved),
            ));
        }
        let mut tables = site.tables(tree)?;
        tables.partition_lists = positions(partitions, "batch.partition_lists")?;
        tables.qos_lists = positions(qos, "batch.qos_lists")?;
        let (tres_base, tres_len) = (tables.tres_counts.len(), site.tres_len());
        let whole_rows = match tres_len {
            0 => counts.is_empty(),
            len => counts.len() % len == 0,
        };
        if !whole_rows || u32::try_from(tres_base + counts.len()).is_err() {
            return Err(Failure::new(
                Status::FT_ERR_LENGTH,
                format!(
                    "batch.tres_counts: {} numbers are no rows of {tres_len}",
                    counts.len()
                ),
            ));
        }
        tables.tres_counts.extend_from_slice(counts);
        Ok(Batch {
            tables,
            config,
            users: Users::new(tree),
            jobs,
            tres_base,
            tres_rows: counts.len().checked_div(tres_len).unwrap_or(0),
            now: batch.now,
            outside_pass,
        })
    }

    fn pricer(&self) -> Result<Pricer<'_>, Failure> {
        Ok(Pricer::new(self.config, &self.tables, self.now)?)
    }

    /// Calls `each` with all jobs, checked.
    fn for_each(
        &self,
        pricer: &Pricer<'_>,
        mut each: impl FnMut(&Job, Priced),
    ) -> Result<(), Failure> {
        for (number, row) in self.jobs.iter().enumerate() {
            let job = self.job(number, row)?;
            let priced = match self.outside_pass {
                true => pricer.price_set(&job),
                false => pricer.price(&job),
            };
            each(&job, priced);
        }
        Ok(())
    }

    fn job(&self, number: usize, row: &JobRow) -> Result<Job, Failure> {
        let at = || format!("batch.jobs[{number}]");
        let index = |position: u32| (position != FT_NONE).then(|| Index::new(position as usize));
        if row.flags & !super::FT_JOB_DIRECT != 0 {
            return Err(Failure::new(
                Status::FT_ERR_ENUM,
                format!("{}: flags {:#x} are unknown", at(), row.flags),
            ));
        }
        let job = Job {
            id: row.id,
            assoc: self.users.find(row.assoc, at)?,
            partition: index(row.partition),
            qos: index(row.qos),
            partitions: Span {
                start: row.partitions_start,
                len: row.partitions_len,
            },
            qos_list: Span {
                start: row.qos_start,
                len: row.qos_len,
            },
            accrue_time: row.accrue_time,
            cpus: row.cpus,
            nodes: row.nodes,
            time_limit: match row.time_limit_mins {
                super::FT_UNSET => TimeLimit::Unset,
                FT_UNLIMITED => TimeLimit::Unlimited,
                minutes => TimeLimit::Minutes(minutes),
            },
            nice: row.nice,
            site_factor: row.site_factor,
            tres: self.tres(row.tres_row, at)?,
            priority: row.priority,
            direct: row.flags & super::FT_JOB_DIRECT != 0,
        };
        let checked = self.tables.check_job(&job);
        checked.map_err(|error| {
            let failure = Failure::from(error);
            Failure::new(failure.status, format!("{}: {}", at(), failure.sentence))
        })?;
        Ok(job)
    }

    fn tres(&self, row: u32, at: impl Fn() -> String) -> Result<Option<Index>, Failure> {
        if row == FT_NONE {
            return Ok(None);
        }
        if row as usize >= self.tres_rows {
            return Err(Failure::new(
                Status::FT_ERR_UNKNOWN_INDEX,
                format!(
                    "{}: tres_row {row}, but there are {} rows",
                    at(),
                    self.tres_rows
                ),
            ));
        }
        let start = self.tres_base + row as usize * self.tables.tres_names.len();
        Ok(Some(Index::new(start)))
    }
}

fn positions(list: &[u32], argument: &str) -> Result<Vec<Index>, Failure> {
    let entry = |(number, position): (usize, &u32)| match *position {
        FT_NONE => Err(Failure::new(
            Status::FT_ERR_UNKNOWN_INDEX,
            format!("{argument}[{number}] is FT_NONE"),
        )),
        position => Ok(Index::new(position as usize)),
    };
    list.iter().enumerate().map(entry).collect()
}

/// Prices jobs: a million in one call is fine.
///
/// The priority of a job is the sum of its factors, each times its weight, plus the site factor,
/// minus nice, cut to an integer in 1..4294967295. A job that is held, priority 0, stays held
/// (unless batch->mode says otherwise), and one with FT_JOB_DIRECT keeps its priority.
///
/// `tree`: its last computed factors count; NULL when no job has an association.
/// `priorities`: receives one priority per job, in the order of the jobs.
/// `terms`: receives the weighted terms of each job; (NULL, 0) when they are not wanted.
/// `row_size`: sizeof(ft_priced).
///
/// Errors, naming the job: FT_ERR_UNKNOWN_ID, FT_ERR_NOT_A_USER, FT_ERR_UNKNOWN_INDEX,
/// FT_ERR_ENUM; FT_ERR_UNKNOWN_TRES (in PriorityWeightTRES), FT_ERR_NOT_COMPUTED, FT_ERR_RANGE,
/// FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE,
/// FT_ERR_POISONED. Nothing is written then.
/// Threads: any number may read the same handles at a time: split a queue among them if you
/// like.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_jobs_price(
    config: *const ConfigHandle,
    site: *const SiteHandle,
    tree: *const TreeHandle,
    batch: *const BatchRow,
    priorities: *mut u32,
    priorities_len: usize,
    terms: *mut PricedRow,
    terms_len: usize,
    row_size: usize,
) -> i32 {
    guard::status("ft_jobs_price", || {
        // SAFETY: the caller passes live handles that nobody changes, and a readable batch.
        let batch = unsafe { Batch::new(config, site, tree, batch)? };
        let out = OutArray::new(priorities, priorities_len, "priorities")?;
        let terms = OutArray::rows(terms, terms_len, row_size, "terms")?;
        out.expect_len(batch.jobs.len(), "jobs", "priorities")?;
        if terms.len() > 0 {
            terms.expect_len(batch.jobs.len(), "jobs", "terms")?;
        }
        let mut prices = Vec::with_capacity(out.len());
        let mut rows = Vec::with_capacity(terms.len());
        batch.for_each(&batch.pricer()?, |_, priced| {
            prices.push(priced.priority);
            if terms.len() > 0 {
                rows.push(PricedRow::from(&priced));
            }
        })?;
        drop(batch);
        // SAFETY: the caller passes writable arrays.
        unsafe {
            out.write(prices);
            terms.write(rows);
        }
        Ok(())
    })
}

/// Prices jobs that asked for several partitions or several QOS: one priority for each way in
/// which a job could run.
///
/// Of a job with p partitions and q QOS there are p * q priorities: partition by partition in
/// the order of its list, and QOS by QOS within each. A job without any list has none.
///
/// `offsets`: receives, per job, where its priorities start, and behind the last job their
/// total: one more than there are jobs.
/// `priorities`: receives them, as many as the total; or (NULL, 0) to learn the offsets first.
/// It must be initialised (to 0, or with the last pass's priorities): those of held and
/// FT_JOB_DIRECT jobs stay as they are, and under INCR_ONLY numbers only grow.
///
/// Errors: as ft_jobs_price().
/// Threads: as ft_jobs_price().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_jobs_price_lists(
    config: *const ConfigHandle,
    site: *const SiteHandle,
    tree: *const TreeHandle,
    batch: *const BatchRow,
    offsets: *mut usize,
    offsets_len: usize,
    priorities: *mut u32,
    priorities_len: usize,
) -> i32 {
    guard::status("ft_jobs_price_lists", || {
        // SAFETY: the caller passes live handles that nobody changes, and a readable batch.
        let batch = unsafe { Batch::new(config, site, tree, batch)? };
        let starts = OutArray::new(offsets, offsets_len, "offsets")?;
        starts.expect_len(batch.jobs.len() + 1, "offsets", "offsets")?;
        let out = OutArray::new(priorities, priorities_len, "priorities")?;
        // SAFETY: the caller passes an initialised array.
        let mut prices = unsafe { view::slice(priorities, priorities_len, "priorities")? }.to_vec();
        let (mut found, mut total) = (vec![0], 0_usize);
        let wanted = out.len() > 0;
        let pricer = batch.pricer()?;
        batch.for_each(&pricer, |job, priced| {
            let count = pricer.variants(job).len();
            if let (true, Some(own)) = (wanted, prices.get_mut(total..total + count)) {
                pricer.price_variants(job, &priced, own);
            }
            total += count;
            found.push(total);
        })?;
        if wanted {
            out.expect_len(total, "priorities of lists", "priorities")?;
        }
        // SAFETY: the caller passes writable arrays.
        unsafe {
            starts.write(found);
            out.write(prices);
        }
        Ok(())
    })
}

/// Reads the weighted TRES factors of jobs one by one, of which the terms have the sum.
///
/// `terms`: receives one row per job, in the order of the jobs, each with one number per TRES,
/// in the order of the names given to ft_site_new().
///
/// Errors: as ft_jobs_price().
/// Threads: as ft_jobs_price().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_jobs_tres_terms(
    config: *const ConfigHandle,
    site: *const SiteHandle,
    tree: *const TreeHandle,
    batch: *const BatchRow,
    terms: *mut f64,
    terms_len: usize,
) -> i32 {
    guard::status("ft_jobs_tres_terms", || {
        // SAFETY: the caller passes live handles that nobody changes, and a readable batch.
        let batch = unsafe { Batch::new(config, site, tree, batch)? };
        let out = OutArray::new(terms, terms_len, "terms")?;
        let per_job = batch.tables.tres_names.len();
        // As many as were read from memory already: no overflow.
        out.expect_len(batch.jobs.len() * per_job, "TRES of all jobs", "terms")?;
        let mut found = vec![0.0; out.len()];
        let mut rows = found.chunks_exact_mut(per_job.max(1));
        let pricer = batch.pricer()?;
        batch.for_each(&pricer, |job, _| {
            if let Some(row) = rows.next() {
                pricer.tres_terms(job, row);
            }
        })?;
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(found) };
        Ok(())
    })
}
