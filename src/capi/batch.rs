//! A batch of jobs: the caller's rows checked, and made into the engine's.

use std::borrow::Cow;
use std::ops::Range;

use crate::config::Config;
use crate::priority::{AssocFactors, Index, Job, JobTables, Priced, Pricer, PriorityError, Span};

use super::config::ConfigHandle;
use super::error::{Failure, Status};
use super::handle;
use super::job_rows::{BatchRow, FT_JOB_DIRECT, FT_THREADS_MAX, JobRow, ListsRow};
use super::site::{SiteHandle, SiteModel};
use super::tree::{FT_NONE, TreeHandle, TreeModel};
use super::users::Users;
use super::view;

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

/// Jobs that a thread takes at least.
const LEAST_SHARE: usize = 64;

/// When jobs are priced: in a pass, or when they are submitted, changed or released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// As [`Pricer::price`].
    Pass,
    /// As [`Pricer::price_set`].
    Set,
}

/// The engine's tables, and the caller's rows.
pub(super) struct Batch<'a> {
    tables: JobTables,
    config: &'a Config,
    users: Users<'a>,
    jobs: Cow<'a, [JobRow]>,
    /// One per job, or empty.
    site_factors: Cow<'a, [i32]>,
    /// One per job, or empty.
    lists: Cow<'a, [ListsRow]>,
    counts: Cow<'a, [u64]>,
    tres_rows: usize,
    now: i64,
    when: When,
    threads: u32,
}

impl<'a> Batch<'a> {
    /// # Safety
    /// Handles are live or NULL and no other thread changes them; `batch` is NULL or a readable struct
    /// whose arrays are readable.
    pub(super) unsafe fn new(
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

    /// Priced with the factors that `tree` has.
    ///
    /// # Safety
    /// The arrays of `batch` are readable.
    pub(super) unsafe fn of_rows(
        config: &'a Config,
        site: &'a SiteModel,
        tree: Option<&'a TreeModel>,
        batch: &BatchRow,
    ) -> Result<Batch<'a>, Failure> {
        let users = Users::new(tree, site.assoc_priorities())?;
        // SAFETY: as promised by the caller of this function.
        unsafe { Batch::with_users(config, site, users, batch) }
    }

    /// To be checked before a pass computes the factors that it is priced with.
    ///
    /// # Safety
    /// The arrays of `batch` are readable.
    pub(super) unsafe fn before_a_pass(
        config: &'a Config,
        site: &'a SiteModel,
        tree: &'a TreeModel,
        batch: &BatchRow,
    ) -> Result<Batch<'a>, Failure> {
        let users = Users::before_a_pass(tree, site.assoc_priorities());
        // SAFETY: as promised by the caller of this function.
        unsafe { Batch::with_users(config, site, users, batch) }
    }

    /// # Safety
    /// The arrays of `batch` are readable.
    unsafe fn with_users(
        config: &'a Config,
        site: &'a SiteModel,
        users: Users<'a>,
        batch: &BatchRow,
    ) -> Result<Batch<'a>, Failure> {
        // SAFETY: as promised by the caller of this function.
        let (jobs, site_factors, lists, partitions, qos, counts) = unsafe {
            (
                view::rows(batch.jobs, batch.jobs_len, batch.job_size, "batch.jobs")?,
                view::slice(
                    batch.site_factors,
                    batch.site_factors_len,
                    "batch.site_factors",
                )?,
                match (batch.lists.is_null(), batch.lists_len) {
                    (true, 0) => Cow::Borrowed(&[][..]),
                    (_, len) => view::rows(batch.lists, len, batch.list_size, "batch.lists")?,
                },
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
        for (len, argument) in [
            (site_factors.len(), "batch.site_factors"),
            (lists.len(), "batch.lists"),
        ] {
            if len > 0 {
                view::expect_len(len, jobs.len(), "jobs", argument)?;
            }
        }
        let mut tables = site.tables();
        tables.partition_lists = positions(partitions, "batch.partition_lists")?;
        tables.qos_lists = positions(qos, "batch.qos_lists")?;
        Ok(Batch {
            tables,
            config,
            users,
            jobs,
            site_factors: site_factors.into(),
            lists,
            counts: counts.into(),
            tres_rows: count_rows(counts, site.tres_len())?,
            now: batch.now,
            when: when(batch)?,
            threads: batch.threads,
        })
    }

    /// How many jobs there are.
    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The jobs with the associations that they run under, checked before.
    pub(super) fn queue(&self, tree: &TreeModel) -> Vec<Job> {
        let job = |number: usize| Job {
            assoc: tree.tree().index_of(self.jobs[number].assoc),
            ..self.job(number)
        };
        (0..self.len()).map(job).collect()
    }

    /// How many TRES there are.
    pub(super) fn tres_len(&self) -> usize {
        self.tables.tres_names.len()
    }

    /// Returns true if one of the caller's inputs lies in `out`.
    pub(super) fn overlaps<T: view::Plain>(&self, out: &view::OutArray<T>) -> bool {
        out.overlaps(&self.jobs)
            || out.overlaps(&self.site_factors)
            || out.overlaps(&self.lists)
            || out.overlaps(&self.counts)
    }

    /// Copies the caller's rows, so that their memory may change.
    pub(super) fn detach(&mut self) {
        self.jobs.to_mut();
        self.site_factors.to_mut();
        self.lists.to_mut();
        self.counts.to_mut();
    }

    /// How many jobs a thread gets where as many as the caller allows share them.
    pub(super) fn share(&self) -> usize {
        let threads = self.threads.max(1) as usize;
        self.len().div_ceil(threads).max(LEAST_SHARE)
    }

    pub(super) fn pricer(&self) -> Result<Pricer<'_>, Failure> {
        let pricer = Pricer::new(self.config, &self.tables, self.now)?;
        Ok(pricer.with_job_counts(&self.counts))
    }

    /// Checks all jobs; after that [`Batch::for_each`] does not fail.
    pub(super) fn check(&self) -> Result<(), Failure> {
        (0..self.len()).try_for_each(|number| self.look_up(number).map(drop))
    }

    /// Calls `each` with these jobs in their order, checked and priced, and with the number of each.
    pub(super) fn for_each(
        &self,
        jobs: Range<usize>,
        pricer: &Pricer<'_>,
        mut each: impl FnMut(usize, &Job, Priced),
    ) -> Result<(), Failure> {
        for number in jobs {
            let (job, assoc) = self.look_up(number)?;
            let priced = match self.when {
                When::Pass => pricer.price_with(&job, &assoc),
                When::Set => pricer.price_set_with(&job, &assoc),
            };
            each(number, &job, priced);
        }
        Ok(())
    }

    /// A job and the factors of its user, checked.
    fn look_up(&self, number: usize) -> Result<(Job, AssocFactors), Failure> {
        let row = &self.jobs[number];
        let lists = self.lists.get(number);
        let is_sound = self.is_sound(row) && lists.is_none_or(|lists| self.are_within(lists));
        match self.users.find(row.assoc).filter(|_| is_sound) {
            Some(assoc) => Ok((self.job(number), assoc)),
            None => Err(self.complaint(number)),
        }
    }

    /// Returns true if all rows exist that a job refers to, except its user and lists.
    fn is_sound(&self, row: &JobRow) -> bool {
        let Job { partition, qos, .. } = self.plain(row);
        Index::slot(partition) as usize <= self.tables.partitions.len()
            && Index::slot(qos) as usize <= self.tables.qos.len()
            && row.tres_slot() as usize <= self.tres_rows
            && row.flags & !FT_JOB_DIRECT == 0
    }

    /// Returns true if the lists are inside the caller's arrays.
    fn are_within(&self, lists: &ListsRow) -> bool {
        let ends = |start: u32, len: u32, all: usize| {
            len == 0 || u64::from(start) + u64::from(len) <= all as u64
        };
        let JobTables {
            partition_lists,
            qos_lists,
            ..
        } = &self.tables;
        ends(
            lists.partitions_start,
            lists.partitions_len,
            partition_lists.len(),
        ) && ends(lists.qos_start, lists.qos_len, qos_lists.len())
    }

    /// The error of a job that is not sound.
    #[cold]
    fn complaint(&self, number: usize) -> Failure {
        let row = &self.jobs[number];
        let at = format!("batch.jobs[{number}]");
        if row.flags & !FT_JOB_DIRECT != 0 {
            let sentence = format!("{at}: flags {:#x} are unknown", row.flags);
            return Failure::new(Status::FT_ERR_ENUM, sentence);
        }
        if self.users.find(row.assoc).is_none() {
            return self.users.complaint(row.assoc, &at);
        }
        let rows = self.tres_rows;
        if row.tres_row != FT_NONE && row.tres_row as usize >= rows {
            let sentence = format!("{at}: tres_row {}, but there are {rows} rows", row.tres_row);
            return Failure::new(Status::FT_ERR_UNKNOWN_INDEX, sentence);
        }
        let job = Job {
            tres: None,
            ..self.job(number)
        };
        match self.tables.check_job(&job) {
            Ok(()) => unreachable!("both checks agree"),
            Err(error) => {
                let failure = Failure::from(error);
                Failure::new(failure.status, format!("{at}: {}", failure.sentence))
            }
        }
    }

    /// The engine's row of the job with this number, which is sound; its user comes beside it.
    fn job(&self, number: usize) -> Job {
        let row = &self.jobs[number];
        let lists = self.lists.get(number);
        Job {
            // A number for messages only.
            id: u32::try_from(number).unwrap_or(u32::MAX),
            partitions: lists.map_or(Span::default(), |lists| Span {
                start: lists.partitions_start,
                len: lists.partitions_len,
            }),
            qos_list: lists.map_or(Span::default(), |lists| Span {
                start: lists.qos_start,
                len: lists.qos_len,
            }),
            site_factor: self.site_factors.get(number).copied().unwrap_or(0),
            ..self.plain(row)
        }
    }

    /// The engine's row of a job, without what comes beside it.
    fn plain(&self, row: &JobRow) -> Job {
        row.job(self.tres_len())
    }
}

fn when(batch: &BatchRow) -> Result<When, Failure> {
    if batch.threads > FT_THREADS_MAX {
        let sentence = format!(
            "batch.threads is {}, but FT_THREADS_MAX is {FT_THREADS_MAX}",
            batch.threads
        );
        return Err(Failure::new(Status::FT_ERR_RANGE, sentence));
    }
    match batch.mode {
        0 => Ok(When::Pass),
        1 => Ok(When::Set),
        mode => Err(Failure::new(
            Status::FT_ERR_ENUM,
            format!("batch.mode {mode} is neither FT_MODE_PASS nor FT_MODE_SET"),
        )),
    }
}

/// How many rows of `len` numbers there are.
fn count_rows(counts: &[u64], len: usize) -> Result<usize, Failure> {
    let whole = match len {
        0 => counts.is_empty(),
        len => counts.len() % len == 0,
    };
    if !whole || u32::try_from(counts.len()).is_err() {
        return Err(Failure::new(
            Status::FT_ERR_LENGTH,
            format!(
                "batch.tres_counts: {} numbers are no rows of {len}",
                counts.len()
            ),
        ));
    }
    Ok(counts.len().checked_div(len).unwrap_or(0))
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
