//! Captures from outside: made from commands that print what Slurm 22.05.8 printed
//! (`tests/captures`), and read again. Expected values: what sprio and sshare printed at the same
//! moment, and a dump of a real site's accounts.

#[path = "command/slurm.rs"]
mod slurm;

#[path = "capture/answers.rs"]
mod answers;
#[path = "capture/damage.rs"]
mod damage;

#[path = "../../../tests/common/mod.rs"]
mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use wait4::Wait4 as _;

use slurm::{CLUSTER, checkout, commands, fairtree, link_tools};

/// A folder of this test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("capture-{name}"));
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("it can be emptied");
    }
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn text(file: &str) -> String {
    fs::read_to_string(checkout().join(CLUSTER).join(file)).expect("text")
}

/// The one capture in a folder.
fn only(captures: &Path) -> PathBuf {
    let entries = fs::read_dir(captures).expect("a folder");
    let mut entries: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.remove(0)
}

#[test]
fn priorities_computed_from_a_capture_are_those_that_sprio_printed() {
    for (file, form) in [
        ("sprio-l.txt", &["-l"][..]),
        ("sprio-nl.txt", &["-n", "-l"]),
        ("sprio-default.txt", &[]),
        ("sprio-w.txt", &["-w"]),
    ] {
        let args = [&["prio", "-q", "--from", CLUSTER][..], form].concat();
        let ran = fairtree(&args, None, false);
        assert_eq!(out(&ran), text(file), "{file}: {}", err(&ran));
        assert!(ran.status.success());
    }
    let ran = fairtree(&["prio", "--check", "--from", CLUSTER], None, false);
    assert_eq!(
        out(&ran),
        "compared 182 numbers of 20 rows: 0 differences\n"
    );
    assert_eq!(ran.status.code(), Some(0));
}

// Usage decays there: RawUsage is cut off after the point, slurmctld knows the fractions.
#[test]
fn an_anonymised_capture_of_24_11_prints_as_sshare_and_sprio_did() {
    const NEWER: &str = "tests/captures/cluster-24.11.5";
    for (file, form) in [
        ("sprio-l.txt", &["prio", "-l"][..]),
        ("sprio-nl.txt", &["prio", "-n", "-l"]),
        ("sprio-default.txt", &["prio"]),
        ("sprio-w.txt", &["prio", "-w"]),
        ("sshare-al.txt", &["share", "-a", "-l"]),
    ] {
        let ran = fairtree(&[form, &["-q", "--from", NEWER]].concat(), None, false);
        let expected = fs::read_to_string(checkout().join(NEWER).join(file)).expect("text");
        assert_eq!(out(&ran), expected, "{file}: {}", err(&ran));
    }
    for form in ["prio", "share"] {
        let ran = fairtree(&[form, "-q", "--check", "--from", NEWER], None, false);
        assert!(ran.status.success(), "{}{}", out(&ran), err(&ran));
    }
}

#[test]
fn a_number_that_slurm_would_not_compute_is_found() {
    let folder = folder("differences");
    for entry in fs::read_dir(checkout().join(CLUSTER)).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("a copy");
    }
    let edited = text("sprio.txt").replacen("|0.8750000|", "|0.7500000|", 1);
    fs::write(folder.join("sprio.txt"), edited).expect("written");
    let from = folder.display().to_string();
    let ran = fairtree(&["prio", "--check", "--from", &from], None, false);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        out(&ran).contains("FAIRSHARE is 0.7500000, computed 0.8750000"),
        "{}",
        out(&ran)
    );
}

#[test]
fn shares_of_a_capture_agree() {
    let ran = fairtree(&["share", "--check", "--from", CLUSTER], None, false);
    assert!(
        out(&ran).ends_with("8 FairShare: 0 differences\n"),
        "{}",
        out(&ran)
    );
    // Names and FairShare, which do not depend on the fractions that RawUsage lacks.
    let names = |text: &str| -> Vec<Vec<String>> {
        let rows = text.lines().skip(2).filter(|line| line.contains("ft2-"));
        let picked = |line: &str| line.split_whitespace().take(5).map(str::to_owned).collect();
        rows.map(picked).collect()
    };
    let ran = fairtree(&["share", "-q", "-l", "--from", CLUSTER], None, false);
    assert_eq!(names(&out(&ran)), names(&text("sshare-al.txt")));
}

#[test]
fn a_capture_is_added_listed_and_read() {
    let folder = folder("added");
    let bin = commands(&folder, &[]);
    let week = folder.join("week");
    let week = week.to_str().expect("UTF-8");
    for _ in 0..2 {
        let ran = fairtree(&["capture", week], Some(&bin), false);
        assert!(ran.status.success(), "{}", err(&ran));
        assert!(
            out(&ran).contains("cluster fairtree, Slurm 22.05.8"),
            "{}",
            out(&ran)
        );
        assert!(out(&ran).contains("  sshare.txt "), "{}", out(&ran));
    }
    let listed = out(&fairtree(&["capture", "--list", week], None, false));
    assert_eq!(listed.matches("cluster fairtree").count(), 2, "{listed}");
    let ran = fairtree(&["prio", "-q", "-l", "--from", week], None, false);
    assert_eq!(out(&ran), text("sprio-l.txt"), "{}", err(&ran));
    // Nothing unfinished stays behind.
    let hidden = fs::read_dir(week).expect("a folder").filter(|entry| {
        let name = entry.as_ref().expect("an entry").file_name();
        name.to_string_lossy().starts_with('.')
    });
    assert_eq!(hidden.count(), 0);
}

#[test]
fn unless_told_otherwise_shares_are_those_of_whoever_asked() {
    let folder = folder("own");
    let bin = commands(&folder, &[]);
    let target = folder.join("captures");
    let target = target.to_str().expect("UTF-8");
    let ran = fairtree(&["capture", target], Some(&bin), false);
    assert!(ran.status.success(), "{}", err(&ran));
    let who = Command::new("id").arg("-un").output().expect("id");
    let who = out(&who).trim().to_owned();
    let users = |args: &[&str], bin: Option<&Path>| -> Vec<String> {
        let ran = fairtree(
            &[&["share", "-q", "-n", "-P", "-o", "User"], args].concat(),
            bin,
            false,
        );
        assert!(ran.status.success(), "{}", err(&ran));
        let shown = out(&ran);
        let users = shown.lines().filter(|user| !user.is_empty());
        users.map(str::to_owned).collect()
    };
    for (from, bin) in [(&["--from", target][..], None), (&[], Some(bin.as_path()))] {
        assert!(users(from, bin).iter().all(|user| *user == who));
        assert!(users(&[from, &["-a"]].concat(), bin).len() > 3);
        assert_eq!(
            users(&[from, &["-u", "ft2-bob"]].concat(), bin)[0],
            "ft2-bob"
        );
    }
}

#[test]
fn without_file_and_pipe_slurm_is_asked() {
    let folder = folder("live");
    let bin = commands(&folder, &[]);
    let ran = fairtree(&["prio", "-q", "-l"], Some(&bin), false);
    assert_eq!(out(&ran), text("sprio-l.txt"), "{}", err(&ran));
    let ran = fairtree(&["share", "--check"], Some(&bin), false);
    assert!(ran.status.success(), "{}", err(&ran));
}

#[test]
fn a_capture_explains_users_too() {
    let args = [
        "explain",
        "ft2-bob@physics",
        "--versus",
        "ft2-frank",
        "--from",
        CLUSTER,
    ];
    let ran = fairtree(&args, None, false);
    assert!(ran.status.success(), "{}", err(&ran));
    // sshare printed 0.875000 and 0.250000 for them.
    assert!(
        out(&ran).contains("0.875") && out(&ran).contains("0.25"),
        "{}",
        out(&ran)
    );
}

#[test]
fn pseudonyms_hide_names_and_change_no_number() {
    let folder = folder("anonymised");
    let bin = commands(&folder, &[]);
    let bundle = folder.join("bundle");
    let path = bundle.to_str().expect("UTF-8");
    let mut shown = Vec::new();
    for _ in 0..2 {
        let ran = fairtree(&["capture", "--anonymise", path], Some(&bin), false);
        assert!(ran.status.success(), "{}", err(&ran));
        assert!(err(&ran).contains("do not pass it on"), "{}", err(&ran));
        let ran = fairtree(&["prio", "-q", "-l", "--from", path], None, false);
        shown.push(out(&ran));
        let ran = fairtree(&["prio", "-q", "--check", "--from", path], None, false);
        assert_eq!(
            out(&ran),
            "compared 182 numbers of 20 rows: 0 differences\n"
        );
    }
    assert_eq!(shown[0], shown[1], "the same pseudonyms again");
    let table = folder.join("bundle-pseudonyms.json");
    let beside = [table.clone()];
    let within = fs::read_dir(&bundle).expect("a folder");
    let within: Vec<PathBuf> = within
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(within.iter().all(|path| path.is_dir()), "{within:?}");
    assert!(
        fs::read_to_string(&table)
            .expect("a table")
            .contains("physics")
    );
    for capture in within.into_iter().chain(beside) {
        if capture.is_file() {
            let mode = fs::metadata(&capture)
                .expect("metadata")
                .permissions()
                .mode();
            assert_eq!(mode & 0o077, 0, "who is who is for the owner only");
            continue;
        }
        for file in fs::read_dir(capture).expect("a folder") {
            let file = file.expect("an entry").path();
            let text = fs::read_to_string(&file).expect("text");
            for name in ["ft2-", "physics", "genomics", "wrap", "a job", "/tmp"] {
                assert!(!text.contains(name), "{name} in {}", file.display());
            }
        }
    }
}

#[test]
fn old_captures_go_and_the_newest_stay() {
    let folder = folder("keep");
    let bin = commands(&folder, &[]);
    let week = folder.join("week");
    let path = week.to_str().expect("UTF-8");
    let count = || fs::read_dir(&week).expect("a folder").count();
    for (keep, left) in [
        (None, 1),
        (None, 2),
        (Some("2"), 2),
        (Some("30d"), 3),
        (Some("1"), 1),
    ] {
        let mut args = vec!["capture", path];
        args.extend(keep.into_iter().flat_map(|keep| ["--keep", keep]));
        let ran = fairtree(&args, Some(&bin), false);
        assert!(ran.status.success(), "{}", err(&ran));
        assert_eq!(count(), left, "{keep:?}");
    }
    // One of 40 days ago.
    let only = fs::read_dir(&week).expect("a folder").next();
    let only = only.expect("a capture").expect("an entry").path();
    let old = week.join("20200101T000000Z");
    fs::rename(&only, &old).expect("renamed");
    let manifest = fs::read_to_string(old.join("manifest.json")).expect("text");
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    manifest["time"] = (manifest["time"].as_u64().expect("a time") - 40 * 86_400).into();
    fs::write(old.join("manifest.json"), manifest.to_string()).expect("written");
    let ran = fairtree(&["capture", "--keep", "30d", path], Some(&bin), false);
    assert!(ran.status.success(), "{}", err(&ran));
    assert_eq!(count(), 1);
    assert!(!old.exists());
    let ran = fairtree(&["capture", "--keep", "0", path], Some(&bin), false);
    assert_eq!(ran.status.code(), Some(2));
}

/// FairShare of all rows, in their order.
fn factors(args: &[&str]) -> Vec<String> {
    let command = ["share", "-q", "-a", "-n", "-P", "-o", "FairShare"];
    let ran = fairtree(&[&command, args].concat(), None, false);
    assert!(ran.status.success(), "{}", err(&ran));
    out(&ran).lines().map(str::to_owned).collect()
}

#[test]
fn a_capture_has_the_policy_of_the_site() {
    let folder = folder("policy");
    let policy = folder.join("fairtree.toml");
    let text = "ranking = 'difference'\n[accounts.physics]\nplan = 'window:28-0' # Mr. Smith's\n\
                [accounts.Genomics]\nplan = 'window:14-0'\n";
    let policy = policy.display().to_string();
    let recorded = checkout().join(CLUSTER).display().to_string();
    let scontrol = format!(
        "case \"$*\" in *config) f=config;; *partition) f=partitions;; *node) f=nodes;; \
         *job) f=jobs;; esac\n\
         sed -e 's|^PriorityParameters.*|PriorityParameters = policy={policy}|' \
         -e 's|^PriorityType .*|PriorityType = priority/fairtree|' '{recorded}'/$f.txt"
    );
    let bin = commands(&folder, &[("scontrol", &scontrol)]);
    let [plain, anonymous, without] = ["plain", "anonymous", "without"].map(|name| {
        let target = folder.join(name);
        target.display().to_string()
    });
    let ran = fairtree(&["capture", &without], Some(&bin), false);
    assert!(ran.status.success(), "{}", err(&ran));
    let told = format!("{policy}: No such file or directory");
    assert!(err(&ran).contains(&told), "{}", err(&ran));

    fs::write(&policy, text).expect("written");
    for args in [
        &["capture", &plain][..],
        &["capture", "--anonymise", &anonymous],
    ] {
        let ran = fairtree(args, Some(&bin), false);
        assert!(ran.status.success(), "{}", err(&ran));
        assert!(out(&ran).contains("policy.toml"), "{}", out(&ran));
    }
    let named = factors(&["--from", &without, "--policy", &policy]);
    let [of_plain, of_anonymous, of_none] =
        [&plain, &anonymous, &without].map(|from| factors(&["--from", from]));
    assert_eq!(of_plain, named);
    assert_eq!(of_anonymous, named);
    assert_ne!(of_none, named, "the policy changes factors");
    let drawn = |args: &[&str]| {
        let command = ["chart", "-q", "--format", "json"];
        let ran = fairtree(&[&command, args].concat(), None, false);
        assert!(ran.status.success(), "{}", err(&ran));
        out(&ran).contains("\"ranking\": \"difference\"")
            || out(&ran).contains("\"ranking\":\"difference\"")
    };
    assert!(drawn(&["--from", &plain]));
    assert!(drawn(&["--from", &without, "--policy", &policy]));
    assert!(!drawn(&["--from", &without]));
    let kept = |from: &str| {
        let capture = fs::read_dir(from).expect("a folder").find_map(|entry| {
            let path = entry.expect("an entry").path();
            path.is_dir().then_some(path)
        });
        let file = capture.expect("a capture").join("policy.toml");
        let mode = fs::metadata(&file).expect("metadata").permissions().mode();
        assert_eq!(mode & 0o077, 0, "for the owner only");
        fs::read_to_string(file).expect("text")
    };
    assert_eq!(kept(&plain), text);
    let kept = kept(&anonymous).to_lowercase();
    for name in ["physics", "genomics", "smith"] {
        assert!(!kept.contains(name), "{kept}");
    }
}

#[test]
fn each_way_to_fail_is_told() {
    let down = "echo 'slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)' >&2; exit 1";
    let denied = "echo 'sprio: error: Access/permission denied' >&2; exit 1";
    for (name, instead, words) in [
        ("down", ("scontrol", down), "slurmctld cannot be reached"),
        ("denied", ("sprio", denied), "not permitted"),
        (
            "slow",
            ("sshare", "exec sleep 1000"),
            "no answer within 1 seconds",
        ),
        (
            "other",
            ("sshare", "echo boom >&2; exit 3"),
            "exit status: 3: boom",
        ),
        ("odd", ("sprio", "echo surprise"), "unexpected output"),
        ("missing", ("sprio", ""), "sprio is not installed"),
    ] {
        let folder = folder(name);
        let bin = commands(&folder, &[instead]);
        let alone = name == "missing";
        if alone {
            link_tools(&bin);
        }
        let target = folder.join("captures");
        let target = target.to_str().expect("UTF-8");
        let ran = fairtree(&["capture", "--time-limit", "1", target], Some(&bin), alone);
        assert_eq!(ran.status.code(), Some(2), "{name}");
        assert!(err(&ran).contains(words), "{name}: {}", err(&ran));
        assert_eq!(out(&ran), "", "{name}");
        assert_eq!(
            fs::read_dir(target).expect("a folder").count(),
            0,
            "{name}: no half capture"
        );
    }
}

#[test]
fn the_examples_of_the_help_text_work() {
    let folder = folder("help");
    let bin = commands(&folder, &[]);
    let help = out(&fairtree(&["capture", "--help"], None, false));
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    let mut count = 0;
    for line in examples
        .lines()
        .map_while(|line| line.trim().strip_prefix("fairtree "))
    {
        let command = line.split("   ").next().expect("a command");
        let in_folder = |word: &str| match word {
            "week" | "bundle" => folder.join(word).display().to_string(),
            _ => word.to_owned(),
        };
        let args: Vec<String> = command.split_whitespace().map(in_folder).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = fairtree(&args, Some(&bin), false);
        assert_eq!(ran.status.code(), Some(0), "{line}: {}", err(&ran));
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn a_dump_of_real_accounts_is_a_site() {
    let Some(path) = common::data::data("slurm/ubhpc/sacctmgr-dump-22.05.8.cfg") else {
        return;
    };
    let path = path.to_str().expect("UTF-8");
    let ran = fairtree(
        &["share", "-n", "-P", "-o", "Account,User,RawShares", path],
        None,
        false,
    );
    let shown = out(&ran);
    assert!(ran.status.success(), "{}", err(&ran));
    // The collection's README: 62 accounts, 95 users with parent's shares, an administrator.
    let users = |line: &&str| line.split('|').nth(1).is_some_and(|user| !user.is_empty());
    let parents = shown
        .lines()
        .filter(|line| line.ends_with("|parent"))
        .count();
    assert!(parents >= 95, "{parents}");
    let accounts = shown.lines().filter(|line| !users(line)).count();
    assert_eq!(accounts, 63, "with root");
    // What sacctmgr shows of the same site.
    let table =
        common::data::data_text("slurm/ubhpc/sacctmgr-show-assoc-22.05.8.txt").expect("data");
    assert_eq!(shown.lines().count(), table.lines().count() - 1);
}
