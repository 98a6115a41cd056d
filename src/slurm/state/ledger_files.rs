//! Files of ledgers: the plugin's own, and those of other sources.
//!
//! [`crate::usage::window`] defines their names. The plugin's own ones are kept together with their
//! previous version, and are renamed if they are damaged, like the state file.

use super::files::{self, Replacement};
use super::times::old;
use crate::usage::window::{
    MAX_OWN_BYTES, MAX_SOURCE_BYTES, OWN_FILE, QOS_FILE, ReadError, UsageHistory, label_of_file,
    source_file,
};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The plugin's own ledgers as loaded.
#[derive(Debug, Default)]
pub(in crate::slurm) struct OwnLedgers {
    pub(in crate::slurm) assocs: Option<UsageHistory>,
    pub(in crate::slurm) qos: Option<UsageHistory>,
    /// Messages for the administrator, logged as errors.
    pub(in crate::slurm) complaints: Vec<String>,
}

/// Returns true if the plugin has written a ledger in this folder.
pub(in crate::slurm) fn exists(dir: &Path) -> bool {
    dir.join(OWN_FILE).exists() || dir.join(old(OWN_FILE)).exists()
}

/// Reads the ledgers of this cluster. Never fails: files that cannot be read are in `complaints`.
pub(in crate::slurm) fn load(dir: &Path, cluster: &str) -> OwnLedgers {
    let mut complaints = Vec::new();
    let [assocs, qos] =
        [OWN_FILE, QOS_FILE].map(|name| load_one(dir, name, cluster, &mut complaints));
    OwnLedgers {
        assocs,
        qos,
        complaints,
    }
}

fn load_one(
    dir: &Path,
    name: &str,
    cluster: &str,
    complaints: &mut Vec<String>,
) -> Option<UsageHistory> {
    let damage = match read(dir, name, cluster) {
        Ok(None) => return load_before(dir, name, cluster, complaints),
        Ok(history) => return history,
        Err(damage) => damage,
    };
    let aside = format!("{name}.damaged");
    let fate = match fs::rename(dir.join(name), dir.join(&aside)) {
        Ok(()) => format!("renamed to {aside}"),
        Err(error) => format!("cannot rename it: {error}"),
    };
    let before = read(dir, &old(name), cluster).ok().flatten();
    let instead = match &before {
        Some(_) => format!("using {} from the previous pass", old(name)),
        None => "earlier use is unknown".to_string(),
    };
    complaints.push(format!("{name} is damaged ({damage}); {fate}; {instead}"));
    before
}

/// The ledger of the previous pass, if only that file is left: a damaged one was renamed, and
/// slurmctld ended before its next pass.
fn load_before(
    dir: &Path,
    name: &str,
    cluster: &str,
    complaints: &mut Vec<String>,
) -> Option<UsageHistory> {
    let before = old(name);
    match read(dir, &before, cluster) {
        Ok(None) => None,
        Ok(history) => {
            complaints.push(format!(
                "{name} is missing; using {before} from the previous pass"
            ));
            history
        }
        Err(damage) => {
            complaints.push(format!(
                "{name} is missing and {before} is damaged ({damage}); earlier use is unknown"
            ));
            None
        }
    }
}

/// Reads an own ledger; `None` if the file is missing.
fn read(dir: &Path, name: &str, cluster: &str) -> Result<Option<UsageHistory>, String> {
    let history = match read_file(&dir.join(name), MAX_OWN_BYTES) {
        Ok(history) => history,
        Err(ReadError::System(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(ReadError::System(error)) => return Err(format!("it cannot be read: {error}")),
        Err(error) => return Err(error.to_string()),
    };
    match history.sources() {
        [source] if source.name == cluster => Ok(Some(history)),
        sources => {
            let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
            Err(format!("it belongs to {names:?}, not to {cluster:?}"))
        }
    }
}

/// Reads a file of at most `most` bytes. Does not wait for a pipe.
fn read_file(path: &Path, most: u64) -> Result<UsageHistory, ReadError> {
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NONBLOCK);
    let file = file.open(path)?;
    let data = file.metadata()?;
    match data.is_file() {
        true => UsageHistory::read(file, data.len(), most),
        false => Err(io::Error::other("not a regular file").into()),
    }
}

/// Writes the own ledgers. Each is replaced in one step; the previous version stays as `.old`.
/// `wanted`: see [`files::replace`].
///
/// # Errors
/// The first that occurred, with the name of the file. The old files stay.
pub(in crate::slurm) fn store(
    dir: &Path,
    ledgers: &[(&'static str, Vec<u8>)],
    wanted: &dyn Fn() -> bool,
) -> Result<(), String> {
    let pieces: Vec<[&[u8]; 1]> = ledgers.iter().map(|(_, bytes)| [&bytes[..]]).collect();
    let replacement = |((name, _), pieces): (&(&'static str, Vec<u8>), _)| Replacement {
        name,
        old: Some(old(name)),
        pieces,
    };
    let pieces = pieces.iter().map(|pieces| &pieces[..]);
    let files: Vec<_> = ledgers.iter().zip(pieces).map(replacement).collect();
    match files.is_empty() {
        true => Ok(()),
        false => files::replace(dir, &files, wanted),
    }
}

/// Identifies a version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    inode: u64,
    len: u64,
    changed: (i64, i64),
}

/// Files of other sources, which may appear, change and disappear. Read by a thread that may wait
/// for a disk.
#[derive(Debug, Default)]
pub(in crate::slurm) struct Others {
    /// Existing files, by label.
    known: HashMap<String, Mark>,
    news: News,
    /// True if use of other clusters counts.
    all_clusters: bool,
}

/// Changes since the last call of [`Others::news`].
#[derive(Debug, Default)]
pub(in crate::slurm) struct News {
    /// New and changed histories.
    pub(in crate::slurm) changed: Vec<(String, UsageHistory)>,
    /// Labels whose file is gone, or does not count any more.
    pub(in crate::slurm) gone: Vec<String>,
    /// Messages for the administrator, logged as errors.
    pub(in crate::slurm) complaints: Vec<String>,
}

impl Others {
    /// Looks for changes in the folder. `all_clusters`: histories of clusters other than `cluster`
    /// count.
    pub(in crate::slurm) fn look(&mut self, dir: &Path, cluster: &str, all_clusters: bool) {
        if self.all_clusters != all_clusters {
            self.all_clusters = all_clusters;
            self.known.clear();
        }
        let Ok(entries) = fs::read_dir(dir) else {
            // A failing disk is reported when state is saved.
            return;
        };
        let mut there = HashMap::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let label = name.to_str().and_then(label_of_file);
            let (Some(label), Ok(data)) = (label, entry.metadata()) else {
                continue;
            };
            if !data.is_file() {
                // Reading a pipe could block.
                continue;
            }
            let mark = Mark {
                inode: data.ino(),
                len: data.len(),
                changed: (data.mtime(), data.mtime_nsec()),
            };
            there.insert(label.to_owned(), mark);
            if self.known.get(label) != Some(&mark) {
                let history = read_file(&entry.path(), MAX_SOURCE_BYTES);
                self.take(label, history, cluster);
            }
        }
        let gone = self
            .known
            .keys()
            .filter(|label| !there.contains_key(*label));
        let gone: Vec<String> = gone.cloned().collect();
        for label in gone {
            self.leave(label);
        }
        self.known = there;
    }

    fn take(&mut self, label: &str, history: Result<UsageHistory, ReadError>, cluster: &str) {
        let why = |error| match error {
            ReadError::System(error) => format!("it cannot be read: {error}"),
            ReadError::Content(error) => format!("it is damaged: {error}"),
            error => format!("it is {error}"),
        };
        match history.map_err(why) {
            Ok(history) => {
                let of_own = |name: &str| name == cluster;
                let mut sources = history.sources().iter();
                if self.all_clusters || sources.all(|source| of_own(&source.name)) {
                    self.news.changed.retain(|(known, _)| known != label);
                    self.news.gone.retain(|known| known != label);
                    self.news.changed.push((label.to_owned(), history));
                } else {
                    self.leave(label.to_owned());
                }
            }
            Err(why) => self.news.complaints.push(format!(
                "history file {} not loaded: {why}; its previous version, if any, stays in use",
                source_file(label).unwrap_or_default()
            )),
        }
    }

    fn leave(&mut self, label: String) {
        self.news.changed.retain(|(known, _)| *known != label);
        if !self.news.gone.contains(&label) {
            self.news.gone.push(label);
        }
    }

    /// Takes the changes since the last call.
    pub(in crate::slurm) fn news(&mut self) -> News {
        std::mem::take(&mut self.news)
    }

    /// Reports all files as new again, because the receiver has lost the histories.
    pub(in crate::slurm) fn forget(&mut self) {
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Folder;
    use super::*;
    use crate::usage::window::{Columns, LeafKey, LedgerRun};

    const NOW: i64 = 1_800_000_000;

    /// A run of an hour that ends `until` seconds after [`NOW`].
    fn history(cluster: &str, until: i64) -> UsageHistory {
        let columns = Columns::new(["cpu"]).unwrap();
        let rate = columns.rate(1.0, 1.0, &[(0, 1)]).unwrap();
        let mut history = UsageHistory::new(cluster, 60, columns, &[], NOW + until).unwrap();
        let leaf = LeafKey::new("a", "u", "").unwrap();
        let run = LedgerRun { job: 7, run: NOW };
        let (from, to) = (NOW + until - 3_600, NOW + until);
        history.charge(&leaf, Some(run), from, to, &rate).unwrap();
        history
    }

    fn save(folder: &Folder, until: i64) {
        let ledgers = [OWN_FILE, QOS_FILE].map(|name| (name, history("hpc", until).save()));
        store(&folder.0, &ledgers, &|| true).unwrap();
    }

    #[test]
    fn what_is_stored_is_loaded() {
        let folder = Folder::new("ledger-stored");
        assert!(!exists(&folder.0));
        let none = load(&folder.0, "hpc");
        assert!(none.assocs.is_none() && none.complaints.is_empty());
        save(&folder, 0);
        save(&folder, 60);
        assert!(exists(&folder.0));
        let own = load(&folder.0, "hpc");
        assert_eq!(own.assocs, Some(history("hpc", 60)));
        assert_eq!(own.qos, Some(history("hpc", 60)));
        assert!(own.complaints.is_empty());
        // A save that is not wanted any more replaces nothing.
        let late = [(OWN_FILE, history("hpc", 120).save())];
        assert!(store(&folder.0, &late, &|| false).is_err());
        assert_eq!(load(&folder.0, "hpc").assocs, Some(history("hpc", 60)));
    }

    #[test]
    fn a_damaged_ledger_is_set_aside_and_the_one_before_counts() {
        for damage in ["cut", "changed", "of another cluster"] {
            let folder = Folder::new("ledger-damaged");
            save(&folder, 0);
            save(&folder, 60);
            let mut bytes = history("hpc", 60).save();
            match damage {
                "cut" => bytes.truncate(40),
                "changed" => bytes[30] ^= 1,
                _ => bytes = history("other", 60).save(),
            }
            folder.write(OWN_FILE, &bytes);
            let own = load(&folder.0, "hpc");
            assert_eq!(own.assocs, Some(history("hpc", 0)), "{damage}");
            assert_eq!(own.qos, Some(history("hpc", 60)));
            let [complaint] = &own.complaints[..] else {
                panic!("{:?}", own.complaints);
            };
            assert!(complaint.starts_with("priority_fairtree_ledger is damaged ("));
            assert!(
                complaint.ends_with("; using priority_fairtree_ledger.old from the previous pass"),
                "{complaint}"
            );
            assert!(folder.0.join(format!("{OWN_FILE}.damaged")).exists());
            assert!(!folder.0.join(OWN_FILE).exists());
            // The next start, before a pass has written a new file.
            let again = load(&folder.0, "hpc");
            assert_eq!(again.assocs, Some(history("hpc", 0)), "{damage}");
            let [complaint] = &again.complaints[..] else {
                panic!("{:?}", again.complaints);
            };
            assert_eq!(
                complaint,
                "priority_fairtree_ledger is missing; using priority_fairtree_ledger.old from the \
                 previous pass"
            );
        }
    }

    #[test]
    fn other_sources_come_change_and_go() {
        let folder = Folder::new("ledger-others");
        let file = source_file("two").unwrap();
        let mut others = Others::default();
        folder.write(&file, &history("two", 0).save());
        folder.write("priority_fairtree_history-x.new", b"half");
        others.look(&folder.0, "hpc", false);
        assert!(others.news().changed.is_empty());
        // Histories of other clusters count only if requested.
        others.look(&folder.0, "hpc", true);
        assert_eq!(
            others.news().changed,
            [("two".to_owned(), history("two", 0))]
        );
        others.look(&folder.0, "hpc", true);
        assert!(others.news().changed.is_empty());
        folder.write(&file, b"nothing of ours");
        others.look(&folder.0, "hpc", true);
        let news = others.news();
        assert!(news.changed.is_empty() && news.gone.is_empty());
        assert!(
            news.complaints[0].starts_with(
                "history file priority_fairtree_history-two not loaded: it is damaged"
            )
        );
        folder.write(&file, &history("two", 600).save());
        others.look(&folder.0, "hpc", true);
        assert_eq!(others.news().changed.len(), 1);
        others.look(&folder.0, "hpc", false);
        assert_eq!(others.news().gone, ["two"]);
        others.look(&folder.0, "hpc", true);
        fs::remove_file(folder.0.join(&file)).unwrap();
        others.look(&folder.0, "hpc", true);
        let news = others.news();
        assert!(news.changed.is_empty());
        assert_eq!(news.gone, ["two"]);
    }

    /// Sparse files: reading them would take as much memory as they are long.
    #[test]
    fn long_files_are_not_read() {
        let folder = Folder::new("ledger-long");
        let file = source_file("x").unwrap();
        let mut others = Others::default();
        for (begins, len, why) in [
            (&b""[..], 5 << 30, "it is longer than 268435456 bytes"),
            (b"FTLEDGER", 5 << 30, "it is longer than 268435456 bytes"),
            (
                b"",
                200 << 20,
                "it is damaged: byte 0: bad magic number: no ledger",
            ),
        ] {
            folder.write(&file, begins);
            let long = OpenOptions::new().write(true).open(folder.0.join(&file));
            long.unwrap().set_len(len).unwrap();
            others.look(&folder.0, "hpc", true);
            assert_eq!(
                others.news().complaints,
                [format!(
                    "history file priority_fairtree_history-x not loaded: {why}; its previous version, \
                     if any, stays in use"
                )]
            );
        }
        let long = fs::File::create(folder.0.join(OWN_FILE)).unwrap();
        long.set_len(5 << 30).unwrap();
        let own = load(&folder.0, "hpc");
        assert!(
            own.complaints[0].contains("is damaged (longer than 4294967296 bytes); renamed to")
        );
    }
}
