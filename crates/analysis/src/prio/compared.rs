//! A comparison of the engine's results for a snapshot with what sprio printed there.

use super::{Figure, MAX_PRIORITY, PrioReport, PrioRow};
use fairtree::config::{Config, Order};
use fairtree_model::input::slurm::job::JobRow;
use fairtree_model::input::slurm::snapshot::{Queued, Snapshot};
use fairtree_model::input::sprio::{Factor, SprioRow};
use std::collections::HashMap;

/// A number that sprio printed and that is not the computed one.
#[derive(Clone, Debug, PartialEq)]
pub struct Apart {
    /// The row of the report, from 0.
    pub row: usize,
    /// Heading of the column.
    pub column: &'static str,
    /// The printed value.
    pub printed: f64,
    /// The computed value.
    pub computed: f64,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// Rows compared.
    pub rows: usize,
    /// Numbers compared.
    pub numbers: usize,
    /// Rows whose printed fair share is that of sshare's FairShare, while RawUsage has moved on
    /// since the last pass.
    pub stale: usize,
    /// Rows whose age is of a later moment than the last pass: they were priced again since.
    pub repriced: usize,
    /// The numbers that differ.
    pub apart: Vec<Apart>,
}

/// The longest time after the last pass at which a job may have been priced again.
const LATER_SECS: i64 = 600;

/// Compares every row of a report that [`super::from_snapshot`] made; under `order=` only those of jobs
/// whose priority an administrator set: the plugin has no sums for the others.
pub fn compare(snapshot: &Snapshot, report: &PrioReport) -> Compared {
    let fairshare: HashMap<(&str, &str), f64> = snapshot
        .shares
        .rows
        .iter()
        .filter_map(|row| {
            let key = (row.account.as_deref()?, row.user.as_deref()?);
            Some((key, row.fs_factor?.value))
        })
        .collect();
    let mut compared = Compared::default();
    let in_order = snapshot.queued.settings.config.order() != Order::Weighted;
    let ages = Ages::new(&snapshot.queued);
    for (at, row) in report.rows.iter().enumerate() {
        let Some(printed) = report.rows.printed(at) else {
            continue;
        };
        let (row, printed) = (&row, &printed);
        if in_order && !row.set_by_hand {
            continue;
        }
        compared.rows += 1;
        let own = || {
            let key = (row.account.unwrap_or(""), row.user.unwrap_or(""));
            fairshare.get(&key).copied()
        };
        let before = compared.apart.len() + compared.stale + compared.repriced;
        if !row.set_by_hand {
            for factor in Factor::ALL {
                factor_of(&mut compared, &ages, at, row, printed, factor, &own);
            }
            whole(&mut compared, at, "NICE", printed.nice, row.nice);
        }
        // The sum is compared where its parts are the same.
        if compared.apart.len() + compared.stale + compared.repriced == before {
            priority(&mut compared, at, row, printed);
        }
    }
    compared
}

fn factor_of(
    compared: &mut Compared,
    ages: &Ages<'_>,
    at: usize,
    row: &PrioRow<'_>,
    printed: &SprioRow<'_>,
    factor: Factor,
    fairshare: &dyn Fn() -> Option<f64>,
) {
    if factor == Factor::Tres {
        return tres(compared, at, row, printed);
    }
    let (Some(share), Figure::Computed(computed)) =
        (printed.norm[factor.index()], row.norm[factor.index()])
    else {
        return;
    };
    compared.numbers += 1;
    let noise = 1e-12;
    if share.low - noise <= computed && computed <= share.high + noise {
        return;
    }
    match factor {
        Factor::Fairshare if fairshare().is_some_and(|own| (own - share.value).abs() <= 1e-6) => {
            compared.stale += 1;
        }
        Factor::Age if ages.later(row, share.value) => compared.repriced += 1,
        _ => compared.apart.push(Apart {
            row: at,
            column: factor.heading(),
            printed: share.value,
            computed,
        }),
    }
}

/// The moments at which jobs were priced, from their ages.
struct Ages<'a> {
    config: &'a Config,
    jobs: HashMap<u32, &'a JobRow>,
    pass: i64,
    end: i64,
}

impl<'a> Ages<'a> {
    fn new(queued: &'a Queued) -> Ages<'a> {
        let config = &queued.settings.config;
        let pass = fairtree_model::cluster::pass_time(queued, config);
        Ages {
            config,
            jobs: queued.jobs.iter().map(|job| (job.id, job)).collect(),
            pass,
            end: queued.settings.time.unwrap_or(pass) + LATER_SECS,
        }
    }

    /// Returns true if an age is of a moment after the last pass, up to the time of the answers.
    fn later(&self, row: &PrioRow<'_>, share: f64) -> bool {
        let job = row.job_id.and_then(|id| self.jobs.get(&id));
        let Some(job) = job.filter(|_| share < 1.0) else {
            return false;
        };
        let began = match self.config.priority_flags.accrue_always {
            true => job.submit_time,
            false => job.accrue_time,
        };
        let secs = share * f64::from(self.config.priority_max_age_secs);
        let moment = began + secs.round() as i64;
        moment > self.pass && moment <= self.end
    }
}

fn tres(compared: &mut Compared, at: usize, row: &PrioRow<'_>, printed: &SprioRow<'_>) {
    let Some(terms) = printed.tres else { return };
    for (name, points) in terms {
        let known = row.tres.iter().find(|term| term.name == name);
        let computed = known.and_then(|term| term.points.value()).unwrap_or(0.0);
        compared.numbers += 1;
        if computed < points.low - 1e-9 || computed > points.high + 1e-9 {
            compared.apart.push(Apart {
                row: at,
                column: "TRES",
                printed: points.value,
                computed,
            });
        }
    }
}

fn whole(
    compared: &mut Compared,
    at: usize,
    column: &'static str,
    printed: Option<i64>,
    computed: Option<i64>,
) {
    if let (Some(printed), Some(computed)) = (printed, computed) {
        compared.numbers += 1;
        if printed != computed {
            compared.apart.push(Apart {
                row: at,
                column,
                printed: printed as f64,
                computed: computed as f64,
            });
        }
    }
}

fn priority(compared: &mut Compared, at: usize, row: &PrioRow<'_>, printed: &SprioRow<'_>) {
    let Figure::Computed(computed) = row.priority else {
        return;
    };
    // Fourteen decimals of the normalised priority say more than the whole number.
    let (low, high, value) = match (printed.norm_priority, printed.priority) {
        (Some(share), Some(value)) if !row.set_by_hand => {
            let noise = 1e-9 * computed;
            let (low, high) = (share.low * MAX_PRIORITY, share.high * MAX_PRIORITY);
            (low - noise, high + noise, value)
        }
        (_, Some(value)) => (value, value + 1.0, value),
        _ => return,
    };
    compared.numbers += 1;
    if computed < low || computed > high {
        compared.apart.push(Apart {
            row: at,
            column: "PRIORITY",
            printed: value,
            computed,
        });
    }
}
