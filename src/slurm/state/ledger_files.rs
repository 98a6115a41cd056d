//! Files of ledgers: the plugin's own, and those of other sources.
//!
//! They have their names in [`crate::usage::window`]. The own ones are kept with the one before, and
//! set aside where they are damaged, as the state file is.

use super::files::{self, Replacement};
use super::times::old;
use crate::usage::window::{
    History, MAX_OWN_BYTES, MAX_SOURCE_BYTES, OWN_FILE, QOS_FILE, ReadError, label_of_file,
};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The own ledgers as they were loaded.
#[derive(Debug, Default)]
pub(in crate::slurm) struct OwnLedgers {
    pub(in crate::slurm) assocs: Option<History>,
    pub(in crate::slurm) qos: Option<History>,
    /// For the administrator, as errors.
    pub(in crate::slurm) complaints: Vec<String>,
}

/// Has the plugin written a ledger here?
pub(in crate::slurm) fn exists(dir: &Path) -> bool {
    dir.join(OWN_FILE).exists() || dir.join(old(OWN_FILE)).exists()
}

/// Reads the ledgers of this cluster. Never fails: what cannot be read is complained of.
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
) -> Option<History> {
    let damage = match read(dir, name, cluster) {
        Ok(None) => return load_before(dir, name, cluster, complaints),
        Ok(history) => return history,
        Err(damage) => damage,
    };
    let aside = format!("{name}.damaged");
    let fate = match fs::rename(dir.join(name), dir.join(&aside)) {
        Ok(()) => format!("it is now {aside}"),
        Err(error) => format!("it cannot be set aside: {error}"),
    };
    let before = read(dir, &old(name), cluster).ok().flatten();
    let instead = match &before {
        Some(_) => format!("use is that of the pass before, from {}", old(name)),
        None => "what was used before is not known".to_string(),
    };
    complaints.push(format!("{name} is damaged ({damage}); {fate}; {instead}"));
    before
}

/// The ledger of the pass before, where it alone is left: a damaged one was set aside, and slurmctld
/// ended before it had made a pass.
fn load_before(
    dir: &Path,
    name: &str,
    cluster: &str,
    complaints: &mut Vec<String>,
) -> Option<History> {
    let before = old(name);
    match read(dir, &before, cluster) {
        Ok(None) => None,
        Ok(history) => {
            complaints.push(format!(
                "{name} is gone; use is that of the pass before, from {before}"
            ));
            history
        }
        Err(damage) => {
            complaints.push(format!(
                "{name} is gone, and {before} is damaged ({damage}); what was used before is not \
                 known"
            ));
            None
        }
    }
}

/// `None`: there is no such file.
fn read(dir: &Path, name: &str, cluster: &str) -> Result<Option<History>, String> {
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
            Err(format!("it is of {names:?}, not of {cluster:?}"))
        }
    }
}

/// Reads a file of at most `most` bytes. A pipe does not keep us waiting.
fn read_file(path: &Path, most: u64) -> Result<History, ReadError> {
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NONBLOCK);
    let file = file.open(path)?;
    let data = file.metadata()?;
    match data.is_file() {
        true => History::read(file, data.len(), most),
        false => Err(io::Error::other("it is no regular file").into()),
    }
}

/// Writes the own ledgers, each replaced in one step; the ones before stay as `.old`. `wanted`: see
/// [`files::replace`].
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

/// What tells one version of a file from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    inode: u64,
    len: u64,
    changed: (i64, i64),
}

/// Files of other sources, as they come and go. Looked at by a thread that may wait for a disk.
#[derive(Debug, Default)]
pub(in crate::slurm) struct Others {
    /// Those that are there, by label.
    known: HashMap<String, Mark>,
    news: News,
    /// Use of other clusters counts.
    all_clusters: bool,
}

/// What has changed since it was taken last.
#[derive(Debug, Default)]
pub(in crate::slurm) struct News {
    /// New and changed ones.
    pub(in crate::slurm) changed: Vec<(String, History)>,
    /// Labels of which there is none any more, or none that counts.
    pub(in crate::slurm) gone: Vec<String>,
    /// For the administrator, as errors.
    pub(in crate::slurm) complaints: Vec<String>,
}

impl Others {
    /// Looks into the folder. `all_clusters`: histories of other clusters than `cluster` count.
    pub(in crate::slurm) fn look(&mut self, dir: &Path, cluster: &str, all_clusters: bool) {
        if self.all_clusters != all_clusters {
            self.all_clusters = all_clusters;
            self.known.clear();
        }
        let Ok(entries) = fs::read_dir(dir) else {
            // The disk is told of where something is saved.
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
                // A pipe would keep us waiting.
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

    fn take(&mut self, label: &str, history: Result<History, ReadError>, cluster: &str) {
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
                "the history {label} is not taken: {why}; what it had before stays"
            )),
        }
    }

    fn leave(&mut self, label: String) {
        self.news.changed.retain(|(known, _)| *known != label);
        if !self.news.gone.contains(&label) {
            self.news.gone.push(label);
        }
    }

    /// What has changed.
    pub(in crate::slurm) fn news(&mut self) -> News {
        std::mem::take(&mut self.news)
    }

    /// All are news again: who had taken them has lost them.
    pub(in crate::slurm) fn forget(&mut self) {
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Folder;
    use super::*;
    use crate::usage::window::{Columns, LeafKey, RunId, source_file};

    const NOW: i64 = 1_800_000_000;

    /// A run of an hour, up to so many seconds after [`NOW`].
    fn history(cluster: &str, until: i64) -> History {
        let columns = Columns::new(["cpu"]).unwrap();
        let rate = columns.rate(1.0, 1.0, &[(0, 1)]).unwrap();
        let mut history = History::new(cluster, 60, columns, &[], NOW + until).unwrap();
        let leaf = LeafKey::new("a", "u", "").unwrap();
        let run = RunId { job: 7, run: NOW };
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
        // What nobody wants any more replaces nothing.
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
                complaint.ends_with("from priority_fairtree_ledger.old"),
                "{complaint}"
            );
            assert!(folder.0.join(format!("{OWN_FILE}.damaged")).exists());
            assert!(!folder.0.join(OWN_FILE).exists());
            // The next start, before any pass has written another.
            let again = load(&folder.0, "hpc");
            assert_eq!(again.assocs, Some(history("hpc", 0)), "{damage}");
            let [complaint] = &again.complaints[..] else {
                panic!("{:?}", again.complaints);
            };
            assert_eq!(
                complaint,
                "priority_fairtree_ledger is gone; use is that of the pass before, from \
                 priority_fairtree_ledger.old"
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
        // Those of other clusters count only where they are asked for.
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
        assert!(news.complaints[0].starts_with("the history two is not taken: it is damaged"));
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

    /// Sparse files: to read them would take their length of memory.
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
                    "the history x is not taken: {why}; what it had before stays"
                )]
            );
        }
        let long = fs::File::create(folder.0.join(OWN_FILE)).unwrap();
        long.set_len(5 << 30).unwrap();
        let own = load(&folder.0, "hpc");
        assert!(own.complaints[0].contains("is damaged (longer than 4294967296 bytes); it is now"));
    }
}
