//! Usage of jobs, from the times that slurmdbd has recorded, compared with sshare's.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::super::fixture::DEADLINE;
use super::Life;
use crate::cluster::Cluster;
use crate::cluster::table::{Row, Table};
use crate::under::Under;
use crate::wait;

/// Account and user.
type Owner = (String, String);

/// One run of a job, or the part of it between two changes of its size.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    id: u32,
    owner: Owner,
    resized: bool,
    start: i64,
    end: i64,
    cpus: i64,
}

impl Run {
    /// `None` for a job that never ran; an error for one that still runs.
    fn of(row: &Row) -> Result<Option<Run>> {
        let cpus = row.get("AllocCPUS")?;
        if cpus == 0 || row.text("Start")? == "None" {
            return Ok(None);
        }
        Ok(Some(Run {
            id: row.get("JobIDRaw")?,
            owner: (
                row.text("Account")?.to_owned(),
                row.text("User")?.to_owned(),
            ),
            resized: row.text("State")? == "RESIZING",
            start: row.get("Start")?,
            end: row.get("End")?,
            cpus,
        }))
    }

    fn used(&self) -> i64 {
        self.cpus * (self.end - self.start)
    }
}

/// All runs of a cluster; all have ended.
#[derive(Debug)]
pub struct ClusterRuns {
    runs: Vec<Run>,
}

impl ClusterRuns {
    /// Asks sacct until slurmdbd knows the end of every job that slurmctld knows.
    pub fn read(cluster: &Cluster) -> Result<ClusterRuns> {
        let jobs = cluster.show("job")?;
        let mut ends = Vec::new();
        for job in jobs.rows() {
            ends.push((job.text("JobId")?, job.text("EndTime")?));
        }
        wait::until("slurmdbd knows every end", DEADLINE, || {
            let text = cluster.run_with_seconds(&[
                "sacct",
                "--allusers",
                "--duplicates",
                "--allocations",
                "--parsable2",
                "--starttime=now-1days",
                "--format=JobIDRaw,Account,User,State,Start,End,AllocCPUS",
            ])?;
            let table = Table::parse(&text)?;
            let is_known = |(id, end): &(&str, &str)| {
                table.rows().iter().any(|row| {
                    row.text("JobIDRaw").is_ok_and(|known| known == *id)
                        && row.text("End").is_ok_and(|known| known == *end)
                })
            };
            if !ends.iter().all(is_known) {
                return Ok(None);
            }
            let runs: Result<Vec<Option<Run>>> = table.rows().iter().map(Run::of).collect();
            let mut runs: Vec<Run> = runs?.into_iter().flatten().collect();
            part_at_resizes(&mut runs);
            Ok(Some(ClusterRuns { runs }))
        })
    }

    /// Forgets an account's usage before this time; none of its jobs may run then.
    pub fn forget(&mut self, account: &str, time: i64) {
        self.runs
            .retain(|run| run.owner.0 != account || run.start >= time);
    }

    /// Forgets all usage before this time; no job may run then.
    pub fn forget_all_before(&mut self, time: i64) {
        self.runs.retain(|run| run.start >= time);
    }

    /// Usage of a user in an account.
    pub fn used_by(&self, account: &str, user: &str) -> i64 {
        let owner = (account.to_owned(), user.to_owned());
        self.of(&owner).map(Run::used).sum()
    }

    /// Fails unless the runs explain the usage of every existing user, in TRES-seconds.
    pub fn ensure_explains(&self, life: &Life) -> Result<()> {
        let printed = usage_of_users(life.cluster)?;
        let passes = life.passes.all();
        let mut owners: Vec<&Owner> = self.runs.iter().map(|run| &run.owner).collect();
        owners.sort();
        owners.dedup();
        for owner in owners {
            let used: i64 = self.of(owner).map(Run::used).sum();
            let mut possible = vec![used];
            if life.under != Under::Documented {
                self.add_resizes(owner, &passes, &mut possible);
            }
            let Some(&found) = printed.get(owner) else {
                continue;
            };
            ensure!(
                possible.contains(&found),
                "{owner:?} has RawUsage {found}; recorded times explain {possible:?}: {:?}; \
                 passes: {passes:?}",
                self.of(owner).collect::<Vec<_>>()
            );
        }
        Ok(())
    }

    fn of(&self, owner: &Owner) -> impl Iterator<Item = &Run> {
        let owner = owner.clone();
        self.runs.iter().filter(move |run| run.owner == owner)
    }

    /// When the size of a job changes, Slurm charges its usage since the last pass, and charges it
    /// once more afterwards, at the new size.
    ///
    /// If a pass and a resize fall in the same second, either may have come first.
    fn add_resizes(&self, owner: &Owner, passes: &[i64], possible: &mut Vec<i64>) {
        for before in self.of(owner).filter(|run| run.resized) {
            let Some(after) = self
                .of(owner)
                .find(|run| run.id == before.id && run.start == before.end)
            else {
                continue;
            };
            let since = |latest: i64| {
                let last = passes.iter().rfind(|&&pass| pass <= latest).copied();
                last.unwrap_or(0).max(before.start)
            };
            let twice: Vec<i64> = [before.end, before.end - 1]
                .map(|latest| after.cpus * (before.end - since(latest)))
                .into();
            *possible = possible
                .iter()
                .flat_map(|used| twice.iter().map(move |more| used + more))
                .collect();
        }
    }
}

/// sacct prints the start of the first part for both parts of a resized job.
fn part_at_resizes(runs: &mut [Run]) {
    for first in 0..runs.len() {
        let before = runs[first].clone();
        let same = |run: &&mut Run| run.id == before.id && run.start == before.start;
        if let Some(after) = runs[first + 1..].iter_mut().find(same) {
            if before.resized {
                after.start = before.end;
            }
        }
    }
}

/// `RawUsage` of the users that have any.
fn usage_of_users(cluster: &Cluster) -> Result<BTreeMap<Owner, i64>> {
    let table = cluster.sshare("Account,User,RawUsage")?;
    table
        .rows()
        .iter()
        .map(|row| {
            let text = |name| row.text(name).map(|text| text.trim().to_owned());
            let usage = row.get("RawUsage").context("sshare")?;
            Ok(((text("Account")?, text("User")?), usage))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: i64, end: i64, cpus: i64, resized: bool) -> Run {
        Run {
            id: 7,
            owner: ("a".to_owned(), "u".to_owned()),
            resized,
            start,
            end,
            cpus,
        }
    }

    #[test]
    fn a_resize_counts_the_time_since_the_last_pass_twice() {
        let ledger = ClusterRuns {
            runs: vec![run(100, 110, 4, true), run(110, 130, 2, false)],
        };
        let owner = ledger.runs[0].owner.clone();
        let mut possible = vec![80];
        ledger.add_resizes(&owner, &[50, 106, 166], &mut possible);
        assert_eq!(possible, [88, 88]);
        let mut possible = vec![80];
        ledger.add_resizes(&owner, &[50, 110], &mut possible);
        assert_eq!(possible, [80, 100]);
    }

    #[test]
    fn the_second_part_of_a_resized_job_begins_at_the_resize() {
        let mut runs = [run(100, 110, 4, true), run(100, 130, 2, false)];
        part_at_resizes(&mut runs);
        assert_eq!(runs[1], run(110, 130, 2, false));
        let mut runs = [run(100, 110, 4, false), run(100, 130, 2, false)];
        part_at_resizes(&mut runs);
        assert_eq!(runs[1].start, 100);
    }

    #[test]
    fn what_was_set_to_0_is_forgotten() {
        let mut ledger = ClusterRuns {
            runs: vec![run(100, 110, 4, false), run(120, 130, 2, false)],
        };
        ledger.forget("a", 115);
        assert_eq!(ledger.runs, [run(120, 130, 2, false)]);
    }
}
