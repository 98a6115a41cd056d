//! A folder that is open, and the files in it, by name.
//!
//! Where another user may write, a path may lead elsewhere from one call to the next. So what is
//! made, replaced or removed is named relative to the open folder, and no link is followed except
//! in `Folder::of_file`, which accepts only links of this user and of root.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat, readlinkat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat, mkdirat};
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

/// Links that are followed one after the other, as in Linux.
const MAX_LINKS: usize = 40;

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    open: File,
    path: PathBuf,
}

/// A place that a path leads to.
#[derive(Debug)]
pub(crate) enum Place {
    /// A name in a folder, of a file or of nothing yet; not of a link.
    Name(Folder, OsString),
    /// A device, a pipe or a socket, open for writing.
    Device(File),
}

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// Those of the file system; a path that is not a folder.
    pub fn open(path: &Path) -> io::Result<Folder> {
        // `Path::parent` of a plain name.
        let path = match path.as_os_str().is_empty() {
            true => Path::new("."),
            false => path,
        };
        Folder::open_at(AT_FDCWD, path, OFlag::empty(), path.to_owned())
    }

    fn open_at(
        at: impl std::os::fd::AsFd,
        name: &Path,
        flags: OFlag,
        path: PathBuf,
    ) -> io::Result<Folder> {
        let flags = flags | OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let open = openat(at, name, flags, Mode::empty())?;
        let open = File::from(open);
        Ok(Folder { open, path })
    }

    /// Opens the folder of a file that a user names, and returns the name there. Links at the end
    /// of the path are followed where they belong to this user or to root: a link of another user
    /// could lead to a file that only this user may write.
    ///
    /// # Errors
    /// Those of the file system; a path without a name of a file; a link of another user, with its
    /// owner.
    pub(crate) fn of_file(path: &Path) -> io::Result<Place> {
        let mut from = Folder::open(Path::new("."))?;
        let mut path = path.to_owned();
        for _ in 0..=MAX_LINKS {
            let name = path.file_name().filter(|_| !ends_in_slash(&path));
            let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
            let folder = from.at(path.parent().unwrap_or(Path::new("")))?;
            let Some((owner, target)) = folder.link(name)? else {
                let name = name.to_owned();
                return match folder.look(&name)? {
                    Some(found) if !is_file(&found) => folder.device(&name, OFlag::O_NOFOLLOW),
                    _ => Ok(Place::Name(folder, name)),
                };
            };
            if owner != 0 && owner != geteuid().as_raw() {
                let link = folder.path.join(name);
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    format!(
                        "{} is a link of user {owner}, which is not followed: name the file that \
                         it leads to",
                        link.display()
                    ),
                ));
            }
            // Those of /proc lead to what is open, which may have no name.
            let is_proc = fstatfs(&folder.open)?.filesystem_type() == PROC_SUPER_MAGIC;
            if is_proc && !is_file(&fstatat(&folder.open, name, AtFlags::empty())?) {
                return folder.device(name, OFlag::empty());
            }
            (from, path) = (folder, PathBuf::from(target));
        }
        Err(Errno::ELOOP.into())
    }

    /// The folder that a path leads to from this one; itself for an empty path.
    fn at(self, path: &Path) -> io::Result<Folder> {
        if path.as_os_str().is_empty() {
            return Ok(self);
        }
        Folder::open_at(&self.open, path, OFlag::empty(), self.path.join(path))
    }

    /// The owner of a link and its target; `None`: the name is of something else, or of nothing.
    fn link(&self, name: &OsStr) -> io::Result<Option<(u32, OsString)>> {
        let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let link = match openat(&self.open, name, flags, Mode::empty()) {
            Ok(link) => link,
            Err(Errno::ENOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = fstat(&link)?;
        match file_type(&found) {
            SFlag::S_IFLNK => Ok(Some((found.st_uid, readlinkat(&link, "")?))),
            _ => Ok(None),
        }
    }

    fn device(&self, name: &OsStr, flags: OFlag) -> io::Result<Place> {
        let flags = flags | OFlag::O_WRONLY | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let file = File::from(openat(&self.open, name, flags, Mode::empty())?);
        match file.metadata()?.is_file() {
            true => Err(io::Error::other("it changed while it was opened")),
            false => Ok(Place::Device(file)),
        }
    }

    /// The path that it was opened by, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// User and group that it belongs to.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn owner(&self) -> io::Result<(u32, u32)> {
        let found = self.open.metadata()?;
        Ok((found.uid(), found.gid()))
    }

    /// Facts of a name, of the link itself where it is one; `None`: nothing has this name.
    pub(crate) fn look(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match fstatat(&self.open, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a file, open for writing.
    ///
    /// # Errors
    /// Those of the file system; a file or a link of this name.
    pub fn create(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(mode);
        let flags = flags | OFlag::O_NOFOLLOW;
        let made = openat(&self.open, name.as_ref(), flags, mode)?;
        Ok(made.into())
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// Those of the file system; a link of this name.
    pub fn read(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.open, name.as_ref(), flags, Mode::empty())?.into())
    }

    /// Makes a folder for its owner alone, and opens it.
    ///
    /// # Errors
    /// Those of the file system; a file, a folder or a link of this name; a folder of another user
    /// that took its place.
    pub fn make_private(&self, name: &str) -> io::Result<Folder> {
        mkdirat(&self.open, name, Mode::S_IRWXU)?;
        let path = self.path.join(name);
        let made = Folder::open_at(&self.open, Path::new(name), OFlag::O_NOFOLLOW, path)?;
        match made.owner()?.0 == geteuid().as_raw() {
            true => Ok(made),
            false => Err(io::Error::other(format!(
                "another user has put a folder in place of {}",
                made.path.display()
            ))),
        }
    }

    /// Gives a file or a folder another name, in place of a file of that name.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        Ok(renameat(&self.open, from, &self.open, to)?)
    }

    /// Removes a file, or a folder with the files in it.
    ///
    /// # Errors
    /// Those of the file system; a folder within the folder.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = name.as_ref();
        match unlinkat(&self.open, name, UnlinkatFlags::NoRemoveDir) {
            Err(Errno::EISDIR) => {}
            removed => return Ok(removed?),
        }
        let path = self.path.join(name);
        let inner = Folder::open_at(&self.open, Path::new(name), OFlag::O_NOFOLLOW, path)?;
        for file in inner.names()? {
            unlinkat(&inner.open, file.as_os_str(), UnlinkatFlags::NoRemoveDir)?;
        }
        Ok(unlinkat(&self.open, name, UnlinkatFlags::RemoveDir)?)
    }

    /// Names of what it holds, in no order.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        use std::os::unix::ffi::OsStrExt;
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let mut names = Vec::new();
        for entry in Dir::openat(&self.open, ".", flags, Mode::empty())?.iter() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    /// Has its names on disk.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn sync(&self) -> io::Result<()> {
        self.open.sync_all()
    }
}

fn file_type(found: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT
}

pub(crate) fn is_file(found: &FileStat) -> bool {
    file_type(found) == SFlag::S_IFREG
}

/// `Path::file_name` does not see it.
fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}
