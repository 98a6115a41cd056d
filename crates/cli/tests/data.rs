//! Real output of sshare. Expected: the printed numbers themselves, and what the collection's
//! README says must come out of them.

#[path = "../../../tests/common/mod.rs"]
mod common;

use std::process::Command;

use fairtree::compat::Compat;
use fairtree_analysis::share::{Figure, Fractions, ShareReport, check, from_listed, ranking_of};
use fairtree_model::input::sshare::{Listing, read};
use fairtree_model::listed::Listed;

const FOLDER: &str = "slurm/sshare";
const FILES: [&str; 8] = [
    "biocloud-2024-12-11.txt",
    "biocloud-2024-12-20.txt",
    "biocloud-2025-09-05.txt",
    "biocloud-2026-02-05.txt",
    "biocloud-2026-03-03.txt",
    "ilifu-accounts-levelfs.txt",
    "ilifu-cbio-shares.txt",
    "ilifu-users-levelfs.txt",
];

fn listing(name: &str) -> Option<Listing> {
    let text = common::data::data_text(&format!("{FOLDER}/{name}"))?;
    Some(read(name, text.as_bytes()).unwrap_or_else(|error| panic!("{}", error.explained())))
}

fn recomputed(listed: &Listed<'_>) -> ShareReport {
    from_listed(listed, Compat::Documented, None, Fractions::Computed)
}

#[test]
fn printed_numbers_agree_with_the_recomputed() {
    for name in FILES {
        let Some(listing) = listing(name) else { return };
        let ranking = ranking_of(&listing);
        let listed = Listed::new(&listing, ranking).expect("a tree");
        let agreement = check(&listed, &recomputed(&listed));
        assert_eq!(agreement.differences, [], "{name}");
    }
}

/// The rows that a file holds, without prompt, header, dashes and blanks at the end.
fn rows(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim_end);
    lines
        .filter(|line| !line.starts_with(['$', '-']) && !line.trim_start().starts_with("Account "))
        .collect()
}

#[test]
fn the_same_columns_print_the_same_text() {
    // Listings whose derived numbers are of the usage beside them (others: usage was charged
    // between the last pass and the listing).
    for (name, columns) in [
        (
            "biocloud-2026-03-03.txt",
            "A,User,RawShares,NormShares,RawUsage,Eff,Fairshare",
        ),
        (
            "ilifu-accounts-levelfs.txt",
            "Account,RawShares,RawUsage,LevelFS",
        ),
        ("ilifu-cbio-shares.txt", "Account,RawShares"),
        (
            "ilifu-users-levelfs.txt",
            "Account,User,RawUsage,FairShare,LevelFS",
        ),
    ] {
        let Some(path) = common::data::data(&format!("{FOLDER}/{name}")) else {
            return;
        };
        let output = Command::new(env!("CARGO_BIN_EXE_fairtree"))
            .args(["share", "-q", "-o", columns])
            .arg(&path)
            .output()
            .expect("the command starts");
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        let expected = std::fs::read_to_string(path).expect("text");
        assert_eq!(rows(&printed), rows(&expected), "{name}");
        assert!(output.status.success());
    }
}

#[test]
fn shares_follow_from_usage_and_level_fairshare() {
    // README: level fairshare = (1/n) / effective usage with 37 and 45 users, within 2e-4 where
    // usage is printed to four digits or more.
    let Some(listing) = listing("ilifu-users-levelfs.txt") else {
        return;
    };
    let ranking = ranking_of(&listing);
    let report = recomputed(&Listed::new(&listing, ranking).expect("a tree"));
    let mut compared = 0;
    for row in report.rows.iter().filter(|row| row.user.is_some()) {
        let users = match row.account.as_deref() {
            Some("b19-meerlicht-ag") => 37.0,
            _ => 45.0,
        };
        let (Figure::Computed(usage), Figure::Printed(level_fs)) =
            (row.effective_usage, row.level_fs)
        else {
            panic!("{}", row.name());
        };
        if row.raw_usage.is_some_and(|usage| usage >= 10_000) {
            assert!(
                (level_fs * usage * users - 1.0).abs() < 2e-4,
                "{}",
                row.name()
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 17);
}

#[test]
fn a_level_is_whole_where_nothing_contradicts_it() {
    let Some(listing) = listing("biocloud-2026-03-03.txt") else {
        return;
    };
    let ranking = ranking_of(&listing);
    let report = recomputed(&Listed::new(&listing, ranking).expect("a tree"));
    let figure = |account: &str| {
        let row = report
            .rows
            .iter()
            .find(|row| row.account.as_deref() == Some(account));
        row.expect("the account").norm_shares
    };
    assert_eq!(figure("kt"), Figure::Computed(1.0 / 3.0));
    // One share more than the rows have: the user root.
    assert_eq!(figure("ao"), Figure::Printed(0.006428));
    let why = |gap: &&fairtree_analysis::share::Gap| gap.why.contains("3111317 shares under root");
    assert!(report.gaps.iter().any(|gap| why(&gap)), "{:?}", report.gaps);
}
