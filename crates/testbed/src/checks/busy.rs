//! A busy site: jobs end every second, so that RawUsage is newer than the other columns of sshare.
//! `fairtree share --check` and `fairtree doctor` find no difference there, and still find a wrong
//! factor.
//!
//! The variable `BUSY_SAMPLES` is the number of samples, 10 by default.

use std::env;
use std::fs;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::Check;
use super::fixture::{self, DEADLINE, job};
use super::what_if;
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::wait;

/// Samples in which usage has grown since the last pass at least once.
const MOST_SAMPLES: u32 = 200;

/// Jobs of an array: more than end during all samples.
const TASKS: u32 = 900;

/// No sample shows a difference; a wrong factor in a capture does.
pub fn agrees(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    // Usage with fractions, as on most sites.
    plan.settings
        .push(("PriorityDecayHalfLife", "1:00:00".to_owned()));
    check.in_cluster(&plan, |cluster| {
        for (user, account) in [
            ("ann", "left"),
            ("bob", "left"),
            ("cyd", "right"),
            ("eve", "lower"),
            ("ann", "lower"),
        ] {
            let mut ends = job(user, account, 1);
            ends.options.push(format!("--array=1-{TASKS}"));
            cluster.submit(&NewJob { cpus: 1, ..ends })?;
        }
        wait::until_true("jobs have ended", DEADLINE, || {
            Ok(fixture::total_usage(cluster)? > 20)
        })?;
        let samples = match env::var("BUSY_SAMPLES") {
            Ok(number) => number.parse().context("BUSY_SAMPLES")?,
            Err(_) => 10,
        };
        let mut grown = 0;
        let mut sample = 0;
        // As many as it takes until usage has grown between a pass and a sample.
        while sample < samples || grown == 0 && sample < MOST_SAMPLES {
            sample += 1;
            check.step(&format!("sample {sample} of {samples}"));
            let ran = cluster.fairtree(&["share", "--check"])?;
            ensure!(
                ran.code == 0,
                "sample {sample} of share --check: {}{}\n{}",
                ran.out,
                ran.err,
                cluster.run(&["sshare", "-a", "-l", "-P"])?
            );
            grown += u32::from(ran.out.contains("RawUsage grew"));
            numbers_are_ok(cluster).with_context(|| format!("sample {sample} of doctor"))?;
        }
        ensure!(
            grown > 0,
            "usage grew before no sample: the site is not busy"
        );
        check.step("a wrong factor");
        a_wrong_factor_is_found(cluster)
    })
}

/// `fairtree doctor` has nothing to say about the numbers.
fn numbers_are_ok(cluster: &Cluster) -> Result<()> {
    let ran = cluster.fairtree(&["doctor", "--json"])?;
    let found: Value = serde_json::from_str(&ran.out).context("doctor's JSON")?;
    let findings = found["findings"].as_array().context("findings")?;
    for finding in findings.iter().filter(|one| one["check"] == "numbers") {
        if finding["level"] != "ok" {
            bail!("{finding}");
        }
    }
    Ok(())
}

/// The best factor and the worst one change places in a capture.
fn a_wrong_factor_is_found(cluster: &Cluster) -> Result<()> {
    let folder = cluster.path().join("captures/busy");
    let name = folder.display().to_string();
    cluster.fairtree(&["capture", &name])?;
    let ran = cluster.fairtree(&["share", "--check", "--from", &name])?;
    ensure!(ran.code == 0, "the capture: {}", ran.out);
    let file = what_if::first_capture(&folder)?.join("sshare.txt");
    let text = fs::read_to_string(&file)?;
    fs::write(&file, with_swapped_factors(&text)?)?;
    let ran = cluster.fairtree(&["share", "--check", "--from", &name])?;
    let found = ran.out.lines().filter(|line| line.contains("FairShare is"));
    ensure!(
        ran.code == 1 && found.count() >= 2,
        "swapped factors are not found: {}\n{}",
        ran.out,
        fs::read_to_string(&file)?
    );
    Ok(())
}

fn with_swapped_factors(text: &str) -> Result<String> {
    let header = text.lines().find(|line| line.contains("FairShare"));
    let columns: Vec<&str> = header.context("a header")?.split('|').collect();
    let column = columns.iter().position(|name| name.trim() == "FairShare");
    let column = column.context("FairShare")?;
    let factor = |line: &str| line.split('|').nth(column)?.trim().parse::<f64>().ok();
    let factors = || text.lines().filter_map(factor);
    let (best, worst) = (
        factors().fold(0.0, f64::max),
        factors().fold(f64::INFINITY, f64::min),
    );
    let lines = text.lines().map(|line| {
        let other = match factor(line) {
            Some(value) if value == best => worst,
            Some(value) if value == worst => best,
            _ => return format!("{line}\n"),
        };
        let mut cells: Vec<String> = line.split('|').map(str::to_owned).collect();
        cells[column] = format!("{other:.6}");
        format!("{}\n", cells.join("|"))
    });
    Ok(lines.collect())
}
