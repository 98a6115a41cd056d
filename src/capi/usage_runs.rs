//! Usage of an `ft_tree` in a window or since dates: the usage model, runs, and quantities.

use std::ffi::c_char;

use crate::config::{Config, ResetPeriod, UsageModel};
use crate::tree::{AssocIndex, Tree};
use crate::usage::window::LedgerRun;
use crate::usage::{Model, ModelSettings, Outcomes, Quantity, Use};

use super::config::ConfigHandle;
use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::machine_queue::ended;
use super::tree::{FT_NONE, TreeHandle, TreeModel};
use super::usage::{check_usage, zone};
use super::view::{self, Out, OutArray, Plain};

/// What is counted.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum QuantityKind {
    /// Billable TRES times seconds times usage factor: what fair share is computed from.
    FT_QUANTITY_BILLING = 0,
    /// Seconds of runs times usage factor (GrpWall of Slurm).
    FT_QUANTITY_WALL = 1,
    /// One TRES times seconds times usage factor (GrpTRESMins of Slurm, in seconds).
    FT_QUANTITY_TRES = 2,
}

/// What a run used over a period.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RunUseRow {
    /// The association to charge; the same for all periods of a run.
    pub assoc: u32,
    /// A number of the job.
    pub job: u32,
    /// What tells the run from others of the job, as its start time does. Job and run together
    /// identify it. ft_pass() takes ft_run.start for it.
    pub run: i64,
    /// Start of the period, in seconds since 1970.
    pub from: i64,
    /// Its end, not before its start and not after the tree's moment.
    pub to: i64,
    /// Billable TRES in use throughout, 0..1e19: CPUs, for instance.
    pub tres: f64,
    /// UsageFactor of its QOS, 0..1e19: the weight of each second; 1 without QOS.
    pub usage_factor: f64,
    /// The row of counts with its TRES, from 0 up; FT_NONE: no TRES is counted.
    pub tres_row: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for RunUseRow {}

/// Makes the tree's usage the one that settings ask for: with a half-life, in a window, or since a
/// date.
///
/// usage=half_life is what a new tree has. With usage=window:LENGTH usage is what was used in
/// (moment - LENGTH, moment]; with usage=total:DATE, what was used since that date. A policy
/// (ft_config_load_policy) may give accounts another one of these than the rest. Usage is kept in
/// buckets of resolution=TIME, 1 second to 1 day, by default an hour: the far edge of a window that
/// divides a bucket counts a part of it in proportion.
///
/// From a half-life to a window, usage begins with nothing, as nobody knows when it was; back, it
/// goes on from the numbers that are there, and no run is known any more. Where only length, dates
/// or plans change, usage stays; of what a longer window reaches back to, nothing was kept before.
/// Resolution may become a multiple of what it was. Calling it again with the same settings changes
/// nothing. While usage is in a window, an edit of the tree takes time for all associations.
///
/// `config`: the function uses usage=, resolution= and the accounts of a policy.
/// `time_zone`: that of the dates; as for ft_usage_advance().
/// `tres_names`: names of the TRES that are counted besides billing, at most 126, in the order that
/// counts of TRES will have; none with usage=half_life. May be (NULL, 0).
///
/// Errors: FT_ERR_MODEL (TRES with usage=half_life, other TRES than before, a finer resolution),
/// FT_ERR_UNKNOWN_ID (an account of the policy), FT_ERR_TIME (a moment or a date outside the years
/// 1970 to 9999), FT_ERR_TIME_ZONE, FT_ERR_CONFIG (more than 64 dates), FT_ERR_RANGE (a name that
/// is empty or stands twice, or too many), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN,
/// FT_ERR_HANDLE, FT_ERR_POISONED. The usage is then unchanged.
/// Threads: one at a time per tree; the configuration is only read.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_configure(
    tree: *mut TreeHandle,
    config: *const ConfigHandle,
    time_zone: *const c_char,
    tres_names: *const *const c_char,
    tres_names_len: usize,
) -> i32 {
    guard::status("ft_usage_configure", || {
        // SAFETY: the caller passes live handles, of which no other thread uses the tree or changes
        // the configuration, and a readable array.
        let (mut handle, config, pointers) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                &handle::shared(config, "config")?.config,
                view::slice(tres_names, tres_names_len, "tres_names")?,
            )
        };
        let plans = config.accounts.iter().filter_map(|row| row.plan);
        let dated = |model| matches!(model, UsageModel::Total { .. });
        // The system's files stay closed where no date asks.
        let period = match plans.chain([config.usage()]).any(dated) {
            true => ResetPeriod::Daily,
            false => ResetPeriod::None,
        };
        // SAFETY: the caller passes NULL or a terminated string.
        let zone = unsafe { zone(time_zone, period)? };
        let mut tres = Vec::with_capacity(pointers.len());
        for (number, pointer) in pointers.iter().enumerate() {
            // SAFETY: the caller passes terminated strings.
            let name = unsafe { view::string(*pointer, &format!("tres_names[{number}]"))? };
            tres.push(name.to_owned());
        }
        let model = handle.get();
        let why = match (config.usage(), model.site.model().tres()) {
            (UsageModel::HalfLife, _) if !tres.is_empty() => {
                Some("usage with a half-life is billing alone")
            }
            (UsageModel::Window { .. } | UsageModel::Total { .. }, Some(before))
                if before != tres =>
            {
                Some("they are not those of before")
            }
            _ => None,
        };
        if let Some(why) = why {
            let why = format!("tres_names: {why}");
            return Err(Failure::new(Status::FT_ERR_MODEL, why));
        }
        let mut plans = Vec::new();
        let has_plans = config.usage() != UsageModel::HalfLife;
        for row in config.accounts.iter().filter(|_| has_plans) {
            let Some(plan) = row.plan else { continue };
            // Names that are not ids were refused with the policy.
            let id = row.account.parse::<u32>().ok();
            let id = id.filter(|id| model.tree().index_of(*id).is_some());
            let id = id.ok_or_else(|| {
                let account = &row.account;
                let what = format!("accounts.{account}: association {account} is not in the tree");
                Failure::new(Status::FT_ERR_UNKNOWN_ID, what)
            })?;
            plans.push((id, plan));
        }
        let settings = ModelSettings {
            config,
            zone: &zone,
            plans: &plans,
            tres: &tres,
        };
        handle.edit(|model| model.site.set_model(&settings))?;
        Ok(())
    })
}

/// Charges what runs used over periods, in a window or since a date: it may be taken back.
///
/// A run counts while it goes on; tell its end with ft_usage_end_run(). Until then each run takes
/// memory. A period may be charged in pieces, in any order, but no second of a run twice. Either all
/// are charged or, on an error, none.
///
/// `uses`: what was used. `row_size`: sizeof(ft_run_use).
/// `tres_counts`: rows of counts, one number per TRES in the order of the names given to
/// ft_usage_configure(); runs that use the same may share a row. May be (NULL, 0).
/// `tres_counts_len`: how many numbers there are in all: rows times TRES.
///
/// Errors, naming the row: FT_ERR_MODEL (usage with a half-life), FT_ERR_RUN (a second that the run
/// was charged before, or another association), FT_ERR_UNKNOWN_ID, FT_ERR_USAGE, FT_ERR_TIME,
/// FT_ERR_UNKNOWN_INDEX (no such row of counts), FT_ERR_RANGE (reserved is not zero);
/// FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_charge_runs(
    tree: *mut TreeHandle,
    uses: *const RunUseRow,
    uses_len: usize,
    row_size: usize,
    tres_counts: *const u64,
    tres_counts_len: usize,
) -> i32 {
    guard::status("ft_usage_charge_runs", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and readable arrays.
        let (mut handle, uses, counts) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                view::rows(uses, uses_len, row_size, "uses")?,
                view::slice(tres_counts, tres_counts_len, "tres_counts")?,
            )
        };
        let model = handle.get();
        let width = tres_of(model)?.len();
        if counts.len().checked_rem(width).unwrap_or(counts.len()) != 0 {
            let why = format!(
                "tres_counts has {} entries, but there are {width} TRES",
                counts.len()
            );
            return Err(Failure::new(Status::FT_ERR_LENGTH, why));
        }
        let checked = uses.iter().enumerate();
        let checked = checked.map(|(number, row)| run_use(model, number, row, counts, width));
        let checked = checked.collect::<Result<Vec<_>, Failure>>()?;
        handle.edit(|model| model.charge_uses(&checked))
    })
}

fn run_use<'a>(
    model: &TreeModel,
    number: usize,
    row: &RunUseRow,
    counts: &'a [u64],
    width: usize,
) -> Result<(AssocIndex, Use<'a>), Failure> {
    let argument = format_args!("uses[{number}]").to_string();
    if row.reserved != 0 {
        let why = format!("{argument}: reserved is {}, but must be 0", row.reserved);
        return Err(Failure::new(Status::FT_ERR_RANGE, why));
    }
    check_usage(row.tres, &argument)?;
    check_usage(row.usage_factor, &argument)?;
    let start = (row.tres_row as usize).checked_mul(width);
    let known = start.and_then(|start| counts.get(start..start.checked_add(width)?));
    let counts = match row.tres_row {
        FT_NONE => &[],
        at => known.filter(|row| !row.is_empty()).ok_or_else(|| {
            let why = format!("{argument}: tres_counts has no row {at}");
            Failure::new(Status::FT_ERR_UNKNOWN_INDEX, why)
        })?,
    };
    let used = Use {
        run: Some(LedgerRun {
            job: row.job,
            run: row.run,
        }),
        from: row.from,
        to: row.to,
        billing: row.tres,
        factor: row.usage_factor,
        tres: counts,
    };
    Ok((model.index_of(row.assoc, &argument)?, used))
}

/// TRES of a tree whose usage is that of a window or since a date.
fn tres_of(model: &TreeModel) -> Result<&[String], Failure> {
    model.site.model().tres().ok_or_else(|| {
        let why = "the tree's usage has a half-life: see ft_usage_configure()";
        Failure::new(Status::FT_ERR_MODEL, why)
    })
}

/// Takes back all that a run was charged, as if it had never run, and forgets it.
///
/// Errors: FT_ERR_RUN (no such run, or its end was told), FT_ERR_MODEL (usage with a half-life),
/// FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_take_back(tree: *mut TreeHandle, job: u32, run: i64) -> i32 {
    guard::status("ft_usage_take_back", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(tree, "tree")? };
        tres_of(handle.get())?;
        handle.edit(|model| end_run(model, LedgerRun { job, run }, false))
    })
}

fn end_run(model: &mut TreeModel, run: LedgerRun, counts: bool) -> Result<(), Failure> {
    let known = |tree: &Tree, usage: &mut Box<dyn Model>| usage.end_run(tree, run, counts);
    match model.site.edit_usage(known) {
        true => Ok(()),
        false => Err(Failure::new(
            Status::FT_ERR_RUN,
            format!("{run} is not known, or its end was told"),
        )),
    }
}

/// Tells how a run ended: its charges stay, or are taken back where counts= says that such an end
/// does not count. The run is forgotten then.
///
/// Charge it to its end before.
///
/// `config`: the function uses counts=.
/// `end`: one of enum ft_end. `exit_code`: matters to FT_END_FAILED only; in Slurm 0..255.
/// `counted`: receives 1 when its charges stay, 0 when they were taken back; may be NULL.
///
/// Errors: FT_ERR_RUN (no such run, or its end was told), FT_ERR_MODEL (usage with a half-life),
/// FT_ERR_ENUM, FT_ERR_RANGE, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per tree; the configuration is only read.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_end_run(
    tree: *mut TreeHandle,
    config: *const ConfigHandle,
    job: u32,
    run: i64,
    end: u32,
    exit_code: u32,
    counted: *mut i32,
) -> i32 {
    guard::status("ft_usage_end_run", || {
        // SAFETY: the caller passes live handles, of which no other thread uses the tree or changes
        // the configuration.
        let (mut handle, config) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                &handle::shared(config, "config")?.config,
            )
        };
        let out = Out::optional(counted, "counted")?;
        let counts = end_counts(config, end, exit_code)?;
        tres_of(handle.get())?;
        handle.edit(|model| end_run(model, LedgerRun { job, run }, counts))?;
        if let Some(out) = out {
            // SAFETY: the caller passes a writable pointer.
            unsafe { out.write(i32::from(counts)) };
        }
        Ok(())
    })
}

fn end_counts(config: &Config, end: u32, exit_code: u32) -> Result<bool, Failure> {
    let state = ended(end)?;
    Ok(Outcomes::from(config.counts()).counts(state, exit_code))
}

/// Reads the usage of all associations, with that of all below them: billing, wall time or a TRES.
///
/// With a half-life there is billing alone.
///
/// `quantity`: one of enum ft_quantity.
/// `tres`: for FT_QUANTITY_TRES the position of the TRES in the names given to
/// ft_usage_configure(); else 0.
/// `usage`: receives TRES-seconds, or seconds of wall time, one per association in the order of
/// position. `usage_len`: as from ft_tree_len().
///
/// Errors: FT_ERR_MODEL (wall time and TRES with a half-life), FT_ERR_UNKNOWN_TRES, FT_ERR_ENUM,
/// FT_ERR_RANGE (tres is not 0), FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_quantity(
    tree: *const TreeHandle,
    quantity: u32,
    tres: u32,
    usage: *mut f64,
    usage_len: usize,
) -> i32 {
    guard::status("ft_usage_quantity", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = OutArray::new(usage, usage_len, "usage")?;
        out.expect_len(model.tree().len(), "associations", "usage")?;
        let of = quantity_of(quantity, tres)?;
        if of != Quantity::Billing {
            tres_of(model)?;
        }
        let found = model.site.model().usage(of).ok_or_else(|| {
            let why = format!("tres: the tree counts no TRES at position {tres}");
            Failure::new(Status::FT_ERR_UNKNOWN_TRES, why)
        })?;
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(found.iter().map(|usage| usage.to_f64())) };
        Ok(())
    })
}

fn quantity_of(quantity: u32, tres: u32) -> Result<Quantity, Failure> {
    match (quantity, tres) {
        (0, 0) => Ok(Quantity::Billing),
        (1, 0) => Ok(Quantity::Wall),
        (2, at) => Ok(Quantity::Tres(at as usize)),
        (0 | 1, _) => Err(Failure::new(
            Status::FT_ERR_RANGE,
            format!("tres is {tres}, but must be 0 where no TRES is asked for"),
        )),
        _ => Err(Failure::new(
            Status::FT_ERR_ENUM,
            format!("quantity {quantity} is none of enum ft_quantity"),
        )),
    }
}
