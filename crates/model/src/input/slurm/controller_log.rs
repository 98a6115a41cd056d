//! The log of slurmctld: cycles of its schedulers, submissions, starts, ends, states of nodes.
//!
//! At `SlurmctldDebug=debug` each cycle of both schedulers is logged; with `DebugFlags=Backfill` also
//! which jobs the backfill scheduler tested, and its plans. Lines that are not understood are passed
//! over: a log is prose. Times are read as UTC.

use std::io::BufRead;

use fairtree::compat::Release;

use super::hostlist::expand;
use super::time::moment;
use crate::input::error::InputError;
use crate::input::lines::Lines;

/// A line that matters: its moment, in milliseconds since 1970, and its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// The event.
    pub event: LogEvent,
}

/// A job as the log names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobRef {
    /// Number of the job; of an array's common record that of the array.
    pub id: u32,
    /// The array and the task.
    pub task: Option<(u32, u32)>,
}

/// An event of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogEvent {
    /// slurmctld started, of this release.
    Started(Option<Release>),
    /// The priority plugin was loaded: passes are counted from here.
    PriorityLoaded,
    /// A main pass, over all jobs or as deep as `default_queue_depth`.
    Main {
        /// Over all jobs.
        full: bool,
    },
    /// A cycle of the backfill scheduler began.
    Backfill,
    /// A cycle of the backfill scheduler ended.
    BackfillDone,
    /// A job was submitted with this priority.
    Submitted(JobRef, u32),
    /// The main scheduler started a job.
    MainStart(JobRef, Vec<String>),
    /// The backfill scheduler started a job.
    BackfillStart(JobRef, Vec<String>),
    /// The backfill scheduler tested a job of this priority.
    Tested(JobRef, u32),
    /// The backfill scheduler planned a job: start and end, seconds since 1970, and nodes.
    Planned(JobRef, i64, i64, Vec<String>),
    /// A job ended.
    Done(JobRef),
    /// A job was held.
    Held(JobRef),
    /// A held job was released.
    Released(JobRef),
    /// Nodes went down or were drained.
    NodesAway(Vec<String>),
    /// A node came back.
    NodeBack(String),
}

/// Reads the events of a log, in its order. `file` names the stream in messages.
///
/// # Errors
/// A stream that breaks.
pub fn read(file: &str, input: impl BufRead) -> Result<Vec<Logged>, InputError> {
    let mut lines = Lines::new(file, input);
    let mut found = Vec::new();
    while let Some(line) = lines.next()? {
        let Some((at_ms, text)) = stamped(&line) else {
            continue;
        };
        if let Some(event) = event(text) {
            found.push(Logged { at_ms, event });
        }
    }
    Ok(found)
}

/// The moment of a line, and the text after it.
fn stamped(line: &str) -> Option<(i64, &str)> {
    let (stamp, text) = line.strip_prefix('[')?.split_once("] ")?;
    let (whole, fraction) = stamp.split_once('.').unwrap_or((stamp, "0"));
    let millis: String = fraction.chars().chain("00".chars()).take(3).collect();
    let millis: i64 = millis.parse().ok()?;
    let secs = moment(whole).filter(|secs| *secs > 0)?;
    Some((secs * 1000 + millis, text))
}

fn event(text: &str) -> Option<LogEvent> {
    let after = |mark: &str| text.split_once(mark).map(|(_, rest)| rest);
    if let Some(rest) = text.strip_prefix("slurmctld version ") {
        return Some(LogEvent::Started(release(rest)));
    }
    if text.contains("Priority MULTIFACTOR plugin loaded")
        || text.contains("priority/fairtree: init")
    {
        return Some(LogEvent::PriorityLoaded);
    }
    if let Some(rest) = after("Running job scheduler ") {
        let full = rest.starts_with("for full queue");
        return Some(LogEvent::Main { full });
    }
    if text.contains("sched: Allocate ") {
        let job = job(text)?;
        return Some(LogEvent::MainStart(job, expand(word(text, "NodeList=")?)?));
    }
    if text.contains("_slurm_rpc_submit_batch_job: ") || text.contains("InitPrio=") {
        let priority = word(text, "InitPrio=")?.parse().ok()?;
        return Some(LogEvent::Submitted(job(text)?, priority));
    }
    if text.contains("_job_complete: ") && text.trim_end().ends_with(" done") {
        return Some(LogEvent::Done(job(text)?));
    }
    if text.contains("hold on JobId=") {
        let job = job(text)?;
        return Some(
            match text.contains("release hold on") || text.contains("_release_job_rec") {
                true => LogEvent::Released(job),
                false => LogEvent::Held(job),
            },
        );
    }
    if let Some(event) = node_state(text) {
        return Some(event);
    }
    let (_, text) = text.split_once("backfill: ")?;
    if text.ends_with("_attempt_backfill: beginning") || text.trim_end() == "beginning" {
        return Some(LogEvent::Backfill);
    }
    if text.contains("completed testing ") {
        return Some(LogEvent::BackfillDone);
    }
    if let Some((_, rest)) = text.split_once(": Started ") {
        let list = rest.rsplit_once(" on ")?.1.trim();
        return Some(LogEvent::BackfillStart(job(rest)?, expand(list)?));
    }
    if text.contains("test for ") {
        return Some(LogEvent::Tested(
            job(text)?,
            word(text, "Prio=")?.parse().ok()?,
        ));
    }
    if let Some((_, rest)) = text.split_once(" to start at ") {
        let (start, rest) = rest.split_once(", end at ")?;
        let (end, rest) = rest.split_once(" on nodes ")?;
        let list = rest.split(" in partition ").next()?;
        let planned = (moment(start)?, moment(end)?);
        return Some(LogEvent::Planned(
            job(text)?,
            planned.0,
            planned.1,
            expand(list.trim())?,
        ));
    }
    None
}

/// `update_node: node n2 state set to DRAINING`, `Nodes n[1-2] not responding, setting DOWN`,
/// `node n2 returned to service`.
fn node_state(text: &str) -> Option<LogEvent> {
    if let Some((nodes, _)) = text.split_once(" not responding, setting DOWN") {
        let (_, list) = nodes.rsplit_once("Nodes ")?;
        return Some(LogEvent::NodesAway(expand(list)?));
    }
    let (_, rest) = text.split_once("node ")?;
    let (name, state) = rest.split_once(' ')?;
    if state.starts_with("returned to service") {
        return Some(LogEvent::NodeBack(name.to_owned()));
    }
    let state = state.strip_prefix("state set to ")?;
    let is = |words: &[&str]| words.iter().any(|word| state.starts_with(word));
    if is(&["DOWN", "DRAIN", "FAIL"]) {
        return Some(LogEvent::NodesAway(vec![name.to_owned()]));
    }
    // What it has when it is resumed.
    let is_back = is(&["IDLE", "ALLOC", "MIX", "RESUME", "UNDRAIN"]);
    is_back.then(|| LogEvent::NodeBack(name.to_owned()))
}

/// `22.05.8 started on ...`.
fn release(text: &str) -> Option<Release> {
    let mut numbers = text.split(' ').next()?.splitn(3, '.').map(|part| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        part[..digits].parse().ok()
    });
    let mut next = || numbers.next().flatten();
    Some(Release::new(next()?, next()?, next()?))
}

/// The word after a mark.
fn word<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let rest = text.split_once(mark)?.1;
    rest.split([' ', ','])
        .next()
        .map(|first| match rest.find('[') {
            // A list of nodes has commas in brackets.
            Some(open) if open < first.len() => rest.split(' ').next().unwrap_or(first),
            _ => first,
        })
}

/// `JobId=12`, `JobId=10_3(13)`, `JobId=10_*`.
fn job(text: &str) -> Option<JobRef> {
    let rest = text.split_once("JobId=")?.1;
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let end = digits(rest);
    let id: u32 = rest[..end].parse().ok()?;
    let Some(task) = rest[end..].strip_prefix('_') else {
        return Some(JobRef { id, task: None });
    };
    let end = digits(task);
    let Ok(number) = task[..end].parse() else {
        return Some(JobRef { id, task: None });
    };
    let own = task[end..]
        .strip_prefix('(')
        .and_then(|rest| rest.split(')').next());
    Some(JobRef {
        id: own.and_then(|own| own.parse().ok()).unwrap_or(id),
        task: Some((id, number)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Lines of Slurm 22.05.8.
    #[test]
    fn lines_of_a_real_log() {
        let text = "\
[2026-11-24T19:07:15.155] slurmctld version 22.05.8 started on cluster ordinary
[2026-11-24T19:07:18.960] debug:  sched: Running job scheduler for default depth.
[2026-11-24T19:07:23.519] _slurm_rpc_submit_batch_job: JobId=1 InitPrio=10400 usec=345
[2026-11-24T19:07:23.969] sched: Allocate JobId=1 NodeList=n[1-2,5] #CPUs=12 Partition=main
[2026-11-24T19:07:30.689] sched/backfill: _attempt_backfill: beginning
[2026-11-24T19:09:45.701] sched/backfill: _attempt_backfill: BACKFILL: test for JobId=37 Prio=6072 Partition=main Reservation=NONE
[2026-11-24T19:09:45.701] sched/backfill: _start_job: Started JobId=10_3(13) in main on n[4,6]
[2026-11-24T19:10:00.702] sched/backfill: _dump_job_sched: JobId=21 to start at 2026-11-24T19:12:00, end at 2026-11-24T19:15:00 on nodes n[3,5-6] in partition main
[2026-11-24T19:09:55.104] _job_complete: JobId=8 WEXITSTATUS 0
[2026-11-24T19:09:55.104] _job_complete: JobId=8 done
";
        let found = read("f", text.as_bytes()).unwrap();
        let plain = |id| JobRef { id, task: None };
        let nodes = |list: &str| expand(list).unwrap();
        let events: Vec<LogEvent> = found.iter().map(|line| line.event.clone()).collect();
        let task = JobRef {
            id: 13,
            task: Some((10, 3)),
        };
        assert_eq!(
            events,
            [
                LogEvent::Started(Some(Release::V22_05_8)),
                LogEvent::Main { full: false },
                LogEvent::Submitted(plain(1), 10_400),
                LogEvent::MainStart(plain(1), nodes("n[1-2,5]")),
                LogEvent::Backfill,
                LogEvent::Tested(plain(37), 6072),
                LogEvent::BackfillStart(task, nodes("n[4,6]")),
                LogEvent::Planned(plain(21), 1_795_547_520, 1_795_547_700, nodes("n[3,5-6]")),
                LogEvent::Done(plain(8)),
            ]
        );
        assert_eq!(found[0].at_ms, 1_795_547_235_155);
    }

    // Texts of src/slurmctld/node_mgr.c and ping_nodes.c of Slurm 22.05.8 and 24.11.5.
    #[test]
    fn states_of_nodes() {
        let away = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned());
            Some(LogEvent::NodesAway(names.collect()))
        };
        let back = |name: &str| Some(LogEvent::NodeBack(name.to_owned()));
        for (text, found) in [
            ("update_node: node n2 state set to DRAINING", away(&["n2"])),
            ("update_node: node n2 state set to DOWN", away(&["n2"])),
            ("update_node: node n2 state set to IDLE", back("n2")),
            ("update_node: node n2 state set to POWERING_UP", None),
            ("drain_nodes: node n3 state set to DRAIN", away(&["n3"])),
            (
                "error: Nodes n[1-2] not responding, setting DOWN",
                away(&["n1", "n2"]),
            ),
            ("error: Nodes n[1-2] not responding", None),
            ("node_did_resp: node n1 returned to service", back("n1")),
        ] {
            assert_eq!(event(text), found, "{text}");
        }
    }
}
