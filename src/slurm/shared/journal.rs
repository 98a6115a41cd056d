//! A log of charges by ends of jobs, per association, since a pass last read the records.

/// Charges in their order: association and TRES-seconds.
#[derive(Debug, Default)]
pub(in crate::slurm) struct Journal {
    charges: Vec<(u32, f64)>,
}

/// Maximum number of charges; if there are more, the pass detects that something is missing, and
/// reads all associations.
const MOST: usize = 1 << 16;

impl Journal {
    /// Records a charge of an association and all above it.
    pub(in crate::slurm) fn note(&mut self, assoc_id: u32, usage: f64) {
        if self.charges.len() < MOST {
            self.charges.push((assoc_id, usage));
        }
    }

    /// Empties the log: the rows contain the earlier charges.
    pub(in crate::slurm) fn begin(&mut self) {
        self.charges.clear();
    }

    /// Calls `charge` with each charge in order, and empties the log.
    pub(in crate::slurm) fn drain(&mut self, mut charge: impl FnMut(u32, f64)) {
        for (assoc_id, usage) in self.charges.drain(..) {
            charge(assoc_id, usage);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_are_drained_once_and_in_order() {
        let mut journal = Journal::default();
        journal.note(7, 1.5);
        journal.note(3, 2.5);
        journal.note(7, 0.5);
        let mut drained = Vec::new();
        journal.drain(|id, usage| drained.push((id, usage)));
        assert_eq!(drained, [(7, 1.5), (3, 2.5), (7, 0.5)]);
        journal.drain(|_, _| unreachable!());
    }

    #[test]
    fn too_many_are_not_kept() {
        let mut journal = Journal::default();
        for _ in 0..=MOST {
            journal.note(1, 1.0);
        }
        assert_eq!(journal.charges.len(), MOST);
        journal.begin();
        assert!(journal.charges.is_empty());
    }
}
