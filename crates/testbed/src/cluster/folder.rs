//! The folder of a private cluster, and the guard that makes sure that it is removed.
//!
//! ```text
//! /tmp/fairtree-cluster-1/
//!   bin/       symlinks: Slurm's daemons want to be called by their plain names
//!   etc/       slurm.conf, slurmdbd.conf
//!   log/       one file per daemon
//!   run/       NAME.pid per daemon; `users`: the Unix users that we created; sockets
//!   munge/ database/ state/ spool/
//! ```
//!
//! The number in its name is free on the whole machine: a run holds a lock in `/run/lock` while it
//! uses the number. A folder without a lock is a leftover of a killed run, or was left running on
//! purpose; only the leftover is removed.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::users;
use crate::process;
use xtask::progress::Progress;

const PREFIX: &str = "/tmp/fairtree-cluster-";
const LOCKS: &str = "/run/lock";
/// Time for a dying process to release its lock; far more than it needs.
const LETTING_GO: Duration = Duration::from_secs(30);
/// More clusters at once than a machine can carry.
const MOST: u32 = 50;

/// A cluster's folder, locked while this value lives.
pub struct Folder {
    path: PathBuf,
    number: u32,
    _lock: Flock<File>,
}

impl Folder {
    /// The first folder that is not in use, emptied.
    ///
    /// A leftover of a killed run is taken down first. A folder that does not belong to a cluster
    /// is reported and left unchanged.
    ///
    /// # Errors
    /// Fails if a leftover cannot be taken down, or if the machine runs the most clusters already.
    pub fn claim(progress: &Progress) -> Result<Folder> {
        for number in 1..=MOST {
            let Some(lock) = lock(number)? else { continue };
            let path = PathBuf::from(format!("{PREFIX}{number}"));
            if let Ok(meta) = fs::symlink_metadata(&path) {
                if is_kept(&path) {
                    continue;
                }
                if !is_ours(&meta) {
                    let uid = meta.uid();
                    let what = if meta.is_dir() { "folder" } else { "file" };
                    progress.step(format!(
                        "{} is a {what} of user {uid}, not a cluster's folder; it is left alone",
                        path.display()
                    ));
                    continue;
                }
                progress.step(format!(
                    "waiting for the processes of a leftover, {}, to end",
                    path.display()
                ));
                tear_down(&path)
                    .with_context(|| format!("cannot clear the leftover {}", path.display()))?;
            }
            fs::DirBuilder::new()
                .mode(0o755)
                .create(&path)
                .with_context(|| format!("cannot create {}", path.display()))?;
            for name in [
                "bin", "etc", "log", "run", "munge", "database", "state", "spool",
            ] {
                fs::create_dir(path.join(name))?;
                fs::set_permissions(path.join(name), Permissions::from_mode(0o755))?;
            }
            return Ok(Folder {
                path,
                number,
                _lock: lock,
            });
        }
        bail!("{MOST} clusters run on this machine already ({PREFIX}*)");
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its number, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// A path in the folder.
    pub fn join(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.path.join(relative)
    }

    /// The log of a daemon.
    pub fn log(&self, daemon: &str) -> PathBuf {
        self.path.join("log").join(format!("{daemon}.log"))
    }

    /// Marks the cluster as left running on purpose.
    pub fn keep(&self) -> Result<()> {
        Ok(fs::write(self.path.join("run/kept"), "")?)
    }
}

/// The lock of a folder's number; `None` while another run holds it.
fn lock(number: u32) -> Result<Option<Flock<File>>> {
    fs::create_dir_all(LOCKS)?;
    let path = format!("{LOCKS}/fairtree-cluster-{number}");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .custom_flags(nix::fcntl::OFlag::O_NOFOLLOW.bits())
        .open(&path)
        .with_context(|| format!("cannot open {path}"))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, errno)) => bail!("cannot lock {path}: {errno}"),
    }
}

/// Returns true for a folder of this user, false for a link or for a folder of someone else.
fn is_ours(meta: &fs::Metadata) -> bool {
    meta.is_dir() && meta.uid() == nix::unistd::geteuid().as_raw()
}

/// Returns true if the cluster was left running on purpose and still runs.
fn is_kept(path: &Path) -> bool {
    path.join("run/kept").exists() && !process::marked(path).is_empty()
}

/// Ends every process of the cluster in `path`, and removes the users that were created for it, and
/// the folder.
///
/// # Errors
/// Fails if the path is not a cluster's folder, or if processes cannot be ended or files cannot be
/// removed.
pub fn tear_down(path: &Path) -> Result<()> {
    let number = path
        .to_str()
        .and_then(|text| text.strip_prefix(PREFIX))
        .and_then(|rest| rest.parse::<u32>().ok());
    let meta = fs::symlink_metadata(path).with_context(|| format!("no {}", path.display()))?;
    if number.is_none() || !is_ours(&meta) {
        bail!(
            "{} is not a cluster's folder ({PREFIX}NUMBER)",
            path.display()
        );
    }
    let records = path.join("run");
    let owners: Vec<u32> = users::recorded(&records)?.iter().map(|u| u.uid).collect();
    let find = || {
        let mut found = process::marked(path);
        let others = process::recorded(&records, path).into_iter();
        for identity in others.chain(process::owned_by(&owners)) {
            if !found.contains(&identity) {
                found.push(identity);
            }
        }
        found
    };
    process::stop_all(find, Duration::from_secs(5))?;
    users::remove_recorded(&records)?;
    fs::remove_dir_all(path).with_context(|| format!("cannot remove {}", path.display()))
}

/// A process that tears the cluster down if this program dies without having done so.
///
/// It reads a pipe whose other end only this program holds; the pipe ends when this program ends.
pub struct Guard {
    child: Child,
}

/// Arguments that make the program the guard; the folder follows.
const GUARD: [&str; 2] = ["cluster", "guard"];

/// Message to the guard that it need not act.
const DISMISSED: &[u8] = b"dismissed";

impl Guard {
    /// Starts the guard of a folder.
    pub fn post(folder: &Folder) -> Result<Guard> {
        use std::os::unix::process::CommandExt;
        // This also works if a new build has replaced the file meanwhile.
        let child = Command::new("/proc/self/exe")
            .arg0("testbed")
            .args(GUARD)
            .arg(folder.path())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start the guard process")?;
        Ok(Guard { child })
    }

    /// Ends the guard without an action.
    pub fn dismiss(mut self) -> Result<()> {
        if let Some(mut pipe) = self.child.stdin.take() {
            pipe.write_all(DISMISSED)?;
        }
        self.child.wait()?;
        Ok(())
    }
}

/// Runs as the guard process if this program's arguments request it. A program that starts clusters
/// calls this before anything else.
pub fn guard_of_arguments() -> Option<Result<()>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let (words, folder) = arguments.split_at_checked(GUARD.len())?;
    match folder {
        [folder] if words == GUARD => Some(stand_guard(Path::new(folder))),
        _ => None,
    }
}

/// Waits for the end of its input, then tears down unless dismissed.
fn stand_guard(path: &Path) -> Result<()> {
    let mut heard = Vec::new();
    std::io::stdin().read_to_end(&mut heard)?;
    if heard == DISMISSED {
        return Ok(());
    }
    let number = path
        .to_str()
        .and_then(|text| text.strip_prefix(PREFIX)?.parse().ok())
        .context("the path of a cluster's folder")?;
    // The end of the pipe may be seen shortly before the dying process releases its lock.
    // If a process holds it much longer, it is a new run, which has cleared the folder.
    let start = Instant::now();
    while start.elapsed() < LETTING_GO {
        match lock(number)? {
            Some(_lock) if path.exists() => return tear_down(path),
            Some(_lock) => return Ok(()),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    Ok(())
}
