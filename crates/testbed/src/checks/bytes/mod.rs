//! `fairtree share` and `fairtree prio` print the same bytes as sshare and sprio, from the live
//! Slurm and from a capture, with many options, under each ranking and under either
//! plugin.

mod options;
mod scene;

use anyhow::{Context, Result, bail};

use super::Check;
use super::fixture::DEADLINE;
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::wait;
use options::{Asked, Command};

/// Stock and ours, Fair Tree and classic, one after the other in one cluster.
pub fn same_text(check: &Check) -> Result<()> {
    let plan = scene::plan(check.release);
    check.in_cluster(&plan, |cluster| {
        check.step("running jobs that leave usage");
        scene::set(cluster)?;
        let mut wrong = Vec::new();
        for stage in &scene::STAGES {
            let title = stage.title;
            check.step(title);
            for &(key, value) in stage.settings {
                cluster.conf_mut().set(key, value);
            }
            scene::freeze(cluster, stage.priority)?;
            let all = options::all(cluster)?;
            for difference in compare(cluster, &all, stage.priority)? {
                wrong.push(format!("{title}: {difference}"));
            }
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => bail!("{} texts differ:\n{}", wrong.len(), wrong.join("\n")),
        }
    })
}

/// Differences between Slurm's text and ours, from a capture and from the live Slurm.
fn compare(cluster: &Cluster, all: &[Asked], priority: PriorityType) -> Result<Vec<String>> {
    let folder = cluster.path().join("captures").join(priority.conf());
    let folder = folder.display().to_string();
    // A command that fails shows as a difference.
    let slurm = |asked: &Asked| {
        let ran = cluster.run(&asked.slurm());
        ran.unwrap_or_else(|error| format!("{error:#}"))
    };
    // A capture between two equal answers belongs to the same moment.
    let printed = wait::until("Slurm to say the same twice", DEADLINE, || {
        let before: Vec<String> = all.iter().map(slurm).collect();
        cluster.fairtree(&["capture", "--quiet", &folder])?;
        let after: Vec<String> = all.iter().map(slurm).collect();
        Ok((before == after).then_some(after))
    })?;
    let mut wrong = Vec::new();
    for (asked, printed) in all.iter().zip(&printed) {
        let ran = cluster.fairtree(&asked.ours(Some(&folder)))?;
        wrong.extend(difference(asked, "of a capture", printed, &ran.out));
    }
    for asked in all.iter().filter(|asked| asked.live) {
        let (printed, ours) = wait::until("Slurm to say the same twice", DEADLINE, || {
            let before = slurm(asked);
            let ran = cluster.fairtree(&asked.ours(None))?;
            Ok((before == slurm(asked)).then_some((before, ran.out)))
        })?;
        wrong.extend(difference(asked, "live", &printed, &ours));
    }
    for command in [Command::Sshare, Command::Sprio] {
        let lines = |(asked, text): (&Asked, &String)| {
            (asked.command == command).then(|| text.lines().count())
        };
        let most = all.iter().zip(&printed).filter_map(lines).max();
        most.filter(|lines| *lines > 10)
            .with_context(|| format!("{} printed too little to compare", command.name()))?;
    }
    Ok(wrong)
}

fn difference(asked: &Asked, from: &str, slurm: &str, ours: &str) -> Option<String> {
    if slurm == ours {
        return None;
    }
    let mut lines = String::new();
    let (mut theirs, mut own) = (slurm.lines(), ours.lines());
    let mut shown = 0;
    loop {
        let pair = (theirs.next(), own.next());
        if pair == (None, None) || shown == 4 {
            break;
        }
        if pair.0 != pair.1 {
            let line = |line: Option<&str>| line.map_or("(no line)".into(), |l| format!("{l:?}"));
            lines += &format!("  {}\n  {}\n", line(pair.0), line(pair.1));
            shown += 1;
        }
    }
    let words = asked.slurm().join(" ");
    Some(format!(
        "`{words}`, {from}: Slurm's line, then ours:\n{lines}"
    ))
}
