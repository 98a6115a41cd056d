//! What differs between releases of Slurm, from the engine's table.

use fairtree::compat::{Facts, Release as EngineRelease};
use xtask::release::Release;

/// The engine's name of a release.
pub fn engine_release(release: &Release) -> EngineRelease {
    // A number that no release has counts as the largest.
    let [major, minor, micro] = release
        .numbers()
        .map(|number| u8::try_from(number).unwrap_or(u8::MAX));
    EngineRelease::new(major, minor, micro)
}

/// What is so in a release.
pub fn facts(release: &Release) -> Facts {
    engine_release(release).facts()
}
