//! Sections that need one call of cargo.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use xtask::command::cargo_in_checkout;
use xtask::interrupt;
use xtask::progress::Progress;

use super::outcome::Outcome;

/// Runs cargo with `arguments` and `variables`, passes its output on, and adds up the results of
/// its test programs.
///
/// # Errors
/// Fails with `name` if cargo fails, and at an interruption.
pub fn run(
    name: &str,
    arguments: &[&str],
    variables: &[(&str, &Path)],
    progress: &Progress,
    total: &mut Outcome,
) -> Result<()> {
    interrupt::check()?;
    let mut child = cargo_in_checkout()
        .envs(variables.iter().copied())
        .args(arguments)
        .env("RUSTDOCFLAGS", "--deny=warnings")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo's output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        progress.print(&line);
        *total += Outcome::of_line(&line).unwrap_or_default();
    }
    if child.wait()?.success() {
        return Ok(());
    }
    // A section without tests counts as one failure.
    total.failed += usize::from(total.failed == 0);
    bail!("failed: {name}")
}
