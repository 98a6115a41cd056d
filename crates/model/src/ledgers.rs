//! The ledger files of a folder: what the plugin and `fairtree ledger` have written.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use fairtree::usage::window::{
    MAX_OWN_BYTES, MAX_SOURCE_BYTES, OWN_FILE, QOS_FILE, ReadError, UsageHistory, label_of_file,
    source_file,
};
use nix::fcntl::OFlag;
use nix::unistd::geteuid;

use crate::folder::Folder;
use crate::output;

/// A ledger file, by whose use it holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerFile {
    /// Use that the plugin of a cluster has seen itself.
    Plugin,
    /// The same by QOS.
    PluginQos,
    /// Use of the same cluster from the accounting database, for times that the plugin does not
    /// cover.
    History,
    /// Use of another cluster from the accounting database.
    Cluster(String),
    /// Use that somebody else has written, by its label.
    Other(String),
}

/// Label of [`LedgerFile::History`], and what is before a cluster's name.
const HISTORY: &str = "own";
const CLUSTER: &str = "cluster-";

impl LedgerFile {
    /// The name of the file; `None`: a cluster's name is empty or too long.
    ///
    /// ```
    /// use fairtree_model::ledgers::LedgerFile;
    /// let file = LedgerFile::Cluster("gpu.2".into());
    /// let name = file.name().unwrap();
    /// assert_eq!(name, "priority_fairtree_history-cluster-gpu_2E2");
    /// assert_eq!(LedgerFile::from_name(&name), Some(file));
    /// ```
    pub fn name(&self) -> Option<String> {
        match self {
            LedgerFile::Plugin => Some(OWN_FILE.to_owned()),
            LedgerFile::PluginQos => Some(QOS_FILE.to_owned()),
            LedgerFile::History => source_file(HISTORY),
            LedgerFile::Cluster(name) if name.is_empty() => None,
            LedgerFile::Cluster(name) => source_file(&format!("{CLUSTER}{}", encoded(name))),
            LedgerFile::Other(label) => source_file(label),
        }
    }

    /// The ledger file of that name; `None`: not a ledger file.
    pub fn from_name(name: &str) -> Option<LedgerFile> {
        if name == OWN_FILE {
            return Some(LedgerFile::Plugin);
        } else if name == QOS_FILE {
            return Some(LedgerFile::PluginQos);
        }
        let label = label_of_file(name)?;
        if label == HISTORY {
            return Some(LedgerFile::History);
        }
        let cluster = label.strip_prefix(CLUSTER).and_then(decoded);
        // One way to write a name: two files of the same cluster would count twice.
        let cluster = cluster.filter(|cluster| encoded(cluster) == label[CLUSTER.len()..]);
        Some(match cluster {
            Some(cluster) => LedgerFile::Cluster(cluster),
            None => LedgerFile::Other(label.to_owned()),
        })
    }

    /// Author of the file, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            LedgerFile::Plugin => "plugin",
            LedgerFile::PluginQos => "plugin, by QOS",
            LedgerFile::History => "history",
            LedgerFile::Cluster(_) => "other cluster",
            LedgerFile::Other(_) => "other source",
        }
    }
}

impl fmt::Display for LedgerFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().unwrap_or_default())
    }
}

/// A cluster's name as part of a label: letters, digits, `-` and `_` as they are; other bytes, and
/// a `_` that could be taken for such a byte, as `_` and two digits.
fn encoded(name: &str) -> String {
    let bytes = name.as_bytes();
    let is_digit = |at: usize| {
        let byte = bytes.get(at);
        byte.is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
    };
    let mut label = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        let plain = byte.is_ascii_alphanumeric()
            || *byte == b'-'
            || *byte == b'_' && !(is_digit(at + 1) && is_digit(at + 2));
        match plain {
            true => label.push(char::from(*byte)),
            false => label.push_str(&format!("_{byte:02X}")),
        }
    }
    label
}

fn decoded(label: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = label.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind
            .get(..2)
            .and_then(|two| std::str::from_utf8(two).ok());
        let digits = digits.filter(|two| {
            let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
            *first == b'_' && two.bytes().all(is_digit)
        });
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|name| !name.is_empty())
}

/// A ledger file of a folder.
#[derive(Debug)]
pub struct StoredLedger {
    /// Kind of the file.
    pub file: LedgerFile,
    /// Its name in the folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its contents, or why they are not known.
    pub history: Result<UsageHistory, ReadError>,
}

/// Suffix that the plugin adds to the name of its file of the pass before.
const OLD: &str = ".old";

/// Reads all ledger files of a folder, in the order of [`LedgerFile`]. If a file of the plugin is
/// missing and that of the pass before exists, that one is read, as the plugin does when it starts.
///
/// # Errors
/// A folder that cannot be read. The error of a file that cannot be read, or is damaged, is in its
/// entry.
pub fn read_folder(folder: &Path) -> io::Result<Vec<StoredLedger>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if let Some(file) = name.to_str().and_then(LedgerFile::from_name) {
            found.push(read(&entry.path(), file));
        }
    }
    for (file, name) in [
        (LedgerFile::Plugin, OWN_FILE),
        (LedgerFile::PluginQos, QOS_FILE),
    ] {
        let old = folder.join(format!("{name}{OLD}"));
        if found.iter().all(|stored| stored.file != file) && old.exists() {
            found.push(read(&old, file));
        }
    }
    found.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

fn read(path: &Path, file: LedgerFile) -> StoredLedger {
    let most = match file {
        LedgerFile::Plugin | LedgerFile::PluginQos => MAX_OWN_BYTES,
        _ => MAX_SOURCE_BYTES,
    };
    // A pipe does not keep us waiting.
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
    let opened = options.open(path).and_then(|open| {
        let found = open.metadata()?;
        match found.is_file() {
            true => Ok((open, found.len())),
            false => Err(io::Error::other("it is no regular file")),
        }
    });
    let name = path.file_name().unwrap_or_default();
    StoredLedger {
        file,
        name: name.to_string_lossy().into_owned(),
        bytes: opened.as_ref().map_or(0, |(_, len)| *len),
        history: opened
            .map_err(ReadError::System)
            .and_then(|(open, len)| UsageHistory::read(open, len, most)),
    }
}

/// Puts a history in place of the file of before, or makes it: whole or not at all. A link of its
/// name is replaced, not followed. Where root writes, it belongs to the owner of the folder, so
/// that slurmctld can read it.
///
/// # Errors
/// Those of the file system; a cluster that no file can be named for; a history that is longer than
/// slurmctld reads.
pub fn write(folder: &Path, file: &LedgerFile, history: &UsageHistory) -> io::Result<()> {
    let name = file.name().ok_or_else(|| {
        let why = "the name of the cluster is empty, or too long for that of a file";
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })?;
    let bytes = history.save();
    if bytes.len() as u64 > MAX_SOURCE_BYTES {
        return Err(io::Error::other(format!(
            "the history has {} bytes, and slurmctld reads {MAX_SOURCE_BYTES} at most: choose a \
             coarser resolution or a shorter time",
            bytes.len()
        )));
    }
    let folder = Folder::open(folder)?;
    let owner = match geteuid().is_root() {
        true => Some(folder.owner()?),
        false => None,
    };
    let name = OsStr::new(&name);
    output::replace_in(&folder, name, output::PRIVATE, owner, |out| {
        out.write_all(&bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree::usage::window::Columns;

    #[test]
    fn names_lead_back_to_their_file() {
        for cluster in ["gpu", "my_cluster", "a_2E", "a.b", "_", "__2E", "ä/b", "-x"] {
            let file = LedgerFile::Cluster(cluster.to_owned());
            let name = file.name().expect("a name");
            assert_eq!(LedgerFile::from_name(&name), Some(file), "{name}");
        }
        assert_eq!(
            LedgerFile::from_name("priority_fairtree_history-cluster-a_61"),
            Some(LedgerFile::Other("cluster-a_61".to_owned()))
        );
        for name in [
            "priority_fairtree_ledger.old",
            "priority_fairtree_history-",
            ".priority_fairtree_history-own.7.new",
            "assoc_usage",
        ] {
            assert_eq!(LedgerFile::from_name(name), None, "{name}");
        }
        for cluster in [String::new(), "x".repeat(300)] {
            assert_eq!(LedgerFile::Cluster(cluster).name(), None);
        }
    }

    #[test]
    fn a_folder_has_what_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let history =
            UsageHistory::new("hpc", 60, Columns::default(), &[], 1000).expect("a history");
        let other = LedgerFile::Cluster("gpu".into());
        // A link is replaced, and the file that it leads to stays.
        let outside = tempfile::NamedTempFile::new().expect("a file");
        let name = other.name().expect("a name");
        std::os::unix::fs::symlink(outside.path(), folder.path().join(name)).expect("a link");
        write(folder.path(), &other, &history).expect("written");
        assert_eq!(fs::read(outside.path()).expect("a file"), b"");
        write(folder.path(), &LedgerFile::History, &history).expect("written");
        fs::write(folder.path().join("assoc_usage"), "x").expect("written");
        let plugin = folder.path().join(OWN_FILE);
        fs::write(&plugin, "FTLEDGER").expect("written");
        let found = read_folder(folder.path()).expect("read");
        let files: Vec<_> = found.iter().map(|stored| stored.file.clone()).collect();
        assert_eq!(files, [LedgerFile::Plugin, LedgerFile::History, other]);
        let error = found[0].history.as_ref().expect_err("damaged");
        assert_eq!(error.to_string(), "byte 8: the bytes end here");
        assert_eq!(found[1].history.as_ref().expect("a history"), &history);
        assert_eq!(found[1].bytes, history.save().len() as u64);
        fs::remove_file(&plugin).expect("removed");
        fs::create_dir(&plugin).expect("a folder");
        let found = read_folder(folder.path()).expect("read");
        let error = found[0].history.as_ref().expect_err("a folder");
        assert_eq!(error.to_string(), "it is no regular file");
        // That of the pass before counts where there is no other.
        let old = folder.path().join("priority_fairtree_ledger.old");
        fs::write(&old, history.save()).expect("written");
        let found = read_folder(folder.path()).expect("read");
        assert!(found[0].history.is_err() && found[0].name == OWN_FILE);
        fs::remove_dir(&plugin).expect("removed");
        let found = read_folder(folder.path()).expect("read");
        assert_eq!(found[0].file, LedgerFile::Plugin);
        assert_eq!(found[0].name, "priority_fairtree_ledger.old");
        assert_eq!(found[0].history.as_ref().expect("a history"), &history);
    }
}
