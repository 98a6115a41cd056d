//! Checks rows before they are priced, so that pricing cannot fail.

use super::{AssocFactors, Index, Job, JobTables, PriorityError, Span};

impl JobTables {
    /// Checks every table, once a pass.
    ///
    /// # Errors
    /// [`PriorityError::BadNumber`] for a factor that is negative, infinite or NaN,
    /// [`PriorityError::OutOfRange`] for an entry that points outside its table.
    pub fn check(&self) -> Result<(), PriorityError> {
        for (index, partition) in self.partitions.iter().enumerate() {
            number("partition", index, "norm_priority", partition.norm_priority)?;
            self.check_tres("partition", index, partition.tres)?;
        }
        for (index, qos) in self.qos.iter().enumerate() {
            number("QOS", index, "norm_priority", qos.norm_priority)?;
        }
        self.check_assocs()?;
        for (index, entry) in self.partition_lists.iter().enumerate() {
            let len = self.partitions.len();
            within("partition_lists", index, "partition", entry.get() + 1, len)?;
        }
        for (index, entry) in self.qos_lists.iter().enumerate() {
            within("qos_lists", index, "QOS", entry.get() + 1, self.qos.len())?;
        }
        Ok(())
    }

    fn check_assocs(&self) -> Result<(), PriorityError> {
        let is_sound =
            |assoc: &AssocFactors| is_number(assoc.fs_factor) & is_number(assoc.norm_priority);
        // There are many associations: first check whether all are valid, then find the invalid
        // one.
        if self
            .assocs
            .iter()
            .fold(true, |all, assoc| all & is_sound(assoc))
        {
            return Ok(());
        }
        for (index, assoc) in self.assocs.iter().enumerate() {
            number("association", index, "fs_factor", assoc.fs_factor)?;
            number("association", index, "norm_priority", assoc.norm_priority)?;
        }
        Ok(())
    }

    /// Checks the positions in a job.
    ///
    /// # Errors
    /// [`PriorityError::OutOfRange`], with the job's number.
    pub fn check_job(&self, job: &Job) -> Result<(), PriorityError> {
        let id = job.id as usize;
        let check = |field, end, len| within("job", id, field, end, len);
        check(
            "assoc",
            job.assoc.map_or(0, |a| a.get() + 1),
            self.assocs.len(),
        )?;
        check("partition", end_of(job.partition), self.partitions.len())?;
        check("qos", end_of(job.qos), self.qos.len())?;
        check(
            "partitions",
            job.partitions.end(),
            self.partition_lists.len(),
        )?;
        check("qos_list", job.qos_list.end(), self.qos_lists.len())?;
        self.check_tres("job", id, job.tres)
    }

    fn check_tres(
        &self,
        table: &'static str,
        index: usize,
        start: Option<Index>,
    ) -> Result<(), PriorityError> {
        let end = start.map_or(0, |start| start.get() + self.tres_names.len());
        within(table, index, "tres", end, self.tres_counts.len())
    }
}

impl Span {
    /// The entries as a range of slice indices.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end()
    }

    /// True if there are no entries.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The slice index after the last entry; 0 for an empty run, wherever it starts.
    fn end(self) -> usize {
        if self.is_empty() {
            0
        } else {
            self.start as usize + self.len as usize
        }
    }
}

fn end_of(index: Option<Index>) -> usize {
    index.map_or(0, |index| index.get() + 1)
}

fn within(
    table: &'static str,
    index: usize,
    field: &'static str,
    end: usize,
    len: usize,
) -> Result<(), PriorityError> {
    if end <= len {
        return Ok(());
    }
    Err(PriorityError::OutOfRange {
        table,
        index,
        field,
        end,
        len,
    })
}

/// Finite, and 0 or above.
fn is_number(value: f64) -> bool {
    (0.0..=f64::MAX).contains(&value)
}

fn number(
    table: &'static str,
    index: usize,
    field: &'static str,
    value: f64,
) -> Result<(), PriorityError> {
    if is_number(value) {
        return Ok(());
    }
    Err(PriorityError::BadNumber {
        table,
        index,
        field,
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Index;
    use super::super::samples::{job, tables};
    use super::*;

    #[test]
    fn the_sample_is_sound() {
        assert_eq!(tables().check(), Ok(()));
        assert_eq!(tables().check_job(&job()), Ok(()));
    }

    #[test]
    fn bad_numbers_are_named() {
        let mut bad = tables();
        bad.assocs.push(AssocFactors {
            fs_factor: f64::NAN,
            ..AssocFactors::default()
        });
        let message = bad.check().unwrap_err().to_string();
        assert_eq!(
            message,
            "association 1: fs_factor is NaN, allowed are finite numbers from 0 up"
        );
        let mut bad = tables();
        bad.qos[0].norm_priority = -1.0;
        assert!(bad.check().unwrap_err().to_string().starts_with("QOS 0"));
        let mut bad = tables();
        bad.partitions[1].norm_priority = f64::INFINITY;
        assert!(
            bad.check()
                .unwrap_err()
                .to_string()
                .starts_with("partition 1")
        );
    }

    #[test]
    fn positions_outside_a_table_are_named() {
        let mut bad = tables();
        bad.qos_lists.push(Index::new(9));
        assert!(matches!(
            bad.check(),
            Err(PriorityError::OutOfRange {
                table: "qos_lists",
                end: 10,
                ..
            })
        ));
        let mut bad = tables();
        bad.partitions[0].tres = Some(Index::new(bad.tres_counts.len() - 1));
        assert!(bad.check().is_err());

        let field = |job: &Job| match tables().check_job(job) {
            Err(PriorityError::OutOfRange { field, .. }) => field,
            other => panic!("{other:?}"),
        };
        let far = Some(Index::new(99));
        let span = Span {
            start: 1,
            len: u32::MAX,
        };
        let assoc = Some(crate::tree::AssocIndex::new(1));
        assert_eq!(field(&Job { assoc, ..job() }), "assoc");
        assert_eq!(
            field(&Job {
                partition: far,
                ..job()
            }),
            "partition"
        );
        assert_eq!(field(&Job { qos: far, ..job() }), "qos");
        assert_eq!(field(&Job { tres: far, ..job() }), "tres");
        assert_eq!(
            field(&Job {
                partitions: span,
                ..job()
            }),
            "partitions"
        );
        assert_eq!(
            field(&Job {
                qos_list: span,
                ..job()
            }),
            "qos_list"
        );
    }
}
