//! Limits of associations and QOS, and what counts towards them.
//!
//! Source: `acct_policy_job_runnable_pre_select` and `..._post_select` of slurmctld. A limit of the
//! QOS of a partition comes before that of the job's QOS, and that before the same one of an
//! association.

mod sums;

use std::collections::HashMap;

use fairtree::tree::{AssocIndex, Tree};
use fairtree_model::machine::{Limits, Machine, QosLimits, Tres};

use super::ask::Ask;
use super::state::Running;
use super::usage::Allocation;
use sums::{Sum, Used};

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

    /// Returns true if any limit is on minutes that were used.
    fn has_minutes(&self) -> bool {
        let qos = self.qos.iter().map(|qos| &qos.all);
        let mut all = self.assocs.iter().chain(qos);
        all.any(|limits| !limits.group_mins.is_empty() || limits.group_wall_mins.is_some())
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
    /// What was used; empty where there is no limit on minutes.
    used: HashMap<Whose, Used>,
    /// The moment up to which runs are in `used`, seconds since 1970.
    used_until: i64,
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
            used: HashMap::new(),
            used_until: i64::MIN,
            limits: std::sync::Arc::new(limits),
        }
    }

    /// Seconds since the last pass; 0 before the first.
    pub fn since_pass(&self, now: i64) -> i64 {
        match self.used_until {
            i64::MIN => 0,
            last => now - last,
        }
    }

    /// A pass at `now`: what was used before decays by `factor`, and the runs since the last pass are
    /// added.
    pub fn pass(
        &mut self,
        machine: &Machine,
        asks: &[Ask],
        running: &[Running],
        now: i64,
        factor: f64,
    ) {
        if !self.limits.enforced || !self.limits.has_minutes() {
            return;
        }
        debug_assert!((0.0..=1.0).contains(&factor), "a factor of decay");
        for (whose, used) in &mut self.used {
            let keeps = matches!(whose, Whose::Qos(qos) if self.limits.qos[*qos].has("NoDecay"));
            used.decay(if keeps { 1.0 } else { factor });
        }
        for one in running {
            self.use_until(machine, asks, one, now);
        }
        self.used_until = now;
    }

    /// Adds a run since the last pass to what was used.
    pub fn use_until(&mut self, machine: &Machine, asks: &[Ask], running: &Running, now: i64) {
        if !self.limits.enforced || !self.limits.has_minutes() {
            return;
        }
        let secs = now - running.start.max(self.used_until);
        if secs <= 0 {
            return;
        }
        let tres = tres_of(machine, running);
        for whose in self.all(&asks[running.job], running.partition) {
            if matches!(whose, Whose::Assoc(_) | Whose::Qos(_)) {
                self.used.entry(whose).or_default().add(&tres, secs as f64);
            }
        }
    }

    /// The limit on minutes that is reached; those of the QOS come first.
    fn minutes_reached(&self, ask: &Ask, partition: usize) -> Option<&'static str> {
        if self.used.is_empty() {
            return None;
        }
        for qos in self.qos(ask, partition) {
            let used = self.used.get(&Whose::Qos(qos));
            let reached = used.and_then(|used| used.reaches(&self.limits.qos[qos].all));
            if let Some(limit) = reached {
                return Some(match limit {
                    "GrpWall" => "GrpWall of the QOS",
                    _ => "GrpTRESMins of the QOS",
                });
            }
        }
        let mut assoc = ask.assoc;
        while let Some(index) = assoc {
            let used = self.used.get(&Whose::Assoc(index.get()));
            let limits = &self.limits.assocs[index.get()];
            if let Some(limit) = used.and_then(|used| used.reaches(limits)) {
                return Some(match limit {
                    "GrpWall" => "GrpWall of the association",
                    _ => "GrpTRESMins of the association",
                });
            }
            assoc = self.limits.parents[index.get()];
        }
        None
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
        if let Some(limit) = self.minutes_reached(ask, partition) {
            return Some(limit);
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
            if above_on_a_node(machine, &limits.all.node_tres, running) {
                return Some("MaxTRESPerNode of the QOS");
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
            if above_on_a_node(machine, &limits.node_tres, running) {
                return Some("MaxTRESPerNode of the association");
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

/// Returns true if a job has more than a limit on one of its nodes.
fn above_on_a_node(machine: &Machine, most: &Tres, running: &Running) -> bool {
    if most.is_empty() {
        return false;
    }
    running.allocation.parts.iter().any(|part| {
        let alone = Running {
            allocation: Allocation {
                parts: vec![part.clone()],
                whole: running.allocation.whole,
            },
            ..running.clone()
        };
        above(most, &tres_of(machine, &alone))
    })
}

/// Limits without those that a QOS has set.
fn without(limits: &Tres, set: &[(&str, String)], name: &str) -> Tres {
    let own = limits
        .0
        .iter()
        .filter(|(kind, _)| !set.iter().any(|(known, of)| *known == name && of == kind));
    Tres(own.cloned().collect())
}

#[cfg(test)]
mod tests;
