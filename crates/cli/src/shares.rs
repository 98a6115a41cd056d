//! `fairtree shares`.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use super::args::SharesArgs;
use super::changes::{SHARES, pair, refused, shares};
use super::cluster::{self, Where, note, own_policy, policy_file};
use super::input::{Input, no_shares};
use super::message::Messages;
use super::wrap::Wrapped;
use super::{Failure, Outcome, open, terminal};
use fairtree::config::MinutesFrom;
use fairtree_analysis::shares::{
    Grant, Kept, Level, LevelRow, Written, command_prefix, level, propose,
};
use fairtree_model::cluster::{AssocName, Cluster};
use fairtree_model::input::capture::open_only;
use fairtree_render::shares::{to_html, to_json, write, write_proposal};

/// Reads, computes, shows.
pub(super) fn run(args: &SharesArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let grant = grant(args)?;
    let policy = args.policy.as_deref().map(policy_file).transpose()?;
    let place = Where {
        live: &args.live,
        file: args.file.as_deref(),
        format: args.input_format,
        compat: args.compat.as_deref(),
        policy: policy.as_ref(),
    };
    let input = place.read()?;
    let of_machines = match &input {
        Input::Queue(queue) => return Err(no_shares(queue)),
        Input::Site(site) => site.capacity.is_some(),
        Input::Listing(..) => false,
    };
    let own = match &input {
        Input::Listing(_, Some(beside)) => own_text(args, &beside.config)?,
        _ => None,
    };
    let mut cluster = place.of_rows(input)?;
    if let Some(file) = &policy {
        cluster.follow_policy(file).map_err(cluster::refused)?;
    }
    let kept = match of_machines {
        true => Kept::File(written(args.file.as_deref())),
        false => Kept::Slurm {
            policy: match &args.policy {
                Some(path) => Some(written(Some(path))),
                None => own,
            },
        },
    };
    show(args, &cluster, &grant, &kept, messages)
}

fn show(
    args: &SharesArgs,
    cluster: &Cluster,
    grant: &Grant,
    kept: &Kept,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    let below = args.below.as_deref();
    let shown = level(cluster, below).map_err(|error| usage(&error))?;
    let asked = *grant != Grant::default();
    let proposal = asked.then(|| propose(cluster, below, grant, kept));
    let proposal = proposal.transpose().map_err(|error| usage(&error))?;
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        to_json(&mut out, &shown, proposal.as_ref())?;
    } else if args.html {
        let change = proposal
            .as_ref()
            .and_then(|proposal| proposal.levels.first());
        let (before, after) = match change {
            Some(change) => (&change.before, Some(&change.after)),
            None => (&shown, None),
        };
        to_html(&mut out, before, after, &prefixes(cluster, before, kept))?;
    } else {
        let mut out = Wrapped::to_terminal(&mut out);
        let width = terminal::table_width();
        match &proposal {
            Some(proposal) => write_proposal(&mut out, proposal, width)?,
            None => write(&mut out, &shown, width)?,
        }
        out.flush()?;
    }
    out.flush()?;
    note(cluster, messages);
    let warnings = proposal.iter().flat_map(|proposal| &proposal.warnings);
    warnings.for_each(|warning| messages.note(warning));
    Ok(Outcome::Done)
}

/// For each row the command that sets its number, up to the number.
fn prefixes(cluster: &Cluster, level: &Level, kept: &Kept) -> Vec<String> {
    let in_file = cluster.config.minutes() == MinutesFrom::File;
    let prefix = |row: &LevelRow| {
        let name = AssocName {
            account: row.account.clone(),
            user: row.user.clone(),
            partition: row.partition.clone(),
        };
        let minutes = row.minutes.is_some() && in_file;
        command_prefix(kept, cluster.cluster.as_deref(), &name, minutes)
    };
    level.rows.iter().map(prefix).collect()
}

/// The shares and minutes of the options.
fn grant(args: &SharesArgs) -> Result<Grant, Failure> {
    let mut grant = Grant::default();
    for text in &args.shares {
        let (who, count) = pair("--shares", text, SHARES)?;
        let count = shares(count).ok_or_else(|| refused("--shares", text, SHARES))?;
        grant.shares.push((who.to_owned(), count));
    }
    for text in &args.minutes {
        let allowed = "ACCOUNT=MINUTES, as lab=400: a whole number from 0 to 1000000000000";
        let (who, minutes) = pair("--minutes", text, allowed)?;
        let minutes = minutes
            .parse()
            .map_err(|_| refused("--minutes", text, allowed))?;
        grant.minutes.push((who.to_owned(), minutes));
    }
    Ok(grant)
}

/// A file that an option names; without text where it cannot be read again.
fn written(path: Option<&Path>) -> Written {
    let path = path.filter(|path| *path != Path::new("-"));
    Written {
        name: path.map_or("the site's file".to_owned(), |path| {
            path.display().to_string()
        }),
        text: path.and_then(|path| open::conf(path).ok()),
    }
}

/// The policy file that the settings of a live site or a capture name.
fn own_text(
    args: &SharesArgs,
    config: &fairtree::config::Config,
) -> Result<Option<Written>, Failure> {
    let found = match &args.live.from {
        Some(folder) => open_only(folder, &[])?.policy()?,
        None => own_policy(config).and_then(|(name, text)| Some((name, text.ok()?))),
    };
    Ok(found.map(|(name, text)| Written {
        name,
        text: Some(text),
    }))
}
