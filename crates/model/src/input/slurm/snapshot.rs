//! The answers of all commands together: settings, shares, usage, the queue.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::sync::Arc;
use std::thread;

use super::assoc::AssocRow;
use super::config::Settings;
use super::job::JobRow;
use super::node::Nodes;
use super::partition::PartitionRow;
use super::qos::QosRow;
pub use super::source::{Purpose, Source};
use super::{assoc, config, job, merged_flags, node, partition, qos, rights};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::recorded::past;
use crate::input::sprio::{self, Factor, Queue, SprioRow};
use crate::input::sshare::{self, Listing};
use fairtree::config::Config;

/// An answer: the name of its file for messages, and its text.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Name for messages.
    pub name: String,
    /// Output of the command.
    pub text: String,
}

/// The answers that there are.
pub type Answers = HashMap<Source, Answer>;

/// Checks that an answer is what its command prints, as [`Snapshot::read`] would read it, with the
/// `names` of the jobs. Single records that cannot be read are no error, except of settings and shares.
///
/// # Errors
/// Those of the reader.
pub fn validate(source: Source, answer: &Answer, names: &job::Names) -> Result<(), InputError> {
    let (name, text) = (answer.name.as_str(), answer.text.as_str());
    let left = &mut LeftOut::default();
    let refused = &mut LeftOut::refusing();
    match source {
        Source::Config => config::read(name, text, refused).map(drop),
        Source::Shares => sshare::read_answer(name, text.as_bytes(), refused).map(drop),
        Source::Priorities => sprio::read_answer(name, text.as_bytes(), left).map(drop),
        Source::Names => Ok(()),
        Source::Jobs => job::read(name, text, names, left).map(drop),
        Source::Partitions => partition::read(name, text, left).map(drop),
        Source::Nodes => node::read(name, text, left).map(drop),
        // The cluster is known only beside the settings; any will do here.
        Source::Assocs => assoc::read(name, text, Some(""), left).map(drop),
        Source::Qos => qos::read(name, text, left).map(drop),
        Source::Coordinators => rights::coordinators(name, text, left).map(drop),
        Source::Users => rights::admin_levels(name, text, left).map(drop),
        // Lines that are not known count as not said.
        Source::Database => Ok(()),
        Source::History => past::check(name, text.as_bytes()),
    }
}

/// As [`validate`], of the answer in a file, which `open` opens: little of it is in memory at a time
/// unless the answer is a short one. Messages call it `name`.
///
/// # Errors
/// Those of [`validate`], and those of the file.
pub fn validate_file(
    source: Source,
    name: &str,
    open: &dyn Fn() -> io::Result<BufReader<File>>,
    names: &job::Names,
) -> Result<(), InputError> {
    let opened = || open().map_err(|error| InputError::new(name, error));
    match source {
        Source::Names => Ok(()),
        Source::Jobs => job::check_stream(name, opened()?, names),
        Source::Priorities => sprio::check_answer(name, open),
        Source::History => past::check(name, opened()?),
        Source::Shares => sshare::read_answer(name, opened()?, &mut LeftOut::refusing()).map(drop),
        _ => {
            let text = io::read_to_string(opened()?);
            let text = text.map_err(|error| InputError::new(name, error))?;
            let name = name.to_owned();
            validate(source, &Answer { name, text }, names)
        }
    }
}

/// A site at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Shares, usage and factors as sshare printed them.
    pub shares: Listing,
    /// All else.
    pub queued: Queued,
}

/// The jobs of a site, and what they are measured by; all but its shares.
#[derive(Clone, Debug)]
pub struct Queued {
    /// Where it is from.
    pub name: String,
    /// Settings, cluster, release.
    pub settings: Settings,
    /// The moment of the last pass, if known; otherwise the ages in `queue` show it.
    pub pass: Option<i64>,
    /// Priorities as sprio printed them.
    pub queue: Queue,
    /// All jobs that slurmctld knows.
    pub jobs: Arc<Vec<JobRow>>,
    /// All partitions.
    pub partitions: Vec<PartitionRow>,
    /// Size of the cluster.
    pub nodes: Nodes,
    /// Associations of this cluster; empty without slurmdbd.
    pub assocs: Arc<Vec<AssocRow>>,
    /// All QOS; empty without slurmdbd.
    pub qos: Vec<QosRow>,
    /// A sentence for each record that could not be read, and about settings that are not known for
    /// certain.
    pub left_out: Vec<String>,
    /// Answers that `PrivateData` refused.
    pub hidden: Hidden,
}

/// Answers that `PrivateData` refuses. The factors that need them are known as far as sprio printed their
/// points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// The partitions: those in `partitions` are what jobs name.
    pub partitions: bool,
    /// The nodes: `nodes` is empty.
    pub nodes: bool,
}

impl Hidden {
    /// Returns true if anything is hidden.
    pub fn any(self) -> bool {
        self.partitions || self.nodes
    }

    /// The settings without the weights of factors that cannot be computed.
    #[must_use]
    pub fn countable(self, mut config: Config) -> Config {
        if self.partitions {
            config.priority_weight_partition = 0;
            config.priority_weight_tres.clear();
        }
        if self.nodes {
            config.priority_weight_job_size = 0;
        }
        config
    }

    /// The points of those factors in a row of sprio, rounded to a whole number. Added to the site
    /// factor they give the priority that slurmctld computes.
    pub fn points(self, row: &SprioRow<'_>) -> i64 {
        let factor =
            |factor: Factor| row.weighted[factor.index()].map_or(0.0, |points| points.value);
        let tres = || {
            row.tres
                .unwrap_or_default()
                .iter()
                .map(|(_, points)| points.value)
                .sum::<f64>()
        };
        let mut points = 0.0;
        if self.partitions {
            points += factor(Factor::Partition) + tres();
        }
        if self.nodes {
            points += factor(Factor::JobSize);
        }
        // Printed points are far below 2^53.
        points.round() as i64
    }
}

/// Contents of the long answers.
pub(super) struct Long {
    /// Rows of sprio.
    pub queue: Queue,
    /// Jobs.
    pub jobs: Vec<JobRow>,
    /// Records that could not be read.
    pub left: LeftOut,
}

impl Long {
    /// Refuses an answer without jobs, called `file`, where squeue (`has_names`) and sprio list some.
    ///
    /// # Errors
    /// That answer.
    pub fn checked(self, file: &str, has_names: bool) -> Result<Long, InputError> {
        let mut listings = self.queue.listings.iter();
        let waits = listings.any(|listing| !listing.rows.is_empty());
        if self.jobs.is_empty() && has_names && waits {
            let why = "has no job, where squeue and sprio list some";
            return Err(InputError::new(file, Problem::Structure(why.into()))
                .hint("copy the capture again, or make another"));
        }
        Ok(self)
    }
}

impl Snapshot {
    /// Reads the answers of one capture called `name`; those that `purpose` does not need may be missing.
    ///
    /// # Errors
    /// Another answer that is missing and not [`Source::optional`], and those of the readers.
    pub fn read(name: &str, answers: &Answers, purpose: Purpose) -> Result<Snapshot, InputError> {
        Snapshot::with(name, answers, purpose, || {
            let text = |source| answer(name, answers, source);
            let mut left = LeftOut::default();
            let queue = match purpose.sources().contains(&Source::Priorities) {
                true => {
                    let (file, answer) = text(Source::Priorities)?;
                    sprio::read_answer(file, answer.as_bytes(), &mut left)?
                }
                false => Queue {
                    file: name.to_owned(),
                    ..Queue::default()
                },
            };
            let (file, answer) = text(Source::Jobs)?;
            let names = job::read_names(text(Source::Names)?.1);
            let jobs = job::read(file, answer, &names, &mut left)?;
            Long { queue, jobs, left }.checked(file, !names.is_empty())
        })
    }

    /// The snapshot with a queue and jobs that `long` reads, at the same time as all else is read
    /// from the answers.
    ///
    /// # Errors
    /// As [`Snapshot::read`], and those of `long`.
    pub(super) fn with(
        name: &str,
        answers: &Answers,
        purpose: Purpose,
        long: impl FnOnce() -> Result<Long, InputError> + Send,
    ) -> Result<Snapshot, InputError> {
        thread::scope(|scope| {
            let long = scope.spawn(long);
            let long = || {
                let ended = long.join();
                ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            Snapshot::short(name, answers, purpose, long)
        })
    }

    fn short(
        name: &str,
        answers: &Answers,
        purpose: Purpose,
        long: impl FnOnce() -> Result<Long, InputError>,
    ) -> Result<Snapshot, InputError> {
        let text = |source| answer(name, answers, source);
        let mut left = LeftOut::default();
        let (file, answer) = text(Source::Config)?;
        // Each line of these affects all users, and no user can write into them.
        let mut refused = LeftOut::refusing();
        let mut settings = config::read(file, answer, &mut refused)?;
        let (file, answer) = text(Source::Shares)?;
        let shares = sshare::read_answer(file, answer.as_bytes(), &mut refused)?;
        let lacks = |source: Source| !answers.contains_key(&source);
        let is_hidden = |source: Source| lacks(source) && source.is_hidden(&settings);
        let hidden = Hidden {
            partitions: is_hidden(Source::Partitions),
            nodes: is_hidden(Source::Nodes),
        };
        let mut partitions = match hidden.partitions {
            true => Vec::new(),
            false => {
                let (file, answer) = text(Source::Partitions)?;
                partition::read(file, answer, &mut left)?
            }
        };
        let is_spare = lacks(Source::Nodes) && !purpose.needs(Source::Nodes, &settings.config);
        let nodes = match hidden.nodes || is_spare {
            true => Nodes::default(),
            false => {
                let (file, answer) = text(Source::Nodes)?;
                node::read(file, answer, &mut left)?
            }
        };
        let assocs = match answers.get(&Source::Assocs) {
            Some(answer) => {
                let cluster = settings.cluster.as_deref();
                assoc::read(&answer.name, &answer.text, cluster, &mut left)?
            }
            None => Vec::new(),
        };
        let qos = match answers.get(&Source::Qos) {
            Some(answer) => qos::read(&answer.name, &answer.text, &mut left)?,
            None => Vec::new(),
        };
        let Long {
            queue,
            jobs,
            left: of_jobs,
        } = long()?;
        left.append(of_jobs);
        if hidden.partitions {
            partitions = partition::named(&queue, &jobs);
        }
        let beside = merged_flags::Beside {
            queue: &queue,
            jobs: &jobs,
            partitions: &partitions,
            assocs: &assocs,
            qos: &qos,
        };
        let open_flags = merged_flags::tell_apart(&mut settings, &beside);
        Ok(Snapshot {
            shares,
            queued: Queued {
                name: name.to_owned(),
                settings,
                pass: None,
                queue,
                jobs: Arc::new(jobs),
                partitions,
                nodes,
                assocs: Arc::new(assocs),
                qos,
                left_out: left.notes().into_iter().chain(open_flags).collect(),
                hidden,
            },
        })
    }
}

/// The name of an answer in messages, and its text.
fn answer<'a>(
    name: &str,
    answers: &'a Answers,
    source: Source,
) -> Result<(&'a str, &'a str), InputError> {
    let answer = answers.get(&source).ok_or_else(|| source.missing(name))?;
    Ok((&answer.name, &answer.text))
}
