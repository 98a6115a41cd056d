//! Manual pages and completions: what `make install` asks the command for, judged by the programs
//! that will read it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::command::{fairtree, folder};

fn generate(what: &str, name: &str) -> PathBuf {
    let folder = folder(name);
    let path = folder.to_str().expect("UTF-8");
    let ran = fairtree(&["generate", what, path], b"");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// Runs a program that the tests of this project need; `cargo xtask deps` installs it.
fn program(name: &str, args: &[&str]) -> Output {
    let output = Command::new(name)
        .args(args)
        .env("LC_ALL", "C.UTF-8")
        .env("MANWIDTH", "80")
        .stdin(Stdio::null())
        .output();
    output.unwrap_or_else(|error| panic!("{name}: {error}; make deps installs it"))
}

#[test]
fn manual_pages_name_every_option_and_render_without_a_warning() {
    let pages = generate("man", "documents-man");
    let names = files(&pages);
    assert_eq!(
        names.len(),
        27,
        "one each, with the actions of ledger, and the command's own: {names:?}"
    );
    assert!(
        !names.iter().any(|name| name.contains("generate")),
        "hidden stays hidden"
    );
    for name in &names {
        let path = pages.join(name);
        let shown = program(
            "man",
            &[
                "--warnings",
                "-E",
                "UTF-8",
                "-P",
                "cat",
                "-l",
                path.to_str().expect("UTF-8"),
            ],
        );
        let said = String::from_utf8_lossy(&shown.stderr);
        assert!(shown.status.success() && said.is_empty(), "{name}: {said}");
        let text = String::from_utf8_lossy(&shown.stdout).replace('\u{2010}', "-");
        let subcommand = name.trim_start_matches("fairtree").trim_end_matches(".1");
        let subcommand = subcommand.trim_start_matches('-');
        // Its options are those of fairtree-serve, a program of its own.
        if subcommand == "serve" {
            continue;
        }
        let help = match (subcommand, subcommand.strip_prefix("ledger-")) {
            ("", _) => fairtree(&["--help"], b"").out,
            (_, Some(action)) => fairtree(&["ledger", action, "--help"], b"").out,
            _ => fairtree(&[subcommand, "--help"], b"").out,
        };
        for option in long_options(&help) {
            assert!(text.contains(&option), "{name}: {option}");
        }
        assert!(text.contains("Exit codes"), "{name}");
        assert!(subcommand.is_empty() || text.contains("Examples"), "{name}");
    }
}

/// The options that a help text explains.
fn long_options(help: &str) -> Vec<String> {
    let (_, options) = help.split_once("Options:\n").expect("options");
    let options = options.split("\nExamples:").next().unwrap_or(options);
    let lines = options
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('-'));
    let long = |line: &str| {
        let word = line
            .split_whitespace()
            .find(|word| word.starts_with("--"))?;
        Some(word.trim_end_matches(',').to_owned())
    };
    let found: Vec<String> = lines.filter_map(long).collect();
    assert!(found.len() >= 4, "{help}");
    found
}

#[test]
fn completions_are_read_by_the_shells_that_they_are_for() {
    let folder = generate("completions", "documents-completions");
    assert_eq!(
        files(&folder),
        ["_fairtree", "fairtree.bash", "fairtree.fish"]
    );
    let path = |name: &str| folder.join(name).display().to_string();
    let read = [
        ("bash", vec!["-n".to_owned(), path("fairtree.bash")]),
        ("zsh", vec!["-n".to_owned(), path("_fairtree")]),
        (
            "fish",
            vec!["--no-execute".to_owned(), path("fairtree.fish")],
        ),
    ];
    for (shell, args) in read {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = program(shell, &args);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && said.is_empty(), "{shell}: {said}");
    }
}

/// What a shell offers behind `fairtree share --al` and `fairtree wh`.
#[test]
fn completions_offer_subcommands_and_options() {
    let folder = generate("completions", "documents-offers");
    let path = |name: &str| folder.join(name).display().to_string();
    let bash = |words: &str, at: usize| {
        format!(
            "source '{}'; COMP_WORDS=({words}); COMP_CWORD={at}; \
             _fairtree fairtree \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{}]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            path("fairtree.bash"),
            at - 1
        )
    };
    let fish = |line: &str| format!("source '{}'; complete -C '{line}'", path("fairtree.fish"));
    for (shell, script, expected) in [
        ("bash", bash("fairtree wh", 1), "what-if"),
        ("bash", bash("fairtree share --al", 2), "--all"),
        ("fish", fish("fairtree wh"), "what-if"),
        ("fish", fish("fairtree share --al"), "--all"),
    ] {
        let args = match shell {
            "fish" => vec!["--no-config", "-c", &script],
            _ => vec!["--norc", "-c", &script],
        };
        let ran = program(shell, &args);
        let offered = String::from_utf8_lossy(&ran.stdout);
        let words: Vec<&str> = offered
            .lines()
            .filter_map(|line| line.split('\t').next())
            .collect();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(words.contains(&expected), "{shell}: {words:?} {said}");
    }
    // zsh completes at a prompt only; that the function is found and whole is what a script can see.
    let script = format!(
        "fpath=('{}' $fpath); autoload -U compinit; compinit -u -D; autoload +X _fairtree; \
         print -r -- $_comps[fairtree]",
        folder.display()
    );
    let ran = program("zsh", &["-f", "-c", &script]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout).trim(),
        "_fairtree",
        "{said}"
    );
}
