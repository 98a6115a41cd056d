//! The `fairtree` command as its users wait for it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use xtask::command::{cargo_in_checkout, checked};
use xtask::progress::Progress;
use xtask::project;

use super::capture::{Size, generate};
use super::table::{Row, Table, Unit};
use super::workload::count;

/// Runs of each command.
const TURNS: usize = 7;

/// The table of this section.
///
/// # Errors
/// The command does not build, or fails.
pub fn measure(quick: bool, progress: &Progress) -> Result<Table> {
    progress.step("the command: building");
    // Where `cargo build --release` puts it: nothing is built twice.
    let target = project::root().join("target");
    let mut cargo = cargo_in_checkout();
    cargo.args(["build", "--quiet", "--release", "--package", "fairtree-cli"]);
    checked(cargo.arg("--target-dir").arg(&target))?;
    let program = target.join("release/fairtree");
    let size = if quick { Size::SMALL } else { Size::LARGE };
    let assocs = count(size.assocs());
    let jobs = count(size.jobs);
    progress.step(format!("the command: writing a capture of {jobs} jobs"));
    let folder = tempfile::tempdir_in(&target)?;
    let capture = folder.path().join("capture");
    generate(&capture, &size)?;
    progress.step("the command: running");
    let from = capture.display().to_string();
    let timed = |words: &[&str]| {
        let from = ["--quiet", "--from", &from];
        median(Command::new(&program).args(words).args(from))
    };
    let wc = |names: &[&str]| {
        let files: Vec<PathBuf> = names.iter().map(|name| capture.join(name)).collect();
        median(Command::new("wc").arg("-l").args(files))
    };
    let shares = wc(&["config.txt", "sshare.txt"])?;
    let whole = wc(&[
        "config.txt",
        "sshare.txt",
        "assocs.txt",
        "names.txt",
        "jobs.txt",
        "sprio.txt",
    ])?;
    let (first, second) = (size.waiting(0), size.waiting(1));
    let row = |what: String, ms: f64, peer: f64| {
        Row::new(what, Unit::Milliseconds, ms)
            .beside(peer)
            .at_most(1000.0)
    };
    let start = median(Command::new(&program).arg("--help"))?;
    let nothing = median(&mut Command::new("true"))?;
    Ok(Table {
        title: format!("a capture of {assocs} associations and {jobs} jobs"),
        heads: ("fairtree", "wc -l"),
        rows: vec![
            Row::new("--help (peer: true)", Unit::Milliseconds, start)
                .beside(nothing)
                .at_most(10.0),
            row(
                format!("share -a -l, {assocs} rows"),
                timed(&["share", "-a", "-l"])?,
                shares,
            ),
            row(
                "share --check".to_owned(),
                timed(&["share", "--check"])?,
                shares,
            ),
            row(
                "explain JOB".to_owned(),
                timed(&["explain", &first])?,
                whole,
            ),
            row(
                "explain JOB --versus JOB".to_owned(),
                timed(&["explain", &first, "--versus", &second])?,
                whole,
            ),
            row(
                "explain USER --versus USER".to_owned(),
                timed(&["explain", "u1x1@a1", "--versus", "u2x2@a2"])?,
                whole,
            ),
        ],
    })
}

/// The middle of the times of several runs, milliseconds; the first run, which may have to fetch
/// files from the disk, does not count.
fn median(command: &mut Command) -> Result<f64> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut times = Vec::with_capacity(TURNS);
    for turn in 0..=TURNS {
        let start = Instant::now();
        let ran = command
            .spawn()
            .and_then(std::process::Child::wait_with_output);
        let ran = ran.with_context(|| format!("cannot run {command:?}"))?;
        let said = String::from_utf8_lossy(&ran.stderr);
        ensure!(ran.status.success(), "{command:?} failed: {said}");
        if turn > 0 {
            times.push(start.elapsed().as_secs_f64() * 1000.0);
        }
    }
    Ok(super::median(&times))
}
