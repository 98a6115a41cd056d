//! What a queue goes by.

use std::borrow::Cow;

use crate::order::Level;
use crate::tree::{Assoc, AssocId, AssocKind, Shares, Tree};
use crate::usage::Outcomes;

/// Microseconds since 1970 (a moment), or a number of them (a length).
pub type Micros = i64;

/// Microseconds of a second.
pub const SECOND: Micros = 1_000_000;

/// What counts as used at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// What was used in the last so many microseconds (`window:LENGTH`), more than 0.
    Window(Micros),
    /// What was used since a moment (`total:DATE`).
    Since(Micros),
}

impl Counted {
    /// What was used before this moment does not count.
    pub(super) fn edge(self, now: Micros) -> Micros {
        match self {
            Counted::Window(length) => now.saturating_sub(length),
            Counted::Since(moment) => moment,
        }
    }
}

/// In which order jobs are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Choice {
    /// By what was used so far.
    Strict,
    /// A job that runs counts as if it ran for its expected time, from its start on. So jobs
    /// that are started at one moment follow the order that [`super::Queue::positions`] tells.
    #[default]
    Interleaved,
}

/// What an account has instead of the site's rule. Accounts and users below it inherit `counted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AccountRule {
    /// Minutes of use it is entitled to, instead of shares.
    pub minutes: Option<u64>,
    /// How its use counts. One that counts since a moment needs minutes, or an account above
    /// with minutes that counts alike, unless the whole site counts so.
    pub counted: Option<Counted>,
}

/// What a queue goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Who competes over the whole tree (`ranking=least_used:LEVEL`).
    pub level: Level,
    /// In which order jobs are chosen (`order=`).
    pub choice: Choice,
    /// What counts as used (`usage=`).
    pub counted: Counted,
    /// Which ends of runs count (`counts=`).
    pub outcomes: Outcomes,
    /// Units that all machines together can give out at a time. Only where minutes and shares
    /// stand side by side does it change an order.
    pub capacity: u64,
    /// Accounts with rules of their own, each once.
    pub accounts: Vec<(AssocId, AccountRule)>,
    /// Users compete with each other by their shares. Otherwise the jobs of all users of an account
    /// are one line, first in, first out; only users directly below the root compete.
    pub users_compete: bool,
}

impl Settings {
    /// The tree with the users as they compete: where they do not, they share as their account does.
    pub fn competing<'a>(&self, tree: &'a Tree) -> Cow<'a, Tree> {
        let root = tree.root().map(|root| tree.rows()[root.get()].id);
        let aside = |row: &Assoc| {
            row.kind == AssocKind::User && row.shares != Shares::Parent && row.parent != root
        };
        if self.users_compete || !tree.rows().iter().any(aside) {
            return Cow::Borrowed(tree);
        }
        let rows = tree.rows().iter().map(|row| Assoc {
            shares: if aside(row) {
                Shares::Parent
            } else {
                row.shares
            },
            ..*row
        });
        Cow::Owned(Tree::from_rows(rows).expect("a tree with other shares"))
    }
}

/// All leaves compete, interleaved, over 28 days; every end counts; one unit; users do not compete.
impl Default for Settings {
    fn default() -> Settings {
        Settings {
            level: Level::Leaf,
            choice: Choice::default(),
            counted: Counted::Window(28 * 86_400 * SECOND),
            outcomes: Outcomes::default(),
            capacity: 1,
            accounts: Vec::new(),
            users_compete: false,
        }
    }
}
