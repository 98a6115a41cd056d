//! The questions of a user and of an administrator, asked as they ask them: each has an answer, whatever
//! `PrivateData` hides.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};

use super::Check;
use super::fixture::{self, DEADLINE, job};
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::cluster::fairtree::build;
use crate::wait;

/// A user whose job waits asks why, what a change would do, what a job costs, and for the own shares; then
/// an administrator asks what is asked before a change.
pub fn ask(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        if !cluster.is_of_this_machine() {
            check.step("users of another root have no command fairtree: not asked");
            return Ok(());
        }
        check.step("usage, and jobs that wait");
        fixture::use_every_account(cluster)?;
        fixture::occupy(cluster)?;
        cluster.submit(&job("bob", "left", 60))?;
        let own = cluster.submit(&job("ann", "left", 60))?;
        let program = cluster.path().join("fairtree");
        fs::copy(build()?, &program)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        for private in ["none", "jobs", "usage", "nodes,partitions", "all"] {
            check.step(&format!("a user asks under PrivateData={private}"));
            cluster.conf_mut().set("PrivateData", private);
            cluster.reconfigure()?;
            as_user(cluster, &program.display().to_string(), own, private)?;
        }
        cluster.conf_mut().unset("PrivateData");
        cluster.reconfigure()?;
        check.step("an administrator asks");
        as_administrator(cluster)
    })
}

fn as_user(cluster: &Cluster, program: &str, own: u32, private: &str) -> Result<()> {
    let user = cluster.user("ann")?;
    let (job, name) = (own.to_string(), &user.name);
    let hides = |word: &str| private.contains(word) || private == "all";
    let questions = [
        (format!("explain {job}"), format!("job {job} of {name}")),
        (format!("explain {name}@left"), name.clone()),
        (format!("prio -j {job}"), job.clone()),
        (
            format!("cost -u {name} -A left --tres cpu=1 --time 60"),
            "1.00 hours".to_owned(),
        ),
        (format!("what-if --nice {job}=100"), job.clone()),
        (format!("forecast {job}"), format!("Job {job} of {name}")),
        ("share".to_owned(), name.clone()),
    ];
    for (question, said) in questions {
        let line = format!("{program} {question} </dev/null");
        // A reconfigure of slurmctld may still be under way.
        let mut last = String::new();
        let ran = wait::until(&question, DEADLINE, || {
            let ran = cluster.shell_as(user, &line)?;
            last = format!("{}{}", ran.out, ran.err);
            Ok((ran.code == 0 && ran.out.contains(&said)).then_some(ran))
        });
        let ran = ran.with_context(|| format!("{question}: the last answer was {last}"))?;
        if question == format!("explain {job}") {
            ensure!(ran.out.contains("Waits for: "), "{question}: {}", ran.out);
            let among_own = ran.out.contains("of those that you may see");
            ensure!(among_own == hides("jobs"), "{question}: {}", ran.out);
        }
        let hidden = match question.split(' ').next() {
            Some("share") => false,
            Some("prio") => hides("nodes"),
            Some("forecast") => hides("usage") || hides("jobs") || hides("nodes"),
            _ => hides("usage") || hides("nodes"),
        };
        let noted = ran.err.contains("Slurm shows you");
        ensure!(noted == hidden, "{question}: {}", ran.err);
    }
    Ok(())
}

fn as_administrator(cluster: &Cluster) -> Result<()> {
    let conf = cluster.conf_file().display().to_string();
    let folder = cluster.path().join("looked-at").display().to_string();
    for (words, said) in [
        (&["lint", &conf][..], "0 errors"),
        (&["capture", &folder], "sshare.txt"),
        (&["shares"], "together"),
        (
            &["shares", "--below", "upper", "--shares", "left=4"],
            "sacctmgr",
        ),
        (
            &["what-if", "--set", "PriorityWeightAge=0", "--from", &folder],
            "PriorityWeightAge",
        ),
        (
            &["metrics", "--from", &folder],
            "fairtree_account_pending_jobs",
        ),
        (&["share", "--check"], "0 differences"),
    ] {
        let ran = cluster.fairtree(words)?;
        let all = format!("{}{}", ran.out, ran.err);
        ensure!(all.contains(said), "fairtree {}: {all}", words.join(" "));
    }
    Ok(())
}
