//! Facts of this host: its clock, and the folder of slurmctld's state.

use std::ffi::CString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{AccessFlags, Uid, User, access, geteuid, getgrouplist};

use super::said::Said;
use fairtree_analysis::doctor::{Folder, Known, State};
use fairtree_model::input::capture::Ask;
use fairtree_model::input::slurm::last_pass::{self, LastPass};

/// Seconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let secs = since.map_or(0, |since| since.as_secs());
    i64::try_from(secs).unwrap_or(i64::MAX)
}

/// True if a time service keeps the clock right; `None` where systemd does not report it.
pub(super) fn synchronised() -> Option<bool> {
    const COMMAND: [&str; 4] = [
        "timedatectl",
        "show",
        "--property=NTPSynchronized",
        "--value",
    ];
    let answer = Ask::new(&COMMAND, Duration::from_secs(5)).run().ok()?;
    match answer.text.trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// `StateSaveLocation`, where this is the host of a slurmctld.
pub(super) fn state(said: &Said, controller: bool) -> Known<State> {
    if let Some(why) = said.why_nothing() {
        return Err(why.to_owned());
    }
    let path = said.value("StateSaveLocation").map(PathBuf::from);
    // slurm.conf(5), "StateSaveLocation".
    let path = path.unwrap_or_else(|| PathBuf::from("/var/spool"));
    if !controller && !path.is_dir() {
        return Err("StateSaveLocation is on slurmctld's host".to_owned());
    }
    // slurmctld prints `slurm(64030)`; slurm.conf(5), "SlurmUser".
    let user = said.value("SlurmUser").unwrap_or_else(|| "root".to_owned());
    let user = user.split('(').next().unwrap_or_default().to_owned();
    Ok(State {
        folder: folder(&path, &user),
        user,
    })
}

/// A folder, and whether `user` may write to it.
fn folder(path: &Path, user: &str) -> Folder {
    let disk = statvfs(path);
    let free = disk.as_ref().map(|disk| {
        let blocks: u64 = disk.blocks_available();
        blocks.saturating_mul(disk.fragment_size())
    });
    let read_only = disk.is_ok_and(|disk| disk.flags().contains(FsFlags::ST_RDONLY));
    let writable = match (fs::metadata(path), read_only) {
        (Err(error), _) => Err(error.to_string()),
        (Ok(about), _) if !about.is_dir() => Err("it is no folder".to_owned()),
        (Ok(_), true) => Err("its file system is read-only".to_owned()),
        (Ok(about), false) => may_write(path, &about, user),
    };
    Folder {
        path: path.to_owned(),
        writable,
        free_bytes: free.unwrap_or(0),
    }
}

/// Ok if a user may create files in a folder; otherwise the reason.
fn may_write(path: &Path, about: &Metadata, user: &str) -> Result<(), String> {
    let known = match user.parse() {
        Ok(number) => User::from_uid(Uid::from_raw(number)),
        Err(_) => User::from_name(user),
    };
    let known = known.map_err(|error| error.to_string())?;
    let known = known.ok_or_else(|| format!("this host has no user {user}"))?;
    if known.uid == geteuid() {
        // Whoever asks is that user: the system knows best, lists of access included.
        let asked = access(path, AccessFlags::W_OK | AccessFlags::X_OK);
        return asked.map_err(|error| error.desc().to_owned());
    }
    let mode = about.mode();
    let groups = CString::new(known.name.as_str())
        .ok()
        .and_then(|name| getgrouplist(&name, known.gid).ok())
        .unwrap_or_else(|| vec![known.gid]);
    let bits = if known.uid.is_root() {
        0o3
    } else if known.uid.as_raw() == about.uid() {
        mode >> 6
    } else if groups.iter().any(|group| group.as_raw() == about.gid()) {
        mode >> 3
    } else {
        mode
    };
    match bits & 0o3 {
        0o3 => Ok(()),
        _ => Err(format!(
            "it belongs to user {} and group {}, with mode {:03o}",
            about.uid(),
            about.gid(),
            mode & 0o777
        )),
    }
}

/// When the last pass was.
pub(super) fn last_pass(state: Result<&State, &String>) -> Known<LastPass> {
    let state = state.map_err(Clone::clone)?;
    let path = state.folder.path.join(last_pass::FILE);
    match fs::read(&path) {
        Ok(bytes) => last_pass::read(&bytes)
            .ok_or_else(|| format!("{} does not hold two times", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(LastPass { pass: 0, reset: 0 })
        }
        Err(error) => Err(format!(
            "{}: {error}; run this as root or as SlurmUser",
            path.display()
        )),
    }
}
