//! The command lines of the guides that need a cluster, read from the guides and run in one.
//!
//! The cluster is that of the tour, with Slurm's own plugin, because the administrator's guide
//! replaces it with ours and removes ours again. Names of people, files and the release in the
//! guides are replaced by those of the cluster.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::{Check, fixture};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::fairtree::Ran;
use crate::demo::plan;
use xtask::project;

/// Kind of the blocks that this check runs.
const KIND: &str = "console cluster";

/// The guides, in the order of the check.
const GUIDES: [&str; 2] = ["docs/user.md", "docs/administrator.md"];

/// People of the tour whom the guides name.
const PEOPLE: [&str; 4] = ["alice", "bob", "carol", "frank"];

/// Waiting jobs for the guides.
const JOBS: u32 = 40;

/// Reads and runs all guides.
pub fn work(check: &Check) -> Result<()> {
    let plan = plan::plan(check.release, PriorityType::Multifactor);
    check.in_cluster(&plan, |cluster| {
        // Takes the whole cluster, so that later jobs wait.
        let whole = NewJob {
            user: "alice",
            account: "physics",
            partition: "main",
            qos: "normal",
            cpus: 16,
            nodes: 4,
            secs: 3600,
            options: vec!["--time=120".to_owned()],
        };
        let id = cluster.submit(&whole)?;
        fixture::started(cluster, id)?;
        for job in plan::jobs(JOBS) {
            cluster.submit(&job)?;
        }
        fs::create_dir_all(cluster.path().join("root"))?;
        for guide in GUIDES {
            let text = fs::read_to_string(project::root().join(guide))?;
            for line in commands(&text) {
                check.step(&line);
                run(check, cluster, &line).with_context(|| format!("{guide}: $ {line}"))?;
            }
        }
        Ok(())
    })
}

/// The command lines of the blocks that this check runs.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut here = false;
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            here = kind == KIND;
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| here) {
            found.push(command.to_owned());
        }
    }
    found
}

fn run(check: &Check, cluster: &mut Cluster, line: &str) -> Result<()> {
    if line == "systemctl restart slurmctld" {
        cluster.stop_slurmctld()?;
        return cluster.start_slurmctld();
    }
    if line.starts_with("make ") {
        return make(check, line);
    }
    let ran = cluster.shell(&translated(check, cluster, line)?)?;
    // Commands that compare and check may report findings.
    let finds = ["lint", "compare", "--check", "doctor"];
    let most = i32::from(finds.iter().any(|word| line.contains(word)));
    ensure!(
        ran.code <= most,
        "ends with {}: {}{}",
        ran.code,
        ran.out,
        ran.err
    );
    expect(cluster, line, &ran)
}

/// The line with the cluster's own users and files.
fn translated(check: &Check, cluster: &Cluster, line: &str) -> Result<String> {
    let mut line = line.to_owned();
    for person in PEOPLE {
        line = line.replace(person, &cluster.user(person)?.name);
    }
    let here = |below: &str| cluster.path().join(below).display().to_string();
    Ok(line
        .replace(
            "/etc/slurm/slurm.conf",
            &cluster.conf_file().display().to_string(),
        )
        .replace("/root/", &here("root/"))
        .replace("/usr/lib/x86_64-linux-gnu/slurm-wlm/", &here("plugins/"))
        .replace("22.05.8", &check.release.to_string()))
}

/// Builds the plugin as the guide says, from the available source.
fn make(check: &Check, line: &str) -> Result<()> {
    let source = project::slurm_source(check.release).display().to_string();
    let line = line
        .replace("/path/to/configured/slurm", &source)
        .replace("22.05.8", &check.release.to_string());
    let answer = Command::new("sh")
        .args(["-c", &line])
        .current_dir(project::root())
        // Do not inherit options from a calling `make test`.
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .env_remove("SLURM")
        .output()?;
    if !answer.status.success() {
        bail!("{}", String::from_utf8_lossy(&answer.stderr));
    }
    Ok(())
}

/// Checks for the output that a reader expects.
fn expect(cluster: &Cluster, line: &str, ran: &Ran) -> Result<()> {
    let conf = fs::read_to_string(cluster.conf_file())?;
    let setting = |key: &str| {
        let mut lines = conf.lines().filter_map(|line| line.split_once('='));
        lines
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value.to_owned())
    };
    for key in ["PriorityType", "PriorityWeightAge"] {
        if line.ends_with(&format!("grep {key}")) {
            let value = setting(key).with_context(|| format!("slurm.conf has no {key}"))?;
            let told = ran.out.contains(&format!("= {value}\n"));
            ensure!(
                told,
                "slurm.conf has {key}={value}, scontrol says {}",
                ran.out
            );
        }
    }
    let shows = [
        "squeue ",
        "sprio ",
        "fairtree share --tree",
        "fairtree explain",
    ];
    if shows.iter().any(|start| line.starts_with(start)) {
        ensure!(
            ran.out.lines().count() > 1,
            "shows nothing: {}{}",
            ran.out,
            ran.err
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_of_the_blocks_for_a_cluster() {
        let text = "```console\n$ a\n```\n$ b\n```console cluster\n$ c\nshown\n$ d\n```\n";
        assert_eq!(commands(text), ["c", "d"]);
    }

    #[test]
    fn the_guide_ends_with_the_plugin_that_it_began_with() {
        let text = fs::read_to_string(project::root().join("docs/administrator.md"));
        let lines = commands(&text.expect("the guide"));
        let switches: Vec<&String> = lines
            .iter()
            .filter(|l| l.contains("|^PriorityType"))
            .collect();
        assert_eq!(switches.len(), 2);
        assert!(switches[1].contains("priority/multifactor"));
    }
}
