//! What slurmctld spends on the questions of the command: its own count and time of each RPC, from sdiag.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};

use crate::cluster::Cluster;
use xtask::progress::Progress;
use xtask::release::Release;

use super::cluster::{TASKS, plan, submit, wait_for_database};
use super::workload::count;

/// Records of jobs in the queue are this many arrays of [`TASKS`].
const ARRAYS: usize = 100;

/// The same RPCs come from daemons and from sdiag itself.
const OF_OTHERS: [&str; 3] = ["MESSAGE_", "REQUEST_STATS_INFO", "REQUEST_PING"];

/// Count and microseconds of each RPC.
type Rpcs = BTreeMap<String, (u64, u64)>;

/// Reads the RPCs by message type from what sdiag prints.
fn rpcs(sdiag: &str) -> Result<Rpcs> {
    let mut found = Rpcs::new();
    let lines = sdiag
        .lines()
        .skip_while(|line| !line.contains("statistics by message type"))
        .skip(1)
        .take_while(|line| line.contains("total_time:"));
    for line in lines {
        let name = line.split_whitespace().next().context("a name")?;
        let number = |key: &str| {
            let (_, rest) = line.split_once(key).with_context(|| format!("`{line}`"))?;
            let word = rest.split_whitespace().next().unwrap_or_default();
            let number = word.parse::<u64>();
            number.with_context(|| format!("sdiag says `{line}`"))
        };
        if !OF_OTHERS.iter().any(|other| name.starts_with(other)) {
            found.insert(name.to_owned(), (number("count:")?, number("total_time:")?));
        }
    }
    Ok(found)
}

/// The RPCs of one call of the command, which root asks anew each time.
fn asked(cluster: &Cluster, words: &[&str]) -> Result<Rpcs> {
    cluster.run(&["sdiag", "--reset"])?;
    let ran = cluster.fairtree(words)?;
    ensure!(ran.code < 2, "fairtree {}: {}", words.join(" "), ran.err);
    rpcs(&cluster.run(&["sdiag"])?)
}

/// A table in Markdown: each command, its RPCs, and how long slurmctld served them.
///
/// # Errors
/// Fails if the cluster does not start, or if a command fails.
pub fn measure(release: &Release, quick: bool, progress: &Progress) -> Result<String> {
    let arrays = if quick { ARRAYS / 50 } else { ARRAYS };
    let cluster = Cluster::start(&plan(release), progress)?;
    progress.step(format!(
        "questions: {} jobs",
        count((arrays * TASKS) as u64)
    ));
    let ids = submit(&cluster, arrays)?;
    wait_for_database(&cluster)?;
    let job = format!("{}_0", ids[0]);
    let anna = format!("{}anna", cluster.user_prefix());
    let cost = ["cost", "-u", &anna, "--tres", "cpu=4", "--time", "1:00:00"];
    let calls: [&[&str]; 6] = [
        &["share"],
        &cost,
        &["explain", &job],
        &["prio"],
        &["what-if", "--shares", "physics=2"],
        &["metrics"],
    ];
    let mut text = format!(
        "| {} waiting jobs: command | RPCs | ms in slurmctld | most of it |\n|---|---|---|---|\n",
        count((arrays * TASKS) as u64)
    );
    for words in calls {
        let found = asked(&cluster, words)?;
        let (rpcs, micros) = found
            .values()
            .fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        let most = found.iter().max_by_key(|(_, (_, micros))| *micros);
        let (name, (_, most)) = most.context("sdiag counts no RPC")?;
        let ms = |micros: u64| format!("{:.1}", micros as f64 / 1000.0);
        let command = words.join(" ");
        let (all, most) = (ms(micros), ms(*most));
        // Writing to a string does not fail.
        let _ = writeln!(text, "| `{command}` | {rpcs} | {all} | {name} {most} |");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The form of sdiag of Slurm 22.05.8.
    #[test]
    fn rpcs_are_read_by_message_type() {
        let text = "Jobs submitted: 1\n\nRemote Procedure Call statistics by message type\n\
            \tREQUEST_PARTITION_INFO                  ( 2009) count:2      ave_time:150    total_time:300\n\
            \tREQUEST_STATS_INFO                      ( 2035) count:1      ave_time:99     total_time:99\n\
            \nRemote Procedure Call statistics by user\n\
            \troot            (       0) count:3      ave_time:133    total_time:399\n";
        let wanted = [("REQUEST_PARTITION_INFO".to_owned(), (2, 300))];
        assert_eq!(rpcs(text).expect("sdiag"), BTreeMap::from(wanted));
    }
}
