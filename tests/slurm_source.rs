//! The build's view of a Slurm source tree: known and unknown releases, and the names that a
//! release looks up.
//!
//! The tables below were written for this test, in the form of `src/interfaces/priority.c`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[path = "../packaging/configured_source.rs"]
mod configured_source;
#[path = "../packaging/slurm_source.rs"]
mod slurm_source;

use configured_source::configured;
use slurm_source::{CFGS, Interface, Release, SERIES};

const TABLE: &str = "
static const char *syms[] = {
	\"priority_p_set\",
	\"priority_p_reconfig\",
	\"priority_p_set_assoc_usage\",
	\"priority_p_get_priority_factors_list\",
	\"priority_p_job_end\",
	\"priority_p_recover\",
};
static const char *other[] = { \"something\" };
";

fn config(number: &str) -> String {
    format!("#define SLURM_API_VERSION 1\n#define SLURM_VERSION_NUMBER {number}\n")
}

fn error_of<T>(result: Result<T, String>) -> String {
    result.err().expect("an error")
}

#[test]
fn every_micro_release_of_a_known_series_builds() {
    for (year, month) in SERIES {
        for micro in [0, 3, 99] {
            let number = year << 16 | month << 8 | micro;
            let release = Release::of_config(&config(&format!("{number:#08x}"))).unwrap();
            assert_eq!(release.0, number);
            assert_eq!(release.to_string(), format!("{year}.{month:02}.{micro}"));
            assert_eq!(release.warning(), None);
        }
    }
}

#[test]
fn a_later_series_builds_and_says_what_to_check() {
    for (number, name) in [("0x1a0b00", "26.11.0"), ("0x1b0502", "27.05.2")] {
        let release = Release::of_config(&config(number)).unwrap();
        let warning = release.warning().unwrap();
        for part in [
            name,
            "22.05",
            "26.05",
            "docs/releases.md",
            "src/interfaces/priority.c",
        ] {
            assert!(warning.contains(part), "{part} in: {warning}");
        }
        assert!(!warning.contains('\n'), "cargo takes one line");
    }
}

#[test]
fn an_unknown_earlier_series_is_refused() {
    for (number, name) in [("0x150808", "21.08.8"), ("0x170800", "23.08.0")] {
        let error = error_of(Release::of_config(&config(number)));
        for part in [name, "22.05", "26.05"] {
            assert!(error.contains(part), "{part} in: {error}");
        }
    }
    assert!(error_of(Release::of_config("")).contains("SLURM_VERSION_NUMBER"));
}

#[test]
fn what_is_looked_up_is_exported() {
    let interface = Interface::parse(TABLE).unwrap();
    assert_eq!(interface.functions.len(), 6);
    assert!(!interface.factors_request);
    assert_eq!(interface.cfgs().unwrap(), ["slurm_has_recover"]);

    let old = format!("{TABLE}\nstatic int list(priority_factors_request_msg_t *request);");
    let cfgs = Interface::parse(&old).unwrap().cfgs().unwrap();
    assert_eq!(cfgs, ["slurm_has_recover", "slurm_has_factors_request"]);
    assert!(cfgs.iter().all(|cfg| CFGS.contains(cfg)));
}

#[test]
fn names_that_the_plugin_does_not_have_end_the_build() {
    let more = TABLE.replace("priority_p_recover", "priority_p_new");
    let error = error_of(Interface::parse(&more).unwrap().cfgs());
    assert!(error.contains("priority_p_new"), "{error}");
    let fewer = TABLE.replace("\t\"priority_p_job_end\",\n", "");
    let error = error_of(Interface::parse(&fewer).unwrap().cfgs());
    assert!(error.contains("priority_p_job_end"), "{error}");
    assert!(Interface::parse("int main(void);").is_none());
}

#[test]
fn a_tree_without_the_interface_is_named() {
    let error = error_of(Interface::read(Path::new("no/such/tree")));
    assert!(error.contains("no/such/tree"), "{error}");
}

/// The C side has the same series, and the document lists them.
#[test]
fn all_lists_of_series_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = fs::read_to_string(folder.join("c_shim/release.h")).unwrap();
    let known: BTreeSet<(u32, u32)> = header
        .split("!HOST_IS_SERIES(")
        .skip(1)
        .filter_map(|rest| rest.split_once(')')?.0.split_once(", "))
        .map(|(year, month)| (year.parse().unwrap(), month.parse().unwrap()))
        .collect();
    assert_eq!(known, SERIES.into());
    let document = fs::read_to_string(folder.join("docs/releases.md")).unwrap();
    for (year, month) in SERIES {
        let row = format!("\n| {year}.{month:02} |");
        assert!(document.contains(&row), "docs/releases.md:{row}");
    }
}

fn configure(folder: &Path) {
    fs::create_dir_all(folder.join("slurm")).unwrap();
    for file in ["config.h", "slurm/slurm_version.h"] {
        fs::write(folder.join(file), "").unwrap();
    }
}

// SchedMD's debian/rules: dh --builddirectory, which is obj-<architecture>.
#[test]
fn a_tree_is_configured_in_itself_or_in_debhelpers_folder() {
    let tree = tempfile::tempdir().unwrap();
    let tree = tree.path();
    assert_eq!(configured(tree), None);
    fs::create_dir(tree.join("obj-a")).unwrap();
    fs::create_dir(tree.join("objects")).unwrap();
    configure(&tree.join("objects"));
    assert_eq!(configured(tree), None);
    for build in ["obj-c", "obj-b"] {
        configure(&tree.join(build));
        assert_eq!(configured(tree), Some(tree.join(build)));
    }
    configure(tree);
    assert_eq!(configured(tree), Some(tree.to_path_buf()));
}
