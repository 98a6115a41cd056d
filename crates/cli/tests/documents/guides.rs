//! The command lines of the documents, each run where it can be.
//!
//! | block | is run |
//! |---|---|
//! | `console` | here, in the sandbox, and must print what stands below it |
//! | `console install` | by `tests/capi_install.rs`, after `make install` |
//! | `console cluster` | by `cargo test --package fairtree-testbed --test cluster -- guides`, in a private cluster |
//! | `console recipe` | the same, by the checks of recipes |
//! | `console suite` | is itself a part of `make test`, which is looked up here |

use crate::command::checkout;
use crate::console::{Block, Call, blocks, calls, document, documents, is_shown};
use crate::sandbox::Sandbox;

/// The guides: all their commands stand in `console` blocks.
const GUIDES: [&str; 4] = [
    "docs/user.md",
    "docs/administrator.md",
    "docs/c-programmer.md",
    "docs/contributor.md",
];

/// Who runs the other blocks: their kind, the runner's file, and the documents that it reads.
const RUNNERS: [(&str, &str, &[&str]); 3] = [
    (
        "console install",
        "tests/capi_install.rs",
        &["docs/c-programmer.md"],
    ),
    (
        "console cluster",
        "crates/testbed/src/checks/guides.rs",
        &["docs/administrator.md", "docs/user.md"],
    ),
    (
        "console recipe",
        "crates/testbed/src/checks/recipes/page.rs",
        &[
            "docs/policies/classic.md",
            "docs/policies/fair-tree.md",
            "docs/policies/flux.md",
            "docs/policies/hub-group-project.md",
            "docs/policies/instances.md",
            "docs/policies/on-demand.md",
        ],
    ),
];

fn of_kind(text: &str, kind: &str) -> Vec<Block> {
    blocks(text)
        .into_iter()
        .filter(|block| block.kind == kind)
        .collect()
}

/// What is wrong with a call; nothing where it prints what is shown and ends with 0, or with 1 where
/// it is of a command that compares or checks and something is shown.
fn fault(sandbox: &Sandbox, call: &Call) -> Option<String> {
    let ran = sandbox.run(&call.command, &[]);
    let (out, err) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    let finds = ["lint", "compare", "--check", "doctor"]
        .iter()
        .any(|word| call.command.contains(word));
    let code = ran.status.code();
    if code != Some(0) && !(finds && code == Some(1)) {
        return Some(format!("$ {}\nends with {code:?}: {err}", call.command));
    }
    let shown = is_shown(&call.output, &out);
    let silent = call.output.is_empty();
    (!shown && !silent).then(|| format!("$ {}\nprints\n{out}", call.command))
}

#[test]
fn commands_print_what_the_documents_show() {
    for name in documents() {
        let sandbox = Sandbox::new();
        for block in of_kind(&document(&name), "console") {
            for call in calls(&block) {
                let fault = fault(&sandbox, &call);
                assert!(fault.is_none(), "{name}:{}: {}", block.line, fault.unwrap());
            }
        }
    }
}

#[test]
fn every_block_of_commands_has_someone_who_runs_it() {
    for name in documents() {
        for block in blocks(&document(&name)) {
            let place = format!("{name}:{}: {:?}", block.line, block.kind);
            let shell = ["sh", "bash", "shell", ""].contains(&block.kind.as_str());
            let guide = GUIDES.contains(&name.as_str());
            assert!(
                !(guide && shell && block.text.contains("fairtree ")),
                "{place}: use console"
            );
            assert!(
                !(guide && shell && block.kind == "sh"),
                "{place}: use console"
            );
            if !block.kind.starts_with("console") {
                continue;
            }
            assert!(!calls(&block).is_empty(), "{place}: no command");
            let runs = |(kind, _, files): &(&str, &str, &[&str])| {
                *kind == block.kind && files.contains(&name.as_str())
            };
            let known = ["console", "console suite"].contains(&block.kind.as_str());
            assert!(
                known || RUNNERS.iter().any(runs),
                "{place}: no test runs it"
            );
        }
    }
    for (kind, runner, files) in RUNNERS {
        let program = document(runner);
        assert!(
            program.contains(&format!("\"{kind}\"")),
            "{runner} does not run {kind:?}"
        );
        for file in files {
            assert!(program.contains(file), "{runner} does not read {file}");
            assert!(
                !of_kind(&document(file), kind).is_empty(),
                "{file} has no {kind:?}"
            );
        }
    }
}

/// The package whose test programs need Slurm.
const TESTBED: &str = "fairtree-testbed";

/// Whether a package has a test program of this name.
fn is_a_test(name: &str) -> bool {
    files_of_test(name).next().is_some()
}

/// The main files of the test programs of a name.
fn files_of_test(name: &str) -> impl Iterator<Item = String> {
    let crates = std::fs::read_dir(checkout().join("crates")).expect("crates/");
    let packages = crates.map(|entry| entry.expect("an entry").path());
    let file = format!("tests/{name}.rs");
    let files = packages
        .chain([checkout()])
        .map(move |folder| folder.join(&file));
    files.filter_map(|file| std::fs::read_to_string(file).ok())
}

/// Commands that `make test` consists of cannot be run inside it; that it has them can be seen.
#[test]
fn what_is_called_a_part_of_the_suite_is_one() {
    let suite: String = ["table.rs", "calls.rs"]
        .map(|file| document(&format!("xtask/src/suite/{file}")))
        .concat()
        .split_whitespace()
        .collect();
    let continuous = document(".ci/run");
    let makefile = document("Makefile");
    let mut count = 0;
    for name in documents() {
        for call in of_kind(&document(&name), "console suite")
            .iter()
            .flat_map(calls)
        {
            count += 1;
            // UPDATE_...=1 lets a test write what it compares with.
            let words = call
                .command
                .split_whitespace()
                .skip_while(|word| word.contains('='));
            let words: Vec<&str> = words.collect();
            let part = match words.as_slice() {
                ["make", target] => {
                    continuous.lines().any(|line| line == call.command)
                        || makefile.contains(&format!("\n{target}: ## only the checks"))
                        || *target == "help"
                }
                // One program of `cargo test --workspace`, or one test of it.
                ["cargo", "test", "--test", program, rest @ ..] => {
                    let named = match rest {
                        [] => true,
                        ["--", name] => {
                            files_of_test(program).any(|text| text.contains(&format!("fn {name}(")))
                        }
                        _ => false,
                    };
                    suite.contains("[\"test\",\"--workspace\"") && is_a_test(program) && named
                }
                // One test of a program of the test bed.
                [
                    "cargo",
                    "test",
                    "--package",
                    TESTBED,
                    "--test",
                    program,
                    "--",
                    ..,
                ] => suite.contains(&format!("(\"{program}\")")) && is_a_test(program),
                ["cargo", words @ ..] => {
                    let quoted: Vec<String> = words
                        .iter()
                        .map(|w| format!("\"{}\"", w.trim_matches('\'')))
                        .collect();
                    suite.contains(&quoted.join(","))
                }
                _ => false,
            };
            assert!(
                part,
                "{name}: {} is no part of make test or make test-all",
                call.command
            );
        }
    }
    assert!(count >= 4, "{count}");
}

#[test]
fn the_readme_links_every_guide_and_its_commands_work() {
    let readme = document("README.md");
    for guide in GUIDES {
        assert!(readme.contains(&format!("({guide})")), "{guide}");
    }
    assert!(readme.lines().count() <= 120);
    let sandbox = Sandbox::new();
    let mut count = 0;
    for block in of_kind(&readme, "sh") {
        // A remark stands behind `#`.
        let commands = block
            .text
            .lines()
            .map(|line| line.split(" # ").next().unwrap_or(line));
        // The service has tests of its own, which build it.
        let commands = commands.filter(|line| !line.starts_with("fairtree serve "));
        for command in commands.filter(|line| line.split(' ').any(|word| word == "fairtree")) {
            let call = Call {
                command: command.trim().to_owned(),
                output: Vec::new(),
            };
            let fault = fault(&sandbox, &call);
            assert!(fault.is_none(), "{}", fault.unwrap());
            count += 1;
        }
    }
    assert!(count >= 10, "{count}");
}

/// The picture is what the command beside it prints. `UPDATE_PICTURE=1` writes it.
#[test]
fn the_picture_of_the_readme_is_our_own() {
    let readme = document("README.md");
    let command = "fairtree share --svg examples/fair_tree.toml";
    let file = "docs/images/site.svg";
    assert!(readme.contains(&format!("]({file})")) && readme.contains(command));
    let drawn = Sandbox::new().run(command, &[]).stdout;
    let path = checkout().join(file);
    if std::env::var_os("UPDATE_PICTURE").is_some() {
        std::fs::write(&path, &drawn).expect("the picture is written");
    }
    let kept = std::fs::read(&path).expect("the picture");
    assert!(
        kept == drawn,
        "{file} is stale: UPDATE_PICTURE=1 cargo test --test documents"
    );
}

/// A page that a link leads to is there.
#[test]
fn links_between_documents_lead_somewhere() {
    for name in documents() {
        let text = document(&name);
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().expect("a target");
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let path = checkout().join(folder).join(target);
            assert!(path.exists(), "{name}: {target}");
        }
    }
}
