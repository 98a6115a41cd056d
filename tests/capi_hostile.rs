//! `tests/c/hostile*.c`: every function refuses hostile input, and never crashes; and rules about
//! exported functions that a machine can check.

mod capi_common;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use capi_common::{Library, crate_dir, exported_functions, run};

const HOSTILE: [&str; 8] = [
    "tests/c/hostile.c",
    "tests/c/hostile_usage.c",
    "tests/c/hostile_windows.c",
    "tests/c/hostile_jobs.c",
    "tests/c/hostile_pass.c",
    "tests/c/hostile_queue.c",
    "tests/c/hostile_on_demand.c",
    "tests/c/hostile_service.c",
];

/// Checks the number of refusals, so that none is missing.
fn assert_refusals(command: &mut Command) {
    let printed = String::from_utf8(run(command).stdout).expect("UTF-8");
    let refusals = printed.trim_end().strip_suffix(" refusals");
    let refusals: u32 = refusals.and_then(|n| n.parse().ok()).expect("a number");
    assert!(refusals > 500, "{printed}");
}

#[test]
fn hostile_input_is_refused() {
    let library = Library::build();
    let program = library.compile(&HOSTILE, "-std=c11", &[]);
    assert_refusals(&mut library.command(program));
}

#[test]
fn hostile_input_is_refused_under_sanitizers() {
    let (_library, mut command) = Library::sanitized(&HOSTILE, "-std=c11");
    assert_refusals(&mut command);
}

#[test]
fn hostile_input_is_refused_under_valgrind() {
    let library = Library::build();
    let program = library.compile(&HOSTILE, "-std=c11", &[]);
    assert_refusals(&mut library.valgrind(&program));
}

#[test]
fn every_export_is_guarded_documented_and_attacked() {
    let header = fs::read_to_string(crate_dir().join("include/fairtree.h")).expect("the header");
    let attack: String = HOSTILE
        .iter()
        .map(|name| fs::read_to_string(crate_dir().join(name)).expect("a C file"))
        .collect();
    for function in exported_functions() {
        let name = &function.name;
        let fallible = function.text.contains(") -> i32 {");
        let guard = match fallible {
            true => format!("guard::status(\"{name}\""),
            false => format!("guard::value(\"{name}\""),
        };
        let body = function
            .text
            .split(" {\n")
            .nth(1)
            .expect("a body")
            .trim_start();
        assert!(
            body.starts_with(&guard),
            "{name} does not begin with {guard}"
        );
        assert!(
            function.doc.contains("Threads: "),
            "{name}: say which threads may call it"
        );
        assert!(
            !fallible || function.doc.contains("Errors"),
            "{name}: name its errors"
        );
        assert!(
            !fallible || function.text.contains("#[must_use]"),
            "{name}: #[must_use]"
        );
        assert!(
            header.contains(&format!("{name}(")),
            "{name} is not in the header"
        );
        assert!(
            attack.contains(&format!("{name}(")),
            "{name} is not called in hostile*.c"
        );
    }
}

#[test]
fn the_library_exports_these_functions_and_no_others() {
    let library = Library::build();
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only", "--format=posix"]);
    let printed = run(nm.arg(library.dir().join("libfairtree.so"))).stdout;
    let printed = String::from_utf8(printed).expect("UTF-8");
    let exported: BTreeSet<&str> = printed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let functions = exported_functions();
    let wanted: BTreeSet<&str> = functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(exported, wanted);
}

#[test]
fn statuses_have_the_same_names_in_the_documents() {
    let errors = fs::read_to_string(crate_dir().join("src/capi/error.rs")).expect("error.rs");
    for function in exported_functions() {
        for word in function
            .doc
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        {
            let known = !word.starts_with("FT_ERR_") || errors.contains(&format!("    {word} = -"));
            assert!(known, "{}: there is no {word}", function.name);
        }
    }
}
