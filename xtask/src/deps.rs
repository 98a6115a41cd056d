//! Installs the packages that a fresh Debian machine needs, with apt-get.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::checked;
use crate::prefix::Prefix;
use crate::progress::Progress;

/// The targets of the Makefile that need packages; each also needs the packages of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Need {
    /// The plugin's build.
    Plugin,
    /// `make demo`.
    Demo,
    /// `make test`.
    Test,
    /// `make test-all`, and the packages of this project.
    TestAll,
}

/// The packages, and the purpose of each group.
const PACKAGES: &[(Need, &str, &[&str])] = &[
    (
        Need::Plugin,
        "compile C, read C headers",
        &["gcc", "libc6-dev", "make", "libclang-dev", "pkg-config"],
    ),
    (
        Need::Plugin,
        "configure Slurm's source as Debian does",
        &["libmunge-dev", "libslurm-dev", "bzip2", "xz-utils"],
    ),
    (
        Need::Demo,
        "run a private Slurm cluster",
        &["mariadb-server", "munge"],
    ),
    (Need::Test, "run the C tests", &["g++", "valgrind"]),
    (
        Need::Test,
        "run the Slurm of another Debian release",
        &["debootstrap"],
    ),
    (Need::Test, "look into units of services", &["systemd"]),
    (
        Need::Test,
        "look at pages as a person would",
        &["chromium", "fonts-dejavu-core"],
    ),
    (
        Need::Test,
        "try examples, manual pages and completions as a person would",
        &["jq", "man-db", "zsh", "fish"],
    ),
    (
        Need::TestAll,
        "make packages, and look into them",
        &["debhelper", "dpkg-dev", "lintian", "rpm"],
    ),
    (
        Need::TestAll,
        "check metrics and alert rules with promtool",
        &["prometheus"],
    ),
    (
        Need::TestAll,
        "run the scripts of Slurm's testsuite",
        &["expect", "python3-pytest", "python3-requests"],
    ),
];

/// Slurm itself, if there is no prefix.
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

/// Installs the missing packages among those that `need` needs; apt-get does not run if none is
/// missing. With a Slurm in `SLURM_PREFIX` the system may be different from Debian: then the
/// packages are only listed, and the user installs them.
///
/// # Errors
/// Fails if the machine is not Debian and there is no prefix, if packages are missing without the
/// right to install them, and if apt-get fails.
pub fn install(need: Need, progress: &Progress) -> Result<()> {
    let wanted: Vec<&str> = match Prefix::of_environment()? {
        None if need > Need::Plugin => of(need).chain(SLURM.iter().copied()).collect(),
        Some(_) if !is_debian() => {
            progress.step(format!(
                "not a Debian machine: the equivalents of these packages are needed: {}",
                of(need).collect::<Vec<_>>().join(" ")
            ));
            return Ok(());
        }
        None | Some(_) => of(need).collect(),
    };
    install_missing(&wanted, progress)
}

/// Installs the missing packages of a list.
///
/// # Errors
/// Fails as [`install`].
pub fn install_missing(wanted: &[&str], progress: &Progress) -> Result<()> {
    let missing = missing(wanted)?;
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

/// The packages of a list that are not installed.
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

fn of(need: Need) -> impl Iterator<Item = &'static str> {
    let groups = PACKAGES.iter().filter(move |(least, ..)| *least <= need);
    groups.flat_map(|(_, _, names)| names.iter().copied())
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command
        .args(["--quiet", "--option=Dpkg::Use-Pty=0"])
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive");
    checked(&mut command).map(drop)
}

/// While this value exists, an installed package does not start its service.
struct Policy {
    ours: bool,
}

impl Policy {
    fn forbid_services() -> Result<Policy> {
        if Path::new(POLICY).exists() {
            // The machine already has a policy; keep it.
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
        let mut names: Vec<_> = of(Need::TestAll).chain(SLURM.iter().copied()).collect();
        let listed = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), listed);
    }

    #[test]
    fn the_demo_needs_no_browser_and_no_second_system() {
        let demo: Vec<_> = of(Need::Demo).collect();
        for name in ["chromium", "debootstrap", "lintian", "zsh"] {
            assert!(!demo.contains(&name), "{name}");
            assert!(of(Need::TestAll).any(|known| known == name), "{name}");
        }
    }
}
