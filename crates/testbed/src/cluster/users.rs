//! Real Unix users, created for a cluster and removed with it.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use nix::unistd;
use xtask::command::checked;
use xtask::progress::Progress;
use xtask::root::Owner;

/// The list of the users that we created, in a cluster's `run/` folder.
const RECORD: &str = "users";

/// The comment of a user that we created.
const COMMENT: &str = "fairtree cluster";

/// Clusters that start at the same time take turns: useradd fails if a file stays locked.
static TURN: Mutex<()> = Mutex::new(());

/// A Unix user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Login name.
    pub name: String,
    /// User id.
    pub uid: u32,
    /// Id of the user's own group.
    pub gid: u32,
}

impl User {
    /// The ids for running a program.
    pub fn owner(&self) -> Owner {
        Owner {
            uid: self.uid,
            gid: self.gid,
        }
    }
}

/// Looks a user up by name.
pub fn find(name: &str) -> Result<Option<User>> {
    Ok(unistd::User::from_name(name)?.map(|user| User {
        name: user.name,
        uid: user.uid.as_raw(),
        gid: user.gid.as_raw(),
    }))
}

/// Returns the user of this name; creates and records it if it does not exist. A leftover of an
/// earlier cluster counts as created; any other existing user of this name is used, and stays.
pub fn ensure(name: &str, records: &Path, progress: &Progress) -> Result<User> {
    if recorded(records)?.iter().any(|user| user.name == name) {
        return find(name)?.with_context(|| format!("user {name} has gone"));
    }
    if let Some(user) = unistd::User::from_name(name)? {
        if user.gecos.to_bytes() == COMMENT.as_bytes() {
            progress.step(format!("user {name} is left over from an earlier cluster"));
            record(name, records)?;
        } else {
            progress.step(format!("user {name} existed before, and will stay"));
        }
        return find(name)?.with_context(|| format!("user {name} has gone"));
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Record it first: a user that was recorded but not created is harmless.
    record(name, records)?;
    checked(
        Command::new("useradd")
            .args([
                "--no-create-home",
                "--home-dir",
                "/nonexistent",
                "--user-group",
            ])
            .args(["--no-log-init", "--shell", "/bin/sh"])
            .args(["--comment", COMMENT, name]),
    )?;
    find(name)?.with_context(|| format!("useradd did not create {name}"))
}

fn record(name: &str, records: &Path) -> Result<()> {
    let mut record = File::options()
        .create(true)
        .append(true)
        .open(records.join(RECORD))?;
    Ok(writeln!(record, "{name}")?)
}

/// The users that [`ensure`] created and that still exist.
///
/// # Errors
/// Fails if the system's users cannot be read.
pub fn recorded(records: &Path) -> Result<Vec<User>> {
    let names = fs::read_to_string(records.join(RECORD)).unwrap_or_default();
    let found: Result<Vec<_>> = names.lines().map(find).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// Removes the users that [`ensure`] created. None of their processes may run any more.
///
/// # Errors
/// Fails if userdel fails.
pub fn remove_recorded(records: &Path) -> Result<()> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for user in recorded(records)? {
        checked(Command::new("userdel").arg(user.name))?;
    }
    Ok(())
}
