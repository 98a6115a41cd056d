//! A separate disk for slurmctld's state: small, and full or read-only on request.
//!
//! The disk is a tmpfs in a mount namespace. A process that does nothing else keeps the namespace,
//! and ends with the cluster. So nothing stays mounted, whatever happens; other processes see an
//! empty folder.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Cluster;
use crate::wait;
use xtask::command::checked;

use super::services::DEADLINE;

/// The process that keeps the namespace.
const KEEPER: &str = "state-disk";
/// The file that takes all free space.
const FILLER: &str = "filler";

/// A fault of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No byte is free.
    Full,
    /// Nothing can be written.
    ReadOnly,
}

impl Cluster {
    /// Puts slurmctld's state on a separate disk of `kib` KiB, from its next start on, and copies
    /// the existing files there. slurmctld must have been stopped.
    ///
    /// # Errors
    /// Fails without root, or if the existing files do not fit.
    pub fn put_state_on_disk(&mut self, kib: u32) -> Result<()> {
        let script = "mkdir \"$1.before\" && cp -a \"$1/.\" \"$1.before\" && \
                      mount -t tmpfs -o \"size=${2}k,mode=755\" fairtree \"$1\" && \
                      cp -a \"$1.before/.\" \"$1\" && : >\"$1/ready\" && exec sleep infinity";
        let mut command = self.bare(Path::new("/usr/bin/unshare"));
        command.args(["--mount", "sh", "-c", script, "sh"]);
        command.arg(self.path().join("state")).arg(kib.to_string());
        self.spawn(KEEPER, command)?;
        wait::until_true("the disk is there", DEADLINE, || {
            Ok(self.state_file("ready").exists())
        })
        .with_context(|| self.tails(KEEPER))
    }

    /// A file of slurmctld's state, at the path that reaches slurmctld's disk.
    pub fn state_file(&self, name: &str) -> PathBuf {
        let folder = self.path().join("state");
        let folder = match self.pid(KEEPER) {
            Ok(keeper) => PathBuf::from(format!("/proc/{keeper}/root{}", folder.display())),
            Err(_) => folder,
        };
        folder.join(name)
    }

    /// Returns the command to run in the namespace that has the disk.
    pub(super) fn with_disk(&self, command: Command) -> Command {
        let Ok(keeper) = self.pid(KEEPER) else {
            return command;
        };
        let namespace = format!("--mount=/proc/{keeper}/ns/mnt");
        // The command changes its folder when it enters the namespace.
        let folder = command.get_current_dir().unwrap_or(Path::new("/"));
        let folder = format!("--wd={}", folder.display());
        let words = [namespace.as_str(), &folder, "--"];
        super::wrapped(Path::new("/usr/bin/nsenter"), &words, &command)
    }

    /// Starts a fault of the disk.
    ///
    /// # Errors
    /// Fails if there is no such disk.
    pub fn spoil_disk(&self, trouble: Trouble) -> Result<()> {
        match trouble {
            Trouble::Full => self.fill_disk(),
            Trouble::ReadOnly => self.remount("remount,ro"),
        }
    }

    /// Ends a fault of the disk.
    ///
    /// # Errors
    /// Fails if the disk did not have this fault.
    pub fn mend_disk(&self, trouble: Trouble) -> Result<()> {
        match trouble {
            Trouble::Full => Ok(fs::remove_file(self.state_file(FILLER))?),
            Trouble::ReadOnly => self.remount("remount,rw"),
        }
    }

    fn remount(&self, options: &str) -> Result<()> {
        let keeper = self.pid(KEEPER)?;
        let mut command = Command::new("/usr/bin/nsenter");
        command.arg(format!("--mount=/proc/{keeper}/ns/mnt"));
        command.args(["--", "mount", "-o", options]);
        checked(command.arg(self.path().join("state"))).map(drop)
    }

    fn fill_disk(&self) -> Result<()> {
        self.pid(KEEPER)?;
        let path = self.state_file(FILLER);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .context("the filler")?;
        for size in [4096, 1] {
            loop {
                match file.write(&vec![0; size]) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => bail!("the filler: {error}"),
                }
            }
        }
        Ok(())
    }
}
