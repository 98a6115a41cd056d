//! Jobs whose names, comments and paths hold line breaks, separators and whole records of other
//! jobs, submitted by sbatch: every command of `fairtree` that reads jobs works, and shows the same
//! as squeue for every job.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Check;
use super::fixture::{self, job};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;

/// A word in each text, to find the text where it must not appear.
const MARK: &str = "secretword";

/// Texts that users may write; `victim` is the id of another user's job.
fn texts(victim: u32, user: &str) -> Vec<String> {
    let record = format!(
        "JobId={victim} JobName=wrap UserId={user}(1) GroupId=g(1) MCS_label=N/A Priority=1 Nice=0 \
         Account=left QOS=normal JobState=RUNNING Reason=None Dependency=(null) RunTime=00:00:00 \
         TimeLimit=1-00:00:00 TimeMin=N/A SubmitTime=2026-11-21T10:36:30 Partition=main NumNodes=1 \
         NumCPUs=100000 TRES=cpu=100000"
    );
    vec![
        format!("x UserId=root(0) {MARK}"),
        format!("{MARK}\nb"),
        format!("{MARK}\n{record} Power= \nJobId=77777 JobName=y"),
        format!("{MARK} {record}"),
        format!("{MARK}|b|{victim}|c\n{victim}|1|d"),
        format!(" ArrayJobId={victim} ArrayTaskId=1-9 AllocTRES=cpu=9999 {MARK} "),
        format!("\u{1b}[31m{MARK}\u{7}\r\t\u{2028}"),
        format!("{MARK}{}", "x".repeat(1000)),
    ]
}

/// Options of sbatch that take text.
const OPTIONS: [&str; 12] = [
    "job-name",
    "comment",
    "chdir",
    "output",
    "error",
    "mail-user",
    "wckey",
    "network",
    "constraint",
    "reservation",
    "container",
    "mcs-label",
];

/// Options for which Slurm accepts any text.
const FREE: [&str; 4] = ["job-name", "comment", "chdir", "output"];

/// Names, comments, folders and files.
pub fn texts_of_users(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Multifactor);
    // Without it scontrol does not print the WCKey.
    plan.settings.push(("TrackWCKey", "yes".into()));
    check.in_cluster(&plan, |cluster| {
        let running = fixture::occupy(cluster)?;
        let mut victims = vec![running];
        for (user, account) in [("bob", "left"), ("cyd", "right"), ("eve", "lower")] {
            victims.push(cluster.submit(&job(user, account, 60))?);
        }
        check.step("submitting jobs with such texts");
        let taken = submit(cluster, victims[1])?;
        for option in FREE {
            ensure!(
                taken.get(option) == Some(&texts(0, "").len()),
                "sbatch took {taken:?} of the texts for --{option}"
            );
        }
        fixture::next_pass(cluster)?;
        check.step("asking for them");
        commands(cluster, &[], &victims)?;
        for anonymise in [false, true] {
            let folder = cluster.path().join(format!("captures-{anonymise}"));
            captured(cluster, &folder, anonymise, &victims)?;
        }
        Ok(())
    })
}

/// Submits a held job for each option and text, and returns how many sbatch accepted per option.
fn submit(cluster: &Cluster, victim: u32) -> Result<BTreeMap<&'static str, usize>> {
    let user = cluster.user("bob")?.name.clone();
    let mut taken = BTreeMap::new();
    for option in OPTIONS {
        for text in texts(victim, &user) {
            // The reader would leave out this job and report it: see the reader's own tests.
            if option == "mcs-label" && text.contains("\nJobId=") {
                continue;
            }
            let mut held = held();
            held.options.push(format!("--{option}={text}"));
            if cluster.submit(&held).is_ok() {
                *taken.entry(option).or_default() += 1;
            }
        }
    }
    // Bytes that are not UTF-8; our arguments cannot be that.
    let line = "sbatch --parsable --hold --account=left --partition=main --wrap=x --output=/dev/null \
                --job-name=\"$(printf 'secretword\\377\\nb')\" --comment=\"$(printf '\\377\\303')\"";
    cluster.run_as(cluster.user("ann")?, &["sh", "-c", line])?;
    for text in texts(victim, &user) {
        let id = cluster.submit(&held())?.to_string();
        let comment = format!("AdminComment={text}");
        cluster.run(&["scontrol", "update", &format!("jobid={id}"), &comment])?;
        let name = format!("JobName={text}");
        cluster.run(&["scontrol", "update", &format!("jobid={id}"), &name])?;
    }
    Ok(taken)
}

fn held() -> NewJob<'static> {
    let mut held = job("ann", "left", 60);
    held.options.push("--hold".into());
    held
}

/// Runs every command that reads jobs, for the live site or for a capture.
fn commands(cluster: &Cluster, from: &[&str], jobs: &[u32]) -> Result<()> {
    let ids: Vec<String> = jobs.iter().map(u32::to_string).collect();
    for words in [
        &["prio", "-l"][..],
        &["prio", "--check"],
        &["explain", &ids[1]],
        &["explain", &ids[1], "--versus", &ids[2]],
        &["what-if", "--after", "1:00:00", "--no-starts"],
        &["cost", "--job", &ids[2]],
    ] {
        let ran = cluster.fairtree(&[words, from].concat())?;
        ensure!(ran.code == 0, "{words:?}: {}{}", ran.out, ran.err);
        for said in [&ran.out, &ran.err] {
            ensure!(!said.contains("left out"), "{words:?}: {said}");
            ensure!(!said.contains("77777"), "{words:?}: {said}");
            let odd = said.chars().find(|c| c.is_control() && *c != '\n');
            ensure!(odd.is_none(), "{words:?}: {said:?}");
        }
    }
    let queue = cluster.fairtree(&[&["prio", "--json"][..], from].concat())?;
    let queue: Value = serde_json::from_str(&queue.out)?;
    let rows = queue["rows"].as_array().context("rows")?;
    for id in &jobs[1..] {
        ensure!(
            rows.iter().any(|row| row["job_id"] == *id),
            "job {id} is not in {queue}"
        );
    }
    Ok(())
}

/// Checks that a capture has a record of each job, with the owner that squeue reports.
fn captured(
    cluster: &Cluster,
    folder: &std::path::Path,
    anonymise: bool,
    victims: &[u32],
) -> Result<()> {
    let to = folder.display().to_string();
    let words = ["capture", &to, "--anonymise"];
    cluster.fairtree(&words[..if anonymise { 3 } else { 2 }])?;
    commands(cluster, &["--from", &to], victims)?;
    let mut entries = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let capture = entries.find(|path| path.is_dir()).context("a capture")?;
    for file in fs::read_dir(&capture)? {
        let path = file?.path();
        let text = fs::read_to_string(&path)?;
        ensure!(
            !anonymise || !text.contains(MARK),
            "{} has what a user wrote",
            path.display()
        );
    }
    if anonymise {
        return Ok(());
    }
    let owners = cluster.run(&["squeue", "-a", "-h", "-t", "all", "-o", "%A %u(%U)"])?;
    let mut owners: Vec<&str> = owners.lines().collect();
    let text = fs::read_to_string(capture.join("jobs.txt"))?;
    let shown: Option<Vec<String>> = text.lines().map(owner).collect();
    let mut shown = shown.context("a record without owner")?;
    owners.sort_unstable();
    shown.sort_unstable();
    ensure!(owners == shown, "squeue: {owners:?}\ncapture: {shown:?}");
    Ok(())
}

/// Returns `7 ann(1006)` for a record in a capture: the job id, and the owner after the name, where
/// the reader finds it.
fn owner(record: &str) -> Option<String> {
    let id = record.strip_prefix("JobId=")?.split(' ').next()?;
    let head = &record[..record
        .find(" JobState=PENDING")
        .or(record.find(" JobState="))?];
    let owner = &head[head.rfind(" UserId=")? + " UserId=".len()..];
    Some(format!("{id} {}", owner.split(' ').next()?))
}
