//! The data that an explanation uses.

use serde::Serialize;

use crate::what_if::QueueError;
use fairtree::config::Config;
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Entitlement};
use fairtree::order::OrderError;
use fairtree::priority::{JobTables, PriorityError};
use fairtree::tree::{AssocIndex, AssocKind, Tree};
use fairtree_model::cluster::{Cluster, Load};

/// The state of a site at one moment: the engine's rows, and what the engine made of them.
///
/// Ranking is done once, by the caller; explaining one job among a million then looks only at the
/// rows that take part, and tries out changes on copies.
#[derive(Clone, Copy, Debug)]
pub struct RankedSite<'a> {
    /// Settings.
    pub config: &'a Config,
    /// Associations.
    pub tree: &'a Tree,
    /// Raw usage of all associations by position, TRES-seconds.
    pub raw: &'a [Extended],
    /// What associations are entitled to.
    pub entitlement: &'a Entitlement,
    /// What [`fairtree::fairshare::compute_again`] gave for the four above, one per association by
    /// position.
    pub fairshare: &'a [AssocFairshare],
    /// The tables of jobs, with the factors that [`fairtree::engine::publish`] wrote.
    pub tables: &'a JobTables,
    /// The load of the running jobs, see [`Load::of`]; may be empty.
    pub load: &'a [Load],
    /// Now, seconds since 1970.
    pub now: i64,
}

impl<'a> RankedSite<'a> {
    /// The ranked site of a cluster; `load` and `entitlement` as [`Cluster::load`] and
    /// [`Cluster::entitlement`] give them.
    pub fn of(
        cluster: &'a Cluster,
        load: &'a [Load],
        entitlement: &'a Entitlement,
    ) -> RankedSite<'a> {
        RankedSite {
            config: &cluster.config,
            tree: cluster.tree(),
            raw: cluster.raw(),
            entitlement,
            fairshare: &cluster.fairshare,
            tables: &cluster.tables,
            load,
            now: cluster.now().unwrap_or(0),
        }
    }

    /// Checks that the tables belong together.
    pub(super) fn check(&self) -> Result<(), ExplainError> {
        let expected = self.tree.len();
        for (table, found) in [
            ("usage", self.raw.len()),
            ("fair share", self.fairshare.len()),
            ("tables.assocs", self.tables.assocs.len()),
        ] {
            if found != expected {
                return Err(ExplainError::Length {
                    table,
                    found,
                    expected,
                });
            }
        }
        let highest = self.load.iter().map(|load| load.assoc.get() + 1).max();
        match highest.filter(|end| *end > expected) {
            Some(found) => Err(ExplainError::Length {
                table: "load",
                found,
                expected,
            }),
            None => Ok(()),
        }
    }

    /// True for a user association of this tree.
    pub(super) fn is_user(&self, index: AssocIndex) -> bool {
        self.tree
            .rows()
            .get(index.get())
            .is_some_and(|row| row.kind == AssocKind::User)
    }
}

/// One of the two that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The first one named.
    First,
    /// The second one named.
    Second,
}

impl Side {
    /// The other one.
    pub const fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }

    /// This side's entry of a pair.
    pub fn of<T>(self, pair: &[T; 2]) -> &T {
        &pair[self.position()]
    }

    pub(super) const fn position(self) -> usize {
        match self {
            Side::First => 0,
            Side::Second => 1,
        }
    }
}

impl From<QueueError> for ExplainError {
    fn from(error: QueueError) -> ExplainError {
        match error {
            QueueError::Priority(error) => ExplainError::Priority(error),
            QueueError::Order(error) => ExplainError::Order(error),
        }
    }
}

/// Why there is no explanation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// Only users have a place in the order.
    #[error(
        "{name} is an account; allowed are users: name one as USER@ACCOUNT\nhint: `fairtree explain {name}` \
         shows an account beside its siblings"
    )]
    NotAUser {
        /// The requested name.
        name: String,
    },
    /// The same user twice.
    #[error("{name} cannot be compared with itself; name two different users")]
    SameUser {
        /// Who was asked for.
        name: String,
    },
    /// The same job twice.
    #[error("job {id} cannot be compared with itself; name two different jobs")]
    SameJob {
        /// The job's number.
        id: u32,
    },
    /// The listings of sprio do not have the job, or no points of it.
    #[error(
        "{source_name}: found no job {id} with its factors among the {jobs} rows; allowed is one \
         that sprio -l lists\nhint: sprio lists jobs that wait; held ones, and those that run, it \
         leaves out"
    )]
    NotListed {
        /// The job's number.
        id: u32,
        /// Name of the input.
        source_name: String,
        /// Rows there are.
        jobs: usize,
    },
    /// The position is beyond the tree.
    #[error("position {position} is beyond the {len} associations there are")]
    NoSuchAssoc {
        /// The requested position.
        position: usize,
        /// Associations of the tree.
        len: usize,
    },
    /// The tables of the site do not have the size of the tree.
    #[error("{table} has {found} rows, but the tree has {expected}")]
    Length {
        /// Which table.
        table: &'static str,
        /// Its rows.
        found: usize,
        /// Associations of the tree.
        expected: usize,
    },
    /// Settings or rows that cannot be priced.
    #[error(transparent)]
    Priority(#[from] PriorityError),
    /// Rows that have no order.
    #[error(transparent)]
    Order(#[from] OrderError),
}
