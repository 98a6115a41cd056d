//! Changes between two passes: the users that moved, and the level of the tree that decided it.

use std::cmp::Ordering;
use std::fmt::Write as _;

use anyhow::Result;

use crate::cluster::table::Table;

/// Columns of sshare that [`Shares::read`] needs.
pub const COLUMNS: &str = "Account,User,RawUsage,LevelFS,FairShare";

/// The tree as sshare printed it.
#[derive(Clone, Debug)]
pub struct Shares {
    rows: Vec<Share>,
}

/// One association.
#[derive(Clone, Debug)]
struct Share {
    account: String,
    user: String,
    parent: Option<usize>,
    raw_usage: u64,
    level_fs: Option<f64>,
    fs_factor: Option<f64>,
}

impl Share {
    fn name(&self) -> String {
        match self.user.as_str() {
            "" => self.account.clone(),
            user => format!("{user}@{}", self.account),
        }
    }
}

impl Shares {
    /// Reads sshare's rows; a row's depth is the number of blanks before its account.
    pub fn read(table: &Table) -> Result<Shares> {
        let mut rows: Vec<Share> = Vec::new();
        let mut path: Vec<usize> = Vec::new();
        for row in table.rows() {
            let account = row.text("Account")?;
            let depth = account.len() - account.trim_start().len();
            path.truncate(depth);
            let share = Share {
                account: account.trim().to_owned(),
                user: row.text("User")?.trim().to_owned(),
                parent: path.last().copied(),
                raw_usage: row.get("RawUsage")?,
                level_fs: row.get("LevelFS").ok(),
                fs_factor: row.get("FairShare").ok(),
            };
            path.push(rows.len());
            rows.push(share);
        }
        Ok(Shares { rows })
    }

    /// Usage of the whole site, TRES-seconds.
    pub fn total_usage(&self) -> u64 {
        self.rows.first().map_or(0, |root| root.raw_usage)
    }

    /// Returns true after a pass has read usage: before, every level fairshare is infinite.
    pub fn is_ranked(&self) -> bool {
        let finite = |share: &Share| share.level_fs.is_some_and(f64::is_finite);
        self.rows.iter().any(finite)
    }

    /// Positions of the users, best factor first.
    fn ranking(&self) -> Vec<usize> {
        let mut users: Vec<usize> = (0..self.rows.len())
            .filter(|&index| !self.rows[index].user.is_empty())
            .collect();
        users.sort_by(|&a, &b| descending(self.rows[a].fs_factor, self.rows[b].fs_factor));
        users
    }

    /// The path from the root down to `index`.
    fn path(&self, index: usize) -> Vec<usize> {
        let mut path = vec![index];
        while let Some(parent) = self.rows[path[path.len() - 1]].parent {
            path.push(parent);
        }
        path.reverse();
        path
    }
}

fn descending(a: Option<f64>, b: Option<f64>) -> Ordering {
    b.unwrap_or(-1.0).total_cmp(&a.unwrap_or(-1.0))
}

/// Formats the table of users, and the deciding level for each pair that changed places.
///
/// Both must be of the same tree, in the same order.
pub fn describe(before: &Shares, after: &Shares) -> String {
    let mut text = String::from(
        "user                          raw usage    level fairshare      fair-share factor\n",
    );
    for index in after.ranking() {
        let (old, new) = (&before.rows[index], &after.rows[index]);
        let _ = writeln!(
            text,
            "{:<24} {:>14} {:>9} -> {:<9} {:>8} -> {:<8}{}",
            new.name(),
            format!("{:+}", signed_difference(old.raw_usage, new.raw_usage)),
            number(old.level_fs),
            number(new.level_fs),
            number(old.fs_factor),
            number(new.fs_factor),
            match descending(old.fs_factor, new.fs_factor) {
                Ordering::Less => "  down",
                Ordering::Equal => "",
                Ordering::Greater => "  up",
            }
        );
    }
    for overtaking in by_fork(before, after) {
        text += &overtaking.sentence(before, after);
    }
    text
}

fn signed_difference(old: u64, new: u64) -> i128 {
    i128::from(new) - i128::from(old)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
}

/// Returns true if a user overtook another user.
pub fn places_changed(before: &Shares, after: &Shares) -> bool {
    !overtakings(before, after).is_empty()
}

/// Pairs of users: the second was ahead of the first, and no longer is.
fn overtakings(before: &Shares, after: &Shares) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let ranking = after.ranking();
    for (place, &winner) in ranking.iter().enumerate() {
        for &loser in &ranking[place + 1..] {
            let was = descending(before.rows[winner].fs_factor, before.rows[loser].fs_factor);
            let is = descending(after.rows[winner].fs_factor, after.rows[loser].fs_factor);
            if was == Ordering::Greater && is == Ordering::Less {
                pairs.push((winner, loser));
            }
        }
    }
    pairs
}

/// Two siblings that changed places, and the users below them who did so because of that.
struct Overtaking {
    /// The sibling that is now ahead, and the other sibling.
    fork: (usize, usize),
    winners: Vec<usize>,
    losers: Vec<usize>,
}

/// The overtakings by the first level at which the paths of the two users part.
fn by_fork(before: &Shares, after: &Shares) -> Vec<Overtaking> {
    let mut found: Vec<Overtaking> = Vec::new();
    for (winner, loser) in overtakings(before, after) {
        let (win, lose) = (after.path(winner), after.path(loser));
        let Some(level) = win.iter().zip(&lose).position(|(a, b)| a != b) else {
            continue;
        };
        let fork = (win[level], lose[level]);
        let at = found.iter().position(|known| known.fork == fork);
        let at = at.unwrap_or_else(|| {
            found.push(Overtaking {
                fork,
                winners: Vec::new(),
                losers: Vec::new(),
            });
            found.len() - 1
        });
        let Overtaking {
            winners, losers, ..
        } = &mut found[at];
        for (users, user) in [(winners, winner), (losers, loser)] {
            if !users.contains(&user) {
                users.push(user);
            }
        }
    }
    found
}

impl Overtaking {
    fn sentence(&self, before: &Shares, after: &Shares) -> String {
        let side = |index: usize| {
            let (old, new) = (&before.rows[index], &after.rows[index]);
            format!(
                "{} -> {} ({:+} TRES-seconds)",
                number(old.level_fs),
                number(new.level_fs),
                signed_difference(old.raw_usage, new.raw_usage)
            )
        };
        let names = |users: &[usize]| {
            let names: Vec<String> = users.iter().map(|&user| after.rows[user].name()).collect();
            names.join(", ")
        };
        let (winner, loser) = self.fork;
        let parent = after.rows[winner]
            .parent
            .map_or("", |parent| &after.rows[parent].account);
        format!(
            "\nBelow {parent}, {} passed {}: level fairshare {} against {}.\n\
             Therefore now before {}: {}\n",
            after.rows[winner].name(),
            after.rows[loser].name(),
            side(winner),
            side(loser),
            names(&self.losers),
            names(&self.winners),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two accounts; use of `a` lets `b` pass it. Numbers computed by hand: level = shares / usage.
    fn shares(a_usage: u64, a_level: &str, b_level: &str, factors: [&str; 3]) -> Shares {
        let text = format!(
            "Account|User|RawUsage|LevelFS|FairShare\n\
             root||{}||\n \
             a||{a_usage}|{a_level}|\n  \
             a|ann|{a_usage}|0.5|{}\n  \
             a|al|0|inf|{}\n \
             b||100|{b_level}|\n  \
             b|ben|100|1.0|{}\n",
            a_usage + 100,
            factors[0],
            factors[1],
            factors[2],
        );
        Shares::read(&Table::parse(&text).unwrap()).unwrap()
    }

    #[test]
    fn a_pair_that_changed_places_names_the_level_that_decided() {
        let before = shares(50, "1.5", "0.75", ["0.666667", "1.0", "0.333333"]);
        let after = shares(300, "0.666667", "2.0", ["0.333333", "0.666667", "1.0"]);
        assert!(places_changed(&before, &after));
        let text = describe(&before, &after);
        let sentence = "Below root, b passed a: level fairshare 0.7500 -> 2.0000 \
                        (+0 TRES-seconds) against 1.5000 -> 0.6667 (+250 TRES-seconds).\n\
                        Therefore now before al@a, ann@a: ben@b\n";
        assert!(text.contains(sentence), "{text}");
        assert_eq!(text.matches(" passed ").count(), 1, "{text}");
    }

    #[test]
    fn nothing_moves_in_the_same_tree() {
        let shares = shares(50, "1.5", "0.75", ["0.666667", "1.0", "0.333333"]);
        assert!(!places_changed(&shares, &shares));
        assert!(!describe(&shares, &shares).contains(" passed "));
    }
}
