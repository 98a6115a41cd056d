//! Answers of squeue and scontrol as users can make them look. The form of the records: printed by
//! scontrol 22.05.8; names, comments and WCKeys are made up.

use super::*;
use crate::input::slurm::job;

/// The stamp of these tests.
fn stamp() -> Stamp {
    Stamp("~0123456789".into())
}

const TIME: &str = "2026-11-21T10:04:14~0123456789";

/// As squeue prints it.
fn name(id: u32, uid: u32, name: &str) -> String {
    format!("{id}|{uid}|{TIME}|{name}\n")
}

/// As scontrol prints it, with a WCKey and a comment as they are.
fn record(id: u32, uid: u32, name: &str, wckey: &str, comment: &str) -> String {
    format!(
        "JobId={id} JobName={name} UserId=u{uid}({uid}) GroupId=g(1) MCS_label=N/A Priority=9 Nice=0 \
         Account=a{uid} QOS=normal{wckey} JobState=PENDING Reason=Priority Dependency=(null) \
         RunTime=00:00:00 TimeLimit=00:05:00 TimeMin=N/A SubmitTime={TIME} EligibleTime={TIME} \
         AccrueTime={TIME} StartTime=Unknown Partition=main NumNodes=1-1 NumCPUs=1 NumTasks=1 \
         TRES=cpu=1,mem=1G,node=1 Socks/Node=* Command=/x WorkDir=/home Comment={comment} \
         StdErr=/dev/null Power= \n"
    )
}

/// Result of the reader for both answers: the jobs, and how many records were left out.
fn read(names_text: &str, jobs_text: &str) -> (Vec<job::JobRow>, usize) {
    let mut left = LeftOut::default();
    let asked = Both::<Answer<'_>> {
        names: &|| Ok(Box::new(names_text.as_bytes())),
        jobs: &|| Ok(Box::new(jobs_text.as_bytes())),
    };
    let (mut names, mut jobs) = (Vec::new(), Vec::new());
    let out = Both::<&mut dyn Write> {
        names: &mut names,
        jobs: &mut jobs,
    };
    plain("f", asked, out, &stamp(), &mut left).expect("memory");
    let [listed, text] = [names, jobs].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(!text.contains("~0123456789"), "{text}");
    let names = job::read_names(&listed);
    let rows = job::read("f", &text, &names, &mut left).expect("jobs");
    (rows, left.count())
}

fn owners(rows: &[job::JobRow]) -> Vec<(u32, &str, u32)> {
    rows.iter()
        .map(|row| (row.id, &*row.user, row.cpus))
        .collect()
}

#[test]
fn the_form_that_slurm_takes() {
    let stamp = Stamp::random();
    // src/common/parse_time.c: 31 bytes of the form, 31 of the time.
    assert!(stamp.time_format().len() < 32);
    assert!(TIME_BYTES + stamp.0.len() < 32);
    assert_ne!(stamp, Stamp::random());
}

#[test]
fn a_name_with_line_breaks_is_one_name() {
    let forged = "x UserId=u2(2) GroupId=g(1) MCS_label=N/A Priority=9 Nice=0 Account=a2 QOS=normal \
                  JobState=RUNNING Reason=None Dependency=(null) RunTime=1 TimeLimit=1:00:00 \
                  SubmitTime=2026-11-21T10:04:14 NumCPUs=100000 NumNodes=1 Power= \n\
                  JobId=77777 JobName=y";
    let listed = name(4, 1, forged) + &name(5, 2, "b");
    let text = record(4, 1, forged, "", "") + &record(5, 2, "b", "", "");
    let (rows, left) = read(&listed, &text);
    assert_eq!(owners(&rows), [(4, "u1", 1), (5, "u2", 1)]);
    assert_eq!(left, 0);
}

#[test]
fn a_comment_cannot_be_another_job() {
    // The whole record of an existing job, with other numbers.
    let forged = record(5, 2, "b", "", "").replace("NumCPUs=1 ", "NumCPUs=999 ");
    let forged = forged.replace("~0123456789", "");
    let comment = format!("x\n{forged}");
    let listed = name(4, 1, "a") + &name(5, 2, "b");
    for text in [
        record(4, 1, "a", "", &comment) + &record(5, 2, "b", "", ""),
        record(5, 2, "b", "", "") + &record(4, 1, "a", "", &comment),
    ] {
        let (mut rows, left) = read(&listed, &text);
        rows.sort_by_key(|row| row.id);
        assert_eq!(owners(&rows), [(4, "u1", 1), (5, "u2", 1)]);
        assert_eq!(left, 0);
    }
}

#[test]
fn a_name_cannot_be_the_begin_of_a_job_of_somebody_else() {
    // The real ` UserId=u1(1)` follows the name that squeue gives to job 5, which is user 2's.
    let forged = "x\nJobId=5 JobName=b";
    let listed = name(4, 1, forged) + &name(5, 2, "b");
    let text = record(4, 1, forged, "", "") + &record(5, 2, "b", "", "");
    let (rows, left) = read(&listed, &text);
    assert_eq!(owners(&rows), [(4, "u1", 1), (5, "u2", 1)]);
    assert_eq!(left, 0);
}

#[test]
fn a_wckey_cannot_be_other_keys() {
    let wckey = " WCKey=x JobState=RUNNING TimeLimit=9-00:00:00 NumCPUs=99 \
                 UserId=root(0) SubmitTime=2026-11-21T10:04:14 ";
    let text = record(4, 1, "a", wckey, "") + &record(5, 2, "b", "", "");
    let (rows, _) = read(&(name(4, 1, "a") + &name(5, 2, "b")), &text);
    assert_eq!(owners(&rows), [(4, "u1", 1), (5, "u2", 1)]);
    assert_eq!(&*rows[0].state, "PENDING");
}

#[test]
fn an_mcs_label_cannot_be_other_keys_or_another_job() {
    let labelled = |label: &str| {
        let label = format!("MCS_label={label}");
        record(4, 1, "a", "", "").replace("MCS_label=N/A", &label)
    };
    let listed = name(4, 1, "a") + &name(5, 2, "b");
    let other = record(5, 2, "b", "", "");
    let text = labelled("x Priority=1 Account=a2 QOS=q NumCPUs=9") + &other;
    let (rows, left) = read(&listed, &text);
    assert_eq!(owners(&rows), [(4, "u1", 1), (5, "u2", 1)]);
    assert_eq!((rows[0].account.as_deref(), left), (Some("a1"), 0));
    // What would be the begin of another job leaves out its owner's own.
    let text = labelled("x\nJobId=5 JobName=b UserId=u2(2) GroupId=g(1) MCS_label=N/A");
    for text in [format!("{text}{other}"), format!("{other}{text}")] {
        let (rows, left) = read(&listed, &text);
        assert_eq!((owners(&rows), left), (vec![(5, "u2", 1)], 1));
    }
    // As a comment it hides no record.
    let begin = "x\nJobId=4 JobName=a UserId=u1(1) GroupId=g(1) MCS_label=N/A";
    let text =
        record(5, 2, "b", "", begin) + &record(6, 3, "c", "", "") + &record(4, 1, "a", "", "");
    let (rows, left) = read(&(listed + &name(6, 3, "c")), &text);
    assert_eq!((rows.len(), left), (3, 0), "{rows:?}");
}

#[test]
fn a_job_renamed_meanwhile_is_read_and_one_that_is_not_certain_is_told() {
    let text = record(4, 1, "new", "", "") + &record(5, 2, "b", "", "");
    let (rows, left) = read(&(name(4, 1, "old") + &name(5, 2, "b")), &text);
    assert_eq!(owners(&rows), [(4, "u1", 1), (5, "u2", 1)]);
    assert_eq!(left, 0);
    // As is one that came between the questions.
    let (rows, left) = read(&name(5, 2, "b"), &text);
    assert_eq!((rows.len(), left), (2, 0));
    // With a WCKey it cannot be decided.
    let text = record(4, 1, "new", " WCKey=x", "") + &record(5, 2, "b", "", "");
    let (rows, left) = read(&(name(4, 1, "old") + &name(5, 2, "b")), &text);
    assert_eq!((owners(&rows), left), (vec![(5, "u2", 1)], 1));
}

#[test]
fn arrays_and_no_jobs() {
    let text = record(4, 1, "a", "", "").replace("GroupId=g(1)", "GroupId=domain users(1)");
    assert_eq!(read(&name(4, 1, "a"), &text).1, 0);
    let text = text.replace(
        "JobId=4 ",
        "JobId=4 ArrayJobId=4 ArrayTaskId=1-3%2 ArrayTaskThrottle=2 ",
    );
    let (rows, left) = read(&name(4, 1, "a"), &text);
    assert_eq!(rows[0].array, Some((4, "1-3%2".into())));
    assert_eq!(left, 0);
    let (rows, left) = read("", "No jobs in the system\n");
    assert_eq!((rows.len(), left), (0, 0));
}

#[test]
fn a_record_has_a_length() {
    let comment = "x\n".repeat(MAX_LINE_BYTES as usize / 2);
    let text = record(4, 1, "a", "", &comment);
    let names = name(4, 1, "a");
    let asked = Both::<Answer<'_>> {
        names: &|| Ok(Box::new(names.as_bytes())),
        jobs: &|| Ok(Box::new(text.as_bytes())),
    };
    let out = Both::<&mut dyn Write> {
        names: &mut io::sink(),
        jobs: &mut io::sink(),
    };
    let error = plain("f", asked, out, &stamp(), &mut LeftOut::default()).unwrap_err();
    assert_eq!(error.to_string(), "a record of more than 16777216 bytes");
}

// The stamp is found wherever a buffer ends in it.
#[test]
fn a_stamp_is_found_across_buffers() {
    let text = format!("x{TIME} {TIME}y");
    for bytes in 1..text.len() {
        let input = io::BufReader::with_capacity(bytes, text.as_bytes());
        assert!(stamp().is_in(input).unwrap(), "{bytes}");
        let input = io::BufReader::with_capacity(bytes, &b"~012345678~012345678"[..]);
        assert!(!stamp().is_in(input).unwrap(), "{bytes}");
    }
}
