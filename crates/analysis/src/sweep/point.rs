//! Points of a sweep with their figures.

use fairtree_model::input::sweep::{AccountFigures, Figures, Plan, Point, Runs};
use serde::Serialize;

use crate::simulate::{Report, quantile};

/// A figure over the seeds of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// The 5 % and the 95 % quantile.
    pub band: [f64; 2],
}

impl Spread {
    /// The spread of some values; 0 without any.
    fn of(values: impl Iterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let count = values.len().max(1) as f64;
        let at = |part: f64| quantile(&values, part).unwrap_or(0.0);
        Spread {
            // An empty sum is -0.
            mean: values.iter().sum::<f64>() / count + 0.0,
            band: [at(0.05), at(0.95)],
        }
    }
}

/// A point with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointResult {
    /// Its settings.
    pub settings: std::collections::BTreeMap<String, String>,
    /// Runs that there are, one for each seed.
    pub runs: usize,
    /// Jobs that started, in the first run.
    pub jobs: u64,
    /// Mean wait, seconds.
    pub mean_wait_seconds: Spread,
    /// Median wait, seconds.
    pub median_wait_seconds: Spread,
    /// 95 % of the jobs waited no longer, seconds.
    pub p95_wait_seconds: Spread,
    /// 95 % of the jobs had no larger bounded slowdown.
    pub p95_bounded_slowdown: Spread,
    /// Part of the machine that was used, 0 to 1.
    pub utilisation: Spread,
    /// Core-hours owed to all accounts.
    pub owed_core_hours: Spread,
    /// Part of the jobs that were unfairly delayed; `None`: not computed.
    pub unfairly_delayed: Option<Spread>,
    /// Whether no other point is better in mean wait or in owed core-hours and no worse in the other.
    pub best: Best,
}

/// Whether a point is one of the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Best {
    /// No other point is better in mean wait or in owed core-hours, and no worse in the other.
    Yes,
    /// Another point is.
    No,
}

/// The results of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sweep {
    /// Runs of the plan: points times seeds.
    pub runs: usize,
    /// Of these, runs without a result.
    pub missing: usize,
    /// Runs of each point: the seeds of the plan.
    pub seeds: usize,
    /// The settings that differ between points.
    pub varied: Vec<String>,
    /// The points that have a result, in the order of the plan.
    pub points: Vec<PointResult>,
}

impl Sweep {
    /// The results of a plan.
    pub fn new(plan: &Plan, runs: &Runs) -> Sweep {
        let mut points: Vec<PointResult> = Vec::new();
        let mut found = 0;
        for point in &plan.points {
            let own = plan.seeds.iter();
            let own = own.filter_map(|seed| runs.figures.get(&(point.clone(), *seed)));
            let own: Vec<&Figures> = own.collect();
            found += own.len();
            if let Some(first) = own.first() {
                points.push(result(point, first.jobs, &own));
            }
        }
        let best = best(&points);
        for (point, best) in points.iter_mut().zip(best) {
            point.best = best;
        }
        let all = plan.points.len() * plan.seeds.len();
        Sweep {
            runs: all,
            missing: all - found,
            seeds: plan.seeds.len(),
            varied: varied(&plan.points),
            points,
        }
    }

    /// The best points, shortest mean wait first.
    pub fn best(&self) -> Vec<&PointResult> {
        let best = self.points.iter().filter(|point| point.best == Best::Yes);
        let mut best: Vec<&PointResult> = best.collect();
        best.sort_by(|a, b| {
            let (a, b) = (&a.mean_wait_seconds, &b.mean_wait_seconds);
            a.mean.total_cmp(&b.mean)
        });
        best
    }
}

fn result(point: &Point, jobs: u64, own: &[&Figures]) -> PointResult {
    let of = |value: fn(&Figures) -> f64| Spread::of(own.iter().map(|one| value(one)));
    let delayed: Option<Vec<f64>> = own.iter().map(|one| one.unfairly_delayed).collect();
    PointResult {
        settings: point.0.clone(),
        runs: own.len(),
        jobs,
        mean_wait_seconds: of(|one| one.mean_wait_seconds),
        median_wait_seconds: of(|one| one.median_wait_seconds),
        p95_wait_seconds: of(|one| one.p95_wait_seconds),
        p95_bounded_slowdown: of(|one| one.p95_bounded_slowdown),
        utilisation: of(|one| one.utilisation),
        owed_core_hours: of(|one| one.owed_core_hours),
        unfairly_delayed: delayed.map(|all| Spread::of(all.into_iter())),
        best: Best::No,
    }
}

/// The points of which no other one is better in one of the two figures and no worse in the other.
fn best(points: &[PointResult]) -> Vec<Best> {
    let key = |point: &PointResult| (point.mean_wait_seconds.mean, point.owed_core_hours.mean);
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (key(&points[*a]), key(&points[*b]));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut found = vec![Best::No; points.len()];
    let mut least: Option<(f64, f64)> = None;
    for at in order {
        let (wait, owed) = key(&points[at]);
        let is_best =
            least.is_none_or(|(at_wait, least)| owed < least || (owed <= least && wait <= at_wait));
        if is_best {
            found[at] = Best::Yes;
            least = Some((wait, owed));
        }
    }
    found
}

/// The settings that are not the same in all points.
fn varied(points: &[Point]) -> Vec<String> {
    let mut names: Vec<&String> = points.iter().flat_map(|point| point.0.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let differs = |name: &&String| {
        let mut values = points.iter().map(|point| point.get(name));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    names.into_iter().filter(differs).cloned().collect()
}

/// The figures of a run, as its file keeps them.
pub fn figures_of(report: &Report) -> Figures {
    let rounded = |value: f64| (value * 1e6).round() / 1e6 + 0.0;
    let all = &report.all;
    let accounts = report.accounts.iter().map(|group| AccountFigures {
        account: group.name.clone(),
        mean_wait_seconds: rounded(group.sums.mean_wait_seconds),
        owed_core_hours: rounded(group.owed_core_hours.unwrap_or(0.0)),
    });
    Figures {
        jobs: all.jobs,
        mean_wait_seconds: rounded(all.mean_wait_seconds),
        median_wait_seconds: rounded(all.median_wait_seconds),
        p95_wait_seconds: rounded(all.p95_wait_seconds),
        p95_bounded_slowdown: rounded(all.p95_bounded_slowdown),
        utilisation: rounded(all.utilisation),
        owed_core_hours: rounded(report.owed_core_hours),
        unfairly_delayed: match report.fair_starts {
            0 => None,
            _ => all.delayed.unfairly_delayed.map(rounded),
        },
        accounts: accounts.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(wait: f64, owed: f64) -> PointResult {
        let spread = |mean: f64| Spread {
            mean,
            band: [mean, mean],
        };
        PointResult {
            mean_wait_seconds: spread(wait),
            owed_core_hours: spread(owed),
            ..result(&Point::default(), 1, &[])
        }
    }

    /// By full comparison of all pairs.
    fn naive(points: &[PointResult]) -> Vec<Best> {
        let key = |point: &PointResult| (point.mean_wait_seconds.mean, point.owed_core_hours.mean);
        let is_better =
            |a: (f64, f64), b: (f64, f64)| a.0 <= b.0 && a.1 <= b.1 && (a.0 < b.0 || a.1 < b.1);
        let best = points.iter().map(|point| {
            match points.iter().any(|other| is_better(key(other), key(point))) {
                true => Best::No,
                false => Best::Yes,
            }
        });
        best.collect()
    }

    proptest::proptest! {
        #[test]
        fn no_point_is_better_than_a_best_one(keys in proptest::collection::vec((0..6_u8, 0..6_u8), 0..20)) {
            let points: Vec<PointResult> =
                keys.iter().map(|(wait, owed)| at(f64::from(*wait), f64::from(*owed))).collect();
            proptest::prop_assert_eq!(best(&points), naive(&points));
        }
    }

    #[test]
    fn settings_that_differ_are_found() {
        let point = |text: &[(&str, &str)]| {
            let pairs = text.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
            Point(pairs.collect())
        };
        let points = [
            point(&[("a", "1"), ("b", "2")]),
            point(&[("a", "1"), ("b", "3")]),
            point(&[("a", "1")]),
        ];
        assert_eq!(varied(&points), ["b"]);
        assert!(varied(&points[..1]).is_empty());
    }
}
