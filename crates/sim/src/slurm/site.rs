//! The site of a simulation: who asks, what they are charged, and which priority a job has.
//!
//! Usage, ranks and prices are those of the engine's pass and of [`Pricer`]; nothing is computed here.

use std::collections::HashMap;

use fairtree::compat::{Compat, Release};
use fairtree::config::{Config, UsageModel};
use fairtree::engine::{self, Accruing, asks_for_queue};
use fairtree::priority::{Index, Job, JobTables, Pricer, PriorityError, Span, TimeLimit};
use fairtree::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};
use fairtree::usage::{
    BillingRule, Decay, HalfLife, Period, Phase, RawUsage, Run, RunState, billable_tres, due,
};
use fairtree_model::cluster::{billing_weights, kinds};
use fairtree_model::input::slurm::conf::Conf;
use fairtree_model::input::slurm::script::{Accounting, AssocAsked};
use fairtree_model::machine::Machine;

use super::ask::Ask;
use super::limits::SiteLimits;
use super::state::Running;
use super::usage::Allocation;

mod of_cluster;
mod tables;

use tables::tables;

/// Names of resources, in Slurm's order.
const TRES: [&str; 4] = ["cpu", "mem", "node", "billing"];

/// Accounts, users, QOS, settings and usage.
#[derive(Clone, Debug)]
pub struct Site {
    config: Config,
    site: engine::Site,
    tables: JobTables,
    assocs: HashMap<(String, String, String), AssocIndex>,
    /// The association of a user's jobs that name no account.
    defaults: HashMap<String, AssocIndex>,
    default_qos: Vec<Option<String>>,
    qos: HashMap<String, usize>,
    usage_factors: Vec<f64>,
    /// `TRESBillingWeights` of each partition.
    billing: Vec<Option<Vec<f64>>>,
    users: HashMap<String, u32>,
    last_ran: Option<i64>,
    /// Runs that end between passes are charged at their end.
    charges_ends: bool,
    /// Limits, for [`super::limits::Counters`].
    pub limits: SiteLimits,
}

/// A priority that cannot be computed.
#[derive(Debug)]
pub struct Unpriced(pub String);

impl From<PriorityError> for Unpriced {
    fn from(error: PriorityError) -> Unpriced {
        Unpriced(error.to_string())
    }
}

impl Site {
    /// The site of a configuration. Users that the accounting does not know are added with one
    /// share, below their account, which is added too: `extra` has account and user of all jobs.
    ///
    /// # Errors
    /// Weights of billing or of priorities that name unknown resources.
    pub fn new(
        conf: &Conf,
        release: Option<Release>,
        machine: &Machine,
        accounting: &Accounting,
        extra: impl Iterator<Item = (String, String)>,
    ) -> Result<Site, Unpriced> {
        let config = settings(conf, release);
        let ours = is_ours(conf);
        let mut rows = accounting.assocs.clone();
        add_unknown(&mut rows, extra);
        let tree = tree(&rows).map_err(|error| Unpriced(error.to_string()))?;
        if config.usage() != UsageModel::HalfLife {
            let usage = config.usage();
            return Err(Unpriced(format!(
                "usage={usage} is not simulated, a half-life only"
            )));
        }
        let usage = HalfLife::of(&config, RawUsage::new(&tree), None);
        let mut names: Vec<String> = TRES.iter().map(|name| (*name).to_owned()).collect();
        for gres in machine.nodes.iter().flat_map(|node| &node.gres) {
            let name = format!("gres/{}", gres.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut site = Site {
            tables: tables(conf, machine, &rows, &accounting.qos, names.clone()),
            site: engine::Site::new(tree, Box::new(usage), 0),
            assocs: HashMap::new(),
            defaults: HashMap::new(),
            default_qos: rows.iter().map(|row| row.default_qos.clone()).collect(),
            qos: HashMap::new(),
            usage_factors: accounting
                .qos
                .iter()
                .map(|qos| qos.row.usage_factor)
                .collect(),
            billing: Vec::new(),
            users: HashMap::new(),
            last_ran: None,
            charges_ends: machine.scheduling.enforces_limits || ours,
            limits: SiteLimits::default(),
            config,
        };
        for (at, qos) in accounting.qos.iter().enumerate() {
            site.qos.insert(qos.row.name.clone(), at);
        }
        for (at, row) in rows.iter().enumerate() {
            let index = AssocIndex::new(at);
            let user = row.row.user.clone().unwrap_or_default();
            let partition = row.row.partition.clone().unwrap_or_default();
            site.assocs
                .insert((row.row.account.clone(), user.clone(), partition), index);
            if row.is_default && !user.is_empty() {
                site.defaults.insert(user, index);
            }
        }
        for line in &conf.partitions {
            let weights = line.tres_billing_weights.as_deref();
            let weights = weights
                .map(|text| billing_weights(&names, text))
                .transpose();
            let weights = weights.map_err(|error| {
                let what = format!("TRESBillingWeights of partition {}", line.name);
                Unpriced(error.of(what).to_string())
            });
            site.billing.push(weights?);
        }
        site.limits = limits(&site, &rows, accounting, machine);
        // Weights that name nothing are found before the first pass.
        Pricer::new(&site.config, &site.tables, 0)?;
        Ok(site)
    }

    /// Seconds between two passes.
    pub fn period(&self) -> i64 {
        i64::from(self.config.priority_calc_period_secs).max(1)
    }

    /// What is left of usage after some seconds, 0 to 1.
    pub fn decayed(&self, secs: i64) -> f64 {
        let half_life = self.config.priority_decay_half_life_secs;
        Decay::new(half_life, self.config.compat).factor(secs)
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        self.site.tree()
    }

    /// Settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Number of a user.
    pub fn user(&mut self, name: &str) -> u32 {
        let next = self.users.len() as u32;
        *self.users.entry(name.to_owned()).or_insert(next)
    }

    /// The association of a job.
    pub fn assoc(&self, account: &str, user: &str, partition: &str) -> Option<AssocIndex> {
        let key = |account: &str, partition: &str| {
            (
                account.to_lowercase(),
                user.to_owned(),
                partition.to_owned(),
            )
        };
        if account.is_empty() {
            return self.defaults.get(user).copied();
        }
        let own = self.assocs.get(&key(account, partition));
        own.or_else(|| self.assocs.get(&key(account, ""))).copied()
    }

    /// The tables of priorities.
    pub fn tables(&self) -> &JobTables {
        &self.tables
    }

    /// The association of an account.
    pub fn account(&self, name: &str) -> Option<AssocIndex> {
        let key = (name.to_lowercase(), String::new(), String::new());
        self.assocs.get(&key).copied()
    }

    /// The QOS of a job: its own, or the association's, or `normal`.
    pub fn qos(&self, name: Option<&str>, assoc: Option<AssocIndex>) -> Option<usize> {
        let mut way = self.tree().upward(assoc);
        let default = way.find_map(|index| self.default_qos[index.get()].as_deref());
        let name = name.or(default).unwrap_or("normal");
        self.qos.get(&name.to_lowercase()).copied()
    }

    /// Runs a pass at `now`: charges the running jobs, and ranks. `waiting` is asked for by some
    /// policies: rows of [`Site::job`], in the order of the job list.
    pub fn pass(
        &mut self,
        now: i64,
        machine: &Machine,
        asks: &[Ask],
        running: &[Running],
        waiting: &[Job],
    ) {
        let mut order: Vec<&Running> = running.iter().collect();
        order.sort_by_key(|one| asks[one.job].id);
        let accruing = order.iter().filter_map(|one| {
            Some(Accruing {
                job: asks[one.job].id,
                assoc: asks[one.job].assoc?,
                run: self.run(machine, asks, one, None),
                at_end: false,
            })
        });
        let mut accruing: Vec<Accruing> = accruing.collect();
        let queue = if asks_for_queue(&self.config) {
            waiting
        } else {
            &[]
        };
        let factors = &mut self.tables.assocs;
        let site = &mut self.site;
        if self.last_ran.is_none() {
            site.set_last_reset(now);
        }
        let outcome = site.pass(&self.config, &mut accruing, queue, now, factors, &mut ());
        self.last_ran = Some(outcome.last_ran);
    }

    /// Charges the end of a run.
    pub fn charge_end(&mut self, machine: &Machine, asks: &[Ask], running: &Running, end: i64) {
        let Some(assoc) = asks[running.job].assoc.filter(|_| self.charges_ends) else {
            return;
        };
        let run = self.run(machine, asks, running, Some(end));
        let period = Period::between_passes(self.last_ran, end);
        if let Some(due) = due(self.config.compat, &run, &period, true) {
            let used = due.used(&run, &[]);
            // A charge that is NaN or infinite changes nothing, as in a pass.
            let _ = self
                .site
                .edit_usage(|tree, model| model.charge(tree, assoc, &used));
        }
    }

    fn run(&self, machine: &Machine, asks: &[Ask], one: &Running, end: Option<i64>) -> Run {
        let ask = &asks[one.job];
        let factor = ask.qos.map_or(1.0, |qos| self.usage_factors[qos]);
        let mins = (one.limit_end - one.start) / 60;
        Run {
            state: RunState {
                phase: if end.is_some() {
                    Phase::Finished
                } else {
                    Phase::Running
                },
                ..RunState::default()
            },
            start_time: one.start,
            end_time: end.unwrap_or(one.limit_end),
            end_time_exp: Some(one.limit_end),
            time_limit: TimeLimit::Minutes(u32::try_from(mins).unwrap_or(u32::MAX)),
            billable_tres: self.billing_of(machine, one.partition, &one.allocation),
            usage_factor: factor,
            charged_until: None,
            passed: None,
            run_secs_renewed: false,
        }
    }

    /// Billing TRES of resources in a partition.
    fn billing_of(&self, machine: &Machine, partition: usize, allocation: &Allocation) -> f64 {
        let Some(Some(weights)) = self.billing.get(partition) else {
            return f64::from(allocation.cpus());
        };
        let names = &self.tables.tres_names;
        let counts: Vec<u64> = names
            .iter()
            .map(|name| match name.as_str() {
                "cpu" => u64::from(allocation.cpus()),
                "mem" => allocation.memory_mb(),
                "node" => allocation.parts.len() as u64,
                name => match name.strip_prefix("gres/") {
                    Some(name) => allocation.gres(machine, name),
                    None => 0,
                },
            })
            .collect();
        let rule = BillingRule::from_flags(&self.config.priority_flags);
        billable_tres(
            Some(&counts),
            Some(weights),
            &kinds(names),
            rule,
            allocation.cpus(),
        )
    }

    /// The engine's row of a job in one of its partitions, with the CPUs that its size counts. `tres` is where its
    /// counts go.
    pub fn job(
        &self,
        machine: &Machine,
        ask: &Ask,
        partition: usize,
        (accrue, size_cpus): (i64, u32),
        tres: &mut Vec<u64>,
    ) -> Job {
        let start = Index::new(tres.len());
        let nodes = ask.least_nodes;
        let memory = match ask.memory_in(machine, partition) {
            Some(fairtree_model::machine::Memory::Cpu(mb)) => mb * u64::from(ask.cpus),
            Some(fairtree_model::machine::Memory::Node(mb)) => mb * u64::from(nodes),
            None => 0,
        };
        for name in &self.tables.tres_names {
            tres.push(match name.as_str() {
                "cpu" => u64::from(ask.cpus),
                "mem" => memory,
                "node" => u64::from(nodes),
                name => {
                    let own = ask
                        .gres
                        .iter()
                        .filter(|gres| name == format!("gres/{}", gres.name));
                    own.map(|gres| {
                        let times = if gres.in_all { 1 } else { nodes };
                        u64::from(gres.count * times)
                    })
                    .sum()
                }
            });
        }
        Job {
            id: ask.id,
            assoc: ask.assoc,
            partition: Some(Index::new(partition)),
            qos: ask.qos.map(Index::new),
            partitions: Span::default(),
            qos_list: Span::default(),
            accrue_time: accrue,
            cpus: size_cpus,
            nodes,
            time_limit: match ask.limit_secs {
                Some(secs) => TimeLimit::Minutes(u32::try_from(secs / 60).unwrap_or(u32::MAX)),
                None => TimeLimit::Unset,
            },
            nice: ask.nice,
            site_factor: 0,
            tres: Some(start),
            priority: 1,
            direct: false,
        }
    }

    /// Priorities of jobs at `now`, with the fair-share factors of the last pass.
    ///
    /// # Errors
    /// Rows that cannot be priced.
    pub fn prices(&self, now: i64, jobs: &[Job], tres: &[u64]) -> Result<Vec<u32>, Unpriced> {
        let pricer = Pricer::new(&self.config, &self.tables, now)?.with_job_counts(tres);
        Ok(jobs.iter().map(|job| pricer.price(job).priority).collect())
    }
}

/// Priority settings in force: of another plugin than ours, they are those of Slurm's own.
pub fn settings(conf: &Conf, release: Option<Release>) -> Config {
    let mut config = conf.config.clone();
    if !is_ours(conf) {
        config.compat = Compat::Slurm(release.unwrap_or(Release::V22_05_8));
    }
    config
}

fn is_ours(conf: &Conf) -> bool {
    conf.priority_type.as_deref() == Some("priority/fairtree")
}

/// Adds the associations of jobs that are not there.
pub(super) fn add_unknown(
    rows: &mut Vec<AssocAsked>,
    extra: impl Iterator<Item = (String, String)>,
) {
    let mut known: HashMap<(String, String), bool> = HashMap::new();
    for row in rows.iter() {
        let user = row.row.user.clone().unwrap_or_default();
        known.insert((row.row.account.clone(), user), true);
    }
    let row = |account: &str, user: Option<&str>| {
        let mut row = rows_like();
        row.row.account = account.to_owned();
        row.row.user = user.map(str::to_owned);
        row.row.parent = user.is_none().then(|| "root".to_owned());
        row
    };
    for (account, user) in extra {
        let account = account.to_lowercase();
        if account.is_empty() || user.is_empty() {
            continue;
        }
        let key = |user: &str| (account.clone(), user.to_owned());
        if known.insert(key(""), true).is_none() {
            rows.push(row(&account, None));
        }
        if known.insert(key(&user), true).is_none() {
            rows.push(row(&account, Some(&user)));
        }
    }
}

fn rows_like() -> AssocAsked {
    Accounting::default().assocs.swap_remove(0)
}

fn tree(rows: &[AssocAsked]) -> Result<Tree, fairtree::tree::TreeError> {
    let number = |at: usize| at as u32 + 1;
    let mut accounts: HashMap<&str, u32> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        if row.row.user.is_none() {
            accounts.insert(&row.row.account, number(at));
        }
    }
    Tree::from_rows(rows.iter().enumerate().map(|(at, row)| {
        let is_user = row.row.user.is_some();
        let above = match (&row.row.parent, is_user) {
            (_, true) => accounts.get(row.row.account.as_str()),
            (Some(parent), false) => accounts.get(parent.as_str()),
            (None, false) => None,
        };
        Assoc {
            id: number(at),
            parent: above.copied(),
            kind: if is_user {
                AssocKind::User
            } else {
                AssocKind::Account
            },
            shares: match row.row.shares {
                Shares::Raw(count) => Shares::Raw(count),
                Shares::Parent => Shares::Parent,
            },
        }
    }))
}

fn limits(
    site: &Site,
    rows: &[AssocAsked],
    accounting: &Accounting,
    machine: &Machine,
) -> SiteLimits {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let accounts = rows.iter().map(|row| {
        let next = numbers.len() as u32;
        *numbers.entry(row.row.account.as_str()).or_insert(next)
    });
    let accounts = accounts.collect();
    let of_partition = machine.partitions.iter().map(|partition| {
        let name = partition.qos.as_ref()?.to_lowercase();
        site.qos.get(&name).copied()
    });
    SiteLimits {
        enforced: machine.scheduling.enforces_limits,
        assocs: rows.iter().map(|row| row.limits.clone()).collect(),
        qos: accounting
            .qos
            .iter()
            .map(|qos| qos.limits.clone())
            .collect(),
        partition_qos: of_partition.collect(),
        parents: SiteLimits::parents(site.tree()),
        accounts,
    }
}
