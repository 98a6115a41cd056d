//! Asking Slurm's commands in turn: what is asked how, and what an answer must be.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::command::{Ask, CommandError};
use super::manifest::{Entry, Manifest};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::slurm::config::Settings;
use crate::input::slurm::job::Names;
use crate::input::slurm::snapshot::{Purpose, Source};
use crate::input::slurm::stamp::Stamp;

/// Destination of answers.
pub(super) trait Shelf {
    /// Asks, and puts the answer there; how long it took.
    fn ask(&mut self, source: Source, ask: &Ask<'_>) -> Result<f64, CommandError>;
    /// Returns true if an answer that exists is empty or ends with a line break.
    fn ends_a_line(&self, source: Source) -> io::Result<bool>;
    /// Converts names and jobs to the form of captures, if both exist.
    fn unstamp(&mut self, stamp: &Stamp, left: &mut LeftOut) -> Result<(), CommandError>;
    /// The names of jobs; none where they are not there.
    fn names(&self) -> Result<Names, InputError>;
    /// Checks that an answer that exists is what its command prints.
    fn validate(&self, source: Source, names: &Names) -> Result<(), InputError>;
    /// Takes an answer away.
    fn remove(&mut self, source: Source);
    /// The settings, if they exist.
    fn settings(&self) -> Option<Settings>;
}

/// How answers came about.
#[derive(Debug)]
pub(super) struct Gathered {
    /// One entry per command, including those that failed.
    pub manifest: Manifest,
    /// Commands that a capture can do without and that failed, with the reason.
    pub missing: Vec<(Source, CommandError)>,
    /// Records of jobs that cannot be told from text of users.
    pub left: LeftOut,
}

/// Asks every command of `sources`, each for at most `limit`; the settings before those that `purpose` may
/// not need.
pub(super) fn gather(
    shelf: &mut dyn Shelf,
    sources: &[Source],
    limit: Duration,
    purpose: Purpose,
) -> Result<Gathered, Box<CommandError>> {
    let mut gathered = Gathered {
        manifest: Manifest::new(now()),
        missing: Vec::new(),
        left: LeftOut::default(),
    };
    let stamp = Stamp::random();
    let mut asked: Vec<(Source, Result<f64, CommandError>)> = Vec::new();
    for source in in_turn(sources) {
        if purpose != Purpose::Any && source == Source::Nodes {
            let settings = shelf.settings();
            if settings.is_some_and(|settings| !purpose.needs(source, &settings.config)) {
                continue;
            }
        }
        match ask(shelf, source, limit, &stamp) {
            Err(error) if !can_do_without(shelf, source, &error) => return Err(Box::new(error)),
            answered => asked.push((source, answered)),
        }
    }
    shelf.unstamp(&stamp, &mut gathered.left)?;
    let refused =
        |source: Source| move |error| Box::new(CommandError::unexpected(source.command(), error));
    // In a long queue, the names use most of the memory: they are freed as early as possible.
    let valid_jobs = match asked.iter().any(|(source, _)| *source == Source::Jobs) {
        true => {
            let names = shelf.names().map_err(refused(Source::Names))?;
            shelf.validate(Source::Jobs, &names)
        }
        false => Ok(()),
    };
    let mut valid_jobs = Some(valid_jobs);
    for (source, answered) in asked {
        let read = answered.map_err(Box::new).and_then(|secs| {
            let valid = match source {
                Source::Jobs => valid_jobs.take().unwrap_or(Ok(())),
                _ => shelf.validate(source, &Names::new()),
            };
            valid.map(|()| secs).map_err(refused(source))
        });
        match read {
            Ok(secs) => gathered
                .manifest
                .answers
                .push(Entry::answered(source, secs)),
            Err(error) if can_do_without(shelf, source, &error) => {
                shelf.remove(source);
                let entry = Entry::failed(source, &error.to_string());
                gathered.manifest.answers.push(entry);
                gathered.missing.push((source, *error));
            }
            Err(error) => return Err(error),
        }
    }
    gathered.manifest.describe(shelf.settings().as_ref());
    Ok(gathered)
}

/// Returns true if the answers do without one of them: slurmdbd's, and what `PrivateData` hides from who asks.
fn can_do_without(shelf: &dyn Shelf, source: Source, error: &CommandError) -> bool {
    let is_hidden = || {
        let settings = shelf.settings();
        settings.is_some_and(|settings| source.is_hidden(&settings))
    };
    let refused = matches!(error, CommandError::NotPermitted { .. });
    source.optional() || (refused && source.refused_under().is_some() && is_hidden())
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
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

fn ask(
    shelf: &mut dyn Shelf,
    source: Source,
    limit: Duration,
    stamp: &Stamp,
) -> Result<f64, CommandError> {
    let ask = Ask::new(source.question(), limit);
    let ask = match source {
        Source::Names | Source::Jobs => ask.with_time_format(stamp.time_format()),
        _ => ask,
    };
    let secs = shelf.ask(source, &ask)?;
    let name = source.command()[0];
    let broken = |error| CommandError::unexpected(source.command(), error);
    let whole = shelf.ends_a_line(source);
    match whole.map_err(|error| broken(InputError::new(name, error)))? {
        true => Ok(secs),
        // Each command ends each line: what was to follow is not there.
        false => {
            let why = "ends within a line: the answer broke off".to_owned();
            Err(broken(InputError::new(name, Problem::Structure(why))))
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
