//! Some waiting jobs priced together, straight from the rows of a snapshot.

use crate::priority::{AssocFactors, BLOCK, Block, Job, Priced, Pricer, Terms, When};
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::rows::tables::Tables;
use crate::slurm::runtime::host::ffi;

/// A block of waiting jobs with their prices; one block after the other.
pub(in crate::slurm) struct Batch<'a> {
    pricer: &'a Pricer<'a>,
    waiting: &'a [ffi::shim_waiting],
    /// Empty if no weight uses them.
    assocs: &'a [AssocFactors],
    rows: Vec<&'a ffi::shim_waiting>,
    block: Block,
}

impl<'a> Batch<'a> {
    /// Maximum number of jobs.
    pub(in crate::slurm) const LEN: usize = BLOCK;

    /// A batch without jobs.
    pub(in crate::slurm) fn new(
        pricer: &'a Pricer<'a>,
        snapshot: &'a Snapshot,
        tables: &'a Tables,
    ) -> Self {
        let assocs = &tables.job_tables.assocs[..];
        Batch {
            pricer,
            waiting: snapshot.waiting(),
            assocs: if pricer.asks_assocs() { assocs } else { &[] },
            rows: Vec::with_capacity(Self::LEN),
            block: Block::default(),
        }
    }

    pub(in crate::slurm) fn pricer(&self) -> &'a Pricer<'a> {
        self.pricer
    }

    /// Prices these jobs as [`Pricer::price`] does. Their field `priority` is ignored.
    pub(in crate::slurm) fn price(&mut self, jobs: &[ffi::shim_price]) {
        let rows = jobs.iter().map(|job| &self.waiting[job.row as usize]);
        self.rows.clear();
        self.rows.extend(rows);
        self.block.read(self.pricer, &self.rows, plain, |at, _| {
            let assoc = self.assocs.get(jobs[at].assoc as usize);
            assoc.copied().unwrap_or_default()
        });
        for (site_factor, row) in self.block.site_factors.iter_mut().zip(&self.rows) {
            *site_factor = row.site_factor;
        }
        self.block.fill(self.pricer, &self.rows, plain, When::Pass);
    }

    /// The jobs' rows and priorities.
    pub(in crate::slurm) fn jobs(
        &self,
    ) -> impl ExactSizeIterator<Item = (&'a ffi::shim_waiting, u32)> {
        let priorities = self.block.priorities().iter().copied();
        self.rows.iter().copied().zip(priorities)
    }

    /// Terms of the priority of the job at `at`.
    pub(in crate::slurm) fn priced(&self, at: usize) -> Priced {
        self.block.priced(at, &plain(&self.rows[at]))
    }

    /// The jobs' rows.
    pub(in crate::slurm) fn rows(&self) -> &[&'a ffi::shim_waiting] {
        &self.rows
    }

    /// Terms of their priorities, except TRES.
    pub(in crate::slurm) fn terms(&self) -> Terms<'_> {
        self.block.terms()
    }
}

/// A job from its row alone.
#[inline(always)]
fn plain(row: &&ffi::shim_waiting) -> Job {
    Tables::plain_job(row)
}
