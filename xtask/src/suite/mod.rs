//! `make test`: every section, up to the first that fails, and one line at the end.
//!
//! Private clusters mostly wait: for passes, for jobs, for clocks. So once the plugin of a release is
//! built its clusters run beside the sections that compute, and beside those of another release, and
//! their output follows as a whole.

mod cargo;
mod fuzz;
mod outcome;
mod testbed;

use std::thread;

use anyhow::{Result, anyhow};
use xtask::installation::Installation;
use xtask::interrupt::{self, Interrupted};
use xtask::prefix::Prefix;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::{deps, packages, plugin, project, source};

use crate::msrv;
use cargo::{Section, run_section};
use outcome::Outcome;
use testbed::Testbed;

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
        // No test of the workspace unless named.
        title: "lints of the test bed's programs",
        arguments: &[
            "clippy",
            "--package",
            "fairtree-testbed",
            "--test",
            "*",
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
        arguments: &[
            "test",
            "--workspace",
            "--no-fail-fast",
            "--lib",
            "--bins",
            "--tests",
        ],
    },
    Section {
        // Tests of the C ABI build the library alone, which replaces it; this call builds it again.
        title: "examples in the documentation of the Rust code",
        arguments: &["test", "--workspace", "--no-fail-fast", "--doc"],
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

/// A test program of the test bed, and what it tests in Slurm of some release.
struct Program {
    name: &'static str,
    title: &'static str,
}

/// Those that mostly wait.
const WAITING: &[Program] = &[
    Program {
        name: "schedmd",
        title: "Slurm's own tests of its plugin, with both",
    },
    Program {
        name: "cluster",
        title: "checks in private clusters",
    },
    Program {
        name: "kills",
        title: "slurmctld killed at random moments",
    },
    Program {
        name: "storm",
        title: "a storm of random clients",
    },
];

/// Those that compute.
const COMPUTING: &[Program] = &[
    Program {
        name: "lives",
        title: "the plugin and Slurm's own in the same lives",
    },
    Program {
        name: DETECT,
        title: "memory errors and races of the plugin",
    },
    Program {
        name: "mishaps",
        title: "what a disk and a clock can do to the plugin",
    },
];

/// The detectors' libraries are this machine's: this one is for the release that is installed here.
const DETECT: &str = "detect";

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

/// Sections of cargo first, then those of both kinds at the same time.
fn sections(releases: &[Release], progress: &Progress, total: &mut Outcome) -> Result<()> {
    progress.title("dependencies");
    deps::install(progress)?;
    for section in FIRST {
        section.run(progress, total)?;
    }
    progress.title("programs of the test bed");
    let names: Vec<&str> = WAITING.iter().chain(COMPUTING).map(|p| p.name).collect();
    let testbed = Testbed::build(&names).inspect_err(|_| total.failed += 1)?;
    thread::scope(|scope| {
        let mut lanes = Vec::new();
        let mut begin = || -> Result<()> {
            for release in releases {
                plugin_sections(release, progress, total)?;
                Testbed::prepare(release).inspect_err(|_| total.failed += 1)?;
                let (held, testbed) = (progress.held(), &testbed);
                lanes.push(scope.spawn(move || {
                    let mut total = Outcome::default();
                    let result = sections_that_wait(release, testbed, &held, &mut total);
                    (stop_others(result), total, held)
                }));
            }
            sections_that_compute(releases, &testbed, progress, total)
        };
        let result = begin();
        let mut results = vec![stop_others(result)];
        progress.step("waiting for the private clusters");
        for lane in lanes {
            let (result, also, held) = lane.join().map_err(|_| anyhow!("a section panicked"))?;
            progress.print(held.take());
            *total += also;
            results.push(result);
        }
        first_failure(results)
    })
}

/// The first error; an interruption last, as that one was stopped because another has failed.
fn first_failure(results: Vec<Result<()>>) -> Result<()> {
    let stopped = |result: &Result<()>| matches!(result, Err(error) if error.is::<Interrupted>());
    let (stopped, others): (Vec<_>, Vec<_>) = results.into_iter().partition(stopped);
    others.into_iter().chain(stopped).collect()
}

/// What fails ends what runs beside it.
fn stop_others(result: Result<()>) -> Result<()> {
    result.inspect_err(|_| interrupt::stop())
}

fn sections_that_compute(
    releases: &[Release],
    testbed: &Testbed,
    progress: &Progress,
    total: &mut Outcome,
) -> Result<()> {
    for section in SECTIONS {
        section.run(progress, total)?;
    }
    model_section(progress, total)?;
    fuzz::run(progress, total)?;
    // A Slurm from elsewhere is not in the Debian releases that packages are tried in.
    if Prefix::of_environment()?.is_none() {
        for release in releases {
            package_section(release, progress, total)?;
        }
    }
    if releases.len() > 1 {
        // It comes with the Debian release of a later Slurm.
        progress.title("the oldest compiler that is promised");
        msrv::check(progress).inspect_err(|_| total.failed += 1)?;
    }
    for release in releases {
        let here = Installation::of(release, progress)?.is_of_this_machine();
        let programs = COMPUTING.iter().filter(|p| here || p.name != DETECT);
        for program in programs {
            program.run(release, testbed, progress, total)?;
        }
    }
    Ok(())
}

fn sections_that_wait(
    release: &Release,
    testbed: &Testbed,
    progress: &Progress,
    total: &mut Outcome,
) -> Result<()> {
    for program in WAITING {
        program.run(release, testbed, progress, total)?;
    }
    Ok(())
}

impl Program {
    fn run(
        &self,
        release: &Release,
        testbed: &Testbed,
        progress: &Progress,
        total: &mut Outcome,
    ) -> Result<()> {
        progress.title(&format!("{}, Slurm {release}", self.title));
        testbed.run(self.name, release, progress, total)
    }
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

/// Packages for a release and the Debian release that ships it, made and tried.
fn package_section(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    for (what, check) in packages::check::CHECKS {
        progress.title(&format!("{what}, Slurm {release}"));
        interrupt::check()?;
        check(release, progress).inspect_err(|_| total.failed += 1)?;
        total.passed += 1;
    }
    Ok(())
}

/// Lints, unit tests and the build of the plugin, which needs a release's source.
fn plugin_sections(release: &Release, progress: &Progress, total: &mut Outcome) -> Result<()> {
    let source = source::fetch(release, progress)?;
    let installation = Installation::of(release, progress)?;
    let variables = [
        (plugin::SOURCE_VARIABLE, source.as_path()),
        (ROOT_VARIABLE, installation.folder()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_before_what_was_stopped_by_it() {
        let stopped = || Err(Interrupted.into());
        let failed = || Err(anyhow!("a test failed"));
        let told = first_failure(vec![stopped(), Ok(()), failed()]).unwrap_err();
        assert_eq!(told.to_string(), "a test failed");
        let told = first_failure(vec![Ok(()), stopped()]).unwrap_err();
        assert!(told.is::<Interrupted>());
        assert!(first_failure(vec![Ok(()), Ok(())]).is_ok());
    }
}
