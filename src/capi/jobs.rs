//! Pricing jobs in bulk.

use crate::priority::Block;

use super::batch::Batch;
use super::config::ConfigHandle;
use super::guard;
use super::job_rows::{BatchRow, JobRow, PricedRow};
use super::site::SiteHandle;
use super::tree::TreeHandle;
use super::view::{self, OutArray};

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
        out.expect_len(batch.len(), "jobs", "priorities")?;
        if terms.len() > 0 {
            terms.expect_len(batch.len(), "jobs", "terms")?;
        }
        let pricer = batch.pricer()?;
        let mut prices: Vec<u32> = Vec::with_capacity(out.len());
        let mut keep = |rows: &[JobRow], block: &Block| {
            prices.extend_from_slice(&block.priorities()[..rows.len()]);
        };
        if terms.len() == 0 {
            batch.for_each(&pricer, &mut keep)?;
        } else if batch.overlaps(&terms) {
            let mut found = Vec::with_capacity(terms.len());
            batch.for_each(&pricer, |rows, block| {
                found.extend(priced_rows(rows, block));
                keep(rows, block);
            })?;
            // SAFETY: the caller passes a writable array.
            unsafe { terms.write(found) };
        } else {
            // Terms are many bytes: they go straight to where they belong, once nothing can fail.
            batch.check()?;
            let mut next = 0;
            batch.for_each(&pricer, |rows, block| {
                for row in priced_rows(rows, block) {
                    // SAFETY: the caller passes a writable array; no input lies in it.
                    unsafe { terms.write_at(next, row) };
                    next += 1;
                }
                keep(rows, block);
            })?;
        }
        drop(batch);
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(prices) };
        Ok(())
    })
}

/// The rows of terms of a block.
#[inline(always)]
fn priced_rows(rows: &[JobRow], block: &Block) -> impl Iterator<Item = PricedRow> {
    let rows = rows.iter().enumerate();
    rows.map(|(at, row)| PricedRow::from(&block.priced(at, row)))
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
        starts.expect_len(batch.len() + 1, "offsets", "offsets")?;
        let out = OutArray::new(priorities, priorities_len, "priorities")?;
        // SAFETY: the caller passes an initialised array.
        let mut prices = unsafe { view::slice(priorities, priorities_len, "priorities")? }.to_vec();
        let (mut found, mut total) = (vec![0], 0_usize);
        let wanted = out.len() > 0;
        let pricer = batch.pricer()?;
        batch.for_each_job(&pricer, |job, priced| {
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
        let per_job = batch.tres_len();
        // As many as were read from memory already: no overflow.
        out.expect_len(batch.len() * per_job, "TRES of all jobs", "terms")?;
        let mut found = vec![0.0; out.len()];
        let mut rows = found.chunks_exact_mut(per_job.max(1));
        let pricer = batch.pricer()?;
        batch.for_each_job(&pricer, |job, _| {
            if let Some(row) = rows.next() {
                pricer.tres_terms(job, row);
            }
        })?;
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(found) };
        Ok(())
    })
}
