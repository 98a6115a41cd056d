//! slurmctld's own files of usage, `assoc_usage` and `qos_usage`: reads when they were written and
//! checks that they are intact.
//!
//! They have no checksum. slurmctld treats an empty file as missing and logs nothing (from 25.05 on
//! it does not start without `assoc_usage`: see [`first_dump`](super::first_dump)). It reads a
//! broken number up to the break. If a file is truncated, it does not start until it is started
//! with `-i`, and then uses the records before the break. This module only reads the files: it
//! finds damage that breaks the format, but not a changed digit.
//!
//! All numbers are big-endian; a text is its length (4), which counts a final NUL, and its bytes.
//!
//! | bytes | contents |
//! |---|---|
//! | 2 | version of Slurm's protocol: in the first byte, the second is 0 |
//! | 8 | time of writing |
//! | records to the end | id (4), raw usage (a text), usage per TRES (a text `id=usage,...`), wall clock seconds (4) |

use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The usage of associations.
pub(super) const ASSOC_FILE: &str = "assoc_usage";
/// The usage of QOS.
pub(super) const QOS_FILE: &str = "qos_usage";

/// First bytes of the version: Slurm's since 2012, and some of future releases.
const VERSIONS: RangeInclusive<u8> = 25..=100;

/// Damage of the files of a folder, one line per file. slurmctld writes both together: if one
/// exists, the other must exist.
pub(super) fn damages(dir: &Path) -> Vec<String> {
    let found = [ASSOC_FILE, QOS_FILE].map(|name| (name, fs::read(dir.join(name))));
    let none = found
        .iter()
        .all(|(_, bytes)| matches!(bytes, Err(error) if is_absence(error)));
    if none {
        return vec![];
    }
    let damage = |(name, bytes): &(&str, io::Result<Vec<u8>>)| match bytes {
        Ok(bytes) => {
            let at = check(bytes).err()?;
            Some(format!("{name} is damaged ({at})"))
        }
        Err(error) if is_absence(error) => Some(format!("{name} is missing")),
        Err(error) => Some(format!("{name} cannot be read ({error})")),
    };
    found.iter().filter_map(damage).collect()
}

fn is_absence(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Time at which the usage of associations was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DumpTime {
    /// The time in its header: slurmctld's clock right before it packed the usage, under the lock
    /// that prevents passes from changing it.
    pub(super) header: i64,
    /// The same, but not later than the file's own time, because the header may be damaged, too.
    pub(super) written: i64,
}

/// Reads when the usage of associations was written. `None` if the file is missing or has no
/// complete header.
pub(super) fn time(dir: &Path) -> Option<DumpTime> {
    let path = dir.join(ASSOC_FILE);
    let bytes = fs::read(&path).ok()?;
    let header = bytes.get(2..)?.first_chunk()?;
    let header = i64::from_be_bytes(*header);
    let modified = fs::metadata(&path).and_then(|data| data.modified()).ok()?;
    let written = modified.duration_since(UNIX_EPOCH).ok()?;
    let written = i64::try_from(written.as_secs()).ok()?;
    Some(DumpTime {
        header,
        written: header.min(written),
    })
}

/// Checks the format of a file.
///
/// # Errors
/// The place at which the format breaks, and how.
fn check(bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() {
        return Err("it is empty".to_string());
    }
    let mut reader = Reader(bytes);
    let header = reader.version().and_then(|()| reader.take::<8>());
    header.ok_or("bad version")?;
    let mut records = 0;
    while !reader.0.is_empty() {
        records += 1;
        let from = bytes.len() - reader.0.len();
        reader
            .record()
            .ok_or_else(|| format!("at record {records}, byte {from} of {}", bytes.len()))?;
    }
    Ok(())
}

/// The bytes that are not read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn version(&mut self) -> Option<()> {
        let [first, second] = self.take()?;
        (VERSIONS.contains(&first) && second == 0).then_some(())
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(u32::from_be_bytes(self.take()?)).ok()?;
        if length == 0 {
            return Some("");
        }
        let text = self.0.get(..length)?;
        self.0 = &self.0[length..];
        std::str::from_utf8(text.strip_suffix(&[0])?).ok()
    }

    fn record(&mut self) -> Option<()> {
        let _id: [u8; 4] = self.take()?;
        is_usage(self.text()?).then_some(())?;
        let tres = self.text()?;
        // Some lists of Slurm begin with a comma.
        let mut items = tres.split(',').filter(|item| !item.is_empty());
        items.all(is_tres).then_some(())?;
        let _wall: [u8; 4] = self.take()?;
        Some(())
    }
}

fn is_tres(item: &str) -> bool {
    item.split_once('=')
        .is_some_and(|(id, usage)| id.parse::<u32>().is_ok() && is_usage(usage))
}

fn is_usage(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Folder;
    use super::*;

    /// A `qos_usage` that slurmctld 22.05.8 has written: one QOS, four TRES.
    const WHOLE: &[u8] = b"\x26\x00\0\0\0\0\x6a\x11\x17\x0b\0\0\0\x01\
        \0\0\0\x121222428984.857845\0\
        \0\0\0\x511=1222428984.857845,2=110050022117.369991,4=332437233.789166,5=1222428984.857845\0\
        \0\x4f\xe2\x23";
    const HEADER: usize = 10;

    #[test]
    fn what_slurmctld_wrote_is_whole() {
        assert_eq!(check(WHOLE), Ok(()));
        // No records, a NULL text, a list that begins with a comma.
        assert_eq!(check(&WHOLE[..HEADER]), Ok(()));
        let record = b"\0\0\0\x07\0\0\0\x090.000000\0\0\0\0\0\0\0\0\0";
        assert_eq!(check(&[WHOLE, record].concat()), Ok(()));
        let record = b"\0\0\0\x07\0\0\0\x090.000000\0\0\0\0\x04,1=\0\0\0\0\0";
        assert!(check(&[WHOLE, record].concat()).is_err());
        let record = b"\0\0\0\x07\0\0\0\x090.000000\0\0\0\0\x05,1=2\0\0\0\0\0";
        assert_eq!(check(&[WHOLE, record].concat()), Ok(()));
    }

    #[test]
    fn a_file_that_is_cut_or_broken_is_damaged() {
        for length in (0..HEADER).chain(HEADER + 1..WHOLE.len()) {
            assert!(check(&WHOLE[..length]).is_err(), "{length} bytes");
        }
        assert_eq!(check(b"").unwrap_err(), "it is empty");
        let twice = [WHOLE, &WHOLE[HEADER..]].concat();
        let from = WHOLE.len();
        assert_eq!(
            check(&twice[..twice.len() - 1]).unwrap_err(),
            format!("at record 2, byte {from} of {}", twice.len() - 1)
        );
        // Any bytes are valid for binary numbers: time, id, wall clock.
        let free = |at: usize| (2..HEADER + 4).contains(&at) || at >= WHOLE.len() - 4;
        for at in (0..WHOLE.len()).filter(|&at| !free(at)) {
            let mut bad = WHOLE.to_vec();
            bad[at] ^= 0x55;
            assert!(check(&bad).is_err(), "byte {at}");
        }
    }

    #[test]
    fn both_files_are_there_or_none() {
        let folder = Folder::new("dumps");
        assert!(damages(&folder.0).is_empty());
        folder.write(ASSOC_FILE, WHOLE);
        assert_eq!(damages(&folder.0), ["qos_usage is missing"]);
        folder.write(QOS_FILE, WHOLE);
        assert!(damages(&folder.0).is_empty());
        folder.write(ASSOC_FILE, b"");
        assert_eq!(damages(&folder.0), ["assoc_usage is damaged (it is empty)"]);
    }
}
