//! The service on a site whose commands print what was generated.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::unistd::{SysconfVar, Uid, User, sysconf};

use crate::wait;

/// The shortest pause between two pictures that settings allow.
pub const PAUSE: Duration = Duration::from_secs(30);

/// Calls to Slurm for one picture: each source of a capture, and the transactions.
pub const CALLS: usize = 13;

/// A running service; it ends when dropped.
pub struct Service {
    child: Child,
    /// Kept open: a service that cannot print continues, but its output should have a reader.
    _out: BufReader<std::process::ChildStdout>,
    metrics: String,
    socket: PathBuf,
    calls: PathBuf,
}

impl Service {
    /// Starts it with commands that print the files of `answers`.
    ///
    /// # Errors
    /// Fails if it does not start.
    pub fn start(program: &Path, folder: &Path, answers: &Path) -> Result<Service> {
        let (socket, calls) = (folder.join("proxy.sock"), folder.join("calls"));
        let bin = commands(folder, answers, &calls)?;
        let own = User::from_uid(Uid::current())?.context("this user has no name")?;
        let settings = format!(
            "listen = \"127.0.0.1:0\"\nsocket = \"{}\"\nproxy_users = [\"{}\"]\ndatabase = \"{}\"\n\
             [capture]\nfolder = \"{}\"\nevery_secs = {}\ntime_limit_secs = 300\nkeep = 2\nforecasts = false\n\
             [metrics]\nlisten = \"127.0.0.1:0\"\n",
            socket.display(),
            own.name,
            folder.join("fairtree.db").display(),
            folder.join("captures").display(),
            PAUSE.as_secs(),
        );
        let file = folder.join("serve.toml");
        fs::write(&file, settings)?;
        let path = std::env::var("PATH").unwrap_or_default();
        let mut child = Command::new(program)
            .arg("--config")
            .arg(&file)
            .env("PATH", format!("{}:{path}", bin.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.join("errors"))?)
            .spawn()
            .with_context(|| program.display().to_string())?;
        let mut out = BufReader::new(child.stdout.take().context("its output")?);
        let mut metrics = None;
        let mut line = String::new();
        while metrics.is_none() {
            line.clear();
            if out.read_line(&mut line)? == 0 {
                let said = fs::read_to_string(folder.join("errors"))?;
                anyhow::bail!("the service ended: {}", said.trim_end());
            }
            let found = line.trim().strip_prefix("metrics on http://");
            metrics = found
                .and_then(|at| at.strip_suffix("/metrics"))
                .map(str::to_owned);
        }
        Ok(Service {
            child,
            _out: out,
            metrics: metrics.context("an address")?,
            socket,
            calls,
        })
    }

    /// The socket of its proxy.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Waits until it has taken this number of pictures; the time that the last one took, ms. `None`: not
    /// before the deadline.
    ///
    /// # Errors
    /// Fails if a picture failed.
    pub fn await_picture(&self, count: u32, deadline: Instant) -> Result<Option<f64>> {
        wait::before(deadline, || {
            let text = self.metrics()?;
            let value = |name: &str| {
                let line = text.lines().find(|line| line.starts_with(name))?;
                line.rsplit(' ').next()?.parse::<f64>().ok()
            };
            let of = |outcome| {
                let sample = format!("{{cluster=\"large\",outcome=\"{outcome}\"}}");
                value(&format!("fairtree_captures_total{sample}"))
            };
            ensure!(of("failed").unwrap_or(0.0) == 0.0, "a picture failed");
            let taken = of("taken").filter(|taken| *taken >= f64::from(count));
            Ok(taken
                .and(value("fairtree_capture_duration_seconds"))
                .map(|secs| secs * 1000.0))
        })
    }

    fn metrics(&self) -> Result<String> {
        let mut stream = TcpStream::connect(&self.metrics)?;
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes())?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    }

    /// Calls to Slurm since the start.
    ///
    /// # Errors
    /// Fails if the file that counts them cannot be read.
    pub fn calls(&self) -> Result<usize> {
        Ok(fs::read_to_string(&self.calls)?.lines().count())
    }

    /// Waits until it has called Slurm this number of times; false: not before the deadline.
    ///
    /// # Errors
    /// Fails if the file that counts them cannot be read.
    pub fn await_call(&self, count: usize, deadline: Instant) -> Result<bool> {
        let called = wait::before(deadline, || Ok((self.calls()? >= count).then_some(())))?;
        Ok(called.is_some())
    }

    /// The processor time that it has had, without that of Slurm's commands.
    ///
    /// # Errors
    /// Fails if the kernel does not say.
    pub fn processor_time(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // Of user and kernel: fields 14 and 15 of proc(5); the second one, the name, ends with `)`.
        let (_, fields) = stat.rsplit_once(')').context("/proc/PID/stat")?;
        let mut ticks = 0;
        for field in fields.split_whitespace().skip(11).take(2) {
            ticks += field.parse::<u64>()?;
        }
        let in_a_second = sysconf(SysconfVar::CLK_TCK)?.context("CLK_TCK")?;
        Ok(Duration::from_secs_f64(ticks as f64 / in_a_second as f64))
    }

    /// The most memory that it had, MB.
    ///
    /// # Errors
    /// Fails if the kernel does not say.
    pub fn most_megabytes(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        Ok(kilobytes.context("VmHWM")?.parse::<f64>()? * 1024.0 / 1e6)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // One that has ended is as good as stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Commands of Slurm that print files, and note each call.
fn commands(folder: &Path, answers: &Path, calls: &Path) -> Result<PathBuf> {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin)?;
    let (answers, calls) = (answers.display(), calls.display());
    let cat = |file: &str| format!("exec cat '{answers}/{file}.txt'");
    let scontrol = format!(
        "case \"$*\" in *config) f=config;; *partition) f=partitions;; *node) f=nodes;; *) f=jobs;; esac\n\
         exec cat '{answers}'/$f.txt"
    );
    let sacctmgr = format!(
        "case \"$*\" in *'show assoc '*) exec cat '{answers}/assocs.txt';; *'show qos '*) exec cat '{answers}/qos.txt';; \
         *'show account '*) echo 'Account|Coord Accounts';; *'show user '*) echo 'User|Admin';; \
         *'show config') echo 'PrivateData = none';; *) echo 'Time|Action|Actor|User|Account|Info';; esac"
    );
    for (name, script) in [
        ("scontrol", scontrol),
        ("sacctmgr", sacctmgr),
        ("sshare", cat("sshare")),
        ("sprio", cat("sprio")),
        ("squeue", cat("names")),
        ("sacct", cat("history")),
    ] {
        let path = bin.join(name);
        fs::write(
            &path,
            format!("#!/bin/sh\necho \"$0 $*\" >>'{calls}'\n{script}\n"),
        )?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
    }
    Ok(bin)
}
