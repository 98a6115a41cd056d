//! Raw shares that are minutes: a coordinator gives them out, also too many.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Check;
use super::fixture::{self, DEADLINE, PERIOD};
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::wait;

/// Part of the line of the log about an account whose children have too many minutes.
const LOGGED: &str = "minutes, more than it has";

/// A coordinator gives out the minutes of the account with sacctmgr: allowed below it, refused
/// elsewhere, recorded in the transactions. Too many stop neither passes nor a start.
pub fn by_coordinators(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    plan.settings
        .retain(|(key, _)| *key != "PriorityParameters");
    let keys =
        format!("calc_period={PERIOD},usage=window:1-0,ranking=least_used:leaf,minutes=shares");
    plan.settings.push(("PriorityParameters", keys));
    check.in_cluster(&plan, |cluster| {
        for (account, minutes) in [("upper", 100), ("left", 60), ("right", 40), ("lower", 50)] {
            set(cluster, account, minutes)?;
        }
        let dan = cluster.user("dan")?.name.clone();
        let names = format!("names={dan}");
        cluster.sacctmgr(&["add", "coordinator", "account=upper", &names])?;
        entitled(cluster, "left", 60.0)?;

        check.step("a coordinator gives out minutes");
        let user = cluster.user("dan")?;
        let give = |account: &str, minutes: u32| {
            let line =
                format!("sacctmgr -i modify account where name={account} set fairshare={minutes}");
            cluster.shell_as(user, &line)
        };
        let given = give("left", 30)?;
        ensure!(given.code == 0, "left: {}{}", given.out, given.err);
        entitled(cluster, "left", 30.0)?;
        for account in ["upper", "lower"] {
            let refused = give(account, 500)?;
            let said = format!("{}{}", refused.out, refused.err);
            ensure!(
                said.contains("Access/permission denied"),
                "{account}: {said}"
            );
        }
        let transactions = cluster.run(&["sacctmgr", "-n", "-P", "show", "transactions"])?;
        let own = transactions.lines().filter(|line| line.contains(&dan));
        let own: Vec<&str> = own.collect();
        ensure!(
            own.iter()
                .any(|line| line.contains("Modify Associations") && line.contains("shares=30")),
            "{transactions}"
        );

        check.step("too many minutes");
        let line = "fairtree shares --below upper --minutes left=61";
        let refused = cluster.shell(line)?;
        let said = "below upper 101 minutes would be given out, but it has 100";
        ensure!(
            refused.code == 2 && refused.err.contains(said),
            "{}",
            refused.err
        );
        give("left", 120)?;
        wait::until_true("the excess is logged", DEADLINE, || {
            Ok(cluster.slurmctld_log()?.contains(LOGGED))
        })?;
        // 100 x 120 / 160.
        entitled(cluster, "left", 75.0)?;
        let level = level(cluster)?;
        ensure!(level["minutes"]["left"] == -60.0, "{level}");
        fixture::next_pass(cluster)?;
        fixture::next_pass(cluster)?;
        let logged = cluster.slurmctld_log()?.matches(LOGGED).count();
        ensure!(logged == 1, "logged {logged} times");

        check.step("a start with too many minutes");
        cluster.stop_slurmctld()?;
        cluster.start_slurmctld()?;
        fixture::next_pass(cluster)?;
        entitled(cluster, "left", 75.0)
    })
}

fn set(cluster: &Cluster, account: &str, minutes: u32) -> Result<()> {
    let shares = format!("fairshare={minutes}");
    cluster.sacctmgr(&["modify", "account", account, "set", &shares])?;
    Ok(())
}

/// The level below `upper`, as `fairtree shares` shows it.
fn level(cluster: &Cluster) -> Result<Value> {
    let ran = cluster.fairtree(&["shares", "--json", "--below", "upper"])?;
    let found: Value = serde_json::from_str(&ran.out)?;
    Ok(found["level"].clone())
}

/// Waits until an account below `upper` is entitled to this number of minutes.
fn entitled(cluster: &Cluster, account: &str, minutes: f64) -> Result<()> {
    wait::until_true("the entitlement", DEADLINE, || {
        let level = level(cluster)?;
        let mut rows = level["rows"].as_array().context("rows")?.iter();
        let row = rows
            .find(|row| row["name"] == account)
            .context("the account")?;
        Ok(row["entitled"].as_f64() == Some(minutes * 60.0))
    })
}
