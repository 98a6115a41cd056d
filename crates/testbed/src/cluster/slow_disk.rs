//! A disk for slurmctld's state that is slow, or fails at random (`tests/daemon/disk.c`).

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Cluster;
use xtask::command::checked;
use xtask::project;

impl Cluster {
    /// From slurmctld's next start on, its disk can be made slow or bad, and its clock can be
    /// stepped ([`Cluster::give_clock`]).
    ///
    /// # Errors
    /// Fails if a library does not compile.
    pub fn give_slow_disk(&mut self) -> Result<()> {
        self.give_clock()?;
        let library = self.folder.join("bin/disk.so");
        let mut compile = Command::new("gcc");
        compile.args(["-std=c11", "-shared", "-fPIC", "-O1"]);
        compile.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
        compile.arg(project::root().join("tests/daemon/disk.c"));
        checked(compile.arg("-o").arg(&library).arg("-ldl"))?;
        fs::write(self.disk_file(), [0; 16])?;
        let disk = self.disk_file().display().to_string();
        self.set_slurmctld_variable("DAEMON_DISK", Some(&disk));
        let state = self.path().join("state").display().to_string();
        self.set_slurmctld_variable("DAEMON_DISK_STATE", Some(&state));
        let both = format!(
            "{}:{}",
            self.folder.join("bin/clock.so").display(),
            library.display()
        );
        self.set_slurmctld_variable("LD_PRELOAD", Some(&both));
        Ok(())
    }

    /// Sets the extra time of each sync of a file or folder of a priority plugin. A running sync
    /// ends soon after this becomes zero.
    ///
    /// # Errors
    /// Fails if there is no such disk.
    pub fn slow_disk_down(&self, sync: Duration) -> Result<()> {
        self.set_disk(0, i64::try_from(sync.as_millis())?)
    }

    /// Sets how many in a thousand syncs and renames of state files fail, at random.
    ///
    /// # Errors
    /// Fails if there is no such disk.
    pub fn fail_disk_at_random(&self, in_a_thousand: i64) -> Result<()> {
        self.set_disk(8, in_a_thousand)
    }

    fn set_disk(&self, at: u64, number: i64) -> Result<()> {
        let file = File::options().write(true).open(self.disk_file());
        let file = file.context("slurmctld's disk is an ordinary one")?;
        // Write all bytes at once: slurmctld reads them as one number.
        Ok(file.write_all_at(&number.to_ne_bytes(), at)?)
    }

    fn disk_file(&self) -> PathBuf {
        self.folder.join("run/disk")
    }
}
