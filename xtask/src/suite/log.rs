//! The log of a run: the seconds and counts of each section, kept in a file so that an interrupted
//! `make test-all` continues with the sections that are not finished.
//!
//! A finished section counts only for exactly the same sources: each line names the tree of the
//! working folder, as git would commit it. Without git no section is skipped.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use xtask::command::checked;
use xtask::project;

use super::outcome::Outcome;

/// A section that has ended without a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its title, with the release.
    pub title: String,
    /// Duration.
    pub time: Duration,
    /// The results of its tests.
    pub outcome: Outcome,
    /// True if it ran in an earlier run on the same tree.
    pub earlier: bool,
}

/// The log of a run.
pub struct Log {
    entries: Mutex<Vec<Entry>>,
    /// The finished sections of earlier runs on this tree.
    finished: Vec<Entry>,
    /// The file, and the tree that its lines name; `None`: the log is not kept.
    kept: Option<(PathBuf, String)>,
}

impl Log {
    /// A log that is not kept after the run.
    pub fn of_one_run() -> Log {
        Log {
            entries: Mutex::default(),
            finished: Vec::new(),
            kept: None,
        }
    }

    /// A log with the finished sections of earlier runs on the same tree.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn kept() -> Result<Log> {
        let mut log = Log::of_one_run();
        let Ok(tree) = tree() else { return Ok(log) };
        let path = project::root().join("target/suite/finished.jsonl");
        if path.exists() {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            log.finished = text.lines().filter_map(|line| entry(line, &tree)).collect();
        }
        log.kept = Some((path, tree));
        Ok(log)
    }

    /// The entry of a section that an earlier run has finished; adds it to the table.
    pub fn finished(&self, title: &str) -> Option<Entry> {
        let found = self.finished.iter().find(|entry| entry.title == title)?;
        self.push(found.clone());
        Some(found.clone())
    }

    /// Adds a section that has ended without a failure.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn add(&self, title: &str, time: Duration, outcome: Outcome) -> Result<()> {
        self.push(Entry {
            title: title.to_owned(),
            time,
            outcome,
            earlier: false,
        });
        let Some((path, tree)) = &self.kept else {
            return Ok(());
        };
        let line = json!({
            "tree": tree,
            "title": title,
            "secs": time.as_secs_f64(),
            "passed": outcome.passed,
            "failed": outcome.failed,
        });
        fs::create_dir_all(path.parent().context("a folder")?)?;
        let mut file = File::options().create(true).append(true).open(path)?;
        writeln!(file, "{line}").with_context(|| path.display().to_string())
    }

    fn push(&self, entry: Entry) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push(entry);
    }

    /// Writes the table to a file next to the log, if the log is kept, and returns its path.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write_table(&self) -> Result<Option<PathBuf>> {
        let Some((path, tree)) = &self.kept else {
            return Ok(None);
        };
        let path = path.with_file_name("test-all.md");
        let text = format!("Tree {tree}:\n\n{}", self.table());
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        Ok(Some(path))
    }

    /// The sections so far as a table in Markdown, with their sum.
    pub fn table(&self) -> String {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::from("| section | seconds | tests |\n|---|---:|---:|\n");
        let (mut secs, mut tests) = (0.0, 0);
        for entry in entries.iter() {
            let earlier = if entry.earlier { " (earlier)" } else { "" };
            let (title, time) = (&entry.title, entry.time.as_secs_f64());
            let passed = entry.outcome.passed;
            let _ = writeln!(text, "| {title}{earlier} | {time:.0} | {passed} |");
            secs += time;
            tests += passed;
        }
        let _ = writeln!(text, "| sum | {secs:.0} | {tests} |");
        text
    }
}

/// The finished section of a line, if it ran on this tree; `None` also for a truncated line.
fn entry(line: &str, tree: &str) -> Option<Entry> {
    let value: Value = serde_json::from_str(line).ok()?;
    let count = |key: &str| usize::try_from(value.get(key)?.as_u64()?).ok();
    (value.get("tree")?.as_str()? == tree).then_some(())?;
    Some(Entry {
        title: value.get("title")?.as_str()?.to_owned(),
        time: Duration::try_from_secs_f64(value.get("secs")?.as_f64()?).ok()?,
        outcome: Outcome {
            passed: count("passed")?,
            failed: count("failed")?,
        },
        earlier: true,
    })
}

/// The name of the tree that git would commit now, with all files that it does not ignore.
fn tree() -> Result<String> {
    let index = tempfile::tempdir()?;
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(project::root()).args(words);
        command.env("GIT_INDEX_FILE", index.path().join("index"));
        checked(&mut command)
    };
    git(&["add", "--all"])?;
    Ok(git(&["write-tree"])?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_section_counts_for_its_tree_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("finished.jsonl");
        let outcome = Outcome {
            passed: 12,
            failed: 0,
        };
        let log = Log {
            kept: Some((path.clone(), "a".to_owned())),
            ..Log::of_one_run()
        };
        log.add("lints", Duration::from_secs(7), outcome).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let found = entry(&text, "a").unwrap();
        assert_eq!(found.title, "lints");
        assert_eq!(found.time, Duration::from_secs(7));
        assert_eq!(found.outcome, outcome);
        assert_eq!(entry(&text, "b"), None);
        assert_eq!(entry(&text[..20], "a"), None);

        let next = Log {
            finished: vec![found],
            ..Log::of_one_run()
        };
        assert!(next.finished("lints").is_some());
        assert!(next.finished("tests").is_none());
        assert!(next.table().contains("| lints (earlier) | 7 | 12 |"));
        assert!(next.table().contains("| sum | 7 | 12 |"));
    }
}
