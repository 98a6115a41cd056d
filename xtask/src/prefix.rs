//! A Slurm that a site has installed in a separate folder: `SLURM_PREFIX`, and `SLURM_SRC`, the
//! configured source that it was built from.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::command::checked;
use crate::release::Release;

/// Variable with the folder of the installed Slurm (`./configure --prefix`).
pub const VARIABLE: &str = "SLURM_PREFIX";

/// Variable with the configured source of that Slurm.
pub const SOURCE_VARIABLE: &str = "SLURM_SRC";

/// The default release, if neither an argument nor a variable names one.
const RELEASE: &str = "22.05.8";

/// One installation in a separate folder.
#[derive(Clone, Debug)]
pub struct Prefix {
    folder: PathBuf,
    library: PathBuf,
    release: Release,
}

impl Prefix {
    /// The installation that `SLURM_PREFIX` names; `None`: it is not set, or empty.
    ///
    /// # Errors
    /// Fails as [`Prefix::at`].
    pub fn of_environment() -> Result<Option<Prefix>> {
        folder_of(VARIABLE)
            .map(|folder| Prefix::at(&folder))
            .transpose()
    }

    /// The installation in this folder.
    ///
    /// # Errors
    /// Fails if the folder has no `sbin/slurmctld`, or no libslurmfull and plugins in one of the
    /// usual places, or if slurmctld does not report its release.
    pub fn at(folder: &Path) -> Result<Prefix> {
        let named = || format!("{VARIABLE}={}", folder.display());
        let folder = fs::canonicalize(folder).with_context(named)?;
        let slurmctld = folder.join("sbin/slurmctld");
        ensure!(
            slurmctld.is_file(),
            "{}: no sbin/slurmctld is there; {VARIABLE} is the folder that Slurm was installed into",
            named()
        );
        let library = library(&folder).with_context(|| {
            format!(
                "{}: no libslurmfull.so with priority_multifactor.so beside it in lib/slurm or \
                 lib64/slurm",
                named()
            )
        })?;
        let release = version(&checked(Command::new(&slurmctld).arg("-V"))?)?;
        Ok(Prefix {
            folder,
            library,
            release,
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of libslurmfull.so and of Slurm's own plugins.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// The release that its slurmctld reports.
    pub fn release(&self) -> &Release {
        &self.release
    }
}

/// The folder that a variable names; make passes an empty word if none was given.
fn folder_of(variable: &str) -> Option<PathBuf> {
    let value: OsString = std::env::var_os(variable)?;
    (!value.is_empty()).then(|| PathBuf::from(value))
}

/// The configured source that `SLURM_SRC` names; `None`: it is not set, or empty.
pub fn source() -> Option<PathBuf> {
    folder_of(SOURCE_VARIABLE)
}

/// The default release of the tools: that of `SLURM_PREFIX`, or the oldest tested one. An invalid
/// prefix is reported when Slurm is first needed.
///
/// # Panics
/// Never, because the release is a constant.
pub fn preset() -> Release {
    match Prefix::of_environment() {
        Ok(Some(prefix)) => prefix.release,
        Ok(None) | Err(_) => RELEASE.parse().expect("a release"),
    }
}

/// The folder of libslurmfull and the plugins: below `lib64` or `lib`, or in Debian's folder of the
/// architecture, under Slurm's or Debian's name.
fn library(folder: &Path) -> Option<PathBuf> {
    let triplet = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    let places = ["lib64", "lib", &triplet].map(|place| folder.join(place));
    let mut folders = places
        .iter()
        .flat_map(|place| ["slurm", "slurm-wlm"].map(|name| place.join(name)));
    folders.find(|folder| {
        let has = |name: &str| folder.join(name).is_file();
        has("libslurmfull.so") && has("priority_multifactor.so")
    })
}

/// The release that `slurm 22.05.8` names, or Debian's `slurm-wlm 22.05.8`; that of a candidate such as
/// `slurm 26.11.0-0rc1`.
///
/// # Errors
/// Anything else.
pub fn version(text: &str) -> Result<Release> {
    let text = text.trim();
    let named = text
        .strip_prefix("slurm-wlm ")
        .or_else(|| text.strip_prefix("slurm "));
    match named {
        Some(named) => named.parse(),
        None => bail!("slurmctld -V says `{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn installed(folder: &Path, says: &str, library: &str) {
        let put = |name: &str, text: &str| {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        };
        put("sbin/slurmctld", &format!("#!/bin/sh\necho '{says}'\n"));
        put(&format!("{library}/libslurmfull.so"), "");
        put(&format!("{library}/priority_multifactor.so"), "");
    }

    #[test]
    fn a_prefix_tells_its_release_and_its_library() {
        for library in ["lib64/slurm", "lib/slurm"] {
            let folder = tempfile::tempdir().unwrap();
            installed(folder.path(), "slurm 25.11.7", library);
            let prefix = Prefix::at(folder.path()).unwrap();
            assert_eq!(prefix.release().to_string(), "25.11.7");
            assert!(prefix.library().ends_with(library));
        }
    }

    #[test]
    fn what_is_no_installation_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = Prefix::at(folder.path()).unwrap_err();
        assert!(format!("{error:#}").contains("no sbin/slurmctld"));
        installed(folder.path(), "slurm 25.11.7", "lib/slurm");
        fs::remove_file(folder.path().join("lib/slurm/libslurmfull.so")).unwrap();
        let error = Prefix::at(folder.path()).unwrap_err();
        assert!(format!("{error:#}").contains("libslurmfull.so"));
        assert!(Prefix::at(&folder.path().join("absent")).is_err());
    }

    #[test]
    fn both_names_of_the_package_tell_the_release() {
        for text in ["slurm 24.11.5\n", "slurm-wlm 24.11.5\n"] {
            assert_eq!(version(text).unwrap().to_string(), "24.11.5");
        }
        assert_eq!(
            version("slurm 26.11.0-0rc1").unwrap().to_string(),
            "26.11.0"
        );
        assert!(version("something else").is_err());
    }
}
