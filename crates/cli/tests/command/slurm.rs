//! Slurm's commands in place of which scripts answer, with what Slurm 22.05.8 printed
//! (`tests/captures`).

#![allow(dead_code)] // Each test program uses a part of this.

#[allow(clippy::duplicate_mod)] // Other files of a test program use it, too.
#[path = "../../../../tests/common/checkout.rs"]
mod checkout;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub use checkout::checkout;

/// What Slurm printed.
pub const CLUSTER: &str = "tests/captures/cluster";

/// The columns of past jobs; no job has ended.
pub const HISTORY: &str = "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|\
    ElapsedRaw|TimelimitRaw|ReqCPUS|ReqTRES|AllocCPUS|AllocTRES|NodeList";

/// Commands of Slurm that print what is recorded, or do what `instead` says for one of them.
pub fn commands(folder: &Path, instead: &[(&str, &str)]) -> PathBuf {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let recorded = checkout().join(CLUSTER);
    let recorded = recorded.display();
    let scontrol = format!(
        "case \"$*\" in *config) f=config;; *partition) f=partitions;; *node) f=nodes;; \
         *job) f=jobs;; *) exit 9;; esac\ncat '{recorded}'/$f.txt"
    );
    let sacctmgr = format!(
        "case \"$*\" in *'show assoc '*) f=assocs;; *'show qos '*) f=qos;; \
         *'show account '*) f=accounts;; *'show user '*) f=users;; *'show config') f=database;; \
         *) exit 9;; esac\n\
         cat '{recorded}'/$f.txt"
    );
    let cat = |file: &str| format!("cat '{recorded}'/{file}.txt");
    for (name, script) in [
        ("scontrol", scontrol),
        ("sacctmgr", sacctmgr),
        ("sprio", cat("sprio")),
        ("sshare", cat("sshare")),
        ("squeue", cat("names")),
        ("sacct", format!("echo '{HISTORY}'")),
    ] {
        let other = instead.iter().find(|(known, _)| *known == name);
        let script = other.map_or(script.as_str(), |(_, script)| script);
        if script.is_empty() {
            continue;
        }
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    bin
}

/// Runs fairtree; `bin` comes before all else in PATH, or instead of all else where `alone`.
pub fn fairtree(args: &[&str], bin: Option<&Path>, alone: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fairtree"));
    command
        .args(args)
        .current_dir(checkout())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    if let Some(bin) = bin {
        let rest = std::env::var("PATH").expect("a path");
        let path = match alone {
            true => bin.display().to_string(),
            false => format!("{}:{rest}", bin.display()),
        };
        command.env("PATH", path);
    }
    command.output().expect("the command runs")
}

/// Lets the scripts run where PATH holds nothing but them.
pub fn link_tools(bin: &Path) {
    for tool in ["cat", "sh", "sleep"] {
        std::os::unix::fs::symlink(format!("/bin/{tool}"), bin.join(tool)).expect("a link");
    }
}
