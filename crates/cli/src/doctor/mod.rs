//! `fairtree doctor`: asks the host, its package manager and Slurm, and prints what that means.

mod daemon;
mod host;
mod looks;
mod said;

use std::fs;
use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};

use super::args::DoctorArgs;
use super::lint::{self, NamedRelease};
use super::message::Messages;
use super::progress::Waiting;
use super::{Failure, Outcome, told};
use fairtree::compat::Release;
use fairtree_analysis::doctor::{Facts, Known, Live, Next, examine};
use fairtree_model::input::LeftOut;
use fairtree_model::input::capture::{Ask, CommandError, Taken, take};
use fairtree_model::input::slurm::config;
use fairtree_model::input::slurm::plugin::{FAIRTREE, PluginFile, search};
use fairtree_model::input::slurm::snapshot::{Purpose, Source};
use fairtree_render::doctor::{to_json, write};
use said::Said;

/// Why something of a daemon is not known.
const NOT_ASKED: &str = "not asked with --offline";

/// Asks, examines, prints.
pub(super) fn run(args: &DoctorArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let named = |text| Ok::<_, Failure>((lint::release("--next", text)?, text));
    let next = args.next.as_deref().map(named);
    let facts = gather(args, next.transpose()?);
    let diagnosis = examine(&facts);
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => to_json(&mut out, &diagnosis),
        false => write(&mut out, &diagnosis, messages.colors_output()),
    };
    let outcome = match diagnosis.is_healthy() {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    told(written.and_then(|()| out.flush()), outcome)
}

/// Everything that the checks rest on.
fn gather(args: &DoctorArgs, next: Option<(NamedRelease, &str)>) -> Facts {
    let waiting = Waiting::new("asking Slurm");
    let before = host::now();
    let taken = match args.offline {
        true => Err(NOT_ASKED.to_owned()),
        false => {
            take(&[Source::Config], args.limit(), Purpose::Any).map_err(|error| first_line(&error))
        }
    };
    let middle = before + (host::now() - before) / 2;
    let config = taken.as_ref().ok().map(config_text);
    let daemon = daemon::find(args.limit());
    let release = daemon.as_ref().ok().map(|daemon| daemon.release);
    let said = Said::gather(config, release);
    let folders = match said.plugin_dir() {
        folders if folders.is_empty() => daemon::default_folders(),
        folders => folders,
    };
    let (present, absent): (Vec<PathBuf>, Vec<PathBuf>) =
        folders.into_iter().partition(|folder| folder.is_dir());
    let packaged = folders_below(&args.plugin_root);
    let packaged = packaged
        .into_iter()
        .filter(|folder| !present.contains(folder));
    let controller = daemon.as_ref().is_ok_and(|daemon| daemon.is_controller());
    let state = host::state(&said, controller);
    let settings = said.settings();
    let numbers = match &taken {
        Ok(_) => looks::numbers(args, state.as_ref(), settings.as_ref()),
        Err(_) if args.offline => Err(NOT_ASKED.to_owned()),
        Err(why) => Err(format!("no numbers to compare: {why}")),
    };
    let plugins = search(&present, FAIRTREE);
    let packaged = search(&packaged.collect::<Vec<_>>(), FAIRTREE);
    let facts = Facts {
        now: host::now(),
        offline: args.offline,
        synchronised: host::synchronised(),
        next: match next {
            Some((named, text)) => Ok(Next::Version {
                release: of_series(named, plugins.iter().chain(&packaged)),
                version: text.to_owned(),
            }),
            None => daemon::next(daemon.as_ref()),
        },
        settings,
        absent_folders: absent,
        plugins,
        packaged,
        live: taken
            .as_ref()
            .map_err(Clone::clone)
            .map(|taken| live(taken, middle)),
        last_pass: host::last_pass(state.as_ref()),
        state,
        clusters: clusters(args),
        numbers,
        in_force: said.in_force(),
        linted: said.linted(),
        daemon,
    };
    drop(waiting);
    facts
}

/// A release; of a series the newest for which there is a plugin.
fn of_series<'a>(named: NamedRelease, plugins: impl Iterator<Item = &'a PluginFile>) -> Release {
    let of = plugins.filter(|plugin| named.is_series && plugin.is_of_series(named.release));
    let built_for = of.filter_map(|plugin| plugin.built_for.as_ref().ok().copied());
    built_for.max().unwrap_or(named.release)
}

/// The answer of `scontrol show config`.
fn config_text(taken: &Taken) -> String {
    let answer = taken.answers.get(&Source::Config);
    answer.map_or_else(String::new, |answer| answer.text.clone())
}

/// The report of slurmctld about itself; it was asked at `middle`, seconds since 1970.
fn live(taken: &Taken, middle: i64) -> Live {
    let settings = config::read(
        "scontrol show config",
        &config_text(taken),
        &mut LeftOut::default(),
    )
    .ok();
    Live {
        release: settings.as_ref().and_then(|settings| settings.release),
        ahead_secs: settings
            .and_then(|settings| settings.time)
            .map(|time| time - middle),
    }
}

/// Names of the clusters in slurmdbd.
fn clusters(args: &DoctorArgs) -> Known<Vec<String>> {
    const COMMAND: [&str; 6] = [
        "sacctmgr",
        "--noheader",
        "--parsable2",
        "show",
        "cluster",
        "format=Cluster",
    ];
    if args.offline {
        return Err(NOT_ASKED.to_owned());
    }
    let answer = Ask::new(&COMMAND, args.limit()).run();
    let answer = answer.map_err(|error| first_line(&error))?;
    let names = answer
        .text
        .lines()
        .map(str::trim)
        .filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

/// The folders in a folder, by name; none where it is not there.
fn folders_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// The error, without the hint below it.
fn first_line(error: &CommandError) -> String {
    first_sentence(&error.to_string())
}

fn first_sentence(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
