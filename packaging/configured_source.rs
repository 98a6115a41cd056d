// Part of build.rs, of xtask and of tests: finds the output of `./configure` for a Slurm source
// tree.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder with `config.h` and `slurm/slurm_version.h`. This is the tree itself or, if it was
/// built by debhelper with `--builddirectory`, as in SchedMD's `debian/rules`, the folder in it
/// whose name begins with `obj-` (the first of several by name). `None`: the tree is not
/// configured.
pub fn configured(source: &Path) -> Option<PathBuf> {
    let is_configured = |folder: &Path| {
        let has = |file: &str| folder.join(file).is_file();
        has("config.h") && has("slurm/slurm_version.h")
    };
    if is_configured(source) {
        return Some(source.to_path_buf());
    }
    let inside = fs::read_dir(source).ok()?.flatten();
    let mut builds: Vec<PathBuf> = inside
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("obj-"))
        .map(|entry| entry.path())
        .filter(|folder| is_configured(folder))
        .collect();
    builds.sort();
    builds.into_iter().next()
}
