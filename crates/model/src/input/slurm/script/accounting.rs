//! Accounts, users and QOS with what a scheduler looks at.

use fairtree::tree::Shares;

use super::super::assoc::AssocRow;
use super::super::qos::QosRow;
use crate::machine::{Limits, QosLimits};

/// An association with what a scheduler looks at besides shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssocAsked {
    /// Account, user, shares.
    pub row: AssocRow,
    /// Its own limits.
    pub limits: Limits,
    /// QOS of a job that names none.
    pub default_qos: Option<String>,
    /// The account of the user's jobs that name none.
    pub is_default: bool,
}

/// A QOS with its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct QosAsked {
    /// Name, priority, usage factor.
    pub row: QosRow,
    /// Limits.
    pub limits: QosLimits,
}

/// Accounts, users and QOS of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Accounting {
    /// The associations, root first, each after its parent.
    pub assocs: Vec<AssocAsked>,
    /// The QOS; `normal` is always there.
    pub qos: Vec<QosAsked>,
}

impl Default for Accounting {
    fn default() -> Accounting {
        let root = |user: Option<&str>| {
            let mut row = added("root".to_owned());
            row.row.user = user.map(str::to_owned);
            row.is_default = true;
            row
        };
        Accounting {
            assocs: vec![root(None), root(Some("root"))],
            qos: vec![qos("normal")],
        }
    }
}

/// An account as sacctmgr adds it: one share, no limits.
pub(super) fn added(account: String) -> AssocAsked {
    AssocAsked {
        row: AssocRow {
            account,
            user: None,
            partition: None,
            parent: None,
            shares: Shares::Raw(1),
            priority: 0,
            qos: Default::default(),
            limits: None,
        },
        limits: Limits::default(),
        default_qos: None,
        is_default: false,
    }
}

/// A QOS as sacctmgr adds it: no limits.
pub(super) fn qos(name: &str) -> QosAsked {
    QosAsked {
        row: QosRow {
            name: name.to_owned(),
            priority: 0,
            usage_factor: 1.0,
            limits: None,
        },
        limits: QosLimits::default(),
    }
}
