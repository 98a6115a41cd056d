//! `fairtree sweep`, from outside. Expected: the reports of `fairtree simulate` for the same settings, and
//! the same bytes however the runs are divided.

mod command;

use std::fs;
use std::path::{Path, PathBuf};

use command::{Ran, checkout, fairtree, folder};
use serde_json::Value;

/// A folder with the example, smaller: a plan of four points with two seeds each, a log and a site.
fn example(name: &str) -> PathBuf {
    let to = folder(name);
    let from = checkout().join("examples");
    for file in [
        "sweep.toml",
        "day.sacct",
        "cluster/slurm.conf",
        "cluster/sacctmgr.script",
    ] {
        let path = to.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::copy(from.join(file), path).expect("a copy");
    }
    let plan = to.join("sweep.toml");
    let text = fs::read_to_string(&plan).expect("text");
    let text = text.replace("seeds = 3", "seeds = 2");
    fs::write(&plan, text.replace("[20, 40, 80]", "[20, 80]")).expect("written");
    to
}

fn sweep(folder: &Path, args: &[&str]) -> Ran {
    let plan = folder.join("sweep.toml").display().to_string();
    fairtree(&[&["sweep", &plan], args].concat(), b"")
}

fn runs(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("sweep.runs")).expect("results")
}

#[test]
fn a_sweep_is_the_same_in_any_parts() {
    let whole = example("sweep-whole");
    let ran = sweep(&whole, &["--threads", "1", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        (&report["runs"], &report["missing"]),
        (&8.into(), &0.into())
    );
    let points = report["points"].as_array().expect("points");
    assert_eq!(points.len(), 4);

    // More threads: the same bytes, and the same report.
    let threads = example("sweep-threads");
    let again = sweep(&threads, &["--threads", "4", "--json"]);
    assert_eq!(runs(&threads), runs(&whole));
    let plain = |text: &str| text.replace("sweep-threads", "sweep-whole");
    assert_eq!(plain(&again.out), ran.out);
    // A second call runs nothing, and changes nothing.
    let again = sweep(&threads, &["--json"]);
    assert_eq!((again.code, plain(&again.out)), (0, ran.out.clone()));

    // Shards, in any order.
    let shards = example("sweep-shards");
    for shard in ["3/3", "1/3"] {
        assert_eq!(sweep(&shards, &["--shard", shard]).code, 0);
    }
    let merged = sweep(&shards, &["--merge", "--json"]);
    assert_eq!(merged.code, 1, "{}", merged.err);
    let report: Value = serde_json::from_str(&merged.out).expect("JSON");
    let missing = report["missing"].as_u64().expect("a number");
    assert!((1..8).contains(&missing), "{missing}");
    let words = format!("{missing} of 8 runs are missing");
    assert!(merged.err.contains(&words), "{}", merged.err);
    assert_eq!(sweep(&shards, &["--shard", "2/3"]).code, 0);
    assert_eq!(sweep(&shards, &["--merge"]).code, 0);
    assert_eq!(runs(&shards), runs(&whole));
}

#[test]
fn a_point_is_what_simulate_reports() {
    let folder = example("sweep-point");
    let ran = sweep(&folder, &["--json"]);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    let point = report["points"]
        .as_array()
        .expect("points")
        .iter()
        .find(|point| {
            let settings = &point["settings"];
            settings["shares.biology"] == "80" && settings["set.PriorityWeightAge"] == "20000"
        });
    let point = point.expect("the point");
    let mut sum = 0.0;
    for seed in ["1", "2"] {
        let args = [
            "simulate",
            "--json",
            "--scheduler",
            "slurm",
            "--site",
            "examples/cluster",
            "--fair-starts",
            "0",
            "--shares",
            "biology=80",
            "--set",
            "PriorityWeightAge=20000",
            "--seed",
            seed,
            "examples/day.sacct",
        ];
        let ran = fairtree(&args, b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        let own: Value = serde_json::from_str(&ran.out).expect("JSON");
        sum += own["mean_wait_seconds"].as_f64().expect("a number");
    }
    let mean = point["mean_wait_seconds"]["mean"]
        .as_f64()
        .expect("a number");
    assert!((mean - sum / 2.0).abs() < 1e-5, "{mean} {sum}");
    // A picture and a page of the same points.
    for (file, begin) in [("a.svg", "<?xml"), ("a.html", "<!DOCTYPE html>")] {
        let path = folder.join(file).display().to_string();
        let ran = sweep(&folder, &["--chart", &path, "--csv"]);
        assert_eq!(ran.out.lines().count(), 5, "{}", ran.out);
        assert!(fs::read_to_string(&path).expect("text").starts_with(begin));
    }
}

#[test]
fn results_of_other_inputs_are_refused() {
    let folder = example("sweep-mixed");
    assert_eq!(sweep(&folder, &["--shard", "1/2"]).code, 0);
    let script = folder.join("cluster/sacctmgr.script");
    let text = fs::read_to_string(&script).expect("text");
    fs::write(&script, text.replace("fairshare=20", "fairshare=30")).expect("written");
    for args in [&["--shard", "1/2"][..], &["--merge"]] {
        let ran = sweep(&folder, args);
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(
            ran.err.contains("sweep.1-of-2.runs: is of other inputs"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn a_batch_script_has_a_task_for_each_shard() {
    let folder = example("sweep-batch");
    let ran = sweep(&folder, &["--sbatch"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("#!/bin/sh\n"), "{}", ran.out);
    // Eight runs of much less than ten minutes.
    assert!(ran.out.contains("#SBATCH --array=1-1\n"), "{}", ran.out);
    assert!(
        ran.out.contains("--shard \"$SLURM_ARRAY_TASK_ID/1\""),
        "{}",
        ran.out
    );
    assert!(!folder.join("sweep.runs").exists());
}

#[test]
fn wrong_plans_are_refused_before_anything_runs() {
    let folder = example("sweep-wrong");
    let plan = |text: &str| fs::write(folder.join("sweep.toml"), text).expect("written");
    for (text, words) in [
        ("log = 'day.sacct'\n", "procs is needed, or site"),
        (
            "log = 'absent'\n[fixed]\nprocs = 4\n",
            "absent: No such file",
        ),
        (
            "log = 'day.sacct'\n[fixed]\nscheduler = 'slurm'\n",
            "needs site",
        ),
        (
            "log = 'day.sacct'\n[fixed]\nscheduler = 'magic'\nprocs = 4\n",
            "found \"magic\"",
        ),
        (
            "log = 'day.sacct'\nsite = 'cluster'\n[fixed.shares]\nbiology = -1\n",
            "--shares: found",
        ),
        (
            "log = 'day.sacct'\nsite = 'cluster'\n[fixed.shares]\nchemistry = 1\n",
            "found no account",
        ),
        (
            "log = 'day.sacct'\nsite = 'cluster'\n[fixed.set]\nSchedulerParameters = 'bf_x=1'\n",
            "bf_x is not simulated",
        ),
        (
            "log = 'day.sacct'\nsite = 'cluster'\n[fixed.nodes]\nmain = 0\n",
            "keeps at least one node",
        ),
    ] {
        plan(text);
        let ran = sweep(&folder, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{text}");
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    plan("log = 'day.sacct'\n[fixed]\nprocs = 64\n[vary]\nscheduler = ['easy', 'fcfs']\n");
    let ran = sweep(&folder, &["--csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
    let args = ["sweep", "sweep.toml", "--shard", "4/3"];
    assert!(fairtree(&args, b"").code == 2);
}
