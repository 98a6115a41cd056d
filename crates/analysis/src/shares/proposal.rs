//! Shares and minutes as somebody would give them: before and after, who moves, what to run.

use std::collections::HashMap;

use serde::Serialize;

use super::commands::{Commands, Given, Kept, commands};
use super::level::{Level, LevelRow, Reader};
use crate::what_if::{AssocMove, Move, SiteChange, WhatIf, WhatIfError, compare_with};
use fairtree::config::{AccountPolicy, Config, MOST_MINUTES, MinutesFrom, Place, Program};
use fairtree::tree::{AssocIndex, Shares};
use fairtree_model::cluster::{Cluster, FindError, Names};

/// Shares and minutes to give: each association by its name, as [`Cluster::find_any`] finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Shares.
    pub shares: Vec<(String, Shares)>,
    /// Minutes, of accounts.
    pub minutes: Vec<(String, u64)>,
}

/// A level before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelChange {
    /// Before.
    pub before: Level,
    /// After.
    pub after: Level,
}

impl LevelChange {
    /// The rows after the change, each with the row of the same association before.
    pub fn rows(&self) -> impl Iterator<Item = (Option<&LevelRow>, &LevelRow)> {
        let before = self.before.rows.iter();
        let before: HashMap<&str, &LevelRow> = before.map(|row| (&*row.name, row)).collect();
        let rows = self.after.rows.iter();
        rows.map(move |row| (before.get(&*row.name).copied(), row))
    }
}

/// The effects of a grant. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// The changes in sentences.
    pub changes: Vec<String>,
    /// The levels with associations that change, in the order of the tree.
    pub levels: Vec<LevelChange>,
    /// Who moves, of those who move most the first: users, or accounts where there are no users.
    pub moves: Vec<AssocMove>,
    /// Commands to run.
    pub commands: Commands,
    /// Warnings, in sentences.
    pub warnings: Vec<String>,
}

/// Why the site, or this program, refuses a grant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such association.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The association is not below the account.
    #[error("{name} is not below {below}: allowed are accounts and users below it")]
    NotBelow {
        /// The association.
        name: String,
        /// The account.
        below: String,
    },
    /// The rules of shares and minutes do not allow it.
    #[error("{name}: {why}")]
    Refused {
        /// The association.
        name: String,
        /// Why.
        why: String,
    },
    /// Children would have more minutes than their account.
    #[error(
        "below {parent} {given} minutes would be given out, but it has {minutes}: allowed for {name} are up to {most}"
    )]
    Beyond {
        /// The association whose minutes are too many.
        name: String,
        /// The account above.
        parent: String,
        /// Minutes given out.
        given: u64,
        /// Minutes that it has.
        minutes: f64,
        /// The most for `name`.
        most: u64,
    },
    /// The change cannot be made or computed.
    #[error(transparent)]
    WhatIf(#[from] WhatIfError),
    /// The file with minutes cannot be changed.
    #[error("{0}")]
    File(String),
}

/// The effects of a grant on a site. `below`: an account; only what is below it may change; `None`:
/// the root. `kept`: where shares and minutes are kept.
///
/// # Errors
/// [`Refusal`]: the first value that the site would refuse, and why.
pub fn propose(
    cluster: &Cluster,
    below: Option<&str>,
    grant: &Grant,
    kept: &Kept,
) -> Result<Proposal, Refusal> {
    let above = match below {
        Some(name) => Some(cluster.find_account(name)?),
        None => cluster.tree().root(),
    };
    let granted = Granted::new(cluster, above, grant)?;
    granted.check_file(kept)?;
    let (what_if, after) = compare_with(cluster, granted.changes()?)?;
    granted.check_minutes(&after)?;
    let given = granted.given();
    let commands = commands(kept, cluster.cluster.as_deref(), &given).map_err(Refusal::File)?;
    let (before, after) = (Reader::new(cluster), Reader::new(&after));
    let mut parents: Vec<AssocIndex> = granted.parents();
    parents.sort_unstable();
    parents.dedup();
    let levels = parents.into_iter().map(|parent| LevelChange {
        before: before.level(parent),
        after: after.level(parent),
    });
    Ok(Proposal {
        changes: granted.said(),
        levels: levels.collect(),
        warnings: granted.warnings(),
        moves: movers(what_if),
        commands,
    })
}

/// Those that move, who moves most first; users, or accounts where there are no users.
fn movers(what_if: WhatIf) -> Vec<AssocMove> {
    let all = match what_if.users.is_empty() {
        true => what_if.accounts,
        false => what_if.users,
    };
    let moves = |row: &AssocMove| row.moves != Move::Stays;
    let mut movers: Vec<AssocMove> = all.into_iter().filter(moves).collect();
    movers.sort_by_key(|row| std::cmp::Reverse(row.places()));
    movers
}

/// Values by position.
struct Granted<'a> {
    cluster: &'a Cluster,
    /// Who gets which shares.
    shares: Vec<(AssocIndex, Shares)>,
    /// Who gets which minutes in a file.
    minutes: Vec<(AssocIndex, u64)>,
}

impl<'a> Granted<'a> {
    fn new(
        cluster: &'a Cluster,
        above: Option<AssocIndex>,
        grant: &Grant,
    ) -> Result<Granted<'a>, Refusal> {
        let mut granted = Granted {
            cluster,
            shares: Vec::new(),
            minutes: Vec::new(),
        };
        for (name, shares) in &grant.shares {
            let index = granted.below(cluster.find_any(name)?, above)?;
            granted.check_shares(index, *shares)?;
            granted.shares.push((index, *shares));
        }
        for (name, minutes) in &grant.minutes {
            let index = granted.below(cluster.find_account(name)?, above)?;
            granted.check_given(index, *minutes)?;
            match cluster.config.minutes() {
                MinutesFrom::File => granted.minutes.push((index, *minutes)),
                MinutesFrom::Shares => {
                    let raw = u32::try_from(*minutes).unwrap_or(u32::MAX);
                    granted.shares.push((index, Shares::Raw(raw)));
                }
            }
        }
        let both = granted.shares.iter().map(|(index, _)| *index);
        let mut all: Vec<AssocIndex> = both
            .chain(granted.minutes.iter().map(|row| row.0))
            .collect();
        all.sort_unstable();
        match all.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(granted.refused(pair[0], "it is given twice")),
            None => Ok(granted),
        }
    }

    fn refused(&self, index: AssocIndex, why: impl Into<String>) -> Refusal {
        Refusal::Refused {
            name: self.cluster.assoc(index),
            why: why.into(),
        }
    }

    fn below(&self, index: AssocIndex, above: Option<AssocIndex>) -> Result<AssocIndex, Refusal> {
        let tree = self.cluster.tree();
        let has = |top| tree.upward(tree.parent(index)).any(|at| at == top);
        match above {
            Some(above) if !has(above) => Err(Refusal::NotBelow {
                name: self.cluster.assoc(index),
                below: self.cluster.assoc(above),
            }),
            _ => Ok(index),
        }
    }

    fn check_shares(&self, index: AssocIndex, shares: Shares) -> Result<(), Refusal> {
        let config = &self.cluster.config;
        if shares != Shares::Parent || self.cluster.is_user(index) {
            return Ok(());
        }
        if config.minutes() == MinutesFrom::Shares {
            let why = "with minutes = \"shares\" its shares are its minutes; allowed is a number";
            return Err(self.refused(index, why));
        }
        match self.cluster.entitlement().seconds(index) {
            Some(_) => Err(self.refused(
                index,
                "it has minutes, which FairShare=parent leaves no level to count on; allowed is a \
                 number",
            )),
            None => Ok(()),
        }
    }

    /// In one file an account has either shares or minutes.
    fn check_file(&self, kept: &Kept) -> Result<(), Refusal> {
        let entitlement = self.cluster.entitlement();
        let has_minutes = |(index, _): &&(AssocIndex, Shares)| {
            !self.are_minutes(*index) && entitlement.seconds(*index).is_some()
        };
        match (kept, self.shares.iter().find(has_minutes)) {
            (Kept::File(_), Some((index, _))) => {
                let why = "the file gives it minutes instead of shares; allowed are minutes";
                Err(self.refused(*index, why))
            }
            _ => Ok(()),
        }
    }

    fn check_given(&self, index: AssocIndex, minutes: u64) -> Result<(), Refusal> {
        let config = &self.cluster.config;
        if !config.ranking().columns().entitled {
            let why = format!(
                "minutes need ranking=least_used:LEVEL; the ranking of the site is {}",
                config.ranking()
            );
            return Err(self.refused(index, why));
        }
        let most = match config.minutes() {
            MinutesFrom::File => MOST_MINUTES,
            MinutesFrom::Shares => u64::from(Shares::MAX_RAW),
        };
        if minutes > most {
            let why = format!("{minutes} minutes; allowed are whole numbers from 0 to {most}");
            return Err(self.refused(index, why));
        }
        if self.cluster.tree().rows()[index.get()].shares == Shares::Parent {
            let why = "it has FairShare=parent and so no level to compete on; allowed are accounts \
                       with shares";
            return Err(self.refused(index, why));
        }
        Ok(())
    }

    /// The settings with the minutes of a file.
    fn config(&self) -> Result<Option<Config>, Refusal> {
        let Some((first, _)) = self.minutes.first() else {
            return Ok(None);
        };
        let mut config = self.cluster.config.clone();
        for (index, minutes) in &self.minutes {
            let account = &self.cluster.name(*index).account;
            let same = |row: &&mut AccountPolicy| row.account.eq_ignore_ascii_case(account);
            match config.accounts.iter_mut().find(same) {
                Some(row) => row.set_minutes(*minutes),
                None => {
                    let place = Place {
                        file: self.cluster.source.clone(),
                        line: 1,
                        column: 1,
                    };
                    let row = AccountPolicy::new(account, Some(*minutes), None, place);
                    config.accounts.push(row);
                }
            }
        }
        config.accounts.sort_by(|a, b| a.account.cmp(&b.account));
        match config.refusals(Program::Command).first() {
            Some(error) => Err(self.refused(*first, error.to_string())),
            None => Ok(Some(config)),
        }
    }

    fn changes(&self) -> Result<Vec<SiteChange>, Refusal> {
        let shares = self
            .shares
            .iter()
            .map(|(index, shares)| SiteChange::Shares(self.cluster.assoc(*index), *shares));
        let mut changes: Vec<SiteChange> = shares.collect();
        if let Some(config) = self.config()? {
            changes.push(SiteChange::Settings(
                Box::new(config),
                self.said_of_minutes(),
            ));
        }
        Ok(changes)
    }

    fn said_of_minutes(&self) -> Vec<String> {
        let minutes = self.minutes.iter().map(|(index, minutes)| {
            format!("{} has {minutes} minutes", self.cluster.assoc(*index))
        });
        minutes.collect()
    }

    fn said(&self) -> Vec<String> {
        let shares = self.shares.iter().map(|(index, shares)| {
            let name = self.cluster.assoc(*index);
            match (self.are_minutes(*index), shares) {
                (true, Shares::Raw(minutes)) => format!("{name} has {minutes} minutes"),
                _ => SiteChange::Shares(name, *shares).to_string(),
            }
        });
        shares.chain(self.said_of_minutes()).collect()
    }

    /// Returns true if the shares of an association are its minutes.
    fn are_minutes(&self, index: AssocIndex) -> bool {
        let from_shares = self.cluster.config.minutes() == MinutesFrom::Shares;
        from_shares && !self.cluster.is_user(index)
    }

    /// Refuses minutes beyond those of the account above, where the change made them so.
    fn check_minutes(&self, after: &Cluster) -> Result<(), Refusal> {
        let (tree, now) = (self.cluster.tree(), after.entitlement());
        let before = self.cluster.entitlement().excesses(tree);
        for excess in now.excesses(after.tree()) {
            let over = excess.given as f64 - excess.minutes;
            let known = before.iter().find(|known| known.parent == excess.parent);
            let was = known.map_or(0.0, |known| known.given as f64 - known.minutes);
            if over <= was {
                continue;
            }
            let changed = self.shares.iter().map(|row| row.0);
            let mut changed = changed.chain(self.minutes.iter().map(|row| row.0));
            // A child got more, or the account itself less.
            let child = changed.find(|at| tree.fs_parent(*at) == Some(excess.parent));
            let name = child.unwrap_or(excess.parent);
            let own = now.seconds(name).unwrap_or(0) / 60;
            let most = match child {
                Some(_) => (excess.minutes - (excess.given - own) as f64).max(0.0) as u64,
                None => own,
            };
            if child.is_none() {
                let why = format!(
                    "its children have {} minutes, more than {own}; allowed are {} or more",
                    excess.given, excess.given
                );
                return Err(self.refused(name, why));
            }
            return Err(Refusal::Beyond {
                name: self.cluster.assoc(name),
                parent: self.cluster.assoc(excess.parent),
                given: excess.given,
                minutes: excess.minutes,
                most,
            });
        }
        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        let mut said = Vec::new();
        let entitlement = self.cluster.entitlement();
        for (index, shares) in &self.shares {
            let name = self.cluster.assoc(*index);
            if *shares == Shares::Raw(0) {
                said.push(nothing(&name));
            }
            if !self.are_minutes(*index) && entitlement.seconds(*index).is_some() {
                said.push(format!("{name} has minutes: its shares change nothing"));
            }
        }
        let zero = self.minutes.iter().filter(|(_, minutes)| *minutes == 0);
        said.extend(zero.map(|(index, _)| nothing(&self.cluster.assoc(*index))));
        said
    }

    fn given(&self) -> Vec<Given<'a>> {
        let shares = self.shares.iter();
        let shares =
            shares.map(|(index, shares)| Given::Shares(self.cluster.name(*index), *shares));
        let minutes = self.minutes.iter();
        let minutes =
            minutes.map(|(index, minutes)| Given::Minutes(self.cluster.name(*index), *minutes));
        shares.chain(minutes).collect()
    }

    /// The accounts above those that change, as far as they compete there.
    fn parents(&self) -> Vec<AssocIndex> {
        let changed = self.shares.iter().map(|row| row.0);
        let changed = changed.chain(self.minutes.iter().map(|row| row.0));
        changed
            .filter_map(|at| self.cluster.tree().parent(at))
            .collect()
    }
}

fn nothing(name: &str) -> String {
    format!("{name} is entitled to nothing: it comes after all others")
}
