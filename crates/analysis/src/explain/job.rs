//! Why one job has its priority.

use serde::Serialize;

use super::entry::{Entry, is_direct, pricer};
use super::wait::Waits;
use super::{ExplainError, Formula, RankedSite, Term, TermName, formula};
use fairtree::priority::{Factor, Factors, Job, Priced, Pricer, Term as EngineTerm, Variant};
use fairtree_model::cluster::Names;

/// The use of the sum of the terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Explained {
    /// The priority is what the terms give.
    Computed,
    /// `INCR_ONLY`: an earlier, higher priority stays.
    Kept,
    /// An administrator set the priority; the terms do not count.
    Direct,
    /// The job is held: priority 0. The terms are those it has when released.
    Held,
    /// The job runs: it keeps the priority that it had. The terms are those it would have now.
    Running,
}

/// How the sum became an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// It was one.
    Whole,
    /// Its fraction was cut off.
    Truncated,
    /// It was below 1 and was raised to 1, because 0 means held.
    #[serde(rename = "raised_to_1")]
    RaisedTo1,
    /// It was above 4294967295, or not a number, and became that.
    Capped,
    /// It is of printed, rounded points, and not exactly the printed priority.
    Printed,
}

impl Bound {
    fn of(sum: f64, priced: &Priced) -> Bound {
        if priced.overflow {
            Bound::Capped
        } else if sum < 1.0 {
            Bound::RaisedTo1
        } else if sum.fract() == 0.0 {
            Bound::Whole
        } else {
            Bound::Truncated
        }
    }
}

/// One of the ways in which a job with several partitions or QOS could run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantExplanation {
    /// Its partition.
    pub partition: Option<String>,
    /// Its entry of the QOS list; `None` without a list.
    pub qos: Option<String>,
    /// Points of the partition.
    pub partition_points: f64,
    /// Points of the QOS.
    pub qos_points: f64,
    /// Points of all TRES.
    pub tres_points: f64,
    /// The priority that the terms give.
    pub priority: u32,
}

/// The priority of a job, term by term.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobExplanation {
    /// Job number.
    pub id: u32,
    /// The caller's name for it.
    pub name: String,
    /// Its user, if it has an association.
    pub user: Option<String>,
    /// The partition that the terms are for.
    pub partition: Option<String>,
    /// The QOS that the terms are for.
    pub qos: Option<String>,
    /// The state: do the terms decide?
    pub state: Explained,
    /// In Slurm's order of additions: age, assoc, fairshare, job size, partition, QOS, one for
    /// each TRES of the site that has a weight, site, nice.
    pub terms: Vec<Term>,
    /// Their sum, as the engine adds it.
    pub sum: f64,
    /// How the sum became an integer.
    pub bound: Bound,
    /// The priority from the terms, 1..=4294967295.
    pub computed: u32,
    /// The priority, 1..=4294967295; 0: held.
    pub priority: u32,
    /// The job's other entries in the queue; empty without lists of partitions or QOS.
    pub variants: Vec<VariantExplanation>,
    /// Why it waits, and what would help; `None`: it does not wait, or the input has no queue.
    pub waits: Option<Waits>,
}

impl JobExplanation {
    /// The same with the reason to wait.
    #[must_use]
    pub fn waiting(self, waits: Option<Waits>) -> JobExplanation {
        JobExplanation { waits, ..self }
    }

    /// The same of a job that runs already, and whose priority stays what it is.
    #[must_use]
    pub fn while_running(self, priority: u32) -> JobExplanation {
        JobExplanation {
            state: Explained::Running,
            priority,
            ..self
        }
    }
}

/// Explains the priority that a pass at this moment gives a job.
///
/// # Errors
/// [`ExplainError::Length`] for tables that do not belong together, [`ExplainError::Priority`] for
/// settings or a job that cannot be priced.
pub fn explain_job(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    job: &Job,
) -> Result<JobExplanation, ExplainError> {
    ranked.check()?;
    let pricer = pricer(ranked, &[job])?;
    let entry = Entry {
        job: *job,
        variant: None,
    };
    Ok(explain(ranked, names, &pricer, &entry))
}

/// As [`explain_job`], of one entry of the queue.
pub(super) fn explain(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    pricer: &Pricer<'_>,
    entry: &Entry,
) -> JobExplanation {
    let (job, shown) = (&entry.job, entry.as_job(ranked.config, ranked.tables));
    let computed = entry.computed(pricer);
    let priority = entry.priced(pricer).priority;
    let state = if job.priority == 0 {
        Explained::Held
    } else if is_direct(job) {
        Explained::Direct
    } else if priority != computed.priority {
        Explained::Kept
    } else {
        Explained::Computed
    };
    let sum = match entry.variant {
        Some(_) => computed.variant_sum(),
        None => computed.sum(),
    };
    JobExplanation {
        id: job.id,
        name: names.job(job),
        user: job.assoc.map(|index| names.assoc(index)),
        partition: shown.partition.map(|index| names.partition(index)),
        qos: shown.qos.map(|index| names.qos(index)),
        state,
        terms: terms(ranked, names, pricer, entry, &computed),
        sum,
        bound: Bound::of(sum, &computed),
        computed: computed.priority,
        priority,
        variants: pricer
            .variants(job)
            .map(|variant| explain_variant(names, pricer, job, variant))
            .collect(),
        waits: None,
    }
}

fn explain_variant(
    names: &dyn Names,
    pricer: &Pricer<'_>,
    job: &Job,
    variant: Variant,
) -> VariantExplanation {
    let entry = Entry {
        job: *job,
        variant: Some(variant),
    };
    let priced = entry.computed(pricer);
    VariantExplanation {
        partition: variant.partition.map(|index| names.partition(index)),
        qos: variant.qos.map(|index| names.qos(index)),
        partition_points: priced.partition,
        qos_points: priced.qos,
        tres_points: priced.tres,
        priority: priced.priority,
    }
}

/// The terms of one entry, in Slurm's order.
fn terms(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    pricer: &Pricer<'_>,
    entry: &Entry,
    priced: &Priced,
) -> Vec<Term> {
    let config = ranked.config;
    let job = entry.as_job(config, ranked.tables);
    let own = pricer.factors(&entry.job);
    let factors = Factors {
        // What a variant takes over from the job itself.
        job_size: own.job_size,
        ..pricer.factors(&job)
    };
    let formula = |factor| match factor {
        Factor::Age => formula::age(ranked, &job),
        Factor::Assoc => formula::assoc(ranked, &job),
        Factor::Fairshare => formula::fairshare(ranked, names, &job),
        Factor::JobSize => formula::size(ranked, &entry.job),
        Factor::Partition => formula::partition(ranked, &job),
        Factor::Qos => formula::qos(ranked, &job),
        // The terms of each TRES show more.
        Factor::Tres => Formula::Given,
    };
    let mut terms: Vec<Term> = Factor::WITH_ONE_WEIGHT
        .into_iter()
        .map(|factor| Term {
            name: TermName::Factor(factor),
            factor: factors.of(factor),
            weight: factor.weight(ranked.config).map(f64::from),
            points: priced.points(factor),
            formula: formula(factor),
        })
        .collect();
    terms.extend(tres_terms(ranked, pricer, &job));
    for (name, points) in [
        (TermName::Site, priced.added(EngineTerm::Site)),
        (TermName::Nice, priced.added(EngineTerm::Nice)),
    ] {
        terms.push(Term {
            name,
            factor: None,
            weight: None,
            points,
            formula: Formula::Given,
        });
    }
    terms
}

/// One term for each TRES that has a weight.
fn tres_terms(ranked: &RankedSite<'_>, pricer: &Pricer<'_>, job: &Job) -> Vec<Term> {
    let names = &ranked.tables.tres_names;
    let mut points = vec![0.0; names.len()];
    pricer.tres_terms(job, &mut points);
    let weight_of = |name: &str| {
        let weights = ranked.config.priority_weight_tres.iter();
        let last = weights.rev().find(|(n, _)| n.eq_ignore_ascii_case(name));
        last.map(|(_, weight)| *weight)
            .filter(|weight| *weight != 0.0)
    };
    let weighted = names.iter().enumerate();
    weighted
        .filter_map(|(at, name)| Some((at, name, weight_of(name)?)))
        .map(|(at, name, weight)| {
            let formula = formula::tres(ranked, job, at);
            Term {
                name: TermName::Tres(name.clone()),
                factor: Some(formula.tres_factor()),
                weight: Some(weight),
                points: points[at],
                formula,
            }
        })
        .collect()
}
