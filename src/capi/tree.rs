//! `ft_tree`: accounts and users, and their shares.

use std::fmt::Display;

use crate::compat::Compat;
use crate::config::Config;
use crate::engine::Site;
use crate::fairshare::{AssocFairshare, Entitlement, Ranking, compute_again};
use crate::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree, TreeError};
use crate::usage::window::check_time;
use crate::usage::{Decay, HalfLife, RawUsage, Use};

use super::error::{Failure, Status};
use super::guard;
use super::handle::{self, Handle};
use super::view::{self, Out, OutArray, Plain};

/// No association, partition, QOS or row: the parent of the root, for instance.
pub const FT_NONE: u32 = 0xffff_ffff;

/// The largest number of shares.
pub const FT_SHARES_MAX: u32 = 0x7fff_fffe;

/// Instead of a number of shares: use the parent's shares (FairShare=parent in Slurm).
pub const FT_SHARES_PARENT: u32 = 0x7fff_ffff;

/// What an association is.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// An account: it may have children.
    FT_ACCOUNT = 0,
    /// A user in an account: a leaf. Only users are ranked.
    FT_USER = 1,
}

/// A tree of accounts and users, their usage, and their factors.
///
/// The usage is decayed to a moment, which ft_usage_advance() sets. Associations have an id of
/// your choice, and a position: their place in the order in which they were added, from 0 up.
/// Arrays with one entry per association are in the order of position.
/// Made by ft_tree_new(), ft_tree_clone(); freed by ft_tree_free().
pub struct TreeHandle {
    _opaque: [u8; 0],
}

impl Handle for TreeHandle {
    const TAG: u64 = 0x6674_5f74_7265_6501;
    const NAME: &'static str = "ft_tree";
    type Model = TreeModel;
}

/// The Rust value of an `ft_tree`.
#[derive(Clone)]
pub struct TreeModel {
    pub(super) site: Site,
    /// Dropped when the tree is edited.
    pub(super) factors: Option<Factors>,
}

/// The results of a computation.
#[derive(Clone)]
pub(super) struct Factors {
    pub(super) ranking: Ranking,
    /// By position.
    pub(super) rows: Vec<AssocFairshare>,
}

impl TreeModel {
    /// `raw_usage`: usage of the tree, decayed to `moment`. Runs count as charged until then.
    pub(super) fn new(tree: Tree, raw_usage: RawUsage, moment: i64, last_reset: i64) -> TreeModel {
        let never = Decay::new(0, Compat::Documented);
        let usage = HalfLife::new(never, raw_usage, Some(moment));
        TreeModel {
            site: Site::new(tree, Box::new(usage), last_reset),
            factors: None,
        }
    }

    pub(super) fn tree(&self) -> &Tree {
        self.site.tree()
    }

    /// Changes which associations there are, and their usage with them.
    fn edit_tree<R>(
        &mut self,
        change: impl FnOnce(&mut Tree, &mut RawUsage) -> Result<R, TreeError>,
    ) -> Result<R, TreeError> {
        let result = self.site.edit_tree(change)?;
        self.factors = None;
        Ok(result)
    }

    /// Refuses settings that ask for another usage model than the tree has.
    pub(super) fn check_model(&self, config: &Config) -> Result<(), Failure> {
        if self.site.model().fits(config) {
            return Ok(());
        }
        let why = format!(
            "config asks for usage={}, which is not the tree's usage model: call \
             ft_usage_configure() first",
            config.usage()
        );
        Err(Failure::new(Status::FT_ERR_MODEL, why))
    }

    /// Own and raw usage, which only a half-life has.
    pub(super) fn raw_usage(&self) -> Result<&RawUsage, Failure> {
        self.site.model().raw_usage().ok_or_else(|| {
            Failure::new(
                Status::FT_ERR_MODEL,
                "the tree's usage is that of a window or since a date, and needs to know when it \
                 was",
            )
        })
    }

    /// Changes own and raw usage.
    pub(super) fn edit_ledger<R>(
        &mut self,
        change: impl FnOnce(&Tree, &mut RawUsage) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        self.raw_usage()?;
        self.site
            .edit_usage(|tree, model| change(tree, model.raw_usage_mut().expect("a half-life")))
    }

    /// Charges uses in a window or since a date: all or, when one of them is refused, none.
    pub(super) fn charge_uses(&mut self, uses: &[(AssocIndex, Use<'_>)]) -> Result<(), Failure> {
        self.site.edit_usage(|tree, model| {
            // One charge is refused as a whole by itself.
            let before = (uses.len() > 1).then(|| model.copied());
            for (number, (assoc, used)) in uses.iter().enumerate() {
                if let Err(error) = model.charge(tree, *assoc, used) {
                    if let Some(before) = before {
                        *model = before;
                    }
                    return Err(Failure::from(error).at(format_args!("uses[{number}]")));
                }
            }
            Ok(())
        })
    }

    /// Refuses moments that windows do not have.
    pub(super) fn check_now(&self, now: i64) -> Result<(), Failure> {
        if self.raw_usage().is_ok() || now <= self.site.moment() || check_time("now", now).is_ok() {
            return Ok(());
        }
        let what = format!("now is {now}, but must be within the years 1970 to 9999");
        Err(Failure::new(Status::FT_ERR_TIME, what))
    }

    /// Takes the memory of the old factors for reuse. The tree has no factors until they are set.
    pub(super) fn take_spare_factors(&mut self) -> Vec<AssocFairshare> {
        self.factors.take().map_or_else(Vec::new, |old| old.rows)
    }

    /// Computes all factors, and keeps them.
    pub(super) fn compute(&mut self, config: &Config, entitlement: &Entitlement) {
        let ranking = config.ranking();
        let rows = self.take_spare_factors();
        let entitled = (ranking, entitlement);
        let rows = compute_again(entitled, config.compat, self.tree(), self.site.raw(), rows);
        self.factors = Some(Factors { ranking, rows });
    }

    pub(super) fn index_of(&self, id: u32, argument: impl Display) -> Result<AssocIndex, Failure> {
        self.tree().index_of(id).ok_or_else(|| {
            Failure::new(
                Status::FT_ERR_UNKNOWN_ID,
                format!("{argument}: association {id} is not in the tree"),
            )
        })
    }

    pub(super) fn factors(&self) -> Result<&Factors, Failure> {
        self.factors.as_ref().ok_or_else(|| {
            Failure::new(
                Status::FT_ERR_NOT_COMPUTED,
                "no factors since the tree was last edited: call ft_fairshare_compute()",
            )
        })
    }
}

/// One association.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AssocRow {
    /// Unique in the tree; any number but FT_NONE.
    pub id: u32,
    /// The id of the account above it; FT_NONE for the root, of which there is exactly one.
    pub parent: u32,
    /// 0..FT_SHARES_MAX, compared with those of its siblings; or FT_SHARES_PARENT.
    pub raw_shares: u32,
    /// FT_ACCOUNT or FT_USER (enum ft_kind). The root is an account.
    pub kind: u32,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for AssocRow {}

impl AssocRow {
    /// The engine's row; checks only conditions that concern the row alone.
    pub(super) fn assoc(self) -> Result<Assoc, Failure> {
        let row = self;
        if row.id == FT_NONE {
            return Err(Failure::new(
                Status::FT_ERR_RANGE,
                "the id of an association cannot be FT_NONE",
            ));
        }
        Ok(Assoc {
            id: row.id,
            parent: (row.parent != FT_NONE).then_some(row.parent),
            kind: kind(row.id, row.kind)?,
            shares: shares(row.id, row.raw_shares)?,
        })
    }
}

impl From<&Assoc> for AssocRow {
    fn from(assoc: &Assoc) -> AssocRow {
        AssocRow {
            id: assoc.id,
            parent: assoc.parent.unwrap_or(FT_NONE),
            raw_shares: match assoc.shares {
                Shares::Raw(count) => count,
                Shares::Parent => FT_SHARES_PARENT,
            },
            kind: match assoc.kind {
                AssocKind::Account => Kind::FT_ACCOUNT as u32,
                AssocKind::User => Kind::FT_USER as u32,
            },
        }
    }
}

fn kind(id: u32, kind: u32) -> Result<AssocKind, Failure> {
    match kind {
        0 => Ok(AssocKind::Account),
        1 => Ok(AssocKind::User),
        _ => Err(Failure::new(
            Status::FT_ERR_ENUM,
            format!("association {id}: kind {kind} is neither FT_ACCOUNT nor FT_USER"),
        )),
    }
}

pub(super) fn shares(id: u32, raw_shares: u32) -> Result<Shares, Failure> {
    match raw_shares {
        0..=FT_SHARES_MAX => Ok(Shares::Raw(raw_shares)),
        FT_SHARES_PARENT => Ok(Shares::Parent),
        _ => Err(Failure::new(
            Status::FT_ERR_SHARES,
            format!(
                "association {id}: {raw_shares} shares, but 0..{FT_SHARES_MAX} or \
                 FT_SHARES_PARENT are allowed"
            ),
        )),
    }
}

/// Makes an empty tree.
///
/// `now`: the moment of its usage, in seconds since 1970; also counts as the last reset of
/// usage.
/// `tree`: receives the tree, which is yours to free.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_new(now: i64, tree: *mut *mut TreeHandle) -> i32 {
    guard::status("ft_tree_new", || {
        let out = Out::new(tree, "tree")?;
        let model = TreeModel::new(Tree::default(), RawUsage::default(), now, now);
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(handle::new(model)) };
        Ok(())
    })
}

/// Makes a copy of a tree: to try a change, or to compute on one tree while readers use the other.
///
/// `copy`: receives the tree, which is yours to free.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_clone(tree: *const TreeHandle, copy: *mut *mut TreeHandle) -> i32 {
    guard::status("ft_tree_clone", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = Out::new(copy, "copy")?;
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(handle::new(model.clone())) };
        Ok(())
    })
}

/// Frees a tree. NULL is allowed; freeing a tree twice is an error.
///
/// Threads: no other thread may use the tree.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ft_tree_free(tree: *mut TreeHandle) {
    guard::value("ft_tree_free", (), || {
        // SAFETY: the caller passes NULL or a handle of its own and does not use it again.
        unsafe { handle::free(tree) };
    });
}

/// Replaces all associations by these; there is no usage afterwards.
///
/// A million rows are no problem, and the depth is not limited.
///
/// `rows`: in any order, children may come before parents. No rows make an empty tree.
/// `row_size`: sizeof(ft_assoc).
///
/// Errors, naming the association: FT_ERR_DUPLICATE_ID, FT_ERR_UNKNOWN_PARENT,
/// FT_ERR_PARENT_IS_USER, FT_ERR_CYCLE, FT_ERR_ROOT, FT_ERR_SHARES, FT_ERR_ENUM, FT_ERR_RANGE;
/// FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE,
/// FT_ERR_POISONED. The tree is then unchanged.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_load(
    tree: *mut TreeHandle,
    rows: *const AssocRow,
    rows_len: usize,
    row_size: usize,
) -> i32 {
    guard::status("ft_tree_load", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and readable rows.
        let (mut handle, rows) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                view::rows(rows, rows_len, row_size, "rows")?,
            )
        };
        let assocs: Result<Vec<Assoc>, Failure> = rows.iter().map(|row| row.assoc()).collect();
        let tree = Tree::from_rows(assocs?)?;
        let raw_usage = RawUsage::new(&tree);
        handle.edit(|model| {
            model.site.edit_usage(|_, usage| usage.clear());
            model.edit_tree(|old_tree, old_ledger| {
                (*old_tree, *old_ledger) = (tree, raw_usage);
                Ok(())
            })
        })?;
        Ok(())
    })
}

/// Adds one association, without usage, at the last position.
///
/// `row`: its parent must be in the tree already; the first one is the root.
/// `row_size`: sizeof(ft_assoc).
///
/// Errors: FT_ERR_DUPLICATE_ID, FT_ERR_UNKNOWN_PARENT, FT_ERR_PARENT_IS_USER, FT_ERR_ROOT,
/// FT_ERR_SHARES, FT_ERR_ENUM, FT_ERR_RANGE, FT_ERR_TOO_MANY, FT_ERR_NULL, FT_ERR_ALIGN,
/// FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED. The tree is then unchanged.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_add(
    tree: *mut TreeHandle,
    row: *const AssocRow,
    row_size: usize,
) -> i32 {
    guard::status("ft_tree_add", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a readable row.
        let (mut handle, row) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                view::rows(row, 1, row_size, "row")?,
            )
        };
        let assoc = row[0].assoc()?;
        handle.edit(|model| {
            model.edit_tree(|tree, raw_usage| raw_usage.add_assoc(tree, assoc))?;
            Ok(())
        })
    })
}

/// Changes the shares of an association.
///
/// `raw_shares`: 0..FT_SHARES_MAX, or FT_SHARES_PARENT.
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_SHARES, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED. The tree is then unchanged.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_set_shares(
    tree: *mut TreeHandle,
    id: u32,
    raw_shares: u32,
) -> i32 {
    guard::status("ft_tree_set_shares", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(tree, "tree")? };
        let shares = shares(id, raw_shares)?;
        handle.edit(|model| {
            model.site.set_shares(id, shares)?;
            model.factors = None;
            Ok(())
        })
    })
}

/// Moves an association with all below it, and their usage, to another account.
///
/// Positions stay as they are.
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_UNKNOWN_PARENT, FT_ERR_PARENT_IS_USER, FT_ERR_CYCLE,
/// FT_ERR_ROOT, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The tree is then
/// unchanged.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_move(tree: *mut TreeHandle, id: u32, parent: u32) -> i32 {
    guard::status("ft_tree_move", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(tree, "tree")? };
        handle.edit(|model| {
            model.edit_tree(|tree, raw_usage| raw_usage.move_assoc(tree, id, parent))?;
            Ok(())
        })
    })
}

/// Removes an association that has no children. Its usage stays with its account.
///
/// The positions after it decrease by one.
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_HAS_CHILDREN, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED. The tree is then unchanged.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_remove(tree: *mut TreeHandle, id: u32) -> i32 {
    guard::status("ft_tree_remove", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(tree, "tree")? };
        handle.edit(|model| {
            model.edit_tree(|tree, raw_usage| raw_usage.remove_assoc(tree, id))?;
            Ok(())
        })
    })
}

/// Counts the associations: the length of arrays with one entry per association.
///
/// `len`: receives the number of associations, accounts and users.
/// `users`: receives the number of users; may be NULL.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_len(
    tree: *const TreeHandle,
    len: *mut usize,
    users: *mut usize,
) -> i32 {
    guard::status("ft_tree_len", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let (len, users) = (Out::new(len, "len")?, Out::optional(users, "users")?);
        let user_count = users.as_ref().map_or(0, |_| model.tree().user_count());
        // SAFETY: the caller passes writable pointers.
        unsafe {
            len.write(model.tree().len());
            if let Some(users) = users {
                users.write(user_count);
            }
        }
        Ok(())
    })
}

/// Finds the position of an association.
///
/// `position`: receives it; it is valid until an association is removed, or the tree is replaced.
///
/// Errors: FT_ERR_UNKNOWN_ID, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_find(
    tree: *const TreeHandle,
    id: u32,
    position: *mut usize,
) -> i32 {
    guard::status("ft_tree_find", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = Out::new(position, "position")?;
        let index = model.index_of(id, "id")?;
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(index.get()) };
        Ok(())
    })
}

/// Reads all associations, in the order of position.
///
/// `rows`: receives one row per association. `rows_len`: as from ft_tree_len().
/// `row_size`: sizeof(ft_assoc).
///
/// Errors: FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE,
/// FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_tree_rows(
    tree: *const TreeHandle,
    rows: *mut AssocRow,
    rows_len: usize,
    row_size: usize,
) -> i32 {
    guard::status("ft_tree_rows", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = OutArray::rows(rows, rows_len, row_size, "rows")?;
        out.expect_len(model.tree().len(), "associations", "rows")?;
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(model.tree().rows().iter().map(AssocRow::from)) };
        Ok(())
    })
}
