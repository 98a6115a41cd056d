//! Up to when passes have charged each run of a job, also where the clock has stepped back.
//!
//! As a rule that is the last pass, for all of them. But a clock that stepped back is behind the
//! last pass for a while, and what runs then is of two kinds: runs that were there at that pass
//! are charged up to it, and what the clock shows twice is not charged again; runs that began
//! since are not. Both may have the same start time, so the runs of the last pass are remembered.

use std::collections::BTreeMap;

use super::charges_since_pass::RunKey;

/// Which runs passes know of.
#[derive(Debug, Default)]
pub(in crate::slurm) struct ChargedUntil {
    /// The runs of the last pass that was not behind another, ascending. `None`: not known, as
    /// after a start; all that is found then counts as charged up to the last pass.
    runs: Option<Vec<RunKey>>,
    /// Up to when passes have charged runs that began while the clock was behind.
    later: BTreeMap<RunKey, i64>,
    /// The last pass was behind another.
    behind: bool,
}

impl ChargedUntil {
    /// The last pass that charged a run, or the start of a run that none has charged;
    /// `last_ran`: the latest of all passes, `None`: there was none.
    pub(in crate::slurm) fn until(
        &self,
        run: RunKey,
        now: i64,
        last_ran: Option<i64>,
    ) -> Option<i64> {
        let last_ran = last_ran?;
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

    /// A pass at `now` has charged `runs`, which ascend; `last_ran`: the latest pass before.
    pub(in crate::slurm) fn pass(
        &mut self,
        mut runs: Vec<RunKey>,
        now: i64,
        last_ran: Option<i64>,
    ) {
        let Some(last_ran) = last_ran.filter(|last_ran| now < *last_ran) else {
            *self = ChargedUntil {
                runs: Some(runs),
                ..ChargedUntil::default()
            };
            return;
        };
        self.behind = true;
        let known = self.runs.get_or_insert_with(|| runs.clone());
        let later = |run: &RunKey| run.1 < last_ran && known.binary_search(run).is_err();
        runs.retain(later);
        let charged = |run: RunKey| {
            let before = self.later.get(&run).copied().unwrap_or(run.1);
            (run, before.max(now))
        };
        self.later = runs.into_iter().map(charged).collect();
    }

    /// A pass that does not tell which runs it has charged.
    pub(in crate::slurm) fn forget(&mut self) {
        *self = ChargedUntil::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: RunKey = (1, 100);

    /// A pass at 1000 that charged one run.
    fn passed() -> ChargedUntil {
        let mut passed = ChargedUntil::default();
        passed.pass(vec![OLD], 1000, None);
        passed
    }

    #[test]
    fn runs_are_charged_up_to_the_last_pass() {
        let passed = passed();
        assert_eq!(passed.until(OLD, 1100, Some(1000)), Some(1000));
        // It may have waited for its nodes; the pass has seen it, or its time was not charged.
        assert_eq!(passed.until((2, 900), 1100, Some(1000)), Some(1000));
        assert_eq!(passed.until((2, 1050), 1100, Some(1000)), Some(1000));
        assert_eq!(passed.until(OLD, 1100, None), None);
    }

    #[test]
    fn what_begins_behind_the_last_pass_is_charged_from_its_start() {
        let mut passed = passed();
        // No pass has noticed yet that the clock has stepped back to 500.
        assert_eq!(passed.until((2, 510), 520, Some(1000)), Some(510));
        assert_eq!(passed.until(OLD, 520, Some(1000)), Some(1000));
        passed.pass(vec![OLD, (2, 510)], 600, Some(1000));
        assert_eq!(passed.until((2, 510), 650, Some(1000)), Some(600));
        assert_eq!(passed.until(OLD, 650, Some(1000)), Some(1000));
        assert_eq!(passed.until((3, 610), 650, Some(1000)), Some(610));
        // The clock has caught up: the next pass charges all, and from then on it is the last.
        passed.pass(vec![OLD, (2, 510), (3, 610)], 900, Some(1000));
        assert_eq!(passed.until((3, 610), 1100, Some(1000)), Some(900));
        assert_eq!(passed.until((4, 950), 1100, Some(1000)), Some(950));
        passed.pass(vec![OLD, (2, 510), (3, 610), (4, 950)], 1100, Some(1000));
        for run in [OLD, (2, 510), (3, 610), (4, 950)] {
            assert_eq!(passed.until(run, 1200, Some(1100)), Some(1100));
        }
    }

    #[test]
    fn a_clock_that_steps_back_again_charges_nothing_twice() {
        let mut passed = passed();
        passed.pass(vec![OLD, (2, 510)], 800, Some(1000));
        passed.pass(vec![OLD, (2, 510), (3, 210)], 300, Some(1000));
        assert_eq!(passed.until((2, 510), 400, Some(1000)), Some(800));
        assert_eq!(passed.until((3, 210), 400, Some(1000)), Some(300));
    }

    #[test]
    fn what_is_not_known_counts_as_charged() {
        let mut started = ChargedUntil::default();
        assert_eq!(started.until(OLD, 500, Some(1000)), Some(1000));
        started.pass(vec![OLD], 510, Some(1000));
        assert_eq!(started.until(OLD, 520, Some(1000)), Some(1000));
        assert_eq!(started.until((2, 515), 520, Some(1000)), Some(515));
        started.forget();
        assert_eq!(started.until((2, 515), 520, Some(1000)), Some(1000));
    }
}
