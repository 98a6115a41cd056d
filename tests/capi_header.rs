//! `include/fairtree.h` matches `src/capi/`, and compiles with every C and C++ compiler.
//!
//! `UPDATE_HEADER=1 cargo test --test capi_header` rewrites the header.

mod capi_common;

use std::fs;

use capi_common::{WARNINGS, crate_dir, exported_functions, run, sources};

/// Constants and functions come in this order, which is the order in which a reader needs them.
const ORDER: [&str; 25] = [
    "version",
    "error",
    "config",
    "tree",
    "usage",
    "usage_runs",
    "fairshare",
    "explain",
    "site",
    "job_rows",
    "jobs",
    "pass",
    "state",
    "queue",
    "machine_queue",
    "held_jobs",
    "queue_jobs",
    "queue_order",
    "queue_ask",
    "queue_change",
    "on_demand",
    "on_demand_jobs",
    "on_demand_bills",
    "on_demand_ask",
    "on_demand_change",
];

fn version_macros() -> String {
    let part = |text: &str| {
        text.parse::<u32>()
            .expect("a part of a version is a number")
    };
    let major = part(env!("CARGO_PKG_VERSION_MAJOR"));
    let minor = part(env!("CARGO_PKG_VERSION_MINOR"));
    let patch = part(env!("CARGO_PKG_VERSION_PATCH"));
    assert!(
        minor < 1000 && patch < 1000,
        "FT_VERSION_NUMBER has three digits for each"
    );
    format!(
        "/* The version of this header; ft_version() is that of the library. */\n\
         #define FT_VERSION \"{}\"\n\
         #define FT_VERSION_MAJOR {major}\n\
         #define FT_VERSION_MINOR {minor}\n\
         #define FT_VERSION_PATCH {patch}\n\
         /* One number that grows with the version: major, and three digits each for the rest. What comes\n\
         \x20  before a release has the number of the release. */\n\
         #define FT_VERSION_NUMBER {}",
        env!("CARGO_PKG_VERSION"),
        major * 1_000_000 + minor * 1_000 + patch,
    )
}

fn generated() -> String {
    let root = crate_dir();
    let mut config =
        cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml is sound");
    let includes = config
        .after_includes
        .take()
        .expect("cbindgen.toml has after_includes");
    config.after_includes = Some(includes.replace("@VERSION@", &version_macros()));
    let mut builder = cbindgen::Builder::new().with_config(config);
    for name in ORDER {
        builder = builder.with_src(root.join(format!("src/capi/{name}.rs")));
    }
    let mut header = Vec::new();
    builder
        .generate()
        .expect("the C ABI can be written in C")
        .write(&mut header);
    for_c(&String::from_utf8(header).expect("the header is UTF-8"))
}

/// Changes that cbindgen does not make: constants are `uint32_t`, so their numbers are unsigned;
/// and backticks of Rust's doc comments have no meaning in C.
fn for_c(header: &str) -> String {
    let mut text = String::new();
    for line in header.lines() {
        let number = line.rsplit(' ').next().unwrap_or_default();
        let ours = line.starts_with("#define FT_") && !line.starts_with("#define FT_VERSION");
        text += &line.replace('`', "");
        if ours && number.parse::<u32>().is_ok() {
            text += "u";
        }
        text += "\n";
    }
    text
}

#[test]
fn the_committed_header_is_up_to_date() {
    let path = crate_dir().join("include/fairtree.h");
    let wanted = generated();
    if std::env::var_os("UPDATE_HEADER").is_some() {
        fs::write(&path, &wanted).expect("include/ is writable");
    }
    let found = fs::read_to_string(&path).expect("include/fairtree.h is there");
    assert!(
        found == wanted,
        "include/fairtree.h is stale: run UPDATE_HEADER=1 cargo test --test capi_header"
    );
}

#[test]
fn every_source_file_is_in_the_header() {
    for (name, text) in sources() {
        let exports = ["no_mangle", "pub const FT_", "#[repr(u32)]"];
        let exports = exports.iter().any(|mark| text.contains(mark));
        assert_eq!(
            exports,
            ORDER.contains(&name.as_str()),
            "src/capi/{name}.rs: add it to, or take it out of, ORDER"
        );
    }
}

#[test]
fn the_header_speaks_c_alone() {
    let header = generated();
    for rust in [
        "Option", "Result<", "::", "`", "[`", "# Safety", "Rust", "unsafe",
    ] {
        assert!(!header.contains(rust), "the header contains {rust:?}");
    }
    for function in exported_functions() {
        assert!(
            header.contains(&format!(" {}(", function.name))
                || header.contains(&format!("*{}(", function.name)),
            "{}",
            function.name
        );
    }
    let longest = header.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(100), "a line has {longest:?} characters");
}

#[test]
fn it_compiles_alone_and_twice_as_c_and_cpp() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let version = env!("CARGO_PKG_VERSION");
    let text = format!(
        "#include <fairtree.h>\n#include <fairtree.h>\n#include <assert.h>\n\
         static_assert(FT_OK == 0, \"success is 0\");\n\
         static_assert(FT_ERR_NULL < 0, \"errors are negative\");\n\
         static_assert(FT_VERSION_NUMBER == {}, \"composed from the parts\");\n\
         static_assert(sizeof FT_VERSION == sizeof \"{version}\", \"the version\");\n\
         static_assert(FT_NONE == UINT32_MAX && FT_SHARES_PARENT == 2147483647, \"numbers\");\n",
        capi_common::version_number(version),
    );
    for (compiler, standard, name) in [
        ("cc", "-std=c11", "alone.c"),
        ("cc", "-std=c17", "alone.c"),
        ("c++", "-std=c++17", "alone.cc"),
    ] {
        let source = dir.path().join(name);
        fs::write(&source, &text).expect("the folder is writable");
        run(std::process::Command::new(compiler)
            .arg(standard)
            .args(WARNINGS)
            .arg("-I")
            .arg(crate_dir().join("include"))
            .args(["-fsyntax-only"])
            .arg(&source));
    }
}
