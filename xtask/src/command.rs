//! Functions that run other programs.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::project;

/// Largest number of output lines that the error of a failed program repeats.
const MOST_LINES: usize = 30;

/// The cargo that runs this program, in the checkout.
pub fn cargo_in_checkout() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(project::root());
    command
}

/// Runs a program to its end and returns its output.
///
/// # Errors
/// Fails if it cannot be run, or if it fails: then with the end of its output.
pub fn checked(command: &mut Command) -> Result<String> {
    let answer = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    if !answer.status.success() {
        let text = [answer.stdout, answer.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let skipped = text.lines().count().saturating_sub(MOST_LINES);
        let tail: Vec<&str> = text.lines().skip(skipped).collect();
        bail!(
            "{command:?} failed ({}):\n{}",
            answer.status,
            tail.join("\n")
        );
    }
    Ok(String::from_utf8_lossy(&answer.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_a_failed_program_said_is_repeated() {
        assert_eq!(checked(&mut sh("echo well")).unwrap(), "well\n");
        let error = checked(&mut sh("echo out; echo why >&2; exit 3")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("out\nwhy") && text.contains('3'), "{text}");
    }
}
