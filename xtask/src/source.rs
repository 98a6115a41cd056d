//! The source of a Slurm release, from the Debian release that ships it, configured.
//!
//! The plugin is compiled against Slurm's internal headers, which no package carries, and
//! against `config.h`, which only `./configure` makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::configured_source::configured;
use crate::command::checked;
use crate::prefix;
use crate::progress::Progress;
use crate::project;
use crate::release::Release;

#[path = "../../packaging/configured_source.rs"]
mod configured_source;
#[path = "../../packaging/slurm_source.rs"]
#[allow(dead_code)] // The names that a release looks up are of the build script.
mod slurm_source;

/// Debian's file with the keys of its archive.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Debian's options for `./configure` that affect the headers.
const CONFIGURE: &[&str] = &["--disable-debug"];

/// The folder of a release's configured source: the one that `SLURM_SRC` names, or one that is
/// fetched, unpacked and configured if necessary.
///
/// The folder appears in one step, by a rename, so a broken download leaves nothing.
///
/// # Errors
/// Fails if no known Debian release ships the release, if the mirror does not have it, if
/// `./configure` fails, and if a source is of a different release or not configured.
pub fn fetch(release: &Release, progress: &Progress) -> Result<PathBuf> {
    if let Some(folder) = prefix::source() {
        expect_release(&folder, release)?;
        expect_configured(&folder)?;
        return Ok(fs::canonicalize(&folder)?);
    }
    let folder = project::slurm_source(release);
    let is_there = || folder.join("config.h").exists();
    if is_there() {
        expect_release(&folder, release)?;
        return Ok(folder);
    }
    let Some(suite) = release.debian_suite() else {
        bail!(
            "no known Debian release ships Slurm {release}: name the configured source that it \
             was built from, {}=<folder>",
            prefix::SOURCE_VARIABLE
        );
    };
    let parent = folder.parent().context("a folder below target/")?;
    let _lock = project::lock(parent)?;
    if is_there() {
        return Ok(folder);
    }
    let work = tempfile::Builder::new()
        .prefix(".fetch-")
        .tempdir_in(parent)?;
    progress.step(format!(
        "fetching the source of Slurm {release} (Debian {suite})"
    ));
    let tarball = download(suite, release, work.path())?;
    let source = work.path().join("source");
    fs::create_dir(&source)?;
    let mut tar = Command::new("tar");
    tar.arg("--extract").arg("--file").arg(&tarball);
    tar.arg("--directory")
        .arg(&source)
        .arg("--strip-components=1");
    checked(&mut tar)?;
    expect_release(&source, release)?;
    fs::copy(work.path().join(PACKAGE), source.join(PACKAGE))?;
    progress.step(format!("configuring the source of Slurm {release}"));
    checked(
        Command::new("./configure")
            .args(CONFIGURE)
            .current_dir(&source),
    )?;
    fs::rename(&source, &folder)
        .with_context(|| format!("cannot move the source to {}", folder.display()))?;
    Ok(folder)
}

/// Fails unless the source tree is of this release.
pub fn expect_release(folder: &Path, release: &Release) -> Result<()> {
    let found = Release::of_source(folder)?;
    if found != *release {
        bail!("{} is Slurm {found}, not {release}", folder.display());
    }
    Ok(())
}

/// Fails unless `./configure` has run there, or in the folder that debhelper makes for it; returns
/// the folder with `config.h`.
pub fn expect_configured(folder: &Path) -> Result<PathBuf> {
    configured(folder).with_context(|| {
        format!(
            "{} is not configured: run ./configure there",
            folder.display()
        )
    })
}

/// The warning for whoever builds against a configured source whose series is later than all that are
/// known; `None`: it is a known one. The build script has the same, but cargo hides it under `--quiet`.
///
/// # Errors
/// A source that is not configured, or of an earlier series that is not known.
pub fn warning(folder: &Path) -> Result<Option<String>> {
    let config = expect_configured(folder)?.join("config.h");
    let text = fs::read_to_string(&config).with_context(|| config.display().to_string())?;
    let release = slurm_source::Release::of_config(&text).map_err(anyhow::Error::msg)?;
    Ok(release.warning())
}

/// The folders of Slurm's headers, in their order.
///
/// # Errors
/// Fails if the source is not configured.
pub fn headers(source: &Path) -> Result<[PathBuf; 3]> {
    let build = expect_configured(source)?;
    Ok([build, source.to_path_buf(), source.join("src")])
}

/// A file in a fetched source with the package that its tarball is of, as `slurm-wlm 22.05.8-4+deb12u3`.
pub const PACKAGE: &str = ".debian-package";

/// The package of which `apt-get source --print-uris` lists the files: that of its `.dsc`.
fn package(listed: &str) -> Option<String> {
    let mut files = listed.lines().filter_map(|line| line.split(' ').nth(1));
    let description = files.find_map(|file| file.strip_suffix(".dsc"))?;
    Some(description.replacen('_', " ", 1))
}

/// Downloads the upstream tarball of Debian's source package into `work`.
///
/// apt-get uses separate lists and settings, so the machine's do not change.
fn download(suite: &str, release: &Release, work: &Path) -> Result<PathBuf> {
    let mirror = debian_mirror()?;
    let sources = work.join("debian.sources");
    fs::write(
        &sources,
        format!(
            "Types: deb-src\nURIs: {mirror}\nSuites: {suite}\nComponents: main\n\
             Signed-By: {KEYRING}\n"
        ),
    )?;
    for folder in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(work.join(folder))?;
    }
    let apt_get = || {
        let mut command = Command::new("apt-get");
        command.current_dir(work).arg("--quiet");
        for (key, path) in [
            ("Dir::Etc::SourceList", sources.as_path()),
            ("Dir::Etc::SourceParts", Path::new("/dev/null")),
            ("Dir::State::Lists", &work.join("lists")),
            ("Dir::Cache", &work.join("cache")),
        ] {
            command.arg(format!("--option={key}={}", path.display()));
        }
        // The lists are in a folder that apt's own user may not be able to enter.
        command.arg("--option=APT::Sandbox::User=root");
        command
    };
    checked(apt_get().arg("update"))?;
    checked(apt_get().args(["source", "--download-only", "--tar-only", "slurm-wlm"]))?;
    let listed = checked(apt_get().args(["source", "--print-uris", "slurm-wlm"]))?;
    fs::write(work.join(PACKAGE), package(&listed).unwrap_or_default())?;
    let wanted = format!("slurm-wlm_{release}");
    fs::read_dir(work)?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&wanted) && name.contains(".orig.tar.")
        })
        .with_context(|| {
            format!("the mirror's source package slurm-wlm of {suite} is not {release}")
        })
}

/// The mirror of this machine's Debian packages.
///
/// apt reports it, for every format of source lists.
pub fn debian_mirror() -> Result<String> {
    let os_release = fs::read_to_string("/etc/os-release").context("cannot read os-release")?;
    let suite = os_release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
        .context("/etc/os-release has no VERSION_CODENAME")?;
    let answer = Command::new("apt-get")
        .args(["indextargets", "--no-release-info"])
        .args(["--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)"])
        .arg("Created-By: Packages")
        .output()
        .context("cannot run apt-get")?;
    let listed = String::from_utf8_lossy(&answer.stdout);
    mirror_of(suite, &listed)
        .with_context(|| format!("no mirror of Debian {suite} among apt's sources:\n{listed}"))
}

/// The address in the line of `suite`'s `main`; other archives use other suite names.
fn mirror_of(suite: &str, listed: &str) -> Option<String> {
    listed
        .lines()
        .filter_map(|line| line.strip_prefix(suite)?.strip_prefix(" main "))
        .next()
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_series_has_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let put = |file: &str, text: &str| {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        assert!(warning(folder.path()).is_err());
        put("slurm/slurm_version.h", "");
        put("config.h", "#define SLURM_VERSION_NUMBER 0x1a0503\n");
        assert_eq!(warning(folder.path()).unwrap(), None);
        put("config.h", "#define SLURM_VERSION_NUMBER 0x1a0b00\n");
        let text = warning(folder.path()).unwrap().unwrap();
        assert!(text.starts_with("Slurm 26.11.0 is of a series"), "{text}");
        put("config.h", "#define SLURM_VERSION_NUMBER 0x150808\n");
        assert!(warning(folder.path()).is_err());
    }

    #[test]
    fn the_mirror_is_that_of_the_release_itself() {
        let listed = "cloud-bookworm main http://other/apt/\n\
                      bookworm-updates main http://mirror/debian/\n\
                      bookworm contrib http://mirror/contrib/\n\
                      bookworm main http://mirror/debian/\n";
        assert_eq!(
            mirror_of("bookworm", listed).unwrap(),
            "http://mirror/debian/"
        );
        assert_eq!(mirror_of("trixie", listed), None);
    }
}
