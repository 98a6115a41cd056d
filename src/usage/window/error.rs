//! What a window ledger refuses, in words that say where, what was found and what is allowed.

use super::{LedgerRun, Window};
use crate::tree::AssocId;

/// Why a ledger refused something. The ledger is as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// A resolution outside its range.
    #[error(
        "resolution: {found} s; allowed are 1 to {} s (1 day)",
        Window::MAX_RESOLUTION_SECS
    )]
    Resolution {
        /// Seconds.
        found: u64,
    },
    /// A window that is shorter than a bucket, or longer than time.
    #[error("window: {found} s; allowed are {} s (the resolution) to {} s", .resolution_secs, Window::MAX_LENGTH_SECS)]
    Length {
        /// Seconds asked for.
        found: u64,
        /// Seconds of a bucket.
        resolution_secs: u32,
    },
    /// A window that reaches back further than what is kept.
    #[error("window: {found} s, but the ledger keeps {kept_secs} s; allowed is up to that")]
    NotKept {
        /// Seconds asked for.
        found: u64,
        /// Seconds that are kept.
        kept_secs: u64,
    },
    /// Another resolution that the buckets at hand cannot be put into.
    #[error(
        "resolution: the ledger has buckets of {have_secs} s, and {found} s is not a multiple of that"
    )]
    Coarsen {
        /// Seconds asked for.
        found: u32,
        /// Seconds of a bucket.
        have_secs: u32,
    },
    /// A rate that is no rate.
    #[error("rate: {what} {found}; allowed is a number from 0 up to 1e19")]
    Rate {
        /// `billing TRES` or `usage factor`.
        what: &'static str,
        /// What was given.
        found: f64,
    },
    /// A TRES name that stands twice or is empty.
    #[error("TRES {name:?} stands twice or has no name; allowed is each name once")]
    TresName {
        /// The name.
        name: String,
    },
    /// More TRES than a bucket can have.
    #[error("{found} TRES were given; allowed are up to {allowed}")]
    TresCount {
        /// How many.
        found: usize,
        /// How many may be.
        allowed: usize,
    },
    /// A rate that was made with other TRES than the ledger's.
    #[error("a rate of {found} TRES was charged to a ledger of {expected}")]
    Width {
        /// TRES of the ledger.
        expected: usize,
        /// TRES of the rate.
        found: usize,
    },
    /// An account, user or partition that cannot be written into a file.
    #[error(
        "name {name:?}: allowed are account, user and partition of at most {allowed} bytes together, without NUL, the account not empty"
    )]
    Name {
        /// What was given.
        name: String,
        /// Bytes.
        allowed: usize,
    },
    /// A moment before 1970 or after the year 9999.
    #[error(
        "{what}: {found} s since 1970; allowed are 0 to {} s",
        super::span::MAX_TIME
    )]
    Time {
        /// Which moment.
        what: &'static str,
        /// Seconds since 1970.
        found: i64,
    },
    /// Two associations with the same name.
    #[error("{name} stands twice; allowed is each name once")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// An interval that ends before it begins.
    #[error(
        "{place}: the interval from {from} to {to} is reversed; allowed is an end not before the beginning"
    )]
    Reversed {
        /// What the interval belongs to.
        place: String,
        /// Seconds since 1970.
        from: i64,
        /// Seconds since 1970.
        to: i64,
    },
    /// An interval of which a part is charged for the same run already.
    #[error(
        "{run}: the interval from {from} to {to} overlaps with {charged_from} to {charged_to}, which is charged; allowed is each second once"
    )]
    Overlap {
        /// The run.
        run: LedgerRun,
        /// Seconds since 1970.
        from: i64,
        /// Seconds since 1970.
        to: i64,
        /// Seconds since 1970.
        charged_from: i64,
        /// Seconds since 1970.
        charged_to: i64,
    },
    /// A charge for time that has not come.
    #[error("{place}: charged up to {to}, but the ledger stands at {now}; allowed is up to that")]
    Future {
        /// What the charge belongs to.
        place: String,
        /// Seconds since 1970.
        to: i64,
        /// Seconds since 1970.
        now: i64,
    },
    /// A run that was charged to another association before.
    #[error(
        "{run}: charged to association {id}, but before to another; allowed is one association per run"
    )]
    OtherLeaf {
        /// The run.
        run: LedgerRun,
        /// The association of the refused charge; 0 in a history, which knows names only.
        id: AssocId,
    },
    /// Use that is to be taken back and is not there.
    #[error("association {id}: less was charged from {from} to {to} than is to be taken back")]
    NotCharged {
        /// The association.
        id: AssocId,
        /// Seconds since 1970.
        from: i64,
        /// Seconds since 1970.
        to: i64,
    },
    /// More usage than a ledger can hold.
    #[error("{place}: usage beyond {:e} TRES-seconds in all; allowed is less", super::amount::LIMIT as f64 / super::amount::UNITS as f64)]
    TooMuch {
        /// What the charge belongs to.
        place: String,
    },
    /// The same time of one source in two ledgers.
    #[error("source {name:?}: {from} to {to} is covered twice; allowed is each second once")]
    CoveredTwice {
        /// The source.
        name: String,
        /// Seconds since 1970.
        from: i64,
        /// Seconds since 1970.
        to: i64,
    },
    /// A history of several clusters where one was expected.
    #[error("sources {found:?}; allowed is {expected:?} alone")]
    OtherSource {
        /// The ledger's own source.
        expected: String,
        /// Those of the history.
        found: Vec<String>,
    },
    /// More dates than a ledger keeps totals for.
    #[error("totals since {found} dates; allowed are up to {}", super::MAX_DATES)]
    DateCount {
        /// How many.
        found: usize,
    },
    /// A position that is not in the tree.
    #[error("association at position {found}, but the tree has {len}")]
    Position {
        /// What was given.
        found: usize,
        /// Associations of the tree.
        len: usize,
    },
    /// Bytes that are no ledger, or a damaged one.
    #[error("byte {offset}: {reason}")]
    Damaged {
        /// Where, counted from 0.
        offset: usize,
        /// What was found, and what is allowed.
        reason: String,
    },
    /// A ledger of another format.
    #[error("byte 8: format {found}; this version reads {}", super::file::VERSION)]
    Version {
        /// The version in the file.
        found: u32,
    },
}
