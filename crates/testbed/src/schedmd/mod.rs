//! Slurm's own tests of its priority plugin, run with Slurm's plugin and with ours.
//!
//! The tests come with the source of each release and are taken from there each time; this project
//! keeps none of them. A copy is made in which only the plugin's name changes.

mod program;
mod script;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;

use crate::harness::{self, Bed, Shared};
use crate::under::Under;
use program::{Built, Program, Subject, Toolchain};
use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::project;
use xtask::release::Release;
use xtask::source;

/// The head of the table.
const HEAD: [&str; 4] = [
    "test",
    "priority/multifactor",
    "priority/fairtree, compat=slurm",
    "priority/fairtree",
];

/// A line of the test24.4 program that our plugin answers differently with its defaults.
///
/// The level fairshares of uD2 and uD3 are (40/170)/(20/110) and (50/170)/(25/110), both 22/17.
/// Slurm ranks them differently because of a rounding error in the last digit; in our plugin equal
/// numbers tie.
const TIES: &[(&str, &str)] = &[("test24.4", "aD|uD2|40|")];

/// The programs, and every script of the testsuite that needs a running cluster.
///
/// A script must have the same result with our plugin as with Slurm's: passed, or skipped.
///
/// # Errors
/// Fails as [`programs`], if a cluster does not start, or if a script has a different result.
pub fn all(release: &Release, progress: &Progress) -> Result<()> {
    let source = source::fetch(release, progress)?;
    if !has_tests(&source) {
        progress.print(without_tests(release));
        return Ok(());
    }
    let programs = programs(release, progress);
    let mut rows = vec![HEAD.map(str::to_owned)];
    let mut differing = 0;
    for row in script::results(&source, release, progress)? {
        // A test that fails under stock says nothing about ours.
        let same = row[1..].iter().all(|cell| *cell == row[1]);
        differing += usize::from(!same || row[1].contains(script::FAILED));
        rows.push(row);
    }
    progress.print(table(&rows));
    programs?;
    ensure!(
        differing == 0,
        "{differing} scripts end otherwise than with stock"
    );
    Ok(())
}

/// Builds and runs the programs of a release's testsuite that link the plugin, and prints how many
/// of the expected lines they printed.
///
/// # Errors
/// Fails if the testsuite has no such programs, if one does not build or does not end well, or if
/// lines are missing.
pub fn programs(release: &Release, progress: &Progress) -> Result<()> {
    let programs = Programs::build(release, progress)?;
    let mut rows = vec![HEAD.map(str::to_owned)];
    let mut wrong = Vec::new();
    for subject in Subject::ALL {
        progress.step(format!("{} in Slurm {release}'s tests", subject.name()));
        let (row, differences) = programs.compare(subject)?;
        rows.push(row);
        wrong.extend(differences);
    }
    progress.print(table(&rows));
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// The programs as tests; empty for a release without such programs.
pub fn tests(bed: &'static Bed) -> Vec<Trial> {
    let programs = Arc::new(Shared::new(move || {
        let source = source::fetch(&bed.release, &bed.progress)?;
        match has_tests(&source) {
            true => Programs::build(&bed.release, &bed.progress).map(Some),
            false => Ok(None),
        }
    }));
    let each = |subject: Subject| {
        let programs = Arc::clone(&programs);
        harness::test(bed, subject.name(), move |bed| {
            let Some(programs) = programs.get()? else {
                bed.progress.print(without_tests(&bed.release));
                return Ok(());
            };
            let (row, wrong) = programs.compare(subject)?;
            bed.progress.print(table(&[HEAD.map(str::to_owned), row]));
            ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
            Ok(())
        })
    };
    Subject::ALL.into_iter().map(each).collect()
}

/// Returns true if a source has tests of the plugin: releases from 25.11 on have none.
fn has_tests(source: &Path) -> bool {
    let suite = source.join("testsuite");
    ["expect", "python/tests"]
        .iter()
        .any(|part| suite.join(part).is_dir())
}

fn without_tests(release: &Release) -> String {
    format!("the source of Slurm {release} has no tests of the plugin: nothing is run")
}

/// A release's source, and the tools that build its programs.
struct Programs {
    source: PathBuf,
    tools: Toolchain,
    folder: PathBuf,
}

impl Programs {
    fn build(release: &Release, progress: &Progress) -> Result<Programs> {
        let source = source::fetch(release, progress)?;
        let installation = Installation::of(release, progress)?;
        let folder = folder_of(release);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        progress.step(format!("building the programs of Slurm {release}'s tests"));
        let tools = Toolchain::new(&source, &installation, &folder)?;
        Ok(Programs {
            source,
            tools,
            folder,
        })
    }

    /// One row of the table, and the unexpected differences.
    fn compare(&self, subject: Subject) -> Result<([String; 4], Vec<String>)> {
        compare(
            &Program::of(&self.source, subject)?,
            &self.tools,
            &self.folder,
        )
    }
}

/// The folder for built programs and for the output of scripts.
fn folder_of(release: &Release) -> PathBuf {
    project::slurm(release).join("schedmd")
}

/// One row of the table, and the unexpected differences.
fn compare(
    program: &Program,
    tools: &Toolchain,
    folder: &Path,
) -> Result<([String; 4], Vec<String>)> {
    let mut row = [const { String::new() }; 4];
    row[0].clone_from(&program.name);
    let mut wrong = Vec::new();
    for (cell, under) in row[1..].iter_mut().zip(Under::ALL) {
        let built: Built = tools.build(program, under.priority())?;
        let conf = write_conf(folder, tools.plugins(under.priority()), under)?;
        let allowed: Vec<&str> = TIES
            .iter()
            .filter(|(name, _)| under == Under::Documented && *name == program.name)
            .map(|(_, line)| *line)
            .collect();
        let missing = built.missing(&conf, |missing| is_as_allowed(missing, &allowed))?;
        let expected = program.expected.len();
        *cell = format!("{} of {expected}", expected - missing.len());
        if !is_as_allowed(&missing, &allowed) {
            wrong.push(format!(
                "{} {}: missing {missing:?}",
                program.name,
                under.name()
            ));
        }
    }
    Ok((row, wrong))
}

/// Returns true if the missing lines are exactly those that our documentation names.
fn is_as_allowed(missing: &[String], allowed: &[&str]) -> bool {
    missing.len() == allowed.len()
        && missing
            .iter()
            .zip(allowed)
            .all(|(line, start)| line.starts_with(start))
}

/// The slurm.conf that a program reads; it sets most of the important values itself.
fn write_conf(folder: &Path, plugins: String, under: Under) -> Result<PathBuf> {
    let file = folder.join(format!("{}.conf", under.name()));
    let parameters = under
        .parameters()
        .map_or_else(String::new, |words| format!("PriorityParameters={words}\n"));
    let text = format!(
        "ClusterName=programs\nSlurmctldHost=localhost\nPluginDir={plugins}\n\
         NodeName=n0\nPartitionName=main Nodes=ALL\n{parameters}"
    );
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// Formats rows as a table with columns of the necessary width.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [["a", "bcd"], ["efg", "h"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a    bcd\nefg  h");
    }

    #[test]
    fn only_the_named_lines_may_differ() {
        let missing = ["aD|uD2|40|0.2|".to_owned()];
        assert!(is_as_allowed(&missing, &["aD|uD2|40|"]));
        assert!(!is_as_allowed(&missing, &[]));
        assert!(!is_as_allowed(&[], &["aD|uD2|40|"]));
        assert!(!is_as_allowed(&missing, &["aD|uD3|"]));
    }
}
