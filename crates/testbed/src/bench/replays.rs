//! Replays of an archived log: time and memory of `fairtree simulate`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use xtask::progress::Progress;
use xtask::project;

use super::command::Cost;
use super::table::{Measurement, Table, Unit};

/// The log of CEA Curie, 295,540 jobs that can be replayed, among the real data.
const LOG: &str = "swf/CEA-Curie-2011-2.1-cln.swf.gz";

/// Jobs of the log's beginning that are replayed under Slurm's rules, with nodes and backfill cycles: all
/// of them take an hour or more.
const FIRST: &str = "3000";

/// Curie's nodes, and passes each five minutes.
const CONF: &str = "ClusterName=curie\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
    PriorityType=priority/multifactor\nPriorityCalcPeriod=5\nPriorityWeightAge=1000\n\
    PriorityWeightFairshare=100000\nNodeName=n[1-5040] CPUs=16\n\
    PartitionName=main Nodes=ALL Default=YES MaxTime=UNLIMITED\n";

/// The folder of the real data: that of `FAIRTREE_DATA`, or `../shared/data`.
fn log() -> Option<PathBuf> {
    let folder = std::env::var_os("FAIRTREE_DATA");
    let folder = folder.map_or_else(|| project::root().join("../shared/data"), PathBuf::from);
    Some(folder.join(LOG)).filter(|path| path.is_file())
}

/// The table; `None` where the real data is absent.
///
/// # Errors
/// Fails if the command fails.
pub fn measure(program: &Path, progress: &Progress) -> Result<Option<Table>> {
    let Some(log) = log() else {
        progress.print("real data is absent (FAIRTREE_DATA): no replays");
        return Ok(None);
    };
    progress.step("the command: replaying CEA Curie");
    let simulate = || {
        let mut command = Command::new(program);
        command.args(["-q", "simulate", "--fair-starts", "0"]);
        command
    };
    let easy = Cost::of(simulate().args(["--procs", "80640"]).arg(&log))?;
    let folder = tempfile::tempdir()?;
    let conf = folder.path().join("slurm.conf");
    fs::write(&conf, CONF)?;
    let part = folder.path().join("first.swf");
    let cut = format!("zcat \"$1\" | grep -v '^;' | head -n {FIRST} > \"$2\"");
    let args = ["-c", &cut, "sh"];
    xtask::command::checked(Command::new("sh").args(args).arg(&log).arg(&part))?;
    let site = ["--scheduler", "slurm", "--site"];
    let slurm = Cost::of(simulate().args(site).arg(&conf).arg(&part))?;
    let time = |what: &str, cost: Cost, most: f64| {
        Measurement::new(what, Unit::Milliseconds, cost.ms).at_most(most)
    };
    let memory = |cost: Cost| {
        Measurement::new("its memory, at most", Unit::Megabytes, cost.megabytes).at_most(2000.0)
    };
    Ok(Some(Table {
        title: "replays of CEA Curie, 80,640 cores".to_owned(),
        heads: ("fairtree", ""),
        rows: vec![
            time("EASY, 295,540 jobs", easy, 5000.0),
            memory(easy),
            // Five minutes for all jobs.
            time("Slurm's rules, its first 3,000 jobs", slurm, 3000.0),
            memory(slurm),
        ],
    }))
}
