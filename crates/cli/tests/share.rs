//! `fairtree share` from outside. Expected values: hand calculation (`tests/golden/week-long.txt`,
//! the rows of `tests/sites`), stock slurmctld 22.05.8 (`tests/sites/tie.sshare`: FairShare as
//! priority/multifactor ranks that tree), and the manner of sshare 22.05.8.

mod command;

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use command::fairtree;

const WEEK: &str = "tests/sites/week.toml";
const TIE: &str = "tests/sites/tie.sshare";

#[test]
fn a_site_prints_as_sshare_would() {
    let ran = fairtree(&["share", "-l", WEEK], b"");
    assert_eq!(ran.out, include_str!("../../../tests/golden/week-long.txt"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn what_is_printed_reads_back_and_prints_the_same() {
    for form in [
        &["-l"][..],
        &["-l", "-P"],
        &["-p"],
        &["-P", "-m"],
        &["-o", "A%-40,User%20,RawS,RawU,Norm,Eff,Fair,Lev"],
    ] {
        let args = [&["share", WEEK][..], form].concat();
        let first = fairtree(&args, b"").out;
        let args = [&["share", "-q"][..], form].concat();
        let again = fairtree(&args, first.as_bytes());
        assert_eq!(again.out, first, "{form:?}\n{}", again.err);
        let checked = fairtree(&["share", "--check"], first.as_bytes());
        assert_eq!(checked.code, 0, "{form:?}\n{}{}", checked.out, checked.err);
    }
}

#[test]
fn options_choose_rows_columns_and_separators() {
    let rows = |args: &[&str]| fairtree(&[&["share", WEEK, "-n"][..], args].concat(), b"").out;
    assert_eq!(
        rows(&["-P", "-U", "-o", "Account,User,ID"]),
        "biology|carol|3\na-laboratory-with-a-long-name|dave.the.longest|5\n\
         a-laboratory-with-a-long-name|erin|6\nphysics|alice|8\nphysics|bob|9\n"
    );
    // The account above is not printed, so sshare starts at the margin.
    assert_eq!(
        rows(&["-p", "-A", "PHYSICS", "-u", "bob", "-o", "acc,user"]),
        "physics||\n physics|bob|\n"
    );
    let users =
        |args: &[&str]| rows(&[&["-U", "-P", "-o", "User", "-A", "physics"][..], args].concat());
    assert_eq!(users(&["-u", "bob,erin", "-u", "alice"]), "alice\nbob\n");
    assert_eq!(users(&["-u", "bob", "-a"]), "alice\nbob\n");
    assert_eq!(users(&["-u", "-1"]), "alice\nbob\n");
    assert_eq!(users(&["-a", "-u", "bob"]), "bob\n");
    assert_eq!(
        rows(&["-A", "root", "-o", "Cluster%-8,RawUsage%4"]),
        "alpha    120000080000 \n"
    );
    let long = fairtree(&["share", WEEK, "-A", "root", "-m", "-P"], b"").out;
    assert!(long.starts_with("Account|User|Partition|RawShares|NormShares|RawUsage|"));
    assert_eq!(
        fairtree(&["share", "-h", "-A", "root", "-o", "Account", WEEK], b"").out,
        "root                 \n"
    );
}

// NormS is the heading of NormShares alone, but 0.5 needs eight columns as 5.0e-01. sshare prints such
// columns, too.
#[test]
fn columns_that_cannot_be_read_back_have_a_note() {
    for (format, least) in [
        ("Account,NormShares%7", Some(8)),
        ("Account,RawShares%3", Some(4)),
        ("Account,RawShares%4", None),
        ("Account%1,User%1", None),
    ] {
        let ran = fairtree(&["share", "-o", format, WEEK], b"");
        let said = least.map(|least| format!("are cut below a width of {least}"));
        assert_eq!(ran.code, 0, "{format}: {}", ran.err);
        match said {
            Some(said) => assert!(ran.err.contains(&said), "{format}: {}", ran.err),
            None => assert!(!ran.err.contains("are cut below"), "{format}: {}", ran.err),
        }
        let ran = fairtree(&["share", "-P", "-o", format, WEEK], b"");
        assert!(!ran.err.contains("are cut below"), "{format}: {}", ran.err);
    }
}

#[test]
fn json_names_its_schema_and_what_was_not_computed() {
    let ran = fairtree(&["share", "--json", WEEK], b"");
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["schema"], "fairtree.share/1");
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 9);
    let of = |user: &str| {
        rows.iter()
            .find(|row| row["user"] == user)
            .expect("the row")
    };
    assert_eq!(of("erin")["level_fs"], 0.5);
    assert_eq!(of("carol")["level_fs"], "inf");
    assert_eq!(of("bob")["raw_shares"], "parent");
    assert_eq!(of("alice")["raw_usage"], 120_000_000_000_u64);
    let ran = fairtree(
        &["share", "--json"],
        b"Account|User|RawUsage|LevelFS\na|x|5|0.5\n",
    );
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["rows"][0]["level_fs"], 0.5);
    assert!(
        json["rows"][0]["not_computed"]
            .as_array()
            .expect("a list")
            .contains(&"level_fs".into())
    );
    assert!(
        json["gaps"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|gap| gap["column"] == "LevelFS")
    );
}

#[test]
fn ties_that_stock_gets_wrong_are_listed_by_name() {
    let ran = fairtree(&["share", "--check", TIE], b"");
    assert_eq!(ran.code, 1);
    for row in [
        "a2@ta: FairShare is 0.750000, computed 0.500000",
        "b1@tb: FairShare is 0.750000, computed 1.000000",
        "b2@tb: FairShare is 0.250000, computed 0.500000",
    ] {
        assert!(ran.out.contains(row), "{}", ran.out);
    }
    assert!(!ran.out.contains("a1@ta"));
    let ran = fairtree(&["share", "--check", "--compat", "slurm:22.05.8", TIE], b"");
    assert_eq!(ran.code, 0, "{}", ran.out);
    let ran = fairtree(
        &[
            "share",
            "-P",
            "-o",
            "User,FairShare",
            "-U",
            "-n",
            "tests/sites/tie.toml",
        ],
        b"",
    );
    assert_eq!(
        ran.out,
        "a1|1.000000\na2|0.500000\nb1|1.000000\nb2|0.500000\n"
    );
}

/// The example of a tie between used accounts that stock slurmctld 22.05.8 ranks so.
#[test]
fn ties_between_used_accounts_are_listed_by_name() {
    let listing = "\
Account|User|RawShares|RawUsage|FairShare
root|||2000000|
 a||1|1000000|
  a|a1|1|250000|1.000000
  a|a2|1|750000|0.750000
 b||1|1000000|
  b|b1|1|100000|0.750000
  b|b2|1|900000|0.250000
";
    let ran = fairtree(&["share", "--check"], listing.as_bytes());
    assert_eq!(ran.code, 1, "{}", ran.out);
    for row in [
        "a1@a: FairShare is 1.000000, computed 0.750000: a tie",
        "a2@a: FairShare is 0.750000, computed 0.500000: a tie",
        "b1@b: FairShare is 0.750000, computed 1.000000: a tie",
    ] {
        assert!(ran.out.contains(row), "{}", ran.out);
    }
}

#[test]
fn differences_beyond_the_cut_of_usage_are_found() {
    let listing = |level_fs: &str, first: &str, second: &str| {
        format!(
            "Account|User|RawShares|RawUsage|LevelFS|FairShare\nroot|||300||\n root|a|1|100|{level_fs}|{first}\n \
             root|b|1|200|0.750000|{second}\n"
        )
    };
    // 1/2 over 100/300; usage from 100 to 101 allows 1.485149 to 1.505.
    for (level_fs, first, second, code) in [
        ("1.500000", "1.000000", "0.500000", 0),
        ("1.486000", "1.000000", "0.500000", 0),
        ("1.600000", "1.000000", "0.500000", 1),
        ("1.500000", "0.500000", "1.000000", 1),
    ] {
        let ran = fairtree(
            &["share", "--check"],
            listing(level_fs, first, second).as_bytes(),
        );
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    }
}

#[test]
fn what_cannot_be_computed_is_said_and_left() {
    // Users are missing: 700 of the account's 1000, and FairShare counts more than one.
    let listing = "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n\
                   root|||0.000000|1000|1.000000|\n a||1|1.000000|1000|1.000000|\n  \
                   a|me|1|0.250000|300|0.300000|0.500000\n";
    let ran = fairtree(&["share", "-P"], listing.as_bytes());
    assert_eq!(ran.out, listing);
    assert_eq!(ran.code, 0);
    assert!(
        ran.err.contains("NormShares of me@a is not computed"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("add up to 300 of its RawUsage 1000"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("FairShare of me@a is not computed"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("EffectvUsage"), "{}", ran.err);
    let quiet = fairtree(&["share", "-P", "--quiet"], listing.as_bytes());
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), (listing, ""));
}

#[test]
fn classic_fair_share_is_recognised_and_recomputed() {
    // Hand calculation: un = 300/1000 and 700/1000, both below root, so U = un; S = 1/4 and 3/4;
    // F = 2^(-U/S) = 2^-1.2 and 2^(-14/15).
    let listing = "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n\
                   root|||1.000000|1000|1.000000|0.500000\n root|a|1|0.250000|300|0.300000|0.435275\n \
                   b||3|0.750000|700|0.700000|0.523647\n";
    let ran = fairtree(&["share", "-P"], listing.as_bytes());
    assert_eq!(ran.out, listing, "{}", ran.err);
    assert_eq!(fairtree(&["share", "--check"], listing.as_bytes()).code, 0);
    let ran = fairtree(&["share", "-P", "--dampening", "2"], listing.as_bytes());
    assert!(ran.out.contains("|0.659754\n"), "{}", ran.out);
}

#[test]
fn errors_end_with_two_and_show_the_place() {
    let ran = fairtree(&["share", "-"], b"[accounts.a]\nshares = -5\n");
    assert_eq!(ran.code, 2);
    assert_eq!(ran.out, "");
    assert_eq!(
        ran.err,
        "fairtree: error: standard input:2:10: shares \"-5\" is not allowed: allowed is a whole \
         number from 0 to 2147483646, or \"parent\"\n2 | shares = -5\n  |          ^\n"
    );
    for args in [
        &["share", "no-such-file"][..],
        &["share", "-o", "Bogus", WEEK],
        &["share", "--compat", "slurm:1", WEEK],
        &["share", "--check", WEEK],
        &["share", "--json", "-P", WEEK],
        &["share", "--input-format", "site", TIE],
        &["share", "--dampening", "0", WEEK],
        &["nonsense"],
    ] {
        let ran = fairtree(args, b"");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(!ran.err.is_empty(), "{args:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut text = String::from("[accounts.a.users]\n");
    for user in 0..20_000 {
        text.push_str(&format!("user{user} = {{}}\n"));
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_fairtree"))
        .args(["share", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("the command reads");
    drop(stdin);
    let mut first = [0; 100];
    child
        .stdout
        .take()
        .expect("a pipe")
        .read_exact(&mut first)
        .expect("a first piece");
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn help_version_and_columns() {
    let version = fairtree(&["--version"], b"").out;
    assert_eq!(
        version,
        concat!("fairtree ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let help = fairtree(&["share", "--help"], b"").out;
    for part in [
        "The input is the output of sshare",
        "Examples:",
        "Exit codes:",
        "--format",
        "sshare -a -l -P | fairtree share --check",
    ] {
        assert!(help.contains(part), "{part}");
    }
    assert!(!fairtree(&["--help"], b"").out.contains("generate"));
    let columns = fairtree(&["share", "--helpformat"], b"").out;
    assert!(columns.starts_with("Account           Cluster           EffectvUsage      FairShare"));
}

#[test]
fn color_is_asked_for_or_left_out() {
    let always = fairtree(&["share", "--color", "always", "no-such-file"], b"").err;
    assert!(always.starts_with("fairtree: \x1b["));
    let auto = fairtree(&["share", "no-such-file"], b"").err;
    assert!(!auto.contains('\x1b'));
}

#[test]
fn the_site_of_the_help_text_works() {
    let help = fairtree(&["share", "--help"], b"").out;
    let (_, after) = help.split_once("A site in TOML:\n").expect("the example");
    let (site, _) = after.split_once("\n\n").expect("its end");
    let ran = fairtree(
        &["share", "-n", "-P", "-U", "-o", "User,FairShare"],
        site.as_bytes(),
    );
    assert_eq!(ran.out, "alice|0.500000\nbob|1.000000\n", "{}", ran.err);
}
