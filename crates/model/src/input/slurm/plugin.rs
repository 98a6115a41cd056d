//! Plugins of Slurm as files: the release that each was built for, and which one a daemon loads.
//!
//! slurmctld goes through the folders of `PluginDir` in their order and loads the first file of a
//! name whose `plugin_version` equals its own, all three numbers; a file of another release is logged
//! and skipped. So plugins of several releases can be there at the same time, a folder for each.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use fairtree::compat::Release;
use object::{Object, ObjectSection, ObjectSymbol};

/// The file of the plugin `priority/fairtree`.
pub const FAIRTREE: &str = "priority_fairtree.so";

/// The longest plugin that is read, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The symbol with the release, a number of 32 bits.
const VERSION: &str = "plugin_version";

/// Reason why the release of a file is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// It cannot be read.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// It is not a shared object.
    #[error("it is no shared object: {0}")]
    Format(#[from] object::Error),
    /// It is not a plugin.
    #[error("it has no symbol plugin_version, which every plugin of Slurm has")]
    NoPlugin,
    /// It is not a regular file, or too long.
    #[error("it is no regular file, or longer than 256 MiB")]
    NoFile,
}

/// A plugin in a folder.
#[derive(Debug)]
pub struct PluginFile {
    /// Its path.
    pub path: PathBuf,
    /// The release that it was built for.
    pub built_for: Result<Release, PluginError>,
}

impl PluginFile {
    /// Returns true if a daemon of that release loads it.
    pub fn fits(&self, release: Release) -> bool {
        self.built_for.as_ref().is_ok_and(|built| *built == release)
    }

    /// Returns true if it was built for a release of the same series.
    pub fn is_of_series(&self, release: Release) -> bool {
        let built_for = self.built_for.as_ref().ok();
        built_for.is_some_and(|own| (own.major, own.minor) == (release.major, release.minor))
    }
}

/// The folders of a value of `PluginDir`; empty ones left out.
///
/// ```
/// use fairtree_model::input::slurm::plugin::folders;
/// assert_eq!(folders("/a:/b:").len(), 2);
/// ```
pub fn folders(plugin_dir: &str) -> Vec<PathBuf> {
    let names = plugin_dir.split(':').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .collect()
}

/// The files called `name` in these folders, in the order of the folders.
pub fn search(folders: &[PathBuf], name: &str) -> Vec<PluginFile> {
    let paths = folders.iter().map(|folder| folder.join(name));
    paths
        .filter(|path| path.symlink_metadata().is_ok())
        .map(|path| PluginFile {
            built_for: read(&path),
            path,
        })
        .collect()
}

/// The plugin that a daemon of `release` loads: the first that was built for it.
pub fn loaded_by(plugins: &[PluginFile], release: Release) -> Option<&PluginFile> {
    plugins.iter().find(|plugin| plugin.fits(release))
}

/// The release that a plugin was built for.
///
/// # Errors
/// [`PluginError`].
pub fn read(path: &Path) -> Result<Release, PluginError> {
    let about = fs::metadata(path)?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err(PluginError::NoFile);
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(MAX_BYTES)
        .read_to_end(&mut bytes)?;
    release_of(&bytes)
}

/// The value of `plugin_version` in a shared object.
fn release_of(bytes: &[u8]) -> Result<Release, PluginError> {
    let file = object::File::parse(bytes)?;
    let mut symbols = file.dynamic_symbols();
    let symbol = symbols.find(|symbol| symbol.name() == Ok(VERSION) && !symbol.is_undefined());
    let symbol = symbol.ok_or(PluginError::NoPlugin)?;
    let holds = |section: &object::Section<'_, '_>| {
        let end = section.address().saturating_add(section.size());
        (section.address()..end).contains(&symbol.address())
    };
    // Only one with a number in the file counts; a section of zeros has none.
    let section = file.sections().find(holds).ok_or(PluginError::NoPlugin)?;
    let number = section.data_range(symbol.address(), 4)?;
    let number: [u8; 4] = number
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or(PluginError::NoPlugin)?;
    let number = match file.is_little_endian() {
        true => u32::from_le_bytes(number),
        false => u32::from_be_bytes(number),
    };
    // SLURM_VERSION_NUMBER: year, month and micro release, a byte each.
    let [_, major, minor, micro] = number.to_be_bytes();
    Ok(Release::new(major, minor, micro))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A shared object with that C text.
    fn shared_object(folder: &Path, text: &str) {
        fs::create_dir_all(folder).unwrap();
        let source = folder.join("plugin.c");
        fs::write(&source, text).unwrap();
        let ran = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(folder.join(FAIRTREE))
            .arg(&source)
            .status();
        assert!(ran.expect("a C compiler").success());
    }

    // Source: SLURM_VERSION_NUM of slurm/slurm.h: a byte for each of the three numbers.
    #[test]
    fn the_first_plugin_of_the_release_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, number) in [("a", "0x180b05"), ("b", "0x160508"), ("c", "0x160508")] {
            let text = format!("const unsigned int plugin_version = {number};\n");
            shared_object(&at(name), &text);
        }
        shared_object(&at("d"), "int other;\n");
        shared_object(&at("e"), "unsigned int plugin_version;\n");
        fs::create_dir_all(at("f")).unwrap();
        fs::write(at("f").join(FAIRTREE), "text").unwrap();
        fs::create_dir_all(at("g").join(FAIRTREE)).unwrap();
        let names = ["a", "absent", "b", "c", "d", "e", "f", "g"];
        let found = search(&names.map(at), FAIRTREE);
        assert_eq!(found.len(), 7);
        let loaded = |release| loaded_by(&found, release).map(|plugin| plugin.path.clone());
        assert_eq!(loaded(Release::V22_05_8), Some(at("b").join(FAIRTREE)));
        assert_eq!(loaded(Release::V24_11_5), Some(at("a").join(FAIRTREE)));
        assert_eq!(loaded(Release::new(24, 11, 6)), None);
        for plugin in &found[3..] {
            assert!(plugin.built_for.is_err(), "{plugin:?}");
        }
    }
}
