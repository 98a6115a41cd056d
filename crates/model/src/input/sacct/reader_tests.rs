//! Expected values: hand calculation from the lines.

use super::*;

#[derive(Debug, PartialEq)]
struct Owned(Option<String>, Option<String>, i64, i64, f64);

fn log(text: &str, columns: Option<&str>) -> Result<(Vec<Owned>, Summary), InputError> {
    let mut jobs = Vec::new();
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let mut each = |job: &JobUse<'_>| {
        let (account, user) = (owned(job.account), owned(job.user));
        jobs.push(Owned(account, user, job.start, job.end, job.billing));
    };
    let summary = read(
        "log",
        text.as_bytes(),
        Options {
            columns,
            cluster: None,
        },
        &mut each,
    )?;
    Ok((jobs, summary))
}

fn job(account: &str, user: &str, start: i64, end: i64, billing: f64) -> Owned {
    Owned(Some(account.into()), Some(user.into()), start, end, billing)
}

// 2026-11-21T10:04:14 UTC, by date(1).
const START: i64 = 1_795_255_454;

#[test]
fn jobs_with_steps_and_without_use() {
    let (jobs, summary) = log(
        "JobID|Account|User|State|Start|End|Elapsed|AllocTRES|NCPUS\n\
         1|phys|anna|COMPLETED|2026-11-21T10:04:14|2026-11-21T10:05:14|00:01:00|billing=8,cpu=4|4\n\
         1.batch|phys||COMPLETED|2026-11-21T10:04:14|2026-11-21T10:05:14|00:01:00|cpu=4|4\n\n\
         2|phys|bert|RUNNING|2026-11-21T10:04:14|Unknown|1-00:00:10|cpu=3,mem=2G|3\n\
         3|phys|bert|PENDING|Unknown|Unknown|00:00:00||1\n\
         4|phys|bert|CANCELLED by 5|None|2026-11-21T10:04:14|00:00:00||1\n",
        None,
    )
    .unwrap();
    assert_eq!(
        jobs,
        [
            job("phys", "anna", START, START + 60, 8.0),
            job("phys", "bert", START, START + 86_410, 3.0)
        ]
    );
    // Job 2 has no billing where job 1 has some: it counts 0.
    assert!(summary.billed);
    assert_eq!((summary.jobs, summary.idle), (1, 3));
    assert_eq!(summary.notes.len(), 1, "{summary:?}");
}

#[test]
fn bars_and_breaks_inside_of_a_text() {
    let (jobs, _) = log(
        "JobID|JobName|SubmitLine|Account|User|Start|End|NCPUS|\n\
         1|a|b||srun if true\n|| then|\n |phys|anna|2026-11-21T10:04:14|2026-11-21T10:05:14|4|\n\
         2|a||phys|bert|2026-11-21T10:04:14|2026-11-21T10:05:14|2|\n",
        None,
    )
    .unwrap();
    assert_eq!(
        jobs,
        [
            job("phys", "anna", START, START + 60, 4.0),
            job("phys", "bert", START, START + 60, 2.0)
        ]
    );
}

#[test]
fn columns_may_be_named() {
    let columns = Some("JobID%20,User,Account,Start,ElapsedRaw,AllocCPUS");
    let (jobs, _) = log("7_[1-3]|anna||2026-11-21T10:04:14|30|1\n", columns).unwrap();
    assert_eq!(
        jobs,
        [Owned(None, Some("anna".into()), START, START + 30, 1.0)]
    );
    let error = log("7|anna\n", Some("JobID,User")).unwrap_err();
    assert!(error.to_string().contains("the column Start is not there"));
}

#[test]
fn wrong_logs_are_errors_with_their_place() {
    let head = "JobID|User|Account|Start|End|NCPUS|Cluster\n";
    let good = "1|anna|phys|2026-11-21T10:04:14|2026-11-21T10:05:14|4|c\n";
    for (text, place, word) in [
        (String::new(), (None, None), "empty"),
        (head.to_owned(), (None, None), "empty"),
        (good.to_owned(), (Some(1), None), "without header"),
        ("JobID|User|State\n".to_owned(), (Some(1), None), "Start"),
        (
            format!("{head}2|anna|phys|yesterday|2026-11-21T10:05:14|4|c\n"),
            (Some(2), Some(13)),
            "\"yesterday\"",
        ),
        (
            format!("{head}2|anna|phys|2026-11-21T10:04:14|Unknown|4|c\n"),
            (Some(2), Some(33)),
            "Elapsed",
        ),
        (
            format!("{head}2|anna|phys|2026-11-21T10:04:14|Unknown|many|c\n"),
            (Some(2), Some(41)),
            "whole number",
        ),
        (format!("{head}2|anna|ph"), (Some(2), None), "3 cells"),
        (
            format!("{head}{}", good.replace("|c", "|c|d")),
            (Some(2), None),
            "8 cells",
        ),
        (
            format!("{head}{good}{}", good.replace("|c", "|d")),
            (Some(3), None),
            "two clusters, c and d",
        ),
    ] {
        let error = log(&text, None).unwrap_err();
        assert_eq!((error.line, error.column), place, "{error}\n{text}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn one_broken_record_hides_no_other() {
    let head = "JobID|User|Account|Start|End|NCPUS|Cluster\n";
    let good = "1|anna|phys|2026-11-21T10:04:14|2026-11-21T10:05:14|4|c\n";
    for (broken, why) in [
        (
            "2|anna|phys|yesterday|2026-11-21T10:05:14|4|c\n",
            "\"yesterday\"",
        ),
        ("2|anna|phys|2026-11-21T10:04:14|Unknown|4|c\n", "Elapsed"),
        (
            "2|anna|phys|2026-11-21T10:04:14|Unknown|many|c\n",
            "whole number",
        ),
        ("2|anna|ph\n", "3 cells"),
        // Together they are as long as one.
        (
            "2|anna|phys|2026-11-21T10:04:14\n2026-11-21T10:05:14|4|c\n",
            "4 cells",
        ),
        (&good.replace("|c", "|c|d"), "8 cells"),
        ("\u{1b}[31m|||||||||\n", "10 cells"),
    ] {
        for text in [
            format!("{head}{broken}{good}"),
            format!("{head}{good}{broken}"),
            format!("{head}{good}{}", broken.trim_end()),
        ] {
            let (jobs, summary) = log(&text, None).unwrap();
            assert_eq!(
                jobs,
                [job("phys", "anna", START, START + 60, 4.0)],
                "{text}"
            );
            assert!(summary.unreadable > 0, "{text}");
            let told = summary.notes.iter().any(|note| note.contains(why));
            assert!(told && summary.notes[0].contains("left out"), "{summary:?}");
        }
    }
}

// Text of users counts as a part of their own record unless it is a record itself; that it may be
// one is reported, and no bill is made from it.
#[test]
fn records_that_users_can_write_are_told() {
    let text = "JobID|JobName|Account|User|State|Start|ElapsedRaw|NCPUS\n\
                1|a\nb|phys|anna|COMPLETED|2026-11-21T10:04:14|60|4\n\
                2|x\n3|f|phys|bob|COMPLETED|2026-11-21T10:04:14|60|900\n";
    let (jobs, summary) = log(text, None).unwrap();
    assert_eq!(jobs[0], job("phys", "anna", START, START + 60, 4.0));
    assert!(
        summary.notes[0].contains("stands in JobName"),
        "{summary:?}"
    );
    let options = Options::default();
    let error = read_runs("log", text.as_bytes(), options, &mut |_| {}).unwrap_err();
    assert!(error.explained().contains("sacct -a -D"), "{error}");
    let text = text.replace("JobName", "QOS");
    let mut runs = 0;
    let summary = read_runs("log", text.as_bytes(), options, &mut |_| runs += 1).unwrap();
    assert_eq!((runs, summary.unreadable), (1, 3), "{summary:?}");
}

#[test]
fn jobs_are_handed_on_with_what_they_asked_for() {
    let head =
        "JobID|User|Account|Partition|QOS|State|Submit|Start|End|Elapsed|Timelimit|NCPUS|ReqCPUS\n";
    let text = format!(
        "{head}7_1|anna|phys|main|high|TIMEOUT|2026-11-21T10:04:14|2026-11-21T10:05:14|\
         2026-11-21T10:06:14|00:01:00|1-00:00:01|8|6\n\
         8|bert|bio|main|normal|RUNNING|2026-11-21T10:04:14|2026-11-21T10:05:14|Unknown|\
         00:05:00|UNLIMITED|1|1\n\
         8.batch||bio||||2026-11-21T10:04:14|2026-11-21T10:05:14|Unknown|00:05:00||1|1\n\
         9|bert|bio|main|normal|CANCELLED by 3|2026-11-21T10:04:14|Unknown|\
         2026-11-21T10:06:14|00:00:00|00:01:00|1|1\n\
         x|bert|bio|main|normal|COMPLETED|soon|2026-11-21T10:04:14|\
         2026-11-21T10:06:14|00:00:00|00:01:00|1|1\n"
    );
    let mut jobs = Vec::new();
    let options = Options::default();
    let summary = read_jobs("log", text.as_bytes(), options, &mut |job| {
        let names = [Some(job.id), job.user, job.qos, job.partition, job.state];
        let names = names.map(|name| name.unwrap_or("?")).join(" ");
        let times = [job.submit, job.start, job.run_secs, job.limit_secs];
        jobs.push((job.line, names, times, job.allocated, job.requested));
    })
    .unwrap();
    let times = [START, START + 60, 60, 86_401].map(Some);
    let names = "7_1 anna high main TIMEOUT".to_owned();
    assert_eq!(jobs[0], (2, names, times, Some(8), Some(6)));
    // It still runs, without a limit.
    let times = [Some(START), Some(START + 60), None, None];
    let names = "8 bert normal main RUNNING".to_owned();
    assert_eq!(jobs[1], (3, names, times, Some(1), Some(1)));
    let counts = (summary.jobs, summary.idle, summary.unreadable);
    assert_eq!((jobs.len(), counts), (2, (2, 1, 1)));
    let raw = "JobID|User|Submit|Start|ElapsedRaw|TimelimitRaw|AllocTRES\n\
               7|anna|2026-11-21T10:04:14|2026-11-21T10:05:14|60|30|cpu=4,mem=2G\n";
    read_jobs("log", raw.as_bytes(), options, &mut |job| {
        assert_eq!((job.limit_secs, job.allocated), (Some(1800), Some(4)));
    })
    .unwrap();
    let short = "JobID|User|Start|End|NCPUS\n7|anna|2026-11-21T10:04:14|2026-11-21T10:05:14|1\n";
    let error = read_jobs("log", short.as_bytes(), options, &mut |_| ()).unwrap_err();
    assert!(
        error.to_string().contains("the column Submit is not there"),
        "{error}"
    );
}

// The free partition's record has no billing, and the second job ends before it starts.
#[test]
fn a_replay_takes_run_times_and_processors_whatever_is_billed() {
    let text = "JobID|User|Submit|Start|End|Suspended|Timelimit|AllocTRES\n\
        7|anna|2026-11-21T10:04:14|2026-11-21T10:05:14|2026-11-21T10:06:14|00:00:20|01:00:00|cpu=4\n\
        8|bert|2026-11-21T10:04:14|2026-11-21T10:05:14|2026-11-21T10:04:14|00:00:00|01:00:00|billing=2,cpu=1\n\
        9|bert|2026-11-21T10:04:14|2026-11-21T10:05:14|2026-11-21T10:05:14|00:00:00|01:00:00|billing=2,cpu=1\n";
    let mut jobs = Vec::new();
    let options = Options::default();
    let summary = read_jobs("log", text.as_bytes(), options, &mut |job| {
        jobs.push((job.id.to_owned(), job.run_secs, job.allocated));
    })
    .unwrap();
    let due = [("7", 40, 4), ("9", 0, 1)];
    let due = due.map(|(id, run, cpu)| (id.to_owned(), Some(run), Some(cpu)));
    assert_eq!((summary.jobs, summary.idle, jobs), (2, 1, due.to_vec()));
    let about = |word: &str| {
        summary
            .notes
            .iter()
            .filter(|note| note.contains(word))
            .count()
    };
    let counts = ["suspended", "before the start", "bill"].map(about);
    assert_eq!(counts, [1, 1, 0], "{summary:?}");
}
