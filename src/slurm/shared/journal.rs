//! What ends of jobs have added to associations since a pass last looked at them.

/// The charges of a while, in their order: association and TRES-seconds.
#[derive(Debug, Default)]
pub(in crate::slurm) struct Journal {
    charges: Vec<(u32, f64)>,
}

/// More are not noted: the pass finds that something is missing, and reads all associations.
const MOST: usize = 1 << 16;

impl Journal {
    /// Notes a charge of an association and all above it.
    pub(in crate::slurm) fn note(&mut self, assoc_id: u32, usage: f64) {
        if self.charges.len() < MOST {
            self.charges.push((assoc_id, usage));
        }
    }

    /// Forgets everything: what was charged before is known.
    pub(in crate::slurm) fn begin(&mut self) {
        self.charges.clear();
    }

    /// Tells what was charged, and begins anew.
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
    fn charges_are_told_once_and_in_their_order() {
        let mut journal = Journal::default();
        journal.note(7, 1.5);
        journal.note(3, 2.5);
        journal.note(7, 0.5);
        let mut told = Vec::new();
        journal.drain(|id, usage| told.push((id, usage)));
        assert_eq!(told, [(7, 1.5), (3, 2.5), (7, 0.5)]);
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
