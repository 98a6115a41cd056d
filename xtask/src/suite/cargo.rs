//! Sections that are one call of cargo.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::checks::Outcome;
use crate::command::cargo_in_checkout;
use crate::interrupt;
use crate::progress::Progress;

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
        if let Some(outcome) = parse_result(&line) {
            total.passed += outcome.passed;
            total.failed += outcome.failed;
        }
    }
    Ok(child.wait()?.success())
}

/// The counts in `test result: ok. 12 passed; 0 failed; 0 ignored; ...`.
fn parse_result(line: &str) -> Option<Outcome> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let count = |word: &str| {
        counts
            .split("; ")
            .find_map(|part| part.strip_suffix(word))
            .and_then(|number| number.trim().parse().ok())
    };
    Some(Outcome {
        passed: count("passed")?,
        failed: count("failed")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_test_programs_are_counted() {
        let line = "test result: FAILED. 17 passed; 1 failed; 0 ignored; 0 measured; \
                    0 filtered out; finished in 0.30s";
        let outcome = parse_result(line).unwrap();
        assert_eq!((outcome.passed, outcome.failed), (17, 1));
        assert!(parse_result("test wait::tests::x ... ok").is_none());
    }
}
