//! The time up to which passes have charged each run, also after the clock stepped back.
//!
//! Usually all runs of jobs are charged up to the last pass. But after the clock stepped back, the
//! time is before that of the last pass for a while, and there are two kinds of runs: those that ran
//! at that pass are charged up to it, and the repeated time is not charged again; those that
//! began since are not charged yet. Both may have the same start time, so the runs of the last pass
//! are stored.

use std::collections::BTreeMap;

/// A run of a job: its number, and its start time, which tells one run of a requeued job from the
/// next.
pub type RunKey = (u32, i64);

/// Up to when passes have charged each run. Times are seconds since 1970.
///
/// ```
/// use fairtree::engine::ChargedByPasses;
/// let mut charged = ChargedByPasses::new(None);
/// charged.commit(1_000, 1_000, Some(vec![(7, 100)]));
/// assert_eq!(charged.until((7, 100), 1_300), Some(1_000));
/// // The clock steps back to 500, and another job starts.
/// assert_eq!(charged.until((7, 100), 520), Some(1_000));
/// assert_eq!(charged.until((8, 510), 520), Some(510));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ChargedByPasses {
    /// The latest of all passes. `None`: there was none.
    last_ran: Option<i64>,
    /// The runs of the last pass that was not behind another, ascending. `None`: not known, as
    /// after a start; all that is found then counts as charged up to the last pass.
    runs: Option<Vec<RunKey>>,
    /// Runs that began while the clock was behind: the time up to which each is charged.
    later: BTreeMap<RunKey, i64>,
    /// The last pass was behind another.
    behind: bool,
}

impl ChargedByPasses {
    /// After a start: `last_ran` is the last pass, `None` where there was none.
    pub fn new(last_ran: Option<i64>) -> ChargedByPasses {
        ChargedByPasses {
            last_ran,
            ..ChargedByPasses::default()
        }
    }

    /// The last pass; `None`: there was none. The value of [`super::Input::last_ran`].
    pub fn last_ran(&self) -> Option<i64> {
        self.last_ran
    }

    /// The last pass that charged a run, or the start of a run that none has charged; `None`:
    /// there was no pass. The value of [`crate::usage::Run::passed`].
    pub fn until(&self, run: RunKey, now: i64) -> Option<i64> {
        let last_ran = self.last_ran?;
        let (_, start_time) = run;
        if !(self.behind || now < last_ran) || start_time >= last_ran {
            return Some(last_ran);
        }
        let known = self.runs.as_ref();
        if known.is_none_or(|runs| runs.binary_search(&run).is_ok()) {
            return Some(last_ran);
        }
        Some(self.later.get(&run).copied().unwrap_or(start_time))
    }

    /// A pass at `now` has charged `runs`, in any order; `None`: it does not tell which.
    /// `last_ran`: the value of [`super::Outcome::last_ran`].
    pub fn commit(&mut self, last_ran: i64, now: i64, runs: Option<Vec<RunKey>>) {
        let before = self.last_ran.replace(last_ran);
        match runs {
            Some(mut runs) => {
                runs.sort_unstable();
                self.charged(runs, now, before);
            }
            None => *self = ChargedByPasses::new(Some(last_ran)),
        }
    }

    /// `runs` ascend; `before`: the latest pass before this one.
    fn charged(&mut self, mut runs: Vec<RunKey>, now: i64, before: Option<i64>) {
        let Some(before) = before.filter(|before| now < *before) else {
            *self = ChargedByPasses {
                last_ran: self.last_ran,
                runs: Some(runs),
                ..ChargedByPasses::default()
            };
            return;
        };
        self.behind = true;
        let known = self.runs.get_or_insert_with(|| runs.clone());
        let later = |run: &RunKey| run.1 < before && known.binary_search(run).is_err();
        runs.retain(later);
        let charged = |run: RunKey| {
            let before = self.later.get(&run).copied().unwrap_or(run.1);
            (run, before.max(now))
        };
        self.later = runs.into_iter().map(charged).collect();
    }

    /// A pass without associations: time passes, and nothing is charged.
    pub fn touch(&mut self, now: i64) {
        self.last_ran = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: RunKey = (1, 100);

    /// A pass at 1000 that charged one run.
    fn passed() -> ChargedByPasses {
        let mut passed = ChargedByPasses::new(None);
        passed.commit(1000, 1000, Some(vec![OLD]));
        passed
    }

    #[test]
    fn runs_are_charged_up_to_the_last_pass() {
        let passed = passed();
        assert_eq!(passed.until(OLD, 1100), Some(1000));
        // It may have waited for its nodes; the pass has seen it, or its time was not charged.
        assert_eq!(passed.until((2, 900), 1100), Some(1000));
        assert_eq!(passed.until((2, 1050), 1100), Some(1000));
        assert_eq!(ChargedByPasses::new(None).until(OLD, 1100), None);
    }

    #[test]
    fn what_begins_behind_the_last_pass_is_charged_from_its_start() {
        let mut passed = passed();
        // No pass has noticed yet that the clock has stepped back to 500.
        assert_eq!(passed.until((2, 510), 520), Some(510));
        assert_eq!(passed.until(OLD, 520), Some(1000));
        passed.commit(1000, 600, Some(vec![OLD, (2, 510)]));
        assert_eq!(passed.until((2, 510), 650), Some(600));
        assert_eq!(passed.until(OLD, 650), Some(1000));
        assert_eq!(passed.until((3, 610), 650), Some(610));
        // The clock has caught up: the next pass charges all, and from then on it is the last.
        passed.commit(1000, 900, Some(vec![OLD, (2, 510), (3, 610)]));
        assert_eq!(passed.until((3, 610), 1100), Some(900));
        assert_eq!(passed.until((4, 950), 1100), Some(950));
        passed.commit(1100, 1100, Some(vec![OLD, (2, 510), (3, 610), (4, 950)]));
        for run in [OLD, (2, 510), (3, 610), (4, 950)] {
            assert_eq!(passed.until(run, 1200), Some(1100));
        }
    }

    #[test]
    fn a_clock_that_steps_back_again_charges_nothing_twice() {
        let mut passed = passed();
        passed.commit(1000, 800, Some(vec![OLD, (2, 510)]));
        passed.commit(1000, 300, Some(vec![OLD, (2, 510), (3, 210)]));
        assert_eq!(passed.until((2, 510), 400), Some(800));
        assert_eq!(passed.until((3, 210), 400), Some(300));
    }

    #[test]
    fn what_is_not_known_counts_as_charged() {
        let mut started = ChargedByPasses::new(Some(1000));
        assert_eq!(started.until(OLD, 500), Some(1000));
        started.commit(1000, 510, Some(vec![OLD]));
        assert_eq!(started.until(OLD, 520), Some(1000));
        assert_eq!(started.until((2, 515), 520), Some(515));
        started.commit(1000, 515, None);
        assert_eq!(started.until((2, 515), 520), Some(1000));
    }
}
