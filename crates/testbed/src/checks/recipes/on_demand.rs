//! A machine on demand, and by reservation.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::super::Check;
use super::page::{self, CPUS, Page};
use super::{job, starts, waiting, waits_in_order};
use crate::checks::fixture::{self, DEADLINE};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::wait;

const ON_DEMAND: &str = "ondemand";
const BOTH: &str = "reserved,ondemand";

/// Price of a second on the page, and also of a microsecond.
const PRICE: u64 = 3;
/// Execution time of a job on the machine, microseconds.
const EXECUTED_US: u64 = 1_234_567;

/// Jobs start first come, first served. Jobs of a reservation start before them, and a halted job
/// returns to its place. Bills match a table of the runs.
pub fn on_demand(check: &Check) -> Result<()> {
    let page = Page::read(page::ON_DEMAND)?;
    let plan = page.plan(check, "slurm.conf")?;
    check.in_cluster(&plan, |cluster| {
        page.run(check, cluster, "Limits")?;
        page.apply(cluster, "slurm.conf", &[])?;
        fixture::next_pass(cluster)?;

        check.step("on demand, up to the limits");
        let first = cluster.submit(&restarted("bob", "beta"))?;
        fixture::started(cluster, first)?;
        let second = cluster.submit(&on_demand_job("ann", "acme"))?;
        let third = cluster.submit(&on_demand_job("bob", "beta"))?;
        waits_in_order(cluster, &[second, third])?;
        // The machine's own program would write this later.
        let measured = format!("admincomment=executed_us={EXECUTED_US}");
        let named = format!("jobid={second}");
        cluster.run(&["scontrol", "update", &named, &measured])?;
        page.run(check, cluster, "A full queue")?;
        let queue = waiting(cluster)?;
        ensure!(
            queue.len() == 3 && queue[..2] == [second, third],
            "{queue:?}"
        );
        cluster.run(&["scancel", &queue[2].to_string()])?;

        check.step("a reservation halts what runs");
        page.run(check, cluster, "A reservation")?;
        let reserved = |secs| -> Result<u32> {
            let mut new = job("ann", "acme", CPUS, secs);
            new.partition = BOTH;
            new.options.push("--reservation=r1".to_owned());
            cluster.submit(&new)
        };
        let halting = reserved(1)?;
        fixture::ended(cluster, halting)?;
        fixture::next_pass(cluster)?;
        // Although the second was submitted before the halted one was requeued.
        waits_in_order(cluster, &[first, second, third])?;
        let running = reserved(6)?;
        fixture::started(cluster, running)?;
        let left = reserved(1)?;

        check.step("the reservation ends");
        let end = "endtime=now+1";
        cluster.run(&["scontrol", "update", "reservationname=r1", end])?;
        let end: i64 = cluster
            .show("reservation")?
            .find("ReservationName", "r1")?
            .get("EndTime")?;
        let state = |id: u32, field| -> Result<String> {
            let jobs = cluster.show("job")?;
            let row = jobs.find("JobId", &id.to_string())?.text(field)?;
            Ok(row.to_owned())
        };
        let all = [halting, running, first, second, third, left];
        let found = starts(cluster, &all)?;
        // The expected order: the reservation's jobs in their order, then all others in the order
        // of their first submission.
        ensure!(found == all, "started {found:?}, not {all:?}");
        ensure!(state(first, "Restarts")? == "1", "it was not halted");
        let (_, ended) = fixture::ended(cluster, running)?;
        ensure!(ended > end, "{running} ended at {ended}, not after {end}");

        page.run(check, cluster, "Maintenance")?;
        bill(check, cluster, &page)?;
        reservation(check, cluster, &page)?;
        page.done()
    })
}

/// Checks the bill against the cost of each run that sacct lists.
fn bill(check: &Check, cluster: &Cluster, page: &Page) -> Result<()> {
    let columns = "Account,Partition,State,ElapsedRaw";
    let format = format!("--format={columns}");
    let words = [
        "sacct",
        "-a",
        "-D",
        "-X",
        "-n",
        "-P",
        "-S",
        "now-1hour",
        &format,
    ];
    let mut runs = Vec::new();
    wait::until_true("all runs are in the database", DEADLINE, || {
        let text = cluster.run(&words)?;
        let rows = text
            .lines()
            .map(|line| line.split('|').map(str::to_owned).collect());
        runs = rows.collect::<Vec<Vec<String>>>();
        let ended =
            |row: &Vec<String>| row.len() == 4 && row[2] != "RUNNING" && row[2] != "PENDING";
        // Six jobs, a run that was halted, and a job that was cancelled before it ran.
        Ok(runs.len() == 8 && runs.iter().all(ended))
    })
    .with_context(|| format!("{runs:?}"))?;
    let halted = runs.iter().filter(|row| row[2] == "PREEMPTED").count();
    ensure!(halted == 1, "{runs:?}");
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &runs {
        if row[1] == ON_DEMAND && row[2] == "COMPLETED" {
            *expected.entry(&row[0]).or_default() += PRICE * row[3].parse::<u64>()?;
        }
    }
    owes(&page.run(check, cluster, "The bill")?, &expected)?;
    let by_microsecond = BTreeMap::from([("acme", PRICE * EXECUTED_US)]);
    let printed = page.run(check, cluster, "The bill by the microsecond")?;
    owes(&printed, &by_microsecond)
}

/// Checks that the database has the same length of the reservation as slurmctld.
fn reservation(check: &Check, cluster: &Cluster, page: &Page) -> Result<()> {
    let printed = page.run(check, cluster, "The bill of a reservation")?;
    ensure!(printed.starts_with("r1|"), "{printed}");
    Ok(())
}

/// Fails unless the table shows exactly these amounts.
fn owes(printed: &str, expected: &BTreeMap<&str, u64>) -> Result<()> {
    for (account, amount) in expected {
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            words.next() == Some(account) && words.last() == Some(&amount.to_string())
        };
        ensure!(
            printed.lines().any(line),
            "{account} owes {amount}:\n{printed}"
        );
    }
    let all = format!("In all: {}", expected.values().sum::<u64>());
    ensure!(printed.contains(&all), "{all}:\n{printed}");
    Ok(())
}

fn on_demand_job<'a>(user: &'a str, account: &'a str) -> NewJob<'a> {
    NewJob {
        partition: ON_DEMAND,
        ..job(user, account, 1, 1)
    }
}

/// A job that runs for minutes the first time, but ends at once after a restart.
fn restarted<'a>(user: &'a str, account: &'a str) -> NewJob<'a> {
    let mut new = on_demand_job(user, account);
    let script = "--wrap=test -n \"$SLURM_RESTART_COUNT\" || sleep 600; sleep 1";
    new.options = vec!["--time=20".to_owned(), script.to_owned()];
    new
}
