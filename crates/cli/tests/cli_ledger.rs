//! `fairtree ledger` from outside. Expected values: hand calculation, and a naive model that adds up
//! run by run.

mod command;
#[path = "cli_ledger/from_sacct.rs"]
mod from_sacct;
#[path = "command/slurm.rs"]
mod slurm;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use command::{Ran, fairtree, folder};
use fairtree::usage::window::{Columns, LeafKey, OWN_FILE, UsageHistory};
use serde_json::Value;

const OWN: &str = "priority_fairtree_history-own";
const GPU: &str = "priority_fairtree_history-cluster-gpu";

/// 2024-11-20 00:00 UTC, by date(1).
const DAY: i64 = 1_732_060_800;
const HOUR: i64 = 3600;

/// A record with billing 2: moments as seconds since 1970; `end` 0: it runs.
fn record(
    cluster: &str,
    job: u32,
    user: &str,
    state: &str,
    start: i64,
    end: i64,
    secs: i64,
) -> String {
    let end = match end {
        0 => "Unknown".to_owned(),
        end => end.to_string(),
    };
    format!(
        "{cluster}|{job}|phys|{user}|{state}|12:0|{start}|{start}|{end}|{secs}|00:00:00|60|billing=2,cpu=4\n"
    )
}

fn ledger(dir: &Path, args: &[&str], input: &str) -> Ran {
    let dir = dir.display().to_string();
    let place = ["--dir", &dir, "--cluster", "hpc"];
    fairtree(&[&["ledger"], args, &place].concat(), input.as_bytes())
}

fn well(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out
}

/// `fill` or `sync` from standard input, since [`DAY`].
fn from_text(dir: &Path, action: &str, text: &str) -> String {
    well(ledger(
        dir,
        &[action, "--since", "2024-11-20", "--from", "-"],
        text,
    ))
}

fn json(dir: &Path) -> Value {
    let text = well(ledger(dir, &["show", "--json", "--now", "2024-11-22"], ""));
    serde_json::from_str(&text).expect("JSON")
}

/// Billing TRES times seconds per file.
fn sums(dir: &Path) -> BTreeMap<String, u64> {
    let json = json(dir);
    let files = json["files"].as_array().expect("files").iter();
    let sum = |file: &Value| {
        let name = file["file"].as_str().expect("a name").to_owned();
        (
            name,
            file["billing_secs"].as_f64().expect("a number") as u64,
        )
    };
    files.map(sum).collect()
}

/// The plugin's file: cluster hpc, covered from and to these hours of the day.
fn plugin(dir: &Path, covered: &[(i64, i64)]) {
    let last = covered.last().expect("a time").1;
    let columns = Columns::default();
    let as_of = DAY + last * HOUR;
    let mut history = UsageHistory::new("hpc", 3600, columns, &[], as_of).expect("a ledger");
    for (from, to) in covered {
        let (from, to) = (DAY + from * HOUR, DAY + to * HOUR);
        history.cover(from, to).expect("covered");
    }
    fs::write(dir.join(OWN_FILE), history.save()).expect("written");
}

/// Of the own cluster what ended outside of the covered times, clipped to these; of the other one all,
/// what runs no longer than its limit of an hour.
#[test]
fn each_second_counts_once_in_any_order() {
    let at = |hour: i64| DAY + hour * HOUR;
    let text = [
        record("hpc", 1, "ann", "COMPLETED", at(1), at(3), 2 * HOUR),
        // Over the beginning of the covered time: the plugin saw it.
        record("hpc", 2, "ann", "COMPLETED", at(5), at(8), 3 * HOUR),
        // Over its end, and ended in the gap: of it what is behind.
        record("hpc", 3, "bob", "FAILED", at(9), at(12), 3 * HOUR),
        record("hpc", 4, "bob", "RUNNING", at(11), 0, 4 * HOUR),
        // After the plugin's last pass.
        record("hpc", 5, "ann", "COMPLETED", at(14), at(15), HOUR),
        record("gpu", 1, "ann", "COMPLETED", at(2), at(4), 2 * HOUR),
        record("gpu", 2, "cyd", "RUNNING", at(12), 0, 3 * HOUR),
    ]
    .concat();
    let orders: [&[&str]; 5] = [
        &["fill", "sync"],
        &["sync", "fill"],
        &["fill", "sync", "fill"],
        &["sync", "fill", "fill", "sync"],
        &["fill", "fill", "sync", "sync"],
    ];
    let mut files = None;
    for (nth, order) in orders.into_iter().enumerate() {
        let dir = folder(&format!("ledger-order-{nth}"));
        plugin(&dir, &[(6, 10), (13, 14)]);
        for action in order {
            from_text(&dir, action, &text);
        }
        // Job 1 two hours; of job 3 the two hours behind 10 o'clock.
        let sums = sums(&dir);
        let hour = 2 * HOUR as u64;
        assert_eq!((sums[OWN], sums[GPU]), (4 * hour, 3 * hour), "{order:?}");
        let read = |name: &str| fs::read(dir.join(name)).expect("a file");
        let found = (read(OWN), read(GPU));
        assert_eq!(
            *files.get_or_insert_with(|| found.clone()),
            found,
            "{order:?}"
        );
        let checked = ledger(&dir, &["check", "--files"], "");
        assert_eq!(
            (checked.code, checked.out.as_str()),
            (0, "Nothing is wrong.\n")
        );
    }
}

#[test]
fn all_times_are_told_with_who_covers_them() {
    let dir = folder("ledger-times");
    plugin(&dir, &[(6, 10), (13, 14)]);
    let text = record("gpu", 1, "ann", "COMPLETED", DAY, DAY + HOUR, HOUR);
    from_text(
        &dir,
        "fill",
        &record("hpc", 1, "ann", "COMPLETED", DAY, DAY + 20 * HOUR, HOUR),
    );
    from_text(&dir, "sync", &text);
    let json = json(&dir);
    let times = json["times"].as_array().expect("times").iter();
    let hour = |time: &Value| (time.as_i64().expect("a time") - DAY) / HOUR;
    let times: Vec<_> = times
        .map(|time| {
            let by = time["by"].as_str().map(str::to_owned);
            let cluster = time["cluster"].as_str().expect("a name").to_owned();
            (cluster, hour(&time["from"]), hour(&time["to"]), by)
        })
        .collect();
    let of = |cluster: &str, from, to, by: Option<&str>| {
        (cluster.to_owned(), from, to, by.map(str::to_owned))
    };
    let expected = [
        of("gpu", 0, 1, Some(GPU)),
        of("gpu", 1, 48, None),
        of("hpc", 0, 6, Some(OWN)),
        of("hpc", 6, 10, Some(OWN_FILE)),
        of("hpc", 10, 13, Some(OWN)),
        of("hpc", 13, 14, Some(OWN_FILE)),
        of("hpc", 14, 48, None),
    ];
    assert_eq!(times, expected);
    let source = &json["files"][1]["sources"][0];
    assert_eq!(source["cluster"], "hpc");
    let text = well(ledger(&dir, &["show", "--now", "2024-11-22"], ""));
    assert!(text.contains("1-10:00:00"), "{text}");
    assert!(text.contains("nobody"), "{text}");
}

#[test]
fn the_policy_says_which_ends_count() {
    let dir = folder("ledger-counts");
    let policy = dir.join("policy.toml");
    fs::write(
        &policy,
        "usage = 'window:7-0'\ncounts = ['COMPLETED', 'FAILED:12']\n",
    )
    .expect("written");
    let policy = policy.display().to_string();
    let text = [
        record("hpc", 1, "ann", "COMPLETED", DAY, DAY + 10, 10),
        record("hpc", 2, "ann", "FAILED", DAY, DAY + 100, 100),
        record("hpc", 3, "ann", "CANCELLED by 7", DAY, DAY + 1000, 1000),
    ]
    .concat();
    let args = [
        "fill",
        "--since",
        "2024-11-20",
        "--policy",
        &policy,
        "--from",
        "-",
    ];
    let out = well(ledger(&dir, &args, &text));
    assert!(
        out.ends_with(": 2 runs of 1 leaf; 1 more do not count\n"),
        "{out}"
    );
    assert_eq!(sums(&dir)[OWN], 220);
}

#[test]
fn broken_records_are_told_and_the_others_count() {
    let dir = folder("ledger-broken");
    let good = record("hpc", 1, "ann", "COMPLETED", DAY, DAY + 10, 10);
    let broken = record("hpc", 2, "ann", "COMPLETED", DAY, DAY - 10, 10);
    let text = format!("{good}{broken}half a line\n{}", good.replace("|1|", "|3|"));
    let args = ["fill", "--since", "2024-11-20", "--from", "-"];
    let ran = ledger(&dir, &args, &text);
    assert!(ran.err.contains("standard input:2: end "), "{}", ran.err);
    assert!(ran.err.contains("standard input:3: 1 cells"), "{}", ran.err);
    well(ran);
    assert_eq!(sums(&dir)[OWN], 40);
}

#[test]
fn what_is_wrong_with_files_is_found() {
    let dir = folder("ledger-wrong");
    let text = [
        record("hpc", 1, "ann", "COMPLETED", DAY, DAY + HOUR, HOUR),
        record("gpu", 1, "ann", "COMPLETED", DAY, DAY + HOUR, HOUR),
    ]
    .concat();
    from_text(&dir, "fill", &text);
    from_text(&dir, "sync", &text);
    let found = |args: &[&str], input: &str, words: &str| {
        let ran = ledger(&dir, &[&["check"], args].concat(), input);
        assert!(
            ran.code == 1 && ran.out.contains(words),
            "{words}: {}{}",
            ran.out,
            ran.err
        );
    };
    // The sums of sacct: a run more.
    let more = format!(
        "{text}{}",
        record("hpc", 2, "bob", "COMPLETED", DAY, DAY + 60, 60)
    );
    found(
        &["--from", "-"],
        &more,
        "differ from those of sacct by 120 of 7320",
    );
    let same = ledger(&dir, &["check", "--from", "-", "--json"], &text);
    let same: Value = serde_json::from_str(&well(same)).expect("JSON");
    assert_eq!(
        (&same["sums"][0]["ledger_secs"], &same["sums"][0]["differ"]),
        (&7200.0.into(), &0.into())
    );
    // A bit that has changed.
    let file = dir.join(GPU);
    let whole = fs::read(&file).expect("a file");
    let mut damaged = whole.clone();
    damaged[20] ^= 1;
    fs::write(&file, &damaged).expect("written");
    found(&["--files"], "", "checksum");
    // Another format.
    damaged = whole.clone();
    damaged[8] = 9;
    fs::write(&file, &damaged).expect("written");
    found(&["--files"], "", "format 9");
    // The wrong cluster.
    fs::write(dir.join("priority_fairtree_history-cluster-other"), &whole).expect("written");
    fs::write(&file, &whole).expect("written");
    found(
        &["--files"],
        "",
        "holds use of cluster \"gpu\"; allowed is \"other\" alone",
    );
    found(&["--files"], "", "counts twice");
    // Both of the plugin and filled in.
    plugin(&dir, &[(0, 2)]);
    found(
        &["--files"],
        "",
        "as priority_fairtree_ledger does: that counts twice",
    );
    found(&["--files", "--now", "2024-11-20"], "", "s to come");
    // Which `fill` repairs.
    from_text(&dir, "fill", &text);
    fs::remove_file(dir.join("priority_fairtree_history-cluster-other")).expect("removed");
    well(ledger(&dir, &["check", "--files"], ""));
}

/// A file that this user may not read is not a damaged one. Root may read all: there the command runs
/// as another user, as a copy that this one may execute.
#[test]
fn files_that_may_not_be_read_are_told_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    plugin(dir, &[(0, 1)]);
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    };
    mode(dir, 0o755);
    mode(&dir.join(OWN_FILE), 0);
    let program = dir.join("fairtree");
    // By another process: one that a test beside this one starts meanwhile would hold the file open for
    // writing, and it could not be run.
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_fairtree"))
        .arg(&program)
        .status();
    assert!(copied.expect("cp runs").success());
    let is_root = fs::metadata(dir).expect("a folder").uid() == 0;
    let ran = |args: &[&str]| {
        let mut command = Command::new(&program);
        command.arg("ledger").args(args).arg("--dir").arg(dir);
        command.args(["--cluster", "hpc"]).stdin(Stdio::null());
        if is_root {
            command.uid(65534).gid(65534);
        }
        let ran = command.output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        assert_eq!(ran.status.code(), Some(2));
        (text(ran.stdout), text(ran.stderr))
    };
    let (_, why) = ran(&["fill", "--since", "2024-11-20", "--from", "-"]);
    assert!(why.contains("Permission denied"), "{why}");
    assert!(why.contains("run this as root or as the owner"), "{why}");
    assert!(!why.contains("damaged"), "{why}");
    let (table, why) = ran(&["show"]);
    assert!(table.contains("priority_fairtree_ledger"), "{table}");
    assert!(why.contains("1 of 1 files cannot be read"), "{why}");
}

/// A site of which scripts answer: `sacct` prints a file, and what it was asked goes into another.
struct Site {
    bin: PathBuf,
    dir: PathBuf,
    records: PathBuf,
    asked: PathBuf,
    clusters: PathBuf,
}

impl Site {
    fn new(name: &str) -> Site {
        let folder = folder(name);
        let dir = folder.join("state");
        fs::create_dir(&dir).expect("a folder");
        let (records, asked) = (folder.join("records"), folder.join("asked"));
        let clusters = folder.join("clusters");
        let config = format!(
            "StateSaveLocation = {}\nClusterName = hpc\nPriorityParameters = \
             usage=window:2-0,scope=all_clusters",
            dir.display()
        );
        let sacct = format!(
            "echo \"$*\" >> '{}'; exec cat '{}'",
            asked.display(),
            records.display()
        );
        let bin = slurm::commands(
            &folder,
            &[
                ("scontrol", &format!("echo '{config}'")),
                ("sacctmgr", &format!("exec cat '{}'", clusters.display())),
                ("sshare", &sacct),
            ],
        );
        fs::rename(bin.join("sshare"), bin.join("sacct")).expect("renamed");
        fs::write(&clusters, "hpc|10.0.0.1\ngpu|10.0.0.2\n").expect("written");
        Site {
            bin,
            dir,
            records,
            asked,
            clusters,
        }
    }

    fn run(&self, action: &str) -> (i32, String, String) {
        let ran = slurm::fairtree(&["ledger", action], Some(&self.bin), false);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            ran.status.code().expect("no signal"),
            text(&ran.stdout),
            text(&ran.stderr),
        )
    }

    fn history(&self, name: &str) -> UsageHistory {
        let bytes = fs::read(self.dir.join(name)).expect("a file");
        UsageHistory::load(&bytes).expect("a ledger")
    }

    /// Billing TRES times seconds of a user.
    fn used(&self, name: &str, user: &str) -> f64 {
        let history = self.history(name);
        let leaf = LeafKey::new("phys", user, "").expect("a name");
        let column = fairtree::usage::window::Column::Billing;
        let used = history.used(&leaf, 0, now() / HOUR * HOUR + HOUR, column);
        used.expect("a time").to_f64()
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_secs() as i64
}
