//! The test programs of the test bed (`crates/testbed/tests`), which need Slurm.
//!
//! They are built before anything runs, and started without cargo: meanwhile cargo builds other
//! packages, and a second cargo command would wait for that.

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
use xtask::interrupt;
use xtask::progress::{Progress, QUIET};
use xtask::project::{self, PREPARED};
use xtask::release::Release;

use super::outcome::Outcome;

/// How often an interruption is looked for.
const PAUSE: Duration = Duration::from_millis(100);

/// The programs, built.
pub struct Testbed {
    /// By name.
    programs: BTreeMap<String, PathBuf>,
}

impl Testbed {
    /// Builds all there are, which must be those of `names`.
    ///
    /// # Errors
    /// One that does not build, one that there is not, and one without a name.
    pub fn build(names: &[&str]) -> Result<Testbed> {
        let mut cargo = cargo_in_checkout();
        cargo.args(["test", "--quiet", "--package", "fairtree-testbed"]);
        cargo.args(["--test", "*", "--no-run", "--message-format", "json"]);
        let programs: BTreeMap<_, _> = checked(&mut cargo)?.lines().filter_map(program).collect();
        let built: BTreeSet<&str> = programs.keys().map(String::as_str).collect();
        let named: BTreeSet<&str> = names.iter().copied().collect();
        ensure!(
            built == named,
            "the test bed has the programs {built:?}, and {named:?} are run"
        );
        Ok(Testbed { programs })
    }

    /// Builds what the programs would otherwise build themselves.
    ///
    /// # Errors
    /// It does not build.
    pub fn prepare(release: &Release) -> Result<()> {
        let mut cargo = cargo_in_checkout();
        cargo.args(["run", "--quiet", "--package", "fairtree-testbed", "--"]);
        cargo.args(["prepare", "--slurm", &release.to_string()]);
        checked(&mut cargo).map(drop)
    }

    /// Runs a program for a release, passes on what it prints, and adds up its results.
    ///
    /// # Errors
    /// It cannot be run, or a test fails; an interruption, after which the program has ended.
    pub fn run(
        &self,
        name: &str,
        release: &Release,
        progress: &Progress,
        total: &mut Outcome,
    ) -> Result<()> {
        interrupt::check()?;
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
            // A terminal's Ctrl-C is for this program, which passes it on once.
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
        // One that ends before its tests do counts as one.
        total.failed += usize::from(found.failed == 0);
        bail!("failed: {name} of Slurm {release}")
    }
}

/// Waits for its end, and asks for it once after an interruption.
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

/// The name and the file of a test program, in a line of cargo's.
fn program(line: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(line).ok()?;
    let executable = message.get("executable")?.as_str()?;
    let target = message.get("target")?;
    // The package's command comes along.
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
                      "executable":"/t/debug/deps/storm-1f"}"#;
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
