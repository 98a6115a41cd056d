//! Two policies over the same history, side by side, in several phases.

use serde::Serialize;

use super::quantile::quantile;
use super::report::{Group, Report, Sums};

/// A measure under both policies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Its name, as in the report of a replay.
    pub measure: &'static str,
    /// Mean over the phases, before.
    pub before: f64,
    /// Mean over the phases, after.
    pub after: f64,
    /// Mean of the differences, after less before, phase by phase.
    pub difference: f64,
    /// The 5 % and the 95 % quantile of the differences of the phases.
    pub band: [f64; 2],
    /// `more`, `less`, or `none` where the band holds 0 or what is shown as 0.
    pub verdict: &'static str,
}

/// Measures of some jobs under both policies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Differences {
    /// The account or the user; empty for all.
    pub name: String,
    /// Jobs that started before, in the first phase.
    pub jobs: u64,
    /// Jobs that started after, in the first phase. Each side's measures are those of its own jobs.
    pub jobs_after: u64,
    /// The measures.
    pub measures: Vec<Difference>,
}

/// Two policies over the same history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// The scheduler.
    pub scheduler: &'static str,
    /// Processors before and after.
    pub processors: [u32; 2],
    /// The changes, a sentence each.
    pub changes: Vec<String>,
    /// Phases that ran to their end under both policies.
    pub phases: usize,
    /// The seed of the first phase; the others follow it.
    pub seed: u64,
    /// False where it was stopped before its end.
    pub complete: bool,
    /// All jobs.
    pub all: Differences,
    /// By account.
    pub accounts: Vec<Differences>,
    /// By user.
    pub users: Vec<Differences>,
}

/// A measure of a group; `None`: the group does not have it.
type Measure = (&'static str, fn(&Sums, Option<f64>) -> Option<f64>);

/// The measures, in the order in which they are shown.
const MEASURES: [Measure; 7] = [
    ("mean_wait_seconds", |sums, _| Some(sums.mean_wait_seconds)),
    ("median_wait_seconds", |sums, _| {
        Some(sums.median_wait_seconds)
    }),
    ("p95_wait_seconds", |sums, _| Some(sums.p95_wait_seconds)),
    ("p95_bounded_slowdown", |sums, _| {
        Some(sums.p95_bounded_slowdown)
    }),
    ("utilisation", |sums, _| Some(sums.utilisation)),
    ("owed_core_hours", |_, owed| owed),
    ("unfairly_delayed", |sums, _| sums.delayed.unfairly_delayed),
];

impl Against {
    /// The differences of the reports of each phase, before and after.
    ///
    /// # Panics
    /// Without any.
    pub fn new(
        pairs: &[(Report, Report)],
        changes: Vec<String>,
        seed: u64,
        complete: bool,
    ) -> Against {
        let (before, after) = &pairs[0];
        let sides = |of: fn(&Report) -> (Sums, Option<f64>)| -> Vec<Side> {
            pairs
                .iter()
                .map(|(a, b)| [Some(of(a)), Some(of(b))])
                .collect()
        };
        let all = sides(|report| (report.all, Some(report.owed_core_hours)));
        Against {
            scheduler: before.scheduler,
            processors: [before.processors, after.processors],
            changes,
            phases: pairs.len(),
            seed,
            complete,
            all: differences("", &all),
            accounts: groups(pairs, |report| &report.accounts),
            users: groups(pairs, |report| &report.users),
        }
    }
}

/// Figures of a group before and after, in a phase; `None`: none of its jobs started.
type Side = [Option<(Sums, Option<f64>)>; 2];

fn groups(pairs: &[(Report, Report)], of: fn(&Report) -> &[Group]) -> Vec<Differences> {
    let names = pairs
        .iter()
        .flat_map(|(a, b)| of(a).iter().chain(of(b)))
        .map(|group| group.name.as_str());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    let found = names.into_iter().map(|name| {
        let side = |report: &Report| {
            let found = of(report).iter().find(|group| group.name == name);
            found.map(|group| (group.sums, group.owed_core_hours))
        };
        let sides: Vec<Side> = pairs.iter().map(|(a, b)| [side(a), side(b)]).collect();
        differences(name, &sides)
    });
    found.collect()
}

fn differences(name: &str, sides: &[Side]) -> Differences {
    let measures = MEASURES.iter().filter_map(|(measure, of)| {
        let both = sides.iter().filter_map(|[before, after]| {
            let value = |side: &Option<(Sums, Option<f64>)>| {
                let (sums, owed) = side.as_ref()?;
                of(sums, *owed)
            };
            Some((value(before)?, value(after)?))
        });
        let both: Vec<(f64, f64)> = both.collect();
        (!both.is_empty()).then(|| difference(measure, &both))
    });
    let jobs = |side: usize| {
        let first = sides.first().and_then(|sides| sides[side].as_ref());
        first.map_or(0, |(sums, _)| sums.jobs)
    };
    Differences {
        name: name.to_owned(),
        jobs: jobs(0),
        jobs_after: jobs(1),
        measures: measures.collect(),
    }
}

/// The smallest difference of a measure that tables do not show as 0: half of their last digit.
fn least(measure: &str) -> f64 {
    match measure {
        "utilisation" | "unfairly_delayed" => 0.000_05,
        "owed_core_hours" => 0.05,
        "p95_bounded_slowdown" => 0.005,
        _ => 0.5,
    }
}

fn difference(measure: &'static str, both: &[(f64, f64)]) -> Difference {
    let count = both.len() as f64;
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / count + 0.0;
    let mut differences: Vec<f64> = both.iter().map(|(a, b)| b - a).collect();
    differences.sort_by(f64::total_cmp);
    let at = |part: f64| quantile(&differences, part).unwrap_or(0.0) + 0.0;
    let band = [at(0.05), at(0.95)];
    Difference {
        measure,
        before: mean(&mut both.iter().map(|(a, _)| *a)),
        after: mean(&mut both.iter().map(|(_, b)| *b)),
        difference: mean(&mut differences.iter().copied()),
        band,
        verdict: match band {
            [low, _] if low >= least(measure) => "more",
            [_, high] if high <= -least(measure) => "less",
            _ => "none",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: quantiles of -1, 0 and 4 lie a tenth of the way from the ends.
    #[test]
    fn bands_that_hold_zero_show_no_difference() {
        let of = |both: &[(f64, f64)]| difference("x", both);
        let found = of(&[(10.0, 10.0), (10.0, 14.0), (10.0, 9.0)]);
        assert_eq!(
            (found.before, found.after, found.difference),
            (10.0, 11.0, 1.0)
        );
        assert!((found.band[0] + 0.9).abs() < 1e-12 && (found.band[1] - 3.6).abs() < 1e-12);
        assert_eq!(found.verdict, "none");
        assert_eq!(of(&[(1.0, 3.0), (1.0, 2.0)]).verdict, "more");
        assert_eq!(of(&[(3.0, 1.0), (2.0, 1.0)]).verdict, "less");
        assert_eq!(of(&[(3.0, 3.0)]).verdict, "none");
        // 0.001 % of a machine prints as 0.00%, 0.01 % does not.
        let utilisation = |after: f64| difference("utilisation", &[(0.5, after)]).verdict;
        assert_eq!(utilisation(0.499_99), "none");
        assert_eq!(utilisation(0.499_9), "less");
    }
}
