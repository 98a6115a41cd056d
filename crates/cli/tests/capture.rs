//! Captures from outside: made from commands that print what Slurm 22.05.8 printed
//! (`tests/captures`), and read again. Expected values: what sprio and sshare printed at the same
//! moment, and a dump of a real site's accounts.

#[path = "command/slurm.rs"]
mod slurm;

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

// One row of an account, one number, one setting: each changes the numbers of all users.
#[test]
fn a_damaged_capture_is_refused_by_every_report() {
    let folder = folder("damaged");
    let from = folder.display().to_string();
    let damaged = [
        ("sshare.txt", " science|", " sci|ence|", "sshare.txt:10:"),
        ("sshare.txt", "|1516|", "|15x6|", "sshare.txt:6:"),
        (
            "config.txt",
            "PriorityWeightAge       = 1000",
            "PriorityWeightAge = many",
            "config.txt:120",
        ),
        (
            "config.txt",
            "PriorityWeightFairShare",
            "PriorityWeightFareShare",
            "PriorityWeightFairShare is not there",
        ),
    ];
    for (file, whole, broken, said) in damaged {
        for entry in fs::read_dir(checkout().join(CLUSTER)).expect("a folder") {
            let path = entry.expect("an entry").path();
            fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("a copy");
        }
        let answer = text(file);
        assert!(answer.contains(whole), "{whole}");
        fs::write(folder.join(file), answer.replacen(whole, broken, 1)).expect("written");
        for command in [
            &["shares"][..],
            &["share"],
            &["explain", "301"],
            &["explain", "ft2-alice@physics"],
            &["prio"],
            &["metrics"],
            &["what-if", "--shares", "physics=3"],
            &["compare", CLUSTER, &from],
        ] {
            let args = match command[0] {
                "compare" => command.to_vec(),
                _ => [command, &["--from", &from]].concat(),
            };
            let ran = fairtree(&args, None, false);
            assert_eq!(ran.status.code(), Some(2), "{args:?}: {}", out(&ran));
            assert_eq!(out(&ran), "", "{args:?}");
            assert!(err(&ran).contains(said), "{args:?}: {said}: {}", err(&ran));
        }
    }
    // Jobs that are not there are not 0 jobs.
    fs::write(folder.join("config.txt"), text("config.txt")).expect("written");
    fs::write(folder.join("jobs.txt"), "").expect("written");
    let ran = fairtree(&["metrics", "--from", &from], None, false);
    assert_eq!(ran.status.code(), Some(2), "{}", out(&ran));
    assert!(
        err(&ran).contains("has no job, where squeue and sprio list some"),
        "{}",
        err(&ran)
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

// sshare(1): "only the user's own"; root has a row below root.
// A whole line less, so that each line that is left is right.
#[test]
fn a_file_of_another_size_than_the_manifest_names_is_refused() {
    let folder = folder("cut-at-a-line");
    let bin = commands(&folder, &[]);
    let captures = folder.join("captures");
    let ran = fairtree(
        &["capture", &captures.display().to_string()],
        Some(&bin),
        false,
    );
    assert!(ran.status.success(), "{}", err(&ran));
    let made = only(&captures);
    for (file, args) in [
        ("sshare.txt", &["share"][..]),
        ("sprio.txt", &["prio"]),
        ("jobs.txt", &["explain", "309"]),
        ("qos.txt", &["what-if", "--nice", "309=1"]),
    ] {
        let path = made.join(file);
        let whole = fs::read_to_string(&path).expect("text");
        let kept = whole.trim_end().rfind('\n').map_or(0, |at| at + 1);
        let longer = format!("{whole}\n");
        for (text, why) in [
            (&whole[..kept], "the file is cut off"),
            (&longer, "the file was changed"),
        ] {
            fs::write(&path, text).expect("written");
            let from = captures.display().to_string();
            let ran = fairtree(&[args, &["--from", &from]].concat(), None, false);
            assert_eq!(ran.status.code(), Some(2), "{file}");
            let says = format!(
                "{file}: has {} bytes, where manifest.json names {}",
                text.len(),
                whole.len()
            );
            let said = err(&ran);
            assert!(said.contains(&says) && said.contains(why), "{file}: {said}");
        }
        fs::write(&path, &whole).expect("written");
    }
    let from = captures.display().to_string();
    let ran = fairtree(&["share", "--from", &from], None, false);
    assert!(ran.status.success(), "{}", err(&ran));
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
        out(&ran).contains("\"algorithm\": \"difference\"")
            || out(&ran).contains("\"algorithm\":\"difference\"")
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
fn a_capture_without_slurmdbd_says_so() {
    let folder = folder("slurmdbd");
    let refused = "echo 'sacctmgr: error: Connection refused' >&2; exit 1";
    let bin = commands(&folder, &[("sacctmgr", refused)]);
    let target = folder.join("captures");
    let target = target.to_str().expect("UTF-8");
    let ran = fairtree(&["capture", target], Some(&bin), false);
    assert!(ran.status.success(), "{}", err(&ran));
    assert!(
        err(&ran).contains("slurmdbd cannot be reached"),
        "{}",
        err(&ran)
    );
    assert!(out(&ran).contains("no answer"), "{}", out(&ran));
    assert!(
        fairtree(&["share", "--check", "--from", target], None, false)
            .status
            .success()
    );
    // Priorities of QOS count at this site.
    let ran = fairtree(&["prio", "--from", target], None, false);
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        err(&ran).contains("the priorities of the QOS are not there"),
        "{}",
        err(&ran)
    );
}

#[test]
fn folders_without_captures_are_errors() {
    let folder = folder("none");
    let path = folder.to_str().expect("UTF-8");
    for args in [
        &["prio", "--from", path][..],
        &["share", "--from", path],
        &["capture", "--list", path],
        &["share", "--from", "no-such-folder"],
        &["prio", "--from", path, "tests/sprio/long.txt"],
    ] {
        let ran = fairtree(args, None, false);
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
    }
    fs::write(
        folder.join("manifest.json"),
        "{\"schema\": \"fairtree.capture/9\"}",
    )
    .expect("written");
    let ran = fairtree(&["share", "--from", path], None, false);
    assert!(err(&ran).contains("fairtree.capture/9"), "{}", err(&ran));
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

/// Answers of squeue and scontrol in a folder, with `@` where Slurm prints the rest of the form of
/// times, and what a capture keeps of them.
fn queue(folder: &Path, jobs: u32, comment: &str) -> [String; 2] {
    const TIME: &str = "2026-11-21T10:04:14";
    let (mut names, mut records) = (String::new(), String::new());
    for id in 1..=jobs {
        // Names as users choose them: blanks, keys, line breaks.
        let name = match id % 3 {
            0 => format!("a job {id}"),
            1 => format!("JobState=RUNNING {id}"),
            _ => format!("two\nJobId={id} lines"),
        };
        names += &format!("{id}|{id}|{TIME}@|{name}\n");
        records += &format!(
            "JobId={id} JobName={name} UserId=u({id}) GroupId=g(1) MCS_label=N/A Priority={id} Nice=0 \
             Account=physics QOS=normal JobState=PENDING Reason=Priority Dependency=(null) \
             TimeLimit=00:05:00 SubmitTime={TIME}@ EligibleTime={TIME}@ AccrueTime={TIME}@ \
             StartTime=Unknown Partition=main NumNodes=1-1 NumCPUs=1 TRES=cpu=1,node=1 \
             Socks/Node=* Command=/x WorkDir=/y Comment={comment} Power= \n"
        );
    }
    fs::write(folder.join("names.in"), &names).expect("written");
    fs::write(folder.join("jobs.in"), &records).expect("written");
    let line = |name: &str| name.replace("two\nJobId", "two?JobId");
    let names = line(&names.replace(&format!("|{TIME}@"), ""));
    let names = names.lines().map(|line| {
        let mut cells = line.splitn(3, '|');
        let (id, _) = (cells.next().expect("a number"), cells.next());
        format!("{id}|{}\n", cells.next().expect("a name"))
    });
    let records = line(&records)
        .replace('@', "")
        .replace(" MCS_label=N/A", "");
    [names.collect(), records]
}

/// Commands that print [`queue`].
fn printing(folder: &Path, after: &str) -> PathBuf {
    let recorded = checkout().join(CLUSTER);
    let (recorded, given) = (recorded.display(), folder.display());
    let stamped =
        |file: &str| format!("sed \"s/@/${{SLURM_TIME_FORMAT#%FT%T}}/g\" '{given}/{file}.in'");
    let scontrol = format!(
        "case \"$*\" in *config) f=config;; *partition) f=partitions;; *node) f=nodes;; \
         *job) {}; {after} exit;; *) exit 9;; esac\ncat '{recorded}'/$f.txt",
        stamped("jobs")
    );
    commands(
        folder,
        &[("scontrol", &scontrol), ("squeue", &stamped("names"))],
    )
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
fn files_hold_what_the_commands_printed() {
    let folder = folder("streamed");
    let [names, jobs] = queue(&folder, 500, "none");
    let bin = printing(&folder, "");
    let captures = folder.join("captures");
    let path = captures.to_str().expect("UTF-8");
    let ran = fairtree(&["capture", path], Some(&bin), false);
    assert!(ran.status.success(), "{}", err(&ran));
    assert_eq!(err(&ran), "", "no record is left out");
    let capture = only(&captures);
    let read = |file: &str| fs::read_to_string(capture.join(file)).expect("text");
    assert!(read("names.txt") == names, "{}", read("names.txt"));
    assert!(read("jobs.txt") == jobs, "{}", read("jobs.txt"));
    for file in [
        "config",
        "assocs",
        "qos",
        "partitions",
        "nodes",
        "sprio",
        "sshare",
    ] {
        let file = format!("{file}.txt");
        assert_eq!(read(&file), text(&file));
    }
    let bytes = format!("jobs.txt             500 lines {:>11} bytes", jobs.len());
    assert!(out(&ran).contains(&bytes), "{}", out(&ran));
    let mode = |path: &Path| fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
    assert_eq!(mode(&capture), 0o700);
    for entry in fs::read_dir(&capture).expect("a folder") {
        assert_eq!(mode(&entry.expect("an entry").path()), 0o600);
    }
}

#[test]
fn an_answer_that_breaks_off_is_told_and_no_capture() {
    let folder = folder("broken-off");
    queue(&folder, 20, "none");
    let captures = folder.join("captures");
    let path = captures.to_str().expect("UTF-8");
    let ran = fairtree(&["capture", path], Some(&printing(&folder, "")), false);
    assert!(ran.status.success(), "{}", err(&ran));
    let before = only(&captures);
    let jobs = fs::read(before.join("jobs.txt")).expect("a file");
    for (after, words) in [
        (
            "echo 'slurm_load_jobs error: Zero Bytes were transmitted' >&2; exit 1;",
            "Zero Bytes",
        ),
        ("kill -9 $$;", "signal: 9"),
        (
            "printf 'JobId=21 JobName=x UserId=u(21) Gro';",
            "ends within a line: the answer broke off",
        ),
    ] {
        let ran = fairtree(&["capture", path], Some(&printing(&folder, after)), false);
        assert_eq!(ran.status.code(), Some(2), "{after}");
        assert!(err(&ran).contains(words), "{}", err(&ran));
        assert_eq!(only(&captures), before);
        assert!(fs::read(before.join("jobs.txt")).expect("a file") == jobs);
    }
}

// An answer of 80 MB.
#[test]
fn of_a_long_answer_little_is_in_memory() {
    let folder = folder("memory");
    queue(&folder, 800, "#");
    // Not by this process: what it has itself counts for its children up to their beginning.
    let longer = format!("s/#/{}/", "x".repeat(100_000));
    fs::write(folder.join("longer.sed"), longer).expect("written");
    let mut sed = Command::new("sed");
    sed.arg("-i").arg("-f").arg(folder.join("longer.sed"));
    let made = sed.arg(folder.join("jobs.in")).status();
    assert!(made.expect("sed runs").success());
    let bin = printing(&folder, "");
    let rest = std::env::var("PATH").expect("a path");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fairtree"));
    command
        .args(["--quiet", "capture"])
        .arg(folder.join("captures"))
        .env("PATH", format!("{}:{rest}", bin.display()))
        .stdout(Stdio::null());
    let ran = command.spawn().and_then(|mut child| child.wait4());
    let ran = ran.expect("the command runs");
    assert!(ran.status.success());
    assert!(
        ran.rusage.maxrss < 60_000_000,
        "{} bytes",
        ran.rusage.maxrss
    );
    fs::remove_dir_all(&folder).expect("it can be removed");
}
