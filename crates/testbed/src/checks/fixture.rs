//! The site that the checks share, and the conditions that they wait for.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};

use crate::cluster::accounting::{Account, Accounting, FairShare, Qos};
use crate::cluster::client::NewJob;
use crate::cluster::conf::{Nodes, Partition, PriorityType};
use crate::cluster::{Cluster, Plan};
use crate::wait;
use xtask::release::Release;

/// Seconds between two passes of our plugin in the checks.
pub const PERIOD: u32 = 2;
/// CPUs of the whole cluster.
pub const CPUS: u32 = 8;
/// Nodes of the whole cluster.
pub const NODES: u32 = 2;
/// Far longer than any expected event takes (stock passes come once a minute).
pub const DEADLINE: Duration = Duration::from_secs(240);

/// A small site without decay: usage is a whole number of TRES-seconds, and sshare prints it
/// exactly.
pub fn plan(release: &Release, priority: PriorityType) -> Plan {
    let mut settings: Vec<(&'static str, String)> = [
        ("PriorityDecayHalfLife", "0"),
        ("PriorityUsageResetPeriod", "NONE"),
        ("PriorityCalcPeriod", "1"),
        ("PriorityMaxAge", "1-0"),
        // High enough to show a second of waiting.
        ("PriorityWeightAge", "1000000"),
        ("PriorityWeightAssoc", "3000"),
        ("PriorityWeightFairshare", "100000"),
        ("PriorityWeightJobSize", "7000"),
        ("PriorityWeightPartition", "5000"),
        ("PriorityWeightQOS", "11000"),
        ("PriorityWeightTRES", "cpu=1300"),
    ]
    .map(|(key, value)| (key, value.to_owned()))
    .into();
    if priority == PriorityType::Fairtree {
        settings.push(("PriorityParameters", format!("calc_period={PERIOD}")));
    }
    Plan {
        release: release.clone(),
        priority,
        nodes: Nodes {
            count: NODES as usize,
            cpus: CPUS / NODES,
        },
        partitions: vec![
            Partition {
                name: "main",
                priority_job_factor: 30,
                max_time: "1-0",
            },
            Partition {
                name: "debug",
                priority_job_factor: 70,
                max_time: "30",
            },
        ],
        accounting: accounting(),
        settings,
    }
}

/// Three levels, `parent` shares, zero shares. A check uses every account with users, so that no
/// two accounts tie (stock orders tied accounts by the order of its lists).
pub fn accounting() -> Accounting {
    use FairShare::{Parent, Raw};
    let account = |name, parent, shares, users: &[(&'static str, FairShare)]| Account {
        name,
        parent,
        fair_share: Raw(shares),
        users: users.to_vec(),
    };
    Accounting {
        accounts: vec![
            account("upper", None, 5, &[]),
            account(
                "left",
                Some("upper"),
                2,
                &[("ann", Raw(1)), ("bob", Raw(3))],
            ),
            account(
                "right",
                Some("upper"),
                3,
                &[("cyd", Parent), ("dan", Raw(0))],
            ),
            account("lower", None, 4, &[("eve", Raw(1)), ("ann", Raw(1))]),
        ],
        qos: vec![
            Qos {
                name: "high",
                priority: 900,
            },
            Qos {
                name: "low",
                priority: 170,
            },
        ],
    }
}

/// Two accounts without usage, which tie: each has a user with one share and a user with none.
pub fn with_tied_accounts(mut plan: Plan) -> Plan {
    for (name, users) in [("tie1", ["fay", "gil"]), ("tie2", ["hal", "ivy"])] {
        plan.accounting.accounts.push(Account {
            name,
            parent: None,
            fair_share: FairShare::Raw(1),
            users: vec![(users[0], FairShare::Raw(1)), (users[1], FairShare::Raw(0))],
        });
    }
    plan
}

/// An account that competes as a whole: its users have `FairShare=parent`.
pub fn with_leaf_account(mut plan: Plan) -> Plan {
    plan.accounting.accounts.push(Account {
        name: "leaf",
        parent: Some("upper"),
        fair_share: FairShare::Raw(4),
        users: vec![("fay", FairShare::Parent), ("gil", FairShare::Parent)],
    });
    plan
}

/// A job on one CPU in the default partition and QOS; override the fields that matter.
pub fn job<'a>(user: &'a str, account: &'a str, secs: u32) -> NewJob<'a> {
    NewJob {
        user,
        account,
        partition: "main",
        qos: "normal",
        cpus: 1,
        nodes: 1,
        secs,
        options: vec!["--time=20".to_owned()],
    }
}

/// Seconds since 1970.
pub fn now() -> Result<i64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(i64::try_from(since.as_secs())?)
}

/// Raw usage of the whole site, TRES-seconds, as sshare prints it.
pub fn total_usage(cluster: &Cluster) -> Result<u64> {
    let table = cluster.sshare("Account,RawUsage")?;
    table.find("Account", "root")?.get("RawUsage")
}

/// Waits for a whole pass that begins after this call.
pub fn next_pass(cluster: &Cluster) -> Result<()> {
    pass_after(cluster, now()?)
}

/// Waits until a pass that began after the second `called` has ended.
///
/// Each pass ends by writing its start time to a file. Both plugins use the same form: seconds
/// since 1970 as eight bytes, most significant first.
pub fn pass_after(cluster: &Cluster, called: i64) -> Result<()> {
    wait::until_true(
        "the next pass",
        DEADLINE,
        || Ok(last_pass(cluster) > called),
    )
}

/// Fails if a number of sshare is NaN.
pub fn ensure_numbers(cluster: &Cluster) -> Result<()> {
    let columns = "Account,User,NormShares,RawUsage,NormUsage,EffectvUsage,FairShare,LevelFS";
    let table = cluster.sshare(columns)?;
    ensure!(!table.rows().is_empty(), "sshare prints nothing");
    for row in table.rows() {
        for column in columns.split(',').skip(2) {
            let text = row.text(column)?;
            ensure!(!text.contains("nan"), "{column} is {text}: {row:?}");
        }
    }
    Ok(())
}

/// Start time of the last pass that has ended; 0 if there is none.
pub fn last_pass(cluster: &Cluster) -> i64 {
    let file = cluster.state_file("priority_last_decay_ran");
    // Stock removes the file for an instant while it replaces it.
    let bytes = fs::read(&file).unwrap_or_default();
    bytes
        .first_chunk()
        .map_or(0, |begin| i64::from_be_bytes(*begin))
}

/// Waits until slurmctld has saved its jobs in their current state.
///
/// slurmctld saves some seconds after a change. If it is killed before, it believes that an ended
/// job still runs, and gives it a later end when the nodes deny that.
pub fn jobs_are_saved(cluster: &Cluster) -> Result<()> {
    let file = cluster.state_file("job_state");
    let called = SystemTime::now();
    // This change makes slurmctld write a new file even if the last one is already written.
    let mut held = job("bob", "left", 60);
    held.options.push("--hold".to_owned());
    cluster.submit(&held)?;
    wait::until_true("jobs are saved", DEADLINE, || {
        let written = fs::metadata(&file).and_then(|meta| meta.modified());
        Ok(written.is_ok_and(|written| written > called))
    })
}

/// Waits until a job has ended for any reason.
pub fn over(cluster: &Cluster, id: u32) -> Result<()> {
    wait::until_true("the job is over", DEADLINE, || {
        let jobs = cluster.show("job")?;
        let state = jobs.find("JobId", &id.to_string())?.text("JobState")?;
        Ok(!["PENDING", "RUNNING", "COMPLETING", "SUSPENDED"].contains(&state))
    })
}

/// Waits until a job runs, and returns its start time.
pub fn started(cluster: &Cluster, id: u32) -> Result<i64> {
    wait::until("the job runs", DEADLINE, || {
        let jobs = cluster.show("job")?;
        let job = jobs.find("JobId", &id.to_string())?;
        match job.text("JobState")? {
            "RUNNING" => Ok(Some(job.get("StartTime")?)),
            _ => Ok(None),
        }
    })
}

/// Waits until a job has ended completely, and returns its start and end times.
pub fn ended(cluster: &Cluster, id: u32) -> Result<(i64, i64)> {
    wait::until("the job has ended", DEADLINE, || {
        let jobs = cluster.show("job")?;
        let job = jobs.find("JobId", &id.to_string())?;
        match job.text("JobState")? {
            "COMPLETED" | "CANCELLED" => Ok(Some((job.get("StartTime")?, job.get("EndTime")?))),
            _ => Ok(None),
        }
    })
}

/// Runs jobs to their end so that every account has usage, and no two the same.
pub fn use_every_account(cluster: &Cluster) -> Result<()> {
    let mut ids = Vec::new();
    for (user, account, cpus, secs) in [
        ("ann", "left", 1, 2),
        ("bob", "left", 2, 4),
        ("cyd", "right", 1, 5),
        ("eve", "lower", 3, 6),
        ("ann", "lower", 1, 3),
    ] {
        let new = NewJob {
            cpus,
            ..job(user, account, secs)
        };
        ids.push(cluster.submit(&new)?);
    }
    for id in ids {
        ended(cluster, id)?;
    }
    Ok(())
}

/// Submits a job that takes the whole cluster for an hour; returns its id.
///
/// Jobs that are submitted afterwards stay pending, also when slurmctld restarts or reads
/// slurm.conf again (which opens a stopped partition).
pub fn occupy(cluster: &Cluster) -> Result<u32> {
    let whole = NewJob {
        cpus: CPUS,
        nodes: NODES,
        options: vec!["--time=120".to_owned()],
        ..job("ann", "left", 3600)
    };
    let id = cluster.submit(&whole)?;
    started(cluster, id)?;
    Ok(id)
}

/// Keeps new jobs pending, so that usage does not grow.
pub fn stop_partitions(cluster: &Cluster) -> Result<()> {
    set_partitions(cluster, "state=down")
}

/// Lets jobs start again.
pub fn start_partitions(cluster: &Cluster) -> Result<()> {
    set_partitions(cluster, "state=up")
}

fn set_partitions(cluster: &Cluster, state: &str) -> Result<()> {
    for partition in ["main", "debug"] {
        let name = format!("partitionname={partition}");
        cluster
            .run(&["scontrol", "update", &name, state])
            .context("cannot stop or start a partition")?;
    }
    Ok(())
}

/// Keeps new jobs pending, also when slurmctld reads slurm.conf again.
pub fn drain_nodes(cluster: &Cluster) -> Result<()> {
    for node in 0..NODES {
        let name = format!("nodename=n{node}");
        cluster
            .run(&["scontrol", "update", &name, "state=drain", "reason=test"])
            .context("cannot drain a node")?;
    }
    Ok(())
}

/// Opens a node that was drained, and waits until jobs can start on it.
///
/// A node has no state between a restart of slurmctld and its registration. Releases from 23.11 on
/// then refuse to resume it, but end its draining all the same.
pub fn resume_node(cluster: &Cluster, node: &str) -> Result<()> {
    wait::until_true("a drained node is open", DEADLINE, || {
        let nodes = cluster.show("node")?;
        let state = nodes.find("NodeName", node)?.text("State")?;
        if state.contains("DRAIN") {
            let name = format!("nodename={node}");
            // The state shows whether slurmctld accepted it.
            let _ = cluster.run(&["scontrol", "update", &name, "state=resume"]);
            return Ok(false);
        }
        Ok(["IDLE", "MIXED", "ALLOCATED"]
            .iter()
            .any(|open| state.starts_with(open)))
    })
}
