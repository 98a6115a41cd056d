//! Paths in the checkout.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use nix::fcntl::{Flock, FlockArg};

use crate::prefix;
use crate::release::Release;

/// Variable for the programs of the test bed: packages, plugin and command are ready, built from
/// the current sources.
pub const PREPARED: &str = "FAIRTREE_TESTBED_PREPARED";

/// The folder of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask/ lies in the checkout")
        .to_path_buf()
}

/// Locks a folder of builds, which is made if missing, for this process: other processes wait.
/// The lock is released when the value is dropped, or the process ends.
///
/// # Errors
/// Fails if the folder or the lock's file in it cannot be made.
pub fn lock(folder: &Path) -> Result<Flock<File>> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(".lock");
    let mut options = File::options();
    let file = options.create(true).truncate(false).write(true);
    let file = file.open(&path);
    let file = file.with_context(|| path.display().to_string())?;
    Flock::lock(file, FlockArg::LockExclusive)
        .map_err(|(_, errno)| anyhow!("cannot lock {}: {errno}", path.display()))
}

/// The folder of cargo's builds.
fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| root().join("target"))
}

/// The command `fairtree` as private clusters run it: a copy of the last build.
pub fn tested_command() -> PathBuf {
    target().join("testbed-bin/fairtree")
}

/// The program `fairtree-serve`, beside [`tested_command`].
pub fn tested_service() -> PathBuf {
    target().join("testbed-bin/fairtree-serve")
}

/// Copies the built command to [`tested_command`], and the service, where it was built, to
/// [`tested_service`], each in one step: a cluster may run the earlier one.
///
/// # Errors
/// Fails if there is no built command, or if a copy cannot be written.
pub fn copy_tested_command() -> Result<()> {
    copy_tested("fairtree", &tested_command())?;
    match target().join("debug/fairtree-serve").exists() {
        true => copy_tested("fairtree-serve", &tested_service()),
        false => Ok(()),
    }
}

fn copy_tested(name: &str, path: &Path) -> Result<()> {
    let built = target().join("debug").join(name);
    let fresh = path.with_file_name(format!("{name}-{}", std::process::id()));
    let copy = || {
        fs::create_dir_all(target().join("testbed-bin"))?;
        fs::copy(&built, &fresh)?;
        fs::rename(&fresh, path)
    };
    copy().with_context(|| format!("cannot copy {} to {}", built.display(), path.display()))
}

/// Everything that belongs to one Slurm release: `target/slurm/<release>`.
pub fn slurm(release: &Release) -> PathBuf {
    root().join("target/slurm").join(release.to_string())
}

/// The plugin built for a release.
pub fn plugin(release: &Release) -> PathBuf {
    slurm(release).join("priority_fairtree.so")
}

/// The root folder of a Debian release, which exists after its first use.
pub fn debian_root(suite: &str) -> PathBuf {
    root().join("target/slurm/root").join(suite)
}

/// The configured source of a release: the one that `SLURM_SRC` names, or the one that `slurm-src` has
/// fetched.
pub fn slurm_source(release: &Release) -> PathBuf {
    let fetched = || root().join("target/slurm/src").join(release.to_string());
    prefix::source().unwrap_or_else(fetched)
}
