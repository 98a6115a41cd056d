//! A wall clock of slurmctld's own, which can be stepped (`tests/daemon/clock.c`).

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::Cluster;
use xtask::command::checked;
use xtask::project;

impl Cluster {
    /// From slurmctld's next start on its clock can be stepped.
    ///
    /// # Errors
    /// The clock does not compile.
    pub fn give_clock(&mut self) -> Result<()> {
        let library = self.folder.join("bin/clock.so");
        let mut compile = Command::new("gcc");
        compile.args(["-std=c11", "-shared", "-fPIC", "-O1"]);
        compile.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
        compile.arg(project::root().join("tests/daemon/clock.c"));
        checked(compile.arg("-o").arg(&library))?;
        fs::write(self.clock_file(), 0i64.to_ne_bytes())?;
        let clock = self.clock_file().display().to_string();
        self.set_slurmctld_variable("DAEMON_CLOCK", Some(&clock));
        self.set_slurmctld_variable("LD_PRELOAD", Some(&library.display().to_string()));
        Ok(())
    }

    /// Sets slurmctld's clock ahead of the machine's by so many seconds.
    ///
    /// # Errors
    /// It has none of its own.
    pub fn set_clock_ahead(&self, secs: i64) -> Result<()> {
        let file = File::options().write(true).open(self.clock_file());
        let file = file.context("slurmctld has no clock of its own")?;
        // All bytes at once: slurmctld reads them as one number.
        Ok(file.write_all_at(&secs.to_ne_bytes(), 0)?)
    }

    fn clock_file(&self) -> PathBuf {
        self.folder.join("run/clock")
    }
}
