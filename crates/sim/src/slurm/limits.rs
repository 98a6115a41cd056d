//! Limits of associations and QOS, and what counts towards them.
//!
//! Source: `acct_policy_job_runnable_pre_select` and `..._post_select` of slurmctld. A limit of the
//! QOS of a partition comes before that of the job's QOS, and that before the same one of an
//! association.

use std::collections::HashMap;

use fairtree::tree::{AssocIndex, Tree};
use fairtree_model::machine::{Limits, Machine, QosLimits, Tres};

use super::ask::Ask;
use super::state::Running;

/// The limits of a site.
#[derive(Clone, Debug, Default)]
pub struct SiteLimits {
    /// They are enforced.
    pub enforced: bool,
    /// Limits of each association, by position in the tree.
    pub assocs: Vec<Limits>,
    /// Limits of each QOS.
    pub qos: Vec<QosLimits>,
    /// The QOS of each partition.
    pub partition_qos: Vec<Option<usize>>,
    /// The parent of each association.
    pub parents: Vec<Option<AssocIndex>>,
    /// The account of each association, as a number.
    pub accounts: Vec<u32>,
}

impl SiteLimits {
    /// The parents of a tree.
    pub fn parents(tree: &Tree) -> Vec<Option<AssocIndex>> {
        tree.indices().map(|index| tree.parent(index)).collect()
    }
}

/// Jobs and resources of some running jobs.
#[derive(Clone, Debug, Default)]
struct Sum {
    jobs: u32,
    tres: HashMap<String, u64>,
    /// Resources times minutes of their limits.
    limit_mins: HashMap<String, u64>,
}

impl Sum {
    fn add(&mut self, tres: &[(String, u64)], mins: u64) {
        self.jobs += 1;
        for (name, count) in tres {
            *self.tres.entry(name.clone()).or_default() += count;
            *self.limit_mins.entry(name.clone()).or_default() += count * mins;
        }
    }

    fn take(&mut self, tres: &[(String, u64)], mins: u64) {
        self.jobs = self.jobs.saturating_sub(1);
        for (name, count) in tres {
            for (of, less) in [
                (&mut self.tres, *count),
                (&mut self.limit_mins, count * mins),
            ] {
                let own = of.entry(name.clone()).or_default();
                *own = own.saturating_sub(less);
            }
        }
    }
}

/// Of whom a sum is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Whose {
    Assoc(usize),
    Qos(usize),
    User(usize, u32),
    Account(usize, u32),
}

/// Jobs and resources that count towards limits.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    sums: HashMap<Whose, Sum>,
    limits: std::sync::Arc<SiteLimits>,
}

/// Resources by name: of a run.
fn tres_of(machine: &Machine, running: &Running) -> Vec<(String, u64)> {
    let allocation = &running.allocation;
    let mut tres = vec![
        ("cpu".to_owned(), u64::from(allocation.cpus())),
        ("mem".to_owned(), allocation.memory_mb()),
        ("node".to_owned(), allocation.parts.len() as u64),
    ];
    let mut names: Vec<&str> = Vec::new();
    for part in &allocation.parts {
        let own = machine.nodes[part.node].gres.iter().zip(&part.gres);
        names.extend(
            own.filter(|(_, count)| **count > 0)
                .map(|(gres, _)| gres.name.as_str()),
        );
    }
    names.sort_unstable();
    names.dedup();
    for name in names {
        tres.push((format!("gres/{name}"), allocation.gres(machine, name)));
    }
    tres
}

impl Counters {
    /// Nothing runs; limits are these.
    pub fn new(limits: SiteLimits) -> Counters {
        Counters {
            sums: HashMap::new(),
            limits: std::sync::Arc::new(limits),
        }
    }

    fn all(&self, ask: &Ask, partition: usize) -> Vec<Whose> {
        let mut all = Vec::new();
        let mut assoc = ask.assoc;
        while let Some(index) = assoc {
            all.push(Whose::Assoc(index.get()));
            assoc = self.limits.parents[index.get()];
        }
        let own = self.limits.partition_qos.get(partition).copied().flatten();
        let mut qos = vec![own, ask.qos];
        qos.dedup();
        for qos in qos.into_iter().flatten() {
            all.push(Whose::Qos(qos));
            all.push(Whose::User(qos, ask.user));
            if let Some(assoc) = ask.assoc {
                all.push(Whose::Account(qos, self.limits.accounts[assoc.get()]));
            }
        }
        all
    }

    /// A job starts.
    pub fn start(&mut self, machine: &Machine, ask: &Ask, running: &Running) {
        if !self.limits.enforced {
            return;
        }
        let tres = tres_of(machine, running);
        let mins = minutes(running);
        for whose in self.all(ask, running.partition) {
            self.sums.entry(whose).or_default().add(&tres, mins);
        }
    }

    /// A job ends.
    pub fn end(&mut self, machine: &Machine, ask: &Ask, running: &Running) {
        if !self.limits.enforced {
            return;
        }
        let tres = tres_of(machine, running);
        let mins = minutes(running);
        for whose in self.all(ask, running.partition) {
            self.sums.entry(whose).or_default().take(&tres, mins);
        }
    }

    fn sum(&self, whose: Whose) -> Option<&Sum> {
        self.sums.get(&whose)
    }

    fn jobs(&self, whose: Whose) -> u32 {
        self.sum(whose).map_or(0, |sum| sum.jobs)
    }

    /// The QOS whose limits count, the first one first.
    fn qos(&self, ask: &Ask, partition: usize) -> Vec<usize> {
        let own = self.limits.partition_qos.get(partition).copied().flatten();
        let over = ask
            .qos
            .is_some_and(|qos| self.limits.qos[qos].has("OverPartQOS"));
        let mut both = match over {
            true => vec![ask.qos, own],
            false => vec![own, ask.qos],
        };
        both.dedup();
        both.into_iter().flatten().collect()
    }

    /// The limit at which a job is before nodes are looked for; `None`: at none.
    pub fn before(&self, ask: &Ask, partition: usize) -> Option<&'static str> {
        if !self.limits.enforced {
            return None;
        }
        let (mut group_set, mut jobs_set) = (false, false);
        for qos in self.qos(ask, partition) {
            let limits = &self.limits.qos[qos];
            if let (false, Some(most)) = (group_set, limits.all.group_jobs) {
                group_set = true;
                if self.jobs(Whose::Qos(qos)) >= most {
                    return Some("GrpJobs of the QOS");
                }
            }
            if let Some(most) = limits.user_jobs {
                jobs_set = true;
                if self.jobs(Whose::User(qos, ask.user)) >= most {
                    return Some("MaxJobsPerUser of the QOS");
                }
            }
            if let (Some(most), Some(assoc)) = (limits.account_jobs, ask.assoc) {
                jobs_set = true;
                let account = self.limits.accounts[assoc.get()];
                if self.jobs(Whose::Account(qos, account)) >= most {
                    return Some("MaxJobsPerAccount of the QOS");
                }
            }
        }
        let mut assoc = ask.assoc;
        let mut own_jobs = None;
        while let Some(index) = assoc {
            let limits = &self.limits.assocs[index.get()];
            let running = self.jobs(Whose::Assoc(index.get()));
            if !group_set && limits.group_jobs.is_some_and(|most| running >= most) {
                return Some("GrpJobs of the association");
            }
            // What an account says holds for each of its users who has none.
            own_jobs = own_jobs.or(limits.jobs);
            assoc = self.limits.parents[index.get()];
        }
        if let (false, Some(most), Some(index)) = (jobs_set, own_jobs, ask.assoc) {
            if self.jobs(Whose::Assoc(index.get())) >= most {
                return Some("MaxJobs of the association");
            }
        }
        None
    }

    /// The limit that a job would break with these resources; `None`: none.
    pub fn after(&self, machine: &Machine, ask: &Ask, running: &Running) -> Option<&'static str> {
        if !self.limits.enforced {
            return None;
        }
        let tres = tres_of(machine, running);
        let mins = minutes(running);
        let partition = running.partition;
        let mut set: Vec<(&'static str, String)> = Vec::new();
        for qos in self.qos(ask, partition) {
            let limits = &self.limits.qos[qos];
            let account = ask.assoc.map(|assoc| self.limits.accounts[assoc.get()]);
            let checks = [
                (
                    Some(Whose::Qos(qos)),
                    &limits.all.group_tres,
                    "GrpTRES of the QOS",
                ),
                (
                    Some(Whose::User(qos, ask.user)),
                    &limits.user_tres,
                    "MaxTRESPerUser of the QOS",
                ),
                (
                    account.map(|account| Whose::Account(qos, account)),
                    &limits.account_tres,
                    "MaxTRESPerAccount of the QOS",
                ),
            ];
            for (whose, most, name) in checks {
                let Some(whose) = whose else { continue };
                if self.exceeds(whose, most, &tres, &mut set, name, false, 0) {
                    return Some(name);
                }
            }
            let run_mins = &limits.all.group_run_mins;
            let name = "GrpTRESRunMins of the QOS";
            if self.exceeds(Whose::Qos(qos), run_mins, &tres, &mut set, name, true, mins) {
                return Some(name);
            }
            if above(&limits.all.job_tres, &tres) {
                return Some("MaxTRESPerJob of the QOS");
            }
            if limits
                .least_tres
                .0
                .iter()
                .any(|(name, least)| get(&tres, name) < *least)
            {
                return Some("MinTRESPerJob of the QOS");
            }
            if limits
                .all
                .job_mins
                .is_some_and(|most| mins > u64::from(most))
            {
                return Some("MaxWall of the QOS");
            }
        }
        let mut assoc = ask.assoc;
        while let Some(index) = assoc {
            let limits = &self.limits.assocs[index.get()];
            let whose = Whose::Assoc(index.get());
            let own: Tres = without(&limits.group_tres, &set, "GrpTRES of the QOS");
            let name = "GrpTRES of the association";
            if self.exceeds(whose, &own, &tres, &mut Vec::new(), name, false, 0) {
                return Some(name);
            }
            let own = without(&limits.group_run_mins, &set, "GrpTRESRunMins of the QOS");
            let name = "GrpTRESRunMins of the association";
            if self.exceeds(whose, &own, &tres, &mut Vec::new(), name, true, mins) {
                return Some(name);
            }
            if above(&limits.job_tres, &tres) {
                return Some("MaxTRESPerJob of the association");
            }
            if limits.job_mins.is_some_and(|most| mins > u64::from(most)) {
                return Some("MaxWall of the association");
            }
            assoc = self.limits.parents[index.get()];
        }
        None
    }

    /// Returns true if a sum with these resources is above a limit; notes which are limited.
    #[allow(clippy::too_many_arguments)]
    fn exceeds(
        &self,
        whose: Whose,
        most: &Tres,
        tres: &[(String, u64)],
        set: &mut Vec<(&'static str, String)>,
        name: &'static str,
        run_mins: bool,
        mins: u64,
    ) -> bool {
        most.0.iter().any(|(kind, most)| {
            set.push((name, kind.clone()));
            let sum = self.sum(whose);
            let used = sum.and_then(|sum| match run_mins {
                true => sum.limit_mins.get(kind),
                false => sum.tres.get(kind),
            });
            let factor = if run_mins { mins } else { 1 };
            let more = get(tres, kind) * factor;
            more > 0 && used.copied().unwrap_or(0) + more > *most
        })
    }
}

fn minutes(running: &Running) -> u64 {
    u64::try_from((running.limit_end - running.start) / 60).unwrap_or(0)
}

fn get(tres: &[(String, u64)], name: &str) -> u64 {
    let found = tres.iter().find(|(known, _)| known == name);
    found.map_or(0, |(_, count)| *count)
}

fn above(most: &Tres, tres: &[(String, u64)]) -> bool {
    most.0.iter().any(|(name, most)| get(tres, name) > *most)
}

/// Limits without those that a QOS has set.
fn without(limits: &Tres, set: &[(&str, String)], name: &str) -> Tres {
    let own = limits
        .0
        .iter()
        .filter(|(kind, _)| !set.iter().any(|(known, of)| *known == name && of == kind));
    Tres(own.cloned().collect())
}
