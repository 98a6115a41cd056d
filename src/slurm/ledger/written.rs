//! Values to which a pass set records, and detection of records that were reset since.

use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Tree};
use std::cell::OnceCell;
use std::sync::Arc;

/// Values of a record that show a reset: if billing costs nothing, only wall time does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::slurm) struct Held {
    /// Raw usage.
    pub(in crate::slurm) usage: Extended,
    /// Seconds.
    pub(in crate::slurm) wall: f64,
}

impl Held {
    /// Returns true if any value is lower than before.
    pub(in crate::slurm) fn is_less_than(self, before: Held) -> bool {
        self.usage < before.usage || self.wall < before.wall
    }

    fn is_nothing(self) -> bool {
        self.usage.is_zero() && self.wall == 0.0
    }
}

/// Values to which the records of a tree's nodes were set.
#[derive(Debug, Default)]
pub(super) struct Written {
    tree: Option<Arc<Tree>>,
    /// By position.
    held: Vec<Held>,
    /// See [`not_moved`]; all queries are about the same later tree.
    not_moved: OnceCell<Vec<bool>>,
}

impl Written {
    pub(super) fn new(tree: &Arc<Tree>, held: Vec<Held>) -> Written {
        Written {
            tree: Some(Arc::clone(tree)),
            held,
            not_moved: OnceCell::new(),
        }
    }

    /// Returns true if the node at `index` of `tree`, which may be a later tree, was reset. `now`
    /// returns the present values of that tree's records (`None`: no number). Until the next pass,
    /// ends of jobs only add to records, so a user or a QOS was reset if its values fell. An
    /// account's values also fall when associations are moved. A reset account has nothing, or was
    /// charged since, and then the values of all users below it have fallen. But an account whose
    /// users were moved away also has nothing.
    pub(super) fn was_reset(
        &self,
        tree: &Arc<Tree>,
        index: AssocIndex,
        now: impl Fn(AssocIndex) -> Option<Held>,
    ) -> bool {
        let (Some(then), Some(has)) = (&self.tree, now(index)) else {
            return false;
        };
        let row = &tree.rows()[index.get()];
        let is_same = Arc::ptr_eq(then, tree);
        let before = match is_same {
            true => Some(index),
            false => then.index_of(row.id),
        };
        let had = before.map_or(Held::default(), |before| self.held[before.get()]);
        match row.kind {
            AssocKind::User => has.is_less_than(had),
            AssocKind::Account if !has.is_nothing() || had.is_nothing() => false,
            AssocKind::Account => {
                let find = || not_moved((then, &self.held), tree, now);
                is_same || self.not_moved.get_or_init(find)[index.get()]
            }
        }
    }
}

/// For each node of a `tree`: true if moved associations cannot be the reason for an empty record.
/// Either a user below it has less than `before`, or no association that was below it then and had
/// use is elsewhere now.
fn not_moved(
    (then, before): (&Tree, &[Held]),
    tree: &Tree,
    now: impl Fn(AssocIndex) -> Option<Held>,
) -> Vec<bool> {
    let mut has_less = vec![false; tree.len()];
    let mut lost = vec![false; tree.len()];
    for ((at, row), had) in then.indices().zip(then.rows()).zip(before) {
        let Some(index) = tree.index_of(row.id).filter(|_| !had.is_nothing()) else {
            continue;
        };
        for account in above(then, at) {
            let account = tree.index_of(then.rows()[account.get()].id);
            let is_gone = |account: &AssocIndex| above(tree, index).all(|one| one != *account);
            if let Some(account) = account.filter(is_gone) {
                lost[account.get()] = true;
            }
        }
        if row.kind == AssocKind::User && now(index).is_some_and(|has| has.is_less_than(*had)) {
            above(tree, index).for_each(|account| has_less[account.get()] = true);
        }
    }
    let both = has_less.iter().zip(lost);
    both.map(|(has_less, lost)| *has_less || !lost).collect()
}

/// The ancestors of a node, the nearest first.
fn above(tree: &Tree, index: AssocIndex) -> impl Iterator<Item = AssocIndex> + '_ {
    std::iter::successors(tree.parent(index), |at| tree.parent(*at))
}

#[cfg(test)]
mod tests {
    use super::super::fake_host::{FakeHost, WINDOW, config, tree_of};
    use crate::usage::EndState;

    /// The use of a run before its QOS was reset is not subtracted from the record again.
    #[test]
    fn a_qos_without_decay_that_is_reset_gives_nothing_back_twice() {
        let mut host = FakeHost::new("usage=window:1-0,counts=COMPLETED");
        host.start(1, 4, [1, 3], 2);
        for (secs, record) in [(1_000, 2_000.0), (100, 2_200.0)] {
            host.pass_time(secs);
            host.pass();
            // QOS 3 has NoDecay: the pass charges its record as usual.
            host.of_qos.insert(3, record);
        }
        host.of_qos.insert(3, 0.0);
        host.pass_time(100);
        host.pass();
        // Use up to the pass that finds the reset is not subtracted.
        host.of_qos.insert(3, 200.0);
        host.pass_time(50);
        host.end(1, EndState::NodeFail, true);
        host.of_qos.insert(3, 300.0);
        host.pass();
        assert_eq!(host.of_qos[&3], 200.0);
    }

    /// QOS 3 loses NoDecay and gets it back while usage decays by half-life: its value is lower
    /// than at the end of the window, but it was not reset.
    #[test]
    fn a_qos_that_decayed_meanwhile_is_not_reset() {
        let mut host = FakeHost::new("usage=window:1-0,counts=COMPLETED");
        host.start(1, 4, [1, 3], 2);
        host.pass_time(1_000);
        host.pass();
        host.of_qos.insert(3, 2_000.0);
        host.pass_time(100);
        host.pass();
        let window = std::mem::replace(&mut host.config, config(""));
        host.pass_time(100);
        host.pass();
        host.of_qos.insert(3, 500.0);
        host.config = window;
        host.pass_time(100);
        host.pass();
        host.end(1, EndState::NodeFail, true);
        host.pass();
        assert_eq!(host.of_qos[&3], 500.0 - 2_600.0);
    }

    #[test]
    fn a_reset_is_followed_and_runs_begin_anew() {
        let mut host = FakeHost::new(WINDOW);
        host.start(1, 4, [1, 0], 1);
        host.start(2, 6, [1, 0], 1);
        host.pass_time(100);
        host.pass();
        // sacctmgr modify account a set RawUsage=0.
        host.records = vec![100.0, 0.0, 100.0, 0.0, 0.0, 100.0];
        host.pass_time(10);
        host.pass();
        assert_eq!(host.records, [110.0, 0.0, 110.0, 0.0, 0.0, 110.0]);
        host.pass_time(10);
        host.pass();
        assert_eq!(host.records, [130.0, 10.0, 120.0, 10.0, 0.0, 120.0]);
        host.ledgers.clear();
        host.pass();
        assert_eq!(host.records, [0.0; 6]);
        host.restart();
        host.pass_time(5);
        host.pass();
        assert_eq!(host.records, [10.0, 5.0, 5.0, 5.0, 0.0, 5.0]);
    }

    /// The snapshot of a pass was older than the reset: what that pass charged is forgotten, too.
    #[test]
    fn a_reset_that_is_found_when_records_are_written_is_followed() {
        let mut host = FakeHost::new(WINDOW);
        host.start(1, 4, [1, 0], 1);
        host.start(2, 6, [1, 0], 1);
        host.pass_time(110);
        host.pass();
        assert_eq!(host.records, [220.0, 110.0, 110.0, 110.0, 0.0, 110.0]);
        // sacctmgr modify user u4 set RawUsage=0; the record of QOS 1 stays.
        host.records[3] = 0.0;
        host.of_qos.insert(1, 0.0);
        host.pass_again();
        assert_eq!(host.records, [110.0, 0.0, 110.0, 0.0, 0.0, 110.0]);
        assert_eq!(host.of_qos[&1], 220.0);
        host.pass_time(10);
        host.pass();
        assert_eq!(host.records, [130.0, 10.0, 120.0, 10.0, 0.0, 120.0]);
        assert_eq!(host.of_qos[&1], 240.0);
    }

    /// sacctmgr modify user u4, and later QOS 1, set RawUsage=0; then a job ends, and the record
    /// has a value again before the next pass.
    #[test]
    fn a_reset_is_followed_where_a_job_has_ended_since() {
        let mut host = FakeHost::new(WINDOW);
        host.start(1, 4, [1, 0], 1);
        host.start(2, 6, [1, 0], 1);
        host.pass_time(100);
        host.pass();
        host.records = vec![105.0, 5.0, 100.0, 5.0, 0.0, 100.0];
        host.pass_time(10);
        host.end(1, EndState::Completed, true);
        host.pass();
        assert_eq!(host.records, [110.0, 0.0, 110.0, 0.0, 0.0, 110.0]);
        assert_eq!(host.of_qos[&1], 220.0);
        host.of_qos.insert(1, 5.0);
        host.pass_time(10);
        host.pass();
        assert_eq!(host.of_qos[&1], 0.0);
        host.pass_time(10);
        host.pass();
        assert_eq!(host.of_qos[&1], 10.0);
        assert_eq!(host.records, [130.0, 0.0, 130.0, 0.0, 0.0, 130.0]);
    }

    /// The only user of account a with any use is moved away, and the record of a has nothing.
    #[test]
    fn a_move_is_no_reset_of_those_who_stay() {
        let mut host = FakeHost::new(WINDOW);
        host.start(1, 4, [1, 0], 1);
        host.pass_time(100);
        host.pass();
        assert_eq!(host.records, [100.0, 100.0, 0.0, 100.0, 0.0, 0.0]);
        host.start(2, 5, [1, 0], 1);
        host.pass_time(10);
        host.tree = tree_of(&[(4, 3), (5, 2), (6, 3)]);
        host.records = vec![100.0, 0.0, 100.0, 100.0, 0.0, 0.0];
        host.pass();
        assert_eq!(host.records, [120.0, 10.0, 110.0, 110.0, 10.0, 0.0]);
        // Back again.
        host.pass_time(10);
        host.tree = tree_of(&[(4, 2), (5, 2), (6, 3)]);
        host.pass();
        assert_eq!(host.records, [140.0, 140.0, 0.0, 120.0, 20.0, 0.0]);
        // The same for account a, when u5 is moved at the same time.
        host.pass_time(10);
        host.tree = tree_of(&[(4, 2), (5, 3), (6, 3)]);
        host.records = vec![20.0, 0.0, 20.0, 0.0, 20.0, 0.0];
        host.pass();
        assert_eq!(host.records, [30.0, 0.0, 30.0, 0.0, 30.0, 0.0]);
    }

    /// The same, with a reset of usage between the end and the kill.
    #[test]
    fn an_end_that_a_kill_undoes_after_a_reset_is_not_charged_again() {
        let mut host = FakeHost::new(WINDOW);
        host.start(1, 4, [1, 0], 4);
        host.pass_time(100);
        host.end(1, EndState::Completed, true);
        host.pass();
        assert_eq!(host.records[0], 400.0);
        host.now += 5;
        host.ledgers.clear();
        host.pass();
        assert_eq!(host.records[0], 0.0);
        host.restart();
        // It continued to run, as far as slurmctld knows.
        host.jobs[0].end = None;
        let (from, to) = (host.now - 5, host.now);
        host.jobs[0].run(from, to);
        host.pass_time(3);
        host.pass();
        assert_eq!(host.records[0], 12.0);
    }

    /// slurmctld was down when usage was due for a reset, or was killed before a ledger was saved
    /// without it: the reset comes before the files are read.
    #[test]
    fn a_reset_before_the_files_are_read_counts_for_them() {
        let mut host = FakeHost::new(WINDOW);
        host.start(1, 4, [1, 0], 1);
        host.pass_time(100);
        host.pass();
        assert_eq!(host.records, [100.0, 100.0, 0.0, 100.0, 0.0, 0.0]);
        host.restart();
        host.ledgers.clear();
        host.pass_time(10);
        host.pass();
        assert_eq!(host.records, [0.0; 6]);
        // Once.
        host.pass_time(5);
        host.pass();
        assert_eq!(host.records, [5.0, 5.0, 0.0, 5.0, 0.0, 0.0]);
    }
}
