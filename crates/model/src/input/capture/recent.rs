//! Answers of a few seconds ago, kept for the user who asked: a second question asks Slurm nothing.
//!
//! They are in a private file, in a private folder: `fairtree` in `$XDG_RUNTIME_DIR`, or else in
//! `$XDG_CACHE_HOME` or `~/.cache`. A file of another user, or one that others may read or write, does
//! not count. root's answers are not kept: an administrator sees what is so now.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use super::manifest::Manifest;
use super::taken::Taken;
use crate::folder::Folder;
use crate::input::left_out::LeftOut;
use crate::input::slurm::config;
use crate::input::slurm::snapshot::{Answer, Answers, Purpose, Source};
use crate::output::{PRIVATE, replace_in};

/// How long answers are used again.
pub const KEPT_FOR: Duration = Duration::from_secs(10);

/// Longer answers are not kept, in bytes: writing them costs more than it saves.
const MOST_BYTES: usize = 64 << 20;

/// Name and version of the file.
const SCHEMA: &str = "fairtree.recent/1";

/// The place of the answers of one user about one cluster.
#[derive(Debug)]
pub struct Recent {
    folder: Folder,
    name: OsString,
}

/// The content of the file.
#[derive(Deserialize, Serialize)]
struct Kept {
    schema: String,
    manifest: Manifest,
    /// Name of the answer's file in a capture, its name in messages, its text.
    answers: Vec<(String, String, String)>,
}

impl Recent {
    /// The place of this user; `None` for root, and where no private folder can be made.
    pub fn of_user() -> Option<Recent> {
        if geteuid().is_root() {
            return None;
        }
        let folder = |name: &str| {
            env::var_os(name)
                .filter(|path| !path.is_empty())
                .map(PathBuf::from)
        };
        let below_home = || Some(folder("HOME")?.join(".cache"));
        let above = folder("XDG_RUNTIME_DIR")
            .or_else(|| folder("XDG_CACHE_HOME"))
            .or_else(below_home)?;
        Recent::within(&above.join("fairtree"))
    }

    /// The place in a folder, which is made if need be.
    fn within(path: &std::path::Path) -> Option<Recent> {
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path);
        made.ok()?;
        let about = fs::symlink_metadata(path).ok()?;
        let is_own =
            about.is_dir() && about.uid() == geteuid().as_raw() && about.mode() & 0o077 == 0;
        let folder = Folder::open(path).ok().filter(|_| is_own)?;
        // What decides which cluster answers, and how.
        let words = ["SLURM_CONF", "SLURM_CLUSTERS", "PATH"]
            .map(|name| env::var_os(name).unwrap_or_default());
        let mix =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let bytes = words
            .iter()
            .flat_map(|word| word.as_encoded_bytes().iter().chain([&0]));
        let key = bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| mix(hash, *byte));
        Some(Recent {
            folder,
            name: format!("answers-{key:016x}.json").into(),
        })
    }

    /// The answers that `purpose` needs, at most [`KEPT_FOR`] old, and their age in seconds; without those that
    /// `PrivateData` refused then.
    pub fn read(&self, purpose: Purpose) -> Option<(Taken, u64)> {
        let file = self.folder.read(&self.name).ok()?;
        let about = file.metadata().ok()?;
        let is_own =
            about.is_file() && about.uid() == geteuid().as_raw() && about.mode() & 0o077 == 0;
        let age = SystemTime::now()
            .duration_since(about.modified().ok()?)
            .ok()?;
        if !is_own || age > KEPT_FOR {
            return None;
        }
        let mut text = String::new();
        file.take(2 * MOST_BYTES as u64)
            .read_to_string(&mut text)
            .ok()?;
        let kept: Kept = serde_json::from_str(&text).ok()?;
        let answers: Answers = kept
            .answers
            .into_iter()
            .filter_map(|(file, name, text)| {
                let source = Source::KEPT
                    .into_iter()
                    .find(|source| source.file() == file)?;
                Some((source, Answer { name, text }))
            })
            .collect();
        let settings = answers.get(&Source::Config).and_then(|answer| {
            config::read(&answer.name, &answer.text, &mut LeftOut::default()).ok()
        });
        let is_needed = |source: Source| {
            let settings = settings.as_ref();
            settings.is_none_or(|settings| purpose.needs(source, &settings.config))
        };
        let was_refused = |source: Source| {
            let entries = kept.manifest.answers.iter();
            source.refused_under().is_some()
                && entries
                    .filter(|entry| entry.file.is_none())
                    .any(|entry| entry.command == source.command())
        };
        let mut sources = purpose.sources().iter().copied();
        let has_all = sources.all(|source| {
            answers.contains_key(&source) || was_refused(source) || !is_needed(source)
        });
        let taken = Taken {
            answers,
            manifest: kept.manifest,
            missing: Vec::new(),
            left: LeftOut::default(),
        };
        (kept.schema == SCHEMA && has_all).then_some((taken, age.as_secs()))
    }

    /// Keeps answers; not those of which a command failed, unless `PrivateData` refused it, or a record was
    /// left out, nor long ones.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn keep(&self, taken: &Taken) -> io::Result<()> {
        let bytes: usize = taken.answers.values().map(|answer| answer.text.len()).sum();
        let mut missing = taken.missing.iter();
        let failed = missing.any(|(source, _)| source.refused_under().is_none());
        if failed || taken.left.count() > 0 || bytes > MOST_BYTES {
            return Ok(());
        }
        let answer = |(source, answer): (&Source, &Answer)| {
            (
                source.file().to_owned(),
                answer.name.clone(),
                answer.text.clone(),
            )
        };
        let kept = Kept {
            schema: SCHEMA.to_owned(),
            manifest: taken.manifest.clone(),
            answers: taken.answers.iter().map(answer).collect(),
        };
        let text = serde_json::to_vec(&kept)?;
        replace_in(
            &self.folder,
            &self.name,
            PRIVATE,
            None,
            |out: &mut dyn Write| out.write_all(&text),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn taken(sources: &[Source]) -> Taken {
        let answer = |source: &Source| {
            let name = source.command()[0].to_owned();
            (
                *source,
                Answer {
                    name,
                    text: format!("{source:?}\n"),
                },
            )
        };
        Taken {
            answers: sources.iter().map(answer).collect(),
            manifest: Manifest::new(7),
            missing: Vec::new(),
            left: LeftOut::default(),
        }
    }

    #[test]
    fn answers_are_used_again_by_their_owner_for_some_seconds() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("fairtree");
        let recent = Recent::within(&path).unwrap();
        assert!(recent.read(Purpose::Shares).is_none());
        recent
            .keep(&taken(&[Source::Config, Source::Shares]))
            .unwrap();
        let (found, age) = recent.read(Purpose::Shares).unwrap();
        assert_eq!(
            (found.answers[&Source::Shares].text.as_str(), age),
            ("Shares\n", 0)
        );
        assert_eq!(found.manifest.time, 7);
        assert!(recent.read(Purpose::Usage).is_none());
        let file = path.join(&recent.name);
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        // Too old, and then readable for others.
        let old = SystemTime::now() - KEPT_FOR - Duration::from_secs(1);
        fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(old)
            .unwrap();
        assert!(recent.read(Purpose::Shares).is_none());
        recent
            .keep(&taken(&[Source::Config, Source::Shares]))
            .unwrap();
        assert!(recent.read(Purpose::Shares).is_some());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(recent.read(Purpose::Shares).is_none());
        // A folder that others may write into is not used.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Recent::within(&path).is_none());
    }
}
