//! A place to try the command lines of documents: a folder with the files that they name, and a
//! Slurm that answers what a real one answered.
//!
//! The answers are those of `tests/captures`, with other names, so that documents can speak of job
//! 4711 of frank and job 4712 of carol.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::command::{CLUSTER, checkout};
use fairtree::usage::window::{Columns, LeafKey, LedgerRun, OWN_FILE, UsageHistory};

/// Such a folder; it goes with the value.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// Names of the recorded site and those of the documents. In tables a name that was cut comes back
/// whole, flush right as before.
const NAMES: [(&str, &str); 13] = [
    ("    ft2-alice", "        alice"),
    ("    ft2-carol", "        carol"),
    ("    ft2-frank", "        frank"),
    ("     ft2-dave", "         dave"),
    ("     ft2-erin", "         erin"),
    ("      ft2-bob", "          bob"),
    (" ft2-alic ", "    alice "),
    (" ft2-caro ", "    carol "),
    (" ft2-fran ", "    frank "),
    (" ft2-erin ", "     erin "),
    ("ft2-", ""),
    ("urgent", "high"),
    ("debug", "gpu"),
];

/// Jobs of the recorded site and those of the documents.
const JOBS: [(&str, &str); 2] = [("309", "4711"), ("307", "4712")];

fn renamed(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        for (from, to) in NAMES {
            line = line.replace(from, to);
        }
        // A user of two accounts is a question of its own: the second one is another person.
        if line.contains("genomics") || line.contains("|13423|") {
            line = line.replace(" alice", "  gina").replace("alice", "gina");
        }
        line = line.replace(
            "AccountingStorageTRES   = cpu",
            "AccountingStorageTRES   = gres/gpu,cpu",
        );
        out.push_str(&renumbered(&line));
        out.push('\n');
    }
    out
}

/// With the jobs' other numbers; in a table a longer number takes a blank before it.
fn renumbered(line: &str) -> String {
    let mut line = line.to_owned();
    for (from, to) in JOBS {
        line = line.replace(&format!("  {from} "), &format!(" {to} "));
        for (before, after) in [("JobId=", " "), ("", "|")] {
            let old = format!("{before}{from}{after}");
            if line.starts_with(&old) {
                line = line.replacen(&old, &format!("{before}{to}{after}"), 1);
            }
        }
    }
    line
}

impl Sandbox {
    /// Makes one.
    pub fn new() -> Sandbox {
        let sandbox = Sandbox {
            folder: tempfile::tempdir().expect("a folder"),
        };
        let root = checkout();
        let recorded = sandbox.path("recorded");
        fs::create_dir(&recorded).expect("a folder");
        for entry in fs::read_dir(root.join(CLUSTER)).expect("a capture") {
            let path = entry.expect("an entry").path();
            let text = fs::read_to_string(&path).expect("text");
            let name = path.file_name().expect("a name");
            fs::write(recorded.join(name), renamed(&text)).expect("written");
        }
        for capture in [
            "week/20261121T103630Z",
            "week/20261121T104015Z",
            "monday",
            "tuesday",
        ] {
            copy(&recorded, &sandbox.path(capture));
        }
        for (from, to) in [
            ("examples/site.toml", "examples/site.toml"),
            ("examples/queue.toml", "examples/queue.toml"),
            ("examples/fair_tree.toml", "examples/fair_tree.toml"),
            ("examples/classic.toml", "examples/classic.toml"),
            ("examples/flux.toml", "examples/flux.toml"),
            ("examples/hubs.toml", "examples/hubs.toml"),
            ("examples/instances.toml", "examples/instances.toml"),
            ("examples/minutes.toml", "examples/minutes.toml"),
            ("examples/week.swf", "examples/week.swf"),
            ("examples/day.sacct", "examples/day.sacct"),
            ("examples/sweep.toml", "examples/sweep.toml"),
            ("examples/cluster/slurm.conf", "examples/cluster/slurm.conf"),
            (
                "examples/cluster/sacctmgr.script",
                "examples/cluster/sacctmgr.script",
            ),
            ("examples/prices.toml", "examples/prices.toml"),
            ("examples/cloud.toml", "examples/cloud.toml"),
            ("examples/cloud.jsonl", "examples/cloud.jsonl"),
            ("examples/on_demand.toml", "examples/on_demand.toml"),
            ("examples/on_demand.jsonl", "examples/on_demand.jsonl"),
            ("crates/cli/tests/documents/site.toml", "site.toml"),
            (
                "crates/lint/tests/good/plain-fair-tree.conf",
                "etc/slurm/slurm.conf",
            ),
            (
                "crates/lint/tests/bad/max-age-in-minutes.conf",
                "slurm.conf",
            ),
            ("crates/lint/tests/good/classic.conf", "new/slurm.conf"),
            ("tests/sites/tie.sshare", "monday.sshare"),
            ("tests/sites/tie.sshare", "tuesday.sshare"),
            ("tests/sites/tie.sshare", "tests/sites/tie.sshare"),
            ("tests/sprio/long.txt", "earlier.sprio"),
            ("tests/compare/before.txt", "tests/compare/before.txt"),
            ("tests/compare/after.txt", "tests/compare/after.txt"),
            ("tests/compare/before.txt", "before"),
            ("tests/workloads/sacct-24.11.5.txt", "sacct.txt"),
            ("tests/workloads/accounting.txt", "accounting.txt"),
        ] {
            let target = sandbox.path(to);
            fs::create_dir_all(target.parent().expect("a folder")).expect("made");
            fs::copy(root.join(from), target).unwrap_or_else(|error| panic!("{from}: {error}"));
        }
        let log = "; UnixStartTime: 0\n1 0 0 60 1 -1 -1 1 -1 -1 1 1 1 -1 1 -1 -1 -1\n";
        fs::write(sandbox.path("log.swf"), log).expect("written");
        sandbox.run("gzip log.swf", &[]);
        fs::write(sandbox.path("policy.toml"), "ranking = 'least_used:1'\n").expect("written");
        fs::write(sandbox.path("old.toml"), "ranking = 'least_used:1'\n").expect("written");
        fs::write(sandbox.path("new.toml"), "ranking = 'least_used:leaf'\n").expect("written");
        fs::create_dir(sandbox.path("ledgers")).expect("a folder");
        fs::write(sandbox.path("ledgers").join(OWN_FILE), plugins_ledger()).expect("written");
        let measured = "JobID|User|Account|Partition|State|Start|End|ElapsedRaw|AllocTRES|AdminComment\n\
                        7|ann|acme|ondemand|COMPLETED|2026-03-02T10:00:00|2026-03-02T10:00:02|2|\
                        billing=1|executed_us=1234567\n\
                        8|bob|beta|ondemand|COMPLETED|2026-03-02T10:00:05|2026-03-02T10:00:05|0|\
                        billing=1|executed_us=890\n";
        let prices = "[partitions.ondemand]\nexecution_microsecond = 3\n";
        for (name, text) in [("measured.txt", measured), ("by_microsecond.toml", prices)] {
            fs::write(sandbox.path(name), text).expect("written");
        }
        sandbox.commands();
        sandbox
    }

    /// A path in it.
    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Slurm's commands, which print what is recorded, and fairtree.
    fn commands(&self) {
        let bin = self.path("bin");
        fs::create_dir(&bin).expect("a folder");
        symlink(env!("CARGO_BIN_EXE_fairtree"), bin.join("fairtree")).expect("a link");
        let here = self.path("recorded").display().to_string();
        for (name, cases) in [
            (
                "scontrol",
                "*config) f=config;; *partition) f=partitions;; *node) f=nodes;; *job) f=jobs;;",
            ),
            (
                "sacctmgr",
                "*'show assoc '*) f=assocs;; *'show qos '*) f=qos;; *'show cluster'*) f=clusters;; *'show account '*) f=accounts;; \
                 *'show user '*) f=users;; *'show config') f=database;;",
            ),
            (
                "sprio",
                "'-o %i|'*) f=sprio;; -l) f=sprio-l;; -w) f=sprio-w;; '') f=sprio-default;;",
            ),
            ("sshare", "'-a -l'|'-l -a') f=sshare-al;; *-P*) f=sshare;;"),
            ("squeue", "*%A*) f=names;;"),
            ("sacct", "*now-30days*) f=history;; *) f=../sacct;;"),
        ] {
            let script = format!(
                "#!/bin/sh\ncase \"$*\" in {cases} *) echo \"{name} $*: not recorded\" >&2; exit 9;; \
                 esac\ncat '{here}'/$f.txt\n"
            );
            executable(&bin.join(name), &script);
        }
        fs::write(self.path("recorded/history.txt"), history()).expect("written");
        fs::write(self.path("recorded/clusters.txt"), "fairtree\n").expect("written");
        // The same on every machine.
        for (name, says) in [
            ("slurmctld", "slurm-wlm 22.05.8"),
            ("dpkg-query", "slurmctld: slurmctld"),
            (
                "apt-cache",
                "slurmctld:\n  Installed: 22.05.8-4\n  Candidate: 22.05.8-4",
            ),
            ("timedatectl", "yes"),
        ] {
            executable(&bin.join(name), &format!("#!/bin/sh\nprintf '{says}\\n'\n"));
        }
        self.well();
    }

    /// A host with nothing to complain about: the recorded site with the time of day, and folders that
    /// are there.
    fn well(&self) {
        let well = self.path("well");
        fs::create_dir_all(well.join("state")).expect("a folder");
        let good = fs::read_to_string(self.path("etc/slurm/slurm.conf")).expect("text");
        let good = good.replace("ClusterName=good", "ClusterName=fairtree");
        let good = self.with_settings_in_force(&good);
        let folders = format!(
            "SlurmUser=root\nPluginDir={0}\nStateSaveLocation={0}/state\n",
            well.display()
        );
        fs::write(well.join("slurm.conf"), good + &folders).expect("written");
        let scontrol = format!(
            "#!/bin/sh\n'{}' \"$@\" | sed \"s/^Configuration data.*/Configuration data as of \
             $(date -u +%Y-%m-%dT%H:%M:%S)/\"\n",
            self.path("bin/scontrol").display()
        );
        executable(&well.join("scontrol"), &scontrol);
    }

    /// A slurm.conf with the priority settings of the recorded site.
    fn with_settings_in_force(&self, conf: &str) -> String {
        let ours = |line: &str| line.starts_with("Priority") || line.starts_with("FairShare");
        let recorded = checkout().join("tests/captures/cluster/config.txt");
        let recorded = fs::read_to_string(recorded).expect("text");
        let in_force = recorded
            .lines()
            .filter(|line| ours(line))
            .filter_map(|line| {
                let (key, value) = line.split_once('=')?;
                let (key, value) = (key.trim(), value.trim());
                let given = !value.is_empty() && value != "(null)";
                given.then(|| format!("{key}=\"{value}\"\n"))
            });
        let others = conf.lines().filter(|line| !ours(line));
        let others = others.map(|line| format!("{line}\n"));
        others.chain(in_force).collect()
    }

    /// Runs a command line in a shell, as in a terminal 100 columns wide; standard input is none.
    /// `/etc/slurm/` is the one in the folder.
    pub fn run(&self, command: &str, variables: &[(&str, &str)]) -> Output {
        let command = command.replace("/etc/slurm/", "etc/slurm/");
        let path = std::env::var("PATH").expect("a path");
        Command::new("bash")
            .args(["-o", "pipefail", "-c", &command])
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("COLUMNS", "100")
            .env("NO_COLOR", "1")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("a shell")
    }
}

/// What the plugin has seen of `accounting.txt`, from its first pass at noon of the first day on:
/// job 103 up to its last pass, at 10 o'clock of the second one.
fn plugins_ledger() -> Vec<u8> {
    // 2024-11-21 00:00 UTC, by date(1).
    const DAY: i64 = 1_732_147_200;
    let columns = Columns::new(["cpu", "mem", "node"]).expect("three names");
    let rate = columns.rate(2.0, 1.0, &[(0, 2), (1, 4096), (2, 1)]);
    let last_pass = DAY + 10 * 3600;
    let ledger = UsageHistory::new("fairtree", 3600, columns, &[], last_pass);
    let mut ledger = ledger.expect("a ledger");
    let (start, carol) = (DAY + 9 * 3600, LeafKey::new("biology", "carol", ""));
    let run = LedgerRun {
        job: 103,
        run: start,
    };
    let charged = ledger.charge(
        &carol.expect("a name"),
        Some(run),
        start,
        last_pass,
        &rate.expect("a rate"),
    );
    charged.expect("it is the first charge");
    ledger.cover(DAY - 12 * 3600, last_pass).expect("covered");
    ledger.save()
}

/// Past jobs as sacct lists them for a capture: a dozen of frank and of carol, of five of the ten minutes
/// that they may take.
fn history() -> String {
    let mut text = "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|\
                    ElapsedRaw|TimelimitRaw|ReqCPUS|ReqTRES|AllocCPUS|AllocTRES|NodeList\n"
        .to_owned();
    for at in 0..24 {
        let (user, account) = [("frank", "genomics"), ("carol", "biology")][at % 2];
        let (start, end) = (at * 2 % 60, at * 2 % 60 + 5);
        let day = format!("2026-11-21T{:02}", 8 + at * 2 / 60);
        let tres = "billing=1,cpu=1,node=1";
        text += &format!(
            "{0}|{0}|{user}|{account}|main|normal|COMPLETED|{day}:{start:02}:00|{day}:{start:02}:00|\
             {day}:{start:02}:00|{day}:{end:02}:00|300|10|1|{tres}|1|{tres}|n0\n",
            100 + at
        );
    }
    text
}

fn executable(path: &Path, script: &str) {
    fs::write(path, script).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("a copy");
    }
}
