//! A private Slurm cluster on loopback: munged, MariaDB, slurmdbd, slurmctld and several slurmd.
//!
//! All files are in one [folder], and the daemons listen on free ports. Several clusters can run at
//! the same time. A cluster is taken down when its value is dropped, or by a guard process if this
//! program is killed.

pub mod accounting;
pub mod backup;
pub mod client;
mod clock;
pub mod conf;
pub mod disk;
pub mod fairtree;
mod federation;
pub mod folder;
mod ports;
mod services;
mod site_factor;
mod slow_disk;
pub mod systemd;
pub mod table;
pub mod users;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::Daemon;
use accounting::Accounting;
use conf::{Nodes, Partition, PriorityType, SlurmConf};
use folder::{Folder, Guard};
use ports::Ports;
use users::User;
use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::project;
use xtask::release::Release;

/// The description of a cluster.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Slurm's release.
    pub release: Release,
    /// The priority plugin.
    pub priority: PriorityType,
    /// The nodes.
    pub nodes: Nodes,
    /// The partitions, the default one first.
    pub partitions: Vec<Partition>,
    /// Accounts, users and QOS.
    pub accounting: Accounting,
    /// Further lines of slurm.conf.
    pub settings: Vec<(&'static str, String)>,
}

/// A running cluster.
pub struct Cluster {
    folder: Folder,
    installation: Installation,
    ports: Ports,
    nodes: Nodes,
    conf: SlurmConf,
    users: BTreeMap<&'static str, User>,
    daemons: BTreeMap<String, Daemon>,
    slurmctld_environment: Vec<(String, String)>,
    has_backup: bool,
    guard: Option<Guard>,
}

impl Cluster {
    /// Starts a cluster; it is ready when this returns.
    ///
    /// # Errors
    /// Fails if Slurm is not installed, if the plugin is not built, without root, or if a daemon
    /// does not start, with the end of its log.
    pub fn start(plan: &Plan, progress: &Progress) -> Result<Cluster> {
        Cluster::start_as(plan, |_, _| Ok(()), progress)
    }

    /// As [`Cluster::start`], with a configuration that `prepare` changes before anything starts; it gets
    /// the folder of slurm.conf, too.
    ///
    /// # Errors
    /// Those of [`Cluster::start`] and of `prepare`.
    pub fn start_as(
        plan: &Plan,
        prepare: impl FnOnce(&mut SlurmConf, &Path) -> Result<()>,
        progress: &Progress,
    ) -> Result<Cluster> {
        if !nix::unistd::geteuid().is_root() {
            anyhow::bail!("a private cluster runs jobs of several users: it needs root");
        }
        let installation = Installation::of(&plan.release, progress)?;
        installation.ensure_plugins(&["auth_munge.so"])?;
        let folder = Folder::claim(progress)?;
        let ports = Ports::choose(folder.number(), plan.nodes.count)?;
        let mut conf = SlurmConf::new(&folder, &installation, ports, plan.nodes, &plan.partitions);
        conf.set("PriorityType", plan.priority.conf());
        for (key, value) in &plan.settings {
            // The value already has the socket of the cluster's own munged.
            match conf.get(key).filter(|_| *key == "AuthInfo") {
                Some(own) => conf.set(key, format!("{own},{value}")),
                None => conf.set(key, value.as_str()),
            }
        }
        if conf.has_slurmdbd() {
            installation.ensure_plugins(&["accounting_storage_mysql.so"])?;
        } else {
            // Without slurmdbd there is nothing to enforce.
            conf.unset("AccountingStorageEnforce");
        }
        let guard = Some(Guard::post(&folder)?);
        prepare(&mut conf, &folder.join("etc"))?;
        let mut cluster = Cluster {
            folder,
            installation,
            ports,
            nodes: plan.nodes,
            conf,
            users: BTreeMap::new(),
            daemons: BTreeMap::new(),
            slurmctld_environment: Vec::new(),
            has_backup: false,
            guard,
        };
        cluster.bring_up(&plan.accounting, progress)?;
        Ok(cluster)
    }

    fn bring_up(&mut self, accounting: &Accounting, progress: &Progress) -> Result<()> {
        self.install_plugin()?;
        self.write_conf()?;
        if let Some(text) = conf::cgroup(self.installation.release()) {
            fs::write(self.folder.join("etc/cgroup.conf"), text)?;
        }
        self.ensure_users(accounting, progress)?;
        progress.step("starting munged");
        self.start_munged()?;
        if self.conf.has_slurmdbd() {
            self.bring_up_accounting(accounting, progress)?;
        }
        progress.step(format!(
            "starting slurmctld {} ",
            self.installation.release()
        ));
        self.start_slurmctld()?;
        progress.step(format!("starting {} slurmd", self.nodes.count));
        self.start_nodes()
    }

    fn ensure_users(&mut self, accounting: &Accounting, progress: &Progress) -> Result<()> {
        for short in accounting.users() {
            let name = format!("{}{short}", self.user_prefix());
            let user = users::ensure(&name, &self.folder.join("run"), progress)?;
            self.users.insert(short, user);
        }
        Ok(())
    }

    fn bring_up_accounting(&mut self, accounting: &Accounting, progress: &Progress) -> Result<()> {
        let bytes = services::random_bytes(16)?;
        let password: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        progress.step("starting MariaDB");
        self.start_database(&password)?;
        progress.step("starting slurmdbd");
        self.start_slurmdbd(&password)?;
        progress.step("telling slurmdbd of accounts, users and QOS");
        accounting.register(self)
    }

    /// Copies the plugin to the folder where slurmctld looks for it; a copy, so that a later build
    /// cannot change a running cluster.
    fn install_plugin(&self) -> Result<()> {
        let plugins = self.folder.join("plugins");
        fs::create_dir_all(&plugins)?;
        let plugin = project::plugin(self.installation.release());
        if plugin.exists() {
            fs::copy(&plugin, plugins.join("priority_fairtree.so"))?;
        } else if self.conf.render().contains(PriorityType::Fairtree.conf()) {
            anyhow::bail!(
                "no {}; build it with: make plugin SLURM={}",
                plugin.display(),
                self.installation.release()
            );
        }
        Ok(())
    }

    /// Slurm's release.
    pub fn release(&self) -> &Release {
        self.installation.release()
    }

    /// Returns true if the cluster runs the Slurm that is installed on this machine.
    pub fn is_of_this_machine(&self) -> bool {
        self.installation.is_of_this_machine()
    }

    /// The cluster's folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The settings; call [`Cluster::write_conf`] after a change.
    pub fn conf_mut(&mut self) -> &mut SlurmConf {
        &mut self.conf
    }

    /// The settings.
    pub fn conf(&self) -> &SlurmConf {
        &self.conf
    }

    /// Writes slurm.conf; daemons and commands read it at their next start.
    pub fn write_conf(&self) -> Result<()> {
        let file = self.conf_file();
        fs::write(&file, self.conf.render())
            .with_context(|| format!("cannot write {}", file.display()))
    }

    /// Path of slurm.conf.
    pub fn conf_file(&self) -> std::path::PathBuf {
        self.folder.join("etc/slurm.conf")
    }

    /// slurmctld's log from the start.
    pub fn slurmctld_log(&self) -> Result<String> {
        let bytes = fs::read(self.folder.log("slurmctld"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Sets a variable for slurmctld's environment from its next start on; `None` removes it.
    pub fn set_slurmctld_variable(&mut self, key: &str, value: Option<&str>) {
        self.slurmctld_environment.retain(|(known, _)| known != key);
        if let Some(value) = value {
            self.slurmctld_environment
                .push((key.to_owned(), value.to_owned()));
        }
    }

    /// The process id of a running daemon.
    pub fn pid(&self, daemon: &str) -> Result<i32> {
        let found = self.daemons.get(daemon);
        Ok(found.with_context(|| format!("no {daemon} runs"))?.pid())
    }

    /// A user by short name.
    pub fn user(&self, short: &str) -> Result<&User> {
        self.users
            .get(short)
            .with_context(|| format!("the cluster has no user {short}"))
    }

    /// The prefix of users' short names on this machine; different in each cluster.
    pub fn user_prefix(&self) -> String {
        match self.folder.number() {
            1 => "ft-".to_owned(),
            number => format!("ft{number}-"),
        }
    }

    /// Sets the environment of daemons and commands: only the cluster's, nothing from the caller.
    fn set_environment(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", self.search_path())
            .env("LANG", "C.UTF-8")
            .env("SLURM_CONF", self.conf_file())
            .env(crate::process::MARK, self.folder.path());
        if let Some(zone) = std::env::var_os("TZ") {
            command.env("TZ", zone);
        }
    }

    /// PATH of daemons and commands: Slurm's folders, and this machine's.
    pub fn search_path(&self) -> String {
        self.installation.path()
    }

    /// The line to type in a terminal, as root, so that Slurm's commands use this cluster.
    pub fn prompt(&self) -> String {
        let conf = self.conf_file();
        match self.installation.shell() {
            None => match self.installation.own_programs() {
                None => format!("export SLURM_CONF={}", conf.display()),
                Some(path) => format!("export SLURM_CONF={} PATH={path}:$PATH", conf.display()),
            },
            Some(shell) => format!("SLURM_CONF={} {shell}", conf.display()),
        }
    }

    /// Leaves the cluster running when this program ends.
    pub fn keep(mut self) -> Result<()> {
        self.folder.keep()?;
        if let Some(guard) = self.guard.take() {
            guard.dismiss()?;
        }
        Ok(())
    }
}

/// Returns a command whose last words are the given command.
fn wrapped(program: &Path, words: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(program);
    outer.args(words).arg(command.get_program());
    outer.args(command.get_args()).env_clear();
    for (key, value) in command.get_envs() {
        if let Some(value) = value {
            outer.env(key, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        outer.current_dir(folder);
    }
    outer
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A cluster without a guard is kept.
        let Some(guard) = self.guard.take() else {
            return;
        };
        if let Err(error) = folder::tear_down(self.folder.path()) {
            eprintln!("the cluster was not taken down wholly: {error:#}");
        }
        if let Err(error) = guard.dismiss() {
            eprintln!("{error:#}");
        }
    }
}
