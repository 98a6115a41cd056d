//! The jobs of a queue.

use std::collections::HashMap;

use super::{ClusterJob, JobPhase, PartitionAbout, Tables, kinds};
use crate::input::slurm::job::JobRow;
use crate::input::slurm::snapshot::Queued;
use crate::input::{InputError, LeftOut};
use fairtree::priority::{Job, TimeLimit};
use fairtree::usage::{BillingRule, Phase, Run, RunState, TresKind, billable_tres};
use rustc_hash::FxHashMap;

/// All jobs. Those that wait are as sprio shows them, too: site factor, priority set by hand. One
/// that waits in a partition that is not there goes to `left`.
pub(super) fn of(
    queued: &Queued,
    tables: &mut Tables<'_>,
    partitions: &[PartitionAbout],
    left: &mut LeftOut,
) -> Result<Vec<ClusterJob>, InputError> {
    let shown = shown(queued);
    let bills = Bills::new(queued, partitions);
    let mut jobs = Vec::with_capacity(queued.jobs.len());
    for (place, about) in queued.jobs.iter().enumerate() {
        let phase = JobPhase::of(&about.state).unwrap_or(JobPhase::Ended);
        let row = shown.get(&about.id);
        let row = row.map(|&(listing, row)| {
            let listing = &queued.queue.listings[listing as usize];
            (&*listing.rows, row as usize)
        });
        let job = match tables.whole(place, row) {
            // What a job ran in may have gone since.
            Err(_) if phase != JobPhase::Pending => Job::new(about.id),
            job => match left.keep(job)? {
                Some(job) => job,
                None => continue,
            },
        };
        let run = (phase == JobPhase::Running).then(|| Box::new(bills.run(about)));
        jobs.push(ClusterJob {
            job,
            phase,
            state: about.state.clone(),
            user: about.user.clone(),
            account: about.account.clone(),
            submit_time: about.submit_time,
            array: about.array.clone(),
            run,
            wait: about.wait.clone(),
        });
    }
    left.any_read(jobs.len(), 0)?;
    Ok(jobs)
}

/// Place of the last row of each job in the output of sprio: the listing, and its row.
fn shown(queued: &Queued) -> FxHashMap<u32, (u32, u32)> {
    let mut shown = FxHashMap::default();
    for (listing, at) in queued.queue.listings.iter().zip(0..) {
        for (id, row) in listing.rows.job_ids().zip(0..) {
            if let Some(id) = id {
                shown.insert(id, (at, row));
            }
        }
    }
    shown
}

/// Returns true if a job in a state, in the word of `JobState`, uses resources.
pub fn runs(state: &str) -> bool {
    JobPhase::of(state) == Some(JobPhase::Running)
}

/// Everything that the charge of a job depends on.
struct Bills<'a> {
    queued: &'a Queued,
    partitions: HashMap<&'a str, &'a PartitionAbout>,
    usage_factors: HashMap<&'a str, f64>,
    kinds: Vec<TresKind>,
}

impl<'a> Bills<'a> {
    fn new(queued: &'a Queued, partitions: &'a [PartitionAbout]) -> Bills<'a> {
        let qos = queued.qos.iter();
        Bills {
            queued,
            partitions: partitions.iter().map(|p| (p.name.as_str(), p)).collect(),
            usage_factors: qos.map(|q| (q.name.as_str(), q.usage_factor)).collect(),
            kinds: kinds(&queued.settings.tres),
        }
    }

    /// Use of resources by a running job.
    fn run(&self, about: &JobRow) -> Run {
        let partition = about.partitions.first();
        let partition = partition.and_then(|name| self.partitions.get(&**name));
        let weights = partition.and_then(|partition| partition.billing_weights.as_deref());
        let tres = about.tres.as_deref().unwrap_or_default();
        let count = |name: &String| {
            let found = tres.iter().find(|(known, _)| known == name);
            found.map_or(0, |(_, count)| *count)
        };
        let counts: Vec<u64> = self.queued.settings.tres.iter().map(count).collect();
        let rule = BillingRule::from_flags(&self.queued.settings.config.priority_flags);
        let qos = about.qos.first();
        let usage_factor = qos.and_then(|name| self.usage_factors.get(&**name));
        let end = match about.time_limit {
            TimeLimit::Minutes(minutes) => about.start_time + i64::from(minutes) * 60,
            TimeLimit::Unset | TimeLimit::Unlimited => i64::MAX,
        };
        Run {
            state: RunState {
                phase: match &*about.state {
                    "SUSPENDED" => Phase::Suspended,
                    _ => Phase::Running,
                },
                ..RunState::default()
            },
            start_time: about.start_time,
            end_time: 0,
            end_time_exp: Some(end),
            time_limit: about.time_limit,
            billable_tres: billable_tres(Some(&counts), weights, &self.kinds, rule, about.cpus),
            usage_factor: usage_factor.copied().unwrap_or(1.0),
            charged_until: None,
            passed: None,
            run_secs_renewed: false,
        }
    }
}
