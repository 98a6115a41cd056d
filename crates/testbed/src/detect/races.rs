//! ThreadSanitizer in the plugin, its shim and the twin host.
//!
//! libslurmfull comes from Debian: its reads and writes are not seen, but its locks are. The C
//! library's locks are seen. parking_lot's locks are atomic operations in the plugin's own code,
//! which are seen, too (valgrind's detectors would report every one of them as a race).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Watched;
use crate::twin::TwinHost;
use xtask::command::{cargo_in_checkout, checked};
use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::project;

const FLAG: &str = "-fsanitize=thread";

/// Builds both with the detector.
pub fn prepare(
    installation: &Installation,
    source: &Path,
    folder: &Path,
    progress: &Progress,
) -> Result<Watched> {
    progress.step("building the plugin with ThreadSanitizer");
    let plugin = plugin(source, folder)?;
    let flags = format!("CFLAGS=-O1 -g {FLAG}");
    let host = TwinHost::make(source, installation, &folder.join("twin-races"), &[&flags])?;
    let suppressions = project::root().join("tests/twin/races.supp");
    let options = format!(
        // The host checks the order of locks itself (locks.c). It knows what the detector does not:
        // locks that are taken in both orders are protected by a third one.
        "TSAN_OPTIONS=exitcode=66 detect_deadlocks=0 history_size=7 suppressions={}",
        suppressions.display()
    );
    Ok(Watched {
        // The library of older compilers cannot place its shadow memory in some address layouts.
        host: host.under(&["env", &options, "setarch", "--addr-no-randomize"]),
        plugin,
    })
}

/// Builds the plugin for a named target, so that build scripts are built without the detector.
fn plugin(source: &Path, folder: &Path) -> Result<PathBuf> {
    let version = checked(Command::new("rustc").arg("-vV"))?;
    let target = version.lines().find_map(|line| line.strip_prefix("host: "));
    let target = target.context("rustc names its host")?;
    let build = folder.join("build");
    let _lock = project::lock(folder)?;
    let answer = cargo_in_checkout()
        .env("RUSTC_BOOTSTRAP", "1")
        .env(
            "RUSTFLAGS",
            "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer",
        )
        .env(format!("CFLAGS_{}", target.replace('-', "_")), FLAG)
        .env(xtask::plugin::SOURCE_VARIABLE, fs::canonicalize(source)?)
        .args(["build", "--quiet", "--package", "fairtree", "--lib"])
        .arg("--no-default-features")
        .args(["--features", "slurm", "--target", target, "--target-dir"])
        .arg(&build)
        .output()
        .context("cannot run cargo")?;
    if !answer.status.success() {
        let text = String::from_utf8_lossy(&answer.stderr);
        bail!(
            "cargo could not build the plugin ({}):\n{text}",
            answer.status
        );
    }
    let place = folder.join("races");
    fs::create_dir_all(&place)?;
    let plugin = place.join("priority_fairtree.so");
    fs::copy(build.join(target).join("debug/libfairtree.so"), &plugin)?;
    Ok(plugin)
}
