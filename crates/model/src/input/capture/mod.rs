//! Captures: the answers of Slurm's commands at one moment, in a folder.
//!
//! A capture is a folder named for its moment (`20261121T100726Z`) inside of the folder that
//! `fairtree capture` is given; captures are added, never changed. It holds a `manifest.json`
//! (`docs/capture.md`) and a file per answer. [`take`] makes the answers, [`store()`] keeps them,
//! [`open`] reads them again.

mod command;
mod manifest;
mod store;

pub use command::{Answered, Ask, CommandError, DEFAULT_LIMIT, MAX_ANSWER_BYTES};
pub use manifest::{Entry, Manifest, SCHEMA};
pub use store::{Stored, list, load_pseudonyms, open, open_only, save_pseudonyms, store};

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::left_out::LeftOut;
use super::slurm::config;
use super::slurm::job::{self, Names};
use super::slurm::snapshot::{Answer, Answers, Source, validate};
use super::slurm::stamp::{self, Stamp};

/// Answers, and the story of how they came about.
#[derive(Debug)]
pub struct Taken {
    /// What the commands printed; names and jobs a line each, without control characters.
    pub answers: Answers,
    /// One entry per command, also of those that failed.
    pub manifest: Manifest,
    /// Commands that a capture can do without and that failed, with the reason.
    pub missing: Vec<(Source, CommandError)>,
    /// Records of jobs that cannot be told from what users wrote.
    pub left: LeftOut,
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
        left: LeftOut::default(),
    };
    let stamp = Stamp::random();
    let mut asked: Vec<(Source, Result<f64, CommandError>)> = Vec::new();
    for source in in_turn(sources) {
        let answer = ask(source, limit, &stamp).map(|answered| {
            let answer = Answer {
                name: source.command()[0].to_owned(),
                text: answered.text,
            };
            taken.answers.insert(source, answer);
            answered.secs
        });
        match answer {
            Err(error) if !source.optional() => return Err(Box::new(error)),
            answer => asked.push((source, answer)),
        }
    }
    unstamp(&mut taken, &stamp);
    let names = taken.answers.get(&Source::Names);
    let names = names.map_or_else(Names::new, |answer| job::read_names(&answer.text));
    for (source, answered) in asked {
        let read = answered.and_then(|secs| {
            let refused = |error| CommandError::unexpected(source.command(), error);
            let answer = &taken.answers[&source];
            validate(source, answer, &names).map_err(refused)?;
            Ok(secs)
        });
        match read {
            Ok(secs) => taken.manifest.answers.push(Entry::answered(source, secs)),
            Err(error) if source.optional() => {
                taken.answers.remove(&source);
                let entry = Entry::failed(source, &error.to_string());
                taken.manifest.answers.push(entry);
                taken.missing.push((source, error));
            }
            Err(error) => return Err(Box::new(error)),
        }
    }
    if let Some(answer) = taken.answers.get(&Source::Config) {
        let settings = config::read(&answer.name, &answer.text, &mut LeftOut::default());
        taken.manifest.describe(settings.ok().as_ref());
    }
    Ok(taken)
}

/// The order in which to ask: names after jobs, so that only jobs which have ended, and are not kept
/// any longer, can lack a name.
fn in_turn(sources: &[Source]) -> Vec<Source> {
    let mut sources = sources.to_vec();
    let of = |source| sources.iter().position(|known| *known == source);
    match (of(Source::Names), of(Source::Jobs)) {
        (Some(names), Some(jobs)) if names < jobs => sources.swap(names, jobs),
        _ => {}
    }
    sources
}

fn ask(source: Source, limit: Duration, stamp: &Stamp) -> Result<Answered, CommandError> {
    let command = source.question();
    let ask = Ask::new(command, limit);
    match source {
        Source::Names | Source::Jobs => ask.with_time_format(stamp.time_format()).run(),
        _ => ask.run(),
    }
}

/// Names and jobs as captures keep them.
fn unstamp(taken: &mut Taken, stamp: &Stamp) {
    let text = |source| {
        taken
            .answers
            .get(&source)
            .map(|answer| answer.text.as_str())
    };
    let (Some(names), Some(jobs)) = (text(Source::Names), text(Source::Jobs)) else {
        return;
    };
    let file = Source::Jobs.command()[0];
    let (names, jobs) = stamp::plain(file, names, jobs, stamp, &mut taken.left);
    for (source, text) in [(Source::Names, names), (Source::Jobs, jobs)] {
        if let Some(answer) = taken.answers.get_mut(&source) {
            answer.text = text;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_asked_after_jobs() {
        let turn = in_turn(&Source::ALL);
        let of = |source| turn.iter().position(|known| *known == source);
        assert!(of(Source::Jobs) < of(Source::Names));
        assert_eq!(turn.len(), Source::ALL.len());
        assert_eq!(in_turn(&[Source::Config]), [Source::Config]);
    }
}
