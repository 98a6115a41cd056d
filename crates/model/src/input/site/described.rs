//! A site as it was described.

use std::collections::HashMap;

use super::uses::Uses;
use crate::cluster::{Capacity, capacity, entitlement, usage_models};
use crate::input::recorded::RecordedJob;
use crate::input::slurm::snapshot::Queued;
use crate::machine::Machine;
use fairtree::config::{Config, ConfigError, PolicyFile};
use fairtree::extended::Extended;
use fairtree::fairshare::Entitlement;
use fairtree::tree::{AssocIndex, Tree};
use fairtree::usage::RawUsage;

/// A site: rows in slurmctld's order, their tree, and what they used.
#[derive(Clone, Debug)]
pub struct Site {
    /// Name of the file.
    pub file: String,
    /// Name of the cluster.
    pub cluster: Option<String>,
    /// The settings.
    pub config: Config,
    /// One per association, by position in the tree.
    pub rows: Vec<SiteRow>,
    /// The tree of accounts and users.
    pub tree: Tree,
    /// Raw usage now.
    pub raw_usage: RawUsage,
    /// Uses from which the raw usage is counted; `None`: not known.
    pub uses: Option<Uses>,
    /// Jobs, and what they are measured by; `None` if the file has neither.
    pub queued: Option<Queued>,
    /// Billing TRES of all machines, where the file gives this number itself.
    pub capacity: Option<u32>,
    /// Its nodes and partitions, where the file lists them.
    pub machine: Option<Machine>,
    /// The requests of its jobs, where the file lists its nodes.
    pub requests: Vec<RecordedJob>,
    /// Assumptions that were made, in sentences.
    pub assumptions: Vec<String>,
}

/// An association of a site.
#[derive(Clone, Debug, Default)]
pub struct SiteRow {
    /// The account, or the account that the user is in.
    pub account: String,
    /// The user.
    pub user: Option<String>,
    /// The partition that the association is for.
    pub partition: Option<String>,
    /// `GrpTRESMins`.
    pub grp_tres_mins: Option<String>,
    /// TRES-minutes used.
    pub grp_tres_raw: Option<String>,
    /// TRES-minutes that running jobs may still use.
    pub tres_run_mins: Option<String>,
}

/// Rows of users by account, user, partition; without partition the last is empty.
pub(super) type Users = HashMap<(String, String, String), usize>;

impl Site {
    /// Raw usage of a row, TRES-seconds.
    pub fn raw_usage(&self, row: usize) -> Extended {
        self.raw_usage.raw()[row]
    }

    /// The association of an account, in any case of letters.
    pub fn account(&self, name: &str) -> Option<AssocIndex> {
        let is = |row: &SiteRow| row.user.is_none() && row.account.eq_ignore_ascii_case(name);
        self.rows.iter().position(is).map(AssocIndex::new)
    }

    /// What associations are entitled to.
    pub fn entitlement(&self) -> Entitlement {
        let queued = self.queued.as_ref();
        let of_nodes = queued.map_or(Capacity::Unknown, |queued| {
            let mut partitions = queued.partitions.iter();
            let any_weights = partitions.any(|row| row.tres_billing_weights.is_some());
            capacity(queued.nodes, any_weights)
        });
        let capacity = self.capacity.map_or(of_nodes, Capacity::Machines);
        entitlement(&self.config, capacity, &self.tree, |name| {
            self.account(name)
        })
    }

    /// Follows a policy file instead of the policy that the site has, and counts usage anew by it.
    ///
    /// # Errors
    /// Errors of [`Config::under_policy`]; accounts that the site does not have; usage whose sum is
    /// not finite.
    pub fn follow_policy(&mut self, file: &PolicyFile) -> Result<(), ConfigError> {
        let config = self.config.clone().under_policy(file)?;
        file.check_accounts(|name| self.account(name).is_some())?;
        config.check_minutes(&self.tree, |name| self.account(name))?;
        if let Some(uses) = &self.uses {
            let models = usage_models(&config, &self.tree, |name| self.account(name));
            self.raw_usage = uses.counted(&config, &models, &self.tree)?;
        }
        self.config = config;
        Ok(())
    }
}
