//! The plugin's dynamic symbols: it has exactly the names that slurmctld looks up, and slurmctld or
//! libslurmfull has all symbols that the plugin needs.
//!
//! The expected names are those that the source tree's own `src/interfaces/priority.c` (before
//! 23.02: `src/common/slurm_priority.c`) looks up, and those that `src/common/plugin.c` requires of
//! every plugin; the test also lists them for the releases below. It needs binutils' `nm` and
//! `readelf`.
#![cfg(feature = "slurm")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../packaging/configured_source.rs"]
mod configured_source;
#[path = "../packaging/slurm_source.rs"]
#[allow(dead_code)] // its other half is tested without Slurm
mod slurm_source;

use configured_source::configured;
use slurm_source::{Interface, Release};

/// Names that src/common/plugin.c requires of every plugin.
const EVERY_PLUGIN: [&str; 5] = [
    "fini",
    "init",
    "plugin_name",
    "plugin_type",
    "plugin_version",
];

/// Names that every release requires of a priority plugin.
const EVERY_RELEASE: [&str; 5] = [
    "priority_p_get_priority_factors_list",
    "priority_p_job_end",
    "priority_p_reconfig",
    "priority_p_set",
    "priority_p_set_assoc_usage",
];

const CALC_FS_FACTOR: &str = "priority_p_calc_fs_factor";
const RECOVER: &str = "priority_p_recover";
const THREAD_START: &str = "priority_p_thread_start";

/// Further names by their first release, read from the sources of the first and the last release of
/// every series, and of the releases that change them.
const SINCE: [(u32, &[&str]); 4] = [
    (0x16_05_00, &[CALC_FS_FACTOR]),
    (0x17_02_00, &[CALC_FS_FACTOR, RECOVER]),
    (0x17_0b_06, &[CALC_FS_FACTOR, RECOVER, THREAD_START]),
    (0x19_0b_00, &[RECOVER, THREAD_START]),
];

/// The plugin that cargo has built next to this test.
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

fn source() -> PathBuf {
    let source = std::env::var_os("FAIRTREE_SLURM_SRC").expect("the build needed it");
    PathBuf::from(source)
}

/// `SLURM_VERSION_NUMBER` of the source tree.
fn release() -> u32 {
    let build = configured(&source()).expect("a configured source");
    let config = std::fs::read_to_string(build.join("config.h")).expect("config.h");
    let release = Release::of_config(&config);
    release.unwrap_or_else(|error| panic!("{error}")).0
}

fn interface() -> Interface {
    Interface::read(&source()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn exports_what_the_release_looks_up() {
    let mut expected = interface().functions;
    expected.extend(EVERY_PLUGIN.map(str::to_owned));
    assert_eq!(symbols(&plugin(), "--defined-only"), expected);
}

#[test]
fn looked_up_names_are_those_of_the_series() {
    let release = release();
    let since = SINCE.iter().rev().find(|(since, _)| release >= *since);
    let (_, more) = since.expect("no release before 22.05 is supported");
    let mut expected: BTreeSet<String> = EVERY_RELEASE.map(str::to_owned).into();
    expected.extend(more.iter().map(|&name| name.to_owned()));
    let found = interface();
    assert_eq!(found.functions, expected, "release {release:#x}");
    assert_eq!(
        found.factors_request,
        release < 0x18_05_00,
        "sprio's request"
    );
}

/// slurmctld and sshare compare it with their own number and refuse another.
#[test]
fn is_of_the_release_of_the_source() {
    assert_eq!(version_of(&plugin()), release());
}

/// The value of `plugin_version` in the file: nm gives its address, readelf gives the section that
/// holds it and the section's offset in the file.
fn version_of(file: &Path) -> u32 {
    let run = |program: &str, options: &[&str]| {
        let answer = Command::new(program).args(options).arg(file).output();
        String::from_utf8(answer.expect("binutils run").stdout).expect("ASCII")
    };
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("a hexadecimal number");
    let symbols = run("nm", &["-D", "--defined-only"]);
    let symbol = symbols
        .lines()
        .find(|line| line.ends_with(" plugin_version"));
    let address = hex(symbol
        .and_then(|line| line.split(' ').next())
        .expect("it is there"));
    let sections = run("readelf", &["--section-headers", "--wide"]);
    let at = sections
        .lines()
        .filter_map(|line| line.split_once(']'))
        .map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() > 4 && words[1] == "PROGBITS")
        .map(|words| (hex(words[2]), hex(words[3]), hex(words[4])))
        .find(|(start, _, size)| (*start..start + size).contains(&address))
        .map(|(start, offset, _)| offset + address - start)
        .expect("a section has it");
    let bytes = std::fs::read(file).expect("the plugin is readable");
    let at = usize::try_from(at).expect("an offset");
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// sshare has no functions of slurmctld: it could not load a plugin with immediate binding.
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

/// The installed slurmctld of this release and the folder of its library: in the folder
/// SLURM_PREFIX, or from Debian's packages, on this machine or below FAIRTREE_SLURM_ROOT.
fn installed() -> (PathBuf, PathBuf) {
    let prefix = std::env::var_os("SLURM_PREFIX").filter(|folder| !folder.is_empty());
    if let Some(prefix) = prefix.map(PathBuf::from) {
        let folders = ["lib64/slurm", "lib/slurm"].map(|folder| prefix.join(folder));
        let folder = folders.into_iter().find(|folder| folder.is_dir());
        let folder = folder.expect("SLURM_PREFIX has lib64/slurm or lib/slurm");
        return (prefix.join("sbin/slurmctld"), folder);
    }
    let root = std::env::var_os("FAIRTREE_SLURM_ROOT").unwrap_or_else(|| "/".into());
    let root = Path::new(&root);
    (
        root.join("usr/sbin/slurmctld-wlm"),
        root.join("usr/lib/x86_64-linux-gnu/slurm-wlm"),
    )
}

#[test]
fn imports_what_slurmctld_has() {
    let (slurmctld, folder) = installed();
    let stock = folder.join("priority_multifactor.so");
    if !slurmctld.exists() || !stock.exists() || version_of(&stock) != release() {
        eprintln!("no slurmctld of this release is installed: its symbols are not compared");
        return;
    }
    let mut known = symbols(&slurmctld, "--defined-only");
    known.extend(symbols(&folder.join("libslurmfull.so"), "--defined-only"));
    let missing: Vec<String> = symbols(&plugin(), "--undefined-only")
        .into_iter()
        .filter(|name| !known.contains(name))
        // Symbols of the C library have a version; the linker's own hooks may always be absent.
        .filter(|name| {
            !name.contains('@') && !name.starts_with("_ITM_") && name != "__gmon_start__"
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The hardening of Debian's own build of Slurm, visible in the code and in its imports.
/// `_FORTIFY_SOURCE` leaves no trace if each length is known: `c_shim/expect.c` checks for it.
#[test]
fn c_part_is_hardened() {
    let imports = symbols(&plugin(), "--undefined-only");
    let mut names = imports.iter();
    assert!(
        names.any(|name| name.starts_with("__stack_chk_fail")),
        "{imports:?}"
    );
    // Only C code has these: rustc does not mark targets of indirect jumps.
    let answer = Command::new("objdump").arg("-d").arg(plugin()).output();
    let code = String::from_utf8_lossy(&answer.expect("objdump runs").stdout).into_owned();
    assert!(code.contains("endbr64"), "-fcf-protection");
    let answer = Command::new("readelf")
        .args(["--wide", "--program-headers"])
        .arg(plugin())
        .output();
    let headers = String::from_utf8_lossy(&answer.expect("readelf runs").stdout).into_owned();
    let stack = headers
        .lines()
        .find(|line| line.contains("GNU_STACK"))
        .expect("a stack header");
    assert!(!stack.contains("RWE"), "{stack}");
    assert!(headers.contains("GNU_RELRO"), "{headers}");
}
