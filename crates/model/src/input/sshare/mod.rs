//! The text that `sshare` prints.
//!
//! Read are the plain columns with or without the line of dashes, `-p` and `-P`; any choice, order
//! and width of columns; with or without `-l`, `-a`, `-m`; a shell prompt with the command above
//! it, and where `-n` or a `grep` took the header away, the columns that this command names. Text
//! that `sshare` cut off ends in `+` there and is marked here.
//!
//! sshare counts bytes when it pads a column, so a name that is not ASCII moves the rest of its
//! row; files that were edited since may count characters. Either is understood.

mod bare_words;
mod cells;
mod column;
mod command;
mod header;
mod hierarchy;
pub mod json;
mod printed;
mod reader;

pub use column::{Column, Field, FieldError, MAX_WIDTH, default_fields, parse_fields};
pub use header::begins;
pub use hierarchy::{Link, RowKind, links};
pub use printed::Printed;
pub use reader::{read, read_answer};

use fairtree::tree::Shares;

/// One listing: the output of one run of `sshare`.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Name of the file it came from.
    pub file: String,
    /// The cluster of a `CLUSTER:` line (`sshare -M`).
    pub cluster: Option<String>,
    /// The columns, in order.
    pub fields: Vec<Field>,
    /// The accounts were printed flush right (`-o Account%30`): their depth cannot be seen.
    pub depth_hidden: bool,
    /// Number of rows that could not be read and are not among [`Listing::rows`].
    pub rows_left_out: usize,
    /// A sentence for each of these, and for each cell that could not be read, of a file.
    pub notes: Vec<String>,
    /// The rows, in order.
    pub rows: Vec<SshareRow>,
}

impl Listing {
    /// Returns true if the listing has this column.
    pub fn has(&self, column: Column) -> bool {
        self.fields.iter().any(|field| field.column == column)
    }
}

/// One row of a listing. A blank cell, or a cell of a missing column, is `None`.
#[derive(Clone, Debug, Default)]
pub struct SshareRow {
    /// Line in the file, from 1.
    pub line: usize,
    /// Blanks before the account's name: how deep sshare drew it.
    pub depth: usize,
    /// Account; for a user's row the account that the user is in.
    pub account: Option<String>,
    /// The account's name was cut off.
    pub account_cut: bool,
    /// User.
    pub user: Option<String>,
    /// Cluster.
    pub cluster: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Number of the association.
    pub id: Option<u32>,
    /// RawShares; blank for the root.
    pub raw_shares: Option<Shares>,
    /// RawUsage, whole TRES-seconds, cut off after the point.
    pub raw_usage: Option<u64>,
    /// NormShares.
    pub norm_shares: Option<Printed>,
    /// NormUsage.
    pub norm_usage: Option<Printed>,
    /// EffectvUsage.
    pub effective_usage: Option<Printed>,
    /// LevelFS.
    pub level_fs: Option<Printed>,
    /// FairShare.
    pub fs_factor: Option<Printed>,
    /// GrpTRESMins, as printed.
    pub grp_tres_mins: Option<String>,
    /// GrpTRESRaw, as printed.
    pub grp_tres_raw: Option<String>,
    /// TRESRunMins, as printed.
    pub tres_run_mins: Option<String>,
}
