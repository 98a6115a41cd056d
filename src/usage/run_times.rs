//! How long the last runs of each association took, as an estimate of the next ones (`expect=history`).

use crate::tree::AssocId;
use std::collections::BTreeMap;

/// The last two run times of each association.
///
/// The next run is expected to take their mean. Source: Tsafrir, Etsion, Feitelson, "Backfilling
/// Using System-Generated Predictions Rather than User Runtime Estimates", IEEE TPDS 18(6), 2007,
/// where that estimate is compared with others; there per user, here per association.
///
/// ```
/// use fairtree::usage::RunTimes;
/// let mut times = RunTimes::default();
/// assert_eq!(times.expected(7, 3600.0, 0.0), 3600.0);
/// times.note(7, 60);
/// times.note(7, 120);
/// assert_eq!(times.expected(7, 3600.0, 0.0), 90.0);
/// // It has run for longer: only the limit is left.
/// assert_eq!(times.expected(7, 3600.0, 100.0), 3600.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTimes(BTreeMap<AssocId, LastRuns>);

/// The last runs of one association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRuns {
    /// Seconds that the last one ran.
    pub last: u32,
    /// Seconds that the one before ran; `None`: there was one run only.
    pub before: Option<u32>,
}

impl RunTimes {
    /// A run of an association has ended after so many seconds.
    pub fn note(&mut self, assoc: AssocId, secs: u32) {
        let before = self.0.get(&assoc).map(|runs| runs.last);
        let runs = LastRuns { last: secs, before };
        self.0.insert(assoc, runs);
    }

    /// Seconds that a run of an association is expected to take in all, when it has `limit` seconds
    /// and has `ran` for some of them: the mean of the last runs, a second at least, the limit at
    /// most; the limit if it has run for as long already, or if there was no run before.
    pub fn expected(&self, assoc: AssocId, limit: f64, ran: f64) -> f64 {
        let runs = self.0.get(&assoc);
        let mean = runs.map(|runs| {
            let before = runs.before.unwrap_or(runs.last);
            ((f64::from(runs.last) + f64::from(before)) / 2.0).max(1.0)
        });
        mean.filter(|mean| *mean > ran && *mean < limit)
            .unwrap_or(limit)
    }

    /// Forgets associations that are no more.
    pub fn retain(&mut self, is_known: impl Fn(AssocId) -> bool) {
        self.0.retain(|assoc, _| is_known(*assoc));
    }

    /// The last runs of all associations that have some, ascending by id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (AssocId, LastRuns)> {
        self.0.iter().map(|(assoc, runs)| (*assoc, *runs))
    }

    /// True where no run is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(AssocId, LastRuns)> for RunTimes {
    /// Of an id that comes twice the last counts.
    fn from_iter<I: IntoIterator<Item = (AssocId, LastRuns)>>(runs: I) -> RunTimes {
        RunTimes(runs.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_the_last_two_within_the_limit() {
        let mut times = RunTimes::default();
        for secs in [9_000, 100, 200] {
            times.note(3, secs);
        }
        times.note(4, 0);
        assert_eq!(times.expected(3, 1_000.0, 0.0), 150.0);
        assert_eq!(times.expected(3, 120.0, 0.0), 120.0);
        assert_eq!(times.expected(3, 1_000.0, 149.0), 150.0);
        assert_eq!(times.expected(3, 1_000.0, 150.0), 1_000.0);
        // A run that fails at once counts as a second.
        assert_eq!(times.expected(4, 1_000.0, 0.0), 1.0);
        assert_eq!(times.expected(5, 1_000.0, 0.0), 1_000.0);
    }

    #[test]
    fn associations_come_and_go() {
        let mut times = RunTimes::default();
        times.note(9, 5);
        times.note(2, 7);
        times.note(2, 8);
        let two = LastRuns {
            last: 8,
            before: Some(7),
        };
        let one = LastRuns {
            last: 5,
            before: None,
        };
        let found: Vec<_> = times.iter().collect();
        assert_eq!(found, [(2, two), (9, one)]);
        assert_eq!(found.into_iter().collect::<RunTimes>(), times);
        times.retain(|assoc| assoc == 9);
        assert_eq!(
            times.iter().map(|(assoc, _)| assoc).collect::<Vec<_>>(),
            [9]
        );
        times.retain(|_| false);
        assert!(times.is_empty());
    }
}
