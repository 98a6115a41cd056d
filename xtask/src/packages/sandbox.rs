//! A fresh Debian system for installing packages: a root folder that stays unchanged, and a layer
//! above it that receives all writes.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

use super::folder;
use crate::command::checked;
use crate::progress::Progress;
use crate::release::Release;
use crate::{project, source};

/// Dependencies of the packages, and Debian's Slurm.
const PACKAGES: [&str; 4] = [
    "libc6-dev",
    "slurmctld",
    "slurm-client",
    "slurm-wlm-basic-plugins",
];

/// Files of the package managers themselves.
const THEIRS: [&str; 6] = [
    "var/lib/dpkg",
    "var/lib/apt",
    "var/cache",
    "var/log",
    "tmp",
    "etc/ld.so.cache",
];

/// A system with its layer.
pub(super) struct Sandbox {
    base: PathBuf,
    work: tempfile::TempDir,
}

impl Sandbox {
    /// Creates a system of the Debian release that ships this Slurm, with Slurm installed.
    pub fn new(release: &Release, progress: &Progress) -> Result<Sandbox> {
        let base = base(release, progress)?;
        // Not below /tmp, which may be an overlay itself.
        let work = tempfile::tempdir_in(folder())?;
        let sandbox = Sandbox { base, work };
        sandbox.shell("true")?;
        Ok(sandbox)
    }

    /// Runs a command line in it; accepts any exit code.
    pub fn shell(&self, line: &str) -> Result<Output> {
        let mut command = enter(&self.base, self.work.path());
        command.args(["/bin/sh", "-ec", line]);
        command.output().context("cannot run unshare")
    }

    /// Runs a command line in it and returns its output.
    ///
    /// # Errors
    /// Fails if the command fails.
    pub fn run(&self, line: &str) -> Result<String> {
        let ran = self.shell(line)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if !ran.status.success() {
            let (out, err) = (text(&ran.stdout), text(&ran.stderr));
            bail!("`{line}` fails ({}):\n{out}{err}", ran.status);
        }
        Ok(text(&ran.stdout))
    }

    /// Writes a file in it, with this mode.
    pub fn write(&self, path: &str, text: &str, mode: u32) -> Result<()> {
        let path = self.upper().join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().context("a folder")?)?;
        fs::write(&path, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        Ok(())
    }

    /// Copies files into its `/tmp`.
    pub fn bring(&self, files: &[PathBuf]) -> Result<()> {
        let tmp = self.upper().join("tmp");
        fs::create_dir_all(&tmp)?;
        for file in files {
            fs::copy(file, tmp.join(file.file_name().context("a name")?))?;
        }
        Ok(())
    }

    /// Text of a file that was written in it.
    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.upper().join(path.trim_start_matches('/'))).ok()
    }

    /// Files and links that are new, changed or removed, with exceptions; the package managers' own
    /// files are left out.
    pub fn changes(&self, except: &[&str]) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(below) = folders.pop() {
            for entry in fs::read_dir(self.upper().join(&below))? {
                let entry = entry?;
                let path = below.join(entry.file_name());
                let skipped = THEIRS.iter().chain(except);
                if skipped.into_iter().any(|known| path.starts_with(known)) {
                    continue;
                }
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    if !self.base.join(&path).is_dir() {
                        found.push(format!("{}/", path.display()));
                    }
                    folders.push(path);
                } else if kind.is_char_device() {
                    // This is how a layer marks a removed file of the base.
                    found.push(format!("gone: {}", path.display()));
                } else if !self.is_as_before(&path)? {
                    found.push(path.display().to_string());
                }
            }
        }
        found.sort();
        Ok(found)
    }

    fn is_as_before(&self, path: &Path) -> Result<bool> {
        let (old, new) = (self.base.join(path), self.upper().join(path));
        let (Ok(before), after) = (old.symlink_metadata(), new.symlink_metadata()?) else {
            return Ok(false);
        };
        if before.mode() != after.mode() || before.uid() != after.uid() {
            return Ok(false);
        }
        match after.is_file() {
            true => Ok(fs::read(old)? == fs::read(new)?),
            false => Ok(fs::read_link(old)? == fs::read_link(new)?),
        }
    }

    fn upper(&self) -> PathBuf {
        self.work.path().join("upper")
    }
}

fn enter(base: &Path, work: &Path) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh"])
        .arg(project::root().join("xtask/overlay.sh"))
        .arg(base)
        .arg(work)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("LC_ALL", "C.UTF-8")
        .env(
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        );
    command
}

/// The root folder of a Debian release, made once: minimal, with [`PACKAGES`].
fn base(release: &Release, progress: &Progress) -> Result<PathBuf> {
    let suite = release
        .debian_suite()
        .with_context(|| format!("no known Debian release ships Slurm {release}"))?;
    let path = folder().join("root").join(suite);
    let above = path.parent().context("a folder")?;
    let _lock = project::lock(above)?;
    if path.exists() {
        return Ok(path);
    }
    let fresh = above.join(format!(".{suite}"));
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    progress.step(format!(
        "making a root folder of Debian {suite} for packages"
    ));
    checked(
        Command::new("unshare")
            .args(["--mount", "debootstrap", "--variant=minbase", suite])
            .arg(&fresh)
            .arg(source::debian_mirror()?),
    )?;
    // No service may start in it.
    let policy = fresh.join("usr/sbin/policy-rc.d");
    fs::write(&policy, "#!/bin/sh\nexit 101\n")?;
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o755))?;
    for name in ["etc/hosts", "etc/resolv.conf"] {
        let here = Path::new("/").join(name);
        let there = fresh.join(name);
        if there.symlink_metadata().is_ok() {
            fs::remove_file(&there)?;
        }
        fs::copy(here, there)?;
    }
    // This machine's settings for reaching the mirror, for instance a proxy.
    let settings = checked(Command::new("apt-config").args([
        "dump",
        "--no-empty",
        "--format=%F \"%v\";%n",
        "Acquire",
    ]))?;
    fs::write(fresh.join("etc/apt/apt.conf.d/99machine"), settings)?;
    progress.step(format!("installing Slurm of Debian {suite} there"));
    let line = format!(
        "apt-get --quiet update && apt-get --quiet --yes --no-install-recommends install {} && \
         apt-get clean",
        PACKAGES.join(" ")
    );
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh"])
        .arg(project::root().join("xtask/enter.sh"))
        .arg(&fresh)
        .args(["0:0", "/dev", "/proc", "--", "/bin/sh", "-ec", &line])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("LC_ALL", "C.UTF-8")
        .env(
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        );
    checked(&mut command)?;
    fs::rename(&fresh, &path)?;
    Ok(path)
}
