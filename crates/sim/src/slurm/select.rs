//! The nodes of a job: which of those that are offered it gets, and how many CPUs on each.
//!
//! Follows `select/cons_tres` with cores and memory as consumable resources, without topology:
//! nodes of the lowest weight first, among runs of neighbours the smallest that suffices, in it the
//! single node that fits best, or else its nodes in order with a core kept for each node that is
//! still needed. If that fails, again without the nodes of fewest CPUs.

mod fit;

use fairtree_model::machine::{Machine, Memory};

use super::ask::Ask;
use super::node_set::NodeSet;
use super::usage::{Allocation, NodeUse, Part, Uses};

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

/// Resources that nodes have for a job. Only nodes with an idle core are asked, and again only those where a
/// job ends: Curie's first 5,800 jobs took 6.6 s before that, 4.8 s with it (`make bench command` times 3,000).
pub(super) struct Offers {
    /// Those that are asked.
    offered: NodeSet,
    /// By position; none for nodes that are not in `nodes`.
    each: Vec<Offer>,
    /// Nodes that it could use.
    nodes: NodeSet,
    /// CPUs of all of them.
    cpus: u64,
}

impl Offers {
    /// The offers of `offered` nodes. Those without an idle core have none.
    fn new(
        question: &Question<'_>,
        offered: NodeSet,
        uses: &Uses,
        weights: &mut Weights,
    ) -> Offers {
        let size = question.machine.nodes.len();
        let mut idle = offered.clone();
        idle.keep(uses.idle());
        let mut offers = Offers {
            offered,
            each: vec![Offer::default(); size],
            nodes: NodeSet::empty(size),
            cpus: 0,
        };
        for node in idle.iter() {
            offers.renew(question, node, &uses[node], weights);
        }
        offers
    }

    /// Asks a node anew, if it is offered.
    pub(super) fn renew(
        &mut self,
        question: &Question<'_>,
        node: usize,
        used: &NodeUse,
        weights: &mut Weights,
    ) {
        if !self.offered.contains(node) {
            return;
        }
        let offer = question.offer(node, used, weights);
        self.cpus -= u64::from(self.each[node].cpus);
        self.nodes.put(node, offer.is_some());
        self.each[node] = offer.unwrap_or_default();
        self.cpus += u64::from(self.each[node].cpus);
    }
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
        uses: &Uses,
        weights: &mut Weights,
    ) -> Option<Allocation> {
        self.choose_from(&self.offers(offered, uses, weights), uses, weights)
    }

    /// Resources that `offered` nodes have for the job: for each alternative of which all its nodes must be.
    pub(super) fn offers(
        &self,
        offered: &NodeSet,
        uses: &Uses,
        weights: &mut Weights,
    ) -> Vec<Offers> {
        let same = &self.ask.same[..];
        let all = same.is_empty().then(|| offered.clone());
        let alternatives = same.iter().map(|same| {
            let mut offered = offered.clone();
            offered.keep(same);
            offered
        });
        let offered = all.into_iter().chain(alternatives);
        offered
            .map(|offered| Offers::new(self, offered, uses, weights))
            .collect()
    }

    /// As [`Question::choose`], where the offers of the nodes are known.
    pub(super) fn choose_from(
        &self,
        offers: &[Offers],
        uses: &Uses,
        weights: &Weights,
    ) -> Option<Allocation> {
        let mut offers = offers.iter();
        offers.find_map(|offers| self.choose_among(offers, uses, weights))
    }

    fn choose_among(&self, offers: &Offers, uses: &Uses, weights: &Weights) -> Option<Allocation> {
        let ask = self.ask;
        let mut counts = self.counts;
        let nodes = &offers.nodes;
        let missing = |required: &NodeSet| !required.is_subset(nodes);
        if ask.required.as_ref().is_some_and(missing) || (nodes.len() as u32) < counts.least {
            return None;
        }
        if ask.tasks_per_node > 0 && ask.tasks > 0 {
            counts.least = counts.least.max(ask.tasks.div_ceil(ask.tasks_per_node));
        }
        if ask.tasks > 0 && counts.most > ask.tasks {
            counts.most = ask.tasks.max(counts.least);
        }
        if offers.cpus < u64::from(ask.cpus) || !self.could_fit(nodes, &offers.each, counts) {
            return None;
        }
        let mut each = offers.each.clone();
        let chosen = self
            .fit(nodes, &mut each, counts, weights)
            .or_else(|| self.fit_without_small(nodes.clone(), &mut each, counts, weights))?;
        if chosen.len() as u32 > counts.most {
            return None;
        }
        self.allocate(&chosen, &each, uses)
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

    /// Spreads the tasks over the chosen nodes, one core after the other, as far as each offers.
    fn allocate(&self, chosen: &NodeSet, offers: &[Offer], uses: &Uses) -> Option<Allocation> {
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
