//! A sweep as an array job of a cluster: its shards together are one sweep.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::fixture::DEADLINE;
use super::{Check, fixture};
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::cluster::fairtree::build;
use crate::wait;
use xtask::project;

/// Tasks of the array: more than the few runs of the plan would get.
const TASKS: usize = 3;
/// The files of the plan, and where they are in the checkout.
const FILES: [(&str, &str); 4] = [
    ("sweep.toml", "examples/sweep.toml"),
    ("day.sacct", "examples/day.sacct"),
    ("cluster/slurm.conf", "examples/cluster/slurm.conf"),
    (
        "cluster/sacctmgr.script",
        "examples/cluster/sacctmgr.script",
    ),
];

/// The shards of an array job, merged, print the same bytes as one process.
pub(super) fn as_an_array(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Multifactor);
    check.in_cluster(&plan, |cluster| {
        let (array, alone) = (cluster.path().join("array"), cluster.path().join("alone"));
        // Jobs find no checkout in the root folder of another Debian release.
        let command = cluster.path().join("fairtree");
        fs::copy(build()?, &command)?;
        for folder in [&array, &alone] {
            fs::create_dir_all(folder.join("cluster"))?;
            for (name, from) in FILES {
                fs::copy(project::root().join(from), folder.join(name))?;
            }
        }
        check.step("one process");
        let expected = sweep(&command, &alone, &["--json"])?;
        check.step("an array job");
        submit(cluster, &command, &array)?;
        let merged = sweep(&command, &array, &["--merge", "--json"])?;
        ensure!(!expected.is_empty(), "the sweep prints nothing");
        ensure!(
            merged == expected,
            "one process:\n{expected}\nthe array:\n{merged}"
        );
        Ok(())
    })
}

/// Runs `fairtree sweep sweep.toml` in a folder. `command`: where it is.
fn sweep(command: &Path, folder: &Path, options: &[&str]) -> Result<String> {
    let mut command = Command::new(command);
    command.args(["sweep", "sweep.toml"]).args(options);
    let output = command.current_dir(folder).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Submits the script of `--sbatch`, cut into more tasks, and waits for all of them.
fn submit(cluster: &Cluster, command: &Path, folder: &Path) -> Result<()> {
    let script = sweep(command, folder, &["--sbatch"])?;
    let (one, several) = (
        ["--array=1-1", "_ID/1\""],
        [format!("--array=1-{TASKS}"), format!("_ID/{TASKS}\"")],
    );
    let mut cut = script.clone();
    for (from, to) in one.iter().zip(&several) {
        ensure!(cut.contains(from), "no {from} in {script}");
        cut = cut.replacen(from, to, 1);
    }
    let path = folder.join("sweep.sh");
    fs::write(&path, cut)?;
    let file = path.display().to_string();
    let output = format!("--output={}/task-%a.log", folder.display());
    let id = cluster.run(&[
        "sbatch",
        "--parsable",
        "--account=root",
        "--chdir=/",
        &output,
        &file,
    ])?;
    let job = format!("--jobs={}", id.trim());
    wait::until_true("all tasks of the array are over", DEADLINE, || {
        let left = cluster.run(&["squeue", "--noheader", "--states=all", "--format=%T", &job]);
        // An array that is over may be forgotten.
        let left = left.unwrap_or_default();
        let over = |state: &str| !["PENDING", "RUNNING", "COMPLETING"].contains(&state.trim());
        Ok(left.lines().all(over))
    })?;
    for task in 1..=TASKS {
        let name = format!("sweep.{task}-of-{TASKS}.runs");
        let log = folder.join(format!("task-{task}.log"));
        let said = || fs::read_to_string(&log).unwrap_or_default();
        fs::metadata(folder.join(&name)).with_context(|| format!("no {name}: {}", said()))?;
    }
    Ok(())
}
