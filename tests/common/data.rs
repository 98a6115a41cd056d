//! The collection of real data that tests read.

#[allow(clippy::duplicate_mod)] // Other files of a test program use it, too.
#[path = "checkout.rs"]
mod checkout;

use std::path::PathBuf;

use checkout::checkout;

/// The file `name` of the collection of real data, which is in the folder of `FAIRTREE_DATA`, or in
/// `../shared/data` if it is not set.
///
/// Returns `None`, after a note on stderr, if the collection is missing; if `CI` is set, that is a
/// failure. A collection without this file is always a failure.
pub fn data(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("FAIRTREE_DATA")
        .map_or_else(|| checkout().join("../shared/data"), PathBuf::from);
    if !folder.is_dir() {
        let message = format!("{} is absent (set FAIRTREE_DATA)", folder.display());
        assert!(std::env::var_os("CI").is_none(), "{message}");
        eprintln!("skipped: {message}");
        return None;
    }
    let path = folder.join(name);
    assert!(path.exists(), "{} is absent", path.display());
    Some(path)
}

/// The text of such a file; invalid UTF-8 is replaced.
pub fn data_text(name: &str) -> Option<String> {
    let bytes = std::fs::read(data(name)?).expect("the file can be read");
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
