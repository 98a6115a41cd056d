//! Description of a capture: `manifest.json`.

use nix::unistd::{Uid, User};
use serde::{Deserialize, Serialize};

use crate::input::slurm::config::Settings;
use crate::input::slurm::snapshot::Source;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.capture/1";

/// The manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of fairtree that made it.
    pub fairtree: String,
    /// Time of the first command, seconds since 1970.
    pub time: u64,
    /// The same for people, UTC.
    pub time_text: String,
    /// Login name of the user who asked: sshare shows this user's rows by default. `None` where
    /// that is not known, as of captures of earlier versions.
    #[serde(default)]
    pub user: Option<String>,
    /// Slurm's release, as it prints it.
    pub slurm: Option<String>,
    /// Name of the cluster.
    pub cluster: Option<String>,
    /// `PriorityType`.
    pub priority_type: Option<String>,
    /// True if users, accounts and jobs have pseudonyms.
    pub anonymised: bool,
    /// The commands, in the order in which they were run.
    pub answers: Vec<Entry>,
    /// The file with the policy that `PriorityParameters=policy=` names; `None` if there is no such
    /// policy, if it could not be read, and in captures of earlier versions.
    #[serde(default)]
    pub policy: Option<String>,
    /// Bytes in that file; `None` without a policy, and in captures of earlier versions.
    #[serde(default)]
    pub policy_bytes: Option<u64>,
}

/// A command and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The command line.
    pub command: Vec<String>,
    /// The file with the answer; `None` where it failed.
    pub file: Option<String>,
    /// Bytes in the file; `None` where it failed, and in captures of earlier versions.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Time that it took.
    pub secs: Option<f64>,
    /// Reason if there is no answer.
    pub error: Option<String>,
}

impl Manifest {
    /// The manifest of a capture without answers, made at `time`, seconds since 1970.
    pub fn new(time: u64) -> Manifest {
        let stamp = i64::try_from(time).ok();
        let stamp = stamp.and_then(|secs| jiff::Timestamp::from_second(secs).ok());
        Manifest {
            schema: SCHEMA.to_owned(),
            fairtree: env!("CARGO_PKG_VERSION").to_owned(),
            time,
            time_text: stamp.unwrap_or_default().to_string(),
            user: asker(),
            slurm: None,
            cluster: None,
            priority_type: None,
            anonymised: false,
            answers: Vec::new(),
            policy: None,
            policy_bytes: None,
        }
    }

    /// Adds information of the settings about the site.
    pub fn describe(&mut self, settings: Option<&Settings>) {
        if let Some(settings) = settings {
            self.slurm = settings.release.map(|release| release.to_string());
            self.cluster.clone_from(&settings.cluster);
            self.priority_type.clone_from(&settings.priority_type);
        }
    }

    /// A name for the folder that sorts by time: `20261121T100726Z`.
    pub fn folder(&self) -> String {
        self.time_text.replace(['-', ':'], "")
    }
}

/// Login name of the user of this process.
fn asker() -> Option<String> {
    let user = User::from_uid(Uid::current());
    user.ok().flatten().map(|user| user.name)
}

impl Entry {
    /// A command that answered after `secs`.
    pub fn answered(source: Source, secs: f64) -> Entry {
        Entry {
            file: Some(source.file().to_owned()),
            secs: Some((secs * 1000.0).round() / 1000.0),
            ..Entry::of(source)
        }
    }

    /// A command that failed.
    pub fn failed(source: Source, error: &str) -> Entry {
        Entry {
            error: Some(error.to_owned()),
            ..Entry::of(source)
        }
    }

    fn of(source: Source) -> Entry {
        Entry {
            command: source
                .command()
                .iter()
                .map(|&word| word.to_owned())
                .collect(),
            file: None,
            bytes: None,
            secs: None,
            error: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_for_the_moment() {
        let manifest = Manifest::new(1_795_255_646);
        assert_eq!(manifest.time_text, "2026-11-21T10:07:26Z");
        assert_eq!(manifest.folder(), "20261121T100726Z");
    }
}
