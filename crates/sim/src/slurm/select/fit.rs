//! The fit of a job on nodes: runs of neighbours, and the nodes of the best of them.

use super::{NodeCounts, Offer, Question, Weights};
use crate::slurm::node_set::NodeSet;

/// A run of neighbours.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    cpus: i64,
    nodes: u32,
    first: usize,
    last: usize,
    required: Option<usize>,
    weight: u64,
}

impl Question<'_> {
    /// Tries again and again, without the nodes of fewest CPUs.
    pub(super) fn fit_without_small(
        &self,
        mut nodes: NodeSet,
        offers: &mut [Offer],
        counts: NodeCounts,
        weights: &Weights,
    ) -> Option<NodeSet> {
        let mut left = nodes.len() as u32;
        if left <= counts.least {
            return None;
        }
        let most = nodes.iter().map(|node| offers[node].count()).max()?;
        for count in 1..most {
            let mut changed = false;
            let all: Vec<usize> = nodes.iter().collect();
            for node in all {
                let small = (1..=count).contains(&offers[node].count());
                let required = self
                    .ask
                    .required
                    .as_ref()
                    .is_some_and(|set| set.contains(node));
                if !small || required {
                    continue;
                }
                changed = true;
                nodes.remove(node);
                left -= 1;
                if left <= counts.least {
                    break;
                }
            }
            if !changed && count != 1 {
                continue;
            }
            // Fewer nodes will not do either.
            if !self.could_fit(&nodes, offers, counts) {
                return None;
            }
            let chosen = self.fit(&nodes, offers, counts, weights);
            if chosen.is_some() || left <= counts.least {
                return chosen;
            }
        }
        None
    }

    /// Cuts the CPUs of a node to those that the job still needs, a core kept for each further node.
    fn cut(&self, node: usize, cpus: u32, needed: i64, nodes: i64, offers: &mut [Offer]) -> u32 {
        if self.whole() {
            return cpus;
        }
        let kept = (nodes - 1).max(0) * i64::from(self.machine.nodes[node].threads);
        let needed = needed - kept;
        if i64::from(cpus) <= needed {
            return cpus;
        }
        let cut = u32::try_from(needed.max(0)).unwrap_or(u32::MAX);
        let cut = cut.max(self.ask.cpus_per_node());
        offers[node].cpus = cut;
        cut
    }

    /// The nodes by runs of neighbours.
    pub(super) fn fit(
        &self,
        offered: &NodeSet,
        offers: &mut [Offer],
        counts: NodeCounts,
        weights: &Weights,
    ) -> Option<NodeSet> {
        let ask = self.ask;
        let size = self.machine.nodes.len();
        if (offered.len() as u32) < counts.least {
            return None;
        }
        let mut need = Need {
            cpus: i64::from(ask.cpus),
            most_cpus: i64::from(ask.cpus),
            nodes: i64::from(counts.least.max(counts.wanted)),
            least_nodes: i64::from(counts.least),
            most_nodes: i64::from(counts.most),
            gpus: ask
                .gres
                .iter()
                .filter(|gres| gres.in_all)
                .map(|g| i64::from(g.count))
                .sum(),
            taken: NodeSet::empty(size),
        };
        let mut per_node: Vec<u32> = offers.iter().map(|offer| offer.cpus).collect();
        if let Some(required) = &ask.required {
            if required.len() as i64 > need.most_nodes {
                return None;
            }
            for node in required.iter() {
                let cpus = self.cut(
                    node,
                    per_node[node],
                    need.most_cpus,
                    need.least_nodes,
                    offers,
                );
                need.take(node, cpus, offers[node].gpus);
            }
            if need.is_met() {
                return Some(need.taken);
            }
            if need.most_nodes <= 0 {
                return None;
            }
        }
        let mut runs = self.runs(offered, &per_node, weights);
        let mut largest = Largest::new(&runs);
        while need.most_nodes > 0 {
            let Some(best) = self.best(&runs, &mut largest, &need, counts) else {
                break;
            };
            let run = runs[best];
            if ask.contiguous && !need.suffices(&run, counts) {
                break;
            }
            let order: Vec<usize> = match run.required {
                Some(from) => (from..=run.last).chain((run.first..from).rev()).collect(),
                None => {
                    self.single(&run, &need, offered, &mut per_node);
                    (run.first..=run.last).collect()
                }
            };
            for node in order {
                if need.most_nodes == 0 || need.is_met() {
                    break;
                }
                let cpus = per_node[node];
                if !offered.contains(node) || need.taken.contains(node) || cpus == 0 {
                    continue;
                }
                let last = need.most_nodes == 1 && run.required.is_none();
                if last && i64::from(cpus) < need.cpus {
                    continue;
                }
                let cpus = self.cut(node, cpus, need.most_cpus, need.least_nodes, offers);
                need.take(node, cpus, offers[node].gpus);
            }
            if need.is_met() {
                return Some(need.taken);
            }
            runs[best].cpus = 0;
            runs[best].nodes = 0;
        }
        let enough = need.cpus <= 0 && enough_nodes(0, need.nodes, counts);
        (enough && need.gpus <= 0).then_some(need.taken)
    }

    /// Runs of neighbours of one weight; required nodes count nothing.
    fn runs(&self, offered: &NodeSet, per_node: &[u32], weights: &Weights) -> Vec<Neighbours> {
        let none = |first: usize| Neighbours {
            cpus: 0,
            nodes: 0,
            first,
            last: first,
            required: None,
            weight: 0,
        };
        let mut runs: Vec<Neighbours> = Vec::new();
        let mut open: Option<Neighbours> = None;
        let mut close = |open: &mut Option<Neighbours>| {
            runs.extend(open.take().filter(|run| run.nodes > 0));
        };
        for node in offered.iter().filter(|node| per_node[*node] > 0) {
            if open.as_ref().is_some_and(|run| run.last + 1 < node) {
                close(&mut open);
            }
            let cpus = per_node[node];
            let weight = weights.0[node];
            let required = self
                .ask
                .required
                .as_ref()
                .is_some_and(|set| set.contains(node));
            let differs = |run: &Neighbours| run.nodes > 0 && run.weight != weight;
            if !self.ask.contiguous && open.as_ref().is_some_and(differs) {
                close(&mut open);
            }
            let run = open.get_or_insert_with(|| none(node));
            run.last = node;
            if required {
                run.required.get_or_insert(node);
                continue;
            }
            run.cpus += i64::from(cpus);
            run.nodes += 1;
            run.weight = weight;
        }
        close(&mut open);
        runs
    }

    /// The run to take next: of the lowest weight, the smallest that suffices, or else the largest.
    fn best(
        &self,
        runs: &[Neighbours],
        largest: &mut Largest,
        need: &Need,
        counts: NodeCounts,
    ) -> Option<usize> {
        let is_plain = !self.ask.contiguous && self.ask.required.is_none();
        let largest = largest.left(runs).filter(|_| is_plain);
        if largest.is_some_and(|at| runs[at].cpus < need.cpus) {
            // None of this weight suffices.
            return largest;
        }
        let mut best: Option<(usize, &Neighbours, bool)> = None;
        for (at, run) in runs.iter().enumerate().filter(|(_, run)| run.nodes > 0) {
            if self.ask.contiguous && self.ask.required.is_some() && run.required.is_none() {
                continue;
            }
            let suffices = need.suffices(run, counts);
            let better = match best {
                None => true,
                Some((_, known, known_suffices)) => {
                    (known.required.is_none() && run.required.is_some())
                        || run.weight < known.weight
                        || (run.weight == known.weight
                            && match suffices {
                                true => !known_suffices || run.cpus < known.cpus,
                                false => run.cpus > known.cpus,
                            })
                        || (!known_suffices && self.ask.contiguous && suffices)
                }
            };
            if better {
                best = Some((at, run, suffices));
            }
        }
        best.map(|(at, ..)| at)
    }

    /// If one node is enough, leaves CPUs of the node alone that fits best.
    fn single(&self, run: &Neighbours, need: &Need, offered: &NodeSet, per_node: &mut [u32]) {
        if need.nodes > 1 {
            return;
        }
        let fits = |node: &usize| {
            offered.contains(*node)
                && !need.taken.contains(*node)
                && per_node[*node] > 0
                && i64::from(per_node[*node]) >= need.cpus
        };
        let best = (run.first..=run.last)
            .filter(fits)
            .min_by_key(|node| (per_node[*node], *node));
        if let Some(best) = best {
            for node in (run.first..=run.last).filter(|node| *node != best) {
                per_node[node] = 0;
            }
        }
    }
}

/// Runs by weight, the largest first: a job that takes many runs need not look at all of them for each. One
/// forecast with 400 jobs on 500 nodes in fragments spent 34 % of its time on that; `make bench ONLY=command`
/// measures forecasts.
struct Largest(std::iter::Peekable<std::vec::IntoIter<usize>>);

impl Largest {
    fn new(runs: &[Neighbours]) -> Largest {
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.sort_by_key(|at| (runs[*at].weight, std::cmp::Reverse(runs[*at].cpus)));
        Largest(order.into_iter().peekable())
    }

    /// The first one that is not used up.
    fn left(&mut self, runs: &[Neighbours]) -> Option<usize> {
        while self.0.next_if(|at| runs[*at].nodes == 0).is_some() {}
        self.0.peek().copied()
    }
}

/// Resources that a job still needs.
struct Need {
    cpus: i64,
    most_cpus: i64,
    nodes: i64,
    least_nodes: i64,
    most_nodes: i64,
    /// Generic processors that are counted over all nodes.
    gpus: i64,
    taken: NodeSet,
}

impl Need {
    fn take(&mut self, node: usize, cpus: u32, gpus: u32) {
        self.taken.insert(node);
        self.gpus -= i64::from(gpus);
        self.cpus -= i64::from(cpus);
        self.most_cpus -= i64::from(cpus);
        self.nodes -= 1;
        self.least_nodes -= 1;
        self.most_nodes -= 1;
    }

    fn is_met(&self) -> bool {
        self.nodes <= 0 && self.cpus <= 0 && self.gpus <= 0
    }

    fn suffices(&self, run: &Neighbours, counts: NodeCounts) -> bool {
        run.cpus >= self.cpus && enough_nodes(i64::from(run.nodes), self.nodes, counts)
    }
}

/// Returns true if that many nodes are enough, where `left` of those wanted are still needed.
fn enough_nodes(nodes: i64, left: i64, counts: NodeCounts) -> bool {
    let needed = match counts.wanted > counts.least {
        true => left + i64::from(counts.least) - i64::from(counts.wanted),
        false => left,
    };
    nodes >= needed
}
