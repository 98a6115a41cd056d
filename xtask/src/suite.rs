//! `make test`: every section in order, up to the first that fails, and one line at the end.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::checks::{self, Outcome};
use crate::cluster::host::Host;
use crate::command::cargo_in_checkout;
use crate::progress::Progress;
use crate::project;
use crate::release::Release;
use crate::{deps, detect, mishap, msrv, plugin, schedmd, source, storm, twin};

/// Tells the test of the plugin's symbols where the release's packages are installed.
const ROOT_VARIABLE: &str = "FAIRTREE_SLURM_ROOT";

/// A section that is one call of cargo.
struct Section {
    title: &'static str,
    arguments: &'static [&'static str],
}

const SECTIONS: &[Section] = &[
    Section {
        title: "formatting",
        arguments: &["fmt", "--all", "--check"],
    },
    Section {
        title: "lints",
        arguments: &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny=warnings",
        ],
    },
    Section {
        title: "documentation",
        arguments: &[
            "doc",
            "--quiet",
            "--no-deps",
            "--workspace",
            "--document-private-items",
        ],
    },
    Section {
        title: "libraries and command (the C programs of the tests link them)",
        arguments: &["build", "--workspace"],
    },
    Section {
        title: "tests: Rust, C programs, header, command",
        arguments: &["test", "--workspace", "--no-fail-fast"],
    },
    Section {
        title: "instructions of the engine, against their records",
        arguments: &["bench", "--quiet", "--bench", "instructions"],
    },
];

/// Runs every section; those about Slurm for `release`, or for every supported one.
///
/// # Errors
/// The first section that fails, by title. The summary line is printed in any case.
pub fn run(release: Option<Release>, progress: &Progress) -> Result<()> {
    let mut total = Outcome::default();
    let releases = release.map_or_else(Release::supported, |only| vec![only]);
    let result = sections(&releases, progress, &mut total);
    progress.print(format!(
        "\n{} passed, {} failed",
        total.passed, total.failed
    ));
    result
}

fn sections(releases: &[Release], progress: &Progress, total: &mut Outcome) -> Result<()> {
    title(progress, "dependencies");
    deps::install(progress)?;
    for section in SECTIONS {
        run_section(section.title, section.arguments, &[], progress, total)?;
    }
    model_section(progress, total)?;
    if releases.len() > 1 {
        // It comes with the Debian release of a later Slurm.
        title(progress, "the oldest compiler that is promised");
        msrv::check(progress).inspect_err(|_| total.failed += 1)?;
    }
    for release in releases {
        plugin_sections(release, progress, total)?;
        twin_section(release, progress, total)?;
        detect_section(release, progress, total)?;
        mishap_section(release, progress, total)?;
        schedmd_section(release, progress, total)?;
        cluster_section(release, progress, total)?;
        kill_section(release, progress, total)?;
        storm_section(release, progress, total)?;
    }
    Ok(())
}

/// The plugin's threads in every order, in models that loom runs.
fn model_section(progress: &Progress, total: &mut Outcome) -> Result<()> {
    let flags = ("RUSTFLAGS", Path::new("--cfg loom"));
    let words = [
        "test",
        "--lib",
        "--no-default-features",
        "--target-dir",
        "target/loom",
        "slurm::model",
    ];
    let name = "models of the plugin's threads";
    run_section(name, &words, &[flags], progress, total)
}

/// The plugin under detectors, in the twin host.
fn detect_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let host = Host::of(release, progress)?;
    if host.folder() != Path::new("/") {
        // The detectors' libraries are this machine's.
        return Ok(());
    }
    let name = format!("memory errors and races of the plugin for Slurm {release}");
    title(progress, &name);
    let both = [detect::Detector::Memory, detect::Detector::Races];
    let found = detect::run(release, detect::SHORT, &both, progress);
    one(&name, found, total)
}

/// Files, disks and clocks that go wrong, in the twin host.
fn mishap_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("what a disk and a clock can do to the plugin for Slurm {release}");
    title(progress, &name);
    let host = Host::of(release, progress)?;
    one(&name, mishap::play(release, host.folder(), progress), total)
}

/// slurmctld killed some times.
fn kill_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("kills of slurmctld {release}");
    title(progress, &name);
    let kills = mishap::Kills {
        release: release.clone(),
        count: mishap::SHORT,
        seed: storm::fresh_seed()?,
    };
    one(&name, kills.run(progress), total)
}

/// A minute of everything at once.
fn storm_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("a storm over Slurm {release}");
    title(progress, &name);
    let storm = storm::Storm {
        release: release.clone(),
        length: storm::SHORT,
        seed: storm::fresh_seed()?,
    };
    one(&name, storm.run(progress), total)
}

/// Counts a section that is one test.
fn one(name: &str, result: Result<()>, total: &mut Outcome) -> Result<()> {
    total.passed += usize::from(result.is_ok());
    total.failed += usize::from(result.is_err());
    result.with_context(|| format!("failed: {name}"))
}

/// The programs of Slurm's own testsuite.
fn schedmd_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("Slurm {release}'s own tests of its plugin, with both");
    title(progress, &name);
    count(&name, schedmd::programs(release, progress)?, total)
}

fn cluster_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("private cluster of Slurm {release}");
    title(progress, &name);
    count(&name, checks::run(release, "", progress)?, total)
}

fn count(name: &str, outcome: Outcome, total: &mut Outcome) -> Result<()> {
    total.passed += outcome.passed;
    total.failed += outcome.failed;
    if outcome.failed > 0 {
        bail!("failed: {name}");
    }
    Ok(())
}

/// Lints, unit tests and the build of the plugin, which needs a release's source.
fn plugin_sections(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let source = source::fetch(release, progress)?;
    let host = Host::of(release, progress)?;
    let variables = [
        (plugin::SOURCE_VARIABLE, source.as_path()),
        (ROOT_VARIABLE, host.folder()),
    ];
    let folder = project::slurm(release).join("build").display().to_string();
    let with_feature = |first: &[&'static str], last: &[&'static str]| -> Vec<String> {
        let feature = [
            "--no-default-features",
            "--features",
            "slurm",
            "--target-dir",
        ];
        let mut all: Vec<String> = first
            .iter()
            .chain(&feature)
            .map(|w| (*w).to_owned())
            .collect();
        all.push(folder.clone());
        all.extend(last.iter().map(|w| (*w).to_owned()));
        all
    };
    let lints = with_feature(
        &["clippy", "--lib", "--test", "slurm_symbols"],
        &["--", "--deny=warnings"],
    );
    let tests = with_feature(&["test", "--lib", "--test", "slurm_symbols"], &[]);
    for (what, arguments) in [("lints", lints), ("tests", tests)] {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let name = format!("{what} of the plugin for Slurm {release}");
        run_section(&name, &words, &variables, progress, total)?;
    }
    title(progress, &format!("plugin for Slurm {release}"));
    let built = plugin::build(release, None, progress).inspect_err(|_| total.failed += 1)?;
    progress.print(format!("built {}", built.display()));
    Ok(())
}

/// The plugin against Slurm's own, on the lives of its faults and on random ones.
fn twin_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("the plugin and Slurm's own in the same lives, Slurm {release}");
    title(progress, &name);
    let host = Host::of(release, progress)?;
    let failed = || format!("failed: {name}");
    total.passed += twin::faults(release, host.folder(), progress)
        .inspect_err(|_| total.failed += 1)
        .with_context(failed)?;
    one(&name, twin::sample(release, host.folder(), progress), total)
}

fn run_section(
    name: &str,
    arguments: &[&str],
    variables: &[(&str, &Path)],
    progress: &Progress,
    total: &mut Outcome,
) -> Result<()> {
    title(progress, name);
    if cargo(arguments, variables, total)? {
        return Ok(());
    }
    // A section without tests of its own counts as one.
    total.failed += usize::from(total.failed == 0);
    bail!("failed: {name}")
}

fn title(progress: &Progress, text: &str) {
    progress.print(format!("\n== {text}"));
}

/// Runs cargo, passes its output on, and adds up the results of test programs in it.
fn cargo(arguments: &[&str], variables: &[(&str, &Path)], total: &mut Outcome) -> Result<bool> {
    crate::interrupt::check()?;
    let mut command = cargo_in_checkout();
    command.envs(variables.iter().copied());
    let mut child = command
        .args(arguments)
        .env("RUSTDOCFLAGS", "--deny=warnings")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo's output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        if let Some(outcome) = parse_result(&line) {
            total.passed += outcome.passed;
            total.failed += outcome.failed;
        }
    }
    Ok(child.wait()?.success())
}

/// The counts in `test result: ok. 12 passed; 0 failed; 0 ignored; ...`.
fn parse_result(line: &str) -> Option<Outcome> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let count = |word: &str| {
        counts
            .split("; ")
            .find_map(|part| part.strip_suffix(word))
            .and_then(|number| number.trim().parse().ok())
    };
    Some(Outcome {
        passed: count("passed")?,
        failed: count("failed")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_test_programs_are_counted() {
        let line = "test result: FAILED. 17 passed; 1 failed; 0 ignored; 0 measured; \
                    0 filtered out; finished in 0.30s";
        let outcome = parse_result(line).unwrap();
        assert_eq!((outcome.passed, outcome.failed), (17, 1));
        assert!(parse_result("test wait::tests::x ... ok").is_none());
    }
}
