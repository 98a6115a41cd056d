//! A cluster leaves nothing behind: after Ctrl-C and when its run is killed.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use xtask::interrupt;
use xtask::progress::Progress;

use super::Check;
use super::fixture::{self, DEADLINE};
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::{Cluster, users};
use crate::demo::plan;
use crate::process;
use crate::wait;

/// Arguments for a second run of this program; the release follows.
const HOLD: [&str; 2] = ["cluster", "hold"];

/// Holds a cluster until a signal comes, if this program's arguments are `HOLD`.
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
    let (release, progress) = (release.parse()?, Progress::plain());
    let cluster = Cluster::start(&plan::plan(&release, PriorityType::Multifactor), &progress)?;
    let job = NewJob {
        user: "alice",
        account: "physics",
        partition: "main",
        qos: "normal",
        cpus: 1,
        nodes: 1,
        secs: 600,
        // The later of two options counts.
        options: vec!["--export=NONE".to_owned(), format!("--wrap={ESCAPES}")],
    };
    fixture::started(&cluster, cluster.submit(&job)?)?;
    let user = cluster.user("alice")?;
    let has_escaped = || process::owned_by(&[user.uid]).len() >= 3;
    wait::until_true("a process has left its job", DEADLINE, || Ok(has_escaped()))?;
    progress.print(format!("folder {}", cluster.path().display()));
    progress.print(format!("user   {}", user.name));
    wait::until("Ctrl-C", Duration::MAX, || Ok(None))
}

/// The script of a job with a process that leaves its session, clears its environment and ignores
/// SIGTERM.
const ESCAPES: &str = "env -i setsid sh -c 'trap : TERM; while :; do sleep 600; done' & sleep 600";

/// SIGINT as from a terminal, then SIGKILL, which no program can handle.
pub fn leaves_nothing(check: &Check) -> Result<()> {
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        check.step(&format!("a run that gets {signal}"));
        let mut run = Run::start(check)?;
        let outcome = run.hit(signal);
        if outcome.is_err() {
            // Do not leave the process to the next run.
            let _ = run.child.kill();
        }
        run.child.wait()?;
        outcome.with_context(|| format!("after {signal}"))?;
    }
    Ok(())
}

/// A second run of this program, which holds a cluster.
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
        let found = users::find(user)?.with_context(|| format!("{user} does not exist"))?;
        let uid = found.uid;
        kill(Pid::from_raw(self.child.id().try_into()?), signal)?;
        wait::until_true("everything is gone", DEADLINE, || {
            let processes = [process::marked(folder), process::owned_by(&[uid])].concat();
            Ok(!folder.exists() && processes.is_empty() && users::find(user)?.is_none())
        })
    }
}
