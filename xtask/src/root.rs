//! The root folder of a different Debian release: Slurm as that release ships it, and its compiler.
//!
//! debootstrap makes it below `target/`, once. `chroot` runs programs in it. The files of this
//! machine that they need are mounted in a separate mount namespace: however a program or its
//! parent ends, no mount stays.

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

/// The user that runs a program in a root folder.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// The superuser.
pub const SUPERUSER: Owner = Owner { uid: 0, gid: 0 };

/// A file in the root folder with its packages; a folder with different ones is rebuilt.
const STAMP: &str = "etc/fairtree-packages";

/// A file with the packages for builds.
const RUST_STAMP: &str = "etc/fairtree-rust-packages";

/// A complete root folder.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
}

impl Root {
    /// The root folder of the Debian release that ships this Slurm; made if it does not exist.
    ///
    /// It appears in one step, by a rename. Other runs that need it at the same time wait for the
    /// run that makes it.
    ///
    /// # Errors
    /// Fails if no known Debian release ships this Slurm, without root, and if debootstrap or
    /// apt-get fails.
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

    /// Installs that release's Rust and the packages for building the plugin, unless present.
    ///
    /// # Errors
    /// Fails if apt-get fails.
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

    /// A command that runs its appended words inside, in the working folder `/`.
    ///
    /// `shared`: absolute paths of files and folders of this machine that are the same inside, in
    /// addition to `/dev` and `/proc`.
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

/// Takes a lock that ends with this process; waits if a different process has it.
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
    // In a mount namespace, too: it mounts /proc, and the mount would stay if it was killed.
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

/// Forbids services, copies this machine's settings for the mirror, and makes empty files for those
/// that are shared later.
fn prepare(root: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let policy = root.join("usr/sbin/policy-rc.d");
    fs::write(&policy, "#!/bin/sh\nexit 101\n")?;
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o755))?;
    // For instance a proxy.
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
