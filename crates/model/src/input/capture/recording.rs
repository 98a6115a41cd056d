//! A capture that is being made: answers go into its files while they are read.
//!
//! Only some lines of a long answer, or one record, are in memory at a time, and the name of each
//! job. Until [`Recording::publish`] the files are in a folder with a hidden name, which is removed
//! with the recording.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{Ask, CommandError};
use super::gather::{Gathered, Shelf, gather, now};
use super::manifest::Manifest;
use super::policy::POLICY;
use super::store::{Making, ends_a_line};
use crate::folder::Folder;
use crate::input::error::InputError;
use crate::input::left_out::LeftOut;
use crate::input::slurm::config::{self, Settings};
use crate::input::slurm::job::{self, Names};
use crate::input::slurm::pseudonym::Pseudonyms;
use crate::input::slurm::snapshot::{Purpose, Source, validate_file};
use crate::input::slurm::stamp::{self, Both, Stamp};
use crate::output::PRIVATE;

/// Reason why no capture is made.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A command of Slurm gave no answer.
    #[error(transparent)]
    Command(#[from] Box<CommandError>),
    /// The folder cannot be written to.
    #[error(transparent)]
    Folder(#[from] io::Error),
}

/// A capture that is not yet to be seen; dropped it is gone.
#[derive(Debug)]
pub struct Recording {
    files: Files,
    /// One entry per command, including those that failed.
    pub manifest: Manifest,
    /// Commands that a capture can do without and that failed, with the reason.
    pub missing: Vec<(Source, CommandError)>,
    /// Records that cannot be told from text of users, or that have no pseudonyms.
    pub left: LeftOut,
}

impl Recording {
    /// Asks the commands of `sources`, each for at most `limit`, for a capture in `folder`, which is
    /// made if need be. What captures that were interrupted left there is removed.
    ///
    /// # Errors
    /// Those of the file system; the first failure of a command that a capture cannot do without.
    pub fn new(
        folder: &Path,
        sources: &[Source],
        limit: Duration,
    ) -> Result<Recording, RecordError> {
        let making = Making::new(folder, &Manifest::new(now()).folder())?;
        let mut files = Files {
            making,
            there: BTreeSet::new(),
        };
        let gathered = gather(&mut files, sources, limit, Purpose::Any)?;
        let Gathered {
            manifest,
            missing,
            left,
        } = gathered;
        Ok(Recording {
            files,
            manifest,
            missing,
            left,
        })
    }

    /// Puts pseudonyms for names, see [`Pseudonyms::rewrite`].
    ///
    /// # Errors
    /// Those of the readers and of the file system.
    pub fn anonymise(&mut self, pseudonyms: &mut Pseudonyms) -> Result<(), InputError> {
        let names = self.files.names()?;
        // In a fixed order, so that numbers do not depend on chance.
        for source in Source::FILES {
            if self.files.there.contains(&source) {
                let written = self
                    .files
                    .rewrite(source, pseudonyms, &names, &mut self.left);
                written?;
            }
        }
        let failed = |error| InputError::new(POLICY, error);
        if let Some(text) = self.policy().map_err(failed)? {
            let text = pseudonyms.policy(&text);
            self.replace_policy(text.as_deref()).map_err(failed)?;
        }
        let user = self.manifest.user.take();
        self.manifest.user = user.map(|user| pseudonyms.user(&user));
        self.manifest.anonymised = true;
        Ok(())
    }

    /// The settings of the site; none where they cannot be read.
    pub fn settings(&self) -> Option<Settings> {
        Shelf::settings(&self.files)
    }

    /// The folder that they are in.
    pub(super) fn folder(&self) -> &Folder {
        self.files.making.files()
    }

    /// Makes it a capture, and returns where.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn publish(mut self) -> io::Result<PathBuf> {
        for source in &self.files.there {
            let bytes = sync(self.files.making.files(), source.file())?;
            let entries = &mut self.manifest.answers;
            let own = entries
                .iter_mut()
                .find(|entry| entry.file.as_deref() == Some(source.file()));
            if let Some(entry) = own {
                entry.bytes = Some(bytes);
            }
        }
        if self.manifest.policy.is_some() {
            self.manifest.policy_bytes = Some(sync(self.folder(), POLICY)?);
        }
        self.files.making.publish(&self.manifest)
    }
}

/// Puts a file on the disk, and returns how many bytes it has.
fn sync(folder: &Folder, name: &str) -> io::Result<u64> {
    let file = folder.read(name)?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

/// The files.
#[derive(Debug)]
struct Files {
    making: Making,
    /// Those that there are.
    there: BTreeSet<Source>,
}

impl Files {
    /// The path of an answer, for messages.
    fn path(&self, name: &str) -> String {
        self.making.files().path().join(name).display().to_string()
    }

    fn create(&self, name: &str) -> io::Result<BufWriter<File>> {
        let file = self.making.files().create(name, PRIVATE);
        file.map(|file| BufWriter::with_capacity(BUFFER, file))
    }

    fn read(&self, source: Source) -> io::Result<BufReader<File>> {
        let file = self.making.files().read(source.file());
        file.map(|file| BufReader::with_capacity(BUFFER, file))
    }

    fn rewrite(
        &mut self,
        source: Source,
        pseudonyms: &mut Pseudonyms,
        names: &Names,
        left: &mut LeftOut,
    ) -> Result<(), InputError> {
        let new = beside(source);
        let name = source.command()[0];
        let failed = |error| InputError::new(&self.path(&new), error);
        let input = self.read(source);
        let input = input.map_err(|error| InputError::new(name, error))?;
        let mut out = self.create(&new).map_err(failed)?;
        pseudonyms.rewrite(source, name, input, &mut out, names, left)?;
        out.flush()
            .and_then(|()| self.making.files().rename(&new, source.file()))
            .map_err(failed)
    }

    /// Writes names and jobs as captures keep them beside what was answered.
    fn write_plain(&self, stamp: &Stamp, left: &mut LeftOut) -> io::Result<()> {
        let both = [Source::Names, Source::Jobs];
        let [new_names, new_jobs] = both.map(beside);
        let (mut out_names, mut out_jobs) = (self.create(&new_names)?, self.create(&new_jobs)?);
        let boxed = |source| Ok(Box::new(self.read(source)?) as Box<dyn BufRead>);
        let asked = Both::<stamp::Answer<'_>> {
            names: &|| boxed(Source::Names),
            jobs: &|| boxed(Source::Jobs),
        };
        let out = Both::<&mut dyn Write> {
            names: &mut out_names,
            jobs: &mut out_jobs,
        };
        stamp::plain(Source::Jobs.command()[0], asked, out, stamp, left)?;
        out_names.flush()?;
        out_jobs.flush()?;
        let files = self.making.files();
        files.rename(new_names, Source::Names.file())?;
        files.rename(new_jobs, Source::Jobs.file())
    }
}

/// Bytes of a file that are read and written at a time.
const BUFFER: usize = 1 << 16;

/// The name of a file beside that of an answer.
fn beside(source: Source) -> String {
    format!(".{}", source.file())
}

impl Shelf for Files {
    fn ask(&mut self, source: Source, ask: &Ask<'_>) -> Result<f64, CommandError> {
        let name = self.path(source.file());
        let file = self.making.files().create(source.file(), PRIVATE);
        let file = file.map_err(|error| CommandError::File {
            file: name.clone(),
            error,
        })?;
        match ask.run_into(&name, file) {
            Ok(secs) => {
                self.there.insert(source);
                Ok(secs)
            }
            Err(error) => {
                // The reason is reported; the partial answer is removed if possible.
                let _ = self.making.files().remove(source.file());
                Err(error)
            }
        }
    }

    fn ends_a_line(&self, source: Source) -> io::Result<bool> {
        ends_a_line(&self.making.files().read(source.file())?)
    }

    fn unstamp(&mut self, stamp: &Stamp, left: &mut LeftOut) -> Result<(), CommandError> {
        if !(self.there.contains(&Source::Names) && self.there.contains(&Source::Jobs)) {
            return Ok(());
        }
        self.write_plain(stamp, left)
            .map_err(|error| CommandError::File {
                file: self.path(Source::Jobs.file()),
                error,
            })
    }

    fn names(&self) -> Result<Names, InputError> {
        if !self.there.contains(&Source::Names) {
            return Ok(Names::new());
        }
        let name = Source::Names.command()[0];
        let input = self.read(Source::Names);
        let input = input.map_err(|error| InputError::new(name, error))?;
        job::read_names_of(name, input)
    }

    fn validate(&self, source: Source, names: &Names) -> Result<(), InputError> {
        let open = || self.read(source);
        validate_file(source, source.command()[0], &open, names)
    }

    fn remove(&mut self, source: Source) {
        if self.there.remove(&source) {
            // What is left of it is no answer: the manifest does not name it.
            let _ = self.making.files().remove(source.file());
        }
    }

    fn settings(&self) -> Option<Settings> {
        let text = io::read_to_string(self.read(Source::Config).ok()?).ok()?;
        let name = Source::Config.command()[0];
        config::read(name, &text, &mut LeftOut::default()).ok()
    }
}
