//! A capture of a large site, in the format of Slurm's commands.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Size of the capture.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Accounts below root.
    pub accounts: u32,
    /// Users in each account.
    pub users: u32,
    /// All jobs; the running jobs come first.
    pub jobs: u32,
    /// Running jobs.
    pub running: u32,
}

impl Size {
    /// The size in the report.
    pub const LARGE: Size = Size {
        accounts: 1000,
        users: 100,
        jobs: 1_000_000,
        running: 20_000,
    };

    /// A tenth of that size.
    pub const SMALL: Size = Size {
        accounts: 100,
        users: 100,
        jobs: 100_000,
        running: 2_000,
    };

    /// Associations without root.
    pub fn assocs(&self) -> u32 {
        self.accounts * (1 + self.users)
    }

    /// The id of a waiting job in the middle of the queue.
    pub fn waiting(&self, nth: u32) -> String {
        (self.jobs / 2 + nth * 1000).to_string()
    }
}

/// A user's association.
struct User {
    account: u32,
    number: u32,
    shares: u32,
    usage: u64,
}

const TRES: &str = "cpu=1,mem=0,energy=0,node=1,billing=1,fs/disk=0,vmem=0,pages=0";

/// The moment of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The first capture.
    First,
    /// A later capture: every tenth waiting job is older.
    Later,
}

/// Writes the capture into a new folder.
///
/// # Errors
/// Fails with errors of the file system.
pub fn generate(folder: &Path, size: &Size, moment: Moment) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let users = users(size, &mut random);
    fs::write(folder.join("config.txt"), CONFIG)?;
    fs::write(folder.join("partitions.txt"), PARTITION)?;
    fs::write(folder.join("nodes.txt"), NODE)?;
    fs::write(
        folder.join("qos.txt"),
        "Name|Priority|UsageFactor\nnormal|0|1.000000\n",
    )?;
    shares(folder, size, &users)?;
    jobs(folder, size, &users, moment, &mut random)?;
    let files = [
        "config",
        "assocs",
        "qos",
        "partitions",
        "nodes",
        "names",
        "jobs",
        "sprio",
    ];
    let answers = files.iter().chain(&["sshare"]).map(|name| {
        serde_json::json!({
            "command": [name], "file": format!("{name}.txt"), "secs": 0.1, "error": null,
        })
    });
    let manifest = serde_json::json!({
        "schema": "fairtree.capture/1", "fairtree": env!("CARGO_PKG_VERSION"),
        "time": 1_795_257_600, "time_text": "2026-11-21T10:40:00Z",
        "slurm": "24.11.5", "cluster": "large", "priority_type": "priority/multifactor",
        "anonymised": false, "answers": answers.collect::<Vec<_>>(),
    });
    Ok(fs::write(
        folder.join("manifest.json"),
        manifest.to_string(),
    )?)
}

fn users(size: &Size, random: &mut ChaCha8Rng) -> Vec<User> {
    let mut users = Vec::new();
    for account in 0..size.accounts {
        for number in 0..size.users {
            users.push(User {
                account,
                number,
                shares: random.random_range(1..10),
                usage: random.random_range(1..10_000_000),
            });
        }
    }
    users
}

/// sshare and sacctmgr. FairShare is left blank, because the command computes it.
fn shares(folder: &Path, size: &Size, users: &[User]) -> Result<()> {
    let mut sshare = BufWriter::new(File::create(folder.join("sshare.txt"))?);
    let mut assocs = BufWriter::new(File::create(folder.join("assocs.txt"))?);
    writeln!(
        sshare,
        "Account|User|Partition|ID|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|\
         LevelFS|GrpTRESMins|GrpTRESRaw|TRESRunMins"
    )?;
    writeln!(
        assocs,
        "Cluster|Account|User|Partition|Share|Priority|ParentName"
    )?;
    let whole: u64 = users.iter().map(|user| user.usage).sum();
    let mut id = 1;
    writeln!(
        sshare,
        "root|||1||0.000000|{whole}||1.000000||||{TRES}|{TRES}"
    )?;
    writeln!(assocs, "large|root|||1||")?;
    for users in users.chunks(size.users as usize) {
        let account = users[0].account;
        let usage: u64 = users.iter().map(|user| user.usage).sum();
        let shares: u32 = users.iter().map(|user| user.shares).sum();
        let own = 1.0 / f64::from(size.accounts);
        let part = usage as f64 / whole as f64;
        id += 1;
        writeln!(
            sshare,
            " a{account}|||{id}|1|{own:.6}|{usage}|{part:.6}|{part:.6}||{:.6}||{TRES}|{TRES}",
            own / part
        )?;
        writeln!(assocs, "large|a{account}|||1||root")?;
        for user in users {
            let (number, raw) = (user.number, user.usage);
            let due = f64::from(user.shares) / f64::from(shares);
            let of_account = raw as f64 / usage as f64;
            let of_all = raw as f64 / whole as f64;
            id += 1;
            writeln!(
                sshare,
                "  a{account}|u{account}x{number}||{id}|{}|{due:.6}|{raw}|{of_all:.6}|\
                 {of_account:.6}||{:.6}||{TRES}|{TRES}",
                user.shares,
                due / of_account
            )?;
            writeln!(
                assocs,
                "large|a{account}|u{account}x{number}||{}||",
                user.shares
            )?;
        }
    }
    sshare.flush()?;
    Ok(assocs.flush()?)
}

/// scontrol, squeue and sprio.
fn jobs(
    folder: &Path,
    size: &Size,
    users: &[User],
    moment: Moment,
    random: &mut ChaCha8Rng,
) -> Result<()> {
    let create = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
    let (mut jobs, mut names, mut sprio) = (
        create("jobs.txt")?,
        create("names.txt")?,
        create("sprio.txt")?,
    );
    writeln!(
        sprio,
        "JOBID|PARTITION|USER|PRIORITY|PRIORITY|SITE|NICE|AGE|AGE|ASSOC|ASSOC|FAIRSHARE|FAIRSHARE|\
         JOBSIZE|JOBSIZE|PARTITION|PARTITION|QOS|QOS|TRES|TRES"
    )?;
    for id in 1..=size.jobs {
        let user = &users[random.random_range(0..users.len())];
        let (account, number) = (user.account, user.number);
        let name = format!("u{account}x{number}");
        let state = if id <= size.running {
            "RUNNING"
        } else {
            "PENDING"
        };
        writeln!(names, "{id}|train-{id}")?;
        writeln!(
            jobs,
            "JobId={id} JobName=train-{id} UserId={name}({}) GroupId={name}({}) MCS_label=N/A \
             Priority=50000 Nice=0 Account=a{account} QOS=normal JobState={state} {JOB}",
            1000 + number,
            1000 + number
        )?;
        if id > size.running {
            let (priority, age) = match moment == Moment::Later && id % 10 == 0 {
                true => ("50010|0.00001164386053", "72|0.0722222"),
                false => ("50000|0.00001164153220", "62|0.0622222"),
            };
            writeln!(
                sprio,
                "{id}|main|{name}|{priority}|0|0|{age}|0|0.0000000|49938|\
                 0.4993800|0|0.0000000|0|0.0000000|0|0.0000000||"
            )?;
        }
    }
    jobs.flush()?;
    names.flush()?;
    Ok(sprio.flush()?)
}

const JOB: &str = "Reason=Priority Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 \
    ExitCode=0:0 RunTime=00:00:00 TimeLimit=01:00:00 TimeMin=N/A \
    SubmitTime=2026-11-21T10:36:16 EligibleTime=2026-11-21T10:36:16 \
    AccrueTime=2026-11-21T10:36:16 StartTime=2026-11-21T10:46:34 EndTime=2026-11-21T11:46:34 \
    Deadline=N/A SuspendTime=None SecsPreSuspend=0 LastSchedEval=2026-11-21T10:40:14 \
    Scheduler=Main Partition=main AllocNode:Sid=login1:32612 ReqNodeList=(null) ExcNodeList=(null) \
    NodeList= NumNodes=1 NumCPUs=4 NumTasks=4 CPUs/Task=1 ReqB:S:C:T=0:0:*:* \
    ReqTRES=cpu=4,mem=1000M,node=1,billing=4 AllocTRES=(null) Socks/Node=* \
    NtasksPerN:B:S:C=0:0:*:* CoreSpec=* MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0 \
    Features=(null) DelayBoot=00:00:00 OverSubscribe=OK Contiguous=0 Licenses=(null) \
    Network=(null) Command=/home/project/experiment/submit.sh WorkDir=/home/project/experiment \
    StdErr=/home/project/experiment/slurm-%j.out StdIn=/dev/null \
    StdOut=/home/project/experiment/slurm-%j.out Power= ";

const CONFIG: &str = "Configuration data as of 2026-11-21T10:40:00\n\
    AccountingStorageTRES   = cpu,mem,energy,node,billing,fs/disk,vmem,pages\n\
    ClusterName             = large\nFairShareDampeningFactor = 1\n\
    PriorityParameters      = (null)\nPriorityDecayHalfLife   = 7-00:00:00\nPriorityCalcPeriod      = 00:05:00\n\
    PriorityFavorSmall      = No\nPriorityFlags           = \n\
    PriorityMaxAge          = 01:00:00\nPriorityUsageResetPeriod = NONE\n\
    PriorityType            = priority/multifactor\nPriorityWeightAge       = 1000\n\
    PriorityWeightAssoc     = 0\n\
    PriorityWeightFairShare = 100000\nPriorityWeightJobSize   = 0\n\
    PriorityWeightPartition = 0\nPriorityWeightQOS       = 0\n\
    PriorityWeightTRES      = (null)\nPrivateData             = none\n\
    SLURM_VERSION           = 24.11.5\n";

const PARTITION: &str = "PartitionName=main AllowGroups=ALL Default=YES MaxTime=1-00:00:00 Nodes=n0 \
    PriorityJobFactor=10 PriorityTier=1 State=UP TotalCPUs=100000 TotalNodes=1000 \
    TRES=cpu=100000,mem=400000G,node=1000,billing=100000\n";

const NODE: &str = "NodeName=n0 CPUAlloc=100 CPUEfctv=100 CPUTot=100 State=ALLOCATED \
    Partitions=main CfgTRES=cpu=100,mem=400G,billing=100 AllocTRES=cpu=100\n";
