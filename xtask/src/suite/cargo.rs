//! Sections that are one call of cargo.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use xtask::command::cargo_in_checkout;
use xtask::interrupt;
use xtask::progress::Progress;

use super::outcome::Outcome;

/// A section that is one call of cargo.
pub struct Section {
    /// What it is.
    pub title: &'static str,
    /// What cargo is told.
    pub arguments: &'static [&'static str],
}

impl Section {
    /// Runs it.
    pub fn run(&self, progress: &Progress, total: &mut Outcome) -> Result<()> {
        run_section(self.title, self.arguments, &[], progress, total)
    }
}

/// Runs cargo with `arguments` and `variables`, and adds up the results of tests.
pub fn run_section(
    name: &str,
    arguments: &[&str],
    variables: &[(&str, &Path)],
    progress: &Progress,
    total: &mut Outcome,
) -> Result<()> {
    progress.title(name);
    if cargo(arguments, variables, total)? {
        return Ok(());
    }
    // A section without tests of its own counts as one.
    total.failed += usize::from(total.failed == 0);
    bail!("failed: {name}")
}

/// Runs cargo, passes its output on, and adds up the results of test programs in it.
fn cargo(arguments: &[&str], variables: &[(&str, &Path)], total: &mut Outcome) -> Result<bool> {
    interrupt::check()?;
    let mut command = cargo_in_checkout();
    command.envs(variables.iter().copied());
    let mut child = command
        .args(arguments)
        .env("RUSTDOCFLAGS", "--deny=warnings")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo's output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        *total += Outcome::of_line(&line).unwrap_or_default();
    }
    Ok(child.wait()?.success())
}
