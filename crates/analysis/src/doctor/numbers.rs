//! Are the numbers that Slurm prints those that the engine computes from the same site?

use std::collections::BTreeSet;

use fairtree_model::input::InputError;
use fairtree_model::input::slurm::snapshot::Snapshot;
use fairtree_model::listed::Listed;

use super::facts::Facts;
use super::finding::{Diagnosis, Level};
use crate::prio;
use crate::share::{self, Fractions, Verdict};

const NUMBERS: &str = "numbers";

/// A printed number that is not the computed one: its row by name, and its column.
pub type Apart = (String, &'static str);

/// Printed numbers against computed ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Numbers of sshare that were compared.
    pub shares: usize,
    /// Those that differ, without ties that stock ranks against its documentation and users that
    /// are not ranked yet.
    pub shares_apart: BTreeSet<Apart>,
    /// Ties that stock ranks against its documentation.
    pub stock_ties: usize,
    /// Users that have no rank yet.
    pub unranked: usize,
    /// Numbers of sprio that were compared.
    pub priorities: usize,
    /// Those that differ.
    pub priorities_apart: BTreeSet<Apart>,
    /// The differences were there before a pass and after it.
    pub confirmed: bool,
}

impl Numbers {
    /// Returns true if no number differs.
    pub fn agree(&self) -> bool {
        self.shares_apart.is_empty() && self.priorities_apart.is_empty()
    }

    /// These numbers, taken after a pass, with the differences that were there before it, too.
    #[must_use]
    pub fn confirming(self, before: &Numbers) -> Numbers {
        let both = |after: &BTreeSet<Apart>, before: &BTreeSet<Apart>| {
            after.intersection(before).cloned().collect()
        };
        Numbers {
            shares_apart: both(&self.shares_apart, &before.shares_apart),
            priorities_apart: both(&self.priorities_apart, &before.priorities_apart),
            confirmed: true,
            ..self
        }
    }
}

/// Recomputes what sshare and sprio print: as `fairtree share --check` and `fairtree prio --check`.
///
/// # Errors
/// A listing from which nothing can be computed.
pub fn compare(snapshot: &Snapshot) -> Result<Numbers, InputError> {
    let config = &snapshot.queued.settings.config;
    let listing = &snapshot.shares;
    let listed = Listed::new(listing, config.ranking())?;
    let report = share::from_listed(&listed, config.compat, Some(config), Fractions::Computed);
    let agreement = share::check(&listed, &report);
    let mut numbers = Numbers {
        shares: agreement.compared.iter().map(|(_, count)| count).sum(),
        ..Numbers::default()
    };
    for difference in &agreement.differences {
        match difference.verdict {
            Verdict::StockTie => numbers.stock_ties += 1,
            Verdict::Unranked => numbers.unranked += 1,
            _ => {
                let name = report.rows[difference.row].name();
                numbers
                    .shares_apart
                    .insert((name, difference.column.name()));
            }
        }
    }
    let priced = prio::from_snapshot(snapshot, None)?;
    let compared = prio::compare(snapshot, &priced);
    numbers.priorities = compared.numbers;
    for apart in &compared.apart {
        let name = priced.rows.get(apart.row).name();
        numbers.priorities_apart.insert((name, apart.column));
    }
    Ok(numbers)
}

/// Checks that the numbers agree.
pub(super) fn agree(facts: &Facts, found: &mut Diagnosis) {
    let numbers = match &facts.numbers {
        Ok(numbers) => numbers,
        Err(why) => return found.say(NUMBERS, Level::Unknown, why.as_str()),
    };
    let before = found.findings.len();
    for (apart, all, program, command) in [
        (&numbers.shares_apart, numbers.shares, "sshare", "share"),
        (
            &numbers.priorities_apart,
            numbers.priorities,
            "sprio",
            "prio",
        ),
    ] {
        let Some((row, column)) = apart.first() else {
            continue;
        };
        let from = match command {
            "share" => "sshare -a -l -P | ",
            _ => "",
        };
        let differ = format!(
            "{} of {all} numbers of {program} differ from the computed ones, as {column} of {row}",
            apart.len()
        );
        let lists = format!("{from}fairtree {command} --check lists them");
        match numbers.confirmed {
            true => found.advise(
                NUMBERS,
                Level::Warning,
                format!("{differ}, before a pass and after it"),
                lists,
            ),
            false => found.advise(
                NUMBERS,
                Level::Note,
                format!("{differ}; the next pass was not waited for"),
                format!("ask again after the next pass; {lists}"),
            ),
        }
    }
    if numbers.unranked > 0 {
        let text = format!(
            "{} users have no rank yet, as users added since the last pass: the next pass ranks them",
            numbers.unranked
        );
        found.say(NUMBERS, Level::Note, text);
    }
    if numbers.stock_ties > 0 {
        let text = format!(
            "{} factors are those of ties that priority/multifactor ranks against its documentation",
            numbers.stock_ties
        );
        found.say(NUMBERS, Level::Note, text);
    }
    if found.findings.len() == before {
        let text = format!(
            "{} numbers of sshare and {} of sprio are those that are computed",
            numbers.shares, numbers.priorities
        );
        found.say(NUMBERS, Level::Ok, text);
    }
}
