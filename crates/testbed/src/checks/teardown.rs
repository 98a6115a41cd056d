//! A cluster leaves nothing behind: neither after Ctrl-C nor when its run is killed.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use xtask::interrupt;
use xtask::progress::Progress;

use super::Check;
use super::fixture::DEADLINE;
use crate::cluster::conf::PriorityType;
use crate::cluster::users;
use crate::demo;
use crate::process;
use crate::wait;

/// What another run of this program is told; the release follows.
const HOLD: [&str; 2] = ["cluster", "hold"];

/// Holds a cluster until a signal comes, where this program's arguments tell it to.
pub fn hold_of_arguments() -> Option<Result<()>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (words, release) = arguments.split_at_checked(HOLD.len())?;
    match release {
        [release] if words == HOLD => Some(hold(release)),
        _ => None,
    }
}

fn hold(release: &str) -> Result<()> {
    interrupt::install()?;
    demo::hold(
        &release.parse()?,
        PriorityType::Multifactor,
        &Progress::plain(),
    )
}

/// SIGINT as from a terminal, then SIGKILL, which no program sees coming.
pub fn leaves_nothing(check: &Check) -> Result<()> {
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        check.step(&format!("a run that gets {signal}"));
        let mut run = Run::start(check)?;
        let outcome = run.hit(signal);
        if outcome.is_err() {
            // Do not leave it to the next run.
            let _ = run.child.kill();
        }
        run.child.wait()?;
        outcome.with_context(|| format!("after {signal}"))?;
    }
    Ok(())
}

/// Another run of this program, which holds a cluster.
struct Run {
    child: Child,
    /// Kept open: a program whose output is closed ends for that reason.
    output: BufReader<ChildStdout>,
    folder: PathBuf,
    user: String,
}

impl Run {
    fn start(check: &Check) -> Result<Run> {
        let mut child = Command::new("/proc/self/exe")
            .args(HOLD)
            .arg(check.release.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = BufReader::new(child.stdout.take().context("its output")?);
        let mut run = Run {
            child,
            output,
            folder: PathBuf::new(),
            user: String::new(),
        };
        run.folder = PathBuf::from(run.value("folder")?);
        run.user = run.value("user")?;
        Ok(run)
    }

    /// The next line, without the word that it must begin with.
    fn value(&mut self, key: &str) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let rest = line.trim().strip_prefix(key).map(str::trim);
        Ok(rest
            .with_context(|| format!("`{line}` is no line {key}"))?
            .to_owned())
    }

    fn hit(&self, signal: Signal) -> Result<()> {
        let (folder, user) = (&self.folder, &self.user);
        ensure!(
            !process::marked(folder).is_empty(),
            "no process carries the mark"
        );
        ensure!(users::find(user)?.is_some(), "{user} does not exist");
        kill(Pid::from_raw(self.child.id().try_into()?), signal)?;
        wait::until_true("everything is gone", DEADLINE, || {
            let processes = process::marked(folder);
            Ok(!folder.exists() && processes.is_empty() && users::find(user)?.is_none())
        })
    }
}
