//! Files that are written whole or not at all.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// Readable and writable for all that the umask allows.
pub const SHARED: u32 = 0o666;

/// For the owner alone.
pub const PRIVATE: u32 = 0o600;

/// Puts `bytes` in place of the file `path`, or makes it with `mode`; a file of before keeps its
/// mode. After this, an error or a crash there is either the file of before or the new one. What is
/// no file, as a device or a FIFO, is written to.
///
/// It is made beside it as `.NAME.PID.new`; those that a killed process left are removed.
///
/// # Errors
/// Those of the file system.
pub fn replace(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    replace_for(path, mode, None, bytes)
}

/// As [`replace`]; the file belongs to this user and group, where they are given.
///
/// # Errors
/// Those of the file system; an owner that this process may not give.
pub fn replace_for(
    path: &Path,
    mode: u32,
    owner: Option<(u32, u32)>,
    bytes: &[u8],
) -> io::Result<()> {
    replace_by(path, mode, owner, |out| out.write_all(bytes))
}

/// As [`replace_for`], by what `write` writes, piece by piece. A signal that ends the process waits
/// for no more than one piece, and leaves the file of before.
///
/// # Errors
/// Those of `write` and of the file system; one that says so where a signal came.
pub fn replace_by(
    path: &Path,
    mode: u32,
    owner: Option<(u32, u32)>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // The file that a link leads to, not the link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    let name = path.file_name();
    let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    let name = name.to_string_lossy().into_owned();
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    remove_left(folder, |entry| pid_of(entry, &name));
    let held = HeldSignals::new();
    let making = folder.join(format!(".{name}.{}.new", std::process::id()));
    let written = make_new(&making, mode, |file| {
        let mut out = BufWriter::new(Interruptible {
            file,
            signals: held.arriving()?,
        });
        write(&mut out)?;
        out.flush()
    });
    let written = written.and_then(|()| {
        if let Some(before) = before {
            let mode = before.permissions().mode() & 0o777;
            fs::set_permissions(&making, Permissions::from_mode(mode))?;
        }
        if let Some((user, group)) = owner {
            chown(&making, Some(user), Some(group))?;
        }
        fs::rename(&making, path)
    });
    if let Err(error) = written {
        // The reason is told; what was begun goes if it can.
        let _ = fs::remove_file(&making);
        return Err(error);
    }
    fs::File::open(folder)?.sync_all()
}

/// A file that is not written to once a signal has come that would end the process.
struct Interruptible<'a> {
    file: &'a mut File,
    signals: SignalFd,
}

impl Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(came) = self.signals.read_signal()? {
            // It is held still, and ends the process when it is held no more.
            raise(Signal::try_from(came.ssi_signo as i32)?)?;
            // `Interrupted` would be tried again.
            return Err(io::Error::other("a signal came"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Makes a file that is not there, and has it on disk.
///
/// # Errors
/// Those of the file system; a file or a link of this name.
pub fn write_new(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    make_new(path, mode, |file| file.write_all(bytes))
}

fn make_new(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    write(&mut file)?;
    file.sync_all()
}

/// The process that makes `.NAME.PID.new`.
fn pid_of(entry: &str, name: &str) -> Option<u32> {
    let rest = entry.strip_prefix('.')?.strip_prefix(name)?;
    rest.strip_prefix('.')?.strip_suffix(".new")?.parse().ok()
}

/// Removes what a process that is gone was making in a folder: the entries of which `maker` tells
/// one. What cannot be removed stays.
pub fn remove_left(folder: &Path, maker: impl Fn(&str) -> Option<u32>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let left: Vec<PathBuf> = entries
        .filter(|entry| {
            let maker = maker(&entry.file_name().to_string_lossy());
            maker.is_some_and(|pid| {
                pid == std::process::id() || !Path::new(&format!("/proc/{pid}")).exists()
            })
        })
        .map(|entry| entry.path())
        .collect();
    for path in left {
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
}

/// Signals that would end the process in the middle wait until this is dropped.
pub struct HeldSignals(Option<SigSet>);

fn ending() -> SigSet {
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
}

impl HeldSignals {
    /// Holds SIGINT, SIGTERM and SIGHUP of this thread.
    pub fn new() -> HeldSignals {
        HeldSignals(ending().thread_swap_mask(SigmaskHow::SIG_BLOCK).ok())
    }

    /// Takes those that have come, without waiting for any.
    fn arriving(&self) -> io::Result<SignalFd> {
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        Ok(SignalFd::with_flags(&ending(), flags)?)
    }
}

impl Default for HeldSignals {
    fn default() -> HeldSignals {
        HeldSignals::new()
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // It was the mask already.
            let _ = before.thread_set_mask();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        entries
            .map(|entry| name(entry).into_string().expect("UTF-8"))
            .collect()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("a file").permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.html");
        // Of a process that is gone.
        fs::write(folder.path().join(".x.html.4194304.new"), "half").expect("written");
        replace(&path, PRIVATE, b"one").expect("written");
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("a mode");
        replace(&path, SHARED, b"two").expect("written");
        assert_eq!(fs::read(&path).expect("text"), b"two");
        assert_eq!(mode(&path), 0o640);
        assert_eq!(names(folder.path()), ["x.html"]);
        replace(Path::new("/dev/null"), SHARED, b"x").expect("a device");
        replace(Path::new("/dev/full"), SHARED, b"x").expect_err("full");
    }

    #[test]
    fn a_signal_leaves_the_file_of_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.json");
        fs::write(&path, "before").expect("written");
        let mut pieces = 0;
        // What it would end is the test.
        let held = HeldSignals::new();
        let written = replace_by(&path, SHARED, None, |out| {
            loop {
                out.write_all(&[b'x'; 100_000])?;
                pieces += 1;
                raise(Signal::SIGHUP)?;
            }
        });
        assert!(
            written
                .expect_err("a signal")
                .to_string()
                .contains("signal")
        );
        assert_eq!(pieces, 1);
        let came = held.arriving().expect("signals").read_signal();
        let came = came.expect("signals").map(|came| came.ssi_signo as i32);
        assert_eq!(came, Some(Signal::SIGHUP as i32));
        assert_eq!(fs::read(&path).expect("text"), b"before");
        assert_eq!(names(folder.path()), ["x.json"]);
    }

    #[test]
    fn a_link_of_the_name_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let other = folder.path().join("other");
        fs::write(&other, "theirs").expect("written");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&other, &link).expect("a link");
        assert!(write_new(&link, PRIVATE, b"x").is_err());
        assert_eq!(fs::read(&other).expect("text"), b"theirs");
        // One that the user names is: its target is replaced.
        replace(&link, SHARED, b"ours").expect("written");
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(fs::read(&other).expect("text"), b"ours");
    }
}
