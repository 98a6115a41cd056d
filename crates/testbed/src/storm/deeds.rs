//! The deeds of a random client.

use std::fs;
use std::sync::Mutex;

use anyhow::{Context, Result};

use crate::checks::settings::reconfigure_restarts;
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::facts::crashes_at_busy_reconfigure;
use crate::twin::Draw;
use crate::wait;
use xtask::release::Release;

/// The users' associations at the start.
const PLACES: [(&str, &str); 5] = [
    ("ann", "left"),
    ("bob", "left"),
    ("cyd", "right"),
    ("eve", "lower"),
    ("ann", "lower"),
];
const ACCOUNTS: [&str; 3] = ["left", "right", "lower"];
const QOS: [&str; 3] = ["normal", "high", "low"];

type Deed = fn(&Deeds<'_>, &mut Draw) -> Result<()>;

/// Weight, name and deed.
const DEEDS: [(u32, &str, Deed); 13] = [
    (72, "submit", submit),
    (20, "cancel", cancel),
    (12, "hold", hold),
    (12, "release", release),
    (8, "requeue", requeue),
    (8, "suspend", suspend),
    (8, "resume", resume),
    (24, "update", update),
    (1, "reconfigure", reconfigure),
    (12, "shares", shares),
    (8, "account", account),
    (6, "usage", usage),
    (16, "ask", ask),
];

/// Jobs stored for later requests.
const REMEMBERED: usize = 100;

/// The cluster, and the state that the clients share.
pub struct Deeds<'a> {
    cluster: &'a Cluster,
    jobs: Mutex<Vec<u32>>,
    /// Held while slurm.conf is written and read.
    conf: Mutex<()>,
    /// Held while one client changes accounts: several at once cause deadlocks in the database, and
    /// slurmdbd then ends.
    accounts: Mutex<()>,
    /// True if a reconfigure restarts slurmctld.
    restarts: bool,
    /// Frequencies of [`DEEDS`].
    weights: [u32; DEEDS.len()],
    /// Texts of slurm.conf that differ in weights and flags.
    confs: Vec<String>,
}

impl Deeds<'_> {
    /// Creates the deeds for a cluster.
    pub fn new<'a>(cluster: &'a Cluster, release: &Release) -> Result<Deeds<'a>> {
        let mut confs = vec![];
        for (weight, flags) in [
            ("100000", None),
            ("5000", Some("ACCRUE_ALWAYS")),
            ("100000", Some("NO_FAIR_TREE")),
            ("100000", Some("DEPTH_OBLIVIOUS")),
            ("20000", Some("CALCULATE_RUNNING,SMALL_RELATIVE_TO_TIME")),
        ] {
            let mut conf = cluster.conf().clone();
            conf.set("PriorityWeightFairshare", weight);
            if let Some(flags) = flags {
                conf.set("PriorityFlags", flags);
            }
            confs.push(conf.render());
        }
        Ok(Deeds {
            cluster,
            jobs: Mutex::default(),
            conf: Mutex::default(),
            accounts: Mutex::default(),
            restarts: reconfigure_restarts(release),
            weights: DEEDS.map(|(weight, name, _)| match name {
                "reconfigure" if crashes_at_busy_reconfigure(release) => 0,
                _ => weight,
            }),
            confs,
        })
    }

    /// Does a random one of [`DEEDS`]; returns its name, and true if Slurm did it.
    pub fn one(&self, draw: &mut Draw) -> (&'static str, bool) {
        let (_, name, deed) = DEEDS[draw.weighted(&self.weights)];
        (name, deed(self, draw).is_ok())
    }

    fn remember(&self, id: u32) {
        let mut jobs = self.jobs.lock().unwrap_or_else(|e| e.into_inner());
        if jobs.len() == REMEMBERED {
            jobs.remove(0);
        }
        jobs.push(id);
    }

    fn some_job(&self, draw: &mut Draw) -> Result<String> {
        let jobs = self.jobs.lock().unwrap_or_else(|e| e.into_inner());
        let last = jobs.len().checked_sub(1).context("no job yet")?;
        // Recent jobs are more likely to exist.
        let back = draw.magnitude(u32::try_from(last)?);
        Ok(jobs[last - usize::try_from(back)?].to_string())
    }

    fn run(&self, words: &[&str]) -> Result<()> {
        self.cluster.run(words).map(drop)
    }

    fn sacctmgr(&self, words: &[&str]) -> Result<()> {
        let _alone = self.accounts.lock().unwrap_or_else(|e| e.into_inner());
        self.cluster.sacctmgr(words).map(drop)
    }

    fn scontrol(&self, verb: &str, draw: &mut Draw) -> Result<()> {
        let job = self.some_job(draw)?;
        self.run(&["scontrol", verb, &job])
    }
}

fn submit(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    let (user, account) = draw.one_of(&PLACES);
    let cpus = u32::try_from(draw.between(1, 8))?;
    let mut options = vec![format!("--time={}", draw.between(1, 20))];
    for (percent, option) in [
        (10, "--hold"),
        (10, "--nice=50"),
        (10, "--array=0-2"),
        (10, "--begin=now+5"),
        (20, "--requeue"),
    ] {
        if draw.chance(percent) {
            options.push(option.to_owned());
        }
    }
    let job = NewJob {
        user,
        account,
        partition: draw.pick(&["main", "debug", "main,debug"]),
        qos: draw.one_of(&QOS),
        cpus,
        nodes: if cpus > 1 && draw.chance(20) { 2 } else { 1 },
        secs: u32::try_from(draw.between(0, 8))?,
        options,
    };
    deeds.remember(deeds.cluster.submit(&job)?);
    Ok(())
}

fn cancel(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    if draw.chance(5) {
        // Keep the queue from growing without limit.
        return deeds.run(&["scancel", "--quiet", "--state=pending"]);
    }
    let job = deeds.some_job(draw)?;
    deeds.run(&["scancel", "--quiet", &job])
}

fn hold(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    deeds.scontrol("hold", draw)
}

fn release(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    deeds.scontrol("release", draw)
}

fn requeue(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    deeds.scontrol("requeue", draw)
}

fn suspend(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    deeds.scontrol("suspend", draw)
}

fn resume(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    deeds.scontrol("resume", draw)
}

fn update(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    let job = format!("jobid={}", deeds.some_job(draw)?);
    let change = match draw.below(7) {
        0 => format!("nice={}", draw.between(-100, 100)),
        1 => format!("priority={}", draw.between(1, 100_000)),
        2 => format!("timelimit={}", draw.between(1, 20)),
        3 => format!(
            "partition={}",
            draw.pick(&["main", "debug", "main,debug", "debug,main"])
        ),
        4 => format!("qos={}", draw.one_of(&QOS)),
        5 => format!("account={}", draw.one_of(&ACCOUNTS)),
        _ => format!("numcpus={}", draw.between(1, 8)),
    };
    deeds.run(&["scontrol", "update", &job, &change])
}

fn reconfigure(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    let text = &deeds.confs[draw.below(deeds.confs.len())];
    let _alone = deeds.conf.lock().unwrap_or_else(|e| e.into_inner());
    // A starting slurmctld waits for slurmdbd, and slurmdbd waits for slurmctld to accept a change:
    // in these releases both were seen to wait forever, with stock's plugin and with ours.
    let _unchanged = deeds
        .restarts
        .then(|| deeds.accounts.lock().unwrap_or_else(|e| e.into_inner()));
    // Other clients read the file at any moment.
    let file = deeds.cluster.conf_file();
    let fresh = file.with_extension("new");
    fs::write(&fresh, text)?;
    fs::rename(&fresh, &file)?;
    deeds.run(&["scontrol", "reconfigure"])?;
    wait::until_true("slurmctld answers again", super::DEADLINE, || {
        Ok(deeds.run(&["squeue", "--noheader"]).is_ok())
    })
}

fn shares(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    let shares = format!(
        "fairshare={}",
        draw.pick(&["0", "1", "2", "7", "100", "parent"])
    );
    let account = draw.one_of(&ACCOUNTS);
    match draw.below(4) {
        0 => {
            let (user, account) = draw.one_of(&PLACES);
            let user = format!("name={}", deeds.cluster.user(user)?.name);
            let account = format!("account={account}");
            let words = ["modify", "user", "where", &user, &account, "set", &shares];
            deeds.sacctmgr(&words)
        }
        1 => {
            let name = draw.one_of(&QOS);
            let priority = format!("priority={}", draw.between(0, 1000));
            let words = ["modify", "qos", name, "set", &priority];
            deeds.sacctmgr(&words)
        }
        2 => {
            let minutes = draw.pick(&["-1", "100000"]);
            let limit = format!("GrpTRESRunMins=cpu={minutes}");
            let words = ["modify", "account", account, "set", &limit];
            deeds.sacctmgr(&words)
        }
        _ => {
            let words = ["modify", "account", account, "set", &shares];
            deeds.sacctmgr(&words)
        }
    }
}

/// Moves accounts; adds and removes guests.
fn account(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    let guest = format!("guests{}", draw.below(3));
    let user = deeds.cluster.user(draw.pick(&["dan", "eve", "bob"]))?;
    let words: Vec<String> = match draw.below(5) {
        0 => {
            let parent = draw.pick(&["root", "upper", "lower"]);
            let account = draw.one_of(&["left", "right"]);
            let text = format!("modify account {account} set parent={parent}");
            text.split(' ').map(str::to_owned).collect()
        }
        1 => {
            let parent = draw.pick(&["root", "upper", "left"]);
            let text = format!("add account {guest} parent={parent} fairshare=3");
            text.split(' ').map(str::to_owned).collect()
        }
        2 => {
            let text = format!("add user {} account={guest} fairshare=2", user.name);
            text.split(' ').map(str::to_owned).collect()
        }
        3 => {
            let text = format!("delete user name={} account={guest}", user.name);
            text.split(' ').map(str::to_owned).collect()
        }
        _ => {
            let text = format!("delete account name={guest}");
            text.split(' ').map(str::to_owned).collect()
        }
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    deeds.sacctmgr(&words)
}

fn usage(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    let (user, account) = draw.one_of(&PLACES);
    let user = format!("name={}", deeds.cluster.user(user)?.name);
    let account = format!("account={account}");
    let words = [
        "modify",
        "user",
        "where",
        &user,
        &account,
        "set",
        "rawusage=0",
    ];
    deeds.sacctmgr(&words)
}

fn ask(deeds: &Deeds<'_>, draw: &mut Draw) -> Result<()> {
    match draw.below(5) {
        0 => deeds
            .cluster
            .sshare("Account,User,RawUsage,FairShare")
            .map(drop),
        1 => deeds.cluster.squeue("PD,R").map(drop),
        2 => {
            let user = deeds.cluster.user(draw.pick(&["ann", "eve"]))?;
            deeds.cluster.run_as(user, &["sprio", "-l"]).map(drop)
        }
        // Notifies the plugin that something may have changed.
        3 => {
            let flag = draw.pick(&["+backfill", "-backfill"]);
            deeds.run(&["scontrol", "setdebugflags", flag])
        }
        _ => deeds.run(&["sprio", "-l"]),
    }
}
