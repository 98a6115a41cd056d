//! Where things are in the checkout.

use std::path::{Path, PathBuf};

use crate::release::Release;

/// The folder of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask/ lies in the checkout")
        .to_path_buf()
}

/// Everything that belongs to one Slurm release: `target/slurm/<release>`.
pub fn slurm(release: &Release) -> PathBuf {
    root().join("target/slurm").join(release.to_string())
}

/// The plugin built for a release.
pub fn plugin(release: &Release) -> PathBuf {
    slurm(release).join("priority_fairtree.so")
}

/// The root folder of a Debian release, once one of its programs was needed.
pub fn debian_root(suite: &str) -> PathBuf {
    root().join("target/slurm/root").join(suite)
}

/// The configured source of a release, once `slurm-src` has fetched it.
pub fn slurm_source(release: &Release) -> PathBuf {
    root().join("target/slurm/src").join(release.to_string())
}
