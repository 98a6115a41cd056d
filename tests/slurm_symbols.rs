//! The plugin's dynamic symbols: what slurmctld looks up by name is there and nothing else, and
//! what the plugin wants is in slurmctld or libslurmfull.
//!
//! The expected names are those that `src/common/slurm_priority.c` (22.05) and
//! `src/interfaces/priority.c` (24.11) of Slurm look up, with what `src/common/plugin.c` wants of
//! every plugin. Needs binutils' `nm` and `readelf`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const EVERY_RELEASE: [&str; 10] = [
    "fini",
    "init",
    "plugin_name",
    "plugin_type",
    "plugin_version",
    "priority_p_get_priority_factors_list",
    "priority_p_job_end",
    "priority_p_reconfig",
    "priority_p_set",
    "priority_p_set_assoc_usage",
];

/// The plugin that cargo has built beside this test.
fn plugin() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let plugin = test.with_file_name("libfairtree.so");
    assert!(plugin.is_file(), "{} is absent", plugin.display());
    plugin
}

/// Names in `nm -D` of a file.
fn symbols(file: &Path, option: &str) -> BTreeSet<String> {
    let answer = Command::new("nm").args(["-D", option]).arg(file).output();
    let answer = answer.expect("nm runs");
    assert!(answer.status.success(), "nm {}: {answer:?}", file.display());
    let text = String::from_utf8(answer.stdout).expect("names are ASCII");
    let name = |line: &str| line.split_whitespace().last().map(str::to_owned);
    text.lines().filter_map(name).collect()
}

/// The release that the source tree says it is, as one number.
fn release() -> u32 {
    let source = std::env::var_os("FAIRTREE_SLURM_SRC").expect("the build needed it");
    let config = std::fs::read_to_string(Path::new(&source).join("config.h")).expect("config.h");
    let number = config
        .lines()
        .find_map(|line| line.strip_prefix("#define SLURM_VERSION_NUMBER 0x"));
    u32::from_str_radix(number.expect("a version").trim(), 16).expect("a number")
}

#[test]
fn exports_what_the_release_looks_up() {
    let mut expected: BTreeSet<&str> = EVERY_RELEASE.into();
    match release() {
        0x16_05_08 => expected.extend(["priority_p_calc_fs_factor"]),
        0x18_0b_05 => expected.extend([
            "priority_p_calc_fs_factor",
            "priority_p_recover",
            "priority_p_thread_start",
        ]),
        other => panic!("add what release {other:#x} looks up"),
    }
    let found = symbols(&plugin(), "--defined-only");
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(found, expected);
}

/// sshare has none of slurmctld's functions: it could not load a plugin that is bound at once.
#[test]
fn is_bound_when_called() {
    let answer = Command::new("readelf").arg("-d").arg(plugin()).output();
    let text = String::from_utf8_lossy(&answer.expect("readelf runs").stdout).into_owned();
    assert!(
        !text.contains("BIND_NOW") && !text.contains("NOW"),
        "{text}"
    );
    assert!(
        !text.contains("libslurm"),
        "the host provides libslurmfull:\n{text}"
    );
}

/// On a machine with this release's packages.
#[test]
fn imports_what_slurmctld_has() {
    let slurmctld = Path::new("/usr/sbin/slurmctld");
    let library = Path::new("/usr/lib/x86_64-linux-gnu/slurm-wlm/libslurmfull.so");
    if !slurmctld.exists() || !library.exists() || release() != 0x16_05_08 {
        eprintln!("no slurmctld of this release is installed: its symbols are not compared");
        return;
    }
    let mut known = symbols(slurmctld, "--defined-only");
    known.extend(symbols(library, "--defined-only"));
    let missing: Vec<String> = symbols(&plugin(), "--undefined-only")
        .into_iter()
        .filter(|name| !known.contains(name))
        // The C library's have a version; the linker's own hooks may be absent anywhere.
        .filter(|name| {
            !name.contains('@') && !name.starts_with("_ITM_") && name != "__gmon_start__"
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
