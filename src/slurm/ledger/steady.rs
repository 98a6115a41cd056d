//! Runs that do not change between passes; only time passes.

use super::seen::SeenRun;
use crate::engine::RunKey;
use crate::tree::AssocId;

/// A row is searched within this distance of its predecessor in the last pass: rows are in the
/// order of slurmctld's jobs, some of which have gone.
const NEAR: usize = 16;

/// State of a run, except the time. Numbers are compared by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Like {
    run: RunKey,
    assoc_id: AssocId,
    qos_ids: [u32; 2],
    /// Time at which it would have started without suspensions.
    began: i64,
    billing: u64,
    factor: u64,
}

/// The runs that the ledgers' clocks charge, in the order of the last pass's rows.
#[derive(Clone, Debug, Default)]
pub(super) struct SteadyRuns {
    likes: Vec<Like>,
    /// Number of TRES per run, and their counts.
    width: usize,
    counts: Vec<u64>,
    /// Number of clock stops at that time.
    stops: [u32; 2],
}

/// Comparison of the rows of a pass with the last ones.
pub(super) struct Found {
    /// By row: true if nothing has changed.
    pub(super) is_steady: Vec<bool>,
    /// Positions of the other rows, ascending.
    pub(super) others: Vec<u32>,
    /// Runs that were steady, and have changed or gone, or may have.
    pub(super) changed: Vec<RunKey>,
}

impl Like {
    fn of(seen: &SeenRun<'_>) -> Like {
        Like {
            run: seen.run,
            assoc_id: seen.assoc_id,
            qos_ids: seen.qos_ids,
            began: seen.until - seen.ran_secs,
            billing: seen.billing.to_bits(),
            factor: seen.factor.to_bits(),
        }
    }
}

impl SteadyRuns {
    /// Returns true if this is still the number of clock stops; otherwise there are no steady runs.
    pub(super) fn is_of(&self, stops: [u32; 2]) -> bool {
        self.stops == stops
    }

    pub(super) fn clear(&mut self) {
        self.likes.clear();
        self.counts.clear();
    }

    fn counts(&self, at: usize) -> &[u64] {
        &self.counts[at * self.width..][..self.width]
    }

    /// Compares rows with those of the last pass. `now`: the time up to which a run must have run;
    /// `has_ended`: returns true if the end was reported.
    pub(super) fn find(
        &self,
        rows: &[SeenRun<'_>],
        now: i64,
        has_ended: impl Fn(RunKey) -> bool,
    ) -> Found {
        let mut found = Found {
            is_steady: vec![false; rows.len()],
            others: Vec::new(),
            changed: Vec::new(),
        };
        let mut next = 0;
        for (at, seen) in (0..).zip(rows) {
            let near = &self.likes[next..self.likes.len().min(next + NEAR)];
            if let Some(skipped) = near.iter().position(|like| like.run == seen.run) {
                let gone = near[..skipped].iter().map(|like| like.run);
                found.changed.extend(gone);
                let place = next + skipped;
                next = place + 1;
                if seen.end.is_none()
                    && seen.until == now
                    && self.likes[place] == Like::of(seen)
                    && *self.counts(place) == *seen.tres
                    && !has_ended(seen.run)
                {
                    found.is_steady[at as usize] = true;
                    continue;
                }
                found.changed.push(seen.run);
            }
            found.others.push(at);
        }
        let gone = self.likes[next..].iter().map(|like| like.run);
        found.changed.extend(gone);
        found
    }

    /// Stores which rows are steady, for the next pass. `all`: every row is steady, so if no row is
    /// gone nothing changes. `stops`: number of clock stops.
    pub(super) fn renew(
        &mut self,
        rows: &[SeenRun<'_>],
        is_steady: &[bool],
        all: bool,
        stops: [u32; 2],
    ) {
        self.stops = stops;
        if all && rows.len() == self.likes.len() {
            return;
        }
        self.clear();
        self.width = rows.iter().map(|seen| seen.tres.len()).max().unwrap_or(0);
        for (seen, _) in rows.iter().zip(is_steady).filter(|(_, steady)| **steady) {
            self.likes.push(Like::of(seen));
            self.counts.extend_from_slice(&seen.tres);
            self.counts.resize(self.likes.len() * self.width, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slurm::ledger::seen::RunEnd;
    use crate::usage::EndState;

    const NOW: i64 = 1_000;

    fn seen(job: u32) -> SeenRun<'static> {
        SeenRun {
            run: (job, 100),
            assoc_id: 4,
            qos_ids: [1, 0],
            until: NOW,
            ran_secs: 900,
            billing: 2.0,
            factor: 1.0,
            tres: vec![2, 300].into(),
            end: None,
        }
    }

    /// Steady runs of these jobs.
    fn steady(jobs: &[u32]) -> SteadyRuns {
        let rows: Vec<SeenRun<'static>> = jobs.iter().map(|job| seen(*job)).collect();
        let mut steady = SteadyRuns::default();
        steady.renew(&rows, &vec![true; rows.len()], false, [3, 4]);
        assert!(steady.is_of([3, 4]) && !steady.is_of([3, 5]));
        steady
    }

    fn found(steady: &SteadyRuns, rows: &[SeenRun<'_>]) -> (Vec<u32>, Vec<u32>) {
        let found = steady.find(rows, NOW, |run| run.0 == 9);
        for (at, is_steady) in found.is_steady.iter().enumerate() {
            assert_eq!(*is_steady, !found.others.contains(&(at as u32)));
        }
        let changed = found.changed.iter().map(|run| run.0).collect();
        (found.others, changed)
    }

    #[test]
    fn whatever_is_new_of_a_run_is_found() {
        let all = steady(&[1]);
        assert_eq!(found(&all, &[seen(1)]), (vec![], vec![]));
        let changes: [fn(&mut SeenRun<'static>); 9] = [
            |seen| seen.assoc_id = 5,
            |seen| seen.qos_ids[1] = 2,
            |seen| seen.until -= 1,
            |seen| seen.ran_secs -= 1,
            |seen| seen.billing = 2.5,
            |seen| seen.factor = 0.5,
            |seen| seen.tres.to_mut()[1] = 301,
            |seen| seen.tres = vec![2].into(),
            |seen| {
                seen.end = Some(RunEnd {
                    state: EndState::Completed,
                    exit_code: 0,
                });
            },
        ];
        for change in changes {
            let mut row = seen(1);
            change(&mut row);
            assert_eq!(found(&all, &[row]), (vec![0], vec![1]));
        }
        // The end was reported.
        assert_eq!(found(&steady(&[9]), &[seen(9)]), (vec![0], vec![9]));
        // A different run of the job.
        let again = SeenRun {
            run: (1, 200),
            ..seen(1)
        };
        assert_eq!(found(&all, &[again]), (vec![0], vec![1]));
    }

    #[test]
    fn rows_may_come_and_go_and_change_their_order() {
        let all = steady(&[1, 2, 3, 4]);
        let rows = [seen(7), seen(1), seen(8), seen(3), seen(4), seen(5)];
        assert_eq!(found(&all, &rows), (vec![0, 2, 5], vec![2]));
        assert_eq!(found(&all, &[]), (vec![], vec![1, 2, 3, 4]));
        // Skipped runs are charged in the usual way.
        let rows = [seen(3), seen(1), seen(2), seen(4)];
        assert_eq!(found(&all, &rows), (vec![1, 2], vec![1, 2]));
        let many: Vec<u32> = (0..100).collect();
        let (others, changed) = found(&steady(&many), &[seen(50), seen(0)]);
        assert_eq!(others, [0]);
        assert_eq!(changed, (1..100).collect::<Vec<u32>>());
    }

    #[test]
    fn what_is_taken_over_is_what_was_steady() {
        let mut all = steady(&[1, 2]);
        let rows = [seen(1), seen(2), seen(3)];
        all.renew(&rows, &[true, false, true], false, [3, 4]);
        assert_eq!(found(&all, &rows), (vec![1], vec![]));
        all.clear();
        assert_eq!(found(&all, &rows), (vec![0, 1, 2], vec![]));
    }
}
