//! Building the plugin for one Slurm release.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::progress::Progress;
use crate::project;
use crate::release::Release;
use crate::source;

/// Builds `priority_fairtree.so` and says where it is.
///
/// `source`: a configured source tree of Slurm; without it, the one of `release` is fetched.
/// With it, `release` is what the tree says it is.
pub fn build(
    release: Option<&Release>,
    source: Option<&Path>,
    progress: &Progress,
) -> Result<PathBuf> {
    let (release, source) = match (release, source) {
        (_, Some(folder)) => (Release::of_source(folder)?, folder.to_path_buf()),
        (Some(release), None) => (release.clone(), source::fetch(release, progress)?),
        (None, None) => bail!("name a Slurm release or the folder of its source"),
    };
    if !source.join("config.h").exists() {
        bail!(
            "{} is not configured: run ./configure there",
            source.display()
        );
    }
    let source = fs::canonicalize(&source)?;
    let folder = project::slurm(&release);
    let build = folder.join("build");
    progress.step(format!("building the plugin for Slurm {release}"));
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(project::root())
        .args(["build", "--quiet", "--release", "--lib"])
        .args(["--no-default-features", "--features", "slurm"])
        .arg("--target-dir")
        .arg(&build)
        .env("FAIRTREE_SLURM_SRC", &source)
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo could not build the plugin ({status})");
    }
    // A running slurmctld may have the old file mapped: replace it, do not write into it.
    let plugin = project::plugin(&release);
    let fresh = folder.join(".priority_fairtree.so");
    fs::copy(build.join("release/libfairtree.so"), &fresh)
        .with_context(|| format!("cannot write {}", fresh.display()))?;
    fs::rename(&fresh, &plugin)?;
    Ok(plugin)
}
