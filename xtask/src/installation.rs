//! Where Slurm's programs of one release are, and how one is run.
//!
//! The release that this machine has installed runs as it is. Any other runs in the root folder
//! of the Debian release that ships it; then every command line differs, and nothing else. The
//! cluster's folder has the same path inside and outside, and users are those of this machine.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::checked;
use crate::progress::Progress;
use crate::release::Release;
use crate::root::{Owner, Root, SUPERUSER};

/// The file of Slurm's controller, in either kind of installation.
const SLURMCTLD: &str = "/usr/sbin/slurmctld";

/// Where private clusters have their folders: job owners and the daemons' own users can enter, and
/// a socket's path stays short.
pub const CLUSTERS: &str = "/tmp";

/// What programs of another root folder see of this machine.
const SHARED: [&str; 4] = [CLUSTERS, "/etc/passwd", "/etc/group", "/etc/hosts"];

/// Debian's multi-arch folder of plugins.
fn stock_plugins() -> PathBuf {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    Path::new("/usr/lib").join(triplet).join("slurm-wlm")
}

/// One installation of Slurm.
#[derive(Clone, Debug)]
pub struct Installation {
    release: Release,
    /// The folder that is `/` to this installation; `None`: this machine's own.
    root: Option<Root>,
}

impl Installation {
    /// The installation of a release: this machine's, or a root folder, which is made if there
    /// is none.
    ///
    /// # Errors
    /// A release that is not installed here and that no known Debian release ships, or a root
    /// folder that cannot be made or has another release.
    pub fn of(release: &Release, progress: &Progress) -> Result<Installation> {
        let mut installation = Installation {
            release: release.clone(),
            root: None,
        };
        if Path::new(SLURMCTLD).exists() && installation.installed()? == *release {
            return Ok(installation);
        }
        installation.root = Some(Root::of(release, progress)?);
        let found = installation.installed()?;
        if found != *release {
            bail!("that Debian release has Slurm {found} now, not {release}");
        }
        Ok(installation)
    }

    /// The release that its slurmctld says it is.
    fn installed(&self) -> Result<Release> {
        version(&checked(self.command(SLURMCTLD).arg("-V"))?)
    }

    /// The release.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// The folder that is `/` to this installation.
    pub fn folder(&self) -> &Path {
        self.root.as_ref().map_or(Path::new("/"), Root::path)
    }

    /// The folder of Slurm's own plugins, as the daemons see it.
    pub fn stock_plugins(&self) -> PathBuf {
        stock_plugins()
    }

    /// The file of a daemon, as the daemons see it.
    ///
    /// Debian diverts slurmctld and slurmd through its alternatives, which may choose an
    /// emulator; the real ones end in `-wlm`.
    pub fn daemon(&self, name: &str) -> PathBuf {
        let real = format!("usr/sbin/{name}-wlm");
        if self.folder().join(&real).exists() {
            Path::new("/").join(real)
        } else {
            Path::new("/usr/sbin").join(name)
        }
    }

    /// A command of this installation, run as root.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        match &self.root {
            None => Command::new(program),
            Some(root) => {
                let mut command = root.command(SUPERUSER, &SHARED.map(Path::new));
                command.arg(program);
                command
            }
        }
    }

    /// The words that open a shell in which this installation's programs are found; `None`: any
    /// shell of this machine will do.
    pub fn shell(&self) -> Option<String> {
        self.root.as_ref()?;
        let command = self.command("bash");
        let words = [command.get_program()]
            .into_iter()
            .chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        Some(words.join(" "))
    }

    /// A command of this installation, run as root with this working folder.
    pub fn command_in(&self, folder: &Path, program: &Path) -> Command {
        match &self.root {
            None => {
                let mut command = Command::new(program);
                command.current_dir(folder);
                command
            }
            Some(_) => {
                // chroot itself goes to `/`.
                let mut command = self.command("env");
                command.arg("--chdir").arg(folder).arg(program);
                command
            }
        }
    }

    /// A command of this installation, run as a user.
    pub fn command_as(&self, owner: Owner, program: impl AsRef<OsStr>) -> Command {
        match &self.root {
            None => {
                let mut command = Command::new(program);
                command.uid(owner.uid).gid(owner.gid).current_dir("/");
                command
            }
            Some(root) => {
                let mut command = root.command(owner, &SHARED.map(Path::new));
                command.arg(program);
                command
            }
        }
    }
}

/// The release that `slurm 22.05.8` names.
fn version(text: &str) -> Result<Release> {
    text.trim()
        .strip_prefix("slurm-wlm ")
        .or_else(|| text.trim().strip_prefix("slurm "))
        .with_context(|| format!("slurmctld -V says `{}`", text.trim()))?
        .parse()
}
