//! A disk of its own for slurmctld's state: small, and full or read-only on order.
//!
//! It is a tmpfs in a mount namespace, kept by a process that does nothing else and is torn down
//! with the cluster. So nothing stays mounted, whatever happens; others see an empty folder.

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
/// The file that takes all space there is.
const FILLER: &str = "filler";

/// What is wrong with the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No byte is free.
    Full,
    /// Nothing can be written.
    ReadOnly,
}

impl Cluster {
    /// From the next start of slurmctld on its state is on a disk of its own, of so many KiB; what
    /// is there already is taken along. slurmctld must have been stopped.
    ///
    /// # Errors
    /// Not root, or no room for what is there.
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

    /// A file of slurmctld's state, as slurmctld sees it.
    pub fn state_file(&self, name: &str) -> PathBuf {
        let folder = self.path().join("state");
        let folder = match self.pid(KEEPER) {
            Ok(keeper) => PathBuf::from(format!("/proc/{keeper}/root{}", folder.display())),
            Err(_) => folder,
        };
        folder.join(name)
    }

    /// The same command, in the namespace that has the disk.
    pub(super) fn with_disk(&self, command: Command) -> Command {
        let Ok(keeper) = self.pid(KEEPER) else {
            return command;
        };
        let namespace = format!("--mount=/proc/{keeper}/ns/mnt");
        // It goes to another folder than the one that it was started in.
        let folder = command.get_current_dir().unwrap_or(Path::new("/"));
        let folder = format!("--wd={}", folder.display());
        let words = [namespace.as_str(), &folder, "--"];
        super::wrapped(Path::new("/usr/bin/nsenter"), &words, &command)
    }

    /// Makes the disk bad.
    ///
    /// # Errors
    /// There is no such disk.
    pub fn spoil_disk(&self, trouble: Trouble) -> Result<()> {
        match trouble {
            Trouble::Full => self.fill_disk(),
            Trouble::ReadOnly => self.remount("remount,ro"),
        }
    }

    /// Makes it good again.
    ///
    /// # Errors
    /// It was not bad in this way.
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
