//! The associations that compete for the next start, as the nodes of an order.

use crate::extended::Extended;
use crate::fairshare::Entitlement;
use crate::order::{Entitled, Node};
use crate::priority::TimeLimit;
use crate::tree::{AssocIndex, Shares, Tree};

/// Associations with shares, parents before children, and the node that each association's jobs
/// are charged to.
///
/// An association with `FairShare=parent` is no node: the jobs are the account's. Behind all others
/// stands one more node, which is entitled to nothing, for jobs without an association.
#[derive(Clone, Debug, Default)]
pub struct Contenders {
    nodes: Vec<Node>,
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
    (tres_secs * f64::from(1 << UNIT_BITS)) as u128
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

impl Contenders {
    /// From what associations are entitled to and raw usage, one number per association by
    /// position, TRES-seconds.
    ///
    /// # Panics
    /// At another number of usages.
    pub fn new(tree: &Tree, entitlement: &Entitlement, raw_usage: &[Extended]) -> Contenders {
        assert_eq!(raw_usage.len(), tree.len(), "one usage per association");
        let mut nodes: Vec<Node> = Vec::new();
        let mut assocs = Vec::new();
        let mut charged_to: Vec<Option<u32>> = vec![None; tree.len()];
        for &at in tree.parents_first() {
            let Some(above) = tree.fs_parent(at) else {
                continue;
            };
            let parent = charged_to[above.get()];
            charged_to[at.get()] = match tree.rows()[at.get()].shares {
                Shares::Parent => parent,
                Shares::Raw(shares) => {
                    let whole = u128::from(entitlement.whole()) << UNIT_BITS;
                    let above_has = parent.map_or(Entitled::whole(whole), |parent| {
                        nodes[parent as usize].entitled
                    });
                    let entitled = match entitlement.seconds(at) {
                        Some(seconds) => Entitled::whole(u128::from(seconds) << UNIT_BITS),
                        None => above_has.part(shares.into(), tree.child_shares(above)),
                    };
                    nodes.push(Node {
                        parent,
                        used: 0,
                        entitled,
                    });
                    assocs.push(at);
                    Some(nodes.len() as u32 - 1)
                }
            };
        }
        let no_assoc = nodes.len() as u32;
        nodes.push(Node::default());
        let known = charged_to.into_iter();
        let mut made = Contenders {
            nodes,
            assocs,
            charged_to: ChargedTo {
                nodes: known.map(|node| node.unwrap_or(no_assoc)).collect(),
                no_assoc,
            },
        };
        made.set_usage(raw_usage);
        made
    }

    /// Takes other usage of the same associations; what was committed is no more. Takes a tenth of
    /// the time of [`Contenders::new`].
    ///
    /// # Panics
    /// At another number of usages.
    pub fn set_usage(&mut self, raw_usage: &[Extended]) {
        let assocs = self.charged_to.nodes.len();
        assert_eq!(raw_usage.len(), assocs, "one usage per association");
        for (node, assoc) in self.nodes.iter_mut().zip(&self.assocs) {
            node.used = units(raw_usage[assoc.get()].to_f64());
        }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that jobs of an association are charged to; `None`: without an association.
    pub fn of(&self, assoc: Option<AssocIndex>) -> u32 {
        self.charged_to.of(assoc)
    }

    /// The nodes that jobs are charged to.
    pub fn charged_to(&self) -> &ChargedTo {
        &self.charged_to
    }

    /// Counts the use that jobs which run are expected to make yet, for their association and
    /// those above it.
    pub fn commit(&mut self, assoc: AssocIndex, units: u128) {
        let mut above = Some(self.of(Some(assoc)));
        while let Some(node) = above {
            let node = &mut self.nodes[node as usize];
            node.used = node.used.saturating_add(units);
            above = node.parent;
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
        let contenders = Contenders::new(&tree, &Entitlement::SHARES, &usage);
        let node = |id| contenders.of(tree.index_of(id));
        assert_eq!((node(6), node(7), node(8)), (node(4), node(5), node(3)));
        let ratio = |id| {
            let found = contenders.nodes()[node(id) as usize];
            Ratio::new(found.used, found.entitled)
        };
        // 20 of 1/5, and 40 of 2/5; hub 3: 30 of 2/5.
        assert_eq!(ratio(4), ratio(5));
        assert!(ratio(3) < ratio(4));
        let mut again = contenders.clone();
        again.commit(tree.index_of(7).unwrap(), 5);
        again.set_usage(&usage);
        assert_eq!(again.nodes(), contenders.nodes());
        let no_node = contenders.of(None);
        assert_eq!(no_node as usize, contenders.nodes().len() - 1);
        assert_eq!(node(1), no_node);
        assert!(contenders.nodes()[no_node as usize].entitled.is_zero());
    }

    #[test]
    fn what_runs_counts_as_if_it_had_run() {
        let tree = tree();
        let mut contenders = Contenders::new(&tree, &Entitlement::SHARES, &[Extended::ZERO; 8]);
        let user = tree.index_of(7).unwrap();
        contenders.commit(user, units(10.0));
        let jobs = [7, 6, 8].map(|id| Job {
            node: contenders.of(tree.index_of(id)),
            id: id.into(),
            ..Job::default()
        });
        // Of hub 2 group 4 comes before group 5; hub 3 has used nothing, hub 2 has.
        let order = interleaved(contenders.nodes(), Level::Depth(1), &jobs).unwrap();
        assert_eq!(order, [2, 1, 0]);
        let order = interleaved(contenders.nodes(), Level::Leaf, &jobs).unwrap();
        assert_eq!(order, [1, 2, 0]);
    }

    #[test]
    fn minutes_stand_instead_of_shares() {
        let tree = tree();
        let usage = [90_u64, 60, 30, 20, 40, 20, 40, 30].map(Extended::from);
        let group = tree.index_of(4).unwrap();
        let entitlement = Entitlement::new(0).with_minutes(group, 2);
        let contenders = Contenders::new(&tree, &entitlement, &usage);
        let node = |id| contenders.nodes()[contenders.of(tree.index_of(id)) as usize];
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
