//! The examples of README.md and docs/parity.md: what they say that a command prints is what the
//! command prints.

#![cfg(feature = "cli")]

use std::process::Command;

/// Each `$ fairtree …` in a `console` block, and the text below it.
fn examples(readme: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().expect("a block ends");
        let mut lines = block.lines();
        let command = lines.next().expect("a command").strip_prefix("$ fairtree ");
        let output: String = lines.map(|line| format!("{line}\n")).collect();
        found.push((command.expect("the command").to_owned(), output));
    }
    found
}

#[test]
fn commands_print_what_the_documents_show() {
    let root = env!("CARGO_MANIFEST_DIR");
    for (file, count) in [("README.md", 2), ("docs/parity.md", 1)] {
        let text = std::fs::read_to_string(format!("{root}/{file}")).expect(file);
        let examples = examples(&text);
        assert_eq!(examples.len(), count, "{file}");
        for (command, expected) in examples {
            let answer = Command::new(env!("CARGO_BIN_EXE_fairtree"))
                .current_dir(root)
                .args(command.split_whitespace())
                .output()
                .expect("the command runs");
            assert_eq!(
                String::from_utf8_lossy(&answer.stdout),
                expected,
                "{file}: {command}"
            );
        }
    }
}

#[test]
fn the_site_at_the_top_is_the_one_in_examples() {
    let root = env!("CARGO_MANIFEST_DIR");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).expect("README.md");
    let site = std::fs::read_to_string(format!("{root}/examples/site.toml")).expect("site.toml");
    assert!(readme.contains(&format!("# examples/site.toml\n{site}```")));
}
