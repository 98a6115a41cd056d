//! The stated `rust-version`: library, command and plugin build with that compiler, from Debian.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use xtask::command::{cargo_in_checkout, checked};
use xtask::plugin::SOURCE_VARIABLE;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::root::{Root, SUPERUSER};
use xtask::{interrupt, project, source};

/// The version that Cargo.toml states.
const STATED: &str = env!("CARGO_PKG_RUST_VERSION");

/// The Slurm release that comes in the same Debian release as that compiler.
const RELEASE: &str = "24.11.5";

const BUILDS: &[(&str, &[&str])] = &[
    ("libraries and command", &["--lib", "--bins"]),
    (
        "plugin",
        &[
            "--package",
            "fairtree",
            "--lib",
            "--no-default-features",
            "--features",
            "slurm",
        ],
    ),
];

/// Builds everything with the oldest supported compiler.
///
/// # Errors
/// Fails if the compiler does not have the stated version, or if a build fails.
pub fn check(progress: &Progress) -> Result<()> {
    let release: Release = RELEASE.parse()?;
    let root = Root::of(&release, progress)?;
    root.add_rust(progress)?;
    // Use the real path, which is the same in the chroot: a link may lead to an unshared folder.
    let slurm = std::fs::canonicalize(source::fetch(&release, progress)?)?;
    // The compiler inside must not need the network.
    checked(cargo_in_checkout().args(["fetch", "--quiet", "--locked"]))?;
    let bench = Bench {
        root,
        slurm,
        cargo_home: cargo_home()?,
    };
    let version = checked(bench.command().args(["rustc", "--version"]))?;
    ensure!(
        is_stated(&version),
        "Cargo.toml states rust-version {STATED}, but Debian has {version}"
    );
    let version = version.split(" (").next().unwrap_or_default();
    for (what, arguments) in BUILDS {
        interrupt::check()?;
        progress.step(format!("building with {version}: {what}"));
        checked(
            bench
                .command()
                .args(["cargo", "build", "--quiet", "--locked", "--offline"])
                .args(*arguments),
        )
        .with_context(|| format!("{version} cannot build: {what}"))?;
        progress.print(format!("{what}: built with {version}"));
    }
    Ok(())
}

/// Returns true for `rustc 1.85.1 (...)` if 1.85 is stated.
fn is_stated(version: &str) -> bool {
    version
        .strip_prefix("rustc ")
        .and_then(|rest| rest.strip_prefix(STATED))
        .is_some_and(|rest| rest.starts_with(['.', ' ']))
}

/// The root folder with the compiler, and the folders of this machine that it needs.
struct Bench {
    root: Root,
    slurm: PathBuf,
    cargo_home: PathBuf,
}

impl Bench {
    /// A command that runs its appended words in the checkout.
    fn command(&self) -> Command {
        let checkout = project::root();
        let shared = [checkout.as_path(), &self.slurm, &self.cargo_home];
        let mut command = self.root.command(SUPERUSER, &shared);
        command.arg("env").arg("--chdir").arg(&checkout);
        // Inherit nothing from the cargo that runs this program.
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", "/root")
            .env("LANG", "C.UTF-8")
            .env("CARGO_HOME", &self.cargo_home)
            .env("CARGO_TARGET_DIR", checkout.join("target/msrv"))
            .env(SOURCE_VARIABLE, &self.slurm);
        command
    }
}

/// The folder of this machine's cargo for downloads.
fn cargo_home() -> Result<PathBuf> {
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => Path::new(&std::env::var_os("HOME").context("no HOME")?).join(".cargo"),
    };
    if !home.is_dir() {
        bail!("no folder {} (CARGO_HOME)", home.display());
    }
    Ok(std::path::absolute(home)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_compiler_than_the_stated_one_is_told_apart() {
        assert!(is_stated(&format!(
            "rustc {STATED}.1 (4eb161250 2025-03-15)"
        )));
        assert!(!is_stated(&format!(
            "rustc {STATED}0.1 (4eb161250 2025-03-15)"
        )));
        assert!(!is_stated("rustc 1.63.0"));
    }
}
