//! The jobs of a log on the machine of a site, as the report of a replay takes them.

use fairtree::compat::Compat;
use fairtree::tree::AssocIndex;
use fairtree_model::input::recorded::RecordedJob;
use fairtree_sim::job::Job;
use fairtree_sim::replay::Schedule;
use fairtree_sim::slurm::free::{FairStarts, Ran};
use fairtree_sim::slurm::scene::Scene;
use fairtree_sim::slurm::site::Site;
use fairtree_sim::workload::Workload;

use super::replayed::Replayed;
use super::trial::{owner, ran_secs};

/// A run of a history, as the report of a replay takes it.
pub struct OnSite {
    /// The jobs that ran in the log.
    pub workload: Workload,
    /// Their starts.
    pub replayed: Replayed,
    /// The part of the machine that each account is entitled to, by number of its name.
    pub entitled: Vec<f64>,
    /// Jobs of the log that never ran.
    pub never_started: u64,
}

impl OnSite {
    /// The jobs of a log on a site, and what became of them under Slurm's rules.
    pub fn new(scene: &Scene, log: &[RecordedJob], ran: &Ran, fair: &FairStarts) -> OnSite {
        let machine = &scene.setup.machine;
        let mut workload = Workload::new(machine.cpus());
        let mut starts = Vec::new();
        let mut fair_starts = Vec::new();
        let mut never_started = 0;
        let mut fair = fair.iter().peekable();
        let secs = |ms: i64| ms.div_euclid(1000);
        for (at, (ask, place)) in scene.asks.iter().zip(&scene.places).enumerate() {
            let job = &log[*place];
            let fair_start = fair.next_if(|(job, _)| *job == at);
            let Some(run_secs) = ran_secs(job) else {
                never_started += 1;
                continue;
            };
            fair_starts.extend(fair_start.map(|(_, ms)| (starts.len() as u32, secs(*ms))));
            let partition = &machine.partitions[ask.partitions[0]].name;
            let owner = owner(&mut workload, partition, job);
            workload.owners.push(owner);
            workload.jobs.push(Job {
                submit: secs(job.submit_ms),
                run_secs,
                limit_secs: ask.limit_in(machine, ask.partitions[0]).max(run_secs),
                processors: job.allocated_cpus.max(ask.cpus),
            });
            starts.push(ran.fates[at].start_ms.map(secs));
        }
        let entitled = workload.accounts.names.iter();
        let entitled = entitled.map(|account| part(scene.site(), account));
        OnSite {
            entitled: entitled.collect(),
            replayed: Replayed {
                scheduler: "slurm",
                order: "priority",
                schedule: Schedule {
                    starts,
                    stopped_at: ran.stopped_ms.map(secs),
                },
                fair_starts,
                is_complete: ran.stopped_ms.is_none(),
            },
            workload,
            never_started,
        }
    }
}

/// The part of the machine that the shares of an account and of those above it give.
pub(super) fn part(site: &Site, account: &str) -> f64 {
    let shares = site.tree().norm_shares_on_path(Compat::Documented);
    let index: Option<AssocIndex> = site.account(account);
    index.map_or(0.0, |index| shares[index.get()])
}
