//! Who moves: everything before and after, side by side.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::SiteChange;
use super::job_moves::{JobMoves, queues};
use super::meanwhile::Meanwhile;
use super::standing::{AssocStanding, Entry, JobStanding, QueueError, associations};
use crate::explain::line::OrderWord;
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::{AssocName, Cluster};
use fairtree_model::input::slurm::config::hides_jobs;

/// Which way something moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// To an earlier place.
    Up,
    /// To a later place.
    Down,
    /// It stays.
    Stays,
    /// An account is now below a different one: its places are not of one level.
    Moved,
    /// It was not there before.
    New,
    /// It is not there any more.
    Gone,
}

impl Move {
    /// From places, the first being 1.
    pub(super) fn of(before: Option<u64>, after: Option<u64>) -> Move {
        match (before, after) {
            (Some(before), Some(after)) if after < before => Move::Up,
            (Some(before), Some(after)) if after > before => Move::Down,
            (None, Some(_)) => Move::New,
            (Some(_), None) => Move::Gone,
            _ => Move::Stays,
        }
    }
}

/// An account or a user before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AssocMove {
    /// Its name in reports.
    pub name: String,
    /// True for a user, false for an account.
    pub is_user: bool,
    /// Which way it moves.
    #[serde(rename = "move")]
    pub moves: Move,
    /// `None`: it was not there.
    pub before: Option<AssocStanding>,
    /// `None`: it is not there any more.
    pub after: Option<AssocStanding>,
}

impl AssocMove {
    /// The account above, after the change if it is still there.
    pub fn parent(&self) -> &str {
        let side = self.after.as_ref().or(self.before.as_ref());
        side.map_or("", |side| &side.parent)
    }

    /// By how many places; 0 where it was not there on both sides.
    pub fn places(&self) -> u64 {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if self.moves != Move::Moved => {
                let places = before.place.zip(after.place);
                places.map_or(0, |(before, after)| before.abs_diff(after))
            }
            _ => 0,
        }
    }
}

/// A job in one of its partitions and QOS before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobMove<'a> {
    /// Its number.
    pub job_id: u32,
    /// Its user.
    pub user: &'a str,
    /// Its account.
    pub account: Option<&'a str>,
    /// The partition.
    pub partition: Option<&'a str>,
    /// The QOS.
    pub qos: Option<&'a str>,
    /// Which way it moves among the jobs of its partition. A job that is held on one side and not
    /// on the other is new there, or gone.
    #[serde(rename = "move")]
    pub moves: Move,
    /// `None`: it was not there.
    pub before: Option<JobStanding>,
    /// `None`: it is not there any more.
    pub after: Option<JobStanding>,
}

impl JobMove<'_> {
    /// By how many places; 0 where it has none on both sides.
    pub fn places(&self) -> u64 {
        let place = |side: &Option<JobStanding>| side.as_ref().and_then(|side| side.place);
        match (place(&self.before), place(&self.after)) {
            (Some(before), Some(after)) => before.abs_diff(after),
            _ => 0,
        }
    }
}

/// A site before and after changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// Name of the input.
    pub source: String,
    /// The changes in words.
    pub changes: Vec<String>,
    /// The moment of the last pass, and the one after the changes, seconds since 1970; `None`
    /// where the input has no times. Where both sides were simulated, both are the end of the time.
    pub now: Option<[i64; 2]>,
    /// Accounts but the root, in the order of the tree.
    pub accounts: Vec<AssocMove>,
    /// Users, in the order of the tree.
    pub users: Vec<AssocMove>,
    /// The queue in the order of job numbers; `None` where the input knows of no jobs.
    pub jobs: Option<JobMoves>,
    /// The assumptions of the answer, one sentence each.
    pub assumptions: Vec<String>,
    /// Events while time passes, by simulation; `None`: nothing was simulated.
    pub meanwhile: Option<Meanwhile>,
    /// Jobs, and names of accounts and users, that the changes are about.
    #[serde(skip)]
    pub named: Named,
}

/// The subjects of changes: reports show them even if they do not move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named {
    /// Numbers of jobs.
    pub jobs: HashSet<u32>,
    /// Names of accounts and users in reports.
    pub assocs: HashSet<String>,
}

impl Named {
    fn of(before: &Cluster, after: &Cluster, changes: &[SiteChange]) -> Named {
        let mut named = Named::default();
        for change in changes {
            for cluster in [before, after] {
                let who = match change {
                    SiteChange::AddUser { user, account, .. } => Some(format!("{user}@{account}")),
                    SiteChange::AddAccount { account, .. } | SiteChange::Parent { account, .. } => {
                        Some(account.clone())
                    }
                    SiteChange::Remove(who)
                    | SiteChange::Shares(who, _)
                    | SiteChange::AssocPriority(who, _)
                    | SiteChange::Charge(who, _)
                    | SiteChange::ResetUsage(who) => Some(who.clone()),
                    SiteChange::Job(job, _) => {
                        let found = cluster.find_job(*job).ok();
                        named.jobs.extend(found.map(|at| cluster.jobs()[at].job.id));
                        None
                    }
                    SiteChange::Settings(..)
                    | SiteChange::PartitionFactor(..)
                    | SiteChange::QosPriority(..)
                    | SiteChange::UsageFactor(..)
                    | SiteChange::Machine(_)
                    | SiteChange::Scheduler { .. }
                    | SiteChange::Nodes { .. }
                    | SiteChange::After(_) => None,
                };
                let found = who.and_then(|who| cluster.find_any(&who).ok());
                named
                    .assocs
                    .extend(found.map(|at| cluster.name(at).to_string()));
            }
        }
        named
    }
}

/// A side: a cluster, and what is seen of it.
pub(super) struct Seen<'a> {
    /// Names, and the jobs of the queue.
    pub cluster: &'a Cluster,
    /// Its moment, seconds since 1970.
    pub now: Option<i64>,
    /// Standings of all associations, by position.
    pub assocs: Vec<Option<AssocStanding>>,
    /// The queue; `None` where the input knows of no jobs.
    pub queue: Option<Vec<Entry>>,
}

impl<'a> Seen<'a> {
    /// Both sides as they are.
    ///
    /// # Errors
    /// Settings and jobs that cannot be priced.
    pub fn pair(
        before: &'a Cluster,
        after: &'a Cluster,
    ) -> Result<(Seen<'a>, Seen<'a>), QueueError> {
        let [old, new] = match &before.jobs {
            Some(_) => queues(before, after)?.map(Some),
            None => [None, None],
        };
        let seen = |cluster: &'a Cluster, queue| Seen {
            cluster,
            now: cluster.now(),
            assocs: associations(cluster),
            queue,
        };
        Ok((seen(before, old), seen(after, new)))
    }
}

/// Puts both sides together. `passing`: what was assumed of the time that passes.
pub(super) fn moves(
    before: Seen<'_>,
    after: Seen<'_>,
    changes: Vec<SiteChange>,
    passing: Vec<String>,
) -> WhatIf {
    let (old, new) = (before.cluster, after.cluster);
    let mut accounts = Vec::new();
    let mut users = Vec::new();
    for row in assoc_moves((old, before.assocs), (new, after.assocs)) {
        match row.is_user {
            true => users.push(row),
            false => accounts.push(row),
        }
    }
    let queues = before.queue.zip(after.queue);
    WhatIf {
        source: old.source.clone(),
        named: Named::of(old, new, &changes),
        assumptions: assumptions(old, passing),
        changes: changes.iter().map(ToString::to_string).collect(),
        now: before.now.zip(after.now).map(|(a, b)| [a, b]),
        accounts,
        users,
        jobs: queues.map(|(before, after)| JobMoves::new((old, before), (new, after))),
        meanwhile: None,
    }
}

/// An association, and how many before it have the same names: without the column `Partition` a user's
/// associations in an account look alike.
type Key<'a> = (&'a AssocName, usize);

fn keys(names: &[AssocName]) -> Vec<Key<'_>> {
    let mut seen: HashMap<&AssocName, usize> = HashMap::with_capacity(names.len());
    let key = |name| {
        let count = seen.entry(name).or_default();
        *count += 1;
        (name, *count - 1)
    };
    names.iter().map(key).collect()
}

/// All associations but the root: those of after in their order, then those that are gone.
fn assoc_moves(
    (before, old): (&Cluster, Vec<Option<AssocStanding>>),
    (after, new): (&Cluster, Vec<Option<AssocStanding>>),
) -> Vec<AssocMove> {
    let earlier: HashMap<Key<'_>, usize> = keys(&before.names).into_iter().zip(0..).collect();
    let new_keys = keys(&after.names);
    let mut kept = vec![false; old.len()];
    let mut rows = Vec::with_capacity(new.len());
    for (at, standing) in new.into_iter().enumerate() {
        let from = earlier.get(&new_keys[at]).copied();
        if let Some(from) = from {
            kept[from] = true;
        }
        let Some(standing) = standing else { continue };
        let old = from.and_then(|from| old[from].clone());
        rows.push(row(after, at, old, Some(standing)));
    }
    let lost = (0..old.len()).filter(|at| !kept[*at]);
    rows.extend(lost.map(|at| row(before, at, old[at].clone(), None)));
    rows
}

fn row(
    cluster: &Cluster,
    at: usize,
    before: Option<AssocStanding>,
    after: Option<AssocStanding>,
) -> AssocMove {
    let index = AssocIndex::new(at);
    let is_user = cluster.is_user(index);
    let moves = match (&before, &after) {
        (Some(before), Some(after)) if !is_user && before.parent != after.parent => Move::Moved,
        // One that competes on one side alone has no place to move from, or to.
        (Some(before), Some(after)) => match before.place.zip(after.place) {
            Some((before, after)) => Move::of(Some(before), Some(after)),
            None => Move::Stays,
        },
        (before, after) => Move::of(before.as_ref().map(|_| 0), after.as_ref().map(|_| 0)),
    };
    AssocMove {
        is_user,
        name: cluster.name(index).to_string(),
        moves,
        before,
        after,
    }
}

/// Assumptions about time that passes without a simulation.
pub(super) fn without_starts(before: &Cluster, changes: &[SiteChange]) -> Vec<String> {
    let passes = |change: &SiteChange| matches!(change, SiteChange::After(_));
    if !changes.iter().any(passes) {
        return Vec::new();
    }
    let runs = "while the time passes no job starts and none is submitted: running jobs continue up to their \
                time limits, so the queue is the one that waits now";
    vec![match before.jobs {
        Some(_) => runs.to_owned(),
        None => "nothing runs while time passes".to_owned(),
    }]
}

fn assumptions(before: &Cluster, passing: Vec<String>) -> Vec<String> {
    let mut said = before.assumptions.clone();
    let resets = before.config.priority_usage_reset_period;
    let counts_days = !passing.is_empty() && resets != fairtree::config::ResetPeriod::None;
    said.extend(passing);
    if counts_days {
        said.push("PriorityUsageResetPeriod counts days in UTC".to_owned());
    }
    if before.jobs.is_some() {
        said.push(match OrderWord::of(before.config.order()) {
            None => "places are by priority within a partition; PriorityTier, reservations, limits and \
                     backfill are outside of priorities"
                .to_owned(),
            Some(order) => format!(
                "places are those of order={} over the whole site; PriorityTier, reservations, limits and \
                 backfill are outside of it",
                order.word()
            ),
        });
        if hides_jobs(&before.private_data) {
            said.push(
                "PrivateData=jobs hides jobs of others: places are among the jobs that you may see, and are no \
                 places in the queue"
                    .to_owned(),
            );
        }
    }
    said
}
