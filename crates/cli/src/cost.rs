//! `fairtree cost`.

use std::io::{BufWriter, Write, stdout};

use super::args::CostArgs;
use super::cluster::Where;
use super::message::Messages;
use super::progress::Waiting;
use super::user::login_name;
use super::wrap::Wrapped;
use super::{Failure, Outcome, terminal};
use fairtree::config::time::{Time, parse_time};
use fairtree::config::tres_weights::parse_tres_weights;
use fairtree_analysis::cost::{Request, Wish, WishError, cost};
use fairtree_model::cluster::{Cluster, JobName};
use fairtree_model::input::slurm::parse_tres;
use fairtree_model::input::slurm::snapshot::Purpose;
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
    let cluster = place.with_these_or_seen(&jobs, Purpose::Usage, messages)?;
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
        // At one's own site the job is one's own.
        let user = match (&args.user, self.job) {
            (None, None) => {
                let own = login_name().filter(|_| args.file.is_none());
                Some(own.ok_or_else(|| {
                    Failure::Usage(
                        "no user is named\nhint: name one with --user, or a job with --job"
                            .to_owned(),
                    )
                })?)
            }
            (user, _) => user.clone(),
        };
        let wish = Wish {
            user,
            account: args.account.clone(),
            job: self.job,
            partition: args.partition.clone(),
            qos: args.qos.clone(),
            tres: self.tres,
            secs: self.secs,
            weights: self.weights,
            usage_factor: self.usage_factor,
        };
        wish.request(cluster).map_err(|error| {
            Failure::Usage(match &error {
                WishError::Find(_) => error.to_string(),
                WishError::NoPartition => format!("{error}\nhint: name one with --partition"),
                WishError::IsAccount { .. } => format!("{error}: --user USER --account ACCOUNT"),
                WishError::NoTime => format!("{error}\nhint: say how long it runs with --time"),
                WishError::Untracked { .. } => format!("--tres: {error}"),
            })
        })
    }
}

fn refused(option: &str, found: &str, allowed: &str) -> Failure {
    Failure::Usage(format!("{option}: found {found:?}, allowed is {allowed}"))
}
