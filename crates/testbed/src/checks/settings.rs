//! Settings: a reconfigure applies new ones, and bad ones are refused.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::Check;
use super::fixture::{self, DEADLINE, PERIOD, job};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::facts::facts;
use crate::wait;
use xtask::release::Release;

#[path = "../../../../tests/common/starts.rs"]
mod starts;

/// A pending job in the partition with the largest factor.
fn waiting_job(cluster: &Cluster) -> Result<u32> {
    fixture::occupy(cluster)?;
    let debug = NewJob {
        partition: "debug",
        ..job("ann", "left", 60)
    };
    cluster.submit(&debug)
}

/// Points of one of sprio's columns for the job.
fn points(cluster: &Cluster, id: u32, column: &str) -> Result<u64> {
    cluster.sprio()?.find("JOBID", &id.to_string())?.get(column)
}

/// Weights and flags change at `scontrol reconfigure`, without a restart.
pub fn reconfigure(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        let id = waiting_job(cluster)?;
        let becomes = |cluster: &Cluster, expected: u64| {
            let what = format!("the partition's points become {expected}");
            wait::until_true(&what, DEADLINE, || {
                Ok(points(cluster, id, "PARTITION_FACTOR")? == expected)
            })
        };
        becomes(cluster, 5000)?;
        check.step("another weight");
        cluster.conf_mut().set("PriorityWeightPartition", "7000");
        cluster.reconfigure()?;
        becomes(cluster, 7000)?;
        check.step("another flag");
        // The partition's own factor (70) instead of the normalised one.
        cluster.conf_mut().set("PriorityFlags", "NO_NORMAL_PART");
        cluster.reconfigure()?;
        becomes(cluster, 490_000)?;
        cluster.conf_mut().unset("PriorityFlags");
        cluster.reconfigure()?;
        becomes(cluster, 7000)
    })
}

/// Returns true if a reconfigure restarts slurmctld, instead of reading slurm.conf into the running
/// process.
pub fn reconfigure_restarts(release: &Release) -> bool {
    facts(release).reconfigure_restarts
}

/// With bad `PriorityParameters` a reconfigure keeps the old settings, and a start fails.
pub fn bad_parameters(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        let id = waiting_job(cluster)?;
        fixture::next_pass(cluster)?;

        check.step("reconfiguring with bad parameters");
        let good = format!("calc_period={PERIOD}");
        cluster
            .conf_mut()
            .set("PriorityParameters", "compat=sideways");
        cluster.conf_mut().set("PriorityWeightPartition", "9000");
        // The command may report the refusal or not; slurmctld must log it either way.
        let _ = cluster.reconfigure();
        old_settings_stay(cluster, id, 1)?;
        check.step("once more");
        // A restarted slurmctld has read only bad settings.
        let _ = cluster.reconfigure();
        old_settings_stay(cluster, id, 2)?;
        cluster.stop_slurmctld()?;

        check.step("starting with bad parameters");
        let log = cluster.start_slurmctld_in_vain()?;
        ensure!(names_the_fault(&log, "sideways"), "not named in:\n{log}");
        let unknown = format!("{good},frobnicate=1");
        cluster.conf_mut().set("PriorityParameters", unknown);
        cluster.write_conf()?;
        let log = cluster.start_slurmctld_in_vain()?;
        ensure!(names_the_fault(&log, "frobnicate"), "not named in:\n{log}");

        check.step("starting with good ones again");
        cluster.conf_mut().set("PriorityParameters", good);
        cluster.write_conf()?;
        cluster.start_slurmctld()?;
        wait::until_true("the new weight counts", DEADLINE, || {
            Ok(points(cluster, id, "PARTITION_FACTOR").context("sprio")? == 9000)
        })
    })
}

/// Waits until `refusals` refusals are logged and passes continue with the old weight.
fn old_settings_stay(cluster: &Cluster, id: u32, refusals: usize) -> Result<()> {
    wait::until_true("the refusal is logged", DEADLINE, || {
        let log = cluster.slurmctld_log()?;
        let lines = log.lines().filter(|line| names_the_fault(line, "sideways"));
        Ok(lines.count() >= refusals)
    })?;
    fixture::next_pass(cluster)?;
    let found = points(cluster, id, "PARTITION_FACTOR")?;
    ensure!(
        found == 5000,
        "refused settings were taken: {found} instead of 5000 points"
    );
    Ok(())
}

/// The same under systemd, where a reconfigure hands over to a new process.
pub fn bad_parameters_under_systemd(check: &Check) -> Result<()> {
    if !reconfigure_restarts(check.release) {
        // In these releases it is the same process as without systemd.
        return Ok(());
    }
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        let id = waiting_job(cluster)?;
        fixture::next_pass(cluster)?;
        cluster.stop_slurmctld()?;
        let systemd = cluster.start_slurmctld_under_systemd()?;
        let first = systemd.main_pid()?;

        check.step("reconfiguring with bad parameters");
        let good = format!("calc_period={PERIOD}");
        let conf = cluster.conf_mut();
        conf.set("PriorityParameters", "compat=sideways");
        conf.set("PriorityWeightPartition", "9000");
        let _ = cluster.reconfigure();
        let second = systemd.main_pid()?;
        ensure!(first != second, "{first} is still slurmctld");
        old_settings_stay(cluster, id, 1)?;

        check.step("reconfiguring with good ones");
        cluster.conf_mut().set("PriorityParameters", good);
        let _ = cluster.reconfigure();
        let third = systemd.main_pid()?;
        ensure!(second != third, "{second} is still slurmctld");
        wait::until_true("the new weight counts", DEADLINE, || {
            Ok(points(cluster, id, "PARTITION_FACTOR").context("sprio")? == 9000)
        })
    })
}

/// slurmctld refuses what `fairtree lint` refuses, and nothing else.
pub fn lint_and_slurmctld(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        check.step("lines");
        let folder = cluster.conf_file().parent().context("a folder")?.to_owned();
        fs::write(folder.join("inc.conf"), "PriorityWeightQOS=3\n")?;
        let file = folder.join("line.conf");
        let refused = starts::REFUSED_LINES.iter().map(|line| (true, line));
        let read = starts::READ_LINES.iter().map(|line| (false, line));
        for (refused, line) in refused.chain(read) {
            fs::write(&file, format!("{}{line}\n", cluster.conf().render()))?;
            let ran = cluster.shell(&format!("SLURM_CONF={} sinfo", file.display()))?;
            let fails = ran.err.contains("Unable to process configuration file");
            ensure!(
                fails == refused,
                "{line:?}: sinfo says {}{}",
                ran.out,
                ran.err
            );
            let errors = lint_errors(cluster, &file, &[])?;
            ensure!(
                errors.is_empty() != refused,
                "{line:?}: lint says {errors:?}"
            );
        }

        let accounts = folder.join("accounts");
        fs::write(&accounts, cluster.run(&["sshare", "-a", "-l", "-P"])?)?;
        let accounts = accounts.display().to_string();
        let policy = folder.join("policy.toml");
        let path = policy.display().to_string();
        cluster.stop_slurmctld()?;
        for start in starts::STARTS {
            let shown = format!("{} {}", start.flags, start.parameters);
            check.step(shown.trim());
            let _ = fs::remove_file(&policy);
            if let Some(text) = start.policy {
                fs::write(&policy, text)?;
            }
            let conf = cluster.conf_mut();
            conf.unset("PriorityFlags");
            if !start.flags.is_empty() {
                conf.set("PriorityFlags", start.flags);
            }
            let parameters = start.parameters.replace(starts::POLICY, &path);
            conf.set("PriorityParameters", parameters);
            cluster.write_conf()?;
            let errors = lint_errors(cluster, &cluster.conf_file(), &["--accounts", &accounts])?;
            let Some((setting, value)) = start.refused else {
                ensure!(errors.is_empty(), "{shown}: lint says {errors:?}");
                cluster.start_slurmctld()?;
                cluster.stop_slurmctld()?;
                continue;
            };
            let value = value.replace(starts::POLICY, &path);
            let says = format!("{setting} does not take \"{value}\"");
            let named = errors.iter().any(|error| error.contains(&says));
            ensure!(named, "{shown}: lint says {errors:?}");
            let log = cluster.start_slurmctld_in_vain()?;
            let says = format!("{setting}: found \"{value}\"");
            let mut errors = log.lines().filter(|line| line.contains("error:"));
            ensure!(
                errors.any(|line| line.contains(&says)),
                "{shown}: not named in:\n{log}"
            );
        }
        Ok(())
    })
}

/// The reasons of the errors that the linter finds in a file.
fn lint_errors(cluster: &Cluster, file: &Path, options: &[&str]) -> Result<Vec<String>> {
    let file = file.display().to_string();
    let words = [&["lint", "--json", &file], options].concat();
    let found: serde_json::Value = serde_json::from_str(&cluster.fairtree(&words)?.out)?;
    let findings = found["findings"].as_array().context("findings")?.iter();
    let errors = findings.filter(|finding| finding["severity"] == "error");
    let reason = |error: &serde_json::Value| error["reason"].as_str().map(str::to_owned);
    Ok(errors.filter_map(reason).collect())
}

/// Returns true if an error line names the setting and the bad value.
fn names_the_fault(log: &str, found: &str) -> bool {
    log.lines().any(|line| {
        line.contains("error:") && line.contains("PriorityParameters") && line.contains(found)
    })
}
