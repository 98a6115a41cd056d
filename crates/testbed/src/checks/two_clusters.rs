//! Two clusters with one slurmdbd whose usage counts in both (`scope=all_clusters`): each second
//! counts once, despite restarts, `fairtree ledger fill` and `sync` in between, also from a dead
//! cluster.

use std::collections::BTreeMap;
use std::fs;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use fairtree::usage::window::OWN_FILE;

use super::Check;
use super::fixture::{self, DEADLINE, PERIOD, job, now};
use super::ledger::{Sums, expected};
use crate::cluster::client::NewJob;
use crate::cluster::conf::{CLUSTER_NAME, PriorityType};
use crate::cluster::{Cluster, Plan};
use crate::wait;

/// A window so long that no usage leaves it during the check.
const PARAMETERS: &str = "usage=window:1-0,resolution=1:00,scope=all_clusters";

/// CPUs of the job that runs when its cluster dies.
const LONG_CPUS: u32 = 2;

fn plan(check: &Check) -> Plan {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    plan.settings
        .retain(|(key, _)| *key != "PriorityParameters");
    let parameters = format!("calc_period={PERIOD},{PARAMETERS}");
    plan.settings.push(("PriorityParameters", parameters));
    plan
}

/// Jobs of one cluster lower the place of their account in the other cluster; nothing counts twice;
/// a dead cluster keeps the usage up to its last report, and the report's age is shown.
pub fn count_once(check: &Check) -> Result<()> {
    let plan = plan(check);
    check.in_cluster(&plan, |cluster| {
        check.step("a second cluster");
        cluster.add_sibling(&plan.accounting)?;
        ensure!(used_there(cluster)?.is_empty(), "use before there is any");
        let before = place_there(cluster, "left", "ann")?;

        check.step("use of the first cluster counts in the second");
        fixture::use_every_account(cluster)?;
        let used = all_ended(cluster)?;
        sync_there(cluster)?;
        becomes_there(cluster, &used)?;
        let after = place_there(cluster, "left", "ann")?;
        ensure!(
            after < before,
            "ann of left has the factor {after}, and had {before}"
        );

        check.step("nothing counts twice");
        for actions in [["fill", "sync"], ["sync", "fill"]] {
            for action in actions {
                ledger_there(cluster, action)?;
                ledger_here(cluster, action)?;
            }
            passes_there(cluster)?;
            ensure_same(&used_there(cluster)?, &used)?;
            cluster.stop_slurmctld()?;
            cluster.restart_sibling()?;
            cluster.start_slurmctld()?;
            fixture::next_pass(cluster)?;
            passes_there(cluster)?;
            ensure_same(&used_there(cluster)?, &used)?;
            ensure_same(&used_here(cluster)?, &used)?;
        }

        check.step("the first cluster dies while a job runs");
        dies(cluster, &used)
    })
}

/// The first cluster dies, and comes back.
fn dies(cluster: &mut Cluster, used: &Sums) -> Result<()> {
    let long = cluster.submit(&NewJob {
        cpus: LONG_CPUS,
        ..job("eve", "lower", 900)
    })?;
    let start = fixture::started(cluster, long)?;
    // Its end is the last report of the cluster.
    let last = cluster.submit(&job("ann", "left", 3))?;
    let (_, last_word) = fixture::ended(cluster, last)?;
    wait::until_true("the database knows of it", DEADLINE, || {
        let states = cluster.run(&["sacct", "-a", "-X", "-P", "-n", "--format=jobidraw,state"])?;
        let is = |id: u32, state: &str| states.contains(&format!("{id}|{state}"));
        Ok(is(long, "RUNNING") && is(last, "COMPLETED"))
    })?;
    cluster.kill_slurmctld()?;
    wait::until_true("slurmdbd misses it", DEADLINE, || {
        let words = [
            "--parsable2",
            "--noheader",
            "show",
            "cluster",
            "format=cluster,controlhost",
        ];
        let clusters = cluster.sacctmgr(&words)?;
        Ok(clusters
            .lines()
            .any(|line| line == format!("{CLUSTER_NAME}|")))
    })?;
    let ran = ledger_there(cluster, "sync")?;
    let told = format!("cluster {CLUSTER_NAME} is not connected");
    ensure!(ran.contains(&told), "{ran}");
    passes_there(cluster)?;
    let then = used_there(cluster)?;
    let name = ("lower".to_owned(), format!("{}eve", cluster.user_prefix()));
    let of_long = then.get(&name).copied().unwrap_or(0) - used.get(&name).copied().unwrap_or(0);
    let due = u64::try_from(last_word - start)? * u64::from(LONG_CPUS);
    ensure!(
        of_long == due,
        "up to the last word of its cluster the job used {due}, and {of_long} counts"
    );
    let age = age_there(cluster)?;
    let later = now()? + 3;
    wait::until_true("some seconds", DEADLINE, || Ok(now()? >= later))?;
    ledger_there(cluster, "sync")?;
    passes_there(cluster)?;
    ensure_same(&used_there(cluster)?, &then)?;
    let older = age_there(cluster)?;
    ensure!(older >= age + 3, "the age was {age} s, and is {older} s");

    cluster.start_slurmctld()?;
    cluster.run(&["scancel", &long.to_string()])?;
    fixture::over(cluster, long)?;
    let used = all_ended(cluster)?;
    sync_there(cluster)?;
    becomes_there(cluster, &used)
}

/// Usage of the first cluster from `sacct`, after all its jobs have ended.
fn all_ended(cluster: &Cluster) -> Result<Sums> {
    wait::until_true("all is in the database", DEADLINE, || {
        let states = cluster.run(&["sacct", "-a", "-X", "-D", "-P", "-n", "--format=state"])?;
        let open = |state: &str| matches!(state, "RUNNING" | "PENDING");
        Ok(!states.lines().any(open))
    })?;
    expected(cluster, |_| true)
}

fn ledger_here(cluster: &Cluster, action: &str) -> Result<()> {
    let ran = cluster.fairtree(&["ledger", action])?;
    ensure!(ran.code == 0, "{}{}", ran.out, ran.err);
    Ok(())
}

/// Output of `fairtree ledger` in the second cluster.
fn ledger_there(cluster: &Cluster, action: &str) -> Result<String> {
    let ran = cluster.fairtree_in_sibling(&["ledger", action])?;
    ensure!(ran.code == 0, "{}{}", ran.out, ran.err);
    Ok(ran.out + &ran.err)
}

/// Imports the first cluster's usage up to now.
fn sync_there(cluster: &Cluster) -> Result<()> {
    let told = ledger_there(cluster, "sync")?;
    let file = format!("history-cluster-{CLUSTER_NAME}");
    ensure!(told.contains(&file), "{told}");
    Ok(())
}

/// Age of the first cluster's last report, seconds.
fn age_there(cluster: &Cluster) -> Result<i64> {
    let ran = cluster.fairtree_in_sibling(&["ledger", "show", "--json"])?;
    let shown: serde_json::Value = serde_json::from_str(&ran.out)?;
    let files = shown["files"].as_array().context("files")?;
    let sources = files.iter().filter_map(|file| file["sources"].as_array());
    let of_it = sources.flatten().find(|one| one["cluster"] == CLUSTER_NAME);
    let age = of_it.and_then(|one| one["age_secs"].as_i64());
    age.with_context(|| format!("no age of {CLUSTER_NAME}: {}", ran.out))
}

fn used_here(cluster: &Cluster) -> Result<Sums> {
    used(&cluster.run(&SSHARE)?)
}

fn used_there(cluster: &Cluster) -> Result<Sums> {
    used(&cluster.run_in_sibling(&SSHARE)?)
}

const SSHARE: [&str; 6] = [
    "sshare",
    "-a",
    "-P",
    "-n",
    "-o",
    "Account,User,RawUsage,FairShare",
];

/// Raw usage of the users that have any, as sshare prints it.
fn used(text: &str) -> Result<Sums> {
    let mut sums = BTreeMap::new();
    for row in rows(text) {
        let [account, user, usage, _] = row?;
        let used: u64 = usage.parse()?;
        if !user.is_empty() && used > 0 {
            sums.insert((account.to_owned(), user.to_owned()), used);
        }
    }
    Ok(sums)
}

fn rows(text: &str) -> impl Iterator<Item = Result<[&str; 4]>> {
    text.lines().map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let cells = <[&str; 4]>::try_from(cells);
        cells.map_err(|cells| anyhow::anyhow!("four cells, not {cells:?}"))
    })
}

/// The fair-share factor of a user in the second cluster.
fn place_there(cluster: &Cluster, account: &str, user: &str) -> Result<f64> {
    let user = format!("{}{user}", cluster.user_prefix());
    let text = cluster.run_in_sibling(&SSHARE)?;
    for row in rows(&text) {
        let row = row?;
        if row[..2] == [account, user.as_str()] {
            return row[3].parse().with_context(|| row[3].to_owned());
        }
    }
    anyhow::bail!("no {user} of {account}: {text}")
}

fn becomes_there(cluster: &Cluster, used: &Sums) -> Result<()> {
    wait::until_true("its use counts in the second cluster", DEADLINE, || {
        Ok(used_there(cluster)? == *used)
    })
    .with_context(|| format!("{used:?}, not {:?}", used_there(cluster)))
}

/// Waits for a whole pass of the second cluster.
fn passes_there(cluster: &Cluster) -> Result<()> {
    let file = cluster.sibling_state_file(OWN_FILE);
    let written = || -> Result<SystemTime> { Ok(fs::metadata(&file)?.modified()?) };
    // The file of a pass that was running, and that of the next one.
    for _ in 0..2 {
        let before = written()?;
        wait::until_true("a pass of the second cluster", DEADLINE, || {
            Ok(written()? != before)
        })?;
    }
    Ok(())
}

fn ensure_same(found: &Sums, expected: &Sums) -> Result<()> {
    ensure!(found == expected, "{found:?} counts, not {expected:?}");
    Ok(())
}
