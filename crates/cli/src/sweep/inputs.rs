//! The inputs of a sweep: read once, shared by all threads.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::Failure;
use super::super::simulate::{Flag, Log, Policies, read_log};
use super::point::Options;
use fairtree_analysis::simulate::{LeftOut, Report, Rules, Trial, run as replay};
use fairtree_model::input::recorded::Recorded;
use fairtree_model::input::sacct;
use fairtree_model::input::sweep::{Plan, Point, fingerprint};
use fairtree_sim::slurm::free::Observer;
use fairtree_sim::slurm::scene::{Scene, Setup};

/// The inputs of a sweep.
pub(super) struct Inputs {
    /// The folder of the plan.
    folder: PathBuf,
    log: PathBuf,
    /// The site with the jobs; `None`: a pool of processors.
    site: Option<(Recorded, Setup)>,
    fingerprint: String,
    /// Jobs for a pool without a site, by its processors.
    pools: Mutex<HashMap<u32, Arc<Log>>>,
}

impl Inputs {
    /// Reads those of a plan.
    ///
    /// # Errors
    /// Files that cannot be read, or have no job.
    pub fn read(plan: &Plan, path: &Path) -> Result<Inputs, Failure> {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let log = folder.join(&plan.log);
        let site = match &plan.site {
            None => None,
            Some(site) => {
                let recorded = Recorded::of_log(&log, &folder.join(site))?;
                if recorded.jobs.is_empty() {
                    let reasons = recorded.assumptions.join("\n");
                    return Err(Failure::Usage(format!(
                        "{}: has no job that can be replayed\n{reasons}",
                        log.display()
                    )));
                }
                let setup = Setup::of(&recorded);
                Some((recorded, setup))
            }
        };
        let mut files = vec![log.clone()];
        if let Some(site) = &plan.site {
            files.extend(files_of(&folder.join(site))?);
        }
        let mut named: Vec<PathBuf> = Vec::new();
        for point in &plan.points {
            let names = ["policy", "slurm_conf"].into_iter();
            let names = names.filter_map(|name| point.get(name).filter(|name| !name.is_empty()));
            named.extend(names.map(|name| folder.join(name)));
        }
        named.sort();
        named.dedup();
        files.extend(named);
        let mut texts = vec![
            env!("CARGO_PKG_VERSION").as_bytes().to_vec(),
            plan.fair_starts.to_string().into_bytes(),
        ];
        for file in &files {
            let read = fs::read(file);
            texts.push(read.map_err(|error| Failure::File(file.display().to_string(), error))?);
        }
        Ok(Inputs {
            folder,
            log,
            site,
            fingerprint: fingerprint(texts.iter().map(Vec::as_slice)),
            pools: Mutex::default(),
        })
    }

    /// The fingerprint of all files and of the program.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Runs a point with a seed. A report that is not complete was stopped.
    ///
    /// # Errors
    /// Settings that the site does not have.
    pub fn report(
        &self,
        plan: &Plan,
        point: &Point,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Report, Failure> {
        let usage = |error: String| Failure::Usage(format!("{point}: {error}"));
        let options = Options::of(point, &self.folder).map_err(usage)?;
        let Some((recorded, setup)) = &self.site else {
            return self.on_pool(plan, &options, stop);
        };
        let policies = Policies::of(
            setup.clone(),
            &recorded.name,
            &options.changes,
            &options.nodes,
        );
        let policies = policies.map_err(|error| usage(error.to_string()))?;
        let scene = Scene::new(policies.after, &recorded.jobs);
        let trial = Trial {
            scene: scene.map_err(|error| usage(error.0))?,
            log: &recorded.jobs,
            rules: options.rules(),
            fair_starts: plan.fair_starts,
        };
        let report = trial.report(seed, &mut Flag(stop));
        report.map_err(|error| usage(error.0))
    }

    fn on_pool(
        &self,
        plan: &Plan,
        options: &Options,
        stop: &AtomicBool,
    ) -> Result<Report, Failure> {
        let Rules::Pool(kind, Some(processors)) = options.rules() else {
            return Err(Failure::Usage("procs is needed".to_owned()));
        };
        let log = self.pool(processors)?;
        let mut flag = Flag(stop);
        let replayed = replay(&log.workload, kind, plan.fair_starts, &mut || flag.go_on());
        let accounts = log.workload.accounts.names.len();
        let entitled = vec![1.0 / accounts.max(1) as f64; accounts];
        let left_out = LeftOut::of(&log.workload, log.summary.idle, log.summary.unreadable);
        Ok(Report::new(&log.workload, &replayed, &entitled, left_out))
    }

    /// The jobs of the log for a pool, read at its first use.
    fn pool(&self, processors: u32) -> Result<Arc<Log>, Failure> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = pools.get(&processors) {
            return Ok(Arc::clone(log));
        }
        let log = read_log(Some(&self.log), sacct::Options::default(), processors)?;
        let log = Arc::new(log);
        pools.insert(processors, Arc::clone(&log));
        Ok(log)
    }
}

/// The files of a site that count: all of a folder, except results.
fn files_of(site: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !site.is_dir() {
        return Ok(vec![site.to_path_buf()]);
    }
    let failed = |error| Failure::File(site.display().to_string(), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(site).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let counts = path.extension().is_some_and(|end| end == "conf")
            || path
                .file_name()
                .is_some_and(|name| name == "sacctmgr.script");
        if counts && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
