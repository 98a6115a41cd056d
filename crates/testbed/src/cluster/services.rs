//! The daemons: how each is started, and how to recognise that it is ready.

use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::Signal;

use super::conf::{self, node_name};
use super::{Cluster, users};
use crate::process::Daemon;
use crate::wait;
use xtask::command::checked;

/// Enough time for any daemon on a busy machine.
pub(super) const DEADLINE: Duration = Duration::from_secs(120);

impl Cluster {
    /// Starts munged with a separate key and socket.
    pub(super) fn start_munged(&mut self) -> Result<()> {
        let folder = self.folder.join("munge");
        let munge = users::find("munge")?.context("no user munge: is munge installed?")?;
        chown(&folder, Some(munge.uid), Some(munge.gid))?;
        let key = folder.join("key");
        fs::write(&key, random_bytes(128)?)?;
        fs::set_permissions(&key, Permissions::from_mode(0o400))?;
        chown(&key, Some(munge.uid), Some(munge.gid))?;
        let mut command = self.bare(Path::new("/usr/sbin/munged"));
        command.arg("--foreground").uid(munge.uid).gid(munge.gid);
        for (option, name) in [
            ("--socket", "socket"),
            ("--key-file", "key"),
            ("--pid-file", "pid"),
            ("--seed-file", "seed"),
            ("--log-file", "log"),
        ] {
            command.arg(format!("{option}={}", folder.join(name).display()));
        }
        self.spawn("munged", command)?;
        let socket = folder.join("socket");
        self.ready("munged", |_| {
            UnixStream::connect(&socket)?;
            Ok(())
        })
    }

    /// Starts MariaDB with an empty database and a user for slurmdbd.
    pub(super) fn start_database(&mut self, password: &str) -> Result<()> {
        let folder = self.folder.join("database");
        let mysql = users::find("mysql")?.context("no user mysql: is mariadb installed?")?;
        chown(&folder, Some(mysql.uid), Some(mysql.gid))?;
        // MariaDB removes temporary tables at its start, also those of other servers.
        let temporary = folder.join("tmp");
        fs::create_dir(&temporary)?;
        chown(&temporary, Some(mysql.uid), Some(mysql.gid))?;
        let data = format!("--datadir={}", folder.join("data").display());
        let mut install = self.bare(Path::new("/usr/bin/mariadb-install-db"));
        install.env("TMPDIR", &temporary);
        install.args(["--no-defaults", "--user=mysql", "--skip-test-db", &data]);
        install.arg("--auth-root-authentication-method=normal");
        checked(&mut install)?;
        let statements = folder.join("init.sql");
        fs::write(
            &statements,
            format!(
                "CREATE DATABASE slurm;\n\
                 CREATE USER 'slurm'@'127.0.0.1' IDENTIFIED BY '{password}';\n\
                 GRANT ALL ON slurm.* TO 'slurm'@'127.0.0.1';\n"
            ),
        )?;
        chown(&statements, Some(mysql.uid), Some(mysql.gid))?;
        fs::set_permissions(&statements, Permissions::from_mode(0o400))?;
        // The first is Debian's path.
        let places = ["/usr/sbin/mariadbd", "/usr/libexec/mariadbd"].map(Path::new);
        let place = places.into_iter().find(|place| place.exists());
        let mut command = self.bare(place.unwrap_or(places[0]));
        command.env("TMPDIR", &temporary);
        command.args([
            "--no-defaults",
            "--user=mysql",
            "--skip-name-resolve",
            &data,
        ]);
        command.args(["--bind-address=127.0.0.1", "--innodb-buffer-pool-size=64M"]);
        // The settings that slurmdbd requires. No flush to disk, because the data is temporary.
        command.args([
            "--innodb-lock-wait-timeout=900",
            "--innodb-flush-log-at-trx-commit=0",
        ]);
        command.arg(format!("--port={}", self.ports.database()));
        for (option, name) in [("--socket", "socket"), ("--init-file", "init.sql")] {
            command.arg(format!("{option}={}", folder.join(name).display()));
        }
        self.spawn("mariadbd", command)?;
        // It listens only after its initial statements have run.
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports.database()));
        self.ready("mariadbd", |_| {
            TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
            Ok(())
        })
    }

    /// Starts slurmdbd; it is ready when sacctmgr gets an answer.
    pub(super) fn start_slurmdbd(&mut self, password: &str) -> Result<()> {
        let file = self.folder.join("etc/slurmdbd.conf");
        fs::write(
            &file,
            conf::slurmdbd(&self.folder, &self.installation, self.ports, password),
        )?;
        fs::set_permissions(&file, Permissions::from_mode(0o600))?;
        self.start_slurmdbd_again()
    }

    /// Ends slurmdbd as an administrator would and waits until it is gone.
    pub fn stop_slurmdbd(&mut self) -> Result<()> {
        self.daemon_out("slurmdbd")?.stop(Signal::SIGTERM)
    }

    /// Starts slurmdbd, after [`Cluster::stop_slurmdbd`].
    pub fn start_slurmdbd_again(&mut self) -> Result<()> {
        let command = self.slurm_daemon("slurmdbd", "slurmdbd")?;
        self.spawn("slurmdbd", command)?;
        self.ready("slurmdbd", |cluster| {
            cluster
                .sacctmgr(&["--noheader", "show", "cluster"])
                .map(drop)
        })
    }

    /// Starts slurmctld; it is ready when it answers a ping.
    pub fn start_slurmctld(&mut self) -> Result<()> {
        let command = self.slurm_daemon("slurmctld", "slurmctld")?;
        self.start_slurmctld_as(command)
    }

    /// Starts slurmctld with `-i`: then it ignores state files that it would refuse otherwise.
    pub fn start_slurmctld_despite_its_files(&mut self) -> Result<()> {
        let mut command = self.slurm_daemon("slurmctld", "slurmctld")?;
        command.arg("-i");
        self.start_slurmctld_as(command)
    }

    /// Starts slurmctld under `--systemd`; it must send its process id to a socket.
    pub(super) fn start_slurmctld_notifying(&mut self, socket: &Path) -> Result<()> {
        let mut command = self.slurm_program("slurmctld", "slurmctld")?;
        command.arg("--systemd").env("NOTIFY_SOCKET", socket);
        self.start_slurmctld_as(command)
    }

    /// Starts slurmctld without waiting for an answer.
    ///
    /// # Errors
    /// Fails if it cannot be run.
    pub fn launch_slurmctld(&mut self) -> Result<()> {
        let command = self.slurm_daemon("slurmctld", "slurmctld")?;
        self.spawn_slurmctld(command)
    }

    fn start_slurmctld_as(&mut self, command: Command) -> Result<()> {
        self.spawn_slurmctld(command)?;
        self.ready("slurmctld", |cluster| cluster.slurmctld_answers())
    }

    fn spawn_slurmctld(&mut self, mut command: Command) -> Result<()> {
        for (key, value) in &self.slurmctld_environment {
            command.env(key, value);
        }
        let command = self.on_primary(self.with_disk(command));
        self.spawn("slurmctld", command)
    }

    /// Ends slurmctld as an administrator would and waits until it is gone.
    pub fn stop_slurmctld(&mut self) -> Result<()> {
        self.daemon_out("slurmctld")?.stop(Signal::SIGTERM)
    }

    /// Ends slurmctld without giving it a chance to save anything.
    pub fn kill_slurmctld(&mut self) -> Result<()> {
        self.daemon_out("slurmctld")?.stop(Signal::SIGKILL)
    }

    /// Returns true if slurmctld was stopped or has ended by itself: then it can be started again.
    ///
    /// # Errors
    /// Fails if its status cannot be read.
    pub fn slurmctld_has_ended(&mut self) -> Result<bool> {
        let Some(daemon) = self.daemons.get_mut("slurmctld") else {
            return Ok(true);
        };
        let ended = daemon.ended()?.is_some();
        if ended {
            self.daemon_out("slurmctld")?;
        }
        Ok(ended)
    }

    /// The process id of slurmctld.
    ///
    /// # Errors
    /// Fails if none was started, or if it was stopped.
    pub fn slurmctld_pid(&self) -> Result<i32> {
        let daemon = self.daemons.get("slurmctld");
        Ok(daemon.context("slurmctld does not run")?.pid())
    }

    /// Waits until slurmctld has ended by itself.
    pub fn await_end_of_slurmctld(&mut self) -> Result<()> {
        wait::until_true("slurmctld gives up", DEADLINE, || {
            let daemon = self.daemons.get_mut("slurmctld").context("slurmctld")?;
            Ok(daemon.ended()?.is_some())
        })?;
        self.daemon_out("slurmctld").map(drop)
    }

    /// Starts slurmctld and expects it to refuse; returns its log of this attempt.
    pub fn start_slurmctld_in_vain(&mut self) -> Result<String> {
        let log = self.folder.log("slurmctld");
        let before = fs::metadata(&log).map_or(0, |meta| meta.len());
        let command = self.slurm_daemon("slurmctld", "slurmctld")?;
        self.spawn("slurmctld", command)?;
        self.await_end_of_slurmctld()?;
        let text = fs::read(&log)?;
        let from = usize::try_from(before)?.min(text.len());
        Ok(String::from_utf8_lossy(&text[from..]).into_owned())
    }

    /// Starts one slurmd per node; ready when slurmctld reports every node as idle.
    pub(super) fn start_nodes(&mut self) -> Result<()> {
        for index in 0..self.nodes.count {
            let node = node_name(index);
            fs::create_dir_all(self.folder.join("spool").join(&node))?;
            let mut command = self.slurm_daemon("slurmd", "slurmd")?;
            command.args(["-N", &node]);
            self.spawn(&format!("slurmd-{node}"), command)?;
        }
        wait::until_true("all nodes are idle", DEADLINE, || {
            for index in 0..self.nodes.count {
                let name = format!("slurmd-{}", node_name(index));
                let daemon = self.daemons.get_mut(&name).context("a slurmd")?;
                if let Some(status) = daemon.ended()? {
                    bail!("{name} ended while starting ({status})");
                }
            }
            let states = self.run(&["sinfo", "--noheader", "--Node", "--format=%T"])?;
            Ok(states.lines().all(|state| state == "idle") && !states.is_empty())
        })
        .with_context(|| self.tails("slurmd-n0"))
    }

    fn slurmctld_answers(&self) -> Result<()> {
        let answer = self.run(&["scontrol", "ping"])?;
        ensure!(answer.contains("is UP"), "scontrol ping: {}", answer.trim());
        Ok(())
    }

    /// A Slurm daemon in the foreground, called by its plain name, which slurmctld compares.
    fn slurm_daemon(&self, name: &str, program: &str) -> Result<Command> {
        let mut command = self.slurm_program(name, program)?;
        command.arg("-D");
        Ok(command)
    }

    fn slurm_program(&self, name: &str, program: &str) -> Result<Command> {
        let link = self.folder.join("bin").join(name);
        if link.symlink_metadata().is_err() {
            symlink(self.installation.daemon(program), &link)?;
        }
        // Steps are recognised by the folder that they inherit from slurmd.
        let mut command = self.installation.command_in(self.folder.path(), &link);
        self.set_environment(&mut command);
        Ok(command)
    }

    /// A program of this machine, outside other installations of Slurm.
    pub fn bare(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        self.set_environment(&mut command);
        command
    }

    pub(super) fn spawn(&mut self, name: &str, command: Command) -> Result<()> {
        let log = self.folder.join("log").join(format!("{name}.out"));
        let daemon = Daemon::spawn(name, command, &log, &self.folder.join("run"))?;
        self.daemons.insert(name.to_owned(), daemon);
        Ok(())
    }

    /// Waits until `probe` succeeds. A daemon that ends meanwhile is an error with the end of its
    /// log; a missed deadline is an error with the probe's last failure, too.
    fn ready(&mut self, name: &str, probe: impl Fn(&Cluster) -> Result<()>) -> Result<()> {
        let mut last = String::new();
        let outcome = wait::until_true(&format!("{name} is ready"), DEADLINE, || {
            let daemon = self
                .daemons
                .get_mut(name)
                .context("a daemon just started")?;
            if let Some(status) = daemon.ended()? {
                bail!("{name} ended while starting ({status})");
            }
            match probe(self) {
                Ok(()) => Ok(true),
                Err(error) => {
                    last = format!("{error:#}");
                    Ok(false)
                }
            }
        });
        outcome.with_context(|| format!("{}{last}", self.tails(name)))
    }

    pub(super) fn daemon_out(&mut self, name: &str) -> Result<Daemon> {
        self.daemons
            .remove(name)
            .with_context(|| format!("{name} does not run"))
    }

    /// The ends of a daemon's log and output.
    pub(super) fn tails(&self, name: &str) -> String {
        let mut text = String::new();
        for extension in ["out", "log"] {
            let path = self.folder.join("log").join(format!("{name}.{extension}"));
            let Ok(log) = fs::read(&path) else { continue };
            let log = String::from_utf8_lossy(&log);
            let skip = log.lines().count().saturating_sub(20);
            text += &format!("--- the end of {}:\n", path.display());
            log.lines().skip(skip).for_each(|line| {
                text += line;
                text.push('\n');
            });
        }
        text
    }
}

/// Random bytes, for a key.
pub(super) fn random_bytes(count: usize) -> Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = vec![0; count];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
