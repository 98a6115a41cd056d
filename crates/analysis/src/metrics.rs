//! Shares, use, factors and the queue as families of numbers that a monitoring system stores.
//!
//! [`families`] is the one place where names, labels and help texts are decided; the command writes them to
//! a file, the service serves the same. These are gauges of one moment. Accounts have one series each; users
//! have none unless a number of them is asked for, so that the series do not grow with a site. Counters are
//! of programs that stay ([`Kind::Counter`]).

use std::collections::HashMap;

use crate::what_if::standing::{AssocStanding, Entry, Points, QueueError, associations, queue};
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::{Cluster, JobPhase};

/// The beginning of every name.
const PREFIX: &str = "fairtree_";

/// The meaning of the numbers of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers of one moment.
    Gauge,
    /// Sums that only rise, until their program starts anew; names end in `_total`.
    Counter,
}

/// A family: a name, and its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Name, with the unit at its end.
    pub name: String,
    /// Gauges or counters.
    pub kind: Kind,
    /// The meaning in one sentence.
    pub help: &'static str,
    /// Samples in the order of the site.
    pub samples: Vec<Sample>,
}

/// A number with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Names and values of labels; the same names in a family.
    pub labels: Vec<(&'static str, String)>,
    /// The number; may be infinite.
    pub value: f64,
}

/// Facts beside the cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// `ClusterName`, a label of every sample; empty where it is not known.
    pub cluster: String,
    /// When the numbers were taken, seconds since 1970; `None`: not known.
    pub taken: Option<i64>,
    /// Now, seconds since 1970.
    pub now: i64,
    /// Number of users with series of their own, those with the most usage.
    pub top_users: usize,
}

/// Families under construction.
#[derive(Debug)]
pub struct Builder {
    cluster: String,
    families: Vec<Family>,
}

impl Builder {
    /// No families yet. `cluster`: a label of every sample; empty where it is not known.
    pub fn new(cluster: &str) -> Builder {
        Builder {
            cluster: cluster.to_owned(),
            families: Vec::new(),
        }
    }

    /// Begins a family of gauges; `name` is without the prefix of all names.
    pub fn family(&mut self, name: &str, help: &'static str) {
        self.families.push(Family {
            name: format!("{PREFIX}{name}"),
            kind: Kind::Gauge,
            help,
            samples: Vec::new(),
        });
    }

    /// Begins a family of counters; `name` ends in `_total`.
    pub fn counter(&mut self, name: &str, help: &'static str) {
        self.family(name, help);
        if let Some(family) = self.families.last_mut() {
            family.kind = Kind::Counter;
        }
    }

    /// The families that have samples.
    pub fn finish(mut self) -> Vec<Family> {
        self.families.retain(|family| !family.samples.is_empty());
        self.families
    }

    /// A sample of the last family; nothing before the first one.
    pub fn add(&mut self, labels: Vec<(&'static str, String)>, value: f64) {
        let mut all = vec![("cluster", self.cluster.clone())];
        all.extend(labels);
        if let Some(family) = self.families.last_mut() {
            family.samples.push(Sample { labels: all, value });
        }
    }

    /// A family of one gauge.
    pub fn one(&mut self, name: &str, help: &'static str, value: f64) {
        self.family(name, help);
        self.add(Vec::new(), value);
    }
}

/// All families of a cluster; those without a sample are left out.
///
/// # Errors
/// Settings and jobs that cannot be priced or ordered.
pub fn families(cluster: &Cluster, about: &About) -> Result<Vec<Family>, QueueError> {
    let mut out = Builder::new(&about.cluster);
    out.family(
        "build_info",
        "Version of fairtree that computed the numbers; the value is 1.",
    );
    let version = env!("CARGO_PKG_VERSION").to_owned();
    out.add(vec![("version", version)], 1.0);
    up(true, &mut out);
    age(about, &mut out);
    if let Some(pass) = cluster.now() {
        out.one(
            "last_pass_timestamp_seconds",
            "The last pass of slurmctld's priority plugin, seconds since 1970.",
            pass as f64,
        );
    }
    out.one(
        "half_life_seconds",
        "PriorityDecayHalfLife; 0: usage does not decay.",
        f64::from(cluster.config.priority_decay_half_life_secs),
    );
    let standings = associations(cluster);
    accounts(cluster, &standings, &mut out);
    if cluster.jobs.is_some() {
        // Waits are as of the answers, which may be old.
        let asked = about.taken.unwrap_or(about.now);
        jobs(cluster, asked, &queue(cluster)?, &mut out);
    }
    users(cluster, &standings, about.top_users, &mut out);
    Ok(out.finish())
}

/// Adds the family that says if there are numbers.
pub fn up(up: bool, out: &mut Builder) {
    let help = "1: the numbers could be read and computed.";
    out.one("up", help, f64::from(u8::from(up)));
}

/// Adds the moment and the age of the answers of Slurm; nothing where `about` does not know the moment.
pub fn age(about: &About, out: &mut Builder) {
    let Some(taken) = about.taken else { return };
    out.one(
        "capture_timestamp_seconds",
        "When Slurm was asked, seconds since 1970.",
        taken as f64,
    );
    out.one(
        "capture_age_seconds",
        "Age of the answers of Slurm when these numbers were written.",
        about.now.saturating_sub(taken).max(0) as f64,
    );
}

/// Positions of accounts below the root with their standings.
fn below_root<'a>(
    cluster: &'a Cluster,
    standings: &'a [Option<AssocStanding>],
) -> impl Iterator<Item = (AssocIndex, &'a AssocStanding)> + Clone {
    let all = standings.iter().enumerate();
    all.filter_map(|(at, standing)| {
        let index = AssocIndex::new(at);
        let standing = standing.as_ref()?;
        (!cluster.is_user(index)).then_some((index, standing))
    })
}

fn account_labels(cluster: &Cluster, at: AssocIndex) -> Vec<(&'static str, String)> {
    let parent = cluster.tree().parent(at);
    let parent = parent.map_or(String::new(), |at| cluster.name(at).account.clone());
    vec![
        ("account", cluster.name(at).account.clone()),
        ("parent", parent),
    ]
}

fn accounts(cluster: &Cluster, standings: &[Option<AssocStanding>], out: &mut Builder) {
    type Of = fn(&AssocStanding) -> Option<f64>;
    const FAMILIES: [(&str, &str, Of); 7] = [
        (
            "account_shares",
            "Raw shares; none for FairShare=parent.",
            |s| s.raw_shares.map(f64::from),
        ),
        (
            "account_due_level_ratio",
            "Part of the shares among the account and its siblings, 0 to 1.",
            |s| Some(s.norm_shares),
        ),
        (
            "account_due_cluster_ratio",
            "Part of the whole cluster that the shares give, 0 to 1.",
            |s| Some(s.share_of_whole),
        ),
        (
            "account_usage_tres_seconds",
            "Decayed usage of the account with all below it, TRES-seconds.",
            |s| Some(s.raw_usage),
        ),
        (
            "account_used_ratio",
            "Effective usage: part of what the account above has used, 0 to 1.",
            |s| Some(s.effective_usage),
        ),
        (
            "account_used_to_due_ratio",
            "Used over due: 1 is what is due, above 1 is more; none without shares.",
            |s| s.used_ratio,
        ),
        (
            "account_level_fairshare_ratio",
            "LevelFS, due over used: +Inf where nothing was used; Fair Tree only.",
            |s| s.level_fs,
        ),
    ];
    for (name, help, of) in FAMILIES {
        out.family(name, help);
        for (at, standing) in below_root(cluster, standings) {
            if let Some(value) = of(standing) {
                out.add(account_labels(cluster, at), value);
            }
        }
    }
    let factors = factors(cluster);
    for (name, help, which) in [
        (
            "account_factor_min_ratio",
            "The lowest fair-share factor of its users, 0 to 1.",
            0,
        ),
        (
            "account_factor_max_ratio",
            "The highest fair-share factor of its users, 0 to 1.",
            1,
        ),
    ] {
        out.family(name, help);
        for (at, _) in below_root(cluster, standings) {
            if let Some(factors) = factors[at.get()] {
                out.add(account_labels(cluster, at), factors[which]);
            }
        }
    }
    let users = (0..cluster.tree().len()).filter(|at| cluster.is_user(AssocIndex::new(*at)));
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for factor in users.filter_map(|at| cluster.fairshare[at].fs_factor) {
        *counts.entry(factor.to_bits()).or_default() += 1;
    }
    let tied = counts.values().filter(|count| **count > 1).sum::<u64>();
    out.one(
        "tied_users",
        "Users whose fair-share factor is that of another user.",
        tied as f64,
    );
}

/// Lowest and highest factor of the users below each association.
fn factors(cluster: &Cluster) -> Vec<Option<[f64; 2]>> {
    let mut found: Vec<Option<[f64; 2]>> = vec![None; cluster.tree().len()];
    for &at in cluster.tree().parents_first().iter().rev() {
        if cluster.is_user(at) {
            found[at.get()] = cluster.fairshare[at.get()].fs_factor.map(|own| [own, own]);
        }
        let (Some([low, high]), Some(parent)) = (found[at.get()], cluster.tree().parent(at)) else {
            continue;
        };
        let above = found[parent.get()].get_or_insert([low, high]);
        *above = [above[0].min(low), above[1].max(high)];
    }
    found
}

/// Waiting and running jobs of one account with all below it.
#[derive(Clone, Copy, Default)]
struct Counts {
    pending: u64,
    held: u64,
    running: u64,
    oldest_wait: i64,
}

fn jobs(cluster: &Cluster, now: i64, entries: &[Entry], out: &mut Builder) {
    let mut counts = vec![Counts::default(); cluster.tree().len()];
    for job in cluster.jobs() {
        for at in cluster.tree().upward(job.job.assoc) {
            let own = &mut counts[at.get()];
            match job.phase {
                JobPhase::Pending if job.job.priority == 0 => own.held += 1,
                JobPhase::Pending => {
                    own.pending += 1;
                    if job.submit_time > 0 {
                        let waited = now.saturating_sub(job.submit_time);
                        own.oldest_wait = own.oldest_wait.max(waited);
                    }
                }
                JobPhase::Running => own.running += 1,
                JobPhase::Ended => {}
            }
        }
    }
    type Of = fn(&Counts) -> u64;
    const FAMILIES: [(&str, &str, Of); 4] = [
        (
            "account_pending_jobs",
            "Jobs of the account and all below it that wait and are not held.",
            |counts| counts.pending,
        ),
        (
            "account_held_jobs",
            "Jobs of the account and all below it that are held.",
            |counts| counts.held,
        ),
        (
            "account_running_jobs",
            "Jobs of the account and all below it that run.",
            |counts| counts.running,
        ),
        (
            "account_oldest_wait_seconds",
            "Time from the submission of the oldest job that waits and is not held to when Slurm was asked; \
             0 without one.",
            |counts| u64::try_from(counts.oldest_wait).unwrap_or(0),
        ),
    ];
    for (name, help, of) in FAMILIES {
        out.family(name, help);
        for (at, own) in counts.iter().enumerate() {
            let at = AssocIndex::new(at);
            if !cluster.is_user(at) && cluster.tree().parent(at).is_some() {
                out.add(account_labels(cluster, at), of(own) as f64);
            }
        }
    }
    points(entries, out);
}

/// Points of each factor over the queue: which decide, and how far jobs are apart.
fn points(entries: &[Entry], out: &mut Builder) {
    type Of = fn(&Points) -> f64;
    const FACTORS: [(&str, Of); 9] = [
        ("age", |points| points.age),
        ("assoc", |points| points.assoc),
        ("fairshare", |points| points.fairshare),
        ("jobsize", |points| points.job_size),
        ("partition", |points| points.partition),
        ("qos", |points| points.qos),
        ("tres", |points| points.tres),
        ("site", |points| f64::from(points.site)),
        ("nice", |points| -f64::from(points.nice)),
    ];
    out.family(
        "priority_points",
        "Points of a factor over the jobs that wait and are not held: least, mean and most.",
    );
    let waiting = entries.iter().filter(|entry| entry.standing.priority > 0);
    let waiting: Vec<&Points> = waiting.map(|entry| &entry.standing.points).collect();
    if waiting.is_empty() {
        return;
    }
    for (factor, of) in FACTORS {
        let values = waiting.iter().map(|points| of(points));
        let (mut least, mut most, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for value in values {
            least = least.min(value);
            most = most.max(value);
            sum += value;
        }
        for (stat, value) in [
            ("min", least),
            ("mean", sum / waiting.len() as f64),
            ("max", most),
        ] {
            let labels = vec![("factor", factor.to_owned()), ("stat", stat.to_owned())];
            out.add(labels, value);
        }
    }
}

/// The users with the most usage.
fn users(cluster: &Cluster, standings: &[Option<AssocStanding>], top: usize, out: &mut Builder) {
    let all = standings.iter().enumerate();
    let mut users: Vec<(AssocIndex, &AssocStanding)> = all
        .filter_map(|(at, standing)| Some((AssocIndex::new(at), standing.as_ref()?)))
        .filter(|(at, _)| cluster.is_user(*at))
        .collect();
    let left_out = users.len().saturating_sub(top);
    out.one(
        "users_without_series",
        "Associations of users that have no series of their own.",
        left_out as f64,
    );
    users.sort_by(|(a, one), (b, other)| {
        let by_use = other.raw_usage.total_cmp(&one.raw_usage);
        by_use.then_with(|| a.get().cmp(&b.get()))
    });
    users.truncate(top);
    users.sort_by_key(|(at, _)| at.get());
    type Of = fn(&AssocStanding) -> Option<f64>;
    const FAMILIES: [(&str, &str, Of); 2] = [
        (
            "user_usage_tres_seconds",
            "Decayed usage of a user in an account, TRES-seconds.",
            |s| Some(s.raw_usage),
        ),
        (
            "user_factor_ratio",
            "Fair-share factor of a user in an account, 0 to 1.",
            |s| s.fs_factor,
        ),
    ];
    for (name, help, of) in FAMILIES {
        out.family(name, help);
        for (at, standing) in &users {
            let name = cluster.name(*at);
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let labels = vec![
                ("account", name.account.clone()),
                ("user", text(&name.user)),
                ("partition", text(&name.partition)),
            ];
            if let Some(value) = of(standing) {
                out.add(labels, value);
            }
        }
    }
}
