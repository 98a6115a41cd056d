//! The second cluster of a federation: a slurmctld with its own name, port and state, but with the
//! same slurmdbd and munged. Its only node is down, so jobs wait there, and run in the first
//! cluster.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use nix::sys::signal::Signal;

use super::accounting::Accounting;
use super::services::DEADLINE;
use super::{Cluster, conf};
use crate::wait;

/// Its name in accounting.
const NAME: &str = "fairtree2";
/// The name of its daemon in this program.
const DAEMON: &str = "slurmctld-sibling";

impl Cluster {
    /// Starts the second cluster, with the accounts and users of this site, and joins both in a
    /// federation.
    ///
    /// # Errors
    /// Fails if it does not start, or if the clusters do not find each other.
    pub fn federate(&mut self, accounting: &Accounting) -> Result<()> {
        self.add_sibling(accounting)?;
        let clusters = format!("clusters={},{NAME}", conf::CLUSTER_NAME);
        self.sacctmgr(&["add", "federation", "pair", &clusters])?;
        wait::until_true("both are in the federation", DEADLINE, || {
            let of_this = self.run(&["scontrol", "show", "federation"])?;
            let of_that = self.run_in_sibling(&["scontrol", "show", "federation"])?;
            let joined = |text: &str| {
                text.contains("Sibling:")
                    && !text.contains("PersistConnSend/Recv:No")
                    && text.contains("PersistConnSend/Recv:Yes/Yes")
            };
            Ok(joined(&of_this) && joined(&of_that))
        })
        .with_context(|| self.tails(DAEMON))
    }

    /// Starts the second cluster, with the accounts and users of this site, without a federation.
    ///
    /// # Errors
    /// Fails if it does not start.
    pub fn add_sibling(&mut self, accounting: &Accounting) -> Result<()> {
        self.sacctmgr(&["add", "cluster", NAME])?;
        accounting.load(self, NAME)?;
        self.start_sibling()
    }

    /// Ends the second cluster's slurmctld as an administrator would, and starts it again.
    ///
    /// # Errors
    /// Fails if it does not end or does not start.
    pub fn restart_sibling(&mut self) -> Result<()> {
        self.daemon_out(DAEMON)?.stop(Signal::SIGTERM)?;
        self.launch_sibling()
    }

    /// A file in the second cluster's `StateSaveLocation`.
    pub fn sibling_state_file(&self, name: &str) -> PathBuf {
        self.sibling_folder().join("state").join(name)
    }

    /// Path of the second cluster's slurm.conf.
    pub(super) fn sibling_conf(&self) -> PathBuf {
        self.sibling_folder().join("slurm.conf")
    }

    fn sibling_folder(&self) -> PathBuf {
        self.folder.join("sibling")
    }

    fn start_sibling(&mut self) -> Result<()> {
        let folder = self.sibling_folder();
        for name in ["state", "bin"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let program = folder.join("bin/slurmctld");
        symlink(self.installation.daemon("slurmctld"), &program)?;
        let mut own = self.conf.with_a_node_that_is_down(self.nodes);
        let log = self.folder.log(DAEMON).display().to_string();
        for (key, value) in [
            ("ClusterName", NAME.to_owned()),
            ("SlurmctldPort", self.ports.sibling().to_string()),
            (
                "StateSaveLocation",
                folder.join("state").display().to_string(),
            ),
            (
                "SlurmctldPidFile",
                folder.join("own-pid").display().to_string(),
            ),
            ("SlurmctldLogFile", log),
        ] {
            own.set(key, value);
        }
        fs::write(folder.join("slurm.conf"), own.render())?;
        if let Some(text) = conf::cgroup(self.installation.release()) {
            fs::write(folder.join("cgroup.conf"), text)?;
        }
        self.launch_sibling()
    }

    fn launch_sibling(&mut self) -> Result<()> {
        let program = self.sibling_folder().join("bin/slurmctld");
        let mut command = self.installation.command_in(self.folder.path(), &program);
        self.set_environment(&mut command);
        command.env("SLURM_CONF", self.sibling_conf()).arg("-D");
        self.spawn(DAEMON, command)?;
        wait::until_true("the second cluster answers", DEADLINE, || {
            let answer = self.run_in_sibling(&["scontrol", "ping"]);
            Ok(answer.is_ok_and(|answer| answer.contains("is UP")))
        })
        .with_context(|| self.tails(DAEMON))
    }

    /// [`Cluster::run`] in the second cluster.
    ///
    /// # Errors
    /// As [`Cluster::run`].
    pub fn run_in_sibling(&self, words: &[&str]) -> Result<String> {
        let mut command: Command = self.command(words)?;
        command.env("SLURM_CONF", self.sibling_conf());
        super::client::output(command)
    }

    /// The log of the second cluster's slurmctld.
    ///
    /// # Errors
    /// Fails if there is none.
    pub fn sibling_log(&self) -> Result<String> {
        let bytes = fs::read(self.folder.log(DAEMON))?;
        ensure!(!bytes.is_empty(), "an empty log");
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
