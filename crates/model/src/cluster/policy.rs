//! A policy, as far as reports follow it.

use std::collections::HashMap;

use fairtree::compat::Compat;
use fairtree::config::{AccountPolicy, Config, ConfigError, PolicyFile, UsageModel};
use fairtree::engine;
use fairtree::fairshare::{AssocFairshare, Entitlement, compute_entitled};
use fairtree::tree::{AssocIndex, Tree};

use super::Cluster;

/// What associations are entitled to by the minutes of a policy; where no account has any, their
/// shares. `find`: the association of an account, in any case of letters.
pub fn entitlement(
    accounts: &[AccountPolicy],
    find: impl Fn(&str) -> Option<AssocIndex>,
) -> Entitlement {
    let given = accounts.iter();
    Entitlement::by_minutes(given.filter_map(|row| Some((find(&row.account), row.minutes?))))
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
    /// Whether accounts have minutes that the ranking looks at.
    pub fn counts_minutes(&self) -> bool {
        let any = self.config.accounts.iter().any(|row| row.minutes.is_some());
        any && self.config.ranking().columns().entitled
    }

    /// The association of an account, in any case of letters.
    pub fn account(&self, name: &str) -> Option<AssocIndex> {
        let is = |at: &AssocIndex| {
            !self.is_user(*at) && self.name(*at).account.eq_ignore_ascii_case(name)
        };
        self.tree.indices().find(is)
    }

    /// What associations are entitled to.
    pub fn entitlement(&self) -> Entitlement {
        entitlement(&self.config.accounts, |name| self.account(name))
    }

    /// Follows a policy file instead of the policy that the site has.
    ///
    /// # Errors
    /// What [`Config::under_policy`](fairtree::config::Config::under_policy) refuses; accounts that
    /// the site does not have.
    pub fn follow_policy(&mut self, file: &PolicyFile) -> Result<(), ConfigError> {
        let config = self.config.clone().under_policy(file)?;
        file.check_accounts(|name| self.account(name).is_some())?;
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
        usage_models(config, &self.tree, |name| self.account(name))
    }

    /// Takes other settings. Where it is known when what was used, and other usage models are in
    /// force, usage is counted anew by them. Ranks are as before until [`Cluster::rank`].
    ///
    /// # Errors
    /// Usage whose sum is not finite; the settings stay as they are.
    pub fn set_config(&mut self, config: Config) -> Result<(), ConfigError> {
        let before = self.usage_models();
        let models = self.usage_models_under(&config);
        if let Some(uses) = self.uses.as_ref().filter(|_| models != before) {
            self.ledger = uses.counted(&config, &models, &self.tree)?;
        }
        self.config = config;
        Ok(())
    }

    pub(super) fn ranked(&self) -> Vec<AssocFairshare> {
        let (config, tree): (_, &Tree) = (&self.config, &self.tree);
        match self.counts_minutes() && config.compat == Compat::Documented {
            true => {
                let entitlement = self.entitlement();
                compute_entitled(config.ranking(), &entitlement, tree, self.ledger.raw())
            }
            false => engine::rank(config, tree, &self.ledger),
        }
    }
}
