//! The text that `sprio` prints.
//!
//! Read are plain columns of any choice, order and width, and columns that `-o` set apart by one
//! sign (`%i|%u|%Y`), always with their header; weighted and normalised numbers; the row of `-w`;
//! several listings one after the other, with prompts, commands and `#` comments between them, as
//! people keep them in notes. A cell belongs to the heading above it, so rows that were edited
//! since may be a blank off.

mod cell_list;
mod cells;
mod column;
mod glance;
mod header;
mod number;
mod reader;
mod rows;

pub use column::{Column, Defaults, Factor, Field, Form, FormatError, LineFormat, MAX_WIDTH};
pub use glance::Head;
pub use header::begins;
pub use reader::{check_answer, read, read_answer};
pub use rows::{SprioRow, SprioRows, Terms};

use std::sync::Arc;

/// A file: the listings in it, at least one.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Name of the file.
    pub file: String,
    /// Output of each run of `sprio`.
    pub listings: Vec<Listing>,
    /// A sentence for each row that could not be read and is left out, and for each cell that could
    /// not and counts as blank, of a file.
    pub notes: Vec<String>,
}

/// Output of one run of `sprio`.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Line of the header, from 1.
    pub line: usize,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The row of `-w`.
    pub weights: Option<Weights>,
    /// One row per job, or per partition of a job.
    pub rows: Arc<SprioRows>,
}

impl Listing {
    /// Returns true if the listing has this column.
    pub fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    /// Returns true if the listing has a factor, in either form.
    pub fn has_factor(&self, factor: Factor) -> bool {
        [Form::Weighted, Form::Normalised]
            .into_iter()
            .any(|form| self.has(Column::Factor(factor, form)))
    }
}

/// The weights that `sprio -w` prints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    /// By [`Factor::index`]; `None` without that column. That of [`Factor::Tres`] is `tres`.
    pub points: [Option<u32>; 7],
    /// `PriorityWeightTRES`, as in slurm.conf; cut where the column was too narrow.
    pub tres: Option<String>,
}
