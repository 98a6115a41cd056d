//! Pricing jobs in bulk.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::batch::Batch;
use super::config::ConfigHandle;
use super::error::Failure;
use super::guard;
use super::job_rows::{BatchRow, PricedRow};
use super::site::SiteHandle;
use super::tree::TreeHandle;
use super::view::{self, OutArray};

/// Prices jobs, a million or more in one call.
///
/// The priority of a job is the sum of its factors, each times its weight, plus the site factor,
/// minus nice, truncated to an integer in 1..4294967295. A job that is held, priority 0, stays held
/// (unless batch->mode says otherwise), and one with FT_JOB_DIRECT keeps its priority.
///
/// `tree`: the function uses its last computed factors; NULL when no job has an association.
/// `priorities`: receives one priority per job, in the order of the jobs.
/// `terms`: receives the weighted terms of each job; (NULL, 0) when they are not wanted.
/// `row_size`: sizeof(ft_priced).
///
/// Errors, naming the job: FT_ERR_UNKNOWN_ID, FT_ERR_NOT_A_USER, FT_ERR_UNKNOWN_INDEX,
/// FT_ERR_ENUM; FT_ERR_UNKNOWN_TRES (in PriorityWeightTRES), FT_ERR_NOT_COMPUTED, FT_ERR_RANGE,
/// FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE,
/// FT_ERR_POISONED. Nothing is written then.
/// Threads: any number may read the same handles at a time; you may split a queue among them.
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
        // SAFETY: the caller passes live handles that no other thread changes, and a readable batch.
        let mut batch = unsafe { Batch::new(config, site, tree, batch)? };
        let out = OutArray::new(priorities, priorities_len, "priorities")?;
        let terms = OutArray::rows(terms, terms_len, row_size, "terms")?;
        out.expect_len(batch.len(), "jobs", "priorities")?;
        if terms.len() > 0 {
            terms.expect_len(batch.len(), "jobs", "terms")?;
            if batch.overlaps(&terms) {
                batch.detach();
            }
            // Terms are many bytes: they go straight to where they belong, once nothing can fail.
            batch.check()?;
        }
        let mut prices = vec![0; out.len()];
        let wants_terms = terms.len() > 0;
        // SAFETY: the caller passes a writable array, no input lies in it, and every job has a row
        // of its own there.
        price_all(&batch, &mut prices, wants_terms, |number, row| unsafe {
            terms.write_at(number, row);
        })?;
        drop(batch);
        // SAFETY: the caller passes a writable array; `prices` is memory of our own.
        unsafe { out.write_all(&prices) };
        Ok(())
    })
}

/// Prices all jobs, in as many threads as the caller allows; `write` gets the terms of each, if
/// they are wanted.
pub(super) fn price_all(
    batch: &Batch<'_>,
    prices: &mut [u32],
    wants_terms: bool,
    write: impl Fn(usize, PricedRow) + Sync,
) -> Result<(), Failure> {
    let (pricer, write) = (batch.pricer()?, &write);
    let price = |first: usize, prices: &mut [u32]| {
        let jobs = first..first + prices.len();
        batch.for_each(jobs, &pricer, |number, _, priced| {
            prices[number - first] = priced.priority;
            if wants_terms {
                write(number, PricedRow::from(&priced));
            }
        })
    };
    let share = batch.share();
    if batch.len() <= share {
        return price(0, prices);
    }
    let parts = Mutex::new(prices.chunks_mut(share).enumerate());
    // Of several errors the one that one thread alone would have met.
    let first = Mutex::new(None);
    let work = || {
        while let Some((number, part)) = next(&parts) {
            if let Err(failure) = price(number * share, part) {
                let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(known, _)| number < *known) {
                    *first = Some((number, failure));
                }
            }
        }
    };
    thread::scope(|scope| {
        // A thread that the system refuses leaves its part to the others.
        let others: Vec<_> = (1..batch.len().div_ceil(share))
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        work();
        // Joined, not only done: no thread outlives the call.
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    first.map_or(Ok(()), |(_, failure)| Err(failure))
}

fn next<T>(parts: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    parts.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// Prices jobs that asked for several partitions or several QOS: one priority for each way in
/// which a job could run.
///
/// Of a job with p partitions and q QOS there are p * q priorities: partition by partition in
/// the order of its list, and QOS by QOS within each. A job without any list has none.
///
/// `offsets`: receives, per job, the index of its first priority, and after the last job their
/// total: one more entry than there are jobs.
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
        // SAFETY: the caller passes live handles that no other thread changes, and a readable batch.
        let batch = unsafe { Batch::new(config, site, tree, batch)? };
        let starts = OutArray::new(offsets, offsets_len, "offsets")?;
        starts.expect_len(batch.len() + 1, "offsets", "offsets")?;
        let out = OutArray::new(priorities, priorities_len, "priorities")?;
        // SAFETY: the caller passes an initialised array.
        let mut prices = unsafe { view::slice(priorities, priorities_len, "priorities")? }.to_vec();
        let (mut found, mut total) = (vec![0], 0_usize);
        let wanted = out.len() > 0;
        let pricer = batch.pricer()?;
        batch.for_each(0..batch.len(), &pricer, |_, job, priced| {
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

/// Computes the single weighted TRES factors of jobs; the terms have only their sum.
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
        // SAFETY: the caller passes live handles that no other thread changes, and a readable batch.
        let batch = unsafe { Batch::new(config, site, tree, batch)? };
        let out = OutArray::new(terms, terms_len, "terms")?;
        let per_job = batch.tres_len();
        // As many as were read from memory already: no overflow.
        out.expect_len(batch.len() * per_job, "TRES of all jobs", "terms")?;
        let mut found = vec![0.0; out.len()];
        let mut rows = found.chunks_exact_mut(per_job.max(1));
        let pricer = batch.pricer()?;
        batch.for_each(0..batch.len(), &pricer, |_, job, _| {
            if let Some(row) = rows.next() {
                pricer.tres_terms(job, row);
            }
        })?;
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(found) };
        Ok(())
    })
}
