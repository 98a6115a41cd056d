//! The cluster in which texts are compared: names too long for their columns, associations of
//! partitions, several kinds of resources, jobs of every kind.

use anyhow::{Context, Result};

use crate::checks::fixture::{self, DEADLINE, job};
use crate::cluster::accounting::{Account, FairShare};
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::{Cluster, Plan};
use crate::wait;
use xtask::release::Release;

/// Plugin and settings of slurmctld.
pub struct Stage {
    /// Name in messages.
    pub title: &'static str,
    /// The plugin.
    pub priority: PriorityType,
    /// Settings that differ from the previous stage.
    pub settings: &'static [(&'static str, &'static str)],
}

/// The stages, one after the other in one cluster.
pub const STAGES: [Stage; 4] = [
    Stage {
        title: "stock, Fair Tree, usage decays",
        priority: PriorityType::Multifactor,
        settings: &[],
    },
    Stage {
        title: "stock, classic, some factors without weight",
        priority: PriorityType::Multifactor,
        settings: &[
            ("PriorityFlags", "NO_FAIR_TREE,SMALL_RELATIVE_TO_TIME"),
            ("PriorityWeightAssoc", "0"),
            ("PriorityWeightJobSize", "0"),
            ("PriorityFavorSmall", "YES"),
        ],
    },
    Stage {
        title: "ours, classic",
        priority: PriorityType::Fairtree,
        settings: &[("FairShareDampeningFactor", "3")],
    },
    Stage {
        title: "ours, Fair Tree, no decay",
        priority: PriorityType::Fairtree,
        settings: &[
            ("PriorityFlags", "MAX_TRES"),
            ("PriorityWeightAssoc", "3000"),
            ("PriorityDecayHalfLife", "0"),
            ("PriorityUsageResetPeriod", "NONE"),
        ],
    },
];

/// A name longer than sshare's and sprio's columns of users.
const LONG_USER: &str = "eberhardine-of-astro";

/// The site of the checks, with more kinds of everything. A pass comes when slurmctld starts and
/// half an hour later; nothing changes in between.
pub fn plan(release: &Release) -> Plan {
    let mut plan = fixture::plan(release, PriorityType::Multifactor);
    let mut set = |key: &'static str, value: &str| {
        plan.settings.retain(|(known, _)| *known != key);
        plan.settings.push((key, value.to_owned()));
    };
    set("PriorityCalcPeriod", "30");
    set("PriorityDecayHalfLife", "0:20:0");
    set("GresTypes", "fpga");
    set("NodeName", "DEFAULT Gres=fpga:2");
    set(
        "PartitionName",
        "DEFAULT TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/fpga=2.5",
    );
    set("Licenses", "matlab:4");
    set("AccountingStorageTRES", "gres/fpga,license/matlab");
    set("PriorityWeightTRES", "cpu=1300,mem=700,gres/fpga=2500");
    set("SelectTypeParameters", "CR_CPU_Memory");
    set("DefMemPerCPU", "10");
    for account in &mut plan.accounting.accounts {
        if account.name == "lower" {
            account.users.push((LONG_USER, FairShare::Raw(2)));
        }
    }
    plan.accounting.accounts.push(Account {
        name: "institute-of-astrophysics-and-cosmology",
        parent: Some("upper"),
        fair_share: FairShare::Raw(1),
        users: vec![
            ("ann", FairShare::Raw(4_000_000)),
            (LONG_USER, FairShare::Parent),
        ],
    });
    plan.accounting.accounts.push(Account {
        name: "idle",
        parent: None,
        fair_share: FairShare::Raw(0),
        users: vec![("hal", FairShare::Raw(1))],
    });
    plan
}

/// The user for a name in the options.
pub fn user_named(name: &str) -> &str {
    match name {
        "long" => LONG_USER,
        name => name,
    }
}

/// The job for a name in the options: jobs have these names.
pub fn job_named(cluster: &Cluster, name: &str) -> Result<Option<u32>> {
    if !["held", "array", "two"].contains(&name) {
        return Ok(None);
    }
    let jobs = cluster.run(&["squeue", "--noheader", "--name", name, "--format=%A"])?;
    let first = jobs.lines().next().context("the job waits")?;
    Ok(Some(first.trim().parse()?))
}

/// Sets usage, limits, priorities, associations of partitions, and the queue.
pub fn set(cluster: &Cluster) -> Result<()> {
    let name = |short: &str| -> Result<String> { Ok(cluster.user(short)?.name.clone()) };
    let (ann, bob, cyd, eve) = (name("ann")?, name("bob")?, name("cyd")?, name("eve")?);
    for words in [
        format!("add user {eve} account=lower partition=debug fairshare=5"),
        format!("add user {ann} account=left partition=main fairshare=2"),
        format!("modify user {bob} set priority=30"),
        format!("modify user {cyd} set priority=100"),
        "modify account left set GrpTRESMins=cpu=100000,gres/fpga=5000,license/matlab=77"
            .to_owned(),
        format!("modify user {bob} where account=left set GrpTRESMins=cpu=50000"),
    ] {
        cluster.sacctmgr(&words.split(' ').collect::<Vec<_>>())?;
    }
    fixture::use_every_account(cluster)?;
    let mut fpgas = job("ann", "left", 3);
    fpgas
        .options
        .extend(["--gres=fpga:1", "--licenses=matlab:2", "--mem=50"].map(str::to_owned));
    let fpgas = cluster.submit(&fpgas)?;
    fixture::ended(cluster, fpgas)?;
    fixture::occupy(cluster)?;
    submit(cluster)
}

fn submit(cluster: &Cluster) -> Result<()> {
    let plain: [(&str, &str); 7] = [
        ("ann", "left"),
        ("bob", "left"),
        ("cyd", "right"),
        ("dan", "right"),
        ("eve", "lower"),
        (LONG_USER, "lower"),
        (LONG_USER, "institute-of-astrophysics-and-cosmology"),
    ];
    let with = |user, account, options: &[&str]| {
        let mut new = job(user, account, 60);
        new.options
            .extend(options.iter().map(|word| (*word).to_owned()));
        new
    };
    for (user, account) in plain {
        cluster.submit(&with(user, account, &[]))?;
    }
    let two = NewJob {
        partition: "main,debug",
        qos: "high",
        cpus: 3,
        ..with("dan", "right", &["--job-name=two", "--nice=321"])
    };
    cluster.submit(&two)?;
    let debug = NewJob {
        partition: "debug",
        qos: "low",
        ..with("eve", "lower", &["--gres=fpga:2", "--mem=300"])
    };
    cluster.submit(&debug)?;
    let wide = NewJob {
        nodes: 2,
        cpus: 7,
        ..with(
            "ann",
            "institute-of-astrophysics-and-cosmology",
            &["--time=1200"],
        )
    };
    let wide = cluster.submit(&wide)?;
    cluster.submit(&with(
        "cyd",
        "right",
        &["--array=1-5%2", "--job-name=array", "--licenses=matlab"],
    ))?;
    let held = cluster.submit(&with("ann", "left", &["--job-name=held"]))?;
    let by_hand = cluster.submit(&with("bob", "left", &[]))?;
    let site = cluster.submit(&with("dan", "right", &[]))?;
    let lifted = cluster.submit(&with("dan", "right", &[]))?;
    for words in [
        format!("hold {held}"),
        format!("update jobid={by_hand} priority=4321"),
        format!("update jobid={site} sitefactor=777"),
        format!("update jobid={wide} nice=-50"),
        format!("update jobid={lifted} nice=2000000"),
    ] {
        let words = format!("scontrol {words}");
        cluster.run(&words.split(' ').collect::<Vec<_>>())?;
    }
    all_age(cluster)
}

/// Waits until every job that is not held has begun to age: from then on its price stays the same.
fn all_age(cluster: &Cluster) -> Result<()> {
    wait::until_true("all jobs age", DEADLINE, || {
        let jobs = cluster.show("job")?;
        let mut pending = jobs
            .rows()
            .iter()
            .filter(|job| job.text("JobState").is_ok_and(|state| state == "PENDING"));
        Ok(pending.all(|job| {
            job.get::<i64>("AccrueTime").is_ok() || job.get::<u32>("Priority").is_ok_and(|p| p == 0)
        }))
    })
}

/// Restarts slurmctld with a plugin and the current settings, and waits for its only pass.
pub fn freeze(cluster: &mut Cluster, priority: PriorityType) -> Result<()> {
    let before = fixture::last_pass(cluster);
    wait::until_true("the next second", DEADLINE, || Ok(fixture::now()? > before))?;
    cluster.switch_to(priority)?;
    fixture::pass_after(cluster, before)?;
    all_age(cluster)
}
