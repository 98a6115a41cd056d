//! Real Unix users, created for a cluster and removed with it.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use nix::unistd;
use xtask::root::Owner;

use xtask::command::checked;

/// The list of the users that we created, in a cluster's `run/` folder.
const RECORD: &str = "users";

/// Clusters that start at the same time take turns: useradd gives up on a locked file in the end.
static TURN: Mutex<()> = Mutex::new(());

/// A Unix user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Login name.
    pub name: String,
    /// User number.
    pub uid: u32,
    /// Number of the user's own group.
    pub gid: u32,
}

impl User {
    /// Who runs a program, by number.
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

/// The user of this name, created and written down if there is none.
pub fn ensure(name: &str, records: &Path) -> Result<User> {
    if let Some(user) = find(name)? {
        return Ok(user);
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Written down first: a user that was recorded but not created is harmless.
    let mut record = File::options()
        .create(true)
        .append(true)
        .open(records.join(RECORD))?;
    writeln!(record, "{name}")?;
    checked(
        Command::new("useradd")
            .args([
                "--no-create-home",
                "--home-dir",
                "/nonexistent",
                "--user-group",
            ])
            .args([
                "--no-log-init",
                "--shell",
                "/bin/sh",
                "--comment",
                "fairtree cluster",
                name,
            ]),
    )?;
    find(name)?.with_context(|| format!("useradd did not create {name}"))
}

/// Removes the users that [`ensure`] created.
pub fn remove_recorded(records: &Path) -> Result<()> {
    let Ok(names) = fs::read_to_string(records.join(RECORD)) else {
        return Ok(());
    };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for name in names.lines() {
        if find(name)?.is_some() {
            checked(Command::new("userdel").arg(name))?;
        }
    }
    Ok(())
}
