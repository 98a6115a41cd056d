//! The nodes of a job: which of those that are offered it gets, and how many CPUs on each.
//!
//! Follows `select/cons_tres` with cores and memory as consumable resources, without topology:
//! nodes of the lowest weight first, among runs of neighbours the smallest that suffices, in it the
//! single node that fits best, or else its nodes in order with a core kept for each node that is
//! still needed. If that fails, again without the nodes of fewest CPUs.

use fairtree_model::machine::{Machine, Memory};

use super::ask::Ask;
use super::node_set::NodeSet;
use super::usage::{Allocation, NodeUse, Part};

/// Bounds of the number of nodes of a job in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCounts {
    /// Least.
    pub least: u32,
    /// Most.
    pub most: u32,
    /// Wanted.
    pub wanted: u32,
}

impl NodeCounts {
    /// Those of a job in a partition; `None`: it can never have them.
    pub fn of(machine: &Machine, ask: &Ask, partition: usize) -> Option<NodeCounts> {
        /// The most that Slurm allows.
        const MOST: u32 = 500_000;
        let partition = &machine.partitions[partition];
        let least = ask.least_nodes.max(partition.min_nodes);
        let most = ask.most_nodes.unwrap_or(MOST);
        let most = most.min(partition.max_nodes.unwrap_or(MOST)).min(MOST);
        let wanted = match ask.most_nodes {
            Some(_) => most,
            None => least,
        };
        (least <= most).then_some(NodeCounts {
            least,
            most,
            wanted,
        })
    }
}

/// Weights by which nodes are chosen, as the last test of each node left them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights(Vec<u64>);

impl Weights {
    /// Weights of nodes that were never tested.
    pub fn new(machine: &Machine) -> Weights {
        Weights(vec![0; machine.nodes.len()])
    }

    /// Sets those of some nodes to slurm.conf's.
    pub fn set(&mut self, machine: &Machine, nodes: &NodeSet) {
        for node in nodes.iter() {
            self.0[node] = u64::from(machine.nodes[node].weight) << 8 | 0xff;
        }
    }
}

/// A node that a job could use.
#[derive(Clone, Copy, Debug, Default)]
struct Offer {
    cpus: u32,
    /// Generic processors that are free for the job.
    gpus: u32,
}

impl Offer {
    /// CPUs and generic processors: nodes of few are left out first.
    fn count(&self) -> u32 {
        self.cpus + self.gpus
    }
}

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

/// A question for nodes.
pub struct Question<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The job.
    pub ask: &'a Ask,
    /// Its partition.
    pub partition: usize,
    /// How many nodes.
    pub counts: NodeCounts,
}

impl Question<'_> {
    /// The job gets whole nodes.
    fn whole(&self) -> bool {
        self.ask.exclusive || self.machine.partitions[self.partition].is_exclusive
    }

    fn memory(&self) -> Option<Memory> {
        self.ask.memory_in(self.machine, self.partition)
    }

    /// Resources for the job among `offered` nodes, of which `uses` are taken; `None`: they do not
    /// suffice.
    pub fn choose(
        &self,
        offered: &NodeSet,
        uses: &[NodeUse],
        weights: &mut Weights,
    ) -> Option<Allocation> {
        let ask = self.ask;
        if ask.same.is_empty() {
            return self.choose_among(offered, uses, weights);
        }
        ask.same.iter().find_map(|same| {
            let mut offered = offered.clone();
            offered.keep(same);
            self.choose_among(&offered, uses, weights)
        })
    }

    fn choose_among(
        &self,
        offered: &NodeSet,
        uses: &[NodeUse],
        weights: &mut Weights,
    ) -> Option<Allocation> {
        let ask = self.ask;
        let mut counts = self.counts;
        let mut offers = vec![Offer::default(); self.machine.nodes.len()];
        let mut nodes = NodeSet::empty(self.machine.nodes.len());
        for node in offered.iter() {
            if let Some(offer) = self.offer(node, &uses[node], weights) {
                offers[node] = offer;
                nodes.insert(node);
            }
        }
        let missing = |required: &NodeSet| !required.is_subset(&nodes);
        if ask.required.as_ref().is_some_and(missing) || (nodes.len() as u32) < counts.least {
            return None;
        }
        if ask.tasks_per_node > 0 && ask.tasks > 0 {
            counts.least = counts.least.max(ask.tasks.div_ceil(ask.tasks_per_node));
        }
        if ask.tasks > 0 && counts.most > ask.tasks {
            counts.most = ask.tasks.max(counts.least);
        }
        if !self.could_fit(&nodes, &offers, counts) {
            return None;
        }
        let chosen = self
            .fit(&nodes, &mut offers, counts, weights)
            .or_else(|| self.fit_without_small(nodes, &mut offers, counts, weights))?;
        if chosen.len() as u32 > counts.most {
            return None;
        }
        self.allocate(&chosen, &offers, uses)
    }

    /// The offer of a node; `None`: it cannot have a part of the job.
    fn offer(&self, at: usize, used: &NodeUse, weights: &mut Weights) -> Option<Offer> {
        let (ask, node) = (self.ask, &self.machine.nodes[at]);
        if used.whole || (self.whole() && used.jobs > 0) {
            return None;
        }
        let has_memory = self.machine.scheduling.has_memory;
        let memory = self.memory();
        let free_mb = node.memory_mb.saturating_sub(used.memory_mb);
        if has_memory {
            let least = match memory {
                Some(Memory::Cpu(mb)) => mb * u64::from(ask.cpus_per_node().max(1)),
                Some(Memory::Node(mb)) => mb,
                None if used.memory_mb > 0 => return None,
                None => 0,
            };
            if least > free_mb {
                return None;
            }
        }
        for gres in &ask.gres {
            let one_node = self.counts.most == 1 || ask.tasks == 1;
            let least = if gres.in_all && !one_node {
                1
            } else {
                gres.count
            };
            if used.free_gres(self.machine, at, gres) < least {
                return None;
            }
        }
        let free = node.cores.saturating_sub(used.cores) * node.threads;
        let mut tasks = free;
        let mut cpus = free;
        if ask.tasks_per_node > 0 {
            tasks = tasks.min(ask.tasks_per_node);
        }
        if ask.cpus_per_task < 2 {
            cpus = tasks;
        } else {
            tasks = tasks.min(cpus / ask.cpus_per_task);
            if ask.tasks_per_node > 0 {
                cpus = tasks * ask.cpus_per_task;
            }
        }
        if self.whole() {
            cpus = free;
        }
        let least_tasks = match (ask.tasks_per_node, ask.most_nodes, ask.tasks) {
            (0, Some(1), tasks) => tasks.max(1),
            (0, ..) => 1,
            (each, ..) => each,
        };
        if cpus < least_tasks * ask.cpus_per_task || cpus == 0 {
            return None;
        }
        if let (true, Some(Memory::Cpu(mb))) = (has_memory, memory) {
            let fits = |cpus: u32| mb.saturating_mul(u64::from(cpus)) <= free_mb;
            if self.whole() && !fits(cpus) {
                return None;
            }
            while !fits(cpus) {
                cpus = cpus.saturating_sub(node.threads);
            }
            cpus -= cpus % ask.cpus_per_task;
            if cpus < ask.tasks_per_node {
                cpus = 0;
            }
        }
        if cpus < least_tasks * ask.cpus_per_task || cpus == 0 {
            return None;
        }
        let processors = ask.gres.iter().filter(|gres| gres.name == "gpu");
        let free_gres = processors.map(|gres| used.free_gres(self.machine, at, gres));
        let free_gres: u32 = free_gres.sum();
        if !ask.gres.is_empty() {
            // Nodes with more processors at hand come first.
            let near = ask
                .gres
                .iter()
                .filter(|gres| gres.name == "gpu")
                .map(|gres| gres.count);
            let near = u64::from(near.sum::<u32>().min(free_gres).min(0xff));
            weights.0[at] = weights.0[at] & !0xff | (0xff - near);
        }
        Some(Offer {
            cpus,
            gpus: free_gres,
        })
    }

    /// Returns false if as many nodes as it may have, those with the most CPUs, have too few.
    fn could_fit(&self, nodes: &NodeSet, offers: &[Offer], counts: NodeCounts) -> bool {
        let mut cpus: Vec<u32> = nodes.iter().map(|node| offers[node].cpus).collect();
        let most = counts.most as usize;
        if most < cpus.len() {
            cpus.select_nth_unstable_by(most, |a, b| b.cmp(a));
            cpus.truncate(most);
        }
        let all: u64 = cpus.into_iter().map(u64::from).sum();
        all >= u64::from(self.ask.cpus)
    }

    /// Tries again and again, without the nodes of fewest CPUs.
    fn fit_without_small(
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
    fn fit(
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
        while need.most_nodes > 0 {
            let Some(best) = self.best(&runs, &need, counts) else {
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
        for (node, &cpus) in per_node.iter().enumerate() {
            if !offered.contains(node) || cpus == 0 {
                close(&mut open);
                continue;
            }
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
    fn best(&self, runs: &[Neighbours], need: &Need, counts: NodeCounts) -> Option<usize> {
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

    /// Spreads the tasks over the chosen nodes, one core after the other, as far as each offers.
    fn allocate(&self, chosen: &NodeSet, offers: &[Offer], uses: &[NodeUse]) -> Option<Allocation> {
        let ask = self.ask;
        let nodes: Vec<usize> = chosen.iter().collect();
        let count = nodes.len() as u32;
        let per_task = ask.cpus_per_task;
        let mut cpus = vec![0_u32; nodes.len()];
        let each_node = if ask.tasks_per_node > 0 {
            ask.tasks_per_node
        } else {
            1
        };
        let all = (count * each_node)
            .max(ask.cpus)
            .max(count * ask.cpus_per_node());
        let tasks = match (per_task, ask.tasks_per_node) {
            (1, _) => all,
            (_, 0) => (all / per_task).max(1),
            (_, each) => each * count,
        };
        let (mut given, mut progress) = (0, true);
        let mut first = true;
        while given < tasks && progress {
            progress = false;
            for (cpus, node) in cpus.iter_mut().zip(&nodes) {
                let per_core = (self.machine.nodes[*node].threads / per_task).max(1);
                let rounds = if first { 1 } else { per_core };
                for _ in 0..rounds {
                    let free = offers[*node].cpus.saturating_sub(*cpus);
                    if given >= tasks || free == 0 || (!first && free < per_task) {
                        break;
                    }
                    *cpus += per_task.min(free);
                    given += 1;
                    progress = true;
                }
            }
            first = false;
        }
        let mut left: Vec<u32> = ask.gres.iter().map(|gres| gres.count).collect();
        let parts = nodes.iter().zip(&cpus).map(|(at, cpus)| {
            let node = &self.machine.nodes[*at];
            let (cpus, cores) = match self.whole() {
                true => (node.cpus(), node.cores),
                false => (*cpus, cpus.div_ceil(node.threads)),
            };
            let memory_mb = match self.memory() {
                Some(Memory::Cpu(mb)) => mb * u64::from(cores * node.threads),
                Some(Memory::Node(mb)) => mb,
                None => node.memory_mb,
            };
            Some(Part {
                node: *at,
                cpus,
                cores,
                memory_mb: if self.machine.scheduling.has_memory {
                    memory_mb
                } else {
                    0
                },
                gres: self.gres(*at, &uses[*at], &mut left)?,
            })
        });
        let parts = parts.collect::<Option<Vec<Part>>>()?;
        let missing = ask
            .gres
            .iter()
            .zip(&left)
            .any(|(gres, left)| gres.in_all && *left > 0);
        (!missing || self.whole()).then_some(Allocation {
            parts,
            whole: self.whole(),
        })
    }

    /// The generic resources of a node that the job gets; `left` of those that it asked for in all.
    fn gres(&self, at: usize, used: &NodeUse, left: &mut [u32]) -> Option<Vec<u32>> {
        let own = &self.machine.nodes[at].gres;
        if self.whole() {
            return Some(own.iter().map(|gres| gres.count).collect());
        }
        if self.ask.gres.is_empty() {
            return Some(Vec::new());
        }
        let mut taken = vec![0; own.len()];
        for (request, in_all) in self.ask.gres.iter().zip(left) {
            let mut left = if request.in_all {
                *in_all
            } else {
                request.count
            };
            for (at, gres) in own.iter().enumerate() {
                let kind = request.kind.is_empty() || gres.kind == request.kind;
                if gres.name != request.name || !kind {
                    continue;
                }
                let free = gres
                    .count
                    .saturating_sub(used.gres[at])
                    .saturating_sub(taken[at]);
                let part = free.min(left);
                taken[at] += part;
                left -= part;
            }
            if request.in_all {
                *in_all = left;
            } else if left > 0 {
                return None;
            }
        }
        Some(taken)
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
