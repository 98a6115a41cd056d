//! A bench host that plays events on request (`tests/twin/bench`).

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use crate::twin::host::TwinHost;
use fairtree::usage::window::OWN_FILE;
use xtask::interrupt;

use super::median;
use super::workload::Workload;

/// The named numbers of one answer.
#[derive(Clone, Debug, Default)]
pub struct Answer(Vec<(String, f64)>);

impl Answer {
    /// Parses the words of a line that have the form `name=number`.
    pub fn parse(line: &str) -> Answer {
        let word = |word: &str| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        Answer(line.split_whitespace().filter_map(word).collect())
    }

    /// The medians of several answers with the same words.
    ///
    /// # Errors
    /// Fails if an answer lacks a name that the first has.
    pub fn medians(answers: &[Answer]) -> Result<Answer> {
        let Some(first) = answers.first() else {
            return Ok(Answer::default());
        };
        let of = |(name, _): &(String, f64)| {
            let values: Result<Vec<f64>> = answers.iter().map(|answer| answer.get(name)).collect();
            Ok((name.clone(), median(&values?)))
        };
        first.0.iter().map(of).collect::<Result<_>>().map(Answer)
    }

    /// The number with a name.
    ///
    /// # Errors
    /// Fails if there is no such name.
    pub fn get(&self, name: &str) -> Result<f64> {
        let found = self.0.iter().find(|(known, _)| known == name);
        let (_, value) = found.with_context(|| format!("the bench host did not say {name}"))?;
        Ok(*value)
    }
}

/// The answer to one event in a separate life.
///
/// # Errors
/// Fails if the host does not start or does not answer.
pub fn ask_alone(host: &TwinHost, event: &str) -> Result<Answer> {
    let folder = tempfile::tempdir()?;
    let mut command = host.prepare(&host.stock(), &format!("{event}\n"), folder.path())?;
    let output = command.output().context("the bench host")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("the bench host: {}", said.trim_end());
    }
    Ok(Answer::parse(&String::from_utf8_lossy(&output.stdout)))
}

/// A process with one plugin; ends when dropped.
pub struct Served {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    folder: TempDir,
    /// The pass without jobs.
    pub empty: Answer,
}

impl Served {
    /// Starts a host with a workload and waits until it is ready.
    ///
    /// # Errors
    /// Fails if the host does not start or ends early, with the host's output.
    pub fn start(
        host: &TwinHost,
        plugin: &Path,
        workload: &Workload,
        parameters: &str,
    ) -> Result<Served> {
        let mut served = Served::begin(host, plugin, workload, parameters)?;
        served.wait_until_built(workload)?;
        Ok(served)
    }

    /// Starts a host that builds its workload while other hosts do the same. Call
    /// [`Served::wait_until_built`] before the first question.
    ///
    /// # Errors
    /// Fails if the host does not start.
    pub fn begin(
        host: &TwinHost,
        plugin: &Path,
        workload: &Workload,
        parameters: &str,
    ) -> Result<Served> {
        let folder = tempfile::tempdir()?;
        let command = host.prepare(plugin, &workload.life(parameters), folder.path())?;
        Served::spawn(command, folder)
    }

    /// Like `begin`, but after the jobs are there, a reconfigure sets different
    /// `PriorityParameters`, and the plugin finds this ledger of usage, if any.
    ///
    /// # Errors
    /// Fails if the host does not start or the ledger cannot be written.
    pub fn begin_and_change(
        host: &TwinHost,
        plugin: &Path,
        (workload, ledger): (&Workload, Option<&[u8]>),
        parameters: &str,
    ) -> Result<Served> {
        let folder = tempfile::tempdir()?;
        let life = workload.life_that_changes(parameters);
        let command = host.prepare(plugin, &life, folder.path())?;
        if let Some(ledger) = ledger {
            fs::write(folder.path().join("state").join(OWN_FILE), ledger)?;
        }
        Served::spawn(command, folder)
    }

    fn spawn(mut command: Command, folder: TempDir) -> Result<Served> {
        let errors = File::create(folder.path().join("errors"))?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .context("the bench host")?;
        let output = BufReader::new(child.stdout.take().context("its output")?);
        Ok(Served {
            input: child.stdin.take(),
            output,
            child,
            folder,
            empty: Answer::default(),
        })
    }

    /// Waits until the host has built its workload.
    ///
    /// # Errors
    /// Fails if the host ends early, with the host's output, or if its workload is different.
    pub fn wait_until_built(&mut self, workload: &Workload) -> Result<()> {
        self.empty = self.answer()?;
        let (jobs, assocs) = (self.answer()?.get("jobs")?, self.answer()?.get("assocs")?);
        let expected = (workload.waiting + workload.running, workload.assocs());
        if (jobs, assocs) != (expected.0.into(), expected.1.into()) {
            bail!("the bench host has {jobs} jobs and {assocs} associations, not {expected:?}");
        }
        Ok(())
    }

    /// Plays one event and waits for its answer.
    ///
    /// # Errors
    /// Fails if the host has ended, with the host's output.
    pub fn ask(&mut self, event: &str) -> Result<Answer> {
        interrupt::check()?;
        let input = self.input.as_mut().context("the host was stopped")?;
        writeln!(input, "{event}")?;
        input.flush()?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Answer> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            let mut said = String::new();
            File::open(self.folder.path().join("errors"))?.read_to_string(&mut said)?;
            bail!("the bench host ended: {}", said.trim_end());
        }
        Ok(Answer::parse(&line))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // The host ends at the end of its input.
        self.input.take();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_words() {
        let answer = Answer::parse("cpu_us=12.5 locks=3 what\n");
        assert_eq!(answer.get("cpu_us").ok(), Some(12.5));
        assert_eq!(answer.get("locks").ok(), Some(3.0));
        assert!(answer.get("what").is_err());
    }

    #[test]
    fn medians_are_of_each_word() {
        let answers = ["a=1 b=9", "b=7 a=3", "a=2 b=8"].map(Answer::parse);
        let medians = Answer::medians(&answers).unwrap();
        assert_eq!(medians.get("a").ok(), Some(2.0));
        assert_eq!(medians.get("b").ok(), Some(8.0));
        assert!(Answer::medians(&["a=1", "b=1"].map(Answer::parse)).is_err());
        assert!(Answer::medians(&[]).unwrap().get("a").is_err());
    }
}
