//! Rows and settings that cannot be priced.

/// Reason why a pass cannot be priced; found before the first job is priced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PriorityError {
    /// `PriorityWeightTRES` names a TRES that the site does not have.
    #[error("PriorityWeightTRES: found \"{name}\", allowed are the site's TRES: {known}")]
    UnknownTres {
        /// The name, as configured.
        name: String,
        /// The site's TRES, separated by commas.
        known: String,
    },
    /// A number of the site's tables is infinite, not a number or negative.
    #[error("{table} {index}: {field} is {value}, allowed are finite numbers from 0 up")]
    BadNumber {
        /// `partition`, `QOS` or `association`.
        table: &'static str,
        /// Position in the table.
        index: usize,
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A row points outside the table that it refers to.
    #[error("{table} {index}: {field} ends at {end}, beyond the {len} entries there are")]
    OutOfRange {
        /// `job`, `partition`, or the list that contains the entry.
        table: &'static str,
        /// Number of the job, or position in the table.
        index: usize,
        /// Name of the field.
        field: &'static str,
        /// The end of the range, one past the last position used.
        end: usize,
        /// Number of entries in the table.
        len: usize,
    },
}
