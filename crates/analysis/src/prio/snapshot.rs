//! The report of a snapshot, or of a site with jobs: every factor computed by the engine, from shares, usage and jobs.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::listing::from_queue;
use super::prefer_printed::prefer_printed;
use super::{Figure, MAX_PRIORITY, PrioReport, PrioRow, PrioRows, TresTerm};
use crate::share::{self, Fractions, ShareReport, ShareRow};
use fairtree::compat::Compat;
use fairtree::config::Config;
use fairtree::priority::{Priced, Pricer};
use fairtree_model::cluster::{AssocName, Shown, Tables, pass_time};
use fairtree_model::input::site::Site;
use fairtree_model::input::slurm::job::JobRow;
use fairtree_model::input::slurm::snapshot::{Queued, Snapshot};
use fairtree_model::input::sprio::{Factor, Listing, SprioRow, Weights};
use fairtree_model::input::{InputError, LeftOut, Name, Problem};
use fairtree_model::listed::Listed;

/// Computes the report of the jobs that sprio listed, one row per partition of a job, with another
/// compatibility than the settings' if asked for.
///
/// The moment of the last pass, by which jobs age, is told by the ages that sprio printed. Fair
/// share is computed from RawUsage; where rows that sshare did not print forbid that, its FairShare
/// is taken, and a note says so. Where partitions or nodes are hidden, all is as sprio printed it.
///
/// # Errors
/// Shares that make no tree, jobs whose partition or QOS is not there, settings that name unknown
/// resources.
pub fn from_snapshot(
    snapshot: &Snapshot,
    compat: Option<Compat>,
) -> Result<PrioReport, InputError> {
    let config = of_compat(&snapshot.queued, compat);
    if snapshot.queued.hidden.any() {
        return Ok(as_printed(&snapshot.queued, &config));
    }
    let listing = &snapshot.shares;
    let listed = Listed::new(listing, config.ranking())?;
    let shares = share::from_listed(&listed, config.compat, Some(&config), Fractions::Printed);
    report(&snapshot.queued, &shares, &config)
}

/// The report of what sprio printed, with the weights of the settings.
fn as_printed(queued: &Queued, config: &Config) -> PrioReport {
    let mut reports = from_queue(&queued.queue);
    let mut report = match reports.is_empty() {
        true => PrioReport::default(),
        false => reports.swap_remove(0),
    };
    report.source.clone_from(&queued.name);
    report.names = names_qos(queued);
    report.weighted = weights(config);
    report.weights = Some(printed_weights(config));
    report.notes.splice(..0, queued.left_out.iter().cloned());
    report.notes.extend(super::order_note(config));
    report
}

/// Returns true if sprio names accounts and QOS.
fn names_qos(queued: &Queued) -> bool {
    let release = queued.settings.release;
    release.is_some_and(|release| release.facts().sprio_names_qos)
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
    let pricer =
        Pricer::new(config, tables.job_tables(), now).map_err(|e| broken(e.to_string()))?;
    let mut report = PrioReport {
        normalised: false,
        source: queued.name.clone(),
        names: names_qos(queued),
        weighted: weights(config),
        weights: Some(printed_weights(config)),
        rows: PrioRows::default(),
        notes: queued
            .left_out
            .iter()
            .cloned()
            .chain(factors_of_sshare(shares))
            .chain(super::order_note(config))
            .collect(),
    };
    let mut gone = 0;
    let mut left = LeftOut::default();
    let mut rows = Computed::new(queued, config);
    // How many rows of a job and a partition came before: one for each of its QOS.
    let mut seen: HashMap<(u32, Option<&str>), usize> = HashMap::new();
    let mut terms = vec![0.0; tables.job_tables().tres_names.len()];
    for (listing, number) in queued.queue.listings.iter().zip(0..) {
        for at in 0..listing.rows.len() {
            let row = listing.rows.head(at);
            let mut only = 0;
            let nth = match row.job_id.and_then(|id| Some((id, tables.place(id)?))) {
                Some((id, place)) if queued.jobs[place].qos.len() > 1 => {
                    seen.entry((id, row.partition)).or_default()
                }
                _ => &mut only,
            };
            let shown = match left.keep(tables.job((&listing.rows, at), *nth))? {
                Some(Some(shown)) => shown,
                Some(None) => {
                    gone += 1;
                    continue;
                }
                None => continue,
            };
            *nth += 1;
            tables
                .job_tables()
                .check_job(&shown.job)
                .map_err(|error| broken(error.to_string()))?;
            let priced = pricer.price_set(&shown.job);
            terms.fill(0.0);
            pricer.tres_terms(&shown.job, &mut terms);
            rows.push((number, small(at)), shown, &priced, &terms);
        }
    }
    report.rows = rows.into();
    left.any_read(report.rows.len(), 0)?;
    report.notes.extend(left.notes());
    if gone > 0 {
        let rows = match gone {
            1 => "1 row of sprio is of a job".to_owned(),
            count => format!("{count} rows of sprio are of jobs"),
        };
        report
            .notes
            .push(format!("{rows} that scontrol did not show, and left out"));
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
    Factor::ALL.map(|factor| match factor.weight(config) {
        Some(weight) => weight > 0,
        None => !config.priority_weight_tres.is_empty(),
    })
}

fn printed_weights(config: &Config) -> Weights {
    let tres = config.priority_weight_tres.iter();
    let tres: Vec<String> = tres
        .map(|(name, weight)| format!("{name}={weight}"))
        .collect();
    Weights {
        points: Factor::ALL.map(|factor| factor.weight(config)),
        tres: (!tres.is_empty()).then(|| tres.join(",")),
    }
}

/// A position.
fn small(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 rows, terms and jobs")
}

/// Rows as the engine computed them, beside those that sprio printed.
#[derive(Clone, Debug)]
pub(super) struct Computed {
    listings: Vec<Listing>,
    jobs: Arc<Vec<JobRow>>,
    config: Config,
    cluster: Option<String>,
    tres_names: Vec<String>,
    rows: Vec<RowParts>,
    /// Resources with their points, by position in `tres_names`; those without points are left out.
    terms: Vec<(u32, f64)>,
}

/// The parts of a row of the report.
#[derive(Clone, Debug)]
struct RowParts {
    /// The listing, and the row of it.
    printed: (u32, u32),
    /// The place of its job.
    job: u32,
    qos: Option<Name>,
    /// Its priority, if an administrator set it.
    direct: Option<NonZeroU32>,
    points: [f64; 7],
    site: i32,
    nice: i32,
    /// Where its terms begin, and how many there are.
    terms: (u32, u32),
}

impl Computed {
    fn new(queued: &Queued, config: &Config) -> Computed {
        Computed {
            listings: queued.queue.listings.clone(),
            jobs: queued.jobs.clone(),
            config: config.clone(),
            cluster: queued.settings.cluster.clone(),
            tres_names: queued.settings.tres.clone(),
            rows: Vec::new(),
            terms: Vec::new(),
        }
    }

    fn push(&mut self, printed: (u32, u32), shown: Shown, priced: &Priced, terms: &[f64]) {
        let before = self.terms.len();
        let with_points = (0..).zip(terms).filter(|(_, points)| **points != 0.0);
        self.terms
            .extend(with_points.map(|(at, points)| (at, *points)));
        self.rows.push(RowParts {
            printed,
            job: small(shown.place),
            direct: NonZeroU32::new(shown.job.priority).filter(|_| shown.job.direct),
            qos: shown.qos,
            points: Factor::ALL.map(|factor| priced.points(factor)),
            site: priced.site,
            nice: priced.nice,
            terms: (small(before), small(self.terms.len() - before)),
        });
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// A row as sprio printed it.
    pub fn printed(&self, at: usize) -> SprioRow<'_> {
        let (listing, row) = self.rows[at].printed;
        self.listings[listing as usize].rows.get(row as usize)
    }

    /// Job and partition of a row.
    pub fn head(&self, at: usize) -> (Option<u32>, Option<&str>) {
        let (listing, row) = self.rows[at].printed;
        let head = self.listings[listing as usize].rows.head(row as usize);
        (head.job_id, head.partition)
    }

    /// A row of the report.
    pub fn get(&self, at: usize) -> PrioRow<'_> {
        let parts = &self.rows[at];
        let (listing, row) = parts.printed;
        let head = self.listings[listing as usize].rows.head(row as usize);
        let about = &self.jobs[parts.job as usize];
        let computed = parts.points;
        let norm = |factor: Factor| match factor.weight(&self.config) {
            None => Figure::Blank,
            Some(0) => Figure::Computed(0.0),
            Some(weight) => Figure::Computed(computed[factor.index()] / f64::from(weight)),
        };
        let sum = computed.iter().sum::<f64>() + f64::from(parts.site) - f64::from(parts.nice);
        let (priority, norm_priority) = match parts.direct {
            Some(priority) => [f64::from(priority.get()); 2].into(),
            None => (sum.max(1.0), sum.max(1.0) / MAX_PRIORITY),
        };
        let mut made = PrioRow {
            line: None,
            job_id: head.job_id,
            partition: head.partition,
            cluster: self.cluster.as_deref(),
            user: Some(&about.user),
            account: about.account.as_deref(),
            qos_name: parts.qos.as_deref(),
            sluid: None,
            set_by_hand: parts.direct.is_some(),
            priority: Figure::Computed(priority),
            norm_priority: Figure::Computed(norm_priority),
            points: computed.map(Figure::Computed),
            norm: Factor::ALL.map(norm),
            tres: self.tres(parts),
            cut: None,
            site: Some(i64::from(parts.site)),
            nice: Some(i64::from(parts.nice)),
            printed: None,
        };
        // Of ranks nothing is open.
        if !self.config.ranking().is_ranked() {
            prefer_printed(
                &mut made,
                &self.printed(at),
                self.config.priority_weight_fairshare,
            );
        }
        made
    }

    fn tres(&self, parts: &RowParts) -> Vec<TresTerm<'_>> {
        let (start, len) = parts.terms;
        let terms = &self.terms[start as usize..][..len as usize];
        let term = |&(at, points): &(u32, f64)| {
            let name = self.tres_names[at as usize].as_str();
            let weights = self.config.priority_weight_tres.iter();
            let mut weights = weights.filter(|(known, _)| known.eq_ignore_ascii_case(name));
            let weight = weights.next().map_or(1.0, |(_, weight)| *weight);
            TresTerm {
                name,
                points: Figure::Computed(points),
                norm: Figure::Computed(points / weight),
            }
        };
        terms.iter().map(term).collect()
    }
}
