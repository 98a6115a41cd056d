//! `fairtree explain`.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use super::args::ExplainArgs;
use super::cluster::{Readable, Where, hidden, note, note_beside_places, policy_file, refused};
use super::forecast::{From, made_now, of_newest};
use super::input::{Input, is_piped};
use super::message::Messages;
use super::progress::Waiting;
use super::wrap::Wrapped;
use super::{Failure, Outcome, terminal};
use fairtree::config::Order;
use fairtree::tree::AssocIndex;
use fairtree_analysis::explain::line::OrderedQueue;
use fairtree_analysis::explain::wait::waits;
use fairtree_analysis::explain::{
    ExplainError, RankedSite, compare_jobs, compare_printed, compare_users, explain_job,
    explain_printed, explain_seen,
};
use fairtree_analysis::prio::from_queue;
use fairtree_analysis::share::{Fractions, from_listed};
use fairtree_analysis::shares::level;
use fairtree_analysis::waiting::WaitingLine;
use fairtree_model::cluster::{Cluster, ClusterJob, JobName, JobPhase, Names};
use fairtree_model::input::recorded::is_described;
use fairtree_model::input::slurm::snapshot::{Purpose, Snapshot};
use fairtree_model::input::sprio::Queue;
use fairtree_model::input::sshare::default_fields;
use fairtree_model::listed::Listed;
use fairtree_render::explain::{Explanation, to_json};
use fairtree_render::share::{self, Separator, Table};
use fairtree_render::shares;

/// The message while a search takes its time on a large site.
const SEARCHING: &str = "searching for what would change the order";

/// Reads, compares, says.
pub(super) fn run(args: &ExplainArgs, messages: &Messages) -> Result<Outcome, Failure> {
    if let Some(other) = args.file.as_deref().and_then(job_in_place_of_a_file) {
        if args.who.parse::<JobName>().is_ok() {
            return Err(Failure::Usage(format!(
                "{other}: no such file\nhint: two jobs are compared with --versus: fairtree explain {} --versus {other}",
                args.who
            )));
        }
    }
    let names = [("JOB", Some(&args.who)), ("--versus", args.versus.as_ref())];
    for (option, name) in names {
        if let Some(error) = name.and_then(|name| beyond_numbers(option, name)) {
            return Err(error);
        }
    }
    let policy = args.policy.as_deref().map(policy_file).transpose()?;
    let place = Where {
        live: &args.live,
        file: args.file.as_deref(),
        format: args.input_format,
        compat: args.compat.as_deref(),
        policy: policy.as_ref(),
    };
    let named = [Some(&args.who), args.versus.as_ref()]
        .into_iter()
        .flatten();
    let named: Vec<JobName> = named.filter_map(|name| name.parse().ok()).collect();
    let about_jobs = args.who.parse::<JobName>().is_ok();
    let of_slurm = args.live.from.is_some() || (args.file.is_none() && !is_piped());
    let described = args.file.as_deref().filter(|file| is_described(file));
    if args.forecast && !(about_jobs && (of_slurm || described.is_some())) {
        return Err(Failure::Usage(
            "--forecast is for a job of a live site, of a capture (--from DIR), or of a site in TOML that \
             lists its nodes"
                .to_owned(),
        ));
    }
    let mut cluster = match (about_jobs, of_slurm) {
        (true, true) => match about(args, &place, &named, messages)? {
            Readable::Cluster(cluster) => *cluster,
            Readable::Rows(snapshot) => return rows(args, &place, &snapshot, messages),
        },
        (_, false) => match place.read()? {
            Input::Queue(queue) if about_jobs => return printed(args, &queue, messages),
            input => place.of(input)?,
        },
        // The running jobs show how usage continues; the order itself does not need them.
        (false, true) => match place.with_these_or_rows(&named, Purpose::Usage, messages) {
            Ok(Readable::Cluster(cluster)) => *cluster,
            Ok(Readable::Rows(snapshot)) => match place.whole(&snapshot) {
                Some(cluster) => cluster,
                None => return own_rows(args, &snapshot, messages),
            },
            Err(error) => {
                let cluster = place.without_jobs()?;
                messages.note(&format!(
                    "explained without the jobs that run, which are not known: {error}"
                ));
                cluster
            }
        },
    };
    if let Some(policy) = &policy {
        cluster.follow_policy(policy).map_err(refused)?;
    }
    // A file without jobs may have users whose names are numbers.
    let outcome = if about_jobs && (cluster.jobs.is_some() || cluster.find(&args.who).is_err()) {
        // A file says itself what moment it is of.
        if let Some(now) = cluster.now().filter(|_| of_slurm) {
            messages.note(&format!(
                "ages are as of slurmctld's last pass, {}",
                jiff::Timestamp::from_second(now).unwrap_or_default()
            ));
        }
        jobs(args, &cluster, messages)
    } else {
        users(args, &cluster)
    };
    let has_start = of_slurm || described.is_some();
    if outcome.is_ok() && has_start && about_jobs && args.versus.is_none() && !args.json {
        likely_start(args, messages)?;
    }
    let by_places = about_jobs && cluster.config.order() != Order::Weighted;
    match by_places && cluster.jobs.is_some() {
        true => note_beside_places(&cluster, messages),
        false => note(&cluster, messages),
    }
    // The program ends; giving back a large site takes longer than explaining it.
    std::mem::forget(cluster);
    outcome
}

/// The site with what an explanation of jobs needs.
fn about(
    args: &ExplainArgs,
    place: &Where<'_>,
    named: &[JobName],
    messages: &Messages,
) -> Result<Readable, Failure> {
    // A place depends on all that wait; two sums do not, and of a capture the others are not read.
    if args.versus.is_none() || args.live.from.is_none() {
        return place.with_jobs_or_rows(Purpose::Priorities, messages);
    }
    match place.with_these_or_rows(named, Purpose::Priorities, messages)? {
        Readable::Cluster(cluster) if cluster.config.order() != Order::Weighted => {
            place.with_jobs_or_rows(Purpose::Priorities, messages)
        }
        readable => Ok(readable),
    }
}

/// The error of a number that is too large for one of a job.
fn beyond_numbers(option: &str, name: &str) -> Option<Failure> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = match name.split_once('_') {
        Some((id, task)) => digits(id) && digits(task),
        None => digits(name),
    };
    let beyond = is_number && name.parse::<JobName>().is_err();
    let allowed = "the number of a job up to 4294967295, as 4711, or 4711_3 for a task of an array";
    beyond.then(|| Failure::Usage(format!("{option}: found {name:?}, allowed is {allowed}")))
}

/// When the job will start, in a line: by a forecast that is asked for, or that of the newest capture, or
/// of the site that is described.
fn likely_start(args: &ExplainArgs, messages: &Messages) -> Result<(), Failure> {
    let (job, folder) = (&args.who, args.live.from.as_deref());
    let from = match (&args.file, folder) {
        (Some(file), _) => From::Site(file),
        (None, Some(folder)) => From::Capture(folder),
        (None, None) => From::Slurm,
    };
    let line = match (args.forecast, from) {
        (true, from) => Some(made_now(job, from, args.live.time_limit, messages)?),
        // A site without nodes has no such line.
        (false, From::Site(_)) => made_now(job, from, args.live.time_limit, messages).ok(),
        (false, _) => of_newest(job, folder, messages),
    };
    let mut out = Wrapped::to_terminal(stdout());
    if let Some(line) = line {
        writeln!(out, "\n{line}")?;
    }
    Ok(out.flush()?)
}

/// The job that stands where a file is expected, and there is no such file.
pub(super) fn job_in_place_of_a_file(path: &Path) -> Option<JobName> {
    let name = path.to_str()?.parse().ok()?;
    (!path.exists()).then_some(name)
}

/// Jobs by what sprio printed, where `PrivateData` hides something; one job also with the reason to wait, as
/// far as its user sees it.
fn rows(
    args: &ExplainArgs,
    place: &Where<'_>,
    snapshot: &Snapshot,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let hidden = hidden(snapshot);
    let unseen = |error: &dyn std::fmt::Display| Failure::Usage(format!("{error}\nhint: {hidden}"));
    let outcome = match &args.versus {
        Some(_) => printed(args, &snapshot.queued.queue, messages).map_err(|error| match error {
            Failure::Usage(error) => unseen(&error),
            other => other,
        }),
        None => {
            let cluster = place.seen(snapshot)?;
            let name: JobName = args.who.parse().map_err(|()| unseen(&"no such job"))?;
            let job = cluster.find_job(name).map_err(|error| unseen(&error))?;
            let job = &cluster.jobs()[job];
            if job.phase == JobPhase::Running {
                messages.note(&format!(
                    "job {} is {}: sprio lists only jobs that wait",
                    job.job.id, job.state
                ));
            }
            let job = of_queue(job)?;
            let reports = from_queue(&snapshot.queued.queue);
            let explained = explain_seen(&reports, &cluster, job).map_err(usage)?;
            let outcome = say(args, Explanation::Job(&explained));
            if outcome.is_ok() && !args.json {
                likely_start(args, messages)?;
            }
            outcome
        }
    };
    messages.note(&hidden);
    outcome
}

/// A user by the own rows of sshare, where `PrivateData` hides the shares of others.
fn own_rows(
    args: &ExplainArgs,
    snapshot: &Snapshot,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let listing = &snapshot.shares;
    let config = &snapshot.queued.settings.config;
    let listed = Listed::new(listing, config.ranking())?;
    let report = from_listed(&listed, config.compat, Some(config), Fractions::Printed);
    let (user, account) = match args.who.split_once('@') {
        Some((user, account)) => (user, Some(account.split(':').next().unwrap_or(account))),
        None => (args.who.as_str(), None),
    };
    let is_asked = |at: &usize| {
        let row = &report.rows[*at];
        let of_account = account.is_none_or(|account| row.account.as_deref() == Some(account));
        row.user.as_deref() == Some(user) && of_account
    };
    let shown: Vec<usize> = (0..report.rows.len()).filter(is_asked).collect();
    if shown.is_empty() {
        return Err(Failure::Usage(format!(
            "{}: found no row of {}; allowed is yourself, as {}",
            listing.file,
            args.who,
            hidden(snapshot)
        )));
    }
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        share::to_json(&mut out, &report, &shown)?;
    } else {
        let table = Table {
            fields: default_fields(true, false, config.ranking().columns().level_fs, None),
            header: true,
            separator: Separator::Columns,
            rates_accounts: false,
        };
        table.write(&mut out, &report, &shown)?;
    }
    out.flush()?;
    messages.note(&hidden(snapshot));
    Ok(Outcome::Done)
}

/// Jobs by what sprio printed of them.
fn printed(args: &ExplainArgs, queue: &Queue, messages: &Messages) -> Result<Outcome, Failure> {
    let reports = from_queue(queue);
    queue.notes.iter().for_each(|note| messages.note(note));
    let number = |option: &str, name: &str| -> Result<u32, Failure> {
        let allowed = "the number of a job, as sprio lists it";
        let error = || Failure::Usage(format!("{option}: found {name:?}, allowed is {allowed}"));
        name.parse().map_err(|_| error())
    };
    let job = number("JOB", &args.who)?;
    let outcome = match &args.versus {
        Some(versus) => {
            let ids = [job, number("--versus", versus)?];
            let compared = compare_printed(&reports, ids).map_err(usage)?;
            say(args, Explanation::Jobs(&compared))
        }
        None => {
            let explained = explain_printed(&reports, job).map_err(usage)?;
            say(args, Explanation::Job(&explained))
        }
    };
    messages.note(
        "sprio shows no more than points and factors: the numbers that they are made of, the reason to wait and what would help \
         need a live site, a capture, or a site in TOML",
    );
    outcome
}

fn jobs(args: &ExplainArgs, cluster: &Cluster, messages: &Messages) -> Result<Outcome, Failure> {
    let find = |name: &str| -> Result<&ClusterJob, Failure> {
        let name: JobName = name.parse().map_err(|()| {
            Failure::Usage(format!(
                "--versus: found {name:?}, allowed is the number of a job, as {} is one",
                args.who
            ))
        })?;
        let position = cluster.find_job(name).map_err(usage)?;
        Ok(&cluster.jobs()[position])
    };
    if cluster.config.order() != Order::Weighted && cluster.jobs.is_some() {
        let job = find(&args.who)?;
        let versus = args.versus.as_deref().map(find).transpose()?;
        return places(args, cluster, job, versus);
    }
    let job = waiting(find(&args.who)?, messages)?;
    let load = cluster.load();
    let entitlement = cluster.entitlement();
    let ranked = RankedSite::of(cluster, &load, &entitlement);
    match &args.versus {
        Some(versus) => {
            let other = waiting(find(versus)?, messages)?;
            let searching = Waiting::new(SEARCHING);
            let compared = compare_jobs(&ranked, cluster, [&job.job, &other.job]).map_err(usage)?;
            drop(searching);
            say(args, Explanation::Jobs(&compared))
        }
        None => {
            let explained = explain_job(&ranked, cluster, &job.job).map_err(usage)?;
            let line = WaitingLine::of(cluster).map_err(usage)?;
            let waits = waits(&ranked, cluster, &line, job).map_err(usage)?;
            let mut explained = explained.waiting(waits);
            if job.phase == JobPhase::Running {
                explained = explained.while_running(job.job.priority);
            }
            say(args, Explanation::Job(&explained))
        }
    }
}

/// Jobs by their places, where the site orders them otherwise than by weighted sums.
fn places(
    args: &ExplainArgs,
    cluster: &Cluster,
    job: &ClusterJob,
    versus: Option<&ClusterJob>,
) -> Result<Outcome, Failure> {
    let searching = Waiting::new(SEARCHING);
    let queue = OrderedQueue::of(cluster).map_err(usage)?;
    let queue = queue.expect("the site has an order, and jobs");
    match versus {
        Some(other) => {
            let compared = queue.compare([job, other]).map_err(usage)?;
            drop(searching);
            say(args, Explanation::Places(&compared))
        }
        None => {
            let mut explained = queue.place(job).map_err(usage)?;
            let (load, entitlement) = (cluster.load(), cluster.entitlement());
            let ranked = RankedSite::of(cluster, &load, &entitlement);
            let line = WaitingLine::of(cluster).map_err(usage)?;
            explained.waits = waits(&ranked, cluster, &line, job).map_err(usage)?;
            drop(searching);
            say(args, Explanation::Place(&explained))
        }
    }
}

/// A job that has a priority to explain. Of one that runs a note says so.
fn waiting<'a>(job: &'a ClusterJob, messages: &Messages) -> Result<&'a ClusterJob, Failure> {
    if job.phase == JobPhase::Running {
        messages.note(&format!(
            "job {} is {}: these are the points that it would have if it still waited",
            job.job.id, job.state
        ));
    }
    of_queue(job)
}

/// A job that waits or runs.
fn of_queue(job: &ClusterJob) -> Result<&ClusterJob, Failure> {
    match job.phase {
        JobPhase::Pending | JobPhase::Running => Ok(job),
        JobPhase::Ended => Err(Failure::Usage(format!(
            "job {} is {}: it has no priority any more; allowed is a job that waits or runs",
            job.job.id, job.state
        ))),
    }
}

fn users(args: &ExplainArgs, cluster: &Cluster) -> Result<Outcome, Failure> {
    let who = cluster.find(&args.who).map_err(usage)?;
    let other = args.versus.as_deref().map(|name| cluster.find(name));
    let other = other.transpose().map_err(usage)?;
    let level_of = |at: AssocIndex| (cluster.tree().parent(at), cluster.is_user(at));
    // Accounts side by side compete as accounts.
    if !cluster.is_user(who) && other.is_none_or(|other| level_of(other) == level_of(who)) {
        return account(args, cluster, who);
    }
    let versus = match other {
        Some(other) => other,
        None => neighbour(cluster, who).map_err(usage)?,
    };
    let load = cluster.load();
    let searching = Waiting::new(SEARCHING);
    let entitlement = cluster.entitlement();
    let ranked = RankedSite::of(cluster, &load, &entitlement);
    let compared = compare_users(&ranked, cluster, [who, versus]);
    let compared = compared.map_err(usage)?;
    drop(searching);
    say(args, Explanation::Users(&compared))
}

/// An account, which no job is ranked by: its share and use beside its siblings.
fn account(args: &ExplainArgs, cluster: &Cluster, who: AssocIndex) -> Result<Outcome, Failure> {
    let tree = cluster.tree();
    let above = tree.parent(who).unwrap_or(who);
    let shown = level(cluster, Some(&cluster.name(above).account)).map_err(usage)?;
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        shares::to_json(&mut out, &shown, None)?;
    } else {
        let mut out = Wrapped::to_terminal(&mut out);
        let is_below = tree.is_below(who);
        let any_user = tree
            .indices()
            .any(|at| cluster.is_user(at) && is_below[at.get()]);
        let users = match any_user {
            true => "; each user in it can be explained, as USER@ACCOUNT",
            false => " without users",
        };
        let name = cluster.assoc(who);
        writeln!(
            out,
            "{name} is an account{users}. Its share and use beside its siblings:"
        )?;
        shares::write(&mut out, &shown, terminal::table_width())?;
        out.flush()?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// The user that comes right before a user, or right after the first one; of equals the first in the
/// tree.
fn neighbour(cluster: &Cluster, who: AssocIndex) -> Result<AssocIndex, ExplainError> {
    let factor = |index: AssocIndex| cluster.fairshare[index.get()].fs_factor.unwrap_or(0.0);
    if !cluster.is_user(who) {
        let name = cluster.name(who).to_string();
        return Err(ExplainError::NotAUser { name });
    }
    let own = factor(who);
    let all = (0..cluster.names.len()).map(AssocIndex::new);
    let others = all.filter(|index| *index != who && cluster.is_user(*index));
    let others: Vec<AssocIndex> = others.collect();
    let first = |better: fn(f64, f64) -> bool, wanted: &dyn Fn(f64) -> bool| {
        let mut found: Option<AssocIndex> = None;
        for &other in others.iter().filter(|other| wanted(factor(**other))) {
            if found.is_none_or(|found| better(factor(other), factor(found))) {
                found = Some(other);
            }
        }
        found
    };
    first(|a, b| a < b, &|factor| factor > own)
        .or_else(|| first(|a, b| a > b, &|factor| factor <= own))
        .ok_or_else(|| ExplainError::SameUser {
            name: cluster.name(who).to_string(),
        })
}

fn say(args: &ExplainArgs, explanation: Explanation<'_>) -> Result<Outcome, Failure> {
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        to_json(&mut out, explanation)?;
    } else {
        let mut out = Wrapped::to_terminal(&mut out);
        write!(out, "{explanation}")?;
        out.flush()?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}

fn usage(error: impl std::fmt::Display) -> Failure {
    Failure::Usage(error.to_string())
}
