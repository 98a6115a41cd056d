//! Visibility of jobs and usage with `PrivateData`.

use std::collections::BTreeSet;

use anyhow::Result;

use super::{Life, admin, plans, watch};
use crate::checks::fixture::job;
use crate::cluster::client::NewJob;

/// Pending jobs of all users, as root, a user, and an account coordinator see them.
pub fn data(life: &mut Life) -> Result<()> {
    life.check.step("private data");
    let bob = life.cluster.user("bob")?.name.clone();
    life.sacctmgr(&[
        "add",
        "coordinator",
        "account=phys",
        &format!("names={bob}"),
    ])?;
    // It takes the whole cluster: later jobs have a priority and wait.
    let whole = NewJob {
        cpus: plans::CPUS,
        nodes: plans::NODES,
        ..job("eve", "chem", 3600)
    };
    let mut ids = vec![admin::accepted(life, &whole)?];
    watch::has_run(life.cluster, ids[0])?;
    for (user, account) in [
        ("ann", "phys"),
        ("bob", "phys"),
        ("cyd", "bio"),
        ("eve", "chem"),
    ] {
        ids.push(admin::accepted(life, &job(user, account, 1))?);
    }
    for private in ["none", "jobs,usage"] {
        life.reconfigure("PrivateData", private)?;
        for viewer in ["root", "ann", "bob"] {
            let jobs = seen(life, viewer, &["sprio", "--noheader", "--format=%u"])?;
            life.tell(format!("PrivateData={private}: sprio of {viewer}: {jobs}"));
            let shares = seen(
                life,
                viewer,
                &[
                    "sshare",
                    "--all",
                    "--noheader",
                    "--parsable2",
                    "--format=User",
                ],
            )?;
            life.tell(format!(
                "PrivateData={private}: sshare of {viewer}: {shares}"
            ));
        }
    }
    // Cancel the waiting jobs first, so that they do not start.
    ids.reverse();
    watch::cancel(life.cluster, &ids)?;
    life.reconfigure("PrivateData", "none")
}

/// The users that a command prints, each once.
fn seen(life: &Life, viewer: &str, words: &[&str]) -> Result<String> {
    let text = match viewer {
        "root" => life.cluster.run(words)?,
        user => life.cluster.run_as(life.cluster.user(user)?, words)?,
    };
    let users: BTreeSet<&str> = text
        .lines()
        .map(str::trim)
        .filter(|u| !u.is_empty())
        .collect();
    let users: Vec<&str> = users.into_iter().collect();
    Ok(life.plain(&users.join(" ")))
}
