//! Fair-share factors of an `ft_tree`.

use crate::config::Config;
use crate::fairshare::{AssocFairshare, Entitlement};
use crate::tree::{Assoc, AssocKind};

use super::config::ConfigHandle;
use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::tree::{FT_NONE, Kind, TreeHandle, TreeModel};
use super::view::{OutArray, Plain};

/// One column of ft_fairshare; in brackets its name in sshare.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Column {
    /// Normalized shares (NormShares).
    FT_COLUMN_NORM_SHARES = 0,
    /// Raw usage (RawUsage).
    FT_COLUMN_RAW_USAGE = 1,
    /// Normalized usage (NormUsage).
    FT_COLUMN_NORM_USAGE = 2,
    /// Effective usage (EffectvUsage).
    FT_COLUMN_EFFECTIVE_USAGE = 3,
    /// Level fairshare (LevelFS).
    FT_COLUMN_LEVEL_FS = 4,
    /// Fair-share factor (FairShare).
    FT_COLUMN_FS_FACTOR = 5,
}

/// The results of a computation for one association.
///
/// A value that an association does not have is NaN: test it with isnan().
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FairshareRow {
    /// The association.
    pub id: u32,
    /// FT_ACCOUNT or FT_USER.
    pub kind: u32,
    /// Its shares over those of itself and its siblings, 0..1.
    pub norm_shares: f64,
    /// Its usage and that of all below it, in TRES-seconds.
    pub raw_usage: f64,
    /// Raw usage over that of the root, 0..1.
    pub norm_usage: f64,
    /// Fair Tree: raw usage over that of its parent: 0..1, and beyond 1 where usage that was
    /// loaded (FT_USAGE_RAW, ft_state_restore) has children with more than their parent.
    /// Otherwise as PriorityFlags defines it, from 0 up.
    pub effective_usage: f64,
    /// Shares over usage, 0..infinity (HUGE_VAL, when nothing was used). NaN for the root, for
    /// accounts that share as their parent does, and in rankings that have none.
    pub level_fs: f64,
    /// Fair-share factor, 0..1: larger goes first. NaN for accounts where only users are ranked,
    /// as under Fair Tree.
    pub fs_factor: f64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for FairshareRow {}

impl FairshareRow {
    fn new(assoc: &Assoc, row: &AssocFairshare) -> FairshareRow {
        FairshareRow {
            id: assoc.id,
            kind: match assoc.kind {
                AssocKind::Account => Kind::FT_ACCOUNT as u32,
                AssocKind::User => Kind::FT_USER as u32,
            },
            norm_shares: row.norm_shares,
            raw_usage: row.raw_usage.to_f64(),
            norm_usage: row.norm_usage.to_f64(),
            effective_usage: row.effective_usage.to_f64(),
            level_fs: row.level_fs.map_or(f64::NAN, |level| level.to_f64()),
            fs_factor: row.fs_factor.unwrap_or(f64::NAN),
        }
    }
}

/// Computes all factors from shares and usage, and stores them in the tree.
///
/// They do not change with charges and with time, only with the next computation; an edit of the
/// tree (ft_tree_load, _add, _set_shares, _move, _remove) discards them.
///
/// `config`: the function uses PriorityFlags, FairShareDampeningFactor, ranking= and compat= of
/// PriorityParameters, and the minutes of accounts of ft_config_load_policy(); with minutes=shares
/// the raw shares of accounts are their minutes, and children that have more together than the
/// account above divide its minutes by theirs.
///
/// Errors: FT_ERR_UNKNOWN_ID (an account with minutes is not in the tree), FT_ERR_CONFIG (accounts
/// have more minutes than the account above them), FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: one at a time per tree; the configuration is only read.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_fairshare_compute(
    tree: *mut TreeHandle,
    config: *const ConfigHandle,
) -> i32 {
    guard::status("ft_fairshare_compute", || {
        // SAFETY: the caller passes live handles, of which no other thread uses the tree or changes
        // the configuration.
        let (mut handle, config) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                &handle::shared(config, "config")?.config,
            )
        };
        let entitlement = entitlement(config, handle.get())?;
        handle.edit(|model| model.compute(config, &entitlement));
        Ok(())
    })
}

/// Entitlements of associations by the policy.
pub(super) fn entitlement(config: &Config, model: &TreeModel) -> Result<Entitlement, Failure> {
    let mut rows = Vec::new();
    for row in config.accounts.iter() {
        // What ft_config_load_policy() takes is an id. Plans of others change nothing here.
        let id = row.account.parse().unwrap_or(FT_NONE);
        let at = match row.minutes {
            Some(_) => Some(model.index_of(id, "accounts")?),
            None => model.tree().index_of(id),
        };
        rows.push((row, at));
    }
    config.check_minutes(model.tree(), |id| model.tree().index_of(id.parse().ok()?))?;
    Ok(Entitlement::of_policy(config, model.tree(), rows, 0))
}

/// Reads the results of the last computation for one association.
///
/// `row`: receives it. `row_size`: sizeof(ft_fairshare).
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_NOT_COMPUTED, FT_ERR_NULL, FT_ERR_ALIGN,
/// FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_fairshare_get(
    tree: *const TreeHandle,
    id: u32,
    row: *mut FairshareRow,
    row_size: usize,
) -> i32 {
    guard::status("ft_fairshare_get", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = OutArray::rows(row, 1, row_size, "row")?;
        let position = model.index_of(id, "id")?.get();
        let factors = model.factors()?;
        let found = FairshareRow::new(&model.tree().rows()[position], &factors.rows[position]);
        // SAFETY: the caller passes a writable row.
        unsafe { out.write([found]) };
        Ok(())
    })
}

/// Reads the results of the last computation for all associations.
///
/// `rows`: receives one row per association, in the order of position.
/// `rows_len`: as from ft_tree_len(). `row_size`: sizeof(ft_fairshare).
///
/// Errors: FT_ERR_NOT_COMPUTED, FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_fairshare_rows(
    tree: *const TreeHandle,
    rows: *mut FairshareRow,
    rows_len: usize,
    row_size: usize,
) -> i32 {
    guard::status("ft_fairshare_rows", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = OutArray::rows(rows, rows_len, row_size, "rows")?;
        let factors = model.factors()?;
        out.expect_len(factors.rows.len(), "associations", "rows")?;
        let found = model.tree().rows().iter().zip(&factors.rows);
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(found.map(|(assoc, row)| FairshareRow::new(assoc, row))) };
        Ok(())
    })
}

/// Reads one column of the last computation for all associations.
///
/// `column`: one of enum ft_column.
/// `values`: receives one value per association, in the order of position; see ft_fairshare for the
/// meaning of NaN. `values_len`: as from ft_tree_len().
///
/// Errors: FT_ERR_ENUM, FT_ERR_NOT_COMPUTED, FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_fairshare_column(
    tree: *const TreeHandle,
    column: u32,
    values: *mut f64,
    values_len: usize,
) -> i32 {
    guard::status("ft_fairshare_column", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = OutArray::new(values, values_len, "values")?;
        let read = reader(column)?;
        let factors = model.factors()?;
        out.expect_len(factors.rows.len(), "associations", "values")?;
        let found = model.tree().rows().iter().zip(&factors.rows);
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(found.map(|(assoc, row)| read(&FairshareRow::new(assoc, row)))) };
        Ok(())
    })
}

/// Reads a column out of a row.
type Reader = fn(&FairshareRow) -> f64;

fn reader(column: u32) -> Result<Reader, Failure> {
    const COLUMNS: [(Column, Reader); 6] = [
        (Column::FT_COLUMN_NORM_SHARES, |row| row.norm_shares),
        (Column::FT_COLUMN_RAW_USAGE, |row| row.raw_usage),
        (Column::FT_COLUMN_NORM_USAGE, |row| row.norm_usage),
        (Column::FT_COLUMN_EFFECTIVE_USAGE, |row| row.effective_usage),
        (Column::FT_COLUMN_LEVEL_FS, |row| row.level_fs),
        (Column::FT_COLUMN_FS_FACTOR, |row| row.fs_factor),
    ];
    let found = COLUMNS.into_iter().find(|(each, _)| *each as u32 == column);
    found.map(|(_, read)| read).ok_or_else(|| {
        Failure::new(
            Status::FT_ERR_ENUM,
            format!("column {column} is none of enum ft_column"),
        )
    })
}
