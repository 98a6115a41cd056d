//! A site as it was described.

use std::collections::HashMap;

use crate::input::slurm::snapshot::Queued;
use fairtree::config::Config;
use fairtree::extended::Extended;
use fairtree::tree::Tree;
use fairtree::usage::Ledger;

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
    /// Who shares with whom.
    pub tree: Tree,
    /// Raw usage now.
    pub ledger: Ledger,
    /// Jobs, and what they are measured by; `None` where the file has nothing of the kind.
    pub queued: Option<Queued>,
    /// What was taken for granted, in sentences.
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
        self.ledger.raw()[row]
    }
}
