//! `tests/c/numbers.c`, `prices.c`, `pass.c`, `rankings.c`, `windows.c` and `threads.c`: C programs
//! get the numbers that were computed by hand, from one thread and from many.

mod capi_common;

use std::process::Command;

use capi_common::{Library, run};

fn assert_prints(command: &mut Command, wanted: &str) {
    let printed = run(command).stdout;
    assert_eq!(String::from_utf8_lossy(&printed), wanted);
}

fn check(source: &str, wanted: &str) {
    let library = Library::build();
    for standard in ["-std=c11", "-std=c++17"] {
        let program = library.compile(&[source], standard, &[]);
        assert_prints(&mut library.command(&program), wanted);
    }
    let (_library, mut command) = Library::sanitized(&[source], "-std=c11");
    assert_prints(&mut command, wanted);
    let program = library.compile(&[source], "-std=c11", &[]);
    assert_prints(&mut library.valgrind(&program), wanted);
}

#[test]
fn numbers_are_those_worked_out_by_hand() {
    check("tests/c/numbers.c", "numbers as by hand\n");
}

#[test]
fn prices_are_those_worked_out_by_hand() {
    check("tests/c/prices.c", "prices as by hand\n");
}

#[test]
fn passes_are_those_worked_out_by_hand() {
    check("tests/c/pass.c", "passes as by hand\n");
}

#[test]
fn rankings_are_those_worked_out_by_hand() {
    check("tests/c/rankings.c", "rankings as by hand\n");
}

#[test]
fn windows_are_those_worked_out_by_hand() {
    check("tests/c/windows.c", "windows as by hand\n");
}

#[test]
fn threads_share_what_they_only_read() {
    let library = Library::build();
    let program = library.compile(&["tests/c/threads.c"], "-std=c11", &["-pthread"]);
    assert_prints(&mut library.command(&program), "threads agree\n");
    let mut helgrind = library.command("valgrind");
    helgrind.args(["--quiet", "--tool=helgrind", "--error-exitcode=9"]);
    helgrind.arg(capi_common::suppressions());
    assert_prints(helgrind.arg(&program), "threads agree\n");
}
