//! A recorded run of a private cluster, and what the simulator predicts of it.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Check;
use crate::cluster::fairtree::build;
use crate::record::Run;
use xtask::project;

/// How long jobs come and run, seconds.
const SECONDS: u64 = 60;
/// The part of starts that must be predicted.
const STARTS: f64 = 0.9;
/// The part of predictions that must be right: each cycle in which a job is predicted too early counts.
const PREDICTIONS: f64 = 0.9;

/// Most starts of a recorded run are predicted one step ahead, and most predictions are right.
pub(super) fn is_predicted(check: &Check) -> Result<()> {
    let folder = project::root()
        .join("target/recorded")
        .join(check.release.to_string());
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let run = Run {
        release: check.release.clone(),
        seconds: SECONDS,
        seed: 1,
    };
    let jobs = run.record(&folder, check.progress)?;
    ensure!(jobs > 25, "only {jobs} jobs");
    let found = simulated(&["--check"], &folder)?;
    let count = |key: &str| {
        found[key]
            .as_f64()
            .with_context(|| format!("{key}: {found}"))
    };
    let (starts, predicted) = (count("starts")?, count("starts_predicted")?);
    let (predictions, wrong) = (count("predictions")?, count("predictions_wrong")?);
    ensure!(
        starts > 20.0 && predicted >= STARTS * starts,
        "{predicted} of {starts} starts are predicted: see {}",
        folder.display()
    );
    ensure!(
        predictions - wrong >= PREDICTIONS * predictions,
        "{wrong} of {predictions} predictions are wrong: see {}",
        folder.display()
    );
    // It runs on its own, too.
    let free = simulated(&["--phases", "3", "--free"], &folder)?;
    ensure!(free["complete"] == true, "{free}");
    Ok(())
}

/// `fairtree simulate --json` with options and a folder.
fn simulated(options: &[&str], folder: &Path) -> Result<Value> {
    let mut command = std::process::Command::new(build()?);
    command
        .arg("simulate")
        .arg("--json")
        .args(options)
        .arg(folder);
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).with_context(|| format!("{command:?}: {error}"))
}
