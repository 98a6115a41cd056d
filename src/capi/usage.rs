//! Usage of an `ft_tree`: charges and decay.

use std::ffi::c_char;
use std::fmt::Display;

use jiff::tz::TimeZone;

use crate::config::{Config, ResetPeriod};
use crate::extended::Extended;
use crate::tree::AssocIndex;
use crate::usage::{Decay, RawUsage, UsageChange, Use};

use super::config::ConfigHandle;
use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::tree::{TreeHandle, TreeModel};
use super::view::{self, Out, OutArray, Plain};

/// The kind of usage of an association.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum UsageKind {
    /// The charges to the association itself.
    FT_USAGE_OWN = 0,
    /// The charges to the association and to all below it (RawUsage of sshare).
    FT_USAGE_RAW = 1,
}

fn usage_kind(kind: u32) -> Result<UsageKind, Failure> {
    match kind {
        0 => Ok(UsageKind::FT_USAGE_OWN),
        1 => Ok(UsageKind::FT_USAGE_RAW),
        _ => Err(Failure::new(
            Status::FT_ERR_ENUM,
            format!("kind {kind} is neither FT_USAGE_OWN nor FT_USAGE_RAW"),
        )),
    }
}

/// TRES in use over a period, to be charged.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct UseRow {
    /// The association to charge.
    pub id: u32,
    /// Zero.
    pub reserved: u32,
    /// Start of the period, in seconds since 1970.
    pub from: i64,
    /// Its end, not before its start.
    pub to: i64,
    /// Billable TRES in use throughout, from 0 up: CPUs, for instance.
    pub tres: f64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for UseRow {}

pub(super) fn check_usage(usage: f64, argument: impl Display) -> Result<(), Failure> {
    if usage.is_finite() && usage >= 0.0 {
        return Ok(());
    }
    Err(Failure::new(
        Status::FT_ERR_USAGE,
        format!("{argument}: {usage} is not a number from 0 up"),
    ))
}

/// Charges all or, when one of them is refused, none.
fn charge_all(model: &mut TreeModel, charges: &[(AssocIndex, f64)]) -> Result<(), Failure> {
    model.edit_ledger(|tree, raw_usage| {
        for (index, tres_seconds) in charges {
            raw_usage.charge(tree, *index, *tres_seconds)?;
        }
        Ok(())
    })
}

/// Charges associations, and thereby all accounts above them, at the tree's moment.
///
/// `ids`: associations; an id may be repeated. `tres_seconds`: billable TRES times seconds, from
/// 0 up, one per id. Either all are charged or, on an error, none. Factors do not change
/// until ft_fairshare_compute().
///
/// Errors, naming the entry: FT_ERR_UNKNOWN_ID, FT_ERR_USAGE, FT_ERR_LENGTH (the two lengths
/// differ); FT_ERR_MODEL (usage in a window or since a date: it must be told when);
/// FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_charge(
    tree: *mut TreeHandle,
    ids: *const u32,
    ids_len: usize,
    tres_seconds: *const f64,
    tres_seconds_len: usize,
) -> i32 {
    guard::status("ft_usage_charge", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and readable arrays.
        let (mut handle, ids, amounts) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                view::slice(ids, ids_len, "ids")?,
                view::slice(tres_seconds, tres_seconds_len, "tres_seconds")?,
            )
        };
        view::expect_len(amounts.len(), ids.len(), "ids", "tres_seconds")?;
        let mut charges = Vec::with_capacity(ids.len());
        for (number, (id, amount)) in ids.iter().zip(amounts).enumerate() {
            check_usage(*amount, format_args!("tres_seconds[{number}]"))?;
            let index = handle.get().index_of(*id, format_args!("ids[{number}]"))?;
            charges.push((index, *amount));
        }
        handle.get().raw_usage()?;
        handle.edit(|model| charge_all(model, &charges))
    })
}

/// Charges what was in use over periods, decayed to the tree's moment.
///
/// With a half-life h, one TRES from `from` to `to` counts the integral of 2^(-(moment - t)/h)
/// over t, in TRES-seconds; without one (PriorityDecayHalfLife=0) it counts to - from. So it
/// makes no difference whether a period is charged at once or in pieces, before or after the moment
/// advances. Periods after the moment count more than their seconds, and decay to the right amount.
/// Either all are charged or, on an error, none.
///
/// In a window or since a date (ft_usage_configure) only the part of a period counts that is inside,
/// and a period must not end after the moment. Use that may have to be taken back is charged by
/// ft_usage_charge_runs() instead.
///
/// `config`: the function uses its PriorityDecayHalfLife, usage= and compat=.
/// `uses`: what was used. `row_size`: sizeof(ft_use).
///
/// Errors, naming the row: FT_ERR_UNKNOWN_ID, FT_ERR_USAGE, FT_ERR_TIME, FT_ERR_RANGE
/// (reserved is not zero); FT_ERR_MODEL (usage= is not the tree's); FT_ERR_NULL, FT_ERR_LENGTH,
/// FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per tree; the configuration is only read.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_charge_periods(
    tree: *mut TreeHandle,
    config: *const ConfigHandle,
    uses: *const UseRow,
    uses_len: usize,
    row_size: usize,
) -> i32 {
    guard::status("ft_usage_charge_periods", || {
        // SAFETY: the caller passes live handles, of which no other thread uses the tree or changes
        // the configuration, and readable rows.
        let (mut handle, config, uses) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                &handle::shared(config, "config")?.config,
                view::rows(uses, uses_len, row_size, "uses")?,
            )
        };
        handle.get().check_model(config)?;
        if handle.get().raw_usage().is_err() {
            return handle.edit(|model| charge_window(model, &uses));
        }
        let charges: Result<Vec<_>, Failure> = uses
            .iter()
            .enumerate()
            .map(|(number, row)| period_charge(handle.get(), config, number, row))
            .collect();
        let charges = charges?;
        handle.edit(|model| charge_all(model, &charges))
    })
}

/// Charges all periods or, when one of them is refused, none.
fn charge_window(model: &mut TreeModel, uses: &[UseRow]) -> Result<(), Failure> {
    let checked = uses.iter().enumerate();
    let checked = checked.map(|(number, row)| {
        let used = Use {
            run: None,
            from: row.from,
            to: row.to,
            billing: row.tres,
            factor: 1.0,
            tres: &[],
        };
        Ok((checked_period(model, number, row)?, used))
    });
    let checked = checked.collect::<Result<Vec<_>, Failure>>()?;
    model.charge_uses(&checked)
}

fn period_charge(
    model: &TreeModel,
    config: &Config,
    number: usize,
    row: &UseRow,
) -> Result<(AssocIndex, f64), Failure> {
    let index = checked_period(model, number, row)?;
    let decay = Decay::new(config.priority_decay_half_life_secs, config.compat);
    let charge = row.tres * decay.weight(row.from, row.to, model.site.moment());
    check_usage(charge, format_args!("uses[{number}]"))?;
    Ok((index, charge))
}

fn checked_period(model: &TreeModel, number: usize, row: &UseRow) -> Result<AssocIndex, Failure> {
    if row.reserved != 0 {
        return Err(Failure::new(
            Status::FT_ERR_RANGE,
            format!(
                "uses[{number}]: reserved is {}, but must be 0",
                row.reserved
            ),
        ));
    }
    check_usage(row.tres, format_args!("uses[{number}]"))?;
    if row.to < row.from {
        return Err(Failure::new(
            Status::FT_ERR_TIME,
            format!(
                "uses[{number}]: the period ends at {}, before it starts at {}",
                row.to, row.from
            ),
        ));
    }
    model.index_of(row.id, format_args!("uses[{number}]"))
}

/// Advances the moment: all usage decays to `now`, and is cleared when a reset is due.
///
/// In a window (ft_usage_configure) what leaves it counts no more, and nothing is reset.
///
/// Half of it is left after PriorityDecayHalfLife. When a PriorityUsageResetPeriod began since
/// the last reset, all usage is cleared. Calling it twice with the same `now` changes nothing,
/// but under compat=slurm with MONTHLY, QUARTERLY or YEARLY: there each call makes up for one
/// reset that was missed, as Slurm's passes do, so that further calls may reset again.
///
/// `now`: seconds since 1970, not before the tree's moment.
/// `time_zone`: the time zone of PriorityUsageResetPeriod: a name ("Europe/Berlin"), a
/// POSIX TZ string ("CET-1CEST,M3.5.0,M10.5.0/3"), or NULL for the machine's own.
/// `was_reset`: receives 1 when usage was cleared, else 0; may be NULL.
///
/// Errors: FT_ERR_TIME, FT_ERR_TIME_ZONE, FT_ERR_MODEL (usage= of `config` is not the tree's),
/// FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The usage is then
/// unchanged.
/// Threads: one at a time per tree; the configuration is only read.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_advance(
    tree: *mut TreeHandle,
    config: *const ConfigHandle,
    now: i64,
    time_zone: *const c_char,
    was_reset: *mut i32,
) -> i32 {
    guard::status("ft_usage_advance", || {
        // SAFETY: the caller passes live handles, of which no other thread uses the tree or changes
        // the configuration.
        let (mut handle, config) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                &handle::shared(config, "config")?.config,
            )
        };
        // SAFETY: the caller passes NULL or a terminated string.
        let zone = unsafe { zone(time_zone, config.priority_usage_reset_period)? };
        let out = Out::optional(was_reset, "was_reset")?;
        let as_of = handle.get().site.moment();
        if now < as_of {
            return Err(Failure::new(
                Status::FT_ERR_TIME,
                format!("now is {now}, but the usage is valued at {as_of} already"),
            ));
        }
        handle.get().check_model(config)?;
        handle.get().check_now(now)?;
        let change = handle.edit(|model| {
            model.site.set_zone(zone);
            model.site.advance(config, now)
        });
        let cleared = change == UsageChange::Cleared;
        if let Some(out) = out {
            // SAFETY: the caller passes a writable pointer.
            unsafe { out.write(i32::from(cleared)) };
        }
        Ok(())
    })
}

/// # Safety
/// As for [`view::string`].
pub(super) unsafe fn zone(name: *const c_char, period: ResetPeriod) -> Result<TimeZone, Failure> {
    let unknown = |what: &str| Failure::new(Status::FT_ERR_TIME_ZONE, format!("time_zone {what}"));
    if name.is_null() {
        return match period {
            // Midnight does not matter, so the system's files stay closed.
            ResetPeriod::None | ResetPeriod::Now => Ok(TimeZone::UTC),
            _ => TimeZone::try_system()
                .map_err(|error| unknown(&format!("is NULL, but the system's own: {error}"))),
        };
    }
    // SAFETY: as promised by the caller of this function.
    let name = unsafe { view::string(name, "time_zone")? };
    TimeZone::get(name)
        .or_else(|_| TimeZone::posix(name))
        .map_err(|_| {
            unknown(&format!(
                "{name:?} is neither a known name nor a POSIX TZ string"
            ))
        })
}

/// Reads the moment that the usage is decayed to, and when it was last cleared.
///
/// `moment`, `last_reset`: receive them, in seconds since 1970; either may be NULL.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_time(
    tree: *const TreeHandle,
    moment: *mut i64,
    last_reset: *mut i64,
) -> i32 {
    guard::status("ft_usage_time", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let moment = Out::optional(moment, "moment")?;
        let last_reset = Out::optional(last_reset, "last_reset")?;
        // SAFETY: the caller passes writable pointers.
        unsafe {
            if let Some(moment) = moment {
                moment.write(model.site.moment());
            }
            if let Some(last_reset) = last_reset {
                last_reset.write(model.site.last_reset());
            }
        }
        Ok(())
    })
}

/// Clears the usage of an association and of all below it; FT_NONE: of all associations.
///
/// It is subtracted from the usage of the accounts above. In a window or since a date, runs that
/// go on there begin again: what they were charged before is not taken back later.
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_reset(tree: *mut TreeHandle, id: u32) -> i32 {
    guard::status("ft_usage_reset", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(tree, "tree")? };
        let index = match id {
            super::FT_NONE => None,
            _ => Some(handle.get().index_of(id, "id")?),
        };
        handle.edit(|model| {
            model.site.edit_usage(|tree, usage| match index {
                None => usage.clear(),
                Some(index) => usage.reset_assoc(tree, index),
            });
        });
        Ok(())
    })
}

/// Replaces the usage of all associations by values from another source, decayed to the tree's
/// moment.
///
/// `kind`: FT_USAGE_OWN: the usage of accounts is the sum; or FT_USAGE_RAW, as sshare
/// prints it: the own usage of an account is its raw usage minus that of its children.
/// `usage`: TRES-seconds from 0 up, one per association in the order of position.
///
/// Errors: FT_ERR_ENUM, FT_ERR_USAGE, FT_ERR_LENGTH, FT_ERR_MODEL (usage in a window or since a
/// date), FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The usage is then unchanged.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_load(
    tree: *mut TreeHandle,
    kind: u32,
    usage: *const f64,
    usage_len: usize,
) -> i32 {
    guard::status("ft_usage_load", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a readable array.
        let (mut handle, usage) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                view::slice(usage, usage_len, "usage")?,
            )
        };
        let kind = usage_kind(kind)?;
        handle.get().raw_usage()?;
        let tree = handle.get().tree();
        view::expect_len(usage.len(), tree.len(), "associations", "usage")?;
        for (number, usage) in usage.iter().enumerate() {
            check_usage(*usage, format_args!("usage[{number}]"))?;
        }
        let usage: Vec<Extended> = usage
            .iter()
            .filter_map(|u| Extended::from_f64(*u))
            .collect();
        let raw_usage = match kind {
            UsageKind::FT_USAGE_OWN => RawUsage::from_own(tree, &usage)?,
            UsageKind::FT_USAGE_RAW => RawUsage::from_raw(tree, &usage)?,
        };
        handle.edit(|model| {
            model.edit_ledger(|_, old| {
                *old = raw_usage;
                Ok(())
            })
        })
    })
}

/// Reads the usage of all associations, decayed to the tree's moment.
///
/// `kind`: FT_USAGE_OWN or FT_USAGE_RAW; in a window or since a date only the latter is known.
/// `usage`: receives TRES-seconds, one per association in the order of position.
/// `usage_len`: as from ft_tree_len().
///
/// Errors: FT_ERR_ENUM, FT_ERR_LENGTH, FT_ERR_MODEL (FT_USAGE_OWN, where it is not known),
/// FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_usage_read(
    tree: *const TreeHandle,
    kind: u32,
    usage: *mut f64,
    usage_len: usize,
) -> i32 {
    guard::status("ft_usage_read", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let found = match usage_kind(kind)? {
            UsageKind::FT_USAGE_OWN => model.raw_usage()?.own(),
            UsageKind::FT_USAGE_RAW => model.site.raw(),
        };
        let out = OutArray::new(usage, usage_len, "usage")?;
        out.expect_len(found.len(), "associations", "usage")?;
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(found.iter().map(|usage| usage.to_f64())) };
        Ok(())
    })
}
