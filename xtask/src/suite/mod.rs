//! `make test`: every section, up to the first that fails, and one line at the end.
//!
//! Private clusters mostly wait: for passes, for jobs, for clocks. So once the plugin is built
//! their sections run beside those that compute, and their output follows as a whole.

mod cargo;

use std::path::Path;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use crate::checks::{self, Outcome};
use crate::cluster::host::Host;
use crate::interrupt::{self, Interrupted};
use crate::progress::Progress;
use crate::project;
use crate::release::Release;
use crate::{cluster, deps, detect, mishap, msrv, plugin, schedmd, source, storm, twin};

use cargo::{Section, run_section};

/// Tells the test of the plugin's symbols where the release's packages are installed.
const ROOT_VARIABLE: &str = "FAIRTREE_SLURM_ROOT";

/// What finds most mistakes soonest, and what others need.
const FIRST: &[Section] = &[
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
        title: "libraries and command (the C programs of the tests link them)",
        arguments: &["build", "--workspace"],
    },
];

const SECTIONS: &[Section] = &[
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
        title: "tests: Rust, C programs, header, command",
        arguments: &["test", "--workspace", "--no-fail-fast"],
    },
    Section {
        title: "instructions of the engine, against their records",
        // A package of its own builds without what the tests need.
        arguments: &[
            "bench",
            "--quiet",
            "--package",
            "fairtree-figures",
            "--bench",
            "instructions",
        ],
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
    progress.title("dependencies");
    deps::install(progress)?;
    for section in FIRST {
        section.run(progress, total)?;
    }
    for release in releases {
        plugin_sections(release, progress, total)?;
    }
    // Beside the clusters cargo is busy with other things.
    cluster::fairtree::build().inspect_err(|_| total.failed += 1)?;
    let held = progress.held();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let mut total = Outcome::default();
            let result = sections_that_wait(releases, &held, &mut total);
            (stop_others(result), total)
        });
        let result = stop_others(sections_that_compute(releases, progress, total));
        progress.step("waiting for the private clusters");
        let waited = waiting.join();
        progress.print(held.take());
        let (waited, also) = waited.map_err(|_| anyhow!("a section panicked"))?;
        total.passed += also.passed;
        total.failed += also.failed;
        match (result, waited) {
            // It was stopped because the other one has failed.
            (Err(stopped), Err(error)) if stopped.is::<Interrupted>() => Err(error),
            (result, waited) => result.and(waited),
        }
    })
}

/// What fails ends what runs beside it.
fn stop_others(result: Result<()>) -> Result<()> {
    result.inspect_err(|_| interrupt::stop())
}

fn sections_that_compute(
    releases: &[Release],
    progress: &Progress,
    total: &mut Outcome,
) -> Result<()> {
    for section in SECTIONS {
        section.run(progress, total)?;
    }
    model_section(progress, total)?;
    if releases.len() > 1 {
        // It comes with the Debian release of a later Slurm.
        progress.title("the oldest compiler that is promised");
        msrv::check(progress).inspect_err(|_| total.failed += 1)?;
    }
    for release in releases {
        twin_section(release, progress, total)?;
        detect_section(release, progress, total)?;
        mishap_section(release, progress, total)?;
    }
    Ok(())
}

fn sections_that_wait(
    releases: &[Release],
    progress: &Progress,
    total: &mut Outcome,
) -> Result<()> {
    for release in releases {
        schedmd_section(release, progress, total)?;
        cluster_section(release, progress, total)?;
        kill_section(release, progress, total)?;
        storm_section(release, progress, total)?;
    }
    Ok(())
}

/// The plugin's threads in every order, in models that loom runs.
fn model_section(progress: &Progress, total: &mut Outcome) -> Result<()> {
    let words = [
        "test",
        "--package",
        "fairtree",
        "--lib",
        "--no-default-features",
        "--features",
        "models",
        "slurm::shared::thread_models",
    ];
    let name = "models of the plugin's threads";
    run_section(name, &words, &[], progress, total)
}

/// The plugin under detectors, in the twin host.
fn detect_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let host = Host::of(release, progress)?;
    if host.folder() != Path::new("/") {
        // The detectors' libraries are this machine's.
        return Ok(());
    }
    let name = format!("memory errors and races of the plugin for Slurm {release}");
    progress.title(&name);
    let both = [detect::Detector::Memory, detect::Detector::Races];
    let found = detect::run(release, detect::SHORT, &both, progress);
    one(&name, found, total)
}

/// Files, disks and clocks that go wrong, in the twin host.
fn mishap_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("what a disk and a clock can do to the plugin for Slurm {release}");
    progress.title(&name);
    let host = Host::of(release, progress)?;
    one(&name, mishap::play(release, host.folder(), progress), total)
}

/// slurmctld killed some times.
fn kill_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("kills of slurmctld {release}");
    progress.title(&name);
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
    progress.title(&name);
    let storm = storm::Storm {
        release: release.clone(),
        length: storm::SHORT,
        seed: storm::fresh_seed()?,
    };
    one(&name, storm.run(progress), total)
}

/// Counts a section that is one test.
fn one(name: &str, result: Result<()>, total: &mut Outcome) -> Result<()> {
    let failed = |error: &anyhow::Error| !error.is::<Interrupted>();
    total.passed += usize::from(result.is_ok());
    total.failed += usize::from(result.as_ref().is_err_and(failed));
    result.with_context(|| format!("failed: {name}"))
}

/// The programs of Slurm's own testsuite.
fn schedmd_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("Slurm {release}'s own tests of its plugin, with both");
    progress.title(&name);
    count(&name, schedmd::programs(release, progress)?, total)
}

fn cluster_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("private cluster of Slurm {release}");
    progress.title(&name);
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
            "--package",
            "fairtree",
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
    progress.title(&format!("plugin for Slurm {release}"));
    let built = plugin::build(release, None, progress).inspect_err(|_| total.failed += 1)?;
    progress.print(format!("built {}", built.display()));
    Ok(())
}

/// The plugin against Slurm's own, on the lives of its faults and on random ones.
fn twin_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let name = format!("the plugin and Slurm's own in the same lives, Slurm {release}");
    progress.title(&name);
    let host = Host::of(release, progress)?;
    let failed = || format!("failed: {name}");
    total.passed += twin::faults(release, host.folder(), progress)
        .inspect_err(|_| total.failed += 1)
        .with_context(failed)?;
    one(&name, twin::sample(release, host.folder(), progress), total)
}
