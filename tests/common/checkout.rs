//! The folder of the project.

use std::path::{Path, PathBuf};

/// The project's folder, for tests of any of its packages.
pub fn checkout() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut above = package.ancestors();
    let found = above.find(|folder| folder.join("Cargo.lock").is_file());
    found.expect("a package of the project").to_path_buf()
}
