//! Options that change settings and accounts of a site, for every command that compares two policies.

use std::path::PathBuf;

use clap::Args;

/// Changes of slurm.conf and of accounting.
#[derive(Clone, Debug, Default, Args)]
pub struct ChangeArgs {
    /// Take all priority settings from this slurm.conf, and the factors of its partitions
    #[arg(long, value_name = "FILE", help_heading = SETTINGS)]
    pub slurm_conf: Option<PathBuf>,
    /// Follow this policy file from now on, instead of the policy there is; given twice, the first file
    /// is the policy before
    #[arg(long, value_name = "FILE", help_heading = SETTINGS)]
    pub policy: Vec<PathBuf>,
    /// Change a setting of slurm.conf: PriorityWeightFairshare=50000, PriorityDecayHalfLife=14-0,
    /// PriorityType=priority/fairtree
    #[arg(long, value_name = "KEY=VALUE", help_heading = SETTINGS)]
    pub set: Vec<String>,
    /// Change a partition's PriorityJobFactor
    #[arg(long, value_name = "PARTITION=NUMBER", help_heading = SETTINGS)]
    pub partition_factor: Vec<String>,
    /// Change a QOS's Priority
    #[arg(long, value_name = "QOS=NUMBER", help_heading = ACCOUNTING)]
    pub qos_priority: Vec<String>,
    /// Change a QOS's UsageFactor, which counts for later use
    #[arg(long, value_name = "QOS=NUMBER", help_heading = ACCOUNTING)]
    pub usage_factor: Vec<String>,
    /// Add an account below another, with so many shares
    #[arg(long, value_name = "ACCOUNT@PARENT=SHARES", help_heading = ACCOUNTING)]
    pub add_account: Vec<String>,
    /// Add a user to an account, with so many shares
    #[arg(long, value_name = "USER@ACCOUNT=SHARES", help_heading = ACCOUNTING)]
    pub add_user: Vec<String>,
    /// Hang an account, with all below it, below another
    #[arg(long, value_name = "ACCOUNT=PARENT", help_heading = ACCOUNTING)]
    pub parent: Vec<String>,
    /// Change the shares of an account or a user: physics=40, alice@physics=parent
    #[arg(long, value_name = "WHO=SHARES", help_heading = ACCOUNTING)]
    pub shares: Vec<String>,
    /// Change the Priority of an account or a user
    #[arg(long, value_name = "WHO=NUMBER", help_heading = ACCOUNTING)]
    pub assoc_priority: Vec<String>,
    /// Remove a user from an account, or an account with all below it
    #[arg(long, value_name = "WHO", help_heading = ACCOUNTING)]
    pub remove: Vec<String>,
}

const SETTINGS: &str = "Changes of slurm.conf";
const ACCOUNTING: &str = "Changes of accounting";

impl ChangeArgs {
    /// The first option that is given, by its name; `None`: none is.
    pub fn first(&self) -> Option<&'static str> {
        let lists = [
            ("--slurm-conf", self.slurm_conf.is_none()),
            ("--policy", self.policy.is_empty()),
            ("--set", self.set.is_empty()),
            ("--partition-factor", self.partition_factor.is_empty()),
            ("--qos-priority", self.qos_priority.is_empty()),
            ("--usage-factor", self.usage_factor.is_empty()),
            ("--add-account", self.add_account.is_empty()),
            ("--add-user", self.add_user.is_empty()),
            ("--parent", self.parent.is_empty()),
            ("--shares", self.shares.is_empty()),
            ("--assoc-priority", self.assoc_priority.is_empty()),
            ("--remove", self.remove.is_empty()),
        ];
        let given = lists.into_iter().find(|(_, is_empty)| !is_empty);
        given.map(|(name, _)| name)
    }
}
