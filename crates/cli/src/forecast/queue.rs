//! What forecasts are made from: a live site, or a capture.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::Failure;
use crate::cluster::{follow_own, hidden_so, part, refused};
use crate::input::note_missing;
use crate::message::Messages;
use crate::progress::Waiting;
use fairtree::compat::Compat;
use fairtree::config::PolicyFile;
use fairtree_analysis::forecast::{Asked, QueueForecast, Wanted, planned_starts};
use fairtree_model::cluster::Cluster;
use fairtree_model::input::capture::{Stored, latest_history, open, take, with_history};
use fairtree_model::input::recorded::{RecordedJob, past, read_site};
use fairtree_model::input::slurm::config::{hides_jobs, hides_usage};
use fairtree_model::input::slurm::job::read_names;
use fairtree_model::input::slurm::snapshot::{Answers, Purpose, Snapshot, Source};
use fairtree_model::input::slurm::{job_request, present};
use fairtree_model::input::{InputError, LeftOut, Problem};
use fairtree_model::machine::Machine;
use fairtree_sim::forecast::Making;

/// Where the packaged timer keeps captures.
pub(crate) const CAPTURES: &str = "/var/lib/fairtree/captures";
/// Past jobs of a capture are recent enough for a live forecast, seconds.
const RECENT_SECS: i64 = 3 * 86_400;

/// Where it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum From<'a> {
    /// A capture, or the latest in a folder.
    Capture(&'a Path),
    /// A site in TOML that lists its nodes.
    Site(&'a Path),
    /// Slurm itself.
    Slurm,
}

/// How it is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading<'a> {
    /// Past jobs, too.
    pub wants_past: bool,
    /// Seconds for each command of Slurm.
    pub time_limit: u64,
    /// The policy that the site is taken to follow.
    pub policy: Option<&'a PolicyFile>,
    /// Another compatibility than the settings'.
    pub compat: Option<Compat>,
}

/// A site with its queue, its machine and its past.
pub(crate) struct Present {
    /// Name of the input.
    pub name: String,
    /// The site with its queue.
    pub cluster: Cluster,
    machine: Machine,
    jobs: Vec<RecordedJob>,
    past: Vec<RecordedJob>,
    now: i64,
    /// How old it is, seconds; `None`: it is live.
    pub age_secs: Option<i64>,
    /// It is a site in TOML.
    pub is_described: bool,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Those of them about jobs that the forecast does not know, which make it wrong.
    pub unknown: Vec<String>,
}

/// A site as its user sees it.
pub(crate) enum Read {
    /// Enough for forecasts.
    Whole(Box<Present>),
    /// Jobs or shares of others are hidden, so that only the plan of slurmctld is known.
    Part(Box<Part>),
}

/// The part of a site that its user sees.
pub(crate) struct Part {
    /// Name of the input.
    pub name: String,
    /// The site with the jobs that are seen.
    pub cluster: Cluster,
    /// The start that slurmctld plans for each job, seconds since 1970; 0: none.
    planned: HashMap<u32, i64>,
    now: i64,
    /// How old it is, seconds; `None`: it is live.
    pub age_secs: Option<i64>,
    /// A sentence on what is hidden.
    pub why: String,
}

impl Part {
    /// The plan of slurmctld for some jobs.
    pub fn planned(&self, jobs: &[Wanted]) -> Result<QueueForecast, Failure> {
        let made = planned_starts(
            &self.cluster,
            jobs,
            &self.planned,
            self.now,
            self.why.clone(),
        );
        made.map_err(|error| Failure::Usage(format!("{}: {error}", self.name)))
    }
}

/// Answers, and where they are from.
struct Taken {
    name: String,
    answers: Answers,
    user: Option<String>,
    stored: Option<Stored>,
    now: i64,
    age_secs: Option<i64>,
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

impl Present {
    /// Reads all of it.
    pub fn read(
        from: From<'_>,
        reading: Reading<'_>,
        messages: &Messages,
    ) -> Result<Read, Failure> {
        let Reading {
            wants_past,
            time_limit,
            policy,
            compat,
        } = reading;
        if let From::Site(path) = from {
            return Ok(Read::Whole(Box::new(Present::of_site(path, reading)?)));
        }
        let mut notes = Vec::new();
        let kept = match from {
            From::Slurm if wants_past => recent_history(),
            _ => None,
        };
        let asks_past = wants_past && kept.is_none();
        let taken = match from {
            From::Capture(folder) | From::Site(folder) => captured(folder)?,
            From::Slurm => asked(asks_past, Duration::from_secs(time_limit), messages)?,
        };
        let Taken {
            name,
            answers,
            user,
            stored,
            now,
            age_secs,
        } = taken;
        let mut snapshot = Snapshot::read(&name, &answers, Purpose::Any)?;
        match &stored {
            Some(stored) => stored.follow_policy(&mut snapshot.queued.settings.config)?,
            None => follow_own(&mut snapshot.queued.settings.config),
        }
        if let Some(file) = policy {
            let config = &mut snapshot.queued.settings.config;
            *config = config.clone().under_policy(file).map_err(refused)?;
        }
        let private = &mut snapshot.queued.settings.private_data;
        if user.as_deref() == Some("root") {
            private.clear();
        }
        let own = |name: &str| user.as_deref() == Some(name);
        let only_own = snapshot.queued.jobs.iter().all(|job| own(&job.user));
        let hides_jobs = hides_jobs(private) && only_own;
        let hides_shares = hides_usage(private);
        let cluster = match Cluster::from_snapshot(&snapshot, compat) {
            Ok(cluster) if !hides_jobs && !snapshot.queued.hidden.any() => cluster,
            Err(error) if !hides_shares => return Err(error.into()),
            _ => {
                let jobs = snapshot.queued.jobs.iter();
                return Ok(Read::Part(Box::new(Part {
                    name,
                    cluster: part(&snapshot, compat)?,
                    planned: jobs.map(|job| (job.id, job.start_time)).collect(),
                    now,
                    age_secs,
                    why: hidden_so(&snapshot, "nothing is simulated"),
                })));
            }
        };
        let machine = present::read(&name, &answers)?;
        let mut left = LeftOut::default();
        let jobs = jobs(&answers, now, &mut left)?;
        let past = match (wants_past, kept.as_ref().or(stored.as_ref())) {
            (false, _) => Vec::new(),
            (true, Some(stored)) => past_of(stored, &mut notes)?,
            (true, None) => past_in(&answers, &mut notes)?,
        };
        let mut unknown = left.notes();
        unknown.extend(without(left.count()));
        let known = cluster.assumptions.iter();
        notes.extend(known.filter(|note| !unknown.contains(note)).cloned());
        notes.extend(unknown.iter().cloned());
        Ok(Read::Whole(Box::new(Present {
            name,
            cluster,
            machine,
            jobs,
            past,
            now,
            age_secs,
            is_described: false,
            notes,
            unknown,
        })))
    }

    /// A site in TOML: its past is not known.
    fn of_site(path: &Path, reading: Reading<'_>) -> Result<Present, Failure> {
        let (mut site, machine) = read_site(path)?;
        let name = site.file.clone();
        let jobs = std::mem::take(&mut site.requests);
        let lost = jobs
            .iter()
            .find(|job| job.start_ms.is_some() && job.nodes.is_empty());
        if let Some(job) = lost {
            let why = format!("job {} runs, and its nodes are not given", job.id);
            let error = InputError::new(&name, Problem::Absent(why));
            return Err(error.hint("give them: node_list = \"n[1-2]\"").into());
        }
        let cluster = Cluster::from_site(site, reading.compat)?;
        let Some(now) = cluster.now() else {
            let why = "has no moment to begin with".to_owned();
            let error = InputError::new(&name, Problem::Absent(why));
            return Err(error.hint("give now at the top of the file").into());
        };
        Ok(Present {
            name,
            notes: cluster.assumptions.clone(),
            cluster,
            machine,
            jobs,
            past: Vec::new(),
            now,
            age_secs: None,
            is_described: true,
            unknown: Vec::new(),
        })
    }

    /// What forecasts are made from; they try nothing that may help.
    pub fn asked(&self) -> Asked<'_> {
        Asked {
            cluster: &self.cluster,
            machine: &self.machine,
            present: &self.jobs,
            past: &self.past,
            now: self.now,
            making: Making::default(),
            helps: false,
        }
    }
}

/// A capture.
fn captured(folder: &Path) -> Result<Taken, Failure> {
    let stored = open(folder)?;
    let time = i64::try_from(stored.manifest.time).unwrap_or(0);
    Ok(Taken {
        name: stored.folder.display().to_string(),
        answers: stored.answers.clone(),
        user: stored.manifest.user.clone(),
        now: time,
        age_secs: Some((now() - time).max(0)),
        stored: Some(stored),
    })
}

/// The answers of Slurm itself.
fn asked(asks_past: bool, limit: Duration, messages: &Messages) -> Result<Taken, Failure> {
    let mut sources = Source::ALL.to_vec();
    if asks_past {
        sources.push(Source::History);
    }
    let waiting = Waiting::new("asking Slurm");
    let taken = take(&sources, limit, Purpose::Any)?;
    drop(waiting);
    note_missing(&taken, messages);
    Ok(Taken {
        name: "the live site".to_owned(),
        answers: taken.answers,
        user: taken.manifest.user,
        stored: None,
        now: now(),
        age_secs: None,
    })
}

/// The capture of the packaged timer whose past jobs save a question to the database, if this user may read
/// it.
fn recent_history() -> Option<Stored> {
    let found = latest_history(Path::new(CAPTURES), u64::MAX).ok()??;
    let time = i64::try_from(found.manifest.time).ok()?;
    (!found.manifest.anonymised && now() - time < RECENT_SECS).then_some(found)
}

/// What a forecast is without some jobs.
fn without(count: usize) -> Option<String> {
    let them = match count {
        0 => return None,
        1 => "a job that cannot be read: if it runs, its nodes count as free".to_owned(),
        count => {
            format!("{count} jobs that cannot be read: the nodes of those that run count as free")
        }
    };
    Some(format!("the forecast is without {them}"))
}

/// The jobs that wait and run.
fn jobs(answers: &Answers, now: i64, left: &mut LeftOut) -> Result<Vec<RecordedJob>, InputError> {
    let names = answers.get(&Source::Names);
    let names = names.map(|answer| read_names(&answer.text));
    match answers.get(&Source::Jobs) {
        Some(answer) => job_request::read(
            &answer.name,
            answer.text.as_bytes(),
            &names.unwrap_or_default(),
            now,
            left,
        ),
        None => Ok(Vec::new()),
    }
}

/// The past jobs of a capture, or of the latest before it that has them.
fn past_of(stored: &Stored, notes: &mut Vec<String>) -> Result<Vec<RecordedJob>, InputError> {
    let Some(found) = with_history(stored)? else {
        let folder = stored.folder.display();
        let file = Source::History.file();
        notes.push(match stored.folder.join(file).exists() {
            true => format!(
                "{folder}: has no past jobs: {file} is there, but manifest.json does not list it, and no \
                 capture beside it has any"
            ),
            false => format!(
                "{folder}: has no past jobs, and no capture beside it has: earlier versions, and \
                 --no-history, make captures without"
            ),
        });
        return Ok(Vec::new());
    };
    let read = past::read_file(&found.path(Source::History)?)?;
    notes.extend(read.notes);
    Ok(read.jobs)
}

/// The past jobs that Slurm told.
fn past_in(answers: &Answers, notes: &mut Vec<String>) -> Result<Vec<RecordedJob>, InputError> {
    let Some(answer) = answers.get(&Source::History) else {
        return Ok(Vec::new());
    };
    let read = past::read(&answer.name, answer.text.as_bytes())?;
    notes.extend(read.notes);
    Ok(read.jobs)
}
