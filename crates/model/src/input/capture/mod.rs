//! Captures: the answers of Slurm's commands at one moment, in a folder.
//!
//! A capture is a folder named for its moment (`20261121T100726Z`) inside of the folder that
//! `fairtree capture` is given; captures are added, never changed. It holds a `manifest.json`
//! (`docs/capture.md`) and a file per answer. [`take`] makes the answers, [`store()`] keeps them,
//! [`open`] reads them again.

mod command;
mod manifest;
mod store;

pub use command::{Ask, CommandError, DEFAULT_LIMIT, MAX_ANSWER_BYTES};
pub use manifest::{Entry, Manifest, SCHEMA};
pub use store::{Stored, list, load_pseudonyms, open, open_only, save_pseudonyms, store};

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::slurm::config;
use super::slurm::snapshot::{Answer, Answers, Source, validate};

/// Answers, and the story of how they came about.
#[derive(Debug)]
pub struct Taken {
    /// What the commands printed.
    pub answers: Answers,
    /// One entry per command, also of those that failed.
    pub manifest: Manifest,
    /// Commands that a capture can do without and that failed, with the reason.
    pub missing: Vec<(Source, CommandError)>,
}

/// Asks every command of `sources`, each for at most `limit`.
///
/// # Errors
/// The first failure of a command that a capture cannot do without.
pub fn take(sources: &[Source], limit: Duration) -> Result<Taken, Box<CommandError>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut taken = Taken {
        answers: Answers::new(),
        manifest: Manifest::new(now.map_or(0, |since| since.as_secs())),
        missing: Vec::new(),
    };
    for &source in sources {
        let asked = Ask::new(source.command(), limit)
            .run()
            .and_then(|answered| {
                let answer = Answer {
                    name: source.command()[0].to_owned(),
                    text: answered.text,
                };
                match validate(source, &answer) {
                    Ok(()) => Ok((answer, answered.secs)),
                    Err(error) => Err(CommandError::unexpected(source.command(), error)),
                }
            });
        match asked {
            Ok((answer, secs)) => {
                if source == Source::Config {
                    let settings = config::read(&answer.name, &answer.text);
                    taken.manifest.describe(settings.ok().as_ref());
                }
                taken.manifest.answers.push(Entry::answered(source, secs));
                taken.answers.insert(source, answer);
            }
            Err(error) if source.optional() => {
                taken
                    .manifest
                    .answers
                    .push(Entry::failed(source, &error.to_string()));
                taken.missing.push((source, error));
            }
            Err(error) => return Err(Box::new(error)),
        }
    }
    Ok(taken)
}
