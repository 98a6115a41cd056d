//! Waiting time for the `fairtree` command.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use wait4::Wait4 as _;

use xtask::command::{cargo_in_checkout, checked};
use xtask::progress::Progress;
use xtask::project;

use super::capture::{Moment, Size, generate};
use super::table::{Measurement, Table, Unit};
use super::workload::count;

/// Runs of each command.
const TURNS: usize = 7;

/// Builds the command; its path.
///
/// # Errors
/// Fails if it does not build.
pub fn build(progress: &Progress) -> Result<PathBuf> {
    progress.step("the command: building");
    // The target folder of `cargo build --release`: nothing is built twice.
    let target = project::root().join("target");
    let mut cargo = cargo_in_checkout();
    cargo.args(["build", "--quiet", "--release", "--package", "fairtree-cli"]);
    checked(cargo.arg("--target-dir").arg(&target))?;
    Ok(target.join("release/fairtree"))
}

/// The table of this section.
///
/// # Errors
/// Fails if the command fails.
pub fn measure(program: &Path, quick: bool, progress: &Progress) -> Result<Table> {
    let target = project::root().join("target");
    let size = if quick { Size::SMALL } else { Size::LARGE };
    let assocs = count(size.assocs());
    let jobs = count(size.jobs);
    progress.step(format!("the command: writing a capture of {jobs} jobs"));
    let folder = tempfile::tempdir_in(&target)?;
    let capture = folder.path().join("capture");
    generate(&capture, &size, Moment::First)?;
    let later = folder.path().join("later");
    generate(&later, &size, Moment::Later)?;
    progress.step("the command: running");
    let from = capture.display().to_string();
    let ran = |words: &[&str]| {
        let from = ["--quiet", "--from", &from];
        Cost::of(Command::new(program).args(words).args(from))
    };
    let wc = |folder: &Path, names: &[&str]| {
        let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        Ok::<f64, anyhow::Error>(Cost::of(Command::new("wc").arg("-l").args(files))?.ms)
    };
    let shares = wc(&capture, &["config.txt", "sshare.txt"])?;
    let whole = wc(
        &capture,
        &[
            "config.txt",
            "sshare.txt",
            "assocs.txt",
            "names.txt",
            "jobs.txt",
            "sprio.txt",
        ],
    )?;
    let compared = ["sshare.txt", "sprio.txt"];
    let both = wc(&capture, &compared)? + wc(&later, &compared)?;
    let (first, second) = (size.waiting(0), size.waiting(1));
    let row = |what: String, cost: Cost, peer: f64| {
        Measurement::new(what, Unit::Milliseconds, cost.ms)
            .beside(peer)
            .at_most(1000.0)
    };
    // Commands about the whole queue.
    let queue = |what: &str, cost: Cost, peer: f64| {
        let time = Measurement::new(what, Unit::Milliseconds, cost.ms)
            .beside(peer)
            .at_most(4000.0);
        let memory = Measurement::new("its memory, at most", Unit::Megabytes, cost.megabytes);
        [time, memory.at_most(800.0)]
    };
    let start = Cost::of(Command::new(program).arg("--help"))?.ms;
    let nothing = Cost::of(&mut Command::new("true"))?.ms;
    let mut rows = vec![
        Measurement::new("--help (peer: true)", Unit::Milliseconds, start)
            .beside(nothing)
            .at_most(10.0),
        row(
            format!("share -a -l, {assocs} rows"),
            ran(&["share", "-a", "-l"])?,
            shares,
        ),
        row(
            "share --check".to_owned(),
            ran(&["share", "--check"])?,
            shares,
        ),
        row("explain JOB".to_owned(), ran(&["explain", &first])?, whole),
        row(
            "explain JOB --versus JOB".to_owned(),
            ran(&["explain", &first, "--versus", &second])?,
            whole,
        ),
        row(
            "explain USER --versus USER".to_owned(),
            ran(&["explain", "u1x1@a1", "--versus", "u2x2@a2"])?,
            whole,
        ),
    ];
    let shares_of_one = ["what-if", "--shares", "a1=50"];
    let cost_of_one = ["cost", "--job", &first];
    let compare = Cost::of(
        Command::new(program)
            .arg("compare")
            .args([&capture, &later]),
    )?;
    rows.extend(queue("prio, all rows", ran(&["prio"])?, whole));
    rows.extend(queue("prio --check", ran(&["prio", "--check"])?, whole));
    rows.extend(queue("what-if --shares", ran(&shares_of_one)?, whole));
    rows.extend(queue("cost --job JOB", ran(&cost_of_one)?, whole));
    rows.extend(queue("compare, two captures", compare, both));
    Ok(Table {
        title: format!("a capture of {assocs} associations and {jobs} jobs"),
        heads: ("fairtree", "wc -l"),
        rows,
    })
}

/// Cost of a run of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// From its start to its end, milliseconds.
    pub(super) ms: f64,
    /// Peak memory, megabytes.
    pub(super) megabytes: f64,
}

impl Cost {
    /// The median of several runs. The first run does not count, because it may have to read files
    /// from the disk. Exit code 1 means that the command has found something to report.
    pub(super) fn of(command: &mut Command) -> Result<Cost> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let (mut times, mut memory) = (Vec::new(), Vec::new());
        for turn in 0..=TURNS {
            let start = Instant::now();
            let ran = command.spawn().and_then(|mut child| child.wait4());
            let ran = ran.with_context(|| format!("cannot run {command:?}"))?;
            let code = ran.status.code();
            ensure!(matches!(code, Some(0 | 1)), "{command:?} failed: {code:?}");
            if turn > 0 {
                times.push(start.elapsed().as_secs_f64() * 1000.0);
                memory.push(ran.rusage.maxrss as f64 / 1e6);
            }
        }
        Ok(Cost {
            ms: super::median(&times),
            megabytes: super::median(&memory),
        })
    }
}
