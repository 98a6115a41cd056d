//! The possible changes, and the words for them.

use std::fmt;

use fairtree::config::Config;
use fairtree::tree::Shares;
use fairtree_model::cluster::JobName;
use fairtree_model::input::slurm::conf::PartitionLine;
use fairtree_model::machine::Machine;

/// A change of a site. Names are those of the site.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteChange {
    /// Other settings; what they were before and are now, one sentence each.
    Settings(Box<Config>, Vec<String>),
    /// `PriorityJobFactor` of a partition.
    PartitionFactor(String, u16),
    /// `Priority` of a QOS.
    QosPriority(String, u32),
    /// `UsageFactor` of a QOS.
    UsageFactor(String, f64),
    /// A new account.
    AddAccount {
        /// Its name.
        account: String,
        /// The account above.
        parent: String,
        /// Its shares.
        shares: Shares,
    },
    /// A user in an account where it was not.
    AddUser {
        /// The user.
        user: String,
        /// The account.
        account: String,
        /// Its shares.
        shares: Shares,
    },
    /// An association goes, an account with all below it. Its usage becomes that of the account
    /// above (as in Slurm), its jobs leave the queue.
    Remove(String),
    /// An account moves, with all below it and its usage.
    Parent {
        /// The account.
        account: String,
        /// The account above from now on.
        parent: String,
    },
    /// Other shares.
    Shares(String, Shares),
    /// `Priority` of an association.
    AssocPriority(String, u32),
    /// More usage, TRES-seconds.
    Charge(String, f64),
    /// No usage (`RawUsage=0` of sacctmgr), an account with all below it.
    ResetUsage(String),
    /// Other nodes, partitions and scheduler settings, of a slurm.conf by its name. Simulations follow
    /// it, and so for the next two.
    Machine(Box<OtherMachine>),
    /// A setting of the schedulers: `SchedulerParameters` and the like.
    Scheduler {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A number of nodes, from 1: more like the last one of the partition, or fewer.
    Nodes {
        /// The partition.
        partition: String,
        /// Its nodes.
        count: u32,
    },
    /// A job changes.
    Job(JobName, JobChange),
    /// Time passes, seconds: running jobs continue up to their time limit, usage decays, jobs age,
    /// and none starts.
    After(u32),
}

/// Nodes and partitions of another slurm.conf.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherMachine {
    /// Name of the file.
    pub name: String,
    /// Nodes, partitions, scheduler settings.
    pub machine: Machine,
    /// Priorities of its partitions.
    pub partitions: Vec<PartitionLine>,
}

/// A change of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobChange {
    /// Other QOS.
    Qos(Vec<String>),
    /// Other partitions.
    Partitions(Vec<String>),
    /// Another nice value.
    Nice(i32),
    /// A priority set by hand; 0 holds it.
    Priority(u32),
    /// Released, or its priority computed again.
    Release,
    /// It leaves the queue, or ends now.
    Cancel,
}

impl fmt::Display for SiteChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SiteChange::Settings(_, said) if said.is_empty() => f.write_str("settings as they are"),
            SiteChange::Settings(_, said) => f.write_str(&said.join("; ")),
            SiteChange::PartitionFactor(name, factor) => {
                write!(f, "PriorityJobFactor of partition {name} becomes {factor}")
            }
            SiteChange::QosPriority(name, priority) => {
                write!(f, "Priority of QOS {name} becomes {priority}")
            }
            SiteChange::UsageFactor(name, factor) => {
                write!(f, "UsageFactor of QOS {name} becomes {factor}")
            }
            SiteChange::AddAccount {
                account,
                parent,
                shares,
            } => write!(
                f,
                "new account {account} below {parent}, {}",
                Words(*shares)
            ),
            SiteChange::AddUser {
                user,
                account,
                shares,
            } => write!(f, "new user {user} in {account}, {}", Words(*shares)),
            SiteChange::Remove(who) => write!(f, "{who} is removed"),
            SiteChange::Parent { account, parent } => write!(f, "{account} moves below {parent}"),
            SiteChange::Shares(who, shares) => write!(f, "{who} has {}", Words(*shares)),
            SiteChange::AssocPriority(who, priority) => {
                write!(f, "Priority of {who} becomes {priority}")
            }
            SiteChange::Charge(who, usage) => {
                let hours = usage / 3600.0;
                write!(f, "{who} uses {hours} TRES-hours more")
            }
            SiteChange::ResetUsage(who) => write!(f, "usage of {who} is reset"),
            SiteChange::Machine(other) => {
                write!(f, "nodes and partitions are those of {}", other.name)
            }
            SiteChange::Scheduler { key, value } => write!(f, "{key}={value}"),
            SiteChange::Nodes { partition, count } => {
                let s = if *count == 1 { "" } else { "s" };
                write!(f, "partition {partition} has {count} node{s}")
            }
            SiteChange::Job(id, change) => write!(f, "job {id} {change}"),
            SiteChange::After(secs) => write!(f, "{} pass", fairtree_model::span::Span(*secs)),
        }
    }
}

impl fmt::Display for JobChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobChange::Qos(names) => write!(f, "has QOS {}", names.join(",")),
            JobChange::Partitions(names) => write!(f, "is in partition {}", names.join(",")),
            JobChange::Nice(nice) => write!(f, "has the nice value {nice}"),
            JobChange::Priority(0) => f.write_str("is held"),
            JobChange::Priority(priority) => write!(f, "gets the priority {priority}"),
            JobChange::Release => f.write_str("is released"),
            JobChange::Cancel => f.write_str("is cancelled"),
        }
    }
}

/// Shares in words.
struct Words(Shares);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Shares::Raw(1) => f.write_str("1 share"),
            Shares::Raw(shares) => write!(f, "{shares} shares"),
            Shares::Parent => f.write_str("the shares of its parent"),
        }
    }
}
