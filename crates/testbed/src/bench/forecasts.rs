//! Forecasts of starts: time of `fairtree forecast`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use xtask::progress::Progress;

use super::busy_site::BusySite;
use super::command::Cost;
use super::table::{Measurement, Table, Unit};

/// The table.
///
/// # Errors
/// Fails if the command fails.
pub fn measure(program: &Path, progress: &Progress) -> Result<Table> {
    progress.step("the command: forecasts");
    let folder = tempfile::tempdir()?;
    let site = |name: &str, site: BusySite| {
        let folder = folder.path().join(name);
        site.write(&folder).map(|job| (folder, job.to_string()))
    };
    let busy = BusySite {
        nodes: 500,
        waiting: 400,
    };
    let (one, job) = site("one", busy)?;
    let long = BusySite {
        waiting: 10_000,
        ..busy
    };
    let (all, _) = site("all", long)?;
    let forecast = |words: &[&str], from: &Path| {
        let mut command = Command::new(program);
        command.args(["-q", "forecast", "--from"]).arg(from);
        Cost::of(command.args(words))
    };
    let row = |what: &str, cost: Cost, most: f64| {
        Measurement::new(what, Unit::Milliseconds, cost.ms).at_most(most)
    };
    Ok(Table {
        title: "forecasts, 500 nodes, 1,800 jobs run".to_owned(),
        heads: ("fairtree", ""),
        rows: vec![
            row("one job, 400 wait", forecast(&[&job], &one)?, 5000.0),
            row(
                "all jobs, 10,000 wait",
                forecast(&["--all"], &all)?,
                60_000.0,
            ),
        ],
    })
}
