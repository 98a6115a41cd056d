//! The associations that compete for the next start, as the nodes of an order.

use crate::extended::Extended;
use crate::fairshare::Entitlement;
use crate::order::{self, Entitled, Node};
use crate::priority::TimeLimit;
use crate::tree::{AssocIndex, Shares, Tree};

/// Associations with shares, parents before children, and the node that each association's jobs
/// are charged to.
///
/// An association with `FairShare=parent` is no node: the jobs are the account's. Behind all others
/// stands one more node, which is entitled to nothing, for jobs without an association.
#[derive(Clone, Debug, Default)]
pub struct Competitors {
    /// By node.
    parents: Vec<Option<u32>>,
    entitled: Vec<Entitled>,
    /// Of which association a node is; the last one is of none.
    assocs: Vec<AssocIndex>,
    charged_to: ChargedTo,
}

/// The node that each association's jobs are charged to.
#[derive(Clone, Debug, Default)]
pub struct ChargedTo {
    /// By position.
    nodes: Vec<u32>,
    /// For jobs without an association.
    no_assoc: u32,
}

impl ChargedTo {
    /// The node that jobs of an association are charged to; `None`: without an association.
    pub fn of(&self, assoc: Option<AssocIndex>) -> u32 {
        let node = assoc.and_then(|assoc| self.nodes.get(assoc.get()).copied());
        node.unwrap_or(self.no_assoc)
    }
}

/// Use is counted in whole units of 1/1024 TRES-second, so that keys are exact.
const UNIT_BITS: u32 = 10;

/// Use in units; fractions of a unit are dropped. What is negative or no number is none.
pub fn units(tres_secs: f64) -> u128 {
    let units = tres_secs * f64::from(1 << UNIT_BITS);
    // A conversion to 128 bits is a call. Such calls took 1 % of a pass with a window and an interleaved order
    // (profile of `cargo testbed bench policies`, 100,000 jobs).
    match units < (1_u64 << 63) as f64 {
        true => (units as u64).into(),
        false => units as u128,
    }
}

/// What a job without any time limit is expected to take.
const YEAR_SECS: f64 = 365.0 * 86_400.0;

/// The longest that a job may take, seconds: its time limit; without one `MaxTime` of its partition,
/// minutes; a year where neither ends it.
pub fn longest_secs(limit: TimeLimit, max_time_mins: Option<u32>) -> f64 {
    let minutes = match limit {
        TimeLimit::Minutes(minutes) => Some(minutes),
        TimeLimit::Unset => max_time_mins,
        TimeLimit::Unlimited => None,
    };
    minutes.map_or(YEAR_SECS, |minutes| f64::from(minutes) * 60.0)
}

impl Competitors {
    /// From what associations are entitled to.
    pub fn new(tree: &Tree, entitlement: &Entitlement) -> Competitors {
        let (mut parents, mut entitled, mut assocs) = (Vec::new(), Vec::new(), Vec::new());
        let whole = Entitled::whole(u128::from(entitlement.whole()) << UNIT_BITS);
        let of_all = entitlement.divided(tree, whole, 1 << UNIT_BITS);
        let mut charged_to: Vec<Option<u32>> = vec![None; tree.len()];
        for &at in tree.parents_first() {
            let Some(above) = tree.fs_parent(at) else {
                continue;
            };
            let parent = charged_to[above.get()];
            charged_to[at.get()] = match tree.rows()[at.get()].shares {
                Shares::Parent => parent,
                Shares::Raw(_) => {
                    entitled.push(of_all[at.get()]);
                    parents.push(parent);
                    assocs.push(at);
                    Some(assocs.len() as u32 - 1)
                }
            };
        }
        let no_assoc = assocs.len() as u32;
        parents.push(None);
        entitled.push(Entitled::ZERO);
        let known = charged_to.into_iter();
        Competitors {
            parents,
            entitled,
            assocs,
            charged_to: ChargedTo {
                nodes: known.map(|node| node.unwrap_or(no_assoc)).collect(),
                no_assoc,
            },
        }
    }

    /// What the nodes used, in units. `raw_usage`: one number per association by position, TRES-seconds.
    ///
    /// # Panics
    /// At another number of usages.
    pub fn used(&self, raw_usage: &[Extended]) -> Vec<u128> {
        let assocs = self.charged_to.nodes.len();
        assert_eq!(raw_usage.len(), assocs, "one usage per association");
        let of = |assoc: &AssocIndex| units(raw_usage[assoc.get()].to_f64());
        let mut used = Vec::with_capacity(self.parents.len());
        used.extend(self.assocs.iter().map(of));
        // Jobs without an association used nothing.
        used.resize(self.parents.len(), 0);
        used
    }

    /// The nodes, which used so much.
    ///
    /// # Panics
    /// At another number of uses than of nodes.
    pub fn nodes(&self, used: &[u128]) -> Vec<Node> {
        assert_eq!(used.len(), self.parents.len(), "one use per node");
        order::nodes(&self.parents, &self.entitled, used)
    }

    /// The node that jobs of an association are charged to; `None`: without an association.
    pub fn of(&self, assoc: Option<AssocIndex>) -> u32 {
        self.charged_to.of(assoc)
    }

    /// The nodes that jobs are charged to.
    pub fn charged_to(&self) -> &ChargedTo {
        &self.charged_to
    }

    /// Adds the use that jobs which run are expected to make yet to what nodes `used`: to that of their
    /// association and those above it. Sums end at the largest number.
    ///
    /// # Panics
    /// At fewer uses than nodes.
    pub fn commit(&self, used: &mut [u128], assoc: AssocIndex, units: u128) {
        let mut above = Some(self.of(Some(assoc)));
        while let Some(node) = above {
            let used = &mut used[node as usize];
            *used = used.saturating_add(units);
            above = self.parents[node as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{Job, Level, Ratio, interleaved};
    use crate::tree::{Assoc, AssocKind};

    fn row(id: u32, parent: Option<u32>, kind: AssocKind, shares: Shares) -> Assoc {
        Assoc {
            id,
            parent,
            kind,
            shares,
        }
    }

    /// Hub 2 with 3 of 5 shares and groups 4 and 5 of 1 and 2; hub 3 with 2. Users 6 to 8 have
    /// `FairShare=parent` in 4, 5 and 3.
    fn tree() -> Tree {
        use AssocKind::{Account, User};
        use Shares::{Parent, Raw};
        Tree::from_rows([
            row(1, None, Account, Raw(1)),
            row(2, Some(1), Account, Raw(3)),
            row(3, Some(1), Account, Raw(2)),
            row(4, Some(2), Account, Raw(1)),
            row(5, Some(2), Account, Raw(2)),
            row(6, Some(4), User, Parent),
            row(7, Some(5), User, Parent),
            row(8, Some(3), User, Parent),
        ])
        .unwrap()
    }

    #[test]
    fn groups_have_parts_of_their_hub() {
        let tree = tree();
        let usage = [90_u64, 60, 30, 20, 40, 20, 40, 30].map(Extended::from);
        let competitors = Competitors::new(&tree, &Entitlement::SHARES);
        let nodes = competitors.nodes(&competitors.used(&usage));
        let node = |id| competitors.of(tree.index_of(id));
        assert_eq!((node(6), node(7), node(8)), (node(4), node(5), node(3)));
        let ratio = |id| {
            let found = nodes[node(id) as usize];
            Ratio::new(found.used, found.entitled)
        };
        // 20 of 1/5, and 40 of 2/5; hub 3: 30 of 2/5.
        assert_eq!(ratio(4), ratio(5));
        assert!(ratio(3) < ratio(4));
        let no_node = competitors.of(None);
        assert_eq!(no_node as usize, nodes.len() - 1);
        assert_eq!(node(1), no_node);
        assert!(nodes[no_node as usize].entitled.is_zero());
    }

    #[test]
    fn what_runs_counts_as_if_it_had_run() {
        let tree = tree();
        let competitors = Competitors::new(&tree, &Entitlement::SHARES);
        let mut used = competitors.used(&[Extended::ZERO; 8]);
        let user = tree.index_of(7).unwrap();
        competitors.commit(&mut used, user, units(10.0));
        let nodes = competitors.nodes(&used);
        let jobs = [7, 6, 8].map(|id| Job {
            node: competitors.of(tree.index_of(id)),
            id: id.into(),
            ..Job::default()
        });
        // Of hub 2 group 4 comes before group 5; hub 3 has used nothing, hub 2 has.
        let order = interleaved(&nodes, Level::Depth(1), &jobs).unwrap();
        assert_eq!(order, [2, 1, 0]);
        let order = interleaved(&nodes, Level::Leaf, &jobs).unwrap();
        assert_eq!(order, [1, 2, 0]);
    }

    #[test]
    fn minutes_stand_instead_of_shares() {
        let tree = tree();
        let usage = [90_u64, 60, 30, 20, 40, 20, 40, 30].map(Extended::from);
        let group = tree.index_of(4).unwrap();
        let entitlement = Entitlement::new(0).with_minutes(group, 2);
        let competitors = Competitors::new(&tree, &entitlement);
        let nodes = competitors.nodes(&competitors.used(&usage));
        let node = |id| nodes[competitors.of(tree.index_of(id)) as usize];
        assert_eq!(node(6).entitled, Entitled::whole(120 * 1024));
        assert_eq!(node(6).used, 20 * 1024);
        assert!(node(7).entitled.is_zero());
    }

    #[test]
    fn a_job_takes_its_limit_or_its_partitions_or_a_year() {
        use TimeLimit::{Minutes, Unlimited, Unset};
        assert_eq!(longest_secs(Minutes(0), Some(5)), 0.0);
        assert_eq!(longest_secs(Minutes(90), None), 5_400.0);
        assert_eq!(longest_secs(Unset, Some(5)), 300.0);
        for (limit, most) in [(Unset, None), (Unlimited, Some(5))] {
            assert_eq!(longest_secs(limit, most), 31_536_000.0);
        }
    }

    #[test]
    fn units_are_whole() {
        assert_eq!(units(1.5), 1536);
        assert_eq!(units(-1.0), 0);
        assert_eq!(units(f64::NAN), 0);
        let most = 2_f64.powi(54);
        assert_eq!(units(most - 2.0), (1 << 64) - (2 << 10));
        assert_eq!(units(most), 1 << 64);
        assert_eq!(units(most * 2.0), 1 << 65);
    }
}
