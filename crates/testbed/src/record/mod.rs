//! A run of a private cluster, kept as a folder that `fairtree simulate --check` and `--free` read.
//!
//! The cluster has GPUs, features and limits of a QOS; jobs come at random moments, some of them in an
//! array, held, dependent or exclusive, and one is cancelled. The folder has what a site can record of
//! itself: the configuration, the options of each `sbatch`, `sacct`, the log of slurmctld, and samples.

mod files;
mod plan;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cluster::Cluster;
use crate::wait;
use files::Folder;
use plan::Submission;
use xtask::interrupt;
use xtask::progress::Progress;
use xtask::release::Release;

/// Time between two samples.
const SAMPLE: Duration = Duration::from_secs(2);
/// Far longer than the last jobs take after the last submission.
const DEADLINE: Duration = Duration::from_secs(900);

/// A run to record.
#[derive(Clone, Debug)]
pub struct Run {
    /// Slurm's release.
    pub release: Release,
    /// Seconds in which jobs are submitted and run; those that are left then run to their ends.
    pub seconds: u64,
    /// The jobs are drawn from this.
    pub seed: u64,
}

/// Something that is done at a moment of the run.
enum Deed {
    Submit(usize),
    Release(usize),
    Cancel(usize),
}

impl Run {
    /// Starts a cluster, runs jobs on it, and keeps the run in a new folder. Returns the number of jobs, each
    /// task of an array counted.
    ///
    /// # Errors
    /// A folder that exists already; whatever fails in the cluster.
    pub fn record(&self, folder: &Path, progress: &Progress) -> Result<usize> {
        let folder = Folder::create(folder)?;
        let plan = plan::plan(&self.release);
        let cluster = Cluster::start_as(
            &plan,
            |conf, etc| {
                conf.set_node_options(&plan::node_options());
                conf.set_partitions(plan::partitions());
                let file = etc.join("gres.conf");
                std::fs::write(&file, plan::GRES)
                    .with_context(|| format!("cannot write {}", file.display()))
            },
            progress,
        )?;
        let mut limits = vec!["modify", "qos", "high", "set"];
        limits.extend(plan::LIMITS.split(' '));
        cluster.sacctmgr(&limits)?;
        let jobs = plan::submissions(self.seconds, self.seed);
        self.play(&cluster, &jobs, &folder, progress)?;
        folder.keep(&cluster, &plan)
    }

    /// Submits the jobs, and does what is done to them; takes samples meanwhile.
    fn play(
        &self,
        cluster: &Cluster,
        jobs: &[Submission],
        folder: &Folder,
        progress: &Progress,
    ) -> Result<()> {
        let mut deeds: Vec<(u64, Deed)> = Vec::new();
        for (at, job) in jobs.iter().enumerate() {
            deeds.push((job.at_ms, Deed::Submit(at)));
            deeds.extend(job.released_ms.map(|ms| (ms, Deed::Release(at))));
            deeds.extend(job.cancelled_ms.map(|ms| (ms, Deed::Cancel(at))));
        }
        deeds.sort_by_key(|(ms, _)| *ms);
        progress.steps(deeds.len(), "playing jobs");
        let begin = Instant::now();
        let mut ids: Vec<Option<u32>> = vec![None; jobs.len()];
        let mut sampled: Option<Instant> = None;
        for (done, (ms, deed)) in deeds.iter().enumerate() {
            let due = Duration::from_millis(*ms);
            loop {
                interrupt::check()?;
                if sampled.is_none_or(|last| last.elapsed() >= SAMPLE) {
                    sampled = Some(Instant::now());
                    folder.sample(cluster)?;
                }
                let left = due.saturating_sub(begin.elapsed());
                if left.is_zero() {
                    break;
                }
                std::thread::sleep(left.min(Duration::from_millis(50)));
            }
            match deed {
                Deed::Submit(at) => {
                    let last = at.checked_sub(1).and_then(|last| ids[last]);
                    ids[*at] = Some(folder.submit(cluster, &jobs[*at], last)?);
                }
                Deed::Release(at) | Deed::Cancel(at) => {
                    let id = ids[*at].context("it was submitted")?.to_string();
                    match deed {
                        Deed::Release(_) => cluster.run(&["scontrol", "release", &id])?,
                        _ => cluster.run(&["scancel", &id])?,
                    };
                }
            }
            progress.count(done + 1);
        }
        progress.step("waiting for the last jobs");
        let mut sampled = Instant::now();
        wait::until_true("all jobs are over", DEADLINE, || {
            if sampled.elapsed() >= SAMPLE {
                sampled = Instant::now();
                folder.sample(cluster)?;
            }
            let left = cluster.run(&["squeue", "--noheader", "--format=%i"])?;
            Ok(left.trim().is_empty())
        })
    }
}
