//! A site with its queue, as the engine's rows, and how everything in it is called.
//!
//! Whatever the input, this is what explanations, what-if and cost work on: [`Cluster::from_snapshot`]
//! of what Slurm's commands say, [`Cluster::from_site`] of a description, [`Cluster::from_listed`] of
//! a listing of sshare. The last two may know no jobs.

mod assoc_table;
mod edit;
mod find;
mod jobs;
mod load;
mod names;
mod policy;
mod seen;
mod source;
mod tables;
mod time;
mod tres;

use std::sync::Arc;

use fairtree::compat::Release;
use fairtree::config::Config;
use fairtree::engine::{self, Accruing, Site};
use fairtree::extended::Extended;
use fairtree::fairshare::AssocFairshare;
use fairtree::priority::{AssocFactors, Index, Job, JobTables};
use fairtree::tree::{AssocIndex, AssocKind, Tree};
use fairtree::usage::{HalfLife, Run};

use crate::input::Name;
use crate::input::site::Uses;
use crate::input::slurm::admission::Admission;
use crate::input::slurm::assoc::AssocRow;
use crate::input::slurm::job::JobWait;
pub use crate::input::slurm::job_state::JobPhase;
use crate::input::slurm::limits::Limits;
use crate::input::slurm::snapshot::Hidden;
use crate::listed::WholeSite;

pub use find::{FindError, JobName};
pub use jobs::runs;
pub use load::Load;
pub use names::{AssocName, Names, Numbered};
pub use policy::{Capacity, capacity, entitlement, usage_models};
pub use tables::{RowAt, Shown, Tables, pass_time};
pub use tres::{billing_weights, kinds};

/// Properties of a partition that priorities do not depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionAbout {
    /// Name.
    pub name: String,
    /// Jobs that name no partition go there.
    pub is_default: bool,
    /// `TRESBillingWeights`, one per TRES of the site; `None`: CPUs are billed.
    pub billing_weights: Option<Vec<f64>>,
    /// `MaxNodes`, the most nodes of a job; `None`: unlimited, or not known.
    pub max_nodes: Option<u32>,
    /// `State`, as `UP`; `None` where it is not known.
    pub state: Option<String>,
    /// Who may use it.
    pub admission: Admission,
}

/// Properties of a QOS that priorities do not depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct QosAbout {
    /// Name.
    pub name: String,
    /// `UsageFactor`, from 0 up.
    pub usage_factor: f64,
    /// Its limits; `None` where it has none, or they are not known.
    pub limits: Option<Box<Limits>>,
}

/// A job of a cluster.
#[derive(Clone, Debug)]
pub struct ClusterJob {
    /// The engine's row.
    pub job: Job,
    /// Its phase.
    pub phase: JobPhase,
    /// `JobState` in Slurm's word.
    pub state: Name,
    /// User.
    pub user: Name,
    /// Account.
    pub account: Option<Name>,
    /// Time of submission, seconds since 1970; 0: not known.
    pub submit_time: i64,
    /// The array that it is of, and its tasks.
    pub array: Option<(u32, Name)>,
    /// Its use of resources, if it runs.
    pub run: Option<Box<Run>>,
    /// The reason why it waits; `None` for a job that does not wait, and where it is not known.
    pub wait: Option<Arc<JobWait>>,
}

/// A site with its queue.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Name of the input.
    pub source: String,
    /// `ClusterName`, where it is known.
    pub cluster: Option<String>,
    /// Settings.
    pub config: Config,
    /// `PriorityType`, where it is known.
    pub priority_type: Option<String>,
    /// Slurm's release, where it is known.
    pub release: Option<Release>,
    /// Names of the associations, by position in the tree.
    pub names: Vec<AssocName>,
    /// The tree of accounts and users with their usage: a window once time passed under one, before that
    /// numbers without times.
    site: Site,
    /// Uses from which usage is counted, by position in the tree as it was read; `None`: not known.
    uses: Option<Arc<Uses>>,
    /// The moment of the site is known.
    has_moment: bool,
    /// The tables of jobs, with the factors of `fairshare`.
    pub tables: JobTables,
    /// Result of [`engine::rank`] for the fields above.
    pub fairshare: Vec<AssocFairshare>,
    /// Units of the machines of a queue's site together; `None`: a site of Slurm.
    pub machines: Option<u32>,
    /// Fair-share factors that Slurm printed, by position, in place of ranks that cannot be computed; see
    /// [`Cluster::seen`].
    pub printed_factors: Option<Arc<Vec<Option<f64>>>>,
    /// One per partition of `tables`.
    pub partitions: Vec<PartitionAbout>,
    /// One per QOS of `tables`.
    pub qos: Vec<QosAbout>,
    /// Associations as sacctmgr lists them, with their QOS and limits; empty where it gave no answer. Copies
    /// of a cluster share them.
    pub listed: Arc<Vec<AssocRow>>,
    /// `PrivateData` in words of slurm.conf, as `jobs`; empty: nothing is private, or it is not known.
    pub private_data: Vec<String>,
    /// Answers that it refused to who asked. Points of the factors that need them are part of the site factor.
    pub hidden: Hidden,
    /// All jobs; `None` where the input knows of none. Copies of a cluster share them until one
    /// changes them.
    pub jobs: Option<Arc<Vec<ClusterJob>>>,
    /// Assumptions that were made, one sentence each.
    pub assumptions: Vec<String>,
}

impl Cluster {
    /// A cluster without jobs, partitions and QOS, which is not ranked yet. `tables`: associations without
    /// a row in them get one. `now`: see [`Cluster::now`]. `uses`: what the usage of `whole` was counted
    /// from.
    pub fn new(
        source: String,
        config: Config,
        whole: WholeSite,
        mut tables: JobTables,
        now: Option<i64>,
        uses: Option<Uses>,
    ) -> Cluster {
        let associations = whole.names.len();
        tables.assocs.resize(associations, AssocFactors::default());
        let of_uses = uses.as_ref().and_then(Uses::now);
        let moment = now.or(of_uses).unwrap_or(1).max(1);
        let usage = HalfLife::of(&config, whole.raw_usage, Some(moment));
        Cluster {
            source,
            cluster: None,
            config,
            priority_type: None,
            release: None,
            names: whole.names,
            site: Site::new(whole.tree, Box::new(usage), moment),
            uses: uses.map(Arc::new),
            has_moment: now.is_some(),
            tables,
            fairshare: Vec::new(),
            machines: None,
            printed_factors: None,
            partitions: Vec::new(),
            qos: Vec::new(),
            listed: Arc::default(),
            private_data: Vec::new(),
            hidden: Hidden::default(),
            jobs: None,
            assumptions: Vec::new(),
        }
    }

    /// The associations and their usage. Its ranks are not those of [`Cluster::fairshare`].
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The tree of accounts and users.
    pub fn tree(&self) -> &Tree {
        self.site.tree()
    }

    /// Raw usage by position, with that of all below, TRES-seconds.
    pub fn raw(&self) -> &[Extended] {
        self.site.raw()
    }

    /// Moment of the usage, seconds since 1970, from 1 up; 1 where the input has no times.
    pub fn moment(&self) -> i64 {
        self.site.moment()
    }

    /// The moment of the last pass, seconds since 1970; `None` where the input has no times.
    pub fn now(&self) -> Option<i64> {
        self.has_moment.then(|| self.moment())
    }

    /// The uses that usage is counted from; `None`: not known.
    pub fn uses(&self) -> Option<&Uses> {
        self.uses.as_deref()
    }

    /// Ranks all associations anew and publishes their factors, as a pass does.
    ///
    /// # Panics
    /// If the tree and the tables do not belong together.
    pub fn rank(&mut self) {
        self.fairshare = self.ranked();
        let printed = self.printed_factors.as_deref().into_iter().flatten();
        for (found, factor) in self.fairshare.iter_mut().zip(printed) {
            found.fs_factor = factor.or(found.fs_factor);
        }
        engine::publish(&self.fairshare, &mut self.tables);
    }

    /// All jobs; none where the input knows of none.
    pub fn jobs(&self) -> &[ClusterJob] {
        self.jobs.as_deref().map_or(&[], Vec::as_slice)
    }

    /// All jobs, to be changed; `None` where the input knows of none.
    pub fn jobs_mut(&mut self) -> Option<&mut Vec<ClusterJob>> {
        self.jobs.as_mut().map(Arc::make_mut)
    }

    /// The row of sacctmgr for an association; `None` where it has none, or gave no answer.
    ///
    /// # Panics
    /// If `index` is not of this tree.
    pub fn listed(&self, index: AssocIndex) -> Option<&AssocRow> {
        let name = self.name(index);
        self.listed.iter().find(|row| {
            row.account == name.account && row.user == name.user && row.partition == name.partition
        })
    }

    /// The jobs that use resources now.
    pub fn accruing(&self) -> Vec<Accruing> {
        self.jobs()
            .iter()
            .filter_map(|job| {
                Some(Accruing {
                    job: job.job.id,
                    assoc: job.job.assoc?,
                    run: *job.run.as_deref()?,
                    at_end: false,
                })
            })
            .collect()
    }

    /// Cost of the running jobs.
    pub fn load(&self) -> Vec<Load> {
        Load::of(&self.accruing())
    }

    /// The jobs that wait.
    pub fn pending(&self) -> impl Iterator<Item = &ClusterJob> {
        self.jobs()
            .iter()
            .filter(|job| job.phase == JobPhase::Pending)
    }

    /// Name of an association.
    ///
    /// # Panics
    /// If `index` is not of this tree.
    pub fn name(&self, index: AssocIndex) -> &AssocName {
        &self.names[index.get()]
    }

    /// Returns true if an association is a user's.
    ///
    /// # Panics
    /// If `index` is not of this tree.
    pub fn is_user(&self, index: AssocIndex) -> bool {
        self.tree().rows()[index.get()].kind == AssocKind::User
    }
}

impl Names for Cluster {
    fn assoc(&self, index: AssocIndex) -> String {
        self.name(index).to_string()
    }
    fn partition(&self, index: Index) -> String {
        self.partitions[index.get()].name.clone()
    }
    fn qos(&self, index: Index) -> String {
        self.qos[index.get()].name.clone()
    }
}
