//! Logs of jobs, from outside. Expected: the counts and the traps that the collection's README
//! tells; sums that awk makes of the same columns; `tests/workloads/sacct-24.11.5.txt` and
//! `tests/sshare-json` are of a private cluster of Slurm 24.11.5, the text and the JSON of one
//! moment.

mod command;
#[path = "../../../tests/common/mod.rs"]
mod common;

use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};

use command::{checkout, fairtree};
use fairtree_model::input::stream;
use fairtree_model::input::workload::{JobUse, Summary};
use fairtree_model::input::{InputError, sacct, swf};

/// Jobs, TRES-seconds without decay, and the messages of the reader.
fn swf_of(path: &str) -> Option<(f64, Summary)> {
    let file = std::fs::File::open(common::data::data(path)?).expect("the log");
    let opened = stream::open(file).expect("a stream");
    let mut seconds = 0.0;
    let mut each = |job: &JobUse<'_>| seconds += job.billing * (job.end - job.start) as f64;
    let summary = swf::read(path, opened.input, &mut each).unwrap_or_else(|e| panic!("{e}"));
    Some((seconds, summary))
}

/// The same of a listing of sacct.
fn sacct_of(path: &str, options: sacct::Options) -> Option<Result<(f64, Summary), InputError>> {
    let file = std::fs::File::open(common::data::data(path)?).expect("the log");
    let opened = stream::open(file).expect("a stream");
    let mut seconds = 0.0;
    let mut each = |job: &JobUse<'_>| seconds += job.billing * (job.end - job.start) as f64;
    let read = sacct::read(path, opened.input, options, &mut each);
    Some(read.map(|summary| (seconds, summary)))
}

#[test]
fn archived_logs_are_read_whole() {
    // Jobs and seconds by awk: '!/^;/ && NF {p = $5 > 0 ? $5 : $8; if ($4 > 0 && p > 0) {n++; s += $4*p}}'.
    for (name, jobs, idle, seconds) in [
        ("KTH-SP2-1996-2.1-cln", 28_467, 9, 2_016_591_520.0),
        ("HPC2N-2002-2.1-cln", 202_876, 0, 15_775_324_598.0),
        (
            "LLNL-Thunder-2007-1.1-cln",
            113_613,
            7_426,
            44_985_495_280.0,
        ),
    ] {
        let Some((found, summary)) = swf_of(&format!("swf/{name}.swf.gz")) else {
            return;
        };
        assert_eq!((summary.jobs, summary.idle), (jobs, idle), "{name}");
        assert_eq!(found, seconds, "{name}");
    }
}

const POZIDRIV: &str = "JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,GID,User,UID,Submit,\
    Eligible,Start,End,Elapsed,ExitCode,State,NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,\
    Timelimit,NodeList,JobName";

#[test]
fn listings_of_sacct_with_traps() {
    let named = |columns| sacct::Options {
        columns,
        cluster: None,
    };
    let read = |name: &str, columns| sacct_of(&format!("slurm/sacct/{name}"), named(columns));
    let Some(pozidriv) = read("xdmod-pozidriv.sacct.gz", Some(POZIDRIV)) else {
        return;
    };
    let (_, summary) = pozidriv.unwrap_or_else(|e| panic!("{}", e.explained()));
    assert_eq!(summary.jobs + summary.idle, 11_704);
    assert_eq!(summary.machine.as_deref(), Some("pozidriv"));
    // Five jobs of 2 processors for 56 seconds; bars in names, in a constraint, in a comment.
    let (seconds, summary) = read("ubccr-sacct_dump2110.txt", None).unwrap().unwrap();
    assert_eq!((seconds, summary.jobs), (560.0, 5));
    let (_, summary) = read("ubccr-sacct_simple.txt", None).unwrap().unwrap();
    assert_eq!((summary.jobs, summary.idle), (4, 0));
    // Its last line is half of a record.
    let (_, summary) = read("ubccr-sacct_dump2101.txt", None).unwrap().unwrap();
    assert_eq!(summary.unreadable, 1, "{summary:?}");
    let told = summary.notes.iter().any(|note| note.contains(".txt:16: "));
    assert!(told, "{summary:?}");
    let several = "slurm/sacct/ubccr-sacct_submitline_multiline.txt";
    let error = sacct_of(several, named(None)).unwrap().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("two clusters, cluster001 and ub-hpc"),
        "{error}"
    );
    let one = sacct::Options {
        columns: None,
        cluster: Some("cluster001"),
    };
    let (_, summary) = sacct_of(several, one).unwrap().unwrap();
    assert!(summary.jobs >= 5, "{summary:?}");
    let (_, summary) = sacct_of("slurm/micro/sacct-real-run.txt", named(None))
        .unwrap()
        .unwrap();
    assert_eq!(summary.jobs + summary.idle, 500);
}

#[test]
fn a_log_prints_as_the_site_at_its_end() {
    let args = ["share", "-n", "-P", "-U", "-o", "Account,User,RawUsage"];
    let ran = fairtree(
        &[&args[..], &["tests/workloads/sacct-24.11.5.txt"]].concat(),
        b"",
    );
    // Two processors for 61 seconds, which a half-life of a week leaves nearly whole.
    let expected = "biology|ft-carol|121\ngenomics|ft-alice|121\nphysics|ft-bob|121\n";
    assert_eq!(ran.out, expected, "{}", ran.err);
    assert!(ran.err.contains("every user is given one"), "{}", ran.err);
}

#[test]
fn json_of_sshare_reads_as_its_text() {
    for form in [&["-l", "-P", "-m"][..], &["-a"], &["--json"]] {
        let of = |file: &str| {
            let ran = fairtree(&[&["share", "-q", file][..], form].concat(), b"");
            assert_eq!(ran.code, 0, "{}", ran.err);
            let lines = ran.out.lines().map(str::to_owned);
            // JSON tells id and cluster, too, and the whole of a number.
            lines
                .filter(|l| {
                    !["source", "\"id\"", "\"cluster\"", "grp_tres"]
                        .iter()
                        .any(|w| l.contains(w))
                })
                .collect::<Vec<_>>()
        };
        let (json, text) = (
            "tests/sshare-json/24.11.5.json.gz",
            "tests/sshare-json/24.11.5.txt",
        );
        assert_eq!(of(json), of(text), "{form:?}");
    }
    let ran = fairtree(
        &["share", "--check", "tests/sshare-json/24.11.5.json.gz"],
        b"",
    );
    assert_eq!(ran.code, 0, "{}", ran.out);
    let (json, text) = (
        "tests/sshare-json/24.11.5.json.gz",
        "tests/sshare-json/24.11.5.txt",
    );
    let compared = fairtree(&["compare", json, text], b"");
    assert_eq!(
        (compared.code, compared.out.as_str()),
        (0, "nothing changed\n")
    );
    assert!(
        ran.out.ends_with("10 FairShare: 0 differences\n"),
        "{}",
        ran.out
    );
}

/// Feeds `lines` to the command, which may map no more than `limit` KiB of memory.
fn within(limit: u32, head: &str, lines: u32, line: impl Fn(u32) -> String) -> (i32, String) {
    let script = format!("ulimit -v {limit}; exec \"$0\" share -q -n -P -A root -o RawUsage");
    let mut child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_fairtree")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut pipe = BufWriter::new(child.stdin.take().expect("a pipe"));
    pipe.write_all(head.as_bytes()).expect("the pipe takes it");
    for number in 0..lines {
        if pipe.write_all(line(number).as_bytes()).is_err() {
            break; // What the command says then is what counts.
        }
    }
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    let said = [output.stdout, output.stderr].concat();
    let code = output.status.code().expect("no signal");
    (code, String::from_utf8(said).expect("UTF-8"))
}

/// What a log needs does not grow with its length: 120 megabytes pass through 100 of address space.
#[test]
fn long_logs_stream() {
    const LINES: u32 = 60_000;
    let padding = " ".repeat(2000);
    let (code, said) = within(100_000, "; UnixStartTime: 0\n", LINES, |n| {
        format!(
            "{n} {n} 0 1 1 -1 -1 1 -1 -1 1 {} 1{padding} -1 -1 -1 -1 -1\n",
            n % 50
        )
    });
    assert_eq!(code, 0, "{said}");
    let usage: f64 = said
        .lines()
        .next()
        .expect("a line")
        .parse()
        .expect("a number");
    // Of a second's use of one processor at each of 60,000 seconds, with a half-life of a week:
    // the integral, at the end of the last step.
    let half_life = 604_800.0_f64;
    let (rate, all) = (half_life / std::f64::consts::LN_2, f64::from(LINES));
    let least = rate * (1.0 - (-all / half_life).exp2()) * (-512.0 / half_life).exp2();
    let most = rate * (1.0 - (-all / half_life).exp2());
    assert!(usage > least && usage <= most, "{least} {usage} {most}");
}

#[test]
fn long_listings_of_sacct_stream() {
    let name = "x".repeat(2000);
    let head = "JobID|User|Account|Start|ElapsedRaw|AllocTRES|JobName\n";
    let (code, said) = within(100_000, head, 60_000, |n| {
        let (minute, second) = (n / 60 % 60, n % 60);
        format!(
            "{n}|u{}|a|2026-01-01T00:{minute:02}:{second:02}|60|billing=2|{name}\n",
            n % 50
        )
    });
    assert_eq!(code, 0, "{said}");
    // 60,000 jobs of 120 TRES-seconds within little more than an hour.
    let usage: f64 = said
        .lines()
        .next()
        .expect("a line")
        .parse()
        .expect("a number");
    assert!((7_160_000.0..=7_200_000.0).contains(&usage), "{usage}");
}

#[test]
fn wrong_logs_are_told_with_place_value_and_way_out() {
    let ran = fairtree(
        &["share"],
        b"JobID|User|Account|Start|End|NCPUS\n1|anna|a|2026-01-01T00:00:00|tomorrow|4\n",
    );
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert_eq!(
        ran.err,
        "fairtree: error: standard input:2:30: End \"tomorrow\" is not allowed: allowed is a time \
         as 2026-11-21T10:04:14, seconds since 1970, Unknown, None, or nothing\n\
         2 | 1|anna|a|2026-01-01T00:00:00|tomorrow|4\n  |                              ^\n"
    );
    let log =
        std::fs::read(checkout().join("tests/sshare-json/24.11.5.json.gz")).expect("the file");
    let ran = fairtree(&["share"], &log[..log.len() / 2]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the gzip file is cut off"), "{}", ran.err);
}
