//! A queue as the engine's rows: the tables of a site, and its jobs.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use rustc_hash::FxHashMap;

use super::AssocName;
use super::assoc_table::AssocTable;
use crate::input::slurm::job::JobRow;
use crate::input::slurm::part::VOTERS;
use crate::input::slurm::snapshot::Queued;
use crate::input::sprio::{Factor, SprioRows};
use crate::input::{InputError, Name, Problem};
use fairtree::config::Config;
use fairtree::priority::{AssocFactors, Index, Job, JobTables, Partition, Qos, Span};
use fairtree::tree::AssocIndex;

/// The tables, and where things are in them.
pub struct Tables<'a> {
    queued: &'a Queued,
    job_tables: JobTables,
    partitions: FxHashMap<&'a str, Index>,
    qos: FxHashMap<&'a str, Index>,
    qos_names: Vec<Name>,
    assocs: AssocTable,
    /// Associations of jobs, by the addresses of account and user: many jobs share these texts.
    found: RefCell<FxHashMap<[*const u8; 2], Option<AssocIndex>>>,
    jobs: FxHashMap<u32, u32>,
    /// The place that was found last: answers of one site are often in one order.
    last: Cell<usize>,
    /// Start of the TRES counts of each job.
    job_tres: Vec<Option<Index>>,
    /// True if Slurm's own rules are followed.
    slurm: bool,
}

/// A row of sprio: the rows, and which of them.
pub type RowAt<'r> = (&'r SprioRows, usize);

/// A job in one of its partitions and QOS.
pub struct Shown {
    /// The engine's row.
    pub job: Job,
    /// Its place among the jobs.
    pub place: usize,
    /// Name of the QOS.
    pub qos: Option<Name>,
}

/// Appends a list of a job and says where it is.
fn span(lists: &mut Vec<Index>, list: &[Index]) -> Span {
    let at = |count: usize| u32::try_from(count).expect("fewer entries than 2^32");
    let span = Span {
        start: at(lists.len()),
        len: at(list.len()),
    };
    lists.extend(list);
    span
}

impl<'a> Tables<'a> {
    /// The tables of a queue whose associations are called `names`, by position in their tree. Their
    /// fair-share factors are 0 until [`Tables::publish`].
    ///
    /// # Errors
    /// QOS count, but none are known.
    pub fn new(
        queued: &'a Queued,
        names: &'a [AssocName],
        config: &Config,
    ) -> Result<Tables<'a>, InputError> {
        let mut tables = Tables {
            queued,
            job_tables: JobTables {
                tres_names: queued.settings.tres.clone(),
                cluster_cpus: queued.nodes.cpus,
                cluster_nodes: queued.nodes.nodes,
                ..JobTables::default()
            },
            partitions: FxHashMap::default(),
            qos: FxHashMap::default(),
            qos_names: Vec::new(),
            assocs: AssocTable::with_capacity(names.len()),
            found: RefCell::default(),
            jobs: FxHashMap::default(),
            last: Cell::new(0),
            job_tres: Vec::new(),
            slurm: config.compat.is_slurm(),
        };
        tables.add_partitions();
        tables.add_qos(config)?;
        tables.add_assocs(names);
        tables.add_jobs();
        Ok(tables)
    }

    /// The place of a job among the jobs.
    pub fn place(&self, id: u32) -> Option<usize> {
        let next = self.last.get() + 1;
        let place = match self.queued.jobs.get(next) {
            Some(job) if job.id == id => next,
            _ => *self.jobs.get(&id)? as usize,
        };
        self.last.set(place);
        Some(place)
    }

    /// Writes the fair-share factors of the associations, by position.
    pub fn publish(&mut self, fs_factors: impl Iterator<Item = f64>) {
        for (assoc, fs_factor) in self.job_tables.assocs.iter_mut().zip(fs_factors) {
            assoc.fs_factor = fs_factor;
        }
    }

    /// The tables, as pricing reads them.
    pub fn job_tables(&self) -> &JobTables {
        &self.job_tables
    }

    /// The tables by themselves.
    pub fn into_job_tables(self) -> JobTables {
        self.job_tables
    }

    /// Adds a run of counts; `None` for resources that are not known.
    fn counts(&mut self, tres: Option<&[(String, u64)]>) -> Option<Index> {
        let tres = tres.filter(|_| !self.job_tables.tres_names.is_empty())?;
        let start = Index::new(self.job_tables.tres_counts.len());
        for name in &self.job_tables.tres_names {
            let found = tres.iter().find(|(known, _)| known == name);
            self.job_tables
                .tres_counts
                .push(found.map_or(0, |(_, count)| *count));
        }
        Some(start)
    }

    /// Jobs that share their resources share the counts.
    fn add_jobs(&mut self) {
        let mut known: FxHashMap<*const (String, u64), Option<Index>> = FxHashMap::default();
        self.jobs.reserve(self.queued.jobs.len());
        self.job_tres.reserve(self.queued.jobs.len());
        for (job, at) in self.queued.jobs.iter().zip(0..) {
            self.jobs.insert(job.id, at);
            let tres = job.tres.as_deref();
            let start = match tres {
                Some(tres) if !tres.is_empty() => match known.get(&tres.as_ptr()) {
                    Some(start) => *start,
                    None => {
                        let start = self.counts(Some(tres));
                        known.insert(tres.as_ptr(), start);
                        start
                    }
                },
                _ => self.counts(tres),
            };
            self.job_tres.push(start);
        }
    }

    fn add_partitions(&mut self) {
        let rows = &self.queued.partitions;
        let most = rows.iter().map(|row| row.priority_job_factor).max();
        let most = f64::from(most.unwrap_or(1).max(1));
        for (at, row) in rows.iter().enumerate() {
            let tres = self.counts(row.tres.as_deref());
            self.partitions.insert(&row.name, Index::new(at));
            self.job_tables.partitions.push(Partition {
                priority_job_factor: row.priority_job_factor,
                norm_priority: f64::from(row.priority_job_factor) / most,
                max_time_mins: row.max_time_mins,
                tres,
            });
        }
    }

    fn add_qos(&mut self, config: &Config) -> Result<(), InputError> {
        let rows = &self.queued.qos;
        if rows.is_empty() && config.priority_weight_qos > 0 {
            let why = "PriorityWeightQOS counts, but the priorities of the QOS are not there";
            return Err(
                InputError::new(&self.queued.name, Problem::Structure(why.into()))
                    .hint("sacctmgr gave no answer when the capture was made; make another"),
            );
        }
        let most = f64::from(
            rows.iter()
                .map(|row| row.priority)
                .max()
                .unwrap_or(0)
                .max(1),
        );
        for (at, row) in rows.iter().enumerate() {
            self.qos.insert(&row.name, Index::new(at));
            self.qos_names.push(row.name.as_str().into());
            self.job_tables.qos.push(Qos {
                priority: row.priority,
                norm_priority: f64::from(row.priority) / most,
            });
        }
        Ok(())
    }

    /// The associations with their own priorities, and no factors yet.
    fn add_assocs(&mut self, names: &'a [AssocName]) {
        let key = |account: &'a str, user: &'a str, partition: &'a str| (account, user, partition);
        let own: HashMap<_, u32> = self
            .queued
            .assocs
            .iter()
            .map(|row| {
                let user = row.user.as_deref().unwrap_or("");
                let partition = row.partition.as_deref().unwrap_or("");
                (key(&row.account, user, partition), row.priority)
            })
            .collect();
        let most = f64::from(own.values().copied().max().unwrap_or(0).max(1));
        for (at, name) in names.iter().enumerate() {
            let user = name.user.as_deref().unwrap_or("");
            let key = key(&name.account, user, name.partition.as_deref().unwrap_or(""));
            let priority = own.get(&key).copied().unwrap_or(0);
            self.assocs.insert(key.0, key.1, key.2, AssocIndex::new(at));
            self.job_tables.assocs.push(AssocFactors {
                fs_factor: 0.0,
                priority,
                norm_priority: f64::from(priority) / most,
            });
        }
    }

    /// The job of a row of sprio, in the row's partition and QOS, and its place among the jobs;
    /// `None` for one that scontrol did not show. Of a job with several QOS sprio prints a row for
    /// each, the highest priority first; `nth` counts those of one partition from 0.
    ///
    /// # Errors
    /// A partition or a QOS that is not there.
    pub fn job(&self, row: RowAt<'_>, nth: usize) -> Result<Option<Shown>, InputError> {
        let head = row.0.head(row.1);
        let Some(place) = head.job_id.and_then(|id| self.place(id)) else {
            return Ok(None);
        };
        let about = &self.queued.jobs[place];
        let own = about.partitions.first().map(|name| &**name);
        let (one, several);
        let list: &[Index] = match &*about.qos {
            [name] if !self.qos.is_empty() => {
                one = [self.find_qos(about, name)?];
                &one
            }
            _ => {
                several = self.qos_list(about)?;
                &several
            }
        };
        let qos = match list.get(nth).or(list.first()) {
            // Slurm lets a QOS of priority 0 inherit the term of the job's own QOS.
            Some(qos) if self.slurm && self.job_tables.qos[qos.get()].priority == 0 => list.first(),
            found => found,
        };
        let job = Job {
            partition: self.partition(about, head.partition.or(own))?,
            qos: qos.copied(),
            ..self.row(place, Some(row))?
        };
        let own = about.qos.first().cloned();
        let shown = list.get(nth);
        Ok(Some(Shown {
            job,
            place,
            qos: shown.map_or(own, |qos| Some(self.qos_names[qos.get()].clone())),
        }))
    }

    /// A job as slurmctld has it, with its lists of partitions and QOS. `row`: one that sprio
    /// printed of it.
    ///
    /// # Errors
    /// A partition or a QOS that is not there.
    pub fn whole(&mut self, place: usize, row: Option<RowAt<'_>>) -> Result<Job, InputError> {
        let mut job = self.row(place, row)?;
        let about = &self.queued.jobs[place];
        let partitions: Vec<Index> = about
            .partitions
            .iter()
            .filter_map(|name| self.partition(about, Some(name)).transpose())
            .collect::<Result<_, _>>()?;
        let own = about.partitions.first().map_or("", |name| &**name);
        job.assoc = self.assoc(about, own);
        let qos = self.qos_list(about)?;
        (job.partition, job.qos) = (partitions.first().copied(), qos.first().copied());
        if partitions.len() > 1 {
            job.partitions = span(&mut self.job_tables.partition_lists, &partitions);
        }
        if qos.len() > 1 {
            job.qos_list = span(&mut self.job_tables.qos_lists, &qos);
        }
        Ok(job)
    }

    /// The job's own properties, without partition and QOS.
    fn row(&self, place: usize, row: Option<RowAt<'_>>) -> Result<Job, InputError> {
        let about = &self.queued.jobs[place];
        let config = &self.queued.settings.config;
        let head = row.map(|(rows, at)| rows.head(at));
        let hidden = self.queued.hidden;
        let hidden = row
            .filter(|_| hidden.any())
            .map_or(0, |(rows, at)| hidden.points(&rows.get(at)));
        let site = head.and_then(|head| head.site);
        let partition = head.and_then(|head| head.partition);
        let own = about.partitions.first().map(|name| &**name);
        Ok(Job {
            assoc: self.assoc(about, partition.or(own).unwrap_or("")),
            accrue_time: match config.priority_flags.accrue_always {
                true => about.submit_time,
                false => about.accrue_time,
            },
            cpus: about.cpus,
            nodes: about.nodes,
            time_limit: about.time_limit,
            nice: about.nice,
            site_factor: site
                .unwrap_or(0)
                .checked_add(hidden)
                .and_then(|site| i32::try_from(site).ok())
                .unwrap_or(0),
            tres: self.job_tres[place],
            priority: match row {
                Some(_) => about.priority.max(1),
                None => about.priority,
            },
            direct: row.is_some_and(|(rows, at)| rows.is_set_by_hand(at)),
            ..Job::new(about.id)
        })
    }

    fn partition(&self, job: &JobRow, name: Option<&str>) -> Result<Option<Index>, InputError> {
        let Some(name) = name else { return Ok(None) };
        let found = self.partitions.get(name).copied();
        let missing = || self.missing(job, "partition", name);
        found.map(Some).ok_or_else(missing)
    }

    /// The QOS of a job, the highest priority first, as slurmctld sorts them; none where sacctmgr
    /// gave no answer.
    fn qos_list(&self, job: &JobRow) -> Result<Vec<Index>, InputError> {
        if self.qos.is_empty() {
            return Ok(Vec::new());
        }
        let find = |name| self.find_qos(job, name);
        let mut list: Vec<Index> = job.qos.iter().map(find).collect::<Result<_, _>>()?;
        list.sort_by_key(|qos| std::cmp::Reverse(self.job_tables.qos[qos.get()].priority));
        Ok(list)
    }

    fn find_qos(&self, job: &JobRow, name: &Name) -> Result<Index, InputError> {
        let found = self.qos.get(&**name).copied();
        found.ok_or_else(|| self.missing(job, "QOS", name))
    }

    fn missing(&self, job: &JobRow, what: &str, name: &str) -> InputError {
        let why = format!("the {what} {name} of job {} is not there", job.id);
        InputError::new(&self.queued.name, Problem::Structure(why))
            .hint("it may have gone while the capture was made; make another")
    }

    /// The association of a job: that for its partition, or the user's own.
    fn assoc(&self, about: &JobRow, partition: &str) -> Option<AssocIndex> {
        let account = about.account.as_deref()?;
        let find = |partition| self.assocs.get(account, &about.user, partition);
        if self.assocs.any_partition() {
            return find(partition).or_else(|| find(""));
        }
        let place = [account.as_ptr(), about.user.as_ptr()];
        let mut found = self.found.borrow_mut();
        *found.entry(place).or_insert_with(|| find(""))
    }
}

/// Counts a voter; false for one too many.
fn ask(asked: &mut usize) -> bool {
    *asked += 1;
    *asked <= VOTERS
}

/// The moment of the last pass, at which slurmctld let jobs age: the one that most ages give, the
/// later of equals. If no job has an age yet, the pass was before the first of them began to age,
/// so that moment is used; without any job, the time of the answers. The first [`VOTERS`] rows of
/// either kind are used: they are of one pass.
pub fn pass_time(queued: &Queued, config: &Config) -> i64 {
    if let Some(pass) = queued.pass {
        return pass;
    }
    let max_age = f64::from(config.priority_max_age_secs);
    let jobs: FxHashMap<u32, &JobRow> = queued.jobs.iter().map(|job| (job.id, job)).collect();
    let mut votes: HashMap<i64, usize> = HashMap::new();
    let mut ageless: Option<i64> = None;
    let mut asked = [0; 2];
    for row in queued
        .queue
        .listings
        .iter()
        .flat_map(|listing| listing.rows.iter())
    {
        // No other row of either kind counts any more.
        if asked[1] > VOTERS && !votes.is_empty() {
            break;
        }
        let age = row.norm[Factor::Age.index()].map_or(0.0, |printed| printed.value);
        if age >= 1.0 || !ask(&mut asked[usize::from(age > 0.0)]) {
            continue;
        }
        let Some(job) = row.job_id.and_then(|id| jobs.get(&id)) else {
            continue;
        };
        let began = match config.priority_flags.accrue_always {
            true => job.submit_time,
            false => job.accrue_time,
        };
        if age == 0.0 && began > 0 {
            ageless = Some(ageless.map_or(began, |first| first.min(began)));
        }
        if age > 0.0 && began > 0 {
            let secs = (age * max_age).round() as i64;
            *votes.entry(began + secs).or_default() += 1;
        }
    }
    let most = votes.into_iter().max_by_key(|&(at, votes)| (votes, at));
    most.map(|(at, _)| at)
        .or(ageless)
        .or(queued.settings.time)
        .unwrap_or_default()
}
