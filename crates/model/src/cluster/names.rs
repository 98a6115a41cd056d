//! Names of associations and other things, as people use them.

use std::fmt;

use fairtree::priority::{Index, Job};
use fairtree::tree::{AssocIndex, Tree};

/// Name of an association, as people use it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AssocName {
    /// The account, or the account that the user is in.
    pub account: String,
    /// The user; `None` for an account.
    pub user: Option<String>,
    /// The partition that the association is for.
    pub partition: Option<String>,
}

/// `physics`, `alice@physics`, `alice@physics:gpu`.
impl fmt::Display for AssocName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.user {
            Some(user) => write!(f, "{user}@{}", self.account)?,
            None => f.write_str(&self.account)?,
        }
        match &self.partition {
            Some(partition) => write!(f, ":{partition}"),
            None => Ok(()),
        }
    }
}

/// Names of things: the caller knows them, the engine has only numbers.
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
