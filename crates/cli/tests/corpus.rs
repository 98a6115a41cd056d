//! The corpus of the coverage-guided tests (`fuzz/`), replayed without instrumentation: each input
//! that once reached new code or broke a target goes through that target again.
#![allow(
    unsafe_code,
    unused_attributes,
    unused_imports,
    unexpected_cfgs,
    missing_docs,
    clippy::duplicate_mod,
    clippy::undocumented_unsafe_blocks,
    reason = "the targets are crates of their own elsewhere"
)]

use std::path::Path;

// The targets name the macro by this path.
extern crate self as libfuzzer_sys;
// The files of the plugin that the target `state` reads name these modules by their paths.
use fairtree::usage;
#[path = "../../../fuzz/targets/state/slurm.rs"]
mod slurm;

/// A target as a function of bytes; libFuzzer takes input that is too short for a type as none.
#[macro_export]
macro_rules! fuzz_target {
    (|$bytes:ident: &[u8]| $body:block) => {
        pub fn run($bytes: &[u8]) $body
    };
    (|$input:ident: $type:ty| $body:block) => {
        pub fn run(bytes: &[u8]) {
            let bytes = arbitrary::Unstructured::new(bytes);
            if let Ok($input) = <$type as arbitrary::Arbitrary>::arbitrary_take_rest(bytes) $body
        }
    };
}

macro_rules! targets {
    ($($name:ident $file:literal)*) => {
        $(
            #[path = $file]
            mod $name;

            #[test]
            fn $name() {
                replay(stringify!($name), $name::run);
            }
        )*

        const TARGETS: &[&str] = &[$(stringify!($name)),*];
    };
}

targets! {
    capi "../../../fuzz/targets/capi.rs"
    capture "../../../fuzz/targets/capture.rs"
    conf "../../../fuzz/targets/conf.rs"
    input "../../../fuzz/targets/input.rs"
    jobs "../../../fuzz/targets/jobs.rs"
    ledger "../../../fuzz/targets/ledger.rs"
    policy "../../../fuzz/targets/policy.rs"
    queue "../../../fuzz/targets/queue.rs"
    report "../../../fuzz/targets/report.rs"
    state "../../../fuzz/targets/state.rs"
    window "../../../fuzz/targets/window.rs"
}

fn fuzz() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn replay(target: &str, run: fn(&[u8])) {
    let folder = fuzz().join("corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("a corpus") {
        let path = entry.expect("an entry").path();
        eprintln!("{}", path.display());
        run(&std::fs::read(&path).expect("a readable file"));
        count += 1;
    }
    assert!(count > 0, "{}: no input", folder.display());
}

#[test]
fn every_target_is_here() {
    let files = std::fs::read_dir(fuzz().join("targets")).expect("the targets");
    let mut names: Vec<String> = files
        .map(|entry| entry.expect("an entry").file_name())
        .filter_map(|name| Some(name.to_str()?.strip_suffix(".rs")?.to_owned()))
        .collect();
    names.sort();
    assert_eq!(names, TARGETS);
}
