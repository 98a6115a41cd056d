//! A separate wall clock for slurmctld, which can be stepped (`tests/daemon/clock.c`).

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::Cluster;
use xtask::command::checked;
use xtask::project;

impl Cluster {
    /// Makes the clock of slurmctld steppable, from its next start on.
    ///
    /// # Errors
    /// Fails if the clock does not compile.
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

    /// Sets slurmctld's clock `secs` seconds ahead of the machine's.
    ///
    /// # Errors
    /// Fails if slurmctld has no separate clock.
    pub fn set_clock_ahead(&self, secs: i64) -> Result<()> {
        let file = File::options().write(true).open(self.clock_file());
        let file = file.context("slurmctld has no clock of its own")?;
        // Write all bytes at once: slurmctld reads them as one number.
        Ok(file.write_all_at(&secs.to_ne_bytes(), 0)?)
    }

    fn clock_file(&self) -> PathBuf {
        self.folder.join("run/clock")
    }
}
