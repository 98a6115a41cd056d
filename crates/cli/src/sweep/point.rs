//! A point of a sweep as the options of `fairtree simulate`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::super::args::{ChangeArgs, SchedulerName};
use super::super::changes;
use fairtree_analysis::simulate::Rules;
use fairtree_model::input::sweep::Point;

/// The options of a point.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// The scheduler.
    pub scheduler: SchedulerName,
    /// Processors of a pool.
    pub procs: Option<u32>,
    /// Changes of the site.
    pub changes: ChangeArgs,
    /// Nodes of partitions.
    pub nodes: Vec<String>,
}

impl Options {
    /// Those of a point; files are in `folder`.
    ///
    /// # Errors
    /// A sentence: a setting with a value that is not allowed.
    pub fn of(point: &Point, folder: &Path) -> Result<Options, String> {
        let mut options = Options {
            scheduler: SchedulerName::Easy,
            procs: None,
            changes: ChangeArgs::default(),
            nodes: Vec::new(),
        };
        for (name, value) in &point.0 {
            let file = || -> PathBuf { folder.join(value) };
            let (kind, of) = name.split_once('.').unwrap_or((name, ""));
            let pair = format!("{of}={value}");
            let own = &mut options.changes;
            match kind {
                "scheduler" => {
                    options.scheduler = SchedulerName::from_str(value, true).map_err(|_| {
                        let allowed = "easy, fcfs, conservative or slurm";
                        format!("scheduler: found {value:?}, allowed is {allowed}")
                    })?;
                }
                "procs" => {
                    let count = value.parse().ok().filter(|count| *count > 0);
                    options.procs = Some(count.ok_or_else(|| {
                        format!("procs: found {value:?}, allowed is a number from 1")
                    })?);
                }
                // An empty name is the site as it is.
                "slurm_conf" if !value.is_empty() => own.slurm_conf = Some(file()),
                "policy" if !value.is_empty() => own.policy.push(file()),
                "slurm_conf" | "policy" => {}
                "set" => own.set.push(pair),
                "partition_factor" => own.partition_factor.push(pair),
                "qos_priority" => own.qos_priority.push(pair),
                "usage_factor" => own.usage_factor.push(pair),
                "parent" => own.parent.push(pair),
                "shares" => own.shares.push(pair),
                "assoc_priority" => own.assoc_priority.push(pair),
                "nodes" => options.nodes.push(pair),
                other => return Err(format!("{other} is no setting of a sweep")),
            }
        }
        Ok(options)
    }

    /// The rules by which jobs start.
    pub fn rules(&self) -> Rules {
        match self.scheduler.of_pool() {
            None => Rules::Slurm,
            Some(kind) => Rules::Pool(kind, self.procs),
        }
    }
}

/// Refuses a point that can never run.
///
/// # Errors
/// A sentence.
pub(super) fn check(point: &Point, has_site: bool) -> Result<(), String> {
    let options = Options::of(point, Path::new("."))?;
    let is_slurm = options.scheduler.of_pool().is_none();
    if has_site {
        return match (is_slurm, options.procs) {
            (true, Some(_)) => Err("procs: not with scheduler = \"slurm\"".to_owned()),
            _ => {
                // Files are read later: what is checked here are names and numbers.
                let words = ChangeArgs {
                    slurm_conf: None,
                    policy: Vec::new(),
                    ..options.changes
                };
                changes::of_site(&words)
                    .map(drop)
                    .map_err(|error| error.to_string())
            }
        };
    }
    if is_slurm {
        return Err("scheduler = \"slurm\" needs site = \"FOLDER\"".to_owned());
    }
    if let Some(name) = options.changes.first() {
        let name = name.trim_start_matches('-');
        return Err(format!("{name}: needs site = \"FOLDER\""));
    }
    if !options.nodes.is_empty() {
        return Err("nodes: needs site = \"FOLDER\"".to_owned());
    }
    match options.procs {
        None => Err("procs is needed, or site = \"FOLDER\"".to_owned()),
        Some(_) => Ok(()),
    }
}
