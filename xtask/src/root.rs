//! The root folder of another Debian release: Slurm as that release ships it, and its compiler.
//!
//! Made by debootstrap below `target/`, once. Programs are run in it by `chroot`, with the files
//! of this machine that they need mounted in a mount namespace of their own: however a program or
//! its parent ends, no mount stays.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};

use crate::command::checked;
use crate::progress::Progress;
use crate::release::Release;
use crate::{deps, project, source};

/// Packages for a private Slurm cluster; MariaDB and munged are this machine's.
const SLURM: &[&str] = &[
    "slurmctld",
    "slurmd",
    "slurmdbd",
    "slurm-client",
    "slurm-wlm-basic-plugins",
    "slurm-wlm-mysql-plugin",
];

/// Packages for a build with that release's own Rust.
const RUST: &[&str] = &["rustc", "cargo", "gcc", "libc6-dev", "libclang-dev"];

/// Who runs a program in a root folder.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// User number.
    pub uid: u32,
    /// Group number.
    pub gid: u32,
}

/// The superuser.
pub const SUPERUSER: Owner = Owner { uid: 0, gid: 0 };

/// A file in the root folder: the packages that were installed; a folder with other ones is rebuilt.
const STAMP: &str = "etc/fairtree-packages";

/// The same of the packages for builds.
const RUST_STAMP: &str = "etc/fairtree-rust-packages";

/// A root folder, complete.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
}

impl Root {
    /// The root folder of the Debian release that ships this Slurm; made if there is none.
    ///
    /// It appears in one step, by a rename. Runs that want it at the same time wait for the one
    /// that makes it.
    ///
    /// # Errors
    /// A Slurm that no known Debian release ships, not root, and whatever debootstrap or apt-get
    /// fail with.
    pub fn of(release: &Release, progress: &Progress) -> Result<Root> {
        let Some(suite) = release.debian_suite() else {
            bail!("no known Debian release ships Slurm {release}");
        };
        let path = project::debian_root(suite);
        if is_complete(&path) {
            return Ok(Root { path });
        }
        if !nix::unistd::geteuid().is_root() {
            bail!("only root can make {} (debootstrap)", path.display());
        }
        let parent = path.parent().context("a folder below target/")?;
        fs::create_dir_all(parent)?;
        let _lock = lock(&parent.join(format!(".{suite}.lock")), progress)?;
        if !is_complete(&path) {
            make(suite, &path, &parent.join(format!(".{suite}")), progress)?;
        }
        Ok(Root { path })
    }

    /// Installs that release's Rust and what a build of the plugin needs; nothing if it is there.
    ///
    /// # Errors
    /// The failures of apt-get.
    pub fn add_rust(&self, progress: &Progress) -> Result<()> {
        if has(&self.path, RUST_STAMP, RUST) {
            return Ok(());
        }
        let parent = self.path.parent().context("a folder below target/")?;
        let _lock = lock(&parent.join(".rust.lock"), progress)?;
        progress.step("installing Rust in the root folder");
        self.install(RUST, RUST_STAMP)
    }

    fn install(&self, packages: &[&str], stamp: &str) -> Result<()> {
        self.apt_get(&[&["install", "--yes", "--no-install-recommends"], packages].concat())?;
        self.apt_get(&["clean"])?;
        Ok(fs::write(self.path.join(stamp), packages.join("\n"))?)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command that runs what is appended to it inside, in the working folder `/`.
    ///
    /// `shared`: absolute paths of files and folders of this machine that are the same inside,
    /// besides `/dev` and `/proc`.
    pub fn command(&self, owner: Owner, shared: &[&Path]) -> Command {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh"])
            .arg(project::root().join("xtask/enter.sh"))
            .arg(&self.path)
            .arg(format!("{}:{}", owner.uid, owner.gid))
            .args(["/dev", "/proc"])
            .args(shared)
            .arg("--");
        command
    }
}

/// The dynamic loader of the system in a root folder.
pub fn loader(root: &Path) -> PathBuf {
    root.join("lib64/ld-linux-x86-64.so.2")
}

/// The C library's folder of the system in a root folder.
pub fn libraries(root: &Path) -> PathBuf {
    root.join("usr/lib/x86_64-linux-gnu")
}

fn is_complete(path: &Path) -> bool {
    has(path, STAMP, SLURM)
}

fn has(path: &Path, stamp: &str, packages: &[&str]) -> bool {
    fs::read_to_string(path.join(stamp)).is_ok_and(|found| found == packages.join("\n"))
}

/// A lock that ends with this process, waited for if another one has it.
fn lock(path: &Path, progress: &Progress) -> Result<Flock<File>> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    let file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => return Ok(lock),
        Err((file, _)) => file,
    };
    progress.step(format!("waiting for {}", path.display()));
    Flock::lock(file, FlockArg::LockExclusive)
        .map_err(|(_, errno)| errno)
        .with_context(|| format!("cannot lock {}", path.display()))
}

/// Makes the root folder in `work`, then moves it to `path`.
fn make(suite: &str, path: &Path, work: &Path, progress: &Progress) -> Result<()> {
    for leftover in [work, path] {
        if leftover.exists() {
            fs::remove_dir_all(leftover)
                .with_context(|| format!("cannot remove {}", leftover.display()))?;
        }
    }
    deps::install_missing(&["debootstrap"], progress)?;
    progress.step(format!("making a root folder of Debian {suite}"));
    // In a mount namespace of its own, too: it mounts /proc and would leave that behind if killed.
    checked(
        Command::new("unshare")
            .args(["--mount", "debootstrap", "--variant=minbase", suite])
            .arg(work)
            .arg(source::debian_mirror()?),
    )?;
    prepare(work)?;
    let root = Root {
        path: work.to_path_buf(),
    };
    progress.step(format!("installing Slurm of Debian {suite}"));
    root.apt_get(&["update"])?;
    root.install(SLURM, STAMP)?;
    fs::rename(work, path).with_context(|| format!("cannot move it to {}", path.display()))
}

/// Forbids services, takes this machine's way to the mirror over, and makes room for the files
/// that are shared later.
fn prepare(root: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let policy = root.join("usr/sbin/policy-rc.d");
    fs::write(&policy, "#!/bin/sh\nexit 101\n")?;
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o755))?;
    // A proxy, for instance.
    let settings = checked(Command::new("apt-config").args([
        "dump",
        "--no-empty",
        "--format=%F \"%v\";%n",
        "Acquire",
    ]))?;
    fs::write(root.join("etc/apt/apt.conf.d/99machine"), settings)?;
    for name in ["etc/hosts", "etc/resolv.conf"] {
        // debootstrap may have copied a link that leads out of the folder.
        match fs::remove_file(root.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => File::create(root.join(name))?,
        };
    }
    Ok(())
}

impl Root {
    fn apt_get(&self, arguments: &[&str]) -> Result<()> {
        let network = ["/etc/hosts", "/etc/resolv.conf"].map(Path::new);
        let mut command = self.command(SUPERUSER, &network);
        command
            .args(["apt-get", "--quiet", "--option=Dpkg::Use-Pty=0"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LANG", "C.UTF-8");
        checked(&mut command).map(drop)
    }
}
