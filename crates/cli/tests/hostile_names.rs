//! What users write into names, comments and paths of jobs shows up in what scontrol and squeue
//! print, line breaks and all. It once stopped every command, and could pass for other jobs. Here
//! both print what Slurm 22.05.8 printed, and a few jobs more with such texts. Expected: what the
//! commands say of the same jobs with plain names.

#[path = "command/slurm.rs"]
mod slurm;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use slurm::{CLUSTER, checkout, commands, fairtree};

/// What users write.
fn texts() -> Vec<String> {
    let record = "JobId=302 JobName=wrap UserId=ft2-bob(1007) GroupId=g(1) MCS_label=N/A Priority=1 \
                  Nice=0 Account=physics QOS=normal JobState=RUNNING Reason=None Dependency=(null) \
                  RunTime=00:00:00 TimeLimit=1-00:00:00 TimeMin=N/A SubmitTime=2026-11-21T10:36:30 \
                  AccrueTime=2026-11-21T10:36:30 StartTime=2026-11-21T10:36:30 Partition=main \
                  NumNodes=1 NumCPUs=100000 TRES=cpu=100000 Power= ";
    vec![
        "x UserId=secret".into(),
        "secret\nb".into(),
        "secret\r\nb\n\n".into(),
        format!("secret\n{record}\nJobId=77777 JobName=y"),
        format!("secret {record}"),
        "secret|b|302|c\n302|secret".into(),
        "\u{1b}[31msecret\u{7}\u{0}\u{fffd}\u{2028}".replace('\0', ""),
        " ArrayJobId=301 ArrayTaskId=1-9 AllocTRES=cpu=9999 secret".into(),
        "secret".repeat(170),
        "No jobs in the secret\nJobId=".into(),
    ]
}

/// A record as recorded, with a stamp's place behind each time.
fn stamped(line: &str) -> String {
    let mut out = String::new();
    for word in line.split(' ') {
        let (_, value) = word.split_once('=').unwrap_or_default();
        let time = value.len() == 19 && value.as_bytes()[10] == b'T';
        out.push_str(word);
        out.push_str(if time { "@S@ " } else { " " });
    }
    out.pop();
    out.push('\n');
    out
}

/// Slurm's commands with the recorded jobs and those of `texts`, which wait for no partition of
/// sprio and are held.
fn cluster(folder: &Path, texts: &[String]) -> PathBuf {
    let read = |file: &str| fs::read_to_string(checkout().join(CLUSTER).join(file)).expect("text");
    let recorded = read("jobs.txt");
    let line = recorded.lines().next().expect("a job");
    let mut jobs = String::new();
    let mut names = String::new();
    for (at, text) in texts.iter().enumerate() {
        let id = 400 + 2 * at;
        names.push_str(&format!("{id}|1007|2026-11-21T10:36:30@S@|{text}\n"));
        names.push_str(&format!("{}|1007|2026-11-21T10:36:30@S@|b\n", id + 1));
        let held = |id: usize| {
            stamped(line)
                .replace("JobId=301 ", &format!("JobId={id} "))
                .replace("Priority=88687", "Priority=0")
        };
        jobs.push_str(&held(id).replace("JobName=wrap", &format!("JobName={text}")));
        let other = format!("WorkDir={text} Comment={text} ");
        let other = held(id + 1)
            .replace("JobName=wrap", "JobName=b")
            .replace("WorkDir=/ ", &other);
        jobs.push_str(&other);
    }
    recorded
        .lines()
        .for_each(|line| jobs.push_str(&stamped(line)));
    for line in read("names.txt").lines() {
        let (id, name) = line.split_once('|').expect("a name");
        let record = recorded
            .lines()
            .find(|line| line.starts_with(&format!("JobId={id} ")));
        let owner = record.and_then(|line| line.split('(').nth(1)?.split(')').next());
        let uid = owner.unwrap_or("0");
        names.push_str(&format!("{id}|{uid}|2026-11-21T10:36:30@S@|{name}\n"));
    }
    fs::write(folder.join("jobs"), jobs).expect("written");
    fs::write(folder.join("names"), names).expect("written");
    let show = |file: &str| {
        let path = folder.join(file);
        format!(
            "sed \"s/@S@/${{SLURM_TIME_FORMAT#%FT%T}}/g\" '{}'",
            path.display()
        )
    };
    let recorded = checkout().join(CLUSTER);
    let scontrol = format!(
        "case \"$*\" in *config) f=config;; *partition) f=partitions;; *node) f=nodes;; *job) {}; \
         exit;; *) exit 9;; esac\ncat '{}'/$f.txt",
        show("jobs"),
        recorded.display()
    );
    commands(
        folder,
        &[("scontrol", &scontrol), ("squeue", &show("names"))],
    )
}

/// Standard output of a command that succeeds.
fn said(args: &[&str], bin: &Path) -> String {
    let ran = fairtree(args, Some(bin), false);
    let err = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{args:?}: {err}");
    assert!(!err.contains("left out"), "{args:?}: {err}");
    String::from_utf8(ran.stdout).expect("UTF-8")
}

const ASKED: [&[&str]; 5] = [
    &["prio", "-l"],
    &["explain", "302"],
    &["explain", "301", "--versus", "303"],
    &["what-if", "--hold", "301", "--top", "0"],
    &["cost", "--job", "302"],
];

#[test]
fn one_name_hides_no_job_and_forges_none() {
    let alone = tempfile::tempdir().expect("a folder");
    let bin = cluster(alone.path(), &["plain".to_owned()]);
    let expected = ASKED.map(|args| said(args, &bin));
    for text in texts() {
        let folder = tempfile::tempdir().expect("a folder");
        let bin = cluster(folder.path(), std::slice::from_ref(&text));
        for (args, expected) in ASKED.iter().zip(&expected) {
            assert_eq!(&said(args, &bin), expected, "{args:?} with {text:?}");
        }
    }
}

#[test]
fn captures_are_as_the_live_site_and_anonymised_ones_tell_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = cluster(folder.path(), &texts());
    let expected = ASKED.map(|args| said(args, &bin));
    for anonymise in [false, true] {
        let to = folder.path().join(format!("captures-{anonymise}"));
        let to = to.to_str().expect("UTF-8");
        // What an interrupted one left.
        let left = Path::new(to).join(".20261121T100726Z.4194304");
        fs::create_dir_all(&left).expect("a folder");
        let args = ["capture", to, "--anonymise"];
        said(&args[..if anonymise { 3 } else { 2 }], &bin);
        for (args, expected) in ASKED.iter().zip(&expected) {
            let from = said(&[args, &["--from", to][..]].concat(), &bin);
            // Without captures of the timer the live site has no forecast.
            let from = from.split("\nStart ").next().expect("a part");
            if !anonymise {
                assert_eq!(from, expected, "{args:?}");
            }
        }
        let mut inside = fs::read_dir(to)
            .expect("a folder")
            .map(|e| e.expect("an entry").path());
        let capture = inside
            .find(|path| path.join("manifest.json").exists())
            .expect("a capture");
        assert!(!left.exists());
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&capture), 0o700);
        for file in fs::read_dir(capture).expect("a folder") {
            let path = file.expect("an entry").path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            let text = fs::read_to_string(&path).expect("text");
            let odd = text.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(odd, None, "{}", path.display());
            assert!(!anonymise || !text.contains("secret"), "{}", path.display());
        }
    }
}

/// A capture of before has the text as it was printed. What cannot be told is left out.
#[test]
fn a_capture_with_line_breaks_shows_the_other_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(checkout().join(CLUSTER)).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, folder.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    let add = |file: &str, text: &str| {
        let path = folder.path().join(file);
        let whole = fs::read_to_string(&path).expect("text") + text;
        fs::write(path, whole).expect("written");
    };
    let from = folder.path().to_str().expect("UTF-8");
    let bin = commands(folder.path(), &[]);
    let rows = |args: &[&str]| {
        let ran = fairtree(&[args, &["--from", from]].concat(), Some(&bin), false);
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{err}");
        (String::from_utf8(ran.stdout).expect("UTF-8"), err)
    };
    let line = fs::read_to_string(checkout().join(CLUSTER).join("jobs.txt")).expect("text");
    let line = line
        .lines()
        .next()
        .expect("a job")
        .replace("Priority=88687", "Priority=0");
    let forged = "a UserId=ft2-bob(1007) JobState=RUNNING NumCPUs=100000 \nJobId=77777 JobName=y";
    let real = line
        .replace("JobId=301 ", "JobId=400 ")
        .replace("JobName=wrap", &format!("JobName={forged}"));
    let before = rows(&["what-if", "--after", "1:00:00"]).0;
    add("jobs.txt", &format!("{real}\n"));
    add("names.txt", &format!("400|{forged}\n"));
    let (after, err) = rows(&["what-if", "--after", "1:00:00"]);
    assert_eq!(after, before);
    assert!(
        err.contains("JobId=77777") && err.contains("left out"),
        "{err}"
    );
}
