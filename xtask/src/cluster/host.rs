//! Where Slurm's programs of one release are, and how one is run.
//!
//! A release of another Debian lives in a folder of its own (`chroot`); then every command line
//! differs, and nothing else. The cluster's folder has the same path inside and outside.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

use super::users::User;
use crate::release::Release;

/// Debian's multi-arch folder of plugins.
fn stock_plugins() -> PathBuf {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    Path::new("/usr/lib").join(triplet).join("slurm-wlm")
}

/// One installation of Slurm.
#[derive(Clone, Debug)]
pub struct Host {
    release: Release,
    /// The folder that is `/` to this installation.
    root: PathBuf,
}

impl Host {
    /// The installation of this machine itself.
    ///
    /// # Errors
    /// No Slurm installed, or another release than `wanted`.
    pub fn native(wanted: &Release) -> Result<Host> {
        let answer = Command::new("/usr/sbin/slurmctld")
            .arg("-V")
            .output()
            .context("no slurmctld on this machine; install it with: cargo xtask deps")?;
        let release = version(&answer)?;
        if release != *wanted {
            bail!("this machine has Slurm {release}, not {wanted}");
        }
        Ok(Host {
            release,
            root: PathBuf::from("/"),
        })
    }

    /// The release.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// The folder of Slurm's own plugins, as the daemons see it.
    pub fn stock_plugins(&self) -> PathBuf {
        stock_plugins()
    }

    /// The file of a daemon, as the daemons see it.
    ///
    /// Debian diverts slurmctld and slurmd through its alternatives, which may choose an
    /// emulator; the real ones end in `-wlm`.
    pub fn daemon(&self, name: &str) -> PathBuf {
        let plain = Path::new("/usr/sbin").join(name);
        let real = Path::new("/usr/sbin").join(format!("{name}-wlm"));
        let outside = self.root.join(real.strip_prefix("/").unwrap_or(&real));
        if outside.exists() { real } else { plain }
    }

    /// A command of this installation, run as root.
    pub fn command(&self, program: &Path) -> Command {
        if self.root == Path::new("/") {
            return Command::new(program);
        }
        let mut command = Command::new("chroot");
        command.arg(&self.root).arg(program);
        command
    }

    /// A command of this installation, run as a user.
    pub fn command_as(&self, user: &User, program: &Path) -> Command {
        if self.root == Path::new("/") {
            let mut command = Command::new(program);
            command.uid(user.uid).gid(user.gid).current_dir("/");
            return command;
        }
        let mut command = Command::new("chroot");
        command.arg(format!("--userspec={}:{}", user.uid, user.gid));
        command.arg(&self.root).arg(program);
        command
    }
}

/// The release that `slurm 22.05.8` names.
fn version(answer: &Output) -> Result<Release> {
    let text = String::from_utf8_lossy(&answer.stdout);
    text.trim()
        .strip_prefix("slurm-wlm ")
        .or_else(|| text.trim().strip_prefix("slurm "))
        .with_context(|| format!("slurmctld -V says `{}`", text.trim()))?
        .parse()
}
