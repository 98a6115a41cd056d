//! Valgrind's memcheck around the twin host.

use std::path::Path;

use anyhow::Result;

use super::Watched;
use crate::twin::TwinHost;
use xtask::installation::Installation;
use xtask::project;

/// Prepares the plugin as shipped, and the usual host.
pub fn prepare(installation: &Installation, source: &Path, folder: &Path) -> Result<Watched> {
    let suppressions = project::root().join("tests/twin/memcheck.supp");
    let host = TwinHost::build(source, installation, &folder.join("twin"))?.under(&[
        "valgrind",
        "--quiet",
        "--error-exitcode=99",
        // Lost memory is an error; memory that the host still points to at its end is not.
        "--leak-check=full",
        "--show-leak-kinds=definite,indirect",
        "--errors-for-leak-kinds=definite,indirect",
        "--track-origins=yes",
        // The plugin is already unloaded when leaks are reported.
        "--keep-debuginfo=yes",
        "--num-callers=30",
        // Threads take turns fairly, so that passes and hooks mix.
        "--fair-sched=try",
        &format!("--suppressions={}", suppressions.display()),
    ]);
    Ok(Watched {
        host,
        plugin: project::plugin(installation.release()),
    })
}
