//! Files and folders of the project that the documents name: each is there.

use crate::command::checkout;
use crate::console::{document, documents};

/// Folders of the project; what a document names in another one is not of this project.
const FOLDERS: [&str; 12] = [
    "benches",
    "c_shim",
    "crates",
    "docs",
    "examples",
    "fuzz",
    "include",
    "packaging",
    "src",
    "tests",
    "xtask",
    ".ci",
];

/// Its paths are those of Slurm's source.
const OF_SLURM: &str = "docs/releases.md";

/// The paths between backticks; none with a place for a name, as `src/fairshare/NAME.rs`.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let folder = word.split('/').next().unwrap_or_default();
        let placeholder = word
            .split(['/', '.', '_', '-'])
            .any(|part| part.len() > 2 && part.bytes().all(|byte| byte.is_ascii_uppercase()));
        let other = word.contains([' ', '\n', '*', '<', '[', '$']);
        word.contains('/') && FOLDERS.contains(&folder) && !placeholder && !other
    };
    quoted
        .filter(is_path)
        .map(|word| word.split(':').next().unwrap_or(word))
}

#[test]
fn named_files_are_there() {
    let root = checkout();
    let mut missing = Vec::new();
    for name in documents().into_iter().filter(|name| name != OF_SLURM) {
        let text = document(&name);
        for path in paths(&text) {
            if !root.join(path).exists() {
                missing.push(format!("{name}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "not there:\n{}", missing.join("\n"));
}
