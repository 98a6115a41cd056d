//! Colour and width: on a terminal only, and as the reader asks.

use std::process::{Command, Output, Stdio};

use crate::sandbox::Sandbox;

const ESCAPE: char = '\u{1b}';

/// Runs a command line in a terminal of 60 columns, as script(1) of bsdutils makes one.
fn in_terminal(sandbox: &Sandbox, line: &str, variables: &[(&str, &str)]) -> Output {
    let path = std::env::var("PATH").expect("a path");
    let line = format!("stty cols 60 rows 24; {line}");
    Command::new("/usr/bin/script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(sandbox.path(""))
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR")
        .env("PATH", format!("{}:{path}", sandbox.path("bin").display()))
        .env("LC_ALL", "C.UTF-8")
        .env("TERM", "xterm")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("script")
}

fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")
}

/// What has colour where it is wanted: data, findings, messages.
const COLOURED: [&str; 3] = [
    "fairtree share --tree site.toml",
    "fairtree lint slurm.conf",
    "fairtree explain 99 site.toml",
];

#[test]
fn a_terminal_has_colour_unless_the_reader_wants_none() {
    let sandbox = Sandbox::new();
    for line in COLOURED {
        let has = |line: &str, variables: &[(&str, &str)]| {
            shown(&in_terminal(&sandbox, line, variables)).contains(ESCAPE)
        };
        assert!(has(line, &[]), "{line}");
        assert!(
            has(line, &[("NO_COLOR", "")]),
            "{line}: an empty NO_COLOR says nothing"
        );
        assert!(!has(line, &[("NO_COLOR", "1")]), "{line}: NO_COLOR");
        assert!(!has(line, &[("TERM", "dumb")]), "{line}: TERM=dumb");
        let never = line.replacen("fairtree ", "fairtree --color never ", 1);
        assert!(!has(&never, &[]), "{line}: never");
        let always = line.replacen("fairtree ", "fairtree --color=always ", 1);
        assert!(has(&always, &[("NO_COLOR", "1")]), "{line}: always");
    }
}

#[test]
fn a_pipe_and_a_file_have_none_unless_asked_for() {
    let sandbox = Sandbox::new();
    for line in COLOURED {
        let all = |line: &str| {
            let ran = sandbox.run(
                &format!("{line} 2>&1"),
                &[("TERM", "xterm"), ("NO_COLOR", "")],
            );
            String::from_utf8_lossy(&ran.stdout).into_owned()
        };
        assert!(!all(line).contains(ESCAPE), "{line}");
        let always = line.replacen("fairtree ", "fairtree --color always ", 1);
        assert!(all(&always).contains(ESCAPE), "{line}");
    }
}

/// The width is that of COLUMNS, or else the terminal's own, or else 80.
#[test]
fn trees_messages_and_help_are_as_wide_as_the_terminal() {
    let sandbox = Sandbox::new();
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    let tree = "fairtree share --color never --tree site.toml";
    let own = shown(&in_terminal(&sandbox, tree, &[]));
    assert_eq!(widest(&own), Some(60), "{own}");
    // Set for this command alone: a shell sets its own COLUMNS again.
    let told = shown(&in_terminal(&sandbox, &format!("COLUMNS=72 {tree}"), &[]));
    assert_eq!(widest(&told), Some(72), "{told}");
    for line in [
        "fairtree cost --help",
        "fairtree --color never explain 99 site.toml",
    ] {
        let text = shown(&in_terminal(&sandbox, line, &[]));
        // Examples are command lines to copy, and stay whole.
        let prose = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("fairtree cost"));
        let widest = prose.map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 78), "{text}");
        assert!(text.lines().count() > 2, "{text}");
    }
    let message = shown(&in_terminal(
        &sandbox,
        "fairtree --color never explain 99 site.toml",
        &[],
    ));
    assert!(widest(&message) <= Some(60), "{message}");
    // In a file a message is one line, so that it can be searched for.
    let ran = sandbox.run("fairtree explain 99 site.toml", &[]);
    assert_eq!(String::from_utf8_lossy(&ran.stderr).lines().count(), 1);
}

/// Sentences, and lines of explain that are no table, are broken between words in a terminal, and
/// whole in a pipe, whatever COLUMNS says.
#[test]
fn sentences_are_broken_between_words_in_a_terminal() {
    let sandbox = Sandbox::new();
    for line in [
        "fairtree explain 4711",
        "fairtree explain bob --versus carol",
        "fairtree what-if --shares physics=40",
        "fairtree cost -u bob -t 60 --tres cpu=4",
    ] {
        // Notes have their own width.
        let line = format!("{line} 2>/dev/null");
        let narrow = shown(&in_terminal(&sandbox, &line, &[]));
        for line in narrow.lines() {
            assert!(line.chars().count() <= 60, "{line:?} of\n{narrow}");
        }
        if line.contains("explain") {
            let piped = sandbox.run(&line, &[("COLUMNS", "60")]);
            let piped = String::from_utf8_lossy(&piped.stdout).into_owned();
            assert!(narrow.lines().count() > piped.lines().count(), "{narrow}");
            assert!(
                narrow.split_whitespace().eq(piped.split_whitespace()),
                "{narrow}"
            );
        }
    }
}
