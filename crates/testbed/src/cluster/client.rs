//! Slurm's commands, run against a private cluster.

use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use super::fairtree::Ran;
use super::services::DEADLINE;
use super::table::Table;
use super::users::User;
use super::{Cluster, PriorityType};
use crate::facts::facts;
use crate::wait;

/// A job to submit. Its script sleeps.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    /// Short name of its owner.
    pub user: &'a str,
    /// Account.
    pub account: &'a str,
    /// Partitions, comma-separated.
    pub partition: &'a str,
    /// QOS.
    pub qos: &'a str,
    /// CPUs, on one node unless `nodes` says otherwise.
    pub cpus: u32,
    /// Nodes.
    pub nodes: u32,
    /// Duration of its sleep, seconds.
    pub secs: u32,
    /// Further options of sbatch.
    pub options: Vec<String>,
}

impl NewJob<'_> {
    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            "--parsable".to_owned(),
            "--chdir=/".to_owned(),
            "--output=/dev/null".to_owned(),
            format!("--account={}", self.account),
            format!("--partition={}", self.partition),
            format!("--qos={}", self.qos),
            format!("--ntasks={}", self.cpus),
            format!("--nodes={}", self.nodes),
            format!("--wrap=sleep {}", self.secs),
        ];
        arguments.extend(self.options.iter().cloned());
        arguments
    }
}

impl Cluster {
    /// Runs a command of Slurm as root and returns its output.
    ///
    /// # Errors
    /// Fails if the command fails or does not end within a minute.
    pub fn run(&self, words: &[&str]) -> Result<String> {
        output(self.command(words)?)
    }

    /// Starts a command of Slurm as root and discards its output.
    ///
    /// # Errors
    /// Fails if it cannot be run.
    pub fn begin(&self, words: &[&str]) -> Result<Child> {
        let mut command = self.command(words)?;
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(Stdio::null()).spawn();
        child.with_context(|| format!("cannot run {command:?}"))
    }

    pub(super) fn command(&self, words: &[&str]) -> Result<Command> {
        let (program, arguments) = words.split_first().context("a command")?;
        let mut command = self.installation.command("timeout");
        self.set_environment(&mut command);
        command
            .args(["--kill-after=5", "60", program])
            .args(arguments);
        Ok(command)
    }

    /// The words with which a shell calls one of Slurm's commands in this cluster's environment, in
    /// the shell's current working folder.
    pub fn shell_words(&self, program: &str) -> String {
        let mut command = self.installation.command("env");
        command.arg("--chdir");
        let words = [command.get_program()]
            .into_iter()
            .chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let client = self.installation.client(program);
        format!("{} \"$PWD\" {}", words.join(" "), client.display())
    }

    /// [`Cluster::run`] with times printed as seconds since 1970.
    pub fn run_with_seconds(&self, words: &[&str]) -> Result<String> {
        let mut command = self.command(words)?;
        command.env("SLURM_TIME_FORMAT", "%s");
        output(command)
    }

    /// [`Cluster::run`] as one of the cluster's users.
    pub fn run_as(&self, user: &User, words: &[&str]) -> Result<String> {
        output(self.command_as(user, words)?)
    }

    /// Runs a command line as one of the cluster's users; accepts any exit code.
    ///
    /// # Errors
    /// Fails if it cannot be run.
    pub fn shell_as(&self, user: &User, line: &str) -> Result<Ran> {
        Ran::of(self.command_as(user, &["sh", "-c", line])?)
    }

    fn command_as(&self, user: &User, words: &[&str]) -> Result<Command> {
        let (program, arguments) = words.split_first().context("a command")?;
        let mut command = self.installation.command_as(user.owner(), "timeout");
        self.set_environment(&mut command);
        command
            .args(["--kill-after=5", "60", program])
            .args(arguments);
        Ok(command)
    }

    /// Runs sacctmgr without questions asked.
    pub fn sacctmgr(&self, words: &[&str]) -> Result<String> {
        let mut all = vec!["sacctmgr", "--immediate", "--quiet"];
        all.extend(words);
        self.run(&all)
    }

    /// Submits a job as its owner and returns its id.
    pub fn submit(&self, job: &NewJob) -> Result<u32> {
        let arguments = job.arguments();
        let mut words = vec!["sbatch"];
        words.extend(arguments.iter().map(String::as_str));
        let answer = self.run_as(self.user(job.user)?, &words)?;
        answer
            .trim()
            .parse()
            .with_context(|| format!("sbatch answered `{}`", answer.trim()))
    }

    /// Output of `sshare -a` in parsable form; the account column keeps its indentation.
    pub fn sshare(&self, columns: &str) -> Result<Table> {
        let format = format!("--format={columns}");
        Table::parse(&self.run(&["sshare", "--all", "--parsable2", &format])?)
    }

    /// Pending jobs as sprio shows them: one row per job and partition.
    ///
    /// The weighted columns are those of `sprio -l`, named as there.
    pub fn sprio(&self) -> Result<Table> {
        const COLUMNS: &[(&str, &str)] = &[
            ("JOBID", "%i"),
            ("PARTITION", "%r"),
            ("USER", "%u"),
            ("PRIORITY", "%Y"),
            ("SITE", "%S"),
            ("AGE", "%A"),
            ("ASSOC", "%B"),
            ("FAIRSHARE", "%F"),
            ("JOBSIZE", "%J"),
            ("PARTITION_FACTOR", "%P"),
            ("QOS", "%Q"),
            ("NICE", "%N"),
            ("TRES", "%T"),
        ];
        let letters: Vec<_> = COLUMNS.iter().map(|(_, letter)| *letter).collect();
        let format = format!("--format={}", letters.join("|"));
        let rows = self.run(&["sprio", "--noheader", &format])?;
        Table::with_header(COLUMNS.iter().map(|(name, _)| *name), &rows)
    }

    /// Jobs as squeue shows them, for `states` like `PD` or `PD,R`.
    pub fn squeue(&self, states: &str) -> Result<Table> {
        const COLUMNS: &[(&str, &str)] = &[
            ("JOBID", "%A"),
            ("USER", "%u"),
            ("ACCOUNT", "%a"),
            ("PARTITION", "%P"),
            ("QOS", "%q"),
            ("STATE", "%T"),
            ("PRIORITY", "%Q"),
        ];
        let letters: Vec<_> = COLUMNS.iter().map(|(_, letter)| *letter).collect();
        let format = format!("--format={}", letters.join("|"));
        let states = format!("--states={states}");
        let rows = self.run(&["squeue", "--noheader", "--array", &states, &format])?;
        Table::with_header(COLUMNS.iter().map(|(name, _)| *name), &rows)
    }

    /// `scontrol show KIND` as rows of `key=value`, times as seconds since 1970.
    pub fn show(&self, kind: &str) -> Result<Table> {
        let text = self.run_with_seconds(&["scontrol", "--oneliner", "show", kind])?;
        Ok(Table::parse_pairs(&text))
    }

    /// Writes the current settings and runs `scontrol reconfigure`. If that restarts slurmctld, it
    /// has started when this returns.
    ///
    /// # Errors
    /// Fails if the command fails or slurmctld does not start again.
    pub fn reconfigure(&self) -> Result<()> {
        self.write_conf()?;
        let before = self.slurmctld_starts()?;
        let outcome = self.run(&["scontrol", "reconfigure"]).map(drop);
        self.await_reconfigured(before)?;
        outcome
    }

    /// Number of times that slurmctld has started to control the cluster.
    ///
    /// # Errors
    /// Fails if its log cannot be read.
    pub fn slurmctld_starts(&self) -> Result<usize> {
        let log = self.slurmctld_log()?;
        Ok(log.matches("Running as primary controller").count())
    }

    /// Waits for the end of a reconfigure that was requested after `before` starts.
    ///
    /// From 23.11 on, a slurmctld in the foreground answers the command before it executes itself
    /// again: a signal, a clock step or a change from slurmdbd that comes in between is lost.
    ///
    /// # Errors
    /// Fails if slurmctld does not start again.
    pub fn await_reconfigured(&self, before: usize) -> Result<()> {
        if !facts(self.release()).reconfigure_restarts {
            return Ok(());
        }
        wait::until_true("slurmctld has started again", DEADLINE, || {
            Ok(self.slurmctld_starts()? > before)
        })
    }

    /// Restarts slurmctld with a different priority plugin.
    pub fn switch_to(&mut self, priority: PriorityType) -> Result<()> {
        self.stop_slurmctld()?;
        self.conf_mut().set("PriorityType", priority.conf());
        self.write_conf()?;
        self.start_slurmctld()
    }
}

pub(super) fn output(mut command: Command) -> Result<String> {
    let answer: Output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    if !answer.status.success() {
        let words: Vec<_> = command
            .get_args()
            .map(|word| word.to_string_lossy())
            .collect();
        bail!(
            "`{}` failed ({}): {}{}",
            words.join(" "),
            answer.status,
            String::from_utf8_lossy(&answer.stderr),
            String::from_utf8_lossy(&answer.stdout)
        );
    }
    Ok(String::from_utf8(answer.stdout)?)
}
