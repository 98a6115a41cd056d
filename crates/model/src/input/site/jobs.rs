//! `[[jobs]]`: what waits and runs, checked against the rest of the file.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use toml::{Spanned, Value};

use super::described::Users;
use super::file::{File, Job};
use super::place::Text;
use super::value::{self, PRIORITIES};
use crate::input::error::{InputError, Problem};
use crate::input::interner::Name;
use crate::input::slurm::job::JobRow;
use crate::input::slurm::node::Nodes;
use crate::input::slurm::partition::PartitionRow;
use crate::input::slurm::qos::QosRow;
use crate::input::sprio::{self, Column, Form};
use crate::machine::Machine;
use fairtree::config::Config;
use fairtree::priority::TimeLimit;

/// Slurm's largest job number: the highest bits of a number are the cluster of a federation.
const MAX_JOB: i64 = (1 << 26) - 1;
/// The largest nice value and site factor: sbatch(1), `--nice`.
const MAX_NICE: i64 = (1 << 31) - 3;

/// A job, and what sprio would say of it beside its row.
pub(super) struct Read {
    /// The job.
    pub row: JobRow,
    /// Addition by a site's own plugin.
    pub site_factor: i32,
    /// Its priority is an administrator's.
    pub set_by_hand: bool,
}

/// Context in which jobs are read.
pub(super) struct Reader<'a> {
    /// The text, for messages.
    pub text: &'a Text<'a>,
    /// The whole file.
    pub file: &'a File,
    /// Its settings.
    pub config: &'a Config,
    /// Users who may have jobs.
    pub users: &'a Users,
    /// The resources that are tracked.
    pub tres: &'a [String],
    /// The partitions.
    pub partitions: Vec<PartitionRow>,
    /// The QOS.
    pub qos: Vec<QosRow>,
    /// Its nodes, where they are listed.
    pub machine: Option<&'a Machine>,
}

impl Reader<'_> {
    /// All jobs; without `now` there may be none.
    pub fn jobs(&self, now: Option<i64>) -> Result<Vec<Read>, InputError> {
        let mut seen: HashSet<u32> = HashSet::new();
        let mut jobs = Vec::with_capacity(self.file.jobs.len());
        for job in &self.file.jobs {
            let start = job.id.span().start;
            let Some(now) = now else {
                let why = "how old a job is depends on the time: give now, or usage_time";
                return Err(self.text.error(start, Problem::Structure(why.into())));
            };
            let read = self.job(job, now)?;
            if !seen.insert(read.row.id) {
                let why = format!("job {} stands here twice", read.row.id);
                return Err(self.text.error(start, Problem::Structure(why)));
            }
            jobs.push(read);
        }
        Ok(jobs)
    }

    fn job(&self, job: &Job, now: i64) -> Result<Read, InputError> {
        let text = self.text;
        let partitions = self.partitions_of(job)?;
        self.known_user(job)?;
        let past = |value: &Option<Spanned<Value>>, what: &str| -> Result<Option<i64>, _> {
            let Some(value) = value else { return Ok(None) };
            let at = value::time(text, value, what)?;
            let fits = at <= now;
            let error = || text.value(&value.span(), what, "a time up to now");
            fits.then_some(Some(at)).ok_or_else(error)
        };
        let number = |value: &Option<Spanned<Value>>, what| {
            let whole = |value| value::whole(text, value, what, 1..=i64::from(u32::MAX) - 2);
            value.as_ref().map(whole).transpose()
        };
        let state = self.state(job)?;
        let submitted = past(&job.submit_time, "submit_time")?;
        let accrues = past(&job.accrue_time, "accrue_time")?.or(submitted);
        let started = past(&job.start_time, "start_time")?;
        if state == "PENDING" && accrues.is_none() && self.config.priority_weight_age > 0 {
            return Err(self.lacking(job, "PriorityWeightAge", "submit_time"));
        }
        if state != "PENDING" && started.is_none() {
            let why = format!("a job that is {state} has a start_time");
            return Err(text.error(job.id.span().start, Problem::Structure(why)));
        }
        let own = job.tres.as_ref();
        let own = own.map(|own| value::resources(text, own, self.tres));
        let mut tres = own.transpose()?.unwrap_or_default();
        let count = |tres: &[(String, u64)], name: &str| {
            let found = tres.iter().find(|(known, _)| known == name);
            found.and_then(|(_, count)| u32::try_from(*count).ok())
        };
        let cpus = number(&job.cpus, "cpus")?
            .or(count(&tres, "cpu"))
            .unwrap_or(1);
        let nodes = number(&job.nodes, "nodes")?.or(count(&tres, "node"));
        for (name, number) in [("cpu", cpus), ("node", nodes.unwrap_or(1))] {
            if count(&tres, name).is_none() {
                tres.push((name.to_owned(), u64::from(number)));
            }
        }
        let priority = job.priority.as_ref();
        let priority: Option<u32> = priority
            .map(|value| value::whole(text, value, "priority", 1..=*PRIORITIES.end()))
            .transpose()?;
        let row = JobRow {
            id: value::whole(text, &job.id, "id", 1..=MAX_JOB)?,
            user: job.user.get_ref().as_str().into(),
            account: Some(job.account.get_ref().as_str().into()),
            qos: shared(self.qos_of(job)?),
            partitions: shared(partitions),
            state: state.into(),
            eligible_time: accrues.unwrap_or(0),
            priority: if job.held { 0 } else { priority.unwrap_or(1) },
            nice: match &job.nice {
                Some(nice) => value::whole(text, nice, "nice", -MAX_NICE..=MAX_NICE)?,
                None => 0,
            },
            accrue_time: accrues.unwrap_or(0),
            submit_time: submitted.or(accrues).unwrap_or(0),
            start_time: started.unwrap_or(0),
            array: None,
            cpus,
            nodes: nodes.unwrap_or(1),
            time_limit: match &job.time_limit {
                Some(limit) => value::limit(text, limit, "time_limit")?,
                None => TimeLimit::Unset,
            },
            tres: Some(tres.into()),
            wait: None,
        };
        Ok(Read {
            row,
            site_factor: match &job.site_factor {
                Some(factor) => value::whole(text, factor, "site_factor", -MAX_NICE..=MAX_NICE)?,
                None => 0,
            },
            set_by_hand: priority.is_some(),
        })
    }

    fn state(&self, job: &Job) -> Result<String, InputError> {
        let Some(state) = &job.state else {
            return Ok("PENDING".to_owned());
        };
        let word = state.get_ref().to_ascii_uppercase();
        match word.as_str() {
            "PENDING" | "RUNNING" | "SUSPENDED" => Ok(word),
            _ => {
                let allowed = "PENDING, RUNNING or SUSPENDED";
                Err(self.text.value(&state.span(), "state", allowed))
            }
        }
    }

    /// A job is of a user of its account.
    fn known_user(&self, job: &Job) -> Result<(), InputError> {
        let (account, user) = (job.account.get_ref(), job.user.get_ref());
        let key = (account.clone(), user.clone(), String::new());
        if self.users.contains_key(&key) {
            return Ok(());
        }
        let allowed = "a user of the account that the file describes";
        let error = self.text.value(&job.user.span(), "user", allowed);
        Err(error.hint(format!("describe it: [accounts.{account}.users.{user}]")))
    }

    /// The partitions that a job asks for, or the default one.
    fn partitions_of(&self, job: &Job) -> Result<Vec<String>, InputError> {
        let known: Vec<&str> = self.partitions.iter().map(|p| p.name.as_str()).collect();
        if let Some(names) = &job.partition {
            return self.listed(names, "partition", "partitions", &known);
        }
        let default = self.partitions.iter().find(|p| p.is_default);
        let only = self.partitions.first().filter(|_| known.len() == 1);
        match default.or(only) {
            Some(partition) => Ok(vec![partition.name.clone()]),
            None if self.config.priority_weight_partition > 0 => {
                Err(self.lacking(job, "PriorityWeightPartition", "partition"))
            }
            None => Ok(Vec::new()),
        }
    }

    /// The QOS that a job asks for, or `normal` if there is one, as sacctmgr makes it.
    fn qos_of(&self, job: &Job) -> Result<Vec<String>, InputError> {
        let known: Vec<&str> = self.qos.iter().map(|qos| qos.name.as_str()).collect();
        match &job.qos {
            Some(names) => self.listed(names, "QOS", "qos", &known),
            None if known.contains(&"normal") => Ok(vec!["normal".to_owned()]),
            None if self.config.priority_weight_qos > 0 => {
                Err(self.lacking(job, "PriorityWeightQOS", "qos"))
            }
            None => Ok(Vec::new()),
        }
    }

    /// Names with commas between them, all of which are described.
    fn listed(
        &self,
        names: &Spanned<String>,
        what: &str,
        table: &str,
        known: &[&str],
    ) -> Result<Vec<String>, InputError> {
        let list: Vec<&str> = names.get_ref().split(',').map(str::trim).collect();
        let Some(unknown) = list.iter().find(|name| !known.contains(name)) else {
            return Ok(list.into_iter().map(str::to_owned).collect());
        };
        let allowed = match known {
            [] => format!("what [{table}.NAME] describes, and there is none"),
            _ => format!("what [{table}.NAME] describes: {}", known.join(", ")),
        };
        let error = self.text.value(&names.span(), what, allowed);
        Err(error.hint(format!("describe it: [{table}.{unknown}]")))
    }

    /// A job without what a weight needs.
    fn lacking(&self, job: &Job, weight: &str, key: &str) -> InputError {
        let why = format!("{weight} counts, but the job has no {key}");
        let error = self
            .text
            .error(job.id.span().start, Problem::Structure(why));
        error.hint(format!("give its {key}, or leave {weight} out"))
    }

    /// The size of the cluster, which the size of a job is a part of.
    pub fn nodes(&self, jobs: &[JobRow]) -> Result<Nodes, InputError> {
        let number = |value: &Option<Spanned<Value>>, what| {
            let whole = |value| value::whole(self.text, value, what, 1..=i64::from(u32::MAX));
            value.as_ref().map(whole).transpose()
        };
        let cpus: Option<u32> = number(&self.file.cpus, "cpus")?;
        let (nodes, cpus) = match self.machine {
            Some(machine) => {
                let nodes = u32::try_from(machine.nodes.len()).ok();
                (nodes, cpus.or(Some(machine.cpus())))
            }
            None => (number(&self.file.nodes, "nodes")?, cpus),
        };
        let waits = jobs.iter().any(|job| *job.state == *"PENDING");
        if waits && self.config.priority_weight_job_size > 0 && (nodes, cpus) == (None, None) {
            let why = "PriorityWeightJobSize counts, but the size of the cluster is not given";
            let error = InputError::new(self.text.file, Problem::Structure(why.into()));
            return Err(error.hint("give it at the top of the file: nodes = 100 and cpus = 6400"));
        }
        self.weighted_tres(jobs)?;
        Ok(Nodes {
            nodes: nodes.unwrap_or(0),
            cpus: cpus.unwrap_or(0),
        })
    }

    /// Each weighted resource is measured by what the partition of a job has of it.
    fn weighted_tres(&self, jobs: &[JobRow]) -> Result<(), InputError> {
        let weighted = !self.config.priority_weight_tres.is_empty();
        if !weighted || self.config.priority_flags.no_normal_tres {
            return Ok(());
        }
        let by_name: BTreeMap<&str, &PartitionRow> = self
            .partitions
            .iter()
            .map(|row| (row.name.as_str(), row))
            .collect();
        let waiting = jobs.iter().filter(|job| *job.state == *"PENDING");
        for name in waiting.flat_map(|job| job.partitions.iter()) {
            if by_name.get(&**name).is_some_and(|row| row.tres.is_none()) {
                let why = format!("PriorityWeightTRES counts, but partition {name} has no tres");
                let error = InputError::new(self.text.file, Problem::Structure(why));
                return Err(error.hint("say what it has: tres = \"cpu=640,mem=2000G,node=10\""));
            }
        }
        Ok(())
    }
}

/// The same names as the rows of jobs have them.
fn shared(names: Vec<String>) -> Arc<[Name]> {
    names.into_iter().map(Name::from).collect()
}

/// Rows of sprio: one for each partition and QOS of a job that waits and is not held.
pub(super) fn sprio_rows(jobs: &[Read]) -> sprio::SprioRows {
    let mut rows = sprio::SprioRows::new(&[
        Column::JobId,
        Column::Partition,
        Column::User,
        Column::Priority(Form::Weighted),
        Column::Site,
    ]);
    let waiting = jobs
        .iter()
        .filter(|job| *job.row.state == *"PENDING" && job.row.priority > 0);
    for job in waiting {
        let partitions: Vec<Option<&str>> = match &*job.row.partitions {
            [] => vec![None],
            names => names.iter().map(|name| Some(&**name)).collect(),
        };
        let times = job.row.qos.len().max(1);
        for partition in partitions {
            for _ in 0..times {
                rows.push(&sprio::SprioRow {
                    job_id: Some(job.row.id),
                    partition,
                    user: Some(&job.row.user),
                    priority: job.set_by_hand.then_some(f64::from(job.row.priority)),
                    site: (!job.set_by_hand).then_some(i64::from(job.site_factor)),
                    ..sprio::SprioRow::default()
                });
            }
        }
    }
    rows
}
