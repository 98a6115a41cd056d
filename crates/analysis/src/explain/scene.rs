//! What an explanation looks at, and how things are called.

use std::collections::BTreeMap;

use serde::Serialize;

use fairtree::config::Config;
use fairtree::engine::Accruing;
use fairtree::fairshare::AssocFairshare;
use fairtree::priority::{Index, Job, PriorityError, Site};
use fairtree::tree::{AssocIndex, AssocKind, Tree};
use fairtree::usage::Ledger;

/// The state of a site at one moment: the engine's rows, and what the engine made of them.
///
/// Ranking is done once, by the caller; explaining one job among a million then looks only at the
/// rows that take part, and tries out changes on copies.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Settings.
    pub config: &'a Config,
    /// Associations.
    pub tree: &'a Tree,
    /// Usage of all associations.
    pub ledger: &'a Ledger,
    /// What [`fairtree::engine::rank`] gave for the three above, one per association by position.
    pub fairshare: &'a [AssocFairshare],
    /// The tables of jobs, with the factors that [`fairtree::engine::publish`] wrote.
    pub site: &'a Site,
    /// What the running jobs cost, see [`Load::of`]; may be empty.
    pub load: &'a [Load],
    /// Now, seconds since 1970.
    pub now: i64,
}

impl Scene<'_> {
    /// Checks that the tables belong together.
    pub(super) fn check(&self) -> Result<(), ExplainError> {
        let expected = self.tree.len();
        for (table, found) in [
            ("usage", self.ledger.raw().len()),
            ("fair share", self.fairshare.len()),
            ("site.assocs", self.site.assocs.len()),
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

/// What the running jobs of one association add to its usage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The association that pays.
    pub assoc: AssocIndex,
    /// Billing TRES times usage factor: TRES-seconds per second, from 0 up.
    pub tres_per_sec: f64,
}

impl Load {
    /// The sums over the jobs that accrue usage now, by position; jobs at their end and jobs that
    /// cost nothing are left out.
    pub fn of(accruing: &[Accruing]) -> Vec<Load> {
        let mut sums: BTreeMap<AssocIndex, f64> = BTreeMap::new();
        for job in accruing.iter().filter(|job| !job.at_end) {
            // As charges read it: a negative usage factor counts as 1.
            let usage_factor = job.run.usage_factor;
            let usage_factor = if usage_factor >= 0.0 {
                usage_factor
            } else {
                1.0
            };
            let rate = job.run.billable_tres * usage_factor;
            if rate > 0.0 && rate.is_finite() {
                *sums.entry(job.assoc).or_default() += rate;
            }
        }
        let sums = sums.into_iter();
        sums.map(|(assoc, tres_per_sec)| Load {
            assoc,
            tres_per_sec,
        })
        .collect()
    }
}

/// What things are called: the caller knows, the engine has only numbers.
pub trait Names {
    /// An association: `alice@physics` for a user, `physics` for an account.
    fn assoc(&self, index: AssocIndex) -> String;
    /// A partition.
    fn partition(&self, index: Index) -> String;
    /// A QOS.
    fn qos(&self, index: Index) -> String;
    /// A job; by default its number.
    fn job(&self, job: &Job) -> String {
        format!("job {}", job.id)
    }
}

/// Names for rows that have none: association numbers, and positions in the tables.
#[derive(Clone, Copy, Debug)]
pub struct Numbered<'a>(pub &'a Tree);

impl Names for Numbered<'_> {
    fn assoc(&self, index: AssocIndex) -> String {
        format!("association {}", self.0.rows()[index.get()].id)
    }
    fn partition(&self, index: Index) -> String {
        format!("partition {}", index.get())
    }
    fn qos(&self, index: Index) -> String {
        format!("QOS {}", index.get())
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

/// Why there is no explanation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// Only users have a place in the order.
    #[error("{name} is an account; allowed are users: name one as USER@ACCOUNT")]
    NotAUser {
        /// What was asked for.
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
        /// What was asked for.
        position: usize,
        /// Associations of the tree.
        len: usize,
    },
    /// The tables of the scene do not have the size of the tree.
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
}
