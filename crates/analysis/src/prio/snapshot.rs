//! The report of a snapshot, or of a site with jobs: every factor computed by the engine, from shares, usage and jobs.

use std::collections::HashMap;

use super::settle::settle;
use super::{Figure, MAX_PRIORITY, PrioReport, PrioRow, TresTerm};
use crate::share::{self, ShareReport, ShareRow};
use fairtree::compat::Compat;
use fairtree::config::Config;
use fairtree::priority::{Priced, Pricer};
use fairtree_model::cluster::{AssocName, Shown, Tables, pass_time};
use fairtree_model::input::site::Site;
use fairtree_model::input::slurm::snapshot::{Queued, Snapshot};
use fairtree_model::input::sprio::{Factor, Row, Weights};
use fairtree_model::input::{InputError, LeftOut, Problem};

/// Computes the report of the jobs that sprio listed, one row per partition of a job, with another
/// compatibility than the settings' if asked for.
///
/// The moment of the last pass, by which jobs age, is told by the ages that sprio printed. Fair
/// share is computed from RawUsage; where rows that sshare did not print forbid that, its FairShare
/// is taken, and a note says so.
///
/// # Errors
/// Shares that make no tree, jobs whose partition or QOS is not there, settings that name unknown
/// resources.
pub fn from_snapshot(
    snapshot: &Snapshot,
    compat: Option<Compat>,
) -> Result<PrioReport, InputError> {
    let config = of_compat(&snapshot.queued, compat);
    let mut shares = share::from_listing(&snapshot.shares, config.ranking(), config.compat)?;
    share::settle(&snapshot.shares, &mut shares)?;
    report(&snapshot.queued, &shares, &config)
}

/// Computes the report of the jobs that a description has, one row per partition and QOS of a job
/// that waits and is not held, with another compatibility than its settings' if asked for; `None`
/// where it describes no queue.
///
/// # Errors
/// Settings that name unknown resources.
pub fn from_site(site: &Site, compat: Option<Compat>) -> Option<Result<PrioReport, InputError>> {
    let queued = site.queued.as_ref()?;
    let config = of_compat(queued, compat);
    let shares = share::from_site(site, config.ranking(), config.compat);
    Some(report(queued, &shares, &config))
}

fn of_compat(queued: &Queued, compat: Option<Compat>) -> Config {
    let mut config = queued.settings.config.clone();
    config.compat = compat.unwrap_or(config.compat);
    config
}

fn report(
    queued: &Queued,
    shares: &ShareReport,
    config: &Config,
) -> Result<PrioReport, InputError> {
    let broken = |why: String| InputError::new(&queued.name, Problem::Structure(why));
    let names = names(shares);
    let mut tables = Tables::new(queued, &names, config)?;
    let factors = shares.rows.iter();
    tables.publish(factors.map(|row| row.fs_factor.value().unwrap_or(0.0)));
    let now = pass_time(queued, config);
    let pricer = Pricer::new(config, tables.site(), now).map_err(|e| broken(e.to_string()))?;
    let mut report = PrioReport {
        source: queued.name.clone(),
        names: queued
            .settings
            .release
            .is_some_and(|release| release.facts().sprio_names_qos),
        weighted: weights(config),
        weights: Some(printed_weights(config)),
        rows: Vec::new(),
        notes: queued
            .left_out
            .iter()
            .cloned()
            .chain(factors_of_sshare(shares))
            .collect(),
    };
    let mut gone = 0;
    let mut left = LeftOut::default();
    // How many rows of a job and a partition came before: one for each of its QOS.
    let mut seen: HashMap<(Option<u32>, Option<&str>), usize> = HashMap::new();
    for row in queued
        .queue
        .listings
        .iter()
        .flat_map(|listing| &listing.rows)
    {
        let nth = seen
            .entry((row.job_id, row.partition.as_deref()))
            .or_default();
        let shown = match left.keep(tables.job(row, *nth))? {
            Some(Some(shown)) => shown,
            Some(None) => {
                gone += 1;
                continue;
            }
            None => continue,
        };
        *nth += 1;
        tables
            .site()
            .check_job(&shown.job)
            .map_err(|error| broken(error.to_string()))?;
        let priced = pricer.price_set(&shown.job);
        let mut terms = vec![0.0; tables.site().tres_names.len()];
        pricer.tres_terms(&shown.job, &mut terms);
        let mut made = made(queued, row, &shown, &priced, config, &terms);
        // Of ranks nothing is open.
        if !config.ranking().is_ranked() {
            settle(&mut made, row, config.priority_weight_fairshare);
        }
        report.rows.push(made);
    }
    left.any_read(report.rows.len(), 0)?;
    report.notes.extend(left.notes());
    if gone > 0 {
        report.notes.push(format!(
            "{gone} rows of sprio are of jobs that scontrol did not show, and left out"
        ));
    }
    // Where it was told there is nothing to say.
    if !report.rows.is_empty() && queued.pass.is_none() {
        report.notes.push(format!(
            "jobs age to the last pass of slurmctld, {}",
            jiff::Timestamp::from_second(now).unwrap_or_default()
        ));
    }
    Ok(report)
}

fn names(shares: &ShareReport) -> Vec<AssocName> {
    let name = |row: &ShareRow| AssocName {
        account: row.account.clone().unwrap_or_default(),
        user: row.user.clone(),
        partition: row.partition.clone(),
    };
    shares.rows.iter().map(name).collect()
}

/// Tells of users whose factor could not be computed.
fn factors_of_sshare(shares: &ShareReport) -> Option<String> {
    let printed =
        |row: &&ShareRow| matches!((row.fs_factor, &row.user), (Figure::Printed(_), Some(_)));
    let printed = shares.rows.iter().filter(printed).count();
    (printed > 0).then(|| {
        format!(
            "FairShare of {printed} users is not computed but taken from sshare, whose rows \
             are not all there"
        )
    })
}

fn weights(config: &Config) -> [bool; 7] {
    let points = points(config);
    Factor::ALL.map(|factor| match factor {
        Factor::Tres => !config.priority_weight_tres.is_empty(),
        _ => points[factor.index()] > 0,
    })
}

/// The weights by [`Factor::index`]; 0 for [`Factor::Tres`].
fn points(config: &Config) -> [u32; 7] {
    [
        config.priority_weight_age,
        config.priority_weight_assoc,
        config.priority_weight_fairshare,
        config.priority_weight_job_size,
        config.priority_weight_partition,
        config.priority_weight_qos,
        0,
    ]
}

fn printed_weights(config: &Config) -> Weights {
    let mut weights = Weights {
        points: points(config).map(Some),
        tres: None,
    };
    weights.points[Factor::Tres.index()] = None;
    let tres = config.priority_weight_tres.iter();
    let tres: Vec<String> = tres
        .map(|(name, weight)| format!("{name}={weight}"))
        .collect();
    weights.tres = (!tres.is_empty()).then(|| tres.join(","));
    weights
}

/// A row of the report.
fn made(
    queued: &Queued,
    row: &Row,
    shown: &Shown<'_>,
    priced: &Priced,
    config: &Config,
    terms: &[f64],
) -> PrioRow {
    let (about, job) = (&queued.jobs[shown.place], &shown.job);
    let weights = points(config);
    let computed = [
        priced.age,
        priced.assoc,
        priced.fairshare,
        priced.job_size,
        priced.partition,
        priced.qos,
        priced.tres,
    ];
    let norm = |factor: Factor| match (factor, weights[factor.index()]) {
        (Factor::Tres, _) => Figure::Blank,
        (_, 0) => Figure::Computed(0.0),
        (_, weight) => Figure::Computed(computed[factor.index()] / f64::from(weight)),
    };
    let sum = computed.iter().sum::<f64>() + f64::from(priced.site) - f64::from(priced.nice);
    let direct = job.direct && job.priority > 0;
    let priority = if direct {
        f64::from(job.priority)
    } else {
        sum.max(1.0)
    };
    PrioRow {
        line: None,
        job_id: row.job_id,
        partition: row.partition.clone(),
        cluster: queued.settings.cluster.clone(),
        user: Some(about.user.clone()),
        account: about.account.clone(),
        qos_name: shown.qos.map(str::to_owned),
        set_by_hand: direct,
        priority: Figure::Computed(priority),
        norm_priority: Figure::Computed(if direct {
            priority
        } else {
            priority / MAX_PRIORITY
        }),
        points: computed.map(Figure::Computed),
        norm: Factor::ALL.map(norm),
        tres: tres(queued, config, terms),
        site: Some(i64::from(priced.site)),
        nice: Some(i64::from(priced.nice)),
        printed: None,
    }
}

fn tres(queued: &Queued, config: &Config, terms: &[f64]) -> Vec<TresTerm> {
    let names = queued.settings.tres.iter().zip(terms);
    let term = |(name, points): (&String, &f64)| {
        let weights = config.priority_weight_tres.iter();
        let mut weights = weights.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let weight = weights.next().map_or(1.0, |(_, weight)| *weight);
        TresTerm {
            name: name.clone(),
            points: Figure::Computed(*points),
            norm: Figure::Computed(points / weight),
        }
    };
    names
        .filter(|(_, points)| **points != 0.0)
        .map(term)
        .collect()
}
