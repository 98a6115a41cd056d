//! `scontrol -o show job`.

use std::sync::Arc;

use super::job_state::JobPhase;
use super::record::Record;
use super::{count, time};
use crate::input::error::InputError;
use crate::input::interner::{Interner, Name};
use fairtree::priority::TimeLimit;

pub use super::job_names::{Names, read_names, read_names_of};
pub(super) use super::job_reader::for_each;
pub use super::job_reader::{check_stream, read, read_stream};

/// A job, as far as priorities care.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// Job number.
    pub id: u32,
    /// User.
    pub user: Name,
    /// Account; `None` without accounting.
    pub account: Option<Name>,
    /// The QOS; several where the job asked for several.
    pub qos: Arc<[Name]>,
    /// The partitions that it asked for.
    pub partitions: Arc<[Name]>,
    /// `JobState`, in capitals, as `PENDING`.
    pub state: Name,
    /// Time from which it may start, seconds since 1970; 0: not known.
    pub eligible_time: i64,
    /// Its priority; 0: held.
    pub priority: u32,
    /// Nice value.
    pub nice: i32,
    /// Time at which it began to age, seconds since 1970; 0: not yet.
    pub accrue_time: i64,
    /// Time of submission, seconds since 1970.
    pub submit_time: i64,
    /// Time of its start, or of its expected start, seconds since 1970; 0: not known.
    pub start_time: i64,
    /// The array that it is of: the array's number, and its tasks as `3` or `1-10:2%4`.
    pub array: Option<(u32, Name)>,
    /// The most CPUs that it asks for.
    pub cpus: u32,
    /// Minimum number of nodes that it asks for; allocated nodes if the answer does not say.
    pub nodes: u32,
    /// Time limit.
    pub time_limit: TimeLimit,
    /// Resources that it has or asks for, memory in megabytes.
    pub tres: Option<Arc<[(String, u64)]>>,
    /// The reason why it waits; `None` for a job that does not wait, and where it is not known.
    pub wait: Option<Arc<JobWait>>,
}

/// The reason of a job that waits, as slurmctld reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobWait {
    /// `Reason`, as `Priority`.
    pub reason: Name,
    /// `Dependency`, as `afterok:302(unfulfilled)`.
    pub dependency: Option<Name>,
    /// The earliest start where the reason is `BeginTime`, seconds since 1970; 0: not known.
    pub begin: i64,
}

/// Returns true if `3`, `1-10:2` or `1-7:3,20%4` has a task; after `%` comes the maximum of running
/// tasks.
pub fn has_task(tasks: &str, task: u32) -> bool {
    let tasks = tasks.split('%').next().unwrap_or_default();
    tasks.split(',').any(|part| is_in(part, task))
}

/// Returns true if `3`, `1-10` or `1-10:2` has a task.
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

/// A record as a row; what many rows have is stored once.
pub(super) fn row(record: &Record<'_>, shared: &mut Interner) -> Result<JobRow, InputError> {
    let whole = "a whole number";
    let small = |n: u64| u32::try_from(n).ok();
    let user = |text: &str| text.rfind('(');
    let user_end = record.read("UserId", "name(number)", user);
    // From 23.02 on requested and allocated resources are two values.
    let tres = ["AllocTRES", "ReqTRES", "TRES"]
        .into_iter()
        .find(|key| record.said(key).is_some());
    let allowed = "resources as cpu=16,mem=4000M";
    // NumNodes of a waiting job may be an estimate of the backfill scheduler. Before 23.02 the
    // resources of a job that waits are those that it asks for.
    let state = record.text("JobState")?;
    let phase = JobPhase::of(state);
    let phase =
        phase.ok_or_else(|| record.value("JobState", "a state of squeue(1), as RUNNING"))?;
    let waits = phase == JobPhase::Pending;
    let asked = match record.said("ReqTRES") {
        Some(_) => Some("ReqTRES"),
        None if waits => Some("TRES").filter(|key| record.said(key).is_some()),
        None => None,
    };
    let resources = |shared: &mut Interner, key: &str| {
        let read = shared.tres(record.text(key)?, count::tres);
        read.ok_or_else(|| record.value(key, allowed))
    };
    let asked = asked.map(|key| resources(shared, key)).transpose()?;
    let asked_nodes = asked.and_then(|tres| {
        let node = tres.iter().find(|(name, _)| name == "node");
        node.and_then(|(_, count)| small(*count))
    });
    let moment = "a time as 2026-11-21T10:04:14";
    let wait = record.said("Reason").filter(|_| waits);
    let wait = wait.map(|reason| {
        // `ReqNodeNotAvail, UnavailableNodes:n3`: the word comes first.
        let reason = reason.split([',', ' ']).next().unwrap_or(reason);
        let dependency = record.said("Dependency");
        let begin = record
            .said("EligibleTime")
            .filter(|_| reason == "BeginTime");
        let begin = begin.and_then(time::moment).unwrap_or(0);
        shared.wait(reason, dependency, begin)
    });
    Ok(JobRow {
        id: record.read("JobId", whole, |text| text.parse().ok())?,
        user: shared.name(&record.text("UserId")?[..user_end?]),
        account: record.said("Account").map(|name| shared.name(name)),
        qos: shared.list(
            record
                .said("QOS")
                .filter(|name| *name != "N/A")
                .unwrap_or(""),
        ),
        partitions: shared.list(record.said("Partition").unwrap_or("")),
        state: shared.name(state),
        eligible_time: record
            .said("EligibleTime")
            .and_then(time::moment)
            .unwrap_or(0),
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
                Some((id, shared.name(tasks)))
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
        tres: tres.map(|key| resources(shared, key)).transpose()?,
        wait,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::left_out::LeftOut;

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
        assert_eq!(&*job.wait.as_ref().unwrap().reason, "Priority");
        assert_eq!((job.id, job.priority, job.nice), (4, 63206, -5));
        assert_eq!(
            (&*job.user, job.account.as_deref()),
            ("ft2-alice", Some("physics"))
        );
        assert_eq!(*job.partitions, ["main".into(), "debug".into()]);
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
        // The resources of a running job do not show what it asked for.
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
        assert_eq!((&*jobs[0].user, jobs[0].priority), ("ft2-alice", 63206));
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
            (LINE.replace("=PENDING", "=RUNING"), "JobState \"RUNING\""),
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

    // A name that looks like another job of squeue's, and then like the record of its own.
    #[test]
    fn a_name_makes_no_record_of_its_own_job() {
        let forged = LINE.replace("JobName=a Priority=9", "JobName=");
        let forged = forged
            .replace("PENDING", "RUNNING")
            .replace("alice", "root");
        let name = format!("\n2|x\n{}", forged.trim_end());
        let text = LINE.replace("a Priority=9", &name);
        let other = LINE.replace("JobId=4 JobName=a Priority=9", "JobId=5 JobName=b");
        let names = read_names(&format!("4|{name}\n5|b\n"));
        let mut left = LeftOut::default();
        let jobs = read("f", &format!("{text}{other}"), &names, &mut left).unwrap();
        let found: Vec<u32> = jobs.iter().map(|job| job.id).collect();
        assert_eq!(found, [5]);
        assert_eq!(left.count(), 2, "{:?}", left.notes());
    }

    #[test]
    fn names_with_line_breaks_are_whole_and_two_of_a_number_are_none() {
        let names = read_names("4|a\nb\n5 |z\n5|x\n6|forged\n6|c\n");
        assert_eq!(names.get(4), Some("a\nb\n5 |z"));
        assert_eq!(names.get(5), Some("x"));
        assert_eq!(names.get(6), None);
    }
}
