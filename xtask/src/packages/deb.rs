//! Debian packages, from the folders in `packaging/debian`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{VERSION, Wish, folder, next_micro, package_version, shown};
use crate::command::{cargo_in_checkout, checked, followed};
use crate::progress::Progress;
use crate::release::Release;
use crate::{plugin, project, source};

/// Builds `fairtree`, `fairtree-serve`, `libfairtree1` and `libfairtree-dev`.
pub(super) fn command(profile: &str, progress: &Progress) -> Result<Vec<PathBuf>> {
    progress.step("building command and library, and their Debian packages");
    let abi = abi()?;
    let words = [("ABI", abi.clone())];
    let tree = Tree::new("command", "fairtree", &words)?;
    let lib = tree.debian().join("lib.install");
    fs::rename(lib, tree.debian().join(format!("libfairtree{abi}.install")))?;
    fs::write(tree.debian().join("crates"), crates()?)?;
    let variables = [("PROFILE", profile.to_owned())];
    tree.build(
        &variables,
        "command and library, as Debian packages",
        progress,
    )
}

/// Builds the package of the plugin.
pub(super) fn plugin(wish: &Wish, progress: &Progress) -> Result<Vec<PathBuf>> {
    let release = match &wish.source {
        Some(source) => Release::of_source(source)?,
        None => wish.release.clone(),
    };
    let built = plugin::build(&release, wish.source.as_deref(), progress)?;
    let tree_of_slurm = match &wish.source {
        Some(folder) => folder.clone(),
        None => source::fetch(&release, progress)?,
    };
    progress.step(format!("packing the plugin for Slurm {release}"));
    let words = [
        ("KIND", wish.packager.kind().to_owned()),
        ("CONTROLLER", wish.packager.controller().to_owned()),
        ("PACKAGER", wish.packager.name().to_owned()),
        ("RELEASE", release.to_string()),
        ("NEXT", next_micro(&release)?.to_string()),
        ("REVISION", revision(&tree_of_slurm, &release)),
    ];
    let name = format!("{}-fairtree-plugin-{release}", wish.packager);
    let tree = Tree::new("plugin", &name, &words)?;
    let prerm = tree.debian().join(format!("{name}.prerm"));
    fs::rename(tree.debian().join("prerm"), prerm)?;
    let variables = [("PLUGIN", shown(&built))];
    tree.build(&variables, &name, progress)
}

/// The package of Slurm that a source tree is of, as `slurm-wlm 22.05.8-4+deb12u3`: the first line of its
/// `debian/changelog`, or the package whose upstream source was fetched. Without one, the release.
fn revision(tree: &Path, release: &Release) -> String {
    let text = fs::read_to_string(tree.join("debian/changelog")).unwrap_or_default();
    let first = text.lines().find(|line| !line.trim().is_empty());
    let named = first.and_then(|line| {
        let (name, rest) = line.split_once(" (")?;
        Some(format!("{} {}", name.trim(), rest.split_once(')')?.0))
    });
    let fetched = || {
        let package = fs::read_to_string(tree.join(source::PACKAGE)).ok()?;
        let package = package.trim();
        (!package.is_empty()).then(|| format!("the upstream source of {package}"))
    };
    let otherwise = || format!("Slurm {release}, a source tree without packaging");
    named.or_else(fetched).unwrap_or_else(otherwise)
}

/// A source tree for dpkg-buildpackage.
struct Tree {
    path: PathBuf,
}

impl Tree {
    /// Copies `packaging/debian/TEMPLATE`, and replaces the words between `@` signs by `words`.
    fn new(template: &str, source: &str, words: &[(&str, String)]) -> Result<Tree> {
        let above = folder().join("build").join(source);
        if above.exists() {
            fs::remove_dir_all(&above)?;
        }
        let tree = Tree {
            path: above.join(source),
        };
        let root = project::root();
        let mut words = words.to_vec();
        words.push(("CHECKOUT", shown(&root)));
        words.push(("MAINTAINER", maintainer()));
        let packaging = root.join("packaging/debian");
        copy(&packaging.join(template), &tree.debian(), &words)?;
        fs::copy(packaging.join("copyright"), tree.debian().join("copyright"))?;
        let rules = tree.debian().join("rules");
        fs::set_permissions(&rules, fs::Permissions::from_mode(0o755))?;
        fs::write(tree.debian().join("changelog"), changelog(source)?)?;
        Ok(tree)
    }

    fn debian(&self) -> PathBuf {
        self.path.join("debian")
    }

    /// Builds its packages and moves them to the folder of packages.
    fn build(
        &self,
        variables: &[(&str, String)],
        what: &str,
        progress: &Progress,
    ) -> Result<Vec<PathBuf>> {
        let mut command = Command::new("dpkg-buildpackage");
        command
            .args(["--build=binary", "--no-sign", "--no-check-builddeps"])
            .current_dir(&self.path)
            .env("CHECKOUT", project::root())
            .env("CARGO", cargo_in_checkout().get_program())
            // Options of a calling make must not reach the makefiles of the package.
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .envs(variables.iter().map(|(key, value)| (*key, value)));
        let built = followed(&mut command, what, progress);
        built.context("make deps installs what packages are made with")?;
        let above = self.path.parent().context("a folder above")?;
        let mut made = Vec::new();
        for entry in fs::read_dir(above)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "deb") {
                let to = folder().join(path.file_name().context("a name")?);
                fs::rename(&path, &to)?;
                made.push(to);
            }
        }
        made.sort();
        ensure!(!made.is_empty(), "{} made no package", shown(&self.path));
        Ok(made)
    }
}

/// Copies a folder of text files, with words replaced.
fn copy(from: &Path, to: &Path, words: &[(&str, String)]) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target, words)?;
            continue;
        }
        let mut text = fs::read_to_string(entry.path())?;
        for (word, value) in words {
            text = text.replace(&format!("@{word}@"), value);
        }
        fs::write(target, text)?;
    }
    Ok(())
}

/// The maintainer of the packages: from the variables of Debian's tools, or the project.
fn maintainer() -> String {
    let told = |key| {
        std::env::var(key)
            .ok()
            .filter(|value: &String| !value.is_empty())
    };
    match (told("DEBFULLNAME"), told("DEBEMAIL")) {
        (Some(name), Some(mail)) => format!("{name} <{mail}>"),
        _ => "fairtree maintainers <maintainers@fairtree.invalid>".to_owned(),
    }
}

/// A changelog with one entry and the time of the last commit: reproducible packages.
fn changelog(source: &str) -> Result<String> {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%cD"]);
    git.current_dir(project::root());
    let time = match checked(&mut git) {
        Ok(time) if !time.trim().is_empty() => time,
        // Without a checkout.
        _ => checked(Command::new("date").arg("--rfc-email"))?,
    };
    Ok(format!(
        "{source} ({}) unstable; urgency=medium\n\n  * Version {VERSION}: CHANGELOG.md tells what is \
         new.\n\n -- {}  {}\n",
        package_version(),
        maintainer(),
        time.trim()
    ))
}

/// The version number of the C ABI, from the header.
fn abi() -> Result<String> {
    let header = fs::read_to_string(project::root().join("include/fairtree.h"))?;
    let line = header
        .lines()
        .find_map(|line| line.strip_prefix("#define FT_ABI_VERSION "));
    let number = line.context("FT_ABI_VERSION in the header")?;
    Ok(number.trim_end_matches('u').to_owned())
}

/// Lists the crates in the command, with their licenses.
fn crates() -> Result<String> {
    let mut cargo = cargo_in_checkout();
    // Macros run while it is compiled.
    let edges = "normal,no-proc-macro";
    cargo.args([
        "tree",
        "--package",
        "fairtree-cli",
        "--package",
        "fairtree-serve",
    ]);
    cargo.args(["--edges", edges]);
    cargo.args(["--prefix", "none", "--locked", "--format", "{p} {l}"]);
    let listed = checked(&mut cargo)?;
    let foreign = listed
        .lines()
        // The project's own crates have a folder, and repeated crates end with an asterisk.
        .filter(|line| !line.contains("(/") && !line.ends_with("(*)"));
    let names: BTreeSet<&str> = foreign.map(str::trim).collect();
    let mut text = String::from(
        "Crates in the command fairtree and in fairtree-serve, with their licenses:\n\n",
    );
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        text.push_str(name);
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The first line is that of dpkg-parsechangelog's manual page.
    #[test]
    fn the_revision_is_that_of_the_changelog() {
        let folder = tempfile::tempdir().expect("a folder");
        let release: Release = "22.05.8".parse().expect("a release");
        let without = revision(folder.path(), &release);
        assert_eq!(without, "Slurm 22.05.8, a source tree without packaging");
        fs::create_dir(folder.path().join("debian")).expect("a folder");
        fs::write(folder.path().join(source::PACKAGE), "slurm-wlm 22.05.8-4\n").expect("written");
        let fetched = revision(folder.path(), &release);
        assert_eq!(fetched, "the upstream source of slurm-wlm 22.05.8-4");
        let text = "slurm-wlm (22.05.8-4+deb12u3) bookworm-security; urgency=high\n\n  * Fix.\n";
        fs::write(folder.path().join("debian/changelog"), text).expect("written");
        assert_eq!(
            revision(folder.path(), &release),
            "slurm-wlm 22.05.8-4+deb12u3"
        );
    }

    /// Every crate has one of the licenses that the file names, and each of those has a crate.
    #[test]
    fn the_licenses_of_crates_are_named() {
        let copyright = project::root().join("packaging/debian/copyright");
        let text = fs::read_to_string(copyright).expect("copyright");
        let named = ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Zlib"];
        let comment = text.split("Files: *").next().expect("a comment");
        for word in comment.split([' ', ',', '.', '\n']) {
            let is_license = ["BSD", "ISC", "Unicode", "MPL"]
                .iter()
                .any(|name| word.starts_with(name));
            assert!(!is_license || named.contains(&word), "{word}");
        }
        let crates = crates().expect("cargo tree");
        let crates: Vec<&str> = crates.lines().skip(2).collect();
        assert!(crates.len() > 50, "{crates:?}");
        let has = |line: &str, license: &str| {
            let words = line.split([' ', '/', '(', ')']);
            words.skip(2).any(|word| word == license)
        };
        for line in &crates {
            assert!(named.iter().any(|license| has(line, license)), "{line}");
        }
        for license in named {
            assert!(comment.contains(license), "{license}");
            assert!(crates.iter().any(|line| has(line, license)), "{license}");
        }
    }
}
