//! The site of a live cluster, or of a capture: shares, usage and prices as they are now.

use std::collections::HashMap;

use fairtree::config::{Order, ResetPeriod, UsageModel};
use fairtree::engine;
use fairtree::extended::Extended;
use fairtree::tree::AssocIndex;
use fairtree::usage::{HalfLife, RawUsage};
use fairtree_model::cluster::Cluster;
use fairtree_model::input::slurm::limits::Limits as Listed;
use fairtree_model::machine::{Limits, Machine, QosLimits, Tres};

use super::{Site, SiteLimits, Unpriced};

impl Site {
    /// The site of a cluster with its queue; `machine` has the same partitions in the same order. What
    /// is not followed is added to `notes`, one sentence each.
    ///
    /// # Errors
    /// Partitions that differ.
    pub fn of_cluster(
        cluster: &Cluster,
        machine: &Machine,
        notes: &mut Vec<String>,
    ) -> Result<Site, Unpriced> {
        let own = cluster.partitions.iter().map(|one| &one.name);
        if !own.eq(machine.partitions.iter().map(|one| &one.name)) {
            let why = "the partitions of the queue are not those of the machine";
            return Err(Unpriced(why.to_owned()));
        }
        let mut config = cluster.config.clone();
        if config.priority_usage_reset_period == ResetPeriod::Now {
            // It was done when slurmctld started.
            config.priority_usage_reset_period = ResetPeriod::None;
        }
        if config.usage() != UsageModel::HalfLife {
            notes.push(format!(
                "usage={}: in the time that is simulated usage decays by PriorityDecayHalfLife instead",
                config.usage()
            ));
        }
        if config.order() != Order::Weighted {
            notes.push(
                "order=: jobs keep the order that they have now, and jobs that come later are \
                 behind them"
                    .to_owned(),
            );
        }
        let now = cluster.now().unwrap_or(0);
        let mut site = cluster.site().clone();
        site.entitle(&cluster.entitlement());
        let mut assocs = HashMap::new();
        let mut defaults = HashMap::new();
        for (at, name) in cluster.names.iter().enumerate() {
            let index = AssocIndex::new(at);
            let user = name.user.clone().unwrap_or_default();
            let partition = name.partition.clone().unwrap_or_default();
            if !user.is_empty() {
                defaults.entry(user.clone()).or_insert(index);
            }
            assocs.insert((name.account.to_lowercase(), user, partition), index);
        }
        let named = cluster.qos.iter().enumerate();
        let qos: HashMap<String, usize> = named
            .map(|(at, qos)| (qos.name.to_lowercase(), at))
            .collect();
        let ours = match cluster.priority_type.as_deref() {
            Some(plugin) => plugin == "priority/fairtree",
            // A described site does not say which plugin it has.
            None => !cluster.config.compat.is_slurm(),
        };
        let mut made = Site {
            tables: cluster.tables.clone(),
            site,
            assocs,
            defaults,
            default_qos: vec![None; cluster.names.len()],
            usage_factors: cluster.qos.iter().map(|qos| qos.usage_factor).collect(),
            billing: (cluster.partitions.iter())
                .map(|one| one.billing_weights.clone())
                .collect(),
            users: HashMap::new(),
            last_ran: Some(now),
            charges_ends: machine.scheduling.enforces_limits || ours,
            limits: SiteLimits::default(),
            config,
            qos,
        };
        made.limits = limits(cluster, machine, &made);
        Ok(made)
    }

    /// The moment of the last pass, seconds since 1970.
    pub fn last_pass(&self) -> i64 {
        self.last_ran.unwrap_or_else(|| self.site.moment())
    }

    /// Raw usage by position, with that of all below, TRES-seconds.
    pub fn raw(&self) -> &[Extended] {
        self.site.raw()
    }

    /// The same site at another moment, seconds since 1970, with this usage of each association, without
    /// that of those below it: for a moment of the past.
    pub fn at(&self, moment: i64, own: &[f64]) -> Site {
        let own: Vec<Extended> = own
            .iter()
            .map(|used| Extended::from_f64(*used).unwrap_or_default())
            .collect();
        let tree = self.tree();
        // One number each, none of them odd: else there is none.
        let raw_usage = RawUsage::from_own(tree, &own).unwrap_or_else(|_| RawUsage::new(tree));
        let mut made = self.clone();
        let usage = HalfLife::of(&made.config, raw_usage, Some(moment));
        made.site = engine::Site::new(tree.clone(), Box::new(usage), moment);
        made.last_ran = Some(moment);
        let factors = &mut made.tables.assocs;
        made.site
            .pass(&made.config, &mut [], &[], moment, factors, &mut ());
        made
    }

    /// Seconds after which usage counts half; `None`: it does not decay.
    pub fn half_life_secs(&self) -> Option<u32> {
        let secs = self.config.priority_decay_half_life_secs;
        (secs > 0).then_some(secs)
    }

    /// What a run of a job uses per second, in its billing TRES and with the factor of its QOS.
    pub fn usage_factor(&self, qos: Option<usize>) -> f64 {
        qos.map_or(1.0, |qos| self.usage_factors[qos])
    }
}

/// The limits that the cluster's associations and QOS have.
fn limits(cluster: &Cluster, machine: &Machine, site: &Site) -> SiteLimits {
    let mut rows = HashMap::new();
    for row in cluster.listed.iter() {
        let key = (&row.account, &row.user, &row.partition);
        rows.insert(key, row.limits.as_deref());
    }
    let of_assoc = cluster.names.iter().map(|name| {
        let key = (&name.account, &name.user, &name.partition);
        let listed = rows.get(&key).copied().flatten();
        listed.map(common).unwrap_or_default()
    });
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let accounts = cluster.names.iter().map(|name| {
        let next = numbers.len() as u32;
        *numbers.entry(name.account.as_str()).or_insert(next)
    });
    let accounts = accounts.collect();
    let partition_qos = machine.partitions.iter().map(|partition| {
        let name = partition.qos.as_ref()?.to_lowercase();
        site.qos.get(&name).copied()
    });
    SiteLimits {
        enforced: machine.scheduling.enforces_limits,
        assocs: of_assoc.collect(),
        qos: (cluster.qos.iter())
            .map(|qos| qos.limits.as_deref().map(of_qos).unwrap_or_default())
            .collect(),
        partition_qos: partition_qos.collect(),
        parents: SiteLimits::parents(site.tree()),
        accounts,
    }
}

fn number(limits: &Listed, column: &str) -> Option<u32> {
    let most = limits.most(column, None)?;
    u32::try_from(most).ok()
}

fn tres(limits: &Listed, column: &str) -> Tres {
    let own = limits.0.iter().filter(|limit| limit.column == column);
    Tres(
        own.filter_map(|limit| Some((limit.tres.clone()?, limit.most)))
            .collect(),
    )
}

fn common(limits: &Listed) -> Limits {
    Limits {
        group_jobs: number(limits, "GrpJobs"),
        group_tres: tres(limits, "GrpTRES"),
        group_run_mins: tres(limits, "GrpTRESRunMins"),
        group_mins: tres(limits, "GrpTRESMins"),
        job_tres: tres(limits, "MaxTRES"),
        job_mins: number(limits, "MaxWall"),
        jobs: number(limits, "MaxJobs"),
        ..Limits::default()
    }
}

fn of_qos(limits: &Listed) -> QosLimits {
    QosLimits {
        all: common(limits),
        user_jobs: number(limits, "MaxJobsPU"),
        user_tres: tres(limits, "MaxTRESPU"),
        account_jobs: number(limits, "MaxJobsPA"),
        account_tres: tres(limits, "MaxTRESPA"),
        ..QosLimits::default()
    }
}
