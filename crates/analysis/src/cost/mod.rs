//! The bill of a job, its effect on fair share when it ends, and its decay.
//!
//! The bill is that of [`fairtree::usage::billable_tres`]. For the rest the job is put among those that
//! run, and time passes up to its end ([`Cluster::pass`]): once with it, once without.

mod bill;
mod decay;
mod policy;
mod wish;

pub use bill::{Bill, BillLine};
pub use decay::{Left, UsageDecay};
pub use wish::{Wish, WishError};

use std::sync::Arc;

use serde::Serialize;

use crate::explain::line::OrderWord;
use crate::what_if::AssocStanding;
use crate::what_if::standing::associations;
use fairtree::priority::{Job, TimeLimit};
use fairtree::tree::AssocIndex;
use fairtree::usage::{Run, RunState};
use fairtree_model::cluster::{Cluster, ClusterJob, JobPhase};

/// The requested resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Who pays.
    pub assoc: AssocIndex,
    /// Resources, memory in mebibytes.
    pub tres: Vec<(String, u64)>,
    /// How long it runs, seconds.
    pub secs: u32,
    /// The partition, by position; `None`: none is known.
    pub partition: Option<usize>,
    /// The QOS, by position; `None`: none is known.
    pub qos: Option<usize>,
    /// `TRESBillingWeights` instead of the partition's.
    pub weights: Option<Vec<(String, f64)>>,
    /// `UsageFactor` instead of the QOS's.
    pub usage_factor: Option<f64>,
    /// The job that this is, which must not count twice if it runs already.
    pub job: Option<u32>,
}

/// A user or an account above, when the job ends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Its name in reports.
    pub name: String,
    /// True for the user.
    pub is_user: bool,
    /// Its standing now.
    pub now: AssocStanding,
    /// When the job would end, had it not run.
    pub without: AssocStanding,
    /// When the job ends.
    pub with: AssocStanding,
}

/// The cost of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Name of the input.
    pub source: String,
    /// The user who is charged.
    pub user: String,
    /// The partition.
    pub partition: Option<String>,
    /// The QOS.
    pub qos: Option<String>,
    /// How long it runs, seconds.
    pub secs: u32,
    /// The bill.
    pub bill: Bill,
    /// The charge while it runs: `billing * usage_factor * secs`, TRES-seconds.
    pub charged: f64,
    /// The part of `charged` that is left when it ends: usage decays while it runs, or leaves the window.
    pub left_at_end: f64,
    /// When it starts and ends, seconds since 1970; `None` where the input has no times.
    pub times: Option<[i64; 2]>,
    /// The user, then the accounts above up to below the root; none where shares of others are hidden.
    pub effects: Vec<Effect>,
    /// Points that the user's jobs gain, or lose if negative: `PriorityWeightFairshare` times the
    /// difference of the factors; `None`: shares of others are hidden.
    pub fairshare_points: Option<f64>,
    /// `order=`, under which points do not count; `None`: `weighted`.
    pub order: Option<OrderWord>,
    /// How `left_at_end` decays.
    pub decay: UsageDecay,
    /// The assumptions of the answer, one sentence each.
    pub assumptions: Vec<String>,
}

/// Computes what a job costs that starts now.
///
/// # Panics
/// When `request` does not point into this cluster.
pub fn cost(cluster: &Cluster, request: &Request) -> Cost {
    let mut assumptions = cluster.assumptions.clone();
    let bill = bill::of(cluster, request, &mut assumptions);
    let mut without = cluster.clone();
    if let (Some(jobs), Some(own)) = (without.jobs_mut(), request.job) {
        jobs.retain(|job| job.job.id != own);
    }
    let mut with = without.clone();
    if let Err(error) = without.pass(request.secs) {
        assumptions.push(format!("usage stays as it is: {error}"));
    }
    let jobs = Arc::make_mut(with.jobs.get_or_insert_default());
    jobs.push(job(cluster, request, &bill));
    if let Err(error) = with.pass(request.secs) {
        assumptions.push(format!("the job is not charged: {error}"));
    }
    let usage = |of: &Cluster| of.raw()[request.assoc.get()];
    let left_at_end = (usage(&with) - usage(&without)).to_f64();
    without.rank();
    with.rank();
    let factor = |of: &Cluster| of.fairshare[request.assoc.get()].fs_factor.unwrap_or(0.0);
    let weight = f64::from(cluster.config.priority_weight_fairshare);
    if cluster.jobs.is_some() {
        let others = "running jobs continue up to their time limits, and no other job starts";
        assumptions.push(others.to_owned());
    }
    let usage_model = cluster.usage_models()[request.assoc.get()];
    assumptions.extend(policy::assumptions(cluster, request.secs));
    Cost {
        source: cluster.source.clone(),
        user: cluster.name(request.assoc).to_string(),
        partition: request
            .partition
            .map(|at| cluster.partitions[at].name.clone()),
        qos: request.qos.map(|at| cluster.qos[at].name.clone()),
        secs: request.secs,
        charged: bill.billing * bill.usage_factor * f64::from(request.secs),
        left_at_end,
        times: cluster
            .now()
            .zip(with.now())
            .map(|(start, end)| [start, end]),
        effects: match cluster.is_whole() {
            true => effects(cluster, &without, &with, request.assoc),
            false => Vec::new(),
        },
        // 0 minus nothing would be -0.
        fairshare_points: cluster
            .is_whole()
            .then(|| (factor(&with) - factor(&without)) * weight + 0.0),
        order: OrderWord::of(cluster.config.order()),
        decay: UsageDecay::of(
            &cluster.config,
            usage_model,
            request.secs,
            left_at_end,
            cluster.now().and(with.now()),
        ),
        bill,
        assumptions,
    }
}

/// The job as one that runs.
fn job(cluster: &Cluster, request: &Request, bill: &Bill) -> ClusterJob {
    let start = cluster.moment();
    let run = Run {
        state: RunState::default(),
        start_time: start,
        end_time: 0,
        end_time_exp: Some(start + i64::from(request.secs)),
        time_limit: TimeLimit::Minutes(request.secs.div_ceil(60)),
        billable_tres: bill.billing,
        usage_factor: bill.usage_factor,
        charged_until: None,
        passed: None,
        run_secs_renewed: false,
    };
    ClusterJob {
        job: Job {
            assoc: Some(request.assoc),
            ..Job::new(0)
        },
        phase: JobPhase::Running,
        state: "RUNNING".into(),
        user: "".into(),
        account: None,
        submit_time: 0,
        array: None,
        run: Some(Box::new(run)),
        wait: None,
    }
}

fn effects(now: &Cluster, without: &Cluster, with: &Cluster, assoc: AssocIndex) -> Vec<Effect> {
    let all = [now, without, with].map(associations);
    let mut effects = Vec::new();
    for index in now.tree().upward(assoc) {
        let side = |side: usize| all[side][index.get()].clone();
        if let (Some(before), Some(without), Some(with)) = (side(0), side(1), side(2)) {
            effects.push(Effect {
                name: now.name(index).to_string(),
                is_user: now.is_user(index),
                now: before,
                without,
                with,
            });
        }
    }
    effects
}
