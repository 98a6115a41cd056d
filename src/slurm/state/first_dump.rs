//! The files that slurmctld does not start without, before it has written them.
//!
//! From 25.05 on, a slurmctld whose folder has seen a cluster before ends at its start where
//! `assoc_usage` is not there, unless it is started with `-i`. It writes that file every five
//! minutes, and at its end. So one that is killed within five minutes of its very first start stays
//! down. The first pass closes this hole: where the files of usage are not there, it leaves some
//! that hold no record.
//!
//! slurmctld's own dump is not asked for: it holds its locks of associations until the disk is done.
//! Here nobody waits, because no lock is held; nothing of slurmctld's is replaced, because a file is
//! linked to its name only where that is free; every release reads it, because slurmctld itself
//! writes such a file where it has no associations; and no usage is lost by it, because its time is
//! 1970: our own state, which is on disk by then, is newer, and so is every dump that follows. Should
//! ours be damaged, all ends of jobs that slurmctld remembers are charged again, as none is in it.

use super::usage_dump::{ASSOC_FILE, QOS_FILE};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Leaves files of usage where there are none. `protocol`: the version of Slurm's protocol, which
/// they begin with. `wanted` is asked before each of them gets its name. True: some were left.
///
/// # Errors
/// Those of the file system, with the name of the file; a file system without links among them.
pub(in crate::slurm) fn leave(
    dir: &Path,
    protocol: u16,
    wanted: &dyn Fn() -> bool,
) -> Result<bool, String> {
    let mut left = false;
    // Where only the second is there, slurmctld starts.
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
            // slurmctld was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    });
    let _ = fs::remove_file(&fresh);
    linked
}

/// A version and a time: no record.
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
