//! Usage in windows and by outcome: limits that release jobs by themselves, ends that do not count,
//! and numbers that outlive restarts and other models.

use anyhow::{Result, ensure};

use super::Check;
use super::fixture::{self, CPUS, DEADLINE, NODES, PERIOD, job, now, total_usage};
use super::usage;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::{Cluster, Plan};
use crate::wait;

/// Seconds of the window in which a limit is met and left.
const WINDOW: i64 = 90;

/// The same, as slurm.conf writes it.
const WINDOW_TEXT: &str = "1:30";

/// A plan whose passes come every [`PERIOD`], with these further keys.
fn plan(check: &Check, keys: &str) -> Plan {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    plan.settings
        .retain(|(key, _)| *key != "PriorityParameters");
    plan.settings
        .push(("PriorityParameters", parameters(keys, PERIOD)));
    plan
}

fn parameters(keys: &str, period: u32) -> String {
    format!("calc_period={period},{keys}")
}

fn set(cluster: &mut Cluster, keys: &str) -> Result<()> {
    cluster
        .conf_mut()
        .set("PriorityParameters", parameters(keys, PERIOD));
    cluster.reconfigure()
}

/// A job of this user that takes the whole cluster.
fn whole(user: &'static str, account: &'static str, secs: u32) -> NewJob<'static> {
    NewJob {
        cpus: CPUS,
        nodes: NODES,
        ..job(user, account, secs)
    }
}

/// A limit of minutes applies to the window: a held job starts by itself when old usage has left
/// the window.
pub fn a_limit_in_a_window(check: &Check) -> Result<()> {
    let keys = format!("usage=window:{WINDOW_TEXT},resolution=0:01");
    check.in_cluster(&plan(check, &keys), |cluster| {
        check.step("an account uses more than it may");
        let id = cluster.submit(&whole("ann", "left", 15))?;
        let (start, end) = fixture::ended(cluster, id)?;
        cluster.sacctmgr(&["modify", "account", "left", "set", "GrpTRESMins=cpu=1"])?;
        fixture::next_pass(cluster)?;
        let mut held = job("bob", "left", 1);
        held.options = vec!["--time=1".to_owned()];
        let held = cluster.submit(&held)?;
        wait::until_true("the limit holds the job", DEADLINE, || {
            let jobs = cluster.show("job")?;
            let row = jobs.find("JobId", &held.to_string())?;
            Ok(row.text("Reason")? == "AssocGrpCPUMinutesLimit")
        })?;

        check.step("old use leaves the window");
        let (released, _) = fixture::ended(cluster, held)?;
        // Time when less than a minute of CPU time is left in the window.
        let free = end + WINDOW - 60 / i64::from(CPUS);
        ensure!(
            released >= free,
            "a job of {start} to {end} held another one until {released}, not until {free}"
        );
        wait::until_true("all use has left the window", DEADLINE, || {
            Ok(total_usage(cluster)? == 0)
        })
    })
}

/// Jobs whose end does not count are refunded fully, in the account and in its QOS.
pub fn ends_that_do_not_count(check: &Check) -> Result<()> {
    let keys = "usage=window:1-0,counts=COMPLETED+FAILED:3";
    check.in_cluster(&plan(check, keys), |cluster| {
        let mut used = 0;
        for (step, secs, cancelled) in [("completed", 4, false), ("cancelled", 600, true)] {
            check.step(step);
            let id = cluster.submit(&whole("ann", "left", secs))?;
            let start = fixture::started(cluster, id)?;
            if cancelled {
                wait::until_true("the job is charged while it runs", DEADLINE, || {
                    Ok(now()? > start + 3 * i64::from(PERIOD) && total_usage(cluster)? > used)
                })?;
                cluster.run(&["scancel", &id.to_string()])?;
            }
            let (start, end) = fixture::ended(cluster, id)?;
            if !cancelled {
                used += u64::from(CPUS) * u64::try_from(end - start)?;
            }
            fixture::next_pass(cluster)?;
            let found = total_usage(cluster)?;
            ensure!(found == used, "{step}: {found} TRES-seconds, not {used}");
            let wall = qos_wall(cluster)?;
            let expected = used / u64::from(CPUS);
            ensure!(
                wall == expected,
                "{step}: QOS normal has {wall} s, not {expected}"
            );
        }
        check.step("a requeued job");
        let id = cluster.submit(&whole("ann", "left", 600))?;
        let start = fixture::started(cluster, id)?;
        wait::until_true("the job is charged while it runs", DEADLINE, || {
            Ok(now()? > start + 3 * i64::from(PERIOD) && total_usage(cluster)? > used)
        })?;
        fixture::drain_nodes(cluster)?;
        cluster.run(&["scontrol", "requeue", &id.to_string()])?;
        fixture::next_pass(cluster)?;
        let found = total_usage(cluster)?;
        ensure!(found == used, "requeued: {found} TRES-seconds, not {used}");
        Ok(())
    })
}

/// Wall time that the QOS `normal` has used, as its limit counts it, seconds.
fn qos_wall(cluster: &Cluster) -> Result<u64> {
    let text = cluster.run(&["scontrol", "show", "assoc_mgr", "flags=qos"])?;
    let normal = text.split("QOS=").find(|part| part.starts_with("normal("));
    let raw = normal.and_then(|part| part.split("UsageRaw=").nth(1));
    let raw = raw.and_then(|rest| rest.split('.').next());
    let raw: u64 = raw.unwrap_or_default().parse()?;
    Ok(raw / u64::from(CPUS))
}

/// Restarts and kills lose no usage in a window.
pub fn restarts(check: &Check) -> Result<()> {
    usage::restarts_lose_nothing_of(check, &plan(check, "usage=window:1-0"))
}

/// A crash after the end of a job loses no usage in a window.
pub fn a_crash_between_passes(check: &Check) -> Result<()> {
    let mut plan = plan(check, "");
    plan.settings
        .retain(|(key, _)| *key != "PriorityParameters");
    let parameters = parameters("usage=window:1-0", 86_400);
    plan.settings.push(("PriorityParameters", parameters));
    usage::a_crash_loses_no_end_of(check, &plan)
}

/// Changes the model and back: the window has the usage of that time, and the earlier usage.
pub fn another_model_and_back(check: &Check) -> Result<()> {
    const KEYS: &str = "usage=window:1-0";
    check.in_cluster(&plan(check, KEYS), |cluster| {
        fixture::use_every_account(cluster)?;
        fixture::next_pass(cluster)?;
        let before = usage::usages(cluster)?;
        ensure!(total_usage(cluster)? > 0, "no usage to keep");
        for model in ["usage=half_life", KEYS, "usage=total:2020-01-01", KEYS] {
            check.step(model);
            set(cluster, model)?;
            fixture::next_pass(cluster)?;
            fixture::next_pass(cluster)?;
            usage::ensure_same(&before, &usage::usages(cluster)?, model)?;
        }
        check.step("use under another model");
        set(cluster, "usage=half_life")?;
        usage::run_one(cluster)?;
        fixture::next_pass(cluster)?;
        let after = usage::usages(cluster)?;
        set(cluster, KEYS)?;
        fixture::next_pass(cluster)?;
        fixture::next_pass(cluster)?;
        usage::ensure_same(&after, &usage::usages(cluster)?, "back in the window")
    })
}
