//! Answers in memory.

use std::io::{self, BufRead};
use std::time::Duration;

use super::command::{Ask, CommandError};
use super::gather::{Gathered, Shelf, gather};
use super::manifest::Manifest;
use crate::input::error::InputError;
use crate::input::left_out::LeftOut;
use crate::input::slurm::config::{self, Settings};
use crate::input::slurm::job::{self, Names};
use crate::input::slurm::snapshot::{Answer, Answers, Purpose, Source, validate};
use crate::input::slurm::stamp::{self, Both, Stamp};

/// Answers, and the story of how they came about.
#[derive(Debug)]
pub struct Taken {
    /// Output of the commands; names and jobs a line each, without control characters.
    pub answers: Answers,
    /// One entry per command, including those that failed.
    pub manifest: Manifest,
    /// Commands that a capture can do without and that failed, with the reason.
    pub missing: Vec<(Source, CommandError)>,
    /// Records of jobs that cannot be told from text of users.
    pub left: LeftOut,
}

/// Asks every command of `sources` that `purpose` needs, each for at most `limit`.
///
/// # Errors
/// The first failure of a command that a capture cannot do without.
pub fn take(
    sources: &[Source],
    limit: Duration,
    purpose: Purpose,
) -> Result<Taken, Box<CommandError>> {
    let mut answers = Answers::new();
    let Gathered {
        manifest,
        missing,
        left,
    } = gather(&mut answers, sources, limit, purpose)?;
    Ok(Taken {
        answers,
        manifest,
        missing,
        left,
    })
}

impl Shelf for Answers {
    fn ask(&mut self, source: Source, ask: &Ask<'_>) -> Result<f64, CommandError> {
        let answered = ask.run()?;
        let answer = Answer {
            name: source.command()[0].to_owned(),
            text: answered.text,
        };
        self.insert(source, answer);
        Ok(answered.secs)
    }

    fn ends_a_line(&self, source: Source) -> io::Result<bool> {
        let text = &self[&source].text;
        Ok(text.is_empty() || text.ends_with('\n'))
    }

    fn unstamp(&mut self, stamp: &Stamp, left: &mut LeftOut) -> Result<(), CommandError> {
        let text = |source| self.get(&source).map(|answer| answer.text.as_bytes());
        let (Some(names), Some(jobs)) = (text(Source::Names), text(Source::Jobs)) else {
            return Ok(());
        };
        let asked = Both::<stamp::Answer<'_>> {
            names: &|| Ok(Box::new(names) as Box<dyn BufRead>),
            jobs: &|| Ok(Box::new(jobs) as Box<dyn BufRead>),
        };
        let (mut names, mut jobs) = (Vec::new(), Vec::new());
        let out = Both::<&mut dyn io::Write> {
            names: &mut names,
            jobs: &mut jobs,
        };
        let command = Source::Jobs.command();
        let made = stamp::plain(command[0], asked, out, stamp, left);
        made.map_err(|error| {
            CommandError::unexpected(command, InputError::new(command[0], error))
        })?;
        for (source, bytes) in [(Source::Names, names), (Source::Jobs, jobs)] {
            if let Some(answer) = self.get_mut(&source) {
                // All that is written is text.
                answer.text = String::from_utf8(bytes).unwrap_or_default();
            }
        }
        Ok(())
    }

    fn names(&self) -> Result<Names, InputError> {
        let names = self.get(&Source::Names);
        Ok(names.map_or_else(Names::new, |answer| job::read_names(&answer.text)))
    }

    fn validate(&self, source: Source, names: &Names) -> Result<(), InputError> {
        validate(source, &self[&source], names)
    }

    fn remove(&mut self, source: Source) {
        Answers::remove(self, &source);
    }

    fn settings(&self) -> Option<Settings> {
        let answer = self.get(&Source::Config)?;
        config::read(&answer.name, &answer.text, &mut LeftOut::default()).ok()
    }
}
