//! The files of a recorded run.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::plan::{LIMITS, Submission};
use crate::cluster::accounting::Accounting;
use crate::cluster::{Cluster, Plan};

/// The columns of sacct.
const COLUMNS: &str = "JobID,JobIDRaw,Cluster,Partition,QOS,Account,User,UID,Submit,Eligible,Start,End,Elapsed,\
                       ExitCode,State,NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,NodeList,Priority,\
                       Reservation,JobName";

/// Commands that are asked again and again, and the files of their answers.
const SAMPLES: [(&str, &[&str]); 4] = [
    (
        "nodes.txt",
        &["sinfo", "--noheader", "--Node", "--format=%N %T %C"],
    ),
    ("sdiag.txt", &["sdiag"]),
    ("sprio.txt", &["sprio", "--long", "--noheader"]),
    (
        "sshare.txt",
        &["sshare", "--all", "--long", "--parsable2", "--noheader"],
    ),
];

/// A folder of a recorded run.
pub(super) struct Folder {
    path: PathBuf,
}

/// Seconds since 1970 with milliseconds.
fn stamp() -> Result<String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(format!("{}.{:03}", since.as_secs(), since.subsec_millis()))
}

impl Folder {
    /// A new folder.
    pub fn create(path: &Path) -> Result<Folder> {
        if path.exists() {
            bail!("{} exists already; name a new folder", path.display());
        }
        fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
        let folder = Folder {
            path: path.to_owned(),
        };
        folder.append("jobs.tsv", "# submitted\tsbatch options\tseconds\tjob id\n")?;
        Ok(folder)
    }

    fn append(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path.join(name);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let mut file: File = file.with_context(|| format!("cannot open {}", path.display()))?;
        file.write_all(text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Asks for all samples.
    pub fn sample(&self, cluster: &Cluster) -> Result<()> {
        for (file, words) in SAMPLES {
            let at = stamp()?;
            let answer = cluster.run(words)?;
            self.append(file, &format!("### {at}\n{answer}"))?;
        }
        Ok(())
    }

    /// Submits a job as its owner, notes its options, and returns its number. `last`: the job before it.
    pub fn submit(&self, cluster: &Cluster, job: &Submission, last: Option<u32>) -> Result<u32> {
        let user = cluster.user(job.user)?;
        let mut options = format!("-A{} {}", job.account, job.options);
        if job.after_last {
            let last = last.context("no job to depend on")?;
            write!(options, " -dafterok:{last}")?;
        }
        let wrap = format!("--wrap=sleep {}", job.secs);
        let mut words = vec!["sbatch", "--parsable", "--chdir=/", "--output=/dev/null"];
        words.extend(options.split(' '));
        words.push(&wrap);
        let at = stamp()?;
        let answer = cluster.run_as(user, &words)?;
        let id: u32 = answer
            .trim()
            .parse()
            .with_context(|| format!("sbatch answered `{}`", answer.trim()))?;
        let line = format!("{at}\t-u {} {options}\t{}\t{id}\n", user.name, job.secs);
        self.append("jobs.tsv", &line)?;
        Ok(id)
    }

    /// Keeps what is known at the end: sacct, the log, the configuration. Returns the number of jobs.
    pub fn keep(&self, cluster: &Cluster, plan: &Plan) -> Result<usize> {
        let format = format!("--format={COLUMNS}");
        let words = [
            "sacct",
            "--allusers",
            "--duplicates",
            "--allocations",
            "--parsable2",
            "--starttime=now-1days",
            &format,
        ];
        let jobs = cluster.run(&words)?;
        self.append("sacct.txt", &jobs)?;
        self.append("slurmctld.log", &cluster.slurmctld_log()?)?;
        self.append("slurm.conf", &cluster.conf().render())?;
        self.append("sacctmgr.script", &script(cluster, &plan.accounting)?)?;
        Ok(jobs.lines().count().saturating_sub(1))
    }
}

/// The accounts, users and QOS as commands of sacctmgr.
fn script(cluster: &Cluster, accounting: &Accounting) -> Result<String> {
    let mut text = String::new();
    for qos in &accounting.qos {
        writeln!(text, "add qos {} priority={}", qos.name, qos.priority)?;
        writeln!(text, "modify qos {} set {LIMITS}", qos.name)?;
    }
    for account in &accounting.accounts {
        let (name, shares) = (account.name, account.fair_share);
        let parent = account.parent.map(|parent| format!(" parent={parent}"));
        let parent = parent.unwrap_or_default();
        writeln!(text, "add account {name}{parent} fairshare={shares}")?;
    }
    let names: Vec<_> = accounting.qos.iter().map(|qos| qos.name).collect();
    let qos = format!("qos=normal,{} defaultqos=normal", names.join(","));
    for account in &accounting.accounts {
        for (user, shares) in &account.users {
            let user = &cluster.user(user)?.name;
            let account = account.name;
            writeln!(
                text,
                "add user {user} account={account} fairshare={shares} {qos}"
            )?;
        }
    }
    Ok(text)
}
