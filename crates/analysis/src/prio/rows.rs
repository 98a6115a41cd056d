//! The rows of a report: kept as what they are made of, and made when they are asked for.

use super::PrioRow;
use super::listing::Printed;
use super::snapshot::Computed;
use fairtree_model::input::sprio::SprioRow;

/// The rows of a report, in the order of the input. Of a large queue all of them at a time would
/// take more memory than the queue itself: each is made anew when it is asked for.
#[derive(Clone, Debug)]
pub struct PrioRows(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Made(Vec<PrioRow<'static>>),
    Printed(Box<Printed>),
    Computed(Box<Computed>),
}

impl Default for PrioRows {
    fn default() -> PrioRows {
        Vec::new().into()
    }
}

/// Rows that are there already.
impl From<Vec<PrioRow<'static>>> for PrioRows {
    fn from(rows: Vec<PrioRow<'static>>) -> PrioRows {
        PrioRows(Kind::Made(rows))
    }
}

impl From<Printed> for PrioRows {
    fn from(rows: Printed) -> PrioRows {
        PrioRows(Kind::Printed(Box::new(rows)))
    }
}

impl From<Computed> for PrioRows {
    fn from(rows: Computed) -> PrioRows {
        PrioRows(Kind::Computed(Box::new(rows)))
    }
}

impl PrioRows {
    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Made(rows) => rows.len(),
            Kind::Printed(rows) => rows.len(),
            Kind::Computed(rows) => rows.len(),
        }
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row at a position.
    ///
    /// # Panics
    /// When there is none.
    pub fn get(&self, at: usize) -> PrioRow<'_> {
        match &self.0 {
            Kind::Made(rows) => rows[at].clone(),
            Kind::Printed(rows) => rows.get(at),
            Kind::Computed(rows) => rows.get(at),
        }
    }

    /// Job and partition of the row at a position.
    ///
    /// # Panics
    /// When there is none.
    pub fn head(&self, at: usize) -> (Option<u32>, Option<&str>) {
        match &self.0 {
            Kind::Made(rows) => (rows[at].job_id, rows[at].partition),
            Kind::Printed(rows) => rows.head(at),
            Kind::Computed(rows) => rows.head(at),
        }
    }

    /// Whether the row at a position is printed as one of `other`, in all numbers and under the same
    /// columns and weights. False where telling that would take reading them.
    pub(crate) fn prints_as(&self, at: usize, other: &PrioRows, there: usize) -> bool {
        match (&self.0, &other.0) {
            (Kind::Printed(own), Kind::Printed(other)) => own.prints_as(at, other, there),
            _ => false,
        }
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = PrioRow<'_>> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The row at a position as sprio printed it; `None` if rows are not computed beside it.
    pub(super) fn printed(&self, at: usize) -> Option<SprioRow<'_>> {
        match &self.0 {
            Kind::Computed(rows) => Some(rows.printed(at)),
            Kind::Made(_) | Kind::Printed(_) => None,
        }
    }
}
