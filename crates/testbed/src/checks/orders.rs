//! Jobs in a custom order: hubs, groups and projects, least used first.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail, ensure};

use super::Check;
use super::fixture::{self, CPUS, DEADLINE, NODES, PERIOD, job};
use super::settings::reconfigure_restarts;
use crate::cluster::accounting::{Account, Accounting, FairShare};
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::{Cluster, Plan};
use crate::wait;

/// Projects: account, its only user, group, the group's entitlement in fifths of the whole, and
/// shares in the group. Hub A has 3 of 5 shares, its groups 1 and 2 of 3.
const PROJECTS: [(&str, &str, usize, u64, u64); 4] = [
    ("x", "ann", 0, 1, 1),
    ("y", "bob", 0, 1, 2),
    ("z", "cyd", 1, 2, 1),
    ("n", "dan", 2, 2, 1),
];

/// Projects of the submitted jobs, in order.
const SUBMITTED: [usize; 14] = [0, 0, 1, 2, 2, 2, 3, 0, 3, 1, 2, 3, 3, 1];

/// Expected usage of a job, CPU-seconds: its limit is a minute.
const EXPECTED: u64 = 60 * CPUS as u64;

fn plan(check: &Check) -> Plan {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    let account = |name, parent, shares, users: &[&'static str]| Account {
        name,
        parent,
        fair_share: FairShare::Raw(shares),
        users: users
            .iter()
            .map(|user| (*user, FairShare::Parent))
            .collect(),
    };
    plan.accounting = Accounting {
        accounts: vec![
            account("huba", None, 3, &[]),
            account("hubb", None, 2, &[]),
            account("a1", Some("huba"), 1, &[]),
            account("a2", Some("huba"), 2, &[]),
            account("b1", Some("hubb"), 1, &[]),
            account("x", Some("a1"), 1, &["ann"]),
            account("y", Some("a1"), 2, &["bob"]),
            account("z", Some("a2"), 1, &["cyd"]),
            account("n", Some("b1"), 1, &["dan"]),
        ],
        qos: Vec::new(),
    };
    plan.settings
        .retain(|(key, _)| *key != "PriorityParameters");
    let parameters = parameters("interleaved", PERIOD);
    plan.settings.push(("PriorityParameters", parameters));
    plan
}

fn parameters(order: &str, period: u32) -> String {
    format!("calc_period={period},ranking=least_used:2,order={order}")
}

/// Waiting jobs have the order of a loop that picks and charges, as soon as they are submitted, and
/// start in it; priorities set by administrators stay.
pub fn least_used(check: &Check) -> Result<()> {
    check.in_cluster(&plan(check), |cluster| {
        check.step("one project uses something");
        let id = cluster.submit(&whole(PROJECTS[0], 4))?;
        fixture::ended(cluster, id)?;
        fixture::drain_nodes(cluster)?;
        fixture::next_pass(cluster)?;
        let mut jobs = Vec::new();
        let [others @ .., last] = SUBMITTED;
        for project in others {
            jobs.push((cluster.submit(&whole(PROJECTS[project], 1))?, project));
        }
        let expected = picked(cluster, &jobs, EXPECTED)?;
        fixture::next_pass(cluster)?;
        ensure_waiting(cluster, &expected)?;
        let numbers = waiting(cluster)?;
        fixture::next_pass(cluster)?;
        ensure!(numbers == waiting(cluster)?, "numbers changed for nothing");

        check.step("sprio shows the numbers, and no other factor");
        ensure_shown(cluster, &numbers)?;

        check.step("one more has its place at once");
        let id = cluster.submit(&whole(PROJECTS[last], 1))?;
        let found = names(&waiting(cluster)?);
        jobs.push((id, last));
        let expected = picked(cluster, &jobs, EXPECTED)?;
        let place = |order: &[u32], id: u32| order.iter().position(|other| *other == id);
        ensure!(
            place(&found, id) == place(&expected, id),
            "{id} in {found:?} instead of {expected:?}"
        );
        fixture::next_pass(cluster)?;
        ensure_waiting(cluster, &expected)?;

        check.step("a job is held and released");
        let first = expected[0].to_string();
        cluster.run(&["scontrol", "hold", &first])?;
        fixture::next_pass(cluster)?;
        let others = jobs.iter().filter(|(id, _)| *id != expected[0]);
        let others: Vec<_> = others.copied().collect();
        ensure_waiting(cluster, &picked(cluster, &others, EXPECTED)?)?;
        cluster.run(&["scontrol", "release", &first])?;
        let found = names(&waiting(cluster)?);
        ensure!(found[0] == expected[0], "it comes first, not {found:?}");
        fixture::next_pass(cluster)?;
        ensure_waiting(cluster, &expected)?;

        check.step("an administrator sets a number");
        let [before @ .., last] = &expected[..] else {
            bail!("no jobs");
        };
        let last = last.to_string();
        let named = format!("jobid={last}");
        cluster.run(&["scontrol", "update", &named, "priority=4100000000"])?;
        fixture::next_pass(cluster)?;
        let found = waiting(cluster)?;
        ensure!(
            found[0].1 == 4_100_000_000 && names(&found)[1..] == *before,
            "{found:?}"
        );
        cluster.run(&["scontrol", "hold", &last])?;
        cluster.run(&["scontrol", "release", &last])?;
        fixture::next_pass(cluster)?;
        ensure_waiting(cluster, &expected)?;

        check.step("by present ratios alone");
        set(cluster, &parameters("strict", PERIOD))?;
        let strict = picked(cluster, &jobs, 0)?;
        wait::until_true("the strict order", DEADLINE, || {
            Ok(names(&waiting(cluster)?) == strict)
        })?;
        set(cluster, &parameters("interleaved", PERIOD))?;
        wait::until_true("the interleaved order", DEADLINE, || {
            Ok(names(&waiting(cluster)?) == expected)
        })?;

        check.step("they start in their order");
        // No pass comes in between: real usage counts less than expected usage.
        set(cluster, &parameters("interleaved", 86_400))?;
        for node in 0..NODES {
            fixture::resume_node(cluster, &format!("n{node}"))?;
        }
        let mut starts = Vec::new();
        for (id, _) in &jobs {
            starts.push((fixture::ended(cluster, *id)?.0, *id));
        }
        starts.sort_unstable();
        let started: Vec<u32> = starts.into_iter().map(|(_, id)| id).collect();
        ensure!(started == expected, "started {started:?}, not {expected:?}");
        Ok(())
    })
}

/// A reconfigure alone gives waiting jobs their order, and removes it; a job that is submitted
/// right after it also gets its place. No other pass comes.
pub fn by_a_reconfigure(check: &Check) -> Result<()> {
    const DAY: u32 = 86_400;
    let weighted = format!("calc_period={DAY},ranking=least_used:2");
    let mut plan = plan(check);
    // Sums that do not change as time passes.
    plan.settings
        .retain(|(key, _)| !["PriorityParameters", "PriorityWeightAge"].contains(key));
    plan.settings.push(("PriorityParameters", weighted.clone()));
    check.in_cluster(&plan, |cluster| {
        fixture::drain_nodes(cluster)?;
        let mut jobs = Vec::new();
        let [others @ .., last, newest] = SUBMITTED;
        for project in others {
            jobs.push((cluster.submit(&whole(PROJECTS[project], 1))?, project));
        }
        let sums: BTreeMap<u32, u32> = waiting(cluster)?.into_iter().collect();
        for (order, expected, project) in [("interleaved", EXPECTED, last), ("strict", 0, newest)] {
            check.step(order);
            set(cluster, &parameters(order, DAY))?;
            let id = cluster.submit(&whole(PROJECTS[project], 1))?;
            jobs.push((id, project));
            let expected = picked(cluster, &jobs, expected)?;
            wait::until_true("all jobs are in order", DEADLINE, || {
                Ok(names(&waiting(cluster)?) == expected)
            })?;
        }
        check.step("weighted");
        set(cluster, &weighted)?;
        wait::until_true("priorities are sums again", DEADLINE, || {
            let mut found: BTreeMap<u32, u32> = waiting(cluster)?.into_iter().collect();
            found.retain(|id, _| sums.contains_key(id));
            Ok(found == sums)
        })?;
        let log = cluster.slurmctld_log()?;
        for failure in [
            "cannot compute the priority of a job",
            "cannot apply changed TRES",
        ] {
            ensure!(!log.contains(failure), "{log}");
        }
        Ok(())
    })
}

/// With `expect=history` a job is expected to take as long as its user's last two jobs, here some
/// seconds of many minutes; also after a restart of slurmctld.
pub fn by_history(check: &Check) -> Result<()> {
    // Long enough to change the order, however slowly a machine starts and ends jobs.
    const MINUTES: u64 = 10;
    let limit = format!("--time={MINUTES}");
    let long = |project: usize, secs| NewJob {
        options: vec![limit.clone()],
        ..whole(PROJECTS[project], secs)
    };
    let limits = [60 * MINUTES * u64::from(CPUS); PROJECTS.len()];
    let mut plan = plan(check);
    let parameters = parameters("interleaved", PERIOD) + ",expect=history";
    plan.settings
        .retain(|(key, _)| *key != "PriorityParameters");
    plan.settings.push(("PriorityParameters", parameters));
    check.in_cluster(&plan, |cluster| {
        check.step("three jobs of one user run");
        let mut ran = Vec::new();
        for secs in [9, 1, 3] {
            let id = cluster.submit(&long(0, secs))?;
            let (start, end) = fixture::ended(cluster, id)?;
            ran.push((end - start).unsigned_abs());
        }
        fixture::drain_nodes(cluster)?;
        fixture::next_pass(cluster)?;
        let mut expected = limits;
        expected[0] = (ran[1] + ran[2]) * u64::from(CPUS) / 2;
        let mut jobs = Vec::new();
        for project in [2, 2, 0, 0, 1, 0, 1, 3] {
            jobs.push((cluster.submit(&long(project, 1))?, project));
        }
        fixture::next_pass(cluster)?;
        let order = picked_each(cluster, &jobs, expected)?;
        ensure!(
            order != picked_each(cluster, &jobs, limits)?,
            "time limits would do as well"
        );
        ensure_waiting(cluster, &order)?;

        check.step("one more has its place at once");
        let id = cluster.submit(&long(0, 1))?;
        let found = names(&waiting(cluster)?);
        jobs.push((id, 0));
        let order = picked_each(cluster, &jobs, expected)?;
        let place = |order: &[u32]| order.iter().position(|other| *other == id);
        ensure!(
            place(&found) == place(&order),
            "{id} in {found:?} instead of {order:?}"
        );
        fixture::next_pass(cluster)?;
        ensure_waiting(cluster, &order)?;

        check.step("slurmctld starts again");
        cluster.stop_slurmctld()?;
        cluster.start_slurmctld()?;
        fixture::next_pass(cluster)?;
        ensure_waiting(cluster, &order)
    })
}

/// Allocated minutes of the projects.
const MINUTES: [u64; PROJECTS.len()] = [1, 6, 3, 2];

/// A policy file: its keys are used, minutes replace shares, and a wrong file leaves the old policy
/// in force.
pub fn by_minutes(check: &Check) -> Result<()> {
    check.in_cluster(&plan(check), |cluster| {
        let id = cluster.submit(&whole(PROJECTS[2], 3))?;
        fixture::ended(cluster, id)?;
        fixture::drain_nodes(cluster)?;
        fixture::next_pass(cluster)?;
        let mut jobs = Vec::new();
        for project in SUBMITTED {
            jobs.push((cluster.submit(&whole(PROJECTS[project], 1))?, project));
        }
        check.step("a policy file with minutes");
        let file = cluster.path().join("etc/policy.toml");
        let mut text = "ranking = 'least_used:leaf'\norder = 'interleaved'\n".to_owned();
        for (project, minutes) in PROJECTS.iter().zip(MINUTES) {
            text += &format!("[accounts.{}]\nminutes = {minutes}\n", project.0);
        }
        fs::write(&file, &text)?;
        let named = format!("calc_period={PERIOD},policy={}", file.display());
        set(cluster, &named)?;
        let expected = picked_by_minutes(cluster, &jobs)?;
        wait::until_true("the order of minutes", DEADLINE, || {
            Ok(names(&waiting(cluster)?) == expected)
        })?;

        check.step("an account that is not there");
        fs::write(&file, format!("{text}[accounts.nobody]\nminutes = 3\n"))?;
        // The command may report the refusal or not.
        let _ = cluster.reconfigure();
        let line = format!("{}:11:11: accounts: found \"nobody\"", file.display());
        wait::until_true("the refusal is logged", DEADLINE, || {
            Ok(cluster.slurmctld_log()?.contains(&line))
        })?;
        fixture::next_pass(cluster)?;
        if !reconfigure_restarts(check.release) {
            ensure_waiting(cluster, &expected)?;
        }

        check.step("other minutes");
        fs::write(&file, text.replace("minutes = 6", "minutes = 600"))?;
        cluster.reconfigure()?;
        // The second project has used very little of that: all its jobs come early.
        wait::until_true("other minutes count", DEADLINE, || {
            let found = names(&waiting(cluster)?);
            let third = jobs.iter().filter(|(_, project)| *project == 1).nth(2);
            let third = third.context("three jobs")?.0;
            let place = found.iter().position(|id| *id == third);
            Ok(place.is_some_and(|place| place < 6))
        })
    })
}

/// Like [`picked`], but all projects compete at once.
fn picked_by_minutes(cluster: &Cluster, jobs: &[(u32, usize)]) -> Result<Vec<u32>> {
    let mut used = used(cluster)?;
    let mut left = jobs.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        let oldest = (0..PROJECTS.len())
            .filter_map(|project| left.iter().copied().find(|(_, of)| *of == project));
        // Minutes divide 6, so six times usage over minutes is a whole number.
        let best = oldest.min_by_key(|job| (used[job.1] * 6 / MINUTES[job.1], job.0));
        let (id, project) = best.context("a job")?;
        left.retain(|(other, _)| *other != id);
        used[project] += EXPECTED;
        order.push(id);
    }
    Ok(order)
}

/// A job that takes the whole cluster.
fn whole(
    (account, user, ..): (&'static str, &'static str, usize, u64, u64),
    secs: u32,
) -> NewJob<'static> {
    NewJob {
        cpus: CPUS,
        nodes: NODES,
        options: vec!["--time=1".to_owned()],
        ..job(user, account, secs)
    }
}

fn set(cluster: &mut Cluster, parameters: &str) -> Result<()> {
    cluster.conf_mut().set("PriorityParameters", parameters);
    cluster.reconfigure()
}

/// Waiting jobs that are not held, and their priorities, the highest first.
fn waiting(cluster: &Cluster) -> Result<Vec<(u32, u32)>> {
    let squeue = cluster.squeue("PD")?;
    let mut found = Vec::new();
    for row in squeue.rows() {
        found.push((row.get::<u32>("JOBID")?, row.get::<u32>("PRIORITY")?));
    }
    found.retain(|(_, priority)| *priority > 0);
    found.sort_unstable_by_key(|(_, priority)| std::cmp::Reverse(*priority));
    Ok(found)
}

/// Fails unless sprio shows these numbers as PRIORITY and FAIRSHARE, and no other factor.
fn ensure_shown(cluster: &Cluster, numbers: &[(u32, u32)]) -> Result<()> {
    let sprio = cluster.sprio()?;
    for (id, number) in numbers {
        let row = sprio.find("JOBID", &id.to_string())?;
        for column in ["PRIORITY", "FAIRSHARE"] {
            ensure!(
                row.get::<u32>(column)? == *number,
                "{column} of {id}: {row:?}"
            );
        }
        for column in ["SITE", "AGE", "ASSOC", "JOBSIZE", "QOS", "NICE"] {
            ensure!(row.get::<i64>(column)? == 0, "{column} of {id}: {row:?}");
        }
    }
    Ok(())
}

fn ensure_waiting(cluster: &Cluster, expected: &[u32]) -> Result<()> {
    let found = waiting(cluster)?;
    ensure!(
        names(&found) == expected,
        "{found:?} instead of {expected:?}"
    );
    Ok(())
}

fn names(found: &[(u32, u32)]) -> Vec<u32> {
    found.iter().map(|(id, _)| *id).collect()
}

/// Raw usage of each project, CPU-seconds.
fn used(cluster: &Cluster) -> Result<[u64; PROJECTS.len()]> {
    let sshare = cluster.sshare("Account,User,RawUsage")?;
    let mut used = [0_u64; PROJECTS.len()];
    for (used, project) in used.iter_mut().zip(PROJECTS) {
        let mut rows = sshare.rows().iter();
        let row = rows.find(|row| {
            let account = row.text("Account").map(str::trim);
            account.is_ok_and(|account| account == project.0)
        });
        *used = row.context("a project")?.get("RawUsage")?;
    }
    Ok(used)
}

/// Picks the group with the least usage relative to its entitlement, in it the project by the same
/// rule, and its oldest job; charges that job; and repeats. It uses only whole numbers.
fn picked(cluster: &Cluster, jobs: &[(u32, usize)], expected: u64) -> Result<Vec<u32>> {
    picked_each(cluster, jobs, [expected; PROJECTS.len()])
}

/// Like [`picked`], but with a separate expected usage for each project.
fn picked_each(
    cluster: &Cluster,
    jobs: &[(u32, usize)],
    expected: [u64; PROJECTS.len()],
) -> Result<Vec<u32>> {
    let mut used = used(cluster)?;
    let mut left = jobs.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        let mut of_group = [0; PROJECTS.len()];
        for (used, project) in used.iter().zip(PROJECTS) {
            of_group[project.2] += used;
        }
        // The oldest job of each project, the best project of each group, then the best group.
        // There are two shares at most: twice the usage over shares is a whole number.
        let oldest = (0..PROJECTS.len())
            .filter_map(|project| left.iter().copied().find(|(_, of)| *of == project));
        let of_groups = (0..PROJECTS.len()).filter_map(|group| {
            let below = oldest.clone().filter(|job| PROJECTS[job.1].2 == group);
            below.min_by_key(|job| (used[job.1] * 2 / PROJECTS[job.1].4, job.0))
        });
        let best = of_groups.min_by_key(|job| {
            let (.., group, entitled, _) = PROJECTS[job.1];
            (of_group[group] * 2 / entitled, job.0)
        });
        let (id, project) = best.context("a job")?;
        left.retain(|(other, _)| *other != id);
        used[project] += expected[project];
        order.push(id);
    }
    Ok(order)
}
