//! slurmdbd stops and comes back; slurmctld is reconfigured while jobs come and go; usage is lost.

use anyhow::{Result, ensure};

use super::Life;
use super::admin;
use super::ledger::ClusterRuns;
use super::watch;
use crate::checks::fixture::{self, DEADLINE, job, total_usage};
use crate::cluster::client::NewJob;
use crate::wait;

/// Jobs run, slurmctld is restarted, and jobs run again, all without slurmdbd.
pub fn of_slurmdbd(life: &mut Life) -> Result<()> {
    life.check.step("without slurmdbd");
    life.cluster.stop_slurmdbd()?;
    admin::run(life, "cyd", "bio", 3, 2)?;
    let before = total_usage(life.cluster)?;
    restart(life)?;
    let after = total_usage(life.cluster)?;
    ensure!(
        before == after,
        "usage {before} became {after} by a restart"
    );
    life.tell("without slurmdbd: jobs run, a restart keeps usage");
    admin::run(life, "bob", "phys", 2, 1)?;
    life.check.step("with slurmdbd again");
    life.cluster.start_slurmdbd_again()?;
    life.sacctmgr(&["modify", "account", "chem", "set", "fairshare=8"])?;
    wait::until_true("slurmctld hears of changes again", DEADLINE, || {
        let table = life.cluster.sshare("Account,RawShares")?;
        Ok(table.find("Account", "chem")?.text("RawShares")?.trim() == "8")
    })?;
    admin::run(life, "eve", "chem", 1, 1)?;
    life.tell("with slurmdbd again: changes arrive, jobs run");
    Ok(())
}

/// `scontrol reconfigure` between, during and after many short jobs.
pub fn reconfigure_under_load(life: &mut Life) -> Result<()> {
    life.check.step("reconfiguring under load");
    let mut ids = Vec::new();
    for weight in ["1000", "2000", "3000", "4000"] {
        for (user, account) in [("ann", "phys"), ("cyd", "bio"), ("eve", "chem")] {
            let mut new = NewJob {
                cpus: 2,
                ..job(user, account, 1)
            };
            new.options.push("--array=0-2".to_owned());
            ids.push(admin::accepted(life, &new)?);
        }
        wait::until_true("the jobs have begun", DEADLINE, || {
            let has_begun = |id: &u32| -> Result<bool> {
                let tasks = watch::tasks(life.cluster, *id)?;
                Ok(tasks.iter().any(|task| task.state != "PENDING"))
            };
            ids.iter()
                .try_fold(true, |all, id| Ok(all && has_begun(id)?))
        })?;
        life.reconfigure("PriorityWeightAge", weight)?;
    }
    for id in ids {
        wait::until_true("the array is over", DEADLINE, || {
            let tasks = watch::tasks(life.cluster, id)?;
            Ok(tasks.len() == 3 && tasks.iter().all(watch::Look::is_over))
        })?;
    }
    life.tell("reconfigured under load");
    Ok(())
}

/// Sets `PriorityUsageResetPeriod=NOW` and then the old value; returns the usage since then.
pub fn reset_now(life: &mut Life) -> Result<ClusterRuns> {
    life.check.step("forgetting all usage");
    set_reset_period(life, "NOW")?;
    restart(life)?;
    wait::until_true("usage is forgotten", DEADLINE, || {
        Ok(total_usage(life.cluster)? == 0)
    })?;
    life.tell("PriorityUsageResetPeriod=NOW: no usage is left");
    set_reset_period(life, "NONE")?;
    restart(life)?;
    let now = fixture::now()?;
    admin::use_all(life)?;
    let mut ledger = ClusterRuns::read(life.cluster)?;
    ledger.forget_all_before(now);
    Ok(ledger)
}

fn set_reset_period(life: &mut Life, period: &str) -> Result<()> {
    life.cluster
        .conf_mut()
        .set("PriorityUsageResetPeriod", period);
    life.cluster.write_conf()
}

/// Restarts slurmctld, and waits for the first pass, which either plugin makes at once.
fn restart(life: &mut Life) -> Result<()> {
    life.cluster.stop_slurmctld()?;
    let before = fixture::now()?;
    life.cluster.start_slurmctld()?;
    fixture::pass_after(life.cluster, before - 1)
}
