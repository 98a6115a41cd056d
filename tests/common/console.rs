//! Command lines and their output in documents.

#![allow(dead_code)] // Each test program uses a part of this.

#[allow(clippy::duplicate_mod)] // Other files of a test program use it, too.
#[path = "checkout.rs"]
mod checkout;

use std::fs;
use std::path::PathBuf;

use checkout::checkout;

/// A fenced block of a document.
#[derive(Clone, Debug)]
pub struct Block {
    /// Line of its first fence, from 1.
    pub line: usize,
    /// The text after the fence, such as `console cluster`.
    pub kind: String,
    /// The text between the fences.
    pub text: String,
}

/// A command line and the output that is shown below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The command line, continued lines joined.
    pub command: String,
    /// The lines below it; a line `...` means any number of lines.
    pub output: Vec<String>,
}

/// The fenced blocks of a text.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open) {
            (Some(kind), false) => {
                open = true;
                found.push(Block {
                    line: at + 1,
                    kind: kind.trim().to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), true) => open = false,
            (None, true) => {
                let text = &mut found.last_mut().expect("a block is open").text;
                text.push_str(line);
                text.push('\n');
            }
            (None, false) => {}
        }
    }
    assert!(!open, "a fence is not closed");
    found
}

/// The calls of a `console` block.
pub fn calls(block: &Block) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    let text = block.text.replace("\\\n", "");
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push(Call {
                command: command.to_owned(),
                output: Vec::new(),
            });
        } else {
            let call = found.last_mut().expect("a command before its output");
            call.output.push(line.to_owned());
        }
    }
    found
}

/// Returns true if a text matches the shown lines, where `...` means any number of lines.
pub fn is_shown(shown: &[String], text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    fn fits(shown: &[String], lines: &[&str]) -> bool {
        match shown.split_first() {
            None => lines.is_empty(),
            Some((first, rest)) if first == "..." => {
                (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..]))
            }
            Some((first, rest)) => lines
                .split_first()
                .is_some_and(|(line, lines)| first.trim_end() == *line && fits(rest, lines)),
        }
    }
    fits(shown, &lines)
}

/// A document by its name from the project's folder.
pub fn document(name: &str) -> String {
    let path = checkout().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All documents of the project for its readers.
pub fn documents() -> Vec<String> {
    let mut names = Vec::new();
    for folder in ["docs", "docs/policies"] {
        let entries = fs::read_dir(checkout().join(folder)).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let pages = paths.filter(|path: &PathBuf| path.extension().is_some_and(|end| end == "md"));
        let name = |path: &PathBuf| {
            path.file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        };
        names.extend(pages.map(|path| format!("{folder}/{}", name(&path))));
    }
    names.extend(["README.md", "COMPARE.md", "CONTRIBUTING.md"].map(str::to_owned));
    names.sort();
    names
}

#[test]
fn blocks_commands_and_outputs_are_told_apart() {
    let text = "a\n```console\n$ x \\\n  y\n1\n2\n$ z\n```\n```c cluster\n$ q\n```\n";
    let found = blocks(text);
    assert_eq!((found[0].line, found[1].kind.as_str()), (2, "c cluster"));
    let calls = calls(&found[0]);
    assert_eq!(calls[0].command, "x   y");
    assert_eq!(
        (calls[0].output.as_slice(), calls[1].output.len()),
        (&["1".to_owned(), "2".to_owned()][..], 0)
    );
    let shown: Vec<String> = ["a", "...", "d"].map(str::to_owned).into();
    assert!(is_shown(&shown, "a\nb\nc\nd\n") && is_shown(&shown, "a\nd"));
    assert!(!is_shown(&shown, "a\nb\n") && !is_shown(&shown, "b\nd"));
}
