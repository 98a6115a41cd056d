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
    /// A part of a whole, or a factor, that is above 1.
    AboveOne,
    /// 0, which is no rank: the user was added since the last pass, or there was no pass yet.
    Unranked,
    /// The user does not come after this row, whose level fairshare is higher.
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
    /// What the engine computes from the printed usage; `None` where only the order or a range is known.
    pub computed: Option<f64>,
    /// What kind of difference it is.
    pub verdict: Verdict,
}

/// Printed numbers of a column that were not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The column.
    pub column: Column,
    /// Number of rows.
    pub rows: usize,
    /// The reason.
    pub why: &'static str,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Number of rows whose printed number was compared, by column.
    pub compared: Vec<(Column, usize)>,
    /// Number of rows whose printed factor could be compared only by its order.
    pub ordered: usize,
    /// Printed numbers for which there are no bounds.
    pub skipped: Vec<Skipped>,
    /// Accounts that got usage since the pass that the printed quotients are of: their RawUsage
    /// is newer than their rows' EffectvUsage and LevelFS, which were compared with that in mind.
    pub charged: Vec<Charged>,
    /// FairShare after the next pass, of the rows for which it changes; the highest first. Empty
    /// unless a user is [`Verdict::Unranked`] and the order of all users is known.
    pub next: Vec<(usize, f64)>,
    /// Those that differ by more than usage cut off after the point, or charged since the last pass,
    /// explains.
    pub differences: Vec<Difference>,
}

impl Agreement {
    /// Notes that the printed numbers of a column were compared in `rows` further rows.
    pub(super) fn count(&mut self, column: Column, rows: usize) {
        let known = self.compared.iter_mut().find(|(known, _)| *known == column);
        match known {
            Some((_, count)) => *count += rows,
            None if rows > 0 => self.compared.push((column, rows)),
            None => {}
        }
    }
}
