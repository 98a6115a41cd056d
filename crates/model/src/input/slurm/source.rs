//! The commands whose answers are read, and the purposes for which they are asked.

use super::config::Settings;
use crate::input::error::{InputError, Problem};
use fairtree::config::Config;

/// A command whose answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// `scontrol show config`
    Config,
    /// `sshare`
    Shares,
    /// `sprio`
    Priorities,
    /// `squeue`: names of jobs, without which those could pass for other things in `Jobs`
    Names,
    /// `scontrol show job`
    Jobs,
    /// `scontrol show partition`
    Partitions,
    /// `scontrol show node`
    Nodes,
    /// `sacctmgr show assoc`
    Assocs,
    /// `sacctmgr show qos`
    Qos,
    /// `sacctmgr show account withcoord`: who coordinates which account
    Coordinators,
    /// `sacctmgr show user`: who is an operator or administrator
    Users,
    /// `sacctmgr show config`: the settings of slurmdbd
    Database,
    /// `sacct`: the jobs of the last 30 days
    History,
}

impl Source {
    /// [`Source::History`] has the jobs of this number of days before the answer.
    pub const HISTORY_DAYS: i64 = 30;

    /// All of them, in the order in which they are asked: what changes fast close together.
    pub const ALL: [Source; 9] = [
        Source::Config,
        Source::Assocs,
        Source::Qos,
        Source::Partitions,
        Source::Nodes,
        Source::Names,
        Source::Jobs,
        Source::Priorities,
        Source::Shares,
    ];

    /// The sources that a capture keeps: also who may see and change what, which no snapshot needs.
    pub const KEPT: [Source; 12] = [
        Source::Config,
        Source::Assocs,
        Source::Qos,
        Source::Coordinators,
        Source::Users,
        Source::Database,
        Source::Partitions,
        Source::Nodes,
        Source::Names,
        Source::Jobs,
        Source::Priorities,
        Source::Shares,
    ];

    /// All that a capture can have: those of [`Source::KEPT`], and past jobs, which are asked for last, as
    /// that takes longest.
    pub const FILES: [Source; 13] = {
        let mut files = [Source::History; 13];
        let mut at = 0;
        while at < Source::KEPT.len() {
            files[at] = Source::KEPT[at];
            at += 1;
        }
        files
    };

    /// The command line. `sprio` prints both forms of each factor, because points alone are
    /// rounded to whole numbers.
    pub const fn command(self) -> &'static [&'static str] {
        match self {
            Source::Config => &["scontrol", "show", "config"],
            Source::Shares => &[
                "sshare",
                "-a",
                "-P",
                "-m",
                "-o",
                "Account,User,Partition,ID,RawShares,NormShares,RawUsage,NormUsage,EffectvUsage,\
                 FairShare,LevelFS,GrpTRESMins,GrpTRESRaw,TRESRunMins",
            ],
            Source::Priorities => &[
                "sprio",
                "-o",
                "%i|%r|%u|%Y|%y|%S|%N|%A|%a|%B|%b|%F|%f|%J|%j|%P|%p|%Q|%q|%T|%t",
            ],
            Source::Names => &["squeue", "-a", "-h", "-t", "all", "-o", "%A|%j"],
            Source::Jobs => &["scontrol", "-a", "-o", "show", "job"],
            Source::Partitions => &["scontrol", "-a", "-o", "show", "partition"],
            Source::Nodes => &["scontrol", "-a", "-o", "show", "node"],
            Source::Assocs => &[
                "sacctmgr",
                "-P",
                "show",
                "assoc",
                "format=Cluster,Account,User,Partition,Share,Priority,ParentName,QOS,GrpJobs,GrpSubmit,\
                 GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpWall,MaxJobs,MaxSubmit,MaxTRES,MaxWall",
            ],
            Source::Qos => &[
                "sacctmgr",
                "-P",
                "show",
                "qos",
                "format=Name,Priority,UsageFactor,GrpJobs,GrpSubmit,GrpTRES,GrpTRESMins,GrpTRESRunMins,\
                 GrpWall,MaxJobsPA,MaxJobsPU,MaxSubmitPA,MaxSubmitPU,MaxTRES,MaxTRESPA,MaxTRESPU,MaxWall",
            ],
            Source::Coordinators => &[
                "sacctmgr",
                "-P",
                "show",
                "account",
                "withcoord",
                "format=Account,Coordinators",
            ],
            Source::Users => &["sacctmgr", "-P", "show", "user", "format=User,AdminLevel"],
            Source::Database => &["sacctmgr", "show", "config"],
            Source::History => &[
                "sacct",
                "-a",
                "-X",
                "-P",
                "-S",
                "now-30days",
                "-E",
                "now",
                "--format=JobID,JobIDRaw,User,Account,Partition,QOS,State,Submit,Eligible,Start,End,\
                 ElapsedRaw,TimelimitRaw,ReqCPUS,ReqTRES,AllocCPUS,AllocTRES,NodeList",
            ],
        }
    }

    /// The command line as it is run. For names of jobs, their owners and times of submission are
    /// asked, too, which separate the names from text of users; they are not kept.
    pub(in crate::input) const fn question(self) -> &'static [&'static str] {
        match self {
            Source::Names => &["squeue", "-a", "-h", "-t", "all", "-o", "%A|%U|%V|%j"],
            _ => self.command(),
        }
    }

    /// The file that keeps the answer.
    pub const fn file(self) -> &'static str {
        match self {
            Source::Config => "config.txt",
            Source::Shares => "sshare.txt",
            Source::Priorities => "sprio.txt",
            Source::Names => "names.txt",
            Source::Jobs => "jobs.txt",
            Source::Partitions => "partitions.txt",
            Source::Nodes => "nodes.txt",
            Source::Assocs => "assocs.txt",
            Source::Qos => "qos.txt",
            Source::Coordinators => "accounts.txt",
            Source::Users => "users.txt",
            Source::Database => "database.txt",
            Source::History => "history.txt",
        }
    }

    /// Returns true if the answer has a line for each job.
    pub const fn is_long(self) -> bool {
        matches!(
            self,
            Source::Jobs | Source::Names | Source::Priorities | Source::History
        )
    }

    /// The word of `PrivateData` under which slurmctld refuses the answer to a user who is no operator.
    pub const fn refused_under(self) -> Option<&'static str> {
        match self {
            Source::Partitions => Some("partitions"),
            Source::Nodes => Some("nodes"),
            _ => None,
        }
    }

    /// Returns true if the settings hide the answer from users.
    pub fn is_hidden(self, settings: &Settings) -> bool {
        let hides = |hidden| {
            let mut words = settings.private_data.iter();
            words.any(|word| word == hidden || word == "all")
        };
        self.refused_under().is_some_and(hides)
    }

    /// The error of a capture called `name` that does not have the answer.
    pub fn missing(self, name: &str) -> InputError {
        let why = format!("the answer of {} is not there", self.command().join(" "));
        InputError::new(name, Problem::Absent(why))
            .hint("the command failed when the capture was made; make another")
    }

    /// Returns true if a snapshot can do without: slurmdbd may be down, or not be used.
    pub const fn optional(self) -> bool {
        matches!(
            self,
            Source::Assocs
                | Source::Qos
                | Source::Coordinators
                | Source::Users
                | Source::Database
                | Source::History
        )
    }
}

/// The purpose of answers: Slurm is asked only for those on which a number depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Anything: all of them.
    Any,
    /// The priorities of jobs, and why they wait.
    Priorities,
    /// The usage that running jobs add to associations from the last pass on: the ages that sprio prints show
    /// its moment.
    Usage,
    /// Shares and usage.
    Shares,
}

impl Purpose {
    /// The commands that are asked, as far as the settings need them.
    pub const fn sources(self) -> &'static [Source] {
        match self {
            Purpose::Any | Purpose::Priorities => &Source::ALL,
            Purpose::Usage => &[
                Source::Config,
                Source::Qos,
                Source::Partitions,
                Source::Nodes,
                Source::Names,
                Source::Jobs,
                Source::Priorities,
                Source::Shares,
            ],
            Purpose::Shares => &[Source::Config, Source::Shares],
        }
    }

    /// Returns true if numbers depend on the answer under these settings: nodes count for the size of a
    /// job, and for what a policy in minutes divides.
    pub fn needs(self, source: Source, config: &Config) -> bool {
        let by_size = self == Purpose::Priorities && config.priority_weight_job_size > 0;
        match (self, source) {
            (Purpose::Any, _) => true,
            (_, Source::Nodes) => by_size || config.policy_file().is_some(),
            _ => self.sources().contains(&source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn sacct_is_asked_for_the_days_of_a_history() {
        let from = format!("now-{}days", Source::HISTORY_DAYS);
        assert!(Source::History.command().contains(&&*from));
    }
}
