//! Are the numbers that Slurm prints those that the engine computes from the same site?

use fairtree_model::input::InputError;
use fairtree_model::input::slurm::snapshot::Snapshot;

use super::facts::Facts;
use super::finding::{Diagnosis, Level};
use crate::prio;
use crate::share::{self, Verdict};

const NUMBERS: &str = "numbers";

/// Printed numbers against computed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Numbers of sshare that were compared.
    pub shares: usize,
    /// Those that differ, ties that stock ranks against its documentation left out.
    pub shares_apart: usize,
    /// Ties that stock ranks against its documentation.
    pub stock_ties: usize,
    /// Numbers of sprio that were compared.
    pub priorities: usize,
    /// Those that differ.
    pub priorities_apart: usize,
}

/// Recomputes what sshare and sprio print: as `fairtree share --check` and `fairtree prio --check`.
///
/// # Errors
/// A listing from which nothing can be computed.
pub fn compare(snapshot: &Snapshot) -> Result<Numbers, InputError> {
    let config = &snapshot.queued.settings.config;
    let listing = &snapshot.shares;
    let report =
        share::from_listing_with(listing, config.ranking(), config.compat, &config.accounts)?;
    let agreement = share::check(listing, &report)?;
    let ties = agreement.differences.iter();
    let ties = ties.filter(|difference| difference.verdict == Verdict::StockTie);
    let stock_ties = ties.count();
    let priced = prio::from_snapshot(snapshot, None)?;
    let compared = prio::compare(snapshot, &priced);
    Ok(Numbers {
        shares: agreement.compared.iter().map(|(_, count)| count).sum(),
        shares_apart: agreement.differences.len() - stock_ties,
        stock_ties,
        priorities: compared.numbers,
        priorities_apart: compared.apart.len(),
    })
}

/// Whether they agree.
pub(super) fn agree(facts: &Facts, found: &mut Diagnosis) {
    let numbers = match &facts.numbers {
        Ok(numbers) => numbers,
        Err(why) => return found.say(NUMBERS, Level::Unknown, why.as_str()),
    };
    let before = found.findings.len();
    for (apart, all, program, command) in [
        (numbers.shares_apart, numbers.shares, "sshare", "share"),
        (
            numbers.priorities_apart,
            numbers.priorities,
            "sprio",
            "prio",
        ),
    ] {
        if apart > 0 {
            let from = match command {
                "share" => "sshare -a -l -P | ",
                _ => "",
            };
            found.advise(
                NUMBERS,
                Level::Warning,
                format!("{apart} of {all} numbers of {program} differ from the computed ones"),
                format!(
                    "{from}fairtree {command} --check lists them; ask again after the next pass \
                     before you worry"
                ),
            );
        }
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
