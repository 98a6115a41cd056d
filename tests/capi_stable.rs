//! The promise of stability: everything that a program found in the header and the library of a
//! version that is recorded in `tests/abi/` is still in today's. Additions are allowed, changes and
//! removals are not.
//!
//! A record is a folder with the name of its version, in one with the number of its ABI: the header, `programs/`, and `abi.txt` with
//! every function and its type, every constant and its value, every struct and its size, and every
//! field with its type, offset and size. `UPDATE_ABI=1 cargo test --test capi_stable` records
//! today's version if it has no record yet; a record never changes.
//!
//! Records of an earlier ABI are kept, too, except for the lines in `changed.txt` of its folder, which
//! CHANGELOG.md explains.

#![cfg(feature = "capi")]

mod capi_common;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use capi_common::{Library, WARNINGS, crate_dir, run};
use fairtree::capi::FT_ABI_VERSION;

/// The declarations of a header.
#[derive(Default)]
struct Header {
    /// Name, and type of a pointer to the function.
    functions: Vec<(String, String)>,
    constants: Vec<String>,
    /// Name and fields; name and type of each field.
    structs: Vec<(String, Vec<(String, String)>)>,
}

/// The text without comments, with single blanks.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").expect("a comment ends").1;
    }
    code + rest
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Header {
    fn read(text: &str) -> Header {
        let code = without_comments(text);
        let mut header = Header::default();
        for line in code.lines() {
            let line = line.trim();
            if let Some(defined) = line.strip_prefix("#define FT_") {
                let mut parts = defined.splitn(2, ' ');
                let name = format!("FT_{}", parts.next().unwrap_or_default());
                let is_number = parts.next().is_some_and(|value| {
                    value.starts_with(|c: char| c.is_ascii_digit() || c == '-')
                });
                if is_number && !name.starts_with("FT_VERSION") {
                    header.constants.push(name);
                }
            } else if let Some((name, _)) = line.split_once(" = ") {
                if name.starts_with("FT_") {
                    header.constants.push(name.to_owned());
                }
            }
        }
        for part in code.split("typedef struct {").skip(1) {
            let (fields, rest) = part.split_once('}').expect("a struct ends");
            let (name, _) = rest.split_once(';').expect("a struct has a name");
            let fields = fields
                .split(';')
                .map(words)
                .filter(|field| !field.is_empty());
            let fields = fields.map(|field| {
                let at = field.rfind([' ', '*']).expect("a type and a name") + 1;
                (field[at..].to_owned(), field[..at].trim().to_owned())
            });
            header
                .structs
                .push((name.trim().to_owned(), fields.collect()));
        }
        // Without preprocessor lines, the text between semicolons is a declaration.
        let plain: Vec<&str> = code.lines().filter(|line| !line.starts_with('#')).collect();
        for declaration in plain.join("\n").split([';', '{', '}']).map(words) {
            let declaration = declaration.trim_start_matches("FT_MUST_USE ");
            let Some((before, arguments)) = declaration.split_once('(') else {
                continue;
            };
            let at = before.rfind([' ', '*']).map_or(0, |at| at + 1);
            let (result, name) = before.split_at(at);
            if name.starts_with("ft_") && !result.is_empty() {
                let kind = format!("{} (*)({arguments}", result.trim());
                header.functions.push((name.to_owned(), kind));
            }
        }
        header
    }

    /// A program that prints the record.
    fn printer(&self) -> String {
        let mut body = String::new();
        for (name, kind) in &self.functions {
            writeln!(body, "puts(\"function {name} {kind}\");").expect("a string");
        }
        for name in &self.constants {
            let line = format!("printf(\"constant {name} %lld\\n\", (long long)({name}));");
            writeln!(body, "{line}").expect("a string");
        }
        for (name, fields) in &self.structs {
            let line = format!("printf(\"struct {name} %zu\\n\", sizeof({name}));");
            writeln!(body, "{line}").expect("a string");
            for (field, kind) in fields {
                let line = format!(
                    "printf(\"field {name} {field} %zu %zu {kind}\\n\", offsetof({name}, {field}), \
                     sizeof((({name} *)0)->{field}));"
                );
                writeln!(body, "{line}").expect("a string");
            }
        }
        format!(
            "#include <fairtree.h>\n#include <stddef.h>\n#include <stdio.h>\n\
             int main(void)\n{{\n{body}return 0;\n}}\n"
        )
    }
}

/// C code that compiles if a header keeps the content of a record. Structs may have grown: they are
/// passed with their size.
fn keeps(record: &str) -> String {
    let mut text = String::from("#include <fairtree.h>\n#include <stddef.h>\n");
    for line in record.lines() {
        let mut parts = line.splitn(3, ' ');
        let (kind, name) = (parts.next(), parts.next().expect("a name"));
        let rest = parts.next().expect("what it is");
        let line = match kind {
            Some("function") => {
                let declared = rest.replacen("(*)", &format!("(*old_{name})"), 1);
                format!("extern {declared};\n{declared} = {name};")
            }
            Some("constant") => format!("_Static_assert({name} == {rest}, \"{name}\");"),
            Some("struct") => format!("_Static_assert(sizeof({name}) >= {rest}, \"{name}\");"),
            Some("field") => {
                let parts: Vec<&str> = rest.splitn(4, ' ').collect();
                let [field, offset, size, kind] = parts[..] else {
                    panic!("{line}");
                };
                format!(
                    "_Static_assert(offsetof({name}, {field}) == {offset} && sizeof((({name} *)0)->{field}) \
                     == {size}, \"{name}.{field}\");\n_Static_assert(__builtin_types_compatible_p(__typeof__(\
                     (({name} *)0)->{field}), {kind}), \"type of {name}.{field}\");"
                )
            }
            _ => panic!("{line}"),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The folder of the records of an ABI.
fn abi(number: u32) -> PathBuf {
    crate_dir().join("tests/abi").join(number.to_string())
}

/// The folders of the records of the present ABI, the oldest first.
fn records() -> Vec<PathBuf> {
    records_of(FT_ABI_VERSION)
}

fn records_of(number: u32) -> Vec<PathBuf> {
    let folder = abi(number);
    let entries = fs::read_dir(folder).expect("tests/abi");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

fn include() -> PathBuf {
    crate_dir().join("include")
}

/// The output of a C program that is compiled with the header in `headers`.
fn printed(text: &str, headers: &Path, folder: &Path) -> String {
    let source = folder.join("printer.c");
    fs::write(&source, text).expect("written");
    let program = folder.join("printer");
    run(Command::new("cc")
        .args(["-std=c11", "-I"])
        .arg(headers)
        .arg(&source)
        .arg("-o")
        .arg(&program));
    String::from_utf8(run(&mut Command::new(program)).stdout).expect("UTF-8")
}

/// The compiler's errors for a header and a record; empty if the header keeps the record.
fn broken(record: &str, headers: &Path, folder: &Path) -> String {
    let source = folder.join("keeps.c");
    fs::write(&source, keeps(record)).expect("written");
    let ran = Command::new("cc")
        .args(["-std=gnu11", "-Werror", "-fsyntax-only", "-I"])
        .arg(headers)
        .arg(&source)
        .output()
        .expect("a C compiler");
    match ran.status.success() {
        true => String::new(),
        false => String::from_utf8_lossy(&ran.stderr).into_owned() + "it does not compile",
    }
}

#[test]
fn the_version_of_today_has_a_record() {
    let version = env!("CARGO_PKG_VERSION");
    let folder = abi(FT_ABI_VERSION).join(version);
    let record = folder.join("abi.txt");
    if std::env::var_os("UPDATE_ABI").is_some() && !record.exists() {
        let here = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.join("programs")).expect("made");
        let header = include().join("fairtree.h");
        let text = fs::read_to_string(&header).expect("the header");
        let now = printed(&Header::read(&text).printer(), &include(), here.path());
        fs::copy(header, folder.join("fairtree.h")).expect("copied");
        for program in [
            "examples/c/first.c",
            "examples/c/harness.c",
            "examples/c/cloud.c",
            "tests/c/numbers.c",
            "tests/c/pass.c",
            "tests/c/prices.c",
        ] {
            let from = crate_dir().join(program);
            let name = from.file_name().expect("a name");
            fs::copy(&from, folder.join("programs").join(name)).expect("copied");
        }
        fs::write(&record, now).expect("written");
    }
    assert!(
        record.exists(),
        "{version} has no record: UPDATE_ABI=1 cargo test --test capi_stable makes one"
    );
}

#[test]
fn the_header_keeps_what_was_recorded() {
    let here = tempfile::tempdir().expect("a folder");
    for folder in records() {
        let record = fs::read_to_string(folder.join("abi.txt")).expect("a record");
        let header = fs::read_to_string(folder.join("fairtree.h")).expect("a header");
        let own = printed(&Header::read(&header).printer(), &folder, here.path());
        assert_eq!(own, record, "{} is not of its header", folder.display());
        let broken = broken(&record, &include(), here.path());
        assert_eq!(broken, "", "since {}", folder.display());
    }
}

#[test]
fn the_library_exports_what_was_recorded() {
    let library = Library::build();
    let listed = run(Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(library.dir().join("libfairtree.so")))
    .stdout;
    let listed = String::from_utf8(listed).expect("UTF-8");
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    for folder in records() {
        let record = fs::read_to_string(folder.join("abi.txt")).expect("a record");
        let functions = record
            .lines()
            .filter_map(|line| line.strip_prefix("function "));
        let mut count = 0;
        for function in functions {
            let (name, _) = function.split_once(' ').expect("a type");
            assert!(
                names.contains(&name),
                "{name} of {} is gone",
                folder.display()
            );
            count += 1;
        }
        assert!(count > 50, "{count}");
        let abi = format!("constant FT_ABI_VERSION {FT_ABI_VERSION}\n");
        assert!(
            record.contains(&abi),
            "{} is of another ABI",
            folder.display()
        );
    }
}

/// Lines of `changed.txt` have really changed, and all others are kept.
#[test]
fn a_new_abi_changes_what_is_listed_and_nothing_else() {
    let here = tempfile::tempdir().expect("a folder");
    for number in 0..FT_ABI_VERSION {
        let changed = fs::read_to_string(abi(number).join("changed.txt")).expect("a list");
        for folder in records_of(number) {
            let record = fs::read_to_string(folder.join("abi.txt")).expect("a record");
            let is_changed = |line: &&str| changed.lines().any(|changed| changed == *line);
            let kept: Vec<&str> = record.lines().filter(|line| !is_changed(line)).collect();
            let broken_of = |lines: &str| broken(lines, &include(), here.path());
            assert_eq!(
                broken_of(&kept.join("\n")),
                "",
                "since {}",
                folder.display()
            );
            for line in changed.lines() {
                assert!(record.lines().any(|recorded| recorded == line), "{line}");
                assert_ne!(broken_of(line), "", "{line} was not changed");
            }
        }
    }
}

/// Programs of a recorded version that are built with its header print the same, with today's
/// library, as the same programs built with today's header.
#[test]
fn programs_of_recorded_versions_run() {
    let library = Library::build();
    for folder in records() {
        let programs = fs::read_dir(folder.join("programs")).expect("programs");
        let mut count = 0;
        for entry in programs {
            let source = entry.expect("an entry").path();
            let built = |headers: &Path| {
                let program = library.dir().join("program");
                run(Command::new("cc")
                    .arg("-std=c11")
                    .args(WARNINGS)
                    .arg("-I")
                    .arg(headers)
                    .arg(&source)
                    .arg("-L")
                    .arg(library.dir())
                    .args(["-lfairtree", "-lm", "-o"])
                    .arg(&program));
                run(&mut library.command(&program)).stdout
            };
            let (then, now) = (built(&folder), built(&include()));
            assert!(!then.is_empty());
            // The version that a program prints is the library's.
            assert_eq!(then, now, "{}", source.display());
            count += 1;
        }
        assert!(count >= 6, "{count}");
    }
}

/// Allowed and forbidden changes, on a header of one function, one constant and one struct.
#[test]
fn adding_is_allowed_and_changing_is_not() {
    const HEADER: &str = "#include <stdint.h>\n\
        /* A comment; with (a bracket). */\n#define FT_ONE 1u\nenum ft_kind { \n    FT_A = 0,\n};\n\
        typedef struct {\n    uint32_t id;\n    const double *values;\n} ft_row;\n\
        int32_t ft_call(const ft_row *row,\n    double value);\n";
    let here = tempfile::tempdir().expect("a folder");
    let with = |text: &str| {
        let folder = here.path().join("headers");
        fs::create_dir_all(&folder).expect("made");
        fs::write(folder.join("fairtree.h"), text).expect("written");
        folder
    };
    let record = printed(&Header::read(HEADER).printer(), &with(HEADER), here.path());
    let expected = "function ft_call int32_t (*)(const ft_row *row, double value)\n\
        constant FT_ONE 1\nconstant FT_A 0\nstruct ft_row 16\nfield ft_row id 0 4 uint32_t\n\
        field ft_row values 8 8 const double *\n";
    assert_eq!(record, expected);
    let added = [
        ("} ft_row", "    uint32_t more;\n} ft_row"),
        ("FT_A = 0,", "FT_A = 0,\n    FT_B = 1,"),
        (
            "int32_t ft_call(",
            "int32_t ft_more(void);\nint32_t ft_call(",
        ),
        ("double value", "double other_name"),
    ];
    for (from, to) in added {
        let folder = with(&HEADER.replace(from, to));
        assert_eq!(broken(&record, &folder, here.path()), "", "{to}");
    }
    let changed = [
        ("double value", "float value"),
        ("int32_t ft_call", "int64_t ft_call"),
        ("ft_call", "ft_called"),
        ("    uint32_t id;\n", ""),
        (
            "    uint32_t id;\n",
            "    uint32_t first;\n    uint32_t id;\n",
        ),
        ("uint32_t id", "int32_t id"),
        ("FT_A = 0", "FT_A = 2"),
        ("FT_ONE 1u", "FT_ONE 2u"),
    ];
    for (from, to) in changed {
        let folder = with(&HEADER.replace(from, to));
        assert_ne!(broken(&record, &folder, here.path()), "", "{to}");
    }
}
