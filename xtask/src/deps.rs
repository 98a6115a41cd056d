//! What a fresh Debian machine needs, installed through apt-get.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::checked;
use crate::prefix::Prefix;
use crate::progress::Progress;

/// The packages, and what each group is for.
const PACKAGES: &[(&str, &[&str])] = &[
    (
        "compile C, read C headers, run the C tests",
        &[
            "gcc",
            "g++",
            "libc6-dev",
            "make",
            "libclang-dev",
            "pkg-config",
            "valgrind",
        ],
    ),
    (
        "configure Slurm's source as Debian does",
        &["libmunge-dev", "libslurm-dev", "bzip2", "xz-utils"],
    ),
    (
        "look at pages as a person would",
        &["chromium", "fonts-dejavu-core"],
    ),
    (
        "run a private Slurm cluster",
        &["mariadb-server", "munge", "debootstrap"],
    ),
    (
        "try examples, manual pages and completions as a person would",
        &["jq", "man-db", "zsh", "fish"],
    ),
    (
        "make packages, and look into them",
        &["debhelper", "dpkg-dev", "lintian", "rpm"],
    ),
    (
        "run the scripts of Slurm's testsuite",
        &["expect", "python3-pytest", "python3-requests"],
    ),
];

/// Slurm itself, where no prefix has one.
const SLURM: &[&str] = &[
    "slurmctld",
    "slurmd",
    "slurmdbd",
    "slurm-client",
    "slurm-wlm-basic-plugins",
    "slurm-wlm-mysql-plugin",
];

/// Answers "do not start that service" to Debian's installation scripts.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Installs what is missing; does not run apt-get when nothing is. With a Slurm in `SLURM_PREFIX`
/// another system than Debian will do: what it needs is said, and left to whoever installs it.
///
/// # Errors
/// A machine that is not Debian, without a prefix; packages missing without the right to install them, and
/// whatever apt-get fails with.
pub fn install(progress: &Progress) -> Result<()> {
    let wanted: Vec<&str> = match Prefix::of_environment()? {
        None => all().chain(SLURM.iter().copied()).collect(),
        Some(_) if !is_debian() => {
            progress.step(format!(
                "not a Debian machine: the equivalents of these packages are needed: {}",
                all().collect::<Vec<_>>().join(" ")
            ));
            return Ok(());
        }
        Some(_) => all().collect(),
    };
    let missing = missing(&wanted)?;
    if missing.is_empty() {
        return Ok(());
    }
    if !nix::unistd::geteuid().is_root() {
        bail!(
            "packages are missing and only root can install them; run:\n  \
             sudo apt-get install --no-install-recommends {}",
            missing.join(" ")
        );
    }
    progress.step(format!(
        "installing {} packages: {}",
        missing.len(),
        missing.join(" ")
    ));
    let policy = Policy::forbid_services()?;
    let done = apt_get(&["update"]).and_then(|()| {
        let mut arguments = vec!["install", "--yes", "--no-install-recommends"];
        arguments.extend(&missing);
        apt_get(&arguments)
    });
    drop(policy);
    done
}

fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists()
}

/// Those of these packages that are not installed.
fn missing<'a>(wanted: &[&'a str]) -> Result<Vec<&'a str>> {
    if !is_debian() {
        bail!(
            "this is not a Debian machine; install the equivalents of: {}",
            wanted.join(" ")
        );
    }
    let mut missing = Vec::new();
    for &package in wanted {
        let answer = Command::new("dpkg-query")
            .args(["--show", "--showformat=${Status}", package])
            .output()
            .context("cannot run dpkg-query")?;
        if !answer.stdout.ends_with(b" installed") {
            missing.push(package);
        }
    }
    Ok(missing)
}

fn all() -> impl Iterator<Item = &'static str> {
    PACKAGES.iter().flat_map(|(_, names)| names.iter().copied())
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command
        .args(["--quiet", "--option=Dpkg::Use-Pty=0"])
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive");
    checked(&mut command).map(drop)
}

/// While it lives, an installed package does not start its service.
struct Policy {
    ours: bool,
}

impl Policy {
    fn forbid_services() -> Result<Policy> {
        if Path::new(POLICY).exists() {
            // The machine has a policy of its own; that one counts.
            return Ok(Policy { ours: false });
        }
        fs::write(POLICY, "#!/bin/sh\nexit 101\n")
            .and_then(|()| fs::set_permissions(POLICY, fs::Permissions::from_mode(0o755)))
            .with_context(|| format!("cannot write {POLICY}"))?;
        Ok(Policy { ours: true })
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        if self.ours {
            if let Err(error) = fs::remove_file(POLICY) {
                eprintln!("cannot remove {POLICY}: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_package_is_listed_twice() {
        let mut names: Vec<_> = all().chain(SLURM.iter().copied()).collect();
        let listed = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), listed);
    }
}
