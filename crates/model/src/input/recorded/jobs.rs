//! The jobs of a recorded run.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::{open, shown, text};
use crate::input::error::{InputError, Problem};
use crate::input::format::Format;
use crate::input::slurm::controller_log::{LogEvent, Logged};
use crate::input::slurm::hostlist::expand;
use crate::input::slurm::sbatch;
use crate::input::stream::Stream;
use crate::input::workload::{LoggedJob, Recorded as Record};
use crate::input::{sacct, swf};
use crate::machine::{Dependency, GresRequest, Memory, Request};

/// A job, or a task of an array, of a recorded run. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedJob {
    /// Its own number.
    pub id: u32,
    /// Its array and task.
    pub task: Option<(u32, u32)>,
    /// Its request.
    pub request: Request,
    /// Submission.
    pub submit_ms: i64,
    /// When it became eligible; `None`: never.
    pub eligible_ms: Option<i64>,
    /// Start; `None`: it never started.
    pub start_ms: Option<i64>,
    /// End, or when it was cancelled; `None`: not before the records end.
    pub end_ms: Option<i64>,
    /// Its nodes, in the order of the list.
    pub nodes: Vec<String>,
    /// CPUs that it got.
    pub allocated_cpus: u32,
    /// Billing TRES that it got; `None`: not recorded.
    pub billing: Option<u64>,
    /// How it ended, in Slurm's words.
    pub state: String,
    /// Priority at submission by the log.
    pub first_priority: Option<u32>,
    /// Spans in which it was held.
    pub held_ms: Vec<(i64, i64)>,
    /// The backfill scheduler started it, by the log; `None`: not known.
    pub backfilled: Option<bool>,
}

/// The options of each `sbatch`, by the number of the job.
pub(super) type Options = HashMap<u32, String>;

/// Reads the jobs, in order of submission.
pub(super) fn read(
    path: &Path,
    options: [Option<PathBuf>; 2],
    assumptions: &mut Vec<String>,
) -> Result<Vec<RecordedJob>, InputError> {
    let [tsv, events] = options;
    let mut lines = Options::new();
    if let Some(path) = &events {
        lines.extend(of_events(&text(path)?));
    }
    if let Some(path) = &tsv {
        lines.extend(of_tsv(&text(path)?));
    }
    let name = shown(path);
    let mut jobs: Vec<RecordedJob> = Vec::new();
    let (mut without_options, mut ignored) = (0, Vec::new());
    let mut left_out = LeftOut::new();
    let mut components = 0_usize;
    let options = sacct::Options::default();
    let input = open(path)?.input;
    let summary = sacct::read_requests(&name, input, options, &mut |record| {
        let job = match job(record, &lines) {
            Ok(job) => job,
            Err(why) => {
                *left_out.entry(why).or_default() += 1;
                return;
            }
        };
        components += usize::from(record.job.id.contains('+'));
        without_options += usize::from(!lines.is_empty() && job.options.is_none());
        ignored.extend(job.job.request.ignored.iter().cloned());
        jobs.push(job.job);
    })?;
    if lines.is_empty() {
        assumptions.push(
            "the options of sbatch are not recorded: requests are those of ReqTRES and Timelimit, \
             without features, dependencies and excluded nodes"
                .to_owned(),
        );
    } else if without_options > 0 {
        assumptions.push(format!(
            "options of sbatch are missing for {without_options} jobs: their requests are those of \
             ReqTRES and Timelimit"
        ));
    }
    assumptions.extend(summary.notes);
    assumptions.extend(left_out_notes(&left_out));
    if components > 0 {
        assumptions.push(format!(
            "heterogeneous jobs are not modelled: each of their {components} components is a job of its own"
        ));
    }
    ignored.sort();
    for same in ignored.chunk_by(|a, b| a == b) {
        assumptions.push(format!("{} is not modelled: {} jobs", same[0], same.len()));
    }
    if jobs.iter().all(|job| job.eligible_ms.is_none()) {
        for job in &mut jobs {
            job.eligible_ms = Some(job.submit_ms);
        }
        let why = "the log has no column Eligible: jobs are eligible when they are submitted";
        assumptions.push(why.to_owned());
    }
    jobs.sort_by_key(|job| (job.submit_ms, job.id));
    Ok(jobs)
}

/// Reads the jobs of a log: the output of sacct, or in the Standard Workload Format.
pub(super) fn read_log(
    path: &Path,
    assumptions: &mut Vec<String>,
) -> Result<Vec<RecordedJob>, InputError> {
    let name = shown(path);
    let Stream { head, input } = open(path)?;
    match Format::detect(&name, &String::from_utf8_lossy(&head))? {
        Format::Sacct => read(path, [None, None], assumptions),
        Format::Swf => {
            let mut jobs = Vec::new();
            let mut left_out = LeftOut::new();
            let summary = swf::read_jobs(&name, input, &mut |job| match archived(job) {
                Ok(job) => jobs.push(job),
                Err(why) => *left_out.entry(why).or_default() += 1,
            })?;
            assumptions.extend(summary.notes);
            assumptions.extend(left_out_notes(&left_out));
            jobs.sort_by_key(|job| (job.submit_ms, job.id));
            Ok(jobs)
        }
        _ => {
            let why = "is no log of jobs; allowed are the output of sacct -X -P and the Standard \
                 Workload Format";
            Err(InputError::new(&name, Problem::Structure(why.to_owned())))
        }
    }
}

/// Jobs that are left out, by reason.
type LeftOut = BTreeMap<&'static str, u64>;

fn left_out_notes(left_out: &LeftOut) -> impl Iterator<Item = String> {
    let notes = left_out.iter().map(|(why, count)| match count {
        1 => format!("1 job left out: {why}"),
        count => format!("{count} jobs left out: {why}"),
    });
    notes.collect::<Vec<_>>().into_iter()
}

const NO_NUMBER: &str = "its number cannot be read";
const NO_SUBMISSION: &str = "without a submission";

/// A job of an archived log, on the default partition, as its names of partitions are numbers; or why
/// it is left out.
fn archived(job: &LoggedJob<'_>) -> Result<RecordedJob, &'static str> {
    let positive = |count: Option<u64>| count.filter(|count| *count > 0);
    let processors = positive(job.requested).or(positive(job.allocated));
    let processors = processors.and_then(|count| u32::try_from(count).ok());
    let processors = processors.ok_or("without processors")?;
    let run = job.run_secs.filter(|secs| *secs > 0);
    let run = run.ok_or("that did not run for a second or had not ended")?;
    let limit = job.limit_secs.filter(|secs| *secs > 0);
    let limit = limit.ok_or("without a time limit")?;
    let submit_ms = job.submit.ok_or(NO_SUBMISSION)? * 1000;
    let start_ms = job.start.map_or(submit_ms, |start| start * 1000);
    Ok(RecordedJob {
        id: job.id.parse().map_err(|_| NO_NUMBER)?,
        task: None,
        request: Request {
            user: job.user.map(str::to_owned),
            account: job.account.map(str::to_owned),
            tasks: Some(processors),
            limit_mins: u32::try_from((limit + 59) / 60).ok(),
            ..Request::default()
        },
        submit_ms,
        eligible_ms: Some(submit_ms),
        start_ms: Some(start_ms),
        end_ms: Some(start_ms + run.min(limit) * 1000),
        nodes: Vec::new(),
        allocated_cpus: processors,
        billing: None,
        state: "COMPLETED".to_owned(),
        first_priority: None,
        held_ms: Vec::new(),
        backfilled: None,
    })
}

/// A job, and the options that were found of it.
pub(super) struct Found<'l> {
    pub(super) job: RecordedJob,
    options: Option<&'l String>,
}

pub(super) fn job<'l>(record: &Record<'_>, lines: &'l Options) -> Result<Found<'l>, &'static str> {
    let whole = record.job.id;
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let end = digits(whole);
    let listed: u32 = whole[..end].parse().map_err(|_| NO_NUMBER)?;
    let submit = record.job.submit.ok_or(NO_SUBMISSION)?;
    let number = whole[end..].strip_prefix('_');
    let number = number.and_then(|text| text.parse::<u32>().ok());
    let raw = record
        .raw_id
        .and_then(|text| text[..digits(text)].parse().ok());
    let id = raw.unwrap_or(listed);
    let options = lines.get(&listed).or_else(|| lines.get(&id));
    let command = record.command_line;
    let mut request = match (options, command) {
        (Some(line), _) => sbatch::request(line.split_whitespace()),
        (None, Some(line)) => sbatch::request(line.split_whitespace().skip(1)),
        (None, None) => Request::default(),
    };
    complete(&mut request, record, options.is_some() || command.is_some());
    let ms = |secs: i64| secs * 1000;
    let job = &record.job;
    let state = job.state.unwrap_or("").to_owned();
    Ok(Found {
        job: RecordedJob {
            id,
            task: number.map(|number| (listed, number)),
            submit_ms: ms(submit),
            eligible_ms: record.eligible.map(ms),
            start_ms: job.start.map(ms),
            end_ms: record.end.map(ms),
            nodes: record.node_list.and_then(expand).unwrap_or_default(),
            allocated_cpus: job.allocated.and_then(|n| n.try_into().ok()).unwrap_or(0),
            billing: record
                .allocated_tres
                .as_deref()
                .and_then(|tres| count(tres, "billing")),
            state,
            first_priority: None,
            held_ms: Vec::new(),
            backfilled: None,
            request,
        },
        options,
    })
}

fn count(tres: &[(String, u64)], name: &str) -> Option<u64> {
    let found = tres.iter().find(|(known, _)| known == name);
    found.map(|(_, count)| *count)
}

/// Adds to a request what accounting records have of it.
fn complete(request: &mut Request, record: &Record<'_>, has_options: bool) {
    let job = &record.job;
    let own = |to: &mut Option<String>, from: Option<&str>| {
        if let Some(text) = from {
            *to = Some(text.to_owned());
        }
    };
    own(&mut request.user, job.user);
    own(&mut request.account, job.account);
    own(&mut request.qos, job.qos);
    own(&mut request.name, record.name);
    if request.partitions.is_empty() {
        let names = job.partition.unwrap_or("").split(',');
        request.partitions = names.filter(|n| !n.is_empty()).map(str::to_owned).collect();
    }
    if let Some(secs) = job.limit_secs {
        // Accounting has the limit that counted.
        request.limit_mins = u32::try_from(secs.div_euclid(60)).ok();
    }
    if has_options {
        return;
    }
    let tres = record.requested_tres.as_deref().unwrap_or_default();
    let cpus = count(tres, "cpu")
        .or(job.requested)
        .or(job.allocated)
        .unwrap_or(1);
    let nodes = count(tres, "node").unwrap_or(1).max(1);
    request.tasks = u32::try_from(cpus).ok();
    if nodes > 1 {
        let nodes = u32::try_from(nodes).unwrap_or(1);
        request.nodes = Some((nodes, nodes));
    }
    let memory = record.requested_memory.unwrap_or("");
    request.memory = match memory.strip_suffix('c') {
        Some(each) => megabytes(each).map(Memory::Cpu),
        None => match memory.strip_suffix('n') {
            Some(each) => megabytes(each).map(Memory::Node),
            // Since 21.08: of the whole job.
            None => count(tres, "mem").map(|mb| Memory::Node(mb.div_ceil(nodes))),
        },
    };
    request.gres.extend(GresRequest::of_tres(tres, Some(nodes)));
    if let Some(text) = record.features.filter(|text| !text.is_empty()) {
        request.features = sbatch::request(["-C", text]).features;
    }
}

pub(super) fn megabytes(text: &str) -> Option<u64> {
    let found = crate::input::slurm::parse_tres(&format!("mem={text}"))?;
    count(&found, "mem")
}

/// `# submitted <tab> sbatch options <tab> seconds <tab> job id`: the options by job.
fn of_tsv(text: &str) -> Options {
    let mut lines = text.lines();
    let header = lines.clone().next().filter(|line| line.starts_with('#'));
    let place = |word: &str, otherwise: usize| {
        let mut names = header.unwrap_or("").split('\t');
        names
            .position(|name| name.contains(word))
            .unwrap_or(otherwise)
    };
    let (options, id) = (place("option", 1), place("job id", 3));
    let rows = lines.by_ref().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let id = cells.get(id)?.trim().parse().ok()?;
        Some((id, (*cells.get(options)?).to_owned()))
    })
    .collect()
}

/// `-dt 0 -e submit_batch_job | -jid 1001 -sim-walltime 15 OPTIONS job`: the options by job.
fn of_events(text: &str) -> Options {
    let lines = text
        .lines()
        .filter_map(|line| line.split_once("submit_batch_job |"));
    lines
        .filter_map(|(_, rest)| {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let after = |name: &str| {
                let at = words.iter().position(|word| *word == name)?;
                words.get(at + 1).copied()
            };
            let id = after("-jid")?.parse().ok()?;
            let own = words.iter().enumerate().filter(|(at, word)| {
                let of_simulator = |word: &str| matches!(word, "-jid" | "-sim-walltime");
                !of_simulator(word) && (*at == 0 || !of_simulator(words[at - 1]))
            });
            let options: Vec<&str> = own.map(|(_, word)| *word).collect();
            Some((id, options.join(" ")))
        })
        .collect()
}

/// Moments to the millisecond, priorities and holds from the log.
pub(super) fn refine(jobs: &mut [RecordedJob], log: &[Logged]) {
    let place: HashMap<u32, usize> = jobs
        .iter()
        .enumerate()
        .map(|(at, job)| (job.id, at))
        .collect();
    let mut tasks: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, job) in jobs.iter().enumerate() {
        if let Some((array, _)) = job.task {
            tasks.entry(array).or_default().push(at);
        }
    }
    // The log is of the same second as the record, or of a retry that it does not have.
    let near = |secs_ms: i64, ms: i64| (secs_ms - 1000..secs_ms + 2000).contains(&ms);
    for line in log {
        let ms = line.at_ms;
        match &line.event {
            LogEvent::Submitted(job, priority) => {
                let own = place.get(&job.id).copied().into_iter();
                let all = tasks.get(&job.id).into_iter().flatten().copied();
                for at in own.chain(all) {
                    let job = &mut jobs[at];
                    if near(job.submit_ms, ms) {
                        job.submit_ms = ms;
                        job.first_priority = Some(*priority);
                    }
                }
            }
            LogEvent::MainStart(job, _) | LogEvent::BackfillStart(job, _) => {
                let by_backfill = matches!(line.event, LogEvent::BackfillStart(..));
                if let Some(job) = place.get(&job.id).map(|at| &mut jobs[*at]) {
                    if job.start_ms.is_some_and(|start| near(start, ms)) {
                        job.start_ms = Some(ms);
                        job.backfilled = Some(by_backfill);
                    }
                }
            }
            LogEvent::Done(job) => {
                if let Some(job) = place.get(&job.id).map(|at| &mut jobs[*at]) {
                    if job.end_ms.is_some_and(|end| near(end, ms)) {
                        job.end_ms = Some(ms);
                    }
                }
            }
            LogEvent::Held(job) | LogEvent::Released(job) => {
                let held = matches!(line.event, LogEvent::Held(_));
                let own = place.get(&job.id).copied().into_iter();
                let all = tasks.get(&job.id).into_iter().flatten().copied();
                for at in own.chain(all) {
                    hold(&mut jobs[at], held, ms);
                }
            }
            _ => {}
        }
    }
}

/// Notes that a job was held, or released, at a moment.
fn hold(job: &mut RecordedJob, held: bool, ms: i64) {
    match (held, job.held_ms.last_mut()) {
        (true, Some((_, until))) if *until == i64::MAX => {}
        (true, _) => job.held_ms.push((ms, i64::MAX)),
        (false, Some((_, until))) if *until == i64::MAX => *until = ms,
        // It was submitted held.
        (false, _) => job.held_ms.push((job.submit_ms, ms)),
    }
}

impl RecordedJob {
    /// Returns true if it was held at a moment.
    pub fn is_held(&self, ms: i64) -> bool {
        self.held_ms
            .iter()
            .any(|(from, until)| (*from..*until).contains(&ms))
    }

    /// The jobs that it waited for.
    pub fn dependencies(&self) -> &[Dependency] {
        &self.request.dependencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_both_forms() {
        let tsv = "# submitted\tsbatch options\tseconds\tjob id\n1.5\t-n12 -t6\t273\t1\n";
        assert_eq!(of_tsv(tsv)[&1], "-n12 -t6");
        let events = "-dt 0 -e submit_batch_job | -jid  1001 -sim-walltime 15 --uid=u -n 12 job\n";
        assert_eq!(of_events(events)[&1001], "--uid=u -n 12 job");
    }
}
