//! Plugins of several releases in separate folders, as during an upgrade of Slurm: slurmctld loads
//! the plugin of its own release, and `fairtree doctor` reports in advance whether there is one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Check;
use super::fixture;
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use xtask::command::checked;
use xtask::project;
use xtask::release::Release;

/// A release of the far future, and its `SLURM_VERSION_NUMBER`.
const FUTURE: (&str, &str) = ("99.11.1", "0x630b01");

/// The name of the plugin.
const FILE: &str = "priority_fairtree.so";

/// Doctor before and after an upgrade; slurmctld that finds plugins of other releases first.
pub fn upgrade(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        fixture::next_pass(cluster)?;
        let found = doctor(cluster, &[])?;
        for check in [
            "slurmctld",
            "plugin",
            "plugin-dir",
            "state-folder",
            "last-pass",
            "numbers",
            "slurmdbd",
            "limits",
        ] {
            found.has(check, "ok")?;
        }
        let next = ["--next", FUTURE.0];
        doctor(cluster, &next)?.has("upgrade", "error")?;

        check.step("plugins of other releases before its own");
        let own = cluster
            .conf()
            .get("PluginDir")
            .context("PluginDir")?
            .to_owned();
        let folders = other_plugins(check.release, &cluster.path().join("others"))?;
        let both = format!("{}:{own}", folders.join(":"));
        cluster.stop_slurmctld()?;
        cluster.conf_mut().set("PluginDir", both);
        cluster.write_conf()?;
        cluster.start_slurmctld()?;
        fixture::next_pass(cluster)?;
        let log = cluster.slurmctld_log()?;
        let refused = folders.iter().all(|folder| {
            log.lines()
                .any(|line| line.contains(&format!("{folder}/{FILE}")))
        });
        ensure!(refused, "the others were not looked at:\n{log}");
        let found = doctor(cluster, &next)?;
        for check in ["plugin", "upgrade", "plugin-dir", "last-pass"] {
            found.has(check, "ok")?;
        }

        check.step("a folder that is not there");
        let absent = cluster.path().join("absent").display().to_string();
        cluster
            .conf_mut()
            .set("PluginDir", format!("{absent}:{own}"));
        cluster.write_conf()?;
        doctor(cluster, &[])?.has("plugin-dir", "error")?;
        let asked = cluster.shell("sinfo")?;
        ensure!(
            asked.code != 0 && asked.err.contains(&absent),
            "sinfo does without the folder, against what doctor says: {}{}",
            asked.out,
            asked.err
        );
        fs::create_dir_all(&absent)?;
        doctor(cluster, &[])?.has("plugin-dir", "ok")
    })
}

/// Folders with a plugin each: one of [`FUTURE`], and one of a different release if that was built.
fn other_plugins(own: &Release, place: &Path) -> Result<Vec<String>> {
    let future = place.join(FUTURE.0);
    fs::create_dir_all(&future)?;
    let source = place.join("future.c");
    let text = format!(
        "const char plugin_name[] = \"of another release\";\n\
         const char plugin_type[] = \"priority/fairtree\";\n\
         const unsigned int plugin_version = {};\n",
        FUTURE.1
    );
    fs::write(&source, text)?;
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]);
    checked(compiler.arg(future.join(FILE)).arg(&source))?;
    let mut folders = vec![future];
    for other in Release::supported() {
        let plugin = project::plugin(&other);
        if other != *own && plugin.exists() {
            let folder = place.join(other.to_string());
            fs::create_dir_all(&folder)?;
            fs::copy(&plugin, folder.join(FILE))?;
            folders.push(folder);
        }
    }
    let names = folders.iter().map(|folder| folder.display().to_string());
    Ok(names.collect())
}

/// The findings: level and text by check.
struct Found(BTreeMap<String, Vec<(String, String)>>);

impl Found {
    /// Fails unless all findings of a check have this level.
    fn has(&self, check: &str, level: &str) -> Result<()> {
        let findings = self.0.get(check).context(check.to_owned())?;
        let all = findings.iter().all(|(found, _)| found == level);
        ensure!(all, "{check} is not {level}: {findings:?}");
        Ok(())
    }
}

fn doctor(cluster: &Cluster, more: &[&str]) -> Result<Found> {
    let ran = cluster.fairtree(&[&["doctor", "--json"], more].concat())?;
    let json: serde_json::Value = serde_json::from_str(&ran.out).context("doctor's JSON")?;
    let mut found = BTreeMap::new();
    for finding in json["findings"].as_array().context("findings")? {
        let word = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let of_check: &mut Vec<(String, String)> = found.entry(word("check")).or_default();
        of_check.push((word("level"), word("text")));
    }
    Ok(Found(found))
}
