//! A policy, as far as reports follow it.

use fairtree::compat::Compat;
use fairtree::config::{AccountPolicy, ConfigError, PolicyFile};
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
        self.config = config;
        self.rank();
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
