//! A policy, as far as reports follow it.

use std::collections::HashMap;
use std::sync::Arc;

use fairtree::config::{Config, ConfigError, PolicyFile, Scope, UsageModel};
use fairtree::engine::Standings;
use fairtree::fairshare::{AssocFairshare, Entitlement, compute_again};
use fairtree::tree::{AssocIndex, Tree};
use fairtree::usage::{HalfLife, RawUsage};

use super::Cluster;
use crate::input::site::Uses;
use crate::input::slurm::node::Nodes;

/// Billing TRES of the machines of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Not known.
    Unknown,
    /// Nodes of Slurm. slurmctld ranks by shares of no time: where accounts have minutes, shares of the
    /// root entitle to nothing.
    Nodes(u32),
    /// Machines of a queue, which divides their time also among accounts beside those with minutes.
    Machines(u32),
}

/// What associations are entitled to: by the minutes of a policy, and by their fractions of what the
/// machines give in the window. Where neither is known, by shares alone.
///
/// `find`: the association of an account, in any case of letters.
pub fn entitlement(
    config: &Config,
    capacity: Capacity,
    tree: &Tree,
    find: impl Fn(&str) -> Option<AssocIndex>,
) -> Entitlement {
    let whole = |capacity: u32| match config.usage() {
        UsageModel::Window { length_secs } => u64::from(capacity) * u64::from(length_secs),
        _ => 0,
    };
    if config.gives_minutes() {
        let rows = config.accounts.iter().map(|row| (row, find(&row.account)));
        let whole = match capacity {
            Capacity::Machines(units) => whole(units),
            Capacity::Nodes(_) | Capacity::Unknown => 0,
        };
        return Entitlement::of_policy(config, tree, rows, whole);
    }
    let plans = config.accounts.iter().any(|row| row.plan.is_some());
    let whole = match capacity {
        Capacity::Machines(units) => whole(units),
        // The machines of other clusters are not known.
        Capacity::Nodes(units) if config.scope() == Scope::Cluster && !plans => whole(units),
        Capacity::Nodes(_) | Capacity::Unknown => 0,
    };
    match whole {
        0 => Entitlement::SHARES,
        whole => Entitlement::new(whole),
    }
}

/// Billing TRES of machines: their CPUs, which are what is billed where no partition has weights of
/// its own, or where only their number is known that.
pub fn capacity(nodes: Nodes, any_weights: bool) -> Capacity {
    let of = if nodes.cpus > 0 {
        nodes.cpus
    } else {
        nodes.nodes
    };
    match of > 0 && !any_weights {
        true => Capacity::Nodes(of),
        false => Capacity::Unknown,
    }
}

/// The usage model of each association: the plan of the nearest account that has one, or else
/// `usage=`. `find`: the association of an account, in any case of letters.
pub fn usage_models(
    config: &Config,
    tree: &Tree,
    find: impl Fn(&str) -> Option<AssocIndex>,
) -> Vec<UsageModel> {
    let plans = config.accounts.iter();
    let plans = plans.filter_map(|row| Some((find(&row.account)?, row.plan?)));
    let plans: HashMap<AssocIndex, UsageModel> = plans.collect();
    let mut models = vec![config.usage(); tree.len()];
    if plans.is_empty() {
        return models;
    }
    for &node in tree.parents_first() {
        let above = tree.parent(node).map(|parent| models[parent.get()]);
        let own = plans.get(&node).copied();
        models[node.get()] = own.or(above).unwrap_or(config.usage());
    }
    models
}

impl Cluster {
    /// The association of an account, in any case of letters.
    pub fn account(&self, name: &str) -> Option<AssocIndex> {
        let is = |at: &AssocIndex| {
            !self.is_user(*at) && self.name(*at).account.eq_ignore_ascii_case(name)
        };
        self.tree().indices().find(is)
    }

    /// Entitlements of the associations.
    pub fn entitlement(&self) -> Entitlement {
        let nodes = Nodes {
            nodes: self.tables.cluster_nodes,
            cpus: self.tables.cluster_cpus,
        };
        let mut partitions = self.partitions.iter();
        let any_weights = partitions.any(|partition| partition.billing_weights.is_some());
        let of_nodes = || capacity(nodes, any_weights);
        let capacity = self.machines.map_or_else(of_nodes, Capacity::Machines);
        entitlement(&self.config, capacity, self.tree(), |name| {
            self.account(name)
        })
    }

    /// The standings of all associations, with places.
    pub fn standings(&self) -> Standings<'_> {
        let entitlement = self.entitlement();
        let ranking = (self.config.ranking(), &entitlement);
        let standings = Standings::new(ranking, self.tree(), &self.fairshare);
        standings.with_places(ranking, self.config.compat, self.raw())
    }

    /// Follows a policy file instead of the policy that the site has.
    ///
    /// # Errors
    /// Errors of [`Config::under_policy`](fairtree::config::Config::under_policy); accounts that
    /// the site does not have.
    pub fn follow_policy(&mut self, file: &PolicyFile) -> Result<(), ConfigError> {
        let config = self.config.clone().under_policy(file)?;
        file.check_accounts(|name| self.account(name).is_some())?;
        config.check_minutes(self.tree(), |name| self.account(name))?;
        self.set_config(config)?;
        self.rank();
        Ok(())
    }

    /// The usage model of each association, by position in the tree.
    pub fn usage_models(&self) -> Vec<UsageModel> {
        self.usage_models_under(&self.config)
    }

    /// The same under other settings.
    pub fn usage_models_under(&self, config: &Config) -> Vec<UsageModel> {
        usage_models(config, self.tree(), |name| self.account(name))
    }

    /// Takes other settings. Where it is known when what was used, and other usage models are in
    /// force, usage is counted anew by them. Ranks are as before until [`Cluster::rank`].
    ///
    /// # Errors
    /// Usage whose sum is not finite; the settings stay as they are.
    pub fn set_config(&mut self, config: Config) -> Result<(), ConfigError> {
        let before = self.usage_models();
        let models = self.usage_models_under(&config);
        if models != before {
            let counted = |uses: &Arc<Uses>| uses.counted(&config, &models, self.tree());
            let counted = self.uses.as_ref().map(counted).transpose()?;
            let kept = || RawUsage::from_raw(self.tree(), self.raw()).ok();
            if let Some(raw_usage) = counted.or_else(kept) {
                let usage = HalfLife::of(&config, raw_usage, Some(self.moment()));
                self.site.edit_usage(|_, model| *model = Box::new(usage));
            }
        }
        self.config = config;
        Ok(())
    }

    pub(super) fn ranked(&self) -> Vec<AssocFairshare> {
        let entitlement = self.entitlement();
        let ranking = (self.config.ranking(), &entitlement);
        let raw = self.raw();
        compute_again(ranking, self.config.compat, self.tree(), raw, Vec::new())
    }
}
