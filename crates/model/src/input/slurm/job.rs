//! `scontrol -o show job`.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use super::record::{Record, record};
use super::{count, time};
use crate::input::error::InputError;
use crate::input::left_out::LeftOut;
use crate::input::lines::{Lines, MAX_LINE_BYTES, one_more};
use fairtree::priority::TimeLimit;

/// A job, as far as priorities care.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// Job number.
    pub id: u32,
    /// User.
    pub user: String,
    /// Account; `None` without accounting.
    pub account: Option<String>,
    /// The QOS; several where the job asked for several.
    pub qos: Vec<String>,
    /// The partitions that it asked for.
    pub partitions: Vec<String>,
    /// `JobState`, in capitals, as `PENDING`.
    pub state: String,
    /// Its priority; 0: held.
    pub priority: u32,
    /// Nice value.
    pub nice: i32,
    /// When it began to age, seconds since 1970; 0: not yet.
    pub accrue_time: i64,
    /// When it was submitted, seconds since 1970.
    pub submit_time: i64,
    /// When it started, or is expected to, seconds since 1970; 0: not known.
    pub start_time: i64,
    /// The array that it is of: the array's number, and its tasks as `3` or `1-10:2%4`.
    pub array: Option<(u32, String)>,
    /// The most CPUs that it asks for.
    pub cpus: u32,
    /// The least nodes that it asks for, or has where the answer does not tell what was asked for.
    pub nodes: u32,
    /// Time limit.
    pub time_limit: TimeLimit,
    /// Resources that it has or asks for, memory in megabytes.
    pub tres: Option<Vec<(String, u64)>>,
}

/// Whether `3`, `1-10:2` or `1-7:3,20%4` has a task; behind `%` stands how many may run at once.
pub fn has_task(tasks: &str, task: u32) -> bool {
    let tasks = tasks.split('%').next().unwrap_or_default();
    tasks.split(',').any(|part| is_in(part, task))
}

/// Whether `3`, `1-10` or `1-10:2` has a task.
fn is_in(part: &str, task: u32) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    let (range, step) = match part.split_once(':') {
        Some((range, step)) => (range, number(step)),
        None => (part, Some(1)),
    };
    let (first, last) = match range.split_once('-') {
        Some((first, last)) => (number(first), number(last)),
        None => (number(range), number(range)),
    };
    match (first, last, step.filter(|step| *step > 0)) {
        (Some(first), Some(last), Some(step)) => {
            (first..=last).contains(&task) && (task - first) % step == 0
        }
        _ => false,
    }
}

/// Names of jobs by number.
pub type Names = HashMap<u32, String>;

/// Reads `squeue -h -o '%A|%j'`: number and name. A line that begins with no number is part of a
/// name with a line break. Of a number that stands there twice, which is somebody's name, no name
/// is known.
pub fn read_names(text: &str) -> Names {
    let mut names = Gathered::default();
    text.lines().for_each(|line| names.line(line));
    names.finish()
}

/// As [`read_names`], of a stream that is not kept.
///
/// # Errors
/// Those of the stream.
pub fn read_names_of(file: &str, input: impl BufRead) -> Result<Names, InputError> {
    let mut lines = Lines::new(file, input);
    let mut names = Gathered::default();
    while let Some(line) = lines.next()? {
        one_more(file, names.names.len(), 1)?;
        names.line(&line);
    }
    Ok(names.finish())
}

#[derive(Default)]
struct Gathered {
    names: Names,
    last: Option<u32>,
    doubtful: HashSet<u32>,
}

impl Gathered {
    fn line(&mut self, line: &str) {
        let begun = line
            .split_once('|')
            .filter(|(id, _)| id.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|(id, name)| Some((id.parse::<u32>().ok()?, name)));
        if let Some((id, name)) = begun {
            if self.names.insert(id, name.to_owned()).is_some() {
                self.doubtful.insert(id);
            }
            self.last = Some(id);
        } else if let Some(name) = self.last.and_then(|id| self.names.get_mut(&id)) {
            name.push('\n');
            name.push_str(line);
        }
    }

    fn finish(mut self) -> Names {
        for id in &self.doubtful {
            self.names.remove(id);
        }
        self.names
    }
}

/// Where the name of a job ends. Its owner chooses it, blanks, `=` and all, and scontrol prints it
/// as it is: only `names` tells for certain. Where there are none at all, the name is taken to end
/// at the first ` UserId=`.
pub(super) fn name_end(names: &Names, record: &str, key: &str, start: usize) -> Option<usize> {
    if key != "JobName" {
        return None;
    }
    let rest = &record[start..];
    if names.is_empty() {
        return Some(start + rest.find(" UserId=")?);
    }
    let name = names.get(&number_of(record)?)?;
    let after = rest.strip_prefix(name.as_str())?;
    let ends = after.starts_with(" UserId=") || after.starts_with(" HetJobIdSet=");
    ends.then_some(start + name.len())
}

/// The number of a record, where `text` begins one.
pub(super) fn number_of(text: &str) -> Option<u32> {
    let rest = text.strip_prefix("JobId=")?;
    rest.split([' ', '\n']).next()?.parse().ok()
}

/// Whether a line begins a record, of whatever number.
fn begins_record(line: &str) -> bool {
    let number = line.strip_prefix("JobId=");
    number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads the records. `file` names the text in messages. A record that cannot be read goes to
/// `left`, and so do those of a number that `names` does not tell of, or that stands there twice.
///
/// # Errors
/// Text before the first record; no record that can be read where there are some.
pub fn read(
    file: &str,
    text: &str,
    names: &Names,
    left: &mut LeftOut,
) -> Result<Vec<JobRow>, InputError> {
    read_stream(file, text.as_bytes(), names, left)
}

/// As [`read`], of a stream that is not kept.
///
/// # Errors
/// Those of [`read`], and those of the stream; more than [`MAX_ROWS`](crate::input::MAX_ROWS) records.
pub fn read_stream(
    file: &str,
    input: impl BufRead,
    names: &Names,
    left: &mut LeftOut,
) -> Result<Vec<JobRow>, InputError> {
    let mut rows = Vec::new();
    for_each(file, input, names, left, &mut |record| {
        rows.push(row(record)?);
        Ok(())
    })?;
    Ok(rows)
}

/// Hands each record to `see`, and leaves out those that it refuses.
///
/// # Errors
/// Those of [`read_stream`].
pub(super) fn for_each(
    file: &str,
    input: impl BufRead,
    names: &Names,
    left: &mut LeftOut,
    see: &mut dyn FnMut(&Record<'_>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let before = left.count();
    let mut read = 0;
    let mut seen = HashSet::new();
    let end = |record: &str, key: &str, start: usize| name_end(names, record, key, start);
    let mut whole = |number: usize, text: &str, left: &mut LeftOut| {
        one_more(file, read, number)?;
        let mut read_one = || {
            let Some(mut record) = record(file, number, text, "JobId", &end)? else {
                return Ok(());
            };
            let id = number_of(text).unwrap_or(0);
            if !names.is_empty() && !names.contains_key(&id) {
                let why = format!("squeue told no name of JobId={}, or two", record.name());
                return Err(record.unknown(&why));
            }
            let name = text.find(" JobName=").map(|at| at + " JobName=".len());
            let ends = |at| name_end(names, text, "JobName", at).is_some();
            // Without a name it is somebody's text behind a line break.
            if !names.is_empty() && !name.is_some_and(ends) {
                return Err(record.unknown("JobName is not the one that squeue told"));
            }
            record.distrust_from(&FREE);
            if !seen.insert(id) {
                return Err(record.twice("JobId"));
            }
            see(&record)
        };
        if left.keep(read_one())?.is_some() {
            read += 1;
        }
        Ok::<(), InputError>(())
    };
    let mut lines = Lines::new(file, input);
    // The record that goes on, and the number of its first line; 0: none yet.
    let (mut text, mut begun, mut number) = (String::new(), 0, 0);
    while let Some(line) = lines.next()? {
        number += 1;
        if begins_record(&line) {
            if begun > 0 {
                whole(begun, &text, left)?;
            }
            begun = number;
            text.clear();
            text.push_str(&line);
        } else if begun > 0 && (text.len() + line.len()) as u64 > MAX_LINE_BYTES {
            // Longer than any record: what it says is said before.
        } else if begun > 0 {
            // The rest of a name, a comment or a path with a line break.
            text.push('\n');
            text.push_str(&line);
        } else {
            // Blank, `No jobs in the system`, or an error.
            record(file, number, &line, "JobId", &end)?;
        }
    }
    if begun > 0 {
        whole(begun, &text, left)?;
    }
    left.any_read(read, before)
}

/// The keys behind which stand what users write: what a record says is said before the first of
/// them (`slurm_sprint_job_info` of 22.05.8 and 24.11.5).
const FREE: [&str; 9] = [
    "Socks/Node",
    "Features",
    "OverSubscribe",
    "Command",
    "WorkDir",
    "AdminComment",
    "SystemComment",
    "Comment",
    "StdErr",
];

fn row(record: &Record<'_>) -> Result<JobRow, InputError> {
    let whole = "a whole number";
    let names = |text: Option<&str>| -> Vec<String> {
        let names = text
            .unwrap_or("")
            .split(',')
            .filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    let small = |n: u64| u32::try_from(n).ok();
    let user = |text: &str| Some(text.rsplit_once('(')?.0.to_owned());
    // From 23.02 on requested and allocated resources are two values.
    let tres = ["AllocTRES", "ReqTRES", "TRES"]
        .into_iter()
        .find(|key| record.said(key).is_some());
    let allowed = "resources as cpu=16,mem=4000M";
    // NumNodes of a waiting job may be an estimate of the backfill scheduler. Before 23.02 the
    // resources of a job that waits are those that it asks for.
    let state = record.text("JobState")?;
    let asked = match record.said("ReqTRES") {
        Some(_) => Some("ReqTRES"),
        None if state == "PENDING" => Some("TRES").filter(|key| record.said(key).is_some()),
        None => None,
    };
    let asked = asked.map(|key| record.read(key, allowed, count::tres));
    let asked_nodes = asked.transpose()?.and_then(|tres| {
        let node = tres.into_iter().find(|(name, _)| name == "node");
        node.and_then(|(_, count)| small(count))
    });
    let moment = "a time as 2026-11-21T10:04:14";
    Ok(JobRow {
        id: record.read("JobId", whole, |text| text.parse().ok())?,
        user: record.read("UserId", "name(number)", user)?,
        account: record.said("Account").map(str::to_owned),
        qos: names(record.said("QOS").filter(|name| *name != "N/A")),
        partitions: names(record.said("Partition")),
        state: state.to_owned(),
        priority: record.read("Priority", whole, |text| text.parse().ok())?,
        nice: record.read("Nice", whole, |text| text.parse().ok())?,
        accrue_time: record.read("AccrueTime", moment, time::moment)?,
        submit_time: record.read("SubmitTime", moment, time::moment)?,
        start_time: match record.said("StartTime") {
            Some(_) => record.read("StartTime", moment, time::moment)?,
            None => 0,
        },
        // Behind the name they would be somebody's text.
        array: match ["ArrayJobId", "ArrayTaskId"].map(|key| record.said_before("JobName", key)) {
            [Some(_), Some(tasks)] => {
                let id = record.read("ArrayJobId", whole, |text| text.parse().ok())?;
                Some((id, tasks.to_owned()))
            }
            _ => None,
        },
        cpus: record.read("NumCPUs", "a whole number, or two as 2-8", |text| {
            small(count::range(text)?.1)
        })?,
        nodes: match asked_nodes.filter(|nodes| *nodes > 0) {
            Some(nodes) => nodes,
            None => record.read("NumNodes", "a whole number, or two as 2-8", |text| {
                small(count::range(text)?.0)
            })?,
        },
        time_limit: record.read(
            "TimeLimit",
            "a time as 1-00:00:00, or UNLIMITED",
            time::limit,
        )?,
        tres: tres
            .map(|key| record.read(key, allowed, count::tres))
            .transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Printed by scontrol 22.05.8; the name of the job is made up.
    const LINE: &str = "JobId=4 JobName=a Priority=9 UserId=ft2-alice(1006) GroupId=ft2-alice(1006) \
        MCS_label=N/A Priority=63206 Nice=-5 Account=physics QOS=normal JobState=PENDING Reason=Priority \
        Dependency=(null) RunTime=00:00:00 TimeLimit=00:05:00 TimeMin=N/A SubmitTime=2026-11-21T10:04:14 \
        EligibleTime=2026-11-21T10:04:14 AccrueTime=2026-11-21T10:04:14 StartTime=Unknown \
        Partition=main,debug NumNodes=1-1 NumCPUs=2-4 TRES=cpu=2,mem=1G,node=1 Command=(null)\n";

    fn of(text: &str, names: &Names) -> Result<Vec<JobRow>, InputError> {
        read("f", text, names, &mut LeftOut::default())
    }

    #[test]
    fn what_priorities_need() {
        let jobs = of(LINE, &Names::new()).unwrap();
        let job = &jobs[0];
        assert_eq!((job.id, job.priority, job.nice), (4, 63206, -5));
        assert_eq!(
            (job.user.as_str(), job.account.as_deref()),
            ("ft2-alice", Some("physics"))
        );
        assert_eq!(job.partitions, ["main", "debug"]);
        assert_eq!((job.cpus, job.nodes), (4, 1));
        assert_eq!(job.accrue_time, 1_795_255_454);
        assert_eq!(job.time_limit, TimeLimit::Minutes(5));
        assert_eq!(job.tres.as_ref().unwrap()[1], ("mem".into(), 1024));
    }

    // Seen with Slurm 26.05.3: four nodes of four CPUs, all drained, `sbatch -n 8`; once the backfill
    // scheduler has looked at the job, NumNodes is 2. JOBSIZE is that of one node.
    #[test]
    fn nodes_of_a_waiting_job_are_those_that_it_asks_for() {
        let newer = LINE
            .replace("NumNodes=1-1 NumCPUs=2-4", "NumNodes=2 NumCPUs=8")
            .replace(
                "TRES=cpu=2,mem=1G,node=1",
                "ReqTRES=cpu=8,mem=1G,node=1 AllocTRES=(null)",
            );
        assert_eq!(of(&newer, &Names::new()).unwrap()[0].nodes, 1);
        let older = LINE.replace("NumNodes=1-1", "NumNodes=2");
        assert_eq!(of(&older, &Names::new()).unwrap()[0].nodes, 1);
        // What a running job has tells nothing of what it asked for.
        let running = LINE
            .replace("PENDING", "RUNNING")
            .replace("NumNodes=1-1", "NumNodes=3");
        assert_eq!(of(&running, &Names::new()).unwrap()[0].nodes, 3);
        let unsaid = LINE
            .replace(",node=1", "")
            .replace("NumNodes=1-1", "NumNodes=2-8");
        assert_eq!(of(&unsaid, &Names::new()).unwrap()[0].nodes, 2);
    }

    // Forms of ArrayTaskId: scontrol(1), and the output of scontrol 22.05.8.
    #[test]
    fn tasks_of_arrays() {
        let text = LINE.replace("JobName", "ArrayJobId=2 ArrayTaskId=1-7:3,20%4 JobName");
        let job = of(&text, &Names::new()).unwrap().remove(0);
        let (array, tasks) = job.array.unwrap();
        assert_eq!(array, 2);
        let found: Vec<u32> = (0..30).filter(|task| has_task(&tasks, *task)).collect();
        assert_eq!(found, [1, 4, 7, 20]);
        assert!(has_task("3", 3) && !has_task("N/A", 3));
    }

    #[test]
    fn a_name_cannot_pass_for_other_keys() {
        let forged = "x UserId=root(0) GroupId=root(0) Priority=1 Nice=0 Account=none";
        let text = LINE.replace("a Priority=9", forged);
        let names = read_names(&format!("4|{forged}\n5|y\n"));
        let jobs = of(&text, &names).unwrap();
        assert_eq!(
            (jobs[0].user.as_str(), jobs[0].priority),
            ("ft2-alice", 63206)
        );
        assert_eq!(jobs[0].account.as_deref(), Some("physics"));
    }

    #[test]
    fn wrong_values_are_errors_at_their_place() {
        let error = of(&LINE.replace("Nice=-5", "Nice=x"), &Names::new()).unwrap_err();
        assert!(
            error.to_string().contains("Nice \"x\" is not allowed"),
            "{error}"
        );
        assert!(error.column.is_some());
        assert!(of(&LINE.replace("NumCPUs=2-4 ", ""), &Names::new()).is_err());
        assert!(
            of("No jobs in the system\n", &Names::new())
                .unwrap()
                .is_empty()
        );
    }

    // What captures of before hold: answers as they are, with the line breaks that users write.
    #[test]
    fn one_broken_record_hides_no_other() {
        let other = LINE.replace("JobId=4 JobName=a Priority=9", "JobId=5 JobName=b");
        let names = read_names("4|a Priority=9\n5|b\n");
        for (broken, why) in [
            (LINE.replace("Nice=-5", "Nice=x"), "Nice \"x\""),
            (LINE.replace("UserId=", "User="), "JobName"),
            (LINE.replace("JobId=4", "JobId=77777"), "told no name"),
            (
                LINE.replace("JobName=a Priority=9", "JobState=RUNNING"),
                "JobName",
            ),
            (LINE.replace("Command=(null)", "Command=/a\nb"), ""),
        ] {
            for text in [format!("{broken}{other}"), format!("{other}{broken}")] {
                let mut left = LeftOut::default();
                let jobs = read("f", &text, &names, &mut left).unwrap();
                assert!(jobs.iter().any(|job| job.id == 5), "{text}");
                assert_eq!(left.count(), usize::from(!why.is_empty()), "{text}");
                assert!(left.notes().iter().all(|note| note.contains(why)), "{text}");
            }
        }
    }

    #[test]
    fn what_users_write_is_no_value() {
        let text = LINE.replace(
            "Command=(null)",
            "Socks/Node=* Comment=x ArrayJobId=9 ArrayTaskId=1-9 AllocTRES=cpu=1000",
        );
        let job = of(&text, &Names::new()).unwrap().remove(0);
        assert_eq!(job.array, None);
        assert_eq!(job.tres.unwrap()[0], ("cpu".into(), 2));
        let forged = "x ArrayJobId=9 ArrayTaskId=1-9 AllocTRES=cpu=1000 ";
        let text = LINE.replace("a Priority=9", forged);
        let names = read_names(&format!("4|{forged}\n"));
        let job = of(&text, &names).unwrap().remove(0);
        assert_eq!(job.array, None);
        assert_eq!(job.tres.unwrap()[0], ("cpu".into(), 2));
    }

    #[test]
    fn names_with_line_breaks_are_whole_and_two_of_a_number_are_none() {
        let names = read_names("4|a\nb\n5 |z\n5|x\n6|forged\n6|c\n");
        assert_eq!(names[&4], "a\nb\n5 |z");
        assert_eq!(names[&5], "x");
        assert!(!names.contains_key(&6));
    }
}
