//! The sections of the suite, with their frequencies.
//!
//! A section that waits for daemons is in [`WAITING`], a section that computes is in [`COMPUTING`].
//! Both tables run at the same time, each from its first row to its last.

use std::fmt::Write as _;

use xtask::every::Every;

use super::section::{Section, Work};
use super::{calls, fuzz};

/// Sections that all others need.
pub const FIRST: &[Section] = &[
    Section {
        name: "formatting",
        every: Every::Commit,
        work: Work::Cargo(&["fmt", "--all", "--check"]),
    },
    Section {
        // Later sections use what it builds: the same packages with the same features.
        name: "build of libraries, command and tests",
        every: Every::Commit,
        work: Work::Cargo(&[
            "test",
            "--quiet",
            "--workspace",
            "--no-run",
            "--lib",
            "--bins",
            "--test",
            "*",
        ]),
    },
];

/// Sections that compute.
pub const COMPUTING: &[Section] = &[
    Section {
        name: "lints",
        every: Every::Commit,
        // `*` includes the test bed's programs, which run only if they are named.
        work: Work::Cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--test",
            "*",
            "--",
            "--deny=warnings",
        ]),
    },
    Section {
        name: "tests: Rust, C programs, command, documents, fuzz corpus, a browser",
        every: Every::Commit,
        work: Work::Cargo(&[
            "test",
            "--workspace",
            "--no-fail-fast",
            "--lib",
            "--bins",
            "--tests",
        ]),
    },
    Section {
        name: "examples in the documentation of the Rust code",
        every: Every::Commit,
        work: Work::Cargo(&["test", "--workspace", "--no-fail-fast", "--doc"]),
    },
    Section {
        name: "lints of the plugin",
        every: Every::Commit,
        work: Work::CallFor(calls::plugin_lints),
    },
    Section {
        name: "tests of the plugin",
        every: Every::Commit,
        work: Work::CallFor(calls::plugin_tests),
    },
    Section {
        name: "the plugin and Slurm's own in the same lives",
        every: Every::CommitAndRelease,
        work: Work::Program("lives"),
    },
    Section {
        name: "instructions of the engine, against their records",
        every: Every::Commit,
        // A separate package builds without the dependencies of the tests.
        work: Work::Cargo(&[
            "bench",
            "--quiet",
            "--package",
            "fairtree-figures",
            "--bench",
            "instructions",
        ]),
    },
    Section {
        name: "documentation of the Rust code",
        every: Every::Night,
        work: Work::Cargo(&[
            "doc",
            "--quiet",
            "--no-deps",
            "--workspace",
            "--document-private-items",
        ]),
    },
    Section {
        name: "models of the plugin's threads",
        every: Every::Night,
        work: Work::Cargo(&[
            "test",
            "--package",
            "fairtree",
            "--lib",
            "--no-default-features",
            "--features",
            "models",
            "slurm::shared::thread_models",
        ]),
    },
    Section {
        name: "what a disk and a clock can do to the plugin",
        every: Every::Night,
        work: Work::Program("mishaps"),
    },
    Section {
        name: "memory errors and races of the plugin",
        every: Every::Night,
        work: Work::ProgramHere("detect"),
    },
    Section {
        name: "coverage-guided tests",
        every: Every::Night,
        work: Work::Call(fuzz::search),
    },
    Section {
        name: "packages",
        every: Every::Night,
        work: Work::CallFor(calls::packages),
    },
    Section {
        name: "the oldest compiler that is promised",
        every: Every::Night,
        work: Work::Call(calls::oldest_compiler),
    },
];

/// Sections that mostly wait: private clusters.
pub const WAITING: &[Section] = &[
    Section {
        name: "checks in private clusters",
        every: Every::CommitAndRelease,
        work: Work::Program("cluster"),
    },
    Section {
        name: "slurmctld killed at random moments",
        every: Every::Commit,
        work: Work::Program("kills"),
    },
    Section {
        name: "a storm of random clients",
        every: Every::Commit,
        work: Work::Program("storm"),
    },
    Section {
        name: "Slurm's own tests of its plugin, with both plugins",
        every: Every::Night,
        work: Work::Program("schedmd"),
    },
];

/// All sections, as `make help` lists them.
pub fn listed() -> String {
    let mut text = String::new();
    for section in FIRST.iter().chain(COMPUTING).chain(WAITING) {
        let every = section.every.to_string();
        let _ = writeln!(text, "  {every:<22} {}", section.name);
    }
    text
}
