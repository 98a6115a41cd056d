//! Questions about rows that do not need all their numbers.

use super::column::{Column, Form};
use super::number::Digits;
use super::rows::{BLANK, Data, OTHER, SprioRow, SprioRows, points};
use crate::input::sshare::Printed;

/// Information of a row about its job besides factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// As [`SprioRow::job_id`].
    pub job_id: Option<u32>,
    /// As [`SprioRow::partition`].
    pub partition: Option<&'a str>,
    /// As [`SprioRow::site`].
    pub site: Option<i64>,
}

impl SprioRow<'_> {
    /// As [`SprioRows::is_set_by_hand`].
    fn is_set_by_hand(&self) -> bool {
        let zero = |value: &Option<Printed>| value.is_none_or(|printed| printed.value == 0.0);
        self.priority.is_some_and(|priority| priority > 1.0)
            && self.weighted.iter().chain(&self.norm).all(zero)
            && self.tres.is_none_or(<[_]>::is_empty)
            && self.site.unwrap_or(0) == 0
            && self.nice.unwrap_or(0) == 0
    }
}

impl SprioRows {
    /// Information of a row about its job.
    ///
    /// # Panics
    /// If there is no row at the position.
    pub fn head(&self, at: usize) -> Head<'_> {
        let mut head = Head {
            job_id: None,
            partition: None,
            site: None,
        };
        for (nth, (column, data)) in self.columns.iter().enumerate() {
            match (column, data) {
                (_, Data::Ids(cells)) => head.job_id = cells.get(at).or(head.job_id),
                (Column::Partition, Data::Names(cells)) => {
                    if let Some(name) = cells.get(at).checked_sub(1) {
                        head.partition = Some(&self.names[name as usize]);
                    }
                }
                (Column::Site, Data::Wholes(cells)) => {
                    head.site = self.whole(nth, at, cells.get(at)).or(head.site);
                }
                _ => {}
            }
        }
        head
    }

    /// Returns true for a row of a priority that an administrator set: sprio shows no factors at
    /// all beside it.
    ///
    /// # Panics
    /// If there is no row at the position.
    pub fn is_set_by_hand(&self, at: usize) -> bool {
        if !self.once {
            return self.get(at).is_set_by_hand();
        }
        let mut priority = None;
        for (nth, (column, data)) in self.columns.iter().enumerate() {
            let nothing = match (column, data) {
                (_, Data::Points(cells)) => {
                    priority = points(cells.get(at));
                    priority.is_some_and(|priority| priority > 1.0)
                }
                (_, Data::Wholes(cells)) => self.whole(nth, at, cells.get(at)).unwrap_or(0) == 0,
                (Column::Factor(..), Data::Numbers(cells)) => match cells.get(at) {
                    BLANK => true,
                    cell if cell & OTHER != 0 => self.other[(cell & !OTHER) as usize].value == 0.0,
                    cell => Digits::from_bits(cell).is_zero(),
                },
                (Column::Factor(_, Form::Weighted), Data::Terms(cells)) => cells.get(at) == 0,
                _ => true,
            };
            if !nothing {
                return false;
            }
        }
        priority.is_some()
    }

    /// Returns true if all numbers of a row are printed as those of a row of `other`, which has the
    /// same columns; false if only reading them would decide.
    ///
    /// # Panics
    /// If there is no row at a position.
    pub fn prints_as(&self, at: usize, other: &SprioRows, there: usize) -> bool {
        let columns = self.columns.iter().zip(&other.columns);
        let mut same = columns.map(|((_, own), (_, other))| match (own, other) {
            (Data::Wholes(own), Data::Wholes(other)) => {
                own.get(at) == other.get(there) && own.get(at) != i64::MIN
            }
            (Data::Points(own), Data::Points(other)) => own.get(at) == other.get(there),
            (Data::Numbers(own), Data::Numbers(other)) => {
                let cell = own.get(at);
                cell == other.get(there) && (cell & OTHER == 0 || cell == BLANK)
            }
            (Data::Terms(own), Data::Terms(other)) => own.get(at) == 0 && other.get(there) == 0,
            (Data::Ids(_), Data::Ids(_)) | (Data::Names(_), Data::Names(_)) => true,
            _ => false,
        });
        self.columns.len() == other.columns.len() && same.all(|same| same)
    }
}
