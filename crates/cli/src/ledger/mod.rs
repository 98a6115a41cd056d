//! `fairtree ledger`.

mod records;
mod settings;

use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::path::Path;
use std::time::Duration;

use crate::args::{CheckArgs, FillArgs, LedgerAction, LedgerArgs, ShowArgs};
use crate::bill::{moment, refused};
use crate::message::Messages;
use crate::{Failure, Outcome, terminal, told};
use fairtree::usage::window::{ReadError, WindowError};
use fairtree_analysis::ledger::{
    Filler, LedgerCheck, LedgerRules, Times, check_files, check_sums, overview, sums_needed,
};
use fairtree_model::input::sacct::{Clusters, ask_clusters};
use fairtree_model::ledgers::{LedgerFile, StoredLedger, read_folder, write};
use fairtree_render::ledger::{
    check_to_json, overview_to_json, write_check, write_filled, write_overview,
};
use records::{RecordFile, walk};
use settings::{Need, Site, now, site};

/// Does what was asked for.
pub(super) fn run(args: &LedgerArgs, messages: &Messages) -> Result<Outcome, Failure> {
    match &args.action {
        LedgerAction::Fill(args) => fill(args, messages),
        LedgerAction::Sync(args) => sync(args, messages),
        LedgerAction::Show(args) => show(args),
        LedgerAction::Check(args) => check(args, messages),
    }
}

/// Why a folder or a file did not do.
fn failed(path: &Path) -> impl Fn(std::io::Error) -> Failure + '_ {
    move |error| Failure::File(path.display().to_string(), error)
}

fn impossible(error: WindowError) -> Failure {
    Failure::Usage(error.to_string())
}

/// The time that `fill` and `sync` look at, and where its runs come from.
struct Task {
    site: Site,
    cluster: String,
    stored: Vec<StoredLedger>,
    since: i64,
    until: i64,
    /// `None`: `sacct` is asked.
    file: Option<RecordFile>,
    limit: Duration,
}

fn task(args: &FillArgs, messages: &Messages) -> Result<Task, Failure> {
    let need = match args.from {
        Some(_) => Need::Cluster,
        None => Need::Rules,
    };
    let (since, until) = (
        moment("--since", args.since.as_deref())?,
        moment("--until", args.until.as_deref())?,
    );
    let now = now();
    let site = site(&args.place, need, now)?;
    let stored = read_folder(&site.folder).map_err(failed(&site.folder))?;
    let since = since.or(site.since).ok_or_else(|| {
        Failure::Usage(
            "the policy has neither a window nor a date since which use counts: it reads no \
             ledger\nhint: usage=window:LENGTH in PriorityParameters or --policy FILE, or --since"
                .to_owned(),
        )
    })?;
    let file = args.from.as_deref();
    let file = file.map(|path| records::read(path, messages)).transpose()?;
    let known = file
        .as_ref()
        .map_or(now, |file| file.known_until.max(since));
    if until.is_some_and(|until| until <= since) {
        let text = args.until.as_deref().unwrap_or_default();
        return Err(refused("--until", text, "a time after --since"));
    }
    if since > now.max(known) {
        let text = args.since.as_deref().unwrap_or_default();
        return Err(refused("--since", text, "a time before now"));
    }
    Ok(Task {
        cluster: site.cluster.clone().unwrap_or_default(),
        site,
        stored,
        since,
        until: until.map_or(known, |until| match file {
            Some(_) => until,
            None => until.min(known),
        }),
        file,
        limit: Duration::from_secs(args.place.time_limit),
    })
}

/// Why nothing can be filled in beside a file of the plugin's.
fn unread(path: &Path, why: &ReadError) -> Failure {
    let instead = match why {
        ReadError::System(error) if error.kind() == ErrorKind::PermissionDenied => {
            "; run this as root or as the owner of the file"
        }
        ReadError::System(_) => "",
        _ => "; slurmctld sets a damaged file aside when it starts",
    };
    Failure::Usage(format!(
        "{}: {why}\nhint: what it covers is not known, so nothing can be filled in{instead}",
        path.display()
    ))
}

/// Fills what the plugin does not cover.
fn fill(args: &FillArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let task = task(args, messages)?;
    let (cluster, since) = (&task.cluster, task.since);
    let plugin = task
        .stored
        .iter()
        .find(|stored| stored.file == LedgerFile::Plugin);
    let (gaps, as_of) = match plugin {
        None => {
            let gaps = vec![(since, task.until)];
            (gaps, task.until)
        }
        Some(stored) => {
            let path = task.site.folder.join(&stored.name);
            let history = stored.history.as_ref();
            let history = history.map_err(|why| unread(&path, why))?;
            let source = &history.sources()[0];
            if source.name != *cluster {
                return Err(Failure::Usage(format!(
                    "{}: holds use of cluster {:?}, not of {cluster:?}\nhint: name it: --cluster",
                    path.display(),
                    source.name
                )));
            }
            // What comes after that is the plugin's to cover at its next pass.
            let covered = source.covered.as_slice();
            let until = covered.last().map_or(source.as_of, |last| last.1);
            let gaps = source.covered.gaps(since, until.min(task.until));
            (gaps, task.until.max(source.as_of))
        }
    };
    let gaps: Vec<(i64, i64)> = gaps.into_iter().filter(|gap| gap.0 < gap.1).collect();
    let times = Times::Gaps(gaps.clone(), as_of);
    let clusters = [(cluster.clone(), times)];
    let mut filler = Filler::new(&task.site.rules, clusters).map_err(impossible)?;
    match task.file {
        Some(file) => filler.take(file.runs, since, i64::MAX, true),
        None => {
            for gap in gaps {
                let one = Clusters::One(cluster);
                walk(one, gap, true, task.limit, &mut filler, messages)?;
            }
        }
    }
    let named = |_: &str| LedgerFile::History;
    write_all(filler, &task.site, named, messages)
}

/// Writes what other clusters have used.
fn sync(args: &FillArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let task = task(args, messages)?;
    let (since, until) = (task.since, task.until);
    let mut clusters = Vec::new();
    match &task.file {
        Some(file) => {
            let names = records::clusters(&file.runs);
            let others = names.into_iter().filter(|name| *name != task.cluster);
            clusters.extend(others.map(|name| (name, Times::Since(since, until))));
        }
        None => {
            for row in ask_clusters(task.limit)? {
                if row.name == task.cluster {
                    continue;
                }
                let times = match row.answers {
                    true => Times::Since(since, until),
                    false => {
                        messages.note(&format!(
                            "cluster {} is not connected: it counts up to what it said last",
                            row.name
                        ));
                        Times::Silent(since, heard(&task.stored, &row.name), until)
                    }
                };
                clusters.push((row.name, times));
            }
        }
    }
    for stored in &task.stored {
        if let LedgerFile::Cluster(name) = &stored.file {
            if clusters.iter().all(|(known, _)| known != name) {
                messages.note(&format!(
                    "{}: nothing is told of cluster {name} any more; the file stays as it is",
                    stored.file
                ));
            }
        }
    }
    if !task.site.counts_others && task.site.has_rules {
        messages.note("scope=all_clusters is not set: the use of other clusters does not count");
    }
    if clusters.is_empty() {
        messages.note("there are no other clusters");
        return Ok(Outcome::Done);
    }
    let mut filler = Filler::new(&task.site.rules, clusters).map_err(impossible)?;
    match task.file {
        Some(file) => filler.take(file.runs, since, i64::MAX, true),
        None => walk(
            Clusters::All,
            (since, until),
            false,
            task.limit,
            &mut filler,
            messages,
        )?,
    }
    let named = |cluster: &str| LedgerFile::Cluster(cluster.to_owned());
    write_all(filler, &task.site, named, messages)
}

/// When a cluster was last heard of, by its file; seconds since 1970.
fn heard(stored: &[StoredLedger], cluster: &str) -> i64 {
    let is_its = |stored: &&StoredLedger| matches!(&stored.file, LedgerFile::Cluster(name) if name == cluster);
    let file = stored.iter().find(is_its);
    let history = file.and_then(|stored| stored.history.as_ref().ok());
    history.map_or(0, |history| history.sources()[0].as_of)
}

/// Writes a file per cluster, and a line on each.
fn write_all(
    filler: Filler<'_>,
    site: &Site,
    named: impl Fn(&str) -> LedgerFile,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let (filled, problems) = filler.finish().map_err(impossible)?;
    problems.iter().for_each(|problem| messages.note(problem));
    let mut out = BufWriter::new(stdout().lock());
    for filled in filled {
        let file = named(&filled.cluster);
        let path = site.folder.join(file.to_string());
        write(&site.folder, &file, &filled.history).map_err(failed(&path))?;
        if filled.by_processors > 0 {
            messages.note(&format!(
                "cluster {}: {} runs have no billing TRES: their CPUs count",
                filled.cluster, filled.by_processors
            ));
        }
        if filled.free > 0 {
            messages.note(&format!(
                "cluster {}: {} runs have no billing TRES and count 0, as those of a free partition: \
                 others have it",
                filled.cluster, filled.free
            ));
        }
        write_filled(&mut out, &file.to_string(), &filled)?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// Tells who covers which times.
fn show(args: &ShowArgs) -> Result<Outcome, Failure> {
    let now = moment("--now", args.now.as_deref())?.unwrap_or_else(now);
    let site = site(&args.place, Need::Folder, now)?;
    let stored = read_folder(&site.folder).map_err(failed(&site.folder))?;
    let overview = overview(&stored, site.cluster.as_deref(), site.since, now);
    let mut out = BufWriter::new(stdout().lock());
    match args.json {
        true => overview_to_json(&mut out, &site.folder.display().to_string(), &overview)?,
        false => write_overview(&mut out, &overview, terminal::table_width())?,
    }
    out.flush()?;
    let unread = stored
        .iter()
        .filter(|stored| matches!(stored.history, Err(ReadError::System(_))));
    match unread.count() {
        0 => Ok(Outcome::Done),
        files => Err(Failure::Usage(format!(
            "{}: {files} of {} files cannot be read: what they cover is not known",
            site.folder.display(),
            stored.len()
        ))),
    }
}

/// Verifies files.
fn check(args: &CheckArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let now = moment("--now", args.now.as_deref())?.unwrap_or_else(now);
    let need = match args.files || args.from.is_some() {
        true => Need::Folder,
        false => Need::Rules,
    };
    let site = site(&args.place, need, now)?;
    let stored = read_folder(&site.folder).map_err(failed(&site.folder))?;
    let resolution = Some(site.rules.resolution_secs).filter(|_| site.has_rules);
    let cluster = site.cluster.as_deref();
    let mut found = LedgerCheck {
        problems: check_files(&stored, cluster, resolution, now),
        sums: Vec::new(),
    };
    if !args.files {
        let file = args.from.as_deref();
        let file = file.map(|path| records::read(path, messages)).transpose()?;
        let limit = Duration::from_secs(args.place.time_limit);
        for stored in &stored {
            sums(
                stored,
                &site.rules,
                file.as_ref(),
                limit,
                &mut found,
                messages,
            )?;
        }
        let tolerance = f64::from(args.tolerance) / 100.0;
        let problems = found.sums.iter().filter_map(|sum| sum.problem(tolerance));
        found.problems.extend(problems);
    }
    let outcome = match found.problems.is_empty() {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => check_to_json(&mut out, &site.folder.display().to_string(), &found),
        false => write_check(&mut out, &found),
    };
    told(written.and_then(|()| out.flush()), outcome)
}

/// Compares the sums of a file.
fn sums(
    stored: &StoredLedger,
    rules: &LedgerRules,
    file: Option<&RecordFile>,
    limit: Duration,
    found: &mut LedgerCheck,
    messages: &Messages,
) -> Result<(), Failure> {
    let Some((cluster, times)) = sums_needed(stored) else {
        return Ok(());
    };
    let history = stored.history.as_ref().ok();
    let rules = LedgerRules {
        resolution_secs: history.map_or(rules.resolution_secs, |it| it.resolution_secs()),
        dates: Vec::new(),
        counts: rules.counts.clone(),
    };
    let asked = times.asked();
    let mut filler = Filler::new(&rules, [(cluster.clone(), times)]).map_err(impossible)?;
    match file {
        Some(file) => filler.take(file.runs.clone(), i64::MIN, i64::MAX, true),
        None => walk(
            Clusters::One(&cluster),
            asked,
            false,
            limit,
            &mut filler,
            messages,
        )?,
    }
    let (filled, problems) = filler.finish().map_err(impossible)?;
    problems.iter().for_each(|problem| messages.note(problem));
    for filled in &filled {
        let sum = check_sums(stored, filled).map_err(impossible)?;
        found.sums.extend(sum);
    }
    Ok(())
}
