//! The policy file that a site's settings name, kept beside the answers.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::recording::Recording;
use super::store::{Stored, is_whole};
use crate::input::error::InputError;
use crate::output::PRIVATE;
use fairtree::config::{Config, PolicyFile};

/// Its name in a capture.
pub(super) const POLICY: &str = "policy.toml";

impl Recording {
    /// Keeps the text of the policy file that the settings name. Call it before
    /// [`Recording::anonymise`], which puts pseudonyms for its accounts.
    ///
    /// # Errors
    /// Those of the file system; [`io::ErrorKind::AlreadyExists`] for a second one.
    pub fn keep_policy(&mut self, text: &str) -> io::Result<()> {
        let mut file = self.folder().create(POLICY, PRIVATE)?;
        file.write_all(text.as_bytes())?;
        self.manifest.policy = Some(POLICY.to_owned());
        Ok(())
    }

    /// The text of the policy that was kept; `None` without a policy.
    pub(super) fn policy(&self) -> io::Result<Option<String>> {
        match self.manifest.policy {
            Some(_) => io::read_to_string(self.folder().read(POLICY)?).map(Some),
            None => Ok(None),
        }
    }

    /// Takes another text in the place of that which was kept; with none the capture has no policy.
    pub(super) fn replace_policy(&mut self, text: Option<&str>) -> io::Result<()> {
        self.folder().remove(POLICY)?;
        self.manifest.policy = None;
        match text {
            Some(text) => self.keep_policy(text),
            None => Ok(()),
        }
    }
}

impl Stored {
    /// The text of the policy file that the site followed, and its name in messages; none where the
    /// site had none, or where the host that made the capture could not read it.
    ///
    /// # Errors
    /// The manifest names one that cannot be read.
    pub fn policy(&self) -> Result<Option<(String, String)>, InputError> {
        if self.manifest.policy.is_none() {
            return Ok(None);
        }
        // Under its own name, whatever the manifest says: no path leads out of the folder.
        let path = self.folder.join(POLICY);
        let name = path.display().to_string();
        let bytes = read(&path).map_err(|error| InputError::new(&name, error))?;
        is_whole(&name, bytes.len() as u64, self.manifest.policy_bytes)?;
        Ok(Some((name, String::from_utf8_lossy(&bytes).into_owned())))
    }
}

impl Stored {
    /// Lets settings follow the policy that the capture has, where they name one. Where slurmctld would
    /// refuse it, they stay as they are, and still name the policy.
    ///
    /// # Errors
    /// Those of [`Stored::policy`].
    pub fn follow_policy(&self, config: &mut Config) -> Result<(), InputError> {
        let kept = match config.policy_file() {
            Some(_) => self.policy()?,
            None => None,
        };
        if let Some((name, text)) = kept {
            follow(config, &name, &text);
        }
        Ok(())
    }
}

/// Lets settings follow the text of a policy file called `name`; where it is refused, they stay as they
/// are.
pub fn follow(config: &mut Config, name: &str, text: &str) {
    let file = PolicyFile::parse(text, name, None);
    if let Ok(followed) = file.and_then(|file| config.clone().with_policy(&file)) {
        *config = followed;
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    fs::read(path)
}
