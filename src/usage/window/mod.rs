//! What was used within a window of time (`window:LENGTH`), and since dates (`total:DATE`).
//!
//! | noun | what it is |
//! |---|---|
//! | [`Window`] | length and resolution |
//! | [`WindowLedger`] | usage of every node of a tree: charge, take back, let time pass, ask |
//! | [`UsageHistory`] | the same without a tree, by names of accounts and users: what a file holds, what other clusters send |
//! | [`Columns`], [`Rate`], [`Used`] | what is counted: billing, wall time and each TRES, in whole numbers |
//! | [`Spans`], [`Source`] | who knows of which times |
//!
//! # Buckets, and the error
//! What a leaf used is added up in buckets of the resolution, aligned to 1970. Of the window
//! `(now - length, now]` the near edge is exact: nothing is charged for time to come. The far
//! edge lies within a bucket or between two; that bucket counts in proportion to the time of it
//! that is inside, as if its use were spread evenly. So the error is at most what that one
//! bucket holds, and 0 when all charges, or the far edge, are on multiples of the resolution.
//! There is no other error: all amounts are whole numbers (see [`Columns`]), and proportions are
//! kept as fractions ([`Used`]).
//!
//! # Costs
//! A node without use below it costs a few bytes. Buckets are kept only where something was
//! used, and equal ones side by side as one. When the far edge reaches the next bucket, the
//! leaves are touched that have something in it, and those above them; a calendar knows which.
//!
//! # What is kept
//! Buckets stay for longer than the window where so asked ([`WindowLedger::new`]), so that
//! another model may be used for a while, or a longer window later, and the numbers are there.
//! Totals are kept by date and need no buckets; dates stay until told otherwise.
//!
//! ```
//! use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
//! use fairtree::usage::window::{Column, Columns, LedgerRun, Window, WindowLedger};
//! let row = |id, parent, kind| Assoc { id, parent, kind, shares: Shares::Raw(1) };
//! let tree = Tree::from_rows([
//!     row(1, None, AssocKind::Account),
//!     row(2, Some(1), AssocKind::User),
//! ])?;
//! let (root, user) = (tree.index_of(1).unwrap(), tree.index_of(2).unwrap());
//! let window = Window::new(24 * 3600, 3600)?;
//! let columns = Columns::new(["cpu"])?;
//! let start = 1_800_000_000;
//! let mut ledger = WindowLedger::new(&tree, window, 24 * 3600, columns.clone(), "hpc", start)?;
//!
//! // Job 7 has 4 CPUs for an hour.
//! let run = LedgerRun { job: 7, run: start };
//! let rate = columns.rate(4.0, 1.0, &[(0, 4)])?;
//! ledger.advance(&tree, start + 3600)?;
//! ledger.charge(&tree, user, run, start, start + 3600, &rate)?;
//! assert_eq!(ledger.used(root, Column::Billing).to_f64(), 4.0 * 3600.0);
//! assert!(ledger.charge(&tree, user, run, start, start + 60, &rate).is_err());
//!
//! // A day later half of that hour has left the window.
//! ledger.advance(&tree, start + 24 * 3600 + 1800)?;
//! assert_eq!(ledger.used(root, Column::Wall).to_f64(), 1800.0);
//! // The run failed, and that does not count.
//! ledger.take_back(&tree, run);
//! assert_eq!(ledger.used(root, Column::Billing).to_f64(), 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod amount;
mod bucket;
mod coding;
mod edit;
mod error;
mod file;
mod history;
mod key;
mod ledger;
mod names;
mod query;
mod reading;
mod round;
mod run;
mod slot;
mod span;
mod store;
mod sums;

#[cfg(test)]
mod damage;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod tests;

pub use amount::{Column, Columns, Rate, UNITS, Used};
pub use error::WindowError;
pub use history::UsageHistory;
pub use key::{LeafKey, Source};
pub use ledger::{Changed, WindowLedger};
pub use names::{MAX_LABEL_LEN, OWN_FILE, QOS_FILE, label_of_file, source_file};
pub use reading::{MAX_OWN_BYTES, MAX_SOURCE_BYTES, ReadError};
pub use run::LedgerRun;
pub use span::Spans;
pub(crate) use span::check_time;
pub use store::Placed;

/// The most dates that a ledger keeps totals for.
pub const MAX_DATES: usize = 64;

/// `window:LENGTH` and `resolution=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    length_secs: u64,
    resolution_secs: u32,
}

impl Window {
    /// Seconds of a bucket where nothing is said.
    pub const DEFAULT_RESOLUTION_SECS: u64 = 3600;

    /// The longest bucket, a day.
    pub const MAX_RESOLUTION_SECS: u64 = 86_400;

    /// The longest window, a hundred years of 365 days.
    pub const MAX_LENGTH_SECS: u64 = 3_153_600_000;

    /// A window of `length_secs` with buckets of `resolution_secs`.
    ///
    /// # Errors
    /// [`WindowError::Resolution`] beyond 1 s to 1 day, [`WindowError::Length`] for a window
    /// shorter than that or above [`Window::MAX_LENGTH_SECS`].
    ///
    /// ```
    /// use fairtree::usage::window::Window;
    /// let error = Window::new(1800, 3600).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "window: 1800 s; allowed are 3600 s (the resolution) to 3153600000 s"
    /// );
    /// ```
    pub fn new(length_secs: u64, resolution_secs: u64) -> Result<Window, WindowError> {
        if !(1..=Window::MAX_RESOLUTION_SECS).contains(&resolution_secs) {
            let found = resolution_secs;
            return Err(WindowError::Resolution { found });
        }
        let resolution_secs = resolution_secs as u32;
        if !(u64::from(resolution_secs)..=Window::MAX_LENGTH_SECS).contains(&length_secs) {
            let found = length_secs;
            return Err(WindowError::Length {
                found,
                resolution_secs,
            });
        }
        Ok(Window {
            length_secs,
            resolution_secs,
        })
    }

    /// Length, seconds.
    pub fn length_secs(self) -> u64 {
        self.length_secs
    }

    /// Length of a bucket, seconds.
    pub fn resolution_secs(self) -> u32 {
        self.resolution_secs
    }

    fn length(self) -> i64 {
        self.length_secs as i64
    }

    fn resolution(self) -> i64 {
        i64::from(self.resolution_secs)
    }

    /// The bucket that `moment` falls into.
    fn bucket(self, moment: i64) -> i64 {
        moment.div_euclid(self.resolution())
    }
}
