//! Files that slurmctld needs at its start, written before slurmctld first writes them.
//!
//! From 25.05 on, slurmctld does not start if `assoc_usage` is missing from a folder that a cluster
//! has already used, unless it is started with `-i`. It writes that file every five minutes and at
//! its end. So a slurmctld that is killed within five minutes of its very first start does not
//! start again. The first pass prevents this: if the files of usage are missing, it writes files
//! without records.
//!
//! It does not request slurmctld's own dump, which holds the association locks until the disk is
//! done. Here no thread waits, because no lock is held. No file of slurmctld is replaced, because a
//! file is linked to its name only if that name is free. Every release reads the file, because
//! slurmctld itself writes such a file if it has no associations. No usage is lost, because the
//! file's time is 1970: our own state, which is on disk by then, is newer, and so is every later
//! dump. If our state is damaged, all ends of jobs that slurmctld remembers are charged again,
//! because the file contains none of them.

use super::usage_dump::{ASSOC_FILE, QOS_FILE};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Writes files of usage without records if they are missing. `protocol`: the version of Slurm's
/// protocol, with which they begin. `wanted` is called before each of them gets its name; if it
/// returns false, the file is not written. Returns true if it wrote a file.
///
/// # Errors
/// Those of the file system, with the name of the file; also if the file system has no links.
pub(in crate::slurm) fn leave(
    dir: &Path,
    protocol: u16,
    wanted: &dyn Fn() -> bool,
) -> Result<bool, String> {
    let mut left = false;
    // slurmctld also starts if only the second exists.
    for name in [QOS_FILE, ASSOC_FILE] {
        left |= leave_one(dir, name, protocol, wanted)
            .map_err(|error| format!("{}: {error}", dir.join(name).display()))?;
    }
    if left {
        let synced = File::open(dir).and_then(|dir| dir.sync_all());
        synced.map_err(|error| format!("{}: {error}", dir.display()))?;
    }
    Ok(left)
}

fn leave_one(dir: &Path, name: &str, protocol: u16, wanted: &dyn Fn() -> bool) -> io::Result<bool> {
    let file = dir.join(name);
    if file.try_exists()? {
        return Ok(false);
    }
    let fresh = dir.join(format!("{name}.fairtree"));
    let linked = write(&fresh, protocol).and_then(|()| {
        if !wanted() {
            return Ok(false);
        }
        match fs::hard_link(&fresh, &file) {
            Ok(()) => Ok(true),
            // slurmctld has written it in the meantime.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    });
    let _ = fs::remove_file(&fresh);
    linked
}

/// Writes a version and a time, and no records.
fn write(path: &Path, protocol: u16) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&protocol.to_be_bytes())?;
    file.write_all(&0_i64.to_be_bytes())?;
    file.sync_all()
}
