//! A job as it is in the queue: by itself, or in one of the partitions and QOS it asked for.

use super::RankedSite;
use fairtree::config::Config;
use fairtree::priority::{
    AssocFactors, Index, Job, JobTables, Priced, Pricer, PriorityError, Span, Variant,
};
use fairtree::tree::AssocIndex;

/// A job, and for one with lists of partitions or QOS the variant that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) job: Job,
    pub(super) variant: Option<Variant>,
}

impl Entry {
    /// The priority that a pass gives: held jobs 0, direct ones what an administrator set.
    ///
    /// `INCR_ONLY` of a variant needs the last pass's number, which a row does not hold; its new
    /// one counts.
    pub(super) fn priced(&self, pricer: &Pricer<'_>) -> Priced {
        let priced = pricer.price(&self.job);
        match self.variant {
            Some(variant) if priced.priority != 0 && !is_direct(&self.job) => {
                pricer.price_variant(&self.job, &priced, variant)
            }
            _ => priced,
        }
    }

    /// The priority from the terms, even if they do not count: held and direct jobs as if released.
    pub(super) fn computed(&self, pricer: &Pricer<'_>) -> Priced {
        let job = Job {
            direct: false,
            ..self.job
        };
        let priced = pricer.price_set(&job);
        match self.variant {
            Some(variant) => pricer.price_variant(&job, &priced, variant),
            None => priced,
        }
    }

    /// The job with the partition and QOS of the variant as its own, and no priority set by hand.
    pub(super) fn as_job(&self, config: &Config, tables: &JobTables) -> Job {
        let Some(variant) = self.variant else {
            return Job {
                direct: false,
                ..self.job
            };
        };
        // Slurm lets a QOS of priority 0 inherit the term of the job's own QOS.
        let counts = |qos: &Index| !config.compat.is_slurm() || tables.qos[qos.get()].priority != 0;
        Job {
            partition: variant.partition,
            qos: variant.qos.filter(counts).or(self.job.qos),
            direct: false,
            ..self.job
        }
    }
}

/// True where an administrator's priority stays.
pub(super) fn is_direct(job: &Job) -> bool {
    job.direct && job.priority > 0
}

/// Two entries in the same partition, the first one of the first job's list that both could run
/// in; otherwise each as its best variant, a job without lists as itself.
pub(super) fn meet(pricer: &Pricer<'_>, jobs: [&Job; 2]) -> [Entry; 2] {
    let all = jobs.map(|job| entries(pricer, job));
    let partition = |entry: &Entry| match entry.variant {
        Some(variant) => variant.partition,
        None => entry.job.partition,
    };
    let several = jobs.iter().any(|job| !job.partitions.is_empty());
    let shared = all[0].iter().map(partition).find(|wanted| {
        several && wanted.is_some() && all[1].iter().any(|entry| partition(entry) == *wanted)
    });
    all.map(|entries| {
        let mut best: Option<(u32, Entry)> = None;
        for entry in entries {
            let priority = entry.computed(pricer).priority;
            let fits = shared.is_none_or(|wanted| partition(&entry) == wanted);
            if fits && best.is_none_or(|(highest, _)| priority > highest) {
                best = Some((priority, entry));
            }
        }
        best.expect("a job has an entry in the partition they share")
            .1
    })
}

/// All entries of a job; one at least.
fn entries(pricer: &Pricer<'_>, job: &Job) -> Vec<Entry> {
    let variants = pricer.variants(job).map(|variant| Entry {
        job: *job,
        variant: Some(variant),
    });
    let mut entries: Vec<Entry> = variants.collect();
    if entries.is_empty() {
        entries.push(Entry {
            job: *job,
            variant: None,
        });
    }
    entries
}

/// A change to try on two entries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trial {
    /// Other fair-share factors.
    pub(super) fs_factors: Option<[f64; 2]>,
    /// Seconds that both wait.
    pub(super) wait_secs: i64,
    /// Taken from the nice value of the one at this position.
    pub(super) less_nice: Option<(usize, i32)>,
}

/// Two entries on a site of their own, so that trying something costs little however large the
/// real site is.
pub(super) struct Duel<'a> {
    config: &'a Config,
    tables: JobTables,
    entries: [Entry; 2],
    now: i64,
}

impl<'a> Duel<'a> {
    pub(super) fn new(ranked: &RankedSite<'a>, entries: [Entry; 2]) -> Duel<'a> {
        let full = ranked.tables;
        let mut tables = JobTables {
            partitions: full.partitions.clone(),
            qos: full.qos.clone(),
            tres_names: full.tres_names.clone(),
            cluster_cpus: full.cluster_cpus,
            cluster_nodes: full.cluster_nodes,
            ..JobTables::default()
        };
        let counts = &mut tables.tres_counts;
        let mut copied = |start: Option<Index>| {
            let from = start?.get();
            let here = counts.len();
            counts.extend(&full.tres_counts[from..from + full.tres_names.len()]);
            Some(Index::new(here))
        };
        for partition in &mut tables.partitions {
            partition.tres = copied(partition.tres);
        }
        let mut entries = entries;
        for (at, entry) in entries.iter_mut().enumerate() {
            let job = &mut entry.job;
            job.tres = copied(job.tres);
            let assoc = job.assoc.map(|assoc| full.assocs[assoc.get()]);
            job.assoc = assoc.map(|_| AssocIndex::new(at));
            (job.partitions, job.qos_list) = (Span::default(), Span::default());
            tables.assocs.push(assoc.unwrap_or(AssocFactors::default()));
        }
        Duel {
            config: ranked.config,
            tables,
            entries,
            now: ranked.now,
        }
    }

    /// The two priorities under a trial.
    pub(super) fn priorities(&mut self, trial: Trial) -> [u32; 2] {
        let published = [0, 1].map(|at| self.tables.assocs[at].fs_factor);
        for (assoc, fs_factor) in self
            .tables
            .assocs
            .iter_mut()
            .zip(trial.fs_factors.unwrap_or(published))
        {
            assoc.fs_factor = fs_factor;
        }
        let now = self.now.saturating_add(trial.wait_secs);
        let pricer = Pricer::new(self.config, &self.tables, now);
        let pricer = pricer.expect("the same tables were priced before");
        let mut entries = self.entries;
        if let Some((at, less)) = trial.less_nice {
            entries[at].job.nice = entries[at].job.nice.saturating_sub(less);
        }
        let priorities = entries.map(|entry| entry.priced(&pricer).priority);
        for (assoc, fs_factor) in self.tables.assocs.iter_mut().zip(published) {
            assoc.fs_factor = fs_factor;
        }
        priorities
    }
}

/// A pricer for the moment of a ranked site, its jobs checked.
pub(super) fn pricer<'a>(
    ranked: &RankedSite<'a>,
    jobs: &[&Job],
) -> Result<Pricer<'a>, PriorityError> {
    let pricer = Pricer::new(ranked.config, ranked.tables, ranked.now)?;
    for job in jobs {
        ranked.tables.check_job(job)?;
    }
    Ok(pricer)
}
