//! Paths of Slurm's programs of one release, and commands that run them.
//!
//! Programs of the Slurm in `SLURM_PREFIX` run from there, and programs of the release that is
//! installed on this machine run directly. Any other release runs in the root folder of the Debian
//! release that ships it; then every command line is different, but nothing else. The cluster's
//! folder has the same path inside and outside, and users are those of this machine.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::command::checked;
use crate::prefix::{self, Prefix};
use crate::progress::Progress;
use crate::release::Release;
use crate::root::{self, Owner, Root, SUPERUSER};

/// The file of Slurm's controller in Debian.
const SLURMCTLD: &str = "/usr/sbin/slurmctld";

/// Folder for the folders of private clusters: job owners and the daemons' own users can enter it,
/// and a socket's path stays short.
pub const CLUSTERS: &str = "/tmp";

/// Files of this machine that programs in a different root folder see.
const SHARED: [&str; 4] = [CLUSTERS, "/etc/passwd", "/etc/group", "/etc/hosts"];

/// Folders of programs, except for those of a prefix.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Debian's multi-arch folder of plugins.
fn debian_plugins() -> PathBuf {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    Path::new("/usr/lib").join(triplet).join("slurm-wlm")
}

/// One installation of Slurm.
#[derive(Clone, Debug)]
pub struct Installation {
    release: Release,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    /// This machine's packages.
    Machine,
    /// The folder that is `/` to this installation.
    Root(Root),
    /// A separate folder.
    Prefix(Prefix),
}

impl Installation {
    /// The installation of a release: that of `SLURM_PREFIX`, this machine's, or a root folder,
    /// which is made if it does not exist.
    ///
    /// # Errors
    /// Fails if a prefix has no Slurm or a different release; if the release is not installed here
    /// and no known Debian release ships it; or if a root folder cannot be made or has a different
    /// release.
    pub fn of(release: &Release, progress: &Progress) -> Result<Installation> {
        if let Some(prefix) = Prefix::of_environment()? {
            ensure!(
                prefix.release() == release,
                "{}={} is Slurm {}, not {release}",
                prefix::VARIABLE,
                prefix.folder().display(),
                prefix.release()
            );
            return Ok(Installation {
                release: release.clone(),
                place: Place::Prefix(prefix),
            });
        }
        let mut installation = Installation {
            release: release.clone(),
            place: Place::Machine,
        };
        if Path::new(SLURMCTLD).exists() && installation.installed()? == *release {
            return Ok(installation);
        }
        installation.place = Place::Root(Root::of(release, progress)?);
        let found = installation.installed()?;
        if found != *release {
            bail!("that Debian release has Slurm {found} now, not {release}");
        }
        Ok(installation)
    }

    /// The release that its slurmctld reports.
    fn installed(&self) -> Result<Release> {
        prefix::version(&checked(self.command(SLURMCTLD).arg("-V"))?)
    }

    /// The release.
    pub fn release(&self) -> &Release {
        &self.release
    }

    fn root(&self) -> Option<&Root> {
        match &self.place {
            Place::Root(root) => Some(root),
            Place::Machine | Place::Prefix(_) => None,
        }
    }

    /// The folder that is `/` to this installation.
    pub fn folder(&self) -> &Path {
        self.root().map_or(Path::new("/"), Root::path)
    }

    /// Returns true if its programs and libraries run directly on this machine.
    pub fn is_of_this_machine(&self) -> bool {
        self.root().is_none()
    }

    /// The folder of libslurmfull.so and of Slurm's own plugins, as this machine sees it.
    pub fn library(&self) -> PathBuf {
        let plugins = self.stock_plugins();
        let inside = plugins.strip_prefix("/").unwrap_or(&plugins);
        self.folder().join(inside)
    }

    /// A command that runs a program of this machine with this installation's libslurmfull, and
    /// with the C library that this was built for. `under`: a program that runs it, with arguments;
    /// may be empty.
    pub fn linked(&self, program: &Path, under: &[String]) -> Command {
        let started_by = |program: &Path| match under.split_first() {
            None => Command::new(program),
            Some((first, words)) => {
                let mut command = Command::new(first);
                command.args(words).arg(program);
                command
            }
        };
        if self.is_of_this_machine() {
            return started_by(program);
        }
        let mut path = OsString::from(root::libraries(self.folder()));
        path.push(":");
        path.push(self.library());
        let mut command = started_by(&root::loader(self.folder()));
        command.arg("--library-path").arg(path).arg(program);
        command
    }

    /// The folders of Slurm's programs, as in `PATH`; `None`: the folders of all programs.
    pub fn own_programs(&self) -> Option<String> {
        match &self.place {
            Place::Prefix(prefix) => {
                let folder = prefix.folder().display();
                Some(format!("{folder}/sbin:{folder}/bin"))
            }
            Place::Machine | Place::Root(_) => None,
        }
    }

    /// `PATH` for daemons and commands.
    pub fn path(&self) -> String {
        match self.own_programs() {
            Some(own) => format!("{own}:{PATH}"),
            None => PATH.to_owned(),
        }
    }

    /// The file of one of Slurm's commands, as the daemons see it.
    pub fn client(&self, name: &str) -> PathBuf {
        match &self.place {
            Place::Prefix(prefix) => prefix.folder().join("bin").join(name),
            Place::Machine | Place::Root(_) => Path::new("/usr/bin").join(name),
        }
    }

    /// The folder of Slurm's own plugins, as the daemons see it.
    pub fn stock_plugins(&self) -> PathBuf {
        match &self.place {
            Place::Prefix(prefix) => prefix.library().to_owned(),
            Place::Machine | Place::Root(_) => debian_plugins(),
        }
    }

    /// The file of a daemon, as the daemons see it.
    ///
    /// Debian diverts slurmctld and slurmd through its alternatives, which may choose an
    /// emulator; the real ones end in `-wlm`.
    pub fn daemon(&self, name: &str) -> PathBuf {
        if let Place::Prefix(prefix) = &self.place {
            return prefix.folder().join("sbin").join(name);
        }
        let real = format!("usr/sbin/{name}-wlm");
        if self.folder().join(&real).exists() {
            Path::new("/").join(real)
        } else {
            Path::new("/usr/sbin").join(name)
        }
    }

    /// Checks that Slurm was built with these plugins.
    ///
    /// # Errors
    /// Fails if one is absent: a library that it needs was missing when Slurm was configured.
    pub fn ensure_plugins(&self, names: &[&str]) -> Result<()> {
        let folder = self.library();
        let absent = names.iter().find(|name| !folder.join(name).is_file());
        match absent {
            None => Ok(()),
            Some(name) => bail!(
                "Slurm {} has no {name} in {}; docs/releases.md tells what each test needs of Slurm",
                self.release,
                folder.display()
            ),
        }
    }

    /// A command of this installation, run as root.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        match self.root() {
            None => Command::new(program),
            Some(root) => {
                let mut command = root.command(SUPERUSER, &SHARED.map(Path::new));
                command.arg(program);
                command
            }
        }
    }

    /// The command that opens a shell in which this installation's programs are found; `None`: any
    /// shell of this machine works.
    pub fn shell(&self) -> Option<String> {
        self.root()?;
        let command = self.command("bash");
        let words = [command.get_program()]
            .into_iter()
            .chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        Some(words.join(" "))
    }

    /// A command of this installation, run as root with this working folder.
    pub fn command_in(&self, folder: &Path, program: &Path) -> Command {
        match self.root() {
            None => {
                let mut command = Command::new(program);
                command.current_dir(folder);
                command
            }
            Some(_) => {
                // chroot itself changes to `/`.
                let mut command = self.command("env");
                command.arg("--chdir").arg(folder).arg(program);
                command
            }
        }
    }

    /// A command of this installation, run as a user.
    pub fn command_as(&self, owner: Owner, program: impl AsRef<OsStr>) -> Command {
        match self.root() {
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
