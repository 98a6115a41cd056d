//! The way from the root to a user, with what each association on it may claim and has used.

use serde::{Serialize, Serializer};

use super::RankedSite;
use fairtree::engine::{Claim, Standing, Standings};
use fairtree::tree::{AssocIndex, AssocKind, Shares, Tree};
use fairtree_model::cluster::Names;

/// One association on the way from the root.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathStep {
    /// Number of the association.
    pub assoc: u32,
    /// The caller's name for it.
    pub name: String,
    /// True for a user, false for an account.
    pub is_user: bool,
    /// An account with `FairShare=parent`: it takes no part, its children compete on the level
    /// above.
    pub stands_aside: bool,
    /// Raw shares; `None`: `parent`, which JSON says in this word.
    #[serde(serialize_with = "number_or_parent")]
    pub raw_shares: Option<u32>,
    /// Minutes that it was given instead of shares.
    pub minutes: Option<u64>,
    /// Raw shares of all on its level, itself included; `None` for the root.
    pub level_shares: Option<u64>,
    /// The entitlement: normalised shares, 0..=1. See
    /// [`AssocFairshare`](fairtree::fairshare::AssocFairshare) for this and the next three.
    pub norm_shares: f64,
    /// Usage, TRES-seconds.
    pub raw_usage: f64,
    /// Its part of the whole, 0..=1.
    pub share_of_whole: f64,
    /// TRES-seconds that it is entitled to; `None`: not known, `due` counts.
    pub entitled: Option<f64>,
    /// TRES-seconds that are due to it of what was used; `None`: it is entitled to a time.
    pub due: Option<f64>,
    /// Used over one of these; `None`: it is entitled to nothing.
    pub used_ratio: Option<f64>,
    /// The same as the ranking compares it: under Fair Tree over the usage of the account above.
    pub effective_usage: f64,
    /// Due over used; infinity where nothing was used. `None` for the root, for accounts that
    /// stand aside and outside Fair Tree. In JSON infinity is `"inf"`.
    #[serde(serialize_with = "number_or_inf")]
    pub level_fs: Option<f64>,
}

/// The steps from the root to `index`, both included.
pub(super) fn steps(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    index: AssocIndex,
) -> Vec<PathStep> {
    let by = (ranked.config.ranking(), ranked.entitlement);
    let standings = Standings::new(by, ranked.tree, ranked.fairshare);
    let way = ranked.tree.upward(index);
    let mut steps: Vec<PathStep> = way
        .map(|at| step(ranked, names, at, &standings.of(at)))
        .collect();
    steps.reverse();
    steps
}

fn step(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    index: AssocIndex,
    standing: &Standing,
) -> PathStep {
    let row = &ranked.tree.rows()[index.get()];
    let result = &ranked.fairshare[index.get()];
    let (entitled, due) = match standing.claim {
        Claim::Entitled(secs) => (Some(secs), None),
        Claim::Due(secs) => (None, Some(secs)),
    };
    PathStep {
        assoc: row.id,
        name: names.assoc(index),
        is_user: row.kind == AssocKind::User,
        stands_aside: stands_aside(ranked.tree, index),
        raw_shares: row.shares.raw(),
        minutes: ranked.entitlement.seconds(index).map(|secs| secs / 60),
        level_shares: ranked.tree.level_shares(index),
        norm_shares: result.norm_shares,
        raw_usage: standing.used,
        share_of_whole: standing.share_of_whole,
        entitled,
        due,
        used_ratio: standing.ratio,
        effective_usage: result.effective_usage.to_f64(),
        level_fs: standing.level_fs,
    }
}

/// An account below the root that leaves its children to the level above.
fn stands_aside(tree: &Tree, index: AssocIndex) -> bool {
    let row = &tree.rows()[index.get()];
    row.shares == Shares::Parent && row.kind == AssocKind::Account && tree.parent(index).is_some()
}

/// The associations from the root to `index` that take part in sharing.
pub(super) fn chain(tree: &Tree, index: AssocIndex) -> Vec<AssocIndex> {
    let mut chain = Vec::new();
    let mut next = Some(index);
    while let Some(at) = next {
        chain.push(at);
        next = tree.fs_parent(at);
    }
    chain.reverse();
    chain
}

fn number_or_parent<S: Serializer>(value: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        None => serializer.serialize_str("parent"),
        Some(shares) => serializer.serialize_u32(*shares),
    }
}

fn number_or_inf<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        None => serializer.serialize_none(),
        Some(value) if value.is_infinite() => serializer.serialize_str("inf"),
        Some(value) => serializer.serialize_f64(*value),
    }
}
