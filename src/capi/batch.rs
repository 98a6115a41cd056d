//! A batch of jobs: the caller's rows checked, and made into the engine's.

use std::borrow::Cow;
use std::ops::Range;

use crate::config::Config;
use crate::priority::{
    AssocFactors, BLOCK, Block, Index, Job, JobTables, Priced, Pricer, PriorityError, Span, When,
};

use super::config::ConfigHandle;
use super::error::{Failure, Status};
use super::handle;
use super::job_rows::{BatchRow, FT_JOB_DIRECT, FT_THREADS_MAX, JobRow, ListsRow};
use super::site::{SiteHandle, SiteModel};
use super::tree::{FT_NONE, TreeHandle, TreeModel};
use super::user_factors::{ById, NO_USER};
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

    /// How many jobs a thread gets where as many as the caller allows share them: whole blocks.
    pub(super) fn share(&self) -> usize {
        let threads = self.threads.max(1) as usize;
        self.len()
            .div_ceil(threads)
            .next_multiple_of(BLOCK)
            .max(BLOCK)
    }

    pub(super) fn pricer(&self) -> Result<Pricer<'_>, Failure> {
        let pricer = Pricer::new(self.config, &self.tables, self.now)?;
        Ok(pricer.with_job_counts(&self.counts))
    }

    /// Checks all jobs; after that [`Batch::for_each`] does not fail.
    pub(super) fn check(&self, pricer: &Pricer<'_>) -> Result<(), Failure> {
        let mut block = Block::default();
        self.blocks(0..self.len())
            .try_for_each(|jobs| self.look_up(jobs, pricer, &mut block))
    }

    /// The numbers of these jobs, block by block.
    fn blocks(&self, jobs: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let end = jobs.end;
        jobs.step_by(BLOCK)
            .map(move |first| first..end.min(first + BLOCK))
    }

    /// Calls `each` with the blocks of these jobs in their order, checked and priced, and with the
    /// number of each block's first one.
    #[inline(always)]
    pub(super) fn for_each(
        &self,
        jobs: Range<usize>,
        pricer: &Pricer<'_>,
        mut each: impl FnMut(usize, &[JobRow], &Block),
    ) -> Result<(), Failure> {
        let mut block = Block::default();
        for jobs in self.blocks(jobs) {
            self.look_up(jobs.clone(), pricer, &mut block)?;
            let rows = &self.jobs[jobs.clone()];
            block.fill(pricer, rows, |row| self.plain(row), self.when);
            each(jobs.start, rows, &block);
        }
        Ok(())
    }

    /// Calls `each` with all jobs in their order, checked and priced.
    pub(super) fn for_each_job(
        &self,
        pricer: &Pricer<'_>,
        mut each: impl FnMut(&Job, Priced),
    ) -> Result<(), Failure> {
        self.for_each(0..self.len(), pricer, |first, rows, block| {
            for (at, row) in rows.iter().enumerate() {
                each(&self.job(first + at), block.priced(at, &self.plain(row)));
            }
        })
    }

    /// Reads these jobs, a block at most, finds what comes beside their rows, and checks them.
    #[inline(always)]
    fn look_up(
        &self,
        jobs: Range<usize>,
        pricer: &Pricer<'_>,
        block: &mut Block,
    ) -> Result<(), Failure> {
        let rows = &self.jobs[jobs.clone()];
        let found = match self.users.by_id() {
            ById::Ranks(ranks, users) => {
                let found = self.read(jobs.clone(), pricer, block, ranks);
                block.fs_factors.iter_mut().for_each(|rank| *rank /= users);
                found
            }
            ById::Factors(factors) => self.read(jobs.clone(), pricer, block, factors),
        };
        let mut sound = match found && !self.users.have_priorities() {
            true => true,
            false => self.find_users(rows, pricer, block),
        };
        if !self.site_factors.is_empty() {
            block.site_factors[..rows.len()].copy_from_slice(&self.site_factors[jobs.clone()]);
        }
        sound &= self.are_sound(rows, block);
        if !self.lists.is_empty() {
            let lists = &self.lists[jobs.clone()];
            sound &= lists.iter().all(|lists| self.are_within(lists));
        }
        match sound {
            true => Ok(()),
            false => Err(self.complaint(jobs)),
        }
    }

    /// Reads these jobs, and for each of them what `by_id` has for its user; false where that is a
    /// hole or NaN.
    #[inline(always)]
    fn read<T: Copy + Into<f64>>(
        &self,
        jobs: Range<usize>,
        pricer: &Pricer<'_>,
        block: &mut Block,
        by_id: &[T],
    ) -> bool {
        let rows = &self.jobs[jobs.clone()];
        // After the last blocks there is nothing to prefetch.
        let next = self.jobs.get(jobs.end..jobs.end + BLOCK).unwrap_or(rows);
        let mut found = true;
        block.read(
            pricer,
            rows,
            |row| self.plain(row),
            |at, row| {
                // Cache misses of these reads cost more than all arithmetic on the values: prefetch.
                view::prefetch(by_id.as_ptr().wrapping_add(next[at].assoc as usize));
                view::prefetch(rows.as_ptr().wrapping_add(at + 2 * BLOCK));
                let in_table = by_id.get(row.assoc as usize);
                let fs_factor = in_table.map_or(NO_USER, |found| (*found).into());
                found &= fs_factor >= 0.0;
                AssocFactors {
                    fs_factor,
                    ..AssocFactors::default()
                }
            },
        );
        found
    }

    /// Looks users up one by one, for the cases that the table does not cover; false if one of them
    /// is not valid.
    #[inline(never)]
    fn find_users(&self, rows: &[JobRow], pricer: &Pricer<'_>, block: &mut Block) -> bool {
        rows.iter().enumerate().all(|(at, row)| {
            let found = self.users.find(row.assoc);
            block.set_assoc(pricer, at, &found.unwrap_or_default());
            found.is_some()
        })
    }

    /// Returns true if all rows exist that these jobs refer to, except users and lists. A few
    /// operations per job and one branch for all.
    #[inline(always)]
    fn are_sound(&self, rows: &[JobRow], block: &Block) -> bool {
        let most =
            |slots: &[u32; BLOCK]| slots.iter().fold(0, |most, slot| most.max(*slot)) as usize;
        let (mut tres_slot, mut flags) = (0, 0);
        for row in rows {
            tres_slot = row.tres_slot().max(tres_slot);
            flags |= row.flags;
        }
        most(&block.partitions) <= self.tables.partitions.len()
            && most(&block.qos_slots) <= self.tables.qos.len()
            && tres_slot as usize <= self.tres_rows
            && flags & !FT_JOB_DIRECT == 0
    }

    /// The same for one job.
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

    /// The error of the first of these jobs that is not sound.
    #[cold]
    fn complaint(&self, mut jobs: Range<usize>) -> Failure {
        let is_bad = |number: &usize| {
            let row = &self.jobs[*number];
            self.users.find(row.assoc).is_none()
                || !self.is_sound(row)
                || self
                    .lists
                    .get(*number)
                    .is_some_and(|lists| !self.are_within(lists))
        };
        let number = jobs
            .find(is_bad)
            .expect("a job that was found to be unsound");
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
    #[inline(always)]
    pub(super) fn plain(&self, row: &JobRow) -> Job {
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
