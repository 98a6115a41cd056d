//! Files that are written whole or not at all, also where other users may write.
//!
//! Mode and owner are set on the open file and names are looked up in the open folder
//! ([`Folder`]), so nobody who may write there can have them set on another file.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::geteuid;

use crate::folder::{Folder, Place, is_file};

/// Readable and writable for all that the umask allows.
pub const SHARED: u32 = 0o666;

/// For the owner alone.
pub const PRIVATE: u32 = 0o600;

/// Puts `bytes` in place of the file `path`, or makes it with `mode`. A file of before keeps its
/// mode; one of another user lends no right that a new one would not have. After this, an error or
/// a crash there is either the file of before or the new one. A device or a FIFO is written to. A
/// link is followed where it belongs to this user or to root.
///
/// The file is made beside it as `.NAME.PID.new`; those that a killed process left are removed.
///
/// # Errors
/// Those of the file system; a link of another user.
pub fn replace(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, mode, |out| out.write_all(bytes))
}

/// As [`replace`], by what `write` writes, piece by piece. A signal that ends the process waits
/// for no more than one piece, and leaves the file of before.
///
/// # Errors
/// Those of `write` and of [`replace`]; one that says so where a signal came.
pub fn replace_by(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match Folder::of_file(path)? {
        Place::Name(folder, name) => replace_in(&folder, &name, mode, None, write),
        Place::Device(file) => {
            let mut out = BufWriter::new(file);
            write(&mut out)?;
            out.flush()
        }
    }
}

/// As [`replace_by`], of a name in a folder: whatever has the name is replaced, also a link. The
/// file belongs to this user and group, where they are given.
///
/// # Errors
/// Those of `write` and of the file system; a folder of this name; an owner that this process may
/// not give; one that says so where a signal came.
pub fn replace_in(
    folder: &Folder,
    name: &OsStr,
    mode: u32,
    owner: Option<(u32, u32)>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let text = name.to_string_lossy();
    remove_left(folder, |entry| pid_of(entry, &text));
    let held = HeldSignals::new();
    let making = format!(".{text}.{}.new", std::process::id());
    let mut file = folder.create(&making, mode)?;
    let make = || {
        let mut out = BufWriter::new(Interruptible {
            file: &mut file,
            signals: held.arriving()?,
        });
        write(&mut out)?;
        out.flush()?;
        drop(out);
        keep_mode(folder, name, owner, &file)?;
        let made = file.metadata()?;
        if let Some((user, group)) = owner.filter(|owner| *owner != (made.uid(), made.gid())) {
            fchown(&file, Some(user), Some(group))?;
        }
        file.sync_all()?;
        folder.rename(&making, name)
    };
    if let Err(error) = make() {
        // The first error is reported; an unfinished file that cannot be removed stays.
        let _ = folder.remove(&making);
        return Err(error);
    }
    folder.sync()
}

/// Gives a new file the mode of the file whose name it gets; of one that does not belong to its
/// owner no more than both allow.
fn keep_mode(
    folder: &Folder,
    name: &OsStr,
    owner: Option<(u32, u32)>,
    new: &File,
) -> io::Result<()> {
    let Some(before) = folder.look(name)?.filter(is_file) else {
        return Ok(());
    };
    let mut mode = before.st_mode & 0o777;
    if before.st_uid != owner.map_or(geteuid().as_raw(), |owner| owner.0) {
        mode &= new.metadata()?.mode();
    }
    new.set_permissions(Permissions::from_mode(mode))
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

/// The process that makes `.NAME.PID.new`.
fn pid_of(entry: &str, name: &str) -> Option<u32> {
    let rest = entry.strip_prefix('.')?.strip_prefix(name)?;
    rest.strip_prefix('.')?.strip_suffix(".new")?.parse().ok()
}

/// Removes unfinished entries of a process that no longer exists: `maker` returns the process of an
/// entry. An entry that cannot be removed stays.
pub fn remove_left(folder: &Folder, maker: impl Fn(&str) -> Option<u32>) {
    for name in folder.names().into_iter().flatten() {
        let maker = maker(&name.to_string_lossy());
        let is_gone =
            |pid| pid == std::process::id() || !Path::new(&format!("/proc/{pid}")).exists();
        if maker.is_some_and(is_gone) {
            let _ = folder.remove(&name);
        }
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
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn arriving(&self) -> io::Result<SignalFd> {
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
    use std::fs;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

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
        // Left by a process that no longer exists.
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
        let written = replace_by(&path, SHARED, |out| {
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

    /// A file of this process, and its owner and mode.
    fn victim(folder: &Path) -> (PathBuf, impl Fn() -> (u32, u32)) {
        let path = folder.join("victim");
        fs::write(&path, "secret").expect("written");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("a mode");
        let of = path.clone();
        let facts = move || {
            assert_eq!(fs::read(&of).expect("text"), b"secret");
            (fs::metadata(&of).expect("a file").uid(), mode(&of))
        };
        (path, facts)
    }

    /// The folder of another user where this process may change owners.
    fn folder_of_another() -> (tempfile::TempDir, u32) {
        let folder = tempfile::tempdir().expect("a folder");
        let own = geteuid().as_raw();
        let other = if own == 0 { 4321 } else { own };
        std::os::unix::fs::chown(folder.path(), Some(other), Some(other)).expect("an owner");
        (folder, other)
    }

    #[test]
    fn links_are_followed_where_this_user_or_root_made_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        let again = folder.path().join("again");
        fs::write(&file, "theirs").expect("written");
        symlink("file", &link).expect("a link");
        symlink(&link, &again).expect("a link");
        replace(&again, SHARED, b"ours").expect("written");
        assert!(fs::symlink_metadata(&again).expect("a link").is_symlink());
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(fs::read(&file).expect("text"), b"ours");
        // To nothing yet, in a circle, to a folder, and no name of a file.
        let (new, to_new) = (folder.path().join("new"), folder.path().join("to_new"));
        symlink(&new, &to_new).expect("a link");
        replace(&to_new, SHARED, b"new").expect("written");
        assert_eq!(fs::read(&new).expect("text"), b"new");
        symlink("circle", folder.path().join("circle")).expect("a link");
        for wrong in ["circle", "", "..", "file/", "none/x"] {
            assert!(replace(&folder.path().join(wrong), SHARED, b"x").is_err());
        }
        assert_eq!(fs::read(&file).expect("text"), b"ours");
        // An open file that has no name.
        let (read, write) = nix::unistd::pipe().expect("a pipe");
        let path = format!("/proc/self/fd/{}", write.as_raw_fd());
        replace(Path::new(&path), SHARED, b"piped").expect("written");
        drop(write);
        assert_eq!(io::read_to_string(File::from(read)).expect("text"), "piped");
        if geteuid().is_root() {
            std::os::unix::fs::lchown(&link, Some(4321), None).expect("an owner");
            let error = replace(&again, SHARED, b"x").expect_err("a link of another user");
            assert!(
                error.to_string().contains("is a link of user 4321, which"),
                "{error}"
            );
            assert_eq!(fs::read(&file).expect("text"), b"ours");
        }
    }

    /// The owner of the folder puts a link in place of the new file right after it was made.
    #[test]
    fn a_link_that_comes_while_the_file_is_written_changes_no_other_file() {
        let safe = tempfile::tempdir().expect("a folder");
        let (victim, facts) = victim(safe.path());
        let before = facts();
        let (folder, other) = folder_of_another();
        let path = folder.path().join("x.svg");
        fs::write(&path, "before").expect("written");
        fs::set_permissions(&path, Permissions::from_mode(0o666)).expect("a mode");
        let making = folder
            .path()
            .join(format!(".x.svg.{}.new", std::process::id()));
        let swap = |out: &mut dyn Write| {
            fs::remove_file(&making)?;
            symlink(&victim, &making)?;
            out.write_all(b"new")
        };
        replace_by(&path, SHARED, swap).expect("written");
        assert_eq!(facts(), before);
        // Theirs is what they put there.
        assert_eq!(fs::read_link(&path).expect("a link"), victim);
        let open = Folder::open(folder.path()).expect("a folder");
        let owner = Some((other, other));
        replace_in(&open, OsStr::new("x.svg"), PRIVATE, owner, swap).expect("written");
        assert_eq!(facts(), before);
    }

    #[test]
    fn a_link_in_place_of_a_name_in_a_folder_is_replaced() {
        let safe = tempfile::tempdir().expect("a folder");
        let (victim, facts) = victim(safe.path());
        let before = facts();
        let (folder, other) = folder_of_another();
        let path = folder.path().join("own");
        symlink(&victim, &path).expect("a link");
        let open = Folder::open(folder.path()).expect("a folder");
        let owner = Some((other, other));
        let write = |out: &mut dyn Write| out.write_all(b"ours");
        replace_in(&open, OsStr::new("own"), PRIVATE, owner, write).expect("written");
        assert_eq!(facts(), before);
        let found = fs::symlink_metadata(&path).expect("a file");
        assert_eq!((found.is_file(), found.uid()), (true, other));
        assert_eq!(mode(&path), 0o600);
        assert_eq!(names(folder.path()), ["own"]);
    }

    #[test]
    fn the_mode_of_another_users_file_lends_no_right() {
        let (folder, other) = folder_of_another();
        let path = folder.path().join("x.json");
        fs::write(&path, "before").expect("written");
        fs::set_permissions(&path, Permissions::from_mode(0o646)).expect("a mode");
        std::os::unix::fs::chown(&path, Some(other), Some(other)).expect("an owner");
        replace(&path, PRIVATE, b"secret").expect("written");
        let kept = if geteuid().is_root() { 0o600 } else { 0o646 };
        assert_eq!(mode(&path), kept);
    }
}
