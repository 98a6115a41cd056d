//! `fairtree lint` from outside. Expected values: the corpus in `crates/lint/tests`, whose files name
//! their findings.

#[allow(clippy::duplicate_mod)] // Other files of a test program use it, too.
#[path = "../../../tests/common/checkout.rs"]
mod checkout;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use checkout::checkout;

fn lint(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fairtree"))
        .arg("lint")
        .args(args)
        .current_dir(checkout())
        .output()
        .expect("the command starts")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[test]
fn a_finding_is_exit_code_1_on_standard_output() {
    let ran = lint(&["crates/lint/tests/bad/max-age-in-minutes.conf"]);
    let text = out(&ran);
    let place = "crates/lint/tests/bad/max-age-in-minutes.conf:5:16: warning[max-age-minutes]: ";
    assert!(text.starts_with(place), "{text}");
    assert_eq!((ran.status.code(), err(&ran).as_str()), (Some(1), ""));
}

#[test]
fn nothing_found_is_exit_code_0() {
    let ran = lint(&["crates/lint/tests/good/plain-fair-tree.conf"]);
    assert_eq!(out(&ran), "0 errors, 0 warnings, 0 notes\n");
    assert_eq!(ran.status.code(), Some(0));
}

#[test]
fn notes_alone_are_exit_code_0() {
    let ran = lint(&["crates/lint/tests/bad/no-limits.conf"]);
    assert!(
        out(&ran).ends_with("0 errors, 0 warnings, 1 note\n"),
        "{}",
        out(&ran)
    );
    assert_eq!(ran.status.code(), Some(0));
}

#[test]
fn a_file_that_is_not_a_slurm_conf_is_exit_code_1() {
    let ran = lint(&["/etc/passwd"]);
    assert!(
        out(&ran).contains("/etc/passwd:1:1: error[line-unparsed]"),
        "{}",
        out(&ran)
    );
    assert_eq!(ran.status.code(), Some(1));
}

// The file is there and names a date of the next century.
#[test]
fn the_policy_and_the_clock_are_asked() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cli_lint_policy");
    fs::create_dir_all(&folder).expect("a folder");
    let policy = folder.join("policy.toml");
    let conf = folder.join("slurm.conf");
    let text = format!(
        "PriorityType=priority/fairtree\nPriorityParameters=policy={}\n",
        policy.display()
    );
    fs::write(&conf, text).expect("written");
    let check = || lint(&[conf.to_str().expect("UTF-8")]);
    let _ = fs::remove_file(&policy);
    assert!(out(&check()).contains("slurm.conf:2:20: error[policy-unread]"));
    fs::write(&policy, "usage = 'total:2126-01-01'\n").expect("written");
    assert!(out(&check()).contains("slurm.conf:2:20: warning[total-in-future]"));
    fs::write(&policy, "counts = ['COMPLETED']\n").expect("written");
    let ran = check();
    assert!(out(&ran).contains("PriorityParameters counts does not take \"COMPLETED\""));
    assert_eq!(ran.status.code(), Some(1));
}

#[test]
fn options_reach_the_rules() {
    let file = "crates/lint/tests/bad/reset-now.conf";
    assert_eq!(lint(&["--allow", "reset-now", file]).status.code(), Some(0));
    let ran = lint(&["--users", "1001", "--allow", "reset-now", "--json", file]);
    let json: serde_json::Value = serde_json::from_str(&out(&ran)).expect("JSON");
    assert_eq!(json["schema"], "fairtree.lint/1");
    assert_eq!(json["findings"][0]["rule"], "fairshare-weight-below-users");
    let file = "crates/lint/tests/bad/flags-cancel-max-tres.conf";
    for release in ["22.05.8", "24.11", "24.11.6-0rc1"] {
        let ran = lint(&["--release", release, file]);
        assert!(out(&ran).contains("[flag-of-later-release]"), "{release}");
    }
}

#[test]
fn what_cannot_be_read_is_exit_code_2() {
    for (args, message) in [
        (&["absent.conf"][..], "absent.conf"),
        (
            &["--allow", "reset-nov", "absent.conf"],
            "did you mean reset-now?",
        ),
        (&["--release", "now", "absent.conf"], "24.11.5"),
        (&[], "--help"),
    ] {
        let ran = lint(args);
        assert_eq!(
            (ran.status.code(), out(&ran).as_str()),
            (Some(2), ""),
            "{args:?}"
        );
        assert!(err(&ran).contains(message), "{args:?}: {}", err(&ran));
    }
}

#[test]
fn included_files_are_found_beside_the_file() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cli_lint");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(
        folder.join("slurm.conf"),
        "ClusterName=A\ninclude %c.conf\ninclude gone.conf\n",
    )
    .expect("written");
    fs::write(folder.join("a.conf"), "PriorityUsageResetPeriod=now\n").expect("written");
    let ran = lint(&[folder.join("slurm.conf").to_str().expect("UTF-8")]);
    let text = out(&ran);
    assert!(text.contains("a.conf:1:26: warning[reset-now]"), "{text}");
    assert!(
        text.contains("slurm.conf:3:9: error[include-unread]"),
        "{text}"
    );
}

#[test]
fn rules_are_listed_with_their_source() {
    let ran = lint(&["--rules"]);
    assert!(out(&ran).contains("max-age-minutes (warning)\n"));
    assert!(out(&ran).contains("source: slurm.conf(5), \"PriorityMaxAge\""));
    assert_eq!(ran.status.code(), Some(0));
}
