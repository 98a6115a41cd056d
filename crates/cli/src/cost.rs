//! `fairtree cost`.

use std::io::{BufWriter, Write, stdout};

use super::args::CostArgs;
use super::cluster::Where;
use super::message::Messages;
use super::progress::Waiting;
use super::wrap::Wrapped;
use super::{Failure, Outcome, terminal};
use fairtree::config::time::{Time, parse_time};
use fairtree::config::tres_weights::parse_tres_weights;
use fairtree::priority::TimeLimit;
use fairtree::tree::AssocIndex;
use fairtree_analysis::cost::{Request, cost};
use fairtree_model::cluster::{Cluster, ClusterJob, FindError, JobName};
use fairtree_model::input::slurm::parse_tres;
use fairtree_render::cost::{to_json, write};

/// Reads, bills, shows.
pub(super) fn run(args: &CostArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let place = Where {
        live: &args.live,
        file: args.file.as_deref(),
        format: args.input_format,
        compat: args.compat.as_deref(),
        policy: None,
    };
    // Wrong options are reported before Slurm is asked.
    let asked = Asked::new(args)?;
    // Which other jobs wait does not matter.
    let jobs: Vec<JobName> = asked.job.into_iter().collect();
    let cluster = place.with_these(&jobs, messages)?;
    let request = asked.of(args, &cluster)?;
    let waiting = Waiting::new("computing the effect on fair share");
    let cost = cost(&cluster, &request);
    drop(waiting);
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        to_json(&mut out, &cost)?;
    } else {
        let mut out = Wrapped::to_terminal(&mut out);
        write(&mut out, &cost, terminal::table_width())?;
        out.flush()?;
    }
    out.flush()?;
    cost.assumptions.iter().for_each(|text| messages.note(text));
    Ok(Outcome::Done)
}

/// The options, understood as far as that needs no site.
struct Asked {
    job: Option<JobName>,
    tres: Option<Vec<(String, u64)>>,
    secs: Option<u32>,
    weights: Option<Vec<(String, f64)>>,
    usage_factor: Option<f64>,
}

impl Asked {
    fn new(args: &CostArgs) -> Result<Asked, Failure> {
        let job = args.job.as_deref().map(|text| {
            let allowed = "the number of a job, as 4711, or 4711_3 for a task of an array";
            text.parse().map_err(|()| refused("--job", text, allowed))
        });
        let tres = args.tres.as_deref().map(|text| {
            let found = parse_tres(text).filter(|tres| !tres.is_empty());
            let allowed = "resources as cpu=64,mem=256G,gres/gpu=4";
            found.ok_or_else(|| refused("--tres", text, allowed))
        });
        let secs = args.time.as_deref().map(|text| match parse_time(text) {
            Ok(Time::Secs(secs)) if secs > 0 => Ok(secs),
            _ => {
                let allowed = "a time above 0, such as 2-0 (days), 12:00:00 or 90 (minutes)";
                Err(refused("--time", text, allowed))
            }
        });
        let weights = args.weights.as_deref().map(|text| {
            let found = parse_tres_weights(text);
            found.map_err(|error| refused("--weights", &error.value, &error.allowed))
        });
        let usage_factor = args.usage_factor.map(|factor| match factor {
            factor if factor.is_finite() && factor >= 0.0 => Ok(factor),
            factor => Err(refused(
                "--usage-factor",
                &factor.to_string(),
                "a number from 0 up",
            )),
        });
        Ok(Asked {
            job: job.transpose()?,
            tres: tres.transpose()?,
            secs: secs.transpose()?,
            weights: weights.transpose()?,
            usage_factor: usage_factor.transpose()?,
        })
    }

    /// The request, with what is not given taken from the job.
    fn of(self, args: &CostArgs, cluster: &Cluster) -> Result<Request, Failure> {
        let job = self
            .job
            .map(|name| cluster.find_job(name))
            .transpose()
            .map_err(usage)?;
        let job = job.map(|at| &cluster.jobs()[at]);
        let partition = partition(args, cluster, job)?;
        let tres = self.tres.or_else(|| job.map(|job| tres_of(cluster, job)));
        let tres = tres.unwrap_or_default();
        known_tres(cluster, &tres)?;
        Ok(Request {
            assoc: payer(args, cluster, job)?,
            secs: match self.secs {
                Some(secs) => secs,
                None => secs_of(cluster, job, partition)?,
            },
            qos: match &args.qos {
                Some(name) => Some(cluster.find_qos(name).map_err(usage)?),
                None => job
                    .and_then(|job| job.job.qos)
                    .map(fairtree::priority::Index::get)
                    .or_else(|| cluster.find_qos("normal").ok()),
            },
            partition,
            tres,
            weights: self.weights,
            usage_factor: self.usage_factor,
            job: job.map(|job| job.job.id),
        })
    }
}

fn partition(
    args: &CostArgs,
    cluster: &Cluster,
    job: Option<&ClusterJob>,
) -> Result<Option<usize>, Failure> {
    if let Some(name) = &args.partition {
        return Ok(Some(cluster.find_partition(name).map_err(usage)?));
    }
    let own = job
        .and_then(|job| job.job.partition)
        .map(fairtree::priority::Index::get);
    let default = cluster
        .partitions
        .iter()
        .position(|partition| partition.is_default);
    let only = (cluster.partitions.len() == 1).then_some(0);
    match own.or(default).or(only) {
        None if !cluster.partitions.is_empty() => Err(Failure::Usage(
            "no partition is the default one\nhint: name one with --partition".to_owned(),
        )),
        found => Ok(found),
    }
}

fn payer(
    args: &CostArgs,
    cluster: &Cluster,
    job: Option<&ClusterJob>,
) -> Result<AssocIndex, Failure> {
    let found = match (&args.user, &args.account, job) {
        (Some(user), Some(account), _) => cluster.find(&format!("{user}@{account}")),
        (Some(user), None, _) => cluster.find(user),
        (None, _, Some(job)) => {
            let account = args.account.as_deref().or(job.account.as_deref());
            match (job.job.assoc.filter(|_| args.account.is_none()), account) {
                (Some(assoc), _) => Ok(assoc),
                (None, Some(account)) => cluster.find(&format!("{}@{account}", job.user)),
                (None, None) => cluster.find(&job.user),
            }
        }
        (None, _, None) => Err(FindError::NoJobs {
            source_name: cluster.source.clone(),
            name: "a user".to_owned(),
        }),
    };
    let found = found.map_err(usage)?;
    match cluster.is_user(found) {
        true => Ok(found),
        false => Err(Failure::Usage(format!(
            "{} is an account; allowed are users: --user USER --account ACCOUNT",
            cluster.name(found)
        ))),
    }
}

/// The resources of a job.
fn tres_of(cluster: &Cluster, job: &ClusterJob) -> Vec<(String, u64)> {
    let site = &cluster.tables;
    let names = site.tres_names.iter();
    let Some(start) = job.job.tres else {
        return vec![("cpu".to_owned(), u64::from(job.job.cpus))];
    };
    let counts = &site.tres_counts[start.get()..];
    let tres = names.cloned().zip(counts.iter().copied());
    tres.filter(|(name, count)| *count > 0 && name != "billing")
        .collect()
}

/// The time limit of a job, or of its partition.
fn secs_of(
    cluster: &Cluster,
    job: Option<&ClusterJob>,
    partition: Option<usize>,
) -> Result<u32, Failure> {
    let most = partition.and_then(|at| cluster.tables.partitions[at].max_time_mins);
    let minutes = match job.map(|job| job.job.time_limit) {
        Some(TimeLimit::Minutes(minutes)) => Some(minutes),
        Some(TimeLimit::Unset) => most,
        Some(TimeLimit::Unlimited) | None => None,
    };
    let secs = minutes
        .and_then(|minutes| minutes.checked_mul(60))
        .filter(|secs| *secs > 0);
    secs.ok_or_else(|| {
        Failure::Usage("the job has no time limit\nhint: say how long it runs with --time".into())
    })
}

/// Refuses resources that the site does not track, where that is known.
fn known_tres(cluster: &Cluster, tres: &[(String, u64)]) -> Result<(), Failure> {
    let names = &cluster.tables.tres_names;
    let unknown = tres
        .iter()
        .find(|(name, _)| !names.is_empty() && !names.contains(name));
    match unknown {
        None => Ok(()),
        Some((name, _)) => Err(refused(
            "--tres",
            name,
            &format!("what AccountingStorageTRES tracks: {}", names.join(", ")),
        )),
    }
}

fn usage(error: FindError) -> Failure {
    Failure::Usage(error.to_string())
}

fn refused(option: &str, found: &str, allowed: &str) -> Failure {
    Failure::Usage(format!("{option}: found {found:?}, allowed is {allowed}"))
}
