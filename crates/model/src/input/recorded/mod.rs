//! A recorded run of a cluster: a folder with its configuration, its jobs, and what happened.
//!
//! | file | what |
//! |---|---|
//! | `slurm.conf`, or `slurm-RELEASE.conf` beside it | nodes, partitions, settings; needed |
//! | `sacct*`: output of `sacct -a -D -X -P` | the jobs; needed |
//! | `sacctmgr.script` | accounts, users, shares, QOS, limits |
//! | `jobs.tsv`, `*.events` | the options of each `sbatch` |
//! | `slurmctld.log` | cycles of the schedulers, to the millisecond |
//! | `sdiag*` | counters of the schedulers |
//! | `node_events*`, `reservations*` | nodes that were down, and reservations |
//! | `nodes.txt` | states and CPUs of nodes, again and again |
//!
//! Each may be in gzip with `.gz` after its name. What is missing is in [`Recorded::assumptions`].

mod described;
mod jobs;
mod outages;
pub mod past;
mod samples;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

pub use described::{is_described, read_site};
pub use jobs::RecordedJob;
pub use samples::{CpuSample, sdiag_cycles};

use super::error::{InputError, Problem};
use super::left_out::LeftOut;
use super::slurm::conf::{self, Conf};
use super::slurm::controller_log::{self, LogEvent, Logged};
use super::slurm::document::Document;
use super::slurm::machine;
use super::slurm::script::{self, Accounting};
use super::stream::{self, Stream};
use crate::machine::Machine;
use fairtree::compat::Release;
use jiff::Timestamp;

/// A recorded run of a cluster.
#[derive(Debug)]
pub struct Recorded {
    /// The folder.
    pub name: String,
    /// The release that ran, where the log says so.
    pub release: Option<Release>,
    /// Priority settings and partitions.
    pub conf: Conf,
    /// Nodes, partitions, scheduler settings.
    pub machine: Machine,
    /// Accounts, users, QOS.
    pub accounting: Accounting,
    /// The jobs, in order of submission.
    pub jobs: Vec<RecordedJob>,
    /// The log of slurmctld; empty where it is not there.
    pub log: Vec<Logged>,
    /// Moments of backfill cycles by sdiag, milliseconds since 1970; empty where it is not there.
    pub sdiag_cycles: Vec<i64>,
    /// CPUs in use of nodes.
    pub samples: Vec<CpuSample>,
    /// Missing records and assumptions, one sentence each.
    pub assumptions: Vec<String>,
}

impl Recorded {
    /// Reads a folder.
    ///
    /// # Errors
    /// A folder without slurm.conf or without jobs; files that cannot be read.
    pub fn read(folder: &Path) -> Result<Recorded, InputError> {
        let mut assumptions = Vec::new();
        let files = Files::of(folder)?;
        let find = |fits: &dyn Fn(&str) -> bool| files.find(fits);
        let conf_path = files.conf(&mut assumptions)?;
        let log = match find(&|name| name == "slurmctld.log") {
            Some(path) => read_log(&path)?,
            None => Log::default(),
        };
        let (mut conf, mut machine) = read_conf(&conf_path, log.release)?;
        files.add_outages(&mut machine)?;
        let logged = outages::logged(&log.events, &machine);
        machine.outages.extend(logged);
        if is_before_fair_tree(&conf_path) && !conf.config.priority_flags.no_fair_tree {
            conf.config.priority_flags.no_fair_tree = true;
            let why = "fair share is classic, the default before Slurm 19.05";
            assumptions.push(why.to_owned());
        }
        let accounting = files.accounting(&mut assumptions)?;
        let sacct = find(&|name| name.starts_with("sacct") && !name.starts_with("sacctmgr"));
        let sacct =
            sacct.ok_or_else(|| lacks(folder, "sacct.txt, the output of sacct -a -X -P"))?;
        let options = [
            find(&|name| name == "jobs.tsv"),
            find(&|name| name.ends_with(".events")),
        ];
        let mut jobs = jobs::read(&sacct, options, &mut assumptions)?;
        if !log.events.is_empty() {
            jobs::refine(&mut jobs, &log.events);
        }
        assumptions.extend(cut_log(&jobs, &log.events));
        let sdiag_cycles = match find(&|name| name.starts_with("sdiag")) {
            Some(path) if log.events.is_empty() => samples::sdiag_cycles(&text(&path)?),
            _ => Vec::new(),
        };
        let samples = match find(&|name| name == "nodes.txt") {
            Some(path) => samples::cpus(&text(&path)?),
            None => Vec::new(),
        };
        Ok(Recorded {
            name: folder.display().to_string(),
            release: log.release,
            conf,
            machine,
            accounting,
            jobs,
            log: log.events,
            sdiag_cycles,
            samples,
            assumptions,
        })
    }

    /// A log of jobs on the machine of a site: `site` is a folder with slurm.conf and
    /// sacctmgr.script, or a slurm.conf alone, or a site in TOML with its nodes.
    ///
    /// # Errors
    /// A folder without slurm.conf, files that cannot be read, a site in TOML without nodes, a log that is
    /// neither the output of sacct nor in the Standard Workload Format.
    pub fn of_log(log: &Path, site: &Path) -> Result<Recorded, InputError> {
        let mut assumptions = Vec::new();
        if is_described(site) {
            let (site, machine) = read_site(site)?;
            let jobs = jobs::read_log(log, &mut assumptions)?;
            assumptions.push("usage of the site is not counted: it begins at zero".to_owned());
            return Ok(Recorded {
                name: log.display().to_string(),
                release: None,
                conf: described::conf(&site),
                machine,
                accounting: described::accounting(&site),
                jobs,
                log: Vec::new(),
                sdiag_cycles: Vec::new(),
                samples: Vec::new(),
                assumptions,
            });
        }
        let (conf_path, accounting, files) = match site.is_dir() {
            true => {
                let files = Files::of(site)?;
                let conf = files.conf(&mut assumptions)?;
                (conf, files.accounting(&mut assumptions)?, Some(files))
            }
            false => {
                assumptions.push(NO_SCRIPT.to_owned());
                (site.to_path_buf(), Accounting::default(), None)
            }
        };
        let (conf, mut machine) = read_conf(&conf_path, None)?;
        if let Some(files) = files {
            files.add_outages(&mut machine)?;
        }
        let jobs = jobs::read_log(log, &mut assumptions)?;
        Ok(Recorded {
            name: log.display().to_string(),
            release: None,
            conf,
            machine,
            accounting,
            jobs,
            log: Vec::new(),
            sdiag_cycles: Vec::new(),
            samples: Vec::new(),
            assumptions,
        })
    }
}

const NO_SCRIPT: &str =
    "sacctmgr.script is missing: every account has one share, there are no limits";

/// The files of a folder.
struct Files<'a> {
    folder: &'a Path,
    names: Vec<String>,
}

impl<'a> Files<'a> {
    fn of(folder: &'a Path) -> Result<Files<'a>, InputError> {
        Ok(Files {
            folder,
            names: names(folder)?,
        })
    }

    /// The first file, by name, whose name without `.gz` fits.
    fn find(&self, fits: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        let mut fitting = self.names.iter().filter(|name| fits(plain(name)));
        fitting.next().map(|name| self.folder.join(name))
    }

    /// `slurm-RELEASE.conf`, or else slurm.conf.
    fn conf(&self, assumptions: &mut Vec<String>) -> Result<PathBuf, InputError> {
        let named_release = self.find(&|name| {
            let release = name
                .strip_prefix("slurm-")
                .and_then(|rest| rest.strip_suffix(".conf"));
            release.is_some_and(|release| release.starts_with(|c: char| c.is_ascii_digit()))
        });
        if let Some(path) = named_release {
            let name = Path::new(path.file_name().unwrap_or_default()).display();
            assumptions.push(format!(
                "settings are those of {name}, which names the release"
            ));
            return Ok(path);
        }
        let found = self.find(&|name| name == "slurm.conf");
        found.ok_or_else(|| lacks(self.folder, "slurm.conf"))
    }

    /// Times in which nodes are not for jobs.
    fn add_outages(&self, machine: &mut Machine) -> Result<(), InputError> {
        if let Some(path) = self.find(&|name| name.starts_with("node_events")) {
            let found = outages::events(&shown(&path), &text(&path)?, machine)?;
            machine.outages.extend(found);
        }
        if let Some(path) = self.find(&|name| name.starts_with("reservations")) {
            let found = outages::reservations(&shown(&path), &text(&path)?, machine)?;
            machine.outages.extend(found);
        }
        Ok(())
    }

    /// Accounts, users and QOS of sacctmgr.script.
    fn accounting(&self, assumptions: &mut Vec<String>) -> Result<Accounting, InputError> {
        let Some(path) = self.find(&|name| name == "sacctmgr.script") else {
            assumptions.push(NO_SCRIPT.to_owned());
            return Ok(Accounting::default());
        };
        let mut left = LeftOut::default();
        let found = script::read(&shown(&path), &text(&path)?, &mut left)?;
        assumptions.extend(left.notes());
        Ok(found)
    }
}

/// Reads slurm.conf, called by its path, and the files that it includes from its folder.
///
/// # Errors
/// Files that cannot be read; values that slurm.conf would not take.
pub fn read_conf(path: &Path, release: Option<Release>) -> Result<(Conf, Machine), InputError> {
    let name = path.display().to_string();
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut fetch = |include: &fairtree::config::Include| {
        let file = Path::new(&include.file).file_name().unwrap_or_default();
        fs::read_to_string(folder.join(file)).map_err(|error| error.to_string())
    };
    let document = Document::read(&text(path)?, &name, &mut fetch);
    let conf = conf::of_document(&document, &name, release)?;
    Ok((conf, machine::read(&document, &name)?))
}

/// Returns true for `slurm-17.11.conf` and the like, of a release in which Fair Tree was not the
/// default.
fn is_before_fair_tree(conf: &Path) -> bool {
    let name = conf.file_name().unwrap_or_default().to_string_lossy();
    let release = name
        .strip_prefix("slurm-")
        .and_then(|rest| rest.strip_suffix(".conf"));
    let mut numbers = release
        .unwrap_or("")
        .split('.')
        .map(|part| part.parse::<u32>().ok());
    let both = numbers.next().flatten().zip(numbers.next().flatten());
    both.is_some_and(|both| both < (19, 5))
}

/// The log, and the release that it names.
#[derive(Default)]
struct Log {
    events: Vec<Logged>,
    release: Option<Release>,
}

fn read_log(path: &Path) -> Result<Log, InputError> {
    let name = path.display().to_string();
    let events = controller_log::read(&name, open(path)?.input)?;
    let release = events.iter().find_map(|line| match line.event {
        LogEvent::Started(release) => Some(release),
        _ => None,
    });
    Ok(Log {
        events,
        release: release.flatten(),
    })
}

/// A sentence on a log that ends before jobs start, whose scheduling it cannot show.
fn cut_log(jobs: &[RecordedJob], log: &[Logged]) -> Option<String> {
    let end_ms = log.iter().map(|line| line.at_ms).max()?;
    // sacct cuts off less than a second.
    let is_later = |start_ms: i64| start_ms > end_ms + 1000;
    let starts = jobs.iter().filter_map(|job| job.start_ms);
    let later = starts.filter(|start_ms| is_later(*start_ms)).count();
    let end = Timestamp::from_millisecond(end_ms).unwrap_or_default();
    (later > 0).then(|| {
        format!(
            "slurmctld.log ends at {end:.0}, before {later} of the jobs start: their cycles are missing, and \
             their starts count as not predicted"
        )
    })
}

/// Names of the files of a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>, InputError> {
    let unread = |error| InputError::new(&folder.display().to_string(), error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let name = entry.map_err(unread)?.file_name();
        names.extend(name.into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// The name without `.gz`.
fn plain(name: &str) -> &str {
    name.strip_suffix(".gz").unwrap_or(name)
}

fn lacks(folder: &Path, what: &str) -> InputError {
    let why = format!("has no {what}");
    InputError::new(&folder.display().to_string(), Problem::Structure(why))
        .hint("docs/simulate.md lists the files of a recorded run")
}

fn open(path: &Path) -> Result<Stream<'static>, InputError> {
    let unread = |error| InputError::new(&path.display().to_string(), error);
    let file = File::open(path).map_err(unread)?;
    stream::open(file).map_err(unread)
}

fn text(path: &Path) -> Result<String, InputError> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut open(path)?.input, &mut bytes)
        .map_err(|error| InputError::new(&path.display().to_string(), error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A path for a message.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
