//! The cluster and the jobs of a recorded run.

use crate::cluster::Plan;
use crate::cluster::accounting::{Account, Accounting, FairShare, Qos};
use crate::cluster::conf::{Nodes, Partition, PriorityType};
use crate::twin::draw::Draw;
use xtask::release::Release;

/// Nodes; the first two have GPUs.
pub(super) const NODES: usize = 4;
/// CPUs of each node.
const CPUS: u32 = 8;

/// The settings of slurm.conf that a run needs besides those of each private cluster.
const SETTINGS: [(&str, &str); 13] = [
    ("SlurmctldDebug", "debug"),
    ("DebugFlags", "Backfill"),
    ("LogTimeFormat", "iso8601_ms"),
    ("SelectTypeParameters", "CR_Core_Memory"),
    ("GresTypes", "gpu"),
    (
        "SchedulerParameters",
        "bf_interval=5,bf_window=240,bf_resolution=60,bf_max_job_test=200,bf_continue",
    ),
    ("PriorityCalcPeriod", "1"),
    ("PriorityDecayHalfLife", "0:20:00"),
    ("PriorityMaxAge", "1:00:00"),
    ("PriorityWeightAge", "2000"),
    ("PriorityWeightFairshare", "10000"),
    ("PriorityWeightJobSize", "1000"),
    ("PriorityWeightQOS", "2000"),
];

/// Limits of the QOS `high`, in words of sacctmgr.
pub(super) const LIMITS: &str = "maxtresperuser=cpu=12 maxjobsperuser=2";

/// gres.conf: the GPUs are devices that every machine has.
pub(super) const GRES: &str = "NodeName=n[0-1] Name=gpu File=/dev/tty[0-1]\n";

/// The cluster.
pub(super) fn plan(release: &Release) -> Plan {
    let settings = SETTINGS.iter();
    Plan {
        release: release.clone(),
        priority: PriorityType::Multifactor,
        nodes: Nodes {
            count: NODES,
            cpus: CPUS,
        },
        partitions: vec![Partition {
            name: "main",
            priority_job_factor: 1,
            max_time: "1:00:00",
        }],
        accounting: accounting(),
        settings: settings
            .map(|(key, value)| (*key, (*value).to_owned()))
            .collect(),
    }
}

/// Options of each node: GPUs, features, memory.
pub(super) fn node_options() -> Vec<String> {
    let own = |index: usize| match index {
        0 => "RealMemory=8000 Gres=gpu:2 Feature=gpu,new",
        1 => "RealMemory=8000 Gres=gpu:2 Feature=gpu,old",
        2 => "RealMemory=8000 Feature=new",
        _ => "RealMemory=8000 Feature=old Weight=5",
    };
    (0..NODES).map(|index| own(index).to_owned()).collect()
}

/// Lines of the partitions, without `PartitionName=`.
pub(super) fn partitions() -> Vec<String> {
    vec![
        "main Nodes=ALL Default=YES DefMemPerCPU=500 MaxTime=1:00:00 State=UP".to_owned(),
        "short Nodes=n[2-3] DefMemPerCPU=500 MaxTime=3 PriorityTier=2 State=UP".to_owned(),
    ]
}

fn accounting() -> Accounting {
    let account = |name, parent, shares, users: &[(&'static str, u32)]| Account {
        name,
        parent,
        fair_share: FairShare::Raw(shares),
        users: users
            .iter()
            .map(|(user, shares)| (*user, FairShare::Raw(*shares)))
            .collect(),
    };
    Accounting {
        accounts: vec![
            account("science", None, 70, &[]),
            account("physics", Some("science"), 2, &[("anna", 2), ("bert", 1)]),
            account("biology", Some("science"), 1, &[("carl", 1)]),
            account("medicine", None, 30, &[("dora", 1)]),
        ],
        qos: vec![Qos {
            name: "high",
            priority: 100,
        }],
    }
}

/// A job, submitted at a second of the run.
#[derive(Clone, Debug)]
pub(super) struct Submission {
    /// Milliseconds after the beginning.
    pub at_ms: u64,
    /// Short name of its owner.
    pub user: &'static str,
    /// Account.
    pub account: &'static str,
    /// Other options of sbatch.
    pub options: String,
    /// It depends on the job that was submitted before it, which must end well.
    pub after_last: bool,
    /// How long it runs, seconds.
    pub secs: u32,
    /// Milliseconds after the beginning at which it is released; it is submitted held.
    pub released_ms: Option<u64>,
    /// Milliseconds after the beginning at which it is cancelled.
    pub cancelled_ms: Option<u64>,
}

/// Shapes of jobs: options, and by how much more often than others they come.
const SHAPES: [(&str, u32); 12] = [
    ("-n2", 5),
    ("-n4", 5),
    ("-n8", 4),
    ("-n1", 4),
    ("-n12 -N2", 2),
    ("-n16 -N2", 2),
    ("-n2 --gres=gpu:1", 4),
    ("-n4 --gres=gpu:2", 2),
    ("-n4 -Cnew", 3),
    ("-n2 -Cold", 2),
    ("-n1 --mem=6000", 2),
    ("-n2 --exclusive", 1),
];

/// The jobs of a run of `seconds`, drawn from a seed: a crowd of ordinary ones, and one of each
/// special kind.
pub(super) fn submissions(seconds: u64, seed: u64) -> Vec<Submission> {
    let mut draw = Draw::new(seed);
    let users = [
        ("anna", "physics"),
        ("bert", "physics"),
        ("carl", "biology"),
        ("dora", "medicine"),
    ];
    let weights = SHAPES.map(|(_, often)| often);
    let mut jobs = Vec::new();
    let mut at_ms = 500;
    // Nobody is submitted in the last third: the queue drains.
    while at_ms < seconds * 1000 * 2 / 3 {
        let (user, account) = draw.one_of(&users);
        let (shape, _) = SHAPES[draw.weighted(&weights)];
        let minutes = draw.between(1, 3);
        let mut options = format!("{shape} -t{minutes}");
        match draw.below(8) {
            0 => options += " --qos=high",
            1 if minutes < 3 && shape.len() < 4 => options += " -pshort",
            _ => {}
        }
        jobs.push(Submission {
            at_ms,
            user,
            account,
            options,
            after_last: false,
            secs: u32::try_from(draw.between(4, 40)).unwrap_or(4),
            released_ms: None,
            cancelled_ms: None,
        });
        at_ms += u64::try_from(draw.between(600, 2200)).unwrap_or(600);
    }
    let share = |part: u64| seconds * 1000 * part / 100;
    let special = |part: u64, options: &str, secs: u32| Submission {
        at_ms: share(part),
        user: "carl",
        account: "biology",
        options: options.to_owned(),
        after_last: false,
        secs,
        released_ms: None,
        cancelled_ms: None,
    };
    jobs.push(special(8, "-n2 -t1 -a1-6%2", 8));
    jobs.push(special(12, "-n4 -t1", 6));
    jobs.push(Submission {
        after_last: true,
        ..special(12, "-n2 -t1", 6)
    });
    jobs.push(Submission {
        released_ms: Some(share(40)),
        ..special(15, "-n2 -t1 -H", 6)
    });
    jobs.push(Submission {
        cancelled_ms: Some(share(35)),
        ..special(18, "-n32 -N4 -t3", 30)
    });
    jobs.push(special(20, "-n4 -t2 --exclusive", 15));
    // A stable sort: a job that depends on one stays after it.
    jobs.sort_by_key(|job| job.at_ms);
    jobs
}
