//! Why one user comes before another.

use std::cmp::Ordering;

use serde::Serialize;

use super::formula::rank;
use super::parting::{self, PartingIndices};
use super::path::{PathStep, chain, steps};
use super::remedy::{Goal, Search};
use super::trial_site::Variation;
use super::{ExplainError, Parting, RankedSite, Remedy, Side};
use fairtree::compat::Compat;
use fairtree::config::UsageModel;
use fairtree::fairshare::Ranking;
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::Names;

/// One of the two users.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UserSide {
    /// Number of the association.
    pub assoc: u32,
    /// The caller's name for it.
    pub name: String,
    /// Fair-share factor, 0..=1.
    pub fs_factor: f64,
    /// Fair Tree: the rank, from the number of users (the best) down to 1.
    pub rank: Option<u64>,
    /// The way from the root, both ends included.
    pub path: Vec<PathStep>,
}

/// Serialises a ranking as its name.
fn by_name<S: serde::Serializer>(ranking: &Ranking, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(ranking.name())
}

/// Two users side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UsersCompared {
    /// The ranking; serialised as its name: `fair_tree`, `classic`, `depth_oblivious` ...
    #[serde(serialize_with = "by_name")]
    pub ranking: Ranking,
    /// `documented` or `slurm:RELEASE`.
    pub compat: String,
    /// Number of users that are ranked.
    pub users: u64,
    /// The two, in the order of the question.
    pub sides: [UserSide; 2],
    /// Who has the higher factor; `None`: equal.
    pub ahead: Option<Side>,
    /// Where they part, and what decides there.
    pub parting: Parting,
    /// The side that is first after a remedy: the later one, or the first if they are equal.
    pub moves: Side,
    /// Changes that would put `moves` strictly ahead of the other.
    pub remedies: Vec<Remedy>,
}

/// Compares two different users, and finds what would change their order.
///
/// # Errors
/// [`ExplainError::NoSuchAssoc`], [`ExplainError::NotAUser`], [`ExplainError::SameUser`], and
/// [`ExplainError::Length`] for tables that do not belong together.
pub fn compare_users(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    users: [AssocIndex; 2],
) -> Result<UsersCompared, ExplainError> {
    check(ranked, names, users)?;
    let (mut compared, found) = describe(ranked, names, users);
    let moves = compared.moves.position();
    let pair = [users[moves], users[1 - moves]];
    let search = Search::new(ranked, names, pair.map(Some));
    let changes = changes(ranked, &search, &found, users, moves);
    let ahead = || -> Goal<'_> { Box::new(|factors: [f64; 2]| factors[0] > factors[1]) };
    compared.remedies = search.look(&changes, &ahead);
    Ok(compared)
}

/// Changes that might help the side at position `moves`.
pub(super) fn changes(
    ranked: &RankedSite<'_>,
    search: &Search<'_, '_>,
    found: &PartingIndices,
    users: [AssocIndex; 2],
    moves: usize,
) -> Vec<Variation> {
    let mut changes = vec![Variation::LessUsage(users[moves])];
    changes.extend(found.account(ranked, moves).map(Variation::LessUsage));
    let member = found.members[moves];
    // Shares do not change minutes.
    let has_shares = ranked.tree.rows()[member.get()].shares.raw().is_some();
    if has_shares && ranked.entitlement.seconds(member).is_none() {
        changes.push(Variation::MoreShares(member));
    }
    // What leaves a window, and when, is not known here.
    let decays = ranked.config.usage() == UsageModel::HalfLife;
    if decays {
        changes.extend(search.halving());
    }
    if decays && load_matters(ranked, users) {
        changes.push(Variation::Load);
    }
    changes
}

/// The two without remedies, and where they part.
pub(super) fn describe(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    users: [AssocIndex; 2],
) -> (UsersCompared, PartingIndices) {
    let sides = users.map(|user| side(ranked, names, user));
    let found = parting::part(ranked, users);
    let ahead = match parting::order_of_factors(ranked, users) {
        Ordering::Greater => Some(Side::First),
        Ordering::Less => Some(Side::Second),
        Ordering::Equal => None,
    };
    let parting = found.shown(ranked, names, [&sides[0].path, &sides[1].path]);
    let compared = UsersCompared {
        ranking: ranked.config.ranking(),
        compat: match ranked.config.compat {
            Compat::Documented => "documented".to_owned(),
            Compat::Slurm(release) => format!("slurm:{release}"),
        },
        users: ranked.config.ranking().places(ranked.tree) as u64,
        sides,
        ahead,
        parting,
        moves: ahead.map_or(Side::First, Side::other),
        remedies: Vec::new(),
    };
    (compared, found)
}

fn side(ranked: &RankedSite<'_>, names: &dyn Names, user: AssocIndex) -> UserSide {
    let fs_factor = ranked.fairshare[user.get()].fs_factor.unwrap_or(0.0);
    let ranking = ranked.config.ranking();
    UserSide {
        assoc: ranked.tree.rows()[user.get()].id,
        name: names.assoc(user),
        fs_factor,
        rank: ranking
            .is_ranked()
            .then(|| rank(fs_factor, ranking.places(ranked.tree))),
        path: steps(ranked, names, user),
    }
}

/// Returns true if running jobs charge one side without the other: common ancestors decay and grow
/// equally for both.
pub(super) fn load_matters(ranked: &RankedSite<'_>, users: [AssocIndex; 2]) -> bool {
    let [a, b] = users.map(|user| chain(ranked.tree, user));
    let common = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let mut apart = vec![false; ranked.tree.len()];
    for index in a[common..].iter().chain(&b[common..]) {
        apart[index.get()] = true;
    }
    for &index in ranked.tree.parents_first() {
        let parent = ranked.tree.fs_parent(index);
        if parent.is_some_and(|parent| apart[parent.get()]) {
            apart[index.get()] = true;
        }
    }
    let mut load = ranked.load.iter();
    load.any(|load| apart[load.assoc.get()] && load.tres_per_sec > 0.0)
}

fn check(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    users: [AssocIndex; 2],
) -> Result<(), ExplainError> {
    ranked.check()?;
    let len = ranked.tree.len();
    for user in users {
        if user.get() >= len {
            let position = user.get();
            return Err(ExplainError::NoSuchAssoc { position, len });
        }
        if !ranked.is_user(user) {
            let name = names.assoc(user);
            return Err(ExplainError::NotAUser { name });
        }
    }
    if users[0] == users[1] {
        let name = names.assoc(users[0]);
        return Err(ExplainError::SameUser { name });
    }
    Ok(())
}
