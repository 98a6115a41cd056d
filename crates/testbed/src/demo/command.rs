//! The command `fairtree` in the tour's cluster: an explanation, the tree, a page and a picture.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::queue::Queue;
use crate::cluster::Cluster;
use xtask::progress::Progress;
use xtask::project;

/// The folder of the page and the picture.
fn folder() -> PathBuf {
    project::root().join("target/demo")
}

/// Shows why the last job waits and the tree, and saves the page of the cluster and its chart.
pub fn show(cluster: &Cluster, progress: &Progress) -> Result<()> {
    progress.step("asking the command fairtree");
    let queue = Queue::read(&cluster.sprio()?)?;
    let last = queue.last().context("no job waits")?.to_string();
    for (title, words) in [
        ("7. Why a job waits, by fairtree", &["explain", &last][..]),
        ("8. Shares and use, by fairtree", &["share", "--tree"]),
    ] {
        progress.print(format!("\n== {title}\n$ fairtree {}", words.join(" ")));
        progress.print(cluster.fairtree(words)?.out.trim_end());
    }
    let folder = folder();
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    progress.print("\n== 9. The cluster as a page and as a picture");
    for name in ["cluster.html", "cluster.png"] {
        let path = folder.join(name).display().to_string();
        cluster.fairtree(&["chart", "-o", &path])?;
        progress.print(format!("$ fairtree chart -o {path}"));
    }
    Ok(())
}
