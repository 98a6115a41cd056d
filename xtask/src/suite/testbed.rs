//! The test programs of the test bed (`crates/testbed/tests`), which need Slurm.
//!
//! They are built with all other tests, and started without cargo: cargo builds other packages at
//! the same time, and a second cargo command would wait for that.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, IsTerminal as _};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use xtask::command::{cargo_in_checkout, checked};
use xtask::every::Extent;
use xtask::interrupt;
use xtask::progress::{Progress, QUIET};
use xtask::project::{self, PREPARED};

use super::outcome::Outcome;
use super::section::{Section, Target, Work};

/// Interval between checks for an interruption.
const PAUSE: Duration = Duration::from_millis(100);

/// The built programs.
pub struct Testbed {
    /// The programs by name.
    programs: BTreeMap<String, PathBuf>,
}

impl Testbed {
    /// Gets the paths of the programs from cargo, and copies the command that clusters run; all have
    /// been built.
    ///
    /// # Errors
    /// Fails if cargo fails, or if the command cannot be copied.
    pub fn find() -> Result<Testbed> {
        let mut cargo = cargo_in_checkout();
        // With the same packages as in the build: otherwise some would have different features.
        cargo.args(["test", "--quiet", "--workspace", "--no-run"]);
        cargo.args(["--lib", "--bins", "--test", "*"]);
        cargo.args(["--message-format", "json"]);
        let programs = checked(&mut cargo)?.lines().filter_map(program).collect();
        project::copy_tested_command()?;
        Ok(Testbed { programs })
    }

    /// Checks that the programs are exactly those that these sections run.
    ///
    /// # Errors
    /// Fails if no section runs a program, or if a section has no program.
    pub fn expect<'a>(&self, sections: impl Iterator<Item = &'a Section>) -> Result<()> {
        let built: BTreeSet<&str> = self.programs.keys().map(String::as_str).collect();
        let named: BTreeSet<&str> = sections
            .filter_map(|section| match section.work {
                Work::Program(name) | Work::ProgramHere(name) => Some(name),
                _ => None,
            })
            .collect();
        ensure!(
            built == named,
            "the test bed has the programs {built:?}, and {named:?} are run"
        );
        Ok(())
    }

    /// Runs a program for a release, passes its output on, and adds up its results.
    ///
    /// # Errors
    /// Fails if it cannot be run or a test fails, and at an interruption, after the program's end.
    pub fn run(
        &self,
        name: &str,
        target: &Target,
        progress: &Progress,
        total: &mut Outcome,
    ) -> Result<()> {
        interrupt::check()?;
        let release = &target.release;
        let program = self
            .programs
            .get(name)
            .context("a program that was built")?;
        let mut command = Command::new(program);
        if std::io::stderr().is_terminal() {
            command.env(QUIET, "1");
        }
        let mut child = command
            .current_dir(project::root())
            .env("SLURM", release.to_string())
            .env(PREPARED, "1")
            .env(Extent::VARIABLE, target.extent.word())
            // A terminal's Ctrl-C must reach only this program, which passes it on once.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", program.display()))?;
        let output = child.stdout.take().context("its output")?;
        let (found, status) = thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut found = Outcome::default();
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    found += Outcome::of_line(&line).unwrap_or_default();
                    progress.print(line);
                }
                found
            });
            let status = wait(&mut child);
            (reader.join().unwrap_or_default(), status)
        });
        *total += found;
        interrupt::check()?;
        if status?.success() {
            return Ok(());
        }
        // A program that ends before its tests counts as one failure.
        total.failed += usize::from(found.failed == 0);
        bail!("failed: {name} of Slurm {release}")
    }
}

/// Waits for the child's end, and sends it one signal after an interruption.
fn wait(child: &mut Child) -> Result<ExitStatus> {
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if !asked && interrupt::check().is_err() {
            asked = true;
            let pid = Pid::from_raw(i32::try_from(child.id())?);
            kill(pid, Signal::SIGTERM).context("cannot end a test program")?;
        }
        thread::sleep(PAUSE);
    }
}

/// The name and the file of a test program of the test bed, in a line of cargo's output.
fn program(line: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(line).ok()?;
    let executable = message.get("executable")?.as_str()?;
    let target = message.get("target")?;
    let package = message.get("package_id")?.as_str()?;
    if !package.contains("/crates/testbed#") {
        return None;
    }
    let kinds = target.get("kind")?.as_array()?;
    let name = target
        .get("name")
        .filter(|_| kinds.iter().any(|kind| kind == "test"))?;
    let name = name.as_str()?;
    Some((name.to_owned(), PathBuf::from(executable)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_tells_where_programs_are() {
        let line = r#"{"reason":"compiler-artifact","target":{"kind":["test"],"name":"storm"},
                      "package_id":"path+file:///t/crates/testbed#fairtree-testbed@1.0.0",
                      "executable":"/t/debug/deps/storm-1f"}"#;
        let elsewhere = line.replace("testbed#", "cli#");
        assert!(program(&elsewhere).is_none());
        let (name, path) = program(line).unwrap();
        assert_eq!(
            (&*name, path),
            ("storm", PathBuf::from("/t/debug/deps/storm-1f"))
        );
        let command = r#"{"target":{"kind":["bin"],"name":"testbed"},"executable":"/t/testbed"}"#;
        assert!(program(command).is_none());
        let library = r#"{"target":{"kind":["lib"],"name":"x"},"executable":null}"#;
        assert!(program(library).is_none());
        assert!(program("{\"reason\":\"build-finished\"}").is_none());
    }
}
