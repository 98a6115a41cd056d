//! Places of accounts and users among those that they compete with.

use super::places::{self, Role};
use super::ranking_input::RankingInput;
use super::rule::Order;
use super::{AssocFairshare, Entitlement, HostMath, Ranking};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Tree};

/// A place among those that compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// 1 is the first; equals share the better one.
    pub place: u64,
    /// Number of competitors, itself included.
    pub of: u64,
}

impl Ranking {
    /// The place of each association, by position, where `found` was computed from the other
    /// arguments.
    ///
    /// A user has a place among all users, by the factor. An account has one among the accounts that it
    /// competes with: its siblings, or under `least_used:LEVEL` all accounts of that level. `None`: the
    /// root, accounts with `FairShare=parent`, and accounts above LEVEL.
    ///
    /// # Panics
    /// Unless there is one usage and one result per association.
    pub fn contest(
        self,
        entitlement: &Entitlement,
        compat: Compat,
        tree: &Tree,
        raw_usage: &[Extended],
        found: &[AssocFairshare],
    ) -> Vec<Option<Place>> {
        assert_eq!(found.len(), tree.len(), "one result per association");
        let input = RankingInput {
            tree,
            raw_usage,
            entitlement,
            compat,
            host: HostMath::default(),
        };
        let mut found_places = vec![None; tree.len()];
        let Some(root) = tree.root() else {
            return found_places;
        };
        let is_user = |index: &AssocIndex| tree.rows()[index.get()].kind == AssocKind::User;
        let order = self.order(&input, found);
        let roles = places::roles(tree);
        let mut open = vec![self.first(tree, &roles, root)];
        while let Some(mut competitors) = open.pop() {
            competitors.retain(|competitor| !is_user(competitor));
            let inner = competitors
                .iter()
                .filter(|at| roles[at.get()] == Role::Inner);
            open.extend(inner.map(|at| places::competing(tree, &roles, *at).collect()));
            place(competitors, &order, &mut found_places);
        }
        let factor = |index: AssocIndex| found[index.get()].fs_factor.unwrap_or(0.0);
        let by_factor: Order<'_> = Box::new(|a, b| factor(b).total_cmp(&factor(a)));
        let users: Vec<AssocIndex> = tree.indices().filter(is_user).collect();
        place(users, &by_factor, &mut found_places);
        found_places
    }
}

/// Gives each competitor its place.
fn place(mut competitors: Vec<AssocIndex>, order: &Order<'_>, places: &mut [Option<Place>]) {
    competitors.sort_by(|a, b| order(*a, *b));
    let of = competitors.len() as u64;
    let mut place = 1;
    for (at, index) in competitors.iter().enumerate() {
        if at > 0 && order(competitors[at - 1], *index).is_ne() {
            place = at as u64 + 1;
        }
        places[index.get()] = Some(Place { place, of });
    }
}
