//! Answers of Slurm's commands in the files of a capture.

use super::*;

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
