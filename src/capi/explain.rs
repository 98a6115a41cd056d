//! Why one user of an `ft_tree` comes before another.

use std::cmp::Ordering;
use std::ffi::c_char;
use std::fmt::Write;

use crate::fairshare::Comparison;
use crate::tree::{AssocIndex, AssocKind, Shares};

use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::tree::{AssocRow, TreeHandle, TreeModel};
use super::view::{Out, OutArray, Plain};

/// The number that decides between two users.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Basis {
    /// Fair Tree: the level fairshare of the two sides, at the level below their common account.
    FT_BASIS_LEVEL_FS = 0,
    /// Otherwise: the fair-share factors of the users themselves.
    FT_BASIS_FS_FACTOR = 1,
}

/// One side of a comparison: the user, or the account above it that is compared in its place.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SideRow {
    /// The association whose numbers decide.
    pub id: u32,
    /// FT_ACCOUNT or FT_USER.
    pub kind: u32,
    /// Its shares, or FT_SHARES_PARENT.
    pub raw_shares: u32,
    /// The user of this side.
    pub user: u32,
    /// As in ft_fairshare, of the association.
    pub norm_shares: f64,
    /// As in ft_fairshare, of the association.
    pub raw_usage: f64,
    /// As in ft_fairshare, of the association.
    pub effective_usage: f64,
    /// As in ft_fairshare, of the association; NaN without Fair Tree.
    pub level_fs: f64,
    /// Fair-share factor of the user.
    pub fs_factor: f64,
}

/// Why one user comes before another.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ComparisonRow {
    /// -1: a goes first; 1: b goes first; 0: they are tied.
    pub order: i32,
    /// What decides: FT_BASIS_LEVEL_FS or FT_BASIS_FS_FACTOR.
    pub basis: u32,
    /// The nearest account above both that shares are taken from.
    pub common: u32,
    /// Levels from that account down to the sides, from 1 up: the levels between were tied.
    pub depth: u32,
    /// The first user's side.
    pub a: SideRow,
    /// The second user's side.
    pub b: SideRow,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for ComparisonRow {}

fn user(model: &TreeModel, id: u32, argument: &str) -> Result<AssocIndex, Failure> {
    let index = model.index_of(id, argument)?;
    if model.tree().rows()[index.get()].kind == AssocKind::User {
        return Ok(index);
    }
    Err(Failure::new(
        Status::FT_ERR_NOT_A_USER,
        format!("{argument}: association {id} is an account, but only users are ranked"),
    ))
}

/// The associations from below the root down to `index`, as far as shares are taken from them.
fn path(model: &TreeModel, index: AssocIndex) -> (Vec<AssocIndex>, AssocIndex) {
    let mut path = vec![index];
    let mut top = index;
    while let Some(parent) = model.tree().fs_parent(top) {
        path.push(parent);
        top = parent;
    }
    path.pop();
    path.reverse();
    (path, top)
}

fn compare(model: &TreeModel, a: AssocIndex, b: AssocIndex) -> Result<ComparisonRow, Failure> {
    let factors = model.factors()?;
    let rows = &factors.rows;
    let (path_a, root) = path(model, a);
    let (path_b, _) = path(model, b);
    let shared = path_a
        .iter()
        .zip(&path_b)
        .take_while(|(x, y)| x == y)
        .count();
    let common = shared.checked_sub(1).map_or(root, |last| path_a[last]);
    let (below_a, below_b) = (&path_a[shared..], &path_b[shared..]);
    let basis = match factors.ranking.comparison() {
        Comparison::Level => Basis::FT_BASIS_LEVEL_FS,
        Comparison::Factor => Basis::FT_BASIS_FS_FACTOR,
    };
    let (depth, side_a, side_b) = match basis {
        // A user compared with itself has no level: both sides are the user.
        _ if a == b => (1, a, b),
        Basis::FT_BASIS_FS_FACTOR => (1, a, b),
        Basis::FT_BASIS_LEVEL_FS => {
            let level = |at: AssocIndex| rows[at.get()].level_fs;
            let mut sides = below_a.iter().zip(below_b).enumerate();
            let parted = sides.find(|(_, (x, y))| level(**x) != level(**y));
            let last = below_a.len().min(below_b.len()) - 1;
            let at = parted.map_or(last, |(at, _)| at);
            (at + 1, below_a[at], below_b[at])
        }
    };
    Ok(ComparisonRow {
        order: match rows[b.get()]
            .fs_factor
            .partial_cmp(&rows[a.get()].fs_factor)
        {
            Some(Ordering::Less) => -1,
            Some(Ordering::Greater) => 1,
            Some(Ordering::Equal) | None => 0,
        },
        basis: basis as u32,
        common: model.tree().rows()[common.get()].id,
        depth: u32::try_from(depth).unwrap_or(u32::MAX),
        a: side(model, side_a, a)?,
        b: side(model, side_b, b)?,
    })
}

fn side(model: &TreeModel, at: AssocIndex, user: AssocIndex) -> Result<SideRow, Failure> {
    let rows = &model.factors()?.rows;
    let (assoc, row) = (&model.tree().rows()[at.get()], &rows[at.get()]);
    let AssocRow {
        id,
        raw_shares,
        kind,
        ..
    } = AssocRow::from(assoc);
    Ok(SideRow {
        id,
        kind,
        raw_shares,
        user: model.tree().rows()[user.get()].id,
        norm_shares: row.norm_shares,
        raw_usage: row.raw_usage.to_f64(),
        effective_usage: row.effective_usage.to_f64(),
        level_fs: row.level_fs.map_or(f64::NAN, |level| level.to_f64()),
        fs_factor: rows[user.get()].fs_factor.unwrap_or(f64::NAN),
    })
}

/// The comparison in sentences, one a line.
fn told(model: &TreeModel, comparison: &ComparisonRow) -> String {
    let ComparisonRow { a, b, .. } = comparison;
    let verdict = match comparison.order {
        -1 => "comes before",
        1 => "comes after",
        _ => "is tied with",
    };
    let mut text = format!(
        "user {} {verdict} user {}: fair-share factors {:.6} and {:.6}.\n",
        a.user, b.user, a.fs_factor, b.fs_factor
    );
    if a.user != b.user && comparison.basis == Basis::FT_BASIS_LEVEL_FS as u32 {
        let between = match comparison.depth {
            1 => String::new(),
            depth => format!(", after {} tied level(s)", depth - 1),
        };
        let _ = writeln!(
            text,
            "They part below account {}{between}; the larger level fairshare goes first:",
            comparison.common
        );
    }
    for side in [a, b] {
        let _ = writeln!(text, "{}", side_told(model, comparison, side));
    }
    if let Some(note) = note(comparison) {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn side_told(model: &TreeModel, comparison: &ComparisonRow, side: &SideRow) -> String {
    let what = match model.index_of(side.id, "id") {
        Ok(at) if model.tree().rows()[at.get()].kind == AssocKind::Account => "account",
        _ => "user",
    };
    let shares = match model.index_of(side.id, "id") {
        Ok(at) if model.tree().rows()[at.get()].shares == Shares::Parent => "parent".to_owned(),
        _ => side.raw_shares.to_string(),
    };
    let mut text = format!(
        "  {what} {}: raw shares {shares}, normalized {:.6}, raw usage {:.0}, effective usage {:.6}",
        side.id, side.norm_shares, side.raw_usage, side.effective_usage
    );
    if comparison.basis == Basis::FT_BASIS_LEVEL_FS as u32 {
        let _ = write!(text, ", level fairshare {:.6}", side.level_fs);
    }
    text
}

/// A remark on facts that the numbers of the two sides do not show.
fn note(comparison: &ComparisonRow) -> Option<&'static str> {
    let ComparisonRow { a, b, .. } = comparison;
    let level = comparison.basis == Basis::FT_BASIS_LEVEL_FS as u32;
    if !level || a.level_fs != b.level_fs || comparison.order == 0 {
        return None;
    }
    Some(if a.kind == b.kind {
        "Rounded, the two values are equal; the rank was decided by what rounding hides, or, under \
         compat=slurm, by the order of the rows."
    } else {
        "The two are tied: the user takes the rank of the account's best user, which the other \
         user is not."
    })
}

/// Explains why one user comes before another, in numbers.
///
/// Under Fair Tree, the first level below their common account where level fairshare differs
/// decides; there the accounts of the users are compared.
///
/// `a`, `b`: ids of users. `comparison`: receives the reason. `row_size`:
/// sizeof(ft_comparison).
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_NOT_A_USER, FT_ERR_NOT_COMPUTED, FT_ERR_NULL,
/// FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_explain(
    tree: *const TreeHandle,
    a: u32,
    b: u32,
    comparison: *mut ComparisonRow,
    row_size: usize,
) -> i32 {
    guard::status("ft_explain", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = OutArray::rows(comparison, 1, row_size, "comparison")?;
        let found = compare(model, user(model, a, "a")?, user(model, b, "b")?)?;
        // SAFETY: the caller passes a writable row.
        unsafe { out.write([found]) };
        Ok(())
    })
}

/// Explains why one user comes before another, in words: English, some lines, in ASCII.
///
/// Call it with (NULL, 0) to learn the length first.
///
/// `a`, `b`: ids of users.
/// `text`: receives the lines and a NUL. `text_size`: bytes there are for both.
/// `text_len`: receives the length without the NUL, also with FT_ERR_BUFFER; may be NULL.
///
/// Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_ID, FT_ERR_NOT_A_USER, FT_ERR_NOT_COMPUTED,
/// FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_explain_text(
    tree: *const TreeHandle,
    a: u32,
    b: u32,
    text: *mut c_char,
    text_size: usize,
    text_len: *mut usize,
) -> i32 {
    guard::status("ft_explain_text", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = OutArray::new(text.cast::<u8>(), text_size, "text")?;
        let len = Out::optional(text_len, "text_len")?;
        let comparison = compare(model, user(model, a, "a")?, user(model, b, "b")?)?;
        let told = told(model, &comparison);
        if let Some(len) = len {
            // SAFETY: the caller passes a writable pointer.
            unsafe { len.write(told.len()) };
        }
        if out.len() > told.len() {
            // SAFETY: the caller passes a writable array.
            unsafe { out.write(told.bytes().chain([0])) };
        } else if out.len() > 0 {
            return Err(Failure::new(
                Status::FT_ERR_BUFFER,
                format!(
                    "text has {} bytes, but {} are needed",
                    out.len(),
                    told.len() + 1
                ),
            ));
        }
        Ok(())
    })
}
