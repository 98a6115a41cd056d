//! Jobs as `sprio` printed them: what their points say, without the site that they are from.

use std::cmp::Ordering;

use super::jobs::differences;
use super::wait::waits;
use super::{
    Bound, ExplainError, Explained, Formula, JobExplanation, JobsCompared, RankedSite, Side, Term,
    TermName, VariantExplanation,
};
use crate::prio::{Figure, PrioReport, PrioRow};
use crate::waiting::WaitingLine;
use fairtree_model::cluster::{Cluster, ClusterJob, Names};
use fairtree_model::input::sprio::Factor;

/// A row, with the listing that it is of.
type Place<'a> = (&'a PrioReport, PrioRow<'a>);

/// Explains a job by the points that listings of sprio show: if a job has several rows, the one
/// with the highest priority, the others as its variants. Factors and weights are shown as far as
/// the listings have them; formulas are not.
///
/// # Errors
/// [`ExplainError::NotListed`].
pub fn explain_printed(reports: &[PrioReport], id: u32) -> Result<JobExplanation, ExplainError> {
    let rows = rows_of(reports, id)?;
    Ok(explain(&rows, &best(&rows)))
}

/// Explains a job of a cluster of which a user sees a part: by the points that sprio printed, with the reason to
/// wait and places among the jobs that are seen. The terms of a job that sprio does not list are not known: it is
/// held, not eligible, or runs.
///
/// # Errors
/// Those of [`waits`].
pub fn explain_seen(
    reports: &[PrioReport],
    cluster: &Cluster,
    job: &ClusterJob,
) -> Result<JobExplanation, ExplainError> {
    let (load, entitlement) = (cluster.load(), cluster.entitlement());
    let ranked = RankedSite::of(cluster, &load, &entitlement);
    let line = WaitingLine::of(cluster)?;
    let waits = waits(&ranked, cluster, &line, job)?;
    let mut explained = match explain_printed(reports, job.job.id) {
        Ok(explained) => explained,
        Err(_) => unlisted(cluster, job),
    };
    explained.user = job.job.assoc.map(|at| cluster.assoc(at)).or(explained.user);
    Ok(explained.waiting(waits))
}

/// A job without terms.
fn unlisted(cluster: &Cluster, job: &ClusterJob) -> JobExplanation {
    let (id, priority) = (job.job.id, job.job.priority);
    JobExplanation {
        id,
        name: cluster.job(&job.job),
        user: Some(job.user.to_string()),
        partition: job.job.partition.map(|at| cluster.partition(at)),
        qos: job.job.qos.map(|at| cluster.qos(at)),
        state: match priority {
            0 => Explained::Held,
            _ => Explained::Computed,
        },
        bound: Bound::Whole,
        terms: Vec::new(),
        sum: 0.0,
        computed: priority,
        priority,
        waits: None,
        variants: Vec::new(),
    }
}

/// Compares two jobs by their points: in a partition that both have, or else by their best rows.
/// There are no remedies: what would change the order is a matter of shares, usage and settings.
///
/// # Errors
/// [`ExplainError::NotListed`], [`ExplainError::SameJob`].
pub fn compare_printed(
    reports: &[PrioReport],
    ids: [u32; 2],
) -> Result<JobsCompared, ExplainError> {
    if ids[0] == ids[1] {
        return Err(ExplainError::SameJob { id: ids[0] });
    }
    let rows = [rows_of(reports, ids[0])?, rows_of(reports, ids[1])?];
    let mut together: Vec<(Place<'_>, Place<'_>)> = Vec::new();
    for first in &rows[0] {
        let mut others = rows[1].iter();
        together.extend(
            others
                .find(|other| other.1.partition == first.1.partition)
                .map(|other| (first.clone(), other.clone())),
        );
    }
    let value = |place: &Place<'_>| place.1.priority.value().unwrap_or(0.0);
    let shared = together
        .into_iter()
        .max_by(|a, b| value(&a.0).total_cmp(&value(&b.0)));
    let chosen = match shared {
        Some((first, second)) => [first, second],
        None => [best(&rows[0]), best(&rows[1])],
    };
    let mut jobs = [0, 1].map(|at| explain(&rows[at], &chosen[at]));
    align(&mut jobs);
    let ahead = match jobs[0].priority.cmp(&jobs[1].priority) {
        Ordering::Greater => Some(Side::First),
        Ordering::Less => Some(Side::Second),
        Ordering::Equal => None,
    };
    let by_number = if ids[0] < ids[1] {
        Side::First
    } else {
        Side::Second
    };
    let first = ahead.unwrap_or(by_number);
    let terms = differences(&jobs, ahead);
    Ok(JobsCompared {
        jobs,
        ahead,
        first,
        terms,
        users: None,
        moves: first.other(),
        remedies: Vec::new(),
    })
}

/// Makes the terms of both the same ones: a resource that only one has points of gives the other
/// none, and a column that only one listing has compares nothing.
fn align(jobs: &mut [JobExplanation; 2]) {
    let own = [0, 1].map(|at| jobs[at].terms.clone());
    let has = |at: usize, name: &TermName| own[at].iter().any(|term| term.name == *name);
    for at in [0, 1] {
        let other = 1 - at;
        let terms = &mut jobs[at].terms;
        let of_tres = |term: &Term| matches!(term.name, TermName::Tres(_) | TermName::OtherTres);
        terms.retain(|term| of_tres(term) || has(other, &term.name));
        for term in &own[other] {
            if of_tres(term) && !has(at, &term.name) {
                let term = Term {
                    factor: None,
                    points: 0.0,
                    ..term.clone()
                };
                terms.push(term);
            }
        }
        terms.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

/// The rows of a job in the listing that shows most of it.
fn rows_of(reports: &[PrioReport], id: u32) -> Result<Vec<Place<'_>>, ExplainError> {
    let known = |row: &PrioRow<'_>| {
        let points = row.points.iter().filter(|points| points.value().is_some());
        points.count() + usize::from(row.set_by_hand)
    };
    let mut most: Vec<Place<'_>> = Vec::new();
    let mut told = 0;
    for report in reports {
        let rows = report.rows.iter().filter(|row| row.job_id == Some(id));
        let rows: Vec<Place<'_>> = rows.map(|row| (report, row)).collect();
        let tells = rows.iter().map(|(_, row)| known(row)).max().unwrap_or(0);
        if tells > told {
            (most, told) = (rows, tells);
        }
    }
    if most.is_empty() {
        return Err(ExplainError::NotListed {
            id,
            source_name: reports.first().map_or(String::new(), |r| r.source.clone()),
            jobs: reports.iter().map(|report| report.rows.len()).sum(),
        });
    }
    Ok(most)
}

/// The first of the rows with the highest priority.
fn best<'a>(rows: &[Place<'a>]) -> Place<'a> {
    let value = |place: &Place<'_>| place.1.priority.value().unwrap_or(0.0);
    let mut found = &rows[0];
    for place in &rows[1..] {
        if value(place) > value(found) {
            found = place;
        }
    }
    found.clone()
}

fn explain(rows: &[Place<'_>], (report, row): &Place<'_>) -> JobExplanation {
    let terms = terms(report, row);
    let sum: f64 = terms.iter().map(|term| term.points).sum::<f64>() + 0.0;
    let priority = whole(row);
    let id = row.job_id.unwrap_or(0);
    JobExplanation {
        id,
        name: format!("job {id}"),
        user: row.user.map(str::to_owned),
        partition: row.partition.map(str::to_owned),
        qos: row.qos_name.map(str::to_owned),
        state: match row.set_by_hand {
            true => Explained::Direct,
            false => Explained::Computed,
        },
        bound: bound(sum, priority, row.priority),
        terms,
        sum,
        computed: priority,
        priority,
        waits: None,
        variants: match rows.len() {
            1 => Vec::new(),
            _ => rows.iter().map(|(_, row)| variant(row)).collect(),
        },
    }
}

fn bound(sum: f64, priority: u32, figure: Figure) -> Bound {
    match figure {
        Figure::Printed(_) if sum != f64::from(priority) => Bound::Printed,
        _ if sum < 1.0 => Bound::RaisedTo1,
        _ if sum.fract() == 0.0 => Bound::Whole,
        _ => Bound::Truncated,
    }
}

/// The priority as a whole number, at least 1.
fn whole(row: &PrioRow<'_>) -> u32 {
    // A cast saturates, and makes 0 of NaN.
    (row.priority.value().unwrap_or(0.0) as u32).max(1)
}

/// In Slurm's order of additions; columns that the listing does not have are left out.
fn terms(report: &PrioReport, row: &PrioRow<'_>) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for factor in Factor::WITH_ONE_WEIGHT {
        let Some(points) = row.points[factor.index()].value() else {
            continue;
        };
        terms.push(Term {
            name: TermName::Factor(factor),
            factor: row.norm[factor.index()].value(),
            weight: report.weight(factor).map(f64::from),
            points,
            formula: Formula::Given,
        });
    }
    terms.extend(row.tres.iter().filter_map(|tres| {
        Some(Term {
            name: TermName::Tres(tres.name.to_owned()),
            factor: tres.norm.value(),
            weight: None,
            points: tres.points.value()?,
            formula: Formula::Given,
        })
    }));
    let unseen = row.cut.and_then(|cut| cut.points.value());
    terms.extend(unseen.map(|points| Term {
        name: TermName::OtherTres,
        factor: None,
        weight: None,
        points,
        formula: Formula::Rest,
    }));
    // A nice value is subtracted.
    let given = [
        (TermName::Site, row.site),
        (TermName::Nice, row.nice.map(|nice| -nice)),
    ];
    terms.extend(given.into_iter().filter_map(|(name, points)| {
        Some(Term {
            name,
            factor: None,
            weight: None,
            points: points? as f64,
            formula: Formula::Given,
        })
    }));
    terms
}

fn variant(row: &PrioRow<'_>) -> VariantExplanation {
    let points = |factor: Factor| row.points[factor.index()].value().unwrap_or(0.0);
    VariantExplanation {
        partition: row.partition.map(str::to_owned),
        qos: row.qos_name.map(str::to_owned),
        partition_points: points(Factor::Partition),
        qos_points: points(Factor::Qos),
        tres_points: points(Factor::Tres),
        priority: whole(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prio::from_queue;
    use fairtree_model::input::sprio::read;

    // Columns and forms are those of sprio -l 22.05; the numbers add up in the head.
    const LISTING: &str = "
          JOBID PARTITION     USER   PRIORITY       SITE        AGE      ASSOC  FAIRSHARE    JOBSIZE  PARTITION        QOS        NICE                 TRES
              1 main         alice        600          0        100          0        500          0          0          0           0
              2 main           bob        800          0        300          0        400          0        100          0           0
              2 debug          bob        900          0        300          0        400          0        200          0           0
              3 gpu            cyd         50          0        100          0          0          0          0          0          50
";

    fn reports() -> Vec<PrioReport> {
        from_queue(&read("f", LISTING.as_bytes()).unwrap())
    }

    #[test]
    fn a_job_by_its_points() {
        let job = explain_printed(&reports(), 3).unwrap();
        assert_eq!((job.priority, job.sum, job.bound), (50, 50.0, Bound::Whole));
        let nice = job.terms.last().unwrap();
        assert_eq!((nice.name.clone(), nice.points), (TermName::Nice, -50.0));
        assert!(job.variants.is_empty());
    }

    #[test]
    fn of_several_rows_the_best_and_all_as_variants() {
        let job = explain_printed(&reports(), 2).unwrap();
        assert_eq!(
            (job.priority, job.partition.as_deref()),
            (900, Some("debug"))
        );
        assert_eq!(job.variants.len(), 2);
    }

    #[test]
    fn two_jobs_meet_in_a_partition_of_both() {
        let compared = compare_printed(&reports(), [1, 2]).unwrap();
        assert_eq!(compared.ahead, Some(Side::Second));
        assert_eq!(compared.jobs[1].partition.as_deref(), Some("main"));
        // Age gives 200 and the partition 100 against 100 of fair share: age alone outweighs it.
        let deciding: Vec<String> = compared
            .terms
            .iter()
            .filter(|term| term.decides)
            .map(|term| term.name.to_string())
            .collect();
        assert_eq!(deciding, ["age"]);
        assert!(compared.remedies.is_empty());
    }

    #[test]
    fn a_job_that_is_not_listed() {
        let error = explain_printed(&reports(), 9).unwrap_err().to_string();
        assert!(error.contains("found no job 9"), "{error}");
        assert!(compare_printed(&reports(), [1, 1]).is_err());
    }
}
