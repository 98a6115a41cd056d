//! The text that `sprio` prints.
//!
//! Read are plain columns of any choice, order and width, and columns that `-o` set apart by one
//! sign (`%i|%u|%Y`), always with their header; weighted and normalised numbers; the row of `-w`;
//! several listings one after the other, with prompts, commands and `#` comments between them, as
//! people keep them in notes. A cell belongs to the heading above it, so rows that were edited
//! since may be a blank off.

mod cells;
mod column;
mod header;
mod reader;

pub use column::{Column, Defaults, Factor, Field, Form, FormatError, LineFormat, MAX_WIDTH};
pub use header::begins;
pub use reader::{read, read_answer};

use super::sshare::Printed;

/// A file: the listings in it, at least one.
#[derive(Clone, Debug)]
pub struct Queue {
    /// Name of the file.
    pub file: String,
    /// What each run of `sprio` printed.
    pub listings: Vec<Listing>,
}

/// What one run of `sprio` printed.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Line of the header, from 1.
    pub line: usize,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The row of `-w`.
    pub weights: Option<Weights>,
    /// One row per job, or per partition of a job.
    pub rows: Vec<Row>,
}

impl Listing {
    /// Whether the listing has this column.
    pub fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    /// Whether the listing has a factor, in either form.
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

/// A row of a listing. A blank cell, and one of a column that is not there, is `None`.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Line in the file, from 1.
    pub line: usize,
    /// Job number.
    pub job_id: Option<u32>,
    /// Partition; several, separated by commas, where someone wrote them so.
    pub partition: Option<String>,
    /// Cluster.
    pub cluster: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// Name of the QOS.
    pub qos_name: Option<String>,
    /// Site factor.
    pub site: Option<i64>,
    /// Nice value.
    pub nice: Option<i64>,
    /// Priority, a whole number.
    pub priority: Option<f64>,
    /// Priority over 4294967295.
    pub norm_priority: Option<Printed>,
    /// Points by [`Factor::index`]; [`Factor::Tres`] is in `tres`.
    pub weighted: [Option<Printed>; 7],
    /// Factors by [`Factor::index`]; [`Factor::Tres`] is in `norm_tres`.
    pub norm: [Option<Printed>; 7],
    /// Points by name of the resource; `None` without the column, empty for a blank cell.
    pub tres: Option<Vec<(String, Printed)>>,
    /// Factors by name of the resource.
    pub norm_tres: Option<Vec<(String, Printed)>>,
}
