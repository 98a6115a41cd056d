//! A run of each coverage-guided target (`fuzz/`). `crates/cli/tests/corpus.rs` only replays their
//! corpus.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};

use xtask::interrupt;
use xtask::progress::Progress;
use xtask::project;

use super::outcome::Outcome;

/// The time of all targets together, without their build, seconds.
const SECS: u32 = 300;

/// Runs the targets; each counts as a test.
///
/// # Errors
/// Fails if they do not build, or if one breaks: then with its output.
pub fn search(progress: &Progress, total: &mut Outcome) -> Result<()> {
    interrupt::check()?;
    let mut child = Command::new(project::root().join("fuzz/run"))
        .args(["all", &SECS.to_string(), "-verbosity=0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run fuzz/run")?;
    let (output, error) = (child.stdout.take(), child.stderr.take());
    let mut said = String::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut bytes = Vec::new();
            let _ = error.map(|mut error| error.read_to_end(&mut bytes));
            said = String::from_utf8_lossy(&bytes).into_owned();
        });
        let lines = output.map(BufReader::new);
        for line in lines
            .into_iter()
            .flat_map(BufRead::lines)
            .map_while(Result::ok)
        {
            progress.print(&line);
            total.passed += usize::from(line.ends_with(": ok"));
        }
    });
    if child.wait()?.success() {
        return Ok(());
    }
    total.failed += 1;
    progress.print(&said);
    bail!("failed: coverage-guided tests")
}
