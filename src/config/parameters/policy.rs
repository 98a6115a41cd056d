//! `policy=`.

use super::key::Key;
use crate::compat::Release;
use crate::config::{Config, ValueError};

/// A file that continues `PriorityParameters`; see [`PolicyFile`](crate::config::PolicyFile) for
/// its contents. Its path must be absolute, because slurmctld's working directory is not where
/// slurm.conf is.
pub struct PolicyKey;

impl Key for PolicyKey {
    type Value = String;
    const NAME: &'static str = "policy";
    const FORM: &'static str = "FILE, an absolute path without a comma";
    const DEFAULT: &'static str = "no file";
    const MEANING: &'static str = "a file with these keys and with minutes and plans of accounts";
    const IS_POLICY: bool = false;

    fn parse(text: &str, _: Option<Release>) -> Result<String, ValueError> {
        if text.starts_with('/') && !text.ends_with('/') {
            Ok(text.to_owned())
        } else {
            Err(ValueError::new(text, "an absolute path of a file"))
        }
    }

    fn is_in_stock(_: &String) -> bool {
        false
    }
}

impl Config {
    /// The path of the policy file, for the host to read; `None`: no policy file, or it was taken
    /// by [`Config::with_policy`].
    pub fn policy_file(&self) -> Option<&str> {
        self.parameters.policy.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_path() {
        let path = "/etc/slurm/fairtree.toml";
        assert_eq!(PolicyKey::parse(path, None), Ok(path.to_owned()));
        for text in ["", "fairtree.toml", "/etc/slurm/"] {
            assert!(PolicyKey::parse(text, None).is_err(), "{text}");
        }
    }
}
