//! All jobs that wait, in their order.

use std::collections::HashMap;

use super::{JobPlace, NodeStanding, OrderWord, PlaceExplained, Stand, TierOf, kind};
use fairtree::config::Tiers;
use fairtree::engine::{Competitors, longest_secs, units};
use fairtree::fairshare::Entitlement;
use fairtree::order::{Job, Level, Node, OrderError, PartingSide, interleaved, positions, strict};
use fairtree::tree::{AssocIndex, Shares};
use fairtree::usage::Phase;
use fairtree_model::cluster::{Cluster, ClusterJob, JobPhase, Names};

/// Units of [`units`] in a TRES-second.
pub(super) const UNITS: f64 = 1024.0;

/// The jobs of a cluster that wait, in the order of its policy.
#[derive(Clone, Debug)]
pub struct OrderedQueue<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) word: OrderWord,
    pub(super) level: Level,
    pub(super) nodes: Vec<Node>,
    /// The association of each node; `None`: of jobs that have none.
    pub(super) assocs: Vec<Option<AssocIndex>>,
    /// Expected further use of running jobs, part of the usage of nodes, in units.
    running: Vec<u128>,
    competitors: Competitors,
    /// The jobs in the order, in the order of the input.
    pub(super) jobs: Vec<Job>,
    /// Their positions among all jobs of the cluster.
    rows: Vec<usize>,
    /// Positions among these, first to last.
    pub(super) order: Vec<u32>,
    places: Vec<u32>,
    /// What shares are parts of, TRES-seconds; `None`: associations are entitled to a time.
    pub(super) whole: Option<f64>,
}

impl<'a> OrderedQueue<'a> {
    /// The order of a cluster's waiting jobs; `None`: its policy has none, or it knows of no jobs.
    ///
    /// # Errors
    /// Those of [`OrderError`].
    pub fn of(cluster: &'a Cluster) -> Result<Option<OrderedQueue<'a>>, OrderError> {
        let Some(word) = OrderWord::of(cluster.config.order()).filter(|_| cluster.jobs.is_some())
        else {
            return Ok(None);
        };
        let entitlement = cluster.entitlement();
        let raw = cluster.raw();
        let competitors = Competitors::new(cluster.tree(), &entitlement);
        let mut used = competitors.used(raw);
        let without_running = used.clone();
        let mut in_all = cluster
            .tree()
            .root()
            .map_or(0.0, |root| raw[root.get()].to_f64());
        if word == OrderWord::Interleaved {
            for job in cluster.jobs() {
                if let Some((assoc, due)) = due(job, cluster.now().unwrap_or(0)) {
                    competitors.commit(&mut used, assoc, due);
                    in_all += due as f64 / UNITS;
                }
            }
        }
        let nodes = competitors.nodes(&used);
        let running = used.iter().zip(without_running);
        let running = running.map(|(used, without)| used - without).collect();
        let mut assocs = vec![None; nodes.len()];
        for &at in cluster.tree().parents_first() {
            let own = matches!(cluster.tree().rows()[at.get()].shares, Shares::Raw(_));
            if own && cluster.tree().fs_parent(at).is_some() {
                assocs[competitors.of(Some(at)) as usize] = Some(at);
            }
        }
        let all = cluster.jobs().iter().enumerate();
        let rows: Vec<usize> = all
            .filter(|(_, job)| stand(job) == Stand::Waits)
            .map(|(at, _)| at)
            .collect();
        let job = |at: &usize| row(cluster, &competitors, &cluster.jobs()[*at]);
        let jobs: Vec<Job> = rows.iter().map(job).collect();
        let level = cluster.config.ranking().level().unwrap_or(Level::Leaf);
        if in_all == 0.0 && word == OrderWord::Interleaved {
            in_all = jobs.iter().map(|job| job.expected as f64 / UNITS).sum();
        }
        let mut made = OrderedQueue {
            cluster,
            word,
            level,
            nodes,
            assocs,
            running,
            competitors,
            jobs,
            rows,
            order: Vec::new(),
            places: Vec::new(),
            whole: (entitlement == Entitlement::SHARES).then_some(in_all),
        };
        made.order = made.ordered(&made.nodes, &made.jobs)?;
        made.places = positions(&made.order);
        Ok(Some(made))
    }

    /// Number of jobs in the order.
    pub fn waiting(&self) -> usize {
        self.jobs.len()
    }

    /// The places of all jobs in the order, from 1, by job number.
    pub fn places(&self) -> HashMap<u32, u64> {
        let of = |(slot, place): (usize, &u32)| {
            let job = &self.cluster.jobs()[self.rows[slot]];
            (job.job.id, u64::from(*place) + 1)
        };
        self.places.iter().enumerate().map(of).collect()
    }

    /// The place of a job, from 0; `None`: it has none.
    pub fn place_of(&self, job: &ClusterJob) -> Option<usize> {
        self.find(job).map(|slot| self.places[slot] as usize)
    }

    /// The jobs before a place, from 0, in their order.
    pub fn before(&self, place: usize) -> impl Iterator<Item = &ClusterJob> {
        let slots = self.order.iter().take(place);
        slots.map(|slot| &self.cluster.jobs()[self.rows[*slot as usize]])
    }

    /// The place of a job, and its neighbours.
    ///
    /// # Errors
    /// Those of [`OrderError`].
    pub fn place(&self, job: &ClusterJob) -> Result<PlaceExplained, OrderError> {
        let at = self.place_of(job);
        let other = |place: Option<usize>| -> Option<&ClusterJob> {
            let slot = *self.order.get(place?)?;
            Some(&self.cluster.jobs()[self.rows[slot as usize]])
        };
        let previous = other(at.and_then(|at| at.checked_sub(1)));
        let next = other(at.map(|at| at + 1));
        let with = |neighbour: Option<&ClusterJob>| {
            let compared = neighbour.map(|other| self.compared([job, other]));
            compared.transpose()
        };
        Ok(PlaceExplained {
            order: self.word,
            waiting: self.waiting(),
            job: self.described(job),
            behind: with(previous)?,
            before: with(next)?,
            waits: None,
        })
    }

    /// The place of a job, from 0, and its position among the jobs in the order.
    pub(super) fn slot(&self, job: &ClusterJob) -> Option<(u32, u32)> {
        let slot = self.find(job)?;
        Some((self.places[slot], slot as u32))
    }

    fn find(&self, job: &ClusterJob) -> Option<usize> {
        let is = |row: &Job| row.id == u64::from(job.job.id);
        self.jobs.iter().position(is)
    }

    /// The order of such jobs among such nodes.
    pub(super) fn ordered(&self, nodes: &[Node], jobs: &[Job]) -> Result<Vec<u32>, OrderError> {
        match self.word {
            OrderWord::Strict => strict(nodes, self.level, jobs),
            OrderWord::Interleaved => interleaved(nodes, self.level, jobs),
        }
    }

    pub(super) fn described(&self, job: &ClusterJob) -> JobPlace {
        let (cluster, own) = (self.cluster, &job.job);
        let standing = row(cluster, &self.competitors, job);
        let tiers = cluster.config.tiers();
        let name = match tiers {
            Tiers::None => None,
            Tiers::Qos => own.qos.map(|index| cluster.qos(index)),
            Tiers::Partition => own.partition.map(|index| cluster.partition(index)),
        };
        JobPlace {
            id: own.id,
            name: cluster.job(own),
            user: own.assoc.map(|index| cluster.assoc(index)),
            stand: stand(job),
            position: self.slot(job).map(|(place, _)| place as usize + 1),
            priority: own.priority,
            tier: kind(tiers).map(|kind| TierOf {
                kind,
                name,
                priority: standing.tier,
            }),
            nice: own.nice,
            submit_time: job.submit_time,
            expected: standing.expected as f64 / UNITS,
            node: self.assocs[standing.node as usize].map(|index| cluster.assoc(index)),
        }
    }

    pub(super) fn standing(&self, side: &PartingSide) -> NodeStanding {
        let at = side.node.map(|node| node as usize);
        let node = at.map(|at| self.nodes[at]).unwrap_or_default();
        let running = at.map_or(0, |at| self.running[at]);
        let part = node.entitled.to_f64();
        let (entitled, due) = match self.whole {
            // Entitlement::SHARES are parts of one TRES-second.
            Some(whole) => (None, Some(part / UNITS * whole)),
            None => (Some(part / UNITS), None),
        };
        let claim = entitled.or(due).unwrap_or(0.0);
        let spent = node.used.saturating_add(side.expected_before) as f64 / UNITS;
        let ratio = match (part == 0.0, spent == 0.0) {
            (true, _) => None,
            (false, true) => Some(0.0),
            // Nothing used by any, yet an order that counts nothing else: not reached.
            (false, false) => (claim > 0.0).then(|| spent / claim),
        };
        NodeStanding {
            name: at
                .and_then(|at| self.assocs[at])
                .map(|index| self.cluster.assoc(index)),
            used: (node.used - running) as f64 / UNITS,
            running: running as f64 / UNITS,
            jobs_before: side.jobs_before,
            expected_before: side.expected_before as f64 / UNITS,
            entitled,
            due,
            ratio,
        }
    }
}

fn stand(job: &ClusterJob) -> Stand {
    match (job.phase, job.job.priority) {
        (JobPhase::Running | JobPhase::Ended, _) => Stand::Started,
        (JobPhase::Pending, 0) => Stand::Held,
        (JobPhase::Pending, _) if job.job.direct => Stand::Direct,
        (JobPhase::Pending, _) => Stand::Waits,
    }
}

/// The expected further use of a running job, in units, and the association that pays.
fn due(job: &ClusterJob, now: i64) -> Option<(AssocIndex, u128)> {
    let run = job.run.as_deref()?;
    if run.state.phase != Phase::Running {
        return None;
    }
    let limit = longest_secs(run.time_limit, None);
    let rest = limit - now.saturating_sub(run.start_time).max(0) as f64;
    Some((job.job.assoc?, units(rest.max(0.0) * run.billable_tres)))
}

/// A waiting job as a row of an order, as the plugin makes it.
fn row(cluster: &Cluster, competitors: &Competitors, about: &ClusterJob) -> Job {
    let (job, tables) = (&about.job, &cluster.tables);
    let partition = job.partition.map(|index| &tables.partitions[index.get()]);
    let max_time_mins = partition.and_then(|partition| partition.max_time_mins);
    let secs = longest_secs(job.time_limit, max_time_mins);
    let tier = match cluster.config.tiers() {
        Tiers::None => 0,
        Tiers::Partition => partition.map_or(0, |row| row.priority_job_factor.into()),
        Tiers::Qos => job
            .qos
            .map_or(0, |index| tables.qos[index.get()].priority.into()),
    };
    let names = tables.tres_names.iter();
    let billing = names.zip(0..).find(|(name, _)| *name == "billing");
    let billing = billing.and_then(|(_, at)| {
        let start: usize = job.tres?.get();
        tables.tres_counts.get(start + at).copied()
    });
    let billing = billing.filter(|billing| *billing > 0);
    Job {
        node: competitors.of(job.assoc),
        tier,
        nice: job.nice.into(),
        submit: about.submit_time,
        id: job.id.into(),
        expected: units(secs * billing.unwrap_or(job.cpus.into()) as f64),
    }
}
