//! Sections that need more than one call of cargo: the plugin's lints and tests, packages, the
//! oldest compiler.

use anyhow::Result;
use xtask::installation::Installation;
use xtask::interrupt;
use xtask::prefix::Prefix;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::{packages as made, plugin, project, source};

use super::cargo;
use super::outcome::Outcome;
use crate::msrv;

/// The folder of the release's packages, for the test of the plugin's symbols.
const ROOT_VARIABLE: &str = "FAIRTREE_SLURM_ROOT";

/// Runs the lints of the plugin, which need a release's source.
pub fn plugin_lints(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let words = ["clippy", "--lib", "--test", "slurm_symbols"];
    of_plugin(release, &words, &["--", "--deny=warnings"], progress, total)
}

/// Runs the unit tests of the plugin, and the test of its symbols.
pub fn plugin_tests(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let words = ["test", "--lib", "--test", "slurm_symbols"];
    of_plugin(release, &words, &[], progress, total)
}

fn of_plugin(
    release: &Release,
    first: &[&str],
    last: &[&str],
    progress: &Progress,
    total: &mut Outcome,
) -> Result<()> {
    let source = source::fetch(release, progress)?;
    let installation = Installation::of(release, progress)?;
    let variables = [
        (plugin::SOURCE_VARIABLE, source.as_path()),
        (ROOT_VARIABLE, installation.folder()),
    ];
    // A separate folder: otherwise different features would cause repeated builds.
    let folder = project::slurm(release).join("build").display().to_string();
    let feature = [
        "--package",
        "fairtree",
        "--no-default-features",
        "--features",
        "slurm",
        "--target-dir",
        &folder,
    ];
    let words = [first, &feature, last].concat();
    let name = format!("{} of the plugin for Slurm {release}", first[0]);
    cargo::run(&name, &words, &variables, progress, total)
}

/// Makes and checks packages for a release and the Debian release that ships it.
pub fn packages(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    // A Slurm from elsewhere is not in the Debian releases of the package checks.
    if Prefix::of_environment()?.is_some() {
        return Ok(());
    }
    for (what, check) in made::check::CHECKS {
        progress.step(format!("{what}, Slurm {release}"));
        interrupt::check()?;
        check(release, progress).inspect_err(|_| total.failed += 1)?;
        total.passed += 1;
    }
    Ok(())
}

/// Builds with the oldest supported compiler.
pub fn oldest_compiler(progress: &Progress, total: &mut Outcome) -> Result<()> {
    msrv::check(progress).inspect_err(|_| total.failed += 1)?;
    total.passed += 1;
    Ok(())
}
