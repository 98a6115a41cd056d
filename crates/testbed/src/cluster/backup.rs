//! A second slurmctld that waits to take over.
//!
//! Slurm distinguishes its controllers by the name of their machine. So each runs under a separate
//! name (a UTS namespace, and a mount namespace in which that name is known), and listens on a
//! separate address of the loopback network.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Cluster;
use super::conf;
use super::services::DEADLINE;
use crate::wait;

/// One of the two controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// The first in slurm.conf.
    Primary,
    /// The second in slurm.conf.
    Backup,
}

impl Controller {
    fn machine(self) -> &'static str {
        match self {
            Controller::Primary => "ctl0",
            Controller::Backup => "ctl1",
        }
    }

    fn address(self) -> &'static str {
        match self {
            Controller::Primary => "127.0.0.1",
            Controller::Backup => "127.0.0.2",
        }
    }

    /// The name of its daemon in this program.
    fn daemon(self) -> &'static str {
        match self {
            Controller::Primary => "slurmctld",
            Controller::Backup => BACKUP,
        }
    }
}

const BACKUP: &str = "slurmctld-backup";

impl Cluster {
    /// Restarts slurmctld as the first of two controllers, and starts the second one.
    ///
    /// # Errors
    /// Fails if a controller does not start.
    pub fn add_backup(&mut self) -> Result<()> {
        self.stop_slurmctld()?;
        let hosts = [Controller::Primary, Controller::Backup]
            .map(|one| format!("{}({})", one.machine(), one.address()));
        self.conf.set_lines("SlurmctldHost", &hosts);
        self.conf.set("CommunicationParameters", "NoCtldInAddrAny");
        // The controllers do not read the same file.
        self.conf.set("DebugFlags", "NO_CONF_HASH");
        self.write_conf()?;
        self.write_hosts()?;
        self.has_backup = true;
        self.start_slurmctld()?;
        // The nodes must learn which controllers may call them.
        self.reconfigure()?;
        self.start_backup()
    }

    fn write_hosts(&self) -> Result<()> {
        let mut hosts = fs::read_to_string("/etc/hosts").unwrap_or_default();
        for one in [Controller::Primary, Controller::Backup] {
            hosts += &format!("\n{} {}\n", one.address(), one.machine());
        }
        Ok(fs::write(self.hosts_file(), hosts)?)
    }

    fn hosts_file(&self) -> PathBuf {
        self.folder.join("etc/hosts")
    }

    /// Returns the command to run on the primary's machine, if there are two controllers.
    pub(super) fn on_primary(&self, command: Command) -> Command {
        if self.has_backup {
            self.on_machine(Controller::Primary, &command)
        } else {
            command
        }
    }

    fn start_backup(&mut self) -> Result<()> {
        let folder = self.folder.join("etc/backup");
        let program = self.folder.join("bin/backup/slurmctld");
        for parent in [Some(folder.as_path()), program.parent()] {
            fs::create_dir_all(parent.context("a folder")?)?;
        }
        symlink(self.installation.daemon("slurmctld"), &program)?;
        let mut own = self.conf.clone();
        for (key, file) in [
            ("SlurmctldPidFile", "run/slurmctld-backup.own-pid"),
            ("SlurmctldLogFile", "log/slurmctld-backup.log"),
        ] {
            own.set(key, self.folder.join(file).display().to_string());
        }
        fs::write(folder.join("slurm.conf"), own.render())?;
        if let Some(text) = conf::cgroup(self.installation.release()) {
            fs::write(folder.join("cgroup.conf"), text)?;
        }
        let mut command = self.installation.command_in(self.folder.path(), &program);
        self.set_environment(&mut command);
        command
            .env("SLURM_CONF", folder.join("slurm.conf"))
            .arg("-D");
        let command = self.on_machine(Controller::Backup, &command);
        self.spawn(BACKUP, command)?;
        wait::until_true("the backup waits", DEADLINE, || {
            self.is_up(Controller::Backup)
        })
        .with_context(|| self.tails(BACKUP))
    }

    /// Returns true if this controller answers.
    fn is_up(&self, controller: Controller) -> Result<bool> {
        let answer = self.run(&["scontrol", "ping"]).unwrap_or_default();
        let name = controller.machine();
        Ok(answer
            .lines()
            .any(|line| line.contains(name) && line.contains("is UP")))
    }

    /// Lets the backup take over; the primary ends.
    ///
    /// # Errors
    /// Fails if it does not take over.
    pub fn take_over(&mut self) -> Result<()> {
        let answer = self.run(&["scontrol", "takeover"]);
        self.await_end_of_slurmctld().with_context(|| {
            format!("scontrol takeover said {answer:?}\n{}", self.tails(BACKUP))
        })?;
        self.await_passes(Controller::Backup)
    }

    /// Starts the primary again; the backup hands over to it, and waits.
    ///
    /// # Errors
    /// Fails if it does not hand over.
    pub fn hand_back(&mut self) -> Result<()> {
        self.start_slurmctld()?;
        self.await_passes(Controller::Primary)?;
        wait::until_true("the backup has no thread for passes", DEADLINE, || {
            Ok(!self.makes_passes(Controller::Backup)?)
        })
    }

    fn await_passes(&self, controller: Controller) -> Result<()> {
        let name = controller.daemon();
        wait::until_true(&format!("{name} makes passes"), DEADLINE, || {
            self.makes_passes(controller)
        })
        .with_context(|| self.tails(name))
    }

    /// Returns true if our plugin's thread runs in the controller.
    ///
    /// # Errors
    /// Fails if the controller has ended.
    pub fn makes_passes(&self, controller: Controller) -> Result<bool> {
        let pid = self.pid(controller.daemon())?;
        let threads = PathBuf::from(format!("/proc/{pid}/task"));
        let mut found = false;
        let mut all = 0;
        for thread in fs::read_dir(&threads).context("it has ended")? {
            // A thread may end at any time.
            let name = fs::read_to_string(thread?.path().join("comm")).unwrap_or_default();
            found |= name.trim() == "fairtree";
            all += 1;
        }
        ensure!(all > 0, "{} has ended", controller.daemon());
        Ok(found)
    }

    /// Returns the command to run on a machine with the controller's name.
    fn on_machine(&self, controller: Controller, command: &Command) -> Command {
        let script = "mount --bind \"$0\" /etc/hosts && hostname \"$1\" && shift && exec \"$@\"";
        let hosts = self.hosts_file().display().to_string();
        let name = controller.machine();
        super::wrapped(
            Path::new("/usr/bin/unshare"),
            &["--uts", "--mount", "sh", "-c", script, &hosts, name],
            command,
        )
    }
}
