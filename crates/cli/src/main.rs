//! The command `fairtree`.
//!
//! Data goes to standard output, messages to standard error. Exit codes: 0, all is well; 1, the
//! command was asked to compare or to check and found something; 2, it could not do what it was asked. A
//! reader that closes the pipe early is not an error.

mod apply;
mod args;
mod bill;
mod capture;
mod changes;
mod chart;
mod cluster;
mod compare;
mod cost;
mod doctor;
mod explain;
mod forecast;
mod generate;
mod input;
mod ledger;
mod lint;
mod login;
mod message;
mod metrics;
mod open;
mod prio;
mod progress;
mod queue;
mod serve;
mod service;
mod share;
mod shares;
mod simulate;
mod sweep;
mod terminal;
mod threads;
mod user;
mod what_if;
mod workload;
mod wrap;

use std::io;
use std::process::ExitCode;

use clap::FromArgMatches;

use args::{Cli, Command};
use fairtree::compat::Compat;
use fairtree::config::PriorityParameters;
use fairtree_model::input::InputError;
use fairtree_model::input::capture::CommandError;
use fairtree_render::chart::PngError;
use message::Messages;

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// All is well.
    Done,
    /// A comparison found differences, or a replay was stopped.
    Differences,
}

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// An input was refused.
    #[error("{}", .0.explained())]
    Input(#[from] InputError),
    /// A command of Slurm gave no answer.
    #[error(transparent)]
    Command(#[from] Box<CommandError>),
    /// The output could not be written.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    /// A file of the output could not be written.
    #[error("{0}: {1}")]
    File(String, io::Error),
    /// A picture could not be drawn.
    #[error(transparent)]
    Picture(#[from] PngError),
    /// The options do not fit.
    #[error("{0}")]
    Usage(String),
}

fn main() -> ExitCode {
    let matches = args::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let messages = Messages::new(cli.color, cli.quiet);
    if cli.quiet {
        progress::hide();
    }
    let outcome = match &cli.command {
        Command::Share(args) => share::run(args, &messages),
        Command::Shares(args) => shares::run(args, &messages),
        Command::Explain(args) => explain::run(args, &messages),
        Command::WhatIf(args) => what_if::run(args, &messages),
        Command::Cost(args) => cost::run(args, &messages),
        Command::Lint(args) => lint::run(args, &messages),
        Command::Doctor(args) => doctor::run(args, &messages),
        Command::Prio(args) => prio::run(args, &messages),
        Command::Metrics(args) => metrics::run(args, &messages),
        Command::Capture(args) => capture::run(args, &messages),
        Command::Compare(args) => compare::run(args, &messages),
        Command::Chart(args) => chart::run(args, &messages),
        Command::Queue(args) => queue::run(args, &messages),
        Command::Simulate(args) => simulate::run(args, &messages),
        Command::Sweep(args) => sweep::run(args, &messages),
        Command::Forecast(args) => forecast::run(args, &messages),
        Command::Bill(args) => bill::run(args, &messages),
        Command::Ledger(args) => ledger::run(args, &messages),
        Command::Login(args) => login::run(args),
        Command::Apply(args) => apply::run(args, &messages),
        Command::Serve(args) => serve::run(args),
        Command::Completions(args) => generate::completions_of(args.shell),
        Command::Generate(args) => generate::run(args),
    };
    for note in input::later_notes() {
        messages.note(&note);
    }
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Differences) => ExitCode::from(1),
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            messages.error(&failure.to_string());
            ExitCode::from(2)
        }
    }
}

/// The outcome once the answer is written. A reader that closes the pipe early wants no more of the
/// answer, but what was found stays found.
fn told(written: io::Result<()>, outcome: Outcome) -> Result<Outcome, Failure> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(outcome),
    }
}

/// The value of `--compat`.
fn compat_of(text: &str) -> Result<Compat, Failure> {
    let parameters = PriorityParameters::parse(&format!("compat={text}"), None);
    match parameters {
        Ok(parameters) => Ok(parameters.compat.unwrap_or_default()),
        Err(error) => Err(Failure::Usage(format!(
            "--compat: found {text:?}, allowed is {}",
            error.allowed
        ))),
    }
}
