//! Plans: shares to give, with the shares that they were made from, and what became of them.
//!
//! A plan is a document that a service keeps and a command applies. It names every association of the levels
//! that it changes with its shares then: where these are different meanwhile, the effects that were shown are
//! not those that would come, and [`apply`](apply::apply) refuses.

pub mod apply;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::shares::{sacctmgr_words, shell_line};
use fairtree::tree::{AssocIndex, Shares};
use fairtree_model::cluster::{AssocName, Cluster};
use fairtree_model::input::slurm::assoc::AssocRow;

/// Name and version of the schema.
pub const SCHEMA: &str = "fairtree.plan/1";

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// [`SCHEMA`].
    pub schema: String,
    /// Its number; empty before it is kept.
    pub id: String,
    /// Who made it.
    pub user: String,
    /// The account whose level changes.
    pub account: String,
    /// The cluster, as slurmdbd knows it.
    pub cluster: String,
    /// When it was made, seconds since 1970.
    pub time: i64,
    /// Moment of the shares that it was made from, seconds since 1970.
    pub made_from: i64,
    /// Shares that change.
    pub shares: Vec<Change>,
    /// The levels that it changes, with all shares of them.
    pub levels: Vec<LevelThen>,
    /// The plan that this one reverses.
    #[serde(default)]
    pub undo_of: Option<String>,
    /// What became of it; `None`: it was not applied.
    #[serde(default)]
    pub outcome: Option<Outcome>,
}

/// An association with shares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Who {
    /// The account, or the account that the user is in.
    pub account: String,
    /// The user; `None` for an account.
    #[serde(default)]
    pub user: Option<String>,
    /// The partition that the association is for.
    #[serde(default)]
    pub partition: Option<String>,
}

/// Shares of one association before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The association, by its name in reports.
    pub name: String,
    /// The association.
    #[serde(flatten)]
    pub who: Who,
    /// A number, or `parent`.
    pub before: String,
    /// A number, or `parent`.
    pub after: String,
}

/// The children of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelThen {
    /// The account.
    pub account: String,
    /// Its children.
    pub rows: Vec<RowThen>,
}

/// A child of an account, and its shares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowThen {
    /// The child.
    #[serde(flatten)]
    pub who: Who,
    /// A number, or `parent`.
    pub shares: String,
}

/// State of a plan that somebody has tried to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All of its shares are in force.
    Applied,
    /// Some of its shares are in force.
    Partly,
    /// Slurm did not take it.
    Failed,
    /// Shares had changed since it was made: nothing was run.
    Refused,
}

impl State {
    /// The state in one word.
    pub fn name(self) -> &'static str {
        match self {
            State::Applied => "applied",
            State::Partly => "partly",
            State::Failed => "failed",
            State::Refused => "refused",
        }
    }
}

/// What became of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// In one word.
    pub state: State,
    /// Who applied it.
    pub user: String,
    /// When, seconds since 1970.
    pub time: i64,
    /// Numbers of the changes of [`Plan::shares`] that are in force, from 0.
    pub done: Vec<usize>,
    /// What was wrong, in sentences.
    pub said: Vec<String>,
}

/// Reason why a document is not a plan that can be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It is not JSON, or lacks a field.
    #[error("the plan: {0}")]
    Document(String),
    /// Another schema.
    #[error("the plan: schema is {found:?}, allowed is {SCHEMA:?}")]
    Schema {
        /// The schema.
        found: String,
    },
    /// A name that sacctmgr would read as several, or as something else.
    #[error(
        "the plan: {what} {name:?}: allowed are names without control characters, quotes and commas, and not empty"
    )]
    Name {
        /// The field.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Shares that are not.
    #[error(
        "the plan: {name}: shares {found:?}, allowed is a whole number from 0 to 2147483646, or parent"
    )]
    Shares {
        /// The association.
        name: String,
        /// The text.
        found: String,
    },
    /// Nothing changes.
    #[error("the plan: it changes nothing")]
    Empty,
    /// An association that changes is in none of the levels.
    #[error("the plan: {name} is in none of its levels with shares {before}")]
    NotThere {
        /// The association.
        name: String,
        /// The shares that it should have there.
        before: String,
    },
}

/// The text that a credential of munge carries for reading a plan from the service.
pub fn purpose_of_reading(id: &str) -> String {
    format!("fairtree-serve plan {id}")
}

/// The text that a credential of munge carries for reporting what became of a plan.
pub fn purpose_of_outcome(id: &str) -> String {
    format!("fairtree-serve outcome {id}")
}

/// Shares by their word.
pub fn shares(text: &str) -> Option<Shares> {
    match text {
        "parent" => Some(Shares::Parent),
        text => match text.parse() {
            Ok(shares) if shares <= Shares::MAX_RAW => Some(Shares::Raw(shares)),
            _ => None,
        },
    }
}

/// The word of shares.
pub fn word(shares: Shares) -> String {
    shares
        .raw()
        .map_or_else(|| "parent".to_owned(), |raw| raw.to_string())
}

impl Who {
    fn name(&self) -> AssocName {
        AssocName {
            account: self.account.clone(),
            user: self.user.clone(),
            partition: self.partition.clone(),
        }
    }
}

impl From<&AssocName> for Who {
    fn from(name: &AssocName) -> Who {
        Who {
            account: name.account.clone(),
            user: name.user.clone(),
            partition: name.partition.clone(),
        }
    }
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.name().fmt(f)
    }
}

impl From<&AssocRow> for RowThen {
    fn from(row: &AssocRow) -> RowThen {
        RowThen {
            who: Who {
                account: row.account.clone(),
                user: row.user.clone(),
                partition: row.partition.clone(),
            },
            shares: word(row.shares),
        }
    }
}

impl LevelThen {
    /// The children of an account of a site.
    pub fn of(cluster: &Cluster, above: AssocIndex) -> LevelThen {
        let tree = cluster.tree();
        let below = tree.indices().filter(|at| tree.parent(*at) == Some(above));
        LevelThen {
            account: cluster.name(above).account.clone(),
            rows: below
                .map(|at| RowThen {
                    who: cluster.name(at).into(),
                    shares: word(tree.rows()[at.get()].shares),
                })
                .collect(),
        }
    }

    /// What is different in `now`, the children of the same account, in sentences; empty: nothing.
    pub fn differences(&self, now: &[RowThen]) -> Vec<String> {
        let by_name = |rows: &[RowThen]| -> BTreeMap<Who, String> {
            let rows = rows.iter();
            rows.map(|row| (row.who.clone(), row.shares.clone()))
                .collect()
        };
        let (then, now) = (by_name(&self.rows), by_name(now));
        let mut said = Vec::new();
        for (who, shares) in &then {
            match now.get(who) {
                Some(found) if found == shares => {}
                Some(found) => {
                    said.push(format!(
                        "{who} has {found} shares; the plan was made from {shares}"
                    ));
                }
                None => said.push(format!("{who} is no longer below {}", self.account)),
            }
        }
        let new = now.keys().filter(|who| !then.contains_key(who));
        said.extend(new.map(|who| format!("{who} is new below {}", self.account)));
        said
    }
}

impl Plan {
    /// Reads the JSON of a plan and checks it; fields that it does not know are ignored.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn read(text: &str) -> Result<Plan, PlanError> {
        let read = serde_json::from_str::<Plan>(text);
        let plan = read.map_err(|error| PlanError::Document(error.to_string()))?;
        plan.check()?;
        Ok(plan)
    }

    /// Refuses a plan that cannot be given to sacctmgr.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn check(&self) -> Result<(), PlanError> {
        if self.schema != SCHEMA {
            let found = self.schema.clone();
            return Err(PlanError::Schema { found });
        }
        if self.shares.is_empty() {
            return Err(PlanError::Empty);
        }
        plain("cluster", &self.cluster)?;
        for level in &self.levels {
            plain("account", &level.account)?;
        }
        for change in &self.shares {
            change.who.check()?;
            for found in [&change.before, &change.after] {
                if shares(found).is_none() {
                    return Err(PlanError::Shares {
                        name: change.name.clone(),
                        found: found.clone(),
                    });
                }
            }
            let mut rows = self.levels.iter().flat_map(|level| &level.rows);
            if !rows.any(|row| row.who == change.who && row.shares == change.before) {
                return Err(PlanError::NotThere {
                    name: change.name.clone(),
                    before: change.before.clone(),
                });
            }
        }
        Ok(())
    }

    /// The commands of a change, word by word: one for each change, in their order.
    pub fn commands(&self) -> Vec<Vec<String>> {
        let command = |change: &Change| {
            let after = shares(&change.after).unwrap_or(Shares::Raw(0));
            sacctmgr_words(Some(&self.cluster), &change.who.name(), after)
        };
        self.shares.iter().map(command).collect()
    }

    /// The same as lines for a shell.
    pub fn lines(&self) -> Vec<String> {
        let commands = self.commands();
        commands.iter().map(|words| shell_line(words)).collect()
    }

    /// What is different on a site meanwhile, in sentences; empty: the plan still fits.
    pub fn differences(&self, cluster: &Cluster) -> Vec<String> {
        let mut said = Vec::new();
        for level in &self.levels {
            match cluster.account(&level.account) {
                Some(at) => said.extend(level.differences(&LevelThen::of(cluster, at).rows)),
                None => said.push(format!("account {} is gone", level.account)),
            }
        }
        said
    }

    /// Returns true if nothing of it is in force, so that it can be applied.
    pub fn is_open(&self) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_none_or(|outcome| matches!(outcome.state, State::Failed | State::Refused))
    }

    /// Returns true if there is something to take back.
    pub fn can_be_undone(&self) -> bool {
        self.outcome
            .as_ref()
            .is_some_and(|outcome| !outcome.done.is_empty())
    }

    /// The plan that takes back what this one has changed, as if it was made at `time`; `None` where nothing
    /// of it is in force.
    pub fn undo(&self, user: &str, time: i64) -> Option<Plan> {
        let outcome = self.outcome.as_ref()?;
        let done = outcome.done.iter().filter_map(|at| self.shares.get(*at));
        let done: Vec<&Change> = done.collect();
        let mut levels = self.levels.clone();
        for row in levels.iter_mut().flat_map(|level| &mut level.rows) {
            if let Some(change) = done.iter().find(|change| change.who == row.who) {
                row.shares.clone_from(&change.after);
            }
        }
        let reversed = |change: &&Change| Change {
            before: change.after.clone(),
            after: change.before.clone(),
            ..Change::clone(change)
        };
        (!done.is_empty()).then(|| Plan {
            schema: SCHEMA.to_owned(),
            id: String::new(),
            user: user.to_owned(),
            account: self.account.clone(),
            cluster: self.cluster.clone(),
            time,
            made_from: outcome.time,
            shares: done.iter().map(reversed).collect(),
            levels,
            undo_of: Some(self.id.clone()),
            outcome: None,
        })
    }
}

impl Who {
    fn check(&self) -> Result<(), PlanError> {
        plain("account", &self.account)?;
        let user = self.user.iter().try_for_each(|user| plain("user", user));
        let mut partition = self.partition.iter();
        user.and_then(|()| partition.try_for_each(|partition| plain("partition", partition)))
    }
}

/// sacctmgr reads `a,b` as two names and takes quotes off.
fn plain(what: &'static str, name: &str) -> Result<(), PlanError> {
    let odd = |c: char| c.is_control() || c == ',' || c == '"' || c == '\'';
    match name.is_empty() || name.contains(odd) || name.len() > 1024 {
        true => Err(PlanError::Name {
            what,
            name: name.chars().take(80).collect(),
        }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
