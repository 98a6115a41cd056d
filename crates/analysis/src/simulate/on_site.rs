//! The jobs of a log on the machine of a site, as the report of a replay takes them.

use fairtree::compat::Compat;
use fairtree::tree::AssocIndex;
use fairtree_model::machine::Machine;
use fairtree_sim::job::Job;
use fairtree_sim::replay::Schedule;
use fairtree_sim::slurm::free::Ran;
use fairtree_sim::slurm::history::History;
use fairtree_sim::slurm::site::Site;
use fairtree_sim::workload::{Owner, Workload};

use super::replayed::Replayed;

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
    /// The jobs of `history` and what became of them.
    pub fn new(machine: &Machine, site: &Site, history: &History, ran: &Ran) -> OnSite {
        let mut workload = Workload::new(machine.cpus());
        let mut starts = Vec::new();
        let mut never_started = 0;
        for ((ask, job), fate) in history.asks.iter().zip(&history.jobs).zip(&ran.fates) {
            let Some((from, to)) = job.start_ms.zip(job.end_ms).filter(|(from, to)| to > from)
            else {
                never_started += 1;
                continue;
            };
            let request = &job.request;
            let name = |name: &Option<String>| name.clone().unwrap_or_default();
            let secs = |ms: i64| ms.div_euclid(1000);
            let run_secs = ((to - from + 500) / 1000).max(1);
            workload.owners.push(Owner {
                id: job.id.to_string(),
                user: workload.users.number(&name(&request.user)),
                account: workload.accounts.number(&name(&request.account)),
                partition: workload
                    .partitions
                    .number(&machine.partitions[ask.partitions[0]].name),
                qos: workload.qos.number(&name(&request.qos)),
            });
            workload.jobs.push(Job {
                submit: secs(job.submit_ms),
                run_secs,
                limit_secs: ask.limit_in(machine, ask.partitions[0]).max(run_secs),
                processors: job.allocated_cpus.max(ask.cpus),
            });
            starts.push(fate.start_ms.map(secs));
        }
        let entitled = workload.accounts.names.iter();
        let entitled = entitled.map(|account| part(site, account)).collect();
        OnSite {
            entitled,
            replayed: Replayed {
                scheduler: "slurm",
                order: "priority",
                schedule: Schedule {
                    starts,
                    stopped_at: ran.stopped_ms.map(|ms| ms.div_euclid(1000)),
                },
                fair_starts: Vec::new(),
                is_complete: ran.stopped_ms.is_none(),
            },
            workload,
            never_started,
        }
    }
}

/// The part of the machine that the shares of an account and of those above it give.
fn part(site: &Site, account: &str) -> f64 {
    let shares = site.tree().norm_shares_on_path(Compat::Documented);
    let index: Option<AssocIndex> = site.account(account);
    index.map_or(0.0, |index| shares[index.get()])
}
