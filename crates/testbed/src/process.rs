//! Processes by identity: number, time of start and a mark in their environment.
//!
//! A process id alone is not enough: it may have been reused since it was recorded. This program
//! signals a process only if the identity shows that this program has started it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The variable that marks every process of a cluster with its folder.
pub const MARK: &str = "FAIRTREE_CLUSTER";

/// The identity of a process, different from that of a later process with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pid: i32,
    /// Clock ticks from boot to its start.
    started: u64,
}

impl Identity {
    /// The process that has this id now; `None` if there is none (or only its zombie).
    pub fn of(pid: i32) -> Option<Identity> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything, so count fields from its end.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let started = fields.nth(18)?.parse().ok()?;
        (state != "Z").then_some(Identity { pid, started })
    }

    /// Returns true while exactly this process runs.
    pub fn is_alive(self) -> bool {
        Identity::of(self.pid) == Some(self)
    }

    /// Sends a signal if the process still runs.
    pub fn signal(self, signal: Signal) {
        if self.is_alive() {
            // It may have ended since the check: then the signal fails, which is not an error.
            let _ = kill(Pid::from_raw(self.pid), signal);
        }
    }

    fn to_record(self) -> String {
        format!("{} {}\n", self.pid, self.started)
    }

    fn from_record(text: &str) -> Option<Identity> {
        let (pid, started) = text.trim().split_once(' ')?;
        Some(Identity {
            pid: pid.parse().ok()?,
            started: started.parse().ok()?,
        })
    }
}

/// A daemon that this program started.
pub struct Daemon {
    name: String,
    child: Child,
    identity: Identity,
    record: PathBuf,
}

impl Daemon {
    /// Starts `command` in its own process group (a terminal's Ctrl-C must not reach it), with its
    /// output in `log`, and records it in the folder `records`.
    pub fn spawn(name: &str, mut command: Command, log: &Path, records: &Path) -> Result<Daemon> {
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .with_context(|| format!("cannot write {}", log.display()))?;
        let child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .with_context(|| format!("cannot start {name} ({command:?})"))?;
        let pid = i32::try_from(child.id()).context("a process number out of range")?;
        let Some(identity) = Identity::of(pid) else {
            bail!("{name} ended at once; see {}", log.display());
        };
        let record = records.join(format!("{name}.pid"));
        fs::write(&record, identity.to_record())?;
        Ok(Daemon {
            name: name.to_owned(),
            child,
            identity,
            record,
        })
    }

    /// The process id.
    pub fn pid(&self) -> i32 {
        self.identity.pid
    }

    /// The exit status; `None` while it runs.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        self.identity.signal(signal);
    }

    /// Ends it with `signal` and waits; sends SIGKILL if that takes more than a minute.
    pub fn stop(mut self, signal: Signal) -> Result<()> {
        self.signal(signal);
        let start = Instant::now();
        while self.child.try_wait()?.is_none() {
            if start.elapsed() > Duration::from_secs(60) {
                self.signal(Signal::SIGKILL);
                self.child.wait()?;
                bail!("{} did not end within a minute of {signal}", self.name);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        fs::remove_file(&self.record)?;
        Ok(())
    }
}

/// The recorded daemons that still run and whose command line names the cluster's folder.
pub fn recorded(records: &Path, folder: &Path) -> Vec<Identity> {
    let Ok(entries) = fs::read_dir(records) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "pid"))
        .filter_map(|entry| fs::read_to_string(entry.path()).ok())
        .filter_map(|text| Identity::from_record(&text))
        .filter(|identity| identity.is_alive() && command_line_names(*identity, folder))
        .collect()
}

fn command_line_names(identity: Identity, folder: &Path) -> bool {
    let line = fs::read(format!("/proc/{}/cmdline", identity.pid)).unwrap_or_default();
    String::from_utf8_lossy(&line).contains(&*folder.to_string_lossy())
}

/// Every process of this cluster: daemons, steps and jobs.
pub fn marked(folder: &Path) -> Vec<Identity> {
    all()
        .filter(|identity| has_mark(*identity, folder) || is_step_in(*identity, folder))
        .collect()
}

/// Every process of these Unix users, which the cluster has created: a job may leave its session
/// and clear its environment, but it keeps its user.
pub fn owned_by(uids: &[u32]) -> Vec<Identity> {
    let owner = |identity: &Identity| {
        let meta = fs::metadata(format!("/proc/{}", identity.pid));
        meta.is_ok_and(|meta| uids.contains(&meta.uid()))
    };
    all().filter(owner).collect()
}

/// Every process of the machine.
fn all() -> impl Iterator<Item = Identity> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(Identity::of)
}

fn has_mark(identity: Identity, folder: &Path) -> bool {
    let mark = format!("{MARK}={}", folder.display());
    fs::read(format!("/proc/{}/environ", identity.pid))
        .is_ok_and(|bytes| bytes.split(|b| *b == 0).any(|v| v == mark.as_bytes()))
}

/// slurmstepd writes its title over its environment, and has left its parent; only the working
/// folder that it inherits from its slurmd remains.
fn is_step_in(identity: Identity, folder: &Path) -> bool {
    let link = |name: &str| fs::read_link(format!("/proc/{}/{name}", identity.pid));
    // In a different root folder the path begins with that folder's path.
    let relative = folder.strip_prefix("/").unwrap_or(folder);
    let within = |cwd: &Path| cwd.ancestors().any(|above| above.ends_with(relative));
    link("cwd").is_ok_and(|cwd| within(&cwd))
        && link("exe").is_ok_and(|exe| {
            let name = exe.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("slurmstepd")
        })
}

/// Ends processes, first SIGTERM, then SIGKILL; calls `find` again, as they may start others.
pub fn stop_all(find: impl Fn() -> Vec<Identity>, patience: Duration) -> Result<()> {
    let start = Instant::now();
    let mut asked: Vec<Identity> = Vec::new();
    loop {
        let alive = find();
        if alive.is_empty() {
            return Ok(());
        }
        let insist = start.elapsed() > patience;
        for identity in &alive {
            if insist {
                identity.signal(Signal::SIGKILL);
            } else if !asked.contains(identity) {
                identity.signal(Signal::SIGTERM);
                asked.push(*identity);
            }
        }
        if start.elapsed() > patience + Duration::from_secs(30) {
            bail!("processes that do not end: {alive:?}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper(folder: &Path) -> Daemon {
        let mut command = Command::new("sh");
        // The shell's argument names the folder, as the command lines of a cluster do.
        command.args(["-c", "sleep 600 & wait"]).arg(folder);
        command.env(MARK, folder);
        Daemon::spawn("sleeper", command, &folder.join("log"), folder).unwrap()
    }

    #[test]
    fn a_record_finds_its_process_and_no_later_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut daemon = sleeper(path);
        // Right after its start a process has no command line yet.
        while recorded(path, path) != [daemon.identity] {
            assert!(daemon.ended().unwrap().is_none());
            std::thread::yield_now();
        }
        let later = Identity {
            started: daemon.identity.started + 1,
            ..daemon.identity
        };
        assert!(!later.is_alive());
        assert_eq!(recorded(path, Path::new("/elsewhere")), []);
        stop_all(|| marked(path), Duration::from_secs(5)).unwrap();
        daemon.child.wait().unwrap();
        assert_eq!(recorded(path, path), []);
    }

    #[test]
    fn children_carry_the_mark() {
        let folder = tempfile::tempdir().unwrap();
        let mut daemon = sleeper(folder.path());
        while marked(folder.path()).len() < 2 {
            assert!(daemon.ended().unwrap().is_none());
            std::thread::yield_now();
        }
        stop_all(|| marked(folder.path()), Duration::ZERO).unwrap();
        daemon.child.wait().unwrap();
    }
}
