//! The requests of the jobs that wait and run, by `scontrol -o show job`.
//!
//! [`super::job`] reads what priorities need; this, what a scheduler looks at.

use std::fmt;
use std::io::BufRead;

use super::job::{self, Names, for_each};
use super::job_state::JobPhase;
use super::record::Record;
use super::{count, hostlist, sbatch, time};
use crate::input::error::InputError;
use crate::input::interner::Interner;
use crate::input::left_out::LeftOut;
use crate::input::recorded::RecordedJob;
use crate::machine::{GresRequest, Memory, Request};
use fairtree::priority::TimeLimit;

/// Tasks of an array that are read one by one.
pub const MAX_TASKS: usize = 1000;
/// By how much clocks may differ, and how long an answer may take, seconds.
const LATEST_SECS: i64 = 86_400;

/// The values of a record that stand between and behind those that users write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JobTail<'a>([Option<&'a str>; KEYS.len()]);

/// In the order in which scontrol prints them.
const KEYS: [&str; 6] = [
    "NtasksPerN:B:S:C",
    "MinMemoryNode",
    "MinMemoryCPU",
    "Features",
    "OverSubscribe",
    "Contiguous",
];

impl<'a> JobTail<'a> {
    /// Those of a record: each key where it first stands after the one before it, so that what a user
    /// writes changes nothing but the user's own job.
    pub(super) fn of(record: &Record<'a>) -> JobTail<'a> {
        let mut rest = record.rest();
        // Paths and comments follow.
        rest = rest.split(" Command=").next().unwrap_or(rest);
        let mut found = JobTail::default();
        for (key, to) in KEYS.iter().zip(&mut found.0) {
            let mut places = rest.match_indices(key);
            let place = places.find(|(at, key)| {
                let before = rest[..*at].chars().next_back();
                before == Some(' ') && rest[at + key.len()..].starts_with('=')
            });
            if let Some((at, _)) = place {
                let value = &rest[at + key.len() + 1..];
                let end = value.find(' ').unwrap_or(value.len());
                *to = Some(&value[..end]).filter(|said| !said.is_empty() && *said != "(null)");
                rest = &value[end..];
            }
        }
        found
    }

    fn said(&self, key: &str) -> Option<&'a str> {
        let at = KEYS.iter().position(|known| *known == key)?;
        self.0[at]
    }
}

/// As scontrol prints them, the others left out.
impl fmt::Display for JobTail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = || KEYS.iter().zip(self.0);
        if said().all(|(_, value)| value.is_none()) {
            return Ok(());
        }
        write!(f, " Socks/Node=*")?;
        for (key, value) in said().filter_map(|(key, value)| Some((key, value?))) {
            write!(f, " {key}={value}")?;
        }
        Ok(())
    }
}

/// The jobs that wait and run, with their requests; a task of an array that has no number of its own yet
/// gets one that no job has. `file` names the text in messages, `names` are those of squeue, `now` is the
/// moment of the answer, seconds since 1970.
///
/// # Errors
/// Those of [`super::job::read`]. A record that cannot be read goes to `left`, also one of a job that runs
/// without nodes, or that was submitted or started more than a day after `now`.
pub fn read(
    file: &str,
    input: impl BufRead,
    names: &Names,
    now: i64,
    left: &mut LeftOut,
) -> Result<Vec<RecordedJob>, InputError> {
    let mut jobs = Vec::new();
    let mut shared = Interner::default();
    // Tasks without a number: the job of their array, and which.
    let mut tasks: Vec<(RecordedJob, u32)> = Vec::new();
    for_each(file, input, names, left, &mut |record| {
        let Some(job) = job(record, now, &mut shared)? else {
            return Ok(());
        };
        match waiting_tasks(record, &job) {
            Some(numbers) => {
                let with = |number: &u32| (job.clone(), *number);
                tasks.extend(numbers.iter().take(MAX_TASKS).map(with));
            }
            None => jobs.push(job),
        }
        Ok(())
    })?;
    let highest = jobs.iter().chain(tasks.iter().map(|(job, _)| job));
    let mut next = highest.map(|job| job.id).max().unwrap_or(0);
    let mut before = None;
    for (mut job, number) in tasks {
        job.task = Some((job.task.map_or(job.id, |(array, _)| array), number));
        // The first task keeps the number of the record.
        if before.replace(job.id) == Some(job.id) {
            next = next.saturating_add(1);
            job.id = next;
        }
        jobs.push(job);
    }
    Ok(jobs)
}

/// The tasks of a record that stands for several, or for one, that wait.
fn waiting_tasks(record: &Record<'_>, job: &RecordedJob) -> Option<Vec<u32>> {
    let tasks = record.said_before("JobName", "ArrayTaskId")?;
    job.task.filter(|_| job.start_ms.is_none())?;
    sbatch::request(["-a", tasks]).array
}

/// A job that waits or runs.
fn job(
    record: &Record<'_>,
    now: i64,
    shared: &mut Interner,
) -> Result<Option<RecordedJob>, InputError> {
    let whole = "a whole number";
    // What priorities cannot read is left out here, too.
    let row = job::row(record, shared)?;
    let state = &*row.state;
    let runs = match JobPhase::of(state) {
        Some(JobPhase::Pending) => false,
        Some(JobPhase::Running) => true,
        Some(JobPhase::Ended) | None => return Ok(None),
    };
    let id: u32 = record.read("JobId", whole, |text| text.parse().ok())?;
    let moment = |key: &str| record.said(key).and_then(time::moment).filter(|t| *t > 0);
    let latest = now.saturating_add(LATEST_SECS);
    let past = |key: &str, least: i64| {
        let read = |text: &str| {
            let found = time::moment(text).filter(|at| (least..=latest).contains(at));
            found.map(|at| at.min(now))
        };
        record.read(key, "a time in the past, as 2026-11-21T10:04:14", read)
    };
    let submit = past("SubmitTime", 0)?;
    let array = record.said_before("JobName", "ArrayJobId");
    let array = array.and_then(|text| text.parse().ok());
    let first_task = record.said_before("JobName", "ArrayTaskId");
    let first_task = first_task.and_then(|text| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        text[..digits].parse().ok()
    });
    let request = request(record, runs)?;
    let start = runs.then(|| past("StartTime", 1)).transpose()?;
    let nodes = runs.then(|| record.read("NodeList", "nodes as n[1-4]", hostlist::expand));
    let nodes = nodes.transpose()?.unwrap_or_default();
    let accrue = moment("AccrueTime").or(moment("EligibleTime"));
    let ms = |secs: i64| secs * 1000;
    let held = request.held;
    let cpus = record.said("NumCPUs").and_then(count::range);
    let cpus = cpus.and_then(|(least, _)| u32::try_from(least).ok());
    Ok(Some(RecordedJob {
        id,
        task: array.map(|array| (array, first_task.unwrap_or(0))),
        submit_ms: ms(submit),
        eligible_ms: accrue.map(ms),
        start_ms: start.map(ms),
        end_ms: None,
        nodes,
        allocated_cpus: cpus.unwrap_or(1),
        billing: None,
        state: state.to_owned(),
        first_priority: record.said("Priority").and_then(|text| text.parse().ok()),
        held_ms: if held {
            vec![(0, i64::MAX)]
        } else {
            Vec::new()
        },
        backfilled: None,
        request,
    }))
}

fn request(record: &Record<'_>, runs: bool) -> Result<Request, InputError> {
    let text = |key: &str| record.said(key).map(str::to_owned);
    let small = |n: u64| u32::try_from(n).ok();
    let tail = JobTail::of(record);
    let user = record.text("UserId")?.rsplit_once('(');
    let tres = ["ReqTRES", "AllocTRES", "TRES"].into_iter();
    let tres = tres.filter_map(|key| record.said(key)).next();
    let tres = tres.and_then(count::tres).unwrap_or_default();
    let of = |name: &str| {
        let found = tres.iter().find(|(known, _)| known == name);
        found.and_then(|(_, count)| small(*count))
    };
    let number = |key: &str| record.said(key)?.parse::<u32>().ok();
    let cpus = record.said("NumCPUs").and_then(count::range);
    let cpus = cpus.and_then(|(least, _)| small(least));
    let cpus = of("cpu").or(cpus).unwrap_or(1);
    let per_task = number("CPUs/Task").filter(|count| *count > 0);
    let tasks = number("NumTasks").filter(|count| *count > 0);
    // A job asks for at least the CPUs of all its tasks; what it gets may be more.
    let tasks = match (tasks, per_task) {
        (Some(tasks), Some(each)) if tasks.saturating_mul(each) >= cpus || runs => tasks,
        (_, each) => cpus.div_ceil(each.unwrap_or(1)),
    };
    let range = record.said("NumNodes").and_then(count::range);
    let range = range.and_then(|(least, most)| Some((small(least)?, small(most)?)));
    let named_most = record
        .said("NumNodes")
        .is_some_and(|text| text.contains('-'));
    let least = of("node").filter(|count| *count > 0);
    let least = least.or(range.map(|(least, _)| least)).unwrap_or(1).max(1);
    // `2-2` says the most, `2` alone does not.
    let most = range.map(|(_, most)| most).filter(|_| named_most);
    let nodes = match (least, most) {
        (least, Some(most)) => Some((least, most.max(least))),
        (1, None) => None,
        (least, None) => Some((least, least)),
    };
    let memory = |key: &str| tail.said(key).and_then(megabytes);
    let limit = record.read(
        "TimeLimit",
        "a time as 1-00:00:00, or UNLIMITED",
        time::limit,
    )?;
    let minutes = |limit: TimeLimit| match limit {
        TimeLimit::Minutes(minutes) => Some(minutes),
        TimeLimit::Unlimited | TimeLimit::Unset => None,
    };
    let list = |key: &str| record.said(key).and_then(hostlist::expand);
    let dependencies = record.said("Dependency").map(without_brackets);
    let dependencies = dependencies.map(|text| sbatch::request(["-d", &text]));
    let dependencies = dependencies.unwrap_or_default();
    let per_node = tail.said("NtasksPerN:B:S:C");
    let per_node = per_node.and_then(|text| text.split(':').next()?.parse().ok());
    let eligible = record.said("EligibleTime").and_then(time::moment);
    let begins = record.said("Reason") == Some("BeginTime");
    let throttle = record.said_before("JobName", "ArrayTaskThrottle");
    let throttle = throttle.and_then(|text| text.parse().ok());
    let of_list = record.said_before("JobName", "ArrayTaskId");
    let of_list = of_list.and_then(|tasks| sbatch::request(["-a", tasks]).array_running);
    let split = |key: &str| {
        let names = record.said(key).unwrap_or("").split(',');
        let names = names.filter(|name| !name.is_empty() && *name != "N/A");
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    Ok(Request {
        user: user.map(|(name, _)| name.to_owned()),
        account: text("Account"),
        partitions: split("Partition"),
        qos: split("QOS").into_iter().next(),
        name: None,
        tasks: Some(tasks.max(1)),
        cpus_per_task: per_task,
        tasks_per_node: per_node.filter(|count| *count > 0),
        nodes,
        memory: memory("MinMemoryNode")
            .map(Memory::Node)
            .or(memory("MinMemoryCPU").map(Memory::Cpu)),
        limit_mins: minutes(limit),
        least_mins: record
            .said("TimeMin")
            .and_then(time::limit)
            .and_then(minutes),
        gres: GresRequest::of_tres(&tres, Some(u64::from(least))),
        features: tail
            .said("Features")
            .and_then(|text| sbatch::request(["-C", text]).features),
        exclusive: tail.said("OverSubscribe") == Some("NO"),
        node_list: list("ReqNodeList").filter(|_| !runs).unwrap_or_default(),
        excluded: list("ExcNodeList").unwrap_or_default(),
        array_running: of_list.or(throttle).filter(|count| *count > 0),
        dependencies: dependencies.dependencies,
        any_dependency: dependencies.any_dependency,
        begin: eligible.filter(|time| begins && *time > 0),
        held: record.said("Priority") == Some("0") && !runs,
        nice: record.read("Nice", "a whole number", |text| text.parse().ok())?,
        reservation: text("Reservation"),
        contiguous: tail.said("Contiguous") == Some("1"),
        ..Request::default()
    })
}

/// `afterok:302(unfulfilled)` without what is in brackets, and `301_*` without its tasks.
fn without_brackets(text: &str) -> String {
    let mut depth = 0;
    let kept = text.chars().filter(|letter| match letter {
        '(' => {
            depth += 1;
            false
        }
        ')' => {
            depth -= 1;
            false
        }
        _ => depth == 0,
    });
    kept.collect()
}

/// `0`, `2G`, `1500M`.
fn megabytes(text: &str) -> Option<u64> {
    let found = count::tres(&format!("mem={text}"))?;
    found.first().map(|(_, count)| *count)
}

#[cfg(test)]
mod tests {
    use super::super::job::read_names;
    use super::*;
    use crate::machine::Until;

    // Printed by scontrol 22.05.8; numbers are made up.
    const LINE: &str = "JobId=4 ArrayJobId=4 ArrayTaskId=1-3%2 ArrayTaskThrottle=2 JobName=a \
        UserId=ann(1006) GroupId=ann(1006) MCS_label=N/A Priority=63206 Nice=-5 Account=physics \
        QOS=normal JobState=PENDING Reason=Dependency Dependency=afterok:302(unfulfilled) \
        RunTime=00:00:00 TimeLimit=00:05:00 TimeMin=00:02:00 SubmitTime=2026-11-21T10:04:14 \
        EligibleTime=Unknown AccrueTime=Unknown StartTime=Unknown Partition=main,debug \
        ReqNodeList=(null) ExcNodeList=n[3-4] NodeList= NumNodes=2-4 NumCPUs=8 NumTasks=4 CPUs/Task=2 \
        ReqB:S:C:T=0:0:*:* TRES=cpu=8,mem=1G,node=2,gres/gpu=4,gres/gpu:a100=4 Socks/Node=* \
        NtasksPerN:B:S:C=2:0:*:* CoreSpec=* MinCPUsNode=4 MinMemoryCPU=500M MinTmpDiskNode=0 \
        Features=big DelayBoot=00:00:00 OverSubscribe=NO Contiguous=1 Licenses=(null) Network=(null) \
        Command=/x Features=small\n";

    // 2026-11-21T10:40:18Z.
    const NOW: i64 = 1_795_257_618;

    fn of(text: &str) -> Vec<RecordedJob> {
        let mut left = LeftOut::refusing();
        read("f", text.as_bytes(), &Names::new(), NOW, &mut left).unwrap()
    }

    #[test]
    fn requests_have_all_that_a_scheduler_looks_at() {
        let jobs = of(LINE);
        let tasks: Vec<_> = jobs.iter().map(|job| (job.id, job.task)).collect();
        assert_eq!(
            tasks,
            [(4, Some((4, 1))), (5, Some((4, 2))), (6, Some((4, 3)))]
        );
        let request = &jobs[0].request;
        assert_eq!((request.tasks, request.cpus()), (Some(4), 8));
        assert_eq!(
            (request.nodes, request.tasks_per_node),
            (Some((2, 4)), Some(2))
        );
        assert_eq!(request.memory, Some(Memory::Cpu(500)));
        assert_eq!((request.limit_mins, request.least_mins), (Some(5), Some(2)));
        let [gpu] = &request.gres[..] else {
            panic!("{request:?}")
        };
        assert_eq!((gpu.kind.as_str(), gpu.count), ("a100", 2));
        let features = request.features.as_ref().unwrap();
        assert!(features.hold(&["big".into()]) && !features.hold(&["small".into()]));
        assert!(request.exclusive && request.contiguous);
        assert_eq!(request.excluded, ["n3", "n4"]);
        assert_eq!(request.array_running, Some(2));
        assert_eq!(request.dependencies[0].until, Until::Success);
        assert_eq!(request.dependencies[0].job, 302);
        assert_eq!(jobs[0].eligible_ms, None);
    }

    #[test]
    fn running_jobs_have_nodes_and_ended_ones_are_left_out() {
        let running = LINE
            .replace("ArrayJobId=4 ArrayTaskId=1-3%2 ArrayTaskThrottle=2 ", "")
            .replace("PENDING", "RUNNING")
            .replace("StartTime=Unknown", "StartTime=2026-11-21T10:10:00")
            .replace("NodeList= ", "NodeList=n[1-2] ");
        let jobs = of(&running);
        assert_eq!((jobs[0].task, &*jobs[0].nodes[1]), (None, "n2"));
        assert_eq!(jobs[0].start_ms, Some(1_795_255_800_000));
        assert!(of(&running.replace("RUNNING", "COMPLETED")).is_empty());
        // Nodes that boot for a job, or that it is about to give back, are taken.
        for state in ["CONFIGURING", "RESIZING"] {
            let jobs = of(&running.replace("RUNNING", state));
            assert_eq!(jobs[0].nodes.len(), 2, "{state}");
        }
        let held = LINE.replace("PENDING", "REQUEUE_HOLD");
        assert_eq!(of(&held).len(), 3);
    }

    // A forecast without them would give their nodes away.
    #[test]
    fn running_jobs_without_nodes_or_of_the_future_are_left_out_with_a_note() {
        let running = LINE
            .replace("ArrayJobId=4 ArrayTaskId=1-3%2 ArrayTaskThrottle=2 ", "")
            .replace("PENDING", "RUNNING")
            .replace("StartTime=Unknown", "StartTime=2026-11-21T10:10:00")
            .replace("NodeList= ", "NodeList=n[1-2] ");
        for (old, new, what) in [
            (" NodeList=n[1-2]", " NodeList=n[0-", "NodeList"),
            (" NodeList=n[1-2]", " NodeList=(null)", "NodeList"),
            ("StartTime=2026", "StartTime=2099", "StartTime"),
            (
                "StartTime=2026-11-21T10:10:00",
                "StartTime=Unknown",
                "StartTime",
            ),
            ("SubmitTime=2026", "SubmitTime=2099", "SubmitTime"),
            ("JobId=4 ", "JobId= ", "JobId"),
            ("NumCPUs=", "NumCPUs=abc", "NumCPUs"),
        ] {
            let other = running.replace("JobId=4", "JobId=5");
            let text = other + &running.replacen(old, new, 1);
            let mut left = LeftOut::default();
            let jobs = read("f", text.as_bytes(), &Names::new(), NOW, &mut left).unwrap();
            assert_eq!(jobs.len(), 1, "{new}");
            let notes = left.notes();
            assert!(
                notes[0].starts_with("f:2:") && notes[0].contains(what),
                "{notes:?}"
            );
        }
        // Clocks that differ by an hour.
        let jobs = of(&running.replace("StartTime=2026-11-21T10", "StartTime=2026-11-21T11"));
        assert_eq!(jobs[0].start_ms, Some(NOW * 1000));
    }

    #[test]
    fn pseudonyms_keep_what_is_read() {
        let names = read_names("4|a\n");
        let mut again = String::new();
        let mut left = LeftOut::refusing();
        for_each("f", LINE.as_bytes(), &names, &mut left, &mut |record| {
            again = format!("JobId=4 JobName=a{}", JobTail::of(record));
            Ok(())
        })
        .unwrap();
        assert_eq!(
            again,
            "JobId=4 JobName=a Socks/Node=* NtasksPerN:B:S:C=2:0:*:* MinMemoryCPU=500M Features=big \
             OverSubscribe=NO Contiguous=1"
        );
    }
}
