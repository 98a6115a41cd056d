//! The `fairtree` command, run against a private cluster.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};

use super::Cluster;
use super::services::DEADLINE;
use super::users::User;
use crate::wait;
use xtask::command::{cargo_in_checkout, checked};
use xtask::project::{self, PREPARED};

/// Slurm's commands that `fairtree` calls, and others for [`Cluster::shell`].
const COMMANDS: [&str; 9] = [
    "sacct",
    "sacctmgr",
    "sbatch",
    "scancel",
    "scontrol",
    "slurmctld",
    "sprio",
    "squeue",
    "sshare",
];

/// The result of a command.
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// Runs a command to its end.
    pub(super) fn of(mut command: Command) -> Result<Ran> {
        // Not a pipe: without an input file `fairtree` calls Slurm's commands.
        command.stdin(std::process::Stdio::null());
        let output: Output = command
            .output()
            .with_context(|| format!("cannot run {command:?}"))?;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).context("the output");
        Ok(Ran {
            code: output.status.code().context("the command was killed")?,
            out: text(output.stdout)?,
            err: text(output.stderr)?,
        })
    }
}

/// The copy of the command that this program built first.
static BUILT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Builds the command once, and returns its path.
///
/// The path is that of a copy: in `make test` cargo builds other packages while clusters run, and a
/// second cargo command would wait for that ([`PREPARED`]).
///
/// # Errors
/// Fails if it does not build.
pub fn build() -> Result<PathBuf> {
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = built.as_ref() {
        return Ok(path.clone());
    }
    let path = project::tested_command();
    if std::env::var_os(PREPARED).is_some() && path.exists() {
        *built = Some(path.clone());
        return Ok(path);
    }
    checked(cargo_in_checkout().args(["build", "--quiet", "--package", "fairtree-cli"]))?;
    project::copy_tested_command()?;
    *built = Some(path.clone());
    Ok(path)
}

/// Builds the service once, beside the command, and returns its path.
///
/// # Errors
/// Fails if it does not build.
pub fn build_service() -> Result<PathBuf> {
    build()?;
    let path = project::tested_service();
    if std::env::var_os(PREPARED).is_none() || !path.exists() {
        checked(cargo_in_checkout().args(["build", "--quiet", "--package", "fairtree-serve"]))?;
        project::copy_tested_command()?;
    }
    Ok(path)
}

fn done(words: &[&str], ran: Ran) -> Result<Ran> {
    if ran.code > 1 {
        bail!("`fairtree {}` failed: {}", words.join(" "), ran.err);
    }
    Ok(ran)
}

impl Cluster {
    /// Runs `fairtree` as root, as in the cluster's shell.
    ///
    /// # Errors
    /// Fails if it cannot be run, or if its exit code is 2.
    pub fn fairtree(&self, words: &[&str]) -> Result<Ran> {
        let mut command = Command::new(build()?);
        command.args(words);
        done(words, self.ran(command)?)
    }

    /// [`Cluster::fairtree`] in the second cluster.
    ///
    /// # Errors
    /// As [`Cluster::fairtree`].
    pub fn fairtree_in_sibling(&self, words: &[&str]) -> Result<Ran> {
        let mut command = Command::new("env");
        let conf = format!("SLURM_CONF={}", self.sibling_conf().display());
        command.arg(conf).arg(build()?).args(words);
        done(words, self.ran(command)?)
    }

    /// Runs a command line as root in the folder of the checkout, with `fairtree` and Slurm's
    /// commands in PATH; accepts any exit code.
    ///
    /// # Errors
    /// Fails if it cannot be run.
    pub fn shell(&self, line: &str) -> Result<Ran> {
        build()?;
        let mut command = Command::new("bash");
        command.args(["-o", "pipefail", "-c", line]);
        command.current_dir(project::root());
        self.ran(command)
    }

    fn ran(&self, mut command: Command) -> Result<Ran> {
        self.find_commands(&mut command)?;
        Ran::of(command)
    }

    /// Starts the service with these settings, as root; the lines that it prints at its start.
    ///
    /// # Errors
    /// Fails if it ends, or does not listen in time.
    pub fn start_service(&mut self, settings: &Path) -> Result<String> {
        let mut command = Command::new(build_service()?);
        command.arg("--config").arg(settings);
        self.find_commands(&mut command)?;
        self.spawn("fairtree-serve", command)?;
        let log = self.folder.join("log/fairtree-serve.out");
        wait::until("the service listens", DEADLINE, || {
            let text = fs::read_to_string(&log)?;
            Ok(text.contains("metrics on").then_some(text))
        })
    }

    /// Runs `fairtree` as one of the cluster's users; accepts any exit code.
    ///
    /// # Errors
    /// Fails if it cannot be run.
    pub fn fairtree_as(&self, user: &User, words: &[&str]) -> Result<Ran> {
        // Users may not read the folder of the checkout.
        let own = self.folder.join("commands/fairtree");
        if !own.exists() {
            self.commands()?;
            fs::copy(build()?, &own)?;
        }
        let mut command = Command::new(own);
        command.args(words).current_dir("/");
        self.find_commands(&mut command)?;
        command.uid(user.uid).gid(user.gid);
        Ran::of(command)
    }

    /// The environment of this cluster, with `fairtree` and Slurm's commands in PATH.
    fn find_commands(&self, command: &mut Command) -> Result<()> {
        self.set_environment(command);
        let built = project::tested_command();
        let built = built.parent().context("a folder")?;
        let path = format!(
            "{}:{}:{}",
            self.commands()?.display(),
            built.display(),
            self.search_path()
        );
        command.env("PATH", path);
        Ok(())
    }

    /// A folder with Slurm's commands of this installation.
    fn commands(&self) -> Result<PathBuf> {
        let folder = self.folder.join("commands");
        fs::create_dir_all(&folder)?;
        for program in COMMANDS {
            let path = folder.join(program);
            if path.exists() {
                continue;
            }
            if program == "slurmctld" && self.is_of_this_machine() {
                // Link the file itself: the command asks package managers which package owns it.
                symlink(self.installation.daemon(program), &path)?;
                continue;
            }
            // For the machine's own installation the words are only the program, which must not be
            // this script.
            let command = self.installation.command(program);
            let words = [command.get_program()]
                .into_iter()
                .chain(command.get_args());
            let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
            let words = words.join(" ");
            let folders = self.search_path();
            let script = format!("#!/bin/sh\nPATH={folders}\nexport PATH\nexec {words} \"$@\"\n");
            fs::write(&path, script)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        Ok(folder)
    }
}
