//! Past usage from the accounting database: compares what `fairtree ledger` writes for jobs that
//! ran under a different priority plugin with what `sacct` lists.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use fairtree::usage::window::{Column, UsageHistory, source_file};

use super::Check;
use super::fixture::{self, DEADLINE, job, now};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::wait;

/// A second cluster in the database, which has never reported anything.
const OTHER: &str = "other";

/// Billing TRES times seconds, by account and user.
pub type Sums = BTreeMap<(String, String), u64>;

/// Jobs that complete, one that is cancelled, and one that runs: those that have ended are filled
/// in, to the second, by the rule of the policy.
pub fn is_filled(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Multifactor);
    check.in_cluster(&plan, |cluster| {
        fixture::use_every_account(cluster)?;
        check.step("a job is cancelled, another one runs");
        let long = |user, account| NewJob {
            cpus: 2,
            ..job(user, account, 600)
        };
        let ended = cluster.submit(&long("eve", "lower"))?;
        let running = cluster.submit(&long("cyd", "right"))?;
        fixture::started(cluster, running)?;
        let start = fixture::started(cluster, ended)?;
        wait::until_true(
            "it has used something",
            DEADLINE,
            || Ok(now()? - start >= 2),
        )?;
        cluster.run(&["scancel", &ended.to_string()])?;
        fixture::over(cluster, ended)?;
        // The database receives it some seconds later.
        wait::until_true("all is in the database", DEADLINE, || {
            let states = states(cluster)?;
            let count = |state: &str| {
                let is = |found: &&String| found.starts_with(state);
                states.iter().filter(is).count()
            };
            Ok((count("RUNNING"), count("CANCELLED"), count("PENDING")) == (1, 1, 0))
        })?;

        check.step("filling in");
        let policy = cluster.path().join("etc/policy.toml");
        let policy_text = "usage = 'window:1-0'\nresolution = '1:00'\nscope = 'all_clusters'\n";
        fs::write(&policy, policy_text)?;
        let policy = policy.display().to_string();
        let ledger = |action: &str| cluster.fairtree(&["ledger", action, "--policy", &policy]);
        for _ in 0..2 {
            let ran = ledger("fill")?;
            ensure!(ran.err.is_empty(), "{}", ran.err);
            ensure!(ran.out.contains("history-own: cluster"), "{}", ran.out);
            ensure_same(&filled(cluster)?, &expected(cluster, |_| true)?)?;
        }
        let checked = ledger("check")?;
        ensure!(checked.code == 0, "{}{}", checked.out, checked.err);

        check.step("by how runs ended");
        fs::write(&policy, format!("{policy_text}counts = 'COMPLETED'\n"))?;
        ledger("fill")?;
        let completed = expected(cluster, |state| state == "COMPLETED")?;
        ensure_same(&filled(cluster)?, &completed)?;
        ensure!(
            completed != expected(cluster, |_| true)?,
            "all runs have completed"
        );

        check.step("another cluster");
        cluster.sacctmgr(&["add", "cluster", OTHER])?;
        let ran = ledger("sync")?;
        ensure!(
            ran.err.contains("cluster other is not connected"),
            "{}",
            ran.err
        );
        let shown = ledger("show")?;
        ensure!(shown.out.contains("cluster-other"), "{}", shown.out);
        let checked = ledger("check")?;
        ensure!(checked.code == 0, "{}{}", checked.out, checked.err);
        Ok(())
    })
}

fn states(cluster: &Cluster) -> Result<Vec<String>> {
    let rows = cluster.run(&["sacct", "-a", "-X", "-D", "-P", "-n", "--format=state"])?;
    Ok(rows.lines().map(str::to_owned).collect())
}

/// Usage from `sacct` of runs that have ended in a state that counts.
pub fn expected(cluster: &Cluster, counts: impl Fn(&str) -> bool) -> Result<Sums> {
    let format = "--format=account,user,state,elapsedraw,alloctres";
    let rows = cluster.run(&["sacct", "-a", "-X", "-D", "-P", "-n", format])?;
    let mut sums = Sums::new();
    for row in rows.lines() {
        let cells: Vec<&str> = row.split('|').collect();
        let [account, user, state, secs, tres] = cells[..] else {
            anyhow::bail!("five cells, not {row}");
        };
        let state = state.split(' ').next().unwrap_or_default();
        if state == "RUNNING" || !counts(state) {
            continue;
        }
        let mut tres = tres.split(',');
        let billing = tres.find_map(|one| one.strip_prefix("billing="));
        // A job that was cancelled while it waited has no billing.
        let Some(billing) = billing else { continue };
        let used = billing.parse::<u64>()? * secs.parse::<u64>()?;
        *sums
            .entry((account.to_owned(), user.to_owned()))
            .or_default() += used;
    }
    sums.retain(|_, used| *used > 0);
    ensure!(!sums.is_empty(), "sacct lists nothing");
    Ok(sums)
}

/// Usage in the file.
fn filled(cluster: &Cluster) -> Result<Sums> {
    let name = source_file("own").context("a label")?;
    let file = cluster.state_file(&name);
    let bytes = fs::read(&file).with_context(|| format!("{}", file.display()))?;
    let history = UsageHistory::load(&bytes)?;
    let to = now()? / 60 * 60 + 60;
    let mut sums = Sums::new();
    for leaf in history.leaves() {
        let used = history.used(leaf, 0, to, Column::Billing)?.to_f64();
        let name = (leaf.account().to_owned(), leaf.user().to_owned());
        sums.insert(name, used as u64);
    }
    sums.retain(|_, used| *used > 0);
    Ok(sums)
}

fn ensure_same(found: &Sums, expected: &Sums) -> Result<()> {
    ensure!(
        found == expected,
        "the ledger has {found:?}, and sacct {expected:?}"
    );
    Ok(())
}
