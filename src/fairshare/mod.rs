//! Who comes first: from shares and usage to a fair-share factor per association.
//!
//! One file per algorithm; [`compute`] is the signature of all. A [`LevelRanks`] keeps the ranks of
//! Fair Tree from pass to pass and follows what changed.
//!
//! | [`Algorithm`] | [`Compat::Documented`] | [`Compat::Slurm`] |
//! |---|---|---|
//! | `FairTree` | `fair_tree`, exact | `stock_tree`, bit for bit |
//! | `Classic` | `classic` | `classic`, in Slurm's rounding |
//! | `DepthOblivious` | `depth_oblivious` | `depth_oblivious`, in Slurm's rounding |
//!
//! `stock_records` is for those who follow slurmctld from pass to pass: what its records keep.

mod classic;
mod depth_oblivious;
mod exact;
mod fair_tree;
mod host;
mod level_ranks;
mod numbers;
pub(crate) mod stock_records;
mod stock_tree;
mod usage;

use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::Tree;

pub(crate) use classic::Classic;
#[cfg(feature = "cli")]
pub(crate) use fair_tree::order_on_level;
pub use host::HostMath;
pub use level_ranks::LevelRanks;
pub use numbers::FairTreeNumbers;
pub(crate) use numbers::NumbersOf;
pub use stock_records::Kept;
use usage::Usage;

/// How shares and usage become factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Rank by depth-first walk (`FAIR_TREE`, the default of Slurm).
    FairTree,
    /// `2^(-usage/shares/dampening)` (`NO_FAIR_TREE`).
    Classic {
        /// `FairShareDampeningFactor`, from 1 up.
        dampening: u16,
    },
    /// The same with the effective usage of `DEPTH_OBLIVIOUS`.
    DepthOblivious {
        /// `FairShareDampeningFactor`, from 1 up.
        dampening: u16,
    },
}

/// What a computation says of one association.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssocFairshare {
    /// Normalised shares, 0..=1. See [`Tree::norm_shares_on_level`] (Fair Tree) and
    /// [`Tree::norm_shares_on_path`] (classic).
    pub norm_shares: f64,
    /// Raw usage, TRES-seconds.
    pub raw_usage: Extended,
    /// Raw usage over the root's, 0..=1; 0 when the root has none.
    pub norm_usage: Extended,
    /// Fair Tree: raw usage over the one of the `fs_parent`, 0 where that has none. Classic: as
    /// the algorithm defines it. From 0 up.
    ///
    /// The root has its normalised usage here, under `compat=slurm` always 1.
    pub effective_usage: Extended,
    /// Level fairshare: shares over usage, 0..=infinity. `None` where the algorithm has none:
    /// the root, accounts with `FairShare=parent`, and all associations outside Fair Tree.
    pub level_fs: Option<Extended>,
    /// Fair-share factor, 0..=1. `None` for accounts under Fair Tree.
    pub fs_factor: Option<f64>,
}

/// Fair-share factors of all associations, one per association by position.
///
/// `raw_usage`: one per association by position (see [`crate::usage::Ledger::raw`]); panics at
/// another length. A negative usage counts as none, an infinite one as the largest number; Fair
/// Tree under `compat=slurm` takes both as they are.
///
/// * Fair Tree: `rank / number of users` for users, in (0, 1]. The first user of the walk has
///   the highest rank, the number of users. Without usage, level fairshare is infinite; without
///   shares it is 0, whatever the usage; both tie among themselves. A user with
///   `FairShare=parent` has an infinite one.
/// * Classic and depth-oblivious: `2^(-(effective usage / normalised shares) / dampening)` for
///   all; 0 without shares. `FairShare=parent` takes the factor of the `fs_parent`.
///
/// An empty tree gives an empty result. Documented mode does not depend on the order of rows;
/// `compat=slurm` does where Slurm does. Sources: fair_tree.shtml,
/// classic_fair_share.shtml.
///
/// ```
/// use fairtree::compat::Compat;
/// use fairtree::extended::Extended;
/// use fairtree::fairshare::{Algorithm, compute};
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// let user = |id| Assoc { id, parent: Some(1), kind: AssocKind::User, shares: Shares::Raw(1) };
/// let root = Assoc { id: 1, parent: None, kind: AssocKind::Account, shares: Shares::Raw(1) };
/// let tree = Tree::from_rows([root, user(2), user(3)])?;
/// let usage = [40_u64, 30, 10].map(Extended::from);
/// let results = compute(Algorithm::FairTree, Compat::Documented, &tree, &usage);
/// let two_thirds = Extended::from(2_u64) / Extended::from(3_u64); // (1/2) / (30/40)
/// assert_eq!(results[1].level_fs, Some(two_thirds));
/// assert_eq!(results[1].fs_factor, Some(0.5));
/// assert_eq!(results[2].fs_factor, Some(1.0));
/// # Ok::<(), fairtree::tree::TreeError>(())
/// ```
pub fn compute(
    algorithm: Algorithm,
    compat: Compat,
    tree: &Tree,
    raw_usage: &[Extended],
) -> Vec<AssocFairshare> {
    compute_with(HostMath::default(), algorithm, compat, tree, raw_usage)
}

/// As [`compute`], with a host's own functions where `compat=slurm` needs them.
pub fn compute_with(
    host: HostMath,
    algorithm: Algorithm,
    compat: Compat,
    tree: &Tree,
    raw_usage: &[Extended],
) -> Vec<AssocFairshare> {
    compute_by(&Alone, host, algorithm, compat, tree, raw_usage, Vec::new())
}

/// As [`compute`], in the memory of earlier results: for a tree of a million associations the
/// system takes a fifth of the time to find as much anew.
#[cfg(any(feature = "capi", feature = "cli"))]
pub(crate) fn compute_again(
    algorithm: Algorithm,
    compat: Compat,
    tree: &Tree,
    raw_usage: &[Extended],
    spare: Vec<AssocFairshare>,
) -> Vec<AssocFairshare> {
    let host = HostMath::default();
    compute_by(&Alone, host, algorithm, compat, tree, raw_usage, spare)
}

/// Who works on many rows of which none looks at another.
pub(crate) trait Workers {
    /// Calls `work` once with each row and its position, in any order, and returns true; false
    /// and nothing done where there is nobody but the caller, who may know a better moment.
    fn each<T: Send>(&self, rows: &mut [T], work: impl Fn(usize, &mut T) + Sync) -> bool;
}

/// The caller's thread.
struct Alone;

impl Workers for Alone {
    fn each<T: Send>(&self, _: &mut [T], _: impl Fn(usize, &mut T) + Sync) -> bool {
        false
    }
}

/// As [`compute_with`], with others' help, and in the memory of `spare`, whatever is in it.
pub(crate) fn compute_by(
    workers: &impl Workers,
    host: HostMath,
    algorithm: Algorithm,
    compat: Compat,
    tree: &Tree,
    raw_usage: &[Extended],
    spare: Vec<AssocFairshare>,
) -> Vec<AssocFairshare> {
    assert_eq!(raw_usage.len(), tree.len(), "one usage per association");
    let stock_tree = algorithm == Algorithm::FairTree && compat.is_slurm();
    let usage = if stock_tree {
        Usage::as_kept(tree, raw_usage)
    } else {
        Usage::new(tree, raw_usage)
    };
    match (algorithm, compat) {
        (Algorithm::FairTree, Compat::Documented) => {
            fair_tree::compute(tree, &usage, workers, spare)
        }
        (Algorithm::FairTree, Compat::Slurm(_)) => {
            stock_tree::compute(tree, tree.norm_shares_on_level(compat), &usage, spare)
        }
        _ => Classic::new(tree, host, algorithm, compat, usage).all(spare),
    }
}

/// Fair share under a classic algorithm, of one association after the other.
///
/// As [`compute`], but for `algorithm`, which is not Fair Tree.
pub(crate) fn classic<'a>(
    host: HostMath,
    algorithm: Algorithm,
    compat: Compat,
    tree: &'a Tree,
    raw_usage: &'a [Extended],
) -> Classic<'a> {
    assert_eq!(raw_usage.len(), tree.len(), "one usage per association");
    Classic::new(tree, host, algorithm, compat, Usage::new(tree, raw_usage))
}

/// Fair Tree under `compat=slurm` with the normalised shares that the host keeps, one per
/// association by position: after a change of `PriorityFlags` they still are the old ones.
pub(crate) fn stock_fair_tree(
    tree: &Tree,
    norm_shares: Vec<f64>,
    raw_usage: &[Extended],
) -> Vec<AssocFairshare> {
    let usage = Usage::as_kept(tree, raw_usage);
    stock_tree::compute(tree, norm_shares, &usage, Vec::new())
}
