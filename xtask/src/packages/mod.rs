//! `make packages`: packages of command and library, and of the plugin for one release of Slurm.
//!
//! | file | packages |
//! |---|---|
//! | `deb.rs` | `fairtree`, `fairtree-serve`, `libfairtree1`, `libfairtree-dev`, `slurm-wlm-fairtree-plugin-22.05.8` |
//! | `rpm.rs` | `fairtree`, `fairtree-serve`, `libfairtree`, `libfairtree-devel` |
//! | `sandbox.rs`, `check.rs` | tests: results of installing, upgrading, removing and purging |

pub mod check;
mod deb;
mod rpm;
mod sandbox;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Result, bail};

use crate::progress::Progress;
use crate::project;
use crate::release::Release;

/// Who made the packages of the Slurm that a plugin is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packager {
    /// Debian: `slurmctld`, with its plugins in `slurm-wlm`.
    SlurmWlm,
    /// SchedMD: `slurm-smd-slurmctld`.
    SlurmSmd,
}

impl Packager {
    /// First part of the name of a plugin's package.
    pub fn kind(self) -> &'static str {
        match self {
            Packager::SlurmWlm => "slurm-wlm",
            Packager::SlurmSmd => "slurm-smd",
        }
    }

    /// The package of slurmctld.
    fn controller(self) -> &'static str {
        match self {
            Packager::SlurmWlm => "slurmctld",
            Packager::SlurmSmd => "slurm-smd-slurmctld",
        }
    }

    /// The name of the packager.
    fn name(self) -> &'static str {
        match self {
            Packager::SlurmWlm => "Debian",
            Packager::SlurmSmd => "SchedMD",
        }
    }
}

impl fmt::Display for Packager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

impl FromStr for Packager {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Packager> {
        match text {
            "slurm-wlm" => Ok(Packager::SlurmWlm),
            "slurm-smd" => Ok(Packager::SlurmSmd),
            _ => bail!("`{text}` is neither slurm-wlm nor slurm-smd"),
        }
    }
}

/// The packages to make.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The release of Slurm, unless `source` determines it.
    pub release: Release,
    /// A configured source tree of Slurm; `None`: Debian's is fetched.
    pub source: Option<PathBuf>,
    /// The packager of that Slurm.
    pub packager: Packager,
    /// cargo's profile of command and library: `release`, or `dev` for tests.
    pub profile: String,
    /// RPM packages, too; without dpkg these alone.
    pub rpm: bool,
}

/// The folder of the built packages.
pub fn folder() -> PathBuf {
    project::root().join("target/packages")
}

/// Makes packages and returns their paths: those for Debian where dpkg is, those for RPM where they are
/// asked for or dpkg is not.
///
/// # Errors
/// Fails if cargo, dpkg-buildpackage or cargo-generate-rpm fails.
pub fn build(wish: &Wish, progress: &Progress) -> Result<Vec<PathBuf>> {
    let on_debian = Path::new("/var/lib/dpkg/status").is_file();
    let mut made = Vec::new();
    if on_debian {
        made.extend(debs(wish, progress)?);
    }
    if wish.rpm || !on_debian {
        made.extend(rpm::build(&wish.profile, progress)?);
    }
    Ok(made)
}

/// Makes the packages for Debian.
fn debs(wish: &Wish, progress: &Progress) -> Result<Vec<PathBuf>> {
    let mut made = deb::command(&wish.profile, progress)?;
    made.extend(deb::plugin(wish, progress)?);
    Ok(made)
}

/// The version of the workspace, from Cargo.toml.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version in packages: a pre-release sorts before its release.
fn package_version() -> String {
    VERSION.replacen('-', "~", 1)
}

/// The first release after all that have the same three numbers.
fn next_micro(release: &Release) -> Result<Release> {
    let [major, minor, micro] = release.numbers();
    format!("{major}.{minor}.{}", micro + 1).parse()
}

/// The path of a file for messages.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_plugins_end_before_the_next_release() {
        let release: Release = "22.05.8".parse().unwrap();
        assert_eq!(next_micro(&release).unwrap().to_string(), "22.05.9");
        assert!(!package_version().contains('-'));
        assert_eq!("slurm-smd".parse::<Packager>().unwrap(), Packager::SlurmSmd);
        assert!("slurm".parse::<Packager>().is_err());
    }
}
