//! Approximate Fair Tree ranks, as a first guess.
//!
//! On each level of the path to a user, the association with more shares per usage comes first with
//! all its users. Computed in `f64`, without regard to ties: a guess, which the engine then checks.

use super::RankedSite;
use super::path::chain;
use super::trial_site::{Variation, decay_over};
use fairtree::config::Config;
use fairtree::tree::{AssocIndex, AssocKind, Shares, Tree};

/// The ways of two users, and who competes with them.
pub(super) struct Tally<'a> {
    config: &'a Config,
    /// The first one is the way along which changes are made; empty without a user.
    ways: [Vec<Step>; 2],
    user_count: usize,
}

/// One association on a way, below the root.
struct Step {
    standing: Standing,
    index: AssocIndex,
    rivals: Vec<Rival>,
}

/// The values that place an association on its level.
#[derive(Clone, Copy)]
struct Standing {
    /// Infinite for a user with `FairShare=parent`.
    shares: f64,
    usage: f64,
    /// The load that running jobs add each second.
    load: f64,
}

impl Standing {
    /// Level fairshare, except for the factors that all on the level have in common.
    fn ratio(self) -> f64 {
        if self.shares == 0.0 {
            0.0
        } else if self.usage <= 0.0 {
            f64::INFINITY
        } else {
            self.shares / self.usage
        }
    }
}

/// Another one on the same level.
struct Rival {
    standing: Standing,
    users: usize,
    /// It is on the other way, on the same level.
    on_other_way: bool,
}

impl<'a> Tally<'a> {
    pub(super) fn new(ranked: &RankedSite<'a>, pair: [Option<AssocIndex>; 2]) -> Tally<'a> {
        let users = users_within(ranked.tree);
        let loads = loads_within(ranked);
        let standing = |index| standing(ranked, &loads, index);
        let chains = pair.map(|user| user.map_or(Vec::new(), |user| chain(ranked.tree, user)));
        let ways = [0, 1].map(|at| {
            let (own, other) = (&chains[at], &chains[1 - at]);
            let levels = own.windows(2).enumerate();
            levels
                .map(|(depth, pair)| {
                    let (account, index) = (pair[0], pair[1]);
                    let rivals = ranked.tree.fs_children(account).iter();
                    let rivals = rivals.filter(|rival| **rival != index);
                    Step {
                        standing: standing(index).unwrap_or(Standing {
                            shares: 0.0,
                            usage: 0.0,
                            load: 0.0,
                        }),
                        index,
                        rivals: rivals
                            .filter_map(|&rival| {
                                Some(Rival {
                                    standing: standing(rival)?,
                                    users: users[rival.get()],
                                    on_other_way: other.get(depth + 1) == Some(&rival),
                                })
                            })
                            .collect(),
                    }
                })
                .collect()
        });
        Tally {
            config: ranked.config,
            ways,
            user_count: ranked.tree.user_count(),
        }
    }

    /// About the factors of the two after a change on the first one's way, or of all running jobs.
    pub(super) fn factors(&self, change: Variation, amount: u64) -> [f64; 2] {
        let time = (change == Variation::Load).then(|| decay_over(self.config, amount));
        let later = |standing: Standing| match time {
            Some((left, secs)) => Standing {
                usage: standing.usage * left + standing.load * secs,
                ..standing
            },
            None => standing,
        };
        let changed =
            |way: usize, depth: usize| later(self.after(change, amount as f64, way, depth));
        [0, 1].map(|way| {
            let mut ahead = 0;
            for (depth, step) in self.ways[way].iter().enumerate() {
                let own = changed(way, depth).ratio();
                for rival in &step.rivals {
                    let ratio = if rival.on_other_way {
                        changed(1 - way, depth).ratio()
                    } else {
                        later(rival.standing).ratio()
                    };
                    if ratio > own {
                        ahead += rival.users;
                    }
                }
            }
            self.user_count.saturating_sub(ahead) as f64 / self.user_count as f64
        })
    }

    /// The standing of a step of a way after a change.
    fn after(&self, change: Variation, amount: f64, way: usize, depth: usize) -> Standing {
        let step = &self.ways[way][depth];
        let mut standing = step.standing;
        let is_shared = way == 0 || self.ways[0].get(depth).map(|s| s.index) == Some(step.index);
        match change {
            Variation::LessUsage(target) => {
                let first = self.ways[0].iter().position(|s| s.index == target);
                if let Some(at) = first.filter(|_| is_shared) {
                    let used = self.ways[0][at].standing.usage;
                    let less = amount.min(used);
                    if depth <= at {
                        standing.usage -= less;
                    } else if used > 0.0 {
                        standing.usage *= (used - less) / used;
                    }
                }
            }
            Variation::MoreShares(target) if step.index == target => standing.shares += amount,
            Variation::MoreShares(_) | Variation::Load | Variation::Halving => {}
        }
        standing
    }
}

/// `None` for accounts that stand aside.
fn standing(ranked: &RankedSite<'_>, loads: &[f64], index: AssocIndex) -> Option<Standing> {
    let row = &ranked.tree.rows()[index.get()];
    let shares = match (row.shares, row.kind) {
        (Shares::Raw(shares), _) => f64::from(shares),
        (Shares::Parent, AssocKind::User) => f64::INFINITY,
        (Shares::Parent, AssocKind::Account) => return None,
    };
    Some(Standing {
        shares,
        usage: ranked.ledger.raw()[index.get()].to_f64(),
        load: loads[index.get()],
    })
}

/// The load that running jobs of each association and of those below it add each second.
fn loads_within(ranked: &RankedSite<'_>) -> Vec<f64> {
    let mut loads = vec![0.0; ranked.tree.len()];
    for load in ranked.load {
        let mut next = Some(load.assoc);
        while let Some(at) = next {
            loads[at.get()] += load.tres_per_sec.max(0.0);
            next = ranked.tree.parent(at);
        }
    }
    loads
}

/// Users at and below each association, among those that take part in sharing.
fn users_within(tree: &Tree) -> Vec<usize> {
    let mut counts = vec![0; tree.len()];
    for &index in tree.parents_first().iter().rev() {
        counts[index.get()] += usize::from(tree.rows()[index.get()].kind == AssocKind::User);
        if let Some(parent) = tree.fs_parent(index) {
            counts[parent.get()] += counts[index.get()];
        }
    }
    counts
}
