//! `fairtree explain` from the outside; what it says is worked by hand from fair_tree.shtml.

#![cfg(feature = "cli")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fairtree"))
        .arg("explain")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that refuses its options does not read.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

fn stdout(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Physics 60 shares and 9000 TRES-seconds, chemistry 40 and 3000; alice is in both.
const SITE: &str = "
[accounts.physics]
shares = 60
users.alice = { shares = 1, usage = 8000 }
users.anna = { shares = 1, usage = 1000 }
[accounts.chemistry]
shares = 40
users.bob = { shares = 1, usage = 3000 }
users.alice = { shares = 0 }
";

// 60/(9000 - 4501) is above 40/3000, and so is 121/9000.
#[test]
fn a_site_in_sentences() {
    let text = stdout(&run(&["alice@physics", "--versus", "bob"], SITE));
    assert!(
        text.starts_with("alice@physics (fair-share factor 0.250000, rank 1 of 4) is behind bob@"),
        "{text}"
    );
    assert!(text.contains("had used 4501 TRES-seconds (1.3 TRES-hours) less than 8000"));
    assert!(text.contains("physics had 121 raw shares, not 60"));
}

#[test]
fn a_site_as_json() {
    let output = run(&["anna", "--versus", "bob", "--json", "-"], SITE);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(json["schema"], "fairtree.explain/1");
    let answer = &json["answer"];
    assert_eq!(answer["ahead"], "second");
    assert_eq!(answer["parting"]["members"][0]["name"], "physics");
    // At 4500 the accounts tie; anna (4.5) is then before bob (1.0, 1.0 of his level).
    assert_eq!(answer["remedies"][1]["answer"]["least"], 4500);
}

#[test]
fn a_listing_of_sshare() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sites/tie.sshare");
    let documented = stdout(&run(&["b1", "--versus", "a1", path], ""));
    assert!(
        documented.starts_with("b1@tb and a1@ta are equal"),
        "{documented}"
    );
    let stock = stdout(&run(
        &["b1", "--versus", "a1", path, "--compat", "slurm:22.05.8"],
        "",
    ));
    assert!(stock.contains("does not merge such accounts"), "{stock}");
}

#[test]
fn a_listing_that_lacks_rows() {
    let listing = "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare|LevelFS\n\
                   root|||0.000000|100|1.000000||\n \
                   a||1|0.500000|40|0.400000||1.250000\n  \
                   a|u|1|1.000000|40|1.000000|1.000000|1.000000\n";
    let output = run(&["u", "--versus", "u"], listing);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(message.contains("is not known"), "{message}");
    assert!(
        message.contains("hint: explain needs all associations"),
        "{message}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn names_that_do_not_fit() {
    for (who, message) in [
        ("alice", "alice stands 2 times in the tree; name one: "),
        (
            "carol",
            "found no user carol; allowed is USER, USER@ACCOUNT",
        ),
        ("physics", "physics is an account; allowed are users"),
        ("bob", "bob@chemistry cannot be compared with itself"),
    ] {
        let output = run(&[who, "--versus", "bob"], SITE);
        assert_eq!(output.status.code(), Some(2), "{who}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
    assert_eq!(run(&["alice"], SITE).status.code(), Some(2));
}
