//! Answers of package managers about a program's package: its name, the installed version, and the
//! version of the next upgrade. They come from lists on this machine; none of the commands asks a
//! network.

use fairtree::compat::Release;

use super::slurm::config;

/// A package and its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Name.
    pub name: String,
    /// The version that is installed, as the package manager writes it.
    pub installed: Option<String>,
    /// The version that an upgrade would leave; the same where there is nothing newer.
    pub candidate: Option<String>,
}

/// The release of the program in a version of its package: the part before the revision, without an
/// epoch and without additions of a packager.
///
/// ```
/// use fairtree::compat::Release;
/// use fairtree_model::input::package::upstream;
/// assert_eq!(upstream("22.05.8-4+deb12u3"), Some(Release::V22_05_8));
/// assert_eq!(upstream("1:24.11.5-1.el9"), Some(Release::V24_11_5));
/// assert_eq!(upstream("unknown"), None);
/// ```
pub fn upstream(version: &str) -> Option<Release> {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    let end = version.find(['-', '+', '~']).unwrap_or(version.len());
    config::release(&version[..end])
}

/// The package that `dpkg-query --search FILE` names; `None` where it names none or several.
pub fn dpkg_owner(answer: &str) -> Option<String> {
    let mut lines = answer
        .lines()
        .filter(|line| !line.starts_with("diversion "));
    let (owner, _) = lines.next()?.split_once(": ")?;
    // Of a package for several architectures: slurmctld:amd64.
    let name = owner.split(':').next()?;
    (!name.contains(',')).then(|| name.to_owned())
}

/// The answer of `apt-cache policy NAME` in the locale C; `None` where apt knows no such package.
pub fn apt_policy(answer: &str) -> Option<Package> {
    let mut lines = answer.lines();
    let name = lines.next()?.strip_suffix(':')?;
    let mut value = |key: &str| {
        let line = lines.next()?.trim().strip_prefix(key)?.trim();
        Some((line != "(none)").then(|| line.to_owned()))
    };
    Some(Package {
        name: name.to_owned(),
        installed: value("Installed:")?,
        candidate: value("Candidate:")?,
    })
}

/// The answer of `rpm -qf --queryformat '%{NAME} %{VERSION}-%{RELEASE}\n' FILE`.
pub fn rpm_owner(answer: &str) -> Option<Package> {
    let (name, version) = answer.lines().next()?.split_once(' ')?;
    upstream(version)?;
    Some(Package {
        name: name.to_owned(),
        installed: Some(version.to_owned()),
        candidate: None,
    })
}

/// The version of `name` in the answer of `dnf --cacheonly --quiet list --upgrades NAME`: the newest
/// comes last. `None`: no newer one is known.
pub fn dnf_upgrade(answer: &str, name: &str) -> Option<String> {
    let mut rows = answer.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (package, version) = (words.next()?, words.next()?);
        let (package, _architecture) = package.rsplit_once('.')?;
        (package == name).then(|| version.to_owned())
    });
    rows.next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Printed by dpkg-query 1.21 and apt-cache 2.6 of Debian 12.
    #[test]
    fn debian_says_what_is_installed_and_what_comes() {
        assert_eq!(
            dpkg_owner("slurmctld: /usr/sbin/slurmctld\n").as_deref(),
            Some("slurmctld")
        );
        let diverted = "diversion by dash from: /bin/sh\ndash: /bin/sh\n";
        assert_eq!(dpkg_owner(diverted).as_deref(), Some("dash"));
        assert_eq!(dpkg_owner("a, b: /usr/share/doc\n"), None);
        assert_eq!(dpkg_owner(""), None);
        let policy = apt_policy(
            "slurmctld:\n  Installed: 22.05.8-4+deb12u3\n  Candidate: 24.11.5-4\n  Version table:\n",
        );
        let policy = policy.expect("a package");
        assert_eq!(policy.name, "slurmctld");
        let release = |version: &Option<String>| version.as_deref().and_then(upstream);
        assert_eq!(release(&policy.installed), Some(Release::V22_05_8));
        assert_eq!(release(&policy.candidate), Some(Release::V24_11_5));
        let none = apt_policy("slurmctld:\n  Installed: (none)\n  Candidate: (none)\n").unwrap();
        assert_eq!((none.installed, none.candidate), (None, None));
        assert_eq!(apt_policy(""), None);
        assert_eq!(apt_policy("N: Unable to locate package x\n"), None);
    }

    // The forms that the manual pages of rpm and dnf describe.
    #[test]
    fn rpm_and_dnf_say_the_same() {
        let owner = rpm_owner("slurm-slurmctld 24.05.8-1.el9\n").expect("a package");
        assert_eq!(owner.name, "slurm-slurmctld");
        assert_eq!(
            rpm_owner("file /usr/sbin/slurmctld is not owned by any package\n"),
            None
        );
        let list = "Available Upgrades\nslurm-slurmctld.x86_64  24.05.9-1.el9  site\n\
                    slurm-slurmctld.x86_64  24.11.5-1.el9  site\nslurm.x86_64 1 site\n";
        assert_eq!(
            dnf_upgrade(list, "slurm-slurmctld").as_deref(),
            Some("24.11.5-1.el9")
        );
        assert_eq!(dnf_upgrade("", "slurm-slurmctld"), None);
    }
}
