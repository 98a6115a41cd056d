//! The outcome of a comparison with what sshare printed.

use super::bounds::Charged;
use fairtree_model::input::sshare::Column;

/// What the comparison of one number found.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No usage with the printed whole parts gives the printed number.
    Differs {
        /// The smallest value that the printed numbers allow.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Slurm's own plugin ranks ties so, against its documentation. Only where the tie is certain:
    /// LevelFS is printed as `inf` or is 0 of no shares, or shares and usage are the same.
    StockTie,
    /// The user does not stand behind this row, whose level fairshare is higher.
    OutOfOrder {
        /// The row that should be ahead.
        behind: usize,
    },
}

/// A printed number that is not the computed one.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The row.
    pub row: usize,
    /// The column.
    pub column: Column,
    /// What is printed.
    pub printed: f64,
    /// What the engine computes from the printed usage; `None` where only the order is known.
    pub computed: Option<f64>,
    /// What kind of difference it is.
    pub verdict: Verdict,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Printed numbers compared, by column.
    pub compared: Vec<(Column, usize)>,
    /// Printed factors of which only the order could be compared.
    pub ordered: usize,
    /// Accounts that got usage since the pass that the printed quotients are of: their RawUsage
    /// is newer than their rows' EffectvUsage and LevelFS, which were compared with that in mind.
    pub charged: Vec<Charged>,
    /// Those that differ by more than usage cut off after the point explains.
    pub differences: Vec<Difference>,
}
