//! Checks of the packages: in a fresh Debian system with its Slurm they are installed, upgraded,
//! removed and purged. No file may be left, no service may be touched, and slurm.conf stays
//! unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};

use super::sandbox::Sandbox;
use super::{Packager, Wish, debs, folder, package_version, rpm, shown};
use crate::command::checked;
use crate::progress::Progress;
use crate::release::Release;

/// The function of a check, for a release of Slurm.
pub type Check = fn(&Release, &Progress) -> Result<()>;

/// All checks, with their names.
pub const CHECKS: [(&str, Check); 3] = [
    ("lintian has nothing to say", lintian),
    (
        "packages install, upgrade and go, and leave nothing",
        comings_and_goings,
    ),
    ("rpm packages list what they should", rpms),
];

/// The packages that this process has made, by release.
static MADE: Mutex<BTreeMap<String, Vec<PathBuf>>> = Mutex::new(BTreeMap::new());

/// Packages for tests: built once, as quickly as possible.
fn packages(release: &Release, progress: &Progress) -> Result<Vec<PathBuf>> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(packages) = made.get(&release.to_string()) {
        return Ok(packages.clone());
    }
    let wish = Wish {
        release: release.clone(),
        source: None,
        packager: Packager::SlurmWlm,
        profile: "dev".to_owned(),
        rpm: false,
    };
    let packages = debs(&wish, progress)?;
    made.insert(release.to_string(), packages.clone());
    Ok(packages)
}

fn lintian(release: &Release, progress: &Progress) -> Result<()> {
    let packages = packages(release, progress)?;
    progress.step("lintian");
    let mut command = Command::new("lintian");
    command.args(["--fail-on", "error,warning", "--tag-display-limit", "0"]);
    command.args(["--allow-root", "--no-cfg"]).args(&packages);
    let said = checked(&mut command)?;
    ensure!(said.trim().is_empty(), "lintian says:\n{said}");
    Ok(())
}

/// A slurm.conf with the plugin in use.
fn slurm_conf(release: &Release) -> String {
    let own = format!("/usr/lib/{}-linux-gnu/slurm-wlm", std::env::consts::ARCH);
    format!(
        "ClusterName=c\nSlurmctldHost=localhost\nSlurmUser=root\nStateSaveLocation=/var/spool\n\
         PluginDir=/usr/lib/fairtree/slurm/{release}:{own}\nPriorityType=priority/fairtree\n\
         NodeName=localhost\nPartitionName=p Nodes=ALL\n"
    )
}

/// Logs a package's requests to systemd, and does nothing.
const SYSTEMCTL: &str = "#!/bin/sh\necho \"systemctl $*\" >> /tmp/asked\n";

/// Logs a package's requests to init scripts, and forbids them.
const POLICY: &str = "#!/bin/sh\necho \"policy-rc.d $*\" >> /tmp/asked\nexit 101\n";

/// Files that the test itself has written.
const OURS: [&str; 4] = [
    "usr/bin/systemctl",
    "usr/sbin/policy-rc.d",
    "etc/slurm",
    "run",
];

fn comings_and_goings(release: &Release, progress: &Progress) -> Result<()> {
    let new: Vec<PathBuf> = packages(release, progress)?
        .into_iter()
        .filter(|path| !shown(path).contains("-dbgsym_"))
        .collect();
    let old = older(&new)?;
    progress.step(format!("packages in a Debian with Slurm {release}"));
    let sandbox = Sandbox::new(release, progress)?;
    sandbox.write("/usr/bin/systemctl", SYSTEMCTL, 0o755)?;
    sandbox.write("/usr/sbin/policy-rc.d", POLICY, 0o755)?;
    // As on a running system.
    sandbox.run("mkdir -p /run/systemd/system")?;
    sandbox.bring(&new)?;
    sandbox.bring(&old)?;
    let install = |packages: &[PathBuf]| {
        let names = packages.iter().filter_map(|path| path.file_name());
        let names: Vec<String> = names
            .map(|name| format!("/tmp/{}", name.to_string_lossy()))
            .collect();
        sandbox.run(&format!("dpkg --install {}", names.join(" ")))
    };
    let plugin = format!("slurm-wlm-fairtree-plugin-{release}");
    let names = format!("fairtree fairtree-serve libfairtree-dev libfairtree1 {plugin}");

    install(&old)?;
    let conf = slurm_conf(release);
    sandbox.write("/etc/slurm/slurm.conf", &conf, 0o644)?;
    let stamp = || sandbox.run("stat -c '%i %Y %s' /etc/slurm/slurm.conf");
    let before = stamp()?;
    install(&new)?;
    works(&sandbox, release)?;

    // Without the package's folder Slurm could not read slurm.conf any more.
    let refused = sandbox.shell(&format!("dpkg --remove {plugin}"))?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    ensure!(
        !refused.status.success() && said.contains("PluginDir in /etc/slurm/slurm.conf"),
        "the plugin was removed while slurm.conf needs it: {said}"
    );
    sandbox.run(&format!(
        "test -f /usr/lib/fairtree/slurm/{release}/priority_fairtree.so"
    ))?;
    ensure!(stamp()? == before, "slurm.conf was touched");
    sandbox.write("/etc/slurm/slurm.conf", "ClusterName=c\n", 0o644)?;

    // Files that timers have made are removed by a purge, and not before.
    sandbox.run("mkdir -p /var/lib/fairtree/captures && touch /var/lib/fairtree/captures/one")?;
    sandbox.run("mkdir -p /var/lib/fairtree-serve && touch /var/lib/fairtree-serve/one")?;
    sandbox.run(
        "mkdir -p /etc/systemd/system/timers.target.wants && ln -s \
         /usr/lib/systemd/system/fairtree-capture.timer /etc/systemd/system/timers.target.wants/",
    )?;
    sandbox.run(&format!("dpkg --remove {names}"))?;
    sandbox.run("test -f /var/lib/fairtree/captures/one && test -f /var/lib/fairtree-serve/one")?;
    sandbox.run(&format!("dpkg --purge {names}"))?;
    let left = sandbox.changes(&OURS)?;
    ensure!(left.is_empty(), "purging leaves {left:?}");
    let asked = sandbox.read("/tmp/asked").unwrap_or_default();
    let touched: Vec<&str> = asked
        .lines()
        .filter(|line| !line.trim_end().ends_with("daemon-reload"))
        .collect();
    ensure!(touched.is_empty(), "services were touched: {touched:?}");

    // Without an older version installed first.
    install(&new)?;
    sandbox.run(&format!("dpkg --purge {names}"))?;
    let left = sandbox.changes(&OURS)?;
    ensure!(left.is_empty(), "purging without removing leaves {left:?}");
    Ok(())
}

/// Checks that the installed files work.
fn works(sandbox: &Sandbox, release: &Release) -> Result<()> {
    let version = sandbox.run("fairtree --version")?;
    ensure!(version.starts_with("fairtree "), "{version}");
    let libraries = sandbox.run("ldconfig -p")?;
    ensure!(
        libraries.contains("libfairtree.so.1 "),
        "ldconfig: no library"
    );
    let listed = sandbox.run(&format!(
        "dpkg --listfiles fairtree fairtree-serve libfairtree-dev libfairtree1 slurm-wlm-fairtree-plugin-{release}"
    ))?;
    for file in [
        "/usr/share/man/man1/fairtree-doctor.1.gz",
        "/usr/share/bash-completion/completions/fairtree",
        "/fairtree-capture.timer",
        "/fairtree-ledger@.timer",
        "/usr/bin/fairtree-serve",
        "/fairtree-serve.service",
        "/etc/fairtree/serve.toml",
        "/usr/include/fairtree.h",
        "/pkgconfig/fairtree.pc",
        "/priority_fairtree.so",
    ] {
        ensure!(listed.lines().any(|line| line.ends_with(file)), "no {file}");
    }
    // A timer does not run unless somebody enables it.
    let wanted = sandbox.run("find /etc/systemd /run/systemd -name 'fairtree*'")?;
    ensure!(wanted.trim().is_empty(), "switched on: {wanted}");
    // This uses dpkg and apt of the real system, and the packaged plugin.
    let doctor = sandbox.shell("fairtree doctor --offline")?;
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    for words in [
        format!("ok[slurmctld]: slurmctld {release} is installed (package slurmctld {release}-"),
        format!(
            "ok[plugin]: /usr/lib/fairtree/slurm/{release}/priority_fairtree.so is for Slurm {release}"
        ),
        "ok[plugin-dir]: ".to_owned(),
        "ok[upgrade]: ".to_owned(),
    ] {
        ensure!(
            said.contains(&words),
            "doctor does not say `{words}`:\n{said}"
        );
    }
    let asked = sandbox.shell("fairtree doctor --offline --next 99.11.1")?;
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let remedy = "install slurm-wlm-fairtree-plugin-99.11.1";
    ensure!(
        asked.status.code() == Some(1) && said.contains(remedy),
        "doctor does not warn of an upgrade:\n{said}"
    );
    Ok(())
}

/// The same packages with a lower version.
fn older(packages: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let place = folder().join("older");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    let new = package_version();
    packages
        .iter()
        .map(|package| {
            let name = package.file_name().context("a name")?.to_string_lossy();
            let tree = place.join("tree");
            unpack(package, &tree)?;
            let control = tree.join("DEBIAN/control");
            let text = fs::read_to_string(&control)?;
            ensure!(text.contains(&new), "{name} is not of version {new}");
            fs::write(&control, text.replace(&new, "0.0.1"))?;
            let old = place.join(name.replace(&new, "0.0.1"));
            checked(
                Command::new("dpkg-deb")
                    .args(["--root-owner-group", "--build"])
                    .arg(&tree)
                    .arg(&old),
            )?;
            fs::remove_dir_all(&tree)?;
            Ok(old)
        })
        .collect()
}

fn unpack(package: &Path, tree: &Path) -> Result<()> {
    let mut command = Command::new("dpkg-deb");
    command.arg("--raw-extract").arg(package).arg(tree);
    checked(&mut command).map(drop)
}

/// No system with RPM is available here to install the packages, so they are only listed.
fn rpms(_: &Release, progress: &Progress) -> Result<()> {
    let made = rpm::build("dev", progress)?;
    let mut all = String::new();
    for package in &made {
        let list = |what: &str| {
            checked(
                Command::new("rpm")
                    .args(["--query", "--package", what])
                    .arg(package),
            )
        };
        let about = list("--info")?;
        let version = format!("Version     : {}", package_version());
        ensure!(about.contains(&version), "{about}");
        all.push_str(&list("--list")?);
        all.push_str(&list("--provides")?);
    }
    for words in [
        "/usr/bin/fairtree\n",
        "/usr/share/man/man1/fairtree-doctor.1",
        "/usr/share/bash-completion/completions/fairtree\n",
        "/usr/lib/systemd/system/fairtree-capture.timer\n",
        "/usr/lib64/libfairtree.so.1\n",
        "/usr/include/fairtree.h\n",
        "/usr/lib64/pkgconfig/fairtree.pc\n",
        "libfairtree.so.1()(64bit)",
    ] {
        ensure!(all.contains(words), "no {words} in {made:?}:\n{all}");
    }
    Ok(())
}
