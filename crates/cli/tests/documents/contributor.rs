//! What the contributor's page names is there: targets, tests, files, types, variables, releases. The commands are
//! too long to run here; `make -n` and the sources show that each is one.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::checkout;
use crate::console::{blocks, calls, document};

const PAGE: &str = "docs/contributor.md";

/// Words between backticks outside blocks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    // A fence has three: text of a block is an odd part, too, but of several lines.
    let words = text.split('`').skip(1).step_by(2);
    words.filter(|word| !word.is_empty() && !word.contains('\n'))
}

/// Command lines of the page and of CONTRIBUTING.md, in blocks and in sentences.
fn commands() -> Vec<String> {
    let mut found = Vec::new();
    for name in [PAGE, "CONTRIBUTING.md"] {
        let text = document(name);
        found.extend(
            blocks(&text)
                .iter()
                .flat_map(calls)
                .map(|call| call.command),
        );
        found.extend(quoted(&text).map(str::to_owned));
    }
    found
}

/// All files of these folders, with their paths in the project.
fn files(folders: &[&str]) -> Vec<PathBuf> {
    let root = checkout();
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true if path.ends_with("target") => {}
                true => open.push(path),
                false => found.push(path),
            }
        }
    }
    found
}

/// Text of all sources.
fn sources() -> String {
    let is_source = |path: &&PathBuf| {
        let end = path.extension().and_then(|end| end.to_str());
        end.is_some_and(|end| ["rs", "c", "h"].contains(&end)) && !path.ends_with(file!())
    };
    let all = files(&[
        "benches", "c_shim", "crates", "fuzz", "src", "tests", "xtask",
    ]);
    let texts = all.iter().filter(is_source);
    texts
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn targets_that_contributors_call_are_in_the_makefile() {
    let mut targets = 0;
    for command in commands() {
        let words: Vec<&str> = command.split_whitespace().collect();
        let ["make", words @ ..] = words.as_slice() else {
            continue;
        };
        if *words != ["install"] {
            let ran = Command::new("make")
                .arg("--dry-run")
                .args(words)
                .current_dir(checkout())
                .output()
                .expect("make");
            let said = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{command}: {said}");
        }
        targets += 1;
    }
    assert!(targets >= 6, "{targets}");
}

/// The lives that `make test` plays.
fn seeds(sample: &str) -> std::ops::RangeInclusive<u64> {
    let range = sample.split_once("SAME_OF_A_COMMIT: RangeInclusive<u64> = ");
    let range = range.expect("the seeds").1.split(';').next();
    let (first, last) = range
        .and_then(|range| range.split_once("..="))
        .expect("a range");
    first.parse().expect("a number")..=last.parse().expect("a number")
}

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// Subcommands of the test bed, and each check that is called by its name.
#[test]
fn programs_that_contributors_call_are_there() {
    let main = document("crates/testbed/src/main.rs");
    let bench = document("crates/testbed/src/bench/mod.rs");
    let checks = document("crates/testbed/src/checks/mod.rs");
    let lives = document("crates/testbed/src/twin/sample.rs");
    let aliases = document(".cargo/config.toml");
    let mut tests = 0;
    for command in commands() {
        let words = command.split_whitespace();
        let words: Vec<&str> = words.skip_while(|word| word.contains('=')).collect();
        match words.as_slice() {
            ["cargo", "testbed", sub, rest @ ..] => {
                assert!(aliases.contains("testbed = "), "{command}");
                let variant = capitalised(sub);
                let known = ["{", "(", ","]
                    .iter()
                    .any(|next| main.contains(&format!("    {variant}{next}")))
                    || main.contains(&format!("    {variant} {{"));
                assert!(*sub == "help" || known, "{command}");
                if let ("bench", [section, ..]) = (*sub, rest) {
                    let variant = format!("Section::{}", capitalised(section));
                    assert!(bench.contains(&variant), "{command}");
                }
            }
            ["cargo", "test", "--package", "fairtree-testbed", rest @ ..] => {
                let ["--test", program, rest @ ..] = rest else {
                    panic!("{command}: no program")
                };
                let file = format!("crates/testbed/tests/{program}.rs");
                assert!(checkout().join(file).exists(), "{command}");
                let there = match rest {
                    [] => true,
                    ["--", name] => checks.contains(&format!("\"{name}\"")),
                    ["--", "--exact", name] => {
                        let seed = name.strip_prefix("same::seed_").expect("a seed");
                        seeds(&lives).contains(&seed.parse().expect("a number"))
                    }
                    _ => false,
                };
                assert!(there, "{command}");
                tests += 1;
            }
            _ => {}
        }
    }
    assert!(tests >= 3, "{tests}");
}

/// A file of Slurm.
const OF_SLURM: [&str; 1] = ["job_mgr.c"];

/// Files without their folder, macros, types and variables.
#[test]
fn names_that_contributors_look_up_are_in_the_sources() {
    let text = document(PAGE);
    let mut all = files(&[
        "benches",
        "c_shim",
        "crates",
        "docs",
        "fuzz",
        "packaging",
        "src",
        "tests",
        "xtask",
    ]);
    all.extend(["CHANGELOG.md", "Cargo.toml", "slurm.conf"].map(PathBuf::from));
    let sources = sources();
    let mut missing = Vec::new();
    for word in quoted(&text) {
        let is_placeholder = word
            .split(['/', '.', '_'])
            .any(|part| ["NAME", "KEY", "NOUN", "ABI"].contains(&part));
        let plain = |at: char| at.is_ascii_alphanumeric() || "_./-".contains(at);
        let end = Path::new(word).extension().and_then(|end| end.to_str());
        let is_file =
            end.is_some_and(|end| ["rs", "c", "h", "md", "conf", "txt", "toml"].contains(&end));
        if is_placeholder || OF_SLURM.contains(&word) {
            continue;
        }
        let there = if let Some(name) = word.strip_suffix('!') {
            sources.contains(&format!("macro_rules! {name} "))
        } else if word.chars().all(plain) && is_file {
            all.iter().any(|path| path.ends_with(word))
        } else if word.starts_with(|first: char| first.is_ascii_uppercase())
            && word
                .chars()
                .all(|at| at.is_ascii_alphanumeric() || at == '_' || at == ':')
        {
            word.split("::").all(|part| sources.contains(part))
        } else {
            true
        };
        if !there {
            missing.push(word);
        }
    }
    let empty: [&str; 0] = [];
    assert_eq!(missing, empty);
    for name in [
        "BUSY_SAMPLES",
        "UPDATE_ABI",
        "UPDATE_COUNTS",
        "UPDATE_HEADER",
    ] {
        assert!(
            text.contains(name) && sources.contains(&format!("\"{name}\"")),
            "{name}"
        );
    }
}

/// Versions, the list of test programs, and the number of changes.
#[test]
fn facts_of_the_contributors_page_are_current() {
    let text = document(PAGE);
    let manifest = document("Cargo.toml");
    let between = |text: &str, before: &str, after: char| {
        let rest = text
            .split_once(before)
            .unwrap_or_else(|| panic!("{before}"))
            .1;
        rest.split(after).next().expect("a part").to_owned()
    };
    let rust = between(&text, "with Rust ", ' ');
    assert_eq!(rust, between(&manifest, "rust-version = \"", '"'));
    let release = between(&document("Makefile"), ",,SLURM=", ')');
    assert!(text.contains(&format!("{release} by default")), "{release}");
    let sources = document("packaging/slurm_source.rs");
    for version in between(&text, "In all reviewed releases (", ';').split(", ") {
        let parts: Vec<u32> = version
            .split('.')
            .map(|part| part.parse().expect("a number"))
            .collect();
        let series = format!("({}, {})", parts[0], parts[1]);
        assert!(sources.contains(&series), "{version}");
    }
    // The programs that need Slurm are those of the test bed.
    let listed = between(&text, "only when one is named: ", '.');
    let mut listed: Vec<&str> = quoted(&listed).collect();
    listed.sort_unstable();
    let tests = std::fs::read_dir(checkout().join("crates/testbed/tests")).expect("a folder");
    let mut programs: Vec<String> = tests
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|path| Some(path.file_name()?.to_str()?.strip_suffix(".rs")?.to_owned()))
        .collect();
    programs.sort_unstable();
    assert_eq!(listed, programs);
    let changes = text
        .split_once("## Thirteen changes")
        .expect("the changes")
        .1;
    let changes = changes.split("\n## ").next().expect("a part");
    assert_eq!(
        changes
            .lines()
            .filter(|line| line.starts_with("| **"))
            .count(),
        13
    );
}

#[test]
fn every_section_of_the_suite_has_its_time() {
    let table = std::fs::read_to_string(checkout().join("xtask/src/suite/table.rs")).expect("text");
    let lines = table.lines().map(str::trim);
    let named = lines.filter_map(|line| line.strip_prefix("name: \"")?.strip_suffix("\","));
    let page = document(PAGE);
    let mut sections = 0;
    for name in named {
        let row = page
            .lines()
            .find_map(|line| line.strip_prefix(&format!("| {name} | ")));
        let time = row.unwrap_or_else(|| panic!("no row of `{name}`"));
        assert!(
            time.starts_with(|c: char| c.is_ascii_digit()),
            "{name}: {time}"
        );
        sections += 1;
    }
    assert!(sections > 15, "{sections}");
}
