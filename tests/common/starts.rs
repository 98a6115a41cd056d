//! Values of PriorityParameters and lines of slurm.conf, and whether slurmctld starts with them: tables
//! for the linter's tests and for the check in a private cluster, where Slurm reads each of them.
//!
//! Expected: the tables and sentences of docs/administrator.md; of lines, what Slurm 22.05.8 says
//! (`SLURM_CONF=FILE sinfo` ends with "Unable to process configuration file").

/// Settings, and the verdict of the plugin.
pub struct Start {
    /// `PriorityFlags`; empty: not given.
    pub flags: &'static str,
    /// `PriorityParameters`; [`POLICY`] is the path of the policy file.
    pub parameters: &'static str,
    /// The text of the policy file; `None`: there is no such file.
    pub policy: Option<&'static str>,
    /// The setting that is refused and the value that is quoted; `None`: slurmctld starts.
    pub refused: Option<(&'static str, &'static str)>,
}

/// In [`Start`]: the path of the policy file.
pub const POLICY: &str = "POLICY";

const fn start(parameters: &'static str, refused: Option<(&'static str, &'static str)>) -> Start {
    Start {
        flags: "",
        parameters,
        policy: None,
        refused,
    }
}

const fn with_flags(
    flags: &'static str,
    parameters: &'static str,
    refused: Option<(&'static str, &'static str)>,
) -> Start {
    Start {
        flags,
        ..start(parameters, refused)
    }
}

const fn with_policy(
    parameters: &'static str,
    policy: &'static str,
    refused: Option<(&'static str, &'static str)>,
) -> Start {
    Start {
        policy: Some(policy),
        ..start(parameters, refused)
    }
}

/// One refusal for each rule that refuses, and its neighbour that is taken. The accounts are `left` and
/// `right`.
pub const STARTS: &[Start] = &[
    start("frobnicate=1", Some(("PriorityParameters", "frobnicate=1"))),
    start("calc_period", Some(("PriorityParameters", "calc_period"))),
    start(
        "calc_period=0",
        Some(("PriorityParameters calc_period", "0")),
    ),
    start(
        "max_lock_ms=1,max_lock_ms=2",
        Some(("PriorityParameters max_lock_ms", "max_lock_ms=2")),
    ),
    start(
        "compat=sideways",
        Some(("PriorityParameters compat", "sideways")),
    ),
    start(
        "counts=COMPLETED",
        Some(("PriorityParameters counts", "COMPLETED")),
    ),
    start("usage=window:28-0,counts=COMPLETED", None),
    start(
        "resolution=1-0",
        Some(("PriorityParameters resolution", "1-0")),
    ),
    start("usage=window:28-0,resolution=1-0", None),
    start(
        "usage=window:0:30:00",
        Some(("PriorityParameters usage", "window:0:30:00")),
    ),
    start(
        "scope=all_clusters",
        Some(("PriorityParameters scope", "all_clusters")),
    ),
    start("usage=total:2026-01-01,scope=all_clusters", None),
    start("tiers=qos", Some(("PriorityParameters tiers", "qos"))),
    start("tiers=qos,order=strict", None),
    start(
        "expect=history",
        Some(("PriorityParameters expect", "history")),
    ),
    start(
        "expect=history,order=strict",
        Some(("PriorityParameters expect", "history")),
    ),
    start("expect=history,order=interleaved", None),
    start(
        "ranking=difference,order=strict",
        Some(("PriorityParameters order", "strict")),
    ),
    start(
        "ranking=weighted_walk,order=strict",
        Some(("PriorityParameters order", "strict")),
    ),
    start("ranking=least_used:2,order=strict", None),
    start(
        "compat=slurm,ranking=difference",
        Some(("PriorityParameters compat", "slurm")),
    ),
    start(
        "compat=slurm,usage=window:28-0",
        Some(("PriorityParameters compat", "slurm")),
    ),
    start(
        "compat=slurm,order=strict",
        Some(("PriorityParameters compat", "slurm")),
    ),
    start("compat=slurm,calc_period=30,max_lock_ms=20", None),
    with_flags(
        "NO_FAIR_TREE",
        "ranking=fair_tree",
        Some(("PriorityParameters ranking", "fair_tree")),
    ),
    with_flags(
        "DEPTH_OBLIVIOUS",
        "order=strict",
        Some(("PriorityParameters order", "strict")),
    ),
    with_flags("NO_FAIR_TREE", "ranking=classic", None),
    start("policy=POLICY", Some(("PriorityParameters policy", POLICY))),
    with_policy("policy=POLICY", "ranking = 'least_used:2'", None),
    with_policy(
        "policy=POLICY",
        "ranking = 'least_used'",
        Some(("ranking", "least_used")),
    ),
    with_policy(
        "policy=POLICY",
        "order = strict",
        Some(("syntax", "order = strict")),
    ),
    with_policy(
        "policy=POLICY,usage=window:28-0",
        "usage = 'window:7-0'",
        Some(("PriorityParameters usage", "window:28-0")),
    ),
    with_policy(
        "policy=POLICY",
        "[accounts.left]\nminutes = 400",
        Some(("accounts.left.minutes", "400")),
    ),
    with_policy(
        "policy=POLICY,ranking=least_used:2",
        "[accounts.left]\nminutes = 400",
        None,
    ),
    start(
        "minutes=shares",
        Some(("PriorityParameters minutes", "shares")),
    ),
    start("minutes=shares,ranking=least_used:leaf", None),
    with_policy(
        "policy=POLICY",
        "minutes = 'shares'\nranking = 'least_used:leaf'\n[accounts.left]\nminutes = 400",
        Some(("accounts.left.minutes", "400")),
    ),
    with_policy(
        "policy=POLICY",
        "[accounts.left]\nplan = 'total:2026-01-01'",
        Some(("accounts.left.plan", "total:2026-01-01")),
    ),
    with_policy(
        "policy=POLICY,usage=window:28-0",
        "[accounts.left]\nplan = 'window:7-0'",
        Some(("accounts.left.plan", "window:7-0")),
    ),
    with_policy(
        "policy=POLICY,usage=window:28-0",
        "[accounts.left]\nplan = 'total:2026-01-01'\n[accounts.right]\nplan = 'window:28-0'",
        None,
    ),
    with_policy(
        "policy=POLICY,ranking=least_used:2",
        "[accounts.nobody]\nminutes = 400",
        Some(("accounts", "nobody")),
    ),
];

/// Lines that Slurm cannot parse, after a slurm.conf that is fine.
pub const REFUSED_LINES: &[&str] = &[
    "a sentence",
    "[section]",
    "<<<<<<< HEAD",
    "=======",
    ">>>>>>> branch",
    "$ scontrol show config",
    "[root@h ~]# scontrol",
    "root:x:0:0:root:/root:/bin/bash",
    "; comment",
    "// comment",
    "{% if x %}",
    "Key",
    "=5",
    "Prio-rity=3",
    "\"PriorityWeightAge=5\"",
    "PriorityWeightAge=",
    "PriorityWeightAge 5",
    "PriorityWeightAge=5 ;",
    "PriorityMaxAge=7 days",
    "PriorityFlags=MAX_TRES, INCR_ONLY",
    "PriorityWeightAge=1 PriorityWeightQOS=2",
    "\u{feff}PriorityWeightAge=5",
    "PriorityWeightAge=5\u{a0}",
    "ClusterName=a b",
    "SlurmctldHost=b junk",
    "AccountingStorageTRES=gres/gpu junk=3",
    "NodeName=a junk CPUs=2",
    "NodeName=a CPUs=",
    "NodeName=a CPUs=2 = 3",
    "NodeName=a Reason=a b",
    "NodeName=a Reason=\"x\"y z",
    "NodeSet=x Nodes=localhost junk",
    "PartitionName=q Nodes=ALL junk",
    " include inc.conf",
    "include inc.conf more",
    "includeinc.conf",
];

/// Lines that Slurm reads there; `inc.conf` has one good setting.
pub const READ_LINES: &[&str] = &[
    "NodeSet=ns Nodes=localhost",
    "DownNodes=localhost State=DOWN Reason=\"a b\"",
    "NodeName=b State=UNKNOWN Reason=\"x",
    "PriorityWeightAge = 5",
    "PriorityWeightAge+=5",
    "PriorityWeightAge=\"5\"",
    "PriorityFlags=\"INCR_ONLY MAX_TRES\"",
    "PriorityWeightAge=1 # ok",
    "PriorityWeightAge\\\n=5",
    "\tPriorityWeightAge=5",
    "PriorityWeightAge=5\r",
    "include inc.conf",
    "Include inc.conf # x",
    "\u{b}",
];
