//! One whole pass over an `ft_tree`: usage, ranks, priorities.

use std::borrow::Cow;
use std::ffi::c_char;
use std::fmt;

use crate::config::Config;
use crate::engine::{self, Accruing, AssocResult, Host};
use crate::fairshare::AssocFairshare;
use crate::priority::{Job, TimeLimit};
use crate::usage::{Charge, Run, RunState, UsageChange, UsageError};

use super::batch::Batch;
use super::config::ConfigHandle;
use super::error::{Failure, Status};
use super::fairshare::entitlement;
use super::guard;
use super::handle;
use super::job_rows::{BatchRow, Mode};
use super::jobs::price_all;
use super::site::SiteHandle;
use super::tree::{Factors, TreeHandle, TreeModel};
use super::usage::{check_usage, zone};
use super::view::{self, Out, OutArray, Plain};

/// A job that runs, or has ended since the last pass.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RunRow {
    /// The association to charge.
    pub assoc: u32,
    /// A number of the job. Job and start together identify a run; a requeued job has several.
    pub job: u32,
    /// When it started, in seconds since 1970, from 1 up.
    pub start: i64,
    /// When it ended, not before its start; 0: it runs.
    pub end: i64,
    /// Billable TRES in use throughout, from 0 up: CPUs, for instance.
    pub tres: f64,
    /// UsageFactor of its QOS, from 0 up: the weight of each second; 1 without QOS.
    pub usage_factor: f64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for RunRow {}

/// The input of a pass. The arrays stay yours. A field that is zero is absent: set struct_size and
/// now, and the fields that you need.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PassRow {
    /// sizeof(ft_pass_input).
    pub struct_size: usize,
    /// sizeof(ft_run), where there are runs.
    pub run_size: usize,
    /// Now, in seconds since 1970.
    pub now: i64,
    /// Time zone of PriorityUsageResetPeriod; as for ft_usage_advance().
    pub time_zone: *const c_char,
    /// Jobs that run, and those that ended since the last pass, each once. May be (NULL, 0).
    pub runs: *const RunRow,
    /// How many there are.
    pub runs_len: usize,
    /// The jobs to price, with FT_MODE_PASS and the same now; NULL: none.
    pub batch: *const BatchRow,
}

// SAFETY: numbers, and pointers that are checked before they are followed.
unsafe impl Plain for PassRow {}

/// Makes a pass: decays usage, charges runs, computes all factors, prices jobs.
///
/// A scheduler makes one every few minutes. The steps are these, in this order.
/// First usage decays to now, and is cleared when a reset is due, as by ft_usage_advance().
/// Then each run is charged what it used since the pass that charged it last, or since its start:
/// until now, or until its end.
/// Then all factors are computed and stored, as by ft_fairshare_compute(), but faster if few runs
/// were charged since the last pass and nothing else has changed the tree or its usage.
/// Last, jobs are priced with these factors, as by ft_jobs_price().
///
/// In a window or since a date (ft_usage_configure) nothing decays and nothing is reset: a run is
/// charged by its job and start, as by ft_usage_charge_runs() but without single TRES, from where it
/// was charged last. Tell how it ended with ft_usage_end_run(), after a pass that was given its end;
/// where counts= is not set, all ends count, and that pass has told it.
///
/// Before the first pass, what was used until the tree's moment at ft_tree_new() or
/// ft_state_restore() counts as charged. Give every run to every pass: one that is left out is not
/// charged for that time.
///
/// The clock may step back: no time is charged twice, the moment of the usage does not change, and
/// a run that began before the time of the last pass is charged from its start. A run that ended is
/// charged to its end by the first pass that is given it, and not by later ones.
///
/// Under compat=slurm everything is computed as by Slurm's own plugin: when the clock steps back,
/// time is charged again. Without Fair Tree the order of the steps is also that of Slurm's plugin:
/// jobs count as listed after all runs, and a pass whose time is not after that of the previous one
/// charges nothing and changes no priority.
///
/// `config`: the function uses all settings.
/// `site`: as for ft_jobs_price(); NULL when there is no batch.
/// `input`: time, runs and jobs.
/// `charged`: receives what each run was charged, in TRES-seconds decayed to now, or of these the
/// ones in the window or since the date of usage=; or (NULL, 0), when that is not wanted.
/// `priorities`: receives one priority per job of the batch; (NULL, 0) without a batch.
/// `was_reset`: receives 1 when usage was cleared, else 0; may be NULL.
///
/// Errors, naming the row: FT_ERR_UNKNOWN_ID, FT_ERR_USAGE, FT_ERR_TIME, FT_ERR_RUN (in a window,
/// a run of another association than before), and those of ft_jobs_price(); FT_ERR_UNKNOWN_ID (an
/// account with minutes is not in the tree), FT_ERR_CONFIG (accounts have more minutes than the
/// account above them), FT_ERR_MODEL (usage= of `config` is not the tree's), FT_ERR_TIME_ZONE,
/// FT_ERR_UTF8. Nothing is changed or written then: no run is charged.
/// Threads: one at a time per tree; configuration and site are only read.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_pass(
    tree: *mut TreeHandle,
    config: *const ConfigHandle,
    site: *const SiteHandle,
    input: *const PassRow,
    charged: *mut f64,
    charged_len: usize,
    priorities: *mut u32,
    priorities_len: usize,
    was_reset: *mut i32,
) -> i32 {
    guard::status("ft_pass", || {
        // SAFETY: the caller passes live handles, of which no other thread uses the tree or changes
        // the configuration, and a readable struct.
        let (mut handle, config, input) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                &handle::shared(config, "config")?.config,
                view::options(input, "input")?,
            )
        };
        // SAFETY: the caller passes NULL or a terminated string, and readable rows.
        let (zone, runs) = unsafe {
            (
                zone(input.time_zone, config.priority_usage_reset_period)?,
                runs(&input)?,
            )
        };
        let queue = if input.batch.is_null() {
            None
        } else {
            // SAFETY: the caller passes a live handle and a readable batch.
            unsafe {
                let site = handle::shared(site, "site")?;
                Some((site, view::options(input.batch, "input.batch")?))
            }
        };
        let charged = OutArray::new(charged, charged_len, "charged")?;
        if charged.len() > 0 {
            charged.expect_len(runs.len(), "runs", "charged")?;
        }
        let out = OutArray::new(priorities, priorities_len, "priorities")?;
        let was_reset = Out::optional(was_reset, "was_reset")?;

        handle.get().check_model(config)?;
        handle.get().check_now(input.now)?;
        let mut accruing = accruing(handle.get(), &runs, input.now)?;
        let (mut jobs, mut prices) = (Vec::new(), Vec::new());
        match &queue {
            None => out.expect_len(0, "jobs", "priorities")?,
            Some((site, batch)) => {
                check_batch(batch, input.now)?;
                // SAFETY: the caller passes a readable batch.
                let batch = unsafe { Batch::before_a_pass(config, site, handle.get(), batch)? };
                out.expect_len(batch.len(), "jobs", "priorities")?;
                batch.pricer()?;
                batch.check()?;
                prices = vec![0; batch.len()];
                if engine::asks_for_queue(config) {
                    jobs = batch.queue(handle.get());
                }
            }
        }
        let entitlement = entitlement(config, handle.get())?;
        let told = handle.edit(|model| {
            model.site.set_zone(zone);
            model.site.entitle(&entitlement);
            pass(model, config, input.now, &mut accruing, &jobs)
        })?;
        match queue {
            Some((site, batch)) if told.priced => {
                // SAFETY: the caller passes a readable batch.
                let batch = unsafe { Batch::of_rows(config, site, Some(handle.get()), &batch)? };
                price_all(&batch, &mut prices, false, |_, _| ())?;
            }
            _ => {
                let kept = jobs.iter().map(|job| job.priority);
                prices
                    .iter_mut()
                    .zip(kept)
                    .for_each(|(price, kept)| *price = kept);
            }
        }
        // SAFETY: the caller passes writable memory; what is written is memory of our own.
        unsafe {
            if charged.len() > 0 {
                charged.write_all(&told.charged);
            }
            out.write_all(&prices);
            if let Some(was_reset) = was_reset {
                was_reset.write(i32::from(told.was_reset));
            }
        }
        Ok(())
    })
}

/// # Safety
/// The array of `input` is readable.
unsafe fn runs<'a>(input: &PassRow) -> Result<Cow<'a, [RunRow]>, Failure> {
    if input.runs.is_null() && input.runs_len == 0 {
        return Ok(Cow::Borrowed(&[]));
    }
    // SAFETY: as promised by the caller of this function.
    unsafe { view::rows(input.runs, input.runs_len, input.run_size, "input.runs") }
}

/// Checks that a batch has this pass's time and mode.
fn check_batch(batch: &BatchRow, now: i64) -> Result<(), Failure> {
    if batch.mode != Mode::FT_MODE_PASS as u32 {
        return Err(Failure::new(
            Status::FT_ERR_ENUM,
            format!(
                "input.batch: mode is {}, but must be FT_MODE_PASS",
                batch.mode
            ),
        ));
    }
    if batch.now != now {
        return Err(Failure::new(
            Status::FT_ERR_TIME,
            format!(
                "input.batch: now is {}, but the pass is at {now}",
                batch.now
            ),
        ));
    }
    Ok(())
}

/// The runs as the engine's rows, checked.
fn accruing(model: &TreeModel, runs: &[RunRow], now: i64) -> Result<Vec<Accruing>, Failure> {
    let row = |(number, row): (usize, &RunRow)| {
        let assoc = model.index_of(row.assoc, At(number))?;
        check_run(row, At(number), now)?;
        Ok(Accruing {
            job: row.job,
            assoc,
            run: run(row),
            at_end: row.end != 0,
        })
    };
    runs.iter().enumerate().map(row).collect()
}

/// A row in messages.
#[derive(Clone, Copy)]
struct At(usize);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "input.runs[{}]", self.0)
    }
}

fn check_run(row: &RunRow, argument: At, now: i64) -> Result<(), Failure> {
    check_usage(row.tres, argument)?;
    check_usage(row.usage_factor, argument)?;
    if row.start <= 0 || (row.end != 0 && row.end < row.start) {
        return Err(Failure::new(
            Status::FT_ERR_TIME,
            format!("{argument}: a run from {} to {}", row.start, row.end),
        ));
    }
    // At most that: then the charge is a number, too.
    let secs = now.saturating_sub(row.start).max(0) as f64;
    check_usage(secs * row.tres * row.usage_factor, argument)
}

fn run(row: &RunRow) -> Run {
    Run {
        state: RunState::default(),
        start_time: row.start,
        end_time: row.end,
        // The engine keeps no books of its run seconds: they are a limit's, and stay unused.
        end_time_exp: Some(i64::MAX),
        time_limit: TimeLimit::Unlimited,
        billable_tres: row.tres,
        usage_factor: row.usage_factor,
        charged_until: None,
        passed: None,
        run_secs_renewed: false,
    }
}

/// The results of a pass.
#[derive(Default)]
struct Told {
    /// TRES-seconds by run.
    charged: Vec<f64>,
    rows: Vec<AssocFairshare>,
    /// The first refused charge, by run.
    refused: Option<(usize, UsageError)>,
    was_reset: bool,
    priced: bool,
}

impl Host for Told {
    fn charged(&mut self, job: usize, charge: Result<Option<Charge>, UsageError>) {
        match charge {
            Ok(charge) => self.charged[job] = charge.map_or(0.0, |charge| charge.decayed.usage),
            Err(error) => self.refused = self.refused.take().or(Some((job, error))),
        }
    }

    fn ranked(&mut self, found: &AssocResult<'_>) {
        self.rows.push(found.fairshare);
    }
}

/// The steps of a pass. Nothing is changed on an error.
fn pass(
    model: &mut TreeModel,
    config: &Config,
    now: i64,
    runs: &mut [Accruing],
    jobs: &[Job],
) -> Result<Told, Failure> {
    // A half-life refuses nothing that was checked before.
    let before = model.raw_usage().is_err().then(|| model.site.clone());
    let mut rows = model.take_spare_factors();
    rows.clear();
    let mut told = Told {
        charged: vec![0.0; runs.len()],
        rows,
        ..Told::default()
    };
    let outcome = model.site.pass(config, runs, jobs, now, &mut [], &mut told);
    if let Some((job, error)) = told.refused {
        if let Some(before) = before {
            model.site = before;
        }
        return Err(Failure::from(error).at(At(job)));
    }
    model.factors = Some(Factors {
        ranking: config.ranking(),
        rows: std::mem::take(&mut told.rows),
    });
    told.was_reset = outcome.change == UsageChange::Cleared;
    told.priced = outcome.prices;
    Ok(told)
}
