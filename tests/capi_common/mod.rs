//! Shared parts of the tests of the C ABI: exported functions, compilers, the built library.
//!
//! A missing compiler or checker fails the test: nothing is skipped.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// All warnings, as errors.
pub const WARNINGS: [&str; 8] = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Wconversion",
    "-Wundef",
    "-Wcast-align",
    "-Werror",
];

pub fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns 1002003 for "1.2.3" and "1.2.3-rc.1", computed differently from the header.
pub fn version_number(version: &str) -> u32 {
    let (version, _) = version.split_once('-').unwrap_or((version, ""));
    let parts: Vec<String> = version
        .split('.')
        .map(|part| format!("{part:0>3}"))
        .collect();
    parts.concat().parse().expect("digits")
}

/// A function with `#[unsafe(no_mangle)]` in `src/capi/`.
pub struct Function {
    pub name: String,
    pub doc: String,
    /// From its signature to the end of its body.
    pub text: String,
}

/// The files of `src/capi/`: name without `.rs`, and text.
pub fn sources() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(crate_dir().join("src/capi"))
        .expect("src/capi is there")
        .map(|entry| entry.expect("a readable folder").path())
        .map(|path| {
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, fs::read_to_string(&path).expect("a text file"))
        })
        .collect();
    files.sort();
    files
}

pub fn exported_functions() -> Vec<Function> {
    let mut functions = Vec::new();
    for (_, text) in sources() {
        let mut rest = text.as_str();
        while let Some(at) = rest.find("#[unsafe(no_mangle)]\n") {
            let doc: Vec<&str> = rest[..at]
                .lines()
                .rev()
                .take_while(|line| line.starts_with("///"))
                .collect();
            let doc = doc.into_iter().rev().collect::<Vec<_>>().join("\n");
            rest = &rest[at..];
            let end = rest.find("\n}\n").expect("a function ends");
            let text = rest[..end].to_owned();
            let name = text
                .split("fn ")
                .nth(1)
                .and_then(|after| after.split('(').next());
            let name = name.expect("a function has a name").to_owned();
            rest = &rest[end..];
            functions.push(Function { name, doc, text });
        }
    }
    assert!(
        functions.len() > 30,
        "the exported functions were not found"
    );
    functions
}

/// Runs a command and returns its output; the test fails unless the command succeeds.
pub fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    output
}

/// Options of the C compiler for checks of memory and of undefined behaviour.
pub const SANITIZE: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The shared library in a separate folder, under the name that programs load at run time.
pub struct Library {
    dir: tempfile::TempDir,
}

/// Option for valgrind with the reports that are known not to be defects.
pub fn suppressions() -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from("--suppressions=");
    option.push(crate_dir().join("tests/c/valgrind.supp"));
    option
}

impl Library {
    /// The library that cargo has built for this test (the test links it).
    pub fn build() -> Library {
        let built = build_folder().join("deps");
        assert!(built.join("libfairtree.so").is_file(), "{built:?}");
        Library::of(&built)
    }

    /// The library with AddressSanitizer, for programs compiled with [`SANITIZE`].
    pub fn build_sanitized() -> Library {
        Library::of(&cargo_build_sanitized())
    }

    fn of(built: &Path) -> Library {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for name in ["libfairtree.so", "libfairtree.so.1"] {
            std::os::unix::fs::symlink(built.join("libfairtree.so"), dir.path().join(name))
                .expect("the folder is writable");
        }
        Library { dir }
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Compiles a C program with this library and all warnings; `flags` go to the compiler.
    pub fn compile(&self, sources: &[&str], standard: &str, flags: &[&str]) -> PathBuf {
        let program = self.dir().join("program");
        let (compiler, language) = match standard.contains("++") {
            true => ("c++", "c++"),
            false => ("cc", "c"),
        };
        run(Command::new(compiler)
            .args([standard, "-g", "-O1", "-x", language])
            .args(WARNINGS)
            .args(flags)
            .arg("-I")
            .arg(crate_dir().join("include"))
            .args(sources.iter().map(|source| crate_dir().join(source)))
            .args(["-x", "none", "-L"])
            .arg(self.dir())
            .args(["-lfairtree", "-lm", "-o"])
            .arg(&program));
        program
    }

    /// A program with this library under valgrind; after errors or leaks it exits with 9.
    pub fn valgrind(&self, program: &Path) -> Command {
        let mut command = self.command("valgrind");
        command.args([
            "--quiet",
            "--error-exitcode=9",
            "--leak-check=full",
            "--show-leak-kinds=definite,indirect,possible",
            "--errors-for-leak-kinds=definite,indirect,possible",
        ]);
        command.arg(suppressions()).arg(program);
        command
    }

    /// Compiles a C program with checks of memory and undefined behaviour, also in the library.
    pub fn sanitized(sources: &[&str], standard: &str) -> (Library, Command) {
        let library = Library::build_sanitized();
        let program = library.compile(sources, standard, &SANITIZE);
        let mut command = library.command(program);
        command.env("ASAN_OPTIONS", "detect_leaks=1:halt_on_error=1");
        (library, command)
    }

    /// A command that finds this library at run time.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", self.dir());
        command
    }
}

/// Builds the libraries with AddressSanitizer, which stable compilers offer only with an
/// environment variable, and returns their folder.
fn cargo_build_sanitized() -> PathBuf {
    let version = run(Command::new("rustc").arg("-vV")).stdout;
    let version = String::from_utf8(version).expect("UTF-8");
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.expect("rustc names its host");
    let target = build_folder().with_file_name("sanitized");
    run(Command::new(env!("CARGO"))
        .current_dir(crate_dir())
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .args(["build", "--package", "fairtree", "--lib", "--locked"])
        .arg("--no-default-features")
        .args(["--features", "capi", "--target", host, "--target-dir"])
        .arg(&target));
    target.join(host).join("debug")
}

/// The folder that this test was built in: `target/debug` of `target/debug/deps/this_test`.
fn build_folder() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    test.ancestors().nth(2).expect("a build folder").to_owned()
}
