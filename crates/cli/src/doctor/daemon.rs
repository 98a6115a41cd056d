//! The Slurm that is installed on this host, and the one that the next upgrade brings.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::first_line;
use fairtree_analysis::doctor::{Daemon, Known, Next, Packager};
use fairtree_model::input::capture::Ask;
use fairtree_model::input::package::{
    Package, apt_policy, dnf_upgrade, dpkg_owner, rpm_owner, upstream,
};

/// Programs that load the plugin; the first one found counts.
const PROGRAMS: [&str; 2] = ["slurmctld", "sshare"];

/// The installed program, its release and its package.
pub(super) fn find(limit: Duration) -> Known<Daemon> {
    let found = PROGRAMS
        .into_iter()
        .find_map(|program| Some((program, path_of(program)?)));
    let (program, path) = found.ok_or(
        "neither slurmctld nor sshare is in PATH: run this on a host of Slurm, with Slurm's folders in PATH",
    )?;
    let shown = path.display().to_string();
    let answer = Ask::new(&[&shown, "-V"], limit).run();
    let answer = answer.map_err(|error| first_line(&error))?;
    // `slurm-wlm 22.05.8`, `slurm 25.11.7`.
    let release = answer.text.split_whitespace().last().and_then(upstream);
    let release = release.ok_or_else(|| {
        let said = answer.text.lines().next().unwrap_or_default();
        format!("{shown} -V prints {said:?}, which names no release")
    })?;
    let (package, packager) = package(&path, limit);
    Ok(Daemon {
        program,
        release,
        package,
        packager,
    })
}

/// A program in `PATH`, or in the folder of daemons beside one of them, which users do not have there.
fn path_of(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let beside = folders.iter().filter_map(|folder| {
        let sbin = folder.parent()?.join("sbin");
        folder.ends_with("bin").then_some(sbin)
    });
    let mut paths = folders.iter().cloned().chain(beside);
    paths.find_map(|folder| {
        let path = folder.join(program);
        // A package manager does not follow a link from one folder for programs to another.
        path.is_file().then(|| path.canonicalize().ok())?
    })
}

/// The package that holds a program, with its versions; none where no package manager knows it.
fn package(path: &Path, limit: Duration) -> (Option<Package>, Packager) {
    let ask = |command: &[&str]| Ask::new(command, limit).run().ok().map(|said| said.text);
    let shown = path.display().to_string();
    if let Some(name) = ask(&["dpkg-query", "--search", &shown]).and_then(|said| dpkg_owner(&said))
    {
        let packager = match name.as_str() {
            name if name.starts_with("slurm-smd") => Packager::Schedmd,
            "slurmctld" | "slurm-client" => Packager::Debian,
            _ => Packager::Other,
        };
        let package = ask(&["apt-cache", "policy", &name]).and_then(|said| apt_policy(&said));
        let package = package.unwrap_or(Package {
            name,
            installed: None,
            candidate: None,
        });
        return (Some(package), packager);
    }
    let form = "%{NAME} %{VERSION}-%{RELEASE}\\n";
    let owner = ask(&["rpm", "-qf", "--queryformat", form, &shown]);
    let package = owner.and_then(|said| rpm_owner(&said)).map(|mut package| {
        let list = [
            "dnf",
            "--cacheonly",
            "--quiet",
            "list",
            "--upgrades",
            &package.name,
        ];
        let newer = ask(&list).map(|said| dnf_upgrade(&said, &package.name));
        // Without an answer nothing is known; an answer without the package has nothing newer.
        package.candidate = newer.and_then(|newer| newer.or_else(|| package.installed.clone()));
        package
    });
    (package, Packager::Other)
}

/// The result of the next upgrade, as far as the package manager knows on this host.
pub(super) fn next(daemon: Result<&Daemon, &String>) -> Known<Next> {
    let daemon = daemon.map_err(Clone::clone)?;
    let hint = "--next RELEASE asks about an upgrade to that release";
    let Some(package) = &daemon.package else {
        let program = daemon.program;
        return Err(format!(
            "{program} is of no package that dpkg or rpm knows; {hint}"
        ));
    };
    let Some(candidate) = &package.candidate else {
        let name = &package.name;
        return Err(format!(
            "what an upgrade of {name} brings is not known; {hint}"
        ));
    };
    if package.installed.as_ref() == Some(candidate) {
        return Ok(Next::Nothing);
    }
    match upstream(candidate) {
        Some(release) => Ok(Next::Version {
            release,
            version: candidate.clone(),
        }),
        None => Err(format!(
            "version {candidate} of {} names no release; {hint}",
            package.name
        )),
    }
}

/// The folder of Slurm's own plugins, where no setting says which: the first of those that packages
/// and `make install` use in which Slurm's own priority plugin is.
pub(super) fn default_folders() -> Vec<PathBuf> {
    let program = PROGRAMS.into_iter().find_map(path_of);
    let prefix = program
        .as_deref()
        .and_then(Path::parent)
        .and_then(Path::parent);
    let Some(prefix) = prefix else {
        return Vec::new();
    };
    let multiarch = format!("lib/{}-linux-gnu", env::consts::ARCH);
    let folders = [
        prefix.join(&multiarch).join("slurm-wlm"),
        prefix.join(&multiarch).join("slurm"),
        prefix.join("lib64/slurm"),
        prefix.join("lib/slurm"),
    ];
    let mut folders = folders.into_iter();
    let own = folders.find(|folder| folder.join("priority_multifactor.so").is_file());
    own.into_iter().collect()
}
