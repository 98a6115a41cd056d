//! Effects of a change: accounts on their level, users in the order of all, jobs in the queue.
//!
//! [`compare`] applies [`SiteChange`]s to a copy of a cluster and computes both by the same engine that
//! the plugin runs: ranks by [`fairtree::engine::rank`], prices by [`fairtree::priority::Pricer`], time by
//! [`Cluster::pass`]. What it cannot know: which jobs would start
//! when, and be submitted; the queue is the one that waits now. [`compare_over_time`] simulates that, where
//! the machines are known.
//!
//! Changes are made in the order of the list. Changed shares, parents and usage count from the pass
//! after they are made, so `after` is what that pass computes. Slurm's own plugin keeps normalised
//! shares of before where `PriorityFlags` chooses a different ranking until it is started anew; `after`
//! is then what it computes after that.

pub(crate) mod apply;
mod change;
mod job_moves;
mod meanwhile;
mod moves;
mod over_time;
mod passing;
mod settings;
pub(crate) mod standing;

pub use apply::ChangeError;
pub use change::{JobChange, OtherMachine, SiteChange};
pub use job_moves::JobMoves;
pub use meanwhile::{Meanwhile, StartCount, StartMove, Started};
pub use moves::{AssocMove, JobMove, Move, Named, WhatIf};
pub use over_time::{compare_over_time, not_simulated};
pub use settings::{NewSettings, SettingsError};
pub use standing::{AssocStanding, JobStanding, Points, QueueError};

use fairtree_model::cluster::Cluster;
use fairtree_sim::slurm::site::Unpriced;
use moves::Seen;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WhatIfError {
    /// A change cannot be made.
    #[error(transparent)]
    SiteChange(#[from] ChangeError),
    /// The queue cannot be put in order.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// Settings or jobs that cannot be simulated.
    #[error("{0}")]
    Unpriced(String),
    /// It was stopped before the first simulation ended.
    #[error("stopped before the first simulation ended")]
    Stopped,
}

impl From<Unpriced> for WhatIfError {
    fn from(error: Unpriced) -> WhatIfError {
        WhatIfError::Unpriced(error.0)
    }
}

/// Compares a cluster with itself after `changes`.
///
/// # Errors
/// [`WhatIfError::SiteChange`] for the first change that cannot be made, [`WhatIfError::Queue`] for
/// settings and jobs that cannot be priced or ordered.
pub fn compare(before: &Cluster, changes: Vec<SiteChange>) -> Result<WhatIf, WhatIfError> {
    compare_with(before, changes).map(|(what_if, _)| what_if)
}

/// As [`compare`], with the cluster after the changes.
///
/// # Errors
/// As [`compare`].
pub fn compare_with(
    before: &Cluster,
    changes: Vec<SiteChange>,
) -> Result<(WhatIf, Cluster), WhatIfError> {
    let mut after = before.clone();
    for change in &changes {
        apply::apply(&mut after, change)?;
    }
    apply::normalise(&mut after);
    after.rank();
    let (old, new) = Seen::pair(before, &after)?;
    let passing = moves::without_starts(before, &changes);
    let mut moves = moves::moves(old, new, changes, passing);
    if !before.is_whole() {
        // Their ranks are those of a part of the site.
        moves.accounts.clear();
        moves.users.clear();
    }
    Ok((moves, after))
}
