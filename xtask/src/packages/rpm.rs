//! RPM packages of command and library, made by cargo-generate-rpm: the files of `make install`,
//! listed in `[package.metadata.generate-rpm]` of `crates/cli/Cargo.toml`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::{folder, package_version};
use crate::command::{cargo_in_checkout, checked, followed};
use crate::progress::Progress;
use crate::project;

/// The version of cargo-generate-rpm.
const TOOL: &str = "0.21.0";

/// The packages; the first has no variant.
const PACKAGES: [(&str, Option<&str>); 4] = [
    ("fairtree", None),
    ("fairtree-serve", Some("serve")),
    ("libfairtree", Some("lib")),
    ("libfairtree-devel", Some("devel")),
];

/// Makes the packages.
pub(super) fn build(profile: &str, progress: &Progress) -> Result<Vec<PathBuf>> {
    let tool = tool(progress)?;
    progress.step("building command and library, and their RPM packages");
    let root = project::root();
    let stage = folder().join("rpm/root");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    install(profile, &stage, progress)?;
    let mut made = Vec::new();
    for (name, variant) in PACKAGES {
        let package = folder().join(format!(
            "{name}-{}-1.{}.rpm",
            package_version(),
            std::env::consts::ARCH
        ));
        let mut command = Command::new(&tool);
        command
            .current_dir(&root)
            .args(["generate-rpm", "--package", "crates/cli"])
            // The script of Debian's rpm for this does not know multi-arch folders.
            .args(["--auto-req", "builtin", "--output"])
            .arg(&package);
        // The last value counts.
        let version = format!("version = \"{}\"\nrelease = \"1\"", package_version());
        if let Some(variant) = variant {
            command.args(["--variant", variant]);
        }
        checked(command.args(["--set-metadata", &version]))?;
        made.push(package);
    }
    Ok(made)
}

/// Installs the files of `make install`, and those that only packages have, below `stage`.
fn install(profile: &str, stage: &std::path::Path, progress: &Progress) -> Result<()> {
    let root = project::root();
    let mut make = Command::new("make");
    make.current_dir(&root)
        .args(["-f", "packaging/install.mk", "install", "install-serve"])
        .args(["PREFIX=/usr", "LIBDIR=/usr/lib64"])
        .arg(format!("PROFILE={profile}"))
        .arg(format!("DESTDIR={}", stage.display()))
        .arg(format!(
            "CARGO={}",
            cargo_in_checkout().get_program().to_string_lossy()
        ))
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL");
    followed(&mut make, "command and library, for RPM packages", progress)?;
    let library = stage.join("usr/lib64");
    for program in [
        stage.join("usr/bin/fairtree"),
        stage.join("usr/bin/fairtree-serve"),
        library.join("libfairtree.so.1"),
    ] {
        checked(Command::new("strip").arg("--strip-unneeded").arg(&program))?;
    }
    // The tool packs no links. So the library has the name that programs load, and the name that
    // the linker looks for is a script that refers to it.
    let real = fs::canonicalize(library.join("libfairtree.so.1"))?;
    for link in ["libfairtree.so.1", "libfairtree.so"] {
        fs::remove_file(library.join(link)).context("a link of make install")?;
    }
    fs::rename(real, library.join("libfairtree.so.1"))?;
    let script = "/* GNU ld script */\nINPUT ( libfairtree.so.1 )\n";
    fs::write(library.join("libfairtree.so"), script)?;
    Ok(())
}

/// cargo-generate-rpm, installed below `target/` if it is missing.
fn tool(progress: &Progress) -> Result<PathBuf> {
    let tools = project::root().join("target/tools");
    let tool = tools.join("bin/cargo-generate-rpm");
    let _lock = project::lock(&tools)?;
    if !tool.exists() {
        progress.step(format!("installing cargo-generate-rpm {TOOL}"));
        let mut cargo = cargo_in_checkout();
        cargo.args(["install", "--quiet", "--locked", "cargo-generate-rpm"]);
        cargo.args(["--version", TOOL, "--root"]).arg(&tools);
        followed(&mut cargo, "cargo-generate-rpm", progress)?;
    }
    Ok(tool)
}
