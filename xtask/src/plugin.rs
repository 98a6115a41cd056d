//! Builds the plugin for one Slurm release.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::command::cargo_in_checkout;
use crate::prefix::Prefix;
use crate::progress::Progress;
use crate::project;
use crate::release::Release;
use crate::source;

/// Variable with the path of Slurm's configured source, for the build script.
pub const SOURCE_VARIABLE: &str = "FAIRTREE_SLURM_SRC";

/// Builds `priority_fairtree.so` and returns its path.
///
/// `source`: a configured source tree of Slurm to build against; the plugin is then for the release
/// of that tree. Without it, the source of `release` is fetched.
///
/// # Errors
/// A source that cannot be fetched, is not configured, is of an earlier series that is not known, or is
/// not that of the Slurm in `SLURM_PREFIX`, and what cargo fails with.
pub fn build(release: &Release, source: Option<&Path>, progress: &Progress) -> Result<PathBuf> {
    let (release, source) = match source {
        Some(folder) => (Release::of_source(folder)?, folder.to_path_buf()),
        None => (release.clone(), source::fetch(release, progress)?),
    };
    if let Some(warning) = source::warning(&source)? {
        progress.warn(warning);
    }
    if let Some(prefix) = Prefix::of_environment()? {
        // Otherwise slurmctld would refuse the plugin.
        source::expect_release(&source, prefix.release())?;
    }
    let source = fs::canonicalize(&source)?;
    let folder = project::slurm(&release);
    let build = folder.join("build");
    progress.step(format!("building the plugin for Slurm {release}"));
    // Two simultaneous builds would write the same files.
    let _lock = project::lock(&folder)?;
    let answer = cargo_in_checkout()
        .args(["build", "--quiet", "--release", "--package", "fairtree"])
        .arg("--lib")
        .args(["--no-default-features", "--features", "slurm"])
        .arg("--target-dir")
        .arg(&build)
        .env(SOURCE_VARIABLE, &source)
        .output()
        .context("cannot run cargo")?;
    if !answer.status.success() {
        let text = String::from_utf8_lossy(&answer.stderr);
        bail!(
            "cargo could not build the plugin ({}):\n{text}",
            answer.status
        );
    }
    // A running slurmctld may have the old file mapped: replace it, do not write into it.
    let plugin = project::plugin(&release);
    let fresh = folder.join(".priority_fairtree.so");
    fs::copy(build.join("release/libfairtree.so"), &fresh)
        .with_context(|| format!("cannot write {}", fresh.display()))?;
    fs::rename(&fresh, &plugin)?;
    Ok(plugin)
}
